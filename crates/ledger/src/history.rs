//! The history of a ledger: its records, grouped into runs and single commands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use pushplan_model::node::Shared;

use super::intent::{Done, Intent, Outcome, Resolution, Seq, Verb};
use super::record::{Begin, Ended, Entry, Record};
use super::state::Ledger;

/// A run, or one command that changed only the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    /// Counted from 1. The log is append-only, so a number never changes.
    pub number: usize,
    /// Its first and its last record.
    pub first: Seq,
    pub last: Seq,
    pub at: Timestamp,
    pub actor: String,
    /// Details of a run; `None` for a single command.
    pub run: Option<PastRun>,
    pub changes: Vec<Changed>,
    /// The change to the ledger as a whole.
    pub note: Option<&'static str>,
    /// By changed resource that is applied in parts: the number of its managed parts before.
    pub parts_before: BTreeMap<Address, usize>,
}

const GAP: &str = "restored from a backup; later records are lost";
const GAP_CLOSED: &str = "closed the gap: everything that may have been created in it was checked";

#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    pub id: String,
    pub plan: Digest,
    /// The version of pushplan.
    pub tool: String,
    /// The number of changes per action in its plan.
    pub planned: BTreeMap<String, usize>,
    /// The number of the run that it reverts.
    pub reverts: Option<usize>,
    pub ended: Ending,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Ended(Ended),
    /// It has no end, because another run continued.
    CutOff,
    /// It has no end yet: it is in progress, or was cut off.
    NotEnded,
}

impl Ending {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ended(Ended::Done) => "done",
            Self::Ended(Ended::Partly) => "in part",
            Self::Ended(Ended::Interrupted) => "interrupted",
            Self::CutOff => "cut off",
            Self::NotEnded => "not ended",
        }
    }
}

/// A change that was made or attempted.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub address: Address,
    pub act: Act,
    /// The id on the service, if known.
    pub id: Option<String>,
    /// The result; `None` if no outcome was recorded.
    pub result: Option<Done>,
    /// The old content, according to the ledger.
    pub before: Option<Shared>,
    /// The new content.
    pub after: Option<Shared>,
}

/// The type of a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    Step(Verb),
    /// The resource got another address.
    Move(Address),
    /// A person reported the result.
    Resolve,
}

impl Act {
    pub fn done(&self) -> &'static str {
        match self {
            Self::Step(verb) => verb.done(),
            Self::Move(_) => "moved",
            Self::Resolve => "resolved",
        }
    }
}

impl Deed {
    /// Returns the state of the ledger after it.
    pub fn state(&self, entries: &[Entry]) -> Ledger {
        Ledger::replay(entries.iter().filter(|entry| entry.seq <= self.last).cloned())
    }
}

/// Returns all runs and commands, oldest first. The entries begin with the first record.
pub fn deeds(entries: &[Entry]) -> Vec<Deed> {
    let mut book = Book::default();
    for entry in entries {
        book.add(entry);
        book.ledger.add(entry);
    }
    book.deeds
}

#[derive(Default)]
struct Book {
    deeds: Vec<Deed>,
    /// The state after the records so far.
    ledger: Ledger,
    /// The deed and the change of the newest intent of each step.
    newest: BTreeMap<(Address, Verb), (usize, usize)>,
}

