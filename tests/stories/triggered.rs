//! Messages with a trigger in plans: each change of a pipeline that recipients notice has a row.

use pushplan_testing::{Project, Ran, says};
use serde_json::Value;

const BASE: &str = "\
pipelines:
  remind:
    enabled: true
    lifecycle: {allow: [YM202]}
    immediate_trigger: {tag_added: {tag: cart-left, group: shop}}
    activation_time: '2034-01-01T00:00:00'
    constraint: {rate: {pushes: 1, days: 1}}
    cancellation_trigger: {tag_added: bought}
    outcome: {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Still interested?}}}
tag_groups:
  shop: {tags: [cart-left]}
";

/// An edit, the class of its only message, and words of its row.
const EDITS: [(&str, &str, &str, &[&str]); 11] = [
    ("[ios]", "[ios, android]", "more", &["joins, for example: an Android device"]),
    (
        "[ios]",
        "[android]",
        "different",
        &["joins, for example: an Android device", "leaves, for example: an iOS device"],
    ),
    ("{tag: cart-left, group: shop}", "cart-left", "different", &["the tag shop = cart-left is added"]),
    ("{tag_added: {tag: cart-left, group: shop}}", "{custom_event: {name: left}}", "different", &["custom_event left"]),
    ("'2034-", "'2033-", "more", &["from Sat 1 Jan 2033 00:00 UTC on"]),
    ("'2034-", "'2035-", "fewer", &["from Mon 1 Jan 2035 00:00 UTC on"]),
    ("    activation_time: '2034-01-01T00:00:00'\n", "", "more", &["from Sun 1 Jan 2034 00:00 UTC on"]),
    (
        "pushes: 1",
        "pushes: 9",
        "more",
        &[
            "limit at most 1 push in 1 day to one device → at most 9 pushes in 1 day to one device",
            "is sent more often",
        ],
    ),
    ("days: 1}", "days: 30}", "fewer", &["at most 1 push in 30 days to one device"]),
    (
        "    cancellation_trigger: {tag_added: bought}\n",
        "",
        "more",
        &["cancelled when the tag bought is added to a device, before it is sent → (none)", "is sent more often"],
    ),
    (
        "{tag_added: bought}",
        "{tag_added: paid}",
        "different",
        &["when the tag paid is added to a device, before it is sent", "is sent under other conditions"],
    ),
];

fn classes(ran: &Ran) -> Vec<String> {
    let plan: Value = serde_json::from_str(&ran.stdout).expect("a plan in JSON");
    let messages = plan["messages"].as_array().expect("messages").iter();
    messages.map(|message| message["class"].as_str().expect("a class").to_owned()).collect()
}

#[test]
fn an_edited_pipeline_names_its_message_on_both_api_levels() {
    // The contract has neither times nor limits nor cancellations.
    let further = ["activation_time:", "constraint:", "cancellation_trigger:"];
    let is_further = |line: &&str| further.iter().any(|key| line.contains(key));
    let plain: String = BASE.lines().filter(|line| !is_further(line)).map(|line| format!("{line}\n")).collect();
    for (project, base) in [(Project::new(BASE), BASE), (Project::documented(&plain), &*plain)] {
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        for (old, new, class, words) in EDITS.into_iter().filter(|(old, ..)| base.contains(old)) {
            assert!(BASE.contains(old), "{old}");
            project.write(&base.replace(old, new));
            let told = project.good(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            says(&told, words);
            assert_eq!(classes(&project.good(&["plan", "--format", "json"])), [class], "{old} becomes {new}");
            let page = project.good(&["plan", "--format", "html"]).stdout;
            assert!(class == "fewer" || !page.contains("No message reaches more people"), "{old} becomes {new}");
        }
    }
}

#[test]
fn an_event_with_other_details_triggers_other_messages() {
    let base = BASE.replace("{tag_added: {tag: cart-left, group: shop}}", "{custom_event: {name: purchase}}");
    let project = Project::new(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("name: purchase", "name: visit"));
    assert_eq!(classes(&project.good(&["plan", "--format", "json"])), ["different"]);
    says(&project.good(&["plan"]).stdout, &["custom_event purchase happens", "custom_event visit"]);
}

#[test]
fn a_pipeline_that_only_has_another_name_changes_no_message() {
    let project = Project::new(BASE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&BASE.replace("    enabled: true\n", "    enabled: true\n    name: Remind people\n"));
    says(&project.good(&["plan"]).stdout, &["No message changes."]);
    project.write(&BASE.replace("tag_added: bought", "tag_added: paid").replace("enabled: true", "enabled: false"));
    assert_eq!(classes(&project.good(&["plan", "--format", "json"])), ["cancelled"]);
}
