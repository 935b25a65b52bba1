//! Taking an account into git: what is written, what a plan says then, and what a second pull does.
#![cfg(unix)]

mod both_sides;
mod by_hand;
mod in_place;
mod parts;
mod population;
mod round_trip;
mod stories;

use pushplan_testing::{Project, Service, says};

/// A project that was applied.
fn applied(manifest: &str) -> (Project, Service) {
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    (project, service)
}

/// That git and the service say the same, without an error.
#[track_caller]
fn in_sync(project: &Project) {
    let ran = project.run(&["validate"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = project.run(&["plan", "--detailed-exitcode"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stdout, &["No changes."]);
}
