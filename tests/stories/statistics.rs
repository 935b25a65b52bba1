//! The service's reports for users, programs and spreadsheets.

use pushplan_testing::{Project, Service, checked, says};
use serde_json::{Value, json};

const REPORTS: [&str; 6] = ["sends", "responses", "opens", "timeinapp", "optins", "optouts"];

/// A service whose clock stands on 15 November, where two phones got a push, and one of them tapped it and stayed.
fn lively(project: &Project) -> (Service, String) {
    let service = project.serve_with(&["--clock", "2026-11-01T09:00Z"]);
    for (id, device_type) in [("phone", "ios"), ("robot", "android"), ("page", "web")] {
        service.put(&format!("/local/devices/{id}"), &json!({"device_type": device_type, "opt_in": true}));
    }
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    let sent = service.post("/api/push", &push);
    let id = sent["push_ids"][0].as_str().expect("an id").to_owned();
    service.post("/local/devices/phone/tap", &json!({"push_id": id}));
    service.post("/local/devices/robot/open", &json!({"seconds": 3661}));
    service.post("/local/clock", &json!({"to": "2026-11-15T12:00:00Z"}));
    service.forget();
    (service, id)
}

fn reported(project: &Project, arguments: &[&str]) -> Value {
    checked(&project.good(&[&["report"], arguments, &["--format", "json"]].concat()), "statistics.schema.json")
}

#[test]
fn thirty_days_are_shown_as_a_table_with_a_plot() {
    let project = Project::new("broken: [\n");
    let (service, _) = lively(&project);
    let ran = project.good(&["report", "sends"]);
    says(
        &ran.stdout,
        &[
            "local: sends, daily, 2026-10-17 to 2026-11-15 (UTC)\n",
            "\ndate        ios  android  total\n",
            "\n2026-10-31    0        0      0\n",
            "\n2026-11-01    1        1      2  ████████",
            "\ntotal         1        1      2\n",
        ],
    );
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with("2026-")).count(), 30);
    assert_eq!(service.asked(), ["GET /api/reports/sends/"]);
    let ascii = project.run_as(&["report", "sends"], &[("LC_ALL", "C"), ("COLUMNS", "80")]);
    assert!(ascii.stdout.is_ascii() && ascii.stdout.contains("  ========"), "{ascii}");
}

