//! The results of `pushplan doctor`, for a bug report: without secrets, names of people and home folders.

use std::fmt::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use schemars::JsonSchema;
use serde::Serialize;

use super::one_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::masked;
use crate::text;

/// The version of the JSON format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The state of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// No problem.
    Fine,
    /// It works, with a warning.
    Warning,
    /// It does not work.
    Trouble,
}

/// One check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    /// Its subject, in a word or two.
    pub about: &'static str,
    /// Its target; none if it is about all targets.
    pub target: Option<String>,
    pub state: CheckState,
    /// The result of the check.
    pub says: String,
    /// How to fix it.
    pub help: Option<String>,
    #[serde(skip)]
    pub exit: Exit,
}

impl Check {
    pub fn fine(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, target: None, state: CheckState::Fine, says: says.into(), help: None, exit: Exit::Done }
    }

    pub fn warning(about: &'static str, says: impl Into<String>, help: impl Into<String>) -> Self {
        Self { state: CheckState::Warning, help: Some(help.into()), ..Self::fine(about, says) }
    }

    pub fn trouble(about: &'static str, failure: &Failure) -> Self {
        let (help, exit) = (failure.help.clone(), failure.into());
        Self { state: CheckState::Trouble, help, exit, ..Self::fine(about, &failure.message) }
    }

    pub fn of(self, target: &str) -> Self {
        Self { target: Some(target.to_owned()), ..self }
    }
}

/// The texts that are removed from all output.
#[derive(Debug, Default)]
pub struct Discreet {
    /// Folders with their replacements, the longest first.
    folders: Vec<(String, &'static str)>,
    users: Vec<String>,
}

impl Discreet {
    pub fn new(root: Option<&Path>, home: Option<&str>, users: Vec<String>) -> Self {
        let mut folders = Vec::new();
        for root in root.into_iter().flat_map(|root| [Some(root.to_owned()), root.canonicalize().ok()]).flatten() {
            folders.push((root.to_string_lossy().into_owned(), "."));
        }
        folders.extend(home.map(|home| (home.trim_end_matches('/').to_owned(), "~")));
        folders.retain(|(folder, _)| folder.len() > 1);
        folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        folders.dedup();
        Self { folders, users: users.into_iter().filter(|user| !user.is_empty()).collect() }
    }

    /// A text without passwords, names of people and their folders.
    pub fn text(&self, text: &str) -> String {
        let mut text = without_users(&masked(text));
        for (folder, stand_in) in &self.folders {
            text = text.replace(&format!("{folder}/"), if *stand_in == "." { "" } else { "~/" });
            text = text.replace(folder.as_str(), stand_in);
        }
        for homes in ["/home/", "/Users/"] {
            text = without_next(&text, homes);
        }
        for user in &self.users {
            text = text.replace(&format!("/{user}/"), "/.../");
        }
        text
    }
}

/// Removes user names from addresses, because they may be names of people.
fn without_users(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"' | '`' | ',')).unwrap_or(after.len());
        let host = after[..end].rsplit_once('@').map_or(&after[..end], |(_, host)| host);
        out.push_str(host);
        rest = &after[end..];
    }
    out + rest
}

/// Removes the part of a path after a folder of home folders.
fn without_next(text: &str, homes: &str) -> String {
    let mut parts = text.split(homes);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c == '/' || c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | ','));
        let _ = write!(out, "{homes}...{}", &part[end.unwrap_or(part.len())..]);
    }
    out
}

/// All checks.
#[derive(Debug)]
pub struct Checkup {
    pub checks: Vec<Check>,
}

/// The output of `pushplan doctor --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument<'c> {
    /// The version of this format.
    format_version: u32,
    /// The version of pushplan.
    pushplan: &'static str,
    /// The operating system.
    platform: String,
    /// Number of checks with an error.
    troubles: usize,
    /// Number of checks with a warning.
    warnings: usize,
    /// All checks.
    checks: &'c [Check],
}

