//! Promotions in pull requests: a comment shows them, and `promote --approved` applies them after the merge.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use pushplan_testing::hosts::{KINDS, Kind};
use pushplan_testing::{Ran, Service, says};
use serde_json::json;

use crate::team::{Env, TWO, Team};

const PROMOTE: [&str; 5] = ["promote", "--from", "staging", "--to", "production"];
const APPROVED: [&str; 7] = ["promote", "--from", "staging", "--to", "production", "--approved", "--yes"];
const TARGETS: [&str; 4] = ["cafe-production", "cafe-staging", "shop-production", "shop-staging"];

struct Brands {
    team: Team,
    service: Service,
}

impl Brands {
    /// Two brands whose staging has everything.
    fn new(kind: Kind) -> Self {
        let team = Team::fresh(kind, TWO);
        let apps = TARGETS.map(|name| format!("{name}:secret"));
        let options: Vec<&str> = apps.iter().flat_map(|app| ["--app", app]).collect();
        let service = team.project.serve_with(&options);
        let origin = &service.origin;
        let matrix = "[matrix]\nbrand = [\"shop\", \"cafe\"]\nstage = [\"staging\", \"production\"]\n";
        let target = format!(
            "[matrix.target]\nbase_url = \"{origin}\"\napi = \"extended\"\nsettle = \"1s\"\nledger = \"file:\"\n"
        );
        team.project.folder.write("pushplan.toml", format!("{matrix}{target}"));
        let section = |name| format!("[\"{origin}\".{name}]\napp_key = \"{name}\"\nmaster_secret = \"secret\"\n");
        let file = team.project.folder.write("credentials.toml", TARGETS.map(section).concat());
        set_permissions(file, Permissions::from_mode(0o600)).expect("permissions");
        let brands = Self { team, service };
        brands.good(&["apply", "--target", "staging", "--yes"], &vec![]);
        brands
    }

    fn run(&self, arguments: &[&str], env: &Env) -> Ran {
        let file = self.team.project.folder.path().join("credentials.toml").display().to_string();
        self.team.run(arguments, &[env.clone(), vec![("PUSHPLAN_CREDENTIALS", file)]].concat())
    }

    #[track_caller]
    fn good(&self, arguments: &[&str], env: &Env) -> Ran {
        let ran = self.run(arguments, env);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// Shows the promotion on the pull request, and merges it.
    fn reviewed(&self) -> Env {
        self.good(&[&PROMOTE[..], &["--out", "plans"]].concat(), &vec![]);
        self.good(&["ci", "comment", "--plan", "plans"], &self.team.on_pull(7));
        let commit = self.team.host.merge(7);
        self.team.on_main(&commit)
    }

    /// Someone creates a segment with the name of a declared one.
    fn create_in_the_dashboard(&self, app: &str) {
        let body = json!({"display_name": "a", "criteria": {"tag": "theirs"}});
        let (status, _) = self.service.ask_as((app, "secret"), reqwest::Method::POST, "/api/segments", Some(&body));
        assert!(status < 300);
    }
}

#[test]
fn reviewed_promotions_are_applied_after_the_merge() {
    for kind in KINDS {
        let brands = Brands::new(kind);
        let main = brands.reviewed();
        let body = brands.team.host.only(7);
        says(
            &body,
            &[
                "## Plan for 2 targets: 2 with changes",
                "After the merge, `pushplan promote --approved` applies exactly these plans",
                "Once this is merged: `pushplan promote --from cafe-staging,shop-staging --to cafe-production,shop-production --approved --yes`",
                "| from cafe-staging: No message changes.",
            ],
        );
        let writes = brands.service.writes();
        // The plan of the files was not reviewed.
        let ran = brands.run(&["apply", "--target", "production", "--approved", "--yes"], &main);
        assert_eq!(ran.code, 5, "{ran}");
        assert_eq!(brands.service.writes(), writes);
        brands.good(&APPROVED, &main);
        says(&brands.team.host.only(7), &["**Applied to** `cafe-production`, `shop-production`", "2 created."]);
        // The approval is used up.
        let ran = brands.good(&APPROVED, &main);
        says(&ran.stdout, &["2 targets, none with changes."]);
    }
}

#[test]
fn a_promotion_that_moved_holds_the_others_back() {
    for kind in KINDS {
        let brands = Brands::new(kind);
        let main = brands.reviewed();
        brands.create_in_the_dashboard("cafe-production");
        let ran = brands.run(&APPROVED, &main);
        assert_eq!(ran.code, 5, "{ran}");
        let body = brands.team.host.only(7);
        says(&body, &["**Held, not applied to** `cafe-production`", "segments/a is planned differently now"]);
        says(&body, &["**Held, not applied to** `shop-production`", "`cafe-production` was not applied as planned"]);
        let command = "pushplan promote --from cafe-staging --to cafe-production";
        says(&body.replace('\\', ""), &[command]);
        let ran = brands.run(&[&APPROVED[..], &["--on-error", "continue"]].concat(), &main);
        assert_eq!(ran.code, 6, "{ran}");
        says(&brands.team.host.only(7), &["**Applied to** `shop-production`"]);
    }
}

#[test]
fn a_promotion_that_nobody_reviewed_is_refused() {
    for kind in KINDS {
        let brands = Brands::new(kind);
        let ran = brands.run(&APPROVED[..6], &vec![]);
        assert_eq!(ran.code, 64, "{ran}");
        says(&ran.stderr, &["needs --yes"]);
        let commit = brands.team.host.merge(7);
        let writes = brands.service.writes();
        for promotion in
            [&APPROVED[..], &["promote", "--from", "shop-staging", "--to", "shop-production", "--approved", "--yes"]]
        {
            let ran = brands.run(promotion, &brands.team.on_main(&commit));
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["has no comment of"]);
        }
        assert_eq!(brands.service.writes(), writes);
    }
}
