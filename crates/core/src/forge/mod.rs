//! Code hosts: where a plan is reviewed in a pull request, and where its reviewers learn what became of it.
//!
//! What a host is asked and what its answers mean is pure, one file per host; [`Forge`] carries the requests. A comment is found by
//! what is hidden at its beginning and by its author, never by what it says: whoever may write a comment could write a heading.

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

/// The most characters that a comment has on every host.
pub const LONGEST: usize = 65_536;
/// How many comments a page has.
pub const PAGE: usize = 100;
/// How long is waited where a host says that there were too many requests, and not for how long.
const USUAL_WAIT: u64 = 60;

/// What a request does.
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

/// A request to a host. Its path stands behind the address of the API.
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

/// What came back.
#[derive(Clone, Debug)]
pub struct Reply {
    pub answer: Answer,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// What the host says of it, in its own words.
    pub fn error(&self) -> String {
        self.answer.error()
    }

    /// How long the host asks to be left alone; `None` where it does not.
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

/// A pull request, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    pub number: u64,
    pub merged: bool,
    /// It was closed, merged or not.
    pub closed: bool,
    /// The newest commit of it, where the host tells.
    pub head: Option<String>,
    /// The branch that it is merged into, where the host tells.
    pub into: Option<String>,
    /// The default branch of the repository, where the host tells it with a pull request.
    pub default_branch: Option<String>,
    /// The commits that stand for it once it is merged.
    pub commits: Vec<String>,
}

impl Pull {
    /// Whether it was merged into the branch whose files a run applies. A run for no branch applies the default branch.
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

/// The pull request with which a commit came to a branch, of all that have to do with it; or those between which cannot be told.
pub(crate) fn merged_with(commit: &str, branch: Option<&str>, pulls: Vec<Pull>) -> Result<Option<Pull>, Vec<u64>> {
    let is_here = |pull: &Pull| branch.is_none() || pull.into.is_none() || pull.into.as_deref() == branch;
    let (here, elsewhere): (Vec<Pull>, Vec<Pull>) = pulls.into_iter().filter(|pull| pull.merged).partition(is_here);
    if here.is_empty() {
        // One into another branch is found, so that it can be named: it approves nothing here.
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

/// A host: what it is asked, and what its answers mean.
pub trait Api: Debug + Send + Sync {
    fn name(&self) -> &'static str;
    /// What it calls a pull request.
    fn noun(&self) -> &'static str;
    /// How people name one: `#7`.
    fn sign(&self, number: u64) -> String;
    /// The headers of every request. The first holds the token.
    fn headers(&self, token: &Secret) -> Vec<(&'static str, String)>;
    /// The variable that names the branch of a run, and its value.
    fn branch_variable(&self) -> &'static str;
    /// What a token needs to be allowed.
    fn rights(&self) -> &'static str;
    /// Who writes with a token that may not ask who it is.
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
    /// A comment of a page. One that no person and no program wrote is none.
    fn read_comment(&self, item: &Value) -> Option<Comment>;
    /// Whether there is a page behind this one.
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
