//! Credentials: given outside the project, together with the origin that they belong to.
//!
//! A target whose base URL has another origin gets none of them, so a change to the project file cannot steal them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::bail;
use pushplan_model::digest::Digest;
use pushplan_model::source::Source;
use pushplan_model::text;

use super::origin::Origin;
use crate::failure::{Failure, FailureKind};

const ORIGIN: &str = "PUSHPLAN_ORIGIN";
const APP_KEY: &str = "PUSHPLAN_APP_KEY";
const MASTER_SECRET: &str = "PUSHPLAN_MASTER_SECRET";
const FILE: &str = "PUSHPLAN_CREDENTIALS";

/// The length of a fingerprint.
pub const FINGERPRINT: usize = 12;

/// The largest credentials file.
const FILE_LIMIT: u64 = 1024 * 1024;

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The credentials of one application.
#[derive(Clone)]
pub struct Credentials {
    pub app_key: String,
    pub master_secret: Secret,
}

impl Credentials {
    pub fn new(app_key: impl Into<String>, master_secret: impl Into<String>) -> Self {
        Self { app_key: app_key.into(), master_secret: Secret::new(master_secret) }
    }

    /// Identifies an application without revealing its key.
    pub fn fingerprint(&self) -> String {
        let digest = Digest::of(self.app_key.as_bytes());
        digest.as_str().chars().take(FINGERPRINT).collect()
    }

    /// Returns the credentials if both parts can be sent in a header. The error names their origin, `from`.
    fn checked(self, from: &str) -> Result<Self, Failure> {
        for (name, value) in [("app key", self.app_key.as_str()), ("master secret", self.master_secret.reveal())] {
            let wrong = if value.is_empty() {
                "is empty"
            } else if value.chars().any(|c| c.is_whitespace() || c.is_control()) {
                "holds white space"
            } else if name == "app key" && value.contains(':') {
                "holds a colon"
            } else {
                continue;
            };
            return Err(failure(format!("the {name} {from} {wrong}")));
        }
        Ok(self)
    }
}

/// Shows only what everyone may see.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.fingerprint())
    }
}

/// Returns the credentials for an origin, from the environment or from the credentials file.
pub fn credentials(origin: &Origin, env: &dyn Fn(&str) -> Option<String>) -> Result<Credentials, Failure> {
    Keyring::default().find(origin, "", env)
}

/// The credentials that a file has for an origin: one application for all targets, or one for each of several.
#[derive(Clone, Debug, Default)]
struct Section {
    own: Option<Credentials>,
    of_targets: BTreeMap<String, Credentials>,
}

/// The credentials file, read when it is first needed and once for all targets.
#[derive(Debug, Default)]
pub struct Keyring(OnceLock<Result<BTreeMap<Origin, Section>, Failure>>);

/// Where credentials were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Environment,
    File(PathBuf),
}

