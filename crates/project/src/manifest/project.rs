//! The project file, `pushplan.toml`: the places of the manifests, the severities of checks, and the targets.

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
use pushplan_io::files::{self, FileError, Refused};
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
pub use matrix::{AxisValues, Matrix};
pub use target::LOCAL;

pub const PROJECT_FILE: &str = "pushplan.toml";

shape! {
    /// The project file, pushplan.toml.
    pub struct ProjectFile as "a project file" {
        /// Settings of the project.
        project: Option<About>,
        /// Severity of each check, by code [default: the severity of the code].
        checks: BTreeMap<At<String>, At<Weight>>,
        /// The applications to apply the manifests to, by name.
        targets: BTreeMap<At<String>, Target>,
        /// Generated targets: one for each combination of the values of the axes, such as `brand = ["shop", "cafe"]`. Each
        /// target has the values as variables.
        matrix: Option<Matrix>,
        /// Common settings of several targets, by name. A later group in the file overrides an earlier one, and the
        /// target's own table overrides its groups. A group can have overlays, like a target.
        groups: BTreeMap<At<String>, Group>,
    }
}

shape! {
    /// Settings of the project.
    pub struct About as "a table with name, manifests and default_target" {
        /// The name of the project.
        name: Option<At<String>>,
        /// Files and folders with manifests, relative to the project's folder [default: the whole folder].
        manifests: Option<Many<At<String>>>,
        /// The target that commands use without `--target` [default: the only target].
        default_target: Option<At<String>>,
        /// Patterns of unmanaged resources to ignore, as kind and name, such as `segments/Test *`. They are not
        /// counted, listed or deleted. `*` matches any characters, and `\*` is a literal star.
        ignore_unmanaged: Option<Many<At<String>>>,
        /// The schemes of the app's deep links, such as `["shop"]` for `shop://sale`. The check MS121 reports deep links
        /// with another scheme [default: none].
        deep_links: Option<Many<At<String>>>,
    }
}

