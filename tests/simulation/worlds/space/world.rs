//! The state of a world: the service, the log, the manifests, the appliers, and what may still go wrong.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use pushplan::address::Address;
use pushplan::apply::Now;
use pushplan::exchange::Request;

use super::applier::Applier;
use super::choose::Choices;
use super::log::Log;
use super::project::{Edit, Units, push_spec, segment_spec, units};
use super::service::{Origin, Service};
use super::time::{self, LATE};
use super::{Fault, Protection, Setup};

/// A request whose sender has given up on it.
#[derive(Clone, Debug, Hash)]
pub struct Late {
    pub request: Arc<Request>,
    pub address: Address,
    departed: i64,
}

#[derive(Clone, Debug)]
pub struct World {
    pub setup: Arc<Setup>,
    pub now: i64,
    pub service: Arc<Service>,
    pub log: Log,
    /// The manifests, and each of their later versions.
    pub versions: Vec<Arc<Units>>,
    /// The newest version that an applier has begun to apply.
    pub applied: usize,
    pub appliers: Vec<Applier>,
    pub late: Vec<Late>,
    /// The number of faults and edits that may still happen.
    pub faults: u8,
    pub edits: u8,
    /// Whether the service has already denied the existence of an existing object.
    has_lied: bool,
    /// The edits that happened.
    pub edited: Vec<Edit>,
    /// Backups of the service.
    pub backups: Vec<Arc<Service>>,
    /// The kinds that were changed outside pushplan when no request could show it.
    pub excused: Vec<&'static str>,
    /// Whether the ledger was set back.
    pub is_set_back: bool,
    /// Whether another user has deleted the push.
    pub is_taken: bool,
    /// The first violation.
    pub wrong: Option<String>,
    /// The events, if requested.
    pub story: Option<String>,
}

impl World {
    /// A world before any event.
    pub fn new(setup: Arc<Setup>) -> Self {
        Self {
            now: 0,
            service: Arc::new(Service::new(setup.level)),
            log: Log::default(),
            versions: vec![units(setup.shape, &[])],
            applied: 0,
            appliers: Vec::new(),
            late: Vec::new(),
            faults: setup.faults,
            edits: setup.edits,
            has_lied: false,
            edited: Vec::new(),
            backups: Vec::new(),
            excused: Vec::new(),
            is_set_back: false,
            is_taken: false,
            wrong: None,
            story: None,
            setup,
        }
    }

    pub fn is_on(&self, protection: Protection) -> bool {
        !self.setup.off.contains(&protection)
    }

