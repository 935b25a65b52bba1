//! Unmanaged resources of the service: counted by plans, listed, ignored, or deleted if the target prunes them.

use jiff::Timestamp;
use pushplan_testing::{Project, Ran, Service, changes, says, stand_in};
use serde_json::{Value, json};

const OURS: &str = "segments:\n  a: {criteria: {tag: a}}\n";

/// A service without any device, so that it has no tags either, and a project that was applied to it.
fn applied(manifest: &str, settings: &str) -> (Project, Service) {
    let project = Project::with(manifest, settings);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    (project, service)
}

fn template(service: &Service, name: &str) -> String {
    let push = json!({"notification": {"alert": "Hi"}});
    let made = service.post("/api/templates", &json!({"name": name, "variables": [], "push": push}));
    made["template_id"].as_str().expect("an id").to_owned()
}

/// Schedules a push for the segment.
fn push(service: &Service, name: &str, time: &str, segment: &str) -> String {
    let push = json!({"audience": {"segment": segment}, "device_types": ["ios"], "notification": {"alert": "Theirs"}});
    let body = json!({"name": name, "schedule": {"scheduled_time": time}, "push": push});
    service.post("/api/schedules", &body)["schedule_ids"][0].as_str().expect("an id").to_owned()
}

fn pipeline(service: &Service, name: &str, tag: &Value) {
    let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Theirs"}});
    let body =
        json!({"name": name, "enabled": true, "immediate_trigger": {"tag_added": tag}, "outcome": {"push": push}});
    service.post("/api/pipelines", &body);
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// The output of a command on one line.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn last_line(ran: &Ran) -> &str {
    ran.stdout.lines().last().unwrap_or_default()
}

#[test]
fn a_plan_ends_with_what_is_not_in_git_in_every_form() {
    let (project, service) = applied(OURS, "");
    assert_eq!(last_line(&project.good(&["plan"])), "No changes. local matches your files (1 resource).");
    assert_eq!(json_of(&project.good(&["plan", "--format", "json"]))["unmanaged"], json!([]));
    service.segment("Old one", "x");
    service.segment("Old two", "x");
    template(&service, "Old");
    let line = "Not in git: 2 segments, 1 template; pushplan unmanaged lists them.";
    let ran = project.good(&["plan"]);
    assert_eq!(ran.stdout, format!("No changes. local matches your files (1 resource).\n{line}\n"));
    assert_eq!(project.run(&["plan", "--detailed-exitcode"]).code, 0, "that is no change");
    let told = "Not in git: 2 segments, 1 template; `pushplan unmanaged` lists them.";
    assert_eq!(last_line(&project.good(&["plan", "--format", "markdown"])), told);
    says(
        &project.good(&["plan", "--format", "html"]).stdout,
        &["Not in git: 2 segments, 1 template; <code>pushplan unmanaged</code> lists them."],
    );
    // A plan with changes ends with it too.
    project.edit("tag: a", "tag: b");
    assert_eq!(last_line(&project.good(&["plan"])), line);
    assert_eq!(last_line(&project.good(&["plan", "--format", "markdown"])), told);
    let plan = json_of(&project.good(&["plan", "--format", "json"]));
    let counts = json!([
        {"kind": "segments", "count": 2, "or_more": false},
        {"kind": "templates", "count": 1, "or_more": false},
    ]);
    assert_eq!((&plan["unmanaged"], &plan["unlisted"]), (&counts, &json!([])));
    let digest = plan["digest"].clone();
    template(&service, "Another");
    assert_eq!(json_of(&project.good(&["plan", "--format", "json"]))["digest"], digest, "the plan is the same one");
    let ran = project.good(&["apply", "--yes"]);
    assert!(!ran.stdout.contains("Not in git"), "{ran}");
    let ran = project.run(&["destroy"]);
    assert!(!ran.stdout.contains("Not in git"), "{ran}");
    // A suggested command repeats the given options.
    let ran = project.good(&["plan", "--target", "local"]);
    assert!(last_line(&ran).contains("pushplan unmanaged --target local lists them"), "{ran}");
}

