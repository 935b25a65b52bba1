//! The change that a plan names as the cause of another audience, and the rows of messages.

use pushplan_testing::{Project, says};
use serde_json::Value;

const LISTS: &str = "\
segments:
  dnc: {criteria: {tag: unsubscribed}}
  a: {criteria: {and: [{tag: buyer}, {country: [US, CA]}]}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {and: [{segment: a}, {not: {segment: dnc}}]}, device_types: [ios], notification: {alert: Hi}}
";

/// The words of a plan on one line.
fn words(project: &Project) -> String {
    project.good(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_dropped_exclusion_is_named_before_a_segment_that_changes_too() {
    let project = Project::new(LISTS);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let open = LISTS.replace("{and: [{segment: a}, {not: {segment: dnc}}]}", "{segment: a}");
    for (countries, class) in [("[US, CA, MX]", "reaches more people"), ("[US]", "reaches different people")] {
        project.write(&open.replace("[US, CA]", countries));
        let told = words(&project);
        let joins = "joins, for example: an iOS device with the tag unsubscribed";
        says(&told, &[&format!("scheduled_pushes/p {class}: an exclusion is loosened."), joins, "excluded until now"]);
        says(&told, &["because the audience of scheduled_pushes/p was edited (messages.yaml:5) because segments/a"]);
    }
    // People who join because the list shrinks are on the list.
    project
        .write(&LISTS.replace("{criteria: {tag: unsubscribed}}", "{criteria: {and: [{tag: unsubscribed}, {tag: b}]}}"));
    says(
        &words(&project),
        &["scheduled_pushes/p reaches more people: the exclusion list dnc shrinks.", "excluded until now"],
    );
}

#[test]
fn people_who_were_not_included_are_not_called_excluded() {
    let base = LISTS.replace("{and: [{segment: a}, {not: {segment: dnc}}]}", "{or: [{tag: x}, {not: {tag: y}}]}");
    let project = Project::new(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("{or: [{tag: x}, {not: {tag: y}}]}", "{or: [{tag: x}, {tag: z}, {not: {tag: y}}]}"));
    let told = words(&project);
    assert!(
        told.contains("joins, for example: ")
            && !told.contains("joins, for example: an iOS device with the tag z, excluded"),
        "{told}"
    );
    let base = LISTS.replace("{and: [{segment: a}, {not: {segment: dnc}}]}", "{and: [{tag: x}, {not: {tag: y}}]}");
    project.write(&base);
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("{and: [{tag: x}, {not: {tag: y}}]}", "{and: [{tag: w}, {not: {tag: x}}]}"));
    assert!(!words(&project).contains("without the tag x, excluded until now"), "{}", words(&project));
}

#[test]
fn a_risky_row_of_several_messages_is_in_the_caution_box() {
    let push = |key: &str| {
        format!(
            "  {key}:\n    schedule: {{scheduled_time: 2035-04-01T10:00}}\n    push: {{audience: {{segment: a}}, device_types: [ios], \
             notification: {{alert: Hi}}}}\n"
        )
    };
    let base = format!(
        "segments:\n  a: {{criteria: {{and: [{{tag: x}}, {{tag: y}}]}}}}\nscheduled_pushes:\n{}{}",
        push("p1"),
        push("p2")
    );
    let project = Project::new(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("{and: [{tag: x}, {tag: y}]}", "{tag: x}"));
    let page = project.good(&["plan", "--format", "markdown"]).stdout;
    says(
        &page,
        &["> [!CAUTION]\n> - **More people** 2 scheduled pushes (scheduled_pushes/p1 and scheduled_pushes/p2)"],
    );
}

#[test]
fn a_message_that_keeps_the_old_version_of_a_segment_is_not_changed() {
    let project = Project::documented(LISTS);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&LISTS.replace("[US, CA]", "[US, CA, MX]"));
    let told = project.good(&["plan", "--only", "segments/a"]).stdout;
    says(&told, &["No message changes.", "still uses the old version"]);
    says(
        &words(&project),
        &["scheduled_pushes/p reaches more people", ": the segment a now includes \"country = MX\"."],
    );
    project.good(&["apply", "--yes", "--only", "segments/a"]);
    says(&words(&project), &["scheduled_pushes/p reaches more people", "segments/a was changed by an earlier apply"]);
}

