//! Several targets: overlays, variables, settings, and which target a finding is about.

use pushplan_testing::{Folder, Ran};

const TWO: &str = "[targets.production]\n[targets.staging]\n";

fn validate(folder: &Folder) -> Ran {
    folder.run(&["validate", "--color", "never", "--now", "2026-11-15T12:00Z"])
}

fn project(toml: &str, manifest: &str) -> Folder {
    let folder = Folder::project(manifest);
    folder.write("pushplan.toml", toml);
    folder
}

fn told(toml: &str, manifest: &str) -> Ran {
    validate(&project(toml, manifest))
}

fn times(ran: &Ran, code: &str) -> usize {
    ran.stdout.matches(&format!("[{code}]:")).count()
}

/// All of these words are in the output.
fn assert_says(ran: &Ran, words: &[&str]) {
    for words in words {
        assert!(ran.stdout.contains(words), "`{words}` is not said\n{}", ran.stdout);
    }
}

const PUSH: &str = "scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2026-11-27T12:00}
    push:
      audience: {segment: vip}
      device_types: all
      notification: {alert: Hi}
segments:
  vip: {criteria: {tag: vip}}
";

#[test]
fn what_cannot_be_read_cannot_be_turned_off() {
    for code in ["YM101", "YM203", "RF101", "AU116", "SC106"] {
        let ran = told(&format!("[checks]\n{code} = \"off\"\n"), "segments: {}\n");
        assert_eq!((ran.code, times(&ran, "YM206")), (3, 1), "{code}\n{}", ran.stdout);
        assert_says(&ran, &["pushplan.toml:2:1", &format!("`{code}` cannot be turned off")]);
    }
    // As an error, it is what it is anyway.
    assert_eq!(told("[checks]\nYM101 = \"error\"\n", "segments: {}\n").code, 0);

    let ran =
        told("[checks]\nYM203 = \"off\"\nRF101 = \"warning\"\n", "segments:\n  a: {}\n  b: {criteria: {segment: c}}\n");
    assert_says(&ran, &["error[YM203]", "error[RF101]"]);

    let broken = "segments:\n  a:\n    lifecycle: {allow: [YM203]}\n  b:\n    lifecycle: {allow: [RF101]}\n    criteria: {segment: c}\n";
    let ran = told(TWO, broken);
    assert_says(&ran, &["error[YM203]", "error[RF101]", "messages.yaml:3:25", "`RF101` cannot be turned off"]);
    assert_eq!(times(&ran, "YM206"), 2, "{}", ran.stdout);
}

#[test]
fn what_judges_can_be_turned_off() {
    let segment =
        "segments:\n  a: {criteria: {country: us}}\n  b: {criteria: {tag: x}, lifecycle: {allow: [PL101, ym202]}}\n";
    let ran = told("[checks]\nAU107 = \"off\"\n", segment);
    assert_eq!((ran.code, ran.stdout.contains("1 suppressed")), (0, true), "{}", ran.stdout);
    for (code, off) in [("YM202", true), ("AU107", true), ("YM203", false), ("RF110", false), ("RF113", true)] {
        let page = Folder::new().run(&["explain", code]).stdout;
        assert_eq!(page.contains("; can be turned off"), off, "{code}\n{page}");
        assert_eq!(page.contains("; cannot be turned off"), !off, "{code}\n{page}");
    }
}

#[test]
fn a_second_condition_from_another_layer_is_told_how_to_replace_the_first() {
    let overlay = "overlays:\n  production:\n    scheduled_pushes: {sale: {push: {audience: {tag: qa}}}}\n";
    let ran = told(TWO, &format!("{PUSH}{overlay}"));
    assert_eq!(times(&ran, "AU116"), 1, "{}", ran.stdout);
    assert_says(
        &ran,
        &[
            "messages.yaml:12:49",
            "add `segment: null` to remove the first one",
            "this is reported for the target `production`",
        ],
    );
    let right = overlay.replace("{tag: qa}", "{segment: null, tag: qa}");
    assert_eq!(told(TWO, &format!("{PUSH}{right}")).code, 0);

    let defaults = "defaults:\n  segments: {criteria: {tag: a}}\nsegments:\n  b: {criteria: {country: US}}\n";
    let ran = told(TWO, defaults);
    assert_says(&ran, &["messages.yaml:4:18", "add `tag: null` to remove the first one"]);
    assert!(!ran.stdout.contains("this holds"), "both targets have it\n{}", ran.stdout);

    let same = told(TWO, "segments:\n  b: {criteria: {tag: a, country: US}}\n");
    assert_says(&same, &["write {and: [{tag: ...}, {country: ...}]}"]);
}

