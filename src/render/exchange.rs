//! A request before it is sent, and the answer.

use super::layout::{self, Paint, Row, Style, Words};
use super::pretty::pretty;
use crate::exchange::Request;
use crate::text;
use crate::text::{one_line, visible};

/// The number of lines of a body that are shown before it is sent.
const MOST_LINES: usize = 60;

/// The text instead of a secret header's value.
const WITHHELD: &str = "(not shown)";

/// The text about a request before it is sent.
pub(crate) fn about_to_send(request: &Request, target: &str, place: &str, style: Style) -> String {
    let mut out = String::new();
    let place = if place.is_empty() { target.to_owned() } else { format!("{target}, {place}") };
    let rows = [
        Row::new("request", Words::default().paint(&request.to_string(), Paint::Strong)),
        Row::new("target", Words::new(&place)),
        Row::new("body", Words::new(if request.body.is_some() { "as follows" } else { "none" })),
    ];
    layout::rows(&mut out, &rows, 0, style);
    if let Some(body) = &request.body {
        let shown = visible(&pretty(body));
        let lines = shown.lines().count();
        for line in shown.lines().take(MOST_LINES) {
            out.push_str(&format!("  {line}\n"));
        }
        if lines > MOST_LINES {
            out.push_str(&format!("  … and {}\n", text::count(lines - MOST_LINES, "more line")));
        }
    }
    out
}

/// Status and headers of an answer, with the empty line that ends them. Credentials are not shown.
pub fn head(status: u16, headers: &[(String, String)]) -> String {
    let mut out = format!("HTTP {status}\n");
    for (name, value) in headers {
        let secret = matches!(name.as_str(), "set-cookie" | "authorization" | "proxy-authorization");
        let value = if secret { WITHHELD } else { value };
        out.push_str(&format!("{}: {}\n", one_line(name), one_line(value)));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_that_matters_is_shown_before_it_is_sent() {
        let request = Request::post("/api/push", &json!({"audience": "all", "notification": {"alert": "Hi \u{202e}"}}));
        let shown = about_to_send(&request, "prod", "https://messaging.example", Style::PLAIN);
        let expected = "\
request    POST /api/push
target     prod, https://messaging.example
body       as follows
  {
    \"audience\": \"all\",
    \"notification\": {
      \"alert\": \"Hi \\u202E\"
    }
  }
";
        assert_eq!(shown, expected);
        let bare = about_to_send(&Request::delete("/api/tags/x"), "prod", "", Style::PLAIN);
        assert!(bare.ends_with("target     prod\nbody       none\n"), "{bare}");
    }

    #[test]
    fn a_long_body_is_cut_with_its_count() {
        let body = json!((0..100).collect::<Vec<_>>());
        let shown = about_to_send(&Request::post("/api/push", &body), "t", "", Style::PLAIN);
        assert!(shown.ends_with("  … and 42 more lines\n"), "{shown}");
    }

    #[test]
    fn cookies_are_not_shown_and_values_stay_on_their_line() {
        let headers = [("set-cookie", "session=hunter2"), ("x-note", "a\n\u{1b}[2Jb")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(head(200, &headers), "HTTP 200\nset-cookie: (not shown)\nx-note: a \\x1B[2Jb\n\n");
    }
}
