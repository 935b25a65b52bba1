//! Pages of all kinds, compared with plain lists while objects are created, changed and deleted.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::service::Level;
use pushplan_testing::Dice;
use serde_json::{Value, json};

use crate::support::{World, settings, table};

const STEPS: usize = 120;

/// The part of a listed object by which the model identifies it.
type Shown = (String, Value);

/// The expected content, without any index.
#[derive(Default)]
struct Model {
    /// By id.
    segments: BTreeMap<String, Value>,
    schedules: BTreeMap<String, Value>,
    channels: BTreeMap<String, Value>,
    /// Their channels.
    users: BTreeMap<String, BTreeSet<String>>,
    /// The oldest first, each with the fields that its listing filters by.
    templates: Vec<Shown>,
    pipelines: Vec<(Shown, bool)>,
    experiments: Vec<(Shown, bool)>,
    pushes: Vec<String>,
}

/// A listing: its address, the size of a page, the key of the items, and the compared field.
struct Listing {
    path: String,
    items: &'static str,
    id: &'static str,
    field: &'static str,
    expected: Vec<Shown>,
}

fn renamed(mut body: Value, name: &str) -> Value {
    body["name"] = name.into();
    body
}

fn picked<'a>(ids: impl ExactSizeIterator<Item = &'a String>, dice: &mut Dice) -> Option<String> {
    let mut ids = ids;
    let count = ids.len();
    if count == 0 { None } else { ids.nth(dice.below(count)).cloned() }
}

struct Story {
    world: World,
    model: Model,
    dice: Dice,
}

