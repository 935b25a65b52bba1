//! Shared code of the tests of the service: a service with one object of every kind, a client that sends raw bytes, and
//! a table with a valid request for every route.

pub mod local;
pub mod table;
pub mod wire;

use std::time::Duration;

use jiff::Timestamp;
use pushplan::service::state::App;
use pushplan::service::state::devices::Device;
use pushplan::service::{Level, Running, Settings, start};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use wire::Reply;

pub const KEY: &str = "application-key-000000";
pub const SECRET: &str = "master-secret-00000000";
pub const NOW: &str = "2026-11-27T09:00:00Z";

/// The channels in every world.
pub const PHONE: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
pub const ROBOT: &str = "6bcf3e63-a38a-44d8-8b0d-2fb5941e74ab";

/// An id that does not exist.
pub const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// A service in memory with a stopped clock, and one object of every kind.
pub struct World {
    pub running: Running,
    /// Words such as `$segment`, with their ids.
    pub names: Vec<(&'static str, String)>,
}

/// The usual settings: one application, in memory, and a stopped clock.
pub fn settings(api: Level) -> Settings {
    Settings {
        api,
        apps: vec![(KEY.to_owned(), SECRET.to_owned())],
        clock: Some(NOW.parse().expect("a time")),
        patience: Duration::from_secs(5),
        ..Settings::default()
    }
}

impl World {
    /// A service with the content of its file.
    pub async fn again(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = start(settings, listener).await.expect("the service starts");
        Self { running, names: vec![("$phone", PHONE.to_owned()), ("$robot", ROBOT.to_owned())] }
    }

    /// A service with two devices and nothing else.
    pub async fn bare(settings: Settings) -> Self {
        let world = Self::again(settings).await;
        world
            .change(|app, now| {
                for (id, device_type) in [(PHONE, "ios"), (ROBOT, "android")] {
                    let device_type = device_type.to_owned();
                    let device = Device { device_type, installed: true, opt_in: true, ..Device::default() };
                    app.register(id, device, now);
                }
            })
            .await;
        world
    }

    /// A service with two devices and one object of every kind.
    pub async fn new(api: Level) -> Self {
        let mut world = Self::bare(settings(api)).await;
        let made = [
            ("$segment", "/api/segments", table::segment(), "/segment_id"),
            ("$template", "/api/templates", table::template(), "/template_id"),
            ("$pipeline", "/api/pipelines", table::pipeline(), "/pipeline_urls/0"),
            ("$schedule", "/api/schedules", table::schedule(), "/schedule_ids/0"),
            ("$experiment", "/api/experiments", table::experiment(), "/experiment_id"),
            ("$push", "/api/push", table::push(), "/push_ids/0"),
            ("$open", "/api/channels/open", table::open_channel(), "/channel_id"),
        ];
        for (name, path, body, id) in made {
            let reply = world.call("POST", path, Some(&body)).await;
            let body = reply.json();
            let id = body.pointer(id).and_then(Value::as_str).unwrap_or_else(|| panic!("{path}: {body:#}"));
            let id = id.rsplit('/').next().unwrap_or(id).to_owned();
            world.names.push((name, id));
        }
        let association = json!({ "channel_id": PHONE, "device_type": "ios", "named_user_id": "user-1" });
        world.call("POST", "/api/named_users/associate", Some(&association)).await;
        world.call("PUT", "/api/tags/news", None).await;
        world
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }

    pub async fn change<T>(&self, change: impl FnOnce(&mut App, Timestamp) -> T) -> T {
        let changed = self.running.engine.write(|state, now| change(state.app_mut(KEY).expect("the application"), now));
        changed.await.expect("kept")
    }

    /// A text with its words replaced by ids.
    pub fn with_ids(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
    }

    /// An answer with known ids replaced by their words, other ids by `<uuid>`, and the address by `<origin>`.
    pub fn named(&self, body: &Value) -> Value {
        let mut text = body.to_string().replace(&format!("http://{}", self.running.address), "<origin>");
        for (name, id) in &self.names {
            text = text.replace(id.as_str(), name);
        }
        serde_json::from_str(&wire::without_uuids(&text)).expect("JSON")
    }

    /// A request as any client sends it. Words in the path and the body are replaced by ids.
    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let body = body.map(|body| self.with_ids(&body.to_string()));
        let bytes = wire::request(method, &self.with_ids(path), &[], body.as_deref().unwrap_or("").as_bytes());
        wire::exchange(self.running.address, &bytes).await
    }
}
