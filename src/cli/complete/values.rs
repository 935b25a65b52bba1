//! Possible values: from the project of the command line, and from the tables of this program.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};

use crate::cli::{Arguments, help};
use crate::codes::{CODES, LIMITS};
use crate::files;
use crate::kinds::KINDS;
use crate::manifest::{Manifests, PROJECT_FILE, Project, read_project};
use crate::service::config::SAMPLES;
use crate::text;

pub type Candidates = Vec<CompletionCandidate>;

/// The number of addresses from which kinds are completed first.
const MANY: usize = 100;

/// The texts that begin with the typed text, with their descriptions.
fn fitting<S: Into<String>>(current: &OsStr, all: impl IntoIterator<Item = (S, Option<&'static str>)>) -> Candidates {
    let Some(typed) = current.to_str() else { return Candidates::new() };
    let all = all.into_iter().map(|(value, about)| (value.into(), about)).filter(|(value, _)| value.starts_with(typed));
    let plain = all.filter(|(value, _)| is_word(value));
    plain.map(|(value, about)| CompletionCandidate::new(value).help(about.map(Into::into))).collect()
}

/// Whether every shell reads a text as one literal word: some put it on the command line unchanged.
fn is_word(text: &str) -> bool {
    !text.starts_with('-') && text.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_./+".contains(c)
}

/// The project of the command line: that of `--project`, or the nearest.
fn root() -> Option<PathBuf> {
    let words: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let behind = words.windows(2).find(|pair| pair[0] == "--project").map(|pair| pair[1].clone());
    let joined = || words.iter().find_map(|word| Some(OsString::from(word.to_str()?.strip_prefix("--project=")?)));
    let here = env::current_dir().ok()?;
    let named = behind.or_else(joined).filter(|folder| !folder.is_empty()).map(|folder| at_home(Path::new(&folder)));
    Project::find(&named.map_or(here.clone(), |folder| here.join(folder)))
}

/// Expands `~`, because a shell passes the words as typed.
fn at_home(folder: &Path) -> PathBuf {
    match (folder.strip_prefix("~"), env::var_os("HOME")) {
        (Ok(below), Some(home)) => Path::new(&home).join(below),
        _ => folder.to_owned(),
    }
}

/// The locales of the project's message catalogues.
pub fn locales(current: &OsStr) -> Candidates {
    let Some(root) = root() else { return Candidates::new() };
    let found = files::manifests(&root, &Project::open(&root).places()).0.into_iter();
    let names =
        found.filter(|path| files::is_catalogue(path)).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let all: BTreeSet<String> = names.collect();
    fitting(current, all.into_iter().map(|name| (name, None)))
}

fn manifests() -> Option<Manifests> {
    root().map(|root| read_project(&root, None))
}

/// Names of targets and groups, and values of the matrix. A pattern that matches any is returned unchanged.
pub fn targets(current: &OsStr) -> Candidates {
    let Some(project) = root().map(|root| Project::open(&root)) else { return Candidates::new() };
    let names: Vec<&str> = project.target_names().into_iter().filter(|name| is_word(name)).collect();
    if let Some(pattern) = current.to_str().filter(|typed| typed.contains('*')) {
        let means_some = names.iter().any(|name| text::is_like(pattern, name));
        return means_some.then(|| CompletionCandidate::new(pattern)).into_iter().collect();
    }
    let groups = project.group_names().into_iter().map(|name| (name, Some("group of targets")));
    let known: BTreeSet<&str> = names.iter().copied().chain(project.group_names()).collect();
    let values: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| project.axis_values(name))
        .flat_map(|values| values.values())
        .map(String::as_str)
        .collect();
    let values =
        values.into_iter().filter(|value| !known.contains(value)).map(|value| (value, Some("value of the matrix")));
    fitting(current, names.iter().map(|name| (*name, None)).chain(groups).chain(values))
}

