//! `pushplan preview`: messages as recipients will see them, from the manifests only.

use pushplan::plan::Plan;
use pushplan::review::{Review, Side};
use pushplan_testing::{Folder, Ran};
use unicode_width::UnicodeWidthStr;

const WINBACK: &str = r#"templates:
  winback:
    variables:
      - {key: FIRST_NAME, default_value: there}
      - {key: SALE, default_value: "20 %"}
    previews:
      long: {FIRST_NAME: Maximiliane-Charlotte}
      rtl: {FIRST_NAME: דנה}
    push:
      notification:
        alert: "{{FIRST_NAME}}, {{SALE}} off today"
        web: {title: "For {{FIRST_NAME}}"}
        actions: {open: {type: url, content: "https://example.com/sale"}, add_tag: seen-sale}
        interactive: {type: ua_remind_me_later, button_actions: {remind: {add_tag: remind-me}}}
      message: {title: The sale, body: "<h1>Sale</h1><p>Dear {{FIRST_NAME}}</p>"}
"#;

fn project(manifest: &str) -> Folder {
    let folder = Folder::project(manifest);
    folder.write("pushplan.toml", "[project]\nname = \"Shop\"\n\n[targets.local]\n");
    folder
}

fn done(ran: Ran) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    ran.stdout
}

/// Every line of a box is as wide as its first one.
fn assert_boxes_are_straight(text: &str) {
    let lines = text.lines().filter(|line| line.trim_start().starts_with(['╭', '│', '├', '╰']));
    let widths: Vec<usize> = lines.map(UnicodeWidthStr::width).collect();
    assert!(!widths.is_empty() && widths.iter().all(|width| *width == widths[0]), "{widths:?}\n{text}");
}

#[test]
fn a_template_is_shown_on_each_device_with_its_defaults() {
    let folder = project(
        &WINBACK
            .replace("      rtl: {FIRST_NAME: דנה}\n", "")
            .replace("      long: {FIRST_NAME: Maximiliane-Charlotte}\n", "")
            .replace("    previews:\n", ""),
    );
    let text = done(folder.run(&["preview", "templates/winback"]));
    assert_eq!(
        text,
        "\
templates/winback                                                                    messages.yaml:2

  iPhone lock screen: shows all 21 characters
  ╭────────────────────────────────────────────────╮
  │ Shop                                       now │
  │ there, 20 % off today                          │
  ├────────────────────────────────────────────────┤
  │ Remind me later                                │
  ╰────────────────────────────────────────────────╯

  Android collapsed: shows all 21 characters
  ╭────────────────────────────────────────────────╮
  │ Shop                                       now │
  │ there, 20 % off today                          │
  ├────────────────────────────────────────────────┤
  │ Remind me later                                │
  ╰────────────────────────────────────────────────╯

  browser notification: shows all 21 characters
  ╭────────────────────────────────────────────────╮
  │ Shop                                       now │
  │ For there                                      │
  │ there, 20 % off today                          │
  ├────────────────────────────────────────────────┤
  │ Remind me later                                │
  ╰────────────────────────────────────────────────╯

  tap        opens https://example.com/sale and adds the tag seen-sale
  button     “Remind me later” adds the tag remind-me
  message    title: The sale
             Sale
             Dear there
"
    );
}

#[test]
fn samples_come_behind_the_defaults_and_one_can_be_chosen() {
    let folder = project(WINBACK);
    let all = done(folder.run(&["preview", "templates/winback", "--device", "iphone"]));
    let heads: Vec<&str> = all.lines().filter(|line| matches!(*line, "with its defaults" | "long" | "rtl")).collect();
    assert_eq!(heads, ["with its defaults", "long", "rtl"]);
    let long = done(folder.run(&["preview", "templates/winback", "--preview", "long", "--device", "android"]));
    assert!(long.contains("│ Maximiliane-Charlotte, 20 % off today "), "{long}");
    assert!(!long.contains("there,") && !long.contains("iPhone"), "{long}");
    let both = done(folder.run(&["preview", "templates/winback", "--preview", "long", "--set", "SALE=half"]));
    assert!(both.contains("│ Maximiliane-Charlotte, half off today "), "{both}");
}

