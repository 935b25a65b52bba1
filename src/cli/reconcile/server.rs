//! `/healthz` and `/metrics`. Nothing else can be asked here, and nothing can be changed.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use jiff::Timestamp;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::board::Board;
use crate::failure::Failure;
use crate::render::reconcile::metrics::MEDIA_TYPE;

/// How long a client may take to ask.
const ASKING: Duration = Duration::from_secs(5);
/// How long a connection may last: who reads slowly holds no place for ever, and who asks often connects again.
const CONNECTED: Duration = Duration::from_secs(30);
/// How many are served at a time.
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
    pub async fn start(address: SocketAddr, board: Arc<Board>) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::new(format!("{address} cannot be listened on: {error}")).help("choose another with --listen")
        };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { address, task: tokio::spawn(serve(listener, board)) })
    }
}

async fn serve(listener: TcpListener, board: Arc<Board>) {
    let places = Arc::new(Semaphore::new(PLACES));
    loop {
        // If all places are taken, a connection waits until one is free: at most as long as a connection may last.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file handles, most likely: those in use must first be closed.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let board = board.clone();
        tokio::spawn(async move {
            // A client that breaks off or is too slow is its own affair.
            let _ = tokio::time::timeout(CONNECTED, connection(stream, board)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, board: Arc<Board>) -> Result<(), hyper::Error> {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(&board, request.method(), request.uri().path());
        async move { Ok::<_, Infallible>(answer) }
    });
    Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

fn answer(board: &Board, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let (status, kind, text) = match path {
        "/healthz" | "/metrics" if !matches!(*method, Method::GET | Method::HEAD) => {
            let (status, text) = (StatusCode::METHOD_NOT_ALLOWED, "this can only be read\n");
            let response = Response::builder().status(status).header(ALLOW, "GET, HEAD");
            return response.body(Full::from(text)).unwrap_or_default();
        }
        "/healthz" => {
            let (is_fine, text) = board.health(Timestamp::now());
            let status = if is_fine { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            (status, "application/json", text)
        }
        "/metrics" => (StatusCode::OK, MEDIA_TYPE, board.metrics()),
        _ => (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "there are /healthz and /metrics\n".to_owned()),
    };
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind).header(CACHE_CONTROL, "no-store");
    response.body(Full::from(text)).unwrap_or_default()
}
