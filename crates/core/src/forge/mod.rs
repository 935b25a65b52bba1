//! Code hosts: a plan is reviewed in a pull request, and its result is reported there.
//!
//! The requests and the meaning of the answers are pure, one file per host; [`Forge`] sends the requests. A comment is
//! found by its hidden line and its author, never by its visible text, because anyone who can comment could write a
//! heading.

mod comment;
mod drive;
mod github;
mod gitlab;
mod hidden;
mod line;
mod place;

use std::fmt::Debug;
use std::time::Duration;

use jiff::Timestamp;
use pushplan_io::client::Secret;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_model::exchange::Answer;
use serde_json::Value;

pub use comment::{Comment, Put, body, footer_of, text_of, with_footer};
pub use drive::Forge;
pub use hidden::{DIGITS, Hidden, ReviewState, Verdict};
pub use line::{HiddenLine, Newer};
pub use place::{Base, HostedRepository, here};

/// The largest number of characters of a comment on any host.
pub const LONGEST: usize = 65_536;
/// The number of comments on a page.
pub const PAGE: usize = 100;
/// The default wait after a rate limit in seconds, if the host gives none.
const USUAL_WAIT: u64 = 60;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A request to a host. Its path is relative to the address of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub body: Option<String>,
}

impl Request {
    fn bare(method: Method, path: String) -> Self {
        Self { method, path, body: None }
    }

    fn with(method: Method, path: String, body: &Value) -> Self {
        Self { method, path, body: Some(body.to_string()) }
    }
}

/// The reply of a host.
#[derive(Clone, Debug)]
pub struct Reply {
    pub answer: Answer,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The host's error message.
    pub fn error(&self) -> String {
        self.answer.error()
    }

    /// The wait that the host requires; `None` if there is no rate limit.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        let number = |name: &str| self.header(name)?.trim().parse::<i64>().ok();
        let is_spent = number("x-ratelimit-remaining") == Some(0);
        let is_told = self.header("retry-after").is_some();
        let is_limit = self.answer.status == 429 || (self.answer.status == 403 && (is_spent || is_told));
        if !is_limit {
            return None;
        }
        let until = || number("x-ratelimit-reset").or_else(|| number("ratelimit-reset"));
        let left = || Some(until()?.saturating_sub(now.as_second()).saturating_add(1));
        let seconds = number("retry-after").or_else(left).and_then(|seconds| u64::try_from(seconds).ok());
        Some(Duration::from_secs(seconds.unwrap_or(USUAL_WAIT)))
    }
}

/// The required facts about a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    pub number: u64,
    pub merged: bool,
    /// Whether it was closed, merged or not.
    pub closed: bool,
    /// Its newest commit, if the host reports it.
    pub head: Option<String>,
    /// The branch that it is merged into, if the host reports it.
    pub into: Option<String>,
    /// The default branch of the repository, if the host reports it with a pull request.
    pub default_branch: Option<String>,
    /// The commits that represent it after the merge.
    pub commits: Vec<String>,
}

impl Pull {
    /// Checks that it was merged into the branch whose files a run applies. A run without a branch applies the default
    /// branch.
    pub fn check_branch(&self, place: &HostedRepository) -> Result<(), Failure> {
        let applied = [&place.branch, &place.default_branch, &self.default_branch].into_iter().find_map(Option::as_ref);
        if self.into.is_some() && self.into.as_ref() == applied {
            return Ok(());
        }
        let (noun, sign) = (place.api.noun(), place.api.sign(self.number));
        let named = |branch: Option<&String>| branch.map_or("an unknown branch".to_owned(), |name| format!("`{name}`"));
        let (into, applied) = (named(self.into.as_ref()), named(applied));
        let message =
            format!("{noun} {sign} was merged into {into}, and this run applies {applied}: nothing is approved");
        let help = format!(
            "nothing was changed; open a {noun} into {applied}: its plan shows all that is left to do, and its merge applies that. \
             The branch of a run comes from {}",
            place.api.branch_variable()
        );
        Err(Failure::new(message).kind(FailureKind::Stale).help(help))
    }
}

/// The pull request that merged a commit into a branch, of all that contain the commit. The error has the candidates if
/// there are several.
pub(crate) fn merged_with(commit: &str, branch: Option<&str>, pulls: Vec<Pull>) -> Result<Option<Pull>, Vec<u64>> {
    let is_here = |pull: &Pull| branch.is_none() || pull.into.is_none() || pull.into.as_deref() == branch;
    let (here, elsewhere): (Vec<Pull>, Vec<Pull>) = pulls.into_iter().filter(|pull| pull.merged).partition(is_here);
    if here.is_empty() {
        // One for another branch is returned so that the message can name it: it approves nothing here.
        return Ok(elsewhere.into_iter().next());
    }
    let (as_it, others): (Vec<Pull>, Vec<Pull>) =
        here.into_iter().partition(|pull| pull.commits.iter().any(|it| it == commit));
    let mut found = if as_it.is_empty() { others } else { as_it };
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(found.iter().map(|pull| pull.number).collect()),
    }
}

