//! The component for GitLab: its form, and its scripts as GitLab's runner runs them.

use std::collections::BTreeMap;

use pushplan_testing::hosts::Kind;
use pushplan_testing::{Ran, Service, says};
use serde_json::Value;

use crate::team::{Env, Team, outside, ran};
use crate::yaml::{documents, own, scripts, texts};

/// The inputs, and the jobs.
fn component() -> (Value, Value) {
    let mut all = documents(&own("templates/pushplan.yml").replace("$[[ inputs.suffix ]]", ""));
    assert_eq!(all.len(), 2, "a header and a configuration");
    let jobs = all.pop().expect("jobs");
    (all.pop().expect("a header"), jobs)
}

/// A text with inputs filled in.
fn filled(text: &str, inputs: &BTreeMap<String, String>) -> String {
    inputs.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("$[[ inputs.{name} ]]"), value))
}

#[test]
fn the_component_follows_the_rules_of_its_host() {
    let (header, jobs) = component();
    let inputs = header["spec"]["inputs"].as_object().expect("inputs");
    for (name, input) in inputs {
        for (key, value) in input.as_object().expect("a map") {
            assert!(["default", "description", "options", "regex", "type"].contains(&key.as_str()), "{name}: {key}");
            let text = value.as_str().or(value[0].as_str());
            assert!(text.is_some_and(|text| !text.contains('$') || key == "regex"), "{name}: {value}");
        }
        let default = &input["default"];
        assert!(default.is_string(), "{name} can be left out");
        assert!(input["options"].as_array().is_none_or(|options| options.contains(default)), "{name}");
    }
    assert_eq!(inputs["version"]["default"], env!("CARGO_PKG_VERSION"));
    let image = inputs["image"]["default"].as_str().expect("an image");
    let digest = image.split_once("@sha256:").map(|(_, digest)| digest).expect("an image with a digest");
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{image}");
    let keys = [
        "artifacts",
        "before_script",
        "cache",
        "extends",
        "image",
        "interruptible",
        "resource_group",
        "rules",
        "script",
        "stage",
        "variables",
    ];
    for (name, job) in jobs.as_object().expect("jobs") {
        for key in job.as_object().expect("a job").keys() {
            assert!(keys.contains(&key.as_str()), "{name}: {key}");
        }
        if !name.starts_with('.') {
            assert_eq!(job["extends"], ".pushplan");
            assert!(job["rules"].as_array().is_some_and(|rules| !rules.is_empty()), "{name} runs when it should");
            assert!(job["script"].as_array().is_some_and(|lines| !lines.is_empty()), "{name}");
        }
    }
    // Every named input exists, and no shell reads any of them.
    texts(&jobs, &mut Vec::new(), &mut |keys, text| {
        for part in text.split("$[[").skip(1) {
            let name = part.split("]]").next().unwrap_or_default().trim().trim_start_matches("inputs.");
            assert!(inputs.contains_key(name), "{keys:?}: {text}");
        }
    });
    let scripts = scripts(&jobs);
    assert_eq!(scripts.len(), 6);
    for (place, script) in scripts {
        assert!(!script.contains("$[["), "{place}: {script}");
        // Texts that outsiders write.
        for name in
            ["CI_COMMIT_MESSAGE", "CI_COMMIT_TITLE", "CI_COMMIT_REF", "CI_MERGE_REQUEST_TITLE", "CI_COMMIT_BRANCH"]
        {
            assert!(!script.contains(name), "{place}: {name}");
        }
    }
    assert_eq!(jobs["pushplan-plan"]["interruptible"], true, "a newer commit has a plan of its own");
    // Only one job may apply at a time.
    assert_eq!(
        (&jobs["pushplan-apply"]["resource_group"], &jobs["pushplan-apply"]["interruptible"]),
        (&"pushplan".into(), &false.into())
    );
}

