//! Random campaigns for ten thousand devices: everybody receives what an independent model says, and nothing else.

mod draw;
mod model;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan::nouns::device::DeviceType;
use pushplan::nouns::notification::Notification;
use pushplan::service::request::understood;
use pushplan::service::state::devices::{Device, Properties};
use pushplan_testing::Dice;
use serde_json::{Value, json};

use super::harness::Service;
use draw::{Campaign, campaign, phones};
use model::{Phone, Received, Shown, Tagging, is_in, scheduled, shown, triggered};

const PHONES: usize = 10_000;
const CAMPAIGNS: usize = 200;
const BEGIN: &str = "2027-03-20T00:00:00Z";
const END: &str = "2027-06-01T00:00:00Z";

/// Another seed draws other campaigns.
fn seed() -> u64 {
    std::env::var("PUSHPLAN_CAMPAIGNS_SEED").map_or(20_260_101, |seed| seed.parse().expect("a number"))
}

async fn register(service: &Service, phones: &[Phone]) {
    let text = |value: Option<&str>| value.map(str::to_owned);
    let tags = |tags: &BTreeSet<&str>| tags.iter().map(|tag| (*tag).to_owned()).collect::<BTreeSet<_>>();
    service
        .change(|app, _| {
            for phone in phones {
                let mut device = Device {
                    device_type: phone.device_type.to_owned(),
                    installed: true,
                    opt_in: phone.is_reachable,
                    ..Device::default()
                };
                *device.properties = Properties {
                    timezone: text(phone.zone),
                    language: text(phone.language),
                    country: text(phone.country),
                    ..Properties::default()
                };
                for (group, tags) in [("", tags(&phone.tags)), ("crm", tags(&phone.crm))] {
                    if !tags.is_empty() {
                        device.tags.insert(group.to_owned(), tags);
                    }
                }
                app.devices.put(&mut app.journal, &phone.id, device);
            }
        })
        .await;
}

/// Makes a campaign over HTTP, and returns its id.
async fn made(service: &Service, campaign: &Campaign) -> String {
    let answer = service.post(campaign.path, campaign.body.clone()).await;
    assert_eq!(answer.status, 201, "{:#}\n{:#}", campaign.body, answer.body);
    let ids = ["/schedule_ids/0", "/experiment_id", "/pipeline_urls/0"];
    let id = ids.into_iter().find_map(|id| answer.body.pointer(id)?.as_str()).expect("an id");
    id.rsplit('/').next().unwrap_or(id).to_owned()
}

/// Moves the clock from event to event, and tags devices as they say.
async fn play(service: &Service, phones: &[Phone], mut events: Vec<&Tagging>) {
    events.sort_by_key(|event| event.at);
    for event in events {
        service.move_clock(&event.at.to_string()).await;
        let verb = if event.is_added { "add" } else { "remove" };
        let body = json!({ "audience": { "channel": phones[event.phone].id }, verb: { "device": [event.tag] } });
        service.post("/api/channels/tags", body).await.expect(200);
    }
    service.move_clock(END).await;
}

/// What each device shows of each push, as its own platform shows it, in time order.
fn received(service: &Service, phones: &[Phone], ids: &BTreeMap<String, usize>) -> Received {
    let types: BTreeMap<&str, &str> = phones.iter().map(|phone| (phone.id.as_str(), phone.device_type)).collect();
    service.look(|app| {
        let mut received = Received::new();
        for (_, receipt) in app.receipts.iter() {
            let sent = app.sent.get(&receipt.push_id).expect("the push");
            let campaign = ids[sent.group_id.as_deref().expect("a campaign")];
            let notification: Notification =
                understood(receipt.notification.as_ref().expect("a notification")).expect("a notification");
            let kind = DeviceType::parse(types[receipt.device.as_str()]).expect("a device type");
            let own = notification.on(&kind);
            let text = |text: Option<&pushplan::node::At<String>>| text.map(|text| text.value.clone());
            let shown = (text(own.title), text(own.alert).expect("a text"));
            received.entry((campaign, receipt.device.clone())).or_default().push((receipt.time, shown));
        }
        received.values_mut().for_each(|all| all.sort());
        received
    })
}

/// What each device receives of the scheduled pushes and the pipelines, by the model.
fn expected(campaigns: &[Campaign], phones: &[Phone]) -> Received {
    let mut expected = Received::new();
    for (number, campaign) in campaigns.iter().enumerate() {
        let mut add = |phone: &Phone, mut messages: Vec<(Timestamp, Shown)>| {
            messages.sort();
            if !messages.is_empty() {
                expected.insert((number, phone.id.clone()), messages);
            }
        };
        let body = &campaign.body;
        match campaign.path {
            "/api/schedules" => {
                for phone in phones.iter().filter(|phone| is_in(&body["push"]["audience"], phone)) {
                    let message = scheduled(&body["schedule"], phone).zip(shown(&body["push"], phone));
                    add(phone, message.into_iter().collect());
                }
            }
            "/api/pipelines" => {
                let concerned: BTreeSet<usize> = campaign.events.iter().map(|event| event.phone).collect();
                for phone in concerned {
                    let mut events: Vec<&Tagging> =
                        campaign.events.iter().filter(|event| event.phone == phone).collect();
                    events.sort_by_key(|event| event.at);
                    add(&phones[phone], triggered(body, &phones[phone], &events));
                }
            }
            _ => {}
        }
    }
    expected
}