#[test]
fn what_is_declared_and_not_ours_yet_is_told_by_the_plan_alone() {
    let project = Project::new(OURS);
    let service = project.serve();
    service.segment("a", "a");
    let ran = project.refused(&[]);
    says(&ran.stdout, &["already has an unmanaged segment with this name"]);
    assert!(!ran.stdout.contains("Not in git"), "{ran}");
}

#[test]
fn a_list_shows_what_there_is_with_its_users_and_how_to_go_on() {
    let (project, service) = applied(OURS, "");
    let base = service.segment("Old base", "x");
    service.segment("Test", "x");
    let used = push(&service, "Sale", "2035-01-01T10:00:00", &base);
    project.write(&format!("segments:\n  a: {{criteria: {{and: [{{tag: a}}, {{segment: {{id: {base}}}}}]}}}}\n"));
    project.good(&["apply", "--yes"]);
    service.forget();
    let ran = project.good(&["unmanaged"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    says(&ran.stdout, &["2 segments\n", "1 scheduled push\n"]);
    says(
        &flat(&ran),
        &[
            "segments/old-base \"Old base\"",
            &base,
            "used by segments/a and unmanaged scheduled push \"Sale\"",
            "scheduled_pushes/sale \"Sale\"",
            &used,
            "3 resources on local are not in git.",
            "To add one to git: pushplan pull scheduled_pushes/sale",
            "ignore_unmanaged = [\"scheduled_pushes/Sale\"]",
            "Not listed: members of tag groups, named users and open channels; they are data of single people.",
        ],
    );
    let year = Timestamp::now().strftime("%Y").to_string();
    let made = ran.stdout.lines().find(|line| line.contains("made ")).unwrap_or_default();
    assert!(made.contains(&year), "{ran}");
    let list = json_of(&project.good(&["unmanaged", "--format", "json"]));
    assert_eq!(list["counts"], json!({"scheduled_pushes": 1, "segments": 2}));
    let thing = &list["things"][1];
    assert_eq!(
        (&thing["address"], &thing["name"], &thing["id"]),
        (&json!("segments/old-base"), &json!("Old base"), &json!(base))
    );
    assert!(thing["made"].as_str().is_some_and(|made| made.starts_with(&year)), "{list}");
    assert_eq!(thing["used_by"], json!(["segments/a", format!("unmanaged scheduled push \"Sale\" ({used})")]));
}

#[test]
fn a_list_is_of_the_kinds_and_names_that_are_asked_for() {
    let (project, service) = applied(OURS, "");
    service.segment("Old one", "x");
    service.segment("New one", "x");
    template(&service, "Old");
    let addresses = |arguments: &[&str]| -> Vec<String> {
        let list = json_of(&project.good(&[&["unmanaged", "--format", "json"], arguments].concat()));
        let things = list["things"].as_array().expect("a list");
        things.iter().map(|thing| thing["address"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(addresses(&[]), ["segments/new-one", "segments/old-one", "templates/old"]);
    assert_eq!(addresses(&["segments"]), ["segments/new-one", "segments/old-one"]);
    assert_eq!(addresses(&["segments/Old *"]), ["segments/old-one"]);
    assert_eq!(addresses(&["segments/old-one", "templates"]), ["segments/old-one", "templates/old"]);
    assert_eq!(addresses(&["*/Old*"]), ["segments/old-one", "templates/old"]);
    says(
        &project.good(&["unmanaged", "pipelines"]).stdout,
        &["All resources that pushplan can list on local are in git."],
    );
    for (which, words) in [
        ("segment", "did you mean `segments`?"),
        ("named_users", "named users are not listed: they are data of single people"),
        ("open_channels/x", "pushplan pull open_channels"),
    ] {
        let ran = project.run(&["unmanaged", which]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &[words]);
    }
}

#[test]
fn names_that_are_alike_or_strange_have_addresses_of_their_own() {
    let (project, service) = applied(OURS, "");
    for name in ["a", "Same", "Same", "😀", "../b/c", "\u{202e}evil"] {
        service.segment(name, "x");
    }
    let ran = project.good(&["unmanaged"]);
    says(&ran.stdout, &["segments/a-", "segments/same-", "segments/segment-", "segments/b-c "]);
    assert_eq!(ran.stdout.matches("segments/same-").count(), 2, "{ran}");
    assert!(!ran.stdout.contains('\u{202e}'), "{ran}");
    assert_eq!(project.good(&["unmanaged"]).stdout, ran.stdout, "the same list has the same addresses");
}

#[test]
fn a_name_is_shown_as_it_is_and_left_alone_by_itself() {
    let (project, service) = applied(OURS, "prune = {segments = true}\n");
    let long = "long name ".repeat(9);
    for name in ["M*", "\u{7}bell", &long] {
        service.segment(name, "x");
    }
    let ran = project.good(&["unmanaged"]);
    says(&ran.stdout, &["segments/bell  \"\\x07bell\" "]);
    let shown = ran.stdout.lines().position(|line| line.contains("segments/long-name")).expect("a line");
    assert!(ran.stdout.lines().nth(shown + 1).is_some_and(|line| line.starts_with("    ")), "{ran}");
    let ran = project.good(&["unmanaged", "segments/M*"]);
    says(&flat(&ran), &["1 of them is of a kind deleted by `prune`"]);
    let told = ran.stdout.lines().find_map(|line| line.split_once("ignore_unmanaged")).expect("a line").1;
    let toml = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{toml}ignore_unmanaged{told}\n"));
    service.segment("Mine", "x");
    let ran = project.good(&["unmanaged"]);
    assert!(!ran.stdout.contains("M*"), "{ran}");
    says(&ran.stdout, &["segments/mine", "1 more is ignored"]);
}

#[test]
fn what_is_ignored_is_counted_and_a_pattern_for_nothing_is_a_note() {
    let (project, service) = applied(OURS, "ignore_unmanaged = [\"templates/*\"]\n");
    service.segment("Test one", "x");
    service.segment("Test two", "x");
    template(&service, "Old");
    assert_eq!(last_line(&project.good(&["plan"])), "Not in git: 2 segments; pushplan unmanaged lists them.");
    let toml = project.folder.read("pushplan.toml");
    let with = |patterns: &str| format!("[project]\nignore_unmanaged = {patterns}\n{toml}");
    project.folder.write("pushplan.toml", with("\"segments/Test *\""));
    let ran = project.good(&["plan"]);
    assert!(!ran.stdout.contains("Not in git"), "{ran}");
    let ignored =
        "All resources that pushplan can list on local are in git. 3 resources are ignored by\nignore_unmanaged.";
    says(&project.good(&["unmanaged"]).stdout, &[ignored]);
    project.folder.write("pushplan.toml", with("[\"segments/* one\", \"pipelines/x\"]"));
    let ran = project.good(&["unmanaged"]);
    says(
        &ran.stdout,
        &[
            "1 resource on local is not in git. 2 more are ignored by ignore_unmanaged.",
            "note: \"pipelines/x\" (pushplan.toml:2) of ignore_unmanaged matches nothing.",
        ],
    );
    assert_eq!(ran.stdout.matches("note:").count(), 1, "{ran}");
    let list = json_of(&project.good(&["unmanaged", "--format", "json"]));
    assert_eq!(
        (&list["ignored"], &list["idle_patterns"]),
        (&json!(2), &json!([{"pattern": "pipelines/x", "line": 2}]))
    );
}

#[test]
fn what_this_level_cannot_list_is_said() {
    let project = Project::documented(OURS);
    let _service = project.serve();
    says(
        &flat(&project.good(&["unmanaged"])),
        &["Not listed: scheduled pushes and experiments; the documented API cannot list them."],
    );
    let list = json_of(&project.good(&["unmanaged", "--format", "json", "scheduled_pushes"]));
    assert_eq!(list["unlisted"][0]["kind"], "scheduled_pushes");
}

#[test]
fn a_wrong_word_in_the_project_file_is_found() {
    let project = Project::new(OURS);
    for (settings, words) in [
        ("ignore_unmanaged = \"segment/Test *\"\n", "did you mean `segments`?"),
        ("ignore_unmanaged = \"*\"\n", "write `*/*`"),
        ("ignore_unmanaged = \"Test*\"\n", "write `*/Test*` for every kind"),
        ("ignore_unmanaged = \"segments\"\n", "did you mean `segments/*`?"),
        ("ignore_unmanaged = \"named_users/*\"\n", "named users are never listed"),
        ("prune = {segment = true}\n", "did you mean `segments`?"),
        ("prune = {segments = \"yes\"}\n", "expected true or false"),
        ("[targets.local.prune]\nnamed_users = true\n", "named users cannot be pruned: the service does not list them"),
        ("prune = {tag_groups = true}\n", "tag groups cannot be pruned"),
        ("api = \"documented\"\nprune = {experiments = true}\n", "the API of this target cannot list them"),
    ] {
        project.folder.write("pushplan.toml", format!("[targets.local]\n{settings}"));
        let ran = project.run(&["validate"]);
        assert_eq!(ran.code, 3, "{settings}: {ran}");
        says(&ran.stdout, &[words]);
        assert_eq!(project.run(&["plan"]).code, 3, "{settings}");
    }
    let right = "[project]\nignore_unmanaged = [\"*/Test*\", \"segments/a/b\", \"*/*\"]\n[targets.local]\n\
                 api = \"documented\"\n[targets.local.prune]\nsegments = true\npipelines = true\nopen_channels = false\n";
    project.folder.write("pushplan.toml", right);
    project.good(&["validate"]);
}

#[test]
fn what_is_pruned_is_shown_guarded_and_deleted_in_one_run() {
    let (project, service) =
        applied(OURS, "prune = {segments = true, templates = true}\nignore_unmanaged = \"segments/Keep*\"\n");
    let id = service.segment("Old", "x");
    service.segment("Keep me", "x");
    template(&service, "Old");
    pipeline(&service, "Theirs", &json!("vip"));
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["- segments/old", "- templates/old"]);
    says(&flat(&ran), &["not in your files", "pruned not in your files", "prune.segments of local deletes it"]);
    says(&ran.stdout, &[&format!("DELETE /api/segments/{id}"), "Plan: 2 to delete, 1 unchanged."]);
    assert_eq!(last_line(&ran), "Not in git: 1 pipeline; pushplan unmanaged lists it.");
    says(&project.good(&["plan", "--format", "markdown"]).stdout, &["not in your files", "segments/old"]);
    says(&project.good(&["plan", "--format", "html"]).stdout, &["not in your files", "segments/old"]);
    let plan = json_of(&project.good(&["plan", "--format", "json"]));
    assert_eq!(plan["changes"][0]["reasons"][0]["reason"], "pruned");
    says(&project.good(&["unmanaged"]).stdout, &["of kinds deleted by `prune`"]);
    // Only the ledger determines the managed resources.
    let ran = project.run(&["destroy"]);
    assert_eq!(changes(&ran), ["- segments/a"]);
    service.forget();
    let ran = project.good(&["apply", "--yes"]);
    says(&ran.stdout, &["2 deleted."]);
    let writes = service.writes();
    assert_eq!((writes.len(), writes.iter().all(|it| it.starts_with("DELETE "))), (2, true), "{writes:?}");
    assert_eq!((service.segments(), service.templates()), (vec!["Keep me".into(), "a".into()], Vec::new()));
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["No changes."]);
    says(&project.good(&["history"]).stdout, &["2 deleted"]);
    // Many are too many.
    for number in 0..6 {
        service.segment(&format!("Old {number}"), "x");
    }
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["6 deletions (6 of 7 in segments (85 %)); the limit is 5", "--allow-deletes 6"]);
    assert_eq!(service.segments().len(), 8);
    let ran = project.good(&["apply", "--yes", "--only", "segments/old-1", "--only", "segments/a"]);
    says(&ran.stdout, &["1 deleted."]);
    project.good(&["apply", "--yes", "--allow-deletes", "5"]);
    assert_eq!(service.segments(), ["Keep me", "a"]);
}

#[test]
fn a_saved_plan_prunes_exactly_what_it_showed() {
    let (project, service) = applied(OURS, "prune = {segments = true}\n");
    service.segment("Old", "x");
    project.good(&["plan", "--out", "saved.plan"]);
    service.segment("Made since", "x");
    let ran = project.run(&["apply", "saved.plan"]);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["segments/made-since is planned differently now"]);
    assert_eq!(service.segments(), ["Made since", "Old", "a"]);
    project.good(&["plan", "--out", "saved.plan", "--except", "segments/made-since"]);
    project.good(&["apply", "saved.plan"]);
    assert_eq!(service.segments(), ["Made since", "a"]);
}

#[test]
fn a_segment_that_somebody_elses_push_points_at_is_not_pruned_until_it_went_out() {
    let (project, service) = applied(OURS, "prune = {segments = true}\n");
    let id = service.segment("Old", "x");
    let sale = push(&service, "Sale", "2035-01-01T10:00:00", &id);
    let above = service.post("/api/segments", &json!({"display_name": "Above", "criteria": {"segment": id}}));
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["- segments/above", "! segments/old"]);
    says(&flat(&ran), &["held", "unmanaged scheduled push \"Sale\"", "still uses it"]);
    project.manual(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["Old", "a"], "{above}");
    service.delete(&format!("/api/schedules/{sale}"));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn a_pipeline_that_cannot_be_removed_is_left_to_people() {
    let (project, service) = applied(OURS, "api = \"documented\"\nprune = {pipelines = true}\n");
    pipeline(&service, "Theirs", &json!("vip"));
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! pipelines/theirs"]);
    says(&ran.stdout, &["this API cannot remove a pipeline (AP102)", "pushplan pull pipelines/theirs"]);
    assert!(!ran.stdout.contains("--done"), "{ran}");
    service.forget();
    project.manual(&["apply", "--yes"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_crash_between_taking_over_and_deleting_leaves_nothing_behind() {
    let project = Project::with(OURS, "prune = {segments = true}\n");
    let service = project.faulty("[[fault]]\nkind = \"status\"\nstatus = 500\nmethod = \"DELETE\"\ntimes = 5\n");
    project.good(&["apply", "--yes"]);
    service.segment("Old", "x");
    assert_eq!(project.run(&["apply", "--yes"]).code, 6);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
    says(&project.good(&["plan"]).stdout, &["No changes."]);
}

#[test]
fn somebody_elses_pipelines_and_pushes_are_seen_also_where_the_project_has_none() {
    let manifest =
        "tag_groups:\n  loyalty: {members: {named_users: {u-1: [gold]}}}\nsegments:\n  a: {criteria: {tag: a}}\n";
    let project = Project::new(manifest);
    let service = project.serve();
    let ios = "11111111-2222-4333-8444-555555555555";
    service.put(&format!("/local/devices/{ios}"), &json!({"device_type": "ios"}));
    service
        .post("/api/named_users/associate", &json!({"channel_id": ios, "device_type": "ios", "named_user_id": "u-1"}));
    project.good(&["apply", "--yes"]);
    pipeline(&service, "Welcome", &json!({ "tag": "vip", "group": "loyalty" }));
    project.edit("[gold]", "[gold, vip]");
    let ran = project.refused(&[]);
    says(&ran.stdout, &["SENDS", "unmanaged pipeline \"Welcome\""]);
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    project.good(&["apply", "--yes", "--allow-sends"]);
    // An unmanaged scheduled push uses a managed segment.
    push(&service, "Theirs", "2035-01-01T10:00:00", &service.segment_id("a"));
    project.write("tag_groups:\n  loyalty: {members: {named_users: {u-1: [gold, vip]}}}\n");
    let ran = project.good(&["plan"]);
    assert_eq!(changes(&ran), ["! segments/a"]);
    says(&flat(&ran), &["held", "unmanaged scheduled push \"Theirs\""]);
}

const EMPTY: &str = r#"{"segments": [], "templates": [], "pipelines": [], "tags": []}"#;

fn far(project: &Project, origin: &str, arguments: &[&str]) -> Ran {
    project.folder.write(
        "pushplan.toml",
        format!("[targets.far]\nbase_url = \"{origin}\"\nledger = \"file:\"\nsettle = \"1s\"\n"),
    );
    let env = [("PUSHPLAN_ORIGIN", origin), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "secret")];
    project.run_as(arguments, &env)
}

#[test]
fn a_list_that_nobody_needs_may_fail_and_the_plan_says_so() {
    for (status, told) in [
        ("403 Forbidden", "HTTP 403: No"),
        ("401 Unauthorized", "HTTP 401: No"),
        ("404 Not Found", "HTTP 404: No"),
        ("400 Bad Request", "HTTP 400: No"),
    ] {
        let origin = stand_in(move |request| match request.contains("/api/pipelines") {
            true => (status, "application/json", r#"{"ok": false, "error": "No"}"#),
            false => ("200 OK", "application/json", EMPTY),
        });
        let project = Project::new(OURS);
        let ran = far(&project, &origin, &["plan"]);
        assert_eq!(ran.code, 0, "{status}: {ran}");
        assert_eq!(changes(&ran), ["+ segments/a"]);
        says(&flat(&ran), &["The unmanaged pipelines are unknown: GET /api/pipelines?enabled=", told]);
        let plan = json_of(&far(&project, &origin, &["plan", "--format", "json"]));
        assert_eq!(plan["unlisted"][0]["kind"], "pipelines", "{status}");
        says(&far(&project, &origin, &["unmanaged"]).stdout, &["The pipelines on the service are unknown"]);
        // The kinds that the project uses have to be known.
        project.write("pipelines:\n  q: {enabled: true, immediate_trigger: {tag_added: v}, outcome: {push: {device_types: [ios], notification: {alert: A}}}}\n");
        assert_ne!(far(&project, &origin, &["plan"]).code, 0, "{status}");
    }
}

#[test]
fn an_answer_that_makes_no_sense_is_no_list() {
    let origin = stand_in(|request| match request.contains("/api/templates") {
        true => ("200 OK", "application/json", r#"{"templates": [{"name": "without an id"}]}"#),
        false => ("200 OK", "application/json", EMPTY),
    });
    let project = Project::new(OURS);
    let ran = far(&project, &origin, &["plan"]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&flat(&ran), &["The unmanaged templates are unknown"]);
}

#[test]
fn what_cannot_be_listed_is_not_pruned() {
    let origin = stand_in(|request| match request.contains("/api/templates") {
        true => ("403 Forbidden", "application/json", r#"{"ok": false, "error": "No"}"#),
        false => ("200 OK", "application/json", EMPTY),
    });
    let project = Project::new(OURS);
    far(&project, &origin, &["plan"]);
    let toml = project.folder.read("pushplan.toml") + "prune = {templates = true}\n";
    project.folder.write("pushplan.toml", toml);
    let env = [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", "key"), ("PUSHPLAN_MASTER_SECRET", "secret")];
    let ran = project.run_as(&["plan"], &env);
    assert_eq!(changes(&ran), ["+ segments/a"]);
    says(&flat(&ran), &["The unmanaged templates are unknown"]);
}

#[test]
fn where_pushes_cannot_be_listed_a_pruned_segment_says_so() {
    let (project, service) = applied(OURS, "api = \"documented\"\nprune = {segments = true}\n");
    service.segment("Theirs", "x");
    let ran = project.good(&["plan"]);
    says(
        &flat(&ran),
        &["- segments/theirs", "this API cannot list scheduled pushes", "check that none of them names it"],
    );
}

#[test]
fn what_could_not_be_pruned_is_still_somebody_elses() {
    let project = Project::with(OURS, "prune = {templates = true}\n");
    let service = project.faulty("[[fault]]\nkind = \"status\"\nstatus = 503\nmethod = \"DELETE\"\n");
    let theirs = json!({"name": "Theirs", "push": {"notification": {"alert": "Hello"}}});
    service.post("/api/templates", &theirs);
    assert_ne!(project.run(&["apply", "--yes"]).code, 0, "the deletion fails");
    let toml = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", toml.replace("prune = {templates = true}\n", ""));
    assert_eq!(project.changes(&[]), [""; 0], "nobody asks for its deletion any more");
    let manifest = project.folder.read("messages.yaml");
    assert!(!manifest.contains("templates:"), "{manifest}");
    project
        .write(&format!("{manifest}templates:\n  theirs: {{name: Theirs, push: {{notification: {{alert: Mine}}}}}}\n"));
    let ran = project.run(&["plan"]);
    says(&flat(&ran), &["templates/theirs", "pushplan adopt templates/theirs"]);
    assert!(!ran.stdout.contains("~ templates/theirs"), "it is not rewritten: {ran}");
    // Asked for again, it is deleted as any other.
    project.write(&manifest);
    project.folder.write("pushplan.toml", toml);
    assert_eq!(project.changes(&[]).len(), 1);
}
