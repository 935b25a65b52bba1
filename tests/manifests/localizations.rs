//! Localizations: what is read and refused, what plans and previews show, and what a device gets.
#![cfg(unix)]

use pushplan_testing::{Folder, Project, says};
use serde_json::json;

use super::overrides::{DOCUMENTED, EXTENDED, read};

fn manifest(localizations: &str) -> String {
    format!(
        "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2027-01-22T10:00}}\n    push:\n      audience: {{tag: x}}\n      \
         device_types: [ios]\n      notification: {{alert: The sale is on}}\n      localizations:\n{localizations}"
    )
}

const GERMAN: &str = "        - {language: de, notification: {alert: Der Ausverkauf hat begonnen}}\n";

#[test]
fn locales_and_texts_are_checked() {
    for (localizations, codes) in [
        (GERMAN, &[][..]),
        ("        - {country: AT, notification: {alert: Servus}}\n", &[]),
        ("        - {country: GB, notification: {alert: The sale is on}}\n", &[]),
        ("        - {language: en, notification: {alert: The sale is on}}\n", &["MS124"]),
        ("        - {language: de, country: AT, notification: {alert: Servus}}\n", &[]),
        ("        - {language: de, message: {title: Hallo, body: Ausverkauf}}\n", &[]),
        ("        - {notification: {alert: Servus}}\n", &["MS122"]),
        (
            "        - {language: de, notification: {alert: A}}\n        - {language: de, notification: {alert: B}}\n",
            &["MS122"],
        ),
        ("        - {language: DE, notification: {alert: Servus}}\n", &["AU106"]),
        ("        - {language: de-AT, notification: {alert: Servus}}\n", &["AU106"]),
        ("        - {country: at, notification: {alert: Servus}}\n", &["AU107"]),
        ("        - {country: Austria, notification: {alert: Servus}}\n", &["AU107"]),
        ("        - {language: 7, notification: {alert: Servus}}\n", &["YM204"]),
        ("        - {language: de, notification: {alert: ''}}\n", &["MS116"]),
        ("        - {language: de, notification: {alert: A, web: {title: B}}}\n", &["MS111"]),
        ("        - {language: de, notification: {alert: '{{NAME}}'}}\n", &["MS101"]),
        ("        - {language: de, notification: {alert: A, actions: {open: {type: url, content: x}}}}\n", &["MS110"]),
        ("        - {langauge: de, notification: {alert: Servus}}\n", &["YM201", "MS122"]),
        ("        - de\n", &["YM205"]),
    ] {
        assert_eq!(read(&manifest(localizations), EXTENDED).0, codes, "{localizations}");
    }
    assert_eq!(read(&manifest("        []\n"), DOCUMENTED).0, [""; 0]);
    assert_eq!(read(&manifest(GERMAN), DOCUMENTED).0, ["MS120"]);
    let long = format!("        - {{language: de, notification: {{alert: {}}}}}\n", "lang ".repeat(80));
    assert_eq!(read(&manifest(&long), EXTENDED).0, ["MS106"]);
}

