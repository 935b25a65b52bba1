//! Several targets in one pull request: each has a comment, an approval and a result of its own.

use crate::team::{TWO, Team};
use pushplan_testing::hosts::{KINDS, Kind};
use pushplan_testing::{Service, says};

/// A team with two targets on one service.
pub fn team(kind: Kind) -> (Team, Service) {
    let team = Team::fresh(kind, TWO);
    let service = team.project.serve_with(&["--app", "first:secret", "--app", "second:secret"]);
    let origin = &service.origin;
    let target = |name: &str| {
        format!("[targets.{name}]\nbase_url = \"{origin}\"\napi = \"extended\"\nsettle = \"1s\"\nledger = \"file:\"\n")
    };
    team.project.folder.write("pushplan.toml", format!("{}{}", target("first"), target("second")));
    let section = |name: &str| format!("[\"{origin}\".{name}]\napp_key = \"{name}\"\nmaster_secret = \"secret\"\n");
    let file = team.project.folder.write("credentials.toml", format!("{}{}", section("first"), section("second")));
    let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(file, owner).expect("permissions");
    (team, service)
}

impl Team {
    fn run_with_both(&self, arguments: &[&str], env: crate::team::Env) -> pushplan_testing::Ran {
        let file = self.project.folder.path().join("credentials.toml").display().to_string();
        self.run(arguments, &[env, vec![("PUSHPLAN_CREDENTIALS", file)]].concat())
    }

    #[track_caller]
    fn comment_on_both(&self) {
        let ran = self.run_with_both(&["plan", "--all-targets", "--out", "plans"], vec![]);
        assert_eq!(ran.code, 0, "{ran}");
        let ran = self.run_with_both(&["ci", "comment", "--plan", "plans"], self.on_pull(7));
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn each_target_has_its_comment_and_its_result() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        team.comment_on_both();
        team.comment_on_both();
        let own = team.host.own(7);
        assert_eq!(own.len(), 2, "{own:#?}");
        says(&own[0], &["## Plan for first", "pushplan apply --approved --yes --target first"]);
        says(&own[1], &["## Plan for second"]);
        let commit = team.host.merge(7);
        // One alone.
        let one = ["apply", "--approved", "--yes", "--target", "second"];
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        let own = team.host.own(7);
        assert!(!own[0].contains("**Applied to**"), "{}", own[0]);
        says(&own[1], &["**Applied to** `second`", "2 created."]);
        // Then all of them.
        let all = ["apply", "--approved", "--yes", "--all-targets"];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        let own = team.host.own(7);
        says(&own[0], &["**Applied to** `first`", "2 created."]);
        says(&own[1], &["**Applied to** `second`", "2 created."]);
    }
}

#[test]
fn one_target_that_moved_holds_the_others_back() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        // Someone makes a segment of this name there.
        let body = serde_json::json!({"display_name": "a", "criteria": {"tag": "theirs"}});
        let path = "/api/segments";
        assert!(service.ask_as(("first", "secret"), reqwest::Method::POST, path, Some(&body)).0 < 300);
        let all = ["apply", "--approved", "--yes", "--all-targets"];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        let own = team.host.own(7);
        says(&own[0], &["**Held, not applied to** `first`", "segments/a is planned differently now"]);
        says(
            &own[1],
            &["**Held, not applied to** `second`", "it was not started, because `first` was not applied as planned"],
        );
        // The other one is still approved.
        let one = ["apply", "--approved", "--yes", "--target", "second"];
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.own(7)[1], &["**Applied to** `second`"]);
    }
}

#[test]
fn what_holds_a_target_back_is_told_with_commands_that_work() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        let body = serde_json::json!({"display_name": "a", "criteria": {"tag": "theirs"}});
        assert!(service.ask_as(("second", "secret"), reqwest::Method::POST, "/api/segments", Some(&body)).0 < 300);
        let all = ["apply", "--approved", "--yes", "--all-targets", "--project", "."];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["error: second: what was reviewed in"]);
        let own = team.host.own(7);
        says(
            &own[0],
            &["**Held, not applied to** `first`", "not started, because `second` was not applied as planned"],
        );
        let plain = own[1].replace('\\', "");
        for command in ["plan", "apply"] {
            says(&plain, &[&format!("pushplan {command} --project . --target second")]);
        }
        // Also where it is the only variant.
        let one = ["apply", "--approved", "--yes", "--target", "second", "--project", "."];
        assert_eq!(team.run_with_both(&one, team.on_main(&commit)).code, 5);
        says(&team.host.own(7)[1].replace('\\', ""), &["pushplan apply --project . --target second"]);
    }
}

#[test]
fn saved_plans_are_not_approved_once_more() {
    let (team, service) = team(Kind::GitHub);
    team.comment_on_both();
    let commit = team.host.merge(7);
    service.forget();
    let ran = team.run_with_both(&["apply", "plans", "--approved", "--yes"], team.on_main(&commit));
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["--approved", "[PLAN]"]);
    assert_eq!(service.writes(), Vec::<String>::new());
}

#[test]
fn a_target_whose_ledger_fails_is_told_in_its_comment() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let one = |target: &str| {
            let ran = team.run_with_both(&["apply", "--target", target, "--yes"], vec![]);
            assert_eq!(ran.code, 0, "{ran}");
        };
        one("first");
        one("second");
        team.project.edit("Hello", "Good evening");
        team.comment_on_both();
        let commit = team.host.merge(7);
        let records = std::fs::read_dir(team.project.folder.path().join(".pushplan/ledger/first")).expect("a ledger");
        for file in records.map(|file| file.expect("a file").path()).filter(|path| path.is_file()) {
            std::fs::write(file, "no record").expect("a file");
        }
        let all = ["apply", "--approved", "--yes", "--all-targets", "--on-error", "continue"];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 6, "{ran}");
        let own = team.host.own(7);
        says(&own[0], &["**Held, not applied to** `first`", "ledger"]);
        says(&own[1], &["**Applied to** `second`", "1 updated."]);
    }
}

#[test]
fn who_is_not_asked_about_several_targets_is_told_on_each() {
    let (team, service) = team(Kind::GitHub);
    team.comment_on_both();
    let commit = team.host.merge(7);
    service.forget();
    let ran = team.run_with_both(&["apply", "--approved", "--all-targets"], team.on_main(&commit));
    assert_eq!(ran.code, 7, "{ran}");
    assert_eq!(service.writes(), Vec::<String>::new());
    for (body, target) in team.host.own(7).iter().zip(["first", "second"]) {
        says(body, &[&format!("**Held, not applied to** `{target}`"), "this plan needs a confirmation"]);
    }
}

#[test]
fn a_promotion_is_shown_and_is_not_what_a_merge_applies() {
    let (team, _service) = team(Kind::GitHub);
    let both = |arguments: &[&str]| {
        let ran = team.run_with_both(arguments, team.on_pull(7));
        assert_eq!(ran.code, 0, "{ran}");
    };
    both(&["apply", "--target", "first", "--yes"]);
    both(&["promote", "--from", "first", "--to", "second", "--out", "plan.json"]);
    both(&["ci", "comment", "--plan", "plan.json"]);
    says(&team.host.only(7), &["2 to create", "Next: `pushplan apply plan.json`", "A merge does not apply this."]);
    let commit = team.host.merge(7);
    let one = ["apply", "--approved", "--yes", "--target", "second"];
    let ran = team.run_with_both(&one, team.on_main(&commit));
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["it is for another application, another part of the project or another purpose"]);
}
