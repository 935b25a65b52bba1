//! Audiences and times: stories over the real binary for cases that the samples of the pages do not cover.

use jiff::Timestamp;
use pushplan::check::{self, Subject};
use pushplan::manifest;
use pushplan_testing::{Folder, Ran};

const NOW: &str = "2026-11-15T12:00Z";

fn validate(folder: &Folder) -> Ran {
    folder.run(&["validate", "--color", "never", "--now", NOW])
}

/// A scheduled push with this audience, device types and schedule.
fn push(audience: &str, devices: &str, schedule: &str) -> String {
    format!(
        "scheduled_pushes:
  sale:
    schedule: {schedule}
    push:
      audience: {audience}
      device_types: {devices}
      notification: {{alert: The sale has begun}}
"
    )
}

const LATER: &str = "{scheduled_time: 2026-11-27T12:00}";

/// Whether there is a finding of this code at this position of the manifest.
fn stands(ran: &Ran, code: &str, place: &str) -> bool {
    ran.stdout.contains(&format!("[{code}]")) && ran.stdout.contains(&format!("messages.yaml:{place}"))
}

fn count(ran: &Ran, code: &str) -> usize {
    ran.stdout.matches(&format!("[{code}]")).count()
}

#[test]
fn a_condition_of_another_platform_is_found_through_segments_of_segments() {
    let segments = "segments:
  inner: {criteria: {ios_version: [8.2.X, 8.3.X]}}
  outer: {criteria: {and: [{segment: inner}, {tag: vip}]}}
";
    let folder = Folder::project(&format!("{segments}{}", push("{segment: outer}", "[android]", LATER)));
    let ran = validate(&folder);
    assert!(stands(&ran, "AU111", "8:27"), "{ran:?}");
    assert_eq!((count(&ran, "AU111"), ran.code), (1, 3), "{ran:?}");
}

#[test]
fn a_list_of_one_platforms_tags_is_reported_once_at_its_group() {
    let ran = validate(&Folder::project(&push("{ios_version: [8.2.X, 8.3.X]}", "[android, web]", LATER)));
    assert!(stands(&ran, "AU111", "5:18"), "{ran:?}");
    assert_eq!(count(&ran, "AU111"), 1, "{ran:?}");
}

#[test]
fn segments_that_name_each_other_are_followed_once() {
    let segments = "segments:
  a: {criteria: {and: [{segment: b}, {android_version: 5.1.X}]}}
  b: {criteria: {and: [{segment: a}, {tag: vip}]}}
";
    let ran = validate(&Folder::project(&format!("{segments}{}", push("{segment: b}", "[ios]", LATER))));
    assert!(stands(&ran, "AU111", "8:27"), "{ran:?}");
    assert_eq!(count(&ran, "AU111"), 1, "{ran:?}");
}

#[test]
fn device_types_that_include_the_platform_are_left_alone() {
    for (audience, devices) in [
        ("{ios_version: 8.3.X}", "all"),
        ("{ios_version: 8.3.X}", "[ios, web]"),
        ("{open_channel: a@b.c}", "[ios, \"open::email\"]"),
        ("{channel: 3d8a}", "[web]"),
    ] {
        let ran = validate(&Folder::project(&push(audience, devices, LATER)));
        assert_eq!((ran.stdout.as_str().contains("[AU"), ran.code), (false, 0), "{audience} {devices}\n{ran:?}");
    }
}

#[test]
fn an_open_channel_needs_an_open_platform() {
    let ran = validate(&Folder::project(&push("{open_channel: a@b.c}", "[ios, web]", LATER)));
    assert!(stands(&ran, "AU112", "5:32"), "{ran:?}");
}

#[test]
fn each_member_that_stands_alone_is_reported_where_it_is_joined() {
    for (audience, place) in [("{or: [{tag: a}, all]}", "5:33"), ("{not: all}", "5:23")] {
        let ran = validate(&Folder::project(&push(audience, "all", LATER)));
        assert!(stands(&ran, "AU113", place), "{audience}\n{ran:?}");
        assert_eq!(count(&ran, "AU113"), 1, "{audience}\n{ran:?}");
    }
}

