//! One plan for each feature of plans.

use pushplan::exchange::Method;
use pushplan::ledger::Verb;
use pushplan::plan::{Action, Moved, Plan, Reason};
use serde_json::{Value, json};

use crate::build::{Building, address, change, plan, time};

/// Every plan, with its name.
pub fn all() -> Vec<(&'static str, Plan)> {
    vec![
        ("campaign", campaign()),
        ("create", create()),
        ("drift", drift()),
        ("left-out", left_out()),
        ("long", long()),
        ("members", members()),
        ("nothing", nothing()),
        ("old-versions", old_versions()),
        ("stuck", stuck()),
    ]
}

fn template(name: &str, alert: &str) -> Value {
    json!({"name": name, "push": {"notification": {"alert": alert}}, "variables": []})
}

fn push(time: &str, audience: &Value) -> Value {
    json!({
        "name": "Black Friday",
        "schedule": [{"scheduled_time": time}],
        "push": {
            "audience": audience,
            "device_types": ["ios", "android"],
            "notification": {"alert": "Black Friday starts now: 20% off everything"},
        },
    })
}

fn experiment(segment: &str) -> Value {
    let variant = |alert: &str| json!({"push": {"notification": {"alert": alert}}, "schedule": {"scheduled_time": "2026-11-20T1500"}});
    json!({
        "name": "bf-text-test",
        "audience": {"segment": segment},
        "device_types": ["ios"],
        "variants": [variant("Come back"), variant("We miss you")],
    })
}

fn pipeline(delay: i64) -> Value {
    json!({
        "name": "remind-later",
        "enabled": true,
        "immediate_trigger": [{"tag_added": "remind-me"}],
        "outcome": [{"delay": delay, "push": {"audience": "triggered", "device_types": ["ios"], "notification": {"alert": "Still interested?"}}}],
    })
}

fn member(user: &str, tags: &[&str]) -> Value {
    json!({"group": "loyalty", "named_user_id": user, "tags": tags})
}

fn criteria(countries: &[&str]) -> Value {
    let country = |code: &&str| json!({"tag": code, "group": "ua_locale_country"});
    json!({
        "display_name": "Lapsed buyers",
        "criteria": {"AND": [
            {"tag": "buyer", "group": "lifecycle"},
            {"OR": countries.iter().map(country).collect::<Vec<_>>()},
            {"tag": "lapsed", "group": "lifecycle"},
        ]},
    })
}

fn kept(at: &str) -> Building {
    change(Action::Keep, at)
}

