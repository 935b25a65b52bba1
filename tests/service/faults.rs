//! Faults, from the client's point of view.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pushplan::service::{Running, Settings, faults};
use pushplan::source::Source;
use pushplan_testing::Folder;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "faults-application-000";
const SECRET: &str = "faults-secret-00000000";

struct Service {
    running: Running,
    client: Client,
}

impl Service {
    async fn new(rules: &str) -> Self {
        let rules = faults::read(&Source::new("faults.toml", rules)).unwrap_or_else(|error| panic!("{error}"));
        let settings = Settings { apps: vec![(KEY.into(), SECRET.into())], faults: Some(rules), ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = pushplan::service::start(settings, listener).await.expect("it starts");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().tls_certs_only([]).retry(reqwest::retry::never()).build();
        Self { running, client: client.expect("a client") }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.address)
    }

    async fn get(&self, path: &str) -> reqwest::Result<Response> {
        let url = if path.starts_with("http") { path.to_owned() } else { self.url(path) };
        self.client.get(url).basic_auth(KEY, Some(SECRET)).send().await
    }

    async fn json(&self, path: &str) -> Value {
        self.get(path).await.expect("an answer").json().await.expect("JSON")
    }

    async fn post(&self, name: &str) -> reqwest::Result<Response> {
        let body = json!({ "display_name": name, "criteria": { "tag": name } });
        self.client.post(self.url("/api/segments")).basic_auth(KEY, Some(SECRET)).json(&body).send().await
    }

    /// The number of existing segments, regardless of the lists.
    fn segments(&self) -> usize {
        self.running.engine.read(|state, _| state.app(KEY).expect("the application").segments.table.len())
    }
}

fn names(page: &Value) -> Vec<&str> {
    let items = page["segments"].as_array().expect("a listing");
    items.iter().map(|one| one["display_name"].as_str().expect("a name")).collect()
}

fn ids(page: &Value) -> Vec<&str> {
    page["segments"].as_array().expect("a listing").iter().map(|one| one["id"].as_str().expect("an id")).collect()
}

