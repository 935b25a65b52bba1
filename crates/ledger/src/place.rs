//! Places of ledgers, as written in a target's settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use pushplan_io::git::is_secret;

use super::file::FileStore;
#[cfg(feature = "git")]
use super::git::GitStore;
use super::store::{Store, plain};

/// The default place: a folder next to the manifests.
pub const HOME: &str = "file:";

/// Opens a place. Takes the text after the scheme, the project's folder and the target.
type OpenPlace = fn(&str, &Path, &str) -> anyhow::Result<Arc<dyn Store>>;

/// A type of place.
struct Scheme {
    /// The beginning of such a place.
    start: &'static str,
    /// The form of such a place, for messages.
    form: &'static str,
    open: OpenPlace,
}

const SCHEMES: [Scheme; 6] = [
    Scheme { start: "git", form: "git or git:REMOTE", open: commits },
    Scheme {
        start: "file:",
        form: "file:FOLDER",
        open: |place, root, target| Ok(Arc::new(files(place, root, target))),
    },
    Scheme { start: "postgres:", form: "postgres://HOST/DATABASE/SCHEMA", open: database },
    Scheme { start: "s3:", form: "s3://BUCKET/PREFIX", open: objects },
    Scheme { start: "gs:", form: "gs://BUCKET/PREFIX", open: objects },
    Scheme { start: "az:", form: "az://CONTAINER/PREFIX", open: objects },
];

/// Opens the store of a target's records; without a place, in a folder next to the manifests. Does not contact the
/// place yet.
pub fn open(place: Option<&str>, root: &Path, target: &str) -> anyhow::Result<Arc<dyn Store>> {
    let place = place.unwrap_or(HOME);
    let Some(scheme) = SCHEMES.iter().find(|scheme| place.starts_with(scheme.start)) else {
        let forms = choices();
        match shown(place) {
            hidden if hidden == HIDDEN => {
                bail!("it is none of {forms}; it is not shown because it may contain a password")
            }
            shown => bail!("`{shown}` is none of {forms}"),
        }
    };
    (scheme.open)(place, root, target)
}

/// Lists the forms of all types of places.
pub fn choices() -> String {
    let forms: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.form).collect();
    forms.join(", ")
}

/// Opens the store of a target's records for a command that only inspects them. Records in git are fetched into the folder
/// `apart`, which the caller deletes afterwards.
pub fn open_to_look(place: Option<&str>, root: &Path, target: &str, apart: &Path) -> anyhow::Result<Arc<dyn Store>> {
    match place {
        #[cfg(feature = "git")]
        Some(commits) if commits.starts_with("git") => Ok(Arc::new(on_server(commits, root, target)?.apart(apart))),
        place => open(place, root, target),
    }
}

/// Returns the folder of a ledger in files, as written; `None` if the ledger is elsewhere.
pub fn folder(place: Option<&str>) -> Option<&str> {
    match place.map_or(Some(""), |place| place.strip_prefix("file:"))? {
        "" => Some(super::file::OWN),
        folder => Some(folder),
    }
}

/// The folder with the records of a target, in a ledger that is kept in files at `file:FOLDER`.
pub(crate) fn folder_in(folder: &Path, target: &str) -> PathBuf {
    folder.join(plain(target))
}

/// Whether two spellings name the same place.
pub fn is_same(one: &str, other: &str, root: &Path, target: &str) -> bool {
    let shown = |place: &str| open(Some(place), root, target).map(|store| store.shown()).ok();
    let on_disk = |place: &str| match place.strip_prefix("file:")? {
        "" => root.join(super::file::OWN).join("ledger").canonicalize().ok(),
        folder => root.join(folder).canonicalize().ok(),
    };
    let is_alike = |of: &dyn Fn(&str) -> Option<PathBuf>| of(one).is_some_and(|one| Some(one) == of(other));
    one == other || is_alike(&|place| shown(place).map(PathBuf::from)) || is_alike(&on_disk)
}

/// Returns what is wrong with a place in a file that others read; `None` if nothing is.
pub fn objection(place: &str) -> Option<String> {
    open(Some(place), Path::new("."), "local").err().map(|why| why.to_string()).or_else(|| open_secret(place))
}

/// Returns a message if a place contains a password.
pub fn open_secret(place: &str) -> Option<String> {
    let shown = shown(place);
    (shown != place)
        .then(|| format!("`{shown}` contains a password that everyone with access to the project could read"))
}

/// The error for a place whose feature was not built into this program.
#[cfg(not(all(feature = "git", feature = "object", feature = "postgres")))]
fn left_out<T>(place: &str, feature: &str) -> anyhow::Result<T> {
    bail!("`{}` needs a pushplan that was built with the feature `{feature}`", shown(place))
}

#[cfg(feature = "postgres")]
fn database(place: &str, _: &Path, target: &str) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(super::postgres::PostgresStore::new(place, target)?))
}

#[cfg(not(feature = "postgres"))]
fn database(place: &str, _: &Path, _: &str) -> anyhow::Result<Arc<dyn Store>> {
    left_out(place, "postgres")
}

#[cfg(feature = "object")]
fn objects(place: &str, _: &Path, target: &str) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(super::object::ObjectStore::new(place, target)?))
}

