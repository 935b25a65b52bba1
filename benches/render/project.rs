//! A large project before and after someone edited all of it, and what a service and a ledger hold of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::compare::{Unit, units};
use pushplan::finding::Findings;
use pushplan::kinds::remote::{point, segments};
use pushplan::kinds::{self, Found, Read};
use pushplan::ledger::{Ledger, Owned, Position};
use pushplan::live::{Live, LiveState};
use pushplan::manifest::{self, Input, InputSource, Manifests, Project};
use pushplan::nouns::level::Level;
use pushplan::plan::Plan;
use pushplan::planner::{self, Aligned, Rules};
use pushplan::source::Sources;
use serde_json::Value;

const LEVEL: Level = Level::Extended;

/// Manifests, and all that a plan is made from beside them.
pub struct World {
    pub yaml: String,
    /// What the service answers with, as it comes over the wire.
    pub answers: String,
    pub now: Timestamp,
    ledger: Ledger,
    live: Live,
}

fn read(yaml: &str) -> Manifests {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(yaml.as_bytes().to_vec()) };
    manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default())
}

/// What manifests declare, which must be sound: a project that is refused early would be quick for the wrong reason.
pub fn units_of(manifests: &Manifests) -> BTreeMap<Address, Unit> {
    let (desired, found) = manifests.resolve(None);
    assert!(manifests.findings.is_empty(), "the manifests can be read");
    assert!(found.is_empty(), "{}", found[0].message);
    units(&desired, &manifests.sources)
}

impl World {
    /// A project of which something changes in each of its resources: a fifth comes, a fifth goes as far as nothing points
    /// at it, the others are edited.
    pub fn edited(count: usize) -> Self {
        let text = |is_there: fn(usize) -> bool, edited: bool| {
            let all = (0..count).filter(|n| is_there(*n)).map(|n| resource(n, edited));
            manifest(all)
        };
        Self::new(&text(|n| !comes(n), false), text(|n| !goes(n), true))
    }

    /// The service has what was declared before; the manifests say what is declared now.
    pub fn new(before: &str, yaml: String) -> Self {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let (ledger, live, answers) = Default::default();
        let mut world = Self { yaml, answers, now, ledger, live };
        for (address, unit) in units_of(&read(before)) {
            world.own(&address, unit);
        }
        let all: Vec<&Value> = world.live.units.values().filter_map(seen_spec).collect();
        world.answers = serde_json::to_string(&all).expect("JSON");
        world
    }

    pub fn manifests(&self) -> Manifests {
        read(&self.yaml)
    }

    fn own(&mut self, address: &Address, unit: Unit) {
        let (api, spec) = (kinds::api(address), unit.spec);
        let id = api.own_id(&spec).unwrap_or_else(|| format!("#{}", address.key));
        let refs: BTreeMap<String, String> =
            segments(api.audiences(), &spec).into_iter().map(|key| (key.to_owned(), format!("#{key}"))).collect();
        let wire = point(api.audiences(), &spec, &mut |key| {
            key.as_str().map_or_else(|| key["id"].clone(), |key| refs[key].as_str().into())
        });
        let stamp = Some("1".to_owned());
        let found = Found {
            id: id.clone(),
            name: api.name(&spec),
            stamp: stamp.clone(),
            spec: Some(wire.into()),
            ..Found::default()
        };
        let owned = Owned {
            id,
            spec,
            refs,
            stamp,
            protect: false,
            past: false,
            applied: self.now,
            push_ids: Vec::new(),
            zone: None,
        };
        self.ledger.owned.insert(address.clone(), owned);
        let kind = kinds::kind(&address.kind).expect("a kind").key;
        let read = api.lifecycle(LEVEL).read;
        if matches!(read, Read::Listed | Read::ListedThenGet) && address.part().is_none() {
            self.live.whole.insert(kind);
            self.live.listed.entry(kind).or_default().insert(found.id.clone(), found.clone());
        }
        let seen = if read == Read::LedgerOnly { LiveState::Untold } else { LiveState::There(found) };
        self.live.units.insert(address.clone(), seen);
    }

    /// The plan that brings the service to where the manifests are.
    pub fn plan(&self, units: &BTreeMap<Address, Unit>) -> Plan {
        let rules = Rules {
            origin: "https://messaging.example".into(),
            position: Position { lineage: "l".into(), seq: 7 },
            ..Rules::new("production", LEVEL)
        };
        planner::plan(&Aligned::new(units, &self.ledger), &self.live, &rules, self.now).expect("a plan")
    }
}

fn seen_spec(seen: &LiveState) -> Option<&Value> {
    match seen {
        LiveState::There(found) => found.spec.as_deref(),
        _ => None,
    }
}

/// How many kinds take turns.
const KINDS: usize = 9;

fn comes(n: usize) -> bool {
    (n / KINDS) % 5 == 1
}

/// Nothing points at a push, a template, an experiment, a named user or a channel.
fn goes(n: usize) -> bool {
    (n / KINDS) % 5 == 3 && matches!(n % KINDS, 2 | 4 | 5 | 6 | 7)
}

