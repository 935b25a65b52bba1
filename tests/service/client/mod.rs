//! The client over real sockets: the meaning of answers, of lost ones, and requests that are never sent.

mod lost;
mod reading;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pushplan::client::{Credentials, Origin, Patience, Reading, Transport, Writing};
use pushplan::service::{Running, Settings, faults};
use pushplan::source::Source;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "client-application-000";
const SECRET: &str = "client-secret-00000000";

/// The built-in service with faults, and clients for it.
struct World {
    running: Running,
    reading: Reading,
    writing: Writing,
}

impl World {
    async fn new(rules: &str) -> Self {
        let rules = faults::read(&Source::new("faults.toml", rules)).unwrap_or_else(|error| panic!("{error}"));
        let settings = Settings { apps: vec![(KEY.into(), SECRET.into())], faults: Some(rules), ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let running = pushplan::service::start(settings, listener).await.expect("it starts");
        let transport = transport(running.address, PATIENCE);
        Self { running, reading: Reading::new(transport.clone()), writing: Writing::new(transport) }
    }

    /// The number of existing segments, regardless of the answers.
    fn segments(&self) -> usize {
        self.running.engine.read(|state, _| state.app(KEY).expect("the application").segments.table.len())
    }

    /// Waits for this number of requests. A slow one is logged when it ends.
    async fn logs(&self, requests: usize) {
        let begun = Instant::now();
        while self.asked().len() < requests && begun.elapsed() < Duration::from_secs(60) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The requests to the service, as `GET /api/segments`.
    fn asked(&self) -> Vec<String> {
        let log = self.running.engine.requests.list(|_| true);
        log.iter().map(|logged| format!("{} {}", logged.method, logged.path)).collect()
    }
}

/// Long enough for an answer of a slow and busy machine.
const PATIENCE: Patience = Patience { connect: Duration::from_secs(20), whole: Duration::from_secs(5) };
/// For servers that never answer.
const HASTE: Patience = Patience { connect: Duration::from_secs(20), whole: Duration::from_millis(600) };

fn transport(address: SocketAddr, patience: Patience) -> Arc<Transport> {
    let origin = Origin::parse(&format!("http://{address}")).expect("an origin");
    Transport::new(origin, &Credentials::new(KEY, SECRET), "messaging", patience).expect("a way to it")
}

/// A server that answers the n-th request with the n-th text and closes, and records the requests.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    heard: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl Server {
    async fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (tell, heard) = tokio::sync::mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        tokio::spawn(async move {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let _ = tell.send(head(&mut stream).await);
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { address, connections, heard }
    }
}

/// Reads the request of a client until its header ends, or the client stops.
async fn head(stream: &mut TcpStream) -> String {
    let (mut all, mut part) = (Vec::new(), [0; 4096]);
    while !all.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(count @ 1..) => all.extend_from_slice(&part[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// An answer with a JSON body, after which the connection closes.
fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}", body.len())
}
