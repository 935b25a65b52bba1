//! Plans of several targets as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::{PlanResult, Several};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::plan::json::PlanDocument as Planned;

/// The output of `pushplan plan --format json` for several targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlansDocument<'p> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    pub counts: TargetCounts,
    /// All selected targets, sorted by name.
    pub targets: Vec<PlanTarget<'p>>,
}

/// The number of targets with each result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetCounts {
    /// Targets with changes.
    pub changed: usize,
    pub unchanged: usize,
    pub failed: usize,
}

/// One target: its plan, or the error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanTarget<'p> {
    pub target: String,
    /// The plan. Null if planning failed.
    pub plan: Option<Planned<'p>>,
    /// The error. Null if the target was planned.
    pub error: Option<Error>,
}

/// The error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Error {
    pub message: String,
    pub help: Option<String>,
    /// The exit code for this target only.
    pub exit: u8,
}

impl Error {
    pub fn new(failure: &Failure) -> Self {
        Self { message: failure.message.clone(), help: failure.help.clone(), exit: Exit::from(failure) as u8 }
    }
}

impl<'p> PlanTarget<'p> {
    fn new((target, said): &(&str, PlanResult<'p>)) -> Self {
        let (plan, error) = match *said {
            PlanResult::Planned(plan, ahead) => (Some(Planned::new(plan, ahead)), None),
            PlanResult::Failed(failure) => (None, Some(Error::new(failure))),
        };
        Self { target: (*target).to_owned(), plan, error }
    }
}

/// All targets as one JSON object.
pub fn json(several: &Several) -> String {
    let (changed, unchanged, failed) = several.numbers();
    let targets = several.all.iter().map(PlanTarget::new).collect();
    let document = PlansDocument { format_version: 1, counts: TargetCounts { changed, unchanged, failed }, targets };
    let mut text = serde_json::to_string_pretty(&document).expect("plans have text keys only");
    text.push('\n');
    text
}
