//! Devices, tags and named users of the built-in service, over HTTP.

mod channels;
mod legacy_tags;
mod named_users;
mod tags;

use jiff::Timestamp;
use pushplan::service::request::understood;
use pushplan::service::state::devices::Device;
use pushplan::service::{Level, Running, Settings, start};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const KEY: &str = "application-key-000000";
const SECRET: &str = "master-secret-00000000";

/// A separate service, with a client.
struct Service {
    running: Running,
    client: reqwest::Client,
}

/// A status, the `Location` and the body.
#[derive(Debug)]
struct Answer {
    status: u16,
    location: Option<String>,
    body: Value,
}

impl Service {
    async fn new() -> Self {
        // Another test of this process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = Settings {
            api: Level::Documented,
            apps: vec![(KEY.into(), SECRET.into())],
            data: None,
            clock: Some("2026-11-27T09:00:00Z".parse().expect("a time")),
            ..Settings::default()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = start(settings, listener).await.expect("a service");
        Self { running, client: reqwest::Client::new() }
    }

    /// A service with devices, each as its id and its type.
    async fn with(devices: &[(&str, &str)]) -> Self {
        let service = Self::new().await;
        for (id, device_type) in devices {
            service.register(id, plain(device_type)).await;
        }
        service
    }

    async fn register(&self, id: &str, device: Device) {
        let register = |state: &mut pushplan::service::state::State, now: Timestamp| {
            state.app_mut(KEY).expect("the application").register(id, device, now);
        };
        self.running.engine.write(register).await.expect("kept");
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let url = if path.starts_with("http") { path.to_owned() } else { self.url(path) };
        let mut request = self.client.request(method, url).basic_auth(KEY, Some(SECRET));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("an answer");
        let location = response.headers().get("location").map(|to| to.to_str().expect("a text").to_owned());
        let (status, text) = (response.status().as_u16(), response.text().await.expect("a body"));
        let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") };
        Answer { status, location, body }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.address)
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(&body)).await
    }

    async fn ok(&self, path: &str, body: Value) {
        let answer = self.post(path, body).await;
        assert_eq!((answer.status, &answer.body["ok"]), (200, &json!(true)), "{answer:?}");
    }

    /// Checks that a request is refused with this code, and changes nothing.
    async fn refused(&self, path: &str, body: Value, code: u32) {
        let before = self.get("/api/channels").await.body;
        let answer = self.post(path, body.clone()).await;
        let seen = (answer.status, answer.body["error_code"].as_u64(), &answer.body["ok"]);
        assert_eq!(seen, ((code / 100) as u16, Some(u64::from(code)), &json!(false)), "{path} {body}: {answer:?}");
        assert_eq!(self.get("/api/channels").await.body, before, "{path} {body}");
    }

    /// The ids of the devices that a push to this audience would reach.
    fn audience(&self, selector: &Value) -> Vec<String> {
        let selector = understood(selector).expect("a selector");
        self.running.engine.read(|state, now| {
            let app = state.app(KEY).expect("the application");
            app.members(&selector, now).iter().map(|number| app.devices.id(*number).to_owned()).collect()
        })
    }

    async fn channel(&self, id: &str) -> Value {
        self.get(&format!("/api/channels/{id}")).await.body["channel"].take()
    }

    /// The tags of a group, or those without a group.
    async fn tags(&self, id: &str, group: &str) -> Value {
        let channel = self.channel(id).await;
        if group.is_empty() { channel["tags"].clone() } else { channel["tag_groups"][group].clone() }
    }
}

fn plain(device_type: &str) -> Device {
    Device { device_type: device_type.into(), installed: true, opt_in: true, ..Device::default() }
}

fn many(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:04}")).collect()
}

fn ids(items: &Value, key: &str) -> Vec<String> {
    items.as_array().expect("a list").iter().map(|item| item[key].as_str().expect("an id").to_owned()).collect()
}
