//! Renamed resources.

use pushplan_testing::{Project, Ran, changes, says};
use serde_json::json;

const BEFORE: &str = "\
segments:
  old: {display_name: Lapsed, criteria: {tag: x}}
  other: {criteria: {and: [{segment: old}, {tag: y}]}}
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {segment: old}, device_types: [ios], notification: {alert: Sale}}
";

fn after() -> String {
    let new = BEFORE.replace("segment: old", "segment: new");
    new.replace("old: {display_name: Lapsed", "new: {lifecycle: {renamed_from: old}, display_name: Lapsed")
}

#[test]
fn a_resource_gets_another_key_and_the_service_hears_nothing_of_it() {
    for project in [Project::documented(BEFORE), Project::new(BEFORE)] {
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        let id = service.segment_id("Lapsed");
        project.write(&after());
        service.forget();
        let ran = project.good(&["plan"]);
        says(&ran.stdout, &["segments/new", "from segments/old; the service keeps it as it is"]);
        assert!(!ran.stdout.contains("renamed_from"), "{ran}");
        assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 2);
        says(&project.good(&["apply", "--yes"]).stdout, &["1 moved"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (3 resources).\n");
        // Its references are unchanged, even after `renamed_from` is removed.
        project.edit("lifecycle: {renamed_from: old}, ", "");
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (3 resources).\n");
        assert_eq!(service.segment_id("Lapsed"), id);
        says(&project.good(&["history", "2"]).stdout, &["segments/old", "moved to segments/new"]);
        service.forget();
        project.good(&["revert", "2", "--yes"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        project.write(BEFORE);
        assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (3 resources).\n");
    }
}

#[test]
fn what_is_left_out_keeps_its_old_key_until_it_is_applied() {
    let project = Project::documented(BEFORE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&format!("{}templates:\n  t: {{push: {{notification: {{alert: Hi}}}}}}\n", after()));
    let ran = project.good(&["apply", "--yes", "--only", "templates/*"]);
    says(&ran.stdout, &["Left out:", "segments/new"]);
    says(&project.good(&["plan"]).stdout, &["from segments/old"]);
    // With a change that drags others along, the one that is moved is moved.
    project.edit("criteria: {tag: x}", "criteria: {tag: z}");
    let ran = project.good(&["apply", "--yes", "--only", "segments/*"]);
    says(&ran.stdout, &["1 moved"]);
    assert_eq!(service.segments(), ["Lapsed", "Lapsed", "other"], "the push still names the old one");
    assert_eq!(project.changes(&[]), ["! scheduled_pushes/sale", "! segments/new"]);
}

#[test]
fn a_key_that_is_still_declared_is_nobodys_old_one() {
    let manifest =
        "segments:\n  old: {criteria: {tag: z}}\n  new: {criteria: {tag: x}, lifecycle: {renamed_from: old}}\n";
    let project = Project::new(manifest);
    let ran = project.run(&["plan"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stderr, &["RF115", "segments/old is still declared"]);
}

#[test]
fn what_looks_like_a_rename_is_asked_about() {
    let project = Project::new("segments:\n  old: {criteria: {tag: x}}\n");
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  new: {criteria: {tag: x}}\n");
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["- segments/old", "+ segments/new"]);
    says(
        &ran.stdout,
        &[
            "is this a rename? segments/new has the same content; its block shows how to declare",
            "is this a rename? segments/old has the same content, is no longer in your files",
            "if so, add this below `new:` at messages.yaml:2: lifecycle: {renamed_from: old}",
            "or rename it in the ledger now: pushplan mv segments/old segments/new",
        ],
    );
    for form in ["markdown", "html"] {
        let shown = project.good(&["plan", "--format", form]).stdout;
        says(&shown, &["is this a rename?", "messages.yaml:2", "lifecycle: {renamed_from: old}"]);
    }
}

#[test]
fn a_pipeline_under_another_key_is_not_made_beside_the_old_one() {
    let manifest = "\
pipelines:
  old:
    name: Welcome
    enabled: true
    immediate_trigger: {tag_added: vip}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Hello}}}
";
    let project = Project::documented(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("  old:", "  new:");
    service.forget();
    let ran = project.manual(&["apply", "--yes"]);
    assert_eq!(changes(&ran), ["! pipelines/new", "! pipelines/old"]);
    says(&ran.stdout, &["has the same content or name, and still exists", "lifecycle: {renamed_from: old}"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    project.write(&format!("{}    lifecycle: {{renamed_from: old}}\n", manifest.replace("  old:", "  new:")));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.good(&["plan"]).stdout, "No changes. local matches your files (1 resource).\n");
}

#[test]
fn a_push_in_doubt_is_not_made_once_more_under_another_key() {
    let manifest = "\
scheduled_pushes:
  old:
    name: Sale
    schedule: {scheduled_time: 2035-11-27T09:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Hello}}
";
    let project = Project::documented(manifest);
    let service = project.faulty("[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\ntimes = 1\n");
    project.run(&["apply", "--yes"]);
    project.write(&manifest.replace("  old:", "  new:").replace("name: Sale", "name: Other"));
    service.forget();
    let ran = project.manual(&["apply", "--yes", "--except", "scheduled_pushes/old"]);
    says(
        &ran.stdout,
        &[
            "scheduled_pushes/old has the same content or name, and may exist",
            "pushplan resolve scheduled_pushes/old --absent",
        ],
    );
    assert_eq!(service.writes(), Vec::<String>::new());
    project.good(&["resolve", "scheduled_pushes/old", "--absent"]);
    assert_eq!(changes(&project.good(&["apply", "--yes"])), ["+ scheduled_pushes/new"]);
}

const PUSH: &str = "\
scheduled_pushes:
  old:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Sale}}