impl Checkup {
    /// Creates a checkup from checks, with private texts removed.
    pub fn new(checks: Vec<Check>, discreet: &Discreet) -> Self {
        let quiet = |check: Check| Check {
            says: discreet.text(&one_line(&check.says)),
            help: check.help.map(|help| discreet.text(&one_line(&help))),
            ..check
        };
        Self { checks: checks.into_iter().map(quiet).collect() }
    }

    fn number(&self, state: CheckState) -> usize {
        self.checks.iter().filter(|check| check.state == state).count()
    }

    /// The exit code of the first problem, which should be solved first.
    pub fn exit(&self) -> Exit {
        self.checks.iter().find(|check| check.state == CheckState::Trouble).map_or(Exit::Done, |check| check.exit)
    }

    pub fn text(&self) -> String {
        const BOLD: Style = Style::new().bold();
        let mut out = format!("{BOLD}pushplan {}{BOLD:#} on {}\n", env!("CARGO_PKG_VERSION"), platform());
        let widest = self.checks.iter().map(|check| check.about.len()).max().unwrap_or_default();
        let mut target: Option<&str> = None;
        for check in &self.checks {
            if check.target.as_deref() != target {
                target = check.target.as_deref();
                let _ = writeln!(out, "\n{BOLD}{}{BOLD:#}", one_line(target.unwrap_or_default()));
            }
            let (sign, style) = match check.state {
                CheckState::Fine => (' ', Style::new()),
                CheckState::Warning => ('!', AnsiColor::Yellow.on_default()),
                CheckState::Trouble => ('x', AnsiColor::Red.on_default()),
            };
            let _ = writeln!(out, "{style}{sign} {:<widest$}{style:#}  {}", check.about, check.says);
            if let Some(help) = check.help.as_ref().filter(|_| check.state != CheckState::Fine) {
                let _ = writeln!(out, "  {:widest$}  = help: {help}", "");
            }
        }
        let (troubles, warnings) = (self.number(CheckState::Trouble), self.number(CheckState::Warning));
        let told = match (troubles, warnings) {
            (0, 0) => "No problems found.".to_owned(),
            (0, _) => format!("{}.", text::count(warnings, "warning")),
            (_, 0) => format!("{}.", text::count(troubles, "problem")),
            _ => format!("{}, {}.", text::count(troubles, "problem"), text::count(warnings, "warning")),
        };
        let _ = write!(out, "\n{told}");
        out
    }

    pub fn json(&self) -> String {
        let document = DoctorDocument {
            format_version: VERSION,
            pushplan: env!("CARGO_PKG_VERSION"),
            platform: platform(),
            troubles: self.number(CheckState::Trouble),
            warnings: self.number(CheckState::Warning),
            checks: &self.checks,
        };
        format!("{}\n", serde_json::to_string_pretty(&document).expect("all keys are texts"))
    }
}

fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_tells_who_and_where_somebody_is() {
        let root = Path::new("/home/ada/work/shop");
        let discreet = Discreet::new(Some(root), Some("/home/ada"), vec!["ada".into()]);
        for (text, told) in [
            ("/home/ada/work/shop/pushplan.toml is there", "pushplan.toml is there"),
            ("no file in /home/ada/work/shop", "no file in ."),
            ("/home/ada/.config/pushplan/credentials.toml", "~/.config/pushplan/credentials.toml"),
            ("file:/home/bob/ledgers, /Users/eve", "file:/home/.../ledgers, /Users/..."),
            ("/srv/ada/x", "/srv/.../x"),
            (
                "postgres://ada:hush@db.example/x and ssh://ada@git.example/y",
                "postgres://db.example/x and ssh://git.example/y",
            ),
            ("https://messaging.example", "https://messaging.example"),
        ] {
            assert_eq!(discreet.text(text), told);
        }
    }
}
