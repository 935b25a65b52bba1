//! Safety settings that change: a loosened one names what it lets through, and longer quiet hours name the messages in them.

use serde_json::{Value, json};

use super::scene::{EXTENDED, Scene};

const SETTINGS: &str = "\
on_drift = \"stop\"
max_deletes = 1
quiet_hours = { from = \"22:00\", to = \"07:00\" }
min_lead = \"10d\"
";

const SHOP: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {tag: b}}
  c: {criteria: {tag: c}}
scheduled_pushes:
  early:
    schedule: {scheduled_time: 2026-12-01T07:30, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Good morning}}
  late:
    schedule: {scheduled_time: 2026-12-01T21:30, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Good evening}}
  noon:
    lifecycle: {protect: true}
    schedule: {scheduled_time: 2026-12-01T12:00, time_zone: Europe/Paris}
    push: {audience: {country: FR}, device_types: [ios], notification: {alert: Lunch}}
";

fn shop() -> Scene {
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write("messages.yaml", SHOP);
    scene.apply();
    scene
}

/// The words of a plan on one line, and its JSON.
fn told(scene: &Scene) -> (String, Value) {
    let (text, document) = scene.shown(100_000);
    (text.split_whitespace().collect::<Vec<_>>().join(" "), document)
}

/// The changes that each loosened setting lets through.
fn through(document: &Value) -> Value {
    let all = document["loosened"].as_array().expect("a list");
    all.iter().map(|one| json!([one["setting"], one["lets_through"]])).collect()
}

#[test]
fn a_broadcast_that_is_allowed_in_the_same_change_is_named_as_let_through() {
    let mut scene = shop();
    scene.edit(
        "messages.yaml",
        "12:00, time_zone: Europe/Paris}\n    push: {audience: {country: FR}",
        "12:00, time_zone: Europe/Paris}\n    push: {audience: all",
    );
    scene.edit("messages.yaml", "{protect: true}", "{protect: true, broadcast: true}");
    let (text, document) = told(&scene);
    assert!(text.contains("scheduled_pushes/noon may now reach every device: `broadcast: true` was added."), "{text}");
    assert!(text.contains("broadcast: true was added; it now reaches every device (messages.yaml:"), "{text}");
    assert_eq!(through(&document), json!([["lifecycle.broadcast", ["scheduled_pushes/noon"]]]));
}

#[test]
fn a_broadcast_that_is_allowed_and_not_used_lets_nothing_through() {
    let mut scene = shop();
    scene.edit("messages.yaml", "{protect: true}", "{protect: true, broadcast: true}");
    scene.edit("messages.yaml", "alert: Lunch", "alert: Dinner");
    let (text, document) = told(&scene);
    assert!(
        text.contains("1 guard was loosened, with no effect on this plan.") && !text.contains("it now reaches"),
        "{text}"
    );
    assert_eq!(through(&document), json!([["lifecycle.broadcast", []]]));
}

#[test]
fn limits_that_are_loosened_name_what_they_let_through() {
    let mut scene = shop();
    scene.edit("messages.yaml", "  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n", "");
    let (_, document) = told(&scene);
    assert_eq!(document["refused"][0]["guard"], "deletes", "{document}");
    scene.edit("pushplan.toml", "max_deletes = 1", "max_deletes = 9");
    let (text, document) = told(&scene);
    assert!(text.contains("this affects segments/a and segments/b (pushplan.toml:"), "{text}");
    assert_eq!(through(&document), json!([["max_deletes", ["segments/a", "segments/b"]]]));
}

#[test]
fn a_push_that_a_shorter_lead_lets_through_is_named() {
    let mut scene = shop();
    scene.edit(
        "messages.yaml",
        "  late:\n",
        "  soon:\n    schedule: {scheduled_time: 2026-11-20T12:00, time_zone: Europe/Paris}\n    push: {audience: {country: FR}, \
         device_types: [ios], notification: {alert: Soon}}\n  late:\n",
    );
    scene.edit("pushplan.toml", "min_lead = \"10d\"", "min_lead = \"1h\"");
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened, with an effect on scheduled_pushes/soon."), "{text}");
    assert_eq!(through(&document), json!([["min_lead", ["scheduled_pushes/soon"]]]));
}

