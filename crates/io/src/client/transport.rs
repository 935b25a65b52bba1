//! Sends one request, once, and returns its result.

use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::exchange::{Answer, Loss, Method, Request, http_date};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::redirect::Policy;
use reqwest::{Body, Client, Response};
use serde_json::Value;

use super::credentials::Credentials;
use super::leaving::{Departed, Departure, Leaving};
use super::origin::Origin;
use super::redacted::Redacted;
use super::whole::Whole;

const MIB: usize = 1024 * 1024;
/// The largest answer to a `GET`, which may be a list, and to any other request.
const LISTING_LIMIT: usize = 64 * MIB;
const ANSWER_LIMIT: usize = 4 * MIB;
/// How long a connection is kept for the next request: shorter than any server keeps it. A request over a connection
/// that the server has just closed has an unknown result.
const KEPT: Duration = Duration::from_secs(4);

/// Time limits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection, including its handshake.
    pub connect: Duration,
    /// For the whole exchange, to the last byte of the answer.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), whole: Duration::from_secs(30) }
    }
}

/// Sends requests to one application on one service.
#[derive(Debug)]
pub struct Transport {
    origin: Origin,
    headers: HeaderMap,
    media_type: HeaderValue,
    patience: Patience,
    clients: Clients,
    /// The secrets that failures must not repeat.
    struck: Redacted,
    clock: Arc<ServiceClock>,
}

/// The service's clock, according to its answers: how many seconds it is ahead of the local one.
#[derive(Debug, Default)]
struct ServiceClock(OnceLock<AtomicI64>);

impl ServiceClock {
    fn showed(&self, at: Timestamp) {
        let seconds = at.duration_since(Timestamp::now()).as_secs();
        self.0.get_or_init(AtomicI64::default).store(seconds, Ordering::Relaxed);
    }

    fn ahead(&self) -> Option<SignedDuration> {
        self.0.get().map(|seconds| SignedDuration::from_secs(seconds.load(Ordering::Relaxed)))
    }
}

/// Connections that transports to several applications can share, because creating them takes longer than a request.
#[derive(Clone, Debug, Default)]
pub struct Clients {
    made: Arc<[OnceLock<Client>; 4]>,
    timing: Option<Arc<dyn Timing>>,
}

/// Receives how long each request took, to the last byte of its answer or until it was lost.
pub trait Timing: Debug + Send + Sync {
    fn took(&self, method: Method, time: Duration);
}

impl Clients {
    /// Returns connections that report to `timing` how long each request takes.
    pub fn timed(timing: Arc<dyn Timing>) -> Self {
        Self { timing: Some(timing), ..Self::default() }
    }

    /// Returns separate connections that report to this timing too.
    fn apart(&self) -> Self {
        Self { timing: self.timing.clone(), ..Self::default() }
    }

    /// Returns the client for such a service. It is created when it is first needed, which fails on a machine without
    /// certificates.
    fn of(&self, origin: &Origin) -> &OnceLock<Client> {
        &self.made[usize::from(origin.is_loopback()) + 2 * usize::from(origin.is_https())]
    }
}

impl Transport {
    /// `vendor` is the vendor's name in the media type.
    pub fn new(
        origin: Origin,
        credentials: &Credentials,
        vendor: &str,
        patience: Patience,
    ) -> anyhow::Result<Arc<Self>> {
        Self::sharing(&Clients::default(), origin, credentials, vendor, patience)
    }