#[test]
fn text_from_right_to_left_stands_at_the_right_and_wide_text_keeps_the_box_straight() {
    let folder = project(WINBACK);
    let rtl = done(folder.run(&["preview", "templates/winback", "--preview", "rtl", "--device", "iphone"]));
    // The name is isolated, so that a terminal that turns it round leaves the box alone.
    assert!(rtl.contains(" \u{2068}דנה\u{2069}, 20 % off today │"), "{rtl}");
    assert_boxes_are_straight(&rtl);
    let family = "👨‍👩‍👧 日本 🇩🇪 e\u{301} ".repeat(8);
    for width in ["40", "60", "200"] {
        let wide = folder.run(&["preview", "templates/winback", "--set", &format!("FIRST_NAME={family}")]);
        assert_boxes_are_straight(&done(wide));
        let narrow = std::process::Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["preview", "templates/winback", "--set", &format!("FIRST_NAME={family}")])
            .env("COLUMNS", width)
            .current_dir(folder.path())
            .output()
            .expect("the binary starts");
        let text = String::from_utf8(narrow.stdout).expect("UTF-8");
        assert_boxes_are_straight(&text);
        let limit: usize = width.parse().expect("a number");
        assert!(text.lines().all(|line| line.width() <= limit), "{text}");
    }
}

#[test]
fn what_is_cut_is_told() {
    let text = "Hi there, we miss you. Come back this week and take 20 % off everything";
    let folder = project(&format!("templates:\n  a:\n    push: {{notification: {{alert: \"{text}\"}}}}\n"));
    let shown = done(folder.run(&["preview", "templates/a", "--device", "android"]));
    assert!(shown.contains("Android collapsed: 45 of 71 characters\n"), "{shown}");
    assert!(shown.contains("this week an…"), "{shown}");
    assert!(shown.contains("\n  cut off: “d take 20 % off everything”\n"), "{shown}");
}

const CAMPAIGN: &str = r#"
pipelines:
  welcome:
    enabled: true
    immediate_trigger: {tag_added: new}
    outcome:
      - {push: {device_types: [ios], notification: {alert: Welcome}}}
      - {delay: 1d, push: {device_types: [android], notification: {alert: Still here?}}}
scheduled_pushes:
  friday:
    schedule: {scheduled_time: 2046-11-27T09:00}
    push:
      audience: all
      device_types: [ios, android]
      template: winback
      substitutions: {SALE: half}
experiments:
  words:
    audience: all
    device_types: [web]
    variants:
      - {push: {notification: {alert: One}}, schedule: {scheduled_time: 2046-11-27T09:00}}
      - {push: {notification: {alert: Two}}, schedule: {scheduled_time: 2046-11-27T09:00}}
segments:
  all-of-them: {criteria: {tag: x}}
"#;

#[test]
fn pipelines_and_experiments_show_each_of_their_messages() {
    let folder = project(&format!("{WINBACK}{CAMPAIGN}"));
    let pipeline = done(folder.run(&["preview", "pipelines/welcome"]));
    let (first, second) = pipeline.split_once("\noutcome 2\n").expect("two outcomes");
    assert!(first.contains("\noutcome 1\n\n  iPhone lock screen") && first.contains("│ Welcome "), "{pipeline}");
    assert!(second.contains("Android collapsed") && !second.contains("iPhone"), "{pipeline}");
    let experiment = done(folder.run(&["preview", "experiments/words"]));
    assert!(experiment.contains("\nvariant 1\n") && experiment.contains("\nvariant 2\n"), "{experiment}");
    assert!(experiment.contains("│ Two ") && !experiment.contains("Android"), "{experiment}");
    let named = CAMPAIGN.replace("words:\n", "words:\n    control: 0.2\n");
    let named = named
        .replace("- {push: {notification: {alert: One", "- {name: Short, weight: 3, push: {notification: {alert: One");
    let folder = project(&format!("{WINBACK}{named}"));
    let experiment = done(folder.run(&["preview", "experiments/words"]));
    assert!(experiment.contains("\nvariant 1 “Short”, to 60 % of the audience\n"), "{experiment}");
    assert!(experiment.contains("\nvariant 2, to 20 % of the audience\n"), "{experiment}");
}