#[test]
fn a_lost_placeholder_is_reported_and_others_are_filled_in() {
    let text = |german: &str| {
        format!(
            "templates:\n  t:\n    variables: [{{key: NAME, default_value: friend}}]\n    push:\n      notification: {{alert: 'Hi {{{{NAME}}}}'}}\n      \
             localizations: [{{language: de, notification: {{alert: '{german}'}}}}]\n\
             scheduled_pushes:\n  s:\n    schedule: {{scheduled_time: 2027-01-22T10:00}}\n    \
             push: {{audience: {{tag: x}}, device_types: [ios], template: t, substitutions: {{NAME: Ana}}}}\n"
        )
    };
    assert_eq!(read(&text("Hallo"), EXTENDED).0, ["MS123"]);
    // Only the German text does not fit with the value of the push.
    let long = text("{{NAME}} {{NAME}} {{NAME}}").replace("NAME: Ana", &format!("NAME: {}", "n".repeat(80)));
    assert_eq!(read(&long, EXTENDED).0, ["MS106"]);
    let folder = Folder::project(&text("Hallo {{NAME}}"));
    let shown = folder.run(&["preview", "scheduled_pushes/s"]);
    says(&shown.stdout, &["Hi Ana", "Hallo Ana"]);
    folder.write(
        "t.test.yaml",
        "cases:\n  a German device:\n    at: 2027-01-22T09:00Z\n    device: {device_type: ios, language: de, tags: x}\n    \
         expect: {receives: {from: scheduled_pushes/s, after: 1h, alert: Hallo Ana}}\n",
    );
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

const SALE: &str = "\
templates:
  t:
    push:
      notification: {alert: We miss you}
      localizations: [{language: de, notification: {alert: Du fehlst uns}}]
scheduled_pushes:
  sale:
    lifecycle: {broadcast: true}
    schedule: {scheduled_time: 2035-01-22T10:00}
    push:
      audience: all
      device_types: [ios, android]
      notification: {alert: The sale is on}
      localizations:
        - {language: de, notification: {alert: Der Ausverkauf hat begonnen, android: {title: Ausverkauf}}}
        - {language: de, country: AT, notification: {alert: Der Abverkauf hat begonnen}}
        - {country: GB, notification: {alert: The sale is on in Britain}}
";

#[test]
fn a_plan_names_the_locale_that_changes() {
    let project = Project::new(SALE);
    let service = project.serve();
    let shown = project.good(&["preview", "scheduled_pushes/sale"]).stdout;
    says(&shown, &["default", "The sale is on", "de-AT", "Der Abverkauf hat begonnen", "GB", "Ausverkauf"]);
    project.good(&["apply", "--yes"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    // The order has no meaning.
    project.edit("        - {country: GB, notification: {alert: The sale is on in Britain}}\n", "");
    project.edit(
        "      localizations:\n",
        "      localizations:\n        - {country: GB, notification: {alert: The sale is on in Britain}}\n",
    );
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    project.edit("Der Abverkauf hat begonnen", "Der Abverkauf läuft");
    says(&project.good(&["plan"]).stdout, &["de-AT: text changed", "localizations[de-AT].alert"]);
    project.edit("Der Abverkauf läuft", "Der Abverkauf hat begonnen");
    project.edit("title: Ausverkauf", "title: Großer Ausverkauf");
    says(&project.good(&["plan"]).stdout, &["de, android: title changed"]);
    project.edit("title: Großer Ausverkauf", "title: Ausverkauf");
    project.edit("        - {country: GB, notification: {alert: The sale is on in Britain}}\n", "");
    says(&project.good(&["plan"]).stdout, &["GB: text removed"]);
    project.good(&["apply", "--yes"]);

    // Someone edits a localization in the dashboard.
    let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
    let push = json!({"notification": {"alert": "We miss you"}, "localizations": [{"language": "de", "notification": {"alert": "Komm zurück"}}]});
    service.post(&format!("/api/templates/{id}"), &json!({"push": push}));
    says(&project.run(&["drift"]).stdout, &["Komm zurück"]);
    project.good(&["pull"]);
    says(&std::fs::read_to_string(project.folder.path().join("messages.yaml")).expect("a manifest"), &["Komm zurück"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn every_localization_comes_back_as_it_was_sent() {
    let project = Project::new("");
    let service = project.serve();
    let localizations = json!([
        {"country": "GB", "notification": {"alert": "Hello"}},
        {"language": "de", "country": "AT", "notification": {"alert": "Servus", "ios": {"title": "T"}}},
        {"language": "de", "message": {"title": "Hallo", "body": "Ausverkauf"}},
    ]);
    service.post(
        "/api/templates",
        &json!({"name": "t", "push": {"notification": {"alert": "Hi"}, "localizations": localizations}}),
    );
    project.good(&["pull"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
    let (status, answer) = service.ask(
        reqwest::Method::POST,
        "/api/templates",
        Some(&json!({"name": "u", "push": {"notification": {"alert": "Hi"}, "localizations": [{"notification": {"alert": "Hi"}}]}})),
    );
    assert_eq!(status, 400, "{answer}");
    says(&answer.to_string(), &["localizations[0].language"]);
}

#[test]
fn a_device_gets_the_most_specific_localization() {
    let folder = Folder::project(SALE);
    let case = |name: &str, device: &str, alert: &str| {
        format!(
            "  {name}:\n    at: 2035-01-22T09:00Z\n    device: {{device_type: android, {device}}}\n    \
             expect: {{receives: {{from: scheduled_pushes/sale, after: 1h, alert: {alert}}}}}\n"
        )
    };
    let cases = [
        case("German in Germany", "language: de, country: DE", "Der Ausverkauf hat begonnen, title: Ausverkauf"),
        case("German in Austria", "language: de, country: AT", "Der Abverkauf hat begonnen"),
        case("German in Britain", "language: de, country: GB", "Der Ausverkauf hat begonnen"),
        case("Hungarian in Britain", "language: hu, country: GB", "The sale is on in Britain"),
        case("Hungarian in Austria", "language: hu, country: AT", "The sale is on"),
        case("without a locale", "opt_in: true", "The sale is on"),
    ];
    folder.write("sale.test.yaml", format!("cases:\n{}", cases.concat()));
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    folder.write("sale.test.yaml", format!("cases:\n{}", case("wrong", "language: de", "The sale is on")));
    let ran = folder.run(&["test"]);
    assert_ne!(ran.code, 0);
    says(&ran.stdout, &["Der Ausverkauf hat begonnen"]);
}

#[test]
fn a_test_of_an_experiment_compares_texts_in_the_language_of_the_device() {
    let folder = Folder::project(
        "\
experiments:
  test:
    lifecycle: {broadcast: true}
    audience: all
    device_types: [ios]
    variants:
      - push:
          notification: {alert: Now}
          localizations: [{language: de, notification: {alert: Jetzt}}]
        schedule: {scheduled_time: 2035-01-22T10:00}
      - push:
          notification: {alert: At once}
          localizations: [{language: de, notification: {alert: Jetzt}}]
        schedule: {scheduled_time: 2035-01-22T10:00}
",
    );
    folder.write(
        "test.test.yaml",
        "cases:\n  a German device:\n    at: 2035-01-22T09:00Z\n    device: {device_type: ios, language: de}\n    \
         expect: {receives: {from: experiments/test, after: 1h, alert: Jetzt}}\n",
    );
    let ran = folder.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn locales_are_compared_with_the_audience() {
    let text = |alert: &str, audience: &str, localizations: &str| {
        format!(
            "segments:\n  german: {{criteria: {{language: de}}}}\nscheduled_pushes:\n  sale:\n    lifecycle: {{broadcast: true}}\n    \
             schedule: {{scheduled_time: 2035-01-22T10:00}}\n    push:\n      audience: {audience}\n      device_types: [ios]\n      \
             notification: {{alert: {alert}}}\n      localizations: [{localizations}]\n"
        )
    };
    let de = "{language: de, notification: {alert: Der Ausverkauf hat begonnen}}";
    let at = "{language: de, country: AT, notification: {alert: Der Abverkauf hat begonnen}}";
    let fr = "{language: fr, notification: {alert: Les soldes ont commencé}}";
    for (audience, localizations, codes) in [
        ("all", vec![de, fr, at], &[][..]),
        ("{language: [en, de]}", vec![de], &[]),
        ("{language: [en, de]}", vec![de, fr], &["MS125"]),
        ("{and: [{language: [en, de]}, {tag: vip}]}", vec![de, fr], &["MS125"]),
        ("{or: [{language: de}, {tag: vip}]}", vec![de, fr], &[]),
        ("{not: {language: de}}", vec![de, fr], &["MS125"]),
        ("{not: {not: {language: de}}}", vec![de, fr], &["MS125"]),
        ("{not: {segment: german}}", vec![de, at, fr], &["MS125", "MS125"]),
        ("{country: DE}", vec![de, at], &["MS125"]),
        ("{country: [DE, AT]}", vec![de, at], &[]),
        ("{language: [en, de, fr]}", vec![de], &["MS126"]),
        ("{language: [en, de, fr, es]}", vec![de], &["MS126"]),
        // MS118 reports that nobody can read the common text.
        ("{language: [de, fr]}", vec![de], &["MS118"]),
        ("{and: [{language: [en, de, fr]}, {tag: vip}]}", vec![at], &["MS126"]),
    ] {
        let text = text("The sale is on and it is for you", audience, &localizations.join(", "));
        let mut found = read(&text, EXTENDED).0;
        found.sort_unstable();
        let mut codes = codes.to_vec();
        codes.sort_unstable();
        assert_eq!(found, codes, "{audience} {localizations:?}");
    }
    // The language of a short text is unknown: it counts as one of the audience.
    assert_eq!(read(&text("SALE", "{language: [en, de]}", de), EXTENDED).0, [""; 0]);
    assert_eq!(read(&text("SALE", "{language: [en, de, fr]}", de), EXTENDED).0, ["MS126"]);
}

#[test]
fn a_text_that_is_too_long_in_one_locale_only_is_named() {
    let text = |common: &str, german: &str, french: &str| {
        format!(
            "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2035-01-22T10:00}}\n    push:\n      audience: {{tag: x}}\n      \
             device_types: [ios]\n      notification: {{alert: {common}}}\n      localizations:\n        \
             - {{language: de, notification: {{alert: {german}}}}}\n        - {{language: fr, notification: {{alert: {french}}}}}\n"
        )
    };
    let long = "lang ".repeat(80);
    let shown = |text: String| Folder::project(&text).run(&["validate"]).stdout;
    let only = "only the text for `de` is too long";
    says(&shown(text("Sale", &long, "Soldes")), &[only, "MS106"]);
    for text in [text("Sale", &long, &format!("{long}x")), text(&format!("{long}x"), &long, "Soldes")] {
        let shown = shown(text);
        says(&shown, &["MS106"]);
        assert!(!shown.contains("only the text"), "{shown}");
    }
}

#[test]
fn every_text_of_a_localization_is_compared_with_the_common_one() {
    for (german, codes) in [
        ("{alert: Servus, ios: {title: Sale}}", &["MS124"][..]),
        ("{alert: Servus, ios: {title: Abverkauf}}", &[]),
        ("{alert: Servus}", &[]),
        ("{alert: Servus, ios: {title: '123'}}", &[]),
    ] {
        let text = format!(
            "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2035-01-22T10:00}}\n    push:\n      audience: {{tag: x}}\n      \
             device_types: [ios]\n      notification: {{alert: The sale is on, ios: {{title: Sale}}}}\n      \
             localizations: [{{language: de, notification: {german}}}]\n"
        );
        assert_eq!(read(&text, EXTENDED).0, codes, "{german}");
    }
}

#[test]
fn a_plan_counts_the_devices_of_each_locale() {
    let project = Project::new(SALE);
    let device = |number: usize, language: &str, country: &str| {
        json!({"id": format!("d-{number}"), "device_type": "ios", "properties": {"language": language, "country": country}})
            .to_string()
    };
    let locales = [
        ("de", "DE"),
        ("de", "DE"),
        ("de", "AT"),
        ("en", "GB"),
        ("en", "GB"),
        ("de", "GB"),
        ("en", "US"),
        ("fr", "FR"),
    ];
    let lines: Vec<String> =
        locales.iter().zip(1..).map(|((language, country), n)| device(n, language, country)).collect();
    project.folder.write("sample.jsonl", lines.join("\n"));
    project.folder.write("pushplan.toml", "[targets.local]\npopulation = \"sample.jsonl\"\n");
    // 8 devices: 2 in Germany and 1 in Britain read German, 1 in Austria has its own text, and 2 others are in Britain.
    let shown = project.good(&["plan", "--offline"]).stdout;
    says(&shown, &["about 8 of 8 devices; GB: about 2, de: about 3, de-AT: about 1"]);
    let plan = project.good(&["plan", "--offline", "--format", "json"]).stdout;
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    let locales = &plan["messages"][0]["reach"]["locales"];
    assert_eq!(locales["de"], json!({"at_least": 3, "at_most": 3}), "{plan}");
    let shown = project.good(&["preview", "scheduled_pushes/sale"]).stdout;
    says(&shown, &["Reaches about 8 of 8 devices; GB: about 2, de: about 3, de-AT: about 1."]);
    // The built-in service counts its own devices.
    let service = project.serve();
    for (number, line) in lines.iter().enumerate() {
        let mut device: serde_json::Value = serde_json::from_str(line).expect("JSON");
        device.as_object_mut().expect("a map").remove("id");
        service.put(&format!("/local/devices/d-{number}"), &device);
    }
    says(&project.good(&["plan"]).stdout, &["8 of 8 devices; GB: 2, de: 3, de-AT: 1"]);
}
