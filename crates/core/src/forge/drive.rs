//! Reading from a code host, and writing to it.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use pushplan_io::client::{self, Patience, Redacted};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_model::backoff::Backoff;
use pushplan_model::exchange::Answer;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{Comment, Hidden, HiddenLine, HostedRepository, Method, PAGE, Pull, Put, Reply, Request, merged_with};

/// The number of attempts for a request that can be repeated.
const ATTEMPTS: u32 = 4;
/// The wait before the second attempt; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The number of pages of comments that are read.
const MOST_PAGES: usize = 300;
/// The largest answer.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;
/// The number of attempts to find the pull request of a commit: a host may register a merge a moment later.
const LOOKS: u32 = 3;

/// A code host, ready for requests.
pub struct Forge<'n> {
    pub place: HostedRepository,
    client: Client,
    headers: HeaderMap,
    /// Texts that no failure may contain.
    struck: Redacted,
    /// The total wait for rate limits, and the time waited so far in milliseconds.
    patience: Duration,
    waited: AtomicU64,
    /// The author of our comment according to the host, if it is another user than expected.
    writer: OnceLock<String>,
    note: &'n (dyn Fn(&str) + Sync),
}

impl std::fmt::Debug for Forge<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forge({:?})", self.place)
    }
}

/// Why there is no usable answer.
enum Trouble {
    /// Whether it was done is unknown.
    Unknown(String),
    /// It was definitely not done.
    Failed(Failure),
}

impl<'n> Forge<'n> {
    /// Creates a client without sending a request. `note` receives notes about waits.
    pub fn new(place: HostedRepository, patience: Duration, note: &'n (dyn Fn(&str) + Sync)) -> Result<Self, Failure> {
        let mut headers = HeaderMap::new();
        for (number, (name, value)) in place.api.headers(&place.token).into_iter().enumerate() {
            let cannot = |_| Failure::new("the token cannot be sent").kind(FailureKind::Credentials);
            let mut value = HeaderValue::from_str(&value).map_err(cannot)?;
            value.set_sensitive(number == 0);
            headers.insert(HeaderName::from_static(name), value);
        }
        let client = client::connections(&place.base.origin, Patience::default())
            .map_err(|why| Failure::new(format!("no connection to {} can be made: {why}", place.base.origin)))?;
        let struck = Redacted::new([place.token.clone()]);
        Ok(Self { place, client, headers, struck, patience, waited: AtomicU64::new(0), writer: OnceLock::new(), note })
    }

    /// Reports an unreadable part of the environment.
    pub fn tell_doubt(&self) {
        if let Some(doubt) = &self.place.doubt {
            (self.note)(&format!("Warning: {doubt}"));
        }
    }

    /// The author of comments that are written with this token.
    pub async fn author(&self) -> Result<String, Failure> {
        if let Some(author) = &self.place.author {
            return Ok(author.clone());
        }
        let reply = self.ask(&self.place.api.user()).await?;
        if let (403 | 404, Some(usual)) = (reply.answer.status, self.place.api.usual_author()) {
            // The token of a workflow belongs to no user, and may not read one.
            return Ok(usual.to_owned());
        }
        let user = self.done(&self.place.api.user(), reply)?;
        let login = self.place.api.login(user.answer.body.as_ref().unwrap_or(&Value::Null));
        login.ok_or_else(|| self.unclear("the user of this token"))
    }

