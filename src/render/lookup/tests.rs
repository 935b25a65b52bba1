use super::*;
use crate::kinds::{Found, kind};
use crate::ledger::Ledger;
use serde_json::json;

const STYLE: Style = Style { width: 80, ..Style::PLAIN };

fn found(name: &str, spec: serde_json::Value) -> Found {
    Found { id: "id-1".into(), name: name.into(), spec: Some(spec.into()), ..Found::default() }
}

#[test]
fn a_segment_is_told_in_words_and_as_a_tree() {
    let spec = json!({"display_name": "Lapsed", "criteria": {"and": [{"tag": "buyer", "group": "lifecycle"}, {"segment": "s-2"}]}});
    let thing = LookedUpThing::of(kind("segments").expect("a kind"), &found("Lapsed", spec), &Ledger::default());
    let told = things(&[thing], STYLE);
    for words in [
        "segment    \"Lapsed\"",
        "id         id-1",
        "in git     not managed",
        "who        lifecycle = buyer; segment s-2",
        "all of\n",
        "lifecycle = buyer",
        "s-2",
    ] {
        assert!(told.contains(words), "{words:?} in {told}");
    }
}

#[test]
fn a_template_is_told_with_its_variables() {
    let spec = json!({"name": "Hi", "description": "For all", "variables": [{"key": "NAME", "default_value": "you"}, {"key": "X"}],
        "push": {"notification": {"alert": "Hi {{NAME}}"}}});
    let thing = LookedUpThing::of(kind("templates").expect("a kind"), &found("Hi", spec), &Ledger::default());
    let told = things(&[thing], STYLE);
    for words in
        ["purpose    For all", "\"Hi {{NAME}}\"", "{{NAME}}, \"you\" by default", "{{X}}, which has no default"]
    {
        assert!(told.contains(words), "{words:?} in {told}");
    }
}

#[test]
fn hostile_names_stay_in_their_place_at_every_width() {
    let hostile = "a\n\u{1b}[2J::error::x \u{202e}";
    let place = GeoPlace {
        id: hostile.into(),
        name: hostile.into(),
        r#type: hostile.into(),
        context: [(hostile.to_owned(), hostile.to_owned())].into(),
        bounds: vec![],
        centroid: vec![],
    };
    let body = json!({"named_user": {"named_user_id": hostile, "tags": {hostile: [hostile]}, "created": hostile,
        "channels": [{"channel_id": hostile, "device_type": hostile, "tags": [hostile], "named_user_id": hostile}]}});
    let user = NamedUser::read(&body).expect("a user");
    for width in [20, 40, 200] {
        let style = Style { width, ..STYLE };
        for told in
            [places(std::slice::from_ref(&place), style), named_user(&user, style), channel(&user.channels[0], style)]
        {
            assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told:?}");
            assert!(told.lines().all(|line| !line.starts_with("::")), "{told}");
        }
    }
}

#[test]
fn a_channel_is_told_with_the_words_that_authors_write() {
    let body = json!({"channel": {"channel_id": "c", "device_type": "ios", "opt_in": false, "tags": ["vip"],
        "tag_groups": {"ua_locale_country": ["US"], "crm": ["a", "b"]}}});
    let told = channel(&Channel::read(&body).expect("a channel"), STYLE);
    for words in [
        "opted in    no",
        "named user  none",
        "(none)                        vip",
        "ua_locale_country  country    US",
        "a, b",
    ] {
        assert!(told.contains(words), "{words:?} in {told}");
    }
}
