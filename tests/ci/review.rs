//! A pull request from its beginning to the result of its plan.

use crate::team::Team;
use pushplan_testing::hosts::{KINDS, Kind};
use pushplan_testing::says;

#[test]
fn a_pull_request_is_opened_pushed_to_merged_and_applied() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        // Opened.
        team.project.edit("Hello", "Good morning");
        says(&team.commented(7).stderr, &["Wrote the plan for local into", "request"]);
        let body = team.host.only(7);
        says(
            &body,
            &[
                "## Plan for local — 1 to update",
                "Good morning",
                "After the merge: `pushplan apply --approved --yes`",
                "For commit `c0ffee00c0ff`.",
                "is applied, or nothing.",
            ],
        );
        // Pushed to again.
        team.project.edit("Good morning", "Good evening");
        says(&team.commented(7).stderr, &["Updated the plan for local in"]);
        let body = team.host.only(7);
        says(&body, &["Good evening"]);
        assert!(!body.contains("Good morning"), "{body}");
        assert_eq!(team.host.writes().len(), 2);
        // A plan that did not change is not written again.
        says(&team.comment_on(7, &[]).stderr, &["shows this plan for local already"]);
        assert_eq!(team.host.writes(), Vec::<String>::new());
        // Someone changes the same resource on the service.
        team.edit_in_the_dashboard(&service);
        service.forget();
        let commit = team.host.merge(7);
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(
            &ran.stderr,
            &["is not what would be done now", "templates/winback was changed on the service", "nothing was changed"],
        );
        assert_eq!(service.writes(), Vec::<String>::new());
        says(&team.host.only(7), &["Good evening", "**Held, not applied to** `local`", "was changed on the service"]);
        // A plan after the merge approves nothing.
        let held = team.host.only(7);
        says(&team.commented(7).stderr, &["is merged, and what is planned now approves nothing"]);
        assert_eq!(team.host.only(7), held);
        // The current plan is reviewed in another pull request, and applied.
        team.host.open(8);
        team.commented(8);
        says(&team.host.only(8), &["Theirs", "is applied, or nothing."]);
        let commit = team.host.merge(8);
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        let body = team.host.only(8);
        says(&body, &["Good evening", "**Applied to** `local`", "1 updated."]);
        assert!(!body.contains("**Held"), "{body}");
        assert!(!body.contains("or nothing."), "{body}");
        // On the next run nothing is left to do, and the reported result stays.
        team.host.writes();
        assert_eq!(team.apply(&commit, &[]).code, 0);
        assert_eq!(team.host.only(8), body);
        assert_eq!(team.host.writes(), Vec::<String>::new());
        // A late run for the pull request does not remove the result, even if the host does not know about the merge.
        says(&team.commented(8).stderr, &["is merged, and what is planned now approves nothing"]);
        team.host.unmerge(8);
        says(&team.commented(8).stderr, &["tells what was applied to local: that stays"]);
        assert_eq!(team.host.only(8), body);
    }
}

#[test]
fn a_hundred_runs_leave_one_comment_among_many() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.host.state().elsewhere = Some("http://127.0.0.1:9/elsewhere".to_owned());
        for number in 0..250 {
            let author = if number % 3 == 0 { "ada" } else { "plan-bot" };
            team.host.state().add(7, author, &format!("Comment {number}"), number % 5 == 0);
        }
        let mut plans = Vec::new();
        for text in ["One", "Two"] {
            team.project.edit(if text == "One" { "Hello" } else { "One" }, text);
            let ran = team.run(&["plan", "--out", "plan.json"], &[]);
            assert_eq!(ran.code, 0, "{ran}");
            plans.push(team.project.folder.read("plan.json"));
        }
        for run in 0..100 {
            team.project.folder.write("plan.json", &plans[run % 2]);
            let ran = team.comment_on(7, &[]);
            assert_eq!(ran.code, 0, "{ran}");
        }
        let comments = team.host.comments(7);
        assert_eq!(comments.len(), 251);
        says(&comments[250].body, &["## Plan for local", "Two"]);
        let writes = team.host.writes();
        assert_eq!((writes.len(), writes.iter().filter(|method| *method == "POST").count()), (100, 1));
    }
}

