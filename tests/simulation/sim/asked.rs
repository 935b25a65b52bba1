//! The reactions of people to the questions and manual steps of a plan. A question without a reason is a violation.

use std::collections::BTreeSet;
use std::rc::Rc;

use pushplan::address::Address;
use pushplan::compare::found_in_gap;
use pushplan::kinds::{self, Read};
use pushplan::ledger::{Intent, Record, Resolution, Verb};
use pushplan::plan::{Action, Reason, RemoteThing};
use serde_json::json;

use super::applier::LEAD;
use super::service::{Object, Origin, name};
use super::time;
use super::world::World;

impl World {
    /// Performs the manual step of a plan; returns whether there was anything to do.
    pub fn act(&mut self, address: &Address, action: Action, reason: &Reason, done: &mut BTreeSet<Address>) -> bool {
        let now = self.now;
        match reason {
            Reason::InDoubt { candidates, .. } => {
                self.resolve_creation(&self.known_as(address), candidates);
                true
            }
            Reason::DeletedOrSent { id, .. } => {
                let address = &self.known_as(address);
                self.service.advance(now);
                let is_it = |object: &Object| object.begun || object.is_live();
                let found = if self.service.objects.get(id).is_some_and(is_it) {
                    Resolution::Created { id: id.clone() }
                } else {
                    Resolution::Absent
                };
                self.note(|| format!("a person resolves {address}: {found:?}"));
                self.log.say(Record::Resolve { address: address.clone(), found }, time::stamp(now));
                true
            }
            Reason::UnknownSinceGap { .. } => {
                match self.log.ledger.open.get(address).map(|open| open.intent.verb) {
                    Some(Verb::Create) => self.resolve_creation(address, &[]),
                    _ => self.look_into_gap(address),
                }
                true
            }
            Reason::InDashboard { old: Some(id) } if !done.contains(address) => {
                let disables = address.kind == "pipelines" && self.dice.chance(500);
                self.note(|| format!("a person takes {address} ({id}) away by hand"));
                if disables {
                    let mut body = self.service.objects[id].body().cloned().unwrap_or_else(|| json!({}));
                    body["enabled"] = false.into();
                    self.service.write(id, Some(body), now);
                    self.let_go(id);
                } else {
                    self.remove(id);
                }
                done.insert(address.clone())
            }
            Reason::Collision { ids } => {
                let is_ours = |id: &String| {
                    let object = self.service.objects.get(id);
                    object.is_some_and(|object| {
                        matches!(object.origin, Origin::Ours(_)) && object.is_live() && !object.forgotten
                    })
                };
                // In a gap of the ledger, it may be another object than the one in the ledger.
                let is_known = self.log.ledger.gap.is_none() && ids.iter().any(is_ours);
                if is_known || self.service.has_given(address) {
                    self.violated(format!("{address} collides with what we made ourselves: {ids:?}"));
                }
                self.note(|| format!("a person makes room for {address}"));
                for id in ids {
                    if self.service.objects.contains_key(id) {
                        self.remove(id);
                    }
                }
                self.make_room(address);
                true
            }
            Reason::TooLate { .. } if action != Action::Past => {
                let declared = self.project.units.get(address);
                let first = declared.and_then(|unit| kinds::api(address).runs(&unit.spec)?.first);
                if first.is_none_or(|first| time::of(first) >= now + LEAD * time::SECOND) {
                    self.violated(format!("{address} is said to be too late, and is not: {first:?}"));
                }
                self.note(|| format!("a person gives {address} a later time"));
                let later = now + 100_000 * time::MINUTE;
                self.project.change(address, &mut self.dice, later);
                // It is a different message now.
                self.service.successors.remove(address);
                true
            }
            Reason::StillUsed { by, .. } => {
                let others = by.iter().filter_map(|user| match user {
                    RemoteThing::Other { id, .. } => Some(id.clone()),
                    RemoteThing::Ours(_) => None,
                });
                let others: Vec<String> = others.filter(|id| self.is_there(id)).collect();
                self.note(|| format!("people do without {others:?}, which name {address}"));
                others.iter().for_each(|id| self.remove(id));
                !others.is_empty()
            }
            Reason::NeverTwice => {
                self.note(|| format!("a person no longer declares {address}"));
                self.project.remove(address);
                true
            }
            _ => false,
        }
    }

