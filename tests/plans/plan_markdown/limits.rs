//! Plans of any size fit into a comment, and everything that sends or deletes is shown or counted.

use pushplan::exchange::Method;
use pushplan::ledger::Verb;
use pushplan::plan::{Action, Plan};
use serde_json::{Value, json};

use super::read::{Document, assert_sound};
use super::shown;
use crate::build::{Building, change, plan};

const MANY: usize = 10_000;

fn template(alert: &str) -> Value {
    json!({"name": "x", "push": {"notification": {"alert": alert}}, "variables": []})
}

fn deleting(number: usize) -> Building {
    change(Action::Delete, &format!("templates/t-{number:05}")).live(template("Bye")).step(
        number,
        Verb::Delete,
        Method::Delete,
        &format!("/api/templates/{number}"),
    )
}

fn sending(number: usize) -> Building {
    let spec = |tags: &[&str]| json!({"group": "loyalty", "named_user_id": "u-1", "tags": tags});
    change(Action::Update, &format!("tag_groups/g-{number:05}/named_users/u-1"))
        .live(spec(&["gold"]))
        .desired(spec(&["gold", "vip"]))
        .sends("pipelines/vip-welcome", "vip", "named user u-1")
}

fn creating(number: usize) -> Building {
    change(Action::Create, &format!("templates/t-{number:05}")).desired(template("Hello"))
}

/// The shown parts of a plan that does not fit.
fn cut(plan: &Plan) -> (String, Document) {
    let text = shown(plan);
    let marker = text.lines().next().expect("a marker");
    assert!(marker.ends_with(" truncated -->"), "{marker}");
    assert!(text.len() > 30_000, "there is room for more than {} bytes", text.len());
    let document = assert_sound(&text);
    (text, document)
}

/// The number of changes that are shown in full, on a line, and counted.
fn told(text: &str) -> (usize, usize, usize) {
    let number = |line: &str| line.split(' ').next().and_then(|word| word.parse::<usize>().ok()).unwrap_or_default();
    let of = |words: &str| text.lines().filter(|line| line.contains(words)).map(number).sum();
    let folded = text.matches("<details><summary>").count() - text.matches(", in order</summary>").count();
    (folded, of(" more, on a line each:"), of(" counted here and not named: "))
}

#[test]
fn ten_thousand_of_anything_fit_and_are_all_accounted_for() {
    let makes: [fn(usize) -> Building; 3] = [creating, deleting, sending];
    for (does, make) in ["create", "delete", "send"].into_iter().zip(makes) {
        let (text, _) = cut(&plan((0..MANY).map(make)));
        let (whole, lines, counted) = told(&text);
        assert_eq!(whole + lines + counted, MANY, "{does}");
        assert!(whole + lines > 150, "only {whole} and {lines} are named to {does}");
        assert!(text.contains(&format!("({does})")), "{does}: {counted} are counted, and not by what they do");
    }
}

#[test]
fn what_sends_or_deletes_is_named_before_the_rest_is_shown() {
    let grave = (0..150).flat_map(|number| [deleting(number), sending(number)]);
    let text = cut(&plan(grave.chain((1_000..3_000).map(creating)))).0;
    for number in 0..150 {
        for address in [format!("templates/t-{number:05}"), format!("tag_groups/g-{number:05}")] {
            assert!(text.contains(&address), "{address} is not named");
        }
    }
    let (whole, lines, counted) = told(&text);
    assert_eq!(whole + lines + counted, 2_300);
    assert!(text.contains("templates (create)"));
}

#[test]
fn nine_hundred_deletions_are_all_named() {
    let text = cut(&plan((0..900).map(deleting))).0;
    let missing: Vec<usize> = (0..900).filter(|number| !text.contains(&format!("templates/t-{number:05}"))).collect();
    assert!(missing.is_empty(), "{} are not named", missing.len());
}

#[test]
fn a_plan_that_just_fits_is_whole() {
    for number in (1..400).step_by(7) {
        let text = shown(&plan((0..number).map(deleting)));
        let (whole, lines, counted) = told(&text);
        assert_eq!(whole + lines + counted, number);
        // Requests follow from the changes, which are all shown.
        let is_cut = text.lines().any(|line| line.contains("… and ") && !line.contains("more request"));
        assert_eq!(text.lines().next().expect("a marker").contains("truncated"), is_cut || lines > 0);
        assert_sound(&text);
    }
}

#[test]
fn one_change_with_a_very_long_text_leaves_room_for_the_others() {
    let body = |word: &str| {
        let mut spec = template(&format!("{} {word}", "long ".repeat(2_000)));
        spec["push"]["message"] = json!({"title": "T", "body": format!("<p>{}</p>{word}", "words ".repeat(350_000))});
        spec
    };
    let long = change(Action::Update, "templates/long").live(body("old")).desired(body("new"));
    let unbroken = json!({"name": "x".repeat(2_000_000), "push": {"notification": {"alert": "`".repeat(200_000)}}});
    let unbroken = change(Action::Create, "templates/unbroken").name(&"n".repeat(200_000)).desired(unbroken);
    let text = shown(&plan([long, unbroken, deleting(1)]));
    assert_sound(&text);
    for address in ["templates/long", "templates/unbroken", "templates/t-00001"] {
        assert!(text.contains(&format!(" {address}")), "{address}");
    }
}

#[test]
fn long_names_everywhere_fit() {
    for sign in ["x", "<", "`", "\u{202e}", "@", "日", "|", "\\"] {
        let name = sign.repeat(3_000);
        let long = |number: usize| {
            let address = format!("templates/t-{number}-{name}");
            let building = change(if number.is_multiple_of(2) { Action::Delete } else { Action::Create }, &address);
            let building = building.name(&name).at(&name, number).desired(template(&name)).live(template(&name));
            building.step(number, Verb::Create, Method::Post, &name)
        };
        let mut plan = plan((0..300).map(long));
        plan.target = name.clone();
        plan.origin = name.clone();
        plan.left_out = vec![plan.changes[0].address.clone(); 30];
        let (text, _) = cut(&plan);
        let (whole, lines, counted) = told(&text);
        assert_eq!(whole + lines + counted, 300, "{sign}");
    }
}