#[test]
fn drift_in_a_plan_has_the_signs_of_what_apply_does() {
    let base = "templates:\n  hello: {push: {notification: {alert: Our words}}}\n";
    let project = Project::new(base);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let listed = service.get("/api/templates");
    let listed = &listed["templates"][0];
    let id = listed["template_id"].as_str().or(listed["id"].as_str()).expect("an id");
    let body = serde_json::json!({ "name": "hello", "push": { "notification": { "alert": "Their words" } } });
    service.post(&format!("/api/templates/{id}"), &body);
    let told = words(&project);
    says(&told, &["[-Their-]{+Our+} words"]);
    let drift = project.run(&["drift"]).stdout;
    says(&drift, &["[-Our-]{+Their+} words"]);
}

#[test]
fn messages_that_move_differently_have_rows_of_their_own() {
    let base = "\
experiments:
  ab:
    audience: {country: FR}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2035-03-01T10:00}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2035-03-02T18:00}}
pipelines:
  w:
    enabled: true
    immediate_trigger: {tag_added: a}
    outcome:
      - {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Step one}}}
      - {delay: 1d, push: {audience: triggered, device_types: [ios], notification: {alert: Step two}}}
";
    let project = Project::new(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project
        .write(&base.replace("2035-03-01T10:00", "2035-03-01T12:00").replace("2035-03-02T18:00", "2035-03-02T19:00"));
    says(&words(&project), &["TIME experiments/ab (variant 1)", "TIME experiments/ab (variant 2)"]);
    project.write(&base.replace("1h", "2d").replace("1d,", "1h,").replace("2d", "1d"));
    let told = words(&project);
    says(&told, &["1 hour → 1 day after the tag a is added to a device"]);
    says(&told, &["1 day → 1 hour after the tag a is added to a device"]);
}

#[test]
fn ids_that_people_copy_are_code_in_markdown() {
    let project = Project::documented(LISTS);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let segment = service.segment_id("a");
    project.write(&LISTS.replace("[US, CA]", "[US, CA, MX]"));
    let page = project.good(&["plan", "--format", "markdown"]).stdout;
    says(&page, &[&format!("`{segment}` is not deleted yet"), "the old one (`"]);
}