/// Runs a job's scripts as one script, in the checkout.
pub fn job(team: &Team, name: &str, inputs: &[(&str, &str)], env: &Env) -> Ran {
    if !team.project.folder.path().join(".git").exists() {
        git(team, &["init", "-q", "-b", "main"]);
    }
    let (header, jobs) = component();
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    for (name, input) in header["spec"]["inputs"].as_object().expect("inputs") {
        given.insert(name.clone(), input["default"].as_str().expect("a default").to_owned());
    }
    given.extend(inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let lines = [&jobs[".pushplan"]["before_script"], &jobs[name]["script"]];
    let lines = lines.iter().flat_map(|lines| lines.as_array().expect("lines"));
    let script: Vec<&str> = lines.map(|line| line.as_str().expect("a line")).collect();
    let folder = team.project.folder.path();
    let mut command = outside("sh");
    for (name, value) in jobs[".pushplan"]["variables"].as_object().expect("variables") {
        command.env(name, filled(value.as_str().expect("a text"), &given));
    }
    command.env("CI_PROJECT_DIR", folder).envs(env.iter().map(|(name, value)| (*name, value)));
    ran(command.args(["-e", "-c", &script.join("\n")]).current_dir(folder))
}

fn git(team: &Team, arguments: &[&str]) {
    let who = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "-c", "commit.gpgsign=false"];
    let ran = ran(outside("git").args(who).args(arguments).current_dir(team.project.folder.path()));
    assert_eq!(ran.code, 0, "{ran}");
}

fn with_credentials(env: Env, service: &Service) -> Env {
    let credentials = service.credentials().map(|(name, value)| (name, value.to_owned()));
    [env, credentials.to_vec()].concat()
}

#[test]
fn a_merge_request_is_planned_merged_applied_and_watched() {
    let (team, service) = Team::new(Kind::GitLab);
    let folder = &team.project.folder;
    let json =
        |name: &str| -> Value { serde_json::from_str(&folder.read(&format!(".pushplan-ci/{name}"))).expect("JSON") };
    let request = with_credentials(team.on_pull(7), &service);
    team.project.edit("Hello", "Good evening");
    let ran = job(&team, "pushplan-validate", &[], &request);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(json("code-quality.json"), Value::Array(Vec::new()));
    let ran = job(&team, "pushplan-plan", &[], &request);
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["Good evening", "On the merge, exactly plan"]);
    assert_eq!(json("widget.json"), serde_json::json!({"create": 0, "update": 1, "delete": 0}));
    says(&folder.read(".pushplan-ci/outputs.env"), &["PUSHPLAN_CHANGES=1\n", "PUSHPLAN_FAILURE_REASON=\n"]);
    assert!(folder.read(".pushplan-ci/report/report.html").starts_with("<!DOCTYPE html>"));
    // The files that the variables name are kept for later jobs.
    let artifacts = &component().1["pushplan-plan"]["artifacts"];
    assert_eq!(artifacts["access"], "developer");
    let kept: Vec<&str> = artifacts["paths"].as_array().expect("paths").iter().filter_map(Value::as_str).collect();
    let named = folder.read(".pushplan-ci/outputs.env");
    for name in ["PUSHPLAN_PLAN_FILE", "PUSHPLAN_REPORT_HTML"] {
        let file = named.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).expect("a line");
        assert!(kept.contains(&file) && folder.path().join(file).exists(), "{name}: {file} of {kept:?}");
    }
    // Again, with a token that may not write: the files of the first run do not interfere.
    team.project.edit("Good evening", "Good night");
    team.host.state().writes = false;
    let ran = job(&team, "pushplan-plan", &[], &request);
    assert_eq!(ran.code, 4, "{ran}");
    team.host.state().writes = true;
    assert_eq!(job(&team, "pushplan-plan", &[], &request).code, 0);
    // Merged.
    let main = with_credentials(team.on_main(&team.host.merge(7)), &service);
    let ran = job(&team, "pushplan-apply", &[("target", "local")], &main);
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["**Applied to** `local`", "1 updated."]);
    assert_eq!(job(&team, "pushplan-drift", &[], &main).code, 0);
    team.edit_in_the_dashboard(&service);
    assert_eq!(job(&team, "pushplan-drift", &[], &main).code, 2);
    // The error is in the report and in the log, whatever the name of the target is.
    team.project.edit("{tag: a}", "{country: xx}");
    let ran = job(&team, "pushplan-validate", &[], &request);
    assert_eq!(ran.code, 3, "{ran}");
    assert_eq!(json("code-quality.json")[0]["location"]["path"], "messages.yaml");
    says(&ran.stdout, &["error[AU107]"]);
    let ran = job(&team, "pushplan-drift", &[("target", "x; touch ran; $(touch ran)")], &main);
    assert_ne!(ran.code, 0, "{ran}");
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn a_fork_of_a_merge_request_is_planned_without_variables() {
    let (team, service) = Team::new(Kind::GitLab);
    let folder = team.project.folder.path();
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["add", "messages.yaml", "pushplan.toml"],
        &["commit", "-q", "-m", "Before"],
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
    ] {
        git(&team, arguments);
    }
    // A fresh checkout does not have the files of the team's machines.
    std::fs::remove_dir_all(folder.join(".pushplan")).expect("a folder");
    team.project.edit("Hello", "Good evening");
    service.forget();
    let branch = ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main".to_owned());
    // The runner cloned it as another user than the image's user.
    let owner = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1".to_owned());
    let env: Env = [team.on_pull(7), vec![branch, owner]]
        .concat()
        .into_iter()
        .filter(|(name, _)| *name != "GITLAB_TOKEN")
        .collect();
    let ran = job(&team, "pushplan-plan", &[], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.to_string(), &["There are no credentials", "origin/main", "Warning: the comment was not written"]);
    assert_eq!(service.asked(), Vec::<String>::new());
}