#[test]
fn a_variable_that_some_targets_lack_is_told_once_with_their_names() {
    let manifest = "segments:\n  a: {criteria: {tag: \"${var.tag}\"}}\n";
    let toml = |production: &str| format!("[targets.local]\n[targets.production]\n{production}[targets.staging]\n");
    let ran = told(&toml("variables = {tag = \"x\"}\n"), manifest);
    assert_eq!(times(&ran, "RF104"), 1, "{}", ran.stdout);
    assert_says(&ran, &["the variable `tag` has no value", "this is reported for the targets `local` and `staging`"]);
    let ran = told(&toml(""), manifest);
    assert_eq!((times(&ran, "RF104"), ran.stdout.contains("this holds")), (1, false), "{}", ran.stdout);
}

#[test]
fn a_slip_in_the_key_of_an_overlay_is_told() {
    let overlay =
        |key: &str, value: &str| format!("{PUSH}overlays:\n  production:\n    scheduled_pushes: {{{key}: {value}}}\n");
    let ran = told(TWO, &overlay("sales", "{push: {device_types: ios}}"));
    assert_eq!((ran.code, times(&ran, "RF113"), times(&ran, "YM203")), (3, 1, 0), "{}", ran.stdout);
    assert_says(&ran, &["messages.yaml:12:24", "did you mean `sale`?"]);

    // Far from any other key, it is a push of its own, and must be one.
    let ran = told(TWO, &overlay("spring", "{push: {audience: all, device_types: ios, notification: {alert: Hi}}}"));
    assert_eq!((times(&ran, "RF113"), times(&ran, "YM203")), (0, 1), "{}", ran.stdout);
    assert_says(&ran, &["the scheduled push `spring` is declared only in this overlay"]);

    let whole = "{schedule: {scheduled_time: 2026-11-28T12:00}, push: {audience: all, device_types: ios, notification: {alert: Hi}}}";
    assert_eq!(told(TWO, &overlay("spring", whole)).code, 0);
    assert_eq!(told(TWO, &overlay("sales", whole)).code, 3);
    let meant = whole.replacen('{', "{lifecycle: {allow: [RF113]}, ", 1);
    assert_eq!(told(TWO, &overlay("sales", &meant)).code, 0);

    assert_eq!(told(TWO, &overlay("sale", "null")).code, 0);
    let ran = told(TWO, &overlay("sales", "null"));
    assert_says(&ran, &["error[RF113]", "to remove", "did you mean `sale`?"]);
}

#[test]
fn what_an_overlay_takes_away_is_missing_where_it_does() {
    let overlay =
        |null: &str| format!("{PUSH}overlays:\n  production:\n    scheduled_pushes: {{sale: {{push: {{{null}}}}}}}\n");
    for (null, place, words) in [
        ("notification: null", "12:52", "`notification` is missing"),
        ("device_types: ~", "12:52", "`device_types` is missing"),
        ("audience: ", "12:38", "`audience` is missing"),
    ] {
        let ran = told(TWO, &overlay(null));
        assert_eq!(times(&ran, "YM203"), 1, "{}", ran.stdout);
        assert_says(&ran, &[&format!("messages.yaml:{place}"), words, "this is reported for the target `production`"]);
    }
}

#[test]
fn manifests_lie_beneath_the_project() {
    let outer = Folder::new();
    outer.write("base/m/segments.yaml", "segments: {a: {criteria: {tag: no}}}\n");
    for place in ["../base/m", "/etc", "m/../../base/m"] {
        outer.write("project/pushplan.toml", format!("[project]\nmanifests = [\"{place}\"]\n"));
        let ran = outer.run_in("project", &["validate", "--color", "never"], b"");
        assert_eq!((ran.code, times(&ran, "RF106"), times(&ran, "YM204")), (3, 1, 0), "{}", ran.stdout);
        assert_says(&ran, &["pushplan.toml:2:14"]);
    }
    outer.write("project/pushplan.toml", "[project]\nmanifests = [\"m\"]\n");
    outer.write("project/m/segments.yaml", "segments: {a: {criteria: {tag: vip}}}\n");
    assert_eq!(outer.run_in("project", &["validate"], b"").code, 0);
}

