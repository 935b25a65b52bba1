//! A small server of read-only pages.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::ALLOW;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::failure::Failure;

/// Answers a path.
pub type Answers = Arc<dyn Fn(&str) -> Response<Full<Bytes>> + Send + Sync>;

/// How long a client may take to send its request.
const ASKING: Duration = Duration::from_secs(5);
/// How long a connection may last: so a slow client does not occupy a place for ever, and a frequent one reconnects.
const CONNECTED: Duration = Duration::from_secs(30);
/// The number of connections at a time.
const PLACES: usize = 64;

/// A server that answers until it is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start(address: SocketAddr, answers: Answers) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::new(format!("cannot listen on {address}: {error}")).help("choose another address with --listen")
        };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { address, task: tokio::spawn(serve(listener, answers)) })
    }
}

async fn serve(listener: TcpListener, answers: Answers) {
    let places = Arc::new(Semaphore::new(PLACES));
    loop {
        // If all places are taken, a connection waits until one is free: at most as long as a connection may last.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely, there are no file handles left: those in use must first be closed.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let answers = answers.clone();
        tokio::spawn(async move {
            // A client that disconnects or is too slow needs no handling.
            let _ = tokio::time::timeout(CONNECTED, connection(stream, answers)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, answers: Answers) -> Result<(), hyper::Error> {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(&answers, request.method(), request.uri().path());
        async move { Ok::<_, Infallible>(answer) }
    });
    Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

fn answer(answers: &Answers, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let response = answers(path);
    if response.status() == StatusCode::NOT_FOUND || matches!(*method, Method::GET | Method::HEAD) {
        return response;
    }
    let response = Response::builder().status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, "GET, HEAD");
    response.body(Full::from("only GET and HEAD are allowed\n")).unwrap_or_default()
}
