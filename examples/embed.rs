//! Plans and applies a project without the command line: `cargo run --example embed -- FOLDER`.

use std::future::pending;
use std::path::Path;

use jiff::Timestamp;
use pushplan::apply::Report;
use pushplan::engine::{ApplyRequest, Location, PlanRequest, Session};
use pushplan::failure::Failure;
use pushplan::guard::guards;

/// Plans the default target of a project, and applies the plan unless a guard refuses it.
pub async fn plan_and_apply(folder: &Path) -> Result<Report, Failure> {
    let session = Session::default();
    // Reads the files and checks them.
    let workspace = Location::new(folder).open(Timestamp::now())?;
    // Connects to the target. The built-in service is started inside this process.
    let target = workspace.open().await?;
    let planned = workspace.plan(&target, &PlanRequest::default(), &session).await?;
    // Guards refuse what a person has to allow, such as many deletions.
    if let Some(refused) = guards(&planned.plan, &workspace.limits()).first() {
        return Err(Failure::new(refused.message.clone()).help(refused.help.clone()));
    }
    let report = workspace.apply(&target, &planned, ApplyRequest::default(), pending(), &mut |_| {}, &session).await;
    target.close().await;
    Ok(report)
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "an example is for reading")]
pub async fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "examples/shop".to_owned());
    let report = plan_and_apply(Path::new(&folder)).await?;
    for step in &report.steps {
        println!("{} {}: {:?}", step.verb.done(), step.address, step.fate);
    }
    println!("{:?}", report.ending);
    Ok(())
}