#[test]
fn every_report_is_there_in_every_form_and_at_every_width() {
    let project = Project::new("");
    let (service, id) = lively(&project);
    let one = ["push", id.as_str()];
    let all = REPORTS.iter().map(|report| vec![*report]).chain([vec!["devices"], vec!["push"], one.to_vec()]);
    for report in all {
        for width in ["20", "33", "80", "200"] {
            let ran = project.run_as(&[&["report"], &report[..]].concat(), &[("COLUMNS", width)]);
            assert_eq!(ran.code, 0, "{ran}");
            let most = width.parse::<usize>().expect("a number");
            // Texts that are meant to be copied are never broken.
            let wide = ran.stdout.lines().find(|line| line.chars().count() > most && !line.contains(&id));
            assert_eq!(wide, None, "{report:?} at {width}: {ran}");
        }
        let document = reported(&project, &report);
        assert_eq!(document["report"], report[0]);
        let ran = project.good(&[&["report"], &report[..], &["--format", "csv"]].concat());
        let lines: Vec<&str> = ran.stdout.split("\r\n").collect();
        assert!(lines.len() >= 3 && lines.last() == Some(&""), "{ran}");
        let commas = lines[0].matches(',').count();
        assert!(lines[..lines.len() - 1].iter().all(|line| line.matches(',').count() == commas), "{ran}");
    }
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn numbers_are_those_of_the_service() {
    let project = Project::new("");
    let (_service, id) = lively(&project);
    let day = ["--from", "2026-11-01", "--to", "2026-11-01"];
    let total = |report: &str| reported(&project, &[&[report], &day[..]].concat())["total"].as_u64();
    assert_eq!(REPORTS.map(total), [Some(2), Some(1), Some(2), Some(3661), Some(2), Some(0)]);
    let responses = reported(&project, &[&["responses"], &day[..]].concat());
    assert_eq!(responses["rows"][0]["values"]["ios_direct"], 1, "{responses:#}");
    let ran = project.good(&[&["report", "timeinapp"], &day[..]].concat());
    says(&ran.stdout, &["1:01:01"]);
    let ran = project.good(&[&["report", "optouts"], &day[..]].concat());
    assert_eq!(
        ran.stdout,
        "local: opted-out users who opened the app, daily, 2026-11-01 to 2026-11-01 (UTC). None in 1 day.\n"
    );
    let ran = project.good(&["report", "devices"]);
    says(
        &ran.stdout,
        &["local: devices up to 2026-11-15 12:00:00 UTC\n", "\nweb             1", "\ntotal           3"],
    );
    let before = reported(&project, &["devices", "--date", "2026-10-31"]);
    assert_eq!(before["total_unique_devices"], 0, "{before:#}");
    says(&project.good(&["report", "devices", "--date", "2026-10-31"]).stdout, &[": none."]);
    let ran = project.good(&["report", "push"]);
    says(&ran.stdout, &["2026-11-01 09:00  broadcast      3       1  33.3 %", &id]);
    let ran = project.good(&["report", "push", &id]);
    says(&ran.stdout, &["2026-11-01 09:00:00 UTC", "broadcast", "1, 33.3 %"]);
    let ran = project.good(&["report", "push", "--from", "2026-11-02"]);
    assert_eq!(ran.stdout, "local: pushes, 2026-11-02 to 2026-11-15 (UTC): none.\n");
}

#[test]
fn periods_can_be_hours_and_months() {
    let project = Project::new("");
    let (_service, _) = lively(&project);
    let hours = reported(&project, &["sends", "--precision", "hourly"]);
    assert_eq!((&hours["from"], &hours["to"]), (&json!("2026-11-14 13:00"), &json!("2026-11-15 12:00")));
    assert_eq!(hours["rows"].as_array().map(Vec::len), Some(24));
    let hours = project.good(&[
        "report",
        "sends",
        "--precision",
        "hourly",
        "--from",
        "2026-11-01T08:30",
        "--to",
        "2026-11-01 10:00",
    ]);
    says(&hours.stdout, &["\n2026-11-01 08:00    0", "\n2026-11-01 09:00    1", "\n2026-11-01 10:00    0"]);
    let months = project.good(&["report", "sends", "--precision", "monthly"]);
    says(&months.stdout, &["\n2025-12    0", "\n2026-11    1"]);
}

#[test]
fn every_page_of_a_long_report_is_there() {
    let project = Project::new("");
    let (service, _) = lively(&project);
    let long = ["sends", "--from", "2025-01-01", "--to", "2026-12-31", "--precision", "hourly"];
    let report = reported(&project, &long);
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(730 * 24));
    assert_eq!(report["total"], 2);
    assert_eq!(service.asked().len(), 2);
    let push = json!({"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}});
    for _ in 0..104 {
        service.post("/api/push", &push);
    }
    service.forget();
    let pushes = reported(&project, &["push"]);
    let times: Vec<&str> =
        pushes["pushes"].as_array().expect("a list").iter().filter_map(|push| push["time"].as_str()).collect();
    assert_eq!(times.len(), 105);
    assert!(times.is_sorted_by(|one, next| one >= next), "newest first");
    assert_eq!(service.asked().len(), 2);
}

#[test]
fn what_cannot_be_reported_is_told() {
    let project = Project::new("");
    let (service, _) = lively(&project);
    for (arguments, code, words) in [
        (&["push", "nope"][..], 1, "local has sent no push `nope`"),
        (&["push", "list"], 64, "is not the id of a push"),
        (&["push", ".."], 64, "is not the id of a push"),
        (&["push", "x", "--from", "2026-11-01"], 64, "cannot be used with"),
        (&["sends", "--from", "yesterday"], 64, "write a day such as 2026-11-01"),
        (&["sends", "--from", "2026-11-31"], 64, "write a day such as 2026-11-01"),
        (&["sends", "--from", "2026-11-02", "--to", "2026-11-01"], 64, "is before the first"),
        (&["sends", "--from", "1900-01-01", "--precision", "hourly"], 64, "the limit is 100000"),
        (&["sends", "--precision", "weekly"], 64, "hourly, daily, monthly"),
        (&["devices", "--date", "soon"], 64, "--date"),
        (&["clicks"], 64, "clicks"),
    ] {
        let ran = project.run(&[&["report"], arguments].concat());
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        says(&ran.stderr, &[words]);
    }
    drop(service);
    let service = project.faulty("[[fault]]\nkind = \"status\"\nstatus = 503\n");
    let ran = project.run(&["report", "sends"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["GET /api/reports/sends/", "HTTP 503"]);
    drop(service);
}