#[test]
fn a_push_is_shown_with_the_values_that_it_gives_its_template() {
    let folder = project(&format!("{WINBACK}{CAMPAIGN}"));
    let push = done(folder.run(&["preview", "scheduled_pushes/friday"]));
    assert!(push.contains("│ there, half off today ") && !push.contains("browser"), "{push}");
    assert!(push.contains("│ Maximiliane-Charlotte, half off today "), "the template's samples: {push}");
    let set = done(folder.run(&["preview", "scheduled_pushes/friday", "--set", "FIRST_NAME=a=b"]));
    assert!(set.contains("\nwith FIRST_NAME=a=b\n") && set.contains("│ a=b, half off today "), "{set}");
}

#[test]
fn what_a_push_gives_is_not_replaced_by_a_sample() {
    let given = CAMPAIGN.replace("{SALE: half}", "{SALE: half, FIRST_NAME: \"Bob {{NOPE}}\"}");
    let folder = project(&format!("{WINBACK}{given}"));
    let push = done(folder.run(&["preview", "scheduled_pushes/friday"]));
    assert!(push.contains("│ Bob {{NOPE}}, half off today "), "{push}");
    assert!(!push.contains("Maximiliane") && !push.contains("long") && !push.contains("with its defaults"), "{push}");
    assert!(push.contains("{{NOPE}} has no value: recipients see the braces\n"), "{push}");
    let asked = done(folder.run(&["preview", "scheduled_pushes/friday", "--preview", "long"]));
    assert!(asked.contains("\nlong\n") && !asked.contains("Maximiliane"), "{asked}");
    let set = done(folder.run(&["preview", "scheduled_pushes/friday", "--set", "FIRST_NAME=Eve"]));
    assert!(set.contains("│ Eve, half off today "), "{set}");
    let template = WINBACK.replace("{key: SALE, default_value: \"20 %\"}", "{key: SALE}");
    let template = done(project(&template).run(&["preview", "templates/winback"]));
    assert!(template.contains("recipients see the braces, unless the push sets one"), "{template}");
}