#[test]
fn a_channel_that_is_uninstalled_leaves_the_audiences_that_it_was_in() {
    let till =
        "open_channels:\n  till: {address: till-1, open: {open_platform_name: pos}, opt_in: true, tags: [shop]}\n";
    let push = |key: &str, audience: &str, devices: &str| {
        format!(
            "  {key}:\n    schedule: {{scheduled_time: 2035-04-01T10:00}}\n    push: {{audience: {audience}, device_types: [{devices}], \
             notification: {{alert: Hi}}}}\n"
        )
    };
    let pushes = [
        push("shop", "{tag: shop}", "'open::pos'"),
        push("one", "{open_channel: till-1}", "'open::pos'"),
        push("not", "{and: [{tag: x}, {not: {tag: shop}}]}", "'open::pos'"),
        push("phones", "{tag: shop}", "ios"),
        push("others", "{not: {tag: office}}", "'open::pos'"),
    ];
    let pushes = format!("scheduled_pushes:\n{}", pushes.concat());
    let project = Project::new(&format!("{till}{pushes}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&pushes);
    let told = project.run(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = |class: &str| {
        format!("{class} 3 scheduled pushes (scheduled_pushes/one, scheduled_pushes/others and scheduled_pushes/shop)")
    };
    says(&told, &[&row("FEWER"), "because open_channels/till uninstalls the open channel till-1"]);
    assert!(!told.contains("MORE"), "{told}");
    // A new one is added to them.
    project.good(&["apply", "--yes"]);
    project.write(&format!("{till}{pushes}"));
    let told = project.run(&["plan"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    says(&told, &[&row("MORE"), "because open_channels/till installs the open channel till-1"]);
    assert!(!told.contains("FEWER") && !told.contains("scheduled_pushes/phones"), "{told}");
}

#[test]
fn a_channel_without_an_attribute_is_in_the_audiences_of_devices_that_lack_it() {
    let till = "open_channels:\n  till: {address: till-1, open: {open_platform_name: pos}, opt_in: true, tags: []}\n";
    let pushes = "\
scheduled_pushes:
  lacks: {schedule: {scheduled_time: 2035-04-01T10:00}, push: {audience: {attribute: spent, operator: not_equals, value: 0}, \
         device_types: ['open::pos'], notification: {alert: Hi}}}
  has: {schedule: {scheduled_time: 2035-04-02T10:00}, push: {audience: {attribute: spent, operator: equals, value: 0}, \
       device_types: ['open::pos'], notification: {alert: Hi}}}
";
    let project = Project::new(&format!("{till}{pushes}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(pushes);
    let told = words(&project);
    says(&told, &["FEWER scheduled_pushes/lacks", "because open_channels/till uninstalls the open channel till-1"]);
    assert!(!told.contains("scheduled_pushes/has"), "{told}");
}

#[test]
fn a_new_channel_does_not_hide_that_a_push_points_at_an_earlier_version_of_its_segment() {
    let text = |criteria: &str| {
        format!(
            "segments:\n  a: {{criteria: {criteria}}}\nscheduled_pushes:\n  p:\n    schedule: {{scheduled_time: 2035-04-01T10:00}}\n\
             \x20   push: {{audience: {{segment: a}}, device_types: [ios, 'open::pos'], notification: {{alert: Hi}}}}\n"
        )
    };
    let project = Project::documented(&text("{country: AU}"));
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let edited = text("{not: {tag: unsubscribed}}");
    project.write(&edited);
    // The push itself waits for a person.
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    let till = "open_channels:\n  till: {address: till-1, open: {open_platform_name: pos}, opt_in: true, tags: []}\n";
    project.write(&format!("{edited}{till}"));
    says(
        &words(&project),
        &["DIFFERENT scheduled_pushes/p", ", in AU and not on the open channel", "installs the open channel till-1"],
    );
}

#[test]
fn a_country_that_is_no_longer_excluded_has_its_quiet_hours_named() {
    let base = LISTS.replace("{tag: unsubscribed}", "{country: [AU, NZ]}").replace("T10:00", "T16:00");
    let project = Project::with(&base, "quiet_hours = { from = \"21:00\", to = \"08:00\" }\n");
    let base = base.replace("{segment: a}, {not", "{tag: x}, {not");
    project.write(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(&base.replace("[AU, NZ]", "[NZ]"));
    says(&words(&project), &["It is sent in quiet hours (Sydney 02:00 Mon"]);
    project.write(&base.replace("{and: [{tag: x}, {not: {segment: dnc}}]}", "{tag: x}"));
    says(&words(&project), &["Sydney 02:00 Mon"]);
    project.write(&base.replace("{tag: x}, {not", "{tag: y}, {not"));
    assert!(!words(&project).contains("is sent in quiet hours"), "{}", words(&project));
}

/// The causes of the first message of a plan.
fn first_causes(project: &Project) -> Vec<String> {
    let plan: Value = serde_json::from_str(&project.good(&["plan", "--format", "json"]).stdout).expect("JSON");
    let causes = plan["messages"][0]["causes"].as_array().unwrap_or_else(|| panic!("{plan}")).clone();
    causes.iter().map(|cause| cause["address"].as_str().expect("an address").to_owned()).collect()
}

#[test]
fn members_that_make_no_difference_are_no_cause() {
    let member = |group: &str, tag: &str| {
        format!("  {group}: {{tags: [{tag}], members: {{named_users: {{ann: [], bob: []}}}}}}\n")
    };
    let push = "scheduled_pushes:\n  p:\n    schedule: {scheduled_time: 2035-04-01T10:00}\n    push: {audience: {or: [{tag: x, group: \
                one}, {and: [{tag: y, group: two}, {tag: x, group: one}]}]}, device_types: [ios], notification: {alert: Hi}}\n";
    let base = format!("tag_groups:\n{}{}{push}", member("one", "x"), member("two", "y"));
    let project = Project::new(&base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write(
        &base
            .replacen("ann: []", "ann: [x]", 1)
            .replace("[y], members: {named_users: {ann: [], bob: []", "[y], members: {named_users: {ann: [], bob: [y]"),
    );
    assert_eq!(first_causes(&project), ["tag_groups/one"]);
    // A segment without an effect is no cause either, next to members with one.
    let with = |tag: &str| {
        format!("segments:\n  s: {{criteria: {{tag: {tag}}}}}\n{base}").replace("{tag: y, group: two}", "{segment: s}")
    };
    project.write(&with("a"));
    project.good(&["apply", "--yes"]);
    project.write(&with("b").replacen("ann: []", "ann: [x]", 1));
    assert_eq!(first_causes(&project), ["tag_groups/one"]);
}

#[test]
fn a_template_that_gives_nothing_else_is_no_cause() {
    let base = "\
templates:
  t:
    variables: [{key: NAME, name: Name, default_value: there}]
    push: {notification: {alert: \"Hi {{NAME}}\"}, message: {title: T, body: B}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {tag: a}, device_types: [ios], template: t, message: {title: Own, body: B}, substitutions: {NAME: you}}
";
    let project = Project::new(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let edits = [
        ("title: T,", "title: T2,", "title: Own", "title: Own2", &["scheduled_pushes/p"][..]),
        ("value: there", "value: friend", "NAME: you", "NAME: all", &["scheduled_pushes/p"]),
        ("alert: \"Hi", "alert: \"Hello", "title: Own", "title: Own2", &["scheduled_pushes/p", "templates/t"]),
    ];
    for (old, new, own, own_new, expected) in edits {
        assert!(base.contains(old) && base.contains(own), "{old} {own}");
        project.write(&base.replace(old, new).replace(own, own_new));
        let mut causes = first_causes(&project);
        causes.sort();
        assert_eq!(causes, expected, "{old} becomes {new}");
    }
    // It also says so if the push itself is unchanged.
    project.write(&base.replace("alert: \"Hi", "alert: \"Hello"));
    assert_eq!(first_causes(&project), ["templates/t"]);
}

#[test]
fn an_earlier_version_that_makes_no_difference_is_no_cause() {
    let base = "\
segments:
  a: {criteria: {tag: x}}
  b: {criteria: {tag: y}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: {or: [{segment: a}, {and: [{segment: b}, {segment: a}]}]}, device_types: [ios], notification: {alert: Hi}}
";
    let project = Project::documented(base);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let other = base.replace("tag: y", "tag: z");
    project.write(&other);
    project.good(&["apply", "--yes", "--only", "segments/b"]);
    project.write(&other.replace("{tag: x}", "{or: [{tag: x}, {tag: w}]}"));
    let causes = first_causes(&project);
    assert!(causes.contains(&"segments/a".to_owned()) && !causes.contains(&"segments/b".to_owned()), "{causes:?}");
}

#[test]
fn a_new_message_that_is_left_out_is_not_named() {
    let project = Project::new(LISTS);
    let _service = project.serve();
    project.good(&["apply", "--yes"]);
    let next = LISTS.replace("[US, CA]", "[US, CA, MX]");
    let push = next.split_once("scheduled_pushes:\n").expect("pushes").1.replace("  p:", "  q:");
    project.write(&format!("{next}{push}"));
    let plan = project.good(&["plan", "--only", "segments/a", "--format", "json"]).stdout;
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let named: Vec<&str> = plan["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter_map(|message| message["address"].as_str())
        .collect();
    assert_eq!(named, ["scheduled_pushes/p"]);
}
