//! The project file, `pushplan.toml`: where the manifests are, which checks matter, and the targets.

mod expand;
mod groups;
mod matrix;
mod secrets;
mod target;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::civil::Time;
use pushplan_io::files::{self, ReadError, Refused};
use pushplan_io::git::Commit;
use pushplan_ledger::place;
use pushplan_model::codes::Severity;
use pushplan_model::codes::{self, CODES, Code};
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, Decode, Node, Reader, Tree, shape, words};
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::level::Level;
use pushplan_model::nouns::many::Many;
use pushplan_model::nouns::on_drift::OnDrift;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::source::{Source, Sources, Span};
use pushplan_model::text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::refused::refused;
use super::variables::is_name;
use super::{FILE_LIMIT, committed, to_text};
use expand::Expanded;
pub use groups::Group;
pub use matrix::Matrix;
pub use target::LOCAL;

pub const PROJECT_FILE: &str = "pushplan.toml";

shape! {
    /// The project file, pushplan.toml.
    pub struct ProjectFile as "a project file" {
        /// About the project.
        project: Option<About>,
        /// How much each check matters, by its code.
        checks: BTreeMap<At<String>, At<Weight>>,
        /// The applications that the manifests are applied to, by name.
        targets: BTreeMap<At<String>, Target>,
        /// Targets that are made, one for each combination of values.
        matrix: Option<Matrix>,
        /// What several targets have in common, by name. A target has what its groups say, in the order of the file, a later
        /// one over an earlier one, and its own table on top. A group has overlays like a target.
        groups: BTreeMap<At<String>, Group>,
    }
}

shape! {
    /// About the project.
    pub struct About as "a table with name, manifests and default_target" {
        /// The name of the project.
        name: Option<At<String>>,
        /// Files and folders that hold manifests, beneath the project's folder. All of it where this is left out.
        manifests: Option<Many<At<String>>>,
        /// The target that commands use where none is named.
        default_target: Option<At<String>>,
        /// Things on the service that are left out where what is not in git is counted, listed or deleted: patterns over kind
        /// and name, such as `segments/Test *`, in which `*` stands for any letters and `\*` for a star.
        ignore_unmanaged: Option<Many<At<String>>>,
    }
}

shape! {
    /// One application on one service.
    pub struct Target as "a target" {
        /// The address of the service.
        base_url: Option<At<String>>,
        /// Whether the target is the built-in service, which needs no account and reaches nobody. Each such target has its own data in
        /// `.pushplan/`. A target `local` without a `base_url` is built in anyway.
        built_in: Option<At<bool>>,
        /// What the service offers: `documented` (the contract alone) or `extended`.
        api: Option<At<Level>>,
        /// The vendor's word in the media type: `application/vnd.<vendor>+json`.
        vendor: Option<At<String>>,
        /// Where it is remembered what was applied: `git` (commits on a ref of the project's own remote; `git:REMOTE` for another), `s3://`,
        /// `gs://` or `az://` with a bucket and a prefix, `postgres://host/database/schema`, or `file:` with a folder; `file:` alone is
        /// `.pushplan/` next to the manifests, for one machine. Required with a `base_url`. Credentials come from the environment. A server of
        /// PostgreSQL on another machine is checked by its certificate: `?sslmode=` says how (`verify-full` by default; `verify-ca`,
        /// `require`, `prefer`, `disable`), and `&sslrootcert=` names the file of the authority that vouches for it. They cannot ask for
        /// less than `PGSSLMODE` and `PGSSLROOTCERT`, and no password is sent if they alone ask for less than usual. A folder outside of
        /// the project needs `PUSHPLAN_LEDGER_DIR` in the environment.
        ledger: Option<At<String>>,
        /// Values for `${var.name}` in the manifests.
        variables: BTreeMap<At<String>, At<Value>>,
        /// When people are not to be disturbed, by the clock where they are.
        quiet_hours: Option<At<QuietHours>>,
        /// How far apart two messages to one person are to be, such as `12h`. Plans and the calendar tell of those that are
        /// nearer, also where this is left out: then it is `4h`. Given here, `validate` tells of them too. `0s`: nobody asks.
        apart: Option<At<Delay>>,
        /// The application that this target is: the first 12 digits of the SHA-256 of its app key. With any other, nothing is done.
        app_key_fingerprint: Option<At<String>>,
        /// A file of sample devices beneath the project's folder, such as `sample.jsonl`. Plans count the devices that a message
        /// reaches in it, unless `pushplan reach` has read those of the target.
        population: Option<At<String>>,
        /// How many deletions a plan may have. Where it is left out: 5, or a fifth of a kind, whichever is more.
        max_deletes: Option<At<i64>>,
        /// What a plan does with what someone changed on the service: `overwrite` puts git's version back, `stop` refuses.
        /// It is `overwrite` where this is left out.
        on_drift: Option<At<OnDrift>>,
        /// How near the time of a new push may be, such as `5m`, which it is where this is left out.
        min_lead: Option<At<Delay>>,
        /// How long after it was lost a request may still take effect, such as `10s`, which it is where this is left out.
        settle: Option<At<Delay>>,
        /// How long after it was written down that it would be sent a request may leave, such as `1m`, which it is where this
        /// is left out. After a crash, that and `settle` are waited for.
        send_within: Option<At<Delay>>,
        /// How long others take a run for alive of which nothing is heard, such as `2m`. It is at least twice `send_within`, and
        /// just that where this is left out.
        lease: Option<At<Delay>>,
        /// Whether `pushplan send` may send tests there, each to one named recipient. Where it is left out, it may only on the
        /// built-in service.
        test_sends: Option<At<bool>>,
        /// Who may get tests, such as `["named_user:qa-*"]`: then nobody else does, and `test_sends` need not be said.
        test_recipients: Option<Many<At<String>>>,
        /// Patterns of things on this target that are left out where what is not in git is counted, listed or deleted, beside
        /// those of the project.
        ignore_unmanaged: Option<Many<At<String>>>,
        /// The kinds of which everything is deleted that is on the service and not in git, such as `segments = true`. Plans show
        /// these deletions, and the same guards hold for them as for any.
        prune: BTreeMap<At<String>, At<bool>>,
    }
}