shape! {
    /// One application on one service.
    pub struct Target as "a target" {
        /// The address of the service, such as `https://messaging.example`.
        base_url: Option<At<String>>,
        /// `true`: the target is the built-in service, which needs no account and reaches nobody. Each such target has
        /// its own data in `.pushplan/`. [default: true for `local` without a `base_url`, otherwise false]
        built_in: Option<At<bool>>,
        /// The API level of the service: `documented` (only the contract) or `extended` (also newer requests) [default:
        /// documented].
        api: Option<At<Level>>,
        /// The vendor in the media type of requests, `application/vnd.<vendor>+json`. Set it if your service uses another
        /// one [default: messaging].
        vendor: Option<At<String>>,
        /// The place of the ledger, which records what was applied. Required with a `base_url`. `git` stores commits on
        /// a ref of the project's own remote, and `git:REMOTE` on another remote. `s3://`, `gs://` and `az://` need a
        /// bucket and a prefix; `postgres://host/database/schema` is a database. `file:` is a folder; `file:` alone is
        /// `.pushplan/` next to the manifests, for one machine. A folder outside the project needs
        /// `PUSHPLAN_LEDGER_DIR` in the environment. Credentials come from the environment. For PostgreSQL, `?sslmode=`
        /// sets how the server's certificate is checked: `verify-full` (the default on another machine), `verify-ca`, `require`,
        /// `prefer` (the default on this machine) or `disable`. `&sslrootcert=` is the file of the trusted authority.
        /// `PGSSLMODE` and `PGSSLROOTCERT` in the environment are the minimum. If `ledger` asks for less security than the
        /// default and the environment does not, no password is sent.
        ledger: Option<At<String>>,
        /// Values for `${var.name}` in the manifests.
        variables: BTreeMap<At<String>, At<Value>>,
        /// Hours without messages, in recipients' local time; they may continue past midnight. `validate` and plans
        /// report messages in these hours [default: none].
        quiet_hours: Option<At<QuietHours>>,
        /// The minimum time between two messages to one person, such as `12h`. Plans and the calendar mark messages that
        /// are closer. If it is set, `validate` reports them too. `0s` turns this off [default: `4h`, without `validate`].
        apart: Option<At<Delay>>,
        /// The application of this target: the first 12 digits of the SHA-256 of its app key, which `pushplan doctor`
        /// shows. Credentials of another application are refused [default: any application].
        app_key_fingerprint: Option<At<String>>,
        /// A file of sample devices in the project's folder, such as `sample.jsonl`. Plans use it to count the devices
        /// that a message reaches, unless `pushplan reach` has read the devices of the target.
        population: Option<At<String>>,
        /// Apply refuses a plan with more deletions than this. A kind counts only if the plan deletes more than 20 % of
        /// its managed resources; then all of its deletions count. Each part of a resource is one deletion, such as a
        /// member of a tag group [default: 5].
        max_deletes: Option<At<i64>>,
        /// What to do with changes that someone made on the service: `overwrite` restores the version in git, `stop`
        /// refuses the plan [default: overwrite].
        on_drift: Option<At<OnDrift>>,
        /// The minimum time from the apply to the send time of a new push [default: 5m].
        min_lead: Option<At<Delay>>,
        /// How long a request without an answer may still take effect. The next run waits this long, and so does a run
        /// between two reads of a list that must show that a resource is gone [default: 10s].
        settle: Option<At<Delay>>,
        /// How long after its record was written a request may still be sent. After a crash, the next run waits this
        /// long plus `settle` [default: 1m].
        send_within: Option<At<Delay>>,
        /// How long a run that writes no records keeps its lock, such as `2m`. At least twice `send_within` [default:
        /// twice `send_within`].
        lease: Option<At<Delay>>,
        /// `true`: `pushplan send` may send test messages to any single recipient [default: true on the built-in
        /// service, otherwise false].
        test_sends: Option<At<bool>>,
        /// The only recipients of test messages, such as `["named_user:qa-*"]`. With it, `test_sends` is not needed.
        test_recipients: Option<Many<At<String>>>,
        /// Patterns of unmanaged resources to ignore on this target, in addition to those of the project.
        ignore_unmanaged: Option<Many<At<String>>>,
        /// Kinds whose unmanaged resources are deleted, such as `segments = true` [default: none]. Plans show these
        /// deletions, and guards apply to them.
        prune: BTreeMap<At<String>, At<bool>>,
    }
}

