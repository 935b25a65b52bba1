//! Delivery to webhooks: one task per connection, one event per request.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use pushplan_model::backoff::Backoff;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response, Url};
use tokio::sync::watch;

use crate::engine::Engine;
use crate::state::{Event, Failure, Next};
use crate::webhook::{Checked, Lookup, Webhook};

/// The time limit for a receiver's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first and the longest wait between attempts. Each wait is twice the one before.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The maximum number of bytes of an answer to read, so that its connection can be used again.
const ANSWER_LIMIT: usize = 64 * 1024;

/// Posts the events of a connection as they are written, in offset order, until the service stops. An event is retried
/// until it is accepted: the next one waits for it.
pub(crate) async fn deliver(engine: Arc<Engine>, webhook: Webhook, mut stopped: watch::Receiver<bool>) {
    let Ok(Checked { url, headers, authorities }) = webhook.checked() else { return };
    let post = Post { url, headers, authorities, client: OnceLock::new() };
    let mut written = engine.events_written();
    // Events before this offset are on disk.
    let mut kept_until = 0;
    while !*stopped.borrow() {
        // Everything that is written from now on wakes the task again.
        written.borrow_and_update();
        let (next, until) = engine.read(|state, _| match state.app(&webhook.app) {
            Some(app) => (app.next_event(&webhook), app.next_offset),
            None => (Next::Nothing, 0),
        });
        match next {
            Next::Nothing => {
                tokio::select! {
                    _ = written.changed() => {}
                    _ = stopped.changed() => {}
                }
            }
            Next::Unwanted { until } => {
                if !confirm(&engine, &webhook, until, None) {
                    return;
                }
            }
            Next::Event { offset, event } => {
                // An event that a crash could still undo must not be sent: its offset would be used again.
                if offset >= kept_until {
                    if engine.kept().await.is_err() {
                        return;
                    }
                    kept_until = until;
                }
                let taken = post.until_taken(&engine, &webhook, &event, &mut stopped).await;
                if taken.is_none() || !confirm(&engine, &webhook, offset + 1, taken) {
                    return;
                }
            }
        }
    }
}

/// Notes that a connection has received everything before an offset, the last of it at `taken`. The next event does not
/// wait for the disk: if a crash undoes a note, the event is delivered again. Returns `false` if nothing can be stored
/// any more.
fn confirm(engine: &Engine, webhook: &Webhook, until: u64, taken: Option<Timestamp>) -> bool {
    let confirmed = engine.change(|state, _| {
        if let Some(app) = state.app_mut(&webhook.app) {
            if let Some(at) = taken {
                app.attempted(&webhook.url, at, None);
            }
            app.confirm(&webhook.url, until);
        }
    });
    confirmed.is_ok()
}

/// Waits, but returns early if the service stops.
async fn wait(time: Duration, stopped: &mut watch::Receiver<bool>) {
    if !*stopped.borrow() {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            _ = stopped.changed() => {}
        }
    }
}

struct Post {
    url: Url,
    headers: HeaderMap,
    /// The authorities that are trusted instead of the machine's.
    authorities: Option<Vec<Certificate>>,
    client: OnceLock<Client>,
}

impl Post {
    /// Posts an event until it is accepted, and returns when; `None` if the service stops first.
    async fn until_taken(
        &self,
        engine: &Engine,
        webhook: &Webhook,
        event: &Event,
        stopped: &mut watch::Receiver<bool>,
    ) -> Option<Timestamp> {
        for pause in Backoff::endless(FIRST_WAIT, LONGEST_WAIT) {
            // These times are shown to people, so they are those of the real clock, which also determines the waits.
            let at = Timestamp::now();
            let Err((status, reason)) = self.once(event).await else { return Some(at) };
            let next = Timestamp::now().checked_add(pause).unwrap_or(Timestamp::MAX);
            let noted = engine.change(|state, _| {
                if let Some(app) = state.app_mut(&webhook.app) {
                    app.attempted(&webhook.url, at, Some((Failure { at, status, reason }, next)));
                }
            });
            if noted.is_err() {
                return None;
            }
            wait(pause, stopped).await;
            if *stopped.borrow() {
                return None;
            }
        }
        None
    }

    /// Makes one attempt. Everything except a 2xx is a failure, including a redirect. The error contains the status, if
    /// any, and the reason.
    async fn once(&self, event: &Event) -> Result<(), (Option<u16>, String)> {
        let unsent = |reason: String| (None, reason);
        let body = serde_json::to_vec(event).map_err(|error| unsent(error.to_string()))?;
        let request = self
            .client()
            .map_err(|why| unsent(why.to_string()))?
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, "application/json; charset=UTF-8")
            .body(body);
        let response = request.send().await.map_err(|error| unsent(root(&error)))?;
        let status = response.status();
        drain(response).await;
        match status.is_success() {
            true => Ok(()),
            false => Err((Some(status.as_u16()), format!("the receiver answered {status}"))),
        }
    }

    fn client(&self) -> anyhow::Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Another part of the program may have installed a provider, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder =
            Client::builder().redirect(Policy::none()).no_proxy().timeout(PATIENCE).dns_resolver(Arc::new(Lookup));
        if let Some(authorities) = &self.authorities {
            builder = builder.tls_certs_only(authorities.clone());
        } else if self.url.scheme() == "http" {
            // Nothing is encrypted, so no certificates are needed.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| anyhow!(root(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }
}

async fn drain(mut response: Response) {
    let mut read = 0;
    while let Ok(Some(part)) = response.chunk().await {
        read += part.len();
        if read > ANSWER_LIMIT {
            return;
        }
    }
}

/// Returns the innermost reason of an error, which says what happened.
fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}
