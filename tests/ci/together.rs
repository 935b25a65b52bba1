//! Environments that are planned in jobs with credentials of their own: a job without credentials shows all plans in one comment.

use std::fs::{Permissions, create_dir_all, read_dir, remove_dir_all, remove_file, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pushplan_testing::hosts::{KINDS, Kind};
use pushplan_testing::{Ran, Service, says};
use serde_json::Value;

use crate::component::job;
use crate::runner::{Runner, copy};
use crate::team::{Env, TWO, Team, outside, ran};
use crate::yaml::document;

/// The environments in the order of a rollout, with their targets.
const ENVIRONMENTS: [(&str, &[&str]); 3] =
    [("dev", &["shop-dev"]), ("staging", &["shop-stage"]), ("production", &["cafe-live", "shop-live"])];
const COMMENT: [&str; 6] = ["ci", "comment", "--plan", "plans", "--target", "dev,staging,production"];

struct Shops {
    team: Team,
    service: Service,
}

impl Shops {
    fn new(kind: Kind) -> Self {
        let team = Team::fresh(kind, TWO);
        let targets = ENVIRONMENTS.iter().flat_map(|(_, targets)| *targets);
        let apps: Vec<String> = targets.clone().map(|name| format!("{name}:secret")).collect();
        let options: Vec<&str> = apps.iter().flat_map(|app| ["--app", app]).collect();
        let service = team.project.serve_with(&options);
        let target = |name: &&str| {
            let origin = &service.origin;
            format!(
                "[targets.{name}]\nbase_url = \"{origin}\"\napi = \"extended\"\nsettle = \"1s\"\nledger = \"file:\"\n"
            )
        };
        let group = |(name, targets): &(&str, &[&str])| format!("[groups.{name}]\ntargets = {targets:?}\n");
        let settings = targets.map(target).chain(ENVIRONMENTS.iter().map(group)).collect::<String>();
        team.project.folder.write("pushplan.toml", settings);
        let shops = Self { team, service };
        ENVIRONMENTS.iter().for_each(|(name, _)| shops.give(name, "secret"));
        shops
    }

    fn path(&self) -> &Path {
        self.team.project.folder.path()
    }

    /// Turns the folder into a checkout.
    fn init(&self) {
        let ran = ran(outside("git").args(["init", "-q", "-b", "main"]).current_dir(self.path()));
        assert_eq!(ran.code, 0, "{ran}");
    }

    /// Writes the credentials of one environment.
    fn give(&self, environment: &str, secret: &str) {
        let (_, targets) = ENVIRONMENTS.iter().find(|(name, _)| *name == environment).expect("an environment");
        let origin = &self.service.origin;
        let section =
            |name: &&str| format!("[\"{origin}\".{name}]\napp_key = \"{name}\"\nmaster_secret = \"{secret}\"\n");
        let sections: String = targets.iter().map(section).collect();
        let file = self.team.project.folder.write(&format!("{environment}.credentials"), sections);
        set_permissions(file, Permissions::from_mode(0o600)).expect("permissions");
    }

    /// The credentials of one environment: a pair for one target, and a file for several.
    fn of(&self, environment: &str, env: Env) -> Env {
        let name = format!("{environment}.credentials");
        let text = self.team.project.folder.read(&name);
        let own = match ENVIRONMENTS.iter().find(|(name, _)| *name == environment) {
            Some((_, [target])) => {
                let secret = if text.contains("revoked") { "revoked" } else { "secret" };
                let pair = [("PUSHPLAN_APP_KEY", *target), ("PUSHPLAN_MASTER_SECRET", secret)];
                let all = [("PUSHPLAN_ORIGIN", self.service.origin.as_str())].into_iter().chain(pair);
                all.map(|(name, value)| (name, value.to_owned())).collect()
            }
            _ => vec![("PUSHPLAN_CREDENTIALS", self.path().join(name).display().to_string())],
        };
        [env, own].concat()
    }

    /// Plans an environment with its own credentials. Returns the exit code.
    fn plan(&self, environment: &str) -> i32 {
        let plan = ["plan", "--target", environment, "--out", "plans/"];
        self.team.run(&plan, &self.of(environment, vec![])).code
    }

    /// Runs the job that has no credentials.
    #[track_caller]
    fn comment(&self) -> String {
        let ran = self.team.run(&COMMENT, &self.team.on_pull(7));
        assert_eq!(ran.code, 0, "{ran}");
        self.team.host.only(7)
    }

    fn apply(&self, environment: &str, commit: &str) -> Ran {
        let apply = ["apply", "--target", environment, "--approved", "--yes"];
        self.team.run(&apply, &self.of(environment, self.team.on_main(commit)))
    }
}

#[test]
fn each_environment_is_applied_from_the_one_comment_with_its_own_credentials() {
    for kind in KINDS {
        let shops = Shops::new(kind);
        ENVIRONMENTS.iter().for_each(|(name, _)| assert_eq!(shops.plan(name), 0, "{name}"));
        shops.team.host.state().asked.clear();
        let body = shops.comment();
        assert!(shops.team.host.state().asked.len() <= 10, "{:?}", shops.team.host.state().asked);
        says(&body, &["## Plan for 4 targets: 4 with changes", "exactly these plans are applied"]);
        assert_eq!(body.matches("<details><summary>+ segments/a").count(), 1, "{body}");
        let commit = shops.team.host.merge(7);
        for (environment, targets) in ENVIRONMENTS {
            let ran = shops.apply(environment, &commit);
            assert_eq!(ran.code, 0, "{ran}");
            let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
            let body = shops.team.host.only(7);
            says(&body, &[&names.join(", "), "2 created."]);
            assert_eq!(body.contains("On the merge"), environment != "production", "{body}");
        }
    }
}

#[test]
fn an_edit_of_the_comment_holds_all_environments() {
    for kind in KINDS {
        let shops = Shops::new(kind);
        ENVIRONMENTS.iter().for_each(|(name, _)| assert_eq!(shops.plan(name), 0, "{name}"));
        shops.comment();
        shops.team.host.edit_by_hand(7, |body| body.replace("Hello", "Good evening"));
        let commit = shops.team.host.merge(7);
        for (environment, _) in ENVIRONMENTS {
            let ran = shops.apply(environment, &commit);
            assert_eq!(ran.code, 7, "{ran}");
            says(&ran.stderr, &["was edited after pushplan wrote it"]);
        }
        assert_eq!(shops.service.writes(), Vec::<String>::new());
    }
}

#[test]
fn an_environment_whose_job_fails_is_shown_and_not_approved() {
    for kind in KINDS {
        let shops = Shops::new(kind);
        ENVIRONMENTS.iter().for_each(|(name, _)| assert_eq!(shops.plan(name), 0, "{name}"));
        shops.comment();
        // The secret of one environment is revoked, and the job of another one ends before it plans.
        remove_dir_all(shops.path().join("plans")).expect("a folder");
        shops.give("dev", "revoked");
        assert_eq!((shops.plan("dev"), shops.plan("production")), (4, 0));
        let body = shops.comment();
        says(
            &body.replace('\\', ""),
            &[
                "## Plan for 4 targets: 2 with changes, 2 failed",
                "| shop-dev | failed: ",
                "| shop-stage | failed: no plan was saved",
                "| Environment | With changes | Failed | Create |",
                "| staging | 0 of 1 | 1 | 0 |",
                "| production | 2 of 2 | 0 | 4 |",
                "`shop-dev`, `shop-stage` could not be planned, so nothing of them is approved.",
            ],
        );
        shops.give("dev", "secret");
        let commit = shops.team.host.merge(7);
        for environment in ["dev", "staging"] {
            let ran = shops.apply(environment, &commit);
            assert_eq!(ran.code, 5, "{ran}");
            says(&ran.stderr, &["has no comment of plan-bot with a plan for"]);
        }
        assert_eq!(shops.service.writes(), Vec::<String>::new());
        let ran = shops.apply("production", &commit);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

#[test]
fn no_job_that_saved_a_plan_leaves_nothing_approved() {
    let shops = Shops::new(Kind::GitHub);
    create_dir_all(shops.path().join("plans")).expect("a folder");
    says(&shops.comment(), &["## Plan for 4 targets: 4 failed", "no plan was saved"]);
    // Without expected targets, an empty folder is a mistake, and so is a target that does not exist.
    let ran = shops.team.run(&COMMENT[..4], &shops.team.on_pull(7));
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["plans is a folder without a plan"]);
    let ran = shops.team.run(&[&COMMENT[..5], &["dev,prodution"]].concat(), &shops.team.on_pull(7));
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["did you mean `production`?"]);
}

#[test]
fn an_environment_without_credentials_is_read_only_beside_the_others() {
    for kind in KINDS {
        let shops = Shops::new(kind);
        assert_eq!((shops.plan("dev"), shops.plan("staging")), (0, 0));
        let ran = shops.team.run(&["plan", "--target", "production", "--out", "plans/", "--offline"], &[]);
        assert_eq!(ran.code, 0, "{ran}");
        says(
            &shops.comment(),
            &[
                "`cafe-live`, `shop-live` were not compared with the service: a merge does not approve them. On the merge, \
                 exactly the other plans are applied, each as it is shown, or nothing.",
            ],
        );
        let commit = shops.team.host.merge(7);
        let ran = shops.apply("production", &commit);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["was not compared with the service: it is for reading, and approves nothing"]);
        let ran = shops.apply("dev", &commit);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

/// The inputs of a step or of a component.
fn inputs(with: &Value) -> Vec<(&str, &str)> {
    let all = with.as_object().expect("inputs").iter();
    all.map(|(name, value)| (name.as_str(), value.as_str().expect("a text"))).collect()
}

/// The generated workflow, whose jobs are run as GitHub runs them.
#[test]
fn the_jobs_of_the_workflow_share_a_comment() {
    let shops = Shops::new(Kind::GitHub);
    shops.init();
    let ran = shops.team.run(&["ci", "init", "github"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let workflow = document(&shops.team.project.folder.read(".github/workflows/pushplan.yml"));
    let runner = Runner::new(shops.path());
    let run = |name: &str, event: &str, env: Env| {
        let given = &workflow["jobs"][name]["steps"][1]["with"];
        let mut given = inputs(given);
        if let Some((_, command)) = given.iter_mut().find(|(name, _)| *name == "command") {
            assert!(!command.contains("${{") || command.ends_with("'drift' || 'plan' }}"), "{command}");
            *command = if command.contains("${{") { "plan" } else { command };
        }
        let more = vec![("GITHUB_JOB", name.to_owned()), ("GITHUB_EVENT_NAME", event.to_owned())];
        runner.job(&given, &[env, more].concat())
    };
    let plan = |environment: &str| {
        let env = shops.of(environment, shops.team.on_pull(7));
        run(&format!("plan-{environment}"), "pull_request", env)
    };
    for (environment, _) in ENVIRONMENTS {
        let used = plan(environment);
        assert_eq!((used.code, used.summary.as_str()), (0, ""), "{}", used.log);
        assert!(used.output("plan-file").ends_with("/plans"), "{}", used.output("plan-file"));
    }
    assert_eq!(shops.team.host.own(7), Vec::<String>::new(), "the jobs with credentials write nothing");
    let used = run("comment", "pull_request", shops.team.on_pull(7));
    assert_eq!((used.code, used.output("changes")), (0, "8"), "{}", used.log);
    says(&used.summary, &["## Plan for 4 targets: 4 with changes"]);
    says(&shops.team.host.only(7), &["## Plan for 4 targets: 4 with changes"]);
    // The next commit: a secret was revoked meanwhile, and what that job stored before counts no more.
    shops.give("staging", "revoked");
    let used = plan("staging");
    assert_eq!(used.code, 4, "{}", used.log);
    let used = run("comment", "pull_request", shops.team.on_pull(7));
    assert_eq!(used.code, 0, "{}", used.log);
    says(&shops.team.host.only(7).replace('\\', ""), &["| shop-stage | failed: "]);
    shops.give("staging", "secret");
    assert_eq!(plan("staging").code, 0);
    assert_eq!(run("comment", "pull_request", shops.team.on_pull(7)).code, 0);
    let commit = shops.team.host.merge(7);
    for (environment, targets) in ENVIRONMENTS {
        let env = shops.of(environment, shops.team.on_main(&commit));
        let used = run(&format!("apply-{environment}"), "push", env);
        assert_eq!(used.code, 0, "{}", used.log);
        says(&shops.team.host.only(7), &[&format!("`{}`", targets[0]), "2 created."]);
    }
    assert_eq!(shops.team.host.own(7).len(), 1);
    // A token that may not write fails the job, unless it is a fork's, which has no credentials.
    let artifacts = shops.path().join(".git/artifacts");
    shops.team.host.open(8);
    shops.team.project.edit("Hello", "Good evening");
    shops.team.host.state().writes = false;
    for (environment, _) in ENVIRONMENTS {
        let env = shops.of(environment, shops.team.on_pull(8));
        assert_eq!(run(&format!("plan-{environment}"), "pull_request", env).code, 0);
    }
    let used = run("comment", "pull_request", shops.team.on_pull(8));
    assert_eq!(used.code, 4, "{}", used.log);
    for artifact in read_dir(&artifacts).expect("a folder").map(|file| file.expect("a file").path()) {
        for file in read_dir(artifact).expect("a folder").map(|file| file.expect("a file").path()) {
            let is_mark = file.extension().is_some_and(|end| end == "compared");
            is_mark.then(|| remove_file(file).expect("a file"));
        }
    }
    let used = run("comment", "pull_request", shops.team.on_pull(8));
    assert_eq!(used.code, 0, "{}", used.log);
    assert!(used.log.contains("Warning: the comment was not written"), "{}", used.log);
}

/// The generated pipeline, whose jobs are run as GitLab runs them.
#[test]
fn the_jobs_of_the_pipeline_share_a_note() {
    let shops = Shops::new(Kind::GitLab);
    shops.init();
    let ran = shops.team.run(&["ci", "init", "gitlab"], &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let pipeline = document(&shops.team.project.folder.read(".gitlab-ci.yml"));
    let (plans, stored) = (shops.path().join(".pushplan-ci/plans"), shops.path().join(".git/stored"));
    let run = |name: &str, environment: &str, env: Env| {
        let uses = pipeline["include"].as_array().expect("a list").iter().map(|one| &one["inputs"]);
        let of = uses.clone().find(|inputs| inputs["suffix"] == format!("-{environment}")).expect("the component");
        let (base, _) = name.split_at(name.len() - environment.len() - 1);
        let more = vec![("CI_JOB_ID", name.len().to_string())];
        job(&shops.team, base, &inputs(of), &shops.of(environment, [env, more].concat()))
    };
    for (environment, _) in ENVIRONMENTS {
        // Each job has its own checkout, and stores its files for later jobs.
        let _ = remove_dir_all(&plans);
        let ran = run(&format!("pushplan-plan-{environment}"), environment, shops.team.on_pull(7));
        assert_eq!(ran.code, 0, "{ran}");
        copy(&plans, &stored);
    }
    assert_eq!(shops.team.host.own(7), Vec::<String>::new(), "the jobs with credentials write nothing");
    let _ = remove_dir_all(&plans);
    copy(&stored, &plans);
    let note = &pipeline["pushplan-comment"];
    assert_eq!(note["extends"], ".pushplan-comment-dev");
    let target = note["variables"]["PUSHPLAN_CI_TARGET"].as_str().expect("targets");
    let given = [("target", target), ("comment", "together")];
    let ran = job(&shops.team, ".pushplan-comment", &given, &shops.team.on_pull(7));
    assert_eq!(ran.code, 0, "{ran}");
    says(&shops.team.host.only(7), &["## Plan for 4 targets: 4 with changes"]);
    let commit = shops.team.host.merge(7);
    for (environment, targets) in ENVIRONMENTS {
        let ran = run(&format!("pushplan-apply-{environment}"), environment, shops.team.on_main(&commit));
        assert_eq!(ran.code, 0, "{ran}");
        says(&shops.team.host.only(7), &[&format!("`{}`", targets[0]), "2 created."]);
    }
    // A job that stored nothing has failed. The fork's token, or none, is only a warning.
    shops.team.host.open(8);
    remove_dir_all(&plans).expect("a folder");
    let ran = job(&shops.team, ".pushplan-comment", &given, &shops.team.on_pull(8));
    assert_eq!(ran.code, 0, "{ran}");
    says(&shops.team.host.only(8), &["## Plan for 4 targets: 4 failed"]);
    let env: Env = shops.team.on_pull(8).into_iter().filter(|(name, _)| *name != "GITLAB_TOKEN").collect();
    let ran = job(&shops.team, ".pushplan-comment", &given, &env);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["Warning: the comment was not written"]);
    copy(&stored, &plans);
    let ran = job(&shops.team, ".pushplan-comment", &given, &env);
    assert_eq!(ran.code, 4, "{ran}");
}