impl Story {
    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let reply = self.world.call(method, path, body).await;
        assert!((200..300).contains(&reply.status), "{method} {path}: {}", reply.text());
        reply.json()
    }

    async fn made(&self, path: &str, body: &Value, pointer: &str) -> String {
        let made = self.call("POST", path, Some(body)).await;
        let id = made.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{path}: {made:#}"));
        id.rsplit('/').next().expect("a part").to_owned()
    }

    async fn step(&mut self, number: usize) {
        let name = format!("thing {number}");
        match self.dice.below(6) {
            0 => self.segment(&name).await,
            1 => self.template(&name).await,
            2 => self.pipeline(&name).await,
            3 => self.schedule(&name).await,
            4 => self.experiment(&name).await,
            _ => self.device(&name).await,
        }
    }

    async fn segment(&mut self, name: &str) {
        let body = json!({ "display_name": name, "criteria": { "tag": "a" } });
        let old = picked(self.model.segments.keys(), &mut self.dice);
        match (old, self.dice.below(4)) {
            (Some(id), 0) => {
                self.call("DELETE", &format!("/api/segments/{id}"), None).await;
                self.model.segments.remove(&id);
            }
            (Some(id), 1) => {
                self.call("PUT", &format!("/api/segments/{id}"), Some(&body)).await;
                self.model.segments.insert(id, name.into());
            }
            _ => {
                let id = self.made("/api/segments", &body, "/segment_id").await;
                self.model.segments.insert(id, name.into());
            }
        }
    }

    async fn template(&mut self, name: &str) {
        let at = self.dice.below(self.model.templates.len().max(1));
        let old = self.model.templates.get(at).map(|(id, _)| format!("/api/templates/{id}"));
        match (old, self.dice.below(4)) {
            (Some(path), 0) => {
                self.call("DELETE", &path, None).await;
                self.model.templates.remove(at);
            }
            (Some(path), 1) => {
                self.call("POST", &path, Some(&json!({ "name": name }))).await;
                self.model.templates[at].1 = name.into();
            }
            _ => {
                let id = self.made("/api/templates", &renamed(table::template(), name), "/template_id").await;
                self.model.templates.push((id, name.into()));
            }
        }
    }

    async fn pipeline(&mut self, name: &str) {
        let mut body = renamed(table::pipeline(), name);
        let enabled = self.dice.below(2) == 0;
        body["enabled"] = enabled.into();
        let at = self.dice.below(self.model.pipelines.len().max(1));
        let old = self.model.pipelines.get(at).map(|((id, _), _)| (id.clone(), format!("/api/pipelines/{id}")));
        match (old, self.dice.below(4)) {
            (Some((_, path)), 0) => {
                self.call("DELETE", &path, None).await;
                self.model.pipelines.remove(at);
            }
            (Some((id, path)), 1) => {
                self.call("PUT", &path, Some(&body)).await;
                self.model.pipelines[at] = ((id, name.into()), enabled);
            }
            _ => {
                let id = self.made("/api/pipelines", &body, "/pipeline_urls/0").await;
                self.model.pipelines.push(((id, name.into()), enabled));
            }
        }
    }

    async fn schedule(&mut self, name: &str) {
        let body = renamed(table::schedule(), name);
        let old = picked(self.model.schedules.keys(), &mut self.dice);
        match (old, self.dice.below(5)) {
            (Some(id), 0) => {
                self.call("DELETE", &format!("/api/schedules/{id}"), None).await;
                self.model.schedules.remove(&id);
            }
            (Some(id), 1) => {
                self.call("PUT", &format!("/api/schedules/{id}"), Some(&body)).await;
                self.model.schedules.insert(id, name.into());
            }
            (Some(id), 2) => drop(self.call("POST", &format!("/api/schedules/{id}/pause"), None).await),
            _ => {
                let id = self.made("/api/schedules", &body, "/schedule_ids/0").await;
                self.model.schedules.insert(id, name.into());
            }
        }
    }

    /// An experiment that is sent immediately has started, and stays.
    async fn experiment(&mut self, name: &str) {
        let mut body = renamed(table::experiment(), name);
        let waits = self.dice.below(3) > 0;
        if !waits {
            for variant in body["variants"].as_array_mut().expect("variants") {
                variant.as_object_mut().expect("a variant").remove("schedule");
            }
        }
        let at = self.model.experiments.iter().position(|(_, waits)| *waits);
        match (at, self.dice.below(3)) {
            (Some(at), 0) => {
                let ((id, _), _) = self.model.experiments.remove(at);
                self.call("DELETE", &format!("/api/experiments/scheduled/{id}"), None).await;
            }
            _ => {
                let made = self.call("POST", "/api/experiments", Some(&body)).await;
                let id = |key: &str| made[key].as_str().expect("an id").to_owned();
                self.model.experiments.push(((id("experiment_id"), name.into()), waits));
                if !waits {
                    self.model.pushes.push(id("push_id"));
                }
            }
        }
    }

    /// An open channel, its tags and its named user; and sometimes a push.
    async fn device(&mut self, name: &str) {
        if self.dice.below(4) == 0 {
            let id = self.made("/api/push", &table::push(), "/push_ids/0").await;
            self.model.pushes.push(id);
            return;
        }
        let address = format!("address {}", self.dice.below(30));
        let channel = json!({
            "type": "open", "opt_in": true, "address": address, "tags": [name], "open": { "open_platform_name": "sms" },
        });
        let id = self.made("/api/channels/open", &json!({ "channel": channel }), "/channel_id").await;
        self.model.channels.insert(id.clone(), json!([name]));
        if self.dice.below(2) == 0 {
            let user = format!("user-{}", self.dice.below(10));
            let association = json!({ "channel_id": id, "named_user_id": user });
            self.call("POST", "/api/named_users/associate", Some(&association)).await;
            for channels in self.model.users.values_mut() {
                channels.remove(&id);
            }
            self.model.users.entry(user).or_default().insert(id);
        }
    }

    fn listings(&self, size: usize) -> Vec<Listing> {
        let Model { segments, schedules, channels, users, templates, pipelines, experiments, pushes } = &self.model;
        let listing = |path: String, items, id, field, expected| Listing { path, items, id, field, expected };
        let by_id = |all: &BTreeMap<String, Value>| all.clone().into_iter().collect::<Vec<_>>();
        let newest = |all: &[(Shown, bool)], part: Option<bool>| {
            let wanted = all.iter().rev().filter(|(_, is)| part.is_none_or(|part| part == *is));
            wanted.map(|(shown, _)| shown.clone()).collect::<Vec<_>>()
        };
        let range = "start=2026-11-01&end=2026-11-30";
        vec![
            listing(format!("/api/segments?limit={size}"), "segments", "id", "display_name", by_id(segments)),
            listing(format!("/api/schedules?limit={size}"), "schedules", "url", "name", by_id(schedules)),
            listing(format!("/api/channels?limit={size}"), "channels", "channel_id", "tags", by_id(channels)),
            listing(
                format!("/api/named_users?limit={size}"),
                "named_users",
                "named_user_id",
                "channels",
                users.iter().map(|(id, channels)| (id.clone(), json!(channels))).collect(),
            ),
            listing(format!("/api/templates?page_size={size}"), "templates", "id", "name", templates.clone()),
            listing(format!("/api/pipelines?limit={size}"), "pipelines", "url", "name", newest(pipelines, None)),
            listing(
                format!("/api/pipelines?limit={size}&enabled=true"),
                "pipelines",
                "url",
                "name",
                newest(pipelines, Some(true)),
            ),
            listing(
                format!("/api/pipelines?limit={size}&enabled=false"),
                "pipelines",
                "uid",
                "name",
                newest(pipelines, Some(false)),
            ),
            listing(format!("/api/experiments?limit={size}"), "experiments", "id", "name", newest(experiments, None)),
            listing(
                format!("/api/experiments/scheduled?limit={size}"),
                "experiments",
                "id",
                "name",
                newest(experiments, Some(true)),
            ),
            listing(
                format!("/api/reports/responses/list?{range}&limit={size}"),
                "pushes",
                "push_uuid",
                "push_time",
                pushes.iter().map(|id| (id.clone(), json!("2026-11-27 09:00:00"))).collect(),
            ),
        ]
    }

    /// Every page of every listing, and some with an arbitrary start.
    async fn check(&mut self) {
        let size = 1 + self.dice.below(7);
        for Listing { path, items, id, field, expected } in self.listings(size) {
            let (mut found, mut next) = (Vec::new(), Some(path.clone()));
            while let Some(at) = next {
                let page = self.call("GET", &at, None).await;
                let all = page[items].as_array().unwrap_or_else(|| panic!("{at}: {page:#}")).clone();
                assert!(all.len() == size || page["next_page"].is_null(), "{at} has a page that is not full");
                found.extend(all.iter().map(|item| shown(item, id, field)));
                next = page["next_page"].as_str().map(|url| url[url.find("/api/").expect("a path")..].to_owned());
            }
            assert_eq!(found, expected, "{path}");
            if path.starts_with("/api/pipelines") || path.starts_with("/api/experiments") {
                let offset = self.dice.below(expected.len() + 3);
                let page = self.call("GET", &format!("{path}&offset={offset}"), None).await;
                let found: Vec<Shown> =
                    page[items].as_array().expect("a list").iter().map(|item| shown(item, id, field)).collect();
                let expected: Vec<Shown> = expected.iter().skip(offset).take(size).cloned().collect();
                assert_eq!(found, expected, "{path} from {offset}");
            }
        }
    }
}

/// The id of an item, and the compared field; for channels in it, their ids.
fn shown(item: &Value, id: &str, field: &str) -> Shown {
    let id = item[id].as_str().unwrap_or_else(|| panic!("{item:#}")).rsplit('/').next().expect("a part").to_owned();
    let value = match (&item[field], field) {
        (Value::Array(channels), "channels") => {
            let ids: BTreeSet<&str> = channels.iter().filter_map(|one| one["channel_id"].as_str()).collect();
            json!(ids)
        }
        (value, _) => value.clone(),
    };
    (id, value)
}

#[tokio::test]
async fn pages_of_all_kinds_are_those_of_plain_lists() {
    for seed in 1..=3 {
        let world = World::again(settings(Level::Extended)).await;
        let mut story = Story { world, model: Model::default(), dice: Dice::new(seed) };
        for number in 0..STEPS {
            story.step(number).await;
            if number % 20 == 19 {
                story.check().await;
            }
        }
        story.world.stop().await;
    }
}
