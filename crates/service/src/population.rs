//! Initial devices: a sample population, or one from a file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use pushplan_model::node::{Decode, Node, Reader, Tree, from_json};
use pushplan_model::nouns::vocabulary::MODELS;
use pushplan_model::source::{FileId, Source};
use uuid::Builder;

use super::engine::{Engine, NotDone};
use super::local::form::{self, Form};
use super::state::devices::{Device, NO_GROUP, Properties};

/// Devices with their ids.
pub type Population = Vec<(String, Device)>;

/// Adds devices to each application that has none, in one change. Returns how many devices each application then has,
/// and whether they were added. `devices` creates those of the n-th application.
pub async fn fill(engine: &Engine, devices: impl Fn(usize) -> Population) -> Result<Vec<(usize, bool)>, NotDone> {
    let keys = engine.settings.apps.iter().map(|(key, _)| key).enumerate();
    engine
        .write(|state, now| {
            let mut filled = Vec::new();
            for (place, key) in keys {
                let Some(app) = state.app_mut(key) else { continue };
                let is_empty = app.devices.is_empty();
                if is_empty {
                    // They do not cause events: they are initial devices, and so many that they would hide all other
                    // events.
                    app.streams = false;
                    for (id, device) in devices(place) {
                        app.register(&id, device, now);
                    }
                    app.streams = true;
                }
                filled.push((app.devices.len(), is_empty));
            }
            filled
        })
        .await
}

/// Reads devices from a file: a JSON array, or one device on each line. Errors contain the position.
pub fn read(name: &str, text: &str) -> anyhow::Result<Population> {
    let mut population = Population::new();
    let mut ids = BTreeSet::new();
    let mut add = |node: &Node, source: &Source, line: usize| {
        let at = |start: usize, why: &str| {
            let position = source.position(start);
            anyhow!("{name}:{}:{}: {why}", line + position.line, position.column)
        };
        let mut reader = Reader::of_wire();
        let form = Form::decode(node, &mut reader);
        if let Some(finding) = reader.findings.into_vec().first() {
            let label = if finding.label.is_empty() { String::new() } else { format!(": {}", finding.label) };
            return Err(at(finding.at.range().start, &format!("{}{label}", finding.message)));
        }
        let start = node.span.range().start;
        let form = form.ok_or_else(|| at(start, "not a device"))?;
        let id = form.id.as_ref().ok_or_else(|| at(start, "the device has no `id`"))?.value.clone();
        form::check_id(&id).map_err(|refusal| at(start, &refusal.error))?;
        if !ids.insert(id.clone()) {
            return Err(at(start, &format!("there are two devices `{id}`")));
        }
        let device = form.device().map_err(|refusal| at(start, &refusal.error))?;
        population.push((id, device));
        Ok(())
    };
    let tree = |text: &str, source: &Source, line: usize| {
        from_json(FileId::ONLY, text).map_err(|error| {
            let position = source.position(error.at);
            anyhow!("{name}:{}:{}: not JSON: {}", line + position.line, position.column, error.why)
        })
    };
    if text.trim_start().starts_with('[') {
        let source = Source::new(name, text);
        if let Tree::List(items) = tree(text, &source, 0)?.tree {
            items.iter().try_for_each(|item| add(item, &source, 0))?;
        }
    } else {
        for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let source = Source::new(name, text);
            add(&tree(text, &source, line)?, &source, line)?;
        }
    }
    Ok(population)
}

/// Returns a sample population. The same seed gives the same devices, and a larger population begins with the smaller
/// one.
pub fn sample(count: usize, seed: u64) -> Population {
    (0..count).map(|number| device(number as u64, seed)).collect()
}

/// SplitMix64: small, and random enough for sample devices.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns `true` in `chance` percent of the cases.
    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// Returns a value of a table with weights in its first column.
    fn weighted<'t, T>(&mut self, table: &'t [(u64, T)]) -> &'t T {
        let mut at = self.below(table.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in table {
            if at < *weight {
                return value;
            }
            at -= weight;
        }
        &table[0].1
    }

    /// Returns a value of a list in `chance` percent of the cases.
    fn maybe(&mut self, chance: u64, of: &[&str]) -> Option<String> {
        let value = *self.one(of);
        self.percent(chance).then(|| value.to_owned())
    }
}

struct Platform {
    name: &'static str,
    opt_in: u64,
    sdks: &'static [&'static str],
    systems: &'static [&'static str],
}