shape! {
    /// A daily stretch of time. It may pass midnight.
    pub struct QuietHours as "{from = \"21:00\", to = \"08:00\"}" {
        /// When it begins.
        from: Clock,
        /// When it ends.
        to: Clock,
    }
}

impl QuietHours {
    pub fn quiet(&self) -> Quiet {
        Quiet { from: self.from.0, to: self.to.0 }
    }
}

/// The value of a variable: a text, a number, or true or false.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Value(pub String);

impl Decode for Value {
    const WHAT: &'static str = "a text, a number, or true or false";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.tree {
            Tree::Scalar(scalar) => Some(Self(scalar.text.clone())),
            _ => {
                reader.unexpected(node, Self::WHAT);
                None
            }
        }
    }
}

impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

/// A time of day, `21:00`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Clock(pub Time);

impl Decode for Clock {
    const WHAT: &'static str = "a time of day such as \"21:00\"";

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let written = reader.text(node)?;
        let read = Time::strptime("%H:%M", written).ok();
        if read.is_none() {
            reader.report(
                Finding::new(&codes::YM206, node.span, format!("`{written}` is not a time of day"))
                    .label(format!("expected {}", Self::WHAT)),
            );
        }
        read.map(Self)
    }
}

impl JsonSchema for Clock {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Clock".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([01]\\d|2[0-3]):[0-5]\\d$" })
    }
}

words! {
    /// How much a check matters.
    Weight, "\"off\", \"warning\" or \"error\"" {
        /// It is not reported.
        Off = "off",
        Warning = "warning",
        Error = "error",
    }
}

/// A project: its folder and what its file says.
#[derive(Debug)]
pub struct Project {
    /// The folder that holds the project file.
    pub root: PathBuf,
    pub file: ProjectFile,
    /// Where its files are, if that is not the disk.
    pub commit: Option<Arc<Commit>>,
    expanded: Expanded,
}

impl Project {
    /// A project with no file: for manifests that are checked on their own.
    pub fn bare(root: &Path) -> Self {
        let (checks, targets, groups) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let file = ProjectFile { project: None, checks, targets, matrix: None, groups };
        Self { root: root.to_owned(), file, commit: None, expanded: Expanded::default() }
    }

