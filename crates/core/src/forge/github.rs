//! GitHub's REST API, also of a self-hosted server.

use pushplan_io::client::Secret;
use serde_json::{Value, json};

use super::{Api, Comment, HostedRepository, Method, PAGE, Pull, Reply, Request};

#[derive(Debug)]
pub struct GitHub;

fn comments_of(place: &HostedRepository, number: u64) -> String {
    format!("/repos/{}/issues/{number}/comments", place.repository)
}

fn comment_of(place: &HostedRepository, comment: u64) -> String {
    format!("/repos/{}/issues/comments/{comment}", place.repository)
}

impl Api for GitHub {
    fn name(&self) -> &'static str {
        "GitHub"
    }

    fn noun(&self) -> &'static str {
        "pull request"
    }

    fn sign(&self, number: u64) -> String {
        format!("#{number}")
    }

    fn headers(&self, token: &Secret) -> Vec<(&'static str, String)> {
        vec![
            ("authorization", format!("Bearer {}", token.reveal())),
            ("accept", "application/vnd.github+json".to_owned()),
            ("x-github-api-version", "2022-11-28".to_owned()),
        ]
    }

    fn branch_variable(&self) -> &'static str {
        "GITHUB_REF=refs/heads/NAME"
    }

    fn rights(&self) -> &'static str {
        "give the job `permissions: {contents: read, pull-requests: write}` and GITHUB_TOKEN; a pull request from a fork has a \
         token that only reads"
    }

    fn usual_author(&self) -> Option<&'static str> {
        Some("github-actions[bot]")
    }

    fn user(&self) -> Request {
        Request::bare(Method::Get, "/user".to_owned())
    }

    fn pull(&self, place: &HostedRepository, number: u64) -> Request {
        Request::bare(Method::Get, format!("/repos/{}/pulls/{number}", place.repository))
    }

    fn pulls_of(&self, place: &HostedRepository, commit: &str) -> Request {
        Request::bare(Method::Get, format!("/repos/{}/commits/{commit}/pulls?per_page={PAGE}", place.repository))
    }

    fn comments(&self, place: &HostedRepository, number: u64, page: usize) -> Request {
        Request::bare(Method::Get, format!("{}?per_page={PAGE}&page={page}", comments_of(place, number)))
    }

    fn create(&self, place: &HostedRepository, number: u64, body: &str) -> Request {
        Request::with(Method::Post, comments_of(place, number), &json!({ "body": body }))
    }

    fn edit(&self, place: &HostedRepository, _: u64, comment: u64, body: &str) -> Request {
        Request::with(Method::Patch, comment_of(place, comment), &json!({ "body": body }))
    }

    fn delete(&self, place: &HostedRepository, _: u64, comment: u64) -> Request {
        Request::bare(Method::Delete, comment_of(place, comment))
    }

    fn login(&self, user: &Value) -> Option<String> {
        user["login"].as_str().map(str::to_owned)
    }

    fn read_pull(&self, item: &Value) -> Option<Pull> {
        let commits = item["merge_commit_sha"].as_str().map(str::to_owned);
        Some(Pull {
            number: item["number"].as_u64()?,
            merged: item["merged_at"].is_string(),
            closed: item["state"] == "closed" || item["merged_at"].is_string(),
            head: item["head"]["sha"].as_str().map(str::to_owned),
            into: item["base"]["ref"].as_str().map(str::to_owned),
            default_branch: item["base"]["repo"]["default_branch"].as_str().map(str::to_owned),
            commits: commits.into_iter().collect(),
        })
    }

    fn read_comment(&self, item: &Value) -> Option<Comment> {
        let body = item["body"].as_str().unwrap_or_default().to_owned();
        Some(Comment { id: item["id"].as_u64()?, author: self.login(&item["user"])?, body })
    }

    /// Only the existence of a next page counts: pushplan computes its address itself.
    fn has_more(&self, reply: &Reply) -> bool {
        reply.header("link").is_some_and(|links| links.contains("rel=\"next\""))
    }
}
