//! The action, from the pull request to the merge and the daily check for drift.

use std::fs;
use std::process::Command;

use pushplan_testing::hosts::Kind;
use pushplan_testing::{Service, says};

use crate::runner::{Runner, Used};
use crate::targets;
use crate::team::{Env, Team, outside, ran};
use crate::yaml::{document, own};

fn git(team: &Team, arguments: &[&str]) {
    let mut command: Command = outside("git");
    let who = ["-c", "user.name=Ada", "-c", "user.email=ada@shop.example", "-c", "commit.gpgsign=false"];
    let ran = ran(command.args(who).args(arguments).current_dir(team.project.folder.path()));
    assert_eq!(ran.code, 0, "{ran}");
}

/// A team whose project is a checkout, with a commit that the pull request is for.
fn checkout(team: Team) -> Team {
    team.project.folder.write(".gitignore", ".pushplan\n");
    git(&team, &["init", "-q", "-b", "main"]);
    git(&team, &["add", "-A"]);
    git(&team, &["commit", "-q", "-m", "Before"]);
    git(&team, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    team
}

fn with_credentials(env: Env, service: &Service) -> Env {
    let credentials = service.credentials().map(|(name, value)| (name, value.to_owned()));
    [env, credentials.to_vec()].concat()
}

fn on_pull(team: &Team) -> Env {
    let more = [("GITHUB_EVENT_NAME", "pull_request".to_owned()), ("GITHUB_BASE_REF", "main".to_owned())];
    [team.on_pull(7), more.to_vec()].concat()
}

fn on_main(team: &Team, commit: &str) -> Env {
    [team.on_main(commit), vec![("GITHUB_EVENT_NAME", "push".to_owned())]].concat()
}

/// Numbers in the order of the outputs.
fn numbers(used: &Used) -> Vec<&str> {
    ["changes", "creates", "updates", "replaces", "deletes", "by-hand", "sends"].map(|name| used.output(name)).to_vec()
}

#[test]
fn a_plan_is_commented_what_was_reviewed_is_applied_and_drift_is_found() {
    let (team, service) = Team::new(Kind::GitHub);
    let team = checkout(team);
    let runner = Runner::new(team.project.folder.path());
    let (pull, ok) = (with_credentials(on_pull(&team), &service), vec!["1", "0", "1", "0", "0", "0", "0"]);
    // Opened.
    team.project.edit("Hello", "Good evening");
    let used = runner.run(&[("command", "plan")], &pull);
    assert_eq!((used.code, used.output("failure-reason")), (0, ""), "{}", used.log);
    assert_eq!(used.uses, Vec::<String>::new(), "the binary is there already");
    says(&team.host.only(7), &["Good evening", "On the merge, exactly plan"]);
    says(&used.summary, &["## Plan for local — 1 to update", "Good evening"]);
    assert_eq!(numbers(&used), ok);
    assert_eq!(used.output("digest").len(), 64);
    let page = fs::read_to_string(used.output("report-html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && used.output("report-html").ends_with(".html"));
    assert!(fs::read_to_string(used.output("plan-file")).expect("a plan").contains("Good evening"));
    // With `fail-on`, changes fail the step; with `comment: off`, nothing is written.
    team.host.writes();
    let used = runner.run(&[("command", "plan"), ("fail-on", "changes"), ("comment", "off")], &pull);
    assert_eq!((used.code, used.output("changes")), (2, "1"), "{}", used.log);
    assert_eq!(used.output("failure-reason"), "changes: the plan has 1 change", "{}", used.log);
    assert_eq!(team.host.writes(), Vec::<String>::new());
    // Merged.
    let main = with_credentials(on_main(&team, &team.host.merge(7)), &service);
    let used = runner.run(&[("command", "apply")], &main);
    assert_eq!((used.code, used.output("failure-reason")), (0, ""), "{}", used.log);
    assert_eq!(numbers(&used), ok);
    says(&team.host.only(7), &["**Applied to** `local`", "1 updated."]);
    // A quiet day.
    let used = runner.run(&[("command", "drift")], &main);
    assert_eq!((used.code, used.output("changes"), used.summary.as_str()), (0, "0", ""), "{}", used.log);
    // Someone edits in the dashboard.
    team.edit_in_the_dashboard(&service);
    let used = runner.run(&[("command", "drift")], &main);
    assert_eq!((used.code, used.output("changes")), (2, "1"), "{}", used.log);
    assert!(used.output("failure-reason").starts_with("changes: someone changed"), "{}", used.output("failure-reason"));
    says(&used.summary, &["templates/winback", "Theirs"]);
    let used = runner.run(&[("command", "drift"), ("fail-on", "error")], &main);
    assert_eq!((used.code, used.output("changes"), used.output("failure-reason")), (0, "1", ""), "{}", used.log);
}

#[test]
fn a_plan_that_no_comment_has_room_for_is_applied_where_the_workflow_says_so() {
    let team = checkout(Team::fresh(Kind::GitHub, &crate::approved::long()));
    let service = team.project.serve();
    let runner = Runner::new(team.project.folder.path());
    assert_eq!(runner.run(&[("command", "plan")], &with_credentials(on_pull(&team), &service)).code, 0);
    let main = with_credentials(on_main(&team, &team.host.merge(7)), &service);
    let used = runner.run(&[("command", "apply")], &main);
    assert_eq!(used.code, 7, "{}", used.log);
    assert!(used.output("failure-reason").starts_with("refused: the comment in"), "{}", used.output("failure-reason"));
    let used = runner.run(&[("command", "apply"), ("accept-truncated", "true")], &main);
    assert_eq!(used.code, 0, "{}", used.log);
    says(&team.host.only(7), &["**Applied to** `local`", "300 created."]);
}

#[test]
fn a_failure_stops_an_apply_or_not_as_the_workflow_says() {
    let team = checkout(Team::fresh(Kind::GitHub, crate::approved::FAILS_BESIDE_A_CHAIN));
    let service = team.project.faulty(crate::approved::SLOW_CREATIONS);
    let runner = Runner::new(team.project.folder.path());
    assert_eq!(runner.run(&[("command", "plan")], &with_credentials(on_pull(&team), &service)).code, 0);
    let main = with_credentials(on_main(&team, &team.host.merge(7)), &service);
    let used = runner.run(&[("command", "apply"), ("parallel", "999")], &main);
    assert_eq!(used.code, 64, "{}", used.log);
    assert!(used.log.contains("999 is not in 1..=256"), "{}", used.log);
    let used = runner.run(&[("command", "apply"), ("on-error", "continue"), ("parallel", "2")], &main);
    assert_eq!((used.code, service.segments()), (6, vec!["a".into(), "b".into(), "c".into()]), "{}", used.log);
}

/// A guard refuses the plan in the pull request, and again if it is merged anyway. Reviewers see it both times.
#[test]
fn a_plan_that_a_guard_refuses_is_shown_and_not_applied() {
    let everyone = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-04-01T10:00}
    push: {audience: all, device_types: [ios], notification: {alert: Good evening}}
";
    let team = checkout(Team::fresh(Kind::GitHub, everyone));
    let service = team.project.serve();
    let runner = Runner::new(team.project.folder.path());
    let used = runner.run(&[("command", "plan")], &with_credentials(on_pull(&team), &service));
    assert_eq!((used.code, used.output("changes")), (7, "1"), "{}", used.log);
    says(&team.host.only(7), &["Good evening", "EVERYONE"]);
    let main = with_credentials(on_main(&team, &team.host.merge(7)), &service);
    let used = runner.run(&[("command", "apply")], &main);
    assert_eq!((used.code, used.output("creates")), (7, "1"), "{}", used.log);
    assert!(used.output("failure-reason").starts_with("refused: "), "{}", used.output("failure-reason"));
    assert!(fs::read_to_string(used.output("report-html")).expect("a page").contains("Good evening"));
    assert_eq!(service.get("/api/schedules")["schedules"], serde_json::json!([]));
}

#[test]
fn what_fails_keeps_its_exit_code_and_says_why() {
    let (team, service) = Team::new(Kind::GitHub);
    let team = checkout(team);
    let runner = Runner::new(team.project.folder.path());
    let pull = with_credentials(on_pull(&team), &service);
    team.project.edit("Hello", "Good evening");
    assert_eq!(runner.run(&[("command", "plan")], &pull).code, 0);
    // The merged content differs from the reviewed one.
    team.project.edit("Good evening", "Good night");
    let commit = team.host.merge(7);
    let main = with_credentials(on_main(&team, &commit), &service);
    let used = runner.run(&[("command", "apply")], &main);
    assert_eq!((used.code, used.output("changes")), (5, "1"), "{}", used.log);
    assert!(
        used.output("failure-reason").starts_with("stale: what was reviewed in"),
        "{}",
        used.output("failure-reason")
    );
    says(&team.host.only(7), &["**Held, not applied to** `local`"]);
    // A token without write permission, on a pull request that is still open.
    team.host.unmerge(7);
    team.host.state().writes = false;
    let used = runner.run(&[("command", "plan")], &pull);
    assert_eq!((used.code, used.output("changes")), (4, "1"), "{}", used.log);
    assert!(used.output("failure-reason").starts_with("credentials: "), "{}", used.output("failure-reason"));
    // Invalid manifests, with a text that tries to add outputs and commands.
    let evil = r"xx%\nchanges=99\n::error::y";
    team.project.write(&format!("segments:\n  a: {{criteria: {{country: \"{evil}\"}}}}\n"));
    for command in ["validate", "plan"] {
        let used = runner.run(&[("command", command)], &pull);
        assert_eq!((used.code, used.output("changes")), (3, ""), "{}", used.log);
        let reason = used.output("failure-reason");
        assert!(reason.starts_with("findings: ") && reason.contains("xx%") && reason.contains("ISO 3166"), "{reason}");
        assert_eq!(used.log.lines().filter(|line| line.starts_with("::error ")).count(), 1, "{}", used.log);
    }
    // Invalid inputs.
    for (name, value) in [
        ("command", "destroy"),
        ("fail-on", "x; false"),
        ("comment", "$(false)"),
        ("version", "1 --x"),
        ("accept-truncated", "yes"),
        ("allow-manual", "yes"),
        ("on-error", "ignore"),
        ("parallel", "2; false"),
    ] {
        let command = if name == "command" { vec![] } else { vec![("command", "plan")] };
        let used = runner.run(&[command, vec![(name, value)]].concat(), &pull);
        assert_eq!(used.code, 64, "{name}: {}", used.log);
        assert!(used.log.contains(&format!("::error title=pushplan::the input {name} is")), "{}", used.log);
    }
}

#[test]
fn a_fork_is_planned_without_credentials_and_may_not_comment() {
    let (team, service) = Team::new(Kind::GitHub);
    let team = checkout(team);
    team.host.state().writes = false;
    service.forget();
    // A fresh checkout does not have the files of the team's machines.
    fs::remove_dir_all(team.project.folder.path().join(".pushplan")).expect("a folder");
    team.project.edit("Hello", "Good evening");
    let runner = Runner::new(team.project.folder.path());
    let secrets = ["PUSHPLAN_APP_KEY", "PUSHPLAN_MASTER_SECRET"].map(|name| (name, String::new()));
    let used = runner.run(&[("command", "plan")], &[on_pull(&team), secrets.to_vec()].concat());
    assert_eq!((used.code, used.output("updates"), used.output("failure-reason")), (0, "1", ""), "{}", used.log);
    says(&used.log, &["::notice title=pushplan::There are no credentials", "Warning: the comment was not written"]);
    says(&used.summary, &["Good evening", "origin/main"]);
    assert_eq!(service.asked(), Vec::<String>::new());
}

#[test]
fn several_targets_and_a_file_of_credentials_work_too() {
    let (team, _service) = targets::team(Kind::GitHub);
    let team = checkout(team);
    let runner = Runner::new(team.project.folder.path());
    let secret = ("PUSHPLAN_CREDENTIALS_TOML", team.project.folder.read("credentials.toml"));
    fs::remove_file(team.project.folder.path().join("credentials.toml")).expect("a file");
    let used = runner
        .run(&[("command", "plan"), ("target", "first,second")], &[on_pull(&team), vec![secret.clone()]].concat());
    assert_eq!((used.code, used.output("failure-reason")), (0, ""), "{}", used.log);
    assert_eq!(numbers(&used), ["4", "4", "0", "0", "0", "0", "0"]);
    says(&team.host.only(7), &["## Plan for 2 targets"]);
    for (output, names) in
        [("plan-file", ["first.plan", "second.plan"]), ("report-html", ["first.html", "second.html"])]
    {
        let mut found: Vec<String> = fs::read_dir(used.output(output))
            .expect("a folder")
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        found.sort();
        assert_eq!(found, names);
    }
    assert!(!team.project.folder.path().join(".git/runner/pushplan.credentials.toml").exists());
    // Each of them is held, and the first error gives the reason.
    team.project.edit("Hello", "Good night");
    let main = [on_main(&team, &team.host.merge(7)), vec![secret]].concat();
    let used = runner.run(&[("command", "apply"), ("target", "first,second")], &main);
    assert_eq!(used.code, 5, "{}", used.log);
    let reason = used.output("failure-reason");
    assert!(
        reason.starts_with("stale: first: what was reviewed in") && reason.ends_with("(and 1 more target)"),
        "{reason}"
    );
}

#[test]
fn a_release_that_is_not_there_is_built_once() {
    let team = checkout(Team::fresh(Kind::GitHub, crate::team::TWO));
    let folder = &team.project.folder;
    let mut runner = Runner::new(folder.path());
    // A cargo that records its arguments and installs the binary of this build.
    let binary = env!("CARGO_BIN_EXE_pushplan");
    let cargo = folder.write(
        "tools/cargo",
        format!(
            "#!/bin/sh\necho \"$@\" >>\"$RUNNER_TEMP/asked\"\nwhile [ \"$1\" != --root ]; do shift; done\n\
             mkdir -p \"$2/bin\" && ln -s '{binary}' \"$2/bin/pushplan\"\n"
        ),
    );
    let program = |path: &std::path::Path| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    };
    program(&cargo);
    program(&folder.write("tools/rustup", "#!/bin/sh\n"));
    runner.first.push(folder.path().join("tools"));
    // Another release comes from the registry.
    let used = runner.run(&[("command", "validate"), ("version", "v9.8.7")], &on_pull(&team));
    assert_eq!(used.code, 0, "{}", used.log);
    assert_eq!(used.uses.len(), 1, "{:?}", used.uses);
    assert!(used.uses[0].starts_with("actions/cache@"), "{:?}", used.uses);
    let root = folder.path().join(".git/runner/pushplan-9.8.7").display().to_string();
    let asked = folder.read(".git/runner/asked");
    assert_eq!(asked, format!("+stable install --locked --root {root} pushplan --version 9.8.7\n"));
    assert_eq!(used.path, [format!("{root}/bin")]);
    // An existing program, for example from a cache, is not built again.
    assert_eq!(runner.run(&[("command", "validate"), ("version", "9.8.7")], &on_pull(&team)).code, 0);
    assert_eq!(folder.read(".git/runner/asked"), asked);
    // The action's own release is built from the action's own sources.
    program(&folder.write("tools/pushplan", "#!/bin/sh\nexit 1\n"));
    let used = runner.run(&[("command", "validate")], &on_pull(&team));
    assert_eq!(used.code, 0, "{}", used.log);
    let asked = folder.read(".git/runner/asked");
    assert!(asked.lines().last().is_some_and(|line| line.ends_with(&format!("--path {}", env!("CARGO_MANIFEST_DIR")))));
}

#[test]
fn the_action_has_what_its_users_are_told_of() {
    let action = document(&own("action.yml"));
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().expect("a map").keys().cloned().collect() };
    let mut inputs = keys(&action["inputs"]);
    inputs.sort();
    assert_eq!(
        inputs,
        [
            "accept-truncated",
            "allow-manual",
            "attestation",
            "command",
            "comment",
            "fail-on",
            "on-error",
            "parallel",
            "project",
            "releases",
            "target",
            "version"
        ]
    );
    let mut outputs = keys(&action["outputs"]);
    outputs.sort();
    let wanted = [
        "by-hand",
        "changes",
        "creates",
        "deletes",
        "digest",
        "failure-reason",
        "plan-file",
        "replaces",
        "report-html",
        "sends",
        "updates",
    ];
    assert_eq!(outputs, wanted);
    for (name, output) in action["outputs"].as_object().expect("outputs") {
        assert_eq!(output["value"], format!("${{{{ steps.run.outputs.{name} }}}}"));
    }
    for part in ["inputs", "outputs"] {
        for (name, about) in action[part].as_object().expect("a map") {
            assert!(about["description"].as_str().is_some_and(|text| text.len() > 10), "{name}");
        }
    }
    assert_eq!(action["runs"]["using"], "composite");
}