#[test]
fn variables_are_filled_in_in_body_files_too() {
    let manifest = "templates:\n  t:\n    push:\n      notification: {alert: Hi}\n      message: {title: T, body: {file: b.html}}\n";
    let folder = project("[targets.local.variables]\nsale = \"40 %\"\n", manifest);
    folder.write("b.html", "<p>\n${var.sale} off, ${var.until:-today}</p><script>`${x} $${var.sale} $${y}`</script>\n");
    assert_eq!(validate(&folder).code, 0);
    let (desired, _) = pushplan::manifest::read_project(folder.path(), None).resolve(Some("local"));
    let spec = desired.resources.values().next().expect("a template").spec.canonical();
    let body = spec["push"]["message"]["body"].as_str().expect("a text");
    assert_eq!(body, "<p>\n40 % off, today</p><script>`${x} ${var.sale} $${y}`</script>\n");

    folder.write("b.html", "<p>\n${var.sal} off</p>\n${var.a b}\n");
    let ran = validate(&folder);
    assert_eq!((times(&ran, "RF104"), times(&ran, "RF112")), (1, 1), "{}", ran.stdout);
    assert_says(
        &ran,
        &[
            "messages.yaml:5:40",
            "the variable `sal` has no value in line 2 of `b.html`",
            "did you mean `sale`?",
            "in line 3 of `b.html`",
        ],
    );
}

#[test]
fn what_one_resource_allows_is_still_told_of_another() {
    let push = "push: {audience: all, device_types: all, notification: {alert: Hi}}";
    let defaults = "defaults: {scheduled_pushes: {schedule: {scheduled_time: 2020-11-27T12:00}}}\n";
    for (first, second) in [("a", "b"), ("b", "a")] {
        let allows = format!("  {first}: {{lifecycle: {{allow: [SC101]}}, {push}}}\n");
        let manifest = format!("{defaults}scheduled_pushes:\n{allows}  {second}: {{{push}}}\n");
        let ran = told("[targets.local]\n", &manifest);
        assert_eq!(times(&ran, "SC101"), 1, "{}", ran.stdout);
    }
}

#[test]
fn what_an_overlay_allows_is_still_told_of_the_other_target() {
    let push = "push: {audience: all, device_types: all, notification: {alert: Hi}}";
    for (allows, other) in [("production", "staging"), ("staging", "production")] {
        let base = format!("scheduled_pushes:\n  a: {{schedule: {{scheduled_time: 2020-11-27T12:00}}, {push}}}\n");
        let overlay =
            format!("overlays: {{{allows}: {{scheduled_pushes: {{a: {{lifecycle: {{allow: [SC101]}}}}}}}}}}\n");
        let ran = told(TWO, &(base + &overlay));
        assert_eq!(times(&ran, "SC101"), 1, "{}", ran.stdout);
        assert_says(&ran, &[&format!("this is reported for the target `{other}`")]);
    }
}

