//! A project that is in sync with a service; each story changes one thing in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::compare::{Unit, units};
use pushplan::finding::Findings;
use pushplan::kinds::remote::{point, segments};
use pushplan::kinds::{self, Found, Read};
use pushplan::ledger::{Ledger, Owned, Retired};
use pushplan::live::{Live, LiveState};
use pushplan::manifest::{self, Input, InputSource, Project};
use pushplan::nouns::level::Level;
use pushplan::plan::{Change, Choice, Reason, Step};
use pushplan::planner::{self, Aligned, Rules};
use pushplan::source::Sources;
use serde_json::Value;

pub struct World {
    pub level: Level,
    pub ledger: Ledger,
    pub live: Live,
    pub done: BTreeSet<Address>,
    pub now: Timestamp,
    /// The selected part.
    pub choice: Choice,
    /// The kinds whose undeclared resources are deleted.
    pub prune: BTreeSet<&'static str>,
    /// The resources that are ignored, regardless of their creator.
    pub ignore: Vec<String>,
}

pub fn declared(yaml: &str) -> BTreeMap<Address, Unit> {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(yaml.as_bytes().to_vec()) };
    let manifests = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
    let (desired, found) = manifests.resolve(None);
    assert!(manifests.findings.is_empty() && found.is_empty(), "{found:?}");
    units(&desired, &manifests.sources)
}

pub fn address(text: &str) -> Address {
    Address::try_from(text.to_owned()).expect("an address")
}

impl World {
    /// Every declared resource was applied, and the service has it unchanged. The id of a resource is its key with a
    /// prefix.
    pub fn in_sync(yaml: &str, level: Level) -> Self {
        let now: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
        let (ledger, live, done, choice, prune, ignore) = Default::default();
        let mut world = Self { level, ledger, live, done, now, choice, prune, ignore };
        for (address, unit) in declared(yaml) {
            world.own(&address, &unit.spec, unit.protect.unwrap_or(false));
        }
        world
    }

    fn own(&mut self, address: &Address, spec: &Value, protect: bool) {
        let api = kinds::api(address);
        let id = api.own_id(spec).unwrap_or_else(|| format!("#{}", address.key));
        let refs: BTreeMap<String, String> =
            segments(api.audiences(), spec).into_iter().map(|key| (key.to_owned(), format!("#{key}"))).collect();
        let stamp = Some("1".to_owned());
        let owned = Owned {
            id: id.clone(),
            spec: spec.into(),
            refs: refs.clone(),
            stamp: stamp.clone(),
            protect,
            past: false,
            push_ids: Vec::new(),
            applied: self.now,
            zone: None,
        };
        self.ledger.owned.insert(address.clone(), owned);
        let wire = point(api.audiences(), spec, &mut |key| {
            key.as_str().map_or_else(|| key["id"].clone(), |key| refs[key].as_str().into())
        });
        self.put(address, Found { id, name: api.name(spec), stamp, spec: Some(wire.into()), ..Found::default() });
    }

    /// Adds an object to the service, under an address or without one.
    pub fn put(&mut self, address: &Address, found: Found) {
        let api = kinds::api(address);
        let kind = kinds::kind(&address.kind).expect("a kind").key;
        let read = api.lifecycle(self.level).read;
        if matches!(read, Read::Listed | Read::ListedThenGet) && address.part().is_none() {
            self.live.whole.insert(kind);
            self.live.listed.entry(kind).or_default().insert(found.id.clone(), found.clone());
        }
        let seen = if read == Read::LedgerOnly { LiveState::Untold } else { LiveState::There(found) };
        if self.ledger.owned.contains_key(address) {
            self.live.units.insert(address.clone(), seen);
        }
    }

    /// Changes an object on the service.
    pub fn edit(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        let address = address(name);
        let Some(LiveState::There(found)) = self.live.units.get_mut(&address) else { panic!("{name} is not there") };
        change(found.spec.as_mut().expect("a spec"));
        found.name = kinds::api(&address).name(found.spec.as_ref().expect("a spec"));
        let found = found.clone();
        self.put(&address, found);
    }

    /// Deletes an object on the service.
    pub fn remove(&mut self, name: &str) {
        let address = address(name);
        let id = self.ledger.owned[&address].id.clone();
        self.live.listed.values_mut().for_each(|all| drop(all.remove(&id)));
        self.live.units.insert(address, LiveState::Absent);
    }

    /// An earlier run replaced a resource and could not delete the old version.
    pub fn retire(&mut self, name: &str, id: &str) {
        let address = address(name);
        let spec = self.ledger.owned[&address].spec.clone();
        self.ledger.retired.push(Retired { address, id: id.into(), spec, refs: BTreeMap::new() });
    }

    pub fn plan(&self, yaml: &str) -> (Vec<Change>, Vec<Step>) {
        let units = declared(yaml);
        let aligned = Aligned::new(&units, &self.ledger);
        let mut live = self.live.clone();
        for (to, from) in &aligned.moves {
            let renamed = |address: Address| address.renamed(from, to).unwrap_or(address);
            live.units = live.units.into_iter().map(|(address, seen)| (renamed(address), seen)).collect();
        }
        let mut rules = Rules {
            done: self.done.clone(),
            choice: self.choice.clone(),
            pruned: self.prune.clone(),
            prunes: true,
            ignored: self.ignore.clone(),
            ..Rules::new("local", self.level)
        };
        let plan = planner::plan(&aligned, &live, &rules, self.now).unwrap_or_else(|_| {
            // A pattern without a match is refused, and a random world may have no match for it.
            rules.choice = Choice::default();
            planner::plan(&aligned, &live, &rules, self.now).expect("a plan of everything")
        });
        (plan.changes, plan.steps)
    }

    /// The plan as lines: changes with reasons, then steps with their dependencies.
    pub fn told(&self, yaml: &str) -> String {
        let (changes, steps) = self.plan(yaml);
        let mut out = String::new();
        for change in changes.iter().filter(|change| change.action.symbol() != " ") {
            let mut line = format!("{} {}", change.action.symbol(), change.address);
            if let Some(moved) = change.moved {
                line += &format!(" ({moved:?})").to_lowercase();
            }
            for reason in &change.reasons {
                line += &format!(" {}", word(reason));
            }
            for send in &change.sends {
                line += &format!(" sends {} to {}", send.by, send.to);
                if send.after_seconds > 0 {
                    line += &format!(" after {} s", send.after_seconds);
                }
            }
            out += &line;
            out.push('\n');
        }
        for step in &steps {
            let request = step.request.as_ref().map(|shown| format!(" {} {}", shown.method.word(), shown.path));
            let after: Vec<String> = step.after.iter().map(usize::to_string).collect();
            let after = if after.is_empty() { String::new() } else { format!(" after {}", after.join(",")) };
            let verb = format!("{:?}", step.verb).to_lowercase();
            out += &format!("{} {verb} {}{}{after}\n", step.number, step.address, request.unwrap_or_default());
        }
        out
    }
}

fn word(reason: &Reason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}
