//! Lookups for authors.

use pushplan_testing::{Project, checked, says, stand_in};
use serde_json::{Value, json};

fn looked_up(project: &Project, arguments: &[&str]) -> Value {
    checked(&project.good(&[&["lookup"], arguments, &["--format", "json"]].concat()), "lookup.schema.json")
}

#[test]
fn a_place_is_found_by_name_by_point_and_by_box() {
    let project = Project::new("broken: [\n");
    let service = project.serve();
    service.forget();
    let ran = project.good(&["lookup", "location", "portland"]);
    says(&ran.stdout, &["name      type  context", "Portland  city  country US, state Oregon", "location: {id: "]);
    let found = looked_up(&project, &["location", "portland", "--type", "city"]);
    let id = found["places"][1]["id"].as_str().expect("an id");
    says(&ran.stdout, &[id]);
    let found = looked_up(&project, &["location", "--point", "37.7749,-122.4194"]);
    assert_eq!(found["places"][0]["name"], "San Francisco");
    let found = looked_up(&project, &["location", "--point", "-33.87,151.2"]);
    assert_eq!(found["places"][0]["name"], "Sydney");
    let found = looked_up(&project, &["location", "--box", "37.6,-122.6,37.9,-122.0", "--type", "city"]);
    assert_eq!(found["places"].as_array().map(Vec::len), Some(2));
    assert_eq!(service.writes(), Vec::<String>::new());
    // The id works as the help says.
    project.write(&format!(
        "segments:\n  here: {{criteria: {{location: {{id: {id}, date: {{recent: {{months: 1}}}}}}}}}}\n"
    ));
    project.good(&["validate"]);
}

#[test]
fn a_place_that_is_not_there_is_exit_1_and_nonsense_is_64() {
    let project = Project::new("");
    let _service = project.serve();
    for (arguments, words) in [
        (&["Atlantis"][..], "has no place with the name `Atlantis`"),
        (&["Atlantis"], "the service may use another spelling"),
        (&["Portland", "--type", "province"], "without --type there is Portland, city"),
        (&["--point", "13.405,52.52"], "the latitude comes first"),
    ] {
        let ran = project.run(&[&["lookup", "location"], arguments].concat());
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &[words]);
    }
    let ran = project.run(&["lookup", "location", "Berlin", "--type", "planet"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["`type` is `city` or `province`"]);
    for arguments in [
        &[][..],
        &["Berlin", "--point", "1,2"],
        &["--point", "here"],
        &["--point", "-122.4194,37.7749"],
        &["--box", "1,2,3"],
    ] {
        assert_eq!(project.run(&[&["lookup", "location"], arguments].concat()).code, 64, "{arguments:?}");
    }
}

#[test]
fn channels_and_named_users_are_told_with_their_tags() {
    let project = Project::new("");
    let service = project.serve_with(&["--devices", "20"]);
    let all = service.get("/api/channels");
    let users = all["channels"].as_array().expect("channels").iter();
    let channel = users.clone().find(|one| one["named_user_id"].is_string()).expect("a channel of somebody");
    let (id, user) =
        (channel["channel_id"].as_str().expect("an id"), channel["named_user_id"].as_str().expect("a user"));
    let ran = project.good(&["lookup", "channel", id]);
    says(&ran.stdout, &[id, user, "opted in", "tag group", "ua_locale_country", "country"]);
    assert!(!ran.stdout.contains("push_address"), "{ran}");
    let found = looked_up(&project, &["channel", id]);
    assert_eq!(found["channel"]["named_user_id"], user);
    let ran = project.good(&["lookup", "named-user", user]);
    says(&ran.stdout, &[user, id, "channel", "device"]);
    let found = looked_up(&project, &["named-user", user]);
    assert_eq!(found["named_user"]["named_user_id"], user);
    for (what, wanted) in
        [("channel", "nope"), ("named-user", "nobody"), ("channel", "a/b?c#d"), ("named-user", "a&id=b")]
    {
        let ran = project.run(&["lookup", what, wanted]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["local has no", wanted]);
    }
    for (what, wanted) in [("channel", ".."), ("channel", ""), ("named-user", "")] {
        assert_eq!(project.run(&["lookup", what, wanted]).code, 64, "{what} {wanted:?}");
    }
}

