//! The client: sends requests to a service and returns its answers.
//!
//! Reading and writing are different types. [`Reading`] can send nothing but a `GET`, so code that only has a
//! [`Reading`], such as the code that makes a plan, cannot change the service.

mod credentials;
mod leaving;
mod origin;
mod pause;
mod redacted;
mod transport;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use pushplan_model::backoff::Backoff;

pub use credentials::{
    CredentialSource as FoundIn, Credentials, FINGERPRINT, Keyring, Secret, credentials, only_its_owner,
};
pub use origin::{Origin, is_plain, shown};
pub use redacted::Redacted;
pub use transport::{Clients, Patience, Timing, Transport, connections};
pub use whole::Whole;

use pushplan_model::exchange::{Answer, Loss, Method, Request};

use crate::failure::{Failure, FailureKind};
use pause::Pause;

/// The maximum number of times that a `GET` is sent.
const ATTEMPTS: u32 = 5;
/// The first wait before a retry. Each later one is about twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait, whatever the service asks for, because a person may be waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A client that can only read.
#[derive(Clone, Debug)]
pub struct Reading {
    transport: Arc<Transport>,
    pause: Arc<Pause>,
}

impl Reading {
    pub fn new(transport: Arc<Transport>) -> Self {
        Self { transport, pause: Arc::default() }
    }

    pub fn origin(&self) -> &Origin {
        self.transport.origin()
    }

    /// Sends a `GET`, and retries if the service is busy, fails or does not answer. Returns the last answer.
    pub async fn get(&self, path: &str) -> Result<Answer, Loss> {
        Ok(self.get_whole(path).await?.answer)
    }

    /// Sends a `GET`, and retries if the service is busy, fails or does not answer. It returns the last answer with its headers
    /// and raw bytes.
    pub async fn get_whole(&self, path: &str) -> Result<Whole, Loss> {
        let request = Request::get(path);
        let mut waits = Backoff::between(ATTEMPTS, FIRST_WAIT);
        loop {
            self.pause.over().await;
            let answered = self.transport.send_whole(&request, || true).await;
            let wait = match &answered {
                Ok(Whole { answer, .. }) if !answer.is_passing() => return answered,
                Ok(Whole { answer, .. }) => answer.wait_seconds(Timestamp::now()).map(Duration::from_secs),
                Err(_) => None,
            };
            let Some(usual) = waits.next() else { return answered };
            let wait = wait.unwrap_or_else(|| pause::jittered(usual)).min(LONGEST_WAIT);
            match &answered {
                // All other reads have to wait as well.
                Ok(Whole { answer, .. }) if answer.status == 429 => self.pause.extend(wait),
                _ => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Sends a request that was built elsewhere, with retries. It refuses any method other than `GET`.
    pub async fn read(&self, request: &Request) -> Result<Answer, Loss> {
        match request.method {
            Method::Get => self.get(&request.path).await,
            method => {
                Err(Loss::NotSent(format!("a {} would change the service, but this command only reads", method.word())))
            }
        }
    }

    /// Sends a `GET` once, for callers that can continue without an answer.
    pub async fn glance(&self, path: &str) -> Option<Answer> {
        self.transport.send(&Request::get(path), || true).await.ok()
    }
}

/// A client that can send every request. It sends each one once: retries are for the caller to decide.
#[derive(Clone, Debug)]
pub struct Writing {
    transport: Arc<Transport>,
}

impl Writing {
    pub fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// Returns another client for this application, with connections of its own.
    pub fn apart(&self) -> Self {
        Self { transport: self.transport.apart() }
    }

    /// Sends a request. `may_leave` is called right before its bytes are sent; if it returns false, they are not sent.
    pub async fn send(
        &self,
        request: &Request,
        may_leave: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Answer, Loss> {
        self.transport.send(request, may_leave).await
    }

    /// Sends a request immediately. Returns the answer with its headers and raw bytes.
    pub async fn send_whole(&self, request: &Request) -> Result<Whole, Loss> {
        self.transport.send_whole(request, || true).await
    }
}

/// Returns the failure of an answer that refuses the credentials.
pub fn refusal(origin: &Origin, answer: &Answer) -> Option<Failure> {
    let what = match answer.status {
        401 => "refuses these credentials",
        403 => "does not allow this with these credentials",
        _ => return None,
    };
    let failure = Failure::new(format!("{origin} {what} ({})", answer.error())).kind(FailureKind::Credentials);
    Some(failure.help("check the app key and the master secret; the plain application secret may not use this API"))
}
