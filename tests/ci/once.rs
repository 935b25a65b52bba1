//! An approval is valid for the reviewed plan, on the branch that is applied, and for one apply.

use std::process::Stdio;
use std::time::{Duration, Instant};

use pushplan_testing::hosts::{KINDS, Trouble};
use pushplan_testing::says;
use reqwest::Method;
use serde_json::json;

use crate::team::{TWO, Team, outside};

#[test]
fn a_comment_that_was_edited_approves_nothing() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Half price for all");
        team.commented(7);
        team.host.edit_by_hand(7, |body| body.replace("Half price for all", "Good evening"));
        service.forget();
        let commit = team.host.merge(7);
        for _ in 0..2 {
            let ran = team.apply(&commit, &[]);
            assert_eq!(ran.code, 7, "{ran}");
            says(
                &ran.stderr,
                &["the comment in", "was edited after pushplan wrote it", "nothing was changed. Open another"],
            );
            says(&ran.stderr, &["`pushplan plan`, then `pushplan apply`"]);
            says(&team.host.only(7), &["**Held, not applied to** `local`", "was edited after pushplan wrote it"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        // The next plan before a merge overwrites the edit.
        team.host.open(8);
        team.commented(8);
        team.host.edit_by_hand(8, |body| body.replace("Half price for all", "Good evening"));
        says(&team.commented(8).stderr, &["Updated the plan for local"]);
        assert_eq!(team.merge_and_apply(8, &[]).code, 0);
    }
}

#[test]
fn a_comment_without_a_seal_approves_nothing() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Half price for all");
        team.commented(7);
        team.host.edit_by_hand(7, |body| {
            let at = body.find(",\"seal\":\"").expect("a seal");
            let end = at + 9 + body[at + 9..].find('"').expect("its end") + 1;
            format!("{}{}", &body[..at], &body[end..])
        });
        service.forget();
        assert_eq!(team.merge_and_apply(7, &[]).code, 7);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn a_host_may_write_the_ends_of_lines_in_its_own_way() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        team.host.edit_by_hand(7, |body| body.trim_end().replace('\n', "\r\n"));
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}

#[test]
fn a_merge_into_another_branch_approves_nothing_here() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let commit = team.host.merge(7);
        let into = |branch: &str| {
            team.host.state().pulls.get_mut(&7).expect("a pull request").into = Some(branch.to_owned());
        };
        into("release");
        service.forget();
        // The other branch is merged into the one that is applied, or a user names the pull request.
        for (options, env) in [
            (&[][..], team.on_main(&commit)),
            (&["--pull-request", "7"], team.on_main(&commit)),
            // A run without a branch applies the default branch.
            (&[], team.on_pull(7)),
        ] {
            let ran = team.run(&[&["apply", "--approved", "--yes"], options].concat(), &env);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["was merged into `release`, and this run applies `main`: nothing is approved"]);
            says(&ran.stderr, &["nothing was changed; open a", "into `main`"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        into("main");
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn what_was_approved_once_is_not_applied_twice() {
    // Members have no ids, so the plan is the same again once they are back.
    let member = "tag_groups:\n  life:\n    tags: [buyer]\n    members: {named_users: {ada: [buyer]}}\n";
    for kind in KINDS {
        let team = Team::fresh(kind, &format!("{TWO}{member}"));
        let service = team.project.serve();
        assert_eq!(team.run(&["apply", "--yes"], &[]).code, 0);
        let without = format!("{TWO}{}", member.replace("    members: {named_users: {ada: [buyer]}}\n", ""));
        team.project.write(&without);
        team.commented(7);
        let commit = team.host.merge(7);
        // The result cannot be written.
        team.host.trouble(team.host.edits_with(), "/", Trouble::Spared);
        let refused = Trouble::Answer(403, vec![], json!({"message": "Forbidden"}));
        team.host.trouble(team.host.edits_with(), "/", refused);
        let ran = team.apply(&commit, &["--allow-deletes", "1"]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applying to** `local`", "if the job was cut off, run it again"]);
        // A later merge brings the member back, and a user runs the first job again.
        team.project.write(&format!("{TWO}{member}"));
        assert_eq!(team.run(&["apply", "--yes"], &[]).code, 0);
        team.project.write(&without);
        service.forget();
        for _ in 0..2 {
            let ran = team.apply(&commit, &["--allow-deletes", "1"]);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["is applied already, which uses its approval up"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        says(
            &team.host.only(7),
            &["**Applied to** `local`", "the ledger shows that an apply of this plan did everything"],
        );
    }
}

#[test]
fn an_approval_that_cannot_be_marked_as_used_is_not_applied() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let body = team.host.only(7);
        let commit = team.host.merge(7);
        service.forget();
        team.host.state().writes = false;
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 4, "{ran}");
        says(&ran.stderr, &["the approval cannot be marked as used: this token may not write", "nothing was changed"]);
        assert_eq!((service.writes(), team.host.only(7)), (vec![], body));
        // The approval was marked as used, but the response was lost: nothing was applied, and the plan is the same.
        team.host.state().writes = true;
        (0..4).for_each(|_| team.host.trouble(team.host.edits_with(), "/", Trouble::DoneThen(502)));
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 1, "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`", "1 updated."]);
    }
}

#[test]
fn a_comment_that_is_deleted_before_the_apply_approves_nothing() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let id = team.host.comments(7)[0].id;
        team.host.trouble(team.host.edits_with(), "/", Trouble::DeletedBefore(id));
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["the approval cannot be marked as used: the comment no longer exists"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn what_is_left_after_a_job_that_was_killed_is_still_approved() {
    let three = "templates:\n  one: {push: {notification: {alert: One}}}\n  three: {push: {notification: {alert: Three}}}\n  \
                 two: {push: {notification: {alert: Two}}}\n";
    for kind in KINDS {
        let team = Team::fresh(kind, three);
        let slow = "[[fault]]\nkind = \"delay\"\nms = 60000\nmethod = \"POST\"\npath = \"/api/templates\"\nafter = 1\ntimes = 1\n";
        let service = team.project.faulty(slow);
        team.commented(7);
        let commit = team.host.merge(7);
        let env = team.on_main(&commit);
        let mut command = outside(env!("CARGO_BIN_EXE_pushplan"));
        command.args(["apply", "--approved", "--yes", "--concurrency", "1"]).current_dir(team.project.folder.path());
        let env = env.iter().map(|(name, value)| (*name, value.as_str()));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut job = command.envs(env).spawn().expect("it starts");
        let began = Instant::now();
        while service.templates() != ["one"] {
            assert!(began.elapsed() < Duration::from_secs(120), "the first template is created");
            std::thread::sleep(Duration::from_millis(50));
        }
        job.kill().expect("it runs");
        let _ = job.wait();
        says(&team.host.only(7), &["**Applying to** `local`", "This uses the approval."]);
        // An unreviewed plan is not approved.
        std::thread::sleep(Duration::from_secs(3));
        // On a slow machine, it was killed before its second request: another request meets the fault then.
        if service.asked().iter().filter(|asked| *asked == "POST /api/templates").count() < 2 {
            service.ask(Method::POST, "/api/templates", Some(&json!({})));
        }
        team.project.edit("alert: Two", "alert: Others");
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        assert_eq!(service.templates(), ["one"]);
        team.project.edit("alert: Others", "alert: Two");
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["This is what is left of what was reviewed in"]);
        assert_eq!(service.templates(), ["one", "three", "two"]);
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}
