//! From files to declarations: reading, overlays, variables, types.
//!
//! [`read`] does everything that is the same for all targets and keeps the trees; [`Manifests::resolve`] computes the
//! [`Desired`] state of one target from them.

pub mod author;
mod bodies;
mod catalogues;
mod collect;
mod committed;
mod desired;
pub mod edit;
pub mod fields;
mod growth;
mod inputs;
mod key_index;
mod layers;
pub mod layout;
mod lifecycle;
mod line;
mod meant;
mod merge;
mod parse;
mod project;
mod provenance;
mod refused;
pub mod schema;
mod several;
mod signs;
mod single;
mod slips;
mod split;
mod syntax;
mod toml;
mod unmanaged;
mod variables;
pub mod write;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use catalogues::{TextState, TranslatedMessage, TranslatedText, TranslationTable, WrittenText};
pub use collect::{Declaration, TOP_LEVEL};
pub use desired::{Conditions, Declared, Desired, PossibleKinds};
pub use inputs::TargetInputs;
pub use lifecycle::Lifecycle;
pub use parse::{FILE_LIMIT, Parsed, to_text};
pub use project::{AxisValues, LOCAL, PROJECT_FILE, Project, ProjectFile, QuietHours, Target, no_code, not_free};
pub use provenance::Provenance;
pub use single::{ManifestsHandle, SingleTarget, read_as, read_once};
pub use split::parse;
pub use variables::variables_in;

use pushplan_io::files::{self, FileError};
use pushplan_io::git::Commit;
use pushplan_model::codes;
use pushplan_model::cores;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::kinds::Kind;
use pushplan_model::node::Node;
use pushplan_model::source::{FileId, Source, Sources, Span};

use catalogues::Catalogues;
use collect::Collected;

/// The largest project file that is read.
const PROJECT_FILE_LIMIT: u64 = 1024 * 1024;

/// The content of a project, before a target is chosen.
#[derive(Debug)]
pub struct Manifests {
    pub project: Project,
    pub sources: Sources,
    /// The findings that do not depend on the target.
    pub findings: Vec<Finding>,
    /// Whether every file could be read completely. If not, a missing resource proves nothing.
    pub complete: bool,
    collected: Collected,
    /// The number of resources without overlays.
    resource_count: usize,
    /// The files of resources whose trees were dropped.
    let_go: Vec<FileId>,
    project_file: Option<FileId>,
    /// Whether any text may contain a variable. If not, variables are not searched.
    has_variables: bool,
    /// Whether any body may be in a file, or any text in a catalogue.
    has_files: bool,
    catalogues: Catalogues,
    /// Bodies that replace the files with these names.
    given_bodies: BTreeMap<String, String>,
}

/// A text to read, and its shown name.
#[derive(Debug)]
pub struct Input {
    pub name: String,
    pub from: InputSource,
}

#[derive(Debug)]
pub enum InputSource {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Manifests {
    /// Creates manifests without any resource.
    fn new(project: Project, sources: Sources, findings: Findings, parsed: &Parsed, catalogues: Catalogues) -> Self {
        let Parsed { complete, has_variables, has_files, .. } = *parsed;
        Self {
            project_file: None,
            project,
            sources,
            findings: findings.into_vec(),
            complete,
            collected: Collected::default(),
            resource_count: 0,
            let_go: Vec::new(),
            has_variables,
            has_files,
            catalogues,
            given_bodies: BTreeMap::new(),
        }
    }

    /// The project file among the sources, if there is one.
    pub fn project_file(&self) -> Option<FileId> {
        self.project_file
    }

    /// Every declared resource, for all targets or for some.
    pub fn declared(&self) -> impl Iterator<Item = &Declaration> {
        let base = &self.collected.base;
        let mut seen = HashSet::new();
        let overlays = self.collected.overlays.values().flat_map(|layer| &layer.resources);
        let only_there = overlays
            .filter(move |it| base.get(it.kind.key, &it.key).is_none() && seen.insert((it.kind.key, it.key.as_str())));
        base.resources.iter().chain(only_there)
    }
}

impl Manifests {
    /// The number of resources that are declared in these files, for all targets or for some.
    pub fn count_in(&self, files: &BTreeSet<FileId>) -> usize {
        let files_of = self.declared().filter_map(|declared| declared.key.span.file());
        files_of.chain(self.let_go.iter().copied()).filter(|file| files.contains(file)).count()
    }

    /// All declarations of a resource: in the manifests, then in the overlays of each target.
    pub fn declarations(&self, kind: &'static Kind, key: &str) -> Vec<&Declaration> {
        let layers = std::iter::once(&self.collected.base).chain(self.collected.overlays.values());
        layers.filter_map(|layer| layer.get(kind.key, key)).collect()
    }

    /// The declaration of a resource for all targets.
    pub fn base(&self, kind: &'static Kind, key: &str) -> Option<&Declaration> {
        self.collected.base.get(kind.key, key)
    }

    /// The defaults of each kind.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, &Node)> {
        self.collected.defaults.iter().map(|(kind, node)| (*kind, node))
    }
}