#[test]
fn a_file_of_credentials_is_read_that_the_runner_lets_everybody_read() {
    let (team, _service) = crate::targets::team(Kind::GitLab);
    let folder = team.project.folder.path();
    let file = folder.join("credentials.toml");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(&file, open).expect("permissions");
    let temporary = folder.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let given = [("PUSHPLAN_CREDENTIALS", &file), ("TMPDIR", &temporary)];
    let given = given.map(|(name, path)| (name, path.display().to_string()));
    let both = [("target", "first,second")];
    let ran = job(&team, "pushplan-plan", &both, &[team.on_pull(7), given.to_vec()].concat());
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["## Plan for 2 targets"]);
    let main = [team.on_main(&team.host.merge(7)), given.to_vec()].concat();
    let ran = job(&team, "pushplan-apply", &both, &main);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(job(&team, "pushplan-drift", &both, &main).code, 0);
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0, "no copy stays");
    // The reason why one of several targets cannot be planned is an output.
    std::fs::write(folder.join(".pushplan/ledger/second/00000001.json"), "no record").expect("a file");
    let ran = job(&team, "pushplan-plan", &both, &[team.on_pull(7), given.to_vec()].concat());
    assert_eq!(ran.code, 1, "{ran}");
    says(
        &team.project.folder.read(".pushplan-ci/outputs.env"),
        &["PUSHPLAN_FAILURE_REASON=failed: second: the ledger of `second` cannot be used"],
    );
}

#[test]
fn a_plan_that_no_comment_has_room_for_is_applied_where_the_team_says_so() {
    let team = Team::fresh(Kind::GitLab, &crate::approved::long());
    let service = team.project.serve();
    assert_eq!(job(&team, "pushplan-plan", &[], &with_credentials(team.on_pull(7), &service)).code, 0);
    let main = with_credentials(team.on_main(&team.host.merge(7)), &service);
    let ran = job(&team, "pushplan-apply", &[], &main);
    assert_eq!(ran.code, 7, "{ran}");
    let ran = job(&team, "pushplan-apply", &[("accept-truncated", "true")], &main);
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["**Applied to** `local`", "300 created."]);
}

