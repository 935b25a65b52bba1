//! What counts as an approval, and what does not.

use crate::team::Team;
use pushplan_testing::hosts::{KINDS, Kind, WORKFLOW};
use pushplan_testing::says;

#[test]
fn a_comment_of_somebody_else_approves_nothing_whatever_it_says() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.host.open(8);
        team.project.edit("Hello", "Good evening");
        team.commented(8);
        let forged = team.host.only(8);
        team.host.state().add(7, "mallory", &forged, false);
        // A bot that quotes other users has the quote further down.
        let writer = team.host.state().writer().to_owned();
        team.host.state().add(7, &writer, &format!("> {forged}"), false);
        team.host.state().add(7, &writer, &format!("Mallory says:\n{forged}"), false);
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["has no comment of plan-bot with a plan for `local`", "`pushplan ci comment` writes one"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        // Nor is it edited: pushplan writes its own comment then.
        team.host.unmerge(7);
        team.commented(7);
        assert_eq!(team.host.comments(7).len(), 4);
        assert_eq!(team.host.comments(7)[0].body, forged);
        assert_eq!(team.merge_and_apply(7, &[]).code, 0);
        assert_eq!(team.host.comments(7)[0].body, forged);
    }
}

#[test]
fn the_token_of_a_workflow_may_not_ask_who_it_is() {
    let (team, _service) = Team::new(Kind::GitHub);
    team.host.state().user = None;
    team.project.edit("Hello", "Good evening");
    team.commented(7);
    team.commented(7);
    assert_eq!(team.host.comments(7)[0].author, WORKFLOW);
    team.host.only(7);
    let commit = team.host.merge(7);
    // With another token for reading, the author has to be named.
    team.host.state().user = Some("ada".to_owned());
    assert_eq!(team.apply(&commit, &[]).code, 5);
    let mut env = team.on_main(&commit);
    env.push(("PUSHPLAN_CI_AUTHOR", WORKFLOW.to_owned()));
    team.host.state().user = None;
    let ran = team.run(&["apply", "--approved", "--yes"], &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["**Applied to** `local`"]);
}

#[test]
fn the_token_of_an_app_writes_one_comment_and_says_who_it_is() {
    let (team, _service) = Team::new(Kind::GitHub);
    team.host.open(9);
    team.project.edit("Hello", "One");
    team.commented(9);
    let forged = team.host.only(9);
    team.host.state().user = None;
    team.host.state().unasked = "my-app[bot]".to_owned();
    team.host.state().add(7, "mallory", &forged, false);
    for round in 0..4 {
        // A list may be out of date.
        team.host.state().lags = usize::from(round == 2);
        let ran = team.commented(7);
        says(&ran.stderr, &["this token writes as my-app[bot]", "Set PUSHPLAN_CI_AUTHOR to my-app[bot]"]);
        assert_eq!(team.host.own(7).len(), 1, "round {round}: {:#?}", team.host.comments(7));
    }
    team.project.edit("One", "Two");
    says(&team.commented(7).stderr, &["Updated the plan for local"]);
    says(&team.host.only(7), &["Two"]);
    assert_eq!(team.host.comments(7)[0].body, forged);
    let commit = team.host.merge(7);
    let ran = team.apply(&commit, &[]);
    assert_eq!(ran.code, 5, "{ran}");
    says(&ran.stderr, &["has no comment of github-actions[bot]", "PUSHPLAN_CI_AUTHOR: an app writes as NAME[bot]"]);
    let named = |mut env: crate::team::Env, who: &str| {
        env.push(("PUSHPLAN_CI_AUTHOR", who.to_owned()));
        env
    };
    let ran = team.run(&["apply", "--approved", "--yes"], &named(team.on_main(&commit), "my-app[bot]"));
    assert_eq!(ran.code, 0, "{ran}");
    says(&team.host.only(7), &["**Applied to** `local`"]);
    // If the named author does not write the comment, none is written, because it would not be found.
    team.host.open(8);
    let comment = ["ci", "comment", "--plan", "plan.json"];
    let ran = team.run(&comment, &named(team.on_pull(8), "someone-else"));
    assert_eq!(ran.code, 64, "{ran}");
    says(
        &ran.stderr,
        &["writes as my-app[bot], but PUSHPLAN_CI_AUTHOR is someone-else", "set PUSHPLAN_CI_AUTHOR to my-app"],
    );
    assert!(team.host.comments(8).is_empty(), "{:#?}", team.host.comments(8));
    team.host.writes();
    let ran = team.run(&comment, &named(team.on_pull(8), "my-app[bot]"));
    assert_eq!((ran.code, team.host.writes()), (0, vec!["POST".to_owned()]), "{ran}");
}

