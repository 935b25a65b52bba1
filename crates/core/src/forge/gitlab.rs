//! GitLab's REST API, version 4.

use pushplan_io::client::Secret;
use pushplan_model::exchange::part;
use serde_json::{Value, json};

use super::{Api, Comment, HostedRepository, Method, PAGE, Pull, Reply, Request};

#[derive(Debug)]
pub struct GitLab;

fn project(place: &HostedRepository) -> String {
    format!("/projects/{}", part(&place.repository))
}

fn notes(place: &HostedRepository, number: u64) -> String {
    format!("{}/merge_requests/{number}/notes", project(place))
}

impl Api for GitLab {
    fn name(&self) -> &'static str {
        "GitLab"
    }

    fn noun(&self) -> &'static str {
        "merge request"
    }

    fn sign(&self, number: u64) -> String {
        format!("!{number}")
    }

    fn headers(&self, token: &Secret) -> Vec<(&'static str, String)> {
        vec![("private-token", token.reveal().to_owned()), ("accept", "application/json".to_owned())]
    }

    fn branch_variable(&self) -> &'static str {
        "CI_COMMIT_BRANCH=NAME"
    }

    fn rights(&self) -> &'static str {
        "set GITLAB_TOKEN to an access token of the project with the scope `api` and the role Reporter or above; a job token \
         cannot write notes"
    }

    fn usual_author(&self) -> Option<&'static str> {
        None
    }

    fn user(&self) -> Request {
        Request::bare(Method::Get, "/user".to_owned())
    }

    fn pull(&self, place: &HostedRepository, number: u64) -> Request {
        Request::bare(Method::Get, format!("{}/merge_requests/{number}", project(place)))
    }

    fn pulls_of(&self, place: &HostedRepository, commit: &str) -> Request {
        let path = format!("{}/repository/commits/{commit}/merge_requests?per_page={PAGE}", project(place));
        Request::bare(Method::Get, path)
    }

    fn comments(&self, place: &HostedRepository, number: u64, page: usize) -> Request {
        let sorted = format!("sort=asc&order_by=created_at&per_page={PAGE}&page={page}");
        Request::bare(Method::Get, format!("{}?{sorted}", notes(place, number)))
    }

    fn create(&self, place: &HostedRepository, number: u64, body: &str) -> Request {
        Request::with(Method::Post, notes(place, number), &json!({ "body": body }))
    }

    fn edit(&self, place: &HostedRepository, number: u64, comment: u64, body: &str) -> Request {
        Request::with(Method::Put, format!("{}/{comment}", notes(place, number)), &json!({ "body": body }))
    }

    fn delete(&self, place: &HostedRepository, number: u64, comment: u64) -> Request {
        Request::bare(Method::Delete, format!("{}/{comment}", notes(place, number)))
    }

    fn login(&self, user: &Value) -> Option<String> {
        user["username"].as_str().map(str::to_owned)
    }

    fn read_pull(&self, item: &Value) -> Option<Pull> {
        let commits = ["merge_commit_sha", "squash_commit_sha", "sha"];
        Some(Pull {
            number: item["iid"].as_u64()?,
            merged: item["state"] == "merged",
            // A merge request is locked while it is merged.
            closed: ["merged", "closed", "locked"].iter().any(|state| item["state"] == *state),
            head: item["sha"].as_str().map(str::to_owned),
            into: item["target_branch"].as_str().map(str::to_owned),
            default_branch: None,
            commits: commits.iter().filter_map(|name| item[*name].as_str()).map(str::to_owned).collect(),
        })
    }

    fn read_comment(&self, item: &Value) -> Option<Comment> {
        if item["system"] == true {
            return None;
        }
        let body = item["body"].as_str().unwrap_or_default().to_owned();
        Some(Comment { id: item["id"].as_u64()?, author: self.login(&item["author"])?, body })
    }

    fn has_more(&self, reply: &Reply) -> bool {
        reply.header("x-next-page").is_some_and(|page| !page.trim().is_empty())
    }
}