/// A host: its requests, and the meaning of its answers.
pub trait Api: Debug + Send + Sync {
    fn name(&self) -> &'static str;
    /// The host's word for a pull request.
    fn noun(&self) -> &'static str;
    /// The short form of a number: `#7`.
    fn sign(&self, number: u64) -> String;
    /// The headers of every request. The first has the token.
    fn headers(&self, token: &Secret) -> Vec<(&'static str, String)>;
    /// The variable with the branch of a run, and its value.
    fn branch_variable(&self) -> &'static str;
    /// The permissions that a token needs.
    fn rights(&self) -> &'static str;
    /// The author of comments by a token that may not read its own user.
    fn usual_author(&self) -> Option<&'static str>;

    fn user(&self) -> Request;
    fn pull(&self, place: &HostedRepository, number: u64) -> Request;
    fn pulls_of(&self, place: &HostedRepository, commit: &str) -> Request;
    fn comments(&self, place: &HostedRepository, number: u64, page: usize) -> Request;
    fn create(&self, place: &HostedRepository, number: u64, body: &str) -> Request;
    fn edit(&self, place: &HostedRepository, number: u64, comment: u64, body: &str) -> Request;
    fn delete(&self, place: &HostedRepository, number: u64, comment: u64) -> Request;

    fn login(&self, user: &Value) -> Option<String>;
    fn read_pull(&self, item: &Value) -> Option<Pull>;
    /// Reads a comment from an item of a page. `None` for entries that the host itself created.
    fn read_comment(&self, item: &Value) -> Option<Comment>;
    /// Whether there is a next page.
    fn has_more(&self, reply: &Reply) -> bool;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(status: u16, headers: &[(&str, &str)]) -> Reply {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Reply { answer: Answer::new(status, json!({"message": "no"})), headers }
    }

    #[test]
    fn a_limit_is_told_from_a_refusal() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let reset = (now.as_second() + 90).to_string();
        let wait = |status, headers: &[(&str, &str)]| reply(status, headers).wait(now).map(|wait| wait.as_secs());
        assert_eq!(wait(403, &[]), None);
        assert_eq!(wait(403, &[("x-ratelimit-remaining", "17")]), None);
        assert_eq!(wait(200, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)]), None);
        assert_eq!(wait(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &reset)]), Some(91));
        assert_eq!(wait(403, &[("retry-after", "7")]), Some(7));
        assert_eq!(wait(429, &[("ratelimit-reset", &reset)]), Some(91));
        assert_eq!(wait(429, &[]), Some(60));
        assert_eq!(wait(429, &[("retry-after", "soon")]), Some(60));
    }

    #[test]
    fn a_commit_came_with_the_pull_request_that_was_merged_as_it() {
        let to = |number, merged, commit: &str, into: Option<&str>| {
            let (commits, into) = (vec![commit.to_owned()], into.map(str::to_owned));
            Pull { number, merged, closed: merged, head: None, into, default_branch: None, commits }
        };
        let pull = |number, merged, commit: &str| to(number, merged, commit, None);
        let found = |pulls: Vec<Pull>| merged_with("c", Some("main"), pulls).map(|pull| pull.map(|pull| pull.number));
        assert_eq!(found(vec![]), Ok(None));
        assert_eq!(found(vec![pull(1, false, "c")]), Ok(None), "one that is open has not been agreed to");
        assert_eq!(found(vec![pull(1, true, "x"), pull(2, true, "c")]), Ok(Some(2)));
        assert_eq!(found(vec![pull(1, true, "x"), pull(2, false, "c")]), Ok(Some(1)));
        assert_eq!(found(vec![pull(1, true, "x"), pull(2, true, "y")]), Err(vec![1, 2]));
        assert_eq!(found(vec![pull(1, true, "c"), pull(2, true, "c")]), Err(vec![1, 2]), "both have this commit");
        let (other, main) = (to(1, true, "c", Some("release")), to(2, true, "c", Some("main")));
        assert_eq!(found(vec![other.clone(), main.clone()]), Ok(Some(2)));
        assert_eq!(found(vec![other.clone()]), Ok(Some(1)), "it can be named");
        assert_eq!(merged_with("c", None, vec![other, main]), Err(vec![1, 2]), "which branch it is, is not known");
    }
}
