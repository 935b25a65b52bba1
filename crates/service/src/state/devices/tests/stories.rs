use super::super::nesting::Nested;
use super::*;

#[test]
fn an_intersection_of_three_tags_looks_only_at_the_members_of_the_rarest() {
    const DEVICES: u32 = 200_000;
    let mut index = Index::new();
    for n in 0..DEVICES {
        let own: &[&str] = match n {
            n if n % 20_000 == 0 => &["often", "some", "rare"],
            n if n % 20_000 == 1 => &["rare"],
            n if n % 50 == 0 => &["often", "some"],
            n if n % 2 == 0 => &["often"],
            _ => &[],
        };
        index.put(&mut journal(), &format!("d{n:06}"), device("web", &[(NO_GROUP, own)]));
    }
    let audience = selector(&json!({ "AND": [{ "tag": "often" }, { "tag": "some" }, { "tag": "rare" }] }));
    let segments = Segments::new();
    let members = Members { devices: &index, segments: &segments, now: now() };
    let mut candidates = 0;
    members.candidates(&audience, &Nested::of(&audience, &segments), &mut |_| candidates += 1);
    assert_eq!(candidates, 20, "the rarest of the three tags has 20 members");
    assert_eq!(members.of(&audience).len(), 10);
}

#[test]
fn the_rarest_is_found_within_segments_and_unions() {
    let mut index = Index::new();
    for n in 0..1_000 {
        let own: &[&str] = if n % 100 == 0 { &["often", "rare"] } else { &["often"] };
        index.put(&mut journal(), &format!("d{n:04}"), device("web", &[(NO_GROUP, own)]));
    }
    let rare = selector(&json!({ "or": [{ "tag": "rare" }, { "tag": "never" }] }));
    let segments = Segments::from([("s".to_owned(), at(rare))]);
    let audience =
        selector(&json!({ "and": ["all", { "not": { "tag": "never" } }, { "segment": "s" }, { "tag": "often" }] }));
    let members = Members { devices: &index, segments: &segments, now: now() };
    let mut candidates = 0;
    members.candidates(&audience, &Nested::of(&audience, &segments), &mut |_| candidates += 1);
    assert_eq!(candidates, 10);
    assert_eq!(members.of(&audience).len(), 10);
}

#[test]
fn a_tag_of_both_a_device_and_its_user_goes_with_the_last_of_them() {
    let mut index =
        index(vec![("a", Device { named_user: Some("ann".into()), ..device("ios", &[("crm", &["vip"])]) })]);
    let vip = json!({ "tag": "vip", "group": "crm" });
    index.set_user_tags("ann", &tags(&[("crm", &["vip"])]));
    index.change(&mut journal(), "a", |device| device.tags.clear());
    assert_eq!(found(&index, &vip), ["a"], "through its user");
    index.set_user_tags("ann", &Tags::new());
    assert!(found(&index, &vip).is_empty());
}

#[test]
fn a_device_carries_the_tags_of_the_user_that_it_belongs_to_now() {
    let mut index = index(vec![("a", device("ios", &[]))]);
    index.set_user_tags("ann", &tags(&[("crm", &["vip"])]));
    index.set_user_tags("bob", &tags(&[("crm", &["new"])]));
    let (vip, new) = (json!({ "tag": "vip", "group": "crm" }), json!({ "tag": "new", "group": "crm" }));
    for (user, is_vip, is_new) in [(Some("ann"), 1, 0), (Some("bob"), 0, 1), (None, 0, 0)] {
        index.change(&mut journal(), "a", |device| device.named_user = user.map(str::to_owned));
        assert_eq!((found(&index, &vip).len(), found(&index, &new).len()), (is_vip, is_new), "{user:?}");
    }
}

#[test]
fn who_has_uninstalled_is_in_no_audience() {
    let mut index = index(vec![("a", device("ios", &[("", &["vip"])])), ("b", device("ios", &[("", &["vip"])]))]);
    index.change(&mut journal(), "a", |device| device.installed = false);
    for audience in [json!("all"), json!({ "tag": "vip" }), json!({ "not": { "tag": "none" } })] {
        assert_eq!(found(&index, &audience), ["b"], "{audience}");
    }
    assert!(found(&index, &json!({ "ios_channel": "a" })).is_empty());
}

