//! A code host on this machine: strict about what it is asked, and with troubles of its own.

mod github;
mod gitlab;
pub mod http;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

pub use http::{Answered, Asked};

/// What every comment may have.
const LONGEST: usize = 65_536;
/// The token that opens the host.
pub const TOKEN: &str = "tok-K4naryInTheMine-0123456789";
/// The user of the token.
pub const BOT: &str = "plan-bot";
/// Who a workflow's own token writes as.
pub const WORKFLOW: &str = "github-actions[bot]";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    GitHub,
    GitLab,
}

pub const KINDS: [Kind; 2] = [Kind::GitHub, Kind::GitLab];

#[derive(Clone, Debug)]
pub struct Comment {
    pub id: u64,
    pub author: String,
    pub body: String,
    /// The host wrote it.
    pub system: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Pull {
    pub comments: Vec<Comment>,
    /// The commit that it was merged as.
    pub merged: Option<String>,
    /// Its newest commit.
    pub head: Option<String>,
    /// The branch that it is merged into, where that is not `main`.
    pub into: Option<String>,
}

/// What goes wrong with the next request that fits.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// Nothing goes wrong with it: trouble is for the one behind it.
    Spared,
    /// It is answered with this, and nothing is done.
    Answer(u16, Vec<(&'static str, String)>, Value),
    /// It is done, and then answered with this status.
    DoneThen(u16),
    /// It is done, and nobody hears of it.
    DoneThenSilence,
    /// The comment is deleted by hand just before.
    DeletedBefore(u64),
    /// Another user writes this comment just before.
    WrittenBefore(u64, String),
}

#[derive(Debug)]
pub struct State {
    pub kind: Kind,
    /// Who the token belongs to; `None`: it may not ask.
    pub user: Option<String>,
    /// Who writes with a token that may not ask.
    pub unasked: String,
    /// Whether the token may write.
    pub writes: bool,
    pub pulls: BTreeMap<u64, Pull>,
    /// What was asked: `POST /repos/shop/messages/issues/7/comments`.
    pub asked: Vec<String>,
    /// What nobody may ask.
    offences: Vec<String>,
    /// By how its request begins and what its path contains.
    troubles: Vec<(&'static str, &'static str, Trouble)>,
    /// Where pages behind the first are said to be, in place of here.
    pub elsewhere: Option<String>,
    /// How many lists of comments are without the newest one.
    pub lags: usize,
    next: u64,
}

impl State {
    /// Who writes with the token.
    pub fn writer(&self) -> &str {
        self.user.as_deref().unwrap_or(&self.unasked)
    }

    fn offence(&mut self, why: impl Into<String>) {
        self.offences.push(why.into());
    }

    pub fn add(&mut self, number: u64, author: &str, body: &str, system: bool) -> u64 {
        self.next += 1;
        let comment = Comment { id: self.next, author: author.to_owned(), body: body.to_owned(), system };
        self.pulls.entry(number).or_default().comments.push(comment);
        self.next
    }

    /// The text of a comment that is written; or what is wrong with it.
    fn body(&mut self, asked: &Asked) -> Result<String, Answered> {
        if asked.header("content-type") != Some("application/json") {
            self.offence(format!("{asked} has the content type {:?}", asked.header("content-type")));
        }
        let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let keys: Vec<&str> = sent.as_object().into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
        let (["body"], Some(body)) = (keys.as_slice(), sent["body"].as_str()) else {
            self.offence(format!("{asked} has the keys {keys:?}"));
            return Err(Answered::new(400, json!({"message": "no body"})));
        };
        if body.chars().count() > LONGEST || body.trim().is_empty() {
            self.offence(format!("{asked} writes {} characters", body.chars().count()));
            return Err(Answered::new(422, json!({"message": "body is too long (maximum is 65536 characters)"})));
        }
        Ok(body.to_owned())
    }

    /// Comments of a page, and whether there is another behind it.
    fn page(&mut self, asked: &Asked, number: u64, wanted: &[(&str, &str)]) -> Option<(Vec<Comment>, usize, bool)> {
        let query = asked.query();
        for (name, value) in &query {
            let is_page = name == "page" && value.parse::<usize>().is_ok_and(|page| page > 0);
            let is_wanted = wanted.iter().any(|(other, wants)| name == other && value == wants);
            if !is_page && !is_wanted && (name.as_str(), value.as_str()) != ("per_page", "100") {
                self.offence(format!("{asked} has the option {name}={value}"));
            }
        }
        if query.iter().all(|(name, _)| name != "per_page") {
            self.offence(format!("{asked} does not say how large a page is"));
        }
        let page: usize =
            query.iter().find(|(name, _)| name == "page").map_or(1, |(_, page)| page.parse().expect("a page"));
        let all = &self.pulls.get(&number)?.comments;
        let late = usize::from(self.lags > 0 && !all.is_empty());
        self.lags -= late;
        let all = &all[..all.len() - late];
        let shown = all.iter().skip((page - 1) * 100).take(100).cloned().collect();
        Some((shown, page, all.len() > page * 100))
    }

    /// A comment that the token edits or deletes, which has to be its own.
    fn own(&mut self, asked: &Asked, id: u64) -> Option<&mut Comment> {
        let writer = self.writer().to_owned();
        let author = self.pulls.values().flat_map(|pull| &pull.comments).find(|it| it.id == id)?.author.clone();
        if author != writer {
            self.offence(format!("{asked} touches a comment of {author}"));
            return None;
        }
        self.pulls.values_mut().flat_map(|pull| &mut pull.comments).find(|it| it.id == id)
    }

    fn delete(&mut self, id: u64) {
        for pull in self.pulls.values_mut() {
            pull.comments.retain(|comment| comment.id != id);
        }
    }

    /// Answers a request; `None`: it is not heard of again.
    fn answer(&mut self, asked: &Asked) -> Option<Answered> {
        self.asked.push(asked.to_string());
        let fits = |(method, path, _): &(&str, &str, Trouble)| asked.method == *method && asked.path.contains(path);
        let trouble = self.troubles.iter().position(fits).map(|at| self.troubles.remove(at).2);
        let status = match trouble {
            Some(Trouble::Answer(status, headers, body)) => return Some(Answered { status, headers, body }),
            Some(Trouble::DeletedBefore(id)) => {
                self.delete(id);
                None
            }
            Some(Trouble::WrittenBefore(number, body)) => {
                let writer = self.writer().to_owned();
                self.add(number, &writer, &body, false);
                None
            }
            Some(Trouble::Spared) => None,
            Some(Trouble::DoneThen(status)) => Some(Some(status)),
            Some(Trouble::DoneThenSilence) => Some(None),
            None => None,
        };
        let answered = match self.kind {
            Kind::GitHub => github::answer(self, asked),
            Kind::GitLab => gitlab::answer(self, asked),
        };
        match status {
            Some(None) => None,
            Some(Some(status)) => Some(Answered::new(status, json!({"message": "Server Error"}))),
            None => Some(answered),
        }
    }

    /// A request that nobody may send.
    fn unknown(&mut self, asked: &Asked) -> Answered {
        self.offence(format!("{asked} is no request of the API"));
        Answered::new(404, json!({"message": "Not Found"}))
    }
}

/// A host that answers until the test ends.
#[derive(Debug)]
pub struct Host {
    pub origin: String,
    state: Arc<Mutex<State>>,
}

impl Host {
    pub fn start(kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State {
            kind,
            user: Some(BOT.to_owned()),
            unasked: WORKFLOW.to_owned(),
            writes: true,
            pulls: BTreeMap::new(),
            asked: Vec::new(),
            offences: Vec::new(),
            troubles: Vec::new(),
            elsewhere: None,
            lags: 0,
            next: 100,
        }));
        let answering = state.clone();
        http::serve(listener, move |asked| lock(&answering).answer(asked));
        Self { origin, state }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Opens a pull request.
    pub fn open(&self, number: u64) {
        self.state().pulls.entry(number).or_default();
    }

    /// Merges a pull request, and tells the commit.
    pub fn merge(&self, number: u64) -> String {
        let commit = format!("{number:040x}");
        self.state().pulls.get_mut(&number).expect("a pull request").merged = Some(commit.clone());
        commit
    }

    /// As if it had not been merged yet.
    pub fn unmerge(&self, number: u64) {
        self.state().pulls.get_mut(&number).expect("a pull request").merged = None;
    }

    /// A user with the right to do so edits the only comment that the token wrote.
    #[track_caller]
    pub fn edit_by_hand(&self, number: u64, edit: impl Fn(&str) -> String) {
        let body = edit(&self.only(number));
        let mut state = self.state();
        let writer = state.writer().to_owned();
        let comments = &mut state.pulls.get_mut(&number).expect("a pull request").comments;
        comments.iter_mut().find(|comment| comment.author == writer).expect("a comment").body = body;
    }

    /// The method of a request that edits a comment.
    pub fn edits_with(&self) -> &'static str {
        match self.state().kind {
            Kind::GitHub => "PATCH",
            Kind::GitLab => "PUT",
        }
    }