#[test]
fn what_cannot_be_shown_is_refused_with_what_to_write() {
    let folder = project(&format!("{WINBACK}{CAMPAIGN}"));
    for (arguments, code, words) in [
        (&["templates/winbak"] as &[&str], 64, "did you mean templates/winback?"),
        (&["winbak"], 64, "did you mean templates/winback?"),
        (&["templates/winback", "--set", "FIRSTNAME=x"], 64, "did you mean `FIRST_NAME`?"),
        (&["templates/winback", "--set", "FIRST_NAME"], 64, "expected KEY=VALUE"),
        (&["experiments/words", "--set", "X=y"], 64, "it has no variables"),
        (&["templates/winback", "--preview", "lang"], 64, "did you mean `long`?"),
        (&["experiments/words", "--device", "iphone"], 64, "it goes to web"),
        (&["segments/all-of-them"], 64, "has no message"),
        (&["templates/winback", "--target", "lokal"], 64, "did you mean `local`?"),
    ] {
        let ran = folder.run(&[&["preview"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{arguments:?}: {ran}");
        assert!(ran.stderr.contains(words), "{arguments:?}: {ran}");
    }
}

#[test]
fn errors_elsewhere_are_mentioned_and_errors_of_its_own_are_shown() {
    let folder = project(WINBACK);
    folder.write("other.yaml", "templates:\n  other: {push: {notification: {alert: [1]}}}\nscheduled_pushes:\n  p: {schedule: {scheduled_time: 2046-11-27T09:00}, push: {audience: all, device_types: all, template: other}}\n  q: {schedule: {scheduled_time: 2046-11-27T09:00}, push: {audience: all, device_types: all, template: winbak}}\n");
    let fine = folder.run(&["preview", "templates/winback"]);
    assert_eq!(
        (fine.code, fine.stderr.as_str()),
        (0, "Other manifests have errors; `pushplan validate` shows them.\n")
    );
    let own = folder.run(&["preview", "templates/other"]);
    assert_eq!(own.code, 3, "{own}");
    assert!(own.stderr.contains("other.yaml:2:") && own.stderr.contains("templates/other has errors"), "{own}");
    let borrowed = folder.run(&["preview", "scheduled_pushes/p"]);
    assert!(borrowed.stderr.contains("uses the template templates/other, which has errors"), "{borrowed}");
    let missing = folder.run(&["preview", "scheduled_pushes/q"]);
    assert!(missing.code == 3 && missing.stderr.contains("did you mean `winback`?"), "{missing}");
    folder.write("broken.yaml", "templates: [\n");
    let unknown = folder.run(&["preview", "pipelines/nowhere"]);
    assert!(unknown.code == 3 && unknown.stderr.contains("broken.yaml"), "{unknown}");
    assert_eq!(folder.run(&["preview", "templates/winback"]).code, 0);
}

#[test]
fn an_empty_text_and_a_placeholder_without_a_value_are_told() {
    let manifest = "templates:\n  a:\n    variables: [{key: NAME}]\n    push: {notification: {alert: \"Hi {{NAME}}\"}}\n  b:\n    push: {notification: {alert: \"\"}}\n";
    let folder = project(manifest);
    let open = done(folder.run(&["preview", "templates/a", "--device", "web"]));
    assert!(open.contains("│ Hi {{NAME}} ") && open.contains("{{NAME}} has no value"), "{open}");
    let empty = done(folder.run(&["preview", "templates/b", "--device", "web"]));
    assert!(empty.contains("browser notification: no text\n") && empty.contains("│ (no text) "), "{empty}");
}

#[test]
fn overlays_defaults_and_variables_of_the_target_hold_for_previews() {
    let folder = Folder::new();
    folder.write(
        "pushplan.toml",
        "[targets.local]\n[targets.other]\nbase_url = \"https://example.com\"\nledger = \"file:\"\nvariables = {sale = \"half\"}\n",
    );
    folder.write("a.yaml", "templates:\n  a:\n    variables: [{key: NAME, default_value: you}]\n    push: {notification: {alert: \"{{NAME}}: ${var.sale:-20 %} off\"}}\n    previews: {one: {NAME: One}}\n");
    folder.write("b.yaml", "overlays:\n  other:\n    templates:\n      a: {previews: {two: {NAME: Two}}}\n");
    let ran = folder.run(&["preview", "templates/a"]);
    assert!(ran.code == 64 && ran.stderr.contains("choose one with --target"), "{ran}");
    let local = done(folder.run(&["preview", "templates/a", "--target", "local"]));
    assert!(local.contains("│ One: 20 % off ") && !local.contains("Two"), "{local}");
    let other = done(folder.run(&["preview", "templates/a", "--target", "other"]));
    assert!(other.contains("│ One: half off ") && other.contains("│ Two: half off "), "{other}");
}

#[test]
fn a_page_stands_for_itself_and_nothing_in_a_manifest_breaks_out_of_it() {
    let hostile = "</div><script>alert(1)</script><img src=x onerror=y> \u{202e}evil\u{1b}[31m";
    let folder = project(WINBACK);
    let page = done(folder.run(&[
        "preview",
        "templates/winback",
        "--format",
        "html",
        "--set",
        &format!("FIRST_NAME={hostile}"),
    ]));
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""), "{page}");
    for word in ["<script", "<img", " src=", "href=", "url(", "@import", "\u{202e}", "\u{1b}", "<link", "style=\""] {
        assert!(!page.replace("&lt;img src=x", "").contains(word), "{word:?}: {page}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    for words in [
        "iPhone lock screen: ",
        "Android collapsed: ",
        "browser notification: ",
        "Message Center",
        "Remind me later",
        "dir=\"auto\"",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let cut = done(folder.run(&[
        "preview",
        "templates/winback",
        "--format",
        "html",
        "--set",
        "SALE=ninety-five and a half percent",
    ]));
    assert!(cut.contains("<dt>cut off</dt><dd><bdi>Android collapsed: “"), "{cut}");
    let again = done(folder.run(&["preview", "templates/winback", "--format", "html", "--out", "winback.html"]));
    assert_eq!(again, "Wrote winback.html\n");
    let (one, two) =
        (folder.read("winback.html"), done(folder.run(&["preview", "templates/winback", "--format", "html"])));
    assert_eq!(one, two, "the same page every time");
}

#[test]
fn nothing_in_a_text_moves_the_cursor() {
    let folder = project(WINBACK);
    let ran = done(folder.run(&["preview", "templates/winback", "--set", "FIRST_NAME=\u{1b}[2J\u{202e}\u{9b}\u{7}\r"]));
    assert!(!ran.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}', '\r']), "{ran:?}");
    assert_boxes_are_straight(&ran);
}

#[test]
fn previews_are_checked_and_the_sample_is_named() {
    let manifest = "templates:\n  a:\n    variables: [{key: NAME, default_value: you}]\n    push: {notification: {alert: \"Hi {{NAME}}\"}}\n    previews:\n      long: {NAME: Maximiliane-Charlotte von Hohenberg zu Waldenstein}\n      odd: {NAM: x}\n      none: {}\n";
    let folder = project(manifest);
    let ran = folder.run(&["validate"]);
    assert_eq!(ran.code, 0, "{ran}");
    for words in [
        "MS107]: with the preview `long`, Android's collapsed line shows 45 columns",
        "MS117]: the template has no variable `NAM`, which the preview `odd` sets",
        "did you mean `NAME`?",
        "MS117]: the preview `none` sets no values",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {ran}");
    }
    assert!(!ran.stdout.contains("MS106"), "{ran}");
}

#[test]
fn very_many_previews_are_refused() {
    let many: String = (0..51).map(|n| format!("      p{n}: {{FIRST_NAME: x}}\n")).collect();
    let folder = project(&WINBACK.replace("    previews:\n", &format!("    previews:\n{many}")));
    let ran = folder.run(&["validate"]);
    assert!(ran.code == 3 && ran.stdout.contains("YM106]: more than 50 previews"), "{ran}");
}

#[test]
fn a_plan_shows_previews_and_sends_nothing_of_them() {
    let folder = project(WINBACK);
    let ran = folder.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    folder.write("messages.yaml", WINBACK.replace("Maximiliane", "Annegret"));
    let plan = folder.run(&["plan"]);
    assert!(plan.stdout.starts_with("No changes."), "{plan}");
    folder.write("messages.yaml", WINBACK.replace("off today", "off"));
    assert_eq!(folder.run(&["plan", "--out", "plan.json"]).code, 0);
    let saved: serde_json::Value = serde_json::from_str(&folder.read("plan.json")).expect("JSON");
    let steps = saved["plan"]["steps"].to_string();
    assert!(steps.contains("FIRST_NAME") && !steps.contains("Maximiliane"), "{steps}");
    assert_eq!(
        saved["plan"]["told"]["of"]["templates/winback"]["previews"]["long"]["FIRST_NAME"],
        "Maximiliane-Charlotte"
    );
    let plan = Plan::load(&folder.read("plan.json")).expect("a plan");
    let review = Review::of(&plan);
    let texts = |side: Side| -> Vec<(Option<String>, String)> {
        let seen = review.messages(&plan.changes[0], side).into_iter();
        seen.map(|seen| (seen.label, seen.text)).collect()
    };
    let shown = |rest: &str| -> Vec<(Option<String>, String)> {
        let names = [(None, "there"), (Some("long"), "Maximiliane-Charlotte"), (Some("rtl"), "דנה")];
        names.map(|(label, name)| (label.map(str::to_owned), format!("{name}, 20 % {rest}"))).into()
    };
    assert_eq!(texts(Side::Before), shown("off today"));
    assert_eq!(texts(Side::After), shown("off"));
}

#[test]
fn a_terminal_of_ascii_gets_boxes_of_ascii() {
    let folder = project(WINBACK);
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["preview", "templates/winback", "--preview", "rtl", "--device", "android"])
        .env("LC_ALL", "C")
        .current_dir(folder.path())
        .output()
        .expect("the binary starts");
    let text = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(text.is_ascii() && text.contains("\n  | Shop "), "{text}");
    let widths: Vec<usize> =
        text.lines().filter(|line| line.starts_with("  |") || line.starts_with("  +")).map(str::len).collect();
    assert!(widths.len() > 4 && widths.iter().all(|width| *width == widths[0]), "{text}");
}
