//! A service on its own port, and a client for it.

use std::path::Path;

use jiff::Timestamp;
use pushplan::service::state::devices::Device;
use pushplan::service::state::{App, Receipt, Sent};
use pushplan::service::{self, Level, Running, Settings};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const KEY: &str = "application-key-000000";
const SECRET: &str = "master-secret-00000000";

pub struct Service {
    pub running: Running,
    client: reqwest::Client,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub location: Option<String>,
    pub body: Value,
}

impl Reply {
    /// The body, once the status is as expected.
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{:#}", self.body);
        self.body
    }

    /// The text of a refusal, with its details.
    pub fn refusal(self, status: u16) -> String {
        let body = self.expect(status);
        assert_eq!(body["ok"], false);
        assert_eq!(body["error_code"].as_u64().expect("a code") / 100, u64::from(status));
        format!("{} {}", body["error"].as_str().expect("an error"), body["details"]["error"].as_str().unwrap_or(""))
    }
}

pub fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn settings(clock: Option<&str>) -> Settings {
    Settings {
        api: Level::Extended,
        apps: vec![(KEY.to_owned(), SECRET.to_owned())],
        data: None,
        clock: clock.map(time),
        ..Settings::default()
    }
}

impl Service {
    /// A service in memory whose clock stands at a time.
    pub async fn at(clock: &str) -> Self {
        Self::start(settings(Some(clock))).await
    }

    /// A service in memory whose clock stands at a time, with only the verbs of the contract.
    pub async fn documented(clock: &str) -> Self {
        Self::start(Settings { api: Level::Documented, ..settings(Some(clock)) }).await
    }

    /// A service with a database file; with the real clock if none is given.
    pub async fn on_file(file: &Path, clock: Option<&str>) -> Self {
        Self::start(Settings { data: Some(file.to_owned()), ..settings(clock) }).await
    }

    async fn start(settings: Settings) -> Self {
        // Another test may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = service::start(settings, listener).await.expect("the service starts");
        Self { running, client: reqwest::Client::new() }
    }

    pub async fn stop(self) {
        drop(self.client);
        self.running.stop().await;
    }

    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let url =
            if path.starts_with("http") { path.to_owned() } else { format!("http://{}{path}", self.running.address) };
        let mut request = self.client.request(method, url).basic_auth(KEY, Some(SECRET));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let location = response.headers().get("location").map(|value| value.to_str().expect("a text").to_owned());
        let text = response.text().await.expect("a body");
        let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") };
        Reply { status, location, body }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, Some(&body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path, Some(&body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, None).await
    }

    pub async fn change<T>(&self, change: impl FnOnce(&mut App, Timestamp) -> T) -> T {
        let changed = self.running.engine.write(|state, now| change(state.app_mut(KEY).expect("the application"), now));
        changed.await.expect("kept")
    }

    pub fn look<T>(&self, look: impl FnOnce(&App) -> T) -> T {
        self.running.engine.read(|state, _| look(state.app(KEY).expect("the application")))
    }

    pub async fn move_clock(&self, to: &str) {
        assert!(self.running.engine.move_clock(time(to)).await.expect("kept").is_some());
    }

    /// Registers a device that is installed and has opted in.
    pub async fn device(&self, id: &str, device_type: &str) {
        self.device_with(id, device_type, |_| ()).await;
    }

    pub async fn device_with(&self, id: &str, device_type: &str, adapt: impl FnOnce(&mut Device)) {
        let mut device =
            Device { device_type: device_type.to_owned(), installed: true, opt_in: true, ..Device::default() };
        adapt(&mut device);
        self.change(|app, _| app.devices.put(&mut app.journal, id, device)).await;
    }

    /// Adds a tag without a group to a device, like any of the tag APIs.
    pub async fn tag(&self, id: &str, tag: &str) {
        self.change(|app, now| {
            let new = app.devices.change(&mut app.journal, id, |device| {
                device.tags.entry(String::new()).or_default().insert(tag.to_owned())
            });
            let number = app.devices.by_id(id).expect("the device");
            if new == Some(true) {
                app.tag_added(number, "", tag, now);
            }
        })
        .await;
    }

    /// The messages that a device has received, in time order.
    pub fn got(&self, device: &str) -> Vec<Receipt> {
        let mut got: Vec<Receipt> = self.look(|app| {
            app.receipts
                .iter()
                .map(|(_, receipt)| receipt)
                .filter(|receipt| receipt.device == device)
                .cloned()
                .collect()
        });
        got.sort_by_key(|receipt| receipt.time);
        got
    }

    /// The texts that a device has shown, in time order.
    pub fn shown(&self, device: &str) -> Vec<String> {
        let got = self.got(device);
        let texts = got.iter().filter_map(|receipt| receipt.notification.as_ref()?["alert"].as_str());
        texts.map(str::to_owned).collect()
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.look(|app| app.sent.iter().map(|(_, sent)| sent.clone()).collect())
    }

    pub fn sent_as(&self, push_id: &Value) -> Option<Sent> {
        self.look(|app| app.sent.get(push_id.as_str().expect("a push id")).cloned())
    }
}

/// A push to all with this text.
pub fn to_all(alert: &str) -> Value {
    json!({ "audience": "all", "device_types": "all", "notification": { "alert": alert } })
}
