//! Posting news to a webhook.

use std::time::Duration;

use anyhow::{anyhow, bail};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::Value;

use crate::backoff::Backoff;
use crate::cli::signals::Stop;
use crate::client::Origin;
use crate::failure::Failure;

/// The time limit of one attempt, until the first line of the answer.
const WITHIN: Duration = Duration::from_secs(5);
/// The number of attempts. News that are not accepted are posted again after the next round.
const ATTEMPTS: u32 = 3;
/// The wait before the second attempt; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// A webhook. The URL may contain a secret: only its origin is shown.
pub struct Webhook {
    url: Url,
    origin: Origin,
    client: Client,
}

impl Webhook {
    /// Parses the URL of a webhook. It must use https, or be on this machine.
    pub fn new(text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!("the webhook {why}"))
                .help("write an https URL, such as https://hooks.example/pushplan")
        };
        let url = Url::parse(text).map_err(|_| wrong("is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("contains a user name or a password, which are not sent"));
        }
        let scheme_and_host = url.origin().ascii_serialization();
        let origin = Origin::parse(&scheme_and_host)
            .map_err(|_| wrong("is neither https nor on this machine: others could read the requests"))?;
        // Another part of the program may have installed a provider; any is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("pushplan/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .timeout(WITHIN)
            .pool_max_idle_per_host(0);
        if origin.is_loopback() {
            builder = builder.no_proxy();
        }
        if !origin.is_https() {
            // Without encryption, no certificates are needed.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|_| Failure::new(format!("cannot connect to {origin}")))?;
        Ok(Self { url, origin, client })
    }

    /// Posts news, with retries. After a stop, it ends after at most one attempt.
    pub async fn post(&self, news: &Value, stop: &Stop) -> anyhow::Result<()> {
        let mut waits = Backoff::between(ATTEMPTS, FIRST_WAIT);
        loop {
            let Err(why) = self.once(news).await else { return Ok(()) };
            let Some(wait) = waits.next().filter(|_| stop.by().is_none()) else {
                bail!("{} did not accept the report: {why}", self.origin);
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.asked() => {}
            }
        }
    }

    /// One attempt, or why it failed, without the URL.
    async fn once(&self, news: &Value) -> anyhow::Result<()> {
        let post = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(news.to_string());
        match post.send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) if answer.status().is_redirection() => {
                Err(anyhow!("it answered {}, and redirects are not followed", answer.status().as_u16()))
            }
            Ok(answer) => Err(anyhow!("it answered {}", answer.status().as_u16())),
            Err(error) if error.is_timeout() => Err(anyhow!("no answer within {} s", WITHIN.as_secs())),
            Err(error) if error.is_connect() => Err(anyhow!("it cannot be reached")),
            Err(_) => Err(anyhow!("the connection was lost")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_https_or_on_this_machine_and_never_repeated() {
        for text in ["https://hooks.example/hunter2", "http://127.0.0.1:9/hunter2", "http://localhost/hunter2?a=b"] {
            assert!(Webhook::new(text).is_ok(), "{text}");
        }
        for text in [
            "hunter2",
            "http://hooks.example/hunter2",
            "http://10.0.0.1/hunter2",
            "ftp://hooks.example/hunter2",
            "file:///hunter2",
            "https://me:hunter2@hooks.example/",
        ] {
            let failure = Webhook::new(text).err().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(failure.kind, crate::failure::FailureKind::Usage);
            assert!(!failure.message.contains("hunter2"), "{failure}");
        }
    }
}
