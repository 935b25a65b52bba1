//! Plans of all sizes and kinds, as pages.

use std::collections::BTreeMap;

use pushplan::exchange::Method;
use pushplan::guard::{Limits, guards};
use pushplan::ledger::Verb;
use pushplan::nouns::quiet::Quiet;
use pushplan::plan::{Action, Annotation, Moved, Plan};
use pushplan::render::html::report;
use pushplan::render::plan::NextSteps;
use pushplan::render::preview::Preview;
use pushplan::review::{Review, Side};
use serde_json::{Value, json};

use crate::build::{Building, address, change, plan};

pub fn page(plan: &Plan) -> String {
    let ahead = NextSteps { refused: guards(plan, &Limits::default()), ..NextSteps::default() };
    report::html(plan, &ahead)
}

/// Every page, with its name.
pub fn all() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        crate::plans::all().into_iter().map(|(name, plan)| (name.to_owned(), page(&plan))).collect();
    for (name, plan) in
        [("told", told()), ("hostile", hostile()), ("graph", graph()), ("refused", refused()), ("huge", huge(10_000))]
    {
        all.push((name.to_owned(), page(&plan)));
    }
    all.push(("preview".to_owned(), preview()));
    all
}

/// The page of `pushplan preview`, which shows messages on the same screens.
fn preview() -> String {
    let plan = told();
    let address = address("templates/winback");
    let change = plan.changes.iter().find(|change| change.address == address).expect("a template");
    let seen = Review::of(&plan).messages(change, Side::After);
    let place = "messages/templates.yaml:1".to_owned();
    Preview { address: &address, place, app: "Shop", open: true, reach: None, seen }.html()
}

/// A campaign with every kind of note for a plan's readers.
pub fn told() -> Plan {
    let mut found = crate::plans::campaign();
    let time = |text: &str| text.parse().expect("a time");
    found.told.quiet = Some(Quiet { from: time("21:00"), to: time("08:00") });
    let zone = Some("America/New_York".to_owned());
    found.told.of.insert(address("scheduled_pushes/black-friday"), Annotation { zone, ..Annotation::default() });
    let values = |name: &str| BTreeMap::from([("FIRST_NAME".to_owned(), name.to_owned())]);
    let previews = [("long", values("Wolfeschlegelsteinhausenbergerdorff")), ("right to left", values("محمد"))];
    let previews = previews.map(|(name, values)| (name.to_owned(), values)).into();
    found.told.of.insert(address("templates/winback"), Annotation { previews, ..Annotation::default() });
    for change in found.changes.iter_mut().filter(|change| change.address == address("templates/winback")) {
        for spec in change.desired.iter_mut().chain(&mut change.live) {
            spec["variables"] = json!([{"key": "FIRST_NAME", "default_value": "there"}]);
            spec["push"]["notification"]["interactive"] =
                json!({"type": "ua_remind_me_later", "button_actions": {"remind": {"add_tag": "remind-me"}}});
        }
    }
    found
}

fn push(name: &str, alert: &str, audience: &Value) -> Value {
    json!({
        "name": name,
        "schedule": [{"scheduled_time": "2026-11-27T1400"}],
        "push": {"audience": audience, "device_types": ["ios", "android"], "notification": {"alert": alert}},
    })
}