#[test]
fn nobody_is_triggered_outside_a_pipeline_however_deep() {
    let ran = validate(&Folder::project("segments: {a: {criteria: {and: [triggered, {tag: b}]}}}\n"));
    assert_eq!((count(&ran, "AU118"), count(&ran, "AU113")), (1, 0), "{ran:?}");
}

#[test]
fn empty_lists_of_values_and_conditions_are_the_same_mistake() {
    for criteria in ["{tag: []}", "{or: []}", "{and: [{country: []}, {tag: a}]}", "{not: {or: []}}"] {
        let ran = validate(&Folder::project(&format!("segments: {{a: {{criteria: {criteria}}}}}\n")));
        assert_eq!((count(&ran, "AU115"), ran.code), (1, 3), "{criteria}\n{ran:?}");
    }
}

#[test]
fn a_thousand_conditions_are_taken_and_one_more_is_not() {
    let criteria = |number: usize| {
        let tags: Vec<String> = (0..number).map(|n| format!("t{n}")).collect();
        format!("segments: {{a: {{criteria: {{tag: [{}]}}}}}}\n", tags.join(", "))
    };
    assert_eq!(count(&validate(&Folder::project(&criteria(1_000))), "AU117"), 0);
    assert_eq!(count(&validate(&Folder::project(&criteria(1_001))), "AU117"), 1);
}

#[test]
fn location_needs_a_newer_sdk_only_where_both_must_hold() {
    for (criteria, found) in [
        ("{and: [{location_enabled: false}, {android_sdk_version: 5.1.X}]}", 1),
        ("{and: [{and: [{location_enabled: true}]}, {or: [{ios_sdk_version: 4.0.X}, {ios_sdk_version: 5.0.X}]}]}", 1),
        ("{or: [{location_enabled: true}, {ios_sdk_version: 5.1.X}]}", 0),
        ("{and: [{location_enabled: true}, {not: {ios_sdk_version: 5.1.X}}]}", 0),
        ("{and: [{location_enabled: true}, {ios_sdk_version: [5.1.X, 6.0.X]}]}", 0),
    ] {
        let ran = validate(&Folder::project(&format!("segments: {{a: {{criteria: {criteria}}}}}\n")));
        assert_eq!(count(&ran, "AU114"), found, "{criteria}\n{ran:?}");
    }
}

