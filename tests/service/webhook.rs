//! Webhooks from the receiver's point of view: the deliveries, their order, and the effects of a failure or a restart.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, LOCATION};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pushplan::nouns::device::DeviceTypes;
use pushplan::service::state::devices::Device;
use pushplan::service::state::{Outgoing, PushType};
use pushplan::service::webhook::Webhook;
use pushplan::service::{Running, Settings};
use pushplan_testing::Folder;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const APP: &str = "webhook-application-00";
const DEVICE: &str = "11111111-2222-4333-8444-555555555555";

/// The receiver's action for one delivery.
#[derive(Clone, Debug)]
enum Does {
    Answer(u16),
    Redirect(String),
    HangUp,
    Stall,
}

/// One delivery as it arrived.
#[derive(Clone, Debug)]
struct Delivery {
    method: String,
    path: String,
    headers: HeaderMap,
    body: Value,
    at: Instant,
}

/// A server for deliveries, which first performs scripted actions.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Delivery>>>,
    plan: Arc<Mutex<VecDeque<Does>>>,
}

impl Receiver {
    async fn new(plan: impl IntoIterator<Item = Does>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            got: Arc::default(),
            plan: Arc::new(Mutex::new(plan.into_iter().collect())),
        };
        let serving = receiver.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let receiver = serving.clone();
                let service = service_fn(move |request| receiver.clone().take(request));
                tokio::spawn(async move {
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        receiver
    }

    async fn take(self, request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<Bytes>>, std::io::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
        self.got.lock().expect("no panic").push(Delivery {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            headers: parts.headers,
            body: serde_json::from_slice(&body).expect("JSON"),
            at: Instant::now(),
        });
        let does = self.plan.lock().expect("no panic").pop_front();
        let mut response = hyper::Response::new(Full::default());
        match does.unwrap_or(Does::Answer(200)) {
            Does::Answer(status) => *response.status_mut() = status.try_into().expect("a status"),
            Does::Redirect(to) => {
                *response.status_mut() = hyper::StatusCode::FOUND;
                response.headers_mut().insert(LOCATION, to.parse().expect("a header"));
            }
            Does::HangUp => return Err(std::io::Error::other("hung up")),
            Does::Stall => std::future::pending::<Result<(), Infallible>>().await.map_or((), |()| ()),
        }
        Ok(response)
    }

    fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    fn got(&self) -> Vec<Delivery> {
        self.got.lock().expect("no panic").clone()
    }

    /// The offsets of the deliveries.
    fn offsets(&self) -> Vec<u64> {
        self.got().iter().map(|one| one.body["offset"].as_str().expect("a text").parse().expect("a number")).collect()
    }

    async fn wait_for(&self, count: usize, at_most: Duration) {
        let start = Instant::now();
        loop {
            let arrived = self.got.lock().expect("no panic").len();
            if arrived >= count {
                return;
            }
            assert!(start.elapsed() < at_most, "{arrived} of {count} arrived");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

const SOON: Duration = Duration::from_secs(20);

fn webhook(url: &str) -> Webhook {
    Webhook { app: APP.into(), url: url.into(), types: Vec::new(), headers: Vec::new(), authorization: None, ca: None }
}

async fn start(webhooks: Vec<Webhook>, data: Option<&Path>) -> Running {
    let settings = Settings {
        apps: vec![(APP.into(), "webhook-secret-0000000".into())],
        data: data.map(Path::to_owned),
        webhooks,
        ..Settings::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    pushplan::service::start(settings, listener).await.expect("it starts")
}

/// Causes `count` events of a device.
async fn happen(running: &Running, kind: &str, count: usize) {
    let write = running.engine.write(|state, now| {
        let app = state.app_mut(APP).expect("the application");
        let device = Device { device_type: "ios".into(), installed: true, opt_in: true, ..Device::default() };
        app.devices.put(&mut app.journal, DEVICE, device);
        let number = app.devices.by_id(DEVICE).expect("a device");
        for n in 0..count {
            app.emit(kind, number, json!({ "name": "bought", "session_id": "s", "properties": { "n": n } }), now);
        }
    });
    write.await.expect("it is kept");
}

/// The number of stored events, and the offset of the next one.
fn kept(running: &Running) -> (usize, u64) {
    running.engine.read(|state, _| {
        let app = state.app(APP).expect("the application");
        (app.events.len(), app.next_offset)
    })
}

async fn stop(running: Running) {
    tokio::time::timeout(Duration::from_secs(15), running.stop()).await.expect("it stops");
}

#[tokio::test]
async fn a_delivery_has_the_method_headers_and_fields_of_the_contract() {
    let receiver = Receiver::new([]).await;
    let connection = Webhook {
        headers: vec![("X-Team".into(), "crm".into())],
        authorization: Some(pushplan::service::webhook::basic("ada:pass:word").unwrap()),
        ..webhook(&receiver.url())
    };
    let running = start(vec![connection], None).await;
    happen(&running, "CUSTOM", 1).await;
    receiver.wait_for(1, SOON).await;
    let Delivery { method, path, headers, body, .. } = receiver.got().remove(0);
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/events"));
    let header = |name: &str| headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(header("content-type"), ["application/json; charset=UTF-8"]);
    assert_eq!(header("content-length").len(), 1);
    assert_eq!(header("x-team"), ["crm"]);
    assert_eq!(header("authorization"), ["Basic YWRhOnBhc3M6d29yZA=="]);
    let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(sorted(keys), ["body", "device", "id", "occurred", "offset", "processed", "type"]);
    assert_eq!(body["type"], "CUSTOM");
    assert_eq!(body["body"], json!({ "name": "bought", "session_id": "s", "properties": { "n": 0 } }));
    assert_eq!(body["device"]["ios_channel"], DEVICE);
    let attributes = body["device"]["attributes"].as_object().unwrap();
    assert_eq!(
        sorted(attributes.keys().map(String::as_str).collect()),
        [
            "app_package_name",
            "app_version",
            "background_push_enabled",
            "connection_type",
            "device_model",
            "device_os",
            "iana_timezone",
            "locale_country_code",
            "locale_language_code",
            "locale_timezone",
            "locale_variant",
            "location_enabled",
            "location_permission",
            "push_opt_in",
            "ua_sdk_version",
        ]
    );
    assert!(attributes.values().all(Value::is_string), "{attributes:?}");
    for time in [&body["occurred"], &body["processed"]] {
        let text = time.as_str().unwrap();
        assert!(text.len() == "2026-01-01T00:00:00.000Z".len() && text.ends_with('Z'), "{text}");
        text.parse::<jiff::Timestamp>().unwrap();
    }
    stop(running).await;
}

fn sorted(mut texts: Vec<&str>) -> Vec<&str> {
    texts.sort_unstable();
    texts
}

#[tokio::test]
async fn an_event_is_posted_when_it_happens() {
    let receiver = Receiver::new([]).await;
    let running = start(vec![webhook(&receiver.url())], None).await;
    for n in 1..=5 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        happen(&running, "OPEN", 1).await;
        receiver.wait_for(n, SOON).await;
    }
    stop(running).await;
}

#[tokio::test]
async fn a_name_is_looked_up() {
    let receiver = Receiver::new([]).await;
    let running = start(vec![webhook(&format!("http://localhost:{}/", receiver.address.port()))], None).await;
    happen(&running, "OPEN", 2).await;
    receiver.wait_for(2, SOON).await;
    stop(running).await;
}

#[tokio::test]
async fn whatever_is_not_a_2xx_is_tried_again_later_and_holds_up_the_next() {
    let (hidden, elsewhere) = (Receiver::new([]).await, Does::Answer(404));
    let plan = [Does::Answer(500), Does::HangUp, Does::Redirect(hidden.url()), elsewhere, Does::Answer(299)];
    let receiver = Receiver::new(plan).await;
    let running = start(vec![webhook(&receiver.url())], None).await;
    happen(&running, "OPEN", 3).await;
    receiver.wait_for(7, SOON).await;
    assert_eq!(receiver.offsets(), [0, 0, 0, 0, 0, 1, 2]);
    // Each wait is twice the one before.
    let times: Vec<Instant> = receiver.got().iter().map(|one| one.at).collect();
    for (n, wait) in [200, 400, 800, 1600].into_iter().enumerate() {
        let waited = times[n + 1] - times[n];
        assert!(waited >= Duration::from_millis(wait - 10), "wait {n}: {waited:?}");
    }
    let same = receiver.got()[..5].iter().map(|one| one.body.clone()).collect::<Vec<_>>();
    assert!(same.iter().all(|body| *body == same[0]), "an event is the same at every attempt");
    assert_eq!(hidden.got().len(), 0, "a redirect was followed");
    stop(running).await;
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_in_ten_seconds_has_not_taken_it() {
    let receiver = Receiver::new([Does::Stall]).await;
    let running = start(vec![webhook(&receiver.url())], None).await;
    happen(&running, "OPEN", 1).await;
    receiver.wait_for(2, SOON).await;
    let got = receiver.got();
    assert!((got[1].at - got[0].at) >= Duration::from_secs(10));
    stop(running).await;
}

#[tokio::test]
async fn a_restart_goes_on_where_the_receiver_confirmed() {
    let folder = Folder::new();
    let data = folder.path().join("data.db");
    let receiver = Receiver::new([]).await;
    let connections = || vec![webhook(&receiver.url())];

    let running = start(connections(), Some(&data)).await;
    happen(&running, "OPEN", 20).await;
    receiver.wait_for(20, SOON).await;
    *receiver.plan.lock().unwrap() = std::iter::repeat_n(Does::Answer(503), 1_000).collect();
    happen(&running, "OPEN", 20).await;
    receiver.wait_for(22, SOON).await;
    stop(running).await;

    let tries = receiver.got().len();
    assert!(receiver.offsets()[20..].iter().all(|offset| *offset == 20), "only the first one is tried");
    receiver.plan.lock().unwrap().clear();
    let running = start(connections(), Some(&data)).await;
    happen(&running, "OPEN", 10).await;
    receiver.wait_for(tries + 30, SOON).await;
    stop(running).await;
    assert_eq!(receiver.offsets()[tries..], (20..50).collect::<Vec<_>>());

    let running = start(connections(), Some(&data)).await;
    happen(&running, "OPEN", 1).await;
    receiver.wait_for(tries + 31, SOON).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(receiver.offsets()[tries + 30..], [50], "nothing that was confirmed comes again");
    let ids: std::collections::HashSet<String> = receiver.got().iter().map(|one| one.body["id"].to_string()).collect();
    assert_eq!(ids.len(), 51);
    stop(running).await;
}

#[tokio::test]
async fn a_connection_that_fails_holds_up_no_other_and_says_why() {
    let (good, bad) = (Receiver::new([]).await, Receiver::new(vec![Does::Answer(500); 1_000]).await);
    let running = start(vec![webhook(&bad.url()), webhook(&good.url())], None).await;
    happen(&running, "OPEN", 50).await;
    good.wait_for(50, SOON).await;
    assert_eq!(good.offsets(), (0..50).collect::<Vec<_>>());
    bad.wait_for(2, SOON).await;
    assert!(bad.offsets().iter().all(|offset| *offset == 0));
    let why = running.engine.read(|state, _| {
        let webhooks = &state.app(APP).expect("the application").webhooks;
        assert!(webhooks.failing(&good.url()).is_none());
        webhooks.failing(&bad.url()).map(|failing| failing.reason.clone())
    });
    assert_eq!(why.as_deref(), Some("the receiver answered 500 Internal Server Error"));
    stop(running).await;
}

#[tokio::test]
async fn a_connection_gets_the_types_that_it_names() {
    let receiver = Receiver::new([]).await;
    let connection = Webhook { types: vec!["CUSTOM".into(), "CLOSE".into()], ..webhook(&receiver.url()) };
    let running = start(vec![connection], None).await;
    for kind in ["OPEN", "CUSTOM", "OPEN", "CLOSE", "SEND"] {
        happen(&running, kind, 1).await;
    }
    receiver.wait_for(2, SOON).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(receiver.offsets(), [1, 3]);
    stop(running).await;
}

#[tokio::test]
async fn a_push_is_told_once_and_each_device_after_it() {
    let receiver = Receiver::new([]).await;
    let running = start(vec![webhook(&receiver.url())], None).await;
    happen(&running, "OPEN", 1).await;
    let push = json!({ "audience": "all", "device_types": "all", "notification": { "alert": "Sale" },
                       "message": { "title": "Sale", "body": "<p>Sale</p>" } });
    let write = running.engine.write(|state, now| {
        let app = state.app_mut(APP).expect("the application");
        let out = Outgoing {
            push_type: PushType::BroadcastPush,
            group_id: None,
            variant: None,
            device_types: &DeviceTypes::All,
            push: &push,
        };
        app.send(&out, [0], now)
    });
    let push_id = write.await.expect("it is kept");
    receiver.wait_for(4, SOON).await;
    let got: Vec<Value> = receiver.got().into_iter().skip(1).map(|one| one.body).collect();
    let types: Vec<&Value> = got.iter().map(|one| &one["type"]).collect();
    assert_eq!(types, ["PUSH_BODY", "SEND", "RICH_DELIVERY"]);
    assert_eq!(got[0]["device"], json!({}));
    assert_eq!(got[0]["body"], json!({ "push_id": push_id, "payload": push }));
    assert_eq!(got[1]["body"], json!({ "push_id": push_id }));
    assert_eq!(got[2]["body"], json!({ "push_id": push_id }));
    stop(running).await;
}

#[tokio::test]
async fn old_events_are_dropped_once_nobody_needs_them_and_offsets_go_on() {
    let folder = Folder::new();
    let data = folder.path().join("data.db");
    let receiver = Receiver::new(vec![Does::Answer(500); 1_000]).await;
    let running = start(Vec::new(), Some(&data)).await;
    happen(&running, "OPEN", 10_050).await;
    assert_eq!(kept(&running), (10_000, 10_050));
    stop(running).await;

    // A new connection gets all events from now on, and they are stored until it has received them.
    let running = start(vec![webhook(&receiver.url())], Some(&data)).await;
    assert_eq!(kept(&running), (10_000, 10_050));
    happen(&running, "OPEN", 10_100).await;
    assert_eq!(kept(&running), (10_100, 20_150));
    receiver.wait_for(1, SOON).await;
    assert_eq!(receiver.offsets()[0], 10_050);
    stop(running).await;

    // A connection that was removed from the configuration stores nothing.
    let running = start(Vec::new(), Some(&data)).await;
    happen(&running, "OPEN", 1).await;
    assert_eq!(kept(&running), (10_000, 20_151));
    stop(running).await;
}