    /// The nearest folder at or above `start` that holds a project file.
    pub fn find(start: &Path) -> Option<PathBuf> {
        start.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file()).map(Path::to_owned)
    }

    /// The project in a folder, as far as its file can be read. What is wrong with it is for `validate` to say.
    pub fn open(root: &Path) -> Self {
        let text = files::read_unlinked(&root.join(PROJECT_FILE), FILE_LIMIT)
            .map(|bytes| to_text(bytes).0)
            .unwrap_or_default();
        Self::read(root, text, &mut Sources::default(), &mut Findings::default())
    }

    /// Opens the project in a folder; `None` if its file cannot be read or has a problem.
    pub fn open_sound(root: &Path) -> Option<Self> {
        let (text, wrong) = to_text(files::read_unlinked(&root.join(PROJECT_FILE), FILE_LIMIT).ok()?);
        let mut findings = Findings::default();
        let project = Self::read(root, text, &mut Sources::default(), &mut findings);
        (wrong.is_none() && findings.into_vec().is_empty()).then_some(project)
    }

    /// Where its manifests are: the files and folders that its file names, or the whole folder.
    pub fn places(&self) -> Vec<PathBuf> {
        match self.file.project.as_ref().and_then(|about| about.manifests.as_ref()) {
            Some(names) => names.iter().filter_map(|name| self.place(name).ok()).collect(),
            None => vec![self.root.clone()],
        }
    }

    /// A file or folder of the project by its name. One that does not exist is a place all the same: reading it says so.
    fn place(&self, name: &str) -> Result<PathBuf, Refused> {
        match self.beneath(name) {
            Err(Refused::Unreadable(_)) => Ok(self.root.join(name)),
            place => place,
        }
    }

    /// The path of a file that its files name: beneath its folder and reached without a link.
    pub fn beneath(&self, name: &str) -> Result<PathBuf, Refused> {
        match &self.commit {
            Some(commit) => committed::beneath(commit, &self.root, name),
            None => files::beneath(&self.root, name),
        }
    }

    /// Reads at most `limit` bytes of a file of the project.
    pub fn content(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match &self.commit {
            Some(commit) => commit.read(&super::shown(&self.root, path), limit),
            None => files::read(path, limit),
        }
    }

    /// Reads the project file's text. What is wrong in it is reported, and the rest is used.
    pub fn read(root: &Path, text: String, sources: &mut Sources, findings: &mut Findings) -> Self {
        Self::read_in(root, None, text, sources, findings)
    }

    /// Reads the project file's text. If a commit is given, the project's other files are read from it. Problems in the text
    /// are reported, and the rest is used.
    pub(crate) fn read_in(
        root: &Path,
        commit: Option<Arc<Commit>>,
        text: String,
        sources: &mut Sources,
        findings: &mut Findings,
    ) -> Self {
        let id = sources.add(Source::new(PROJECT_FILE, text));
        let mut node = super::toml::parse(id, sources.get(id), findings);
        let mut found = Findings::default();
        let expanded = expand::expand(&mut node, &mut found);
        let mut reader = Reader::new(found);
        let file = ProjectFile::decode(&node, &mut reader);
        let mut found = reader.findings;
        let mut project = Self { expanded, commit, ..Self::bare(root) };
        if let Some(file) = file {
            project.file = file;
            project.inspect(&mut found);
        }
        secrets::hide(&project, id, sources);
        // What a matrix or a group says is read for each of its targets: one of them stands for all.
        let mut seen = HashSet::new();
        let is_made = project.file.matrix.is_some();
        let words = |it: &Finding| if is_made { String::new() } else { it.message.clone() };
        let is_new = |it: &Finding| seen.insert((it.code.name, it.at, words(it)));
        findings.extend(found.into_vec().into_iter().filter(is_new));
        project
    }

    /// What the types cannot say: names that must exist elsewhere.
    fn inspect(&self, findings: &mut Findings) {
        let file = &self.file;
        for (name, weight) in &file.checks {
            let Some(code) = codes::code(name) else {
                findings.push(no_code(name));
                continue;
            };
            if weight.value.severity() < Some(code.severity) && !code.is_free() {
                findings.push(not_free(code, name));
            }
        }
        for name in file.project.iter().filter_map(|about| about.manifests.as_ref()).flatten() {
            if let Err(why) = self.place(name) {
                findings.push(refused(&self.root, name, name.span, why));
            }
        }
        let names = self.target_names();
        for (name, target) in &file.targets {
            findings.extend(target::wrong_name(name, &names));
            target.inspect(findings);
            findings.extend(target::no_ledger(name, target));
            for name in target.variables.keys().filter(|name| !is_name(name)) {
                findings.push(
                    Finding::new(&codes::RF112, name.span, format!("`{name}` cannot be the name of a variable"))
                        .label("letters, digits, - and _"),
                );
            }
        }
        self.inspect_unmanaged(findings);
        if let Some(name) = file.project.as_ref().and_then(|about| about.default_target.as_ref())
            && !file.targets.contains_key(name)
            && !self.is_unmade()
        {
            findings.push(self.unknown_target(name));
        }
    }

    /// The finding for a name that is no target.
    pub(crate) fn unknown_target(&self, name: &At<String>) -> Finding {
        self.unknown(name, "target", &self.target_names())
    }

    /// The finding for an overlay of nobody.
    pub(crate) fn unknown_overlay(&self, name: &At<String>) -> Finding {
        let what = if self.file.groups.is_empty() { "target" } else { "target or group" };
        self.unknown(name, what, &[self.target_names(), self.group_names()].concat())
    }

    fn unknown(&self, name: &At<String>, what: &str, names: &[&str]) -> Finding {
        let finding =
            Finding::new(&codes::RF109, name.span, format!("no {what} has the name `{name}`")).label("not known");
        match text::nearest(name, names.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => finding.help("add [targets.<name>] to pushplan.toml"),
            None => finding.help(format!("expected {}", text::any_of(&groups::some(names)))),
        }
    }

    /// The groups that a target belongs to, in the order of the file.
    pub(crate) fn groups_of(&self, target: &str) -> &[String] {
        self.expanded.members.get(target).map(Vec::as_slice).unwrap_or_default()
    }

    /// The targets of a group; none where there is no such group.
    pub fn targets_of(&self, group: &str) -> Vec<&str> {
        let is_in = |name: &&str| self.groups_of(name).iter().any(|it| it == group);
        self.target_names().into_iter().filter(is_in).collect()
    }

    /// The names of all groups.
    pub fn group_names(&self) -> Vec<&str> {
        self.file.groups.keys().map(|name| name.as_str()).collect()
    }

    /// Whether its matrix did not make all of its targets, which was reported.
    pub fn is_unmade(&self) -> bool {
        self.expanded.is_unmade
    }

    /// Whether an overlay may have this name.
    pub(crate) fn has_overlays(&self, name: &str) -> bool {
        self.is_unmade() || self.target(name).is_some() || self.group_names().contains(&name)
    }

    /// The names of all targets.
    pub fn target_names(&self) -> Vec<&str> {
        self.file.targets.keys().map(|name| name.as_str()).collect()
    }

    pub fn target(&self, name: &str) -> Option<&Target> {
        self.file.targets.get(&At::new(name.to_owned(), Span::NONE))
    }

    /// Where a target has its name.
    pub fn target_place(&self, name: &str) -> Option<Span> {
        self.file.targets.keys().find(|key| key.as_str() == name).map(|key| key.span)
    }

    /// How much a check matters in this project; `None`: it is off.
    pub fn weight(&self, code: &Code, usual: Severity) -> Option<Severity> {
        let set = self.file.checks.iter().find(|(name, _)| name.eq_ignore_ascii_case(code.name));
        match set.map(|(_, weight)| weight.severity()) {
            None => Some(usual),
            Some(given) if code.is_free() => given,
            Some(given) => given.max(Some(usual)),
        }
    }
}

impl Weight {
    /// What a finding then is; `None`: it is not reported.
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

/// The finding for a name that is no code.
pub fn no_code(name: &At<String>) -> Finding {
    let finding = Finding::new(&codes::YM206, name.span, format!("no check has the code `{name}`")).label("not a code");
    match text::nearest(name, CODES.iter().map(|code| code.name)) {
        Some(near) => finding.help(format!("did you mean `{near}`? `pushplan explain` lists all codes")),
        None => finding.help("`pushplan explain` lists all codes"),
    }
}

/// The finding for a code that is turned off and cannot be.
pub fn not_free(code: &Code, name: &At<String>) -> Finding {
    Finding::new(&codes::YM206, name.span, format!("`{}` cannot be turned off: {}", code.name, code.title))
        .label("stays an error")
        .note("what cannot be read or leads nowhere cannot be checked, planned or sent")
        .help("remove the setting and correct what is reported")
}
