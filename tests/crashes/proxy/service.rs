//! The built-in service in this process, with a stopped clock, and inspected without its API.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan::nouns::level::Level;
use pushplan::service::state::App;
use pushplan::service::state::devices::Tags;
use pushplan::service::{self, Running, Settings};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::declared::{Kind, Thing};
use super::yaml::time_of;

pub const KEY: &str = "proxy-application-key0";
pub const SECRET: &str = "proxy-master-secret-00";
/// The day by which everything was sent.
pub const LAST_DAY: usize = 400;
/// The day on which pushes from the dashboard are sent.
const DASHBOARD_DAY: usize = 300;

pub struct Service {
    running: Option<Running>,
    client: Client,
    runtime: Runtime,
    /// The objects that were created in the dashboard, in their original state.
    planted: Vec<Object>,
}

/// An object that the service lists by its own id.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub kind: Kind,
    pub id: String,
    pub name: String,
    pub content: Value,
}

/// A device, with the properties that manifests can change.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    pub tags: Tags,
    pub named_user: Option<String>,
    pub address: Option<String>,
    pub is_installed: bool,
}

/// The mark of the n-th object created in the dashboard.
pub fn planted_mark(number: usize) -> String {
    format!("x{number:03}v")
}

impl Object {
    pub fn carries(&self, mark: &str) -> bool {
        self.content.to_string().contains(mark)
    }

    pub fn shown(&self) -> String {
        format!("{} \"{}\" ({}) {}", self.kind.key(), self.name, self.id, self.content)
    }
}

