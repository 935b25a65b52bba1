//! The number of devices of a population in an audience, compared with the service's own result.

use std::collections::BTreeMap;

use pushplan::audience::Audience;
use pushplan::engine::reach::{ChannelList, device_facts};
use pushplan::node::{Decode, Node, Reader};
use pushplan::nouns::audience::{SegmentRef, Selector};
use pushplan::nouns::device::DeviceTypes;
use pushplan::nouns::vocabulary::GROUPS;
use pushplan::population::{DeviceCount, NoPopulation, Population, PopulationBuilder, PopulationSource};
use pushplan::service::Level;
use pushplan::service::population;
use serde_json::{Value, json};

use crate::support::{NOW, World, settings};

/// More than one block of an evaluation, and not a multiple of one.
const DEVICES: usize = 4_201;
/// Enough for every property.
const FEW: usize = 400;

/// Segments by their names. Each names only earlier ones.
fn segments() -> Vec<(&'static str, Value)> {
    vec![
        ("buyers", json!({ "tag": "buyer", "group": "lifecycle" })),
        ("away", json!({ "AND": [{ "segment": "buyers" }, { "NOT": { "tag": "active", "group": "lifecycle" } }] })),
        ("reachable", json!({ "OR": [{ "segment": "away" }, { "tag": "true", "group": "ua_opt_in" }] })),
        ("nobody", json!({ "AND": [{ "segment": "away" }, { "NOT": { "segment": "away" } }] })),
    ]
}

/// Selectors that a channel list decides.
fn decided() -> Vec<Value> {
    let tag = |tag: &str, group: &str| json!({ "tag": tag, "group": group });
    let mut all = vec![
        json!("all"),
        json!({ "tag": "beta" }),
        json!({ "tag": "nobody-has-it" }),
        json!({ "NOT": { "tag": "beta" } }),
        tag("buyer", "lifecycle"),
        tag("gold", "tier"),
        json!({ "NOT": tag("gold", "tier") }),
        tag("buyer", "no-such-group"),
        json!({ "AND": [tag("buyer", "lifecycle"), tag("lapsed", "lifecycle")] }),
        json!({ "OR": [tag("US", "ua_locale_country"), tag("DE", "ua_locale_country"), { "tag": "beta" }] }),
        json!({ "AND": [{ "NOT": { "OR": [{ "tag": "beta" }, tag("fr", "ua_locale_language")] } }, tag("true", "ua_opt_in")] }),
        json!({ "AND": [] }),
        json!({ "OR": [] }),
        json!({ "NOT": { "NOT": tag("Unknown", "ua_locale_language") } }),
        tag("America/Sao_Paulo", "timezone"),
        tag("America/Sao_Paolo", "timezone"),
    ];
    all.extend(segments().iter().map(|(name, _)| json!({ "segment": name })));
    all.push(json!({ "NOT": { "segment": "reachable" } }));
    all
}

/// Selectors that a channel list does not decide.
fn undecided() -> Vec<Value> {
    vec![
        json!({ "named_user": "u-7" }),
        json!({ "AND": [{ "named_user": "u-7" }, { "tag": "gold", "group": "tier" }] }),
        json!({ "NOT": { "named_user": "u-7" } }),
        json!({ "ios_channel": "d-1" }),
        json!({ "channel": "d-1" }),
        json!({ "open_channel": "+15551234" }),
        json!({ "static_list": "panel" }),
        json!({ "NOT": { "static_list": "panel" } }),
        json!({ "OR": [{ "static_list": "panel" }, { "tag": "beta" }] }),
        json!({ "subscription_list": "news" }),
        json!({ "location": { "id": "harbour" } }),
        json!({ "location": { "id": "harbour", "date": { "recent": { "months": 3 } } } }),
        json!({ "attribute": "score", "operator": "greater", "value": 3 }),
    ]
}

