//! Sixty-four clients at once: the final content of the service equals their changes, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};

use pushplan::service::{Level, Settings};
use pushplan_testing::Dice;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{KEY, PHONE, SECRET, World, settings};

const CLIENTS: usize = 64;
const STEPS: usize = 40;

/// The changes of one client that no other client can have overwritten.
#[derive(Default)]
struct Model {
    /// Names by id.
    segments: BTreeMap<String, String>,
    templates: BTreeMap<String, (String, String)>,
    /// Its own tags, on a shared device, in a shared group, and on a shared named user.
    tags: BTreeSet<String>,
    user_tags: BTreeSet<String>,
    /// Its own group on the shared device, which it sets as a whole.
    own_group: BTreeSet<String>,
    /// The named user of its own channel.
    user: Option<String>,
    deleted: Vec<String>,
}

struct Talker {
    client: Client,
    origin: String,
    number: usize,
    channel: String,
}

impl Talker {
    async fn send(&self, method: Method, path: &str, body: Option<Value>, status: u16) -> Value {
        let mut request = self.client.request(method, format!("{}{path}", self.origin)).basic_auth(KEY, Some(SECRET));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let reply = request.send().await.expect("an answer");
        let got = reply.status().as_u16();
        let text = reply.text().await.expect("a body");
        assert_eq!(got, status, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    async fn post(&self, path: &str, body: Value, status: u16) -> Value {
        self.send(Method::POST, path, Some(body), status).await
    }

    /// Some steps of all kinds, and their expected results.
    async fn work(&self) -> Model {
        let mut model = Model::default();
        let mut dice = Dice::new(self.number as u64 + 1);
        for step in 0..STEPS {
            let name = format!("client {} step {step}", self.number);
            match dice.below(8) {
                0 => self.segment(&mut model, &mut dice, name).await,
                1 => self.template(&mut model, &mut dice, name).await,
                2 => self.delete(&mut model, &mut dice).await,
                3 | 4 => self.tag(&mut model, &mut dice).await,
                5 => self.tag_user(&mut model, &mut dice).await,
                6 => {
                    let tags: BTreeSet<String> = (0..dice.below(4)).map(|n| format!("{name} {n}")).collect();
                    let set = json!({ format!("group-{}", self.number): tags });
                    self.post("/api/channels/tags", json!({ "audience": { "ios_channel": PHONE }, "set": set }), 200)
                        .await;
                    model.own_group = tags;
                }
                _ => self.associate(&mut model, &mut dice).await,
            }
        }
        model
    }

    async fn segment(&self, model: &mut Model, dice: &mut Dice, name: String) {
        let body = json!({ "display_name": name, "criteria": { "tag": name } });
        match pick(&model.segments, dice).filter(|_| dice.below(2) == 0) {
            Some(id) => {
                self.send(Method::PUT, &format!("/api/segments/{id}"), Some(body), 200).await;
                model.segments.insert(id, name);
            }
            None => {
                let made = self.post("/api/segments", body, 201).await;
                model.segments.insert(made["segment_id"].as_str().expect("an id").to_owned(), name);
            }
        }
    }

    async fn template(&self, model: &mut Model, dice: &mut Dice, name: String) {
        let push = |alert: &str| json!({ "notification": { "alert": alert } });
        let Some(id) = pick(&model.templates, dice) else {
            let made = self.post("/api/templates", json!({ "name": name, "push": push(&name) }), 201).await;
            model.templates.insert(made["template_id"].as_str().expect("an id").to_owned(), (name.clone(), name));
            return;
        };
        // An update of one half leaves the other half unchanged.
        let (kept_name, kept_alert) = model.templates[&id].clone();
        let (body, kept) = match dice.below(2) {
            0 => (json!({ "name": name }), (name, kept_alert)),
            _ => (json!({ "push": push(&name) }), (kept_name, name)),
        };
        self.post(&format!("/api/templates/{id}"), body, 200).await;
        model.templates.insert(id, kept);
    }

    async fn delete(&self, model: &mut Model, dice: &mut Dice) {
        if let Some(id) = pick(&model.segments, dice) {
            let path = format!("/api/segments/{id}");
            self.send(Method::DELETE, &path, None, 204).await;
            self.send(Method::DELETE, &path, None, 404).await;
            model.segments.remove(&id);
            model.deleted.push(path);
        } else if let Some(id) = pick(&model.templates, dice) {
            let path = format!("/api/templates/{id}");
            self.send(Method::DELETE, &path, None, 200).await;
            model.templates.remove(&id);
            model.deleted.push(path);
        }
    }

    /// Adds and removes its own tags on the shared device.
    async fn tag(&self, model: &mut Model, dice: &mut Dice) {
        let tag = format!("{} {}", self.number, dice.below(3));
        let verb = if model.tags.contains(&tag) { "remove" } else { "add" };
        let body = json!({ "audience": { "ios_channel": PHONE }, verb: { "shared": [tag] } });
        self.post("/api/channels/tags", body, 200).await;
        toggle(&mut model.tags, tag);
    }

    async fn tag_user(&self, model: &mut Model, dice: &mut Dice) {
        let tag = format!("{} {}", self.number, dice.below(3));
        let verb = if model.user_tags.contains(&tag) { "remove" } else { "add" };
        let body = json!({ "audience": { "named_user_id": "everybody" }, verb: { "shared": tag } });
        self.post("/api/named_users/tags", body, 200).await;
        toggle(&mut model.user_tags, tag);
    }

    async fn associate(&self, model: &mut Model, dice: &mut Dice) {
        let association =
            |user: &str| json!({ "channel_id": self.channel, "device_type": "open", "named_user_id": user });
        match model.user.take().filter(|_| dice.below(3) == 0) {
            Some(user) => drop(self.post("/api/named_users/disassociate", association(&user), 200).await),
            None => {
                let user = format!("user-{}", dice.below(8));
                self.post("/api/named_users/associate", association(&user), 200).await;
                model.user = Some(user);
            }
        }
    }

    /// Checks the final state of this client's objects.
    async fn check(&self, model: &Model) {
        for (id, name) in &model.segments {
            let expected = json!({ "display_name": name, "criteria": { "tag": name } });
            assert_eq!(self.send(Method::GET, &format!("/api/segments/{id}"), None, 200).await, expected);
        }
        for (id, (name, alert)) in &model.templates {
            let template = self.send(Method::GET, &format!("/api/templates/{id}"), None, 200).await;
            assert_eq!(template["template"]["name"], *name);
            assert_eq!(template["template"]["push"]["notification"]["alert"], *alert);
        }
        for path in &model.deleted {
            self.send(Method::GET, path, None, 404).await;
        }
        let channel = self.send(Method::GET, &format!("/api/channels/{}", self.channel), None, 200).await;
        assert_eq!(channel["channel"]["named_user_id"], json!(model.user));
    }
}

fn toggle(tags: &mut BTreeSet<String>, tag: String) {
    if !tags.remove(&tag) {
        tags.insert(tag);
    }
}

fn pick<T>(things: &BTreeMap<String, T>, dice: &mut Dice) -> Option<String> {
    let count = things.len();
    (count > 0).then(|| things.keys().nth(dice.below(count)).cloned())?
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

async fn work_together(world: &World) -> Vec<(Talker, Model)> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::new();
    let mut work = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let origin = format!("http://{}", world.running.address);
        let mut talker = Talker { client: client.clone(), origin, number, channel: String::new() };
        work.spawn(async move {
            let channel = json!({ "type": "open", "opt_in": true, "address": number.to_string(), "open": { "open_platform_name": "sms" } });
            let made = talker.post("/api/channels/open", json!({ "channel": channel }), 200).await;
            talker.channel = made["channel_id"].as_str().expect("an id").to_owned();
            let model = talker.work().await;
            (talker, model)
        });
    }
    work.join_all().await
}

/// Checks the combined result: lists that contain everything once, tags of all, channels under the right users.
async fn check_together(world: &World, done: &[(Talker, Model)]) {
    for (talker, model) in done {
        talker.check(model).await;
    }
    let all =
        |each: &dyn Fn(&Model) -> Vec<String>| done.iter().flat_map(|(_, model)| each(model)).collect::<BTreeSet<_>>();
    let get = async |path: &str| world.call("GET", path, None).await.json();
    let channel = get(&format!("/api/channels/{PHONE}")).await;
    let groups = &channel["channel"]["tag_groups"];
    assert_eq!(texts(&groups["shared"]), all(&|model| model.tags.iter().cloned().collect()));
    for (talker, model) in done {
        assert_eq!(texts(&groups[format!("group-{}", talker.number)]), model.own_group);
    }
    let user = get("/api/named_users?id=everybody").await;
    assert_eq!(texts(&user["named_user"]["tags"]["shared"]), all(&|model| model.user_tags.iter().cloned().collect()));

    let mut listed = BTreeSet::new();
    let mut next = Some("/api/segments?limit=50".to_owned());
    while let Some(path) = next {
        let page = get(&path).await;
        for segment in page["segments"].as_array().expect("a list") {
            assert!(listed.insert(segment["id"].as_str().expect("an id").to_owned()), "listed twice");
        }
        let url = page["next_page"].as_str();
        next = url.map(|url| url[url.find("/api").expect("a path")..].to_owned());
    }
    assert_eq!(listed, all(&|model| model.segments.keys().cloned().collect()));
    let templates = get("/api/templates?page_size=1").await;
    assert_eq!(templates["total_count"], all(&|model| model.templates.keys().cloned().collect()).len());

    let mut channels_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (talker, model) in done {
        if let Some(user) = &model.user {
            channels_of.entry(user.clone()).or_default().insert(talker.channel.clone());
        }
    }
    for user in get("/api/named_users").await["named_users"].as_array().expect("a list") {
        let id = user["named_user_id"].as_str().expect("an id");
        let channels = user["channels"].as_array().expect("a list");
        let channels =
            channels.iter().filter_map(|channel| channel["channel_id"].as_str()).map(str::to_owned).collect();
        assert_eq!(channels_of.remove(id).unwrap_or_default(), channels, "{id}");
    }
    assert!(channels_of.is_empty(), "{channels_of:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost_in_memory() {
    let world = World::bare(settings(Level::Extended)).await;
    let done = work_together(&world).await;
    check_together(&world, &done).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost_on_a_disk_nor_by_starting_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let on_disk = || Settings { data: Some(folder.path().join("data")), ..settings(Level::Extended) };
    let world = World::bare(on_disk()).await;
    let mut done = work_together(&world).await;
    check_together(&world, &done).await;
    world.stop().await;
    let again = World::again(on_disk()).await;
    for (talker, _) in &mut done {
        talker.origin = format!("http://{}", again.running.address);
    }
    check_together(&again, &done).await;
    again.stop().await;
}