    pub fn note(&mut self, words: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            let (minutes, seconds) = (self.now / time::MINUTE, self.now % time::MINUTE);
            let _ = writeln!(story, "{minutes:>4}:{:05.2}  {}", seconds as f64 / 1000.0, words());
        }
    }

    pub fn violated(&mut self, what: String) {
        self.note(|| format!("VIOLATION: {what}"));
        self.wrong.get_or_insert(what);
    }

    /// The service, for changes.
    pub fn service(&mut self) -> &mut Service {
        Arc::make_mut(&mut self.service)
    }

    /// Advances the time.
    pub fn wait_until(&mut self, at: i64) {
        if at <= self.now {
            return;
        }
        self.now = at;
        let sent = self.service.sent;
        self.service().advance(at);
        if self.service.sent > sent {
            self.note(|| "the service sends the message".to_owned());
        }
        let before = self.late.len();
        self.late.retain(|late| late.departed + LATE >= at);
        if self.late.len() < before {
            self.note(|| "a request that was on its way is lost for good".to_owned());
        }
        self.judge();
    }

    /// Records a violation that the service detected.
    pub fn judge(&mut self) {
        if let Some(wrong) = self.service.wrong.first().cloned() {
            self.violated(wrong);
        }
    }

    /// The time on an applier's clocks.
    pub fn clock(&self, skew: i64) -> Now {
        let boot = Duration::from_millis((self.now + time::MINUTE).max(0).unsigned_abs());
        Now { wall: time::stamp(self.now + skew), boot }
    }

    /// Chooses whether a fault happens, and which. Faults outside the setup are left out.
    pub fn fault(&mut self, choices: &mut Choices, options: &[Fault]) -> Option<Fault> {
        if self.faults == 0 {
            return None;
        }
        let is_possible = |fault: &Fault| self.setup.has(*fault) && !(self.has_lied && fault.is_false_absence());
        let options: Vec<Fault> = options.iter().copied().filter(is_possible).collect();
        let chosen = options[choices.choose(options.len() + 1).checked_sub(1)?];
        self.faults -= 1;
        self.has_lied |= chosen.is_false_absence();
        Some(chosen)
    }

    /// Chooses an edit, or none.
    pub fn edit(&mut self, choices: &mut Choices, options: &[Edit]) {
        if self.edits == 0 {
            return;
        }
        let possible: Vec<Edit> = options.iter().copied().filter(|edit| self.is_possible(*edit)).collect();
        let Some(chosen) = choices.choose(possible.len() + 1).checked_sub(1) else { return };
        let edit = possible[chosen];
        self.edits -= 1;
        self.edited.push(edit);
        self.note(|| format!("a person {}", edit.words()));
        match edit {
            Edit::DashboardEdits(kind) | Edit::DashboardDeletes(kind) => {
                let (id, _) = self.target(kind).expect("it is possible");
                let shape = matches!(edit, Edit::DashboardEdits(_));
                let content = shape.then(|| self.altered(kind, &id));
                let now = self.now;
                self.service().write(&id, content, now);
                self.is_taken |= kind == "scheduled_pushes" && edit == Edit::DashboardDeletes(kind);
                self.excuse(kind);
            }
            Edit::DashboardSends => {
                let (id, _) = self.target("scheduled_pushes").expect("it is possible");
                let now = self.now;
                self.service().send(&id, now);
                self.excuse("scheduled_pushes");
            }
            Edit::DashboardCreates(kind) => {
                let content = match kind {
                    "segments" => segment_spec("a", "theirs"),
                    _ => push_spec("sale", &"all".into(), "Theirs"),
                };
                let now = self.now;
                self.service().create(kind, content, Origin::Dashboard, now);
            }
            _ => {
                let next = units(self.setup.shape, &self.edited);
                self.versions.push(next);
            }
        }
    }

    fn is_possible(&self, edit: Edit) -> bool {
        match edit {
            Edit::DashboardEdits(kind) | Edit::DashboardDeletes(kind) => self.target(kind).is_some(),
            Edit::DashboardSends => self.target("scheduled_pushes").is_some(),
            _ => true,
        }
    }

    /// An object that a person may change in the dashboard.
    fn target(&self, kind: &str) -> Option<(String, Origin)> {
        let mut live = self.service.objects.iter().filter(|(_, object)| object.kind == kind && object.is_live());
        live.next().map(|(id, object)| (id.clone(), object.origin.clone()))
    }

    fn altered(&self, kind: &str, id: &str) -> serde_json::Value {
        let content = self.service.objects[id].content().expect("it is live");
        let mut content = serde_json::Value::clone(content);
        match kind {
            "segments" => content["criteria"] = serde_json::json!({ "tag": "theirs" }),
            _ => content["push"]["notification"]["alert"] = "Theirs".into(),
        }
        content
    }

    /// Notes that a kind was changed where no request shows it.
    pub fn excuse(&mut self, kind: &'static str) {
        let read = pushplan::kinds::api(&Address::new(kind, "x")).lifecycle(self.setup.level).read;
        if read == pushplan::kinds::Read::LedgerOnly && !self.excused.contains(&kind) {
            self.excused.push(kind);
        }
    }

    /// A request is lost that may still arrive.
    pub fn delay(&mut self, request: Arc<Request>, address: Address) {
        let departed = self.now;
        self.late.push(Late { request, address, departed });
    }

    /// Chooses what happened to the service since someone last looked at it: requests that arrive late, a person in the
    /// dashboard, a backup that is restored.
    pub fn meanwhile(&mut self, choices: &mut Choices) {
        let mut waiting = 0;
        while waiting < self.late.len() {
            if choices.choose(2) == 0 {
                waiting += 1;
                continue;
            }
            let late = self.late.remove(waiting);
            self.arrive_late(&late);
        }
        self.edit(choices, &Edit::DASHBOARD);
        self.maybe_restore(choices);
        self.judge();
    }

    fn arrive_late(&mut self, late: &Late) {
        let now = self.now;
        let answer = self.service().change(&late.request, &late.address, now);
        self.note(|| format!("{} for {} arrives late: {}", late.request, late.address, answer.status));
        self.judge();
    }

    fn maybe_restore(&mut self, choices: &mut Choices) {
        let writes = self.service.writes;
        let backups: Vec<_> = self.backups.iter().filter(|backup| backup.writes < writes).cloned().collect();
        if backups.is_empty() || self.fault(choices, &[Fault::ServiceRestored]).is_none() {
            return;
        }
        let backup = choices.pick(&backups);
        self.note(|| format!("the service is restored from a backup, and {} changes are lost", writes - backup.writes));
        let pushes = self.service.live("scheduled_pushes");
        self.service().restore(&backup);
        // Later backups are of a past that did not happen.
        self.backups.retain(|other| other.writes <= backup.writes);
        self.is_taken |= self.service.live("scheduled_pushes") < pushes;
        for kind in ["segments", "scheduled_pushes"] {
            self.excuse(kind);
        }
    }

    /// Makes a backup of the service, if it changed since the last one.
    pub fn back_up(&mut self) {
        if self.setup.has(Fault::ServiceRestored)
            && self.backups.last().is_none_or(|last| last.writes < self.service.writes)
        {
            self.backups.push(self.service.clone());
        }
    }

    /// The hash of everything that can matter for what follows.
    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_durable(&mut hasher);
        (self.faults, self.edits, self.has_lied && self.faults > 0).hash(&mut hasher);
        for applier in &self.appliers {
            applier.hash_into(&mut hasher);
        }
        hasher.finish()
    }

    /// The hash of everything that stays when every applier dies.
    pub fn durable(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_durable(&mut hasher);
        hasher.finish()
    }

    fn hash_durable(&self, hasher: &mut impl Hasher) {
        (self.now, self.log.hash, &self.edited, self.applied).hash(hasher);
        self.service.hash_into(hasher, self.now);
        (&self.late, &self.excused, self.is_taken, self.is_set_back).hash(hasher);
        if self.faults > 0 {
            for backup in &self.backups {
                backup.hash_into(hasher, self.now);
            }
            self.log.hash_past(hasher);
        }
    }
}