async fn world(api: Level, devices: usize) -> World {
    let world = World::again(settings(api)).await;
    world
        .change(|app, now| {
            for (id, device) in population::sample(devices, 7) {
                app.register(&id, device, now);
            }
        })
        .await;
    let special = [
        json!({ "device_type": "ios", "named_user": "u-7", "lists": ["panel"], "subscriptions": ["news"] }),
        json!({ "device_type": "android", "opt_in": true, "named_user": "u-7", "tags": { "": ["beta"], "tier": ["gold"] } }),
        json!({ "device_type": "open::sms", "opt_in": true, "address": "+15551234", "seen_at": { "harbour": NOW } }),
        json!({ "device_type": "web", "seen_at": { "harbour": "2026-01-01T00:00:00Z" }, "attributes": { "score": 5 } }),
        json!({ "device_type": "amazon", "properties": { "timezone": "America/Sao_Paulo", "country": "no code" } }),
    ];
    for (number, device) in special.iter().enumerate() {
        let put = world.call("PUT", &format!("/local/devices/d-{number}"), Some(device)).await;
        assert!(put.status < 300, "{device}: {}", put.json());
    }
    let gone = json!({ "channel_id": "d-4", "device_type": "amazon" });
    assert_eq!(world.call("POST", "/api/channels/uninstall", Some(&gone)).await.status, 202);
    let tagged = json!({ "audience": { "named_user_id": "u-7" }, "add": { "tier": ["gold", "silver"] } });
    assert_eq!(world.call("POST", "/api/named_users/tags", Some(&tagged)).await.status, 200);
    world
}

/// Pages of a list, as the service has them.
async fn pages(world: &World, first: &str) -> Vec<Value> {
    let (mut all, mut next) = (Vec::new(), Some(first.to_owned()));
    while let Some(path) = next {
        let page = world.call("GET", &path, None).await.json();
        let origin = format!("http://{}", world.running.address);
        next = page["next_page"].as_str().map(|url| url.replace(&origin, ""));
        all.push(page);
    }
    all
}

async fn read(world: &World) -> Population {
    let taken = Some(NOW.parse().expect("a time"));
    let mut list = ChannelList::new(PopulationBuilder::new(PopulationSource::Channels, taken, "app"));
    for page in pages(world, "/api/named_users?limit=1000").await {
        list.add_users(&page).expect("users");
    }
    for page in pages(world, "/api/channels?limit=1000").await {
        list.add_channels(&page).expect("channels");
    }
    list.done()
}

fn decode<T: Decode>(value: &Value) -> T {
    let mut reader = Reader::of_wire();
    let read = T::decode(&Node::from_json_value(value), &mut reader);
    read.unwrap_or_else(|| panic!("{value}: {:?}", reader.findings.into_vec()))
}

/// An audience that refers to segments by name, counted by the population and by the service.
struct Asker {
    world: World,
    criteria: BTreeMap<String, Selector>,
    ids: Vec<(&'static str, String)>,
}

impl Asker {
    async fn new(world: World) -> Self {
        let (mut criteria, mut ids) = (BTreeMap::new(), Vec::new());
        for (name, written) in segments() {
            criteria.insert(name.to_owned(), decode::<Selector>(&written));
            let body = json!({ "display_name": name, "criteria": with_ids(&written, &ids) });
            let made = world.call("POST", "/api/segments", Some(&body)).await.json();
            ids.push((name, made["segment_id"].as_str().expect("an id").to_owned()));
        }
        Self { world, criteria, ids }
    }

    fn counted(&self, population: &Population, audience: &Value, kinds: &Value) -> DeviceCount {
        let selector: Selector = decode(audience);
        let lookup = |reference: &SegmentRef| match reference {
            SegmentRef::Key(key) | SegmentRef::Id(key) => self.criteria.get(key),
        };
        let audience = Audience::of(&selector, lookup).on(&decode::<DeviceTypes>(kinds));
        population.count(&audience).expect("it is simple")
    }

