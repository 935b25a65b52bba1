//! Several targets in one pull request: they share a comment, and each has its own approval and result.

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
fn the_targets_of_a_pull_request_share_a_comment() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        team.comment_on_both();
        team.comment_on_both();
        let body = team.host.only(7);
        says(&body, &["## Plan for 2 targets: 2 with changes", "pushplan apply --approved --yes --all-targets"]);
        says(&body, &["On the merge, exactly these plans are applied, each as it is shown, or nothing."]);
        assert_eq!(body.matches("<details><summary>+ segments/a").count(), 1, "{body}");
        let commit = team.host.merge(7);
        // One of them.
        let one = ["apply", "--approved", "--yes", "--target", "second"];
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        let body = team.host.only(7);
        says(&body, &["**Applied to** `second`", "2 created.", "On the merge, exactly these plans are applied"]);
        assert!(!body.contains("**Applied to** `first`"), "{body}");
        // Then both.
        let all = ["apply", "--approved", "--yes", "--all-targets"];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        let body = team.host.only(7);
        says(&body, &["**Applied to** `first`", "**Applied to** `second`"]);
        assert!(!body.contains("On the merge"), "{body}");
        // Neither is applied again.
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn results_that_are_the_same_are_told_once() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        let ran = team.run_with_both(&["apply", "--approved", "--yes", "--all-targets"], team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `first`, `second`"]);
    }
}

#[test]
fn an_edit_of_a_shared_comment_holds_all_of_its_targets() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        team.host.edit_by_hand(7, |body| body.replace("Hello", "Good evening"));
        let commit = team.host.merge(7);
        service.forget();
        for target in ["first", "second"] {
            let ran = team.run_with_both(&["apply", "--approved", "--yes", "--target", target], team.on_main(&commit));
            assert_eq!(ran.code, 7, "{ran}");
            says(&ran.stderr, &["was edited after pushplan wrote it"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn plans_of_single_targets_have_comments_of_their_own() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let comment = |targets: &[&str]| {
            for target in targets {
                let ran = team.run_with_both(&["plan", "--target", target, "--out", "plan.json"], vec![]);
                assert_eq!(ran.code, 0, "{ran}");
                let ran = team.run_with_both(&["ci", "comment", "--plan", "plan.json"], team.on_pull(7));
                assert_eq!(ran.code, 0, "{ran}");
            }
        };
        comment(&["first", "second"]);
        assert_eq!(team.host.own(7).len(), 2, "{:#?}", team.host.own(7));
        // A comment about both replaces them.
        team.comment_on_both();
        says(&team.host.only(7), &["## Plan for 2 targets"]);
        // A target that is no longer planned is no longer approved.
        comment(&["first"]);
        says(&team.host.only(7), &["## Plan for first"]);
        let commit = team.host.merge(7);
        let ran = team.run_with_both(&["apply", "--approved", "--yes", "--target", "second"], team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["has no comment of plan-bot with a plan for `second`"]);
    }
}

#[test]
fn a_text_that_is_too_long_continues_in_another_comment() {
    let words = "Long words about a sale that everybody reads to its end. ".repeat(6);
    let manifest = |number: usize| {
        let one = |number| format!("  t{number}: {{push: {{notification: {{alert: \"{number} {words}\"}}}}}}\n");
        format!("templates:\n{}", (0..number).map(one).collect::<String>())
    };
    for kind in KINDS {
        let (team, service) = team(kind);
        team.project.write(&manifest(70));
        team.comment_on_both();
        let own = team.host.own(7);
        assert_eq!(own.len(), 2, "{}", own.len());
        says(&own[0], &["The next comment continues this."]);
        says(&own[1], &["This continues the plans in the comment above.", "The first comment says what becomes"]);
        assert_eq!(own.concat().matches("<details><summary>+ templates/t").count(), 70);
        team.host.writes();
        team.comment_on_both();
        assert_eq!(team.host.writes(), Vec::<String>::new());
        let commit = team.host.merge(7);
        // Its second part counts too.
        let (id, body) = {
            let comments = team.host.comments(7);
            (comments[1].id, comments[1].body.clone())
        };
        let edit = |body: &str| {
            let mut state = team.host.state();
            let comments = &mut state.pulls.get_mut(&7).expect("a pull request").comments;
            comments.iter_mut().find(|comment| comment.id == id).expect("a comment").body = body.to_owned();
        };
        edit(&body.replace("everybody reads", "nobody reads"));
        service.forget();
        let all = ["apply", "--approved", "--yes", "--all-targets"];
        assert_eq!(team.run_with_both(&all, team.on_main(&commit)).code, 7);
        assert_eq!(service.writes(), Vec::<String>::new());
        edit(&body);
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.own(7)[0], &["**Applied to** `first`, `second`", "70 created."]);
        // A shorter text needs one comment.
        team.project.write(&manifest(1));
        team.host.open(8);
        for number in [300, 1] {
            team.project.write(&manifest(number));
            let ran = team.run_with_both(&["plan", "--all-targets", "--out", "plans"], vec![]);
            assert!(matches!(ran.code, 0 | 7), "{ran}");
            let ran = team.run_with_both(&["ci", "comment", "--plan", "plans"], team.on_pull(8));
            assert_eq!(ran.code, 0, "{ran}");
            assert_eq!(team.host.own(8).len(), if number == 300 { 3 } else { 1 });
        }
    }
}

