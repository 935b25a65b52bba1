//! A team with a project and a code host, and the commands of its workflows.

use std::path::Path;
use std::process::{Command, Stdio};

use pushplan_testing::hosts::{Host, Kind, TOKEN};
use pushplan_testing::{Project, Ran, Service, outside_ci};
use serde_json::json;

/// One segment and one template.
pub const TWO: &str = "\
segments:
  a: {criteria: {tag: a}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

pub type Env = Vec<(&'static str, String)>;

pub struct Team {
    pub project: Project,
    pub host: Host,
    pub kind: Kind,
}

/// A program that cannot detect the CI system of this test, and finds the binary on its path.
pub fn outside(program: &str) -> Command {
    let mut command = Command::new(program);
    outside_ci(&mut command);
    let binary = Path::new(env!("CARGO_BIN_EXE_pushplan")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", binary.display())).stdin(Stdio::null());
    command
}

/// The result of a command. Its output never contains the token.
pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let ran = Ran {
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        code: output.status.code().expect("no signal"),
    };
    assert!(!ran.to_string().contains(TOKEN), "the token is told: {ran}");
    ran
}

impl Team {
    /// A team that has applied its project once, with one pull request open.
    pub fn new(kind: Kind) -> (Self, Service) {
        let team = Self::fresh(kind, TWO);
        let service = team.project.serve();
        let ran = team.run(&["apply", "--yes"], &[]);
        assert_eq!(ran.code, 0, "{ran}");
        (team, service)
    }

    /// A team that has applied nothing yet, with one pull request open.
    pub fn fresh(kind: Kind, manifest: &str) -> Self {
        // Applies of merges need a permanent ledger: all runs share the folder, as `env` sets it.
        let project = Project::with(manifest, "ledger = \"file:\"\n");
        let team = Self { project, host: Host::start(kind), kind };
        team.host.open(7);
        team
    }

    /// Runs the binary in the project's folder with this environment of a CI system. The output never contains the
    /// token.
    pub fn run(&self, arguments: &[&str], env: &[(&'static str, String)]) -> Ran {
        self.run_in(self.project.folder.path(), arguments, env)
    }

    pub fn run_in(&self, folder: &Path, arguments: &[&str], env: &[(&'static str, String)]) -> Ran {
        let mut command = outside(env!("CARGO_BIN_EXE_pushplan"));
        let env = env.iter().map(|(name, value)| (*name, value.as_str()));
        command.args(arguments).current_dir(folder).envs(env);
        ran(&mut command)
    }

    /// The environment of any run.
    fn env(&self, commit: &str) -> Env {
        let origin = &self.host.origin;
        let mut env = match self.kind {
            Kind::GitHub => vec![
                ("GITHUB_ACTIONS", "true".to_owned()),
                ("GITHUB_API_URL", format!("{origin}/api/v3")),
                ("GITHUB_REPOSITORY", "shop/messages".to_owned()),
                ("GITHUB_TOKEN", TOKEN.to_owned()),
                ("GITHUB_SHA", commit.to_owned()),
            ],
            Kind::GitLab => vec![
                ("GITLAB_CI", "true".to_owned()),
                ("CI_API_V4_URL", format!("{origin}/api/v4")),
                ("CI_PROJECT_ID", "42".to_owned()),
                ("GITLAB_TOKEN", TOKEN.to_owned()),
                ("CI_DEFAULT_BRANCH", "main".to_owned()),
                ("CI_COMMIT_SHA", commit.to_owned()),
            ],
        };
        env.push(("PUSHPLAN_PERSISTENT_CHECKOUT", "1".to_owned()));
        env
    }

    /// The environment of a run for a pull request.
    pub fn on_pull(&self, number: u64) -> Env {
        let mut env = self.env("c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00");
        env.push(match self.kind {
            Kind::GitHub => ("GITHUB_REF", format!("refs/pull/{number}/merge")),
            Kind::GitLab => ("CI_MERGE_REQUEST_IID", number.to_string()),
        });
        env
    }

    /// The environment of a run for a commit on the main branch.
    pub fn on_main(&self, commit: &str) -> Env {
        let mut env = self.env(commit);
        env.push(match self.kind {
            Kind::GitHub => ("GITHUB_REF", "refs/heads/main".to_owned()),
            Kind::GitLab => ("CI_COMMIT_BRANCH", "main".to_owned()),
        });
        env
    }

    /// Runs the commands of the workflow for pull requests. `apply` would accept the plan.
    #[track_caller]
    pub fn comment(&self, number: u64, options: &[&str]) -> Ran {
        self.plan_with(0);
        self.comment_on(number, options)
    }

    /// Runs the commands of the workflow for pull requests. `apply` would refuse the plan; it is reviewed anyway.
    #[track_caller]
    pub fn comment_refused(&self, number: u64) -> Ran {
        self.plan_with(7);
        self.comment_on(number, &[])
    }

    /// Plans and saves the plan, with this exit code.
    #[track_caller]
    fn plan_with(&self, code: i32) {
        let ran = self.run(&["plan", "--out", "plan.json"], &[]);
        assert_eq!(ran.code, code, "{ran}");
    }

    /// Runs `ci comment` for a pull request, with a plan that was saved before.
    pub fn comment_on(&self, number: u64, options: &[&str]) -> Ran {
        self.run(&[&["ci", "comment", "--plan", "plan.json"], options].concat(), &self.on_pull(number))
    }

    /// Plans and comments like the workflow for pull requests. Both have to succeed.
    #[track_caller]
    pub fn commented(&self, number: u64) -> Ran {
        let ran = self.comment(number, &[]);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// Merges a pull request, and runs the commands of the workflow for a merge.
    pub fn merge_and_apply(&self, number: u64, options: &[&str]) -> Ran {
        let commit = self.host.merge(number);
        self.apply(&commit, options)
    }

    /// Runs the commands of the workflow for a merge.
    pub fn apply(&self, commit: &str, options: &[&str]) -> Ran {
        self.run(&[&["apply", "--approved", "--yes"], options].concat(), &self.on_main(commit))
    }

    /// Someone changes the only template in the dashboard.
    pub fn edit_in_the_dashboard(&self, service: &Service) {
        let id = service.get("/api/templates")["templates"][0]["id"].as_str().expect("an id").to_owned();
        service.post(&format!("/api/templates/{id}"), &json!({"push": {"notification": {"alert": "Theirs"}}}));
    }
}
