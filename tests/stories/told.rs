//! Large plans leave details out, but never texts for recipients, nor times.

use std::fmt::Write as _;

use pushplan_testing::{Project, says};

/// An experiment with seven variants and a pipeline with three outcomes, each with an alert, a tag and a link.
pub fn many_texts() -> String {
    let push = |alert: &str, number: usize| {
        let open = format!("{{type: url, content: \"https://x.example/{number}\"}}");
        format!("{{notification: {{alert: {alert} {number}, actions: {{add_tag: t{number}, open: {open}}}}}")
    };
    let mut text = "experiments:\n  e1:\n    audience: {tag: x}\n    device_types: [ios]\n    variants:\n".to_owned();
    for number in 1..=7 {
        let push = push("Text number", number);
        let _ = writeln!(
            text,
            "      - {{schedule: {{scheduled_time: 2035-11-2{number}T10:00, time_zone: Europe/Paris}}, push: {push}}}}}"
        );
    }
    text.push_str("pipelines:\n  welcome:\n    enabled: true\n    immediate_trigger: first_open\n    outcome:\n");
    for number in 1..=3 {
        let push = push("Day", number);
        let _ = writeln!(text, "      - {{delay: {number}d, push: {push}, device_types: [ios]}}}}");
    }
    text
}

#[test]
fn every_text_and_time_of_something_new_is_told_however_many_fields_it_has() {
    let project = Project::new(&many_texts());
    let _service = project.serve();
    let told = project.good(&["plan"]).stdout;
    project.good(&["plan", "--format", "html", "--out", "plan.html"]);
    let page = project.folder.read("plan.html");
    for number in 1..=7 {
        let alert = format!("Text number {number}");
        says(&told, &[&format!("variant {number} alert"), &alert, &format!("{} Nov 2035 10:00", 20 + number)]);
        assert!(page.contains(&alert), "{alert}");
    }
    for (number, days) in [(1, "1 day"), (2, "2 days"), (3, "3 days")] {
        let at = number - 1;
        says(&told, &[&format!("outcome[{at}].alert"), &format!("Day {number}"), &format!("{days} (")]);
        assert!(page.contains(&format!("Day {number}")) && page.contains(&format!("{days} (")), "{number}");
    }
    // Other fields are counted.
    assert!(told.contains("more fields") && !told.replace("more time zones", "").contains("more time"), "{told}");
}

#[test]
fn every_time_that_changes_is_told_and_those_that_stay_are_counted() {
    let times = |hour: usize| -> String {
        let time =
            |day: usize| format!("{{scheduled_time: 2035-11-{day:02}T{:02}:00}}", if day < 10 { hour } else { 8 });
        (1..=18).map(time).collect::<Vec<_>>().join(", ")
    };
    let push = "push: {audience: {tag: x}, device_types: [ios], notification: {alert: Hi}}";
    let manifest = |hour| format!("scheduled_pushes:\n  p:\n    schedule: [{}]\n    {push}\n", times(hour));
    let project = Project::new(&manifest(9));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&manifest(10));
    let told = project.good(&["plan"]).stdout;
    for day in 1..=9 {
        says(&told, &[&format!(" {day} Nov 2035 09:00 → 10:00 UTC")]);
    }
    says(&told, &["and 9 more times\n"]);
}
