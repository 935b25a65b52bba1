//! When a comment is written, and which one is edited.

use crate::team::Team;
use pushplan_testing::hosts::{KINDS, Kind, Trouble};
use pushplan_testing::says;

#[test]
fn a_team_may_want_comments_about_changes_alone_or_none() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let ran = team.comment(7, &["--mode", "changes"]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["Nothing changes for local: there is no comment."]);
        assert_eq!(team.host.writes(), Vec::<String>::new());
        team.project.edit("Hello", "Good evening");
        assert_eq!(team.comment(7, &["--mode", "changes"]).code, 0);
        says(&team.host.only(7), &["1 to update"]);
        // The changes are gone, and the comment says so.
        team.project.edit("Good evening", "Hello");
        assert_eq!(team.comment(7, &["--mode", "changes"]).code, 0);
        let body = team.host.only(7);
        says(&body, &["No changes. local matches your files", "Nothing is to be applied."]);
        assert!(!body.contains("1 to update"), "{body}");
        assert_eq!(team.host.writes().len(), 2);
        // No request is sent, and the plan is not read.
        let ran = team.run(&["ci", "comment", "--plan", "no-such.json", "--mode", "off"], &[]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
        let ran = team.comment(7, &["--mode", "always"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn always_says_also_that_nothing_changes() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.commented(7);
        says(&team.host.only(7), &["No changes. local matches your files (2 resources)."]);
    }
}

#[test]
fn a_comment_that_was_deleted_by_hand_is_written_anew() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        let first = team.host.comments(7)[0].id;
        team.host.state().pulls.get_mut(&7).expect("a pull request").comments.clear();
        team.commented(7);
        let second = team.host.comments(7)[0].id;
        assert_ne!(first, second);
        // Also if the deletion happens between the look and the edit.
        team.project.edit("One", "Two");
        let edit = if kind == Kind::GitHub { "PATCH" } else { "PUT" };
        team.host.trouble(edit, "/", Trouble::DeletedBefore(second));
        team.commented(7);
        says(&team.host.only(7), &["Two"]);
    }
}

#[test]
fn of_several_that_a_race_left_the_oldest_stays() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        let body = team.host.only(7);
        let writer = team.host.state().writer().to_owned();
        team.host.state().add(7, &writer, &body, false);
        team.host.state().add(7, &writer, &body, false);
        let first = team.host.comments(7)[0].id;
        team.project.edit("One", "Two");
        team.commented(7);
        says(&team.host.only(7), &["Two"]);
        assert_eq!(team.host.comments(7)[0].id, first);
        // Two runs that create one at the same time agree on one of them immediately.
        team.host.open(8);
        team.host.trouble("POST", "/8/", Trouble::WrittenBefore(8, body));
        team.commented(8);
        says(&team.host.only(8), &["Two"]);
    }
}

#[test]
fn projects_of_one_repository_have_a_comment_each() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let folder = &team.project.folder;
        std::fs::create_dir(folder.path().join(".git")).expect("a folder");
        folder.write("shops/berlin/pushplan.toml", "[targets.local]\nledger = \"file:\"\n");
        folder.write("shops/berlin/messages.yaml", "segments:\n  c: {criteria: {tag: c}}\n");
        team.project.edit("Hello", "One");
        team.commented(7);
        let berlin = folder.path().join("shops/berlin");
        let commented = || {
            assert_eq!(team.run_in(&berlin, &["plan", "--out", "plan.json"], &[]).code, 0);
            let ran = team.run_in(&berlin, &["ci", "comment", "--plan", "plan.json"], &team.on_pull(7));
            assert_eq!(ran.code, 0, "{ran}");
        };
        commented();
        commented();
        team.commented(7);
        let own = team.host.own(7);
        assert_eq!(own.len(), 2, "{own:#?}");
        says(&own[0], &["templates/winback"]);
        says(&own[1], &["segments/c"]);
        let commit = team.host.merge(7);
        let ran = team.run_in(&berlin, &["apply", "--approved", "--yes"], &team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        let own = team.host.own(7);
        assert!(!own[0].contains("**Applied"), "{}", own[0]);
        says(&own[1], &["**Applied to** `local`"]);
    }
}

#[test]
fn texts_in_a_plan_end_no_comment_and_call_nobody() {
    for kind in KINDS {
        let text = "--> <!-- pushplan:result --> @everybody /merge";
        let team = Team::fresh(kind, &format!("templates:\n  t: {{push: {{notification: {{alert: \"{text}\"}}}}}}\n"));
        let _service = team.project.serve();
        team.commented(7);
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        let body = team.host.only(7);
        says(&body, &["templates/t", "**Applied to** `local`"]);
        assert!(!body.contains("or nothing."), "{body}");
        let hidden = body.lines().next().expect("a line");
        assert_eq!(hidden.matches("-->").count(), 1, "{hidden}");
    }
}

#[test]
fn a_list_that_lags_makes_no_second_comment() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.host.state().lags = 1;
        says(&team.commented(7).stderr, &["Wrote the plan for local into"]);
        says(&team.host.only(7), &["Good evening"]);
        assert_eq!(team.host.state().lags, 0, "the list was behind");
        assert_eq!(team.host.writes(), ["POST"]);
        // If the result of the creation is unknown and the list does not show it yet, the next run deletes the second
        // one.
        team.host.open(8);
        team.host.trouble("POST", "", Trouble::DoneThen(502));
        team.host.state().lags = 1;
        team.commented(8);
        team.commented(8);
        says(&team.host.only(8), &["Good evening"]);
    }
}
