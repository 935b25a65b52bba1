use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Context, Ended};
use crate::engine::{project, scope};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::manifest::schema::{Names, manifest_of};
use crate::manifest::{self, FILE_LIMIT, Manifests, PROJECT_FILE, Project};
use crate::private;
use crate::render::schema::{MANIFEST, SCHEMAS, difference, modeline, text};
use crate::text as words;

/// The schema with the project's own names. Every user creates it, and it is not committed.
const OWN: &str = ".pushplan/schema.json";
/// The folder of a project that commits the general schemas.
const GENERAL: &str = "schema";
/// The number of folders that are named; the rest is counted.
const NAMED: usize = 4;

/// Write the JSON Schema for editors.
///
/// Editors complete and check manifests with it.
#[derive(Debug, Args)]
pub struct Schema {
    /// Folder for the general schemas, without the names of this project [default: `schema`, if it already has schemas]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write nothing; list what would change and exit with 3
    #[arg(long)]
    check: bool,
}

/// A file and its generated content.
struct GeneratedFile {
    path: PathBuf,
    shown: String,
    text: String,
}

impl Schema {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let root = Project::find(&here);
        let wanted = |path: PathBuf, text| {
            let shown = scope::relative(&here, &path);
            GeneratedFile { path, shown, text }
        };
        let mut files = Vec::new();
        if let Some(folder) = self.folder(&here, root.as_deref())? {
            files.extend(SCHEMAS.iter().map(|(name, schema)| wanted(folder.join(name), text(&schema()))));
        }
        let manifests = root.as_deref().map(|root| manifest::read_project(root, None));
        if let Some(manifests) = &manifests {
            files.push(wanted(manifests.project.root.join(OWN), text(&manifest_of(&Names::of(manifests)))));
        }
        if self.check {
            return check(context, &files);
        }
        write(context, &files)?;
        let how = match &manifests {
            Some(manifests) => modelines(manifests),
            None => {
                let path = files.iter().find(|file| file.path.ends_with(MANIFEST)).map_or(MANIFEST, |file| &file.shown);
                format!("  {}", modeline(path))
            }
        };
        context.out.print(&format!(
            "\nBegin each manifest with this line. The path is relative to the manifest's \
            folder:\n\n{how}"
        ));
        Ok(Exit::Done)
    }

    /// The folder for the general schemas, if there is one.
    fn folder(&self, here: &Path, root: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
        if let Some(folder) = &self.out {
            return Ok(Some(here.join(folder)));
        }
        let usual = root.unwrap_or(here).join(GENERAL);
        // A folder with that name may have other content; one with our schemas is kept up to date.
        if usual.join(MANIFEST).is_file() {
            return Ok(Some(usual));
        }
        match root {
            Some(_) => Ok(None),
            None => Err(Failure::new(format!("no {PROJECT_FILE} in {} or above it", here.display()))
                .help("`pushplan schema --out DIR` writes the general schemas to a folder")),
        }
    }
}

fn write(context: &Context, files: &[GeneratedFile]) -> Result<(), Failure> {
    for GeneratedFile { path, shown, text } in files {
        let folder = path.parent().unwrap_or(Path::new(""));
        // A project must not redirect this to another place on the machine.
        if folder.is_symlink() || path.is_symlink() {
            return Err(Failure::new(format!("{shown} cannot be written: it is reached through a symbolic link")));
        }
        let written = match path.ends_with(OWN) {
            true => files::private_folder()
                .recursive(true)
                .create(folder)
                .and_then(|()| private::write(path, text.as_bytes())),
            false => fs::create_dir_all(folder).and_then(|()| fs::write(path, text)),
        };
        written.map_err(|error| Failure::new(format!("{shown} cannot be written: {}", files::describe(&error))))?;
        if path.ends_with(OWN) {
            files::hide_from_git(folder);
        }
        context.out.print(&format!("Wrote {shown}"));
    }
    Ok(())
}

/// The line for each folder with manifests; folders of the same depth share one.
fn modelines(manifests: &Manifests) -> String {
    let root = &manifests.project.root;
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let of_manifests = manifests.sources.iter().filter(|(file, source)| {
        Some(*file) != manifests.project_file() && !files::is_catalogue(Path::new(&*source.path))
    });
    for (_, source) in of_manifests {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = scope::relative(&root.join(folder), &root.join(OWN));
        folders.entry(modeline(&path)).or_default().insert(folder.to_owned());
    }
    if folders.is_empty() {
        folders.entry(modeline(OWN)).or_default().insert(String::new());
    }
    let lines = folders.into_iter().map(|(line, folders)| {
        let named = folders.iter().take(NAMED);
        let mut names: Vec<String> = named
            .map(|name| if name.is_empty() { "the project's folder".into() } else { format!("{name}/") })
            .collect();
        if folders.len() > NAMED {
            names.push(format!("{} more", folders.len() - NAMED));
        }
        format!("  {line}\n    in {}", words::all_of(&names))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn check(context: &Context, files: &[GeneratedFile]) -> Ended {
    if files.iter().all(|file| file.path.ends_with(OWN) && !file.path.exists()) {
        context.out.note("nothing to check: the project has no schema; `pushplan schema` writes one");
        return Ok(Exit::Done);
    }
    let mut stale = Vec::new();
    for GeneratedFile { path, shown, text } in files {
        match files::read(path, FILE_LIMIT) {
            // A missing file is not used, so a fresh checkout is up to date.
            Err(_) if path.ends_with(OWN) && !path.exists() => {}
            Err(why) => stale.push(format!("{shown} is out of date: {why}")),
            Ok(found) if found == text.as_bytes() => {}
            Ok(found) => {
                let found = String::from_utf8_lossy(&found);
                let first = difference(&found, text).unwrap_or_else(|| "the line endings differ".into());
                stale.push(format!("{shown} is out of date\n{first}"));
            }
        }
    }
    if stale.is_empty() {
        return Ok(Exit::Done);
    }
    context.out.print(&stale.join("\n"));
    context.out.note("to update them, run `pushplan schema`");
    Ok(Exit::Findings)
}
