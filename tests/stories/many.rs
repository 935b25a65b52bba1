//! Many applications from one repository: a matrix of targets, groups, plans and applies for several, and promotion.

mod built_in;
mod commands;
mod connections;
mod folding;
mod ledgers;
mod pairs;
mod parallel;
mod promoting;
mod saving;
mod telling;

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use pushplan_testing::{Project, Ran, Service, checked, ended, says};
use reqwest::Method;
use serde_json::{Value, json};

/// The applications of the service.
const APPS: [&str; 4] = ["cafe-de", "cafe-us", "shop-de", "shop-us"];

const MATRIX: &str = "[matrix]
brand = [\"shop\", \"cafe\"]
country = [\"de\", \"us\"]
";

const MANIFEST: &str = "segments:
  vip: {criteria: {tag: vip}}
  own: {criteria: {tag: \"${var.brand}\"}}
overlays:
  germany: {segments: {vip: {display_name: Wichtig}}}
";

fn key(app: &str) -> String {
    format!("key-of-{app}-00000000000")
}

fn secret(app: &str) -> String {
    format!("secret-of-{app}-00000000000")
}

struct World {
    project: Project,
    service: Service,
}

impl World {
    /// A service with four applications, of which some have credentials, and a project with a target for each.
    fn new(manifest: &str, with: &[&str]) -> Self {
        Self::faulty(manifest, with, "")
    }

    /// Creates a world with targets for four applications, whose service has these faults.
    fn faulty(manifest: &str, with: &[&str], faults: &str) -> Self {
        let world = Self::with(manifest, with, faults);
        world.settle(MATRIX, "[groups.germany]\ntargets = [\"*-de\"]\n");
        world
    }

    fn with(manifest: &str, with: &[&str], faults: &str) -> Self {
        Self::of(&APPS, manifest, with, faults)
    }

    /// Creates a world whose service has these applications.
    fn of(apps: &[&str], manifest: &str, with: &[&str], faults: &str) -> Self {
        let project = Project::new(manifest);
        let apps: Vec<String> = apps.iter().map(|app| format!("{}:{}", key(app), secret(app))).collect();
        let faults = project.folder.write("faults.toml", faults);
        let apps = apps.iter().flat_map(|app| ["--app", app.as_str()]);
        let options: Vec<&str> = apps.chain(["--faults", faults.to_str().expect("UTF-8")]).collect();
        let service = project.serve_with(&options);
        let world = Self { project, service };
        let section = |app: &&str| {
            let (origin, key, secret) = (&world.service.origin, key(app), secret(app));
            format!("[\"{origin}\".{app}]\napp_key = \"{key}\"\nmaster_secret = \"{secret}\"\n")
        };
        let path = world.project.folder.write("credentials", with.iter().map(section).collect::<String>());
        set_permissions(path, Permissions::from_mode(0o600)).expect("a mode");
        world
    }

    /// Writes the project file: a matrix, the common settings of its targets, and more.
    fn settle(&self, matrix: &str, more: &str) {
        let origin = &self.service.origin;
        let target = format!(
            "[matrix.target]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\nsettle = \"1s\"\nsend_within = \"2s\"\n"
        );
        self.project.folder.write("pushplan.toml", format!("{matrix}{target}{more}"));
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ended(self.start(arguments))
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let credentials = self.project.folder.path().join("credentials");
        self.project.start_as(arguments, &[("PUSHPLAN_CREDENTIALS", credentials.to_str().expect("UTF-8"))])
    }

    fn good(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
        ran
    }

    fn ask(&self, app: &str, method: Method, path: &str, body: Option<&Value>) -> Value {
        let (status, answer) = self.service.ask_as((&key(app), &secret(app)), method, path, body);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// The segments of an application by their names, with their conditions.
    fn segments(&self, app: &str) -> Vec<(String, Value)> {
        let all = self.ask(app, Method::GET, "/api/segments", None);
        let mut all: Vec<(String, Value)> = all["segments"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| {
                let id = one["id"].as_str().expect("an id");
                let whole = self.ask(app, Method::GET, &format!("/api/segments/{id}"), None);
                (one["display_name"].as_str().expect("a name").to_owned(), whole["criteria"].clone())
            })
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

/// The schemas of the JSON output.
const PLANS: &str = "plans.schema.json";
const REPORTS: &str = "reports.schema.json";
const DRIFTS: &str = "drifts.schema.json";

fn tag(name: &str) -> Value {
    json!({"tag": name})
}

#[test]
fn plans_of_several_targets_have_a_line_each_and_every_change_once() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de", "shop-us"]);
    let ran = world.run(&["plan", "--all-targets"]);
    assert_eq!(ran.code, 4, "{ran}");
    says(
        &ran.stdout,
        &[
            "  cafe-de    No message changes. 2 to create, 0 unchanged\n",
            "  cafe-us    failed: the credentials for",
            ".cafe-us] with app_key and master_secret",
            "  shop-us    No message changes. 2 to create, 0 unchanged\n",
            "The same change on 2 targets: cafe-de, shop-de\n\n+ segments/vip  \"Wichtig\"",
            "The same change on 2 targets: shop-de, shop-us\n\n+ segments/own",
            "1 change on cafe-de\n\n+ segments/own",
            "4 targets: 3 with changes, 1 failed.",
        ],
    );
    assert_eq!(ran.stdout.matches("Wichtig").count(), 1, "{ran}");

    for (asked, targets) in [
        (&["--target", "shop-*"][..], "shop-de shop-us"),
        (&["--target", "shop-us,cafe-de"], "cafe-de shop-us"),
        (&["--target", "shop-us", "--target", "*-de"], "cafe-de shop-de shop-us"),
        (&["--target", "germany"], "cafe-de shop-de"),
    ] {
        let ran = world.good(&[&["plan", "--format", "json"], asked].concat());
        let told = checked(&ran, PLANS);
        let all: Vec<&str> = told["targets"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| it["target"].as_str().expect("a name"))
            .collect();
        assert_eq!(all.join(" "), targets, "{asked:?}");
        assert!(
            told["targets"].as_array().expect("a list").iter().all(|it| it["plan"]["counts"]["create"] == 2),
            "{ran}"
        );
    }
    let ran = world.run(&["plan", "--target", "shp-*"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["no target is called `shp-*`", "did you mean `shop-*`?"]);
    let ran = world.run(&["plan", "--target", "shop-*", "--detailed-exitcode", "--format", "markdown"]);
    assert_eq!(ran.code, 2, "{ran}");
    says(
        &ran.stdout,
        &[
            "| shop-de | No message changes. 2 to create, 0 unchanged |",
            "### The same change on 2 targets: shop-de, shop-us",
        ],
    );
    // A pattern that matches one target is that target.
    let (one, named) = (world.good(&["plan", "--target", "shop-d*"]), world.good(&["plan", "--target", "shop-de"]));
    assert_eq!(one.stdout, named.stdout);
}

#[test]
fn an_apply_of_several_targets_asks_once_and_reports_each() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de", "shop-us"]);
    let ran = world.run(&["apply", "--all-targets", "--yes"]);
    assert_eq!(ran.code, 4, "nothing is begun where one cannot be planned: {ran}");
    says(&ran.stdout, &["  shop-de    not begun\n", "4 targets: 1 failed, 3 not begun."]);
    assert_eq!(world.segments("shop-de"), vec![]);

    let ran = world.run(&["apply", "--target", "shop-*"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["this plan needs a confirmation"]);

    let ran = world.run(&["apply", "--all-targets", "--yes", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(
        &ran.stdout,
        &["  shop-de    applied: 2 created\n", "  cafe-us    failed:", "4 targets: 1 failed, 3 applied."],
    );
    assert_eq!(world.segments("shop-de"), vec![("Wichtig".into(), tag("vip")), ("own".into(), tag("shop"))]);
    assert_eq!(world.segments("cafe-de"), vec![("Wichtig".into(), tag("vip")), ("own".into(), tag("cafe"))]);
    assert_eq!(world.segments("shop-us"), vec![("own".into(), tag("shop")), ("vip".into(), tag("vip"))]);
    assert_eq!(world.segments("cafe-us"), vec![]);

    let ran = world.good(&["apply", "--target", "shop-*,cafe-de", "--yes", "--format", "json"]);
    let told = checked(&ran, REPORTS);
    assert!(told["targets"].as_array().expect("a list").iter().all(|it| it["fate"] == "unchanged"), "{ran}");
}

#[test]
fn guards_hold_for_each_target() {
    let all: String = (0..7).map(|number| format!("  s{number}: {{criteria: {{tag: t{number}}}}}\n")).collect();
    let world = World::new(&format!("segments:\n{all}overlays: {{germany: {{}}}}\n"), &["cafe-de", "shop-de"]);
    world.good(&["apply", "--target", "*-de", "--yes"]);
    // One of them loses all but one of its segments.
    let gone: String = (1..7).map(|number| format!("s{number}: null, ")).collect();
    world.project.write(&format!("segments:\n{all}overlays: {{shop-de: {{segments: {{{gone}}}}}}}\n"));
    let ran = world.run(&["apply", "--target", "*-de", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stdout, &["  cafe-de    no changes\n", "  shop-de    failed: ", "--allow-deletes 6"]);
    assert_eq!(world.segments("shop-de").len(), 7);
    world.good(&["apply", "--target", "*-de", "--yes", "--allow-deletes", "6"]);
    assert_eq!((world.segments("shop-de").len(), world.segments("cafe-de").len()), (1, 7));
}

/// The first lists of segments are so slow that another run can start meanwhile.
fn slow_lists(number: usize) -> String {
    format!("[[fault]]\nkind = \"delay\"\nms = 5000\nmethod = \"GET\"\npath = \"/api/segments\"\ntimes = {number}\n")
}

#[test]
fn plans_that_somebody_overtook_are_made_anew_and_take_nothing_for_nobodys() {
    let world = World::faulty(MANIFEST, &["cafe-de", "shop-de"], &slow_lists(2));
    let slow = world.start(&["apply", "--target", "*-de", "--yes"]);
    sleep(Duration::from_millis(1500));
    world.good(&["apply", "--target", "*-de", "--yes"]);
    let ran = ended(slow);
    assert_eq!(ran.code, 0, "{ran}");
    for target in ["cafe-de", "shop-de"] {
        says(&ran.stderr, &[&format!("{target}: Another run came first. Planning again.")]);
    }
    says(&ran.stdout, &["2 targets, none with changes."]);
    assert_eq!(world.service.writes(), ["POST /api/segments"; 4]);
}

#[test]
fn who_waits_plans_a_target_anew_whose_first_record_somebody_else_got() {
    let world = World::faulty(MANIFEST, &["cafe-de", "shop-de"], &slow_lists(1));
    // One target is planned, and waits for the plan of the other.
    let slow = world.start(&["apply", "--target", "*-de", "--yes", "--wait", "1m"]);
    sleep(Duration::from_millis(2500));
    world.good(&["apply", "--target", "*-de", "--yes"]);
    let ran = ended(slow);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(ran.stderr.matches("Another run came first. Planning again.").count(), 2, "{ran}");
    assert_eq!(world.service.writes(), ["POST /api/segments"; 4]);
}

#[test]
fn saved_plans_of_several_targets_are_files_of_a_folder() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    let ran = world.good(&["plan", "--target", "*-de", "--out", "plans"]);
    says(&ran.stdout, &["Next: pushplan apply plans\n"]);
    world.good(&["apply", "plans/shop-de.plan"]);
    assert_eq!((world.segments("shop-de").len(), world.segments("cafe-de").len()), (2, 0));
    world.project.folder.write("taken", "");
    let ran = world.run(&["plan", "--target", "*-de", "--out", "taken"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["taken is a file", "write to a folder: --out DIR"]);
}

#[test]
fn several_targets_have_a_page_each_in_a_folder() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    for asked in [&["--format", "html"][..], &["--format", "html", "--out", "report.html"]] {
        let ran = world.run(&[&["plan", "--target", "*-de"], asked].concat());
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["a page shows one target", "--format html --out DIR"]);
    }
    let ran = world.run(&["plan", "--all-targets", "--format", "html", "--out", "pages", "--format", "text"]);
    assert_eq!(ran.code, 4, "the others are shown all the same: {ran}");
    says(&ran.stderr, &["Wrote 2 pages to pages"]);
    says(&ran.stdout, &["The same change on 2 targets: cafe-de, shop-de"]);
    for target in ["cafe-de", "shop-de"] {
        let one = world.good(&["plan", "--target", target, "--format", "html"]);
        let page = world.project.folder.read(&format!("pages/{target}.html"));
        says(&page, &[&format!("<title>Plan for {target}</title>"), "Wichtig"]);
        assert_eq!(page.matches("<article").count(), one.stdout.matches("<article").count());
    }
    assert!(!world.project.folder.path().join("pages/shop-us.html").exists());
}

#[test]
fn a_folder_of_saved_plans_is_applied_as_a_whole() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de", "shop-us"]);
    world.good(&["plan", "--target", "*-de,shop-us", "--out", "plans"]);
    world.project.folder.write("plans/notes.txt", "looked at");
    let ran = world.run(&["apply", "plans", "--target", "shop-de"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["omit --target", "pushplan apply plans/NAME.plan"]);

    // There is no question about plans that were reviewed, and a stale plan keeps the others from being started.
    world.good(&["apply", "plans/shop-us.plan"]);
    let ran = world.run(&["apply", "plans"]);
    assert_eq!(ran.code, 5, "{ran}");
    says(
        &ran.stdout,
        &[
            "  cafe-de    not begun\n",
            "  shop-us    failed: the plan is stale: another apply has run",
            "To continue without repeating finished steps:\npushplan apply --target cafe-de --target shop-de --target shop-us\n",
        ],
    );
    assert_eq!(world.segments("cafe-de"), vec![]);
    let ran = world.run(&["apply", "plans", "--on-error", "continue", "--format", "json"]);
    assert_eq!(ran.code, 6, "{ran}");
    let told = checked(&ran, REPORTS);
    let fates: Vec<&str> =
        told["targets"].as_array().expect("a list").iter().map(|it| it["fate"].as_str().expect("a word")).collect();
    assert_eq!(fates, ["applied", "applied", "failed"]);
    assert_eq!((world.segments("shop-de").len(), world.segments("cafe-de").len()), (2, 2));

    // An edited plan blocks all of them, and so does a target with two plans.
    let text = world.project.folder.read("plans/cafe-de.plan");
    world.project.folder.write("plans/cafe-de.plan", text.replace("\"vip\"", "\"vap\""));
    let ran = world.run(&["apply", "plans"]);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["the plan plans/cafe-de.plan was changed after it was saved"]);
    world.project.folder.write("plans/cafe-de.plan", &text);
    world.project.folder.write("plans/more.plan", &text);
    let ran = world.run(&["apply", "plans"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["plans holds two plans for the target cafe-de"]);
    let ran = world.good(&["plan", "--target", "*-de", "--out", "plans"]);
    says(&ran.stderr, &["plans also has earlier plans: more.plan and shop-us.plan"]);
    let ran = world.run(&["apply", "src-of-nothing"]);
    assert_eq!(ran.code, 1, "{ran}");
    std::fs::create_dir(world.project.folder.path().join("empty")).expect("a folder");
    let ran = world.run(&["apply", "empty"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["empty is a folder without a plan"]);
}

#[test]
fn what_somebody_did_is_told_of_each_target() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    world.good(&["apply", "--target", "*-de", "--yes"]);
    let made = json!({"display_name": "Blue", "criteria": {"tag": "blue"}});
    world.ask("shop-de", Method::POST, "/api/segments", Some(&made));
    let ran = world.run(&["drift", "--target", "*-de", "--detailed-exitcode"]);
    assert_eq!(ran.code, 2, "{ran}");
    says(
        &ran.stdout,
        &[
            "  cafe-de    no drift\n",
            "  shop-de    1 added, 2 unchanged\n",
            "Blue",
            "2 targets: 1 with drift, 1 without drift.",
        ],
    );
    assert_eq!(checked(&world.run(&["drift", "--target", "*-de", "--format", "json"]), DRIFTS)["drifted"], true);
}

#[test]
fn two_targets_of_one_application_are_refused() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    let (key, secret) = (key("cafe-de"), secret("cafe-de"));
    let env = [
        ("PUSHPLAN_ORIGIN", world.service.origin.as_str()),
        ("PUSHPLAN_APP_KEY", &key),
        ("PUSHPLAN_MASTER_SECRET", &secret),
    ];
    let ran = world.project.run_as(&["apply", "--target", "*-de", "--yes", "--on-error", "continue"], &env);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stdout, &["`cafe-de` and `shop-de` are the same application"]);
    assert_eq!(world.segments("cafe-de"), vec![]);
}

/// Staging and production, each with its own variable.
fn two(manifest: &str) -> World {
    let world = World::with(manifest, &["shop-de", "shop-us"], "");
    let origin = &world.service.origin;
    let target = |name: &str, of: &str| {
        format!(
            "[targets.{name}]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\nsettle = \"1s\"\nsend_within = \"2s\"\n[targets.{name}.variables]\nof = \"{of}\"\n"
        )
    };
    world.project.folder.write("pushplan.toml", target("staging", "test") + &target("production", "live"));
    let section = |name: &str, app: &str| {
        format!("[\"{origin}\".{name}]\napp_key = \"{}\"\nmaster_secret = \"{}\"\n", key(app), secret(app))
    };
    world.project.folder.write("credentials", section("staging", "shop-de") + &section("production", "shop-us"));
    world
}

#[test]
fn production_gets_what_staging_has_with_its_own_values_and_nothing_that_is_newer() {
    let world = two("segments:\n  a: {criteria: {tag: \"a-${var.of}\"}}\n  b: {criteria: {tag: b}}\n");
    let promote = ["promote", "--from", "staging", "--to", "production"];
    let ran = world.run(&promote);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["nothing was applied to `staging` yet", "pushplan apply --target staging"]);

    world.good(&["apply", "--target", "staging", "--yes"]);
    // Git continues: b has other content, and c is new.
    world.project.write(
        "segments:\n  a: {criteria: {tag: \"a-${var.of}\"}}\n  b: {criteria: {tag: b2}}\n  c: {criteria: {tag: c}}\n",
    );
    let ran = world.good(&promote);
    says(
        &ran.stdout,
        &[
            "+ segments/a",
            "tag a-live",
            "+ segments/b",
            "tag b\n",
            "segments/b: your latest version is not on staging yet; the version on staging is promoted",
            "segments/c: not on staging yet\n",
            "Next: pushplan promote --from staging --to production --yes",
        ],
    );
    assert!(!ran.stdout.contains("a-test") && !ran.stdout.contains("tag b2"), "{ran}");
    assert_eq!(world.segments("shop-us"), vec![], "without --yes nothing is changed");

    world.good(&[&promote[..], &["--yes"]].concat());
    assert_eq!(world.segments("shop-us"), vec![("a".into(), tag("a-live")), ("b".into(), tag("b"))]);
    // Production keeps its state, even if git has edited it and staging does not have the edit yet.
    world.good(&["apply", "--target", "staging", "--yes"]);
    world.good(&[&promote[..], &["--yes"]].concat());
    let all = vec![("a".into(), tag("a-live")), ("b".into(), tag("b2")), ("c".into(), tag("c"))];
    assert_eq!(world.segments("shop-us"), all);
    world.project.write("segments:\n  a: {criteria: {tag: \"a3-${var.of}\"}}\n  b: {criteria: {tag: b2}}\n");
    says(
        &world.good(&promote).stdout,
        &[
            "No changes. production may differ from staging: 1 resource is blocked.",
            "segments/c: its removal is not on staging yet",
        ],
    );
    // A resource that staging removed is removed.
    world.good(&["apply", "--target", "staging", "--yes"]);
    let saved = [&promote[..], &["--out", "promoted.plan"]].concat();
    says(&world.good(&saved).stdout, &["- segments/c", "a3-live"]);
    world.good(&["apply", "promoted.plan"]);
    assert_eq!(world.segments("shop-us"), vec![("a".into(), tag("a3-live")), ("b".into(), tag("b2"))]);
    let ran = world.run(&["promote", "--from", "staging", "--to", "staging"]);
    assert_eq!(ran.code, 64, "{ran}");
}
