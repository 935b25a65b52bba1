//! A client that costs as little as possible: one thread, bytes that are made once, connections that stay open.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The bytes of a request.
pub fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {AUTHORIZATION}\r\n\
         Accept: application/vnd.messaging+json; version=3;\r\nContent-Type: application/json\r\n{length}\r\n{body}"
    )
    .into_bytes()
}

/// `key:secret`.
const AUTHORIZATION: &str = "a2V5OnNlY3JldA==";
pub const APP: (&str, &str) = ("key", "secret");

/// One answer, without the `Date` line that hyper adds.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A connection that stays open.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, buffer: Vec::new() }
    }

    /// Sends a request, and reads its answer to the end.
    pub async fn ask(&mut self, request: &[u8]) {
        exchange(&self.stream, request, &mut self.buffer).await;
    }
}

/// Asks once.
pub async fn ask(address: SocketAddr, request: &[u8]) -> Answer {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let mut buffer = Vec::new();
    let head = exchange(&stream, request, &mut buffer).await;
    let text = String::from_utf8(buffer[..head].to_vec()).expect("a header is text");
    let mut lines = text.trim_end().split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let headers =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_owned(), value.to_owned()));
    let own = |(name, _): &(String, String)| name != "date" && name != "content-length";
    Answer { status, headers: headers.filter(own).collect(), body: buffer[head..].to_vec() }
}

/// How many requests are answered in a second, with so many connections. Each answer has the status that is expected.
pub fn rate(address: SocketAddr, request: &[u8], status: u16, connections: usize, time: Duration) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let begins = format!("HTTP/1.1 {status} ").into_bytes();
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..connections {
            let stream = TcpStream::connect(address).await.expect("the server listens");
            stream.set_nodelay(true).expect("a socket");
            exchange(&stream, request, &mut Vec::new()).await;
            streams.push(stream);
        }
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for stream in streams {
            let (request, begins) = (request.to_vec(), begins.clone());
            tasks.spawn(async move {
                let (mut buffer, mut count) = (Vec::new(), 0_u64);
                while start.elapsed() < time {
                    exchange(&stream, &request, &mut buffer).await;
                    assert!(buffer.starts_with(&begins), "{}", String::from_utf8_lossy(&buffer));
                    count += 1;
                }
                count
            });
        }
        let answered: u64 = tasks.join_all().await.into_iter().sum();
        answered as f64 / start.elapsed().as_secs_f64()
    })
}

/// Sends a request and reads the answer into the buffer. The length of its header is returned.
async fn exchange(stream: &TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> usize {
    let mut sent = 0;
    while sent < request.len() {
        match stream.try_write(&request[sent..]) {
            Ok(count) => sent += count,
            Err(_) => drop(stream.ready(Interest::WRITABLE).await.expect("a connection")),
        }
    }
    buffer.clear();
    let mut whole = None;
    loop {
        match stream.try_read_buf(buffer) {
            Ok(0) => panic!("the server broke off"),
            Ok(_) => {}
            Err(_) => {
                stream.ready(Interest::READABLE).await.expect("a connection");
                continue;
            }
        }
        whole = whole.or_else(|| length(buffer));
        if let Some((head, _)) = whole.filter(|(head, body)| buffer.len() >= head + body) {
            return head;
        }
        buffer.reserve(whole.map_or(1024, |(head, body)| head + body));
    }
}

/// The lengths of an answer's header and body, once the header is there.
fn length(buffer: &[u8]) -> Option<(usize, usize)> {
    let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    const NAME: &[u8] = b"content-length: ";
    let at = buffer[..head].windows(NAME.len()).position(|name| name == NAME).expect("a length") + NAME.len();
    let digits = buffer[at..head].iter().take_while(|byte| byte.is_ascii_digit());
    Some((head, digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))))
}