#[test]
fn quiet_hours_that_are_shortened_name_the_messages_between() {
    let mut scene = shop();
    scene.edit("messages.yaml", "T07:30", "T06:30");
    scene.apply();
    scene.edit("pushplan.toml", "to = \"07:00\"", "to = \"06:00\"");
    let (text, document) = told(&scene);
    assert!(
        text.starts_with("No message changes. 1 guard was loosened, with an effect on scheduled_pushes/early."),
        "{text}"
    );
    assert_eq!(through(&document), json!([["quiet_hours", ["scheduled_pushes/early"]]]));
}

#[test]
fn quiet_hours_that_are_tightened_name_the_messages_in_them_in_every_form() {
    let mut scene = shop();
    scene.edit("pushplan.toml", "to = \"07:00\"", "to = \"07:15\"");
    let (text, document) = told(&scene);
    assert!(!text.contains("TIGHTENED"), "no message is in them: {text}");
    assert_eq!(document["tightened_quiet_hours"], Value::Null);
    scene.edit("pushplan.toml", "to = \"07:15\"", "to = \"08:00\"");
    let (text, document) = told(&scene);
    let stake = "scheduled_pushes/early is now in quiet hours (Paris 07:30 Tue): quiet_hours was tightened.";
    let row = "quiet_hours is now 22:00 to 08:00, was 22:00 to 07:00: now in quiet hours: scheduled_pushes/early";
    assert!(text.starts_with(&format!("No message changes. {stake}")), "{text}");
    assert!(text.contains(row), "{text}");
    assert_eq!(
        document["tightened_quiet_hours"]["messages"],
        json!([{ "address": "scheduled_pushes/early", "clock": "Paris 07:30 Tue" }])
    );
    for format in ["markdown", "html"] {
        let page = scene.good(&["plan", "--format", format]).stdout;
        assert!(page.contains("TIGHTENED") && page.contains("quiet_hours was tightened"), "{page}");
        assert!(!page.contains("Nothing here sends a message"), "{page}");
    }
    scene.edit("pushplan.toml", "from = \"22:00\"", "from = \"21:00\"");
    let (text, _) = told(&scene);
    assert!(
        text.starts_with("No message changes. 2 messages are now in quiet hours: quiet_hours was tightened."),
        "{text}"
    );
}

#[test]
fn a_setting_that_is_loosened_and_lets_nothing_through_says_so() {
    let mut scene = shop();
    scene.edit("pushplan.toml", "max_deletes = 1", "max_deletes = 9");
    let (text, document) = told(&scene);
    assert!(text.starts_with("No message changes. 1 guard was loosened, with no effect on this plan."), "{text}");
    assert!(text.contains("one plan may delete 9 resources; no effect on this plan (pushplan.toml:"), "{text}");
    assert_eq!(through(&document), json!([["max_deletes", []]]));
    assert_eq!(document["loosened"][0]["effect"], "no effect on this plan");
    for format in ["markdown", "html"] {
        let page = scene.good(&["plan", "--format", format]).stdout;
        assert_eq!(page.matches("no effect on this plan").count(), 2, "{page}");
    }
    // The permission for test sends does not concern a single plan.
    scene.edit("pushplan.toml", "max_deletes = 9", "max_deletes = 1\ntest_sends = true");
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened.") && !text.contains("no effect"), "{text}");
    assert_eq!(through(&document), json!([["test_sends", null]]));
}

#[test]
fn a_check_that_is_turned_off_names_the_messages_that_it_reported() {
    let mut scene = shop();
    scene.edit("messages.yaml", "T07:30", "T06:30");
    scene.apply();
    scene.edit("pushplan.toml", "[targets.local]", "[checks]\nSC104 = \"off\"\nMS105 = \"off\"\n[targets.local]");
    let (text, document) = told(&scene);
    assert!(text.contains("2 guards were loosened, 1 of them with an effect on scheduled_pushes/early."), "{text}");
    let row =
        "SC104 is now off: it is no longer reported (the time is in quiet hours); this affects scheduled_pushes/early";
    assert!(text.contains(row), "{text}");
    assert_eq!(
        through(&document),
        json!([["checks.MS105", []], ["checks.SC104", ["scheduled_pushes/early"]]]),
        "{document}"
    );
    assert_eq!(document["loosened"][1]["code"], "SC104");
    let lines = json!([document["loosened"][0]["line"], document["loosened"][1]["line"]]);
    assert_eq!(lines, json!([3, 2]), "each is named with its own line");
    for format in ["markdown", "html"] {
        let page = scene.good(&["plan", "--format", format]).stdout;
        assert!(page.contains("this affects scheduled_pushes/early"), "{page}");
    }
}

