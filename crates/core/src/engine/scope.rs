//! The files that a command covers: the given paths, and their projects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use pushplan_io::failure::Failure;
use pushplan_model::source::Sources;
use pushplan_project::manifest::{self, Input, InputSource, Manifests, ManifestsHandle, PROJECT_FILE, Project};

use super::project;

/// The name of standard input if it replaces no file.
const STDIN: &str = "<stdin>";

/// Texts that replace files, by the names of the files within their scope.
pub(crate) type Texts = BTreeMap<String, Vec<u8>>;

/// One project, or files that belong to none, and which of its files are covered.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The folder of the project, or a common folder of all the files.
    pub root: PathBuf,
    is_project: bool,
    /// The covered files and folders. Empty: all of the project.
    places: Vec<PathBuf>,
    /// Standard input, which replaces the only place.
    pub stdin: Option<Vec<u8>>,
}

impl Scope {
    /// Reads all of the project, with these texts instead of its files.
    pub fn read(&self, texts: &Texts) -> Manifests {
        let (inputs, folders) = self.inputs(texts);
        match (self.is_project, &self.stdin) {
            (true, _) => manifest::read_project_with(&self.root, inputs, &folders),
            (false, Some(_)) => project::alone(&self.root, inputs),
            (false, None) => manifest::read_places(&self.root, &self.places, inputs),
        }
    }

    /// Reads all of the project, for only one target if `once` returns true.
    pub fn read_as(&self, once: impl FnOnce(&Project) -> bool) -> ManifestsHandle {
        if !self.is_project {
            return ManifestsHandle::Often(self.read(&Texts::new()));
        }
        let (inputs, folders) = self.inputs(&Texts::new());
        manifest::read_as(&self.root, inputs, &folders, once)
    }

    /// The inputs in addition to the project's files, or instead of them, and the folders that it may not name.
    fn inputs(&self, texts: &Texts) -> (Vec<Input>, Vec<PathBuf>) {
        let given =
            |(name, bytes): (&String, &Vec<u8>)| Input { name: name.clone(), from: InputSource::Bytes(bytes.clone()) };
        let mut inputs: Vec<Input> = texts.iter().map(given).collect();
        if let Some(bytes) = &self.stdin {
            let name = self.name(&self.places[0]);
            if !texts.contains_key(&name) {
                inputs.push(Input { name, from: InputSource::Bytes(bytes.clone()) });
            }
        }
        if !self.is_project {
            return (inputs, Vec::new());
        }
        // A file that is named explicitly is read, even if the project excludes it.
        for place in self.places.iter().filter(|place| place.is_file()) {
            let name = self.name(place);
            if name != PROJECT_FILE && !inputs.iter().any(|input| input.name == name) {
                inputs.push(Input { name, from: InputSource::File(place.clone()) });
            }
        }
        (inputs, self.places.iter().filter(|place| place.is_dir()).cloned().collect())
    }

    /// Whether a file is covered, by its name within the scope.
    pub fn covers(&self, name: &str) -> bool {
        self.places.is_empty() || {
            let path = self.root.join(name);
            self.places.iter().any(|place| path.starts_with(place))
        }
    }

    /// The covered places without any file to check, relative to the folder `here`. The project file is not a manifest,
    /// but it is checked.
    pub(crate) fn without_manifests(&self, here: &Path, manifests: &Manifests) -> Vec<String> {
        let own = manifests.project_file();
        let files = || manifests.sources.iter().filter(|(file, _)| Some(*file) != own);
        let of_project = manifests.project.places();
        let places = if self.places.is_empty() { &of_project } else { &self.places };
        let is_empty = |place: &Path| !files().any(|(_, source)| self.root.join(&*source.path).starts_with(place));
        let is_own = |place: &Path| self.is_project && *place == self.root.join(PROJECT_FILE);
        let empty: Vec<&PathBuf> = places.iter().filter(|place| is_empty(place) && !is_own(place)).collect();
        // Some of the project's own places may be empty.
        if self.places.is_empty() && empty.len() < places.len() {
            return Vec::new();
        }
        let shown = |place: &&PathBuf| Some(relative(here, place)).filter(|name| !name.is_empty());
        empty.iter().map(|place| shown(place).unwrap_or_else(|| "this folder".to_owned())).collect()
    }

    /// Whether standard input is read separately although there is a project.
    pub fn is_apart(&self) -> bool {
        self.stdin.is_some() && !self.is_project && Project::find(&self.root).is_some()
    }

    /// Names the files relative to the folder `here`, so that a terminal, an editor or a CI system can open them.
    pub(crate) fn show_from(&self, here: &Path, sources: &mut Sources) {
        if self.root != here {
            sources.rename(|name| if name == STDIN { name.to_owned() } else { relative(here, &self.root.join(name)) });
        }
    }

