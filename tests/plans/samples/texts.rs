//! Messages as recipients read them: changes in a text, in a page and in a list, in any script, at any local time.

use super::scene::{EXTENDED, Scene};

const FILE: &str = "messages.yaml";

/// A project with this manifest applied and then changed, in these places.
fn edited(settings: &str, manifest: &str, edits: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::new(EXTENDED, settings);
    scene.write(FILE, manifest);
    scene.apply();
    for (from, to) in edits {
        scene.edit(FILE, from, to);
    }
    scene
}

#[test]
fn a_long_text_shows_what_changes_around_it() {
    let manifest = "\
templates:
  newsletter:
    name: Weekly letter
    push:
      notification:
        alert: >-
          This week we have gathered the best of the season for you. The new boots have come in, and so have the coats
          that were sold out so quickly last year. Whoever orders before Thursday gets the parcel by the weekend, and
          the first hundred orders come with a small present. We also have a guide to gifts for people who have
          everything, with forty ideas below twenty dollars, and an interview with the woman who designs our bags. As
          always, members get free shipping, and returns are free for ninety days. See you in the shop, or on the couch
          with a cup of tea and our app in your hand.
";
    edited("", manifest, &[("before Thursday", "by Wednesday noon"), ("ninety days", "thirty days")]).golden("prose");
}