/// Kinds of device, with their percentage of the population.
const KINDS: &[(u64, Platform)] = &[
    (
        42,
        Platform {
            name: "ios",
            opt_in: 60,
            sdks: &["5.0.3", "5.1.1", "6.0.2", "6.1.0", "6.1.0"],
            systems: &["6.1.6", "7.0.6", "7.1.2", "8.0.2", "8.1.3", "8.2", "8.3", "8.3"],
        },
    ),
    (
        38,
        Platform {
            name: "android",
            opt_in: 88,
            sdks: &["5.0.3", "5.1.6", "6.0.2", "6.1.0", "6.1.0"],
            systems: &["4.1.2", "4.2.2", "4.3.1", "4.4.4", "5.0.2", "5.1.1", "5.1.1"],
        },
    ),
    (5, Platform { name: "amazon", opt_in: 85, sdks: &["5.1.6", "6.0.2"], systems: &["4.4.4", "5.1.1"] }),
    (10, Platform { name: "web", opt_in: 70, sdks: &["1.0.0"], systems: &[] }),
    (5, Platform { name: "open::sms", opt_in: 95, sdks: &[], systems: &[] }),
];

/// Language, country and time zones. Some zones are not listed by the contract and are mapped to the nearest one.
type Locale = (&'static str, &'static str, &'static [&'static str]);

const PLACES: &[(u64, Locale)] = &[
    (
        30,
        (
            "en",
            "US",
            &["America/New_York", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"],
        ),
    ),
    (6, ("en", "CA", &["America/Toronto", "America/Vancouver", "America/Halifax"])),
    (2, ("fr", "CA", &["America/Toronto"])),
    (9, ("en", "GB", &["Europe/London"])),
    (9, ("de", "DE", &["Europe/Berlin"])),
    (7, ("fr", "FR", &["Europe/Paris"])),
    (5, ("es", "ES", &["Europe/Madrid"])),
    (5, ("es", "MX", &["America/Mexico_City"])),
    (6, ("pt", "BR", &["America/Sao_Paulo"])),
    (5, ("ja", "JP", &["Asia/Tokyo"])),
    (4, ("hi", "IN", &["Asia/Kolkata"])),
    (3, ("ko", "KR", &["Asia/Seoul"])),
    (3, ("en", "AU", &["Australia/Sydney", "Australia/Perth"])),
    (2, ("tr", "TR", &["Europe/Istanbul"])),
    (2, ("ar", "AE", &["Asia/Dubai"])),
    (2, ("en", "ZA", &["Africa/Johannesburg"])),
];

const APP_VERSIONS: &[&str] = &["1.8.0", "1.9.2", "2.0.0", "2.1.0", "2.1.3", "2.2.0", "2.2.0", "2.2.0"];
const TAGS: &[(&str, u64)] = &[("newsletter", 30), ("news", 35), ("sports", 25), ("travel", 15), ("beta", 5)];
const LOYALTY: &[(u64, &str)] = &[(60, "bronze"), (30, "silver"), (10, "gold")];

fn device(number: u64, seed: u64) -> (String, Device) {
    let mut random = Random(Random(Random(seed).next() ^ number).next());
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&random.next().to_be_bytes());
    bytes[8..].copy_from_slice(&random.next().to_be_bytes());
    let id = Builder::from_random_bytes(bytes).into_uuid().to_string();

    let kind = random.weighted(KINDS);
    let (language, country, zones) = random.weighted(PLACES);
    let is_app = !kind.systems.is_empty();
    let properties = Properties {
        language: random.maybe(96, &[language]),
        country: random.maybe(94, &[country]),
        timezone: random.maybe(96, zones),
        app_version: random.maybe(97, APP_VERSIONS).filter(|_| is_app),
        sdk_version: Some(kind.sdks).filter(|sdks| !sdks.is_empty()).and_then(|sdks| random.maybe(97, sdks)),
        os_version: Some(kind.systems).filter(|_| is_app).and_then(|systems| random.maybe(97, systems)),
        model: model(kind.name, &mut random),
    };
    let opt_in = random.percent(kind.opt_in);
    let address = (kind.name == "open::sms").then(|| format!("+1555{:07}", random.below(10_000_000)));
    let push_address = match &address {
        Some(address) => Some(address.clone()),
        None => opt_in.then(|| format!("{:016x}{:016x}", random.next(), random.next())),
    };
    let device = Device {
        device_type: kind.name.to_owned(),
        installed: true,
        opt_in,
        background: is_app && random.percent(80),
        location: is_app && random.percent(30),
        push_address,
        // The number of users grows with the number of devices, so that some users have several.
        named_user: random.percent(45).then(|| format!("user-{:05}", random.below(number * 7 / 20 + 1) + 1)),
        tags: tags(&mut random).into(),
        properties: properties.into(),
        identifiers: address.iter().map(|address| ("number".to_owned(), address.clone())).collect(),
        address,
        subscriptions: random.maybe(20, &["weekly-digest"]).into_iter().collect(),
        attributes: match random.percent(30) {
            true => [("points".to_owned(), random.below(1000).into())].into(),
            false => BTreeMap::new(),
        },
        ..Device::default()
    };
    (id, device)
}

