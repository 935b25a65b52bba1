//! A service on its own port, and a client for its control API.

use std::sync::Once;

use jiff::Timestamp;
use pushplan::service::{self, Running, Settings};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub const APP: (&str, &str) = ("first-application-key0", "first-master-secret-00");
pub const OTHER: (&str, &str) = ("other-application-key0", "other-master-secret-00");
pub const NOON: &str = "2026-11-27T12:00:00Z";

pub struct Service {
    pub running: Running,
    client: reqwest::Client,
}

impl Service {
    /// A service with a virtual clock that stands at noon.
    pub async fn start() -> Self {
        Self::with(Some(NOON.parse().expect("a time")), &[APP]).await
    }

    pub async fn with(clock: Option<Timestamp>, apps: &[(&str, &str)]) -> Self {
        let apps = apps.iter().map(|(key, secret)| ((*key).to_owned(), (*secret).to_owned())).collect();
        Self::of(Settings { apps, clock, ..Settings::default() }).await
    }

    pub async fn of(settings: Settings) -> Self {
        static CRYPTO: Once = Once::new();
        CRYPTO.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = service::start(settings, listener).await.expect("a service");
        // The log of requests contains only those of the test: nothing is sent again, and there is no proxy.
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).retry(reqwest::retry::never()).build();
        Self { running, client: client.expect("a client") }
    }

    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.running.address);
        self.client.request(Method::from_bytes(method.as_bytes()).expect("a method"), url)
    }

    /// Sends a request to the control API, and returns the status and the body.
    pub async fn local(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut request = self.request(method, &format!("/local{path}"));
        if !body.is_null() {
            request = request.body(body.to_string());
        }
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let text = response.text().await.expect("text");
        (status, if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") })
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.local("GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    pub async fn put(&self, id: &str, device: &Value) -> Value {
        let (status, body) = self.local("PUT", &format!("/devices/{id}"), device).await;
        assert!(matches!(status, 200 | 201), "{body}");
        body
    }

    pub async fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.local("POST", path, body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    pub async fn api(&self, app: (&str, &str), method: &str, path: &str, body: &Value) -> u16 {
        let mut request = self.request(method, path).basic_auth(app.0, Some(app.1));
        if !body.is_null() {
            request = request.body(body.to_string());
        }
        request.send().await.expect("an answer").status().as_u16()
    }

    /// Sends a push to everybody, and returns its id.
    pub async fn send(&self, content: &Value) -> String {
        let mut push = json!({"audience": "all", "device_types": "all"});
        push.as_object_mut().expect("an object").extend(content.as_object().expect("an object").clone());
        let request = self.request("POST", "/api/push").basic_auth(APP.0, Some(APP.1)).body(push.to_string());
        let answer: Value =
            serde_json::from_str(&request.send().await.expect("an answer").text().await.expect("text")).expect("JSON");
        answer["push_ids"][0].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub async fn count(&self, audience: Value) -> u64 {
        self.post("/audience", &json!({ "audience": audience })).await["count"].as_u64().expect("a count")
    }
}