    /// All comments of a pull request.
    pub async fn comments(&self, number: u64) -> Result<Vec<Comment>, Failure> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let request = self.place.api.comments(&self.place, number, page);
            let reply = self.ask(&request).await?;
            if reply.answer.status == 404 {
                return Err(self.no_pull(number));
            }
            let reply = self.done(&request, reply)?;
            let Some(Value::Array(items)) = &reply.answer.body else { return Err(self.unclear("the comments")) };
            all.extend(items.iter().filter_map(|item| self.place.api.read_comment(item)));
            if !self.place.api.has_more(&reply) {
                return Ok(all);
            }
        }
        Err(Failure::new(format!("the {} has more than {} comments", self.place.api.noun(), MOST_PAGES * PAGE)))
    }

    /// A pull request by its number.
    pub async fn pull(&self, number: u64) -> Result<Pull, Failure> {
        let request = self.place.api.pull(&self.place, number);
        let reply = self.ask(&request).await?;
        if reply.answer.status == 404 {
            return Err(self.no_pull(number));
        }
        let reply = self.done(&request, reply)?;
        let pull = self.place.api.read_pull(reply.answer.body.as_ref().unwrap_or(&Value::Null));
        pull.ok_or_else(|| self.unclear("the pull request"))
    }

    /// The pull request that merged a commit; `None` if there is none.
    pub async fn pull_of(&self, commit: &str) -> Result<Option<Pull>, Failure> {
        let request = self.place.api.pulls_of(&self.place, commit);
        let mut waits = Backoff::between(LOOKS, FIRST_WAIT * 2);
        loop {
            let reply = self.ask(&request).await?;
            // The host does not know the commit yet, or does not have it.
            let is_unknown = matches!(reply.answer.status, 404 | 422);
            let found = if is_unknown { Vec::new() } else { self.pulls(&request, reply)? };
            let found = merged_with(commit, self.place.branch.as_deref(), found)
                .map_err(|numbers| self.several(commit, &numbers))?;
            match waits.next() {
                Some(wait) if found.is_none() => tokio::time::sleep(wait).await,
                _ => return Ok(found),
            }
        }
    }

    fn pulls(&self, request: &Request, reply: Reply) -> Result<Vec<Pull>, Failure> {
        let reply = self.done(request, reply)?;
        let Some(Value::Array(items)) = &reply.answer.body else { return Err(self.unclear("the pull requests")) };
        Ok(items.iter().filter_map(|item| self.place.api.read_pull(item)).collect())
    }

    /// Makes the comments of a project and some of its targets have these bodies. Missing comments are created if
    /// `wanted`; of surplus ones, the oldest are kept.
    pub async fn put(
        &self,
        number: u64,
        author: &str,
        (project, targets): (&str, &[&str]),
        bodies: &[String],
        wanted: bool,
    ) -> Result<Put, Failure> {
        let (mut created, mut edited) = (Vec::new(), false);
        for _ in 0..ATTEMPTS {
            let author = self.writer.get().map_or(author, String::as_str);
            let own = Comment::own(self.comments(number).await?, author, project, targets)?;
            if own.is_empty() && !wanted {
                return Ok(Put::None);
            }
            self.check_ahead(number, &own, bodies)?;
            // A new comment may not be listed yet. Older ones have priority, because another run may have kept them.
            let all: BTreeSet<u64> = own.iter().map(|(comment, _)| comment.id).chain(created.iter().copied()).collect();
            let (kept, others): (Vec<u64>, Vec<u64>) = {
                let all: Vec<u64> = all.into_iter().collect();
                let (kept, others) = all.split_at(bodies.len().min(all.len()));
                (kept.to_vec(), others.to_vec())
            };
            for other in others {
                self.delete(number, other).await;
            }
            created.retain(|id| kept.contains(id));
            let is_done = |hidden: &Hidden| hidden.state.is_done() || hidden.begun.is_some();
            if own.iter().any(|(_, line)| line.approvals.iter().any(is_done)) {
                return Ok(Put::Kept);
            }
            let mut is_gone = false;
            for (id, body) in kept.iter().zip(bodies) {
                let listed = own.iter().find(|(comment, _)| comment.id == *id);
                if listed.is_some_and(|(comment, _)| !comment.says(body)) {
                    match self.edit(number, *id, body).await? {
                        true => edited = true,
                        false => is_gone = true,
                    }
                }
            }
            if kept.len() == bodies.len() && !is_gone {
                return Ok(match edited {
                    true => Put::Updated,
                    false if created.is_empty() => Put::Same,
                    false => Put::Created,
                });
            }
            for body in bodies.iter().skip(kept.len()) {
                match self.write(&self.place.api.create(&self.place, number, body)).await {
                    // Another run may have created one at the same time: the next read shows it.
                    Ok(reply) => {
                        let comment = reply.answer.body.as_ref().and_then(|item| self.place.api.read_comment(item));
                        created.extend(comment.as_ref().map(|comment| comment.id));
                        if let Some(comment) = comment.filter(|comment| comment.author != author) {
                            // That author may have an older comment.
                            self.learn(number, author, comment).await?;
                        }
                    }
                    // It may exist or not: the next read shows it.
                    Err(Trouble::Unknown(why)) => {
                        (self.note)(&format!("{why}. Checking whether the comment exists."));
                        tokio::time::sleep(FIRST_WAIT).await;
                        break;
                    }
                    Err(Trouble::Failed(failure)) => return Err(failure),
                }
            }
        }
        Err(Failure::new(format!("{} does not store the comment, after several attempts", self.place.base.origin)))
    }

    /// Refuses to overwrite a comment that knows records which a ledger does not have: its position would be forgotten.
    fn check_ahead(&self, number: u64, own: &[(Comment, HiddenLine)], bodies: &[String]) -> Result<(), Failure> {
        let lines: Vec<HiddenLine> = bodies.iter().filter_map(|body| HiddenLine::read(body)?.ok()).collect();
        for hidden in own.iter().flat_map(|(_, line)| &line.approvals) {
            let new = lines.iter().find_map(|line| line.of(&hidden.target));
            if let Some(new) = new.filter(|new| !new.offline && hidden.is_ahead_of(&new.ledger)) {
                let sign = format!("{} {}", self.place.api.noun(), self.place.api.sign(number));
                let failure = hidden.behind(&new.ledger, &sign);
                let help = failure.help.as_deref().unwrap_or_default();
                return Err(Failure { help: Some(format!("{help}; after that, delete the old comment")), ..failure });
            }
        }
        Ok(())
    }

    /// Learns the author of this token's comments from a new comment: it may differ from the host's usual author. A
    /// configured author is not overruled; then the comment is deleted.
    async fn learn(&self, number: u64, author: &str, created: Comment) -> Result<(), Failure> {
        let (writer, set) = (created.author, "PUSHPLAN_CI_AUTHOR");
        if self.place.author.is_some() {
            self.delete(number, created.id).await;
            let message =
                format!("this token writes as {writer}, but {set} is {author}: the comment would not be found");
            return Err(Failure::usage(message).help(format!("set {set} to {writer}")));
        }
        (self.note)(&format!(
            "Warning: this token writes as {writer}, which {} shows only on an existing comment. Set {set} to \
                {writer} in every job: then no comment is written to find out, and `pushplan apply --approved` finds \
                the comment of this target.",
            self.place.api.name()
        ));
        let _ = self.writer.set(writer);
        Ok(())
    }

    /// Edits a comment; `false` if it no longer exists.
    pub async fn edit(&self, number: u64, comment: u64, body: &str) -> Result<bool, Failure> {
        let request = self.place.api.edit(&self.place, number, comment, body);
        let mut waits = Backoff::between(ATTEMPTS, FIRST_WAIT);
        loop {
            match self.write(&request).await {
                Ok(reply) => return Ok(!matches!(reply.answer.status, 404 | 410)),
                Err(Trouble::Failed(failure)) => return Err(failure),
                // An edit can be repeated.
                Err(Trouble::Unknown(why)) => match waits.next() {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(Failure::new(why).help("nothing else was changed; run the command again")),
                },
            }
        }
    }

    /// Deletes a surplus comment. If this fails, the next run tries again.
    async fn delete(&self, number: u64, comment: u64) {
        let request = self.place.api.delete(&self.place, number, comment);
        if let Err(Trouble::Unknown(why) | Trouble::Failed(Failure { message: why, .. })) = self.write(&request).await {
            (self.note)(&format!("A second comment could not be deleted: {why}"));
        }
    }

    /// Sends a request that changes something. A missing comment is no error.
    async fn write(&self, request: &Request) -> Result<Reply, Trouble> {
        let reply = self.patiently(request).await.map_err(|why| match why {
            Trouble::Unknown(why) => Trouble::Unknown(format!("whether the comment was written is unknown: {why}")),
            failed => failed,
        })?;
        match reply.answer.status {
            500..=599 => Err(Trouble::Unknown(format!("{} has a problem ({})", self.place.base.origin, reply.error()))),
            404 | 410 if request.method != Method::Post => Ok(reply),
            _ => self.done(request, reply).map_err(Trouble::Failed),
        }
    }

    /// Sends a reading request, and repeats it if the host has a problem or does not answer.
    async fn ask(&self, request: &Request) -> Result<Reply, Failure> {
        let mut waits = Backoff::between(ATTEMPTS, FIRST_WAIT);
        loop {
            let why = match self.patiently(request).await {
                Ok(reply) if !(500..=599).contains(&reply.answer.status) => return Ok(reply),
                Ok(reply) => format!("{} has a problem ({})", self.place.base.origin, reply.error()),
                Err(Trouble::Unknown(why)) => why,
                Err(Trouble::Failed(failure)) => return Err(failure),
            };
            match waits.next() {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(Failure::new(why).help("nothing was changed; run the command again")),
            }
        }
    }

    /// Sends a request, and repeats it when the host's rate limit allows, up to the total wait.
    async fn patiently(&self, request: &Request) -> Result<Reply, Trouble> {
        loop {
            let reply = self.send(request).await?;
            let Some(wait) = reply.wait(Timestamp::now()) else { return Ok(reply) };
            let wait = wait.max(Duration::from_millis(100));
            let so_far = Duration::from_millis(self.waited.load(Ordering::Relaxed));
            let host = self.place.api.name();
            if so_far + wait > self.patience {
                let message = format!(
                    "{host} limits the rate of requests and accepts none with this token for {} s ({})",
                    wait.as_secs(),
                    reply.error()
                );
                let help = format!(
                    "nothing was written; run the command again later, or wait: --wait {}s",
                    (so_far + wait).as_secs()
                );
                return Err(Trouble::Failed(Failure::new(message).help(help)));
            }
            (self.note)(&format!("{host} limits the rate of requests. Waiting {} s.", wait.as_secs()));
            self.waited.fetch_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends a request once.
    async fn send(&self, request: &Request) -> Result<Reply, Trouble> {
        let base = &self.place.base;
        let url = base.origin.url(&format!("{}{}", base.path, request.path));
        let url = url.map_err(|why| Trouble::Failed(Failure::new(why)))?;
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut sending = self.client.request(method, url).headers(self.headers.clone());
        if let Some(body) = &request.body {
            sending = sending.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let unheard = |error: reqwest::Error| {
            let why = if error.is_timeout() { "it did not answer in time" } else { "the connection was lost" };
            let why = if error.is_connect() { "it cannot be reached" } else { why };
            Trouble::Unknown(format!("no answer from {}: {why}", base.origin))
        };
        let mut response = sending.send().await.map_err(unheard)?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(unheard)? {
            if bytes.len() + part.len() > ANSWER_LIMIT {
                return Err(Trouble::Failed(Failure::new(format!("the answer of {} is too large", base.origin))));
            }
            bytes.extend_from_slice(&part);
        }
        let body = if bytes.is_empty() { Some(Value::Null) } else { serde_json::from_slice(&bytes).ok() };
        let mut answer = Answer { body, ..Answer::new(response.status().as_u16(), Value::Null) };
        self.struck.answer(&mut answer);
        Ok(Reply { answer, headers })
    }

    /// Returns the answer if it succeeded, or a failure that explains the problem.
    fn done(&self, request: &Request, reply: Reply) -> Result<Reply, Failure> {
        let (api, origin) = (self.place.api, &self.place.base.origin);
        let error = reply.error();
        let failure = match reply.answer.status {
            200..=299 if reply.answer.body.is_some() => return Ok(reply),
            300..=399 => Failure::new(format!("{origin} answered with a redirect ({error}), which is not followed"))
                .help("correct the address of the API"),
            401 => Failure::new(format!("{origin} refuses this token ({error})"))
                .kind(FailureKind::Credentials)
                .help(api.rights()),
            403 | 404 => {
                let what = if request.method == Method::Get { "read" } else { "write" };
                Failure::new(format!("this token may not {what} comments of the {} ({error})", api.noun()))
                    .kind(FailureKind::Credentials)
                    .help(api.rights())
            }
            _ => Failure::new(format!("{} {} on {origin} failed: {error}", request.method.word(), request.path)),
        };
        Err(failure)
    }

    fn no_pull(&self, number: u64) -> Failure {
        let api = self.place.api;
        Failure::new(format!("{} {} does not exist, or this token has no access to it", api.noun(), api.sign(number)))
            .kind(FailureKind::Credentials)
            .help(api.rights())
    }

    fn several(&self, commit: &str, numbers: &[u64]) -> Failure {
        let signs: Vec<String> = numbers.iter().map(|number| self.place.api.sign(*number)).collect();
        let noun = self.place.api.noun();
        Failure::new(format!("{commit} belongs to several {noun}s: {}", pushplan_model::text::all_of(&signs)))
            .kind(FailureKind::Stale)
            .help("choose one: --pull-request NUMBER")
    }

    fn unclear(&self, what: &str) -> Failure {
        Failure::new(format!("the answer of {} does not contain {what}", self.place.base.origin))
            .help("is this the address of the API?")
    }
}
