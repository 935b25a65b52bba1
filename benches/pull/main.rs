//! What it costs to take an account into git: `cargo bench --bench pull`.
//!
//! An account with 10,000 resources of all kinds is pulled into an empty project by the real binary, and planned. A pull may
//! cost at most twice as much as the plan; the run fails otherwise. Then 100 of them are changed in the dashboard, planned, and
//! edited in place. All are measured in turns in one run, so that the ratios mean the same on any machine.
//! `PUSHPLAN_RESOURCES=1000` takes another number.

#[path = "../service/binary.rs"]
mod binary;
#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::fs;
use std::process::ExitCode;

use binary::run;
use pushplan::client::{Credentials, Origin, Patience, Transport, Writing};
use pushplan::exchange::Request;
use pushplan::service::{self, Level, Settings};
use report::{Report, Target, ratios};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const KEY: &str = "benchmark-application0";
const SECRET: &str = "benchmark-secret-00000";
/// How often both are measured.
const ROUNDS: usize = 5;
/// How much more than a plan a pull may cost.
const MOST: f64 = 2.0;
/// How many resources someone changes in the dashboard.
const CHANGED: usize = 100;
/// How many requests fill the account at a time.
const TOGETHER: usize = 16;

fn main() -> ExitCode {
    let resources = std::env::var("PUSHPLAN_RESOURCES").ok().and_then(|number| number.parse().ok()).unwrap_or(10_000);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (running, segments) = runtime.block_on(async {
        let apps = vec![(KEY.to_owned(), SECRET.to_owned())];
        let settings = Settings { api: Level::Extended, apps, ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = service::start(settings, listener).await.expect("the service starts");
        let segments = fill(&format!("http://{}", running.address), resources).await;
        (running, segments)
    });
    let origin = format!("http://{}", running.address);
    let environment = [("PUSHPLAN_ORIGIN", &*origin), ("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", SECRET)];
    let folder = tempfile::tempdir().expect("a folder");
    let project = format!("[targets.there]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\n");
    let (mut pulls, mut plans) = (Vec::new(), Vec::new());
    let (mut edits, mut drifted) = (Vec::new(), Vec::new());
    let (mut said, mut edited) = (String::new(), String::new());
    for round in 0..ROUNDS {
        for entry in fs::read_dir(folder.path()).expect("a folder").flatten() {
            let path = entry.path();
            let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.expect("it goes");
        }
        fs::write(folder.path().join("pushplan.toml"), &project).expect("a project");
        let (took, ended) = run(folder.path(), &environment, &["pull", "--all"]);
        pulls.push(took);
        said = ended;
        let (took, ended) = run(folder.path(), &environment, &["plan", "--detailed-exitcode"]);
        plans.push(took);
        assert!(ended.contains("No changes."), "{ended}");
        runtime.block_on(change(&origin, &segments, round));
        drifted.push(run(folder.path(), &environment, &["plan"]).0);
        let (took, ended) = run(folder.path(), &environment, &["pull"]);
        edits.push(took);
        edited = ended;
        let (_, ended) = run(folder.path(), &environment, &["plan", "--detailed-exitcode"]);
        assert!(ended.contains("No changes."), "{ended}");
    }
    let mut report = Report::default();
    report.line(said.lines().last().unwrap_or_default());
    let median = |times: &[f64]| report::Sample::new(times.to_vec()).median();
    report.line(&format!("  {:<40} {:>7.2} s", "pull --all", median(&pulls)));
    report.line(&format!("  {:<40} {:>7.2} s", "plan", median(&plans)));
    report.ratio("pull ÷ plan", &ratios(&pulls, &plans), &Target::AtMost(MOST));
    report.line(edited.lines().last().unwrap_or_default());
    report.line(&format!("  {:<40} {:>7.2} s", "pull, in place", median(&edits)));
    report.line(&format!("  {:<40} {:>7.2} s", "plan of the same", median(&drifted)));
    report.ratio("pull in place ÷ plan", &ratios(&edits, &drifted), &Target::AtMost(MOST));
    report.end()
}

/// Makes so many resources: two of ten are segments, one each a template, a pipeline, a scheduled push, an experiment, a named
/// user and a member of a tag group, and two are open channels. Gives the ids of the segments.
async fn fill(origin: &str, resources: usize) -> Vec<String> {
    let writing = writing(origin);
    let some = resources / 10;
    let push = |audience: Value, number: usize| json!({"audience": audience, "device_types": ["ios", "android"], "notification": {"alert": format!("Sale number {number}")}});
    let segment = |number: usize| {
        let criteria = json!({"and": [{"tag": format!("tag-{number}")}, {"tag": "US", "group": "ua_locale_country"}]});
        Request::post("/api/segments", &json!({"display_name": format!("Segment {number}"), "criteria": criteria}))
    };
    let made = send(&writing, (0..2 * some).map(segment).collect()).await;
    let ids: Vec<String> = made.iter().map(|it| it["segment_id"].as_str().expect("an id").to_owned()).collect();
    let mut requests = Vec::new();
    let mut later = Vec::new();
    for (number, segment) in ids.iter().enumerate().take(some) {
        let time = json!({"scheduled_time": "2036-11-27T0900"});
        let (name, phone, user) = (format!("Thing {number}"), format!("phone-{number}"), format!("user-{number}"));
        let said = json!({"notification": {"alert": format!("Hi {{{{NAME}}}}, number {number}")}});
        let variables = json!([{"key": "NAME", "name": "Name", "default_value": "there"}]);
        requests.push(Request::post("/api/templates", &json!({"name": name, "variables": variables, "push": said})));
        let outcome = json!({"delay": 3600, "push": push(json!("triggered"), number)});
        let trigger = json!({"tag_added": format!("tag-{number}")});
        let pipeline = json!({"name": name, "enabled": true, "immediate_trigger": trigger, "outcome": outcome});
        requests.push(Request::post("/api/pipelines", &pipeline));
        let audience = json!({"segment": segment});
        let scheduled = json!({"name": name, "schedule": time, "push": push(audience.clone(), number)});
        requests.push(Request::post("/api/schedules", &scheduled));
        let variant = |text: &str| json!({"push": {"notification": {"alert": text}}, "schedule": time});
        let variants = [variant("One"), variant("Two")];
        requests.push(Request::post(
            "/api/experiments",
            &json!({"name": name, "audience": audience, "device_types": ["ios"], "variants": variants}),
        ));
        for platform in ["sms", "mail"] {
            let open = json!({"open_platform_name": platform, "identifiers": {"number": user}});
            let channel = json!({"type": "open", "opt_in": true, "address": user, "open": open});
            requests.push(Request::post("/api/channels/open", &json!({"channel": channel})));
        }
        requests.push(Request::put(format!("/local/devices/{phone}"), &json!({"device_type": "ios", "opt_in": true})));
        let user_is = json!({"channel_id": phone, "device_type": "ios", "named_user_id": user});
        later.push(Request::post("/api/named_users/associate", &user_is));
        let groups = json!({format!("group-{number}"): ["gold"]});
        later.push(Request::post("/api/channels/tags", &json!({"audience": {"ios_channel": phone}, "set": groups})));
    }
    send(&writing, requests).await;
    send(&writing, later).await;
    ids
}

/// Someone changes segments and members of tag groups in the dashboard.
async fn change(origin: &str, segments: &[String], round: usize) {
    let mut requests = Vec::new();
    for (number, id) in segments.iter().enumerate().take(CHANGED / 2) {
        let tag = format!("round-{round}");
        let criteria = json!({"and": [{"tag": tag}, {"tag": "US", "group": "ua_locale_country"}]});
        let segment = json!({"display_name": format!("Segment {number}"), "criteria": criteria});
        requests.push(Request::put(format!("/api/segments/{id}"), &segment));
        let groups = json!({format!("group-{number}"): ["gold", tag]});
        let member = json!({"ios_channel": format!("phone-{number}")});
        requests.push(Request::post("/api/channels/tags", &json!({"audience": member, "set": groups})));
    }
    send(&writing(origin), requests).await;
}

fn writing(origin: &str) -> Writing {
    let origin = Origin::parse(origin).expect("an origin");
    let transport = Transport::new(origin, &Credentials::new(KEY, SECRET), "messaging", Patience::default());
    Writing::new(transport.expect("a way"))
}

/// Sends requests, several at a time, and gives their answers in the same order.
async fn send(writing: &Writing, requests: Vec<Request>) -> Vec<Value> {
    let mut answers = vec![Value::Null; requests.len()];
    let mut under_way = JoinSet::new();
    for (number, request) in requests.into_iter().enumerate() {
        if under_way.len() == TOGETHER
            && let Some(ended) = under_way.join_next().await
        {
            let (number, answer): (usize, Value) = ended.expect("an answer");
            answers[number] = answer;
        }
        let writing = writing.clone();
        under_way.spawn(async move {
            let answer = writing.send(&request, || true).await.unwrap_or_else(|loss| panic!("{request}: {loss:?}"));
            assert!(answer.status < 300, "{request}: {answer:?}");
            (number, answer.body.unwrap_or_default())
        });
    }
    while let Some(ended) = under_way.join_next().await {
        let (number, answer) = ended.expect("an answer");
        answers[number] = answer;
    }
    answers
}