#[test]
fn a_tag_without_a_group_is_another_than_one_with() {
    let index = index(vec![("a", device("ios", &[("", &["vip"])])), ("b", device("ios", &[("crm", &["vip"])]))]);
    assert_eq!(found(&index, &json!({ "tag": "vip" })), ["a"]);
    assert_eq!(found(&index, &json!({ "tag": "vip", "group": "crm" })), ["b"]);
}

#[test]
fn segments_in_a_circle_match_nobody_and_end() {
    let index = index(vec![("a", device("ios", &[("", &["vip"])]))]);
    let refer = |id: &str| json!({ "or": [{ "tag": "vip" }, { "segment": id }, { "segment": id }] });
    let segments = [("s0", "s1"), ("s1", "s2"), ("s2", "s0"), ("into", "s0"), ("of the deleted", "gone")];
    let segments: Segments = segments.into_iter().map(|(id, to)| (id.to_owned(), at(selector(&refer(to))))).collect();
    for id in ["s0", "s1", "s2", "into"] {
        assert!(ids(&index, &segments, &selector(&json!({ "segment": id }))).is_empty(), "{id}");
    }
    assert_eq!(ids(&index, &segments, &selector(&json!({ "segment": "of the deleted" }))), ["a"]);
}

#[test]
fn ten_thousand_segments_within_each_other_are_answered() {
    let index = index(vec![("a", device("ios", &[("", &["vip"])])), ("b", device("ios", &[]))]);
    let mut segments = Segments::from([("s0".to_owned(), at(selector(&json!({ "tag": "vip" }))))]);
    for n in 1..10_000 {
        // Refers to the segment before twice: evaluating it each time would take two to the power of their number.
        let before = format!("s{}", n - 1);
        let criteria = json!({ "and": [{ "segment": before }, { "or": [{ "segment": before }] }] });
        segments.insert(format!("s{n}"), at(selector(&criteria)));
    }
    assert_eq!(ids(&index, &segments, &selector(&json!({ "segment": "s9999" }))), ["a"]);
    assert_eq!(ids(&index, &segments, &selector(&json!({ "not": { "segment": "s9999" } }))), ["b"]);
}

#[test]
fn channels_are_found_by_their_own_kind_and_open_ones_by_address() {
    let open = |platform: &str| Device { address: Some("+1".into()), ..device(platform, &[]) };
    let index = index(vec![("i", device("ios", &[])), ("o", open("open::sms")), ("p", open("open::chat"))]);
    assert_eq!(found(&index, &json!({ "ios_channel": "i" })), ["i"]);
    assert!(found(&index, &json!({ "android_channel": "i" })).is_empty());
    assert_eq!(found(&index, &json!({ "channel": ["i", "o"] })), ["i", "o"]);
    assert_eq!(found(&index, &json!({ "open_channel": "+1" })), ["o", "p"]);
    assert!(found(&index, &json!({ "open_channel": "o" })).is_empty());
}

#[test]
fn a_location_counts_for_as_long_as_the_period_says() {
    let seen = |text: &str| Device { seen_at: [("paris".to_owned(), moment(text))].into(), ..device("ios", &[]) };
    let index = index(vec![
        ("last week", seen("2026-11-20T00:00:00Z")),
        ("last year", seen("2025-11-20T00:00:00Z")),
        ("long ago", seen("0100-01-01T00:00:00Z")),
    ]);
    let within = |months: i64| json!({ "location": { "id": "paris", "date": { "recent": { "months": months } } } });
    assert_eq!(found(&index, &within(1)), ["last week"]);
    assert_eq!(found(&index, &within(13)), ["last week", "last year"]);
    assert_eq!(found(&index, &within(i64::MAX)).len(), 3);
    assert!(found(&index, &within(0)).is_empty());
    assert!(found(&index, &within(-1)).is_empty());
    assert_eq!(found(&index, &json!({ "location": { "id": "paris" } })).len(), 3);
    assert!(found(&index, &json!({ "location": { "id": "rome" } })).is_empty());
}

