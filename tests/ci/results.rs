//! The results of an apply in a comment: done, partly done, or not begun.

use crate::team::Team;
use pushplan_testing::hosts::{KINDS, Kind, Trouble};
use pushplan_testing::says;
use serde_json::json;

const THREE: &str = "\
templates:
  one: {push: {notification: {alert: One}}}
  three: {push: {notification: {alert: Three}}}
  two: {push: {notification: {alert: Two}}}
";

#[test]
fn what_is_left_is_told_and_is_applied_without_another_review() {
    for kind in KINDS {
        let team = Team::fresh(kind, THREE);
        let faults = "[[fault]]\nkind = \"status\"\nstatus = 400\nmethod = \"POST\"\npath = \"/api/templates\"\nafter = 1\ntimes = 1\n";
        let service = team.project.faulty(&faults.replace("status = 400", "status = 500"));
        team.commented(7);
        let commit = team.host.merge(7);
        let ran = team.apply(&commit, &["--concurrency", "1"]);
        assert_eq!(ran.code, 6, "{ran}");
        let body = team.host.only(7);
        says(
            &body,
            &[
                "**Applied in part to** `local`",
                "1 created, ",
                "What is left:",
                "- create `templates/three`",
                "`pushplan apply --approved",
            ],
        );
        assert_eq!(service.templates(), ["one"]);
        // The job is run again, when a response can no longer be late.
        std::thread::sleep(std::time::Duration::from_secs(3));
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["This is what is left of what was reviewed in"]);
        assert_eq!(service.templates(), ["one", "three", "two"]);
        let body = team.host.only(7);
        says(&body, &["**Applied to** `local`", "2 created."]);
        assert!(!body.contains("in part"), "{body}");
    }
}

#[test]
fn what_is_left_is_not_what_was_not_reviewed() {
    for kind in KINDS {
        let team = Team::fresh(kind, THREE);
        let faults = "[[fault]]\nkind = \"status\"\nstatus = 500\nmethod = \"POST\"\npath = \"/api/templates\"\nafter = 1\ntimes = 1\n";
        let service = team.project.faulty(faults);
        team.commented(7);
        let commit = team.host.merge(7);
        assert_eq!(team.apply(&commit, &["--concurrency", "1"]).code, 6);
        let partly = team.host.only(7);
        team.project.edit("alert: Two", "alert: Others");
        std::thread::sleep(std::time::Duration::from_secs(3));
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["templates/two changed in the files"]);
        assert_eq!(service.templates(), ["one"]);
        assert_eq!(team.host.only(7), partly, "what was done stays told");
    }
}

#[test]
fn what_is_left_of_a_plan_that_no_comment_has_room_for_is_applied_too() {
    // An unconfirmed request was done, or not.
    for (kind, when, done) in [(Kind::GitHub, "before", 20), (Kind::GitLab, "after", 21)] {
        let team = Team::fresh(kind, &crate::approved::long());
        let service = team.project.faulty(&format!(
            "[[fault]]\nkind = \"status\"\nstatus = 500\nwhen = \"{when}\"\nmethod = \"POST\"\npath = \"/api/templates\"\nafter = 20\ntimes = 1\n"
        ));
        team.commented(7);
        let commit = team.host.merge(7);
        let ran = team.apply(&commit, &["--accept-truncated", "--concurrency", "1"]);
        assert_eq!(ran.code, 6, "{ran}");
        says(&ran.to_string(), &["pushplan apply --approved --accept-truncated"]);
        let body = team.host.only(7);
        says(
            &body,
            &["**Applied in part to** `local`", "20 created, ", "`pushplan apply --approved --accept-truncated"],
        );
        assert_eq!(service.templates().len(), done);
        std::thread::sleep(std::time::Duration::from_secs(3));
        // The approval is still incomplete, and covers nothing outside the plan.
        service.forget();
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["shows only a part of the plan", "--accept-truncated"]);
        for (from, to) in
            [("alert: \"299 Long", "alert: \"299 Short"), ("  t7: ", "  t-new: "), ("  t299: ", "  t-new: ")]
        {
            team.project.edit(from, to);
            let ran = team.apply(&commit, &["--accept-truncated"]);
            assert_eq!(ran.code, 5, "{from}: {ran}");
            team.project.edit(to, from);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        assert_eq!(team.host.only(7), body, "what was done stays told");
        let ran = team.apply(&commit, &["--accept-truncated"]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["This is what is left of what was reviewed in"]);
        says(&team.host.only(7), &["**Applied to** `local`", &format!("{} created", 300 - done)]);
        assert_eq!(team.run(&["plan", "--detailed-exitcode"], &[]).code, 0);
    }
}

