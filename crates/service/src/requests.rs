//! The log of requests: their content and their result.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use pushplan_model::text;
use serde::Serialize;

/// The number of requests to keep. The oldest are deleted first.
pub const KEPT: usize = 10_000;

/// The maximum number of characters of a URL to keep, so that the log stays small whatever clients send.
const LONGEST: usize = 2_000;

/// Replaces a secret in the log.
const HIDDEN: &str = "***";

/// One request. Headers are not included, so there are no credentials in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Logged {
    pub time: Timestamp,
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    pub query: String,
    /// The status of the answer; `None` if the connection ended before that.
    pub status: Option<u16>,
    /// Whether the service processed the request. A fault may prevent that, or hide it from the client.
    pub processed: bool,
    /// The application; `None` if the credentials belong to none.
    pub app: Option<String>,
    /// The size of the request's body in bytes.
    pub body_size: usize,
}

/// The last requests, oldest first.
#[derive(Debug)]
pub struct Requests {
    logged: Mutex<VecDeque<Logged>>,
    secrets: Vec<String>,
}

impl Requests {
    /// Creates a log that hides these secrets, wherever a client may put them.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self { logged: Mutex::default(), secrets: secrets.into_iter().collect() }
    }

    /// Begins the entry of a request. It is added to the log when it is dropped, so that an interrupted request is
    /// included.
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

    /// Returns the requests that `wanted` selects, oldest first.
    pub fn list(&self, wanted: impl Fn(&Logged) -> bool) -> Vec<Logged> {
        self.lock().iter().filter(|logged| wanted(logged)).cloned().collect()
    }

    /// Deletes all requests.
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

/// The log entry of a request that is being answered.
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
        // The old entry is freed after the lock.
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