";

#[test]
fn while_the_old_one_is_left_out_a_new_one_that_says_the_same_waits() {
    let welcome = "\
pipelines:
  old: {enabled: true, immediate_trigger: {tag_added: vip}, outcome: {push: {device_types: [ios], notification: {alert: Hi}}}}
";
    for manifest in [PUSH, welcome] {
        let kind = manifest.split(':').next().expect("a kind");
        let [old, new] = ["old", "new"].map(|key| format!("{kind}/{key}"));
        let project = Project::new(manifest);
        let service = project.serve();
        project.good(&["apply", "--yes"]);
        project.edit("  old:", "  new:");
        for choice in [["--only", &new], ["--except", &old]] {
            service.forget();
            let ran = project.manual(&[&["apply", "--yes"][..], &choice].concat());
            assert_eq!(changes(&ran), [format!("! {new}")]);
            let still = format!("{old} has the same content or name, and still exists: both would be sent");
            let joined = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            says(&joined, &[&still, "lifecycle: {renamed_from: old}", "keep the old one in this apply"]);
            assert!(!joined.contains("--done"), "{ran}");
            assert_eq!(service.writes(), Vec::<String>::new());
        }
        // With the old one, it is created.
        project.good(&["apply", "--yes"]);
        let writes = service.writes();
        assert!(writes[0].starts_with("DELETE ") && writes[1].starts_with("POST "), "{writes:?}");
        says(&project.good(&["plan"]).stdout, &["No changes."]);
    }
}