/// Every reachable member of the audience of an experiment gets exactly one of its variants, or is in the control group,
/// and the groups have their shares.
fn check_experiment(
    body: &Value,
    phones: &[Phone],
    got: &BTreeMap<&str, &Vec<(Timestamp, Shown)>>,
    spared: &BTreeSet<String>,
) {
    let variants = body["variants"].as_array().expect("variants");
    let of_variant = |variant: &Value, phone: &Phone| {
        let push = json!({ "device_types": body["device_types"], "notification": variant["push"]["notification"] });
        shown(&push, phone).map(|shown| (scheduled(&variant["schedule"], phone).expect("a time"), shown))
    };
    let mut counts = vec![0_u32; variants.len() + 1];
    for phone in phones {
        let is_member = is_in(&body["audience"], phone) && of_variant(&variants[0], phone).is_some();
        let got = got.get(phone.id.as_str()).map(|got| got.as_slice()).unwrap_or_default();
        let group = match (is_member, got) {
            (false, []) if !spared.contains(&phone.id) => continue,
            (true, []) if spared.contains(&phone.id) => variants.len(),
            (true, [one]) if !spared.contains(&phone.id) => {
                let own = |variant: &Value| of_variant(variant, phone).as_ref() == Some(one);
                variants.iter().position(own).unwrap_or_else(|| panic!("no variant says {one:?}"))
            }
            wrong => panic!("{} {wrong:?} {body:#}", phone.id),
        };
        counts[group] += 1;
    }
    let control = body["control"].as_f64().unwrap_or(0.0);
    let weights: Vec<f64> = variants.iter().map(|variant| variant["weight"].as_f64().unwrap_or(1.0)).collect();
    let all = f64::from(counts.iter().sum::<u32>());
    let shares = weights.iter().map(|weight| (1.0 - control) * weight / weights.iter().sum::<f64>()).chain([control]);
    for (count, share) in counts.iter().zip(shares) {
        // Five standard deviations.
        let error = 5.0 * (share * (1.0 - share) * all).sqrt();
        assert!((f64::from(*count) - share * all).abs() <= error.max(1e-9), "{share} of {all}: {counts:?} {body:#}");
    }
}

#[tokio::test]
async fn ten_thousand_devices_receive_what_an_independent_model_says() {
    let mut dice = Dice::new(seed());
    let phones = phones(&mut dice, PHONES);
    let campaigns: Vec<Campaign> = (0..CAMPAIGNS).map(|number| campaign(&mut dice, number, PHONES)).collect();
    let service = Service::at(BEGIN).await;
    register(&service, &phones).await;
    let mut ids = BTreeMap::new();
    for (number, campaign) in campaigns.iter().enumerate() {
        ids.insert(made(&service, campaign).await, number);
    }
    play(&service, &phones, campaigns.iter().flat_map(|campaign| &campaign.events).collect()).await;

    let (received, expected) = (received(&service, &phones, &ids), expected(&campaigns, &phones));
    let is_experiment = |number: usize| campaigns[number].path == "/api/experiments";
    let nothing = Vec::new();
    let concerned: BTreeSet<_> =
        received.keys().chain(expected.keys()).filter(|(number, _)| !is_experiment(*number)).collect();
    for key @ (number, id) in &concerned {
        let phone = phones.iter().find(|phone| phone.id == *id).expect("the device");
        let (got, wanted) = (received.get(key).unwrap_or(&nothing), expected.get(key).unwrap_or(&nothing));
        assert_eq!(got, wanted, "seed {}\n{phone:?}\n{:#?}", seed(), campaigns[*number]);
    }
    for (id, number) in ids.iter().filter(|(_, number)| is_experiment(**number)) {
        let got = received
            .iter()
            .filter(|((of, _), _)| of == number)
            .map(|((_, phone), got)| (phone.as_str(), got))
            .collect();
        let spared = service.look(|app| {
            let own = app.spared.iter().filter(|(_, spared)| spared.experiment_id == *id);
            own.map(|(_, spared)| spared.device.clone()).collect()
        });
        check_experiment(&campaigns[*number].body, &phones, &got, &spared);
    }
    // The campaigns say something: each kind reaches devices, and pipelines keep messages back.
    let reached = |path: &str| received.keys().filter(|(number, _)| campaigns[*number].path == path).count();
    for path in ["/api/schedules", "/api/experiments", "/api/pipelines"] {
        assert!(reached(path) > 200, "{path} reached {}", reached(path));
    }
    service.stop().await;
}
