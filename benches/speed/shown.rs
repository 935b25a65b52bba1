//! Showing a plan in which everything changes, against making it.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pushplan::plan::Plan;
use pushplan::render::Style;
use pushplan::render::html::report::html;
use pushplan::render::plan::{NextSteps, markdown, text};

use crate::program::{Ran, at, pushplan, timed};
use crate::project::{Layout, comes, device, edited, goes, other_device, resource, write_all};
use crate::service::{App, Service};
use crate::sites::project_file;

type Form = fn(&Plan, &NextSteps) -> String;
pub const FORMS: [(&str, Form); 3] =
    [("text", |plan, ahead| text(plan, ahead, Style::PLAIN)), ("Markdown", markdown), ("HTML", html)];

/// A project of which something changes in each resource, a service that has it as it was, and the plan that this makes.
pub struct Shown {
    folder: PathBuf,
    service: Service,
    app: App,
    /// The plan as it was saved.
    saved: String,
    /// How much changes, in the plan's own words.
    summary: String,
}

/// The seconds of a round.
pub struct Times {
    pub planning: f64,
    pub forms: [f64; FORMS.len()],
}

impl Shown {
    /// A fifth comes, a fifth goes as far as nothing points at it, all others are edited.
    pub fn prepare(folder: &Path, resources: usize) -> Self {
        let folder = folder.join("edited");
        fs::create_dir_all(&folder).expect("a folder");
        let service = Service::with_devices(&[resources], |round| vec![device(round), other_device(round)]);
        let (project_file, app) = (project_file(&service.origin()), App::of(resources));
        // With the second apply, the ledger learns the version stamps of what the first one made.
        for first in [true, false] {
            let before = (0..resources).filter(|n| !comes(*n)).map(|n| resource(n, first));
            write_all(&folder, &project_file, Layout::One, before);
            let mut apply = command(&folder, &service, &app, "apply");
            timed(apply.args(["--yes", "--concurrency", "64"])).well("apply");
        }
        let after = (0..resources).filter(|n| !goes(*n)).map(edited);
        write_all(&folder, &project_file, Layout::One, after);
        let saved = folder.join("saved.json");
        let ran = timed(command(&folder, &service, &app, "plan").arg("--out").arg(&saved)).planned();
        let saved = fs::read_to_string(&saved).expect("a plan");
        let plan = Plan::load(&saved).expect("it was saved");
        let told = plan.changes.iter().filter(|change| change.is_told());
        let mut changed: Vec<_> = told.map(|change| change.address.resource()).collect();
        changed.dedup();
        assert_eq!(changed.len(), resources, "everything changes");
        Self { folder, service, app, saved, summary: summary(&ran).to_owned() }
    }

    /// Planning is what the real program takes to plan and to show that as text, less what the text takes: its start, the ledger
    /// and the network are in it. Nobody has looked into the plan before it is shown.
    pub fn round(&self) -> Times {
        let planned = timed(&mut command(&self.folder, &self.service, &self.app, "plan")).planned();
        assert_eq!(summary(&planned), self.summary, "the plan is another one");
        let ahead = NextSteps::default();
        let forms = FORMS.map(|(name, form)| {
            let plan = Plan::load(&self.saved).expect("it was saved");
            let begin = Instant::now();
            let made = black_box(form(&plan, &ahead));
            let took = begin.elapsed().as_secs_f64();
            assert!(made.len() > plan.changes.len(), "{name} is short");
            took
        });
        Times { planning: planned.seconds - forms[0], forms }
    }
}

/// A command of the program in the project's folder.
fn command(folder: &Path, service: &Service, app: &App, name: &str) -> Command {
    let mut command = at(pushplan(), folder, &service.origin(), app);
    command.arg(name);
    command
}

/// The line that says how much changes.
fn summary(ran: &Ran) -> &str {
    let said = ran.said.lines().rfind(|line| line.starts_with("Plan: "));
    said.unwrap_or_else(|| panic!("no summary: {:.2000}", ran.said))
}