#[tokio::test]
async fn a_refused_connection_is_reset_without_an_answer() {
    let service = Service::new("[[fault]]\nkind = \"refuse\"\ntimes = 1").await;
    let mut stream = TcpStream::connect(service.running.address).await.unwrap();
    stream.write_all(b"GET /api/segments HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(service.get("/api/segments").await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_connection_closes_before_or_after_the_work_is_done() {
    for (when, done) in [("before", 0), ("after", 1)] {
        let rules = format!("[[fault]]\nkind = \"close\"\nwhen = \"{when}\"\nmethod = \"POST\"\ntimes = 1");
        let service = Service::new(&rules).await;
        let error = service.post("one").await.unwrap_err();
        assert!(error.is_request() && !error.is_timeout(), "{error:?}");
        assert_eq!(service.segments(), done, "{when}");
        assert_eq!(service.post("two").await.unwrap().status(), 201);
    }
    // It is closed, not reset.
    let service = Service::new("[[fault]]\nkind = \"close\"").await;
    let mut stream = TcpStream::connect(service.running.address).await.unwrap();
    stream.write_all(b"GET /api/segments HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_status_comes_before_or_after_the_work_is_done() {
    for (when, done) in [("before", 0), ("after", 1)] {
        let rules = format!("[[fault]]\nkind = \"status\"\nstatus = 503\nwhen = \"{when}\"\nmethod = \"POST\"");
        let service = Service::new(&rules).await;
        let response = service.post("one").await.unwrap();
        assert_eq!(response.status(), 503);
        let body: Value = response.json().await.unwrap();
        assert_eq!((&body["ok"], &body["error_code"]), (&json!(false), &json!(50300)));
        assert_eq!(service.segments(), done, "{when}");
    }
}

#[tokio::test]
async fn a_status_also_answers_a_large_body() {
    let service = Service::new("[[fault]]\nkind = \"status\"\nstatus = 500").await;
    let url = service.url("/api/segments");
    let response = service.client.post(url).body(vec![b' '; 4 << 20]).send().await.unwrap();
    assert_eq!(response.status(), 500);
}

#[tokio::test]
async fn too_many_requests_come_with_any_retry_after_or_none() {
    for (given, header) in [
        ("", None),
        ("retry_after = 3", Some("3")),
        ("retry_after = \"Wed, 21 Oct 2026 07:28:00 GMT\"", Some("Wed, 21 Oct 2026 07:28:00 GMT")),
        ("retry_after = \"soon\"", Some("soon")),
    ] {
        let service = Service::new(&format!("[[fault]]\nkind = \"rate-limit\"\n{given}")).await;
        let response = service.post("one").await.unwrap();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        let found = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(found.as_deref(), header);
        assert_eq!(service.segments(), 0);
    }
}

#[tokio::test]
async fn an_answer_is_delayed_before_or_after_the_work_is_done() {
    for (when, done) in [("before", 0), ("after", 1)] {
        let rules = format!("[[fault]]\nkind = \"delay\"\nms = 600\nwhen = \"{when}\"");
        let service = Service::new(&rules).await;
        let start = Instant::now();
        let (response, early) = tokio::join!(service.post("one"), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            service.segments()
        });
        assert_eq!(response.unwrap().status(), 201);
        assert!(start.elapsed() >= Duration::from_millis(600));
        assert_eq!(early, done, "{when}");
    }
}

#[tokio::test]
async fn a_truncated_answer_breaks_off_in_the_middle() {
    let service = Service::new("[[fault]]\nkind = \"truncate\"\nmethod = \"GET\"\ntimes = 1").await;
    service.post("one").await.unwrap();
    let mut response = service.get("/api/segments").await.unwrap();
    assert_eq!(response.status(), 200);
    let promised = response.content_length().expect("a length");
    let start = response.chunk().await.unwrap().expect("a start");
    assert_eq!(start.len() as u64, promised / 2);
    assert!(response.chunk().await.is_err(), "it breaks off");
    assert_eq!(service.get("/api/segments").await.unwrap().content_length(), Some(promised));
}

#[tokio::test]
async fn a_garbled_answer_is_no_json() {
    let service = Service::new("[[fault]]\nkind = \"garble\"\nmethod = \"GET\"").await;
    service.post("one").await.unwrap();
    let response = service.get("/api/segments").await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.bytes().await.unwrap();
    assert!(std::str::from_utf8(&body).is_err() && serde_json::from_slice::<Value>(&body).is_err());
    assert!(body.windows(4).any(|window| "display_name".as_bytes().windows(4).any(|part| part == window)));
}

#[tokio::test]
async fn a_page_for_people_comes_with_200() {
    for (when, done) in [("before", 0), ("after", 1)] {
        let service = Service::new(&format!("[[fault]]\nkind = \"html\"\nwhen = \"{when}\"")).await;
        let response = service.post("one").await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        assert!(response.text().await.unwrap().starts_with("<!DOCTYPE html>"));
        assert_eq!(service.segments(), done, "{when}");
    }
}

#[tokio::test]
async fn a_page_repeats_an_item_of_the_page_before() {
    let service = Service::new("[[fault]]\nkind = \"duplicate\"\nmethod = \"GET\"\npath = \"/api/segments\"").await;
    for n in 0..5 {
        service.post(&n.to_string()).await.unwrap();
    }
    let first = service.json("/api/segments?limit=2").await;
    let second = service.json(first["next_page"].as_str().unwrap()).await;
    let third = service.json(second["next_page"].as_str().unwrap()).await;
    assert_eq!([ids(&first).len(), ids(&second).len(), ids(&third).len()], [2, 3, 2]);
    assert_eq!(ids(&second)[0], ids(&first)[1]);
    assert_eq!(ids(&third)[0], ids(&second)[2]);
    let mut all = [ids(&first), ids(&second), ids(&third)].concat();
    all.dedup();
    assert_eq!(all.len(), 5, "nothing is missing");
}

#[tokio::test]
async fn a_page_is_in_the_opposite_order() {
    let service = Service::new("[[fault]]\nkind = \"reorder\"\nmethod = \"GET\"\ntimes = 1").await;
    for n in 0..3 {
        service.post(&n.to_string()).await.unwrap();
    }
    let (changed, right) = (service.json("/api/segments").await, service.json("/api/segments").await);
    let mut reversed = ids(&right);
    reversed.reverse();
    assert_eq!(ids(&changed), reversed);
}

#[tokio::test]
async fn the_next_page_is_the_same_page() {
    let service = Service::new("[[fault]]\nkind = \"loop\"\nmethod = \"GET\"").await;
    for n in 0..3 {
        service.post(&n.to_string()).await.unwrap();
    }
    let first = service.json("/api/segments?limit=2").await;
    let again = service.json(first["next_page"].as_str().unwrap()).await;
    assert_eq!(first, again);
    assert_eq!(first["next_page"], service.url("/api/segments?limit=2"));
}

#[tokio::test]
async fn a_listing_lags_some_writes_behind() {
    let service = Service::new("[[fault]]\nkind = \"lag\"\nwrites = 2\npath = \"/api/segments\"").await;
    let mut seen = Vec::new();
    let mut urls = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let response = service.post(name).await.unwrap();
        urls.push(response.headers()["location"].to_str().unwrap().to_owned());
        seen.push(names(&service.json("/api/segments").await).len());
    }
    assert_eq!(seen, [0, 0, 1, 2]);
    assert_eq!(names(&service.json("/api/segments").await).len(), 2, "looking changes nothing");
    // Resources that no rule covers are up to date.
    assert_eq!(service.json(&urls[3]).await["display_name"], "d");
    for url in &urls[..2] {
        service.client.delete(url).basic_auth(KEY, Some(SECRET)).send().await.unwrap();
    }
    let page = service.json("/api/segments").await;
    let mut found = names(&page);
    found.sort_unstable();
    assert_eq!(found, ["a", "b", "c", "d"], "what was deleted is still there");
}

