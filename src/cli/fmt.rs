use std::path::{Path, PathBuf};

use clap::Args;

use super::{Context, Ended};
use crate::cores;
use crate::engine::{project, scope};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::manifest::layout::{Kept, layout};
use crate::manifest::{FILE_LIMIT, Project, to_text};
use crate::render::one_line;
use crate::source::{Source, Sources};
use crate::text;

/// Format manifests in the standard layout.
///
/// Only the layout changes: values and comments stay.
#[derive(Debug, Args)]
pub struct Fmt {
    /// Files or folders, or `-` for standard input [default: the whole project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write nothing; list what would change and exit with 3
    #[arg(long)]
    check: bool,
}

/// The result for one manifest.
enum Laid {
    Same,
    Other(String),
    /// It is not changed, for these reasons.
    Left(Vec<String>),
}

impl Fmt {
    pub fn run(&self, context: &Context) -> Ended {
        if self.paths.iter().any(|path| path.as_os_str() == "-") {
            if self.paths.len() > 1 {
                return Err(scope::dash_beside_paths());
            }
            return self.stdin(context);
        }
        let here = project::here()?;
        let (paths, unreadable) = self.manifests(&here)?;
        let shown =
            |path: &Path| one_line(&path.strip_prefix(&here).unwrap_or(path).to_string_lossy().replace('\\', "/"));
        let laid: Vec<(String, Laid)> = cores::each_if(true, paths.iter().collect(), |path: &PathBuf| {
            let name = shown(path);
            let laid = match files::read(path, FILE_LIMIT) {
                Ok(bytes) => lay_out(&name, bytes),
                Err(why) => Laid::Left(vec![cannot_read(&name, &why)]),
            };
            (name, laid)
        });

        let mut problems: Vec<String> =
            unreadable.iter().map(|file| cannot_read(&shown(&file.path), &file.why)).collect();
        let mut changed = 0;
        for ((name, laid), path) in laid.iter().zip(&paths) {
            match laid {
                Laid::Same => {}
                Laid::Left(lines) => problems.extend_from_slice(lines),
                Laid::Other(text) => {
                    changed += 1;
                    if self.check {
                        context.out.print(name);
                    } else {
                        files::replace(path, text.as_bytes())
                            .map_err(|why| Failure::new(format!("{name} cannot be written: {why}")))?;
                    }
                }
            }
        }
        problems.iter().for_each(|problem| context.out.print(problem));
        let all = text::count(laid.len(), "file");
        if laid.is_empty() && problems.is_empty() {
            context.out.note("No manifests here.");
        } else if self.check {
            context.out.note(&format!("{changed} of {all} would change."));
        } else {
            context.out.print(&format!("Formatted {changed} of {all}."));
        }
        let failed = !problems.is_empty() || (self.check && changed > 0);
        Ok(if failed { Exit::Findings } else { Exit::Done })
    }

    fn stdin(&self, context: &Context) -> Ended {
        let bytes = project::stdin()?;
        let given = bytes.clone();
        match lay_out("<stdin>", bytes) {
            Laid::Left(lines) => {
                lines.iter().for_each(|line| context.out.note(line));
                return Ok(Exit::Findings);
            }
            Laid::Other(_) if self.check => {
                context.out.print("<stdin>");
                return Ok(Exit::Findings);
            }
            Laid::Same if self.check => {}
            Laid::Same => context.out.exact(&given),
            Laid::Other(text) => context.out.exact(text.as_bytes()),
        }
        Ok(Exit::Done)
    }

    fn manifests(&self, here: &Path) -> Result<(Vec<PathBuf>, Vec<files::Unreadable>), Failure> {
        if self.paths.is_empty() {
            let root = project::root(here)?;
            return Ok(files::manifests(&root, &Project::open(&root).places()));
        }
        let place = |path: &PathBuf| {
            let place = here.join(path);
            // A broken link exists as well.
            if place.symlink_metadata().is_ok() { Ok(place) } else { Err(scope::missing(path)) }
        };
        let places = self.paths.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        Ok(files::manifests(here, &places))
    }
}

fn lay_out(name: &str, bytes: Vec<u8>) -> Laid {
    let (text, wrong) = to_text(bytes);
    let mut sources = Sources::default();
    let file = sources.add(Source::new(name, text));
    let source = sources.get(file);
    if let Some(wrong) = wrong {
        let at = source.position(source.text.len());
        return Laid::Left(vec![format!("{name}:{}:{}: error[YM107] {wrong}", at.line, at.column)]);
    }
    match layout(file, source) {
        Ok(text) if text == source.text => Laid::Same,
        Ok(text) => Laid::Other(text),
        Err(Kept::Unsure(why)) => Laid::Left(vec![format!("{name}: left as it is: {why}")]),
        Err(Kept::Wrong(findings)) => Laid::Left(
            findings
                .iter()
                .map(|finding| {
                    let place = sources.place(finding.at);
                    let message = one_line(&finding.message);
                    format!("{place}: {}[{}] {message}", finding.severity.word(), finding.code.name)
                })
                .collect(),
        ),
    }
}

fn cannot_read(name: &str, why: &files::FileError) -> String {
    format!("{name}: error[YM302] cannot be read: {why}")
}