    /// A person confirms the result of a creation in an unknown state.
    fn resolve_creation(&mut self, address: &Address, candidates: &[String]) {
        // The objects in the plan may be gone since, or known from another answer: people then answer without them.
        let is_known = |id: &String| self.log.ledger.owned.values().any(|owned| owned.id == *id);
        let is_as_planned = candidates.iter().all(|id| self.is_there(id) && !is_known(id));
        if let Some(why) = self.is_known_anyway(address).filter(|_| is_as_planned) {
            self.violated(why);
        }
        let ours = Origin::Ours(address.clone());
        let ledger = Rc::clone(&self.log.ledger);
        let known = ledger.owned.get(address).map(|owned| owned.id.clone());
        let retired: Vec<&String> = ledger.retired.iter().map(|old| &old.id).collect();
        let made = self.service.objects.iter().filter(|(id, object)| {
            object.origin == ours
                && (object.body().is_some() || object.begun)
                && Some(*id) != known.as_ref()
                && !retired.contains(id)
        });
        let made = made.max_by_key(|(id, _)| (candidates.contains(*id), std::cmp::Reverse(*id)));
        let made = made.map(|(id, object)| (id.clone(), object.begun));
        let intended = ledger.open.get(address).and_then(|open| open.intent.spec.clone());
        let found = match made {
            Some((id, begun)) => {
                let is_unread = kinds::api(address).lifecycle(self.level).read == Read::LedgerOnly;
                let is_it = || intended.is_none_or(|spec| self.service.has(address, &id, &self.wire(address, &spec)));
                // In a gap of the ledger, another one may have replaced it, which only a person can read.
                if ledger.gap.is_some() && is_unread && !begun && !is_it() {
                    self.note(|| format!("a person removes {id}, which says something else than {address} was to say"));
                    self.remove(&id);
                    Resolution::Absent
                } else {
                    Resolution::Created { id }
                }
            }
            None => Resolution::Absent,
        };
        self.note(|| format!("a person resolves {address}: {found:?}"));
        self.log.say(Record::Resolve { address: address.clone(), found }, time::stamp(self.now));
        if self.log.ledger.gap.is_some() {
            self.forget();
        }
    }

    /// A person confirms what was created for an address in a gap of the ledger. If the API cannot read it, and it
    /// differs from the declaration, the person deletes it first.
    fn look_into_gap(&mut self, address: &Address) {
        let (now, ledger) = (self.now, Rc::clone(&self.log.ledger));
        self.service.advance(now);
        let Some(unit) = self.project.units.get(address).cloned() else { return };
        let before = unit.renamed_from.as_ref().map(|key| Address::new(address.kind, key.clone()));
        let is_of = |object: &Object| matches!(&object.origin, Origin::Ours(other) if other == address || Some(other) == before.as_ref());
        let is_known = |id: &str| ledger.retired.iter().any(|old| old.id == id);
        let made = self
            .service
            .objects
            .iter()
            .filter(|(id, object)| is_of(object) && (object.is_live() || object.begun) && !is_known(id));
        let owned = ledger.owned.get(address).map(|owned| owned.id.as_str());
        let made = made.max_by_key(|(id, _)| Some(id.as_str()) != owned).map(|(id, object)| (id.clone(), object.begun));
        let absent = || vec![Record::Resolve { address: address.clone(), found: Resolution::Absent }];
        let records = match made {
            None => absent(),
            Some((id, _)) if Some(id.as_str()) == owned => {
                vec![Record::Resolve { address: address.clone(), found: Resolution::Created { id } }]
            }
            Some((id, begun)) => {
                let wire = self.wire(address, &unit.spec);
                let is_unread = kinds::api(address).lifecycle(self.level).read == Read::LedgerOnly;
                if is_unread && !begun && !self.service.has(address, &id, &wire) {
                    self.note(|| format!("a person removes {id}, which was created in the gap for {address}"));
                    self.remove(&id);
                    absent()
                } else {
                    if let Some(before) =
                        before.filter(|_| self.service.objects[&id].origin != Origin::Ours(address.clone()))
                    {
                        self.service.rename(&before, address, now);
                    }
                    if let Some(object) = self.service.objects.get_mut(&id) {
                        object.forgotten = false;
                    }
                    found_in_gap(&unit, address, &id, begun, (&ledger, self.level, time::stamp(now)))
                }
            }
        };
        self.note(|| format!("a person says of {address} in the gap: {records:?}"));
        records.into_iter().for_each(|record| self.log.say(record, time::stamp(now)));
    }

