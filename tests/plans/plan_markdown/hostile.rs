//! Text from a manifest, a file name or the service is never read as markup.

use proptest::prelude::*;
use pushplan::exchange::Method;
use pushplan::guard::{Limits, guards};
use pushplan::ledger::Verb;
use pushplan::plan::{Action, Annotation, Moved, Plan, Reason};
use pushplan::render::one_line;
use pushplan::render::plan::{NextSteps, markdown};
use pushplan::text::short;
use serde_json::json;

use super::read::assert_sound;
use crate::build::{address, change, plan, time};

/// Texts that try to be markup, and the characters that they are made of.
const HOSTILE: &[&str] = &[
    "</summary></details>",
    "</details>",
    "<details>",
    "<!--",
    "-->",
    "--",
    "<img src=x>",
    "<br>",
    "<https://evil.example>",
    "&lt;",
    "&#64;",
    "```",
    "````",
    "~~~",
    "`",
    "**",
    "*",
    "__",
    "_",
    "~~",
    "[x](https://evil.example)",
    "![x](y)",
    "[^1]",
    "[^1]: x",
    "[ ] ",
    "[x]: https://evil.example",
    "[!NOTE]",
    "[[a|b]]",
    "|",
    "\\|",
    "\\",
    "@name",
    "@org/team",
    "a@b.example",
    "#123",
    "GH-12",
    "owner/repo#1",
    "0123abcdef",
    "https://evil.example/x",
    "www.evil.example",
    "mailto:a@b.example",
    ":tada:",
    ":tada",
    ":+1:",
    ":",
    "$x$",
    "$$",
    "---",
    "===",
    "# ",
    "> ",
    "- ",
    "+ ",
    "1. ",
    "1) ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\n---\n",
    "\n```\n",
    "\n</details>\n\n",
    "|---|",
    "[-",
    "-]",
    "{+",
    "+}",
    " -> ",
    "= ",
    "└─ ",
    "/approve",
    "::error::",
    "a",
    "Z",
    "0",
    " ",
    "é",
    "日",
    "😀",
    "\u{202e}",
    "\u{200b}",
    "\u{1b}[2J",
    "\u{2028}",
];

fn hostile() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(HOSTILE), 1..6);
    prop_oneof![5 => pieces.prop_map(|pieces| pieces.concat()), 1 => "[!-/:-@\\[-`{-~ ]{1,12}"]
}

