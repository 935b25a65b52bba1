//! Plans of several targets as one JSON object.

use schemars::JsonSchema;
use serde::Serialize;

use super::{PlanResult, Several};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::plan::json::PlanDocument as Planned;

/// What `pushplan plan --format json` prints for several targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlansDocument<'p> {
    /// The version of this form. It grows when a field changes its meaning or is removed.
    pub format_version: u32,
    pub counts: TargetCounts,
    /// Every target that was asked for, in the order of their names.
    pub targets: Vec<PlanTarget<'p>>,
}

/// How many targets there are of each sort.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetCounts {
    /// Those with changes.
    pub changed: usize,
    pub unchanged: usize,
    pub failed: usize,
}

/// One target: its plan, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanTarget<'p> {
    pub target: String,
    /// Null if it failed.
    pub plan: Option<Planned<'p>>,
    /// Null where it was planned.
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