/// Every kind of change, in the week before a sale.
pub fn campaign() -> Plan {
    let lapsed = address("segments/lapsed-buyers");
    plan([
        change(Action::Update, "templates/winback")
            .name("Win back")
            .at("campaigns/black-friday.yaml", 18)
            .live(template("Win back", "Hi {{FIRST_NAME}}, we miss you. Come back and save 10% this week."))
            .desired(template(
                "Win back",
                "Hi {{FIRST_NAME}}, we miss you. Come back this week and take 20% off everything until Sunday.",
            ))
            .moved(Moved::Git)
            .step(9, Verb::Update, Method::Post, "/api/templates/7f2a"),
        change(Action::Replace, "segments/lapsed-buyers")
            .name("Lapsed buyers")
            .at("messages/segments.yaml", 2)
            .live(criteria(&["US", "CA"]))
            .desired(criteria(&["US", "CA", "GB"]))
            .moved(Moved::Git)
            .why(Reason::NotInPlace)
            .why(Reason::StillUsed { id: "3e9c".to_owned(), by: vec![address("scheduled_pushes/black-friday").into()] })
            .step(1, Verb::Create, Method::Post, "/api/segments"),
        change(Action::Replace, "experiments/bf-text-test")
            .at("campaigns/black-friday.yaml", 30)
            .live(experiment("lapsed-buyers"))
            .desired(experiment("lapsed-buyers"))
            .why(Reason::Repoint { to: vec![lapsed], outdated: std::collections::BTreeMap::new() })
            .why(Reason::NotInPlace)
            .step(2, Verb::Delete, Method::Delete, "/api/experiments/scheduled/9f2e")
            .step(3, Verb::Create, Method::Post, "/api/experiments"),
        change(Action::ByHand, "pipelines/remind-later")
            .at("messages/pipelines.yaml", 12)
            .live(pipeline(3600))
            .desired(pipeline(86_400))
            .moved(Moved::Git)
            .why(Reason::InDashboard { old: Some("41c0".to_owned()) }),
        change(Action::ByHand, "scheduled_pushes/black-friday")
            .name("Black Friday")
            .at("campaigns/black-friday.yaml", 7)
            .ledger(push("2026-11-27T1100", &json!({"segment": "lapsed-buyers"})))
            .desired(push("2026-11-27T1400", &json!({"segment": "lapsed-buyers"})))
            .moved(Moved::Git)
            .why(Reason::InDashboard { old: Some("c0de".to_owned()) }),
        change(Action::Update, "tag_groups/loyalty/named_users/u-1001")
            .name("loyalty")
            .at("messages/tags.yaml", 3)
            .live(member("u-1001", &["gold"]))
            .desired(member("u-1001", &["gold", "vip"]))
            .sends("pipelines/vip-welcome", "vip", "named user u-1001")
            .step(5, Verb::Update, Method::Post, "/api/named_users/tags"),
        change(Action::Delete, "tag_groups/loyalty/named_users/u-1002")
            .name("loyalty")
            .live(member("u-1002", &["silver"]))
            .step(6, Verb::Delete, Method::Post, "/api/named_users/tags"),
        kept("tag_groups/loyalty/named_users/u-1003"),
        change(Action::Delete, "templates/old-welcome")
            .name("Old welcome")
            .live(template("Old welcome", "Welcome"))
            .step(8, Verb::Delete, Method::Delete, "/api/templates/11aa"),
        change(Action::Update, "templates/order-shipped")
            .at("messages/templates.yaml", 40)
            .ledger(template("order-shipped", "Your order {{ORDER}} is on its way."))
            .desired(template("order-shipped", "Your order {{ORDER}} is on its way."))
            .moved(Moved::Service)
            .step(7, Verb::Update, Method::Post, "/api/templates/22bb")
            .on_service(template("order-shipped", "Your order {{ORDER}} is on its way 🎉")),
        change(Action::Past, "scheduled_pushes/halloween").why(Reason::Went {
            at: Some(time("2026-10-31T13:00:00Z")),
            edited: false,
            rest: vec![],
        }),
        kept("templates/receipt"),
        kept("templates/reset"),
    ])
}

/// Creations that cannot be undone.
fn create() -> Plan {
    plan([
        change(Action::Create, "segments/lapsed-buyers")
            .name("Lapsed buyers")
            .at("messages/segments.yaml", 2)
            .desired(criteria(&["US"]))
            .step(1, Verb::Create, Method::Post, "/api/segments"),
        change(Action::Create, "scheduled_pushes/black-friday")
            .name("Black Friday")
            .at("campaigns/black-friday.yaml", 7)
            .desired(push("2026-11-27T1400", &json!({"segment": "lapsed-buyers"})))
            .step(2, Verb::Create, Method::Post, "/api/schedules"),
        change(Action::Create, "experiments/bf-text-test")
            .at("campaigns/black-friday.yaml", 30)
            .desired(experiment("lapsed-buyers"))
            .step(3, Verb::Create, Method::Post, "/api/experiments"),
        change(Action::Adopt, "templates/welcome").at("messages/templates.yaml", 1).id("77cc"),
        change(Action::Adopt, "templates/receipt")
            .at("messages/templates.yaml", 9)
            .why(Reason::Recovered { id: "88dd".to_owned() }),
        change(Action::Forget, "templates/gone"),
    ])
}

