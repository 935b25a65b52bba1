//! The log of requests: what clients asked and how it ended.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use pushplan_model::text;
use serde::Serialize;

/// How many requests are remembered. Older ones are forgotten first.
pub const KEPT: usize = 10_000;

/// How many characters of an address are remembered, so that the log stays small whatever clients send.
const LONGEST: usize = 2_000;

/// What stands in the log in place of a secret.
const HIDDEN: &str = "***";

/// One request. Headers are not in it, and so no credentials are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Logged {
    pub time: Timestamp,
    pub method: String,
    /// As it was sent, without the query.
    pub path: String,
    pub query: String,
    /// What the client was told; `None` where the connection ended before that.
    pub status: Option<u16>,
    /// Whether the request reached the service. A fault may keep it out, or hide from the client that it got in.
    pub processed: bool,
    /// The application; `None` where the credentials were of none.
    pub app: Option<String>,
    /// Of the request, in bytes.
    pub body_size: usize,
}

/// The last requests, oldest first.
#[derive(Debug)]
pub struct Requests {
    logged: Mutex<VecDeque<Logged>>,
    secrets: Vec<String>,
}

impl Requests {
    /// A log that shows none of these secrets, wherever a client may put them.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self { logged: Mutex::default(), secrets: secrets.into_iter().collect() }
    }

    /// Begins the entry of a request. It is written down when it is dropped, so that one that breaks off is there too.
    pub fn begin(&self, time: Timestamp, method: &str, path: &str, query: &str) -> LoggedRequest<'_> {
        let logged = Logged {
            time,
            method: method.to_owned(),
            path: self.hide(path),
            query: self.hide(query),
            status: None,
            processed: false,
            app: None,
            body_size: 0,
        };
        LoggedRequest { requests: self, logged: Some(logged) }
    }

    /// The requests that `wanted` says of, oldest first.
    pub fn list(&self, wanted: impl Fn(&Logged) -> bool) -> Vec<Logged> {
        self.lock().iter().filter(|logged| wanted(logged)).cloned().collect()
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn hide(&self, text: &str) -> String {
        let mut hidden = Cow::Borrowed(text);
        for secret in &self.secrets {
            if hidden.contains(secret) {
                hidden = hidden.replace(secret, HIDDEN).into();
            }
        }
        text::short(&hidden, LONGEST)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Logged>> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub struct LoggedRequest<'r> {
    requests: &'r Requests,
    logged: Option<Logged>,
}

impl LoggedRequest<'_> {
    pub fn processed(&mut self) {
        if let Some(logged) = &mut self.logged {
            logged.processed = true;
        }
    }

    pub fn app(&mut self, app: &str) {
        if let Some(logged) = &mut self.logged {
            logged.app = Some(app.to_owned());
        }
    }

    pub fn body_size(&mut self, size: usize) {
        if let Some(logged) = &mut self.logged {
            logged.body_size = size;
        }
    }

    pub fn status(&mut self, status: u16) {
        if let Some(logged) = &mut self.logged {
            logged.status = Some(status);
        }
    }
}

impl Drop for LoggedRequest<'_> {
    fn drop(&mut self) {
        let Some(logged) = self.logged.take() else { return };
        let mut all = self.requests.lock();
        let oldest = if all.len() == KEPT { all.pop_front() } else { None };
        all.push_back(logged);
        // Nobody waits while it is thrown away.
        drop(all);
        drop(oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_requests_are_forgotten_first() {
        let requests = Requests::new([]);
        for number in 0..KEPT + 3 {
            requests.begin(Timestamp::UNIX_EPOCH, "GET", &format!("/api/{number}"), "").status(200);
        }
        let paths: Vec<String> = requests.list(|_| true).into_iter().map(|logged| logged.path).collect();
        assert_eq!(paths.len(), KEPT);
        assert_eq!(paths.first().map(String::as_str), Some("/api/3"));
        assert_eq!(paths.last().map(String::as_str), Some("/api/10002"));
    }

    #[test]
    fn a_request_that_breaks_off_is_in_the_log_without_a_status() {
        let requests = Requests::new([]);
        drop(requests.begin(Timestamp::UNIX_EPOCH, "POST", "/api/push", ""));
        let all = requests.list(|_| true);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].status, None);
    }

    #[test]
    fn a_secret_in_the_address_is_not_in_the_log() {
        let requests = Requests::new(["hush-hush".to_owned()]);
        drop(requests.begin(Timestamp::UNIX_EPOCH, "GET", "/api/hush-hush", "a=hush-hush&b=1"));
        let all = requests.list(|_| true);
        assert_eq!((all[0].path.as_str(), all[0].query.as_str()), ("/api/***", "a=***&b=1"));
    }
}
