//! Pages of everything that is listed, at the start and at the end of 40,000, against a page of segments of the same bytes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::client::{Connection, rate, request};
use crate::report::{ROUNDS, Report, Sample, Target, ratios};
use crate::servers::Service;

/// How many things there are of each kind.
const THINGS: usize = 40_000;
const CONNECTIONS: usize = 16;
const TIME: Duration = Duration::from_millis(200);
/// How many things one request makes, where it can make several.
const TOGETHER: usize = 1_000;
/// The most segments of a page.
const SEGMENTS: usize = 200;

pub fn run(report: &mut Report) {
    report.line(&format!(
        "pages among {THINGS} things of each kind, per second against a page of segments of the same bytes"
    ));
    let service = Service::start(None);
    fill(&service);
    for (name, paths) in pages(&service) {
        for (place, path) in ["first", "last"].iter().zip(paths) {
            let get = request("GET", &path, "");
            let bytes = service.ask(&get).body.len();
            let (segments, get_segments) = alike(bytes);
            let mut rates = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                rates[0].push(rate(service.address(), &get, 200, CONNECTIONS, TIME));
                rates[1].push(rate(segments.address(), &get_segments, 200, CONNECTIONS, TIME));
            }
            segments.stop();
            let [ours, theirs] = rates.each_ref().map(|rates| Sample::new(rates.clone()).median());
            let name = format!("{name}, {place}: {ours:.0}/{theirs:.0}");
            report.ratio(&name, &ratios(&rates[0], &rates[1]), &Target::AtLeast(0.8));
        }
    }
    service.stop();
}

/// A service whose page of segments has about so many bytes, and the request for it.
fn alike(bytes: usize) -> (Service, Vec<u8>) {
    /// What the line of a segment has beside its name.
    const LINE: usize = 128;
    let number = (bytes / (LINE + 8)).clamp(1, SEGMENTS);
    let name = "n".repeat((bytes / number).saturating_sub(LINE).max(1));
    let service = Service::start(None);
    let body = json!({ "display_name": name, "criteria": { "tag": "a" } }).to_string();
    post(&service, "/api/segments", (0..number + 50).map(|_| body.clone()));
    (service, request("GET", &format!("/api/segments?limit={number}"), ""))
}

/// Sends bodies one after another.
fn post(service: &Service, path: &str, bodies: impl Iterator<Item = String>) {
    Builder::new_current_thread().enable_io().build().expect("a runtime").block_on(async {
        let mut connection = Connection::open(service.address()).await;
        for body in bodies {
            connection.ask(&request("POST", path, &body)).await;
        }
    });
}

fn fill(service: &Service) {
    let push = |audience: &str, n: usize| json!({ "audience": audience, "device_types": ["ios"], "notification": { "alert": format!("Hello {n}") } });
    let time = json!({ "scheduled_time": "2036-12-01T0900" });
    let template = |n: usize| {
        let variables = json!([{ "key": "NAME", "default_value": "you" }]);
        json!({ "name": format!("Thing {n}"), "variables": variables, "push": { "notification": { "alert": "Hi {{NAME}}" } } })
    };
    let pipeline = |n: usize| {
        let outcome = json!({ "delay": 3600, "push": push("triggered", n) });
        json!({ "name": format!("Thing {n}"), "enabled": n.is_multiple_of(2), "immediate_trigger": { "tag_added": "new" }, "outcome": outcome })
    };
    let schedule = |n: usize| json!({ "name": format!("Thing {n}"), "schedule": time, "push": push("all", n) });
    let experiment = |n: usize| {
        let variant = |text: &str| json!({ "push": { "notification": { "alert": text } }, "schedule": time });
        json!({ "name": format!("Thing {n}"), "audience": "all", "device_types": ["ios"], "variants": [variant("One"), variant("Two")] })
    };
    let channel = |n: usize| {
        let open = json!({ "open_platform_name": "sms" });
        json!({ "channel": { "type": "open", "opt_in": false, "address": format!("{n}"), "tags": ["a"], "open": open } })
    };
    let segment = |n: usize| json!({ "display_name": format!("Thing {n}"), "criteria": { "tag": "a" } });
    let each =
        |path: &str, item: &dyn Fn(usize) -> Value| post(service, path, (0..THINGS).map(|n| item(n).to_string()));
    let together = |path: &str, item: &dyn Fn(usize) -> Value, size: usize| {
        let list = |begin: usize| Value::from_iter((begin..begin + size).map(item)).to_string();
        post(service, path, (0..THINGS).step_by(size).map(list));
    };
    // There are no devices yet, so the pushes alone are listed.
    together("/api/push", &|n| push("all", n), 100);
    each("/api/segments", &segment);
    each("/api/templates", &template);
    each("/api/experiments", &experiment);
    each("/api/channels/open", &channel);
    together("/api/pipelines", &pipeline, TOGETHER);
    together("/api/schedules", &schedule, TOGETHER);
    let user = |n: usize| json!({ "audience": { "named_user_id": format!("user-{n}") }, "add": { "crm": ["gold"] } });
    each("/api/named_users/tags", &user);
}

/// The paths of the first and the last full page of each listing.
fn pages(service: &Service) -> Vec<(&'static str, [String; 2])> {
    let offsets =
        |path: &str, count: usize| [format!("{path}limit=100"), format!("{path}limit=100&offset={}", count - 100)];
    // Where pages begin with an id, the last one begins with the largest but a few.
    let from = |path: &str, size: usize, start: &str| {
        [format!("{path}?limit={size}"), format!("{path}?limit={size}&start={start}")]
    };
    let range = "start=2020-01-01&end=2040-01-01";
    let pushes = format!("/api/reports/responses/list?{range}&limit=1000");
    let last_push = last_of(service, &pushes);
    vec![
        ("segments", from("/api/segments", SEGMENTS, "fd")),
        ("templates", ["/api/templates?page=1".to_owned(), format!("/api/templates?page={}", THINGS / 100)]),
        ("pipelines", offsets("/api/pipelines?", THINGS)),
        ("active pipelines", offsets("/api/pipelines?enabled=true&", THINGS / 2)),
        ("experiments", offsets("/api/experiments?", THINGS)),
        ("scheduled experiments", offsets("/api/experiments/scheduled?", THINGS)),
        ("scheduled pushes", from("/api/schedules", 200, "fd")),
        ("channels", from("/api/channels", 1_000, "f5")),
        ("named users", from("/api/named_users", 1_000, "user-9")),
        ("pushes", [pushes.clone(), last_push]),
    ]
}

/// The address of the last page of a listing.
fn last_of(service: &Service, path: &str) -> String {
    let mut path = path.to_owned();
    loop {
        let page: Value = serde_json::from_slice(&service.ask(&request("GET", &path, "")).body).expect("a page");
        match page["next_page"].as_str() {
            Some(next) => path = next[next.find("/api/").expect("a path")..].to_owned(),
            None => return path,
        }
    }
}