fn declared() -> BTreeSet<String> {
    let manifests = manifests();
    let all = manifests.iter().flat_map(Manifests::declared);
    all.map(|declared| format!("{}/{}", declared.kind.key, declared.key.value)).collect()
}

/// Addresses of declared resources; first their kinds, if there are many.
pub fn addresses(current: &OsStr) -> Candidates {
    let all = declared();
    let is_begun = current.to_str().is_some_and(|typed| typed.contains('/'));
    if all.len() <= MANY || is_begun {
        return fitting(current, all.into_iter().map(|address| (address, None)));
    }
    let of_kind = |key: &str| all.iter().any(|address| address.split('/').next() == Some(key));
    let kinds = KINDS.iter().filter(|kind| of_kind(kind.key));
    fitting(current, kinds.map(|kind| (format!("{}/", kind.key), Some(kind.purpose))))
}

pub(crate) fn kinds_and_addresses(current: &OsStr) -> Candidates {
    let mut found = fitting(current, KINDS.iter().map(|kind| (kind.key, Some(kind.purpose))));
    found.extend(addresses(current));
    found
}

/// Keys of declared resources of a kind.
pub fn keys(kind: &str, current: &OsStr) -> Candidates {
    let manifests = manifests();
    let all = manifests.iter().flat_map(Manifests::declared).filter(|declared| declared.kind.key == kind);
    let keys: BTreeSet<String> = all.map(|declared| declared.key.value.clone()).collect();
    fitting(current, keys.into_iter().map(|key| (key, None)))
}

/// All topics of `explain` except single fields.
pub fn explained(current: &OsStr) -> Candidates {
    let codes = CODES.iter().map(|code| (code.name, Some(code.title)));
    let limits = LIMITS.iter().map(|limit| (limit.name, Some(limit.title)));
    let kinds = KINDS.iter().map(|kind| (kind.key, Some(kind.purpose)));
    let files = SAMPLES.iter().map(|sample| (sample.name, Some(sample.about))).chain([(PROJECT_FILE, None)]);
    let all: Vec<_> = codes.chain(limits).chain(kinds).chain(files).collect();
    let found = fitting(current, all.iter().copied());
    match current.to_str() {
        // Codes can be typed in lower case, too.
        Some(typed) if found.is_empty() => fitting(OsStr::new(&typed.to_ascii_uppercase()), all),
        _ => found,
    }
}

/// Names of time zones.
pub fn zones(current: &OsStr) -> Candidates {
    fitting(current, jiff::tz::db().available().map(|name| (name.to_string(), None)))
}

pub fn paths(current: &OsStr) -> Candidates {
    found_at(&PathCompleter::any(), current)
}

pub fn folders(current: &OsStr) -> Candidates {
    found_at(&PathCompleter::dir(), current)
}

/// Files and folders. The typed text is kept; the completion may come from an untrusted file name, so it is checked.
fn found_at(paths: &PathCompleter, current: &OsStr) -> Candidates {
    let quotes = super::QUOTES.get().is_some_and(|quotes| *quotes);
    let is_shown = |c: char| !c.is_control() && !text::is_hidden(c) && c != char::REPLACEMENT_CHARACTER;
    let is_fine = |c: char| if quotes { is_shown(c) } else { is_plain(c) };
    let is_offered = |found: &CompletionCandidate| {
        let (path, typed) = (found.get_value().to_string_lossy(), current.to_string_lossy());
        let added = path.strip_prefix(&*typed).unwrap_or(&path);
        added.chars().all(is_fine) && !(typed.is_empty() && added.starts_with('-'))
    };
    paths.complete(current).into_iter().filter(is_offered).collect()
}

/// Commands and topics.
pub(crate) fn helped(current: &OsStr) -> Candidates {
    let command = Arguments::command();
    let commands = command.get_subcommands().map(|below| (below.get_name().to_owned(), None));
    let topics = help::ALL.iter().map(|topic| (topic.name.to_owned(), Some(topic.about)));
    fitting(current, commands.chain(topics))
}