    async fn true_count(&self, audience: &Value, kinds: &Value) -> u64 {
        let asked = json!({ "audience": with_ids(audience, &self.ids), "device_types": kinds });
        let answer = self.world.call("POST", "/local/audience", Some(&asked)).await.json();
        answer["count"].as_u64().unwrap_or_else(|| panic!("{asked}: {answer}"))
    }
}

fn with_ids(audience: &Value, ids: &[(&'static str, String)]) -> Value {
    let text = ids.iter().fold(audience.to_string(), |text, (name, id)| {
        text.replace(&format!("{{\"segment\":\"{name}\"}}"), &format!("{{\"segment\":\"{id}\"}}"))
    });
    serde_json::from_str(&text).expect("JSON")
}

fn kinds() -> [Value; 4] {
    [json!("all"), json!(["ios", "android"]), json!(["web"]), json!(["open::sms"])]
}

#[tokio::test]
async fn a_channel_list_is_counted_as_the_service_counts() {
    for (api, devices) in [(Level::Documented, DEVICES), (Level::Extended, FEW)] {
        let asker = Asker::new(world(api, devices).await).await;
        let population = read(&asker.world).await;
        assert_eq!(population.len(), devices + 4, "one of them is uninstalled");
        for kinds in kinds() {
            for audience in decided() {
                let (found, right) =
                    (asker.counted(&population, &audience, &kinds), asker.true_count(&audience, &kinds).await);
                assert_eq!(found, DeviceCount::exact(right), "{audience} on {kinds}");
            }
            for audience in undecided() {
                let (found, right) =
                    (asker.counted(&population, &audience, &kinds), asker.true_count(&audience, &kinds).await);
                assert!(found.at_least <= right && right <= found.at_most, "{audience} on {kinds}: {found:?}, {right}");
            }
        }
        asker.world.stop().await;
    }
}

/// Every group that the service fills in, with every value that devices have in it.
#[tokio::test]
async fn every_property_is_counted_as_the_service_counts() {
    let asker = Asker::new(world(Level::Extended, FEW).await).await;
    let population = read(&asker.world).await;
    let mut values: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
    for page in pages(&asker.world, "/api/channels?limit=1000").await {
        for channel in page["channels"].as_array().expect("channels") {
            for (group, tags) in channel["tag_groups"].as_object().expect("groups") {
                let tags = tags.as_array().expect("tags").iter().filter_map(Value::as_str);
                values.entry(group.clone()).or_default().extend(tags.map(str::to_owned));
            }
        }
    }
    for group in GROUPS {
        for value in values.get(group.id).unwrap_or_else(|| panic!("no device has {}", group.id)) {
            for audience in
                [json!({ "tag": value, "group": group.id }), json!({ "NOT": { "tag": value, "group": group.id } })]
            {
                let (found, right) = (
                    asker.counted(&population, &audience, &json!("all")),
                    asker.true_count(&audience, &json!("all")).await,
                );
                assert!(found.at_least <= right && right <= found.at_most, "{audience}: {found:?}, {right}");
                // It is unknown whether a device without an SDK version reports its location.
                let is_known = group.id != "ua_location_enabled";
                assert!(!is_known || found.is_exact(), "{audience}: {found:?}, {right}");
            }
        }
    }
    asker.world.stop().await;
}

#[tokio::test]
async fn a_file_of_devices_tells_also_lists_and_places() {
    let asker = Asker::new(world(Level::Extended, FEW).await).await;
    let untagged = json!({ "audience": { "named_user_id": "u-7" }, "remove": { "tier": ["gold", "silver"] } });
    asker.world.call("POST", "/api/named_users/tags", Some(&untagged)).await;
    let population = asker
        .world
        .change(|app, _| {
            let mut builder = PopulationBuilder::new(PopulationSource::Sample, None, "");
            app.devices.iter().filter(|(_, device)| device.installed).for_each(|(_, device)| {
                builder.add(&device_facts(device));
            });
            builder.done()
        })
        .await;
    let told = [
        json!({ "static_list": "panel" }),
        json!({ "NOT": { "static_list": "panel" } }),
        json!({ "subscription_list": "news" }),
        json!({ "location": { "id": "harbour" } }),
        json!({ "tag": "true", "group": "ua_location_enabled" }),
        json!({ "NOT": { "tag": "true", "group": "ua_location_enabled" } }),
    ];
    for audience in decided().into_iter().chain(told) {
        for kinds in kinds() {
            let found = asker.counted(&population, &audience, &kinds);
            assert_eq!(found, DeviceCount::exact(asker.true_count(&audience, &kinds).await), "{audience} on {kinds}");
        }
    }
    asker.world.stop().await;
}

/// The documented API shows six fields of a channel. Everything else is unknown.
#[test]
fn a_list_with_the_fields_of_the_contract_alone_gives_bounds() {
    let channel = |number: usize| {
        json!({
            "channel_id": format!("c-{number}"),
            "device_type": if number < 3 { "ios" } else { "android" },
            "tags": if number == 0 { json!(["vip"]) } else { json!([]) },
            "push_address": "secret-address",
            "named_user_id": if number == 1 { json!("ann") } else { Value::Null },
            "opt_in": number != 2,
        })
    };
    let mut list = ChannelList::new(PopulationBuilder::new(PopulationSource::Channels, None, "app"));
    list.add_users(&json!({ "named_users": [{ "named_user_id": "ann" }] })).expect("users");
    list.add_channels(&json!({ "channels": (0..4).map(channel).collect::<Vec<_>>() })).expect("channels");
    let population = list.done();
    let count = |audience: Value| {
        let selector: Selector = decode(&audience);
        let counted = population.count(&Audience::of(&selector, |_| None)).expect("it is simple");
        (counted.at_least, counted.at_most)
    };
    assert_eq!(count(json!("all")), (4, 4));
    assert_eq!(count(json!({ "tag": "true", "group": "ua_opt_in" })), (3, 3));
    // Ann may have the tag.
    assert_eq!(count(json!({ "tag": "vip" })), (1, 2));
    assert_eq!(count(json!({ "NOT": { "tag": "vip" } })), (2, 3));
    assert_eq!(count(json!({ "tag": "gold", "group": "tier" })), (0, 4));
    assert_eq!(count(json!({ "tag": "US", "group": "ua_locale_country" })), (0, 4));
    // Android devices have no version of iOS.
    assert_eq!(count(json!({ "tag": "17.0.X", "group": "ua_ios_version" })), (0, 3));
    assert_eq!(count(json!({ "named_user": "ann" })), (0, 1));
    assert_eq!(count(json!({ "segment": "elsewhere" })), (0, 4));
    let bytes = String::from_utf8_lossy(&population.to_bytes()).into_owned();
    for secret in ["c-0", "secret-address", "ann"] {
        assert!(!bytes.contains(secret), "the population holds {secret}");
    }
}

#[test]
fn a_population_is_read_as_it_was_written_and_damage_is_detected() {
    let mut builder = PopulationBuilder::new(PopulationSource::Sample, None, "");
    population::sample(700, 3).iter().for_each(|(_, device)| builder.add(&device_facts(device)));
    let population = builder.done();
    let bytes = population.to_bytes();
    assert_eq!(Population::of_bytes(&bytes).as_ref(), Ok(&population));
    assert_eq!(population.to_bytes(), bytes, "the same devices give the same bytes");
    for place in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert!(Population::of_bytes(&damaged).is_err(), "a flipped bit at {place} is noticed");
        assert!(Population::of_bytes(&bytes[..place]).is_err(), "an end at {place} is noticed");
    }
    let newer = String::from_utf8_lossy(&bytes[..21]).replace("population 1", "population 9");
    let newer = [newer.as_bytes(), &bytes[21..]].concat();
    assert_eq!(Population::of_bytes(&newer), Err(NoPopulation::OtherForm(9)));
    assert_eq!(Population::of_bytes(b"something else"), Err(NoPopulation::NotOne));
}

#[test]
fn a_list_that_repeats_itself_is_refused() {
    let page = json!({ "channels": [{ "channel_id": "a", "device_type": "ios" }] });
    let mut list = ChannelList::new(PopulationBuilder::new(PopulationSource::Channels, None, "app"));
    assert_eq!(list.add_channels(&page), Ok(()));
    assert!(list.add_channels(&page).is_err_and(|why| why.to_string().contains("only channels of earlier pages")));
    let shifted = json!({ "channels": [page["channels"][0], { "channel_id": "b", "device_type": "ios" }] });
    assert_eq!((list.add_channels(&shifted), list.progress().channels), (Ok(()), 2), "each is counted once");
    assert!(list.add_channels(&json!({ "ok": true })).is_err(), "an answer without channels is no end of the list");
}