/// A plan with every action, and with a text in every place that can have one.
fn planned(text: &str, other: &str) -> Plan {
    let at = |kind: &str, key: &str| format!("{kind}/{key}{}", text.replace('/', ""));
    let template = |alert: &str| {
        json!({"name": text, "push": {"notification": {"alert": alert, "ios": {"extra": {text: other}}},
            "message": {"title": alert, "body": format!("<p>{alert}</p><a href=\"{alert}\">{alert}</a>")}},
            "variables": [{"key": "K", "name": text, "default_value": other}]})
    };
    let segment =
        |tag: &str| json!({"display_name": text, "criteria": {"OR": [{"tag": tag}, {"tag": "b", "group": other}]}});
    let push = |alert: &str, time: &str| {
        json!({"name": text, "schedule": [{"scheduled_time": time}], "push": {"audience": {"OR": [{"tag": other}, {"tag": alert}]},
            "device_types": ["ios", "web"], "notification": {"alert": alert, "actions": {"add_tag": text}}}})
    };
    let member = |tags: &[&str]| json!({"group": "g", "named_user_id": text, "tags": tags});
    let mut plan = plan([
        change(Action::Update, &at("templates", "u"))
            .name(text)
            .at(text, 3)
            .live(template(other))
            .desired(template(text))
            .moved(Moved::Both)
            .step(1, Verb::Update, Method::Post, text),
        change(Action::Update, &at("templates", "drift"))
            .at(other, 3)
            .ledger(template(text))
            .desired(template(text))
            .on_service(template(other))
            .moved(Moved::Service),
        change(Action::Delete, &at("templates", "d")).name(other).live(template(text)),
        change(Action::Replace, &at("segments", "s"))
            .name(text)
            .live(segment(other))
            .desired(segment(text))
            .why(Reason::NotInPlace)
            .why(Reason::StillUsed { id: text.to_owned(), by: vec![address(&at("scheduled_pushes", "p")).into()] }),
        change(Action::ByHand, &at("segments", "c"))
            .desired(segment(text))
            .why(Reason::Collision { ids: vec![text.to_owned(), other.to_owned()] }),
        change(Action::ByHand, &at("scheduled_pushes", "p"))
            .name(text)
            .ledger(push(other, "2026-11-27T1100"))
            .desired(push(text, "2026-11-27T1400"))
            .why(Reason::InDashboard { old: Some(other.to_owned()) }),
        change(Action::Create, &at("scheduled_pushes", "n")).name(other).desired(push(text, "2026-11-27T1400")),
        change(Action::Update, &format!("tag_groups/g/named_users/{text}"))
            .live(member(&[other]))
            .desired(member(&[text]))
            .sends(&at("pipelines", "p"), text, other)
            .step(2, Verb::Update, Method::Post, other),
        change(Action::Past, &at("scheduled_pushes", "past")).why(Reason::Went {
            at: Some(time("2026-10-31T13:00:00Z")),
            edited: true,
            rest: vec![],
        }),
    ]);
    plan.target = text.to_owned();
    plan.origin = other.to_owned();
    plan.tool = text.to_owned();
    plan.left_out = vec![address(&at("templates", "left"))];
    let previews = [(text.to_owned(), [("K".to_owned(), other.to_owned())].into())].into();
    plan.told.of.insert(address(&at("templates", "u")), Annotation { previews, ..Annotation::default() });
    plan
}

/// A text as one word, found again regardless of its spaces.
fn packed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn assert_harmless(text: &str, other: &str) {
    let plan = planned(text, other);
    let refused = guards(&plan, &Limits { max_deletes: 0, ..Limits::default() });
    let ahead = NextSteps { refused, saved: Some(text.to_owned()), ..NextSteps::default() };
    let shown = markdown(&plan, &ahead);
    let document = assert_sound(&shown);
    // A text stays this text.
    let texts = packed(&document.texts);
    let heading = packed(&format!("Plan for {}", short(text, 80)));
    assert!(texts.contains(&heading), "{text:?} is another text in\n{shown}");
    // A line break is shown as such, or is a space.
    let mut forms = vec![packed(&one_line(text)), packed(&short(text, 300))];
    forms.dedup();
    let found: usize = forms.iter().map(|form| texts.matches(form).count()).sum();
    assert!(found >= 6, "{text:?} is found but {found} times in\n{shown}");
}

#[test]
fn every_hostile_text_stays_a_text() {
    for text in HOSTILE {
        assert_harmless(text, "other words");
        assert_harmless("some words", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_text_breaks_out(text in hostile(), other in hostile()) {
        prop_assume!(!text.trim().is_empty());
        assert_harmless(&text, &other);
    }

    #[test]
    fn the_marker_holds_any_target(target in ".{0,80}") {
        let plan = Plan { target, ..planned("a", "b") };
        let shown = markdown(&plan, &NextSteps::default());
        let marker = shown.lines().next().expect("a marker");
        let inner = marker.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")).expect("a comment");
        prop_assert!(!inner.contains("--") && !inner.contains('>') && inner.split(' ').count() == 3, "{}", marker);
    }
}

#[test]
fn two_targets_have_two_markers() {
    let marker = |target: &str| {
        let plan = Plan { target: target.to_owned(), changes: vec![], ..planned("a", "b") };
        markdown(&plan, &NextSteps::default()).lines().next().expect("a marker").to_owned()
    };
    let targets = ["a", "a-", "a--", "-a", "a b", "a%20b", "a%2Db", "é", &"x".repeat(300), &"x".repeat(301), ""];
    let mut markers: Vec<String> = targets.iter().map(|target| marker(target)).collect();
    markers.sort();
    markers.dedup();
    assert_eq!(markers.len(), targets.len(), "{markers:#?}");
}