/// Changes made in the dashboard.
fn drift() -> Plan {
    plan([
        change(Action::Update, "templates/both")
            .at("messages/templates.yaml", 3)
            .ledger(template("both", "Last applied"))
            .on_service(template("both", "Edited in the dashboard"))
            .desired(template("both", "Edited in git"))
            .moved(Moved::Both)
            .step(1, Verb::Update, Method::Post, "/api/templates/1"),
        change(Action::Update, "templates/service")
            .at("messages/templates.yaml", 9)
            .ledger(template("service", "Ours"))
            .on_service(template("service", "Theirs"))
            .desired(template("service", "Ours"))
            .moved(Moved::Service)
            .step(2, Verb::Update, Method::Post, "/api/templates/2"),
        change(Action::Create, "templates/removed")
            .at("messages/templates.yaml", 15)
            .ledger(template("removed", "Removed"))
            .desired(template("removed", "Removed"))
            .moved(Moved::Removed)
            .step(3, Verb::Create, Method::Post, "/api/templates"),
        change(Action::Replace, "segments/lapsed-buyers")
            .name("Lapsed buyers")
            .at("messages/segments.yaml", 2)
            .ledger(criteria(&["US", "CA"]))
            .on_service(criteria(&["US", "MX"]))
            .desired(criteria(&["US", "CA"]))
            .moved(Moved::Service)
            .why(Reason::NotInPlace)
            .step(4, Verb::Create, Method::Post, "/api/segments")
            .step(5, Verb::Delete, Method::Delete, "/api/segments/3e9c"),
    ])
}

fn left_out() -> Plan {
    let mut plan = plan([change(Action::Update, "templates/a")
        .live(template("a", "Old"))
        .desired(template("a", "New"))
        .step(1, Verb::Update, Method::Post, "/api/templates/1")]);
    plan.left_out = (1..=12).map(|number| address(&format!("segments/s-{number}"))).collect();
    plan
}

/// A long body of which one word changes, and a resource with very many fields.
fn long() -> Plan {
    let body = |word: &str| {
        let lines =
            |from: usize| (from..from + 30).map(|n| format!("<p>Paragraph {n} of the sale.</p>\n")).collect::<String>();
        let mut spec = template("sale", "Sale");
        spec["push"]["message"] =
            json!({"title": "Sale", "body": format!("{}<b>{word} off</b>\n{}", lines(1), lines(31))});
        spec
    };
    let mut many = template("many", "Many");
    let extra = (1..=20).map(|number| (format!("key-{number:02}"), json!(number))).collect::<serde_json::Map<_, _>>();
    many["push"]["notification"]["ios"] = json!({"extra": extra});
    plan([
        change(Action::Update, "templates/sale")
            .at("messages/a-folder-with-a-rather-long-name/another-one/templates-of-the-sale.yaml", 1234)
            .name("The sale of the year, with a name that somebody wrote on a very quiet afternoon in the office")
            .live(body("10%"))
            .desired(body("20%"))
            .step(1, Verb::Update, Method::Post, "/api/templates/1"),
        change(Action::Create, "templates/many").desired(many).step(2, Verb::Create, Method::Post, "/api/templates"),
    ])
}

/// Parts of resources: all are removed, some are added, with the resource itself.
fn members() -> Plan {
    let tag = |channel: Option<&str>| match channel {
        None => json!({"tag": "sale"}),
        Some(id) => json!({"tag": "sale", "ios_channel": id}),
    };
    let channel = |id: &str, device: &str| json!({"named_user_id": "ada", "channel_id": id, "device_type": device});
    plan([
        change(Action::Delete, "tag_groups/old/named_users/u-1").live(member("u-1", &["a"])).protect(),
        change(Action::Delete, "tag_groups/old/named_users/u-2").live(member("u-2", &["b"])),
        change(Action::Create, "tags/sale").at("messages/tags.yaml", 5).desired(tag(None)).step(
            1,
            Verb::Create,
            Method::Put,
            "/api/tags/sale",
        ),
        change(Action::Create, "tags/sale/ios_channels/c-1")
            .desired(tag(Some("c-1")))
            .sends("pipelines/sale", "sale", "iOS channel c-1")
            .step(2, Verb::Create, Method::Post, "/api/tags/sale"),
        change(Action::Create, "tags/sale/ios_channels/c-2")
            .desired(tag(Some("c-2")))
            .sends("pipelines/sale", "sale", "iOS channel c-2")
            .step(3, Verb::Create, Method::Post, "/api/tags/sale"),
        change(Action::Create, "named_users/ada/c-9").desired(channel("c-9", "ios")).step(
            4,
            Verb::Create,
            Method::Post,
            "/api/named_users/associate",
        ),
        change(Action::Update, "named_users/ada/c-8").live(channel("c-8", "ios")).desired(channel("c-8", "android")),
    ])
}

