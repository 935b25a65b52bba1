//! Pipelines and the quiet hours of a target.

use pushplan_testing::{Folder, Project, says};
use serde_json::Value;

const QUIET: &str = "quiet_hours = {from = \"21:00\", to = \"08:00\"}\n";

/// Triggered messages without a delay, with these fields.
fn with(fields: &str) -> String {
    let push = "push: {device_types: [ios], notification: {alert: Still interested?}}";
    let outcome = if fields.contains("outcome:") { String::new() } else { format!("    outcome: {{{push}}}\n") };
    let fields = fields.replace("PUSH", push);
    format!(
        "tags: {{cart-left: {{}}}}\npipelines:\n  cart:\n    enabled: true\n    immediate_trigger: {{tag_added: cart-left}}\n\
         {outcome}    {fields}\n"
    )
}

fn hours(kind: &str, days: &str, start: &str, end: &str) -> String {
    format!(
        "timing: {{schedule: {{type: {kind}, miss_behavior: wait, dayparts: [{{days_of_week: [{days}], allowed_times: \
         [{{start: \"{start}\", end: \"{end}\"}}]}}]}}}}"
    )
}

const DAILY: &str = "monday, tuesday, wednesday, thursday, friday, saturday, sunday";

fn zone(name: &str) -> String {
    format!("condition: [{{or: [{{tag: {{tag_name: {name}, group: timezone}}}}]}}]")
}

fn validated(manifest: &str, level: &str) -> String {
    let folder = Folder::project(manifest);
    folder.write("pushplan.toml", format!("[targets.local]\napi = \"{level}\"\n{QUIET}"));
    let ran = folder.run(&["validate"]);
    assert!([0, 3].contains(&ran.code), "{ran}");
    ran.stdout
}

/// What the help says to write makes the finding go away.
#[test]
fn a_pipeline_that_can_send_in_quiet_hours_is_reported_with_the_hours_to_write() {
    let free = hours("local", DAILY, "08:00", "21:00");
    let late = hours("local", "friday", "20:00", "22:00");
    let night = hours("local", "friday", "22:00", "23:00");
    let noon = hours("utc", DAILY, "12:00", "13:00");
    for (fields, said, help) in [
        ("", "this pipeline sends when it is triggered, also in the quiet hours (21:00 to 08:00)", &free),
        (
            "outcome: {delay: 2h, PUSH}",
            "this pipeline sends 2 hours after its trigger, also in the quiet hours (21:00 to 08:00)",
            &free,
        ),
        (
            &late,
            "these hours are partly in the quiet hours (21:00 to 08:00)",
            &hours("local", "friday", "20:00", "21:00"),
        ),
        (&night, "these hours are partly in the quiet hours", &free),
        (&noon, "these hours are in UTC, and for some recipients in the quiet hours (21:00 to 08:00)", &free),
        (
            &format!("{noon}\n    {}", zone("Asia/Tokyo")),
            "these hours are in UTC, and for some recipients in the quiet hours",
            &free,
        ),
    ] {
        let shown = validated(&with(fields), "extended");
        says(&shown, &["warning[PL112]", said, "the quiet hours of the target", "lifecycle: {allow: [PL112]}"]);
        let schedule = help.trim_start_matches("timing: {").trim_end_matches('}');
        let one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        says(&one_line, &[schedule]);
        let others: String = fields.lines().filter(|line| !line.contains("timing:")).collect();
        let written = with(&format!("{}\n    {help}", others.trim()));
        let fixed = validated(&written, "extended");
        assert!(!fixed.contains("PL112"), "{written}{fixed}");
    }
}

#[test]
fn a_pipeline_outside_of_the_quiet_hours_is_not_reported() {
    let noon = hours("utc", DAILY, "12:00", "13:00");
    for fields in [
        &*hours("local", DAILY, "08:00", "21:00"),
        // 12:00 to 13:00 UTC is 20:00 to 21:00 in Singapore.
        &format!("{noon}\n    {}", zone("Asia/Singapore")),
        "deactivation_time: 2020-01-01T00:00:00",
        "lifecycle: {allow: [PL112]}",
    ] {
        let shown = validated(&with(fields), "extended");
        assert!(!shown.contains("PL112"), "{fields}\n{shown}");
    }
    let off = with("").replace("enabled: true", "enabled: false");
    assert!(!validated(&off, "extended").contains("PL112"));
    // The contract has no hours.
    let shown = validated(&with(""), "documented");
    says(&shown, &["warning[PL112]", "if the service supports hours, set `api = \"extended\"`"]);
}

#[test]
fn a_pipeline_that_can_newly_send_in_quiet_hours_is_in_that_class() {
    let free = hours("local", DAILY, "08:00", "21:00");
    let late = hours("local", DAILY, "08:00", "22:00");
    let early = hours("local", DAILY, "09:00", "20:00");
    for (old, new, class) in [
        (None, "", "quiet_hours"),
        (None, &*free, "new"),
        (None, &late, "quiet_hours"),
        // Without hours, devices without a time zone get it too.
        (Some(&*free), "", "more"),
        (Some(&free), &late, "quiet_hours"),
        (Some(&free), &early, "time"),
        (Some(&late), "", "more"),
        (Some(""), &free, "time"),
    ] {
        let project = Project::new("tags: {cart-left: {}}\n");
        let settings = project.folder.read("pushplan.toml");
        project.folder.write("pushplan.toml", settings + QUIET);
        let _service = project.serve();
        if let Some(old) = old {
            project.write(&with(old));
        }
        project.good(&["apply", "--yes"]);
        project.write(&with(new));
        let shown = project.good(&["plan"]).stdout;
        let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("a plan");
        assert_eq!(plan["messages"][0]["class"], class, "{old:?} becomes {new}\n{shown}");
        if class == "quiet_hours" {
            says(&shown, &["QUIET HOURS"]);
        }
        if class == "quiet_hours" || old == Some(&*free) && class == "more" {
            says(&shown, &["can be sent in quiet hours (21:00 to 08:00)"]);
        }
    }
}
