//! The calendar: messages and their times, in each form, as the real binary prints it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pushplan_testing::{Folder, missing};
use serde_json::Value;

const NOW: &str = "2026-11-16T09:00Z";

const PROJECT: &str = r#"
[targets.production]
quiet_hours = {from = "21:00", to = "08:00"}
apart = "6h"
"#;

const SHOP: &str = r#"
segments:
  lapsed: {criteria: {and: [{tag: buyer}, {country: [GB, AU]}]}}
scheduled_pushes:
  black-friday:
    schedule: {scheduled_time: 2026-11-27T09:00, time_zone: America/New_York}
    push:
      audience: {segment: lapsed}
      device_types: [ios, android]
      notification:
        alert: "Black Friday: 20% off; everything, today"
        interactive: {type: ua_remind_me_later, button_actions: {remind: {add_tag: remind-me}}}
  morning:
    schedule: {local_scheduled_time: 2026-12-03T09:00}
    push: {audience: all, device_types: all, notification: {alert: Good morning}}
  nepal:
    schedule: {scheduled_time: 2026-11-29T23:00, time_zone: Asia/Kathmandu}
    push: {audience: {country: NP}, device_types: [ios], notification: {alert: Late}}
  halloween:
    schedule: {scheduled_time: 2026-10-31T13:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Boo}}
    lifecycle: {allow: [SC101]}
experiments:
  wording:
    audience: {country: GB}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2026-11-27T11:00, time_zone: America/New_York}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2026-11-27T11:00, time_zone: America/New_York}}
pipelines:
  remind-later:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome: {delay: 1h, push: {device_types: [ios], notification: {alert: Still interested?}}}
  off:
    enabled: false
    immediate_trigger: first_open
    outcome: {push: {device_types: [ios], notification: {alert: Never}}}
"#;

fn shop(manifest: &str) -> Folder {
    let folder = Folder::new();
    folder.write("pushplan.toml", PROJECT);
    folder.write("messages.yaml", manifest);
    folder
}