#[tokio::test]
async fn a_listing_lags_some_time_behind() {
    let service = Service::new("[[fault]]\nkind = \"lag\"\nms = 400").await;
    service.post("one").await.unwrap();
    assert_eq!(names(&service.json("/api/segments").await).len(), 0);
    tokio::time::sleep(Duration::from_millis(450)).await;
    service.post("two").await.unwrap();
    assert_eq!(names(&service.json("/api/segments").await), ["one"]);
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_eq!(names(&service.json("/api/segments").await).len(), 2);
}

#[tokio::test]
async fn rules_count_what_reaches_them_in_order() {
    let rules = "[[fault]]\nkind = \"status\"\nstatus = 500\nmethod = \"GET\"\nafter = 1\ntimes = 2\n\
                 [[fault]]\nkind = \"status\"\nstatus = 502\npath = \"/api/segments/*\"\n\
                 [[fault]]\nkind = \"status\"\nstatus = 503\nmethod = \"GET\"\nafter = 1";
    let service = Service::new(rules).await;
    let mut statuses = Vec::new();
    for path in ["/api/segments", "/api/segments/", "//api//segments", "/api/segments/x", "/api/segments", "/other"] {
        statuses.push(service.get(path).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [200, 500, 500, 502, 503, 404]);
    assert_eq!(service.post("one").await.unwrap().status(), 201);
}

/// The results of 60 requests, one letter each.
async fn outcomes(seed: u64) -> String {
    let rules = format!(
        "seed = {seed}\n\
         [[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\nprobability = 0.2\n\
         [[fault]]\nkind = \"status\"\nstatus = 503\nprobability = 0.3\n\
         [[fault]]\nkind = \"garble\"\nprobability = 0.3\n"
    );
    let service = Service::new(&rules).await;
    let mut outcomes = String::new();
    for n in 0..60 {
        let response = if n % 2 == 0 { service.post("same").await } else { service.get("/api/segments").await };
        outcomes.push(match response {
            Err(_) => 'x',
            Ok(response) if response.status() == 503 => '5',
            Ok(response) => match response.json::<Value>().await {
                Ok(_) => '.',
                Err(_) => 'g',
            },
        });
    }
    outcomes
}

#[tokio::test]
async fn the_same_seed_and_requests_fail_the_same_way() {
    let first = outcomes(7).await;
    assert_eq!(first, outcomes(7).await);
    assert_ne!(first, outcomes(8).await);
    for kind in ['x', '5', 'g', '.'] {
        assert!(first.contains(kind), "{kind} in {first}");
    }
}

#[test]
fn faults_are_for_loopback_alone() {
    let rules = faults::Rules::default();
    let refused = rules.may_listen("192.0.2.7".parse().unwrap());
    assert_eq!(refused.expect_err("refused").to_string(), "faults are for loopback alone, and 192.0.2.7 is not");
    assert!(rules.may_listen("0.0.0.0".parse().unwrap()).is_err());
    assert!(rules.may_listen("127.0.0.1".parse().unwrap()).is_ok() && rules.may_listen("::1".parse().unwrap()).is_ok());
}

/// The sample for users contains every kind, and is valid.
#[test]
fn the_sample_of_a_file_of_faults_has_every_kind() {
    let folder = Folder::new();
    let sample = folder.run(&["explain", "faults.toml"]).stdout;
    assert_eq!(folder.run(&["explain", "faults"]).stdout, sample);
    let rules = faults::read(&Source::new("faults.toml", &sample)).unwrap_or_else(|error| panic!("{error}"));
    let shown: BTreeSet<&str> = rules.rules.iter().map(|rule| rule.fault.kind()).collect();
    let error =
        faults::read(&Source::new("faults.toml", "[[fault]]\nkind = \"x\"")).expect_err("no such kind").to_string();
    let listed: BTreeSet<&str> = error.split('"').skip(1).step_by(2).filter(|kind| *kind != "x").collect();
    assert!(listed.len() > 5, "all kinds are listed: {error}");
    assert_eq!(shown, listed);
}

/// Each fault of the sample works as described in it.
#[tokio::test]
async fn the_sample_of_a_file_of_faults_does_what_it_says() {
    let sample = Folder::new().run(&["explain", "faults.toml"]).stdout;
    let service = Service::new(&sample).await;
    let mut segments = Vec::new();
    for number in 0..40 {
        let status = service.post(&format!("s{number}")).await.expect("an answer").status().as_u16();
        segments.push(status);
    }
    assert_eq!(segments[..2], [201, 201], "`after` lets two pass");
    assert_eq!(segments.iter().filter(|status| **status == 503).count(), 3, "`times`: {segments:?}");
    assert_eq!(service.segments(), 40, "`when` is after");
    let limited = service.get("/api/push").await.expect("an answer");
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"2".parse().unwrap()));
    assert!(service.get("/api/templates").await.is_err(), "refused");
    assert!(service.get("/api/templates").await.is_err(), "closed");
    assert_eq!(service.get("/api/templates").await.expect("an answer").status().as_u16(), 200);
    let since = Instant::now();
    service.get("/api/reports/devices").await.expect("an answer");
    assert!(since.elapsed() >= Duration::from_millis(250), "delayed");
    let html = service.get("/api/experiments").await.expect("an answer").text().await.expect("text");
    assert!(html.contains("<html"), "{html}");
}