#[test]
fn nothing_is_approved_before_the_merge() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let body = team.host.only(7);
        service.forget();
        for (arguments, env) in [
            (&["apply", "--approved", "--yes"][..], team.on_pull(7)),
            (&["apply", "--approved", "--yes", "--pull-request", "7"], team.on_main(&"1".repeat(40))),
        ] {
            let ran = team.run(arguments, &env);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["is not merged, so that nothing is approved"]);
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        assert_eq!(team.host.only(7), body);
        // A run for the pull request itself, after the merge, is enough.
        team.host.merge(7);
        let ran = team.run(&["apply", "--approved", "--yes"], &team.on_pull(7));
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}

#[test]
fn a_commit_without_a_pull_request_is_reviewed_by_nobody() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        service.forget();
        let ran = team.apply(&"1".repeat(40), &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["came with no", "nobody has reviewed this plan", "--pull-request NUMBER"]);
        assert!(!ran.stderr.contains("Warning"), "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
        // A pull request that the user names is accepted, if it was merged.
        team.commented(7);
        team.host.merge(7);
        let ran = team.apply(&"1".repeat(40), &["--pull-request", "7"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn a_plan_without_changes_needs_no_approval() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let ran = team.apply(&"1".repeat(40), &[]);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(!ran.stderr.contains("Warning"), "{ran}");
        assert_eq!(team.host.writes(), Vec::<String>::new());
    }
}

/// A named user whose channel does not exist, beside a chain of segments that takes longer.
pub const FAILS_BESIDE_A_CHAIN: &str = "\
segments:
  a: {criteria: {tag: a}}
  b: {criteria: {and: [{segment: a}, {tag: b}]}}
  c: {criteria: {and: [{segment: b}, {tag: c}]}}
named_users:
  u: {channels: [{channel_id: 04cc8283-ae38-4177-b206-6f92cf1992cb, device_type: ios}]}
";

pub const SLOW_CREATIONS: &str = "[[fault]]\nkind = \"delay\"\nms = 400\nmethod = \"POST\"\npath = \"/api/segments\"\n";

/// 300 templates, which do not fit into any comment.
pub fn long() -> String {
    let words = "Long words about a sale that nobody will read to its end. ".repeat(8);
    let template = |number| format!("  t{number}: {{push: {{notification: {{alert: \"{number} {words}\"}}}}}}\n");
    format!("templates:\n{}", (0..300).map(template).collect::<String>())
}

#[test]
fn a_ledger_that_the_next_job_does_not_have_is_refused() {
    for kind in KINDS {
        let (team, service) = crate::targets::team(kind);
        let credentials = team.project.folder.path().join("credentials.toml").display().to_string();
        let run = |arguments: &[&str], env: Vec<(&'static str, String)>| {
            team.run(arguments, &[env, vec![("PUSHPLAN_CREDENTIALS", credentials.clone())]].concat())
        };
        let one = |arguments: &[&'static str]| [arguments, &["--target", "first"]].concat();
        let in_ci = || vec![("CI", "true".to_owned())];
        assert_eq!(run(&one(&["plan", "--out", "plan.json"]), vec![]).code, 0);
        assert_eq!(run(&["ci", "comment", "--plan", "plan.json"], team.on_pull(7)).code, 0);
        let mut merged = team.on_main(&team.host.merge(7));
        merged.retain(|(name, _)| !name.starts_with("PUSHPLAN_"));
        service.forget();
        for (arguments, env) in [
            (one(&["plan", "--out", "later.json"]), in_ci()),
            (vec!["plan", "--all-targets", "--out", "later"], in_ci()),
            (one(&["apply", "--yes"]), in_ci()),
            (vec!["apply", "--all-targets", "--yes"], in_ci()),
            (vec!["apply", "plan.json"], in_ci()),
            (one(&["apply", "--yes"]), vec![("TF_BUILD", "True".to_owned())]),
            (one(&["apply", "--yes"]), vec![("JENKINS_URL", "https://ci.example".to_owned())]),
            (one(&["apply", "--yes"]), vec![("TEAMCITY_VERSION", "2026.1".to_owned())]),
            (one(&["apply", "--yes"]), vec![("CODEBUILD_BUILD_ID", "shop:1".to_owned())]),
            (one(&["apply", "--yes"]), merged.clone()),
            (
                one(&["apply", "--approved", "--yes"]),
                merged.iter().filter(|(name, _)| *name != "GITHUB_ACTIONS" && *name != "GITLAB_CI").cloned().collect(),
            ),
            (one(&["reconcile", "--once"]), in_ci()),
            (one(&["reconcile", "--once", "--drift", "fix"]), in_ci()),
        ] {
            let ran = run(&arguments, env);
            assert_eq!(ran.code, 7, "{arguments:?}: {ran}");
            let said = ran.to_string();
            says(&said, &["is in `.pushplan` of this checkout, which a CI runner deletes after the job"]);
            says(&said, &["send everything again"]);
            if arguments[0] != "reconcile" {
                says(&said, &["write `ledger = \"git\"`", "into [targets.first]", "PUSHPLAN_PERSISTENT_CHECKOUT=1"]);
            }
        }
        assert_eq!(service.writes(), Vec::<String>::new());
        assert!(!team.project.folder.path().join("later.json").exists());
        // Plans are allowed, and so is everything if the checkout stays.
        assert_eq!(run(&one(&["plan"]), in_ci()).code, 0);
        let ran = run(&one(&["apply", "--approved", "--yes"]), team.on_main(&team.host.merge(7)));
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn half_a_plan_is_no_approval_unless_somebody_says_so() {
    for kind in KINDS {
        let team = Team::fresh(kind, &long());
        let service = team.project.serve();
        team.commented(7);
        let body = team.host.only(7);
        says(
            &body,
            &[
                "300 to create",
                "After the merge: `pushplan apply --approved --accept-truncated --yes`",
                "This comment has no room for all of it",
            ],
        );
        let length = body.chars().count();
        assert!((55_000..=65_536).contains(&length), "{length}");
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["shows only a part of the plan, which is no approval", "--accept-truncated"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        says(&team.host.only(7), &["**Held, not applied to** `local`"]);
        // Changes are listed as far as the comment lists them.
        team.project.edit("alert: \"299 Long", "alert: \"299 Short");
        let ran = team.merge_and_apply(7, &["--accept-truncated"]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["the comment has no room for", "more changes"]);
        assert!(!ran.stderr.contains("is new"), "{ran}");
        team.project.edit("alert: \"299 Short", "alert: \"299 Long");
        let ran = team.merge_and_apply(7, &["--accept-truncated"]);
        assert_eq!(ran.code, 0, "{ran}");
        let body = team.host.only(7);
        says(&body, &["**Applied to** `local`", "300 created."]);
    }
}

#[test]
fn what_is_approved_can_be_read_to_its_end() {
    for kind in KINDS {
        // Most of a page is not its text, and the end of an alert matters.
        let manifest = |lines: usize| {
            let page: String =
                (0..lines).map(|at| format!("          <p class=\"line-{at}\">Line {at}</p>\n")).collect();
            let alert = format!("{}the sale ends at midnight", "Long words. ".repeat(40));
            format!(
                "templates:\n  one:\n    push:\n      notification: {{alert: \"{alert}\"}}\n      message:\n        title: Sale\n\
                 {0}content_type: text/html\n{0}body: |\n          <html>\n{page}          </html>\n",
                " ".repeat(8)
            )
        };
        let team = Team::fresh(kind, &manifest(300));
        let service = team.project.serve();
        team.commented(7);
        let body = team.host.only(7);
        says(&body, &["### In full", "at midnight", "line-0", "line-150", "line-299", "302 lines"]);
        assert!(!body.contains("--accept-truncated"), "{body}");
        assert_eq!(team.merge_and_apply(7, &[]).code, 0);
        // A page that does not fit is not approved by its beginning.
        team.project.write(&manifest(4_000));
        team.host.open(8);
        team.commented(8);
        says(&team.host.only(8), &["This comment has no room for all of it"]);
        service.forget();
        let ran = team.merge_and_apply(8, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn who_is_meant_can_be_read_to_the_end() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let who = |tag: &str, user: &str| {
            let users: String = (0..100).map(|number| format!("{{named_user: {user}-{number}}}, ")).collect();
            format!(
                "segments:\n  tagged: {{criteria: {{tag: customers-who-bought-in-the-last-thirty-days-in-{tag}}}}}\n  \
             many: {{criteria: {{or: [{users}]}}}}\npipelines:\n  greets:\n    enabled: true\n    immediate_trigger: {{tag_added: \
             people-who-did-something-long-ago-in-{tag}}}\n    outcome: {{push: {{audience: triggered, device_types: [ios], \
             notification: {{alert: Hi}}}}}}\n"
            )
        };
        for (pull, tag, user) in [(7, "europe", "old"), (8, "the-whole-world", "new")] {
            team.host.open(pull);
            team.project.write(&who(tag, user));
            team.commented(pull);
            let body = team.host.only(pull);
            let tagged = format!("thirty-days-in-{tag}");
            says(&body, &[&tagged, &format!("long-ago-in-{tag}"), &format!("{user}-0\""), &format!("{user}-99\"")]);
            assert!(!body.contains("--accept-truncated"), "{body}");
            assert_eq!(team.merge_and_apply(pull, &[]).code, 0);
        }
    }
}

#[test]
fn who_gets_it_is_approved_with_it() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.host.open(8);
        let before = team.project.folder.read("messages.yaml");
        let push = "scheduled_pushes:\n  internal:\n    schedule: {scheduled_time: 2040-01-01T10:00}\n    \
                push: {audience: {segment: a}, device_types: [ios], notification: {alert: Hi}}\n";
        team.project.write(&format!("{before}{push}"));
        team.commented(7);
        let wider = before.replace("{tag: a}", "{country: US}");
        team.project.write(&wider);
        team.commented(8);
        assert_eq!(team.merge_and_apply(8, &[]).code, 0);
        service.forget();
        team.project.write(&format!("{wider}{push}"));
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["scheduled_pushes/internal is planned differently now"]);
        assert_eq!(service.writes(), Vec::<String>::new());
    }
}

#[test]
fn many_requests_leave_an_approval_whole() {
    for kind in KINDS {
        let (team, _service) = Team::new(kind);
        let members: String = (0..60).map(|number| format!("        u-{number}: [gold]\n")).collect();
        team.project
            .write(&format!("tag_groups:\n  loyalty:\n    tags: [gold]\n    members:\n      named_users:\n{members}"));
        team.commented(7);
        let body = team.host.only(7);
        says(&body, &["u-0", "u-59", "more request"]);
        assert!(!body.contains("--accept-truncated"), "{body}");
        assert_eq!(team.merge_and_apply(7, &[]).code, 0);
        // Removed members are named too, all of them.
        team.host.open(8);
        team.project.write(
            "tag_groups:\n  loyalty:\n    tags: [gold]\n    members:\n      named_users:\n        u-0: [gold]\n",
        );
        assert_eq!(team.comment_refused(8).code, 0);
        let body = team.host.only(8);
        let full = body.split("### In full").nth(1).expect("a part of its own");
        let named = full.lines().filter(|line| line.starts_with("- tag_groups/loyalty/named_users/u-")).count();
        assert_eq!(named, 59 - 20, "twenty stand with their group, the others here:\n{body}");
        assert!(!body.contains("--accept-truncated"), "{body}");
        assert_eq!(team.merge_and_apply(8, &["--allow-deletes", "100"]).code, 0);
    }
}

#[test]
fn an_approval_is_used_up() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        team.commented(7);
        let commit = team.host.merge(7);
        assert_eq!(team.apply(&commit, &[]).code, 0);
        let applied = team.host.only(7);
        team.host.open(8);
        team.project.edit("Good evening", "Hello");
        team.commented(8);
        assert_eq!(team.merge_and_apply(8, &[]).code, 0);
        // The job of the first merge is run again, with the files of that merge.
        team.project.edit("Hello", "Good evening");
        service.forget();
        let ran = team.apply(&commit, &[]);
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["is applied already, which uses its approval up", "Open another"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        assert_eq!(team.host.only(7), applied);
    }
}

#[test]
fn a_comment_made_from_an_offline_plan_is_no_approval() {
    for kind in KINDS {
        let (team, service) = Team::new(kind);
        team.project.edit("Hello", "Good evening");
        let comment = |plan: &[&str]| {
            let ran = team.run(plan, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            let ran = team.comment_on(7, &[]);
            assert_eq!(ran.code, 0, "{ran}");
            team.host.only(7)
        };
        let body = comment(&["plan", "--offline", "--out", "plan.json"]);
        says(
            &body,
            &["> Compared with the ledger", "not with the service", "1 to update", "a merge does not approve it"],
        );
        assert!(!body.contains("After the merge") && !body.contains("is applied, or nothing"), "{body}");
        service.forget();
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["was not compared with the service", "approves nothing", "pushplan plan --out FILE"]);
        assert_eq!(service.writes(), Vec::<String>::new());
        says(&team.host.only(7), &["**Held, not applied to** `local`", "was not compared with the service"]);
        // Compared with the service, these changes are another plan, which can be approved.
        team.host.unmerge(7);
        let body = comment(&["plan", "--out", "plan.json"]);
        says(&body, &["1 to update", "is applied, or nothing"]);
        assert!(!body.contains("Compared with"), "{body}");
        let ran = team.merge_and_apply(7, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(&team.host.only(7), &["**Applied to** `local`"]);
    }
}

#[test]
fn a_comment_of_a_newer_version_is_neither_an_approval_nor_written_over() {
    for kind in KINDS {
        for (from, to, why) in [
            ("templates/winback", "journeys/winback", "`journeys/winback` has an unknown kind: `journeys`"),
            ("\"form\":2", "\"form\":2,\"waits\":true", "unknown field `waits`"),
            ("\"form\":2", "\"form\":3", "it has the format 3"),
        ] {
            let (team, service) = Team::new(kind);
            team.project.edit("Hello", "Good evening");
            team.commented(7);
            let body = team.host.only(7);
            let newer = body.replacen(from, to, 1);
            assert_ne!(newer, body, "{from}");
            team.host.state().pulls.get_mut(&7).expect("a pull request").comments[0].body.clone_from(&newer);
            service.forget();
            let ran = team.comment(7, &[]);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["the comment with the plan for `local` was written by a newer pushplan", why]);
            let ran = team.merge_and_apply(7, &[]);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["was written by a newer pushplan", why, "nothing was changed; use pushplan"]);
            assert_eq!(service.writes(), Vec::<String>::new());
            assert_eq!(team.host.only(7), newer);
        }
    }
}
