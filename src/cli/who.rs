//! Who is at work, in words for people: it stands in the ledger beside what was done.

use std::env;
use std::fs;

/// `ada on build-7`, with the job where a CI system says which.
pub fn actor() -> String {
    let said = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let user =
        said("GITHUB_ACTOR").or_else(|| said("GITLAB_USER_LOGIN")).or_else(|| said("USER")).or_else(|| said("LOGNAME"));
    let host = said("HOSTNAME").or_else(|| fs::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_owned()));
    let mut actor = user.unwrap_or_else(|| "somebody".to_owned());
    if let Some(host) = host.filter(|host| !host.is_empty()) {
        actor = format!("{actor} on {host}");
    }
    let github = said("GITHUB_RUN_ID").zip(said("GITHUB_REPOSITORY")).zip(said("GITHUB_SERVER_URL"));
    let job = github.map(|((run, repository), server)| format!("{server}/{repository}/actions/runs/{run}"));
    match job.or_else(|| said("CI_JOB_URL")) {
        Some(job) => format!("{actor}, {job}"),
        None => actor,
    }
}