/// Texts that try to break out of their place.
pub const HOSTILE: &str = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & {{X}} \u{1b}[2J\u{202e}gnp.exe\u{200b}\u{2028}\r\n# |";

pub fn hostile() -> Plan {
    let long = "w".repeat(600);
    let arabic = "مرحبا بك في متجرنا، خصم ٢٠٪ على كل شيء حتى يوم الأحد";
    let template = |alert: &str| json!({"name": HOSTILE, "push": {"notification": {"alert": alert}}, "variables": []});
    let mut found = plan([
        change(Action::Update, "templates/hostile")
            .name(HOSTILE)
            .at(HOSTILE, 3)
            .live(template("x"))
            .desired(template(HOSTILE))
            .step(1, Verb::Update, Method::Post, HOSTILE),
        change(Action::Update, "templates/wide").name(&long).at(&long, 1).live(template(&long)).desired(template("y")),
        change(Action::Create, &format!("scheduled_pushes/{}", "k".repeat(128)))
            .name(arabic)
            .desired(push(arabic, &format!("{arabic} {{{{ORDER}}}} 🎉👩‍👩‍👧"), &json!({"tag": HOSTILE})))
            .step(2, Verb::Create, Method::Post, "/api/schedules"),
    ]);
    found.target = HOSTILE.to_owned();
    found.origin = format!("https://{long}.example");
    found
}

/// Segments that name segments, and pushes that name them.
fn graph() -> Plan {
    let segment = |key: &str, others: &[&str]| {
        let mut members: Vec<Value> = others.iter().map(|other| json!({"segment": other})).collect();
        members.push(json!({"tag": key}));
        json!({"display_name": key, "criteria": {"OR": members}})
    };
    let to = |key: &str| push("p", "Hi", &json!({"segment": key}));
    let kept = |at: &str, spec: Value| change(Action::Keep, at).live(spec.clone()).desired(spec);
    plan([
        kept("segments/everyone-who-bought", segment("bought", &[])),
        change(Action::Replace, "segments/lapsed")
            .live(segment("lapsed", &["everyone-who-bought"]))
            .desired(segment("lapsed-now", &["everyone-who-bought"]))
            .step(1, Verb::Create, Method::Post, "/api/segments"),
        change(Action::Create, "segments/vip-lapsed").desired(segment("vip", &["lapsed", "everyone-who-bought"])),
        change(Action::Create, "scheduled_pushes/black-friday-morning").desired(to("vip-lapsed")),
        change(Action::Create, "scheduled_pushes/black-friday-evening").desired(to("lapsed")),
        kept("scheduled_pushes/christmas", to("lapsed")),
        change(Action::Delete, "scheduled_pushes/halloween-of-the-year-before-with-a-long-name")
            .live(to("everyone-who-bought")),
        kept("segments/nobody-asks", segment("x", &[])),
    ])
}

/// Changes that every guard refuses.
fn refused() -> Plan {
    let all = |action| change(action, "scheduled_pushes/everybody").desired(push("Everybody", "Hello", &json!("all")));
    let deleted =
        |number: usize| change(Action::Delete, &format!("segments/s-{number}")).live(json!({"criteria": {"tag": "x"}}));
    plan((0..9).map(deleted).chain([
        all(Action::Create),
        change(Action::Delete, "templates/kept").live(json!({"name": "Kept"})).protect(),
        change(Action::Create, "scheduled_pushes/meant").desired(push("Meant", "Hi", &json!("all"))).broadcast(),
    ]))
}

/// A number of changes of all kinds.
pub fn huge(number: usize) -> Plan {
    let text = |number: usize, word: &str| {
        json!({"name": format!("Template {number}"), "variables": [], "push": {"notification": {
            "alert": format!("Hello {{{{FIRST_NAME}}}}, number {number}: {word} off everything until Sunday, and then some more")}}})
    };
    let one = |number: usize| -> Building {
        let building = match number % 10 {
            0 => change(Action::Create, &format!("segments/segment-{number:05}"))
                .desired(json!({"display_name": format!("Segment {number}"), "criteria": {"OR": [{"tag": "a"}, {"segment": "segment-00000"}]}}))
                .step(number, Verb::Create, Method::Post, "/api/segments"),
            1 => change(Action::Create, &format!("scheduled_pushes/push-{number:05}"))
                .desired(push("Push", "Hello there", &json!({"segment": format!("segment-{:05}", number - 1)})))
                .step(number, Verb::Create, Method::Post, "/api/schedules"),
            2 => change(Action::Delete, &format!("templates/old-{number:05}"))
                .live(text(number, "5%"))
                .step(number, Verb::Delete, Method::Delete, "/api/templates/0b1e"),
            _ => change(Action::Update, &format!("templates/template-{number:05}"))
                .live(text(number, "10%"))
                .desired(text(number, "20%"))
                .moved(Moved::Git)
                .step(number, Verb::Update, Method::Post, "/api/templates/7f2a"),
        };
        building.name(&format!("Thing number {number}")).at("messages/a-file-with-a-name.yaml", number)
    };
    plan((0..number).map(one))
}

/// A number of changes whose texts are all very long, and even longer when escaped.
pub fn enormous(number: usize) -> Plan {
    let long = "<\"& ".repeat(1_500);
    let text = |word: &str| {
        let alert = format!("{long}{word}");
        json!({"name": long, "variables": [], "push": {"notification": {"alert": alert}, "message": {"title": long, "body": alert}}})
    };
    let (old, new) = (text("old"), text("new"));
    let one = |number: usize| {
        let building = change(Action::Update, &format!("templates/{}{number:05}", "k".repeat(120)));
        let building = building.live(old.clone()).desired(new.clone()).name(&long).at(&long, number);
        building.step(number, Verb::Update, Method::Post, &long)
    };
    plan((0..number).map(one))
}
