//! The causes that a plan names if a resource is not edited itself: a default, an overlay, a body file, a variable. And
//! the rows of many resources with the same change.

use super::scene::{EXTENDED, Scene};

const SETTINGS: &str = "\
quiet_hours = { from = \"21:00\", to = \"08:00\" }
[targets.local.variables]
country = \"FR\"
delay = \"1h\"
offer = \"10%\"
";

/// All words of a plan on one line.
fn words(scene: &Scene) -> String {
    let shown = scene.shown(100_000).0;
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The plan after an edit of an applied project. Each edit has its file.
fn told(files: &[(&str, &str)], edits: &[(&str, &str, &str)]) -> String {
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    files.iter().for_each(|(name, text)| scene.write(name, text));
    scene.apply();
    edits.iter().for_each(|(file, from, to)| scene.edit(file, from, to));
    words(&scene)
}

fn says(told: &str, expected: &[&str]) {
    for words in expected {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
}

const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2026-12-01T10:00, time_zone: Europe/Paris}
    push:
      audience: {tag: buyer}
      device_types: [ios]
      notification: {alert: \"Sale: ${var.offer} off\"}
";

#[test]
fn a_default_that_changes_a_message_is_its_cause() {
    let push = PUSH.replace("      device_types: [ios]\n", "");
    let defaults = "defaults:\n  scheduled_pushes:\n    push:\n      device_types: [ios]\n";
    let files = [("messages.yaml", push.as_str()), ("defaults.yaml", defaults)];
    let shown = told(&files, &[("defaults.yaml", "[ios]", "[ios, android]")]);
    let cause = "defaults.scheduled_pushes sets push.device_types";
    says(
        &shown,
        &[
            &format!("scheduled_pushes/sale reaches more people: {cause}."),
            &format!("because {cause} (defaults.yaml:4)"),
        ],
    );
    assert!(!shown.contains("changes its own"), "{shown}");
}

#[test]
fn an_overlay_and_an_edit_of_the_resource_itself_are_told_apart() {
    let overlay = "overlays:\n  local:\n    scheduled_pushes:\n      sale: {push: {audience: {tag: lapsed}}}\n";
    let files = [("messages.yaml", PUSH), ("overlay.yaml", overlay)];
    let shown = told(&files, &[("overlay.yaml", "lapsed", "vip")]);
    let cause = "because overlays.local sets push.audience (overlay.yaml:4)";
    says(&shown, &["scheduled_pushes/sale reaches different people: overlays.local sets push.audience.", cause]);
    assert!(!shown.contains("was edited"), "{shown}");
    // The resource itself changes too, so the overlay is not the only cause.
    let shown = told(&files, &[("overlay.yaml", "lapsed", "vip"), ("messages.yaml", "Sale:", "Big sale:")]);
    says(
        &shown,
        &[
            "reaches different people, for example ",
            "It changes its text from \"Sale: 10% off\" to \"Big sale: 10% off\"",
            cause,
        ],
    );
    let shown = told(&files, &[("messages.yaml", "Sale:", "Big sale:")]);
    assert!(!shown.contains("overlays.local"), "{shown}");
}

#[test]
fn a_body_file_is_named_with_its_first_line_that_changes() {
    let push = PUSH.replace(
        "      notification",
        "      message: {title: Sale, body: {file: bodies/sale.html}, content_type: text/html}\n      notification",
    );
    let page = "<html><body>\n<p>Welcome</p>\n<p>Everything is ${var.offer} off</p>\n</body></html>\n";
    let files = [("messages.yaml", push.as_str()), ("bodies/sale.html", page)];
    let shown = told(&files, &[("bodies/sale.html", "Everything is", "All shoes are")]);
    says(&shown, &["because bodies/sale.html sets push.message.body (bodies/sale.html:3)"]);
    let shown = told(&files, &[("pushplan.toml", "offer = \"10%\"", "offer = \"15%\"")]);
    says(&shown, &["because var.offer changes from \"10%\" to \"15%\" (pushplan.toml:"]);
    assert!(!shown.contains("because bodies/sale.html"), "{shown}");
}

#[test]
fn a_segment_or_template_that_changes_through_something_else_names_it() {
    let project = "\
segments:
  shoppers: {criteria: {country: [\"${var.country}\"]}}
  locals: {criteria: {tag: local}}
templates:
  offer: {push: {notification: {alert: \"Take ${var.offer} off\"}}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2026-12-01T10:00, time_zone: Europe/Paris}
    push: {audience: {segment: shoppers}, device_types: [ios], template: offer}
  fair:
    schedule: {scheduled_time: 2026-12-08T10:00, time_zone: Europe/Paris}
    push: {audience: {not: {segment: locals}}, device_types: [ios], notification: {alert: Hi}}
";
    let overlay = "overlays:\n  local:\n    segments: {locals: {criteria: {tag: nearby}}}\n";
    let files = [("messages.yaml", project), ("overlay.yaml", overlay)];
    let shown = told(&files, &[("pushplan.toml", "country = \"FR\"", "country = \"DE\"")]);
    let cause = "no longer requires \"country = FR\" and now requires \"country = DE\" (var.country changes from \"FR\" to \"DE\")";
    says(
        &shown,
        &[&format!("the segment shoppers {cause}."), &format!("because segments/shoppers {cause} (pushplan.toml:")],
    );
    let shown = told(&files, &[("overlay.yaml", "nearby", "near")]);
    says(&shown, &["(overlays.local sets criteria) (overlay.yaml:3)"]);
    let shown = told(&files, &[("pushplan.toml", "offer = \"10%\"", "offer = \"15%\"")]);
    says(&shown, &["because templates/offer changes (var.offer changes from \"10%\" to \"15%\") (pushplan.toml:"]);
    assert_eq!(shown.matches("because").count(), 1, "{shown}");
}

fn pushes(number: usize, audience: impl Fn(usize) -> String, hour: usize) -> String {
    let push = |at: usize| {
        format!(
            "  offer-{at}:\n    schedule: {{scheduled_time: 2026-12-{:02}T{hour:02}:00, time_zone: Europe/Paris}}\n    push: \
             {{audience: {}, device_types: [ios], notification: {{alert: Offer {at}}}}}\n",
            1 + at,
            audience(at)
        )
    };
    format!("scheduled_pushes:\n{}", (0..number).map(push).collect::<String>())
}

#[test]
fn one_variable_in_many_audiences_is_one_row() {
    let project = pushes(25, |at| format!("{{and: [{{tag: offer-{at}}}, {{country: \"${{var.country}}\"}}]}}"), 10);
    // Another device type has another example.
    let (most, last) = project.split_at(project.find("  offer-24:").expect("a push"));
    let project = format!("{most}{}", last.replace("[ios]", "[android]"));
    let shown = told(&[("messages.yaml", &project)], &[("pushplan.toml", "country = \"FR\"", "country = \"DE\"")]);
    says(
        &shown,
        &[
            "25 messages reach different people: var.country changes from \"FR\" to \"DE\".",
            "DIFFERENT 25 scheduled pushes (",
            "joins scheduled_pushes/offer-0, for example: ",
            "because var.country changes from \"FR\" to \"DE\" (pushplan.toml:",
        ],
    );
    assert_eq!(shown.matches("DIFFERENT").count(), 1, "{shown}");
}

#[test]
fn many_causes_of_one_message_are_counted() {
    let segments = |tag: &str| {
        let one = |at: usize| format!("  s{at}: {{criteria: {{tag: {tag}-{at}}}}}\n");
        format!("segments:\n{}", (0..20).map(one).collect::<String>())
    };
    let any = (0..20).map(|at| format!("{{segment: s{at}}}")).collect::<Vec<_>>().join(", ");
    let push = pushes(1, |_| format!("{{or: [{any}]}}"), 10);
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write("messages.yaml", &format!("{}{push}", segments("old")));
    scene.apply();
    scene.write("messages.yaml", &format!("{}{push}", segments("new")));
    let shown = words(&scene);
    says(&shown, &["because segments/s0 ", "because 14 other changes contribute"]);
    assert_eq!(shown.matches("because ").count(), 7, "{shown}");
    let document = scene.shown(100).1;
    assert_eq!(document["messages"][0]["causes"].as_array().map(Vec::len), Some(20));
}

#[test]
fn the_same_edit_in_many_audiences_is_one_row() {
    let audience =
        |also: &'static str| move |at: usize| format!("{{and: [{{tag: offer-{at}}}, {{country: [FR{also}]}}]}}");
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write("messages.yaml", &pushes(25, audience(""), 10));
    scene.apply();
    scene.write("messages.yaml", &pushes(25, audience(", DE"), 10));
    let shown = words(&scene);
    says(&shown, &["25 messages reach more people", "MORE 25 scheduled pushes ("]);
    assert_eq!(shown.matches("MORE").count(), 1, "{shown}");
}

#[test]
fn the_same_shift_into_quiet_hours_is_one_row() {
    let audience = |at: usize| format!("{{and: [{{tag: offer-{at}}}, {{country: FR}}]}}");
    let mut scene = Scene::new(EXTENDED, SETTINGS);
    scene.write("messages.yaml", &pushes(25, audience, 10));
    scene.apply();
    scene.write("messages.yaml", &pushes(25, audience, 7));
    let shown = words(&scene);
    let row = "QUIET HOURS 25 scheduled pushes (";
    says(
        &shown,
        &["25 messages are sent in quiet hours (Paris 07:00", row, "3 hours earlier", "and 6 more time zones"],
    );
    assert_eq!(shown.matches("QUIET HOURS").count(), 1, "{shown}");
}

#[test]
fn a_segment_that_moves_many_messages_into_the_night_is_one_row() {
    let project = format!(
        "segments:\n  shoppers: {{criteria: {{country: [FR]}}}}\n{}",
        pushes(25, |at| format!("{{and: [{{tag: offer-{at}}}, {{segment: shoppers}}]}}"), 15)
    );
    let shown = told(&[("messages.yaml", &project)], &[("messages.yaml", "{country: [FR]}", "{country: [FR, AU]}")]);
    says(
        &shown,
        &[
            "25 messages reach more people: the segment shoppers now includes \"country = AU\".",
            "25 messages are sent in quiet hours (Sydney 01:00",
            "MORE 25 scheduled pushes (",
        ],
    );
    assert_eq!(shown.matches("MORE").count(), 1, "{shown}");
}

#[test]
fn a_variable_in_a_delay_is_the_cause_of_another_time() {
    let project = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: cart-left}
    outcome: {delay: \"${var.delay}\", push: {audience: triggered, device_types: [ios], notification: {alert: Hi}}}
";
    let shown = told(&[("messages.yaml", project)], &[("pushplan.toml", "delay = \"1h\"", "delay = \"2h\"")]);
    says(&shown, &["pipelines/remind is sent 2 hours instead of 1 hour after the tag cart-left is added to a device"]);
}