fn nothing() -> Plan {
    plan([
        kept("templates/receipt"),
        kept("tag_groups/loyalty/named_users/u-1"),
        kept("tag_groups/loyalty/named_users/u-2"),
        change(Action::Past, "scheduled_pushes/halloween").why(Reason::Went {
            at: Some(time("2026-10-31T13:00:00Z")),
            edited: true,
            rest: vec![],
        }),
    ])
}

/// The remains of earlier runs.
fn old_versions() -> Plan {
    let retired = |id: &str| Reason::Retired { id: id.to_owned(), refs: std::collections::BTreeMap::new() };
    let used = |id: &str| Reason::StillUsed { id: id.to_owned(), by: vec![address("scheduled_pushes/sale").into()] };
    plan([
        kept("segments/one"),
        change(Action::Delete, "segments/one").live(criteria(&["US"])).why(retired("1a")).step(
            1,
            Verb::Delete,
            Method::Delete,
            "/api/segments/1a",
        ),
        change(Action::Replace, "segments/two")
            .at("messages/segments.yaml", 9)
            .live(criteria(&["US"]))
            .desired(criteria(&["CA"]))
            .why(Reason::NotInPlace)
            .step(2, Verb::Create, Method::Post, "/api/segments")
            .step(3, Verb::Delete, Method::Delete, "/api/segments/2b"),
        change(Action::ByHand, "segments/two").live(criteria(&["GB"])).why(retired("2a")).why(used("2a")),
        change(Action::Keep, "templates/found")
            .desired(template("found", "Found"))
            .why(Reason::Recovered { id: "77cc".to_owned() }),
    ])
}

/// Changes that wait for a person.
pub fn stuck() -> Plan {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let since = time("2026-11-14T10:00:00Z");
    plan([
        change(Action::ByHand, "segments/one")
            .desired(criteria(&["US"]))
            .why(Reason::Collision { ids: ids(&["3e9c"]) }),
        change(Action::ByHand, "segments/two")
            .desired(criteria(&["US"]))
            .why(Reason::Collision { ids: ids(&["3e9c", "4f0d"]) }),
        change(Action::ByHand, "scheduled_pushes/lost")
            .desired(push("2026-11-27T1400", &json!("all")))
            .broadcast()
            .why(Reason::InDoubt { since, candidates: Vec::new() }),
        change(Action::ByHand, "templates/found")
            .desired(template("found", "Found"))
            .why(Reason::InDoubt { since, candidates: ids(&["77aa", "88bb"]) }),
        change(Action::Create, "scheduled_pushes/near")
            .desired(push("2026-11-16T0903", &json!({"tag": "vip"})))
            .why(Reason::TooLate { at: time("2026-11-16T09:03:00Z") }),
        change(Action::Create, "scheduled_pushes/late")
            .desired(push("2026-11-15T0903", &json!({"tag": "vip"})))
            .why(Reason::TooLate { at: time("2026-11-15T09:03:00Z") }),
        change(Action::ByHand, "experiments/gone")
            .ledger(experiment("one"))
            .desired(experiment("one"))
            .moved(Moved::Removed)
            .why(Reason::NeverTwice),
        change(Action::ByHand, "segments/waiting")
            .desired(json!({"display_name": "waiting", "criteria": {"segment": "one"}}))
            .why(Reason::Blocked { by: vec![address("segments/one")] }),
        change(Action::Delete, "segments/protected").live(criteria(&["US"])).protect(),
        change(Action::ByHand, "pipelines/removed")
            .live(pipeline(60))
            .why(Reason::InDashboard { old: Some("41c0".to_owned()) }),
    ])
}
