//! The features of cases, each tested.

use super::{Folder, case_of, fails_of, passes};

#[test]
fn a_device_is_in_segments_by_its_tags_country_and_user() {
    passes("device: BUYER\nexpect: {in: [lapsed-buyers, not-new, lapsed-or-staff]}");
    passes("device: {device_type: web, named_user: boss}\nexpect: {in: lapsed-or-staff, not_in: lapsed-buyers}");
    passes(
        "device: {device_type: ios, country: DE, tags: {lifecycle: [buyer, lapsed]}}\nexpect: {not_in: lapsed-buyers}",
    );
    passes("device: {device_type: ios, tags: {lifecycle: new}}\nexpect: {not_in: segments/not-new}");
}

#[test]
fn a_user_has_its_tags_also_where_a_pipeline_waits_for_them() {
    let manifest = "\
tag_groups:
  lifecycle: {tags: [new, buyer], members: {named_users: {ann: [buyer]}}}
named_users:
  ann: {channels: [{channel_id: anns-phone, device_type: ios}]}
segments:
  buyers: {criteria: {tag: buyer, group: lifecycle}}
pipelines:
  thanks:
    enabled: true
    immediate_trigger: {tag_added: {tag: buyer, group: lifecycle}}
    outcome: {delay: 1h, push: {audience: triggered, device_types: [ios], notification: {alert: Thanks}}}
";
    let ran = case_of(manifest, "device: {device_type: ios, named_user: ann}\nexpect: {in: buyers}");
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn what_happens_changes_who_is_meant() {
    passes(
        "device: {device_type: ios, country: DE}
steps:
  - expect: {not_in: lapsed-buyers}
  - add_tags: {lifecycle: [buyer, lapsed]}
    expect: {not_in: lapsed-buyers}
  - change: {country: CA}
    expect: {in: lapsed-buyers}
  - remove_tags: {lifecycle: lapsed}
    expect: {not_in: lapsed-buyers}
  - add_tags: {lifecycle: lapsed}
    expect: {in: lapsed-buyers}
  - uninstall: true
    expect: {not_in: lapsed-buyers}",
    );
}

#[test]
fn a_scheduled_push_comes_at_its_time_in_the_zone_of_the_case() {
    for (zone, time) in [("America/New_York", "2035-01-22T10:00"), ("Europe/Paris", "2035-01-22T16:00")] {
        passes(&format!(
            "at: 2035-01-22T09:00
time_zone: {zone}
device: BUYER
expect: {{receives: {{from: scheduled_pushes/sale, at: {time}, alert: Sale, message: The sale}}}}"
        ));
    }
    passes(
        "at: 2035-01-22T15:00Z\ndevice: BUYER\nsteps: [{after: 10d}]\nexpect: {receives: {from: experiments/texts}}",
    );
}

#[test]
fn a_push_in_each_device_s_own_zone_comes_by_its_clock() {
    passes(
        "at: 2035-02-28T09:00
time_zone: Asia/Tokyo
device: {device_type: android, timezone: Asia/Tokyo}
expect: {receives: {from: scheduled_pushes/tea-time, at: 2035-03-01T17:00}}",
    );
}

#[test]
fn the_first_open_sets_off_a_welcome_and_the_second_does_not() {
    passes(
        "device: {device_type: ios}
steps:
  - open: true
    expect: {receives: {from: pipelines/welcome, alert: Welcome to your phone}}
  - {after: 2d, open: true, expect: {receives: []}}",
    );
    passes("device: {device_type: web}\nsteps: [{open: true}]\nexpect: {receives: {alert: Welcome}}");
    passes("device: {device_type: web, opened: true}\nsteps: [{open: true}]\nexpect: {receives: []}");
}

/// Tags that a device has when a case begins existed before: only steps of the case trigger messages.
#[test]
fn a_tag_that_was_there_sets_nothing_off_and_one_that_comes_does() {
    passes("device: {device_type: ios, tags: remind-me}\nsteps: [{after: 10d}]\nexpect: {receives: []}");
    passes(
        "device: {device_type: ios}
steps:
  - {after: 5m, add_tags: remind-me, expect: {receives: []}}
  - {after: 23h59m, expect: {receives: []}}
expect: {receives: {from: pipelines/remind, after: 1d, alert: {contains: interested}}}",
    );
}

#[test]
fn a_tapped_button_sets_off_what_waits_for_its_tag() {
    passes(
        "at: 2035-01-22T09:00
time_zone: America/New_York
device: BUYER
steps:
  - {at: 2035-01-22T10:00, expect: {receives: {from: scheduled_pushes/sale}}}
  - {after: 1h, tap: {from: scheduled_pushes/sale, button: remind}}
expect:
  receives:
    - {from: pipelines/welcome}
    - {from: pipelines/remind, at: 2035-01-23T11:00}",
    );
}

#[test]
fn who_has_not_opted_in_gets_the_message_and_no_notification() {
    passes(
        "at: 2035-01-22T14:00
device: {device_type: ios, country: US, opt_in: false, tags: {lifecycle: [buyer, lapsed]}}
steps:
  - after: 1d
    expect: {receives: {from: scheduled_pushes/sale, message: The sale}}
  - {add_tags: remind-me}
  - {after: 2d, expect: {receives: []}}",
    );
}

/// The variant is random, so every run may give another one.
#[test]
fn of_an_experiment_any_variant_will_do() {
    for _ in 0..4 {
        passes(
            "at: 2035-01-31T00:00\ndevice: BUYER\nexpect: {receives: {from: experiments/texts, after: 1d10h, alert: [Variant one, Variant two]}}",
        );
    }
}

/// Members that manifests name by their channel refer to that device.
#[test]
fn manifests_that_name_the_channel_of_the_device_reach_it() {
    let manifest = super::SHOP.replace(
        "  lifecycle: {tags: [new, buyer, lapsed]}",
        "  lifecycle: {tags: [new, buyer, lapsed], members: {named_users: {boss: [buyer, lapsed]}}}",
    ) + "named_users:\n  boss: {channels: [{channel_id: phone-1, device_type: ios}, {channel_id: gone, device_type: ios}]}\n";
    let ran = super::case_of(
        &manifest,
        "device: {device_type: ios, channel: phone-1, country: US}\nexpect: {in: [lapsed-buyers, lapsed-or-staff]}",
    );
    assert_eq!(ran.code, 0, "{ran}");
    let ran = super::case_of(&manifest, "device: {device_type: ios, country: US}\nexpect: {not_in: lapsed-or-staff}");
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_case_that_begins_between_two_times_gets_what_is_still_to_come() {
    let manifest = "\
scheduled_pushes:
  two:
    schedule: [{scheduled_time: 2035-01-18T09:00}, {scheduled_time: 2035-01-20T09:00}]
    push: {audience: {country: US}, device_types: [ios], notification: {alert: Two}}
experiments:
  texts:
    audience: {country: CA}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-01-18T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-01-21T10:00}}
";
    for (country, from, at) in
        [("US", "scheduled_pushes/two", "2035-01-20T09:00"), ("CA", "experiments/texts", "2035-01-21T10:00")]
    {
        let folder = Folder::project(manifest);
        folder.write(
            "two.test.yaml",
            format!(
                "cases:
  between:
    at: 2035-01-19T00:00
    device: {{device_type: ios, country: {country}}}
    steps: [{{after: 5d}}]
    expect: {{receives: [{{from: {from}, at: {at}}}]}}
  before all of it:
    at: 2035-01-17T00:00
    device: {{device_type: ios, country: {country}}}
    expect: {{receives: []}}
"
            ),
        );
        let ran = folder.run(&["test"]);
        assert_eq!((ran.code, ran.stdout.ends_with("2 cases passed.\n")), (0, true), "{ran}");
    }
    let late = "at: 2035-01-21T00:00\ndevice: {device_type: ios, country: US}";
    let expect = "expect: {receives: {from: scheduled_pushes/two}}";
    let said = "because  its time, 2035-01-18T09:00, had passed when the case began";
    fails_of(manifest, &format!("{late}\n{expect}"), &[said]);
}