#[cfg(not(feature = "object"))]
fn objects(place: &str, _: &Path, _: &str) -> anyhow::Result<Arc<dyn Store>> {
    left_out(place, "object")
}

#[cfg(not(feature = "git"))]
fn commits(place: &str, _: &Path, _: &str) -> anyhow::Result<Arc<dyn Store>> {
    left_out(place, "git")
}

#[cfg(feature = "git")]
fn commits(place: &str, root: &Path, target: &str) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(on_server(place, root, target)?))
}

#[cfg(feature = "git")]
fn on_server(place: &str, root: &Path, target: &str) -> anyhow::Result<GitStore> {
    let remote = match place.strip_prefix("git") {
        Some("") => None,
        Some(rest) if rest.len() > 1 && rest.starts_with(':') => Some(&rest[1..]),
        _ => bail!("`{}` is neither git nor git:REMOTE", shown(place)),
    };
    Ok(GitStore::new(root, remote, target))
}

fn files(place: &str, root: &Path, target: &str) -> FileStore {
    match place.trim_start_matches("file:") {
        "" => FileStore::new(root, target),
        folder => FileStore::at(&root.join(folder), target),
    }
}

/// The known query parameters of a place.
const KNOWN: [&str; 3] = ["host", "sslmode", "sslrootcert"];
/// Shown instead of a place that may contain a password in an unknown position.
const HIDDEN: &str = "***";

/// Returns a place without the password that it may contain. Parts that are not understood are left out if they could
/// be one.
pub fn shown(place: &str) -> String {
    if place.starts_with("file:") {
        return place.to_owned();
    }
    let Some((scheme, rest)) = place.split_once("://") else { return without_scheme(place) };
    // A password may contain characters that elsewhere end a path or a host name.
    let is_query = |query: &str| {
        let mut names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        !query.contains('@') || names.all(|name| KNOWN.contains(&name))
    };
    let split = rest.split_once('?').filter(|(_, query)| is_query(query));
    let (rest, query) = split.map_or((rest, None), |(rest, query)| (rest, Some(query)));
    // In front of an HTTP host, a user name alone may be a token.
    let is_http = ["http", "https"].iter().any(|http| scheme.ends_with(http));
    let is_token = |user: &str| is_http && (user.len() > 15 || user.contains('%'));
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split(':').next().unwrap_or_default() {
            user if is_token(user) => host.to_owned(),
            user => format!("{user}@{host}"),
        },
        None => rest.to_owned(),
    };
    let is_open = |pair: &&str| !is_secret(pair.split('=').next().unwrap_or_default());
    let query: Vec<&str> = query.into_iter().flat_map(|query| query.split('&')).filter(is_open).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{rest}{query}")
}

/// Returns a place that is not a URL, without the password that it may contain. If the form is unknown and may contain
/// a password, hides the whole place.
fn without_scheme(place: &str) -> String {
    let Some(remote) = place.strip_prefix("git:") else {
        let may_be_secret = |c: char| c.is_whitespace() || "@=?;:&".contains(c);
        return if place.contains(may_be_secret) { HIDDEN.to_owned() } else { place.to_owned() };
    };
    // `user@host:path` is the form of ssh and contains no password.
    match remote.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
        Some((user, host)) => format!("git:{user}@{host}"),
        None => place.to_owned(),
    }
}

/// Whether a text may contain a password, in the forms of places and connections.
pub fn may_hold_password(text: &str) -> bool {
    let of_user = |rest: &str| rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    let lower = text.to_ascii_lowercase();
    let is_named = ["password=", "passwd=", "pwd=", "secret=", "token="].iter().any(|name| lower.contains(name));
    is_named
        || text.split_once("://").is_some_and(|(_, rest)| of_user(rest))
        || (text.starts_with("git:") && shown(text) != text)
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
            ("git:origin", "git:origin"),
            ("git:git@host:team/x.git", "git:git@host:team/x.git"),
            ("git:tok:geheim@host/x.git", "git:tok@host/x.git"),
            ("git:https://tok:geheim@host/x.git", "git:https://tok@host/x.git"),
            ("file:/mnt/a b@c=d", "file:/mnt/a b@c=d"),
            ("host=127.0.0.1 user=x password=geheim", "***"),
            ("postgres:ada:geheim@db/x", "***"),
            ("s3:key:geheim@bucket", "***"),
            ("ada:geheim@db", "***"),
            ("git:https://h.example/x?api_key=geheim&depth=1", "git:https://h.example/x?depth=1"),
            ("gti", "gti"),
            ("/mnt/team", "/mnt/team"),
        ] {
            assert_eq!(shown(place), expected);
        }
        assert!(
            objection("postgres://ada:geheim@db/x")
                .is_some_and(|why| why.contains("password") && !why.contains("geheim"))
        );
        assert_eq!(objection("postgres://ada@db/x"), None);
        for place in ["host=h password=geheim", "git:tok:geheim@host/x.git", "postgres:ada:geheim@db/x", "geheim:x@h"] {
            let why = objection(place).expect(place);
            assert!(!why.contains("geheim"), "{place}: {why}");
        }
        assert!(objection("gopher:x").is_some_and(|why| why.contains("file:FOLDER")));
    }
}