impl Manifests {
    /// Fills the variables of a target into a tree from another file, such as device tests. `sources` has its text.
    pub fn fill(&self, node: &mut Node, sources: &Sources, target: Option<&str>, findings: &mut Findings) {
        let values = target.and_then(|name| self.project.target(name)).map(Target::values).unwrap_or_default();
        let growth = growth::Growth::default();
        let with = variables::Filling { variables: &values, target, sources, growth: &growth };
        variables::fill(node, &with, findings);
    }
}

/// Reads a project from its folder: its file and its manifests. `replaced` replaces the file with the same name.
pub fn read_project(root: &Path, replaced: Option<Input>) -> Manifests {
    read_project_with(root, replaced.into_iter().collect(), &[])
}

/// Reads a project from its folder. Each text in `given` replaces the file with its name, or is read in addition.
/// Manifests in the folders `beside` are read too, although the project does not name them.
pub fn read_project_with(root: &Path, given: Vec<Input>, beside: &[PathBuf]) -> Manifests {
    read_whole(root, None, given, beside, from_trees)
}

/// Reads the project in a folder from a commit, without reading the disk.
pub fn read_commit(root: &Path, commit: Arc<Commit>) -> Manifests {
    read_whole(root, Some(commit), Vec::new(), &[], from_trees)
}

fn read_whole<M>(
    root: &Path,
    commit: Option<Arc<Commit>>,
    mut given: Vec<Input>,
    beside: &[PathBuf],
    make: impl FnOnce(Project, Texts, Sources, Findings) -> M,
) -> M {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let own = given.iter().position(|input| input.name == PROJECT_FILE).map(|at| given.remove(at).from);
    let bytes = match (own, &commit) {
        (Some(InputSource::Bytes(bytes)), _) => Ok(bytes),
        (_, Some(commit)) => commit.read(PROJECT_FILE, PROJECT_FILE_LIMIT),
        (_, None) => files::read_unlinked(&root.join(PROJECT_FILE), PROJECT_FILE_LIMIT),
    };
    let project = match bytes {
        Err(why) => {
            let id = sources.add(Source::new(PROJECT_FILE, ""));
            findings.push(cannot_read(id, PROJECT_FILE, &why));
            Project::bare(root)
        }
        Ok(bytes) => {
            let (text, wrong) = to_text(bytes);
            let end = text.len();
            let project = Project::read_in(root, commit, text, &mut sources, &mut findings);
            if let Some(wrong) = wrong {
                findings.push(not_text(sources.iter().next().map(|(id, _)| id), end, wrong));
            }
            project
        }
    };
    let mut places = project.places();
    // A folder that contains one of the project's own, or is within one, is read only as the project says.
    let is_apart = |folder: &&PathBuf| !places.iter().any(|own| own.starts_with(folder) || folder.starts_with(own));
    let beside: Vec<PathBuf> = beside.iter().filter(is_apart).cloned().collect();
    places.extend(beside);
    gather(project, &places, given, sources, findings, make)
}

/// Reads manifests that belong to no project, at or below the given places.
pub fn read_places(root: &Path, places: &[PathBuf], given: Vec<Input>) -> Manifests {
    gather(Project::bare(root), places, given, Sources::default(), Findings::default(), from_trees)
}

fn gather<M>(
    project: Project,
    places: &[PathBuf],
    mut given: Vec<Input>,
    mut sources: Sources,
    mut findings: Findings,
    make: impl FnOnce(Project, Texts, Sources, Findings) -> M,
) -> M {
    // If there is a project file, it is the first source.
    let project_file = sources.iter().next().map(|(file, _)| file);
    let root = &project.root;
    let (paths, mut unreadable) = match &project.commit {
        Some(commit) => committed::manifests(commit, root, places),
        None => files::manifests(root, places),
    };
    let mut inputs = Vec::with_capacity(paths.len());
    for path in paths {
        let name = shown(root, &path);
        match project.commit.as_ref().map(|commit| commit.read(&name, FILE_LIMIT)) {
            None => inputs.push(Input { name, from: InputSource::File(path) }),
            Some(Ok(bytes)) => inputs.push(Input { name, from: InputSource::Bytes(bytes) }),
            Some(Err(why)) => unreadable.push(files::Unreadable { path, why }),
        }
    }
    let names: HashSet<&str> = given.iter().map(|input| input.name.as_str()).collect();
    inputs.retain(|input| !names.contains(input.name.as_str()));
    let mut unreadable: Vec<_> = unreadable.into_iter().map(|file| (shown(root, &file.path), file.why)).collect();
    let cases = given.iter().filter(|input| files::is_cases(Path::new(&input.name)));
    unreadable.extend(cases.map(|input| (input.name.clone(), FileError::HoldsCases)));
    // A file that is named explicitly may be one of those that cannot be read.
    given.retain(|input| !unreadable.iter().any(|(name, _)| *name == input.name));
    inputs.extend(given);
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    for (name, why) in unreadable {
        let id = sources.add(Source::new(name.as_str(), ""));
        findings.push(cannot_read(id, &name, &why));
    }
    let texts = Texts { project_file, ..texts(inputs, &mut sources, &mut findings) };
    make(project, texts, sources, findings)
}

