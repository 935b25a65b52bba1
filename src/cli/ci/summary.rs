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
/// Writes Markdown behind what is in the file that GITHUB_STEP_SUMMARY names, which may have 1 MiB in all; elsewhere to
/// standard output. It shows more of a large plan than a comment has room for.
#[derive(Debug, Args)]
pub struct Summary {
    #[command(flatten)]
    saved: Saved,
}

/// The most bytes that a step may leave.
const MOST: usize = 1024 * 1024;
/// What a plan has at least, to say what there is no room for.
const LEAST: usize = 20_000;

impl Summary {
    pub fn run(&self, context: &Context) -> Ended {
        let file = env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty());
        let path = file.as_deref().map(Path::new);
        let taken = path.and_then(|path| path.metadata().ok()).map_or(0, |about| about.len());
        let mut left = MOST.saturating_sub(usize::try_from(taken).unwrap_or(MOST));
        let plans = self.saved.read()?;
        let mut text = String::new();
        for (number, (plan, ahead)) in plans.iter().enumerate() {
            // Each gets its share of what those before it have left.
            let share = (left / (plans.len() - number)).saturating_sub(1);
            if share < LEAST {
                let more = plans.len() - number;
                context
                    .out
                    .note(&format!("The page of the job has no room for {}.", crate::text::count(more, "more plan")));
                break;
            }
            let page = page(plan, ahead, share).text;
            left -= page.len() + 1;
            text.push_str(&page);
            text.push('\n');
        }
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