#[test]
fn an_audience_that_nobody_can_be_in_is_told_once_with_the_reason() {
    let segments = "segments:
  on-8-3: {criteria: {and: [{ios_version: 8.3.X}, {tag: vip}]}}
  at-home: {criteria: {country: [US, CA]}}
";
    let reason = "no device meets both `iOS version = 8.3.X` and `Android version = 5.1.X`";
    for (audience, reason) in [
        ("{and: [{segment: on-8-3}, {or: [{android_version: 5.1.X}]}]}", reason),
        ("{and: [{segment: at-home}, {tag: a}, {not: {segment: at-home}}]}", "no device meets both `"),
        ("{and: [{ios_channel: x}, {android_channel: x}]}", "a device has one channel"),
        ("{and: [{or: [{tag: a}, {tag: b}]}, {not: {tag: a}}, {not: {tag: b}}]}", "no device meets all of"),
        (
            "{and: [{attribute: age, operator: greater_than, value: 10}, {attribute: age, operator: less_than, value: 5}]}",
            "no device meets both `attribute age > 10` and `attribute age < 5`",
        ),
    ] {
        let ran = validate(&Folder::project(&format!("{segments}{}", push(audience, "all", LATER))));
        assert_eq!((count(&ran, "AU119"), ran.code), (1, 3), "{audience}\n{ran:?}");
        assert!(ran.stdout.contains(reason), "{audience}\n{}", ran.stdout);
    }
    // A problem in a segment is reported there, and a problem with its own code is not reported twice.
    let spoiled = "segments:\n  never: {criteria: {and: [{tag: a}, {not: {or: [{tag: a}, {tag: b}]}}]}}\n";
    let ran =
        validate(&Folder::project(&format!("{spoiled}{}", push("{and: [{segment: never}, {tag: c}]}", "all", LATER))));
    assert_eq!(count(&ran, "AU119"), 1, "{ran:?}");
    assert!(stands(&ran, "AU119", "2:21"), "{ran:?}");
    // If that is allowed, its users get a finding.
    let allowed = spoiled.replace("]}}]}}", "]}}]}, lifecycle: {allow: [AU119]}}");
    let ran =
        validate(&Folder::project(&format!("{allowed}{}", push("{and: [{segment: never}, {tag: c}]}", "all", LATER))));
    assert_eq!((count(&ran, "AU119"), ran.code), (1, 3), "{ran:?}");
    assert!(!stands(&ran, "AU119", "2:21"), "{ran:?}");
    // A part that no device can match is a warning while others match.
    for (audience, code) in [
        ("{or: [{tag: a}, {and: [{country: US}, {country: CA}]}]}", 0),
        ("{or: [{and: [{country: US}, {country: CA}]}, {and: [{language: en}, {language: de}]}]}", 3),
        ("{and: [{tag: a}, {not: {and: [{country: US}, {country: CA}]}}]}", 0),
        ("{and: [{tag: a}, {country: US}, {country: CA}]}", 3),
    ] {
        let ran = validate(&Folder::project(&push(audience, "all", LATER)));
        assert!(count(&ran, "AU119") > 0, "{audience}\n{ran:?}");
        assert_eq!(ran.code, code, "{audience}\n{ran:?}");
    }
    let every = format!("segments:\n  every: {{criteria: all}}\n{}", push("{not: {segment: every}}", "all", LATER));
    let ran = validate(&Folder::project(&every));
    assert!(ran.stdout.contains("no device meets `not everyone`"), "{}", ran.stdout);
    assert!(ran.stdout.contains("remove it, or write an audience that a device can meet"), "{}", ran.stdout);
    for (audience, devices) in [
        ("{and: [{ios_version: 8.3.X}, {tag: a}]}", "[android]"),
        ("{and: [{ios_version: 8.3.1}, {tag: a}]}", "all"),
        ("{and: [{tag: a}, {not: {tag: b}}]}", "all"),
        ("{and: [{segment: at-home}, {not: {country: US}}]}", "all"),
    ] {
        let ran = validate(&Folder::project(&format!("{segments}{}", push(audience, devices, LATER))));
        assert_eq!(count(&ran, "AU119"), 0, "{audience}\n{ran:?}");
    }
}

#[test]
fn conditions_that_leave_nobody_out_are_told() {
    let segments = "segments:
  opted-in: {criteria: {opt_in: true}}
  everybody: {criteria: all}
";
    for (audience, found) in [
        ("{or: [{segment: opted-in}, {opt_in: false}]}", 1),
        ("{opt_in: [true, false]}", 1),
        ("{or: [{not: {country: US}}, {not: {country: CA}}]}", 1),
        ("{or: [{location_enabled: true}, {location_enabled: false}]}", 0),
        ("{or: [{segment: opted-in}, {tag: a}]}", 0),
        ("{or: [{segment: everybody}, {tag: a}]}", 0),
        ("{segment: everybody}", 0),
        ("all", 0),
    ] {
        let ran = validate(&Folder::project(&format!("{segments}{}", push(audience, "[ios]", LATER))));
        assert_eq!((count(&ran, "AU120"), ran.code), (found, 0), "{audience}\n{ran:?}");
    }
}

