//! People in the dashboard: they edit, delete, re-create and copy names, regardless of the creator.

use pushplan::address::Address;
use pushplan::ledger::{Ended, Record};
use pushplan::nouns::level::Level;
use serde_json::{Value, json};

use super::service::Origin;
use super::tally::Fault;
use super::time::{self, MINUTE};
use super::world::{SETTLE, World};

impl World {
    /// A person does something at any moment.
    pub fn person(&mut self) {
        if self.dice.chance(100) {
            return self.unlock();
        }
        if self.dice.chance(250) {
            return self.belongings();
        }
        let live: Vec<_> = self.service.objects.iter().filter(|(_, object)| object.is_live()).collect();
        if live.is_empty() {
            return;
        }
        let (id, object) = *self.dice.pick(&live);
        let (id, kind) = (id.clone(), object.kind);
        // Resources without a read are left alone here, because no check could notice. A push that was edited twice
        // could not be recognized by anybody.
        let is_shown = match kind {
            "scheduled_pushes" => self.level == Level::Extended && !object.edited,
            kind => matches!(kind, "segments" | "templates" | "pipelines"),
        };
        if !is_shown {
            return;
        }
        let number = self.dice.below(1000);
        let now = self.now;
        let other = altered(kind, object.body().expect("it is live"), number, now);
        let (fault, told) = match self.dice.below(4) {
            0 => {
                self.service.write(&id, Some(other), now);
                self.service.objects.entry(id.clone()).and_modify(|object| object.edited = true);
                (Fault::PersonEdits, "edits")
            }
            1 => {
                self.remove(&id);
                (Fault::PersonDeletes, "deletes")
            }
            2 => {
                self.remove(&id);
                self.service.make(kind, other, Origin::Person, now);
                (Fault::PersonRecreates, "re-creates")
            }
            _ => {
                self.service.make(kind, other, Origin::Person, now);
                (Fault::PersonCopiesName, "copies the name of")
            }
        };
        self.tally.met(fault, kind);
        self.note(|| format!("a person {told} {kind} {id}"));
    }

    /// Sometimes a person immediately sends a push whose creation was not confirmed.
    pub fn maybe_send_unconfirmed(&mut self) {
        let now = self.now;
        let open = &self.log.ledger.open;
        if open.is_empty() || !self.dice.chance(300) {
            return;
        }
        let is_open = |origin: &Origin| matches!(origin, Origin::Ours(address) if open.contains_key(address));
        let mut live = self.service.objects.iter_mut().filter(|(_, object)| object.is_live());
        let found = live.find(|(_, object)| object.kind == "scheduled_pushes" && is_open(&object.origin));
        if let Some((id, object)) = found.filter(|_| self.level == Level::Extended) {
            let id = id.clone();
            object.due = Some(now);
            self.service.due = now;
            self.service.advance(now);
            self.tally.met(Fault::PersonSends, "scheduled_pushes");
            self.note(|| format!("a person sends {id} at once"));
        }
    }

    pub fn remove(&mut self, id: &str) {
        let now = self.now;
        self.service.write(id, None, now);
        if let Some(object) = self.service.objects.get_mut(id) {
            object.removed_by_person = true;
        }
    }

    /// Sometimes another user creates an identical object, while nothing is running, and it is visible before the story
    /// continues.
    pub fn maybe_twin(&mut self) {
        if self.dice.chance(50) {
            self.twin();
            self.now += SETTLE;
        }
    }

    fn twin(&mut self) {
        let wanted: Vec<(Address, Value)> = self
            .project
            .units
            .iter()
            .filter(|(address, _)| matches!(&*address.kind, "templates" | "pipelines"))
            .map(|(address, unit)| (address.clone(), unit.spec.clone().into_value()))
            .collect();
        if let Some((address, spec)) = wanted.first() {
            let kind = if address.kind == "templates" { "templates" } else { "pipelines" };
            let now = self.now;
            let id = self.service.make(kind, spec.clone(), Origin::Person, now);
            self.service.objects.entry(id.clone()).and_modify(|object| object.is_twin = true);
            self.note(|| format!("a person makes a twin {id} of {address}"));
        }
    }

    /// A person ends a lease, whether or not its holder is alive. A ledger that was set back is refused for people too.
    fn unlock(&mut self) {
        if let Some(running) = self.log.ledger.run.clone().filter(|_| !self.is_set_back()) {
            self.tally.met(Fault::PersonUnlocks, "run");
            self.note(|| format!("a person ends the lease of {}", running.run));
            let record = Record::End { run: running.run, ended: Ended::Interrupted };
            self.log.say(record, time::stamp(self.now));
        }
    }

    /// A person changes tags and channels of people.
    fn belongings(&mut self) {
        let which = self.dice.below(self.service.docs.len());
        let Some(name) = self.service.docs.keys().nth(which).cloned() else { return };
        let now = self.now;
        let number = self.dice.below(3);
        self.note(|| format!("a person changes {name}"));
        self.service.doc(&name, now, |doc| match doc {
            Some(doc) if name.starts_with("user") && number == 0 => doc["tags"]["g"] = json!(["theirs"]),
            Some(doc) if name.starts_with("user") && number == 1 => doc["channels"] = json!([]),
            Some(doc) if name.starts_with("user") => doc["tags"]["other"] = json!(["x"]),
            Some(doc) if name.starts_with("channel open") && number == 0 => doc["installed"] = false.into(),
            Some(doc) if name.starts_with("channel") => doc["tags"] = json!([]),
            _ => *doc = None,
        });
    }
}

/// An object with the same name and other content.
fn altered(kind: &str, body: &Value, number: usize, now: i64) -> Value {
    let mut body = body.clone();
    let alert = format!("theirs {number}");
    match kind {
        "segments" => body["criteria"] = json!({ "tag": alert }),
        "templates" => body["push"]["notification"]["alert"] = alert.into(),
        "scheduled_pushes" if number.is_multiple_of(3) => body["push"]["notification"]["alert"] = alert.into(),
        "scheduled_pushes" if number % 3 == 1 => body["name"] = alert.into(),
        "scheduled_pushes" => {
            let minutes = 2 + i64::try_from(number % 100).unwrap_or(0);
            body["schedule"] = json!([{ "scheduled_time": time::written(now + minutes * MINUTE) }]);
        }
        _ => body["immediate_trigger"] = json!({ "tag_added": alert }),
    }
    body
}
