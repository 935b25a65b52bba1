//! The jobs of each environment, and the job that shows their plans together.

use super::super::environments::Environment;
use super::super::words::{self, quoted};
use super::{Host, Team};

/// The environment with the credentials for planning.
pub(super) fn planning(environment: &str) -> String {
    format!("{environment}-plan")
}

/// The name of an environment as a part of a job's name.
pub(super) fn job(environment: &str) -> String {
    environment.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// The templates of a workflow.
struct Templates {
    head: &'static str,
    /// Once for each environment.
    environment: &'static str,
    /// Once for each environment, behind the above.
    settings: &'static str,
    /// The job that shows all plans.
    comment: &'static str,
    /// The beginning of the name of a job that plans.
    plan: &'static str,
}

impl Templates {
    fn of(host: Host) -> Self {
        match host {
            Host::Github => Self {
                head: include_str!("../files/github-environments.yml"),
                environment: include_str!("../files/github-environment.yml"),
                settings: "",
                comment: include_str!("../files/github-comment.yml"),
                plan: "plan-",
            },
            Host::Gitlab => Self {
                head: include_str!("../files/gitlab-environments.yml"),
                environment: include_str!("../files/gitlab-environment.yml"),
                settings: include_str!("../files/gitlab-jobs.yml"),
                comment: include_str!("../files/gitlab-comment.yml"),
                plan: "pushplan-plan-",
            },
        }
    }
}

impl Team {
    /// The team with the targets of one environment only.
    fn of(&self, environment: &Environment) -> Self {
        let is_its = |(name, ..): &&(String, String, Option<String>)| environment.targets.contains(name);
        Self {
            targets: environment.name.clone(),
            known: self.known.iter().filter(is_its).cloned().collect(),
            named: self.named.clone(),
            branch: self.branch.clone(),
            folder: self.folder.clone(),
            environments: Vec::new(),
        }
    }

    /// A workflow with jobs for each environment, which apply in order.
    pub(super) fn fill_environments(&self, host: Host, uses: &str) -> String {
        let Templates { head, environment, settings, comment, plan } = Templates::of(host);
        let jobs: Vec<String> = self.environments.iter().map(|environment| job(&environment.name)).collect();
        let each = |text: &str| -> String {
            let one = |(number, environment): (usize, &Environment)| {
                let before = number.checked_sub(1).map(|at| format!("\n    needs: apply-{}", jobs[at]));
                let marks = [
                    ("@JOB@", jobs[number].clone()),
                    ("@ENVIRONMENT@", quoted(&environment.name)),
                    ("@PLANNING@", quoted(&planning(&environment.name))),
                    ("@NEEDS@", before.unwrap_or_default()),
                ];
                self.of(environment).fill(&words::filled(text, &marks), host, uses)
            };
            self.environments.iter().enumerate().map(one).collect()
        };
        let names: Vec<&str> = self.environments.iter().map(|environment| environment.name.as_str()).collect();
        let listed = |prefix: &str| jobs.iter().map(|job| format!("{prefix}{job}")).collect::<Vec<_>>().join(", ");
        let whole = |text: &str| {
            let marks = [
                ("@STAGES@", listed("deploy-")),
                ("@FIRST@", jobs.first().cloned().unwrap_or_default()),
                ("@PLANS@", listed(plan)),
                ("@TARGETS@", quoted(&names.join(","))),
            ];
            self.fill(&words::filled(text, &marks), host, uses)
        };
        [whole(head), each(environment), each(settings), whole(comment)].concat()
    }
}
