//! Git's output without secrets.

/// Words in the name of a query parameter with a secret value.
const SECRET: [&str; 6] = ["pass", "pwd", "secret", "token", "key", "sig"];

/// Whether the value of a parameter with this name is secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|word| name.contains(word))
}

/// Returns a text without the passwords of the URLs in it. In front of an HTTP host, a user name alone may be a token.
/// In a query, so may a value whose name suggests it, or one without a name.
pub fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        out.push_str(before);
        let word = after.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`')).unwrap_or(after.len());
        let host = after[..word].find('/').unwrap_or(word);
        // An unescaped password may contain characters that elsewhere end the name of a host. A port is a number.
        let is_open = |(_, rest): (&str, &str)| !rest.is_empty() && !rest.bytes().all(|byte| byte.is_ascii_digit());
        let is_cut = !after[..host].contains('@') && after[..host].split_once(':').is_some_and(is_open);
        let end = if is_cut {
            after[..word].rfind('@').map_or(host, |at| at + 1 + after[at + 1..word].find('/').unwrap_or(word - at - 1))
        } else {
            host
        };
        let (host, tail) = after.split_at(end);
        let is_http = before.ends_with("http://") || before.ends_with("https://");
        let (who, _) = host.rsplit_once('@').unwrap_or_default();
        match who.split_once(':') {
            _ if who.is_empty() => {}
            Some((user, _)) => out.push_str(&format!("{user}:***@")),
            None if is_http => out.push_str("***@"),
            None => out.push_str(&format!("{who}@")),
        }
        let host = host.rsplit('@').next().unwrap_or_default();
        match [host, &tail[..word - end]].concat().split_once('?') {
            // A URL may contain another one, which is masked next.
            Some((place, query)) if !place.contains("://") => {
                out.push_str(&format!("{place}?{}", without_values(query)));
                rest = &tail[word - end..];
            }
            _ => {
                out.push_str(host);
                rest = tail;
            }
        }
    }
    out + rest
}

/// Returns the query of a URL without values that may be secret.
fn without_values(query: &str) -> String {
    let hidden = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match value.trim_end_matches('=') {
            "" if pair.is_empty() => String::new(),
            "" => "***".to_owned(),
            _ if is_secret(name) => format!("{name}=***"),
            // It may be a URL itself.
            _ => masked(pair),
        }
    };
    query.split('&').map(hidden).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, shown) in [
            ("fatal: 'https://ada:s3@h.example/x': no", "fatal: 'https://ada:***@h.example/x': no"),
            ("https://token@h.example/x", "https://***@h.example/x"),
            (
                "fatal: 'https://h.example/x.git?private_token=s3&depth=1/': no",
                "fatal: 'https://h.example/x.git?private_token=***&depth=1/': no",
            ),
            ("https://h.example/x?s3 and https://h.example/?", "https://h.example/x?*** and https://h.example/?"),
            ("https://h.example/x?czM=&repo=a", "https://h.example/x?***&repo=a"),
            ("https://ada:s3@h.example/x?api_KEY=s4", "https://ada:***@h.example/x?api_KEY=***"),
            ("https://h.example?token=s4/s5 x", "https://h.example?token=*** x"),
            ("https://h.example/x?from=https://a:s3@b.example/", "https://h.example/x?from=https://a:***@b.example/"),
            ("https://p.example/https://a:s3@h.example/x", "https://p.example/https://a:***@h.example/x"),
            (
                "https://p.example/https://a:s3@h.example/x?token=s4",
                "https://p.example/https://a:***@h.example/x?token=***",
            ),
            ("https://p.example/https://a:s?3@h.example/x", "https://p.example/https://a:***@h.example/x"),
            ("https://p.example/https://a:s3?@h.example/x", "https://p.example/https://a:***@h.example/x"),
            ("https://a:p@ss@h.example", "https://a:***@h.example"),
            ("https://a:p/s?s@h.example/x y@z", "https://a:***@h.example/x y@z"),
            ("https://h.example:80/x@y", "https://h.example:80/x@y"),
            ("ssh://git@h.example/x and http://b:c@d/", "ssh://git@h.example/x and http://b:***@d/"),
            ("git@h.example:x", "git@h.example:x"),
        ] {
            assert_eq!(masked(text), shown);
        }
    }
}