impl Book {
    fn add(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Begin(begin) => {
                if let Some(run) = self.under_way().and_then(|deed| deed.run.as_mut()) {
                    run.ended = Ending::CutOff;
                }
                let Begin { run, plan, tool, changes, reverts, .. } = begin.clone();
                let run = PastRun { id: run, plan, tool, planned: changes, reverts, ended: Ending::NotEnded };
                self.begin(entry, Some(run));
            }
            Record::End { run, ended } => {
                if let Some(deed) = self.under_way()
                    && let Some(known) = deed.run.as_mut().filter(|known| known.id == *run)
                {
                    known.ended = Ending::Ended(*ended);
                    deed.last = entry.seq;
                }
            }
            Record::Intents(intents) => {
                for intent in intents {
                    let changed = self.intended(intent);
                    self.note_parts(entry, &intent.address);
                    let step = (intent.address.clone(), intent.verb);
                    let newest = self.newest.get(&step).copied();
                    let deed = self.part_of(entry);
                    let place = (deed.number - 1, deed.changes.len());
                    // A deferred request has a second intent.
                    let same = newest.filter(|(deed, _)| *deed == place.0).map(|(_, place)| &mut deed.changes[place]);
                    match same.filter(|known| !known.is_done() && known.id == changed.id) {
                        Some(known) => *known = changed,
                        None => {
                            deed.changes.push(changed);
                            self.newest.insert(step, place);
                        }
                    }
                }
            }
            Record::Alive { .. } => {
                if let Some(deed) = self.under_way() {
                    deed.last = entry.seq;
                }
            }
            Record::Outcomes(outcomes) => {
                if let Some(deed) = self.under_way() {
                    deed.last = entry.seq;
                }
                outcomes.iter().for_each(|outcome| self.settle(outcome));
            }
            Record::Adopt(all) => {
                for adopted in all {
                    let known = self.ledger.owned.get(&adopted.address);
                    // The resource is unchanged. Only details such as its version stamp may differ.
                    if known.is_some_and(|known| known.id == adopted.id && known.spec == adopted.spec) {
                        continue;
                    }
                    let before = known.map(|known| known.spec.clone());
                    let (id, after) = (Some(adopted.id.clone()), Some(adopted.spec.clone()));
                    let changed = Changed::noted(&adopted.address, Act::Step(Verb::Adopt), id, before, after);
                    self.note_parts(entry, &adopted.address);
                    self.part_of(entry).changes.push(changed);
                }
            }
            Record::Forget(addresses) => {
                for address in addresses {
                    let known = self.ledger.owned.get(address);
                    let (id, before) = (known.map(|known| known.id.clone()), known.map(|known| known.spec.clone()));
                    let changed = Changed::noted(address, Act::Step(Verb::Forget), id, before, None);
                    self.note_parts(entry, address);
                    self.part_of(entry).changes.push(changed);
                }
            }
            Record::Move { from, to } => {
                let id = self.ledger.owned.get(from).map(|known| known.id.clone());
                let changed = Changed::noted(from, Act::Move(to.clone()), id, None, None);
                self.part_of(entry).changes.push(changed);
            }
            Record::Resolve { address, found } => {
                let id = match found {
                    Resolution::Created { id } => Some(id.clone()),
                    Resolution::Absent => None,
                };
                let changed = Changed::noted(address, Act::Resolve, id, None, None);
                self.part_of(entry).changes.push(changed);
            }
            // A deed without changes: an event of the ledger itself.
            Record::Gap { .. } => self.begin(entry, None).note = Some(GAP),
            Record::GapClosed => self.begin(entry, None).note = Some(GAP_CLOSED),
            Record::About { .. } | Record::Unchanged { .. } | Record::Moved { .. } | Record::Checkpoint(_) => {}
        }
    }

    fn begin(&mut self, entry: &Entry, run: Option<PastRun>) -> &mut Deed {
        let Entry { seq, at, actor, .. } = entry.clone();
        let number = self.deeds.len() + 1;
        let (changes, parts_before) = (Vec::new(), BTreeMap::new());
        self.deeds.push(Deed { number, first: seq, last: seq, at, actor, run, changes, note: None, parts_before });
        self.deeds.last_mut().expect("one was added")
    }

    /// The run that has begun and not ended.
    fn under_way(&mut self) -> Option<&mut Deed> {
        let is_running = |run: &PastRun| run.ended == Ending::NotEnded;
        self.deeds.iter_mut().rev().find(|deed| deed.run.as_ref().is_some_and(is_running))
    }

    /// Returns the deed that a record belongs to: the run in progress, the deed that began with this record, or a new
    /// one.
    fn part_of(&mut self, entry: &Entry) -> &mut Deed {
        let place = self.under_way().map(|deed| deed.number).or_else(|| {
            let last = self.deeds.last()?;
            (last.first == entry.seq).then_some(last.number)
        });
        match place {
            Some(number) => {
                let deed = &mut self.deeds[number - 1];
                deed.last = entry.seq;
                deed
            }
            None => self.begin(entry, None),
        }
    }

    /// Counts the managed parts of a resource before the first change to it.
    fn note_parts(&mut self, entry: &Entry, address: &Address) {
        if address.part().is_none() {
            return;
        }
        let resource = address.resource();
        let parts = Address::new(resource.kind, format!("{}/", resource.key));
        let owned = self.ledger.owned.range(&parts..).take_while(|(one, _)| one.key.starts_with(&parts.key));
        let number = owned.count();
        self.part_of(entry).parts_before.entry(resource).or_insert(number);
    }

    fn intended(&self, intent: &Intent) -> Changed {
        let Intent { address, verb, id, spec, .. } = intent;
        let owned = self.ledger.owned.get(address);
        let own = owned.filter(|owned| id.as_ref().is_none_or(|id| *id == owned.id)).map(|owned| owned.spec.clone());
        let retired = || {
            let mut old = self.ledger.retired.iter();
            old.find(|old| old.address == *address && Some(&old.id) == id.as_ref()).map(|old| old.spec.clone())
        };
        let after = spec.clone().filter(|_| *verb != Verb::Delete);
        let before = own.or_else(retired);
        Changed { address: address.clone(), act: Act::Step(*verb), id: id.clone(), result: None, before, after }
    }

    /// Records the result of the newest intent for an address, whichever run it belongs to.
    fn settle(&mut self, outcome: &Outcome) {
        let Some((deed, place)) = self.newest.get(&(outcome.address.clone(), outcome.verb)) else { return };
        let changed = &mut self.deeds[*deed].changes[*place];
        if let Done::Done { id: Some(id), .. } = &outcome.result {
            changed.id = Some(id.clone());
        }
        changed.result = Some(outcome.result.clone());
    }
}