#[test]
fn what_two_of_would_do_no_harm_is_made_also_where_the_old_one_is_left_out() {
    let project = Project::new("templates:\n  old: {push: {notification: {alert: Hello}}}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("  old:", "  new:");
    project.good(&["apply", "--yes", "--only", "templates/new"]);
    assert_eq!(service.templates(), ["new", "old"]);
}

/// The API of a documented target cannot cancel the push.
#[test]
fn a_push_that_becomes_an_experiment_goes_first() {
    let variant =
        "      - {push: {notification: {alert: The sale begins}}, schedule: {scheduled_time: 2031-01-01T10:00}}\n";
    let trial = "experiments:\n  sale:\n    audience: {tag: x}\n    device_types: [ios]\n    variants:\n";
    let trial = format!("{trial}{variant}{}", variant.replace("The sale", "It"));
    let project = Project::documented(
        "scheduled_pushes:\n  sale:\n    schedule: {scheduled_time: 2031-01-01T10:00}\n    push: {audience: {tag: x}, \
         device_types: [ios], notification: {alert: The sale begins}}\n",
    );
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&trial);
    service.forget();
    let plan = project.run(&["plan"]);
    says(
        &plan.stdout,
        &["scheduled_pushes/sale is similar", "both would be sent", "remove the old one in the dashboard first"],
    );
    assert!(!plan.stdout.contains("rename"), "{plan}");
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_push_that_cannot_be_deleted_has_no_second_one_beside_it() {
    let segment = "segments:\n  a: {criteria: {tag: x}}\n";
    let project = Project::new(&[segment, &PUSH.replace("{tag: x}", "{segment: a}")].concat());
    let rules = "[[fault]]\nkind = \"status\"\nstatus = 503\nmethod = \"DELETE\"\npath = \"/api/schedules*\"\n";
    let service = project.faulty(rules);
    project.good(&["apply", "--yes"]);
    project.edit("  old:", "  new:");
    // Also if its audience has another key, and is created first.
    let text = project.folder.read("messages.yaml");
    project.write(&text.replace("  a:", "  b:").replace("segment: a", "segment: b"));
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    assert_eq!(service.names("/api/schedules", "schedules", "name"), ["old"]);
}

#[test]
fn what_says_the_same_as_what_has_gone_out_is_asked_about() {
    let project = Project::new(PUSH);
    let service = project.serve_with(&["--clock", "2035-01-01T00:00Z"]);
    project.good(&["apply", "--yes"]);
    service.post("/local/clock", &json!({"to": "2035-02-01T00:00:00Z"}));
    project.edit("  old:", "  new:");
    let asks = [
        "is this a rename? scheduled_pushes/old has the same content, its time has passed, and it is no longer in your files",
        "if so, add this below `new:` at messages.yaml:2: lifecycle: {renamed_from: old}",
        "if not, recipients may get the same message twice",
        "is this a rename? scheduled_pushes/new has the same content; its block shows how to declare",
    ];
    let said = |ran: &Ran| ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let ran = project.refused(&[]);
    says(&ran.stdout, &["! scheduled_pushes/new", ". scheduled_pushes/old"]);
    says(&said(&ran), &asks);
    says(&said(&ran), &["see below if it is a rename; otherwise give it a later time"]);
    // If it is left out, the old one stays: otherwise the next plan could not ask any more.
    project.good(&["apply", "--yes", "--except", "scheduled_pushes/new"]);
    // Also with the later time that the advice suggests.
    project.edit("2035-01-22", "2035-02-22");
    says(&said(&project.good(&["plan"])), &asks);
    project.edit("  new:", "  new:\n    lifecycle: {renamed_from: old}");
    service.forget();
    says(&project.good(&["apply", "--yes"]).stdout, &["it will not be sent again"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn an_experiment_that_was_sent_at_once_is_asked_about_under_another_key() {
    let project = Project::new(
        "\
experiments:
  old:
    lifecycle: {allow: [EX102]}
    audience: {tag: x}
    device_types: [ios]
    variants: [{push: {notification: {alert: One}}}, {push: {notification: {alert: Two}}}]
",
    );
    let _service = project.serve();
    project.good(&["apply", "--yes", "--allow-sends"]);
    project.edit("  old:", "  new:");
    says(
        &project.refused(&[]).stdout,
        &["is this a rename? experiments/old has the same content, its time has passed"],
    );
}

#[test]
fn what_is_the_same_on_the_service_under_another_key_is_told_as_that() {
    let desk = |key: &str| {
        format!(
            "open_channels:\n  {key}: {{address: desk, opt_in: true, open: {{open_platform_name: sms, identifiers: {{n: \"1\"}}}}}}\n"
        )
    };
    let project = Project::new(&desk("old"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&desk("new"));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &[". open_channels/old", "to open_channels/new, the same object on the service"]);
    assert!(!ran.stdout.contains("no longer has it"), "{ran}");
    project.good(&["apply", "--yes", "--only", "open_channels/new"]);
    // It now belongs to the new key, so the old one is removed from the ledger.
    let ran = project.good(&["apply", "--yes", "--only", "open_channels/old"]);
    says(&ran.stdout, &["1 forgotten"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}
