//! Reports and locations over HTTP: the reported data is correct.

use std::sync::Once;

use jiff::Timestamp;
use pushplan::nouns::device::DeviceTypes;
use pushplan::service::state::devices::{Device, NO_GROUP};
use pushplan::service::state::{App, Outgoing, PushType};
use pushplan::service::{Level, Running, Settings, start};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const APP: (&str, &str) = ("reports-application-00", "reports-master-secret0");

/// A service with a clock that stands at nine o'clock, four devices, and a client.
struct Service {
    running: Running,
    client: reqwest::Client,
}

impl Service {
    async fn new() -> Self {
        let service = Self::at(None).await;
        service
            .change(|app, now| {
                for (id, device_type, opt_in) in [
                    ("phone", "ios", true),
                    ("tablet", "ios", true),
                    ("robot", "android", true),
                    ("quiet", "android", false),
                ] {
                    let device_type = device_type.to_owned();
                    let device = Device {
                        device_type,
                        installed: true,
                        opt_in,
                        created: now,
                        modified: now,
                        ..Device::default()
                    };
                    app.devices.put(&mut app.journal, id, device);
                }
            })
            .await;
        service
    }

    async fn at(data: Option<std::path::PathBuf>) -> Self {
        static TLS: Once = Once::new();
        // The client requires one, although nothing here is encrypted.
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let settings = Settings {
            api: Level::Documented,
            apps: vec![(APP.0.to_owned(), APP.1.to_owned())],
            data,
            clock: Some(time("2026-11-01T09:00:00Z")),
            ..Settings::default()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { running: start(settings, listener).await.expect("a service"), client: reqwest::Client::new() }
    }

    async fn change<T>(&self, change: impl FnOnce(&mut App, Timestamp) -> T) -> T {
        let changed =
            self.running.engine.write(|state, now| change(state.app_mut(APP.0).expect("an application"), now));
        changed.await.expect("kept")
    }

    /// Sends a push to all devices.
    async fn send(&self, push: Value, push_type: PushType, group_id: Option<&str>) -> String {
        self.change(|app, now| {
            let device_types = &DeviceTypes::All;
            let out = Outgoing { push_type, group_id, variant: None, device_types, push: &push };
            let everybody: Vec<u32> = app.devices.installed().iter().collect();
            app.send(&out, everybody, now)
        })
        .await
    }

    async fn open(&self, device: &str, seconds: u64) {
        self.change(|app, now| app.opened(app.devices.by_id(device).expect("a device"), now, seconds)).await;
    }

    async fn tap(&self, device: &str, push_id: &str) {
        self.change(|app, now| app.tapped(device, push_id, None, now)).await.expect("it can be tapped");
    }

    async fn move_clock(&self, to: &str) {
        assert!(self.running.engine.move_clock(time(to)).await.expect("kept").is_some());
    }

    /// The status and the body of a GET. An address may be whole, as `next_page` is.
    async fn get(&self, path: &str) -> (u16, Value) {
        let url = match path.starts_with("http") {
            true => path.to_owned(),
            false => format!("http://{}{path}", self.running.address),
        };
        let response = self.client.get(url).basic_auth(APP.0, Some(APP.1)).send().await.expect("an answer");
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON"))
    }

    async fn ok(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// The message of a 400.
    async fn refused(&self, path: &str) -> String {
        let (status, body) = self.get(path).await;
        assert_eq!((status, &body["ok"], &body["error_code"]), (400, &json!(false), &json!(40001)), "{path}: {body}");
        body["error"].as_str().expect("a text").to_owned()
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn alert(text: &str) -> Value {
    json!({ "notification": { "alert": text } })
}

#[tokio::test]
async fn sends_are_reported_by_day_and_by_hour_with_the_periods_in_which_there_were_none() {
    let service = Service::new().await;
    service.send(alert("one"), PushType::BroadcastPush, None).await;
    service.move_clock("2026-11-01T11:59:59Z").await;
    service.send(alert("two"), PushType::BroadcastPush, None).await;
    service.move_clock("2026-11-03T00:00:00Z").await;
    service.send(alert("three"), PushType::BroadcastPush, None).await;

    let days = json!({ "sends": [
        { "date": "2026-11-01 00:00:00", "ios": 4, "android": 2 },
        { "date": "2026-11-02 00:00:00", "ios": 0, "android": 0 },
        { "date": "2026-11-03 00:00:00", "ios": 2, "android": 1 },
    ] });
    for path in [
        "/api/reports/sends/?start=2026-11-01&end=2026-11-03&precision=DAILY",
        "/api/reports/sends?start=2026-11-1&end=2026-11-3&precision=daily",
        "/api/reports/sends/?start=2026-11-01+00%3A00%3A00&end=2026-11-03%2000:00&precision=DAILY",
        "/api/reports/sends/?start=2026-11-01T00:00:00&end=2026-11-03T12:00:00",
    ] {
        assert_eq!(service.ok(path).await, days, "{path}");
    }
    let hours = "/api/reports/sends/?start=2026-11-01%2009:00&end=2026-11-01%2011:30&precision=HOURLY";
    let expected = json!({ "sends": [
        { "date": "2026-11-01 09:00:00", "ios": 2, "android": 1 },
        { "date": "2026-11-01 10:00:00", "ios": 0, "android": 0 },
        { "date": "2026-11-01 11:00:00", "ios": 2, "android": 1 },
    ] });
    assert_eq!(service.ok(hours).await, expected);
    let months = service.ok("/api/reports/sends/?start=2026-10-31&end=2026-11-03&precision=Monthly").await;
    let expected = json!({ "sends": [
        { "date": "2026-10-01 00:00:00", "ios": 0, "android": 0 },
        { "date": "2026-11-01 00:00:00", "ios": 6, "android": 3 },
    ] });
    assert_eq!(months, expected);
}

#[tokio::test]
async fn opens_time_and_users_are_reported() {
    let service = Service::new().await;
    service.open("phone", 30).await;
    service.open("quiet", 5).await;
    service.move_clock("2026-11-01T10:00:00Z").await;
    service.open("phone", 12).await;
    let query = "?start=2026-11-01%2009:00&end=2026-11-01%2010:00&precision=HOURLY";
    let item = |hour: &str, ios: u64, android: u64| json!({ "date": format!("2026-11-01 {hour}:00:00"), "ios": ios, "android": android });
    for (name, first, second) in [
        ("opens", (1, 1), (1, 0)),
        ("timeinapp", (30, 5), (12, 0)),
        ("optins", (1, 0), (1, 0)),
        ("optouts", (0, 1), (0, 0)),
    ] {
        let report = service.ok(&format!("/api/reports/{name}/{query}")).await;
        assert_eq!(report, json!({ name: [item("09", first.0, first.1), item("10", second.0, second.1)] }));
    }
    let days = service.ok("/api/reports/optins/?start=2026-11-01&end=2026-11-01&precision=DAILY").await;
    assert_eq!(days, json!({ "optins": [item("00", 1, 0)] }), "one user, who came twice");
}

#[tokio::test]
async fn responses_are_direct_or_influenced() {
    let service = Service::new().await;
    let push_id = service.send(alert("sale"), PushType::TagPush, None).await;
    service.tap("phone", &push_id).await;
    service.tap("phone", &push_id).await;
    service.open("robot", 3).await;
    service.open("robot", 3).await;
    let report = service.ok("/api/reports/responses/?start=2026-11-01&end=2026-11-02&precision=DAILY").await;
    let none = json!({ "direct": 0, "influenced": 0 });
    let expected = json!({ "responses": [
        {
            "date": "2026-11-01 00:00:00",
            "ios": { "direct": 1, "influenced": 0 },
            "android": { "direct": 0, "influenced": 1 },
        },
        { "date": "2026-11-02 00:00:00", "ios": none, "android": none },
    ] });
    assert_eq!(report, expected);

    let expected = json!({
        "push_id": push_id,
        "push_time": "2026-11-01 09:00:00",
        "push_type": "TAG_PUSH",
        "sends": 3,
        "direct_responses": 1,
    });
    assert_eq!(service.ok(&format!("/api/reports/responses/{push_id}")).await, expected);
    assert_eq!(service.ok(&format!("/api/reports/responses/{push_id}/")).await, expected);
    let (status, body) = service.get("/api/reports/responses/no-such-push").await;
    assert_eq!((status, &body["error_code"]), (404, &json!(40401)));
}

#[tokio::test]
async fn pushes_are_listed_in_time_order_page_by_page() {
    let service = Service::new().await;
    let mut sent = Vec::new();
    for hour in 10..15 {
        service.move_clock(&format!("2026-11-01T{hour}:00:00Z")).await;
        sent.push(service.send(alert("x"), PushType::ScheduledPush, Some("group")).await);
    }
    service.tap("phone", &sent[1]).await;
    // The first is before the start, the last after the end.
    let first = "/api/reports/responses/list?start=2026-11-01%2010:30&end=2026-11-01T13:00:00&limit=2";
    let page = service.ok(first).await;
    let expected = json!({
        "push_uuid": sent[1],
        "push_time": "2026-11-01 11:00:00",
        "push_type": "SCHEDULED_PUSH",
        "direct_responses": 1,
        "sends": 3,
        "group_id": "group",
    });
    assert_eq!(page["pushes"][0], expected);
    let ids = |page: &Value| -> Vec<String> {
        let pushes = page["pushes"].as_array().expect("a list").iter();
        pushes.map(|push| push["push_uuid"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(&page), sent[1..3]);
    let next = page["next_page"].as_str().expect("another page");
    assert!(next.contains("limit=2") && next.contains(&format!("push_id_start={}", sent[3])), "{next}");
    let last = service.ok(next).await;
    assert_eq!(ids(&last), sent[3..4]);
    assert!(last.get("next_page").is_none());
    let all = service.ok("/api/reports/responses/list/?start=2026-11-01&end=2026-11-01").await;
    assert_eq!(ids(&all), sent, "the list wins over a push of that name");
}

#[tokio::test]
async fn pushes_of_one_time_are_listed_in_the_order_in_which_they_were_sent() {
    let service = Service::new().await;
    let mut sent = Vec::new();
    for _ in 0..12 {
        sent.push(service.send(alert("x"), PushType::BroadcastPush, None).await);
    }
    let mut listed = Vec::new();
    let mut next = Some("/api/reports/responses/list?start=2026-01-01&end=2027-01-01&limit=5".to_owned());
    while let Some(path) = next {
        let page = service.ok(&path).await;
        listed.extend(page["pushes"].as_array().expect("a list").iter().map(|push| push["push_uuid"].clone()));
        next = page["next_page"].as_str().map(str::to_owned);
    }
    assert_eq!(listed, sent);
}

#[tokio::test]
async fn devices_are_counted_up_to_a_date() {
    let service = Service::new().await;
    service.move_clock("2026-11-02T12:00:00Z").await;
    service
        .change(|app, now| {
            let tablet = app.devices.by_id("tablet").expect("the tablet");
            app.uninstall(tablet, now);
            let browser = Device { device_type: "web".to_owned(), installed: true, opt_in: true, ..Device::default() };
            app.register("browser", browser, now);
        })
        .await;
    let before = json!({
        "total_unique_devices": 4,
        "date_computed": "2026-11-02T12:00:00.000Z",
        "date_closed": "2026-11-01T23:59:59.999Z",
        "counts": {
            "ios": { "unique_devices": 2, "opted_in": 2, "opted_out": 0, "uninstalled": 0 },
            "android": { "unique_devices": 2, "opted_in": 1, "opted_out": 1, "uninstalled": 0 },
        },
    });
    assert_eq!(service.ok("/api/reports/devices/?date=2026-11-1").await, before);
    let today = service.ok("/api/reports/devices?date=2026-11-02").await;
    assert_eq!(today["date_closed"], "2026-11-02T12:00:00.000Z");
    assert_eq!(today["total_unique_devices"], 4);
    let one = json!({ "unique_devices": 1, "opted_in": 1, "opted_out": 0, "uninstalled": 0 });
    assert_eq!(today["counts"]["web"], one);
    assert_eq!(today["counts"]["ios"], json!({ "unique_devices": 1, "opted_in": 1, "opted_out": 0, "uninstalled": 1 }));
    assert_eq!(service.ok("/api/reports/devices/").await, today, "without a date, it is as of now");

    // A later opt-out, uninstallation or return does not change past values.
    service.move_clock("2026-11-04T12:00:00Z").await;
    service
        .change(|app, now| {
            let quiet = Device { opt_in: false, ..app.devices.get("robot").expect("the robot").clone() };
            app.register("robot", quiet, now);
            let again = Device { device_type: "ios".to_owned(), installed: true, opt_in: true, ..Device::default() };
            app.register("tablet", again, now);
        })
        .await;
    let mut earlier = service.ok("/api/reports/devices/?date=2026-11-1").await;
    earlier["date_computed"] = before["date_computed"].clone();
    assert_eq!(earlier, before);
    let between = service.ok("/api/reports/devices/?date=2026-11-03").await;
    assert_eq!(between["counts"]["ios"]["uninstalled"], 1);
    assert_eq!(between["counts"]["android"]["opted_in"], 1);
    let now = service.ok("/api/reports/devices/").await;
    assert_eq!(now["counts"]["ios"]["unique_devices"], 2);
    assert_eq!(now["counts"]["android"]["opted_out"], 2);
}

#[tokio::test]
async fn a_wrong_parameter_is_refused_by_its_name() {
    let service = Service::new().await;
    for report in ["sends", "responses", "opens", "timeinapp", "optins", "optouts", "responses/list"] {
        for (query, name) in [
            ("start=2026-11-31&end=2026-12-01", "start"),
            ("end=2026-12-01", "start"),
            ("start=2026-11-01", "end"),
            ("start=2026-11-01&end=yesterday", "end"),
            ("start=2026-11-02&end=2026-11-01", "end"),
        ] {
            let error = service.refused(&format!("/api/reports/{report}/?{query}")).await;
            assert!(error.contains(&format!("`{name}`")), "{report} {query}: {error}");
        }
    }
    let range = "start=2026-11-01&end=2026-11-01";
    for (path, name) in [
        (format!("/api/reports/opens/?{range}&precision=WEEKLY"), "precision"),
        (format!("/api/reports/responses/list?{range}&limit=many"), "limit"),
        (format!("/api/reports/responses/list?{range}&push_id_start=nothing"), "push_id_start"),
        ("/api/reports/devices/?date=x".to_owned(), "date"),
    ] {
        let error = service.refused(&path).await;
        assert!(error.contains(&format!("`{name}`")), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_long_report_comes_in_pages_without_a_gap() {
    let service = Service::new().await;
    let mut path = "/api/reports/opens/?start=2024-01-01&end=2026-12-31&precision=HOURLY".to_owned();
    let mut dates: Vec<String> = Vec::new();
    loop {
        let page = service.ok(&path).await;
        let items = page["opens"].as_array().expect("a list");
        assert!(items.len() <= 10_000);
        dates.extend(items.iter().map(|item| item["date"].as_str().expect("a date").to_owned()));
        match page["next_page"].as_str() {
            Some(next) => path = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(dates.len(), (366 + 365 + 365) * 24);
    assert!(dates.is_sorted_by(|a, b| a < b));
    assert_eq!(dates.last().map(String::as_str), Some("2026-12-31 23:00:00"));
    let forever = service.ok("/api/reports/opens/?start=0001-01-01&end=9999-12-31&precision=HOURLY").await;
    assert_eq!(forever["opens"].as_array().map(Vec::len), Some(10_000));
}

#[tokio::test]
async fn what_was_counted_is_still_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Some(folder.path().join("service.db"));
    let service = Service::at(data.clone()).await;
    service
        .change(|app, _| {
            let device = Device { device_type: "ios".to_owned(), installed: true, opt_in: true, ..Device::default() };
            app.devices.put(&mut app.journal, "phone", device);
        })
        .await;
    let tagging = json!({ "notification": { "alert": "x", "actions": { "add_tag": "fan" } } });
    let push_id = service.send(tagging, PushType::BroadcastPush, None).await;
    service.tap("phone", &push_id).await;
    service.running.stop().await;

    let service = Service::at(data).await;
    assert_eq!(service.ok(&format!("/api/reports/responses/{push_id}")).await["direct_responses"], 1);
    service.tap("phone", &push_id).await;
    assert_eq!(service.ok(&format!("/api/reports/responses/{push_id}")).await["direct_responses"], 1);
    let opens = service.ok("/api/reports/opens/?start=2026-11-01&end=2026-11-01").await;
    assert_eq!(opens["opens"][0]["ios"], 2);
    let tags = service.change(|app, _| app.devices.get("phone").expect("a device").tags.clone()).await;
    assert!(tags[NO_GROUP].contains("fan"));
}

#[tokio::test]
async fn a_place_is_found_by_its_name() {
    let service = Service::new().await;
    let found = service.ok("/api/location/?q=portland&type=city").await;
    let features = found["features"].as_array().expect("a list");
    let states: Vec<&Value> = features.iter().map(|feature| &feature["properties"]["context"]["state"]).collect();
    assert_eq!(states, ["Maine", "Oregon"]);
    let oregon = &features[1];
    assert_eq!(oregon["type"], "Feature");
    assert_eq!(oregon["bounds"], json!([45.43, -122.84, 45.65, -122.47]));
    assert_eq!(oregon["centroid"], json!([45.52, -122.68]));
    let properties = json!({
        "name": "Portland",
        "boundary_type": "city",
        "boundary_type_string": "City/Place",
        "context": { "country": "US", "state": "Oregon" },
        "source": "built-in",
    });
    assert_eq!(oregon["properties"], properties);
    assert_eq!(oregon["id"].as_str().map(str::len), Some(22));
    assert_ne!(oregon["id"], features[0]["id"]);

    assert_eq!(service.ok("/api/location?q=s%C3%A3o+paulo").await["features"].as_array().map(Vec::len), Some(2));
    assert_eq!(service.ok("/api/location/?q=Portland&type=province").await, json!({ "features": [] }));
    assert_eq!(service.ok("/api/location/?q=Atlantis").await, json!({ "features": [] }));
}

#[tokio::test]
async fn a_place_is_found_by_a_point_and_by_a_box_latitude_first() {
    let service = Service::new().await;
    let names = |found: &Value| -> Vec<String> {
        let features = found["features"].as_array().expect("a list").iter();
        features.map(|feature| feature["properties"]["name"].as_str().expect("a name").to_owned()).collect()
    };
    let point = |path: &'static str| service.ok(path);
    assert_eq!(names(&point("/api/location/37.7749,-122.4194").await), ["San Francisco", "California"]);
    assert_eq!(names(&point("/api/location/37.7749,-122.4194?type=city").await), ["San Francisco"]);
    assert_eq!(names(&point("/api/location/37.7749,-122.4194/?type=province").await), ["California"]);
    assert_eq!(names(&point("/api/location/37.7749%2C-122.4194?type=city").await), ["San Francisco"]);
    assert!(names(&point("/api/location/13.405,52.52").await).is_empty(), "Berlin, the wrong way round");
    let bay = ["/api/location/37.6,-122.6,37.9,-122.0?type=city", "/api/location/37.9,-122.0,37.6,-122.6?type=city"];
    for corners in bay {
        assert_eq!(names(&point(corners).await), ["San Francisco", "Oakland"], "{corners}");
    }
}

#[tokio::test]
async fn a_wrong_place_is_refused() {
    let service = Service::new().await;
    for (path, word) in [
        ("/api/location/", "`q`"),
        ("/api/location/?q=%20", "`q`"),
        ("/api/location/?q=Berlin&type=country", "`type`"),
        ("/api/location/52.5,13.4?type=planet", "`type`"),
        ("/api/location/-122.4194,37.7749", "latitude"),
        ("/api/location/37.7,180.5", "longitude"),
        ("/api/location/NaN,0", "latitude"),
        ("/api/location/0,inf", "longitude"),
        ("/api/location/0,0,91,0", "latitude"),
        ("/api/location/52.5", "latitude"),
        ("/api/location/1,2,3", "latitude"),
        ("/api/location/north,west", "latitude"),
        ("/api/location/1,2,3,4,5", "latitude"),
    ] {
        let error = service.refused(path).await;
        assert!(error.contains(word), "{path}: {error}");
    }
}
