//! Message catalogues: `locales:` reads the texts of each locale from a file next to the manifests.
#![cfg(unix)]

use pushplan_testing::{Folder, Project, says};
use serde_json::{Value, json};

const SALE: &str = "\
scheduled_pushes:
  sale:
    lifecycle: {broadcast: true}
    schedule: {scheduled_time: 2035-01-22T10:00}
    push:
      audience: all
      device_types: [ios, android]
      notification:
        alert: The sale is on
        ios: {title: Sale, sound: bell}
      message: {title: The sale, body: Come in}
      locales: locales
";

const GERMAN: &str = "\
# Texts in German.
scheduled_pushes/sale:
  alert: Der Ausverkauf hat begonnen   # reviewed
  ios.title: Ausverkauf
  message.title: Der Ausverkauf
  message.body: Komm rein
";

/// The codes of a project's findings, each with its place.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::project("");
    for (name, text) in files {
        folder.write(name, text);
    }
    let ran = folder.run(&["validate", "--format", "json", "--now", "2027-01-01T00:00Z"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no report: {ran}"));
    let one = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let column = finding["column"].as_u64().unwrap_or(0);
        format!("{} {}:{}:{column}", text("code"), text("file"), finding["line"])
    };
    report["findings"].as_array().expect("findings").iter().map(one).collect()
}

fn with(manifest: &str, german: &str) -> Vec<String> {
    found(&[("messages.yaml", manifest), ("locales/de.yaml", german)])
}

#[test]
fn catalogues_become_localizations() {
    let project = Project::new(SALE);
    let service = project.serve();
    project.folder.write("locales/de.yaml", GERMAN);
    project.folder.write("locales/de-AT.yaml", "scheduled_pushes/sale:\n  alert: ${var.austrian:-Servus}\n");
    project.folder.write("locales/GB.yaml", "# nothing yet\n");
    let shown = project.good(&["preview", "scheduled_pushes/sale"]).stdout;
    says(&shown, &["The sale is on", "Der Ausverkauf hat begonnen", "Ausverkauf", "Servus"]);
    project.good(&["apply", "--yes"]);
    let sent = &service.get("/api/schedules")["schedules"][0]["push"]["localizations"];
    let expected = json!([
        {"language": "de",
         "notification": {"alert": "Der Ausverkauf hat begonnen", "ios": {"title": "Ausverkauf", "sound": "bell"}},
         "message": {"title": "Der Ausverkauf", "body": "Komm rein"}},
        {"language": "de", "country": "AT",
         "notification": {"alert": "Servus", "ios": {"title": "Ausverkauf", "sound": "bell"}},
         "message": {"title": "Der Ausverkauf", "body": "Komm rein"}},
    ]);
    assert_eq!(*sent, expected);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    project.folder.write("locales/de.yaml", GERMAN.replace("Ausverkauf hat begonnen", "Ausverkauf läuft"));
    let plan = project.good(&["plan"]).stdout;
    says(&plan, &["de: text changed", "because locales/de.yaml changes push.localizations (locales/de.yaml:2)"]);
}