#[test]
fn what_is_wrong_in_a_file_of_faults_is_told_with_its_place() {
    let folder = Folder::new();
    for (text, said) in [
        ("sead = 1", "faults.toml:1:1: unknown field `sead`, expected `seed` or `fault`"),
        ("[[fault]]\nkind = \"dely\"", "faults.toml:2:8: there is no fault \"dely\"; did you mean \"delay\"?"),
        ("[[fault]]\nkind = \"dely\"", "There are \"refuse\", \"close\", \"status\", \"rate-limit\""),
        ("[[fault]]\nkind = \"chaos\"", "there is no fault \"chaos\"; there are \"refuse\", \"close\""),
        ("[[fault]]\nmethod = \"GET\"", "missing field `kind`, which is \"refuse\", \"close\""),
        ("sead = 1", "`pushplan explain faults.toml` prints a sample"),
        ("[[fault]]\nkind = \"refuse\"\nms = 5", "faults.toml:3:6: `ms` means nothing to the fault \"refuse\""),
        ("[[fault]]\nkind = \"delay\"", "faults.toml:2:8: the fault \"delay\" needs `ms`"),
        ("[[fault]]\nkind = \"delay\"\nms = -1", "faults.toml:3:6: "),
        ("[[fault]]\nkind = \"delay\"\nms = \"1\"", "faults.toml:3:6: invalid type: string"),
        ("[[fault]]\nkind = \"status\"\nstatus = 429", "faults.toml:3:10: a status is 500 to 599"),
        ("[[fault]]\nkind = \"status\"", "faults.toml:2:8: the fault \"status\" needs `status`"),
        ("[[fault]]\nkind = \"lag\"\nms = 1\nwrites = 1", "faults.toml:2:8: the fault \"lag\" needs `writes` or `ms`"),
        ("[[fault]]\nkind = \"close\"\nwhen = \"during\"", "faults.toml:3:8: a request fails \"before\" or \"after\""),
        ("[[fault]]\nkind = \"loop\"\nprobability = 1.5", "faults.toml:3:15: a probability lies between 0 and 1"),
        ("[[fault]]\nkind = \"loop\"\nprobability = nan", "faults.toml:3:15: a probability lies between 0 and 1"),
        ("[[fault]]\nkind = \"loop\"\nmethod = \"get\"", "faults.toml:3:10: a method is GET"),
        ("[[fault]]\nkind = \"loop\"\npath = \"segments\"", "faults.toml:3:8: a path begins with /api/"),
        ("[[fault]]\nkind = \"rate-limit\"\nretry_after = true", "faults.toml:3:15: `retry_after` is a number"),
        ("[[fault]]\nmethod = \"GET\"", "faults.toml:1:1: missing field `kind`"),
        ("[[fault]\n", "faults.toml:1:9: "),
    ] {
        folder.write("faults.toml", text);
        let ran = folder.run(&["serve", "--port", "0", "--faults", "faults.toml"]);
        assert_eq!(ran.code, 1, "{text}: {ran:?}");
        assert!(ran.stderr.contains(said), "{text}: {}", ran.stderr);
    }
    let ran = folder.run(&["serve", "--port", "0", "--faults", "none.toml"]);
    assert!(ran.code == 1 && ran.stderr.contains("none.toml: "), "{ran:?}");
}
