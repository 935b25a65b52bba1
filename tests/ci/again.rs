//! Jobs of merges that are run again, late, or several at a time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_testing::hosts::{KINDS, Kind};
use pushplan_testing::says;

use crate::team::Team;

const PROMO: &str = "\
scheduled_pushes:
  promo:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Promo}}
";
const OTHERS: &str = "\
segments:
  a: {criteria: {tag: a}}
templates:
  tb: {push: {notification: {alert: Hello}}}
";

#[test]
fn what_a_later_merge_cancelled_is_not_sent_by_the_job_of_a_merge_that_was_applied_in_part() {
    for kind in KINDS {
        let both = format!("{PROMO}{OTHERS}");
        let team = Team::fresh(kind, &both);
        let faults =
            "[[fault]]\nkind = \"status\"\nstatus = 500\nmethod = \"POST\"\npath = \"/api/templates\"\ntimes = 1\n";
        let service = team.project.faulty(faults);
        team.commented(7);
        let first = team.host.merge(7);
        let ran = team.apply(&first, &["--on-error", "continue"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert_eq!(service.names("/api/schedules", "schedules", "name").len(), 1);
        // A later merge deletes the created resources, after the time in which a response could have been late.
        std::thread::sleep(Duration::from_secs(3));
        team.host.open(8);
        team.project.write(OTHERS);
        team.commented(8);
        let ran = team.merge_and_apply(8, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        team.project.write(&both);
        service.forget();
        let ran = team.apply(&first, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(
            &ran.stderr,
            &["scheduled_pushes/promo was created by an apply, and removed again", "restores nothing. Open another"],
        );
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn what_a_later_merge_cancelled_is_not_sent_by_the_job_of_a_merge_that_was_held() {
    for kind in KINDS {
        let team = Team::fresh(kind, OTHERS);
        let service = team.project.serve();
        assert_eq!(team.run(&["apply", "--yes"], &[]).code, 0);
        let with = |promo: &str, alert: &str| team.project.write(&format!("{promo}{}", OTHERS.replace("Hello", alert)));
        for (promo, before, after, says_so) in [
            (PROMO, "Hello", "Hello", "scheduled_pushes/promo was created by an apply, and removed again"),
            ("", "Hello", "Good evening", "templates/tb was changed by an apply, and changed back"),
        ] {
            let numbers = if promo.is_empty() { [17, 18, 19] } else { [7, 8, 9] };
            numbers.iter().for_each(|number| team.host.open(*number));
            with(promo, after);
            team.commented(numbers[0]);
            let first = team.host.merge(numbers[0]);
            // The next merge says nothing else, and applies it.
            team.commented(numbers[1]);
            assert_eq!(team.merge_and_apply(numbers[1], &[]).code, 0);
            with("", before);
            team.commented(numbers[2]);
            assert_eq!(team.merge_and_apply(numbers[2], &[]).code, 0);
            with(promo, after);
            service.forget();
            let ran = team.apply(&first, &[]);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["is no longer approved; since then:", says_so]);
            assert_eq!(service.writes(), Vec::<String>::new());
            says(&team.host.only(numbers[0]), &["**Held, not applied to** `local`", says_so]);
            with("", before);
            assert_eq!(team.run(&["plan", "--detailed-exitcode"], &[]).code, 0);
        }
    }
}

#[test]
fn what_was_brought_back_to_what_was_reviewed_is_still_approved() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        // Another user's edit is undone by an apply of the main branch.
        team.edit_in_the_dashboard(&service);
        team.project.edit("Good evening", "Hello");
        assert_eq!(team.run(&["apply", "--yes"], &[]).code, 0);
        team.project.edit("Hello", "Good evening");
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn a_reviewed_change_that_came_too_late_is_not_told_as_applied() {
    // They wait for a time to pass, so they run side by side.
    let came_too_late = |kind: Kind, edit: bool, was: &str| {
        let due = Timestamp::now() + SignedDuration::from_secs(12);
        let sale = format!(
            "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: \"{}\"}}\n    push: {{audience: {{tag: vip}}, device_types: \
             [ios], notification: {{alert: 90% off}}}}\n",
            due.strftime("%Y-%m-%dT%H:%M:%S")
        );
        let team = Team::fresh(kind, &format!("{sale}{OTHERS}"));
        team.project.folder.write("pushplan.toml", "[targets.local]\nmin_lead = \"0s\"\n");
        let service = team.project.serve();
        let ran = team.run(&["apply", "--yes"], &[]);
        assert_eq!(ran.code, 0, "{ran}");
        team.project.write(&if edit { format!("{}{OTHERS}", sale.replace("90%", "9%")) } else { OTHERS.to_owned() });
        team.commented(7);
        std::thread::sleep(Duration::from_secs(13));
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["scheduled_pushes/sale"]);
        if edit {
            let says_so = format!("the time of scheduled_pushes/sale has passed: it was {was}");
            says(&ran.stderr, &["is no longer to be done; since then:", &says_so, "what was sent cannot be undone"]);
            says(&team.host.only(7), &["**Held, not applied to** `local`", &says_so]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
    };
    std::thread::scope(|scope| {
        for kind in KINDS {
            for (edit, was) in [(true, "to update"), (false, "to delete")] {
                scope.spawn(move || came_too_late(kind, edit, was));
            }
        }
    });
}

#[test]
fn a_plan_that_nobody_could_see_before_the_merge_is_not_approved() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Reviewed");
        team.commented(7);
        let shown = team.host.only(7);
        // The job of another commit ends after the merge.
        team.project.edit("Reviewed", "Unseen");
        let commit = team.host.merge(7);
        let ran = team.commented(7);
        says(&ran.stderr, &["is merged, and what is planned now approves nothing. Its comment stays as it is."]);
        assert_eq!(team.host.only(7), shown);
        service.forget();
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["templates/winback changed in the files"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn an_older_job_that_ends_last_leaves_the_plan_of_the_newer_commit() {
    let (old, new) = ("1".repeat(40), "2".repeat(40));
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let comment = |commit: &str, more: &[(&'static str, String)]| {
            let ran = team.run(&["plan", "--out", "plan.json"], &[]);
            assert_eq!(ran.code, 0, "{ran}");
            let event = format!(r#"{{"pull_request": {{"number": 7, "head": {{"sha": "{commit}"}}}}}}"#);
            team.project.folder.write("event.json", &event);
            let mut env = team.on_pull(7);
            match kind {
                Kind::GitHub => env.push(("GITHUB_EVENT_PATH", "event.json".to_owned())),
                Kind::GitLab => {
                    env.push(("CI_COMMIT_SHA", commit.to_owned()));
                    env.push(("CI_MERGE_REQUEST_EVENT_TYPE", "detached".to_owned()));
                }
            }
            env.extend_from_slice(more);
            let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
            assert_eq!(ran.code, 0, "{ran}");
            ran
        };
        team.host.state().pulls.get_mut(&7).expect("a pull request").head = Some(new.clone());
        team.project.edit("Hello", "New");
        says(&comment(&new, &[]).stderr, &["Wrote the plan for local"]);
        let shown = team.host.only(7);
        team.project.edit("New", "Old");
        let ran = comment(&old, &[]);
        says(&ran.stderr, &["has another commit by now, 222222222222, and this plan is for 111111111111"]);
        assert_eq!(team.host.only(7), shown);
        if kind == Kind::GitLab {
            // The commit of a run for the result of a merge is not one of the merge request.
            let of = |name: &str| ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", name.to_owned());
            let result = ("CI_MERGE_REQUEST_EVENT_TYPE", "merged_result".to_owned());
            says(&comment(&old, &[result.clone(), of(&old)]).stderr, &["has another commit by now"]);
            says(&comment(&old, &[result.clone(), of(&new)]).stderr, &["Updated the plan for local"]);
            says(&comment(&old, &[result]).stderr, &["shows this plan for local already"]);
        }
    }
}

#[test]
fn a_commit_that_came_with_two_merges_is_that_of_the_branch_of_the_run() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.host.open(6);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let commit = team.host.merge(7);
        let other = |into: &str| {
            let mut state = team.host.state();
            let pull = state.pulls.get_mut(&6).expect("a pull request");
            (pull.merged, pull.into) = (Some(commit.clone()), Some(into.to_owned()));
        };
        other("main");
        service.forget();
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["belongs to several", "--pull-request NUMBER"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        other("release");
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}

#[test]
fn a_merge_train_leaves_what_was_agreed_to() {
    let (team, _service) = Team::new(Kind::GitLab);
    team.project.edit("Hello", "Agreed");
    team.commented(7);
    let shown = team.host.only(7);
    team.project.edit("Agreed", "With those of others");
    assert_eq!(team.run(&["plan", "--out", "plan.json"], &[]).code, 0);
    let mut env = team.on_pull(7);
    env.push(("CI_MERGE_REQUEST_EVENT_TYPE", "merge_train".to_owned()));
    let ran = team.run(&["ci", "comment", "--plan", "plan.json"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["is in a merge train, and what was shown before that is what is agreed to"]);
    assert_eq!(team.host.only(7), shown);
}

#[test]
fn a_ledger_that_was_set_back_behind_a_comment_is_refused() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        let root = team.project.folder.path().join(".pushplan");
        let (ledger, backup) = (root.join("ledger"), root.join("backup"));
        let copy = |from: &std::path::Path, to: &std::path::Path| {
            let _ = std::fs::remove_dir_all(to);
            let ran = std::process::Command::new("cp").arg("-R").args([from, to]).status().expect("cp runs");
            assert!(ran.success());
        };
        // A ledger that was set back, on a machine that has never read it.
        let set_back = || {
            copy(&backup, &ledger);
            std::fs::remove_dir_all(root.join("seen")).expect("what was seen");
        };
        copy(&ledger, &backup);
        team.project.write(&format!("{PROMO}{}", crate::team::TWO));
        team.commented(7);
        let commit = team.host.merge(7);
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        team.project.edit("Hello", "Hello again");
        team.host.open(8);
        team.commented(8);
        service.forget();
        set_back();
        // Neither the job that was applied already, nor the comment of another pull request leads to a second push.
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["it was set back, and records of later applies are missing", "was written after record"]);
        says(&ran.stderr, &["pushplan ledger restore --accept-gap --target local", "would create it again"]);
        assert!(!ran.stderr.contains("Open another"), "{ran}");
        let shown = team.host.only(8);
        let ran = team.comment_refused(8);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["it was set back", "delete the old comment"]);
        assert_eq!(team.host.only(8), shown);
        let ran = team.merge_and_apply(8, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["it was set back"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        let ran = team.run(&["ledger", "restore", "--accept-gap"], &[]);
        assert_eq!(ran.code, 0, "{ran}");
        let ran = team.apply(&commit, &[]);
        assert_ne!(ran.code, 0, "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}
