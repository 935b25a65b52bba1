//! People in the dashboard: they edit, delete, re-create and copy names, whoever made the thing.

use pushplan::address::Address;
use pushplan::ledger::{Ended, Record};
use serde_json::{Value, json};

use super::service::Origin;
use super::tally::Fault;
use super::time;
use super::world::{SETTLE, World};

impl World {
    /// Somebody does something, right in the middle.
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
        // What nobody can look up again is left alone here: nothing could ever notice.
        if !matches!(kind, "segments" | "templates" | "pipelines") {
            return;
        }
        let number = self.dice.below(1000);
        let other = altered(kind, object.body().expect("it is live"), number);
        let now = self.now;
        let (fault, told) = match self.dice.below(4) {
            0 => {
                self.service.write(&id, Some(other), now);
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

    pub fn remove(&mut self, id: &str) {
        let now = self.now;
        self.service.write(id, None, now);
        if let Some(object) = self.service.objects.get_mut(id) {
            object.removed_by_person = true;
        }
    }

    /// Now and then somebody makes the very same thing, while nothing is under way, and everybody sees it before it goes on.
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
            self.note(|| format!("a person makes a twin {id} of {address}"));
        }
    }

    /// Somebody ends a lease, whether its holder lives or not.
    fn unlock(&mut self) {
        if let Some(running) = self.log.ledger.run.clone() {
            self.tally.met(Fault::PersonUnlocks, "run");
            self.note(|| format!("a person ends the lease of {}", running.run));
            let record = Record::End { run: running.run, ended: Ended::Interrupted };
            self.log.say(record, time::stamp(self.now));
        }
    }

    /// Tags of people, and channels of theirs.
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

/// A thing of the same name that says something else.
fn altered(kind: &str, body: &Value, number: usize) -> Value {
    let mut body = body.clone();
    let alert = format!("theirs {number}");
    match kind {
        "segments" => body["criteria"] = json!({ "tag": alert }),
        "templates" => body["push"]["notification"]["alert"] = alert.into(),
        _ => body["immediate_trigger"] = json!({ "tag_added": alert }),
    }
    body
}
