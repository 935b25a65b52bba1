//! Devices with random properties, and who of them gets a message.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::engine::reach::ChannelList;
use pushplan::population::{PopulationBuilder, PopulationSource};
use pushplan_testing::Dice;
use serde_json::{Value, json};

use super::Recipients;
use super::projects::{
    COUNTRIES, DEVICES_ALONE, DEVICES_AND_TILLS, Draft, LISTS, OWNED, PLANS, TAGS, TIERS, TILL_CHUNK, USERS,
};
use crate::generated::world::World;

/// How many devices there are, and how many of them an answer names.
const DEVICES: usize = 600;
const NAMED: usize = 100;

/// Audiences of messages, each with the kinds of device that it goes to, and tags that trigger pipelines, by their addresses.
pub type Audiences = BTreeMap<String, (Value, Vec<&'static str>)>;
pub type Triggers = BTreeMap<String, &'static str>;

pub struct Population {
    client: reqwest::Client,
    origin: String,
    /// The devices as the channel list shows them.
    pub channels: pushplan::population::Population,
    ios_and_android: usize,
}

impl Population {
    pub async fn new(world: &World, dice: &mut Dice) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::new();
        let mut ios_and_android = 0;
        for number in 0..DEVICES {
            let device = device(number, dice);
            ios_and_android += usize::from(device["device_type"] != "web");
            let url = format!("{}/local/devices/d-{number}", world.origin());
            let answer = client.put(url).json(&device).send().await.expect("an answer");
            assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
        }
        let channels = read(world).await;
        Self { client, origin: world.origin(), channels, ios_and_android }
    }

    /// Reads the channel list again: tags and named users have changed.
    pub async fn read_channels(&mut self, world: &World) {
        self.channels = read(world).await;
    }

    /// How many devices an audience has, as the service answers.
    pub async fn count(&self, asked: &Value) -> u64 {
        let url = format!("{}/local/audience", self.origin);
        let body: Value =
            self.client.post(url).json(asked).send().await.expect("an answer").json().await.expect("JSON");
        body["count"].as_u64().unwrap_or_else(|| panic!("{asked}: {body}"))
    }

    /// How many devices there are of the kinds that each message goes to.
    pub fn all(&self, draft: &Draft) -> impl Fn(&str) -> usize {
        move |address| self.ios_and_android + if draft.is_to_tills(address) { draft.tills() } else { 0 }
    }

    /// Who gets each message of a project, as the service has it.
    pub async fn recipients(&self, world: &World, draft: &Draft) -> Recipients {
        let ids = world.segment_ids().await;
        let messages = draft.messages().into_iter();
        let messages = messages.map(|(address, audience)| {
            let devices = devices_of(draft, &address);
            (address, (with_ids(&audience, &ids), devices))
        });
        let messages = messages.collect();
        self.recipients_of(messages, draft.triggers().collect()).await
    }

    /// Who gets each of some messages, whose audiences name no segments of the project, and what triggers some pipelines.
    pub async fn recipients_of(&self, messages: Audiences, triggers: Triggers) -> Recipients {
        let mut found = Recipients::new();
        for (address, (audience, device_types)) in messages {
            let mut devices = BTreeSet::new();
            // An answer names a hundred devices, so that it is asked for each hundred.
            let chunks = (0..DEVICES / NAMED).map(|chunk| format!("chunk-{chunk}")).chain([TILL_CHUNK.to_owned()]);
            for chunk in chunks {
                let asked = json!({
                    "audience": { "AND": [audience, { "tag": chunk }] },
                    "device_types": device_types,
                });
                let url = format!("{}/local/audience", self.origin);
                let answer = self.client.post(url).json(&asked).send().await.expect("an answer");
                let body: Value = answer.json().await.expect("JSON");
                let named = body["devices"].as_array().unwrap_or_else(|| panic!("{asked}: {body}"));
                assert_eq!(body["count"], named.len(), "all are named");
                devices.extend(named.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            found.insert(address, devices);
        }
        // A device that gets the tag gets the message: another tag is another audience.
        found.extend(triggers.into_iter().map(|(address, tag)| (address, BTreeSet::from([format!("added {tag}")]))));
        found
    }
}

/// The kinds of device that a message of a project goes to.
pub fn devices_of(draft: &Draft, address: &str) -> Vec<&'static str> {
    if draft.is_to_tills(address) { DEVICES_AND_TILLS.to_vec() } else { DEVICES_ALONE.to_vec() }
}

/// The channel list of a service, in one page.
async fn read(world: &World) -> pushplan::population::Population {
    let mut list = ChannelList::new(PopulationBuilder::new(PopulationSource::Channels, None, ""));
    list.add_users(&world.get("/api/named_users?limit=1000").await).expect("users");
    list.add_channels(&world.get("/api/channels?limit=1000").await).expect("channels");
    list.done()
}

fn device(number: usize, dice: &mut Dice) -> Value {
    let mut tags: Vec<String> = TAGS.iter().filter(|_| dice.below(3) == 0).map(|tag| (*tag).to_owned()).collect();
    tags.push(format!("chunk-{}", number / NAMED));
    let mut device = json!({
        "device_type": if number < OWNED { &"ios" } else { dice.pick(&["ios", "ios", "android", "android", "web"]) },
        "opt_in": dice.below(10) > 0,
        "tags": { "": tags },
        "properties": { "country": dice.pick(&COUNTRIES), "language": dice.pick(&["en", "fr", "de"]) },
        "lists": LISTS.iter().filter(|_| dice.below(3) == 0).collect::<Vec<_>>(),
    });
    if dice.below(4) > 0 {
        device["attributes"] = json!({ "spent": 5 * dice.below(11), "plan": dice.pick(&PLANS) });
    }
    // A plan does not take over tags that a channel has already.
    if number >= OWNED && dice.below(2) == 0 {
        device["tags"]["tier"] = json!([dice.pick(&TIERS)]);
    }
    if dice.below(3) == 0 {
        device["named_user"] = format!("u-{}", dice.below(USERS)).into();
    }
    device
}

/// An audience that names segments by the ids that the service gave them.
fn with_ids(audience: &Value, ids: &std::collections::BTreeMap<String, String>) -> Value {
    match audience {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("segment", Some(name)) => (key.clone(), Value::from(ids[name].clone())),
                _ => (key.clone(), with_ids(value, ids)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| with_ids(item, ids)).collect(),
        other => other.clone(),
    }
}
