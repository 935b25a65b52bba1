//! A service in memory against a bare handler that answers the same bytes.

use std::time::Duration;

use crate::client::{rate, request};
use crate::report::{ROUNDS, Report, Sample, Target, ratios};
use crate::servers::{Bare, Service};

const CONNECTIONS: usize = 16;
const TIME: Duration = Duration::from_millis(700);
/// How many segments there are: more than a page has.
const SEGMENTS: usize = 250;
pub const SEGMENT: &str = r#"{"display_name": "Regulars in Paris", "criteria": {"and": [{"tag": "regular"}, {"tag": "paris", "group": "city"}, {"not": {"tag": "muted"}}]}}"#;

pub fn run(report: &mut Report) {
    report.line("in memory, requests per second against a bare handler with the same bytes");
    let create = request("POST", "/api/segments", SEGMENT);
    let service = filled();
    let id = last_id(&service);
    for (name, path) in
        [("GET of a segment", format!("/api/segments/{id}")), ("a page of 200 segments", "/api/segments".into())]
    {
        let get = request("GET", &path, "");
        let bare = Bare::start(service.ask(&get));
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rates[0].push(rate(service.address(), &get, 200, CONNECTIONS, TIME));
            rates[1].push(rate(bare.address, &get, 200, CONNECTIONS, TIME));
        }
        compare(report, name, &rates);
    }
    let bare = Bare::start(service.ask(&create));
    service.stop();
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // A fresh one each time, so that every round begins with as many segments.
        let service = filled();
        rates[0].push(rate(service.address(), &create, 201, CONNECTIONS, TIME));
        service.stop();
        rates[1].push(rate(bare.address, &create, 201, CONNECTIONS, TIME));
    }
    compare(report, "POST of a segment", &rates);
}

fn compare(report: &mut Report, name: &str, [service, bare]: &[Vec<f64>; 2]) {
    let [ours, theirs] = [service, bare].map(|rates| Sample::new(rates.clone()));
    let name = format!("{name}: {:.0}/{:.0}", ours.median(), theirs.median());
    report.ratio(&name, &ratios(service, bare), &Target::AtLeast(0.5));
}

fn filled() -> Service {
    let service = Service::start(None);
    let create = request("POST", "/api/segments", SEGMENT);
    for _ in 0..SEGMENTS {
        assert_eq!(service.ask(&create).status, 201);
    }
    service
}

fn last_id(service: &Service) -> String {
    let page = service.ask(&request("GET", "/api/segments", "")).body;
    let page: serde_json::Value = serde_json::from_slice(&page).expect("a page");
    assert_eq!(page["segments"].as_array().map(Vec::len), Some(200), "a page is full");
    page["segments"][199]["id"].as_str().expect("an id").to_owned()
}