#[test]
fn problems_of_a_catalogue_are_reported_there() {
    for (manifest, german, expected) in [
        (SALE, GERMAN, &[][..]),
        (SALE, "", &[]),
        (SALE, "x-note: {a: 1}\nscheduled_pushes/sale:\n  alert:\n", &[]),
        (SALE, "scheduled_pushes/sle:\n  alert: Servus\n", &["RF120 locales/de.yaml:1:1"]),
        (SALE, "sale:\n  alert: Servus\n", &["RF120 locales/de.yaml:1:1"]),
        (SALE, "segments:\n  a: {criteria: {tag: a}}\n", &["RF120 locales/de.yaml:1:1"]),
        (SALE, "scheduled_pushes/sale/2:\n  alert: Servus\n", &["RF120 locales/de.yaml:1:1"]),
        (SALE, "scheduled_pushes/sale:\n  alrt: Servus\n", &["RF120 locales/de.yaml:2:3"]),
        (SALE, "scheduled_pushes/sale:\n  ios.sound: gong\n", &["RF120 locales/de.yaml:2:3"]),
        (SALE, "scheduled_pushes/sale:\n  ios: {title: Ausverkauf}\n", &["RF120 locales/de.yaml:2:3"]),
        (SALE, "scheduled_pushes/sale:\n  alert: {de: Servus}\n", &["YM205 locales/de.yaml:2:11"]),
        (SALE, "scheduled_pushes/sale:\n  alert: no\n", &["YM204 locales/de.yaml:2:10"]),
        (SALE, "scheduled_pushes/sale: Servus\n", &["YM205 locales/de.yaml:1:24"]),
        (SALE, "- Servus\n", &["YM205 locales/de.yaml:1:1"]),
        (SALE, "x-a: 1\n---\nx-b: 1\n", &["YM205 locales/de.yaml:3:1"]),
        (
            SALE,
            "scheduled_pushes/sale:\n  alert: '${var.nope}'\n",
            &["MS124 locales/de.yaml:1:1", "RF104 locales/de.yaml:2:11"],
        ),
        (SALE, "scheduled_pushes/sale:\n  alert: The sale is on\n", &["MS124 locales/de.yaml:2:10"]),
        (SALE, "scheduled_pushes/sale: [\n", &["YM101 locales/de.yaml:1:24"]),
    ] {
        assert_eq!(with(manifest, german), expected, "{german}");
    }
    let edited = |from: &str, to: &str| with(&SALE.replace(from, to), GERMAN);
    assert_eq!(edited("      locales: locales\n", ""), ["RF120 locales/de.yaml:2:1"]);
    assert_eq!(edited("locales: locales", "locales: ./locales/"), [""; 0]);
    assert_eq!(edited("locales: locales", "locales: '${var.x:-locales}'"), [""; 0]);
    assert_eq!(edited("locales: locales", "locales: texts"), ["RF108 messages.yaml:12:16"]);
    assert_eq!(edited("locales: locales", "locales: ../locales"), ["RF106 messages.yaml:12:16"]);
    assert_eq!(edited("locales: locales", "locales: /etc/locales"), ["RF106 messages.yaml:12:16"]);
    assert_eq!(edited("locales: locales", "locales: .git/locales"), ["RF106 messages.yaml:12:16"]);
    assert_eq!(edited("locales: locales", "locales: [locales]"), ["YM205 messages.yaml:12:17"]);
    assert_eq!(
        edited("locales: locales", "locales: locales\n      localizations: [{language: de, notification: {alert: A}}]"),
        ["MS122 locales/de.yaml:2:1"]
    );
    for (name, code) in [("pt_BR", "RF119"), ("german", "RF119"), ("de-AT-x", "RF119"), ("AT", ""), ("pt-BR", "")] {
        let codes = found(&[("messages.yaml", SALE), (&format!("locales/{name}.yaml"), GERMAN)]);
        let codes: Vec<&str> = codes.iter().map(|one| &one[..5]).collect();
        assert_eq!(codes.contains(&"RF119"), code == "RF119", "{name}: {codes:?}");
    }
}

#[test]
fn a_problem_of_the_common_content_is_reported_once() {
    let wrong = SALE.replace("        alert:", "        actions: {open: {type: url, content: x}}\n        alert:");
    assert_eq!(with(&wrong, GERMAN), ["MS110 messages.yaml:9:46"]);
    // A message without one of its texts.
    let left_out = GERMAN.replace("  ios.title: Ausverkauf\n", "");
    assert_eq!(with(SALE, &left_out), ["MS124 locales/de.yaml:2:1"]);
}

#[test]
fn a_link_to_a_catalogue_is_not_followed() {
    let folder = Folder::project(SALE);
    folder.write("locales/de.yaml", GERMAN);
    let outside = Folder::new();
    let text = outside.write("fr.yaml", "scheduled_pushes/sale:\n  alert: Secret\n");
    std::os::unix::fs::symlink(text, folder.path().join("locales/fr.yaml")).expect("a link");
    let ran = folder.run(&["validate"]);
    assert_ne!(ran.code, 0);
    says(&ran.stdout, &["locales/fr.yaml", "symbolic link"]);
    assert!(!ran.stdout.contains("Secret"), "{ran}");
    let folder = Folder::project(SALE);
    std::os::unix::fs::symlink(outside.path(), folder.path().join("locales")).expect("a link");
    let ran = folder.run(&["validate"]);
    assert_ne!(ran.code, 0);
    says(&ran.stdout, &["RF107", "symbolic link"]);
}

