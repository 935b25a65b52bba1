//! The host, repository, pull request and token of a CI job, from the environment.

use anyhow::{anyhow, bail};
use pushplan_io::client::{self, Origin, Secret};
use pushplan_io::failure::{Failure, FailureKind};
use reqwest::Url;
use serde_json::Value;

use super::Api;
use super::github::GitHub;
use super::gitlab::GitLab;

/// The default address of GitHub's API.
const GITHUB: &str = "https://api.github.com";
/// The variable with the author of comments, if the host does not report it.
const AUTHOR: &str = "PUSHPLAN_CI_AUTHOR";

/// The address of an API: an origin, and the prefix of all paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub origin: Origin,
    pub path: String,
}

impl Base {
    /// Parses an address. It must use https, or be on this machine.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let url = Url::parse(text).map_err(|error| anyhow!("{} is not a URL: {error}", client::shown(text)))?;
        if !url.username().is_empty() || url.password().is_some() {
            bail!("it contains a user name or a password");
        }
        if url.query().is_some() || url.fragment().is_some() {
            bail!("it may only have a host and a path");
        }
        let origin = Origin::parse(&url.origin().ascii_serialization())?;
        Ok(Self { origin, path: url.path().trim_end_matches('/').to_owned() })
    }
}

/// A repository on a host, and the facts about the job.
#[derive(Clone, Debug)]
pub struct HostedRepository {
    pub api: &'static dyn Api,
    pub base: Base,
    /// `owner/name`, or the id or path of a project.
    pub repository: String,
    pub token: Secret,
    /// The configured author of comments with this token.
    pub author: Option<String>,
    /// The pull request of this job.
    pub number: Option<u64>,
    /// The commit of this job.
    pub commit: Option<String>,
    /// The newest commit of the pull request when this job began, if it is known for certain.
    pub head: Option<String>,
    /// The branch of this job.
    pub branch: Option<String>,
    /// The branch that applies to a job without a branch, if the environment has it.
    pub default_branch: Option<String>,
    /// The unreadable part of the environment, and its consequence.
    pub doubt: Option<String>,
    /// Whether it is a job of a merge train: its plan includes earlier changes that are approved but not applied yet.
    pub is_train: bool,
}

/// Reads a file that the environment names, or returns why it cannot be read.
type ReadFile<'r> = &'r dyn Fn(&str) -> anyhow::Result<String>;

/// Reads the environment. `event` reads the file with the event of the job.
pub fn here(env: &dyn Fn(&str) -> Option<String>, event: ReadFile) -> Result<HostedRepository, Failure> {
    let env = |name: &str| env(name).filter(|value| !value.is_empty());
    let is_github = env("GITHUB_ACTIONS").is_some();
    let is_gitlab = env("GITLAB_CI").is_some();
    match () {
        () if is_github || (!is_gitlab && env("GITHUB_REPOSITORY").is_some()) => github(&env, event),
        () if is_gitlab || env("CI_PROJECT_ID").is_some() => gitlab(&env),
        () => Err(Failure::usage("this is not a run of GitHub Actions or GitLab CI, so the pull request is unknown")
            .help(
                "elsewhere, set GITHUB_REPOSITORY=owner/name and GITHUB_TOKEN, or CI_API_V4_URL, CI_PROJECT_ID and GITLAB_TOKEN, \
                 and pass --pull-request NUMBER",
            )),
    }
}

