//! Targets that cannot be planned: the comment and the page of the job name them with the reason, and nothing of them is approved.

use pushplan_testing::hosts::KINDS;
use pushplan_testing::says;

use crate::shops::Shops;

/// The text before the impact and the changes, without the hidden line.
fn first_screen(body: &str) -> String {
    body.lines().skip(1).take_while(|line| !line.starts_with("- **")).collect::<Vec<_>>().join("\n")
}

const ALL: [&str; 4] = ["apply", "--approved", "--yes", "--all-targets"];

#[test]
fn three_of_120_targets_that_fail_are_named_first_and_the_others_are_applied() {
    for kind in KINDS {
        let shops = Shops::new(kind, 120);
        let (revoked, unreachable, broken) = ("shop-007", "shop-042", "shop-099");
        shops.good(&["apply", "--target", broken, "--yes"], &vec![]);
        shops.damage(broken);
        shops.settle(unreachable, "");
        shops.give(revoked);
        assert_eq!(shops.comment(), 1);
        let body = shops.team.host.only(7);
        let first = first_screen(&body).replace('\\', "");
        says(
            &first,
            &[
                "## Plan for 120 targets: 117 with changes, 3 failed",
                "3 targets could not be planned, so nothing of them is approved:",
                "| shop-007 | failed: ",
                "| shop-042 | failed: ",
                "| shop-099 | failed: ",
            ],
        );
        says(&body, &["`shop-007`, `shop-042`, `shop-099` could not be planned, so nothing of them is approved."]);
        says(&body, &["pushplan apply --approved --yes --on-error continue --all-targets"]);
        let hidden = body.lines().next().expect("a hidden line");
        assert!(
            hidden.contains("shop-006") && [revoked, unreachable, broken].iter().all(|name| !hidden.contains(name))
        );
        let page = shops.good(&["ci", "summary", "--plan", "plans"], &vec![]);
        assert!(page.stdout.starts_with("## Plan for 120 targets: 117 with changes, 3 failed\n"), "{page}");
        says(&page.stdout.replace('\\', ""), &["| shop-007 | failed: "]);

        let commit = shops.team.host.merge(7);
        let ran = shops.run(&[&ALL[..], &["--on-error", "continue"]].concat(), &shops.team.on_main(&commit));
        assert_eq!(ran.code, 6, "{ran}");
        says(&ran.stdout, &["120 targets: 3 failed, 117 applied."]);
        let body = shops.team.host.only(7);
        says(&body, &["**Applied to** `shop-000`", "2 created."]);
        says(&body.replace('\\', ""), &["| shop-042 | failed: "]);
    }
}

#[test]
fn a_target_without_a_plan_is_not_approved_although_it_was_before() {
    for kind in KINDS {
        let shops = Shops::new(kind, 2);
        assert_eq!(shops.comment(), 0);
        assert!(shops.team.host.only(7).lines().next().expect("a line").contains("shop-001"));
        shops.give("shop-001");
        assert_eq!(shops.comment(), 4);
        let body = shops.team.host.only(7);
        says(&first_screen(&body).replace('\\', ""), &["1 with changes, 1 failed", "| shop-001 | failed: "]);
        // Its credentials are back, but nobody has seen its plan.
        shops.give("");
        let commit = shops.team.host.merge(7);
        let ran = shops.run(&["apply", "--approved", "--yes", "--target", "shop-001"], &shops.team.on_main(&commit));
        assert_eq!(ran.code, 5, "{ran}");
        says(&ran.stderr, &["has no comment of plan-bot with a plan for `shop-001`"]);
        assert_eq!(shops.service.writes(), Vec::<String>::new());
        shops.good(&["apply", "--approved", "--yes", "--target", "shop-000"], &shops.team.on_main(&commit));
        says(&shops.team.host.only(7), &["**Applied to** `shop-000`"]);
    }
}

#[test]
fn a_comment_without_any_plan_is_replaced_when_there_are_plans() {
    for kind in KINDS {
        let shops = Shops::new(kind, 2);
        let folder = &shops.team.project.folder;
        let credentials = folder.read("credentials.toml");
        folder.write("credentials.toml", credentials.replace("\"secret\"", "\"revoked\""));
        for _ in 0..2 {
            assert_eq!(shops.comment(), 4);
            let body = shops.team.host.only(7);
            says(&body, &["2 targets: 2 failed", "could not be planned, so nothing of them is approved."]);
        }
        shops.give("");
        assert_eq!(shops.comment(), 0);
        let body = shops.team.host.only(7);
        says(&body, &["## Plan for 2 targets: 2 with changes"]);
        assert!(!body.contains("could not be planned"), "{body}");
        assert_eq!(folder.path().join("plans/shop-001.failed").try_exists().ok(), Some(false));
    }
}

#[test]
fn an_apply_of_the_folder_names_the_targets_without_a_plan() {
    for kind in KINDS {
        let shops = Shops::new(kind, 2);
        shops.give("shop-001");
        assert_eq!(shops.run(&["plan", "--all-targets", "--out", "plans"], &vec![]).code, 4);
        let ran = shops.run(&["apply", "plans"], &vec![]);
        assert_eq!(ran.code, 6, "{ran}");
        says(&ran.stderr, &["shop-001 is not applied, because it could not be planned: "]);
        // A reason is data of others: it is shown as text.
        let file =
            "{\"format\":1,\"tool\":\"0\",\"target\":\"shop-001\",\"message\":\"<img src=x> | `x`\\n<!-- y -->\"}";
        shops.team.project.folder.write("plans/shop-001.failed", file);
        let page = shops.good(&["ci", "summary", "--plan", "plans"], &vec![]).stdout;
        assert!(!page.contains("<img") && !page.contains("<!--"), "{page}");
        for (text, why) in [
            ("no", "does not say why"),
            ("{\"format\":2,\"tool\":\"9\",\"target\":\"a\",\"message\":\"\"}", "another version of pushplan, 9"),
        ] {
            shops.team.project.folder.write("plans/shop-001.failed", text);
            let ran = shops.run(&["ci", "summary", "--plan", "plans"], &vec![]);
            assert!(ran.code != 0 && ran.stderr.contains(why), "{ran}");
        }
    }
}
