//! The output of `pushplan reach`: the number of devices, and the number that each message reaches.

pub mod json;

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;

use super::layout::{Row, Style, Words, paragraph, rows};
use super::plan::reach::{count, devices};
use super::table::grouped;
use crate::engine::reach::{ReachFound, ReachProgress};
use crate::population::PopulationSource;

/// The counts, and their time.
#[derive(Debug)]
pub struct ReachView<'v> {
    pub found: &'v ReachFound,
    pub now: Timestamp,
}

impl ReachView<'_> {
    /// The reach for a terminal.
    pub fn text(&self, style: Style) -> String {
        let ReachFound { target, population, messages, .. } = self.found;
        let mut out = String::new();
        let devices = devices(population);
        let head = match population.source {
            PopulationSource::Sample => format!("{target} has a sample population of {devices}."),
            _ => format!("{target} has {devices}."),
        };
        paragraph(&mut out, &Words::new(&head), 0, style);
        if !messages.is_empty() {
            out.push('\n');
        }
        let row = |(address, counted): &(crate::address::Address, Option<_>)| {
            let words = match counted {
                Some(counted) => count(*counted, population),
                None => "unknown: the channel list does not have the data that its audience needs".to_owned(),
            };
            Row::new(&address.to_string(), Words::new(&words))
        };
        rows(&mut out, &messages.iter().map(row).collect::<Vec<_>>(), 2, style);
        let next = match messages.is_empty() {
            true => "The project has no message with an audience to count.",
            false if self.found.is_built_in => {
                "Plans of the built-in service do not use these numbers: they count the devices of the service themselves."
            }
            false => "Plans show these numbers from now on. Run `pushplan reach` again to update them.",
        };
        out.push('\n');
        paragraph(&mut out, &Words::new(next), 0, style);
        out
    }
}

/// Shows the number of channels read, if standard error is a terminal.
#[derive(Debug)]
pub struct ReachBar(ProgressBar);

impl ReachBar {
    pub fn start() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub fn update(&self, progress: ReachProgress) {
        let ReachProgress { users, channels } = progress;
        self.0.set_message(format!("{} named users, {} channels", grouped(users as u64), grouped(channels as u64)));
    }
}

impl Drop for ReachBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