    /// Opens a transport over connections that other transports use too. All of them need the same `patience`, because the
    /// first one sets it for the connections.
    pub fn sharing(
        clients: &Clients,
        origin: Origin,
        credentials: &Credentials,
        vendor: &str,
        patience: Patience,
    ) -> anyhow::Result<Arc<Self>> {
        let media_type = format!("application/vnd.{vendor}+json; version=3");
        let media_type: HeaderValue =
            media_type.parse().map_err(|_| anyhow!("`{vendor}` is not the name of a vendor"))?;
        let pair = format!("{}:{}", credentials.app_key, credentials.master_secret.reveal());
        let basic = format!("Basic {}", BASE64_STANDARD.encode(pair));
        let mut authorization = HeaderValue::from_str(&basic).map_err(|_| anyhow!("the credentials cannot be sent"))?;
        authorization.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization), (ACCEPT, media_type.clone())]);
        let struck = Redacted::of(credentials);
        Ok(Arc::new(Self {
            origin,
            headers,
            media_type,
            patience,
            clients: clients.clone(),
            struck,
            clock: Arc::default(),
        }))
    }

    /// Returns a copy with connections of its own, because connections belong to the runtime that first uses them.
    pub fn apart(&self) -> Arc<Self> {
        let Self { origin, headers, media_type, patience, clients, struck, clock } = self;
        Arc::new(Self {
            origin: origin.clone(),
            headers: headers.clone(),
            media_type: media_type.clone(),
            patience: *patience,
            clients: clients.apart(),
            struck: struck.clone(),
            clock: clock.clone(),
        })
    }

    /// Returns a copy with a service clock of its own, which starts unset.
    pub fn without_clock(&self) -> Self {
        let Self { origin, headers, media_type, patience, clients, struck, clock: _ } = self;
        Self {
            origin: origin.clone(),
            headers: headers.clone(),
            media_type: media_type.clone(),
            patience: *patience,
            clients: clients.clone(),
            struck: struck.clone(),
            clock: Arc::default(),
        }
    }

    /// Opens a transport without credentials, to find out which service answers at an origin.
    pub fn anonymous(origin: Origin, patience: Patience) -> Self {
        let media_type = HeaderValue::from_static("application/json");
        let (clients, struck) = (Clients::default(), Redacted::default());
        Self { origin, headers: HeaderMap::new(), media_type, patience, clients, struck, clock: Arc::default() }
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns how far the service's clock is ahead of the local one, according to its newest answer.
    pub fn ahead(&self) -> Option<SignedDuration> {
        self.clock.ahead()
    }

    /// Sends a request once. `may_leave` is called right before its bytes are sent, except for a `GET`.
    pub async fn send(
        &self,
        request: &Request,
        may_leave: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Answer, Loss> {
        Ok(self.timed(request, may_leave, false).await?.answer)
    }

    /// Sends a request once and returns the answer with its headers and raw bytes. `may_leave` is called right before the bytes
    /// are sent, except for a `GET`.
    pub async fn send_whole(
        &self,
        request: &Request,
        may_leave: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Whole, Loss> {
        self.timed(request, may_leave, true).await
    }

    async fn timed(
        &self,
        request: &Request,
        may_leave: impl Fn() -> bool + Send + Sync + 'static,
        with_headers: bool,
    ) -> Result<Whole, Loss> {
        let began = Instant::now();
        let came = self.exchange(request, may_leave, with_headers).await;
        if let Some(timing) = &self.clients.timing {
            timing.took(request.method, began.elapsed());
        }
        came
    }

    async fn exchange(
        &self,
        request: &Request,
        may_leave: impl Fn() -> bool + Send + Sync + 'static,
        with_headers: bool,
    ) -> Result<Whole, Loss> {
        let not_sent = |why: anyhow::Error| Loss::NotSent(why.to_string());
        let url = self.origin.url(&request.path).map_err(not_sent)?;
        let client = self.client().map_err(not_sent)?;
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut sending = reqwest::Request::new(method, url);
        *sending.headers_mut() = self.headers.clone();
        if request.body.is_some() {
            sending.headers_mut().insert(CONTENT_TYPE, self.media_type.clone());
        }
        // A `GET` may be sent at any time.
        let departure = (request.method != Method::Get).then(Departure::default);
        if let Some(departure) = &departure {
            let body = request.body.clone().unwrap_or_default();
            *sending.body_mut() = Some(Body::wrap(Leaving::new(body, may_leave, departure.clone())));
        }
        let response = client.execute(sending).await.map_err(|error| self.lost(&error, departure.as_ref()))?;
        let limit = if request.method == Method::Get { LISTING_LIMIT } else { ANSWER_LIMIT };
        self.read(response, limit, with_headers).await
    }

    /// Returns why there is no answer, and whether the service may have received the request.
    fn lost(&self, error: &reqwest::Error, departure: Option<&Departure>) -> Loss {
        let departed = match departure {
            Some(departure) => departure.give_up(),
            None if error.is_connect() || error.is_builder() => Departed::No,
            None => Departed::Yes,
        };
        match departed {
            Departed::TooLate => Loss::NotSent(TOO_LATE.to_owned()),
            Departed::No => Loss::NotSent(format!("{} cannot be reached: {}", self.origin, self.why(error))),
            Departed::Yes => Loss::Unknown(format!("no answer from {}: {}", self.origin, self.why(error))),
        }
    }

    /// Returns why there is no answer, without any header or body.
    fn why(&self, error: &reqwest::Error) -> String {
        if error.is_timeout() {
            let within = if error.is_connect() { self.patience.connect } else { self.patience.whole };
            return format!("no answer within {within:?}");
        }
        self.struck.text(&innermost(error)).to_lowercase()
    }

    async fn read(&self, mut response: Response, limit: usize, with_headers: bool) -> Result<Whole, Loss> {
        let shown = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = response.headers().iter().filter(|_| with_headers).map(shown).collect();
        let header = |name: HeaderName| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (status, location, retry_after) = (response.status().as_u16(), header(LOCATION), header(RETRY_AFTER));
        let at = header(DATE).as_deref().and_then(http_date);
        at.filter(|_| response.status().is_success()).into_iter().for_each(|at| self.clock.showed(at));
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(None) => break,
                Ok(Some(part)) if bytes.len() + part.len() <= limit => bytes.extend_from_slice(&part),
                Ok(Some(_)) => {
                    return Err(Loss::Unknown(format!("the answer is larger than {} MiB", limit / MIB)));
                }
                Err(error) => return Err(Loss::Unknown(format!("the answer is incomplete: {}", self.why(&error)))),
            }
        }
        let body = if bytes.is_empty() { Some(Value::Null) } else { serde_json::from_slice(&bytes).ok() };
        let mut whole = Whole { answer: Answer { status, body, location, retry_after, at }, headers, bytes };
        self.struck.whole(&mut whole);
        Ok(whole)
    }

    fn client(&self) -> anyhow::Result<&Client> {
        let made = self.clients.of(&self.origin);
        if let Some(client) = made.get() {
            return Ok(client);
        }
        let client = connections(&self.origin, self.patience)?;
        Ok(made.get_or_init(|| client))
    }
}

/// Creates the client for an origin: it follows no redirect and never sends a request twice.
pub fn connections(origin: &Origin, patience: Patience) -> anyhow::Result<Client> {
    // Another part of the program may have installed a provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("pushplan/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(patience.connect)
        .timeout(patience.whole)
        .pool_idle_timeout(KEPT);
    if origin.is_loopback() {
        builder = builder.no_proxy();
    }
    if !origin.is_https() {
        // Nothing is encrypted, so no certificates are needed.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| anyhow!("no connection can be made: {}", innermost(&error).to_lowercase()))
}

/// Returns the innermost reason of an error, which says what happened, without any header or body.
fn innermost(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

const TOO_LATE: &str = "the deadline for sending it had passed";
