//! JSON documents about locks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ledger::{Observed, Running};

/// The version of these forms. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The output of `pushplan apply --format json` if another run holds the lock. Nothing was done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldDocument<'l> {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: &'l str,
    /// `held`.
    ending: &'static str,
    /// The lease of the run that holds the lock.
    lease: Lease<'l>,
    /// For how many seconds this command saw no new record of that run. It is over once that is as long as its lease.
    observed_seconds: u64,
}

/// The output of `pushplan unlock --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unlocked<'l> {
    /// The version of this format.
    format_version: u32,
    /// The target.
    target: &'l str,
    /// The lease that was ended.
    unlocked: Lease<'l>,
}

/// A lease.
#[derive(Debug, Serialize, JsonSchema)]
struct Lease<'l> {
    /// The id for `pushplan unlock --lease`.
    id: &'l str,
    /// The owner of the lock.
    holder: &'l str,
    /// Their machine.
    host: Option<&'l str>,
    /// The URL of the CI job of that run.
    job: Option<&'l str>,
    /// When the run began.
    since: String,
    /// When it ends unless it is renewed; null if it never ends.
    expires: Option<String>,
}

impl<'l> Lease<'l> {
    fn of(running: &'l Running) -> Self {
        let lease = running.lease.as_ref();
        Self {
            id: &running.run,
            holder: lease.map_or(&running.actor, |lease| &lease.holder),
            host: lease.and_then(|lease| lease.host.as_deref()),
            job: lease.and_then(|lease| lease.job.as_deref()),
            since: running.since.to_string(),
            expires: running.expires.map(|end| end.to_string()),
        }
    }
}

/// Another run holds the lock: one line of JSON.
pub fn held(target: &str, running: &Running, observed: &Observed) -> String {
    let observed_seconds = observed.unchanged.as_secs();
    line(&HeldDocument { format_version: VERSION, target, ending: "held", lease: Lease::of(running), observed_seconds })
}

/// A lease was ended: one line of JSON.
pub fn unlocked(target: &str, running: &Running) -> String {
    line(&Unlocked { format_version: VERSION, target, unlocked: Lease::of(running) })
}

fn line(document: &impl Serialize) -> String {
    let text = serde_json::to_string(document).expect("texts and numbers are valid JSON");
    format!("{text}\n")
}
