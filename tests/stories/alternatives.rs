//! Edits of a list of alternatives: a plan names exactly what was added and what was removed.

use pushplan_testing::{Project, says};

fn project(countries: &str) -> String {
    format!(
        "segments:\n  near: {{criteria: {{country: {countries}}}}}\nscheduled_pushes:\n  sale:\n    schedule: \
         {{scheduled_time: 2035-04-01T10:00}}\n    push: {{audience: {{segment: near}}, device_types: [ios], \
         notification: {{alert: Sale}}}}\n"
    )
}

#[test]
fn added_and_removed_alternatives_are_named_and_the_others_are_not() {
    let edits: [(&str, &str, &str, &[&str]); 5] = [
        (
            "[US, CA]",
            "[US]",
            "the segment near no longer includes \"country = CA\".",
            &["who any of country = US - country = CA"],
        ),
        (
            "[US]",
            "[US, CA]",
            "the segment near now includes \"country = CA\".",
            &["any of country = US + country = CA"],
        ),
        (
            "[US, CA]",
            "[US, CA, GB, DE]",
            "the segment near now includes \"country = GB\" and \"country = DE\".",
            &["any of country = US country = CA + country = GB + country = DE"],
        ),
        (
            "[US, CA]",
            "[US, GB, DE]",
            "the segment near no longer includes \"country = CA\" and now includes \"country = GB\" and \"country = DE\".",
            &["- country = CA + country = GB + country = DE"],
        ),
        (
            "{country: [US, CA]}",
            "{tag: vip}",
            "the segment near no longer requires \"country = US or country = CA\" and now requires \"tag vip\".",
            &["+ tag vip"],
        ),
    ];
    for (old, new, sentence, rows) in edits {
        let project = Project::new(&project(old.trim_start_matches("{country: ").trim_end_matches('}')));
        let _service = project.serve();
        project.good(&["apply", "--yes"]);
        project.edit(old, new);
        let shown = project.good(&["plan"]).stdout;
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        says(&flat, &[&[sentence], rows].concat());
    }
}

/// A list of alternatives that goes as a whole was one condition.
#[test]
fn a_condition_that_is_removed_with_all_its_alternatives_is_no_longer_required() {
    let project = Project::new(&project("US").replace("{country: US}", "{and: [{tag: vip}, {country: [US, CA]}]}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit(", {country: [US, CA]}", "");
    let shown = project.good(&["plan"]).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    says(&flat, &["more people: the segment near no longer requires \"country = US or country = CA\"."]);
    // Another verb is repeated with its own "no longer".
    project.edit("{and: [{tag: vip}]}", "{and: [{tag: vip}, {country: [US, CA]}]}");
    project.edit("{and: [{tag: vip}, {country: [US, CA]}]}", "{and: [{tag: new}, {country: [US, DE]}]}");
    let shown = project.good(&["plan"]).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "no longer requires \"tag vip\", no longer includes \"country = CA\", now requires \"tag new\" and now includes \
                 \"country = DE\"";
    says(&flat, &[words]);
}
