//! A plan in a file, and whether it is still valid.

use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde::Serialize;
use serde_json::Value;

use super::{Action, Difference, FORMAT, Plan, approval};

/// A plan with a digest that detects any changed byte.
#[derive(Serialize)]
struct Saved {
    pushplan_plan: u32,
    digest: Digest,
    plan: Plan,
}

/// Why a file is not a plan that can be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    NotAPlan(String),
    /// It was made by a version of pushplan with another format.
    OtherForm(u32),
    /// It is unchanged, and was made by a version of pushplan with fields that this one does not have.
    Newer {
        tool: String,
        why: String,
    },
    /// It was edited or damaged.
    Changed,
}

impl Plan {
    /// The content of a file with the plan.
    pub fn save(&self) -> String {
        let saved = Saved { pushplan_plan: FORMAT, digest: Digest::of_data(self), plan: self.clone() };
        let mut text = serde_json::to_string_pretty(&saved).expect("a plan has text keys only");
        text.push('\n');
        text
    }

    /// Reads the plan in a file.
    pub fn load(text: &str) -> Result<Self, NoPlan> {
        let value: Value = serde_json::from_str(text).map_err(|error| NoPlan::NotAPlan(error.to_string()))?;
        let form = value["pushplan_plan"].as_u64();
        match form.map(u32::try_from) {
            Some(Ok(FORMAT)) => {}
            Some(Ok(other)) => return Err(NoPlan::OtherForm(other)),
            _ if value.get("format_version").is_some() => {
                let told = "it was written by --format json, which is for programs; to save a plan, write `--out` \
                    before any --format";
                return Err(NoPlan::NotAPlan(told.to_owned()));
            }
            _ => return Err(NoPlan::NotAPlan("the field that marks a plan is missing".to_owned())),
        }
        let written = &value["plan"];
        let digest = Digest::of_value(written);
        if value["digest"] != digest.as_str() {
            return Err(NoPlan::Changed);
        }
        // It is unchanged. This version must understand all of it, because an unknown field may be essential.
        let newer = |why: String| {
            let tool = written["tool"].as_str().unwrap_or("of an unknown version").to_owned();
            NoPlan::Newer { tool, why }
        };
        let plan: Self = serde_json::from_value(written.clone()).map_err(|error| newer(error.to_string()))?;
        if Digest::of_data(&plan) != digest {
            return Err(newer("it has fields that are unknown to this version".to_owned()));
        }
        Ok(plan)
    }

    /// The differences between a saved plan and a new one; empty if they are the same.
    pub fn moved(&self, fresh: &Self) -> Vec<String> {
        let mut moved = Vec::new();
        if fresh.made > self.expires {
            moved.push(format!("it expired at {}", self.expires));
        }
        let mut unless = |same: bool, what: &str| {
            if !same {
                moved.push(what.to_owned());
            }
        };
        unless(self.tool == fresh.tool, &format!("it was made by pushplan {}, but this is {}", self.tool, fresh.tool));
        unless(self.target == fresh.target, &format!("it is for the target {}", self.target));
        unless(self.origin == fresh.origin, &format!("it is for the service at {}", self.origin));
        unless(self.app == fresh.app, &format!("it is for the application {}", self.app));
        unless(self.level == fresh.level, "the target's API level changed");
        // A ledger has a lineage from its first record.
        let same_ledger = self.ledger.seq == 0 || self.ledger.lineage == fresh.ledger.lineage;
        unless(same_ledger, "the ledger was replaced");
        let since = fresh.ledger.seq.saturating_sub(self.ledger.seq);
        if same_ledger && fresh.ledger.seq != self.ledger.seq {
            unless(false, &format!("another apply has run: the ledger has {since} more records"));
        }
        unless(self.manifests == fresh.manifests, "the manifests changed");
        if moved.is_empty() && self.digest() != fresh.digest() {
            moved.extend(self.changed(fresh));
        }
        moved
    }

    fn changed(&self, fresh: &Self) -> Vec<String> {
        let words = |(address, difference): (&Address, &Difference)| match difference {
            Difference::Service | Difference::Files | Difference::Removed | Difference::Back => {
                difference.words(address)
            }
            Difference::Gone(was) if was.contains(&Action::Delete) => {
                format!("{address} no longer exists, so it cannot be deleted")
            }
            Difference::Other(..) | Difference::New(_) | Difference::Gone(_) | Difference::Late(_) => {
                format!("{address} is planned differently now")
            }
        };
        let moved = approval::moved(&self.approval().changes, &fresh.approval().changes);
        match moved.is_empty() {
            true => vec!["it is for another part of the project".to_owned()],
            false => moved.iter().map(words).collect(),
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::plan::{About, Position};

    fn plan() -> Plan {
        let about = About {
            ledger: Position { lineage: "l".into(), seq: 7 },
            ..About::new("production", "https://messaging.example")
        };
        Plan::new(about, Vec::new(), Vec::new(), Vec::new(), "2030-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_saved_plan_is_the_plan() {
        assert_eq!(Plan::load(&plan().save()).unwrap(), plan());
    }

    #[test]
    fn a_plan_with_any_byte_changed_is_refused_or_the_same() {
        let text = plan().save();
        for at in 0..text.len() {
            for with in [b'0', b'x', b'"', b' '] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = with;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                if let Ok(read) = Plan::load(&changed) {
                    assert_eq!(read, plan(), "byte {at}");
                }
            }
        }
    }

    #[test]
    fn what_moved_is_named() {
        let saved = plan();
        assert!(saved.moved(&plan()).is_empty());
        let later = Plan { made: "2031-01-01T00:00:00Z".parse().unwrap(), ..plan() };
        assert_eq!(saved.moved(&later), ["it expired at 2030-01-04T00:00:00Z"]);
        let applied = Plan { ledger: Position { seq: 9, ..saved.ledger.clone() }, ..plan() };
        assert_eq!(saved.moved(&applied), ["another apply has run: the ledger has 2 more records"]);
        let first = Plan { ledger: Position { lineage: String::new(), seq: 0 }, ..plan() };
        assert_eq!(first.moved(&plan()), ["another apply has run: the ledger has 7 more records"]);
        let edited = Plan { manifests: Digest::of(b"b"), ..plan() };
        assert_eq!(saved.moved(&edited), ["the manifests changed"]);
        assert!(matches!(Plan::load("{}"), Err(NoPlan::NotAPlan(_))));
        let newer = plan().save().replace("\"pushplan_plan\": 1", "\"pushplan_plan\": 2");
        assert_eq!(Plan::load(&newer), Err(NoPlan::OtherForm(2)));
    }
}
