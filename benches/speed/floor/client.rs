//! A bare client of hyper's: one connection, one request after the other.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Where the service is, and who asks.
#[derive(Clone, Debug)]
pub struct Place {
    /// Host and port.
    pub authority: String,
    authorization: String,
}

impl Place {
    /// From the environment that the real program reads.
    pub fn from_environment() -> Self {
        let read = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
        let origin = read("PUSHPLAN_ORIGIN");
        let pair = format!("{}:{}", read("PUSHPLAN_APP_KEY"), read("PUSHPLAN_MASTER_SECRET"));
        Self {
            authority: origin.trim_start_matches("http://").to_owned(),
            authorization: format!("Basic {}", BASE64_STANDARD.encode(pair)),
        }
    }
}

#[derive(Debug)]
pub struct Client {
    place: Place,
    sender: SendRequest<Full<Bytes>>,
}

impl Client {
    pub async fn connect(place: &Place) -> Self {
        let stream = TcpStream::connect(&place.authority).await.expect("the service listens");
        stream.set_nodelay(true).expect("a socket");
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a connection");
        tokio::spawn(connection);
        Self { place: place.clone(), sender }
    }

    /// Sends a request. Its answer must be a success.
    pub async fn send(&mut self, method: &str, path: &str, body: Bytes) -> Bytes {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.place.authority)
            .header(AUTHORIZATION, &self.place.authorization)
            .header(ACCEPT, "application/vnd.messaging+json; version=3")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .expect("a request");
        self.sender.ready().await.expect("a connection");
        let answer = self.sender.send_request(request).await.expect("an answer");
        let status = answer.status();
        let body = answer.into_body().collect().await.expect("a whole answer").to_bytes();
        assert!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
        body
    }

    pub async fn get(&mut self, path: &str) -> Bytes {
        self.send("GET", path, Bytes::new()).await
    }
}