    /// The name of a place within the scope.
    fn name(&self, place: &Path) -> String {
        let name = place.strip_prefix(&self.root).unwrap_or(place);
        name.to_string_lossy().replace('\\', "/")
    }
}

/// The scopes of all the paths, one per project and one for files that belong to none.
pub(crate) fn scopes(here: &Path, paths: &[PathBuf], stdin_path: Option<&Path>) -> Result<Vec<Scope>, Failure> {
    let stdin = paths.iter().any(|path| path.as_os_str() == "-");
    match (stdin, stdin_path) {
        (true, _) if paths.len() > 1 => Err(dash_beside_paths()),
        (true, path) => Ok(vec![standard_input(here, path)?]),
        (false, Some(_)) => Err(Failure::usage("`--stdin-path` needs `-`, which reads standard input")),
        (false, None) if paths.is_empty() => {
            let root = project::root(here)?;
            Ok(vec![Scope { root, is_project: true, places: Vec::new(), stdin: None }])
        }
        (false, None) => of_paths(here, paths),
    }
}

fn standard_input(here: &Path, stands_for: Option<&Path>) -> Result<Scope, Failure> {
    let stdin = Some(project::stdin()?);
    let Some(path) = stands_for else {
        let places = vec![here.join(STDIN)];
        return Ok(Scope { root: here.to_owned(), is_project: false, places, stdin });
    };
    // The file need not exist yet, but its folder must.
    let place = physical(&here.join(path)).ok_or_else(|| missing(path))?;
    if place.is_dir() {
        return Err(Failure::usage(format!("`{}` is a folder; standard input stands in for a file", path.display())));
    }
    let folder = place.parent().unwrap_or(here);
    let project = Project::find(folder);
    let is_project = project.is_some();
    Ok(Scope { root: project.unwrap_or_else(|| folder.to_owned()), is_project, places: vec![place], stdin })
}

fn of_paths(here: &Path, paths: &[PathBuf]) -> Result<Vec<Scope>, Failure> {
    let mut projects: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut alone = Vec::new();
    for path in paths {
        let full = here.join(path);
        let place = physical(&full).filter(|_| fs::symlink_metadata(&full).is_ok()).ok_or_else(|| missing(path))?;
        let folder = if place.is_dir() { Some(place.as_path()) } else { place.parent() };
        match folder.and_then(Project::find) {
            Some(root) => projects.entry(root).or_default().push(place),
            None => alone.push(place),
        }
    }
    let mut scopes: Vec<Scope> =
        projects.into_iter().map(|(root, places)| Scope { root, is_project: true, places, stdin: None }).collect();
    if !alone.is_empty() {
        scopes.push(Scope { root: common(&alone), is_project: false, places: alone, stdin: None });
    }
    Ok(scopes)
}

/// The failure for `-` among other paths.
pub fn dash_beside_paths() -> Failure {
    Failure::usage("`-` cannot be combined with other paths").help("write a single `-`, or files and folders")
}

/// The failure for a given path that does not exist.
pub fn missing(path: &Path) -> Failure {
    Failure::usage(format!("no file or folder `{}`", path.display()))
}

/// A path without links and dots, except that its last part may be a link or may not exist.
fn physical(path: &Path) -> Option<PathBuf> {
    match (path.parent(), path.components().next_back()) {
        (Some(folder), Some(Component::Normal(name))) => Some(folder.canonicalize().ok()?.join(name)),
        _ => path.canonicalize().ok(),
    }
}

/// The nearest common folder.
fn common(places: &[PathBuf]) -> PathBuf {
    let folder = |place: &PathBuf| if place.is_dir() { place.clone() } else { place.with_file_name("") };
    let mut root: PathBuf = places.first().map(folder).unwrap_or_default().components().collect();
    while !places.iter().all(|place| place.starts_with(&root)) {
        if !root.pop() {
            break;
        }
    }
    root
}

/// The path of `path` relative to the folder `here`. Both are absolute.
pub fn relative(here: &Path, path: &Path) -> String {
    let shared = here.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let down = path.components().skip(shared);
    let path: PathBuf = if shared == 0 { path.to_owned() } else { up.chain(down).collect() };
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_seen_from_a_folder() {
        let seen = |here: &str, path: &str| relative(Path::new(here), Path::new(path));
        assert_eq!(seen("/p", "/p/a/b.yaml"), "a/b.yaml");
        assert_eq!(seen("/p/x/y", "/p/a/b.yaml"), "../../a/b.yaml");
        assert_eq!(seen("/p/x", "/p/x"), "");
    }

    #[test]
    fn the_common_folder_is_the_nearest() {
        let of = |places: &[&str]| common(&places.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["/q/a/x.yaml", "/q/a/y.yaml"]), Path::new("/q/a"));
        assert_eq!(of(&["/q/a/x.yaml", "/q/b/y.yaml"]), Path::new("/q"));
        assert_eq!(of(&["/q/x.yaml"]), Path::new("/q"));
    }
}