#[test]
fn a_page_shows_its_text_and_what_it_links_to_shows_and_fills_in() {
    let manifest = "\
templates:
  receipt:
    variables: [{key: NAME, default_value: friend}, {key: TOTAL, default_value: \"0\"}]
    push:
      notification: {alert: Your receipt}
      message:
        title: Your receipt
        content_type: text/html
        body: |
          <html><body><h1>Thank you, {{NAME}}</h1><p>You paid {{TOTAL}}.</p>
          <img src=\"https://shop.example/logo.png\"><a href=\"https://shop.example/orders\">Your orders</a>
          <a href=\"https://shop.example/help\">Help</a></body></html>
";
    let edits = [
        ("<p>You paid {{TOTAL}}.</p>", "<p>You paid {{TOTAL}} in all.</p>"),
        ("https://shop.example/help", "https://help.shop.example/"),
        ("logo.png", "logo-2026.png"),
        ("Thank you, {{NAME}}", "Thank you"),
    ];
    edited("", manifest, &edits).golden("page");
    let markup = [("<h1>Thank you, {{NAME}}</h1>", "<h2>Thank you, {{NAME}}</h2>")];
    edited("", manifest, &markup).golden("page-markup");
}

#[test]
fn a_renamed_variable_is_one_change_and_changed_links_stand_side_by_side() {
    let manifest = "\
templates:
  hello:
    variables: [{key: FIRST_NAME, default_value: friend}, {key: SALE, default_value: 20 %}]
    push:
      notification: {alert: \"Hi {{FIRST_NAME}}, take {{SALE}} off\"}
      message:
        title: For {{FIRST_NAME}}
        body: >-
          <p>Dear {{FIRST_NAME}}, <a href='https://shop.example/sale?a=1'>the sale</a>,
          <a href='https://shop.example/terms'>terms</a>, <a href='https://old.example/help'>help</a></p>
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2026-11-27T12:00}
    push: {audience: {tag: buyer}, device_types: [ios], template: hello, substitutions: {FIRST_NAME: Ann}}
";
    let mut scene = edited("", manifest, &[]);
    scene.write(FILE, &manifest.replace("FIRST_NAME", "NAME"));
    scene.golden("renamed-variable");
    let links = [("a=1", "a=2"), ("shop.example/terms", "shop.example/conditions"), ("old.example", "new.example")];
    edited("", manifest, &links).golden("page-links");
    // Addresses that have nothing in common are paired by the words of the link.
    let links =
        [("shop.example/sale?a=1", "b.example"), ("shop.example/terms", "a.example/x"), ("old.example/help", "c")];
    let (shown, _) = edited("", manifest, &links).shown(200);
    for pair in ["sale?a=1 → https://b.example", "terms → https://a.example/x", "help → https://c"] {
        assert!(shown.contains(pair), "{pair} is not in {shown}");
    }
}

#[test]
fn lists_show_what_comes_goes_and_moves() {
    let manifest = "\
templates:
  order:
    variables:
      - {key: FIRST_NAME, name: First name, default_value: there}
      - {key: ORDER, name: Order number, default_value: \"\"}
      - {key: CITY, name: City, default_value: your town}
    push:
      notification:
        alert: \"Hi {{FIRST_NAME}}, order {{ORDER}} goes to {{CITY}}\"
        actions: {add_tag: [clicked-order, saw-order]}
open_channels:
  desk:
    opt_in: true
    tags: [berlin, hamburg, support, weekday-shift, weekend-shift]
    open: {open_platform_name: sms, identifiers: {number: \"+15550100\"}}
";
    let edits = [
        ("      - {key: FIRST_NAME, name: First name, default_value: there}\n", ""),
        (
            "default_value: your town}\n",
            "default_value: your city}\n      - {key: FIRST_NAME, name: First name, default_value: there}\n",
        ),
        ("[clicked-order, saw-order]", "[saw-order, opened-order]"),
        (
            "[berlin, hamburg, support, weekday-shift, weekend-shift]",
            "[berlin, hamburg, night-shift, support, weekday-shift]",
        ),
    ];
    edited("", manifest, &edits).golden("lists");
}

#[test]
fn every_script_stands_in_its_columns() {
    let manifest = "\
templates:
  chinese:
    name: 双十一大促
    variables: [{key: NAME, name: 名字, default_value: 朋友}]
    push: {notification: {alert: \"{{NAME}}，双十一大促现在开始：全场八折，满三百减五十，只限今天，先到先得，售完为止。\"}}
  arabic:
    name: عروض الجمعة
    push: {notification: {alert: \"تبدأ التخفيضات الآن: خصم ٢٠٪ على كل شيء\"}}
  hebrew:
    push: {notification: {alert: \"המבצע מתחיל עכשיו: 20% הנחה\"}}
  family:
    name: Family 👨‍👩‍👧‍👦
    push: {notification: {alert: \"Fun for all 👨‍👩‍👧‍👦 and for 🇩🇪 and 🇫🇷 too 🎉\"}}
";
    let mut scene = edited(
        "",
        manifest,
        &[
            ("全场八折", "全场七折"),
            ("خصم ٢٠٪", "خصم ٣٠٪"),
            ("20% הנחה", "30% הנחה"),
            ("and for 🇩🇪 and 🇫🇷 too 🎉", "and for 🇩🇪, 🇫🇷 and 🇮🇹 too 🎉🎉"),
        ],
    );
    scene.write(
        "new.yaml",
        "templates:\n  japanese: {push: {notification: {alert: 本日限り、全品二割引き。お早めに。}}}\n",
    );
    scene.golden_in_all_forms("scripts");
}

#[test]
fn a_push_by_each_devices_clock_says_when_that_begins_and_ends() {
    let manifest = "\
scheduled_pushes:
  breakfast:
    schedule: {local_scheduled_time: 2026-11-21T08:00}
    push: {audience: {country: [US, DE]}, device_types: [ios, android], notification: {alert: Good morning}}
";
    let quiet = "quiet_hours = { from = \"21:00\", to = \"08:00\" }\n";
    edited(quiet, manifest, &[("T08:00", "T07:30")]).golden("local-time");
}

#[test]
fn messages_that_come_too_soon_after_each_other_are_named() {
    let manifest = "\
tag_groups:
  lifecycle: {tags: [buyer]}
scheduled_pushes:
  morning:
    schedule: {scheduled_time: 2026-11-27T14:00}
    push: {audience: {tag: buyer, group: lifecycle}, device_types: [ios], notification: {alert: The sale is on}}
";
    let mut scene = edited("apart = \"12h\"\n", manifest, &[]);
    let more = "\
scheduled_pushes:
  last-call:
    schedule: {scheduled_time: 2026-11-27T20:00}
    push: {audience: {country: US}, device_types: [ios, android], notification: {alert: Last call}}
";
    scene.write("more.yaml", more);
    scene.golden("near");
}

#[test]
fn samples_of_a_template_are_shown_with_their_values() {
    let manifest = "\
templates:
  winback:
    variables: [{key: FIRST_NAME, name: First name, default_value: there}]
    push: {notification: {alert: \"Hi {{FIRST_NAME}}, come back this week and save 10%\"}}
    previews:
      long: {FIRST_NAME: Maximiliane-Charlotte Freifrau von Hohenstein}
      emoji: {FIRST_NAME: 🎉 Ann 🎉}
      arabic: {FIRST_NAME: ليلى}
";
    edited("", manifest, &[("save 10%", "save 20%")]).golden("previews");
}

#[test]
fn a_rename_that_the_service_hears_of_says_what_changes() {
    let manifest = "\
segments:
  lapsed: {criteria: {tag: lapsed}}
";
    let renamed = ("  lapsed: {", "  sleeping: {lifecycle: {renamed_from: lapsed}, ");
    edited("", manifest, &[renamed]).golden("renamed");
}

#[test]
fn nothing_to_do_is_one_sentence() {
    edited("", "segments:\n  staff: {criteria: {tag: staff}}\n", &[]).golden("nothing");
}