shape! {
    /// A daily period, which may continue past midnight.
    pub struct QuietHours as "{from = \"21:00\", to = \"08:00\"}" {
        /// Its start.
        from: Clock,
        /// Its end.
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
        json_schema!({ "type": "string", "x-words": "a time of day such as `21:00`", "pattern": "^([01]\\d|2[0-3]):[0-5]\\d$" })
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

/// A project: its folder and the content of its file.
#[derive(Debug)]
pub struct Project {
    /// The folder with the project file.
    pub root: PathBuf,
    pub file: ProjectFile,
    /// The commit of its files, if they are not read from the disk.
    pub commit: Option<Arc<Commit>>,
    expanded: Expanded,
}

impl Project {
    /// A project without a file, for manifests that are checked separately.
    pub fn bare(root: &Path) -> Self {
        let (checks, targets, groups) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let file = ProjectFile { project: None, checks, targets, matrix: None, groups };
        Self { root: root.to_owned(), file, commit: None, expanded: Expanded::default() }
    }

    /// The nearest folder at or above `start` with a project file.
    pub fn find(start: &Path) -> Option<PathBuf> {
        start.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file()).map(Path::to_owned)
    }

    /// Reads the project in a folder, as far as possible. `validate` reports the problems.
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

    /// The places of its manifests: the files and folders in its file, or the whole folder.
    pub fn places(&self) -> Vec<PathBuf> {
        match self.file.project.as_ref().and_then(|about| about.manifests.as_ref()) {
            Some(names) => names.iter().filter_map(|name| self.place(name).ok()).collect(),
            None => vec![self.root.clone()],
        }
    }

    /// The path of a file or folder in the project. A missing one has a path too: reading it reports the problem.
    fn place(&self, name: &str) -> Result<PathBuf, Refused> {
        match self.beneath(name) {
            Err(Refused::Unreadable(_)) => Ok(self.root.join(name)),
            place => place,
        }
    }

    /// The path of a file that the project's files name: it must be below its folder, and reached without a link.
    pub fn beneath(&self, name: &str) -> Result<PathBuf, Refused> {
        match &self.commit {
            Some(commit) => committed::beneath(commit, &self.root, name),
            None => files::beneath(&self.root, name),
        }
    }

    /// Reads at most `limit` bytes of a file of the project.
    pub fn content(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
        match &self.commit {
            Some(commit) => commit.read(&super::shown(&self.root, path), limit),
            None => files::read(path, limit),
        }
    }

    /// Reads the project file's text. Problems in it are reported, and the rest is used.
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
        // A problem in a matrix or a group is found for each of its targets, and reported once.
        let mut seen = HashSet::new();
        let is_made = project.file.matrix.is_some();
        let words = |it: &Finding| if is_made { String::new() } else { it.message.clone() };
        let is_new = |it: &Finding| seen.insert((it.code.name, it.at, words(it)));
        findings.extend(found.into_vec().into_iter().filter(is_new));
        project
    }

    /// Checks rules beyond types: names that must exist elsewhere.
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
                    Finding::new(&codes::RF112, name.span, format!("`{name}` is not a valid name of a variable"))
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

    /// The finding for an unknown target.
    pub(crate) fn unknown_target(&self, name: &At<String>) -> Finding {
        self.unknown(name, "target", &self.target_names())
    }

    /// The finding for an overlay of an unknown target or group.
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
            None => match groups::some(names).as_slice() {
                [only] => finding.help(format!("the only one is `{only}`")),
                several => finding.help(format!("expected {}", text::any_of(several))),
            },
        }
    }

    /// The groups that a target belongs to, in the order of the file.
    pub(crate) fn groups_of(&self, target: &str) -> &[String] {
        self.expanded.members.get(target).map(Vec::as_slice).unwrap_or_default()
    }

    /// The targets of a group; empty if there is no such group.
    pub fn targets_of(&self, group: &str) -> Vec<&str> {
        let is_in = |name: &&str| self.groups_of(name).iter().any(|it| it == group);
        self.target_names().into_iter().filter(is_in).collect()
    }

    /// The values of a target by the axes of the matrix; `None` if the matrix did not create it.
    pub fn axis_values(&self, target: &str) -> Option<&AxisValues> {
        self.expanded.values.get(target)
    }

    /// The targets that the matrix created with a value of any axis.
    pub fn targets_with(&self, value: &str) -> Vec<&str> {
        let has = |name: &&str| self.axis_values(name).is_some_and(|values| values.values().any(|own| own == value));
        self.target_names().into_iter().filter(has).collect()
    }

    /// The names of all groups.
    pub fn group_names(&self) -> Vec<&str> {
        self.file.groups.keys().map(|name| name.as_str()).collect()
    }

    /// Whether its matrix did not create all of its targets, which was reported.
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

    /// The position of a target's name.
    pub fn target_place(&self, name: &str) -> Option<Span> {
        self.file.targets.keys().find(|key| key.as_str() == name).map(|key| key.span)
    }

    /// The severity of a check in this project; `None` if it is off.
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
    /// The resulting severity of a finding; `None` if it is not reported.
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

/// The finding for an unknown code.
pub fn no_code(name: &At<String>) -> Finding {
    let finding = Finding::new(&codes::YM206, name.span, format!("the code `{name}` does not exist")).label(
        "not a \
        code",
    );
    match text::nearest(name, CODES.iter().map(|code| code.name)) {
        Some(near) => finding.help(format!("did you mean `{near}`? `pushplan explain` lists all codes")),
        None => finding.help("`pushplan explain` lists all codes"),
    }
}

/// The finding for a setting that turns off a code although that is not allowed.
pub fn not_free(code: &Code, name: &At<String>) -> Finding {
    Finding::new(&codes::YM206, name.span, format!("`{}` cannot be turned off: {}", code.name, code.title))
        .label("stays an error")
        .note("unreadable files and broken references cannot be checked, planned or sent")
        .help("remove the setting and correct the reported errors")
}
