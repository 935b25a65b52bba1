//! Resources that are applied in parts, and lose some of them.

use pushplan_testing::{Project, checked, says};
use serde_json::json;

const CHANNEL: &str = "04cc8283-ae38-4177-b206-6f92cf1992cb";

#[test]
fn what_loses_its_last_part_and_stays_in_the_files_is_not_told_to_be_deleted() {
    let with = |channels: &str, users: &str, members: &str| {
        format!(
            "tags: {{lt: {{ios_channels: [{channels}]}}}}\nnamed_users: {{qa: {{channels: [{users}]}}}}\n\
             tag_groups: {{g: {{tags: [a], members: {{named_users: {{{members}}}}}}}}}\n"
        )
    };
    let user = format!("{{channel_id: {CHANNEL}, device_type: ios}}");
    let project = Project::new(&with(CHANNEL, &user, "x: [a], y: [a]"));
    let _service = project.serve_with(&["--devices", "200"]);
    project.good(&["apply", "--yes"]);
    project.write(&with("", "", "x: [a]"));
    let text = project.good(&["plan"]).stdout;
    for (address, line) in [("tags/lt", 1), ("named_users/qa", 2), ("tag_groups/g", 3)] {
        let heading =
            text.lines().find(|line| line.contains(&format!("~ {address} "))).unwrap_or_else(|| panic!("{text}"));
        assert!(heading.ends_with(&format!(" messages.yaml:{line}")), "{heading}");
        let markdown = project.good(&["plan", "--format", "markdown"]).stdout;
        says(&markdown, &[&format!("**Takes from** `{address}`"), &format!("~ {address} — ")]);
        let page = project.good(&["plan", "--format", "html"]).stdout;
        says(&page, &["Takes from"]);
        for form in [&text, &markdown, &page] {
            assert!(!form.contains("not in your files") && !form.contains("It is deleted on"), "{form}");
        }
        assert!(!markdown.contains("**Deletes**"), "{markdown}");
    }
    // A part that is removed from the files is deleted.
    project.write("segments: {s: {criteria: {tag: s}}}\n");
    let text = project.refused(&[]).stdout;
    says(&text, &["- tags/lt ", "- named_users/qa ", "- tag_groups/g ", "not in your files"]);
    says(&project.refused(&["--format", "markdown"]).stdout, &["**Deletes** `tag_groups/g`"]);
}

#[test]
fn every_command_counts_a_resource_once_with_all_of_its_parts() {
    let channel = |id: &str, kind: &str| format!("{{channel_id: {id}, device_type: {kind}}}");
    let both = [channel(CHANNEL, "ios"), channel("05675f5d-48d9-45bb-81d7-2a056daf4ff9", "android")];
    let files = |channels: &[String]| {
        format!(
            "segments: {{s: {{criteria: {{tag: s}}}}}}\ntag_groups:\n  plain: {{tags: [a]}}\n  \
             stage: {{tags: [a], members: {{named_users: {{u: [a], v: [a]}}}}}}\n\
             named_users: {{qa: {{channels: [{}]}}}}\n",
            channels.join(", ")
        )
    };
    let project = Project::new(&files(&both));
    let _service = project.serve_with(&["--devices", "200"]);
    says(&project.good(&["validate"]).stdout, &["No problems in 4 resources"]);
    // A tag group without members needs no request.
    says(&project.good(&["plan"]).stdout, &["Plan: 3 to create, 1 unchanged."]);
    let ran = project.good(&["apply", "--yes"]);
    assert!(ran.stdout.ends_with("\n3 created.\n"), "{ran}");
    says(&project.good(&["plan"]).stdout, &["local matches your files (4 resources)"]);
    says(&project.good(&["doctor"]).stdout, &["4 resources in 1 file"]);
    says(&project.good(&["drift"]).stdout, &["(3 managed\nresources)"]);
    says(&project.good(&["ledger", "status"]).stdout, &["managed     3 resources"]);
    says(&project.good(&["history"]).stdout, &["  done  3 created\n"]);
    let plan = checked(&project.good(&["plan", "--format", "json"]), "plan.schema.json");
    assert_eq!(plan["counts"]["unchanged"], 4, "{plan}");

    project.write(&files(&both[..1]));
    says(&project.good(&["plan"]).stdout, &["Plan: 1 to update, 3 unchanged."]);
    let ran = project.good(&["apply", "--yes"]);
    assert!(ran.stdout.ends_with("\n1 updated.\n"), "{ran}");
    says(&project.good(&["history"]).stdout, &["  done  1 updated\n"]);
}

#[test]
fn people_change_through_a_segment_only_where_a_segment_changes() {
    let with = |tag: &str, text: &str, who: &str| {
        format!(
            "segments: {{s: {{criteria: {{tag: {tag}}}}}}}\nscheduled_pushes:\n  p:\n    schedule: {{scheduled_time: 2035-11-27T09:00}}\n    \
             push: {{audience: {{{who}}}, device_types: [ios], notification: {{alert: {text}}}}}\n"
        )
    };
    for (tag, who, through) in [("a", "named_user: bob", false), ("a", "segment: s", false), ("b", "segment: s", true)]
    {
        let project = Project::new(&with("a", "One", who));
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.write(&with(tag, "Two", who));
        let plan = checked(&project.good(&["plan", "--format", "json"]), "plan.schema.json");
        let push =
            plan["changes"].as_array().and_then(|all| all.iter().find(|one| one["address"] == "scheduled_pushes/p"));
        let push = push.expect("the push changes");
        assert_eq!(push["audiences"][0]["through_a_segment"], through, "{tag} {who} {push:#}");
    }
}

#[test]
fn tags_that_somebody_else_gave_are_not_told_to_go() {
    let with =
        |members: &str| format!("tag_groups: {{g: {{tags: [a, z], members: {{named_users: {{{members}}}}}}}}}\n");
    let project = Project::new(&with("x: [a], y: [a]"));
    let service = project.serve_with(&["--devices", "20"]);
    project.good(&["apply", "--yes"]);
    service.post("/api/named_users/tags", &json!({"audience": {"named_user_id": "x"}, "add": {"g": ["z"]}}));
    project.write(&with("y: [a]"));
    let text = project.good(&["plan"]).stdout;
    says(&text, &["- named_users/x  tags [a]\n", "since the last apply; only what pushplan applied is removed"]);
    assert!(!text.contains("it will still be deleted"), "{text}");
}
