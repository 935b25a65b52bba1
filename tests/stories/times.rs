//! Times in plans: added, removed, moved and unchanged ones.

use pushplan_testing::{Project, checked, says};
use serde_json::Value;

const TWICE: &str = "\
scheduled_pushes:
  p:
    schedule:
      - {scheduled_time: 2035-12-24T18:00}
      - {scheduled_time: 2035-12-31T18:00, time_zone: Asia/Tokyo}
    push: {audience: {named_user: bob}, device_types: [web], notification: {alert: Hi}}
";
const FIRST: &str = "      - {scheduled_time: 2035-12-24T18:00}\n";
const SECOND: &str = "      - {scheduled_time: 2035-12-31T18:00, time_zone: Asia/Tokyo}\n";

/// The moments of a list of times.
fn moments(times: &Value) -> Vec<&str> {
    times.as_array().expect("times").iter().filter_map(|time| time["at"].as_str()).collect()
}

#[test]
fn a_time_that_goes_is_told_and_is_not_taken_for_one_that_moves() {
    let project = Project::new(TWICE);
    let _service = project.serve();
    says(
        &project.good(&["plan"]).stdout,
        &["Mon 24 Dec 2035 18:00 UTC", "Mon 31 Dec 2035 18:00 Asia/Tokyo = 09:00 UTC"],
    );
    project.good(&["apply", "--yes"]);
    for (gone, stays, told) in [
        (FIRST, "2035-12-31T09:00:00Z", "no longer Tue 25 Dec 2035 03:00 Asia/Tokyo = Mon 24 Dec 18:00 UTC"),
        (SECOND, "2035-12-24T18:00:00Z", "no longer Mon 31 Dec 2035 09:00 UTC"),
    ] {
        project.write(&TWICE.replace(gone, ""));
        for form in ["text", "markdown", "html"] {
            let plan = project.good(&["plan", "--format", form]).stdout;
            says(&plan, &[told]);
            assert!(!plan.contains(" -> ") && !plan.contains(" → "), "{plan}");
        }
        let change = &checked(&project.good(&["plan", "--format", "json"]), "plan.schema.json")["changes"][0];
        assert_eq!((moments(&change["times"]), moments(&change["times_gone"]).len()), (vec![stays], 1), "{change:#}");
    }
}

#[test]
fn a_time_that_comes_is_told_to_be_new_and_the_order_says_nothing() {
    let project = Project::new(TWICE);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let third = "      - {scheduled_time: 2035-12-26T18:00, time_zone: America/New_York}\n";
    project.write(&TWICE.replace(FIRST, third).replace(SECOND, &format!("{SECOND}{FIRST}")));
    let plan = project.good(&["plan"]).stdout;
    says(
        &plan,
        &["new: Wed 26 Dec 2035 18:00 America/New_York = 23:00 UTC", "Mon 31 Dec 2035 18:00 Asia/Tokyo = 09:00 UTC"],
    );
    says(&plan, &["               Mon 24 Dec 2035 18:00 UTC"]);
    assert!(!plan.contains("no longer") && !plan.contains(" -> ") && plan.matches("new: ").count() == 2, "{plan}");
    let change = &checked(&project.good(&["plan", "--format", "json"]), "plan.schema.json")["changes"][0];
    let new: Vec<bool> = change["times"].as_array().expect("times").iter().map(|time| time["is_new"] == true).collect();
    assert_eq!(new, [true, false, false], "{change:#}");
    // One of them at another time.
    project.write(&TWICE.replace("31T18:00", "31T19:00"));
    says(&project.good(&["plan"]).stdout, &["Mon 31 Dec 2035 18:00 → 19:00 Asia/Tokyo = 10:00 UTC"]);
}

#[test]
fn a_variant_that_goes_leaves_the_times_and_texts_of_the_others_alone() {
    let variant = |text: &str, day: &str| {
        format!(
            "      - {{push: {{notification: {{alert: {text}}}}}, schedule: {{scheduled_time: 2035-12-{day}T11:00}}}}\n"
        )
    };
    let begin = "experiments:\n  e:\n    audience: {tag: x}\n    device_types: [ios]\n    variants:\n";
    let project = Project::new(&[begin, &variant("One", "01"), &variant("Two", "02")].concat());
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&[begin, &variant("Two", "02"), &variant("Three", "08")].concat());
    let plan = project.good(&["plan"]).stdout;
    says(
        &plan,
        &[
            "variant 1: Sun 2 Dec 2035 11:00 UTC",
            "variant 2: new: Sat 8 Dec 2035 11:00 UTC",
            "former variant 1: no longer Sat 1 Dec 2035 11:00 UTC",
            "former variant 1 alert  One → (none)",
            "variant 2 alert         (none) → Three",
        ],
    );
}

/// The ledger knows the zone that a time was written in, so a reviewer reads what the old files said.
#[test]
fn an_old_time_is_told_in_the_zone_that_it_was_written_in() {
    let push = |key: &str, zone: &str| {
        format!(
            "  {key}: {{schedule: {{scheduled_time: 2035-04-01T10:00{zone}}}, push: {{audience: {{tag: vip}}, device_types: [ios], \
             notification: {{alert: Hi}}}}}}\n"
        )
    };
    let (paris, utc) = (push("p", ", time_zone: Europe/Paris"), push("q", ""));
    let project = Project::new(&format!("scheduled_pushes:\n{paris}{utc}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let moved =
        format!("scheduled_pushes:\n{}{}", paris.replace("Paris", "Athens"), push("q", ", time_zone: Europe/Oslo"));
    project.write(&moved);
    let told = project.good(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &told,
        &["10:00 Europe/Paris → Sun 1 Apr 2035 10:00 Europe/Athens", "10:00 UTC → Sun 1 Apr 2035 10:00 Europe/Oslo"],
    );
    project.good(&["apply", "--yes"]);
    // A zone that changes without the moment is learnt with the next apply that writes anything.
    let same_moment = moved.replace("T10:00, time_zone: Europe/Athens", "T09:00, time_zone: Europe/Paris");
    project.write(&(same_moment.clone() + &push("s", "").replace("T10", "T20")));
    project.good(&["apply", "--yes"]);
    project.write(&(same_moment.replace("T09:00", "T11:00") + &push("s", "").replace("T10", "T20")));
    says(&project.good(&["plan"]).stdout, &["Sun 1 Apr 2035 09:00 → 11:00 Europe/Paris"]);
    project.write(&moved);
    project.good(&["apply", "--yes"]);
    // No file has the cancelled pushes any more.
    project.write(&format!("scheduled_pushes:\n{}", push("r", "").replace("10:00", "18:00")));
    let told = project.run(&["plan"]).stdout;
    says(&told, &["Sun 1 Apr 2035 10:00 Europe/Athens", "Sun 1 Apr 2035 10:00 Europe/Oslo"]);
}
