use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use clap::Args;

use super::Saved;
use crate::cli::{Context, Ended};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::describe;
use crate::render::plan::page;

/// Show a plan on the page of the job.
///
/// Appends Markdown to the file in GITHUB_STEP_SUMMARY (at most 1 MiB in total), or prints it if that variable is not set. There is
/// room for more of a large plan than in a comment. What is the same for several targets is shown once. Targets that could not be
/// planned come first, with the reason.
#[derive(Debug, Args)]
pub struct Summary {
    #[command(flatten)]
    saved: Saved,
}

/// The largest size of a step's summary in bytes.
const MOST: usize = 1024 * 1024;
/// The smallest size, for the list of what does not fit.
const LEAST: usize = 20_000;

impl Summary {
    pub fn run(&self, context: &Context) -> Ended {
        let file = env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty());
        let path = file.as_deref().map(Path::new);
        let taken = path.and_then(|path| path.metadata().ok()).map_or(0, |about| about.len());
        let left = MOST.saturating_sub(usize::try_from(taken).unwrap_or(MOST));
        let (plans, failed) = self.saved.read()?;
        if left < LEAST {
            context.out.note(&format!(
                "The page of the job has no room for {}.",
                crate::text::count(plans.len() + failed.len(), "more plan")
            ));
            return Ok(Exit::Done);
        }
        let mut text = match plans.as_slice() {
            [(plan, ahead)] if failed.is_empty() => page(plan, ahead, left - 1).text,
            plans => self.saved.review(plans, &failed, &[left - 1])?.parts.concat(),
        };
        text.push('\n');
        let Some(path) = path else {
            context.out.print(&text);
            return Ok(Exit::Done);
        };
        let written = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.flush()
        });
        written.map_err(|error| {
            Failure::new(format!("the file that GITHUB_STEP_SUMMARY names cannot be written: {}", describe(&error)))
        })?;
        Ok(Exit::Done)
    }
}
