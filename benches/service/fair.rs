//! A small GET while another client sends expensive requests, against a bare handler that only reads them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use tokio::runtime::Builder;

use crate::client::{Connection, request};
use crate::memory::SEGMENT;
use crate::report::{ROUNDS, Report, Sample, Target, ratios};
use crate::servers::{Bare, Service};

const DEVICES: usize = 50_000;
/// How many large bodies are sent in a round, one after another.
const BODIES: usize = 8;
/// How many bytes one has at least.
const BYTES: usize = 3_800_000;
/// How much longer the slowest GET of a round may take than beside the bare handler.
const MOST: f64 = 10.0;

pub fn run(report: &mut Report) {
    report.line("the slowest GET of a segment while another client sends expensive requests, against a bare handler");
    let service = Service::start(None);
    service.install(DEVICES, &(0..ROUNDS).map(tag).collect::<Vec<_>>());
    let made = service.ask(&request("POST", "/api/segments", SEGMENT));
    let made: serde_json::Value = serde_json::from_slice(&made.body).expect("an answer");
    let get = request("GET", &format!("/api/segments/{}", made["segment_id"].as_str().expect("an id")), "");
    let bare = Bare::start(service.ask(&get));
    let bodies =
        bodies().into_iter().map(|(name, path, body)| (name, vec![vec![request("POST", path, &body); BODIES]]));
    let deletions = (0..ROUNDS).map(|round| vec![request("DELETE", &format!("/api/tags/{}", tag(round)), "")]);
    for (name, rounds) in bodies.chain([("deleting a tag of 50,000 devices", deletions.collect())]) {
        let mut slowest = [Vec::new(), Vec::new()];
        for expensive in rounds.iter().cycle().take(ROUNDS) {
            slowest[0].push(slowest_of(service.address(), &get, expensive));
            slowest[1].push(slowest_of(bare.address, &get, expensive));
        }
        let [ours, theirs] = slowest.each_ref().map(|times| Sample::new(times.clone()).median() * 1e3);
        let name = format!("{name}: {ours:.2}/{theirs:.2} ms");
        report.ratio(&name, &ratios(&slowest[0], &slowest[1]), &Target::AtMost(MOST));
    }
    service.stop();
}

/// Bodies that cost much to decode or to carry out, each with its route.
fn bodies() -> Vec<(&'static str, &'static str, String)> {
    let push = r#"{"audience":"all","device_types":"all","notification":{"alert":"Hello"}}"#;
    let scheduled = format!(r#"{{"schedule":{{"scheduled_time":"2036-12-01T0900"}},"push":{push}}}"#);
    let keys = |first: usize| (first..first + 900).map(|n| format!(r#""k{n}":0"#)).collect::<Vec<_>>().join(",");
    let with_keys = |n: usize| format!("{},\"extra\":{{{}}}}}", &push[..push.len() - 1], keys(n));
    let list = |item: &dyn Fn(usize) -> String| {
        let (mut all, mut n) = (String::from("["), 0);
        while all.len() < BYTES {
            all.push_str(if n == 0 { "" } else { "," });
            all.push_str(&item(n));
            n += 1;
        }
        all + "]"
    };
    let unknown = (0..330_000).map(|n| format!(r#""key{n}":1"#)).collect::<Vec<_>>().join(",");
    vec![
        ("330,000 unknown keys", "/api/push", format!("{{{unknown}}}")),
        ("20,000 scheduled pushes", "/api/schedules", list(&|_| scheduled.clone())),
        ("unknown keys in many objects", "/api/push", list(&with_keys)),
        ("a push to 50,000 devices", "/api/push", push.to_owned()),
    ]
}

/// The tag of all devices that is deleted in a round.
fn tag(round: usize) -> String {
    format!("round-{round}")
}

/// Seconds of the slowest GET while the expensive requests are sent.
fn slowest_of(address: SocketAddr, get: &[u8], expensive: &[Vec<u8>]) -> f64 {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            Builder::new_current_thread().enable_io().build().expect("a runtime").block_on(async {
                let mut connection = Connection::open(address).await;
                for request in expensive {
                    connection.ask(request).await;
                }
            });
            ended.store(true, Ordering::SeqCst);
        });
        Builder::new_current_thread().enable_io().build().expect("a runtime").block_on(async {
            let mut connection = Connection::open(address).await;
            let mut slowest = 0.0_f64;
            while !ended.load(Ordering::SeqCst) {
                let start = Instant::now();
                connection.ask(get).await;
                slowest = slowest.max(start.elapsed().as_secs_f64());
            }
            slowest
        })
    })
}