fn github(env: &dyn Fn(&str) -> Option<String>, event: ReadFile) -> Result<HostedRepository, Failure> {
    let api = &GitHub;
    let repository = env("GITHUB_REPOSITORY")
        .ok_or_else(|| Failure::usage("GITHUB_REPOSITORY is not set").help("set it to owner/name"))?;
    let is_name = |name: &str| {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(is_sign) && !name.chars().all(|c| c == '.')
    };
    if repository.split('/').count() != 2 || !repository.split('/').all(is_name) {
        return Err(Failure::usage("GITHUB_REPOSITORY does not have the form owner/name"));
    }
    let token = token(env, "GITHUB_TOKEN", api, "set it in the step: `env: {GITHUB_TOKEN: ${{ github.token }}}`")?;
    let read = |path: String| {
        let text = event(&path).map_err(|why| anyhow!("cannot be read ({why})"))?;
        serde_json::from_str(&text).map_err(|_| anyhow!("is not JSON"))
    };
    let event: anyhow::Result<Value> = env("GITHUB_EVENT_PATH").map_or(Ok(Value::Null), read);
    let doubt = event
        .as_ref()
        .err()
        .map(|why| format!("the file in GITHUB_EVENT_PATH {why}: using GITHUB_REF and GITHUB_SHA instead"));
    let event = event.unwrap_or_default();
    let pull = &event["pull_request"];
    let of_ref = || {
        let name = env("GITHUB_REF")?;
        name.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok()
    };
    // GitHub reports a comment on a pull request as an event of an issue.
    let of_issue = || event["issue"]["pull_request"].is_object().then(|| event["issue"]["number"].as_u64()).flatten();
    let head = pull["head"]["sha"].as_str().map(str::to_owned);
    Ok(HostedRepository {
        api,
        base: base(env("GITHUB_API_URL"), "GITHUB_API_URL", Some(GITHUB))?,
        repository,
        token,
        author: env(AUTHOR),
        number: pull["number"].as_u64().or_else(of_issue).or_else(of_ref),
        commit: commit(head.clone().or_else(|| env("GITHUB_SHA"))),
        // `GITHUB_SHA` is a merge commit that does not exist yet.
        head: commit(head),
        branch: env("GITHUB_REF").and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned)),
        default_branch: None,
        doubt,
        is_train: false,
    })
}