/// Resources as one manifest, kind by kind.
pub fn manifest(resources: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut sections: BTreeMap<&str, String> = BTreeMap::new();
    for (kind, text) in resources {
        sections.entry(kind).or_insert_with(|| format!("{kind}:\n")).push_str(&text);
    }
    sections.into_values().collect()
}

/// One resource of about 15 lines, before or after an edit. The kinds take turns.
fn resource(n: usize, edited: bool) -> (&'static str, String) {
    // The first of its round, which the others of the round name.
    let first = n - n % KINDS;
    let (group, segment, m) = (format!("group-{first}"), format!("segment-{}", first + 1), n / KINDS);
    let pick = |old: &'static str, new: &'static str| if edited { new } else { old };
    let mut out = String::new();
    let _ = write!(out, "  ");
    let kind = match n % KINDS {
        0 => {
            let _ = write!(
                out,
                "{group}:\n    description: What customers of region {m} {}\n    tags: [new-{m}, buyer-{m}, vip-{m}{}]\n\
                 \x20   members:\n      named_users:\n        press-{m}: [new-{m}]\n",
                pick("like", "like best"),
                pick("", ", lapsed"),
            );
            "tag_groups"
        }
        1 => {
            let _ = write!(
                out,
                "{segment}:\n    display_name: Lapsed buyers of region {m}\n    criteria:\n      and:\n\
                 \x20       - {{tag: buyer-{m}, group: {group}}}\n        - country: [US, CA{}]\n\
                 \x20       - or:\n            - tag: newsletter-{m}\n            - named_user: user-{m}\n            - opt_in: true\n\
                 \x20       - not:\n            or:\n              - {{tag: vip-{m}, group: {group}}}\n\
                 \x20             - language: [en, fr]\n",
                pick("", ", MX"),
            );
            "segments"
        }
        2 => {
            let _ = write!(
                out,
                "template-{m}:\n    description: Brings people of region {m} back\n    variables:\n      - key: FIRST_NAME\n\
                 \x20       name: First name\n        default_value: there\n      - key: OFFER\n        default_value: \"10 %\"\n\
                 \x20   push:\n      notification:\n        alert: \"Hi {{{{FIRST_NAME}}}}, {} is {{{{OFFER}}}} on all of it\"\n        actions:\n\
                 \x20         open:\n            type: url\n            content: https://example.com/offers/{m}\n",
                pick("here", "for a short time there"),
            );
            "templates"
        }
        3 => {
            let _ = write!(
                out,
                "pipeline-{m}:\n    enabled: true\n    immediate_trigger:\n      tag_added:\n        tag: new-{m}\n        group: {group}\n\
                 \x20   outcome:\n      delay: {}\n      push:\n        audience: triggered\n        device_types: [ios, android]\n\
                 \x20       notification:\n          alert: Still interested in {m}?\n",
                pick("1h30m", "2h"),
            );
            "pipelines"
        }
        4 => {
            let (day, hour) = (m / 8 % 28 + 1, m % 8 + 9);
            let month = m / 224 % 11 + 2;
            let _ = write!(
                out,
                "push-{m}:\n    name: Sale of region {m}\n    schedule:\n      scheduled_time: 2026-{month:02}-{day:02}T{hour:02}:{}\n\
                 \x20     time_zone: America/New_York\n    push:\n      audience:\n        segment: {segment}\n\
                 \x20     device_types: [ios, android]\n      notification:\n        alert: The sale {}\n        actions:\n\
                 \x20         open:\n            type: url\n            content: https://example.com/sale/{m}\n",
                pick("00", "30"),
                pick("begins now", "begins now, and lasts for a day"),
            );
            "scheduled_pushes"
        }
        5 => {
            let _ = write!(
                out,
                "experiment-{m}:\n    description: Which words work in region {m}\n    audience: {{tag: buyer-{m}, group: {group}}}\n\
                 \x20   device_types: [ios, android]\n    variants:\n      - push:\n          notification:\n            alert: Come {}\n\
                 \x20       schedule:\n          scheduled_time: 2026-12-{:02}T09:00\n      - push:\n          notification:\n\
                 \x20           alert: We miss you\n        schedule:\n          scheduled_time: 2026-12-{1:02}T18:00\n",
                pick("back", "back to us"),
                m % 28 + 1,
            );
            "experiments"
        }
        6 => {
            let _ = write!(
                out,
                "user-{m}:\n    channels:\n      - channel_id: {}c36e8c7-5a73-47c0-9716-{n:012}\n        device_type: ios\n",
                pick("1", "2")
            );
            "named_users"
        }
        7 => {
            let _ = write!(
                out,
                "channel-{m}:\n    opt_in: {}\n    address: \"+1 555 {n:07}\"\n    tags: [support-{m}, region-{m}]\n\
                 \x20   timezone: Europe/Paris\n    locale_country: FR\n    locale_language: fr\n    open:\n\
                 \x20     open_platform_name: sms\n      identifiers: {{carrier: \"carrier-{m}\"}}\n",
                pick("true", "false")
            );
            "open_channels"
        }
        _ => {
            let _ = write!(
                out,
                "tag-{m}:\n    tag: legacy-{m}\n    ios_channels:\n      - {}d36e8c7-5a73-47c0-9716-{n:012}\n",
                pick("1", "2")
            );
            "tags"
        }
    };
    (kind, out)
}
