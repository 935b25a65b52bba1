//! `pushplan locales`: the matrix of messages and locales, and files for translators and their way back.

use pushplan_testing::{Folder, Ran, says};
use serde_json::Value;

const MESSAGES: &str = "\
templates:
  hello:
    variables: [{key: NAME, default_value: friend}]
    push:
      notification: {alert: 'Hi {{NAME}}, =welcome', ios: {title: Welcome}}
      message: {title: Hello, body: {file: bodies/hello.html}}
      locales: locales
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push:
      audience: {tag: x}
      device_types: [ios]
      notification: {alert: The sale is on}
      locales: locales
  own:
    schedule: {scheduled_time: 2035-01-23T10:00}
    push:
      audience: {tag: x}
      device_types: [ios]
      notification: {alert: Only today}
      localizations: [{language: fr, notification: {alert: Seulement aujourd'hui}}]
  single:
    schedule: {scheduled_time: 2035-01-24T10:00}
    push: {audience: {tag: x}, device_types: [ios], notification: {alert: Bye}}
";

const GERMAN: &str = "\
# German. Ask the marketing team.

templates/hello:
  alert: \"Hallo {{NAME}}, =willkommen\"   # with a sign
  message.title: |-
    Hallo,
    du
  x-note: kept

# The sale.
scheduled_pushes/sale: {alert: Der Ausverkauf läuft}
";

const AUSTRIAN: &str = "scheduled_pushes/sale:\n  alert: Der Abverkauf läuft\n";

fn project() -> Folder {
    let folder = Folder::project(MESSAGES);
    folder.write("bodies/hello.html", "<p>Hello</p>");
    folder.write("locales/de.yaml", GERMAN);
    folder.write("locales/de-AT.yaml", AUSTRIAN);
    folder.write("locales/es.yaml", "");
    folder
}

fn good(folder: &Folder, arguments: &[&str]) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
    ran
}

fn catalogues(folder: &Folder) -> [String; 3] {
    ["locales/de.yaml", "locales/de-AT.yaml", "locales/es.yaml"].map(|name| folder.read(name))
}

#[test]
fn the_matrix_shows_what_is_missing() {
    let folder = project();
    let shown = good(&folder, &["locales"]).stdout;
    assert_eq!(
        shown,
        "\
message                de        de-AT     es       fr
templates/hello        2 of 4    as de     missing  missing
scheduled_pushes/sale  complete  complete  missing  missing
scheduled_pushes/own   missing   missing   missing  complete

locale  message                state    texts
de      scheduled_pushes/own   missing  alert
de      templates/hello        missing  ios.title, message.body
de-AT   scheduled_pushes/own   missing  alert
es      scheduled_pushes/own   missing  alert
es      scheduled_pushes/sale  missing  alert
es      templates/hello        missing  alert, ios.title, message.title, message.body
fr      scheduled_pushes/sale  missing  alert
fr      templates/hello        missing  alert, ios.title, message.title, message.body

3 messages in 4 locales: 5 of 20 texts translated. 1 message has only common texts.
"
    );
    let document: Value = serde_json::from_str(&good(&folder, &["locales", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(document["locales"], serde_json::json!(["de", "de-AT", "es", "fr"]));
    assert_eq!(document["single"], 1);
    let hello = &document["messages"][0];
    assert_eq!((&hello["message"], &hello["place"]), (&"templates/hello".into(), &"messages.yaml:2:3".into()));
    let states = |field: usize| {
        ["de", "de-AT", "es"].map(|locale| hello["texts"][field]["translations"][locale]["state"].clone())
    };
    assert_eq!(hello["texts"][0]["field"], "alert");
    assert_eq!(states(0), ["translated", "inherited", "missing"]);
    assert_eq!(states(1), ["missing", "inherited", "missing"]);
}

#[test]
fn an_import_of_an_export_changes_no_byte() {
    let folder = project();
    let before = catalogues(&folder);
    for arguments in [&["--format", "csv"][..], &["--locale", "de"], &["--locale", "de-AT"], &["--locale", "es"]] {
        let out = [&["locales", "export", "--out", "texts"][..], arguments].concat();
        good(&folder, &out);
        let ran = good(&folder, &["locales", "import", "texts"]);
        says(&ran.stdout, &["0 texts changed"]);
        assert_eq!(catalogues(&folder), before, "{arguments:?}");
    }
    let csv = good(&folder, &["locales", "export", "--format", "csv"]);
    assert_eq!(
        csv.stdout,
        "\u{feff}message,field,common,de,de-AT,es\r\n\
         templates/hello,alert,\"Hi {{NAME}}, =welcome\",\"Hallo {{NAME}}, =willkommen\",,\r\n\
         templates/hello,ios.title,Welcome,,,\r\n\
         templates/hello,message.title,Hello,\"Hallo,\ndu\",,\r\n\
         scheduled_pushes/sale,alert,The sale is on,Der Ausverkauf läuft,Der Abverkauf läuft,\r\n"
    );
    says(&csv.stderr, &["Not exported: 1 message with `localizations`"]);
    let ran = folder.run(&["locales", "export"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["an XLIFF file has only one locale", "`de-AT`"]);
    let ran = folder.run(&["locales", "export", "--locale", "fr"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn an_import_edits_catalogues_in_place() {
    let folder = project();
    folder.write(
        "texts.csv",
        "message;field;es;de\r\ntemplates/hello;ios.title;\"Dice \"\"hola\"\"\";Willkommen\r\n\
         templates/hello;alert;¡Hola {{NAME}}!;\r\ntemplates/hello;message.title;\"Hola,\r\ntú\";\"Hallo,\nSie\"\r\n\
         scheduled_pushes/sale;alert;no;Der Ausverkauf: jetzt\r\n",
    );
    let trial = good(&folder, &["locales", "import", "texts.csv", "--dry-run"]);
    says(&trial.stdout, &["7 texts would change, 1 without a translation.", "- \"Der Ausverkauf läuft\""]);
    assert_eq!(folder.read("locales/de.yaml"), GERMAN);
    let ran = good(&folder, &["locales", "import", "texts.csv"]);
    says(&ran.stdout, &["locales/de.yaml", "locales/es.yaml", "7 texts changed, 1 without a translation."]);
    let expected = GERMAN
        .replace("# with a sign\n", "# with a sign\n  ios.title: Willkommen\n")
        .replace("    du\n", "    Sie\n")
        .replace("{alert: Der Ausverkauf läuft}", "{alert: \"Der Ausverkauf: jetzt\"}");
    assert_eq!(folder.read("locales/de.yaml"), expected);
    assert_eq!(
        folder.read("locales/es.yaml"),
        "templates/hello:\n  ios.title: \"Dice \\\"hola\\\"\"\n  alert: \"¡Hola {{NAME}}!\"\n  message.title: \"Hola,\\r\\ntú\"\n\
         scheduled_pushes/sale:\n  alert: \"no\"\n"
    );
    assert_eq!(folder.read("locales/de-AT.yaml"), AUSTRIAN);
    good(&folder, &["validate"]);
    says(&good(&folder, &["locales", "import", "texts.csv"]).stdout, &["0 texts changed, 7 unchanged"]);
}

#[test]
fn a_translated_xliff_file_is_imported() {
    let folder = project();
    good(&folder, &["locales", "export", "--locale", "es", "--out", "es.xlf"]);
    let exported = folder.read("es.xlf");
    says(
        &exported,
        &[
            "version=\"2.0\" srcLang=\"en\" trgLang=\"es\"",
            "<file id=\"locales\" original=\"locales/es.yaml\">",
            "<unit id=\"templates:hello:ios.title\" name=\"templates/hello ios.title\">",
            "<segment state=\"initial\">",
        ],
    );
    let translated = exported.replace(
        "<source xml:space=\"preserve\">Welcome</source>\n",
        "<source xml:space=\"preserve\">Welcome</source>\n<target>Bienvenido &amp; hola</target>\n",
    );
    folder.write("es.xlf", &translated);
    let ran = good(&folder, &["locales", "import", "es.xlf"]);
    says(&ran.stdout, &["1 text changed, 3 without a translation."]);
    assert_eq!(folder.read("locales/es.yaml"), "templates/hello:\n  ios.title: Bienvenido & hola\n");

    // The common text changes after the export.
    folder.write("messages.yaml", MESSAGES.replace("title: Welcome", "title: Welcome back"));
    folder.write("es.xlf", translated.replace("Bienvenido", "Saludos"));
    let ran = folder.run(&["locales", "import", "es.xlf"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["es.xlf:", "has changed since the export", "--outdated"]);
    good(&folder, &["locales", "import", "es.xlf", "--outdated"]);
    says(&folder.read("locales/es.yaml"), &["Saludos & hola"]);
}

#[test]
fn a_file_with_a_problem_changes_nothing() {
    let folder = project();
    let before = catalogues(&folder);
    let header = "message,field,common,de\n";
    let xliff = |body: &str| format!("<xliff version=\"2.0\" trgLang=\"de\"><file id=\"f\">\n{body}</file></xliff>");
    let unit = |id: &str, target: &str| {
        format!(
            "<unit id=\"{id}\"><segment><source>The sale is on</source><target>{target}</target></segment></unit>\n"
        )
    };
    let sale = "scheduled_pushes:sale:alert";
    let good_row = "scheduled_pushes/sale,alert,The sale is on,Neu\n";
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            format!("{header}{good_row}templates/helo,alert,x,y\n").into(),
            "file:3: no message `templates/helo`; did you mean `templates/hello`?",
        ),
        (
            format!("{header}{good_row}templates/hello,alrt,x,y\n").into(),
            "file:3: `templates/hello` has no text `alrt`",
        ),
        (
            format!("{header}{good_row}templates/hello,message.body,x,y\n").into(),
            "file:3: `message.body` of `templates/hello` is in a file of its own",
        ),
        (format!("{header}{good_row}scheduled_pushes/own,alert,x,y\n").into(), "not in a catalogue"),
        (
            format!("{header}{good_row}{good_row}").into(),
            "file:3: `alert` of `scheduled_pushes/sale` for `de` is in the file twice, first in line 2",
        ),
        (
            format!("{header}{good_row}templates/hello,alert,\"Hi {{{{NAME}}}}, =welcome\",Hallo\n").into(),
            "file:3: `alert` of `templates/hello` for `de` lacks {{NAME}}",
        ),
        (
            format!("{header}scheduled_pushes/sale,alert,The sale is on,{{{{NAME}}}}\n").into(),
            "has {{NAME}}, which the common text does not have",
        ),
        (format!("{header}scheduled_pushes/sale,alert,The sale,Neu\n").into(), "file:2: the common text of `alert`"),
        (
            "message,field,common,pt\nscheduled_pushes/sale,alert,The sale is on,Neu\n".into(),
            "file:2: the folder `locales` has no catalogue for `pt`",
        ),
        (
            "message,field,common,de\nscheduled_pushes/sale,alert,\"The\n".into(),
            "file:2: the double quote of a cell is not closed",
        ),
        (xliff(&(unit(sale, "Neu") + &unit("x", "Neu"))).into(), "file:3: no text of a catalogue has the id `x`"),
        (
            xliff(&(unit(sale, "Neu") + &unit(sale, "Neu"))).into(),
            "file:3: `alert` of `scheduled_pushes/sale` for `de` is in the file twice",
        ),
        (xliff(&unit(sale, "Neu")).replace("\"de\"", "\"pt\"").into(), "no catalogue for `pt`"),
        (xliff(&unit(sale, "&bomb;")).into(), "file:2: `&bomb;` is not one of XML's own entities"),
        (format!("<!DOCTYPE x [<!ENTITY a \"b\">]>\n{}", xliff("")).into(), "file:1: the file has a document type"),
        (
            xliff(&unit(sale, "Neu")).replace("version=\"2.0\"", "version=\"1.2\"").into(),
            "file:1: the file is XLIFF 1.2",
        ),
        (b"message,field,de\nscheduled_pushes/sale,alert,\xff\n".to_vec(), "file:2: the file is not UTF-8"),
        (b"\xff\xfem\0e\0".to_vec(), "UTF-16"),
        ("".into(), "file:1: the first line does not begin with"),
    ];
    for (file, message) in cases {
        folder.write("file", &file);
        let ran = folder.run(&["locales", "import", "file"]);
        assert_eq!(ran.code, 3, "{message}: {ran}");
        says(&ran.stdout, &[message, "  help: "]);
        says(&ran.stderr, &["nothing was imported"]);
        assert_eq!(catalogues(&folder), before, "{message}");
    }
    let ran = folder.run(&["locales", "import", "none.xlf"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[cfg(unix)]
#[test]
fn a_catalogue_that_cannot_be_written_leaves_the_others() {
    use std::os::unix::fs::PermissionsExt;
    let folder = project();
    let before = catalogues(&folder);
    folder.write("texts.csv", "message,field,de,es\nscheduled_pushes/sale,alert,Neu,Nuevo\n");
    let path = folder.path().join("locales/es.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("a mode");
    let ran = folder.run(&["locales", "import", "texts.csv"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["read-only", "nothing was imported"]);
    assert_eq!(catalogues(&folder), before);
}

#[test]
fn an_export_replaces_no_file_of_the_project() {
    let folder = project();
    for own in ["locales/de.yaml", "messages.yaml", "pushplan.toml"] {
        let before = folder.read(own);
        let ran = folder.run(&["locales", "export", "--locale", "de", "--out", own]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[&format!("{own} is a file of the project")]);
        assert_eq!(folder.read(own), before);
    }
    good(&folder, &["locales", "export", "--locale", "de", "--out", "de.xlf"]);
    good(&folder, &["locales", "export", "--locale", "de", "--out", "de.xlf"]);
}

/// Another folder of catalogues has other locales. The export has an empty cell for each of them.
#[test]
fn an_export_of_two_folders_with_other_locales_can_be_imported() {
    let folder = project();
    folder.write(
        "second.yaml",
        MESSAGES
            .split("scheduled_pushes:")
            .nth(1)
            .map(|pushes| {
                format!("scheduled_pushes:{}", pushes.split("  own:").next().unwrap_or_default())
                    .replace("sale:", "second:")
                    .replace("locales: locales", "locales: more/locales")
            })
            .expect("pushes"),
    );
    folder.write("more/locales/it.yaml", "scheduled_pushes/second:\n  alert: I saldi\n");
    good(&folder, &["locales", "export", "--format", "csv", "--out", "all.csv"]);
    good(&folder, &["locales", "import", "all.csv"]);
}