fn gitlab(env: &dyn Fn(&str) -> Option<String>) -> Result<HostedRepository, Failure> {
    let api = &GitLab;
    let repository = env("CI_PROJECT_ID").ok_or_else(|| Failure::usage("CI_PROJECT_ID is not set"))?;
    let token = token(env, "GITLAB_TOKEN", api, api.rights())?;
    // The commit of a pipeline for merged results is not part of the merge request.
    let kind = env("CI_MERGE_REQUEST_EVENT_TYPE");
    let is_plain = kind.as_deref() == Some("detached");
    let is_train = kind.as_deref() == Some("merge_train");
    let plain = || env("CI_COMMIT_SHA").filter(|_| is_plain);
    Ok(HostedRepository {
        api,
        base: base(env("CI_API_V4_URL"), "CI_API_V4_URL", None)?,
        repository,
        token,
        author: env(AUTHOR),
        number: env("CI_MERGE_REQUEST_IID").and_then(|number| number.parse().ok()),
        commit: commit(env("CI_COMMIT_SHA")),
        head: commit(env("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(plain)),
        branch: env("CI_COMMIT_BRANCH"),
        default_branch: env("CI_DEFAULT_BRANCH"),
        doubt: None,
        is_train,
    })
}

fn base(said: Option<String>, name: &str, usual: Option<&str>) -> Result<Base, Failure> {
    let Some(text) = said.or(usual.map(str::to_owned)) else {
        return Err(Failure::usage(format!("{name} is not set")).help("set it to the address of the host's API"));
    };
    Base::parse(&text).map_err(|why| Failure::usage(format!("{name}: {why}")))
}

fn token(env: &dyn Fn(&str) -> Option<String>, name: &str, api: &dyn Api, help: &str) -> Result<Secret, Failure> {
    let missing = |message: String| Failure::new(message).kind(FailureKind::Credentials).help(help);
    let token = env(name)
        .ok_or_else(|| missing(format!("{name} is not set, so nothing can be read or written on {}", api.name())))?;
    // The message does not contain it, because it is secret.
    if token.chars().any(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        return Err(missing(format!("{name} contains white space or other characters that no token has")));
    }
    Ok(Secret::new(token))
}

/// A commit id; `None` for any other text.
fn commit(said: Option<String>) -> Option<String> {
    said.filter(|name| (7..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
    const GITHUB_RUN: [(&str, &str); 4] = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_REPOSITORY", "shop/messages"),
        ("GITHUB_TOKEN", "t"),
        ("GITHUB_SHA", SHA),
    ];

    fn read(set: &[(&str, &str)], event: &str) -> Result<HostedRepository, Failure> {
        let find =
            |name: &str| set.iter().rev().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        here(&find, &|_| Ok(event.to_owned()))
    }

    #[test]
    fn a_run_of_github_says_where_it_is() {
        let place = read(&GITHUB_RUN, "").unwrap();
        assert_eq!((place.base.origin.to_string().as_str(), place.base.path.as_str()), (GITHUB, ""));
        assert_eq!((place.number, place.commit.as_deref()), (None, Some(SHA)));
        let with = |more: &[(&str, &str)], event: &str| read(&[&GITHUB_RUN[..], more].concat(), event).unwrap();
        assert_eq!(with(&[("GITHUB_REF", "refs/pull/12/merge")], "").number, Some(12));
        assert_eq!(with(&[("GITHUB_REF", "refs/heads/12")], "").number, None);
        let event = r#"{"pull_request": {"number": 7, "head": {"sha": "abcdef0"}}}"#;
        let place = with(&[("GITHUB_EVENT_PATH", "e"), ("GITHUB_REF", "refs/pull/12/merge")], event);
        assert_eq!((place.number, place.commit.as_deref()), (Some(7), Some("abcdef0")));
        let issue = r#"{"issue": {"number": 9, "pull_request": {}}}"#;
        assert_eq!(with(&[("GITHUB_EVENT_PATH", "e")], issue).number, Some(9));
        assert_eq!(with(&[("GITHUB_EVENT_PATH", "e")], r#"{"issue": {"number": 9}}"#).number, None);
        let own = with(&[("GITHUB_API_URL", "https://git.example/api/v3/")], "");
        assert_eq!((own.base.origin.to_string().as_str(), own.base.path.as_str()), ("https://git.example", "/api/v3"));
    }

    #[test]
    fn a_run_of_gitlab_says_where_it_is() {
        let set = [
            ("GITLAB_CI", "true"),
            ("CI_API_V4_URL", "https://git.example/api/v4"),
            ("CI_PROJECT_ID", "42"),
            ("CI_MERGE_REQUEST_IID", "3"),
            ("CI_COMMIT_SHA", SHA),
            ("GITLAB_TOKEN", "t"),
        ];
        let place = read(&set, "").unwrap();
        assert_eq!((place.api.name(), place.repository.as_str(), place.number), ("GitLab", "42", Some(3)));
        assert_eq!(place.base.path, "/api/v4");
    }

    #[test]
    fn what_is_missing_or_wrong_is_said_and_no_token_is() {
        let fails = |set: &[(&str, &str)], kind: FailureKind, says: &str| {
            let failure = read(set, "").unwrap_err();
            let told = format!("{failure} {}", failure.help.as_deref().unwrap_or_default());
            assert_eq!(failure.kind, kind, "{told}");
            assert!(told.contains(says) && !told.contains("hunter2"), "{told}");
        };
        fails(&[], FailureKind::Usage, "--pull-request NUMBER");
        fails(&GITHUB_RUN[..2], FailureKind::Credentials, "GITHUB_TOKEN is not set");
        fails(&GITHUB_RUN[..1], FailureKind::Usage, "GITHUB_REPOSITORY is not set");
        let with = |more: &[(&'static str, &'static str)]| [&GITHUB_RUN[..], more].concat();
        fails(&with(&[("GITHUB_TOKEN", "hunter2\n")]), FailureKind::Credentials, "white space");
        fails(&with(&[("GITHUB_REPOSITORY", "shop/../x")]), FailureKind::Usage, "owner/name");
        fails(&with(&[("GITHUB_REPOSITORY", "shop/..")]), FailureKind::Usage, "owner/name");
        fails(&with(&[("GITHUB_API_URL", "http://git.example")]), FailureKind::Usage, "is not https");
        fails(
            &with(&[("GITHUB_API_URL", "https://me:hunter2@git.example")]),
            FailureKind::Usage,
            "a user name or a password",
        );
        fails(
            &[("GITLAB_CI", "true"), ("CI_PROJECT_ID", "42"), ("CI_JOB_TOKEN", "hunter2")],
            FailureKind::Credentials,
            "a job token cannot write notes",
        );
    }
}
