//! Slips of the pen that break YAML or change what it says: each is one finding, at its place, with help that helps.

use pushplan_testing::Folder;
use serde_json::Value;

/// What `--format json` says of each finding: code, place and help.
fn told(folder: &Folder) -> Vec<(String, String, String)> {
    let ran = folder.run(&["validate", "--format", "json", "--now", "2026-01-01T00:00Z"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no report: {ran:?}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().expect("findings").iter().map(|finding| {
        (text(&finding["code"]), format!("{}:{}", finding["line"], finding["column"]), text(&finding["help"]))
    });
    findings.collect()
}

fn segment(fields: &str) -> String {
    format!("segments:\n  a:\n{fields}")
}

fn notification(fields: &str) -> String {
    format!("templates:\n  t:\n    push:\n      notification: {fields}\n")
}

fn alert(text: &str) -> String {
    notification(&format!("\n        alert: {text}"))
}

#[test]
fn a_slip_is_told_where_it_is_with_what_to_write() {
    let conflict = "keep the right lines";
    for (manifest, code, place, help) in [
        // A map that lacks its braces is no text.
        ("pipelines:\n  p:\n    immediate_trigger: tag_added: x\n".into(), "YM101", "3:24", "`{tag_added: x}`"),
        (segment("    display_name: Sale: now\n    criteria: {tag: x}\n"), "YM101", "3:19", "write \"Sale: now\""),
        // Commas and brackets too many.
        ("segments:\n  a: {criteria: {country: US}},\n  b: {criteria: all}\n".into(), "YM101", "2:31", "remove it"),
        (segment("    display_name: \"A\",\n    criteria: {tag: x}\n"), "YM101", "3:22", "remove it"),
        ("segments:\n  a: {criteria: {country: US}}}\n".into(), "YM101", "2:31", "remove it"),
        (segment("    criteria: {tag: x} y\n"), "YM101", "3:24", "on its own line"),
        // Colons and dashes.
        (segment("    display_name A\n    criteria: {tag: x}\n"), "YM101", "3:5", "`display_name: A`"),
        (segment("    criteria: {tag: x}\n    display_name A\n"), "YM101", "4:5", "`display_name: A`"),
        (segment("    display_name:A\n    criteria: {tag: x}\n"), "YM101", "3:17", "`display_name: A`"),
        (segment("    criteria: {tag: x}\n    display_name:A\n"), "YM101", "4:17", "`display_name: A`"),
        ("segments:\n  a: {display_name:A, criteria: {tag: x}}\n".into(), "YM201", "2:19", "`display_name: ...`"),
        (segment("    criteria:\n      and:\n        -country: US\n"), "YM101", "5:9", "`- `"),
        (segment("    criteria:\n      and:\n        -country: US\n        - tag: x\n"), "YM101", "5:9", "`- `"),
        (segment("    criteria:\n      and:\n        - tag: x\n        -country: US\n"), "YM101", "6:9", "`- `"),
        ("segments\n  a: {criteria: {tag: x}}\n".into(), "YM101", "1:1", "`segments:`"),
        // What git leaves behind.
        (
            segment("<<<<<<< HEAD\n    criteria: all\n=======\n    criteria: {tag: x}\n>>>>>>> b\n"),
            "YM101",
            "3:1",
            conflict,
        ),
        (segment("    criteria: all\n=======\n  b: {criteria: {tag: x}}\n"), "YM101", "4:1", conflict),
        // Characters that YAML keeps for itself.
        (notification("{alert: @you}"), "YM101", "4:29", "write \"@you\""),
        (notification("{title: x, alert: %20 off}"), "YM101", "4:39", "write \"%20 off\""),
        (notification("{alert: Use #SALE now}"), "YM101", "4:33", "\"Use #SALE now\""),
        (notification("{alert: Use #SALE now}\npipelines: {}"), "YM101", "4:33", "\"Use #SALE now\""),
        // Quotes are the answer only where a text was meant.
        (alert("{id: 123}"), "YM205", "5:17", "write a text instead of the map"),
        (alert("[a, b]"), "YM205", "5:17", "write a text instead of the list"),
        (alert("[SALE]"), "YM205", "5:17", "needs quotes"),
        (alert("{Hello, friend}"), "YM205", "5:17", "needs quotes"),
        (alert("[SALE] today"), "YM101", "5:16", "write \"[SALE] today\""),
    ] {
        let found = told(&Folder::project(&manifest));
        let [(found_code, found_place, found_help)] = &found[..] else { panic!("{manifest}{found:#?}") };
        assert_eq!((found_code.as_str(), found_place.as_str()), (code, place), "{manifest}{found_help}");
        assert!(found_help.contains(help), "{manifest}{found_help}");
    }
}

#[test]
fn typographic_quotes_and_blanks_are_told_and_fixed() {
    for (before, code, place, after) in [
        (notification("{alert: “Hello, friend”}"), "YM111", "4:29", notification("{alert: \"Hello, friend\"}")),
        (notification("{alert: “Sale: now”}"), "YM111", "4:29", notification("{alert: \"Sale: now\"}")),
        (notification("{“alert”: Hello}"), "YM111", "4:22", notification("{alert: Hello}")),
        (alert("“Sale: now”"), "YM111", "5:16", alert("\"Sale: now\"")),
        (alert("„Hallo“"), "YM111", "5:16", alert("\"Hallo\"")),
        (alert("‘Hello’"), "YM111", "5:16", alert("\"Hello\"")),
        (segment("    criteria:\u{a0}{tag: x}\n"), "YM112", "3:14", segment("    criteria: {tag: x}\n")),
        (segment("    criteria: {tag:\u{a0}x}\n"), "YM112", "3:20", segment("    criteria: {tag: x}\n")),
        (segment("\u{a0}\u{a0}  criteria: all\n"), "YM112", "3:1", segment("    criteria: all\n")),
        (segment("  \u{3000} criteria: all\n"), "YM112", "3:3", segment("    criteria: all\n")),
        (
            segment("    display_name:\u{a0}A\n    criteria: all\n"),
            "YM112",
            "3:18",
            segment("    display_name: A\n    criteria: all\n"),
        ),
        (
            segment("    criteria:\n      and:\n        - tag: x\n        -\u{a0}tag: y\n"),
            "YM112",
            "6:10",
            segment("    criteria:\n      and:\n        - tag: x\n        - tag: y\n"),
        ),
    ] {
        let folder = Folder::project(&before);
        let found = told(&folder);
        let [(found_code, found_place, _)] = &found[..] else { panic!("{before}{found:#?}") };
        assert_eq!((found_code.as_str(), found_place.as_str()), (code, place), "{before}");
        let ran = folder.run(&["validate", "--fix"]);
        assert_eq!((folder.read("messages.yaml"), ran.code), (after, 0), "{}", ran.stdout);
    }
}

#[test]
fn every_line_of_a_file_from_a_web_page_is_fixed_in_one_run() {
    let resource = |key: usize| format!("  s{key}:\n    display_name: \"S\"\n    criteria: {{tag: x}}\n");
    let right = format!("segments:\n{}", (0..20).map(resource).collect::<String>());
    let folder = Folder::project(&right.replace("  ", "\u{a0}\u{a0}"));
    let ran = folder.run(&["validate", "--fix"]);
    assert_eq!((folder.read("messages.yaml"), ran.code), (right, 0), "{}", ran.stdout);
}

#[test]
fn typographic_signs_within_a_text_are_left_alone() {
    for text in [
        "It’s “Sale” time",
        "\"“Sale” today\"",
        "|\n          “Sale” today",
        "Now:\u{a0}10\u{a0}% off",
        "Bonjour\u{a0}!",
        "\"\u{a0}x\"",
        "|\n          \u{a0}\u{a0}key:\u{a0}x",
    ] {
        let found = told(&Folder::project(&alert(text)));
        assert_eq!(found, [], "{text}");
    }
}

#[test]
fn a_text_that_goes_on_behind_its_typographic_quotes_is_not_fixed() {
    let manifest = alert("“Sale” today");
    let folder = Folder::project(&manifest);
    let found = told(&folder);
    assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("YM111", "5:16"));
    assert!(found[0].2.ends_with("\"“Sale” today\""), "{}", found[0].2);
    assert_eq!(folder.run(&["validate", "--fix"]).code, 3);
    assert_eq!(folder.read("messages.yaml"), manifest);
}
