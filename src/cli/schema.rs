use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Context, Ended, project};
use crate::failure::{Exit, Failure};
use crate::manifest::schema::{Names, manifest_of};
use crate::manifest::{self, FILE_LIMIT, Project, files};
use crate::render::schema::{MANIFEST, SCHEMAS, difference, modeline, text};

/// The schema with the project's own names. It is made anew by everyone and not committed.
const OWN: &str = ".pushplan/schema.json";

/// Write JSON Schemas, with which editors complete and check what is typed.
///
/// Inside a project, one more schema is written to .pushplan/schema.json: it knows the names of the project's own segments,
/// templates, tag groups and targets.
#[derive(Debug, Args)]
pub struct Schema {
    /// The folder to write to. `schema` in the project's folder where it is left out.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write nothing; exit with 3 if a file is not what would be written.
    #[arg(long)]
    check: bool,
}

/// A file and what it should hold.
struct Wanted {
    path: PathBuf,
    shown: String,
    text: String,
}

impl Schema {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let root = Project::find(&here);
        let folder = match &self.out {
            Some(folder) => here.join(folder),
            None => root.as_deref().unwrap_or(&here).join("schema"),
        };
        let wanted = |path: PathBuf, text| {
            let shown = path.strip_prefix(&here).unwrap_or(&path).display().to_string();
            Wanted { path, shown, text }
        };
        let mut files: Vec<Wanted> =
            SCHEMAS.iter().map(|(name, schema)| wanted(folder.join(name), text(&schema()))).collect();
        if let Some(root) = &root {
            let names = Names::of(&manifest::read_project(root, None));
            files.push(wanted(root.join(OWN), text(&manifest_of(&names))));
        }
        if self.check { check(context, &files) } else { write(context, &files, root.is_some()) }
    }
}

fn write(context: &Context, files: &[Wanted], of_project: bool) -> Ended {
    let mut lines = String::new();
    for Wanted { path, shown, text } in files {
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
        written.map_err(|error| Failure::new(format!("{shown} cannot be written: {}", files::describe(&error))))?;
        lines.push_str(&format!("Wrote {shown}\n"));
    }
    let wanted = if of_project { OWN } else { MANIFEST };
    let schema = files.iter().find(|file| file.path.ends_with(wanted)).map_or(wanted, |file| file.shown.as_str());
    lines.push_str("\nBegin a manifest with this line, the path as seen from its folder:\n\n  ");
    lines.push_str(&modeline(schema));
    context.out.print(&lines);
    Ok(Exit::Done)
}

fn check(context: &Context, files: &[Wanted]) -> Ended {
    let mut stale = Vec::new();
    for Wanted { path, shown, text } in files {
        match files::read(path, FILE_LIMIT) {
            // Where nobody has made it, nobody uses it: a fresh checkout is current.
            Err(_) if path.ends_with(OWN) && !path.exists() => {}
            Err(why) => stale.push(format!("{shown} is not current: {why}")),
            Ok(found) if found == text.as_bytes() => {}
            Ok(found) => {
                let found = String::from_utf8_lossy(&found);
                let first = difference(&found, text).unwrap_or_else(|| "  line ends differ".into());
                stale.push(format!("{shown} is not current\n{first}"));
            }
        }
    }
    if stale.is_empty() {
        return Ok(Exit::Done);
    }
    context.out.print(&stale.join("\n"));
    context.out.note("`pushplan schema` writes them");
    Ok(Exit::Findings)
}
