//! What is known of GitHub's REST API, below `/api/v3` as on a server of one's own.

use serde_json::{Value, json};

use super::{Answered, Asked, Comment, Pull, State, TOKEN};

pub fn answer(state: &mut State, asked: &Asked) -> Answered {
    for (name, wanted) in [("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")] {
        if asked.header(name) != Some(wanted) {
            state.offence(format!("{asked} has the header {name}: {:?}", asked.header(name)));
        }
    }
    if asked.header("user-agent").is_none_or(str::is_empty) {
        state.offence(format!("{asked} does not say who asks, which the host refuses"));
    }
    if asked.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return Answered::new(401, json!({"message": "Bad credentials"}));
    }
    let Some(path) = asked.path.strip_prefix("/api/v3/") else { return state.unknown(asked) };
    let parts: Vec<&str> = path.split('/').collect();
    let number = |text: &str| text.parse::<u64>().ok();
    match (asked.method.as_str(), parts.as_slice()) {
        ("GET", ["user"]) => match &state.user {
            Some(login) => Answered::new(200, json!({"login": login, "id": 1, "type": "User"})),
            None => Answered::new(403, json!({"message": "Resource not accessible by integration"})),
        },
        ("GET", ["repos", "shop", "messages", "pulls", text]) => {
            match number(text).and_then(|n| Some((n, state.pulls.get(&n)?))) {
                Some((number, pull)) => Answered::new(200, shown(number, pull)),
                None => missing(),
            }
        }
        ("GET", ["repos", "shop", "messages", "commits", commit, "pulls"]) => {
            let is_hex = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_hex || asked.query() != [("per_page".to_owned(), "100".to_owned())] {
                return state.unknown(asked);
            }
            let of_it = state.pulls.iter().filter(|(_, pull)| pull.merged.as_deref() == Some(*commit));
            Answered::new(200, of_it.map(|(number, pull)| shown(*number, pull)).collect())
        }
        ("GET", ["repos", "shop", "messages", "issues", text, "comments"]) => {
            let Some(number) = number(text) else { return state.unknown(asked) };
            let Some((comments, page, more)) = state.page(asked, number, &[]) else { return missing() };
            let answered = Answered::new(200, comments.iter().map(comment).collect());
            // The host names the repository by a number of its own in these.
            let there = state.elsewhere.clone().unwrap_or("https://git.example/api/v3/repositories/4711".to_owned());
            let link = format!("<{there}/issues/{number}/comments?per_page=100&page={}>; rel=\"next\"", page + 1);
            if more { answered.with("link", link) } else { answered }
        }
        ("POST", ["repos", "shop", "messages", "issues", text, "comments"]) => {
            let Some(number) = number(text).filter(|number| state.pulls.contains_key(number)) else { return missing() };
            if !state.writes {
                return refused();
            }
            match state.body(asked) {
                Ok(body) => {
                    let writer = state.writer().to_owned();
                    let id = state.add(number, &writer, &body, false);
                    Answered::new(201, comment(&Comment { id, author: writer, body, system: false }))
                }
                Err(answered) => answered,
            }
        }
        ("PATCH" | "DELETE", ["repos", "shop", "messages", "issues", "comments", id]) => {
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
                        Answered::new(200, comment(found))
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
    Answered::new(404, json!({"message": "Not Found"}))
}

fn refused() -> Answered {
    Answered::new(403, json!({"message": "Resource not accessible by integration"}))
}

fn shown(number: u64, pull: &Pull) -> Value {
    let at = pull.merged.as_ref().map(|_| "2026-11-15T12:00:00Z");
    // One that is open has a commit too: the one that a merge would make.
    let commit = pull.merged.clone().unwrap_or_else(|| format!("{:040x}", number + 4096));
    let (head, base) = (
        json!({"sha": pull.head}),
        json!({"ref": pull.into.as_deref().unwrap_or("main"), "repo": {"default_branch": "main"}}),
    );
    let state = if at.is_some() { "closed" } else { "open" };
    json!({"number": number, "state": state, "merged_at": at, "merge_commit_sha": commit, "head": head, "base": base})
}

fn comment(comment: &Comment) -> Value {
    let Comment { id, author, body, .. } = comment;
    json!({"id": id, "user": {"login": author, "type": "User"}, "body": body, "created_at": "2026-11-15T12:00:00Z"})
}