#[test]
fn attributes_are_compared_by_their_operator() {
    let with = |value: serde_json::Value| Device { attributes: [("x".to_owned(), value)].into(), ..device("ios", &[]) };
    let index = index(vec![("five", with(json!(5))), ("text", with(json!("hello"))), ("without", device("ios", &[]))]);
    let by = |operator: &str, value: serde_json::Value| {
        found(&index, &json!({ "attribute": "x", "operator": operator, "value": value }))
    };
    assert_eq!(by("equals", json!(5.0)), ["five"]);
    assert_eq!(by("not_equals", json!(5)), ["text", "without"]);
    assert_eq!(by("less", json!(6)), ["five"]);
    assert_eq!(by("greater", json!(4.5)), ["five"]);
    assert_eq!(by("contains", json!("ell")), ["text"]);
    assert_eq!(by("after", json!("abc")), ["text"]);
    assert_eq!(by("is_empty", json!(null)), ["without"]);
    assert!(by("rhymes_with", json!("hello")).is_empty());
}

#[test]
fn tags_are_derived_from_properties() {
    let properties = Properties {
        language: Some("PT".into()),
        country: Some("br".into()),
        timezone: Some("America/Sao_Paulo".into()),
        app_version: Some("2.1 beta".into()),
        sdk_version: Some("6.1.0".into()),
        os_version: Some("8.3".into()),
        model: Some("iPhone7,2".into()),
    };
    let ios = Device { opt_in: true, location: true, properties: properties.into(), ..device("ios", &[]) };
    let derived: Vec<(&str, String)> = property_tags(&ios).collect();
    let expected = [
        ("timezone", "America/Sao_Paolo"),
        ("ua_opt_in", "true"),
        ("ua_background_enabled", "false"),
        ("ua_location_enabled", "true"),
        ("ua_ios_app_version", "2.1 beta"),
        ("ua_locale_language", "pt"),
        ("ua_locale_country", "BR"),
        ("ua_ios_sdk_version", "6.1.X"),
        ("ua_ios_version", "8.3.X"),
        ("ua_ios_model", "iPhone7,2"),
    ];
    assert_eq!(derived, expected.map(|(group, tag)| (group, tag.to_owned())));
    let index = index(vec![("a", ios)]);
    for zone in ["America/Sao_Paolo", "America/Sao_Paulo"] {
        assert_eq!(found(&index, &json!({ "tag": zone, "group": "timezone" })), ["a"], "{zone}");
    }
    assert!(found(&index, &json!({ "tag": "8.3.0", "group": "ua_ios_version" })).is_empty());
}

#[test]
fn what_a_device_does_not_tell_is_unknown() {
    let properties = Properties { language: Some("zz".into()), country: Some(" ".into()), ..Properties::default() };
    let android = Device { properties: properties.into(), ..device("android", &[]) };
    let derived: BTreeMap<&str, String> = property_tags(&android).collect();
    assert_eq!(derived["timezone"], "NO_TIME_ZONE");
    assert_eq!(derived["ua_opt_in"], "false");
    assert!(!derived.contains_key("ua_location_enabled"), "only from SDK 6.0 on");
    let unknown = ["app_version", "sdk_version", "version"].map(|name| format!("ua_android_{name}"));
    for group in unknown.iter().map(String::as_str).chain(["ua_locale_language", "ua_locale_country"]) {
        assert_eq!(derived[group], "Unknown", "{group}");
    }
    assert_eq!(derived.len(), 8, "{derived:?}");
}

#[test]
fn a_zone_that_is_not_listed_goes_to_the_nearest() {
    let nearest = [
        ("Europe/Berlin", "Europe/Paris"),
        ("America/Toronto", "America/New_York"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("Australia/Perth", "Asia/Hong_Kong"),
        ("Europe/Athens", "Europe/Istanbul"),
        ("Asia/Shanghai", "Asia/Hong_Kong"),
        ("Pacific/Fiji", "Pacific/Auckland"),
        ("Europe/Paris", "Europe/Paris"),
        ("UTC", "UTC"),
        ("Mars/Olympus", "NO_TIME_ZONE"),
    ];
    for (own, listed) in nearest {
        assert_eq!(nearest_zone(own), listed, "{own}");
    }
}