    /// What goes wrong with the next such request.
    pub fn trouble(&self, method: &'static str, path: &'static str, trouble: Trouble) {
        self.state().troubles.push((method, path, trouble));
    }

    pub fn comments(&self, number: u64) -> Vec<Comment> {
        self.state().pulls.get(&number).map(|pull| pull.comments.clone()).unwrap_or_default()
    }

    /// The texts of those that the token wrote.
    pub fn own(&self, number: u64) -> Vec<String> {
        let writer = self.state().writer().to_owned();
        self.comments(number).into_iter().filter(|it| it.author == writer).map(|it| it.body).collect()
    }

    /// The only one that the token wrote.
    #[track_caller]
    pub fn only(&self, number: u64) -> String {
        let mut own = self.own(number);
        assert_eq!(own.len(), 1, "{own:#?}");
        own.remove(0)
    }

    /// What was written since this was asked last: `POST`, `PATCH`.
    pub fn writes(&self) -> Vec<String> {
        let asked = std::mem::take(&mut self.state().asked);
        let method = |line: String| line.split(' ').next().unwrap_or_default().to_owned();
        asked.into_iter().map(method).filter(|method| method != "GET").collect()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Host {
    fn drop(&mut self) {
        let offences = std::mem::take(&mut self.state().offences);
        if !std::thread::panicking() {
            assert!(offences.is_empty(), "{offences:#?}");
        }
    }
}