impl fmt::Display for CredentialSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => write!(f, "{APP_KEY} and {MASTER_SECRET}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Keyring {
    /// Returns the origins that have credentials, and where each was found.
    pub fn origins(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<Vec<(Origin, CredentialSource)>, Failure> {
        let given = from_environment(env)?.into_iter().map(|(origin, _)| (origin, CredentialSource::Environment));
        let path = file(env).unwrap_or_default();
        let kept = self.kept(env).as_ref().map_err(Failure::clone)?.keys();
        Ok(given.chain(kept.map(|origin| (origin.clone(), CredentialSource::File(path.clone())))).collect())
    }

    fn kept(&self, env: &dyn Fn(&str) -> Option<String>) -> &Result<BTreeMap<Origin, Section>, Failure> {
        self.0.get_or_init(|| match file(env) {
            Some(path) if path.exists() || env(FILE).is_some() => read(&path),
            _ => Ok(BTreeMap::new()),
        })
    }

    /// Returns the credentials for a target.
    pub fn find(
        &self,
        origin: &Origin,
        target: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Credentials, Failure> {
        self.locate(origin, target, env).map(|(credentials, _)| credentials)
    }

    /// Returns the credentials for a target, and where they were found. Those that the file has for this very target
    /// take precedence, because one origin may have many applications.
    pub fn locate(
        &self,
        origin: &Origin,
        target: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Credentials, CredentialSource), Failure> {
        let given = from_environment(env)?;
        let from_env = given.as_ref().filter(|(own, _)| own == origin).map(|(_, credentials)| credentials);
        let path = file(env);
        let kept = match (self.kept(env), from_env) {
            (Ok(kept), _) => kept,
            // If the environment has everything that is needed, the file may be invalid.
            (Err(_), Some(credentials)) => return Ok((credentials.clone(), CredentialSource::Environment)),
            (Err(failure), None) => return Err(failure.clone()),
        };
        let section = kept.get(origin);
        let of_target = section.and_then(|section| section.of_targets.get(target));
        let own = section.and_then(|section| section.own.as_ref());
        let in_file =
            |credentials: &Credentials| (credentials.clone(), CredentialSource::File(path.clone().unwrap_or_default()));
        let given_here = || from_env.map(|credentials| (credentials.clone(), CredentialSource::Environment));
        if let Some(found) = of_target.map(in_file).or_else(given_here).or_else(|| own.map(in_file)) {
            return Ok(found);
        }
        let place = path.map_or_else(|| format!("the file that {FILE} names"), |path| path.display().to_string());
        if let Some(section) = section {
            let names: Vec<&str> = section.of_targets.keys().map(String::as_str).collect();
            let message = format!(
                "the credentials for {origin} are for the targets {}, not for `{target}`",
                text::all_of(&names)
            );
            return Err(
                failure(message).help(format!("add [\"{origin}\".{target}] with app_key and master_secret to {place}"))
            );
        }
        let mut others: Vec<String> = given.iter().map(|(own, _)| own.to_string()).collect();
        others.extend(kept.keys().map(Origin::to_string));
        let message = match others.as_slice() {
            [] => format!("there are no credentials for {origin}"),
            others => format!("the credentials are for {}, not for {origin}", text::all_of(others)),
        };
        Err(failure(message).help(format!(
            "set {ORIGIN}={origin} with {APP_KEY} and {MASTER_SECRET}, or add [\"{origin}\"] with app_key and master_secret to {place}"
        )))
    }
}

fn failure(message: String) -> Failure {
    Failure::new(message).kind(FailureKind::Credentials)
}

fn from_environment(env: &dyn Fn(&str) -> Option<String>) -> Result<Option<(Origin, Credentials)>, Failure> {
    let names = [ORIGIN, APP_KEY, MASTER_SECRET];
    let values = names.map(|name| env(name).filter(|value| !value.is_empty()));
    let (set, unset): (Vec<_>, Vec<_>) = names.iter().zip(&values).partition(|(_, value)| value.is_some());
    let named =
        |which: &[(&&str, &Option<String>)]| text::all_of(&which.iter().map(|(name, _)| **name).collect::<Vec<_>>());
    let [Some(origin), Some(app_key), Some(master_secret)] = values.clone() else {
        if set.is_empty() {
            return Ok(None);
        }
        let is = |count: usize| if count == 1 { "is" } else { "are" };
        let (has, lacks) = (is(set.len()), is(unset.len()));
        let message = format!("{} {has} set, but {} {lacks} not", named(&set), named(&unset));
        return Err(failure(message).help("the three go together: credentials belong to one origin"));
    };
    let origin = Origin::parse(&origin).map_err(|why| failure(format!("{ORIGIN}: {why}")))?;
    let credentials = Credentials::new(app_key, master_secret).checked("in the environment")?;
    Ok(Some((origin, credentials)))
}

/// Returns the path of the credentials file.
fn file(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = named(FILE) {
        return Some(path);
    }
    let home = if cfg!(windows) { named("APPDATA") } else { named("HOME").map(|home| home.join(".config")) };
    Some(named("XDG_CONFIG_HOME").or(home)?.join("pushplan").join("credentials.toml"))
}

/// Reads a credentials file.
///
/// Messages repeat nothing from the file except names of origins: a value in the wrong place is still a secret.
fn read(path: &Path) -> Result<BTreeMap<Origin, Section>, Failure> {
    let shown = path.display();
    let cannot = |why: &str| failure(format!("the credentials in {shown} cannot be read: {why}"));
    let file = File::open(path).map_err(|error| cannot(&crate::files::describe(&error)))?;
    only_its_owner(&file).map_err(|mode| {
        failure(format!("{shown} is open to others (mode {mode:o}): its secrets may be known"))
            .help(format!("chmod 600 {shown}"))
    })?;
    let bytes = crate::files::read_to_limit(file, FILE_LIMIT).map_err(|why| cannot(&why.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8"))?;
    let table: toml::Table = toml::from_str(&text).map_err(|error| {
        let place = Source::new("", text.clone()).position(error.span().unwrap_or_default().start);
        cannot(&format!("line {}, column {} is not TOML", place.line, place.column))
    })?;
    let mut all = BTreeMap::new();
    for (name, section) in &table {
        let origin = Origin::parse(name).map_err(|why| cannot(&format!("a section is an origin: {why}")))?;
        let from = format!("for {origin} in {shown}");
        let tables = section.as_table().into_iter().flatten().filter(|(_, value)| value.is_table());
        let mut read = Section::default();
        for (target, table) in tables {
            let credentials =
                pair(table, &format!("\"{origin}\".{target}"), 0).map_err(|why| cannot(&why.to_string()))?;
            read.of_targets.insert(target.clone(), credentials.checked(&format!("for {target} on {from}"))?);
        }
        // A section with only targets has no keys of its own.
        let number = read.of_targets.len();
        if number == 0 || section.as_table().is_none_or(|section| section.len() > number) {
            let credentials =
                pair(section, &format!("\"{origin}\""), number).map_err(|why| cannot(&why.to_string()))?;
            read.own = Some(credentials.checked(&from)?);
        }
        if all.insert(origin.clone(), read).is_some() {
            return Err(cannot(&format!("there are two sections for {origin}")));
        }
    }
    Ok(all)
}

/// Returns the two keys of a section that contains this number of tables as well.
fn pair(section: &toml::Value, name: &str, tables: usize) -> anyhow::Result<Credentials> {
    let value = |key: &str| section.get(key).and_then(toml::Value::as_str);
    let (Some(app_key), Some(master_secret)) = (value("app_key"), value("master_secret")) else {
        bail!("[{name}] needs app_key and master_secret, both texts");
    };
    if section.as_table().is_some_and(|section| section.len() > 2 + tables) {
        bail!("[{name}] holds more than app_key and master_secret");
    }
    Ok(Credentials::new(app_key, master_secret))
}

/// Checks that only its owner can access a file; if not, returns its mode.
#[cfg(unix)]
pub fn only_its_owner(file: &File) -> Result<(), u32> {
    use std::os::unix::fs::MetadataExt;
    let mode = file.metadata().map(|about| about.mode() & 0o777).unwrap_or(0o777);
    if mode & 0o077 == 0 { Ok(()) } else { Err(mode) }
}

#[cfg(not(unix))]
pub fn only_its_owner(_: &File) -> Result<(), u32> {
    Ok(())
}