#[test]
fn what_others_merged_and_applied_meanwhile_is_no_reason_to_stop() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        team.host.open(8);
        let before = team.project.folder.read("messages.yaml");
        // One changes the template, the other adds its own segment.
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        team.project.write(&format!("segments:\n  b: {{criteria: {{tag: b}}}}\n{}", before.replace("segments:\n", "")));
        team.commented(8);
        let ran = team.merge_and_apply(8, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(8), &["**Applied to** `local`", "1 created."]);
        team.project.edit("Hello", "Good evening");
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`", "1 updated."]);
    }
}

#[test]
fn what_was_merged_and_not_applied_is_told_as_new() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        // Another user's merge is not applied yet, and is included.
        team.project.edit("{tag: a}", "{tag: elsewhere}");
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["segments/a is new: to update"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        // The reviewed change may be gone too.
        team.project.edit("Good evening", "Hello");
        let ran = team.merge_and_apply(7, &[]);
        says(
            &ran.stderr,
            &["segments/a is new: to update", "templates/winback is no longer in the plan: it was to update"],
        );
        assert_eq!(ran.code, 5, "{ran}");
    }
}

/// The files after three pull requests: one edits a template, each of the others adds its own segment.
fn merged(before: &str, numbers: &[u64]) -> String {
    let segment = |number: &u64| (*number != 7).then(|| format!("  s{number}: {{criteria: {{tag: b}}}}\n"));
    let segments: String = numbers.iter().filter_map(segment).collect();
    let files = before.replace("segments:\n", &format!("segments:\n{segments}"));
    if numbers.contains(&7) { files.replace("Hello", "Good evening") } else { files }
}

#[test]
fn a_merge_behind_one_that_was_not_applied_says_what_works_after_a_merge() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        let before = team.project.folder.read("messages.yaml");
        for number in [7, 8, 9] {
            team.host.open(number);
            team.project.write(&merged(&before, &[number]));
            team.commented(number);
        }
        team.project.write(&merged(&before, &[7]));
        assert_eq!(team.merge_and_apply(7, &[]).code, 0);
        // All three are merged; the job of the second one was cancelled.
        let second = team.host.merge(8);
        let third = team.host.merge(9);
        team.project.write(&merged(&before, &[7, 8, 9]));
        service.forget();
        let ran = team.apply(&third, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(
            &ran.stderr,
            &[
                "segments/s8 is new: to create",
                "Where an earlier merge was not applied, its changes come along",
                "run the job of that merge again, then this one",
                "Or open another",
                "`pushplan plan`, then `pushplan apply`",
            ],
        );
        assert!(!ran.stderr.contains("run the plan of"), "a review that is over is no advice: {ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
        if kind == Kind::GitHub {
            // The jobs are run again, in their order.
            team.project.write(&merged(&before, &[7, 8]));
            let ran = team.apply(&second, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            says(&team.host.only(8), &["**Applied to** `local`", "1 created."]);
            team.project.write(&merged(&before, &[7, 8, 9]));
            let ran = team.apply(&third, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            says(&team.host.only(9), &["**Applied to** `local`", "1 created."]);
        } else {
            // Another one shows all remaining work.
            team.host.open(10);
            team.project.write(&merged(&before, &[7, 8, 9, 10]));
            team.commented(10);
            says(&team.host.only(10), &["3 to create", "segments/s8", "segments/s9"]);
            let ran = team.merge_and_apply(10, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            says(&team.host.only(10), &["**Applied to** `local`", "3 created."]);
        }
        assert_eq!(team.run(&["plan", "--detailed-exitcode"], &[]).code, 0);
    }
}
