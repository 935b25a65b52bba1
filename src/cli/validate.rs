use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::{Context, Ended, project};
use crate::failure::{Exit, Failure};
use crate::finding::Severity;
use crate::manifest::{self, From, Input, Manifests};

/// Check manifests without talking to any service.
#[derive(Debug, Args)]
pub struct Validate {
    /// Files or folders to report on; `-` reads standard input. The whole project where none is given.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check for this target alone. All targets where it is left out.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,

    /// Exit with 3 from this severity on.
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,

    /// With `-`: the file of the project that standard input stands in for.
    #[arg(long, value_name = "FILE")]
    stdin_path: Option<PathBuf>,

    /// The time to check schedules against, such as 2026-11-15T12:00Z. Now where it is left out.
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailOn {
    Warning,
    Error,
}

impl Validate {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let manifests = self.read(&here)?;
        let names = manifests.project.target_names();
        let targets: Vec<Option<&str>> = match &self.target {
            Some(name) if !names.contains(&name.as_str()) => {
                return Err(Failure::usage(format!("no target has the name `{name}`")));
            }
            Some(name) => vec![Some(name)],
            None if names.is_empty() => vec![None],
            None => names.iter().copied().map(Some).collect(),
        };
        let verdict = project::check(&manifests, &targets, self.now.unwrap_or_else(Timestamp::now));
        for finding in &verdict.findings {
            context.out.print(&format!(
                "{}: {}[{}] {}",
                manifests.sources.place(finding.at),
                finding.severity.word(),
                finding.code.name,
                finding.message
            ));
        }
        let failing = match self.fail_on {
            FailOn::Warning => verdict.findings.len(),
            FailOn::Error => verdict.count(Severity::Error),
        };
        // The process ends here: what was read need not be taken apart first.
        std::mem::forget(manifests);
        Ok(if failing > 0 { Exit::Findings } else { Exit::Done })
    }

    fn read(&self, here: &Path) -> Result<Manifests, Failure> {
        let stdin = self.paths.iter().any(|path| path.as_os_str() == "-");
        if stdin {
            let bytes = From::Bytes(project::stdin()?);
            return Ok(match &self.stdin_path {
                Some(path) => {
                    let root = project::root(here)?;
                    let name = here.join(path).strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
                    manifest::read_project(&root, Some(Input { name, from: bytes }))
                }
                None => project::alone(here, vec![Input { name: "<stdin>".into(), from: bytes }]),
            });
        }
        Ok(manifest::read_project(&project::root(here)?, None))
    }
}