#[test]
fn words_for_true_and_false_are_one_mistake_with_or_without_quotes() {
    for criteria in ["{opt_in: yes}", "{opt_in: \"yes\"}", "{opt_in: 1}", "{tag: off, group: ua_opt_in}"] {
        let ran = validate(&Folder::project(&format!("segments: {{a: {{criteria: {criteria}}}}}\n")));
        assert_eq!((count(&ran, "AU110"), count(&ran, "YM204")), (1, 0), "{criteria}\n{ran:?}");
    }
}

/// The findings of a project in the form for programs, with their fixes.
fn judged(folder: &Folder) -> check::Verdict {
    let manifests = manifest::read_project(folder.path(), None);
    let (desired, mut found) = manifests.resolve(Some("local"));
    let now: Timestamp = NOW.parse().expect("a time");
    let target = manifests.project.target("local");
    found.extend(check::check(&Subject { desired: &desired, target, now }));
    check::judge([], vec![(desired, found)], &manifests.project, &manifests.sources)
}

#[test]
fn a_fix_never_writes_over_a_variable() {
    let folder = Folder::project("segments: {a: {criteria: {country: \"${var.home}\"}}}\n");
    folder.write("pushplan.toml", "[targets.local.variables]\nhome = \"us\"\n");
    let verdict = judged(&folder);
    let [finding] = &verdict.findings[..] else { panic!("{verdict:?}") };
    assert_eq!((finding.code.name, &finding.fix), ("AU107", &None));

    let written = judged(&Folder::project("segments: {a: {criteria: {country: us}}}\n"));
    assert_eq!(written.findings[0].fix.as_ref().map(|fix| (fix.text.as_str(), fix.safe)), Some(("US", true)));
}

/// The findings about quiet hours from 21:00 to 08:00, and the time that each proposes.
fn disturbing(audience: &str, schedule: &str) -> Vec<(String, Option<String>)> {
    let folder = Folder::project(&push(audience, "all", schedule));
    folder.write("pushplan.toml", "[targets.local]\nquiet_hours = {from = \"21:00\", to = \"08:00\"}\n");
    let verdict = judged(&folder);
    verdict.findings.into_iter().map(|one| (one.message, one.fix.map(|fix| fix.text))).collect()
}

#[test]
fn quiet_hours_follow_the_clocks_of_the_audience() {
    let paris = "{scheduled_time: 2026-11-27T09:00, time_zone: Europe/Paris}";
    assert_eq!(disturbing("all", paris), []);
    assert_eq!(disturbing("{timezone: [Europe/Paris, Europe/Moscow]}", paris), []);
    assert_eq!(disturbing("{and: [{tag: a}, {not: {timezone: America/New_York}}]}", paris), []);

    let [(message, free)] = &disturbing("{timezone: [Europe/Paris, America/New_York]}", paris)[..] else {
        panic!("one finding");
    };
    assert!(message.contains("03:00 in America/New_York") && !message.contains("Paris"), "{message}");
    assert_eq!(free.as_deref(), Some("2026-11-27T14:00"), "08:00 in New York, by the clock of Paris");

    let [(message, free)] = &disturbing("{timezone: America/Sao_Paolo}", "{scheduled_time: 2026-11-28T01:30}")[..]
    else {
        panic!("one finding");
    };
    assert!(message.contains("22:30 in America/Sao_Paulo"), "{message}");
    assert_eq!(free.as_deref(), Some("2026-11-28T11:00"));
}

#[test]
fn zones_of_all_the_world_leave_no_hour() {
    let world = "{timezone: [America/New_York, Europe/Paris, Asia/Tokyo, Pacific/Auckland, America/Los_Angeles]}";
    let [(message, free)] = &disturbing(world, "{scheduled_time: 2026-11-27T12:00}")[..] else {
        panic!("one finding");
    };
    assert!(message.contains("21:00 in Asia/Tokyo"), "{message}");
    assert_eq!(*free, None);
}