#[test]
fn a_failure_stops_an_apply_or_not_as_the_component_is_told() {
    let team = Team::fresh(Kind::GitLab, crate::approved::FAILS_BESIDE_A_CHAIN);
    let service = team.project.faulty(crate::approved::SLOW_CREATIONS);
    assert_eq!(job(&team, "pushplan-plan", &[], &with_credentials(team.on_pull(7), &service)).code, 0);
    let main = with_credentials(team.on_main(&team.host.merge(7)), &service);
    let ran = job(&team, "pushplan-apply", &[("parallel", "999")], &main);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["999 is not in 1..=256"]);
    let ran = job(&team, "pushplan-apply", &[("on-error", "continue"), ("parallel", "2")], &main);
    assert_eq!((ran.code, service.segments()), (6, vec!["a".into(), "b".into(), "c".into()]), "{ran}");
}

#[test]
fn a_plan_that_a_guard_refuses_is_shown_and_not_applied() {
    let everyone = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: all, device_types: [ios], notification: {alert: Good evening}}
";
    let team = Team::fresh(Kind::GitLab, everyone);
    let service = team.project.serve();
    let ran = job(&team, "pushplan-plan", &[], &with_credentials(team.on_pull(7), &service));
    assert_eq!(ran.code, 7, "{ran}");
    says(&team.host.only(7), &["Good evening", "EVERYONE"]);
    says(&team.project.folder.read(".pushplan-ci/outputs.env"), &["PUSHPLAN_CHANGES=1\n"]);
    let main = with_credentials(team.on_main(&team.host.merge(7)), &service);
    let ran = job(&team, "pushplan-apply", &[], &main);
    assert_eq!(ran.code, 7, "{ran}");
    says(&team.host.only(7), &["**Held, not applied to** `local`"]);
    assert_eq!(service.get("/api/schedules")["schedules"], serde_json::json!([]));
}

#[test]
fn what_fails_keeps_its_exit_code_and_says_why() {
    let (team, service) = Team::new(Kind::GitLab);
    let request = with_credentials(team.on_pull(7), &service);
    let reason = || team.project.folder.read(".pushplan-ci/outputs.env");
    team.project.edit("Hello", "Good evening");
    assert_eq!(job(&team, "pushplan-plan", &[], &request).code, 0);
    // The merged content differs from the reviewed one.
    team.project.edit("Good evening", "Good night");
    let main = with_credentials(team.on_main(&team.host.merge(7)), &service);
    let ran = job(&team, "pushplan-apply", &[], &main);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["what was reviewed in merge request !7 is not what would be done now"]);
    says(&team.host.only(7), &["**Held, not applied to** `local`"]);
    team.host.unmerge(7);
    // Invalid manifests, with a text that tries to add outputs.
    let evil = r"xx%\nPUSHPLAN_CHANGES=99";
    team.project.write(&format!("segments:\n  a: {{criteria: {{country: \"{evil}\"}}}}\n"));
    let ran = job(&team, "pushplan-plan", &[], &request);
    assert_eq!(ran.code, 3, "{ran}");
    says(&reason(), &["PUSHPLAN_CHANGES=\n", "PUSHPLAN_FAILURE_REASON=findings: ", "ISO 3166"]);
    assert!(!reason().lines().any(|line| line == "PUSHPLAN_CHANGES=99"), "{}", reason());
    assert_eq!(job(&team, "pushplan-validate", &[], &request).code, 3);
    assert_eq!(job(&team, "pushplan-validate", &[("fail-on", "never; false")], &request).code, 64);
}

#[test]
fn no_program_of_the_repository_is_run_in_place_of_one_of_the_image() {
    let (team, _service) = Team::new(Kind::GitLab);
    let folder = &team.project.folder;
    for name in ["cat", "git", "mkdir", "pushplan", "rm"] {
        let program = folder.write(&format!(".pushplan-ci/bin/{name}"), "#!/bin/sh\ntouch \"$CI_PROJECT_DIR/ran\"\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("permissions");
    }
    let ran = job(&team, "pushplan-validate", &[], &team.on_pull(7));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!folder.path().join("ran").exists(), "{ran}");
    // A program that is checked in is not run, even if the image has none.
    git(&team, &["add", "-f", ".pushplan-ci/bin/pushplan"]);
    let ran = job(&team, "pushplan-validate", &[], &team.on_pull(7));
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["has files in .pushplan-ci", "git rm -r .pushplan-ci"]);
    assert!(!folder.path().join("ran").exists(), "{ran}");
}