/// The number of bytes of YAML from which files are parsed in parallel.
const MUCH: usize = 1 << 16;

/// Texts that were read.
struct Texts {
    /// The manifests.
    ids: Vec<FileId>,
    catalogues: Vec<FileId>,
    /// Whether all of them could be read completely.
    complete: bool,
    project_file: Option<FileId>,
}

impl Texts {
    /// Whether several threads are faster.
    fn is_much(&self, sources: &Sources) -> bool {
        self.ids.iter().map(|id| sources.get(*id).text.len()).sum::<usize>() > MUCH
    }

    /// Parses the texts as YAML.
    fn parsed(self, sources: &Sources, findings: &mut Findings) -> Parsed {
        let parsed: Vec<(Parsed, Findings)> = cores::each_if(self.is_much(sources), self.ids, |id| {
            let mut found = Findings::default();
            (parse(id, sources.get(id), &mut found), found)
        });
        let mut read = Parsed { complete: self.complete, ..Parsed::default() };
        for (file, found) in parsed {
            read.add_facts(&file);
            read.documents.extend(file.documents);
            found.into_vec().into_iter().for_each(|finding| findings.push(finding));
        }
        read
    }
}

fn texts(inputs: Vec<Input>, sources: &mut Sources, findings: &mut Findings) -> Texts {
    let texts = cores::each_of(inputs, |Input { name, from }| match from {
        InputSource::Bytes(bytes) => (name, Ok(to_text(bytes))),
        InputSource::File(path) => (name, files::read(&path, FILE_LIMIT).map(to_text)),
    });
    let ids = Vec::with_capacity(texts.len());
    let mut read = Texts { ids, catalogues: Vec::new(), complete: true, project_file: None };
    for (name, text) in texts {
        match text {
            Err(why) => {
                read.complete = false;
                let id = sources.add(Source::new(name.as_str(), ""));
                findings.push(cannot_read(id, &name, &why));
            }
            Ok((text, wrong)) => {
                let end = text.len();
                let is_catalogue = files::is_catalogue(Path::new(&name));
                let id = sources.add(Source::new(name, text));
                match wrong {
                    None if is_catalogue => read.catalogues.push(id),
                    None => read.ids.push(id),
                    Some(wrong) => {
                        read.complete = false;
                        findings.push(not_text(Some(id), end, wrong));
                    }
                }
            }
        }
    }
    read
}

/// Parses the given texts as YAML, and reports their problems.
pub fn trees(inputs: Vec<Input>, sources: &mut Sources, findings: &mut Findings) -> Parsed {
    texts(inputs, sources, findings).parsed(sources, findings)
}

/// Reads the given texts as the manifests of a project.
pub fn read(project: Project, inputs: Vec<Input>, mut sources: Sources, mut findings: Findings) -> Manifests {
    let texts = texts(inputs, &mut sources, &mut findings);
    from_trees(project, texts, sources, findings)
}

fn from_trees(project: Project, texts: Texts, sources: Sources, mut findings: Findings) -> Manifests {
    let project_file = texts.project_file;
    let (catalogues, facts) = Catalogues::read(&texts.catalogues, &sources, &mut findings);
    let mut parsed = texts.parsed(&sources, &mut findings);
    parsed.add_facts(&facts);
    let collected = collect::collect(std::mem::take(&mut parsed.documents), &project, &mut findings);
    let resource_count = collected.base.resources.len();
    let manifests = Manifests::new(project, sources, findings, &parsed, catalogues);
    Manifests { collected, resource_count, project_file, ..manifests }
}

/// A path as shown: relative to the project, with forward slashes.
pub fn shown(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// The finding for a file that cannot be read.
pub fn cannot_read(file: FileId, name: &str, why: &FileError) -> Finding {
    let at = Span::new(file, 0..0);
    let finding = match why {
        FileError::HoldsCases => Finding::new(&codes::YM302, at, format!("`{name}` is not read as a manifest: {why}"))
            .help("run `pushplan test` for it; if it is a manifest, rename it"),
        FileError::TooLarge { .. } => Finding::new(&codes::YM106, at, format!("`{name}` cannot be read: {why}")).help(
            "split it; if it is not a manifest, list the folders with manifests under [project] in pushplan.toml",
        ),
        FileError::Other(_) => Finding::new(&codes::YM302, at, format!("`{name}` cannot be read: {why}"))
            .note("an unreadable file may declare resources that others use")
            .help("make the file readable, or remove it from the project"),
    };
    finding.label("the whole file")
}

fn not_text(file: Option<FileId>, end: usize, wrong: &str) -> Finding {
    let at = file.map_or(Span::NONE, |file| Span::new(file, end..end));
    Finding::new(&codes::YM107, at, wrong)
        .label("the first byte that is not text")
        .help("open the file in an editor and save it as UTF-8")
}
