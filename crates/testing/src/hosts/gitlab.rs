//! What is known of GitLab's REST API, below `/api/v4`.

use serde_json::{Value, json};

use super::{Answered, Asked, Comment, Pull, State, TOKEN};

/// How notes are sorted.
const SORTED: [(&str, &str); 2] = [("sort", "asc"), ("order_by", "created_at")];

pub fn answer(state: &mut State, asked: &Asked) -> Answered {
    if asked.header("private-token") != Some(TOKEN) || asked.header("authorization").is_some() {
        return Answered::new(401, json!({"message": "401 Unauthorized"}));
    }
    let Some(path) = asked.path.strip_prefix("/api/v4/") else { return state.unknown(asked) };
    let parts: Vec<&str> = path.split('/').collect();
    let number = |text: &str| text.parse::<u64>().ok();
    match (asked.method.as_str(), parts.as_slice()) {
        ("GET", ["user"]) => Answered::new(200, json!({"username": state.writer(), "id": 1, "bot": true})),
        ("GET", ["projects", "42", "merge_requests", text]) => {
            match number(text).and_then(|n| Some((n, state.pulls.get(&n)?))) {
                Some((number, pull)) => Answered::new(200, shown(number, pull)),
                None => missing(),
            }
        }
        ("GET", ["projects", "42", "repository", "commits", commit, "merge_requests"]) => {
            if asked.query() != [("per_page".to_owned(), "100".to_owned())] {
                return state.unknown(asked);
            }
            let of_it = state.pulls.iter().filter(|(_, pull)| pull.merged.as_deref() == Some(*commit));
            Answered::new(200, of_it.map(|(number, pull)| shown(*number, pull)).collect())
        }
        ("GET", ["projects", "42", "merge_requests", text, "notes"]) => {
            let Some(number) = number(text) else { return state.unknown(asked) };
            let Some((comments, page, more)) = state.page(asked, number, &SORTED) else { return missing() };
            let next = if more { (page + 1).to_string() } else { String::new() };
            Answered::new(200, comments.iter().map(note).collect()).with("x-next-page", next)
        }
        ("POST", ["projects", "42", "merge_requests", text, "notes"]) => {
            let Some(number) = number(text).filter(|number| state.pulls.contains_key(number)) else { return missing() };
            if !state.writes {
                return refused();
            }
            match state.body(asked) {
                Ok(body) => {
                    let writer = state.writer().to_owned();
                    let id = state.add(number, &writer, &body, false);
                    Answered::new(201, note(&Comment { id, author: writer, body, system: false }))
                }
                Err(answered) => answered,
            }
        }
        ("PUT" | "DELETE", ["projects", "42", "merge_requests", _, "notes", id]) => {
            let Some(id) = number(id) else { return state.unknown(asked) };
            if !state.writes {
                return refused();
            }
            if asked.method == "DELETE" {
                return match state.own(asked, id).is_some() {
                    true => {
                        state.delete(id);
                        Answered::new(204, Value::Null)
                    }
                    false => missing(),
                };
            }
            match state.body(asked) {
                Ok(body) => match state.own(asked, id) {
                    Some(found) => {
                        found.body = body;
                        Answered::new(200, note(found))
                    }
                    None => missing(),
                },
                Err(answered) => answered,
            }
        }
        _ => state.unknown(asked),
    }
}

fn missing() -> Answered {
    Answered::new(404, json!({"message": "404 Not found"}))
}

fn refused() -> Answered {
    Answered::new(403, json!({"message": "403 Forbidden"}))
}

fn shown(number: u64, pull: &Pull) -> Value {
    let state = if pull.merged.is_some() { "merged" } else { "opened" };
    let (head, into) = (pull.head.clone().unwrap_or_else(|| "f".repeat(40)), pull.into.as_deref().unwrap_or("main"));
    json!({
        "iid": number, "state": state, "merge_commit_sha": pull.merged, "squash_commit_sha": null, "sha": head,
        "target_branch": into,
    })
}

fn note(comment: &Comment) -> Value {
    let Comment { id, author, body, system } = comment;
    json!({"id": id, "author": {"username": author}, "body": body, "system": system})
}