#[test]
fn without_zones_in_the_audience_the_clock_of_the_schedule_counts() {
    let late = "{scheduled_time: 2026-11-27T23:15, time_zone: America/New_York}";
    let [(message, free)] = &disturbing("all", late)[..] else { panic!("one finding") };
    assert!(message.contains("23:15 in America/New_York"), "{message}");
    assert_eq!(free.as_deref(), Some("2026-11-28T08:00"));
    assert_eq!(disturbing("all", "{scheduled_time: 2026-11-27T08:00, time_zone: America/New_York}"), []);

    let [(message, free)] = &disturbing("{timezone: Asia/Tokyo}", "{local_scheduled_time: 2026-11-27T21:00}")[..]
    else {
        panic!("one finding");
    };
    assert!(message.contains("21:00 local time"), "{message}");
    assert_eq!(free.as_deref(), Some("2026-11-28T08:00"));
}

#[test]
fn a_time_has_passed_once_it_has_passed_for_everybody() {
    for (schedule, past) in [
        ("{scheduled_time: 2026-11-15T12:00}", true),
        ("{scheduled_time: 2026-11-15T12:01}", false),
        ("{scheduled_time: 2026-11-15T07:01, time_zone: America/New_York}", false),
        ("{scheduled_time: 2026-11-15T13:00, time_zone: Europe/Paris}", true),
        ("{local_scheduled_time: 2026-11-15T00:00}", true),
        ("{local_scheduled_time: 2026-11-15T00:01}", false),
    ] {
        let ran = validate(&Folder::project(&push("all", "all", schedule)));
        assert_eq!(ran.stdout.contains("[SC101]"), past, "{schedule}\n{ran:?}");
        assert_eq!(ran.code, 0, "a warning fails nothing by itself");
    }
}

#[test]
fn a_time_that_cannot_be_sent_proposes_one_that_can() {
    for (schedule, code, text, safe) in [
        ("{scheduled_time: \"2026-11-27T09:00+01:00\"}", "SC105", "2026-11-27T08:00", false),
        ("{scheduled_time: \"2026-11-27T22:00-0500\"}", "SC105", "2026-11-28T03:00", false),
        ("{scheduled_time: \"2026-11-27T09:00:30.5\"}", "SC105", "2026-11-27T09:00:30", false),
        ("{scheduled_time: 2027-03-14T02:30, time_zone: America/New_York}", "SC102", "2027-03-14T03:30", false),
        ("{scheduled_time: 2026-11-27T09:00, time_zone: europe/paris}", "SC106", "Europe/Paris", true),
        ("{scheduled_time: 2026-11-27T09:00, time_zone: America/Sao_Paolo}", "SC106", "America/Sao_Paulo", true),
        ("{scheduled_time: 2026-11-27T09:00, time_zone: Europe/Pari}", "SC106", "Europe/Paris", false),
    ] {
        let verdict = judged(&Folder::project(&push("all", "all", schedule)));
        let found: Vec<_> = verdict.findings.iter().map(|one| (one.code.name, one.fix.as_ref())).collect();
        let [(name, Some(fix))] = found[..] else { panic!("{schedule}\n{verdict:?}") };
        assert_eq!((name, fix.text.as_str(), fix.safe), (code, text, safe), "{schedule}");
    }
}

#[test]
fn an_open_channel_has_a_real_zone_country_and_language() {
    let channel = |zone: &str, country: &str, language: &str| {
        let folder = Folder::project(&format!(
            "open_channels:
  desk:
    opt_in: true
    timezone: {zone}
    locale_country: {country}
    locale_language: {language}
    open: {{open_platform_name: sms}}
"
        ));
        validate(&folder)
    };
    assert_eq!(channel("Europe/Zurich", "CH", "de").code, 0, "a zone outside the service's list is still a zone");
    assert!(stands(&channel("Europe/Zürich", "CH", "de"), "SC106", "4:15"));
    let ran = channel("Europe/Zurich", "Switzerland", "DE");
    assert!(stands(&ran, "AU107", "5:21") && stands(&ran, "AU106", "6:22"), "{}", ran.stdout);
}