fn model(kind: &str, random: &mut Random) -> Option<String> {
    let at = random.below(MODELS.len() as u64) as usize;
    let is_real = kind == "ios" && random.percent(97);
    is_real.then(|| MODELS[at].tag.to_owned())
}

fn tags(random: &mut Random) -> BTreeMap<String, BTreeSet<String>> {
    let mut tags: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |group: &str, tag: &str| {
        tags.entry(group.to_owned()).or_default().insert(tag.to_owned());
    };
    for (tag, chance) in TAGS {
        if random.percent(*chance) {
            add(NO_GROUP, tag);
        }
    }
    if random.percent(30) {
        add("customer_stage", "new");
    } else if random.percent(80) {
        add("customer_stage", "buyer");
        if random.percent(40) {
            add("customer_stage", "lapsed");
        }
        let level: &&str = random.weighted(LOYALTY);
        add("loyalty", level);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_devices_and_another_gives_others() {
        assert_eq!(sample(50, 1), sample(50, 1));
        assert_eq!(sample(50, 1), sample(80, 1)[..50]);
        let ids = |seed| sample(50, seed).into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>();
        assert_eq!(ids(1).len(), 50);
        assert!(ids(1).is_disjoint(&ids(2)));
    }

    #[test]
    fn a_sample_of_two_hundred_has_something_of_everything() {
        let all = sample(200, 1);
        let has = |wanted: &dyn Fn(&Device) -> bool| all.iter().any(|(_, device)| wanted(device));
        for (_, kind) in KINDS {
            assert!(has(&|device| device.device_type == kind.name), "{}", kind.name);
        }
        assert!(has(&|device| device.opt_in) && has(&|device| !device.opt_in));
        assert!(has(&|device| device.properties.language.is_none()));
        assert!(has(&|device| device.properties.timezone.as_deref() == Some("Europe/Berlin")));
        assert!(has(&|device| device.tags.get("customer_stage").is_some_and(|tags| tags.len() == 2)));
        let users: Vec<&String> = all.iter().filter_map(|(_, device)| device.named_user.as_ref()).collect();
        let different: BTreeSet<&&String> = users.iter().collect();
        assert!(different.len() < users.len(), "a user has several devices");
    }

    #[test]
    fn every_sample_device_can_be_written_to_a_file_and_read_from_it() {
        let all = sample(60, 7);
        let lines: Vec<String> = all.iter().map(|(id, device)| form::write(id, device).to_string()).collect();
        assert_eq!(read("d", &lines.join("\n")).unwrap(), all);
        assert_eq!(read("d", &format!("[{}]", lines.join(",\n"))).unwrap(), all);
    }

    #[test]
    fn what_is_wrong_in_a_file_comes_with_its_place() {
        for (text, says) in [
            ("[{\"id\": \"a\"}]", "d:1:2: `device_type` is missing"),
            ("{\"id\":\"a\",\"device_type\":\"ios\"}\n\n{\"device_type\":\"ios\"}", "d:3:1: the device has no `id`"),
            ("[\n  {\"id\": \"a\", \"kind\": \"ios\"}\n]", "d:2:15: unknown key `kind`"),
            ("[\n", "d:2:1: not JSON"),
            ("{\"id\":\"a\",\"device_type\":\"ios\"}\n{\"id\":\"a\",\"device_type\":\"ios\"}", "d:2:1: there are two"),
            ("[{\"id\": \"a/b\", \"device_type\": \"ios\"}]", "d:1:2: the id of a device"),
        ] {
            let error = read("d", text).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