#[test]
fn a_default_may_hold_placeholders_a_key_no_variable_and_own_keys_anything() {
    let project = "[targets.local]\n[targets.local.variables]\nhi = \"Hello\"\n";
    let folder = Folder::project(
        "templates:
  t:
    variables: [{key: NAME, default_value: you}]
    push: {notification: {alert: \"${var.missing:-Hi {{NAME}}}, ${var.hi:-Hi {{NAME}}}\"}}
    x-note: \"${HOME}\"
    x-more: {body: {file: /nowhere}}
",
    );
    folder.write("pushplan.toml", project);
    let ran = folder.run(&["validate", "--fail-on", "warning"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);

    let folder = Folder::project("tag_groups: {g: {members: {named_users: {\"${var.hi}\": [a]}}}}\n");
    folder.write("pushplan.toml", project);
    let ran = folder.run(&["validate"]);
    assert!(ran.stdout.contains("error[RF112]: `${var.hi}`: a key cannot contain a variable"), "{}", ran.stdout);
}

#[test]
fn settings_of_a_target_that_mean_nothing_are_told_where_they_stand() {
    for (setting, says) in [
        ("base_url = \"http://messaging.example\"", "is not https: credentials would be sent unencrypted"),
        (
            "base_url = \"https://messaging.example/api\"",
            "this address may only have a scheme, a host and a port: write https://messaging.example",
        ),
        ("base_url = \"messaging.example\"", "`messaging.example` is not a URL"),
        ("app_key_fingerprint = \"3F2A\"", "`3F2A` is not the fingerprint of an app key"),
        ("app_key_fingerprint = \"zzzzzzzzzzzz\"", "expected 12 digits from 0 to 9 and a to f"),
        ("base_url = \"https://messaging.example\"", "error[YM304]: target `p` does not name its ledger"),
        ("max_deletes = -1", "`-1` is not a number of deletions"),
        ("max_deletes = \"many\"", "expected a whole number"),
        ("min_lead = \"soon\"", "`soon` is not a duration"),
        ("settle = -5", "`-5` is not a duration"),
        ("send_within = 0", "`0` is too short to send a request"),
        ("send_within = \"soon\"", "`soon` is not a duration"),
        ("lease = \"90s\"", "expected 2m or more, twice `send_within`"),
        ("lease = \"soon\"", "`soon` is not a duration"),
    ] {
        let ran = told(&format!("[targets.p]\n{setting}\n"), "segments: {}\n");
        assert_eq!(ran.code, 3, "{setting}\n{}", ran.stdout);
        assert_says(&ran, &["pushplan.toml:2:", says]);
    }
    let right = "[targets.p]\napp_key_fingerprint = \"0123456789ab\"\nmax_deletes = 0\nmin_lead = \"1h30m\"\nsettle = 20\n\
                 send_within = \"30s\"\nlease = \"1m\"\n";
    let ran = told(right, "segments: {vip: {criteria: {tag: vip}, lifecycle: {broadcast: true}}}\n");
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

const MATRIX: &str = "[matrix]\nbrand = [\"shop\", \"cafe\"]\ncountry = [\"de\", \"us\"]\n";

/// The names of all targets that the project file makes, and what one of them gets for a segment.
fn targets(toml: &str, manifest: &str) -> (Vec<String>, impl Fn(&str, &str) -> serde_json::Value + use<>) {
    let folder = project(toml, manifest);
    let ran = validate(&folder);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let manifests = pushplan::manifest::read_project(folder.path(), None);
    let names = manifests.project.target_names().into_iter().map(str::to_owned).collect();
    (names, move |target: &str, key: &str| {
        let (desired, _) = manifests.resolve(Some(target));
        let found = desired.resources.iter().find(|(address, _)| address.key == key);
        found.map(|(_, declared)| declared.spec.canonical()).unwrap_or_default()
    })
}

#[test]
fn a_matrix_makes_a_target_of_each_combination_with_its_values_as_variables() {
    let manifest = "segments: {a: {criteria: {tag: \"${var.brand}-${var.country}-${var.more}\"}}}\n";
    let more = "exclude = [{brand = \"cafe\", country = \"us\"}]\n[matrix.target]\nbase_url = \"https://${country}.messaging.example\"\nledger = \"file:\"\n\
                [matrix.target.variables]\nmore = \"of ${brand}\"\n[targets.shop-us.variables]\nmore = \"own\"\n";
    let (names, get) = targets(&format!("{MATRIX}{more}"), manifest);
    assert_eq!(names, ["cafe-de", "shop-de", "shop-us"]);
    assert_eq!(get("cafe-de", "a")["criteria"]["tag"], "cafe-de-of cafe");
    assert_eq!(get("shop-us", "a")["criteria"]["tag"], "shop-us-own", "a table of its own wins");

    let (names, _) = targets(&format!("{MATRIX}name = \"${{country}}.${{brand}}\"\n[targets.local]\n"), "{}\n");
    assert_eq!(names, ["de.cafe", "de.shop", "local", "us.cafe", "us.shop"]);
}

#[test]
fn groups_give_settings_and_overlays_and_a_target_has_the_last_word() {
    let groups = "[matrix.target.variables]\nhi = \"Hi\"\nfrom = \"matrix\"\n\
                  [groups.zz-all]\ntargets = \"*\"\n[groups.zz-all.variables]\nhi = \"Hello\"\nfrom = \"all\"\n\
                  [groups.germany]\ntargets = [\"*-de\"]\n[groups.germany.variables]\nhi = \"Hallo\"\n\
                  [groups.europe]\ngroups = [\"germany\"]\n\
                  [targets.cafe-de.variables]\nhi = \"Servus\"\n";
    let manifest = "segments:
  a: {display_name: Base, criteria: {tag: \"${var.hi}-${var.from}\"}}
  b: {criteria: {tag: b}}
overlays:
  shop-de: {segments: {a: {display_name: Own}}}
  germany: {segments: {a: {display_name: German}, b: null, c: {criteria: {tag: c}}}}
  zz-all: {segments: {a: {display_name: All}}}
  europe: {segments: {c: {display_name: European}}}
  cafe-de: {segments: {b: {criteria: {tag: again}}}}
";
    let (_, get) = targets(&format!("{MATRIX}{groups}"), manifest);
    // Groups count in the order of the file, a later one over an earlier one, and the target's own table over all.
    assert_eq!(get("shop-us", "a")["criteria"]["tag"], "Hello-all");
    assert_eq!(get("shop-de", "a")["criteria"]["tag"], "Hallo-all");
    assert_eq!(get("cafe-de", "a")["criteria"]["tag"], "Servus-all");
    let name = |target: &str, key: &str| get(target, key)["display_name"].clone();
    assert_eq!([name("shop-us", "a"), name("cafe-de", "a"), name("shop-de", "a")], ["All", "German", "Own"]);
    assert_eq!((name("cafe-de", "c"), name("shop-us", "c")), ("European".into(), serde_json::Value::Null));
    // What a group removes, a target can declare again.
    assert_eq!(
        (name("shop-de", "b"), &get("cafe-de", "b")["criteria"]["tag"]),
        (serde_json::Value::Null, &"again".into())
    );
}

#[test]
fn what_is_wrong_with_a_matrix_or_a_group_is_told_where_it_stands() {
    for (toml, place, says) in [
        (format!("{MATRIX}name = \"${{brnd}}\"\n"), "4:8", "did you mean `${brand}`?"),
        (format!("{MATRIX}name = \"${{brand}}\"\n"), "4:8", "two targets would have the name `shop`"),
        (format!("{MATRIX}name = \"${{brand}}/${{country}}\"\n"), "4:8", "`shop/de` is not a valid name of a target"),
        (format!("{MATRIX}exclude = [{{land = \"de\"}}]\n"), "4:13", "the matrix has no axis `land`"),
        (format!("{MATRIX}exclude = [{{country = \"dr\"}}]\n"), "4:23", "did you mean `de`?"),
        (
            format!("{MATRIX}exclude = [{{country = \"de\"}}, {{country = \"us\"}}]\n"),
            "1:2",
            "the matrix has no target",
        ),
        (
            format!("{MATRIX}[matrix.target]\nbase_url = \"https://${{land}}.example\"\nledger = \"file:\"\n"),
            "5:12",
            "the matrix has no axis `land`",
        ),
        (format!("{MATRIX}[matrix.target]\nmin_led = \"5m\"\n"), "5:1", "did you mean `min_lead`?"),
        (
            format!("{MATRIX}[matrix.target]\nbase_url = \"http://${{country}}.example\"\nledger = \"file:\"\n"),
            "5:12",
            "is not https",
        ),
        ("[matrix]\nname = \"x\"\n".to_owned(), "1:2", "the matrix has no axis"),
        ("[matrix]\nbrand = \"shop\"\ncountry = []\n".to_owned(), "3:11", "the list is empty"),
        (format!("{MATRIX}[groups.g]\ntargets = [\"*-fr\"]\n"), "5:12", "no target is called `*-fr`"),
        (format!("{MATRIX}[groups.g]\ntargets = [\"*-de\"]\ngroups = [\"h\"]\n"), "6:11", "no group has the name `h`"),
        (
            format!("{MATRIX}[groups.shop-de]\ntargets = [\"*-de\"]\n"),
            "4:9",
            "a group and a target have the same name, `shop-de`",
        ),
        (
            format!("{MATRIX}[groups.g]\ngroups = [\"h\"]\n[groups.h]\ngroups = [\"g\"]\n"),
            "7:11",
            "`g` contains `h` contains `g`",
        ),
        (format!("{MATRIX}[groups.g]\nmin_lead = \"1h\"\n"), "4:9", "the group `g` has no targets"),
        (format!("{MATRIX}[groups.g]\ntargets = \"*\"\nmin_led = \"1h\"\n"), "6:1", "did you mean `min_lead`?"),
    ] {
        let ran = told(&toml, "segments: {vip: {criteria: {tag: \"${var.brand:-x}\"}}}\n");
        assert_eq!((ran.code, ran.stdout.matches("error[").count()), (3, 1), "{toml}\n{}", ran.stdout);
        assert_says(&ran, &[&format!("pushplan.toml:{place}\n"), says]);
    }
    let ran = told(&format!("{MATRIX}[groups.germany]\ntargets = \"*-de\"\n"), "overlays: {germny: {segments: {}}}\n");
    assert_says(&ran, &["no target or group has the name `germny`", "did you mean `germany`?"]);
}

#[test]
fn what_holds_for_some_of_many_alike_targets_names_them_all() {
    let manifest = "scheduled_pushes:
  night:
    schedule: {scheduled_time: 2026-11-27T12:00}
    push: {audience: {tag: \"${var.brand}\"}, device_types: all, notification: {alert: \"${var.sale:-Hi}\"}}
segments: {a: {criteria: {tag: \"${var.nope}\"}}}
";
    let ran = told(&format!("{MATRIX}[targets.shop-us.variables]\nnope = \"x\"\n"), manifest);
    assert_eq!(times(&ran, "RF104"), 1, "{}", ran.stdout);
    assert_says(&ran, &["this is reported for the targets `cafe-de`, `cafe-us` and `shop-de`"]);
}

/// What `validate` says of a matrix.
fn said_of(matrix: &str) -> String {
    let folder = Folder::new();
    folder.write("pushplan.toml", format!("[matrix]\n{matrix}\n"));
    folder.write("messages.yaml", "segments:\n  a: {criteria: {tag: a}}\n");
    let ran = folder.run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    ran.stderr + &ran.stdout
}

#[test]
fn names_that_are_the_same_are_told_with_a_way_out_that_works() {
    let twice = said_of("brand = [\"a\", \"a\"]");
    assert!(twice.contains("write `a` of brand once") && !twice.contains("name = "), "{twice}");
    let both = said_of("brand = [\"a-b\", \"a\"]\ncountry = [\"c\", \"b-c\"]");
    assert!(both.contains("name = \"${brand}_${country}\""), "{both}");
    let folder = Folder::new();
    folder.write(
        "pushplan.toml",
        "[matrix]\nbrand = [\"a-b\", \"a\"]\ncountry = [\"c\", \"b-c\"]\nname = \"${brand}_${country}\"\n",
    );
    folder.write("messages.yaml", "segments:\n  a: {criteria: {tag: a}}\n");
    assert_eq!(folder.run(&["validate"]).code, 0);
}

#[test]
fn of_many_targets_a_few_are_named() {
    let folder = Folder::new();
    let values: Vec<String> = (0..1000).map(|number| format!("\"brand-{number}\"")).collect();
    folder.write("pushplan.toml", format!("[matrix]\nbrand = [{}]\n", values.join(", ")));
    folder.write("messages.yaml", "segments:\n  a: {criteria: {tag: a}}\n");
    for arguments in [&["history", "--target", "typo-of-somebody"][..], &["history"]] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.len() < 500 && ran.stderr.contains(", and 992 more"), "{ran}");
    }
}

#[test]
fn a_target_has_a_name_that_shells_and_workflows_take_for_itself() {
    for (name, help) in [
        ("$(touch made)", "write [targets.touch-made]"),
        ("${{ secrets.X }}", "write [targets.\"secrets.x\"]"),
        ("a b,c", "write [targets.a-b-c]"),
        ("-x", "write [targets.x]"),
        ("../up", "write [targets.up]"),
        ("production!", "such as [targets.production]"),
        ("", "begins with a letter or a digit"),
    ] {
        let ran = told(&format!("[targets.production]\n[targets.\"{name}\"]\n"), "segments: {}\n");
        assert_eq!((ran.code, times(&ran, "YM303")), (3, 1), "{name}\n{ran}");
        assert_says(&ran, &["pushplan.toml:2:10\n", &format!("`{name}` is not a valid name of a target"), help]);
    }
    let ran = told("[targets.\"shop.de\"]\n[targets.Shop_2]\n[targets.9-x]\n", "segments: {}\n");
    assert_eq!(ran.code, 0, "{ran}");
}