impl Changed {
    /// A change that takes effect by being recorded.
    fn noted(address: &Address, act: Act, id: Option<String>, before: Option<Shared>, after: Option<Shared>) -> Self {
        let result = Some(Done::Done { id: id.clone(), push_ids: Vec::new() });
        Self { address: address.clone(), act, id, result, before, after }
    }

    /// Whether it took effect.
    pub fn is_done(&self) -> bool {
        matches!(self.result, Some(Done::Done { .. }))
    }

    /// Whether the result is unknown.
    pub fn is_open(&self) -> bool {
        matches!(self.result, None | Some(Done::Unknown { .. }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    fn told(records: Vec<Record>) -> Vec<Deed> {
        let at = "2026-11-15T12:00:00Z".parse().expect("a time");
        let entry = |(place, record)| Entry { seq: place as Seq + 1, at, actor: "ada".into(), record };
        deeds(&records.into_iter().enumerate().map(entry).collect::<Vec<_>>())
    }

    fn begin(run: &str) -> Record {
        let (run, tool) = (run.to_owned(), "0.1.0".to_owned());
        Record::Begin(Begin {
            run,
            plan: Digest::of(b""),
            app: String::new(),
            tool,
            changes: BTreeMap::new(),
            lease: None,
            home: None,
            checkout: None,
            safeguards: None,
            reverts: None,
        })
    }

    fn intent(verb: Verb, id: Option<&str>, spec: Value) -> Record {
        Record::Intents(vec![Intent {
            address: Address::new("templates", "a"),
            verb,
            id: id.map(str::to_owned),
            spec: Some(spec.into()),
            refs: BTreeMap::new(),
            seen: BTreeSet::new(),
            deadline: "2026-11-15T12:01:00Z".parse().expect("a time"),
            protect: false,
            zone: None,
        }])
    }

    fn outcome(verb: Verb, result: Done) -> Record {
        Record::Outcomes(vec![Outcome { address: Address::new("templates", "a"), verb, result, unsettled: None }])
    }

    fn end(run: &str) -> Record {
        Record::End { run: run.into(), ended: Ended::Done }
    }

    #[test]
    fn a_change_has_what_was_before_and_what_came_after() {
        let id = Some("1".to_owned());
        let deeds = told(vec![
            begin("r1"),
            intent(Verb::Create, None, json!({"name": "old"})),
            outcome(Verb::Create, Done::Done { id: id.clone(), push_ids: vec![] }),
            end("r1"),
            begin("r2"),
            intent(Verb::Update, Some("1"), json!({"name": "new"})),
            outcome(Verb::Update, Done::Done { id: None, push_ids: vec![] }),
            end("r2"),
        ]);
        assert_eq!(deeds.len(), 2);
        let [created, updated] = [&deeds[0].changes[0], &deeds[1].changes[0]];
        assert_eq!((&created.before, &created.after), (&None, &Some(json!({"name": "old"}).into())));
        assert_eq!((&updated.before, &updated.after), (&created.after, &Some(json!({"name": "new"}).into())));
        assert_eq!((&created.id, &updated.id), (&id, &id));
        assert_eq!((deeds[1].first, deeds[1].last), (5, 8));
    }

    #[test]
    fn a_request_that_was_put_off_is_one_change() {
        let deeds = told(vec![
            begin("r1"),
            intent(Verb::Create, None, json!({})),
            outcome(Verb::Create, Done::Not { why: "busy".into() }),
            intent(Verb::Create, None, json!({})),
            outcome(Verb::Create, Done::Done { id: Some("1".into()), push_ids: vec![] }),
        ]);
        assert_eq!(deeds[0].changes.len(), 1);
        assert!(deeds[0].changes[0].is_done());
    }

    #[test]
    fn a_run_that_somebody_went_on_after_was_cut_off_and_learns_of_late_results() {
        let deeds = told(vec![
            begin("r1"),
            intent(Verb::Create, None, json!({})),
            begin("r2"),
            end("r2"),
            outcome(Verb::Create, Done::Done { id: Some("1".into()), push_ids: vec![] }),
            Record::Forget(vec![Address::new("templates", "a")]),
        ]);
        let endings: Vec<_> = deeds.iter().map(|deed| deed.run.as_ref().map(|run| run.ended.word())).collect();
        assert_eq!(endings, [Some("cut off"), Some("done"), None]);
        assert!(deeds[0].changes[0].is_done(), "{deeds:#?}");
        assert_eq!(deeds[2].changes[0].id.as_deref(), Some("1"));
    }
}
