//! Plans for tests, constructed in code.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::exchange::Method;
use pushplan::ledger::Verb;
use pushplan::nouns::level::Level;
use pushplan::plan::{
    Action, CausedSend, Change, DeclaredAt, FORMAT, Moved, Plan, Position, Reason, ShownRequest, Step,
};
use serde_json::Value;

pub fn address(text: &str) -> Address {
    Address::try_from(text.to_owned()).expect("an address")
}

pub fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// A plan made on a Monday in November, for a service with only the documented API.
pub fn plan(changes: impl IntoIterator<Item = Building>) -> Plan {
    let mut plan = Plan {
        format: FORMAT,
        tool: "0.1.0".to_owned(),
        target: "production".to_owned(),
        origin: "https://push.example".to_owned(),
        app: String::new(),
        level: Level::Documented,
        made: time("2026-11-16T09:00:00Z"),
        expires: time("2026-11-17T09:00:00Z"),
        manifests: Digest::of(b"manifests"),
        ledger: Position { lineage: "l".to_owned(), seq: 41 },
        basis: pushplan::plan::Basis::Service,
        aim: pushplan::plan::Aim::Manifests,
        choice: pushplan::plan::Choice::default(),
        on_drift: pushplan::nouns::on_drift::OnDrift::usual(),
        min_lead_seconds: 300,
        changes: Vec::new(),
        steps: Vec::new(),
        left_out: Vec::new(),
        told: pushplan::plan::Annotations::default(),
    };
    let mut steps: Vec<(usize, Step)> = Vec::new();
    for Building { change, steps: own } in changes {
        plan.changes.push(change);
        steps.extend(own);
    }
    plan.changes.sort_by(|a, b| a.address.cmp(&b.address));
    steps.sort_by_key(|(order, _)| *order);
    plan.steps = steps.into_iter().enumerate().map(|(number, (_, step))| Step { number, ..step }).collect();
    plan
}

/// A change and the steps that carry it out, each with its rank among all of them.
pub struct Building {
    pub change: Change,
    steps: Vec<(usize, Step)>,
}

pub fn change(action: Action, at: &str) -> Building {
    let address = address(at);
    let change = Change {
        name: address.resource().key,
        address,
        action,
        place: None,
        id: None,
        desired: None,
        live: None,
        ledger: None,
        moved: None,
        reasons: Vec::new(),
        sends: Vec::new(),
        protect: false,
        broadcast: false,
        ignored: Vec::new(),
    };
    Building { change, steps: Vec::new() }
}

impl Building {
    pub fn name(mut self, name: &str) -> Self {
        self.change.name = name.to_owned();
        self
    }

    pub fn at(mut self, file: &str, line: usize) -> Self {
        self.change.place = Some(DeclaredAt { file: file.into(), line });
        self
    }

    pub fn desired(mut self, spec: Value) -> Self {
        self.change.desired = Some(spec.into());
        self
    }

    /// Sets the live state, which is also the last applied one.
    pub fn live(mut self, spec: Value) -> Self {
        self.change.live = Some(spec.into());
        self.change.ledger.clone_from(&self.change.live);
        self
    }

    /// Sets the live state only.
    pub fn on_service(mut self, spec: Value) -> Self {
        self.change.live = Some(spec.into());
        self
    }

    pub fn id(mut self, id: &str) -> Self {
        self.change.id = Some(id.to_owned());
        self
    }

    pub fn ledger(mut self, spec: Value) -> Self {
        self.change.ledger = Some(spec.into());
        self
    }

    pub fn moved(mut self, moved: Moved) -> Self {
        self.change.moved = Some(moved);
        self
    }

    pub fn why(mut self, reason: Reason) -> Self {
        self.change.reasons.push(reason);
        self
    }

    pub fn sends(mut self, by: &str, tag: &str, to: &str) -> Self {
        let (by, tag, to) = (address(by).into(), Some(tag.to_owned()), to.to_owned());
        self.change.sends.push(CausedSend { by, tag, removed: false, after_seconds: 0, to });
        self
    }

    pub fn protect(mut self) -> Self {
        self.change.protect = true;
        self
    }

    pub fn broadcast(mut self) -> Self {
        self.change.broadcast = true;
        self
    }

    pub fn step(mut self, order: usize, verb: Verb, method: Method, path: &str) -> Self {
        let step = Step {
            from: None,
            number: 0,
            address: self.change.address.clone(),
            verb,
            id: None,
            spec: None,
            before: None,
            refs: BTreeMap::new(),
            seen: BTreeSet::new(),
            after: Vec::new(),
            stamp: None,
            protect: false,
            past: false,
            push_ids: Vec::new(),
            zone: None,
            pruned: false,
            request: Some(ShownRequest { method, path: path.to_owned() }),
        };
        self.steps.push((order, step));
        self
    }
}
