//! Detection of changes on the service since the last apply.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pushplan_io::failure::Failure;
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::text;

use super::Session;
use super::target::Opened;
use super::workspace::{Remembered, Workspace};
use crate::compare;
use crate::drift::{Drift, Situation, drift};
use crate::fetch::fetch;
use crate::live::{Look, Proof};
use crate::plan::{About, Aim, Choice, Plan};
use crate::planner;

/// Drift, also as a plan, for all output forms.
#[derive(Debug)]
pub struct DriftFound {
    pub drift: Drift,
    pub plan: Plan,
}

impl Workspace {
    /// Compares the service with the ledger, without writing.
    pub async fn drift(&self, opened: &Opened, choice: &Choice, session: &Session) -> Result<DriftFound, Failure> {
        let mut remembered = self.settled(opened, Duration::ZERO, session).await?;
        let mut moves = self.rename(&mut remembered.ledger);
        let origin = opened.origin().to_string();
        let look = Look {
            level: opened.level,
            origin: &origin,
            settle: self.settle,
            desired: &BTreeMap::new(),
            ledger: &remembered.ledger,
            all_kinds: true,
            contents: &BTreeSet::new(),
            confirm_absence: true,
            recovers: false,
            proof: Proof::default(),
        };
        let live = fetch(&opened.reading(), look, &|words| self.note(words, session)).await?;
        let mut under_way = BTreeSet::new();
        if remembered.at_work.is_some() {
            (remembered, under_way) = self.since(&remembered).await?;
            moves = self.rename(&mut remembered.ledger);
        }
        for (to, from) in &moves {
            under_way = under_way.into_iter().map(|one: Address| one.renamed(from, to).unwrap_or(one)).collect();
        }
        let Remembered { ledger, position, .. } = remembered;
        let now = opened.now();
        let (ahead, declared) = (opened.ahead(), &self.units);
        let situation = Situation { ledger: &ledger, live: &live, now, ahead, declared, under_way: &under_way, choice };
        let drift = drift(&situation);
        if let Some(pattern) = drift.idle.first() {
            return Err(idle(pattern, &drift));
        }
        let about = About {
            target: self.target.clone(),
            origin: opened.place.clone(),
            app: opened.app.clone(),
            level: opened.level,
            manifests: compare::digest(&self.units),
            ledger: position,
            aim: Aim::Manifests,
            choice: choice.clone(),
            min_lead_seconds: self.min_lead.as_secs(),
        };
        let changes = drift.changes.clone();
        let mut told = self.told();
        planner::annotate(&mut told, &changes, &self.units, &ledger, &live, self.composites());
        let plan = Plan { told, on_drift: self.on_drift, ..Plan::new(about, changes, Vec::new(), Vec::new(), now) };
        Ok(DriftFound { drift, plan })
    }

    /// Gives each resource in the ledger its current address in the files, which users pass to commands.
    fn rename(&self, ledger: &mut Ledger) -> BTreeMap<Address, Address> {
        let moves = compare::moves(&self.units, ledger);
        moves.iter().for_each(|(to, from)| ledger.rename(from, to));
        moves
    }
}

/// The failure for a pattern that matches nothing.
fn idle(pattern: &str, drift: &Drift) -> Failure {
    let known: Vec<String> = drift.changes.iter().map(|change| change.address.to_string()).collect();
    let failure = Failure::usage(format!("`{pattern}` matches nothing that pushplan manages"));
    match text::nearest(pattern, known.iter().map(String::as_str)) {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => failure.help("write an address such as segments/lapsed-buyers; `*` matches any characters"),
    }
}