#[test]
fn one_target_that_moved_holds_the_others_back() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        // Someone creates a segment with this name there.
        let body = serde_json::json!({"display_name": "a", "criteria": {"tag": "theirs"}});
        let path = "/api/segments";
        assert!(service.ask_as(("first", "secret"), reqwest::Method::POST, path, Some(&body)).0 < 300);
        let all = ["apply", "--approved", "--yes", "--all-targets"];
        let ran = team.run_with_both(&all, team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        let body = team.host.only(7);
        says(&body, &["**Held, not applied to** `first`", "segments/a is planned differently now"]);
        says(
            &body,
            &["**Held, not applied to** `second`", "it was not started, because `first` was not applied as planned"],
        );
        // The other one is still approved.
        let one = ["apply", "--approved", "--yes", "--target", "second"];
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `second`"]);
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
        let body = team.host.only(7);
        says(&body, &["**Held, not applied to** `first`", "not started, because `second` was not applied as planned"]);
        let plain = body.replace('\\', "");
        for command in ["plan", "apply"] {
            says(&plain, &[&format!("pushplan {command} --project . --target second")]);
        }
        // Also if it is the only target.
        let one = ["apply", "--approved", "--yes", "--target", "second", "--project", "."];
        assert_eq!(team.run_with_both(&one, team.on_main(&commit)).code, 5);
        says(&team.host.only(7).replace('\\', ""), &["pushplan apply --project . --target second"]);
    }
}

#[test]
fn saved_plans_are_not_approved_once_more() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        service.forget();
        let ran = team.run_with_both(&["apply", "plans", "--approved", "--yes"], team.on_main(&commit));
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["--approved", "[PLAN]"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
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
        says(
            &team.host.only(7),
            &["**Held, not applied to** `first`", "ledger", "**Applied to** `second`", "1 updated."],
        );
    }
}

#[test]
fn who_is_not_asked_about_several_targets_is_told_on_each() {
    for kind in KINDS {
        let (team, service) = team(kind);
        team.comment_on_both();
        let commit = team.host.merge(7);
        service.forget();
        let ran = team.run_with_both(&["apply", "--approved", "--all-targets"], team.on_main(&commit));
        assert_eq!(ran.code, 7, "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
        says(&team.host.only(7), &["**Held, not applied to** `first`, `second`", "this plan needs a confirmation"]);
    }
}

#[test]
fn a_promotion_is_shown_and_is_not_what_a_merge_applies() {
    for kind in KINDS {
        let (team, _service) = team(kind);
        let both = |arguments: &[&str]| {
            let ran = team.run_with_both(arguments, team.on_pull(7));
            assert_eq!(ran.code, 0, "{ran}");
        };
        both(&["apply", "--target", "first", "--yes"]);
        both(&["promote", "--from", "first", "--to", "second", "--out", "plan.json"]);
        both(&["ci", "comment", "--plan", "plan.json"]);
        says(
            &team.host.only(7),
            &[
                "2 to create",
                "After the merge: `pushplan promote --from first --to second --approved --yes`",
                "After the merge, `pushplan promote --approved` applies exactly plan",
                "A merge alone does not apply this.",
            ],
        );
        let commit = team.host.merge(7);
        let one = ["apply", "--approved", "--yes", "--target", "second"];
        let ran = team.run_with_both(&one, team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["it is for another application, another part of the project or another purpose"]);
        let promote = ["promote", "--from", "first", "--to", "second", "--approved", "--yes"];
        let ran = team.run_with_both(&promote, team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `second`", "2 created."]);
    }
}