    /// The address in the ledger of a resource that has another key now.
    fn known_as(&self, address: &Address) -> Address {
        let before = self.project.units.get(address).and_then(|unit| unit.renamed_from.as_ref());
        let before = before.map(|key| Address::new(address.kind, key.clone()));
        let is_known = |address: &Address| self.log.ledger.open.contains_key(address);
        before.filter(|before| !is_known(address) && is_known(before)).unwrap_or_else(|| address.clone())
    }

    /// Why the result of an open creation is in fact certain: nothing exists that it could have created, or one object
    /// that can be nothing else.
    fn is_known_anyway(&self, address: &Address) -> Option<String> {
        let ledger = &self.log.ledger;
        let intent = &ledger.open.get(address)?.intent;
        let spec = intent.spec.as_ref()?;
        // In a gap of the ledger, another one may have replaced it.
        if ledger.gap.is_some() {
            return None;
        }
        let is_shared = |other: &Intent| other.address != intent.address && other.spec == intent.spec;
        if ledger.open.values().any(|open| is_shared(&open.intent)) {
            return None;
        }
        match &*address.kind {
            "segments" | "templates" | "pipelines" => {
                let is_owned = |id: &String| ledger.owned.values().any(|owned| owned.id == *id);
                let is_like = |(id, object): &(&String, &Object)| {
                    let is_new = !intent.seen.contains(*id) && !is_owned(id);
                    let is_named = || name(object.body()) == name(Some(spec));
                    *object.kind == *address.kind && object.is_live() && is_new && is_named()
                };
                match self.service.objects.iter().filter(is_like).collect::<Vec<_>>()[..] {
                    [] => Some(format!("{address} is in doubt, and nothing has its name")),
                    [(id, one)] => {
                        let is_it =
                            one.origin == Origin::Ours(address.clone()) && !one.edited && one.versions.len() == 1;
                        is_it.then(|| format!("{address} is in doubt, and {id} is all that it can be"))
                    }
                    _ => None,
                }
            }
            // A list does not contain sent messages.
            "scheduled_pushes" | "experiments" => None,
            _ => Some(format!("{address} is in doubt, and can be made again")),
        }
    }

    fn is_there(&self, id: &str) -> bool {
        self.service.objects.get(id).is_some_and(Object::is_live)
    }

    fn let_go(&mut self, id: &str) {
        if let Some(object) = self.service.objects.get_mut(id) {
            object.origin = Origin::Person;
        }
    }

    /// Removes tags and channels that are in the way of declared ones.
    fn make_room(&mut self, address: &Address) {
        let now = self.now;
        let last = address.key.rsplit('/').next().unwrap_or_default().to_owned();
        match &*address.kind {
            "tag_groups" => self.service.doc(&format!("user {last}"), now, |doc| {
                if let Some(doc) = doc {
                    doc["tags"] = json!({});
                }
            }),
            "named_users" => {
                let user = address.key.split('/').next().unwrap_or_default();
                self.service.doc(&format!("user {user}"), now, |doc| {
                    if let Some(doc) = doc {
                        doc["channels"] = json!([]);
                    }
                });
            }
            "tags" if address.part().is_some() => self.service.doc(&format!("channel {last}"), now, |doc| {
                if let Some(doc) = doc {
                    doc["tags"] = json!([]);
                }
            }),
            "tags" => self.service.doc(&format!("tag {last}"), now, |doc| *doc = None),
            _ => {}
        }
    }
}