#[test]
fn what_a_guard_refuses_is_held_with_the_way_out() {
    for kind in KINDS {
        let team = Team::fresh(
            kind,
            "templates:\n  one: {lifecycle: {protect: true}, push: {notification: {alert: One}}}\n  two: {push: {notification: {alert: Two}}}\n",
        );
        let service = team.project.serve();
        assert_eq!(team.run(&["apply", "--yes"], &[]).code, 0);
        team.project.write("templates:\n  two: {push: {notification: {alert: Two}}}\n");
        assert_eq!(team.comment_refused(7).code, 0);
        says(&team.host.only(7), &["Apply will refuse this plan"]);
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&team.host.only(7), &["**Held, not applied to** `local`", "templates/one", "protect"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn a_service_that_cannot_be_reached_is_told() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        service.signal("-STOP");
        let commit = team.host.merge(7);
        // A plan cannot be made at all.
        let ran = team.apply(&commit, &[]);
        service.signal("-CONT");
        assert_eq!(ran.code, 1, "{ran}");
        says(&team.host.only(7), &["**Held, not applied to** `local`"]);
        // A held plan is still approved.
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}

#[test]
fn a_footer_that_cannot_be_written_changes_nothing_of_the_end() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        team.host.trouble(team.host.edits_with(), "/", Trouble::Spared);
        let refused = Trouble::Answer(403, vec![], json!({"message": "Forbidden"}));
        team.host.trouble(team.host.edits_with(), "/", refused);
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stdout, &["1 updated."]);
        says(&ran.stderr, &["Warning: the comment of local does not tell what became of it: this token may not write"]);
        says(&team.host.only(7), &["**Applying to** `local`"]);
    }
}

#[test]
fn a_comment_that_is_deleted_while_its_plan_is_applied_is_missed() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        let id = team.host.comments(7)[0].id;
        team.host.trouble(team.host.edits_with(), "/", Trouble::Spared);
        team.host.trouble(team.host.edits_with(), "/", Trouble::DeletedBefore(id));
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stderr, &["Warning: the comment of local", "no longer exists"]);
    }
}

#[test]
fn a_host_in_trouble_when_the_approval_is_read_stops_the_apply() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "One");
        team.commented(7);
        service.forget();
        for _ in 0..4 {
            team.host.trouble("GET", "/7/", Trouble::Answer(502, vec![], json!({"message": "Bad gateway"})));
        }
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["has a problem (HTTP 502: Bad gateway)", "nothing was changed"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn manifests_that_are_wrong_after_the_merge_are_told_to_the_reviewers() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        // Two merges fit together in git, but not in their meaning.
        team.project.edit("{tag: a}", "{country: xx}");
        service.forget();
        for options in [&[][..], &["--all-targets"]] {
            let ran = team.merge_and_apply(7, options);
            assert_eq!(ran.code, 3, "{ran}");
            says(&ran.stderr, &["error[AU107]", "the manifests have errors"]);
            assert!(!ran.stderr.contains("Warning"), "{ran}");
            says(
                &team.host.only(7),
                &["Good evening", "**Held, not applied to** `local`", "the manifests have errors"],
            );
        }
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}