impl Service {
    pub fn start(level: Level, clock: Timestamp) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let api = match level {
            Level::Documented => service::Level::Documented,
            Level::Extended => service::Level::Extended,
        };
        let apps = vec![(KEY.to_owned(), SECRET.to_owned())];
        let settings = Settings { api, apps, clock: Some(clock), ..Settings::default() };
        let running = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            service::start(settings, listener).await.expect("the service starts")
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        let service = Self { running: Some(running), client, runtime, planted: Vec::new() };
        service.populate();
        service
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it runs until it is dropped")
    }

    pub fn port(&self) -> u16 {
        self.running().address.port()
    }

    /// Adds some devices, and people, tags and channels that are not declared.
    fn populate(&self) {
        for (number, tags) in [&["vip"][..], &["vip", "new"], &["new"], &[]].into_iter().enumerate() {
            let device_type = ["ios", "android"][number % 2];
            let device = json!({ "device_type": device_type, "opt_in": true, "tags": { "crm": tags } });
            self.put(&format!("/local/devices/device-{number}"), &device);
        }
        let other = json!({ "device_type": "ios", "opt_in": true, "named_user": "other",
            "tags": { "crm": ["vip"], "g-1": ["theirs"], "g-2": ["theirs"] } });
        self.put("/local/devices/other-1", &other);
        let address = json!({ "channel": { "type": "open", "opt_in": true, "address": "other-address",
            "open": { "open_platform_name": "sms" }, "tags": ["theirs"] } });
        self.post("/api/channels/open", &address);
        self.put("/api/tags/legacy-other", &Value::Null);
        self.post("/api/tags/legacy-other", &json!({ "ios_channels": { "add": ["other-1"] } }));
    }

    /// Registers the devices that a thing names, as devices do when they open the app.
    pub fn register(&self, thing: &Thing) {
        if !matches!(thing.kind, Kind::TagGroup | Kind::NamedUser | Kind::LegacyTag) {
            return;
        }
        let known = self.devices();
        for id in thing.devices().into_iter().filter(|id| !known.contains_key(id)) {
            let device = json!({ "device_type": "ios", "opt_in": true, "tags": { "crm": ["vip"] } });
            self.put(&format!("/local/devices/{id}"), &device);
        }
    }

    fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let url = format!("http://127.0.0.1:{}{path}", self.port());
        let mut request = self.client.request(method, url).basic_auth(KEY, Some(SECRET));
        if !body.is_null() {
            request = request.json(body);
        }
        self.runtime.block_on(async {
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            let text = answer.text().await.unwrap_or_default();
            assert!(status.is_success(), "{path}: {status} {text}");
            serde_json::from_str(&text).unwrap_or_default()
        })
    }

    fn put(&self, path: &str, body: &Value) {
        self.ask(Method::PUT, path, body);
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask(Method::POST, path, body)
    }

    /// Creates an object with this name in the dashboard. Its content differs from all declarations.
    pub fn plant(&mut self, kind: Kind, name: &str) -> String {
        let word = format!("{}1", planted_mark(self.planted.len()));
        let notification = json!({ "alert": format!("From the dashboard {word}") });
        let (audience, schedule) =
            (json!({ "tag": "vip", "group": "crm" }), json!({ "scheduled_time": time_of(DASHBOARD_DAY) }));
        let push = json!({ "audience": audience, "device_types": "all", "notification": notification });
        let variant = json!({ "push": { "notification": notification }, "schedule": schedule });
        let before: Vec<String> = self.objects().into_iter().map(|object| object.id).collect();
        match kind {
            Kind::Segment => self.post("/api/segments", &json!({ "display_name": name, "criteria": { "tag": word } })),
            Kind::Template => {
                self.post("/api/templates", &json!({ "name": name, "push": { "notification": notification } }))
            }
            Kind::Pipeline => {
                let mut outcome = json!({ "push": push });
                outcome["push"]["audience"] = "triggered".into();
                let trigger = json!({ "tag_added": { "tag": word, "group": "crm" } });
                let pipeline =
                    json!({ "name": name, "enabled": true, "immediate_trigger": trigger, "outcome": outcome });
                self.post("/api/pipelines", &pipeline)
            }
            Kind::Push => self.post("/api/schedules", &json!({ "name": name, "schedule": schedule, "push": push })),
            _ => {
                let variants = json!([variant.clone(), variant]);
                let experiment =
                    json!({ "name": name, "audience": audience, "device_types": "all", "variants": variants });
                self.post("/api/experiments", &experiment)
            }
        };
        self.planted.extend(self.objects().into_iter().filter(|object| !before.contains(&object.id)));
        format!("someone creates {} \"{name}\" in the dashboard: {word}", kind.key())
    }

    fn look<T>(&self, look: impl FnOnce(&App) -> T) -> T {
        self.running().engine.read(|state, _| look(state.app(KEY).expect("the application")))
    }

    /// All objects with an id of the service.
    pub fn objects(&self) -> Vec<Object> {
        self.look(|app| {
            let mut all = Vec::new();
            let mut add = |kind, id: &str, name: &str, content: Value| {
                all.push(Object { kind, id: id.to_owned(), name: name.to_owned(), content });
            };
            for (id, segment) in app.segments.table.iter() {
                let criteria: Value = serde_json::from_str(&segment.criteria).expect("JSON");
                add(Kind::Segment, id, &segment.display_name, criteria);
            }
            for (id, template) in app.templates.iter() {
                add(Kind::Template, id, &template.name, template.push.clone());
            }
            let name_in = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
            for (id, pipeline) in app.pipelines.table.iter() {
                add(Kind::Pipeline, id, &name_in(&pipeline.pipeline), pipeline.pipeline.clone());
            }
            for (id, push) in app.schedules.iter() {
                let content = json!({ "push": push.push, "schedule": push.schedule });
                add(Kind::Push, id, push.name.as_deref().unwrap_or_default(), content);
            }
            for (id, kept) in app.experiments.iter().filter(|(_, kept)| kept.started.is_none()) {
                add(Kind::Experiment, id, &name_in(&kept.experiment), kept.experiment.clone());
            }
            all
        })
    }

    /// The objects that were created in the dashboard: their original state, and their current one, if they exist.
    pub fn planted(&self) -> Vec<(Object, Option<Object>)> {
        let now = self.objects();
        let found =
            |object: &Object| now.iter().find(|other| other.kind == object.kind && other.id == object.id).cloned();
        self.planted.iter().map(|object| (object.clone(), found(object))).collect()
    }

    pub fn is_planted(&self, id: &str) -> bool {
        self.planted.iter().any(|object| object.id == id)
    }

    pub fn devices(&self) -> BTreeMap<String, Device> {
        self.look(|app| {
            let devices = app.devices.iter().map(|(id, device)| {
                let shown = Device {
                    tags: (*device.tags).clone(),
                    named_user: device.named_user.clone(),
                    address: device.address.clone(),
                    is_installed: device.installed,
                };
                (id.to_owned(), shown)
            });
            devices.collect()
        })
    }

    pub fn user_tags(&self, user: &str) -> Tags {
        self.look(|app| app.named_users.get(user).map(|user| user.tags.clone()).unwrap_or_default())
    }

    pub fn has_legacy_tag(&self, tag: &str) -> bool {
        self.look(|app| app.legacy_tags.get(tag).is_some())
    }

    /// All pushes that were sent, as JSON texts.
    pub fn sent(&self) -> Vec<String> {
        self.look(|app| app.sent.iter().map(|(_, sent)| sent.push.to_string()).collect())
    }

    /// The devices that received something, each with the text.
    pub fn received(&self) -> Vec<(String, String)> {
        self.look(|app| {
            let receipts = app.receipts.iter().map(|(_, receipt)| {
                let alert = receipt.notification.as_ref().and_then(|notification| notification["alert"].as_str());
                (receipt.device.clone(), alert.unwrap_or_default().to_owned())
            });
            receipts.collect()
        })
    }

    /// Moves the clock to the evening of a day.
    pub fn move_to(&self, day: usize) {
        let morning: Timestamp = format!("{}:00Z", time_of(day)).parse().expect("a time");
        let evening = morning + jiff::SignedDuration::from_hours(10);
        self.post("/local/clock", &json!({ "to": evening.to_string() }));
    }

    /// Gives a tag of the group `crm` to a device, as an app does.
    pub fn tag(&self, device: &str, tag: &str) {
        let body = json!({ "audience": { "ios_channel": device }, "add": { "crm": [tag] } });
        self.post("/api/channels/tags", &body);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}
