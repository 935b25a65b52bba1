//! The actor of a run, as the ledger shows it to readers.

use std::env;
use std::fs;
use std::sync::OnceLock;

use jiff::SignedDuration;
use pushplan_io::git::{Git, LIMIT};
use pushplan_ledger::Lease;

/// The user, machine and job that run this process.
#[derive(Clone, Debug)]
pub struct Actor {
    pub user: String,
    pub host: Option<String>,
    /// The URL of the job, if a CI system gives one.
    pub job: Option<String>,
}

impl Actor {
    pub fn here() -> Self {
        let said = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let users = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "GIT_AUTHOR_NAME", "USER", "LOGNAME"];
        let host = said("HOSTNAME").or_else(|| read("/etc/hostname"));
        let github = said("GITHUB_RUN_ID").zip(said("GITHUB_REPOSITORY")).zip(said("GITHUB_SERVER_URL"));
        let job = github.map(|((run, repository), server)| format!("{server}/{repository}/actions/runs/{run}"));
        Self {
            user: users
                .into_iter()
                .find_map(said)
                .or_else(of_git)
                .or_else(login)
                .unwrap_or_else(|| "unknown".to_owned()),
            host: host.filter(|host| !host.is_empty()),
            job: job.or_else(|| said("CI_JOB_URL")),
        }
    }

    /// The lease of a run that begins here.
    pub fn lease(self, length: SignedDuration) -> Lease {
        let Self { user, host, job } = self;
        Lease { holder: user, host, job, clock: clock(), seconds: length.as_secs() }
    }
}

/// The user's global author name in git.
fn of_git() -> Option<String> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let git = Git::outside(&env::current_dir().ok()?, LIMIT);
        git.ask(&["config", "--global", "user.name"]).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
    };
    NAME.get_or_init(ask).clone()
}

/// The user name of this process, if the environment does not have it.
fn login() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?.to_owned();
    name_of(&user, &fs::read_to_string("/etc/passwd").ok()?)
}

/// The name of a user in the text of a file such as `/etc/passwd`.
fn name_of(user: &str, text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next()?, fields.nth(1)?);
        (id == user && !name.is_empty()).then(|| name.to_owned())
    })
}

/// `ada on build-7`, with the job if a CI system gives one.
pub fn name() -> String {
    let Actor { user, host, job } = Actor::here();
    let actor = match host {
        Some(host) => format!("{user} on {host}"),
        None => user,
    };
    match job {
        Some(job) => format!("{actor}, {job}"),
        None => actor,
    }
}

/// Returns an id of this machine's clock, if the system has an id for its start.
pub fn clock() -> Option<String> {
    read("/proc/sys/kernel/random/boot_id")
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_name_in_the_environment_has_one_in_the_list_of_the_machine() {
        let text = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n:x:7::\n";
        let names = ["0", "1000", "100", "7"].map(|user| name_of(user, text));
        assert_eq!(names, [Some("root".to_owned()), Some("ada".to_owned()), None, None]);
    }
}
