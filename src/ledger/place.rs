//! Where a ledger is, as a target's settings say it.

use std::path::Path;
use std::sync::Arc;

use super::file::FileStore;
use super::git::GitStore;
use super::object::ObjectStore;
use super::postgres::PostgresStore;
use super::store::Store;

/// How a place is opened: what stands behind the scheme, the project's folder and the target.
type Open = fn(&str, &Path, &str) -> Result<Arc<dyn Store>, String>;

/// A sort of place.
struct Scheme {
    /// What a place of it begins with.
    start: &'static str,
    /// How one is written.
    form: &'static str,
    open: Open,
}

const SCHEMES: [Scheme; 6] = [
    Scheme { start: "git", form: "git or git:REMOTE", open: commits },
    Scheme {
        start: "file:",
        form: "file:FOLDER",
        open: |place, root, target| Ok(Arc::new(files(place, root, target))),
    },
    Scheme {
        start: "postgres:",
        form: "postgres://HOST/DATABASE/SCHEMA",
        open: |place, _, target| Ok(Arc::new(PostgresStore::new(place, target)?)),
    },
    Scheme { start: "s3:", form: "s3://BUCKET/PREFIX", open: objects },
    Scheme { start: "gs:", form: "gs://BUCKET/PREFIX", open: objects },
    Scheme { start: "az:", form: "az://CONTAINER/PREFIX", open: objects },
];

/// The store of a target's records. Where no place is given, it is a folder beside the manifests. Nothing is asked of the place
/// yet.
pub fn open(place: Option<&str>, root: &Path, target: &str) -> Result<Arc<dyn Store>, String> {
    let place = place.unwrap_or("file:");
    let Some(scheme) = SCHEMES.iter().find(|scheme| place.starts_with(scheme.start)) else {
        let forms: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.form).collect();
        return Err(format!("`{}` is none of {}", shown(place), forms.join(", ")));
    };
    (scheme.open)(place, root, target)
}

/// The same for somebody who only looks. What has to be fetched to be looked at lies in a folder that is taken away afterwards.
pub fn open_to_look(place: Option<&str>, root: &Path, target: &str, apart: &Path) -> Result<Arc<dyn Store>, String> {
    match place {
        Some(commits) if commits.starts_with("git") => Ok(Arc::new(on_server(commits, root, target)?.apart(apart))),
        place => open(place, root, target),
    }
}

/// The folder of a ledger in files, as it is written; `None` where the ledger is elsewhere.
pub fn folder(place: Option<&str>) -> Option<&str> {
    match place.map_or(Some(""), |place| place.strip_prefix("file:"))? {
        "" => Some(super::file::OWN),
        folder => Some(folder),
    }
}

/// What is wrong with a place as it is written in a file that others read; `None` where nothing is.
pub fn objection(place: &str) -> Option<String> {
    if shown(place) != place {
        return Some(format!("`{}` is written with a password, which everybody could read here", shown(place)));
    }
    open(Some(place), Path::new("."), "local").err()
}

fn objects(place: &str, _: &Path, target: &str) -> Result<Arc<dyn Store>, String> {
    Ok(Arc::new(ObjectStore::new(place, target)?))
}

fn commits(place: &str, root: &Path, target: &str) -> Result<Arc<dyn Store>, String> {
    Ok(Arc::new(on_server(place, root, target)?))
}

fn on_server(place: &str, root: &Path, target: &str) -> Result<GitStore, String> {
    let remote = match place.strip_prefix("git") {
        Some("") => None,
        Some(rest) if rest.len() > 1 && rest.starts_with(':') => Some(&rest[1..]),
        _ => return Err(format!("`{}` is neither git nor git:REMOTE", shown(place))),
    };
    Ok(GitStore::new(root, remote, target))
}

fn files(place: &str, root: &Path, target: &str) -> FileStore {
    match place.trim_start_matches("file:") {
        "" => FileStore::new(root, target),
        folder => FileStore::at(&root.join(folder), target),
    }
}

/// What stands behind the question mark of a place.
const KNOWN: [&str; 3] = ["host", "sslmode", "sslrootcert"];

/// A place without the password that somebody may have written into it.
pub fn shown(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    // A password may hold what elsewhere ends a path, or the name of a host.
    let is_query = |query: &str| {
        let mut names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        !query.contains('@') || names.all(|name| KNOWN.contains(&name))
    };
    let split = rest.split_once('?').filter(|(_, query)| is_query(query));
    let (rest, query) = split.map_or((rest, None), |(rest, query)| (rest, Some(query)));
    // Before a host of http, a name alone may be a token.
    let is_http = ["http", "https"].iter().any(|http| scheme.ends_with(http));
    let is_token = |user: &str| is_http && (user.len() > 15 || user.contains('%'));
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split(':').next().unwrap_or_default() {
            user if is_token(user) => host.to_owned(),
            user => format!("{user}@{host}"),
        },
        None => rest.to_owned(),
    };
    let is_secret = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        ["password", "secret", "token", "sig"].iter().any(|word| name.contains(word))
    };
    let query: Vec<&str> =
        query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !is_secret(pair)).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{rest}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (place, expected) in [
            ("postgres://ada:geheim@db/x", "postgres://ada@db/x"),
            ("postgres://ada:ge/he@im@db/x?sslmode=require", "postgres://ada@db/x?sslmode=require"),
            ("postgres://db/x?password=geheim&sslmode=require", "postgres://db/x?sslmode=require"),
            ("postgres://db/x?sslpassword=geheim", "postgres://db/x"),
            ("postgres://ada:ge?he=im@db/x?sslmode=require", "postgres://ada@db/x?sslmode=require"),
            ("postgres://ada:ge@he?im@db/x", "postgres://ada@db/x"),
            ("postgres://ada@db/x?sslrootcert=a@b.pem", "postgres://ada@db/x?sslrootcert=a@b.pem"),
            ("git:https://glpat-0123456789abcdef@git.example/x", "git:https://git.example/x"),
            ("git:https://ada@git.example/x", "git:https://ada@git.example/x"),
            ("git:ssh://git@git.example/x", "git:ssh://git@git.example/x"),
            ("s3://bucket/prefix", "s3://bucket/prefix"),
            ("git", "git"),
        ] {
            assert_eq!(shown(place), expected);
        }
        assert!(
            objection("postgres://ada:geheim@db/x")
                .is_some_and(|why| why.contains("password") && !why.contains("geheim"))
        );
        assert_eq!(objection("postgres://ada@db/x"), None);
        assert!(objection("gopher:x").is_some_and(|why| why.contains("file:FOLDER")));
    }
}