#[test]
fn an_exception_for_messages_names_those_that_a_check_reported() {
    let mut scene = shop();
    scene.edit("messages.yaml", "T07:30", "T06:30");
    scene.apply();
    scene.edit("messages.yaml", "  early:\n", "  early:\n    lifecycle: {allow: [sc104]}\n");
    scene.edit("messages.yaml", "{protect: true}", "{protect: true, allow: [sc104]}");
    let (text, document) = told(&scene);
    assert!(text.contains("LOOSENED 2 scheduled pushes allow: sc104 was added"), "{text}");
    assert!(text.contains("; this affects scheduled_pushes/early"), "{text}");
    let expected = json!([["lifecycle.allow", ["scheduled_pushes/early"]], ["lifecycle.allow", []]]);
    assert_eq!(through(&document), expected);
    // The check was off before: nothing additional is let through.
    scene.edit("pushplan.toml", "[targets.local]", "[checks]\nSC104 = \"off\"\n[targets.local]");
    scene.edit("messages.yaml", "alert: Lunch", "alert: Dinner");
    scene.apply();
    scene.edit("messages.yaml", "  late:\n", "  late:\n    lifecycle: {allow: [SC104]}\n");
    scene.edit("messages.yaml", "T21:30", "T22:30");
    assert_eq!(through(&told(&scene).1), json!([["lifecycle.allow", []]]));
}

#[test]
fn an_error_that_becomes_a_warning_names_the_messages_that_use_it() {
    let segment = |lifecycle: &str| format!("segments:\n  d: {{criteria: {{ios_version: \"8.3.1\"}}{lifecycle}}}\n");
    let push = "scheduled_pushes:\n  promo:\n    schedule: {scheduled_time: 2026-12-02T12:00, time_zone: Europe/Paris}\n    push: \
                {audience: {and: [{segment: d}, {country: FR}]}, device_types: [ios], notification: {alert: Promo}}\n";
    let used = json!(["scheduled_pushes/promo", "segments/d"]);
    let mut scene = shop();
    scene.write("promo.yaml", &format!("{}{push}", segment(", lifecycle: {warn: [AU101]}")));
    let (text, document) = told(&scene);
    assert!(text.contains("1 guard was loosened, with an effect on scheduled_pushes/promo and segments/d."), "{text}");
    assert_eq!(through(&document), json!([["lifecycle.warn", used]]));
    scene.write("promo.yaml", &format!("{}{push}", segment("")));
    scene.edit("pushplan.toml", "[targets.local]", "[checks]\nAU101 = \"warning\"\n[targets.local]");
    assert_eq!(through(&told(&scene).1), json!([["checks.AU101", used]]));
}

#[test]
fn messages_that_may_be_nearer_to_each_other_are_named() {
    let mut scene = shop();
    scene.edit("pushplan.toml", "max_deletes = 1", "max_deletes = 1\napart = \"12h\"");
    scene.edit("messages.yaml", "alert: Lunch", "alert: Dinner");
    scene.apply();
    scene.edit("pushplan.toml", "apart = \"12h\"", "apart = \"6h\"");
    let (text, document) = told(&scene);
    let stake = "No message changes. 1 guard was loosened, with an effect on scheduled_pushes/late.";
    assert!(text.starts_with(stake), "{text}");
    assert!(
        text.contains("messages closer than before are no longer reported; this affects scheduled_pushes/late"),
        "{text}"
    );
    assert_eq!(through(&document), json!([["apart", ["scheduled_pushes/late"]]]));
    scene.edit("pushplan.toml", "apart = \"6h\"\n", "");
    assert!(told(&scene).0.contains("apart is now 4 hours (the default), was 12 hours"));
    let expected = json!([["apart", ["scheduled_pushes/late", "scheduled_pushes/noon"]]]);
    assert_eq!(through(&told(&scene).1), expected);
    // The default is a setting, too.
    scene.edit("messages.yaml", "alert: Dinner", "alert: Supper");
    scene.apply();
    scene.edit("pushplan.toml", "max_deletes = 1", "max_deletes = 1\napart = \"0s\"");
    let text = told(&scene).0;
    assert!(text.contains("apart is now 0 seconds, was 4 hours (the default)"), "{text}");
}
