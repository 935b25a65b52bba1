//! `pushplan mv`: a new key, in the files and in the ledger.

use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{Project, ended, says};

const SHOP: &str = "\
# Everything of the shop.
x-common: &who {segment: lapsed}   # used below
x-own: {segment: lapsed, note: [buyers]}

segments:
  buyers: {criteria: {tag: buyer}}
  # Those who left us.
  lapsed: # not for long
    # who they are
    criteria: {and: [{tag: lapsed}, {not: {segment: 'buyers'}}]}

  all-but:
    criteria:
      not: {segment: \"lapsed\"}     # the others

templates:
  winback: {push: {notification: {alert: Come back}}}

scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {or: [*who, {segment: [buyers, lapsed]}]}, device_types: [ios], notification: {alert: lapsed}}
  again:
    schedule: {scheduled_time: 2035-02-22T10:00}
    push: {audience: {tag: lapsed}, device_types: [ios], template: winback}
overlays:
  local:
    segments:
      lapsed: {criteria: {and: [{tag: lapsed}, {not: {segment: buyers}}, {tag: eu}]}}
defaults:
  experiments: {audience: {segment: lapsed}}
";

const CASES: &str = "\
cases:
  a lapsed device:   # one of them
    device: {device_type: ios, tags: [lapsed, eu]}
    steps:
      - expect: {in: [lapsed], not_in: [buyers, \"all-but\"]}
";

/// The lines that differ between two texts.
fn changed(before: &str, after: &str) -> Vec<String> {
    assert_eq!(before.lines().count(), after.lines().count(), "{after}");
    let pairs = before.lines().zip(after.lines());
    pairs.filter(|(before, after)| before != after).map(|(_, after)| after.trim().to_owned()).collect()
}

#[test]
fn a_key_and_all_that_names_it_is_edited_and_nothing_else() {
    let project = Project::new(SHOP);
    project.folder.write("tests/who.test.yaml", CASES);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.good(&["test"]);
    service.forget();
    let ran = project.good(&["mv", "segments/buyers", "segments/customers"]);
    says(
        &ran.stdout,
        &[
            "Moved segments/buyers to segments/customers:",
            "messages.yaml:6:3",
            "its key",
            "tests/who.test.yaml:5:41",
            "a device test",
            "Its old key stays its name on the service: `display_name: buyers` was added.",
            "The ledger of local now has it as segments/customers.",
        ],
    );
    let after = project.folder.read("messages.yaml");
    assert_eq!(
        changed(SHOP, &after),
        [
            "customers: {display_name: buyers, criteria: {tag: buyer}}",
            "criteria: {and: [{tag: lapsed}, {not: {segment: 'customers'}}]}",
            "push: {audience: {or: [*who, {segment: [customers, lapsed]}]}, device_types: [ios], notification: {alert: lapsed}}",
            "lapsed: {criteria: {and: [{tag: lapsed}, {not: {segment: customers}}, {tag: eu}]}}",
        ]
    );
    assert_eq!(
        changed(CASES, &project.folder.read("tests/who.test.yaml")),
        ["- expect: {in: [lapsed], not_in: [customers, \"all-but\"]}"]
    );
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (6 resources).\n");
    assert_eq!(service.writes(), Vec::<String>::new());
    project.good(&["test"]);
    says(&project.good(&["history", "2"]).stdout, &["segments/buyers", "moved to segments/customers"]);

    // The other one is in a block, in an overlay, in defaults and behind an anchor.
    let ran = project.good(&["mv", "segments/lapsed", "segments/gone"]);
    says(&ran.stdout, &["`display_name: lapsed` was added"]);
    let last = project.folder.read("messages.yaml");
    let expected = after
        .replace("&who {segment: lapsed}", "&who {segment: gone}")
        .replace("  lapsed: # not for long\n", "  gone: # not for long\n    display_name: lapsed\n")
        .replace("{segment: \"lapsed\"}", "{segment: \"gone\"}")
        .replace("[customers, lapsed]", "[customers, gone]")
        .replace("      lapsed: {criteria", "      gone: {criteria")
        .replace("{audience: {segment: lapsed}}", "{audience: {segment: gone}}");
    assert_eq!(last, expected);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (6 resources).\n");
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.good(&["mv", "templates/winback", "templates/come-back"]);
    says(&ran.stdout, &["`name: winback` was added"]);
    says(&project.folder.read("messages.yaml"), &["template: come-back", "  come-back: {name: winback, push:"]);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (6 resources).\n");
}

#[test]
fn with_in_git_the_manifest_tells_and_no_ledger_is_touched() {
    let project = Project::new(SHOP);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["mv", "segments/lapsed", "segments/gone", "--in-git"]);
    says(
        &ran.stdout,
        &["No ledger was changed: with `lifecycle.renamed_from`, the next apply of each target renames its entry."],
    );
    let block =
        "  gone: # not for long\n    display_name: lapsed\n    lifecycle: {renamed_from: lapsed}\n    # who they are\n";
    says(&project.folder.read("messages.yaml"), &[block]);
    assert!(!project.good(&["history"]).stdout.contains("moved"));
    service.forget();
    says(&project.good(&["plan"]).stdout, &["from segments/lapsed; the service keeps it as it is"]);
    says(&project.good(&["apply", "--yes"]).stdout, &["1 moved"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.run(&["mv", "segments/gone", "segments/left", "--in-git"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["already has `lifecycle.renamed_from: lapsed`", "messages.yaml:10:"]);

    // Existing settings stay.
    let manifest =
        "segments:\n  a:\n    lifecycle:\n      protect: true\n    display_name: A\n    criteria: {tag: x}\n";
    let project = Project::new(manifest);
    project.good(&["mv", "segments/a", "segments/b", "--in-git"]);
    let expected = manifest.replace("  a:\n    lifecycle:\n", "  b:\n    lifecycle:\n      renamed_from: a\n");
    assert_eq!(project.folder.read("messages.yaml"), expected);
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let project = Project::new(SHOP);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let ran = project.good(&["mv", "segments/buyers", "segments/customers", "--dry-run"]);
    says(
        &ran.stdout,
        &[
            "Would move segments/buyers to segments/customers:",
            "--- a/messages.yaml\n+++ b/messages.yaml",
            "-  buyers: {criteria: {tag: buyer}}\n+  customers: {display_name: buyers, criteria: {tag: buyer}}",
            "The ledger of local would rename it to segments/customers.",
        ],
    );
    assert_eq!(project.folder.read("messages.yaml"), SHOP);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (6 resources).\n");
}

#[test]
fn what_cannot_be_moved_is_refused_before_anything_is_written() {
    let project = Project::new(SHOP);
    for (arguments, code, words) in [
        (
            ["segments/buyers", "segments/lapsed"],
            64,
            &["segments/lapsed is taken: it is already declared", "such as segments/lapsed-2"][..],
        ),
        (
            ["segments/buyers", "segments/All customers"],
            64,
            &["cannot be the key of a segment", "did you mean segments/all-customers?"],
        ),
        (["segments/buyers", "templates/x"], 64, &["are of different kinds", "did you mean segments/x?"]),
        (["segment/buyers", "segments/x"], 64, &["has an unknown kind: `segment`", "did you mean segments/buyers?"]),
        (["segments/buyer", "segments/x"], 64, &["your files have no segments/buyer", "did you mean segments/buyers?"]),
        (["segments/buyers", "segments/buyers"], 64, &["already has this key"]),
        (
            ["tag_groups/loyalty", "tag_groups/fans"],
            7,
            &["a tag group cannot be renamed: its key is its name on the service"],
        ),
    ] {
        let ran = project.run(&[&["mv"][..], &arguments].concat());
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        says(&ran.stderr, words);
    }
    assert_eq!(project.folder.read("messages.yaml"), SHOP);

    // A reference that comes from a variable, or shares its text with another one.
    let variable = SHOP.replace("{segment: \"lapsed\"} ", "{segment: \"${var.who}\"} ");
    let project = Project::with(&variable, "variables = {who = \"lapsed\"}\n");
    let ran = project.run(&["mv", "segments/lapsed", "segments/gone"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &["1 place names segments/lapsed in a way that cannot be edited:", "messages.yaml:14:22  \"${var.who}\""],
    );
    assert_eq!(project.folder.read("messages.yaml"), variable);
    let shared = "segments:\n  a: {criteria: {tag: &a a}}\n  b: {criteria: {segment: *a}}\n";
    let project = Project::new(shared);
    let ran = project.run(&["mv", "segments/a", "segments/c"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["would change its meaning"]);
    assert_eq!(project.folder.read("messages.yaml"), shared);
    // If a resource cannot be read, its references are unknown.
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {sgment: a}}\n");
    assert_eq!(project.run(&["mv", "segments/a", "segments/c"]).code, 3);
}

#[test]
fn other_targets_that_are_here_are_told_too() {
    let project = Project::new("segments:\n  a: {criteria: {tag: x}}\n");
    let service = project.serve_with(&[
        "--app",
        "local-application-key0:local-master-secret-00",
        "--app",
        "other-application-key0:other-master-secret-00",
    ]);
    project.good(&["apply", "--yes"]);
    let toml = project.folder.read("pushplan.toml");
    let more = format!(
        "{toml}[targets.staging]\nbase_url = \"{}\"\nledger = \"file:\"\nsettle = \"1s\"\n[targets.far]\nbase_url = \"https://push.example\"\nledger = \"file:\"\n",
        service.origin
    );
    project.folder.write("pushplan.toml", more);
    let env = [
        ("PUSHPLAN_ORIGIN", service.origin.as_str()),
        ("PUSHPLAN_APP_KEY", "other-application-key0"),
        ("PUSHPLAN_MASTER_SECRET", "other-master-secret-00"),
    ];
    let ran = project.run_as(&["apply", "--yes", "--target", "staging"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = project.good(&["mv", "segments/a", "segments/b", "--target", "local"]);
    says(
        &ran.stdout,
        &[
            "The ledger of local now has it as segments/b.",
            "The ledger of staging now has it as segments/b.",
            "far has no ledger here.",
        ],
    );
    says(&project.good(&["plan", "--target", "local"]).stdout, &["No changes."]);
    let ran = project.run_as(&["plan", "--target", "staging"], &env);
    says(&ran.stdout, &["No changes."]);
}

#[test]
fn a_rename_that_was_made_by_hand_is_told_to_the_ledger() {
    let project = Project::new("segments:\n  old: {display_name: Old, criteria: {tag: x}}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("  old:", "  new:");
    says(&project.good(&["plan"]).stdout, &["or rename it in the ledger now: pushplan mv segments/old segments/new"]);
    service.forget();
    let ran = project.good(&["mv", "segments/old", "segments/new"]);
    says(&ran.stdout, &["Your files already have segments/new", "The ledger of local now has it as segments/new."]);
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.run(&["mv", "segments/old", "segments/new"]);
    assert_eq!(ran.code, 7, "{ran}");
}

#[test]
fn every_kind_keeps_the_name_that_the_service_knows_it_by() {
    let manifest = "\
open_channels:
  desk:
    opt_in: true
    open: {open_platform_name: sms, identifiers: {number: \"+15550100\"}}
tags:
  vip:
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.forget();
    project.good(&["mv", "open_channels/desk", "open_channels/table"]);
    project.good(&["mv", "tags/vip", "tags/very"]);
    let expected = manifest.replace("  desk:\n", "  table:\n    address: desk\n");
    assert_eq!(project.folder.read("messages.yaml"), expected.replace("  vip:\n", "  very: {tag: vip}\n"));
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (2 resources).\n");
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn nothing_is_moved_while_a_run_is_under_way() {
    let manifest = "scheduled_pushes:
  p1:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
";
    let project = Project::documented(manifest);
    let rules = "[[fault]]\nkind = \"delay\"\nms = 3000\nmethod = \"POST\"\npath = \"/api/schedules\"\n";
    let service = project.faulty(rules);
    let child = project.start(&["apply", "--yes"]);
    let began = Instant::now();
    while !project.folder.path().join(".pushplan/ledger/local/00000002.json").exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "an intent is written");
        sleep(Duration::from_millis(20));
    }
    let ran = project.run(&["mv", "scheduled_pushes/p1", "scheduled_pushes/moved"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["a run of ", " has not ended on local", "wait for its end", "pushplan apply --target local"]);
    assert_eq!(project.folder.read("messages.yaml"), manifest, "no file is touched");
    let applied = ended(child);
    assert_eq!(applied.code, 0, "{applied}");
    project.good(&["mv", "scheduled_pushes/p1", "scheduled_pushes/moved"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), ["POST /api/schedules"], "one push is made");
}

#[test]
fn nothing_is_moved_where_another_targets_ledger_cannot_be_read() {
    let project = Project::new("segments:\n  a: {criteria: {tag: x}}\n");
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let toml = project.folder.read("pushplan.toml");
    let far = "[targets.far]\nbase_url = \"https://push.example\"\nledger = \"git:no-such-repository.git\"\n";
    project.folder.write("pushplan.toml", format!("{toml}{far}"));
    let before = project.folder.read("messages.yaml");
    let ran = project.run(&["mv", "segments/a", "segments/b", "--target", "local"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["the ledger of `far` cannot be read", "nothing was renamed", "--in-git"]);
    assert_eq!(project.folder.read("messages.yaml"), before);
    assert!(!project.good(&["plan", "--target", "local"]).stdout.contains("segments/b"));
    // If the files already have the new key, only the selected target is moved, and the output says how to move the
    // other.
    project.write("segments:\n  b: {criteria: {tag: x}}\n");
    let ran = project.good(&["mv", "segments/a", "segments/b", "--target", "local"]);
    says(&ran.stdout, &["The ledger of local now has it as", "pushplan mv segments/a segments/b --target far"]);
}