/// The output of the calendar.
fn calendar(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(&[&["calendar", "--now", NOW], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    ran.stdout
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&calendar(folder, &[&["--format", "json"], arguments].concat())).expect("JSON")
}

/// Compares words: a long line continues on the next one.
fn assert_lines(text: &str, lines: &[&str]) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, lines) = (words(text), lines.iter().map(|line| words(line)));
    let mut rest = text.as_str();
    for line in lines {
        let Some(at) = rest.find(&line) else { panic!("`{line}` is not there, or not behind the one before:\n{text}") };
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn the_text_tells_day_by_day_what_goes_out() {
    assert_lines(
        &calendar(&shop(SHOP), &[]),
        &[
            "Times in America/New_York. Quiet hours: 21:00 to 08:00.",
            "Fri 27 Nov 2026",
            "09:00 !",
            "scheduled_pushes/black-friday  \"Black Friday: 20% off; everything, today\"",
            "to segment lapsed, on ios and android",
            "London 14:00 Fri",
            "Sydney 01:00 Sat (quiet)",
            "! quiet hours in Sydney",
            "! 2 hours before experiments/wording variant 1: both can reach an iOS device",
            "pipelines/remind-later follows 1 hour later, from Fri 27 Nov 10:00 on",
            "11:00 !    experiments/wording variant 1",
            "Sun 29 Nov 2026",
            "12:15 !    scheduled_pushes/nepal",
            "Sun 29 Nov 2026 23:00 Asia/Kathmandu (quiet) = 17:15 UTC, in 13 days",
            "! quiet hours in Kathmandu",
            "Thu 3 Dec 2026",
            "09:00      scheduled_pushes/morning",
            "in recipients' local time, from Wed 2 Dec 19:00 UTC to Thu 3",
            "When triggered",
            "pipelines/remind-later  1 hour after the tag remind-me is added",
            "! can be sent in quiet hours (21:00 to 08:00)",
            "5 scheduled messages, 4 marked with !; 1 triggered; 1 send time has passed.",
        ],
    );
    assert!(!calendar(&shop(SHOP), &[]).contains("pipelines/off"));
}

#[test]
fn every_zone_can_be_asked_for() {
    let folder = shop(SHOP);
    let shown = |zone: &str| {
        let document = json(&folder, &["--zone", zone]);
        let sends = document["sends"].as_array().unwrap().clone();
        let of = |key: &str| sends.iter().find(|send| send["address"] == key).unwrap()["shown"].clone();
        (of("scheduled_pushes/black-friday"), of("scheduled_pushes/morning"))
    };
    for (zone, friday) in [
        ("UTC", "2026-11-27T14:00:00"),
        ("Asia/Kathmandu", "2026-11-27T19:45:00"),
        ("Pacific/Kiritimati", "2026-11-28T04:00:00"),
    ] {
        assert_eq!(shown(zone), (friday.into(), "2026-12-03T09:00:00".into()), "{zone}");
    }
    for (zone, near) in [("Paris", "Europe/Paris"), ("EST", "America/New_York"), ("Europe/Pariss", "Europe/Paris")] {
        let ran = folder.run(&["calendar", "--zone", zone]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains(&format!("did you mean `{near}`?")), "{ran}");
    }
}

#[test]
fn days_on_which_clocks_change_are_right() {
    let push = |name: &str, time: &str| {
        format!(
            "  {name}: {{schedule: {{scheduled_time: {time}}}, push: {{audience: {{timezone: America/New_York}}, device_types: [ios], notification: {{alert: a}}}}}}\n"
        )
    };
    let times =
        [("a", "2027-03-14T06:30"), ("b", "2027-03-14T07:30"), ("c", "2027-11-07T05:30"), ("d", "2027-11-07T06:30")];
    let manifest: String = times.iter().map(|(name, time)| push(name, time)).collect();
    let document = json(&shop(&format!("scheduled_pushes:\n{manifest}")), &["--zone", "America/New_York"]);
    let shown: Vec<&str> =
        document["sends"].as_array().unwrap().iter().map(|send| send["shown"].as_str().unwrap()).collect();
    let expected = ["2027-03-14T01:30:00", "2027-03-14T03:30:00", "2027-11-07T01:30:00", "2027-11-07T01:30:00"];
    assert_eq!(shown, expected);
    assert_eq!(document["sends"][2]["first"], "2027-11-07T05:30:00Z");
}

#[test]
fn a_part_of_the_days_can_be_asked_for() {
    let folder = shop(SHOP);
    let addresses = |arguments: &[&str]| -> (Vec<String>, Value, Value) {
        let document = json(&folder, arguments);
        let sends = document["sends"].as_array().unwrap().iter();
        let names = sends.map(|send| send["address"].as_str().unwrap().rsplit('/').next().unwrap().to_owned());
        (names.collect(), document["past"].clone(), document["beyond"].clone())
    };
    assert_eq!(addresses(&["--days", "11"]), (vec![], 1.into(), 5.into()));
    let (names, past, beyond) = addresses(&["--days", "12"]);
    assert_eq!((names.join(" ").as_str(), past, beyond), ("black-friday wording wording", 1.into(), 2.into()));
    let (names, past, _) = addresses(&["--from", "2026-10-01", "--to", "2026-10-31"]);
    assert_eq!((names.join(" ").as_str(), past), ("halloween", 0.into()));
    let (names, ..) = addresses(&["--from", "2026-11-28", "--to", "2026-11-30"]);
    assert_eq!(names, ["nepal"]);
    let ran = folder.run(&["calendar", "--from", "2026-11-28", "--to", "2026-11-27"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn collisions_are_marked_and_can_be_turned_off() {
    let folder = shop(SHOP);
    let document = json(&folder, &[]);
    let collisions = document["collisions"].as_array().unwrap();
    assert_eq!(collisions.len(), 2, "{collisions:#?}");
    assert_eq!(collisions[0]["apart_seconds"], 7200);
    assert_eq!(collisions[0]["other"]["address"], "experiments/wording");
    let ran = folder.run(&["validate", "--now", NOW]);
    assert!(ran.stdout.contains("warning[SC108]: experiments/wording variant 1 is sent 2 hours after"), "{ran}");
    folder.write("pushplan.toml", PROJECT.replace("6h", "0s"));
    assert_eq!(json(&folder, &[])["collisions"].as_array().unwrap().len(), 0);
    assert!(!folder.run(&["validate", "--now", NOW]).stdout.contains("SC108"));
    // Without a setting, four hours apply, and only the calendar reports collisions.
    folder.write("pushplan.toml", "[targets.production]\n");
    assert_eq!(json(&folder, &[])["collisions"].as_array().unwrap().len(), 2);
    assert!(!folder.run(&["validate", "--now", NOW]).stdout.contains("SC108"));
}

#[test]
fn the_markdown_is_a_table() {
    let text = calendar(&shop(SHOP), &["--format", "markdown"]);
    assert_lines(
        &text,
        &["## Calendar of production\n\nTimes in America/New", "| When | What |", "| Fri 27 Nov 2026 09:00 |"],
    );
    assert_lines(&text, &["recipients' local time |", "| Trigger |", "5 scheduled messages, 4 marked with !"]);
}

#[test]
fn the_json_is_as_its_schema_says() {
    let schema = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/calendar.schema.json"));
    let schema: Value = serde_json::from_str(&schema.expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for manifest in [SHOP, "segments: {}\n"] {
        let document = json(&shop(manifest), &[]);
        assert!(validator.is_valid(&document), "{:?}", validator.iter_errors(&document).next());
    }
}

#[test]
fn an_empty_calendar_says_so() {
    let folder = shop("segments: {a: {criteria: {tag: x}}}\n");
    assert_eq!(calendar(&folder, &[]), "Nothing is scheduled.\n");
    assert!(calendar(&folder, &["--format", "markdown"]).contains("Nothing is scheduled."));
    assert_eq!(calendar(&folder, &["--format", "ics"]).matches("BEGIN:").count(), 1);
}

#[test]
fn the_same_files_give_the_same_bytes_also_in_a_file() {
    let folder = shop(SHOP);
    for format in ["text", "markdown", "ics", "json"] {
        let first = calendar(&folder, &["--format", format]);
        assert_eq!(first, calendar(&folder, &["--format", format]), "{format}");
        assert_eq!(calendar(&folder, &["--format", format, "--out", "calendar"]), "");
        assert_eq!(folder.read("calendar"), first, "{format}");
    }
    // An hour later, the calendar file is the same.
    let later = folder.run(&["calendar", "--format", "ics", "--now", "2026-11-16T10:00Z"]).stdout;
    assert_eq!(later, calendar(&folder, &["--format", "ics"]));
}

const HOSTILE: &str = r#"
segments:
  evil: {criteria: {tag: "x\r\nBEGIN:VEVENT\nEND:VCALENDAR"}}
scheduled_pushes:
  evil:
    schedule: {scheduled_time: 2026-11-27T09:00}
    push:
      audience: {tag: "x\r\nBEGIN:VEVENT"}
      device_types: [ios]
      notification: {alert: "a\r\nBEGIN:VEVENT\r\n| @team \e[31m \u202e `b` <img src=x> [c](d) \\; , 日本語日本語日本語日本語日本語日本語"}
"#;

#[test]
fn what_authors_write_stays_in_its_place() {
    let folder = shop(HOSTILE);
    for format in ["text", "markdown", "ics"] {
        let text = calendar(&folder, &["--format", format]);
        let hostile = |c: &char| c.is_control() && *c != '\n' && *c != '\r' || *c == '\u{202e}';
        assert_eq!(text.chars().find(hostile), None, "{format}: {text:?}");
    }
    let ics = calendar(&folder, &["--format", "ics"]);
    assert_eq!(ics.split("\r\n").filter(|line| *line == "BEGIN:VEVENT").count(), 1, "{ics}");
    assert!(ics.split("\r\n").all(|line| line.len() <= 75 && !line.contains(['\r', '\n'])), "{ics}");
    let markdown = calendar(&folder, &["--format", "markdown"]);
    let rows = markdown.lines().filter(|line| line.starts_with("| Fri")).collect::<Vec<_>>();
    assert_eq!(rows.len(), 1, "{markdown}");
    assert_eq!(rows[0].matches('|').count(), 6, "{markdown}");
    assert!(!rows[0].contains(['<', '`', '[']) && !rows[0].contains("@team"), "{markdown}");
    let text = calendar(&folder, &[]);
    assert!(text.lines().all(|line| !line.starts_with("BEGIN")), "{text}");
}

/// The events that a parser finds; `None` if no parser is installed.
fn parsed(ics: &str) -> Option<Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/icalendar/bin/python");
    if !python.exists() {
        missing("a parser of iCalendar files", "run tests/icalendar/install", "PUSHPLAN_REQUIRE_ICALENDAR");
        return None;
    }
    let mut child = Command::new(python)
        .arg(root.join("tests/icalendar/read.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    child.stdin.take().expect("piped").write_all(ics.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "not a valid calendar:\n{ics}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn a_parser_reads_the_calendar_file() {
    let Some(events) = parsed(&calendar(&shop(SHOP), &["--format", "ics"])) else { return };
    let of = |word: &str| events.iter().find(|event| event["summary"].as_str().unwrap().contains(word)).expect(word);
    assert_eq!(events.len(), 5);
    let friday = of("black-friday");
    assert_eq!(friday["summary"], "\"Black Friday: 20% off; everything, today\" scheduled_pushes/black-friday");
    assert_eq!((&friday["start"], &friday["floats"]), (&"2026-11-27T14:00".into(), &false.into()));
    assert!(friday["description"].as_str().unwrap().contains("\n! quiet hours in Sydney, Perth"), "{friday}");
    let morning = of("morning");
    assert_eq!((&morning["start"], &morning["floats"]), (&"2026-12-03T09:00".into(), &true.into()));
    let hostile = parsed(&calendar(&shop(HOSTILE), &["--format", "ics"])).expect("a parser");
    assert_eq!(hostile.len(), 1, "{hostile:?}");
    // An event keeps its id when its time moves.
    let moved = SHOP.replace("2026-11-27T09:00", "2026-11-27T10:00");
    let moved = parsed(&calendar(&shop(&moved), &["--format", "ics"])).expect("a parser");
    assert!(
        moved.iter().any(|event| event["uid"] == friday["uid"] && event["start"] == "2026-11-27T15:00"),
        "{moved:?}"
    );
}

#[test]
fn thousands_of_messages_are_all_shown() {
    let mut manifest = String::from("scheduled_pushes:\n");
    for number in 0..3_000 {
        let (hour, tag) = (number % 24, number % 300);
        let _ = writeln!(
            manifest,
            "  p{number}: {{schedule: {{scheduled_time: 2026-11-27T{hour:02}:00}}, push: {{audience: {{tag: t{tag}}}, device_types: [ios], notification: {{alert: hello {number}}}}}}}"
        );
    }
    let folder = shop(&manifest);
    for format in ["text", "markdown", "ics", "json"] {
        let text = calendar(&folder, &["--format", format]);
        assert!(text.contains("scheduled_pushes/p2999") || text.contains("scheduled&#95;pushes/p2999"), "{format}");
    }
    let text = calendar(&folder, &[]);
    assert!(text.contains("more pairs of messages close together were not compared."));
}

#[test]
fn only_what_a_tap_can_set_off_follows_a_message() {
    let pipeline = |key: &str, trigger: &str, devices: &str, more: &str| {
        format!(
            "  {key}:\n    enabled: true\n    immediate_trigger: {{{trigger}}}\n{more}    \
             outcome: {{delay: 1h, push: {{device_types: [{devices}], notification: {{alert: {key}}}}}}}\n    \
             lifecycle: {{allow: [YM202, PL105]}}\n"
        )
    };
    let start = "    activation_time: \"2026-12-01T00:00:00\"\n";
    let end = |day: &str| format!("    deactivation_time: \"2026-{day}T00:00:00\"\n");
    let pipelines = [
        pipeline("added", "tag_added: clicked", "ios", ""),
        pipeline("ends", "tag_added: clicked", "ios", &end("12-05")),
        pipeline("later", "tag_added: clicked", "ios", start),
        pipeline("over", "tag_added: clicked", "ios", &end("11-18")),
        pipeline("removed", "tag_removed: old", "ios, android", ""),
        pipeline("webonly", "tag_added: clicked", "web", ""),
    ]
    .concat();
    let push = "scheduled_pushes:\n  a:\n    schedule: {scheduled_time: 2026-11-20T09:00}\n    \
                push: {audience: {tag: x}, device_types: [ios], notification: {alert: tap, actions: {add_tag: clicked, remove_tag: old}}}\n";
    let folder = shop(&format!("pipelines:\n{pipelines}{push}"));
    let text = calendar(&folder, &[]);
    assert_lines(
        &text,
        &[
            "pipelines/added follows 1 hour later, from Fri 20 Nov 10:00 on",
            "pipelines/ends follows 1 hour later, from Fri 20 Nov 10:00 on",
            "until Sat 5 Dec 00:00",
            "pipelines/later follows 1 hour later, from Tue 1 Dec 01:00 on",
            "pipelines/removed follows 1 hour later, from Fri 20 Nov 10:00 on",
        ],
    );
    for never in ["pipelines/over follows", "pipelines/webonly follows"] {
        assert!(!text.contains(never), "{never}: {text}");
    }
    let then = json(&folder, &[])["sends"][0]["then"].clone();
    let told: Vec<(&str, &str, bool)> = then
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["address"].as_str().unwrap(), one["tag"].as_str().unwrap(), one["removed"] == true))
        .collect();
    assert_eq!(then[2]["first"], "2026-12-01T01:00:00Z");
    assert_eq!(
        told,
        [
            ("pipelines/added", "clicked", false),
            ("pipelines/ends", "clicked", false),
            ("pipelines/later", "clicked", false),
            ("pipelines/removed", "old", true),
        ]
    );
    let whenever = json(&folder, &[])["whenever"].clone();
    let when = |at: usize| whenever[at]["when"].as_str().unwrap().to_owned();
    assert!(when(0).ends_with(" is added to a device"), "{whenever}");
    assert!(when(2).ends_with(", from Tue 1 Dec 2026 00:00 UTC on"), "{whenever}");
    assert!(when(3).ends_with(", until Wed 18 Nov 2026 00:00 UTC"), "{whenever}");
    let later = folder.run(&["calendar", "--now", "2026-11-19T09:00Z"]);
    assert!(!later.stdout.contains("pipelines/over"), "{later}");
}

#[test]
fn hours_and_limits_of_pipelines_are_in_the_calendar() {
    let folder = shop(
        "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2026-11-27T14:00}
    push:
      audience: all
      device_types: [ios]
      notification: {alert: Sale, actions: {add_tag: remind-me}}
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    timing:
      schedule:
        type: utc
        miss_behavior: wait
        dayparts: [{days_of_week: [monday], allowed_times: [{start: '12:00', end: '13:00'}]}]
    constraint: [{rate: {pushes: 1, days: 7}}]
    outcome: {push: {device_types: [ios], notification: {alert: Still interested?}}}
  daily:
    enabled: true
    immediate_trigger: first_open
    timing:
      schedule:
        type: local
        miss_behavior: cancel
        dayparts: [{days_of_week: [monday], allowed_times: [{preferred: '18:00'}]}]
    outcome: {push: {device_types: [ios], notification: {alert: Hello}}}
",
    );
    let shown = calendar(&folder, &[]);
    assert_lines(
        &shown,
        &[
            "pipelines/remind follows at once, from Mon 30 Nov 12:00 on",
            "pipelines/daily  at once when the app is opened for the first time",
            "hours only Mon at 18:00, recipients' local time; otherwise not sent",
            "pipelines/remind  at once when the tag remind-me is added to a device",
            "hours only Mon 12:00–13:00, UTC; otherwise waits",
            "limit at most 1 push in 7 days to one device",
            "! can be sent in quiet hours (21:00 to 08:00)",
        ],
    );
    assert_eq!(shown.matches("can be sent in quiet hours").count(), 1, "{shown}");
    let whenever = &json(&folder, &[])["whenever"];
    assert_eq!((&whenever[0]["quiet"], &whenever[1]["quiet"]), (&false.into(), &true.into()));
    assert_eq!(whenever[1]["rules"][1], "limit at most 1 push in 7 days to one device");
    let markdown = calendar(&folder, &["--format", "markdown"]);
    assert!(markdown.contains("only Mon at 18:00"), "{markdown}");
}