#[test]
fn segments_and_templates_are_found_by_name_id_and_key() {
    let manifest = "\
segments:
  lapsed: {display_name: Lapsed buyers, criteria: {and: [{tag: buyer}, {country: [US, CA]}]}}
  both: {display_name: Both, criteria: {and: [{segment: lapsed}, {tag: vip}]}}
templates:
  winback: {name: Win back, variables: [{key: NAME, default_value: you}], push: {notification: {alert: \"Hi {{NAME}}\"}}}
";
    let project = Project::new(manifest);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let id = service.segment_id("Lapsed buyers");
    let theirs = service.segment("Twice", "x");
    service.segment("Twice", "y");
    service.forget();
    project.write("no: [yaml\n");
    for wanted in ["Lapsed buyers", "lapsed BUYERS", &id, "lapsed"] {
        let ran = project.good(&["lookup", "segment", wanted]);
        says(&ran.stdout, &["\"Lapsed buyers\"", &id, "segments/lapsed", "tag buyer", "country = US"]);
    }
    let found = looked_up(&project, &["segment", "Both"]);
    assert_eq!(found["things"][0]["spec"]["criteria"]["AND"][0]["segment"], "lapsed", "{found:#}");
    let ran = project.good(&["lookup", "segment", "Twice"]);
    says(&ran.stdout, &[&theirs, "not managed"]);
    assert_eq!(ran.stdout.matches("\"Twice\"").count(), 2, "{ran}");
    let ran = project.good(&["lookup", "template", "winback"]);
    says(&ran.stdout, &["\"Win back\"", "templates/winback", "\"Hi {{NAME}}\"", "{{NAME}}, \"you\" by default"]);
    assert_eq!(looked_up(&project, &["template", "Win back"])["things"][0]["address"], "templates/winback");
    let ran = project.run(&["lookup", "segment", "Laspsed buyers"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(
        &ran.stderr,
        &["local has no segment with the name or id `Laspsed buyers`", "did you mean \"Lapsed buyers\"?"],
    );
    assert_eq!(project.run(&["lookup", "template", "..", "--format", "json"]).code, 1);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn names_are_found_on_every_page() {
    let project = Project::new("");
    let service = project.serve();
    for number in 0..205 {
        service.segment(&format!("S {number}"), "x");
    }
    service.forget();
    says(&project.good(&["lookup", "segment", "S 204"]).stdout, &["\"S 204\""]);
    says(&project.good(&["lookup", "segment", "S 0"]).stdout, &["\"S 0\""]);
    assert!(service.asked().len() > 4, "{:?}", service.asked());
}

#[test]
fn a_hostile_name_is_shown_and_not_obeyed() {
    let project = Project::new("");
    let service = project.serve_with(&["--devices", "3"]);
    let hostile = "::error::x \u{1b}[2J\u{202e}\n##[error]y";
    let id = service.segment(hostile, hostile);
    let channel = service.get("/api/channels")["channels"][0].clone();
    service.post(
        "/api/named_users/associate",
        &json!({"channel_id": channel["channel_id"], "device_type": channel["device_type"], "named_user_id": hostile}),
    );
    service
        .post("/api/named_users/tags", &json!({"audience": {"named_user_id": hostile}, "add": {"g\u{7}": [hostile]}}));
    let one = channel["channel_id"].as_str().expect("an id");
    for arguments in [
        &["lookup", "segment", &id][..],
        &["lookup", "segment", hostile],
        &["lookup", "segment", "error"],
        &["lookup", "channel", one],
        &["lookup", "named-user", hostile],
        &["lookup", "named-user", "\u{1b}[2J"],
        &["api", "GET", "/api/segments"],
        &["api", "GET", "/api/named_users"],
    ] {
        for width in ["20", "80"] {
            let ran = project.run_as(arguments, &[("COLUMNS", width)]);
            for text in [&ran.stdout, &ran.stderr] {
                assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{arguments:?}: {text:?}");
                assert!(!text.contains("##["), "{arguments:?}: {text}");
                assert!(text.lines().all(|line| !line.trim_start().starts_with("::")), "{arguments:?}: {text}");
            }
        }
    }
    let found = looked_up(&project, &["named-user", hostile]);
    assert_eq!(found["named_user"]["named_user_id"], hostile);
}

#[test]
fn what_goes_wrong_at_the_service_is_told() {
    let project = Project::new("");
    for (status, kind, body, code, words) in [
        ("401 Unauthorized", "text/plain", "no", 4, "refuses these credentials"),
        ("500 Oops", "text/html", "<html>\u{1b}[2J</html>", 1, "HTTP 500"),
        ("200 OK", "text/html", "<html>Welcome</html>", 1, "the answer is not JSON"),
        ("200 OK", "application/json", "{\"surprise\": 1}", 1, "cannot be read"),
        ("200 OK", "application/json", "[]", 1, "cannot be read"),
    ] {
        let origin = stand_in(move |_| (status, kind, body));
        project.folder.write("pushplan.toml", format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"));
        let env =
            [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "hunter2")];
        for arguments in [&["lookup", "location", "x"][..], &["lookup", "channel", "x"], &["report", "sends"]] {
            let ran = project.run_as(arguments, &env);
            assert_eq!(ran.code, code, "{arguments:?} {status}: {ran}");
            says(&ran.stderr, &[words]);
            assert!(
                ran.stdout.is_empty() && !ran.stderr.contains("hunter2") && !ran.stderr.contains('\u{1b}'),
                "{ran}"
            );
        }
    }
}
