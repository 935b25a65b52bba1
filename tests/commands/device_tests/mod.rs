//! `pushplan test`: cases in files, run on the built-in service.

mod explained;
mod files;
mod hostile;
mod played;
mod variants;

use pushplan_testing::{Folder, Ran};

/// A shop: its customers, and its messages.
const SHOP: &str = "\
tag_groups:
  lifecycle: {tags: [new, buyer, lapsed]}
segments:
  lapsed-buyers:
    criteria:
      and:
        - {tag: buyer, group: lifecycle}
        - {tag: lapsed, group: lifecycle}
        - country: [US, CA]
  not-new:
    criteria:
      not: {tag: new, group: lifecycle}
  lapsed-or-staff:
    criteria:
      or:
        - segment: lapsed-buyers
        - named_user: boss
tags:
  remind-me: {}
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome:
      delay: 1d
      push: {device_types: [ios, android], notification: {alert: Still interested?}}
  welcome:
    enabled: true
    immediate_trigger: first_open
    outcome:
      push: {device_types: all, notification: {alert: Welcome, ios: {alert: Welcome to your phone}}}
  sleeping:
    enabled: false
    immediate_trigger: {tag_added: remind-me}
    outcome: {delay: 1h, push: {device_types: all, notification: {alert: Never}}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00, time_zone: America/New_York}
    push:
      audience: {segment: lapsed-buyers}
      device_types: [ios, android]
      notification:
        alert: Sale
        interactive: {type: ua_remind_me_later, button_actions: {remind: {add_tag: remind-me}}}
      message: {title: The sale, body: <p>Now</p>}
  tea-time:
    schedule: {local_scheduled_time: 2035-03-01T17:00}
    push: {audience: {segment: not-new}, device_types: all, notification: {alert: Tea}}
experiments:
  texts:
    audience: {segment: lapsed-buyers}
    device_types: [ios]
    variants:
      - push: {notification: {alert: Variant one}}
        schedule: {scheduled_time: 2035-02-01T10:00}
      - push: {notification: {alert: Variant two}}
        schedule: {scheduled_time: 2035-02-01T10:00}
";

/// A device in every audience of this shop.
const BUYER: &str = "{device_type: ios, country: US, tags: {lifecycle: [buyer, lapsed]}}";

fn shop() -> Folder {
    Folder::project(SHOP)
}

/// Runs one case with these lines against a manifest.
fn case_of(manifest: &str, lines: &str) -> Ran {
    let folder = Folder::project(manifest);
    let lines = lines.replace("BUYER", BUYER).replace('\n', "\n    ");
    folder.write("one.test.yaml", format!("cases:\n  one:\n    {lines}\n"));
    folder.run(&["test"])
}

fn case(lines: &str) -> Ran {
    case_of(SHOP, lines)
}

/// A case that passes.
fn passes(lines: &str) {
    let ran = case(lines);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "ok      one\n\n1 case passed.\n"), "{lines}\n{ran}");
}

/// A case that fails, with these texts in its output.
fn fails(lines: &str, said: &[&str]) {
    fails_of(SHOP, lines, said);
}

fn fails_of(manifest: &str, lines: &str, said: &[&str]) {
    let ran = case_of(manifest, lines);
    assert_eq!(ran.code, 1, "{lines}\n{ran}");
    assert!(ran.stdout.starts_with("FAILED  one\n"), "{ran}");
    assert!(ran.stdout.ends_with("\n0 cases passed, 1 failed.\n"), "{ran}");
    for text in said {
        assert!(ran.stdout.contains(text), "`{text}` is not said\n{ran}");
    }
}

/// A file with an invalid case, with these texts in the output.
fn is_wrong(lines: &str, said: &[&str]) {
    let ran = case(lines);
    assert_eq!(ran.code, 3, "{lines}\n{ran}");
    for text in said {
        assert!(ran.stdout.contains(text), "`{text}` is not said\n{ran}");
    }
}

#[test]
fn a_time_by_each_clock_has_not_come_before_the_device_has_it() {
    let manifest = "\
scheduled_pushes:
  local:
    schedule: {local_scheduled_time: 2027-03-20T09:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
";
    let ran = case_of(
        manifest,
        "    at: 2027-03-20T08:00
    time_zone: America/New_York
    device: {device_type: ios, timezone: America/New_York, tags: [a]}
    expect: {receives: {from: scheduled_pushes/local, at: 2027-03-20T09:00}}
",
    );
    assert_eq!(ran.code, 0, "{ran}");
}