#[test]
fn each_message_of_a_resource_has_its_own_key() {
    let experiment = "\
experiments:
  test:
    lifecycle: {broadcast: true}
    audience: all
    device_types: [ios]
    variants:
      - push: {notification: {alert: Now}, locales: locales}
        schedule: {scheduled_time: 2035-01-22T10:00}
      - push: {notification: {alert: At once}, locales: locales}
        schedule: {scheduled_time: 2035-01-22T10:00}
";
    let german = "experiments/test/1: {alert: Jetzt}\nexperiments/test/2: {alert: Sofort}\n";
    assert_eq!(with(experiment, german), [""; 0]);
    assert_eq!(with(experiment, "experiments/test: {alert: Jetzt}\n"), ["RF120 locales/de.yaml:1:1"]);
    assert_eq!(with(experiment, "experiments/test/3: {alert: Jetzt}\n"), ["RF120 locales/de.yaml:1:1"]);
    let folder = Folder::project(experiment);
    folder.write("locales/de.yaml", german);
    says(&folder.run(&["preview", "experiments/test"]).stdout, &["Jetzt", "Sofort"]);
}

#[test]
fn a_template_reads_catalogues_and_its_pushes_get_the_texts() {
    let text = "\
templates:
  t:
    variables: [{key: NAME, default_value: friend}]
    push:
      notification: {alert: 'Hi {{NAME}}'}
      locales: locales
scheduled_pushes:
  s:
    schedule: {scheduled_time: 2027-01-22T10:00}
    push: {audience: {tag: x}, device_types: [ios], template: t, substitutions: {NAME: Ana}}
";
    let german = "templates/t:\n  alert: 'Hallo {{NAME}}'\n";
    assert_eq!(with(text, german), [""; 0]);
    assert_eq!(with(text, &german.replace(" {{NAME}}", "")), ["MS123 locales/de.yaml:2:10"]);
    let beside = text.replace("template: t,", "template: t, locales: locales,");
    assert_eq!(with(&beside, german), ["YM201 messages.yaml:10:66"]);
    let folder = Folder::project(text);
    folder.write("locales/de.yaml", german);
    folder.write(
        "t.test.yaml",
        "cases:\n  a German device:\n    at: 2027-01-22T09:00Z\n    device: {device_type: ios, language: de, tags: x}\n    \
         expect: {receives: {from: scheduled_pushes/s, after: 1h, alert: Hallo Ana}}\n",
    );
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn pull_edits_the_catalogue() {
    let project =
        Project::new("templates:\n  t:\n    push:\n      notification: {alert: We miss you}\n      locales: locales\n");
    let service = project.serve();
    let catalogue = "# Texts in German.\ntemplates/t:\n  alert: \"Du fehlst uns\"   # reviewed\n";
    project.folder.write("locales/de.yaml", catalogue);
    project.good(&["apply", "--yes"]);
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    let push = |localizations: Value| json!({"push": {"notification": {"alert": "We miss you"}, "localizations": localizations}});
    service.post(
        &format!("/api/templates/{id}"),
        &push(json!([{"language": "de", "notification": {"alert": "Komm zurück"}}])),
    );
    project.good(&["pull"]);
    assert_eq!(project.folder.read("locales/de.yaml"), catalogue.replace("Du fehlst uns", "Komm zurück"));
    says(&project.good(&["plan"]).stdout, &["No changes."]);

    // A new locale has no catalogue: the place is reported.
    service.post(
        &format!("/api/templates/{id}"),
        &push(json!([
            {"language": "de", "notification": {"alert": "Komm zurück"}},
            {"language": "fr", "notification": {"alert": "Reviens"}},
        ])),
    );
    let ran = project.run(&["pull"]);
    says(&format!("{}{}", ran.stdout, ran.stderr), &["the message catalogue", "locales/de.yaml"]);
    assert_eq!(project.folder.read("locales/de.yaml"), catalogue.replace("Du fehlst uns", "Komm zurück"));
}
