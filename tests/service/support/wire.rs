//! HTTP as bytes, so nothing is corrected on the way.

use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{KEY, SECRET};

/// A minimally parsed answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body; null if it is empty.
    pub fn json(&self) -> Value {
        match self.body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text())),
        }
    }
}

/// A request with valid credentials, after which the connection closes. Given headers come last.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let credentials = BASE64_STANDARD.encode(format!("{KEY}:{SECRET}"));
    let mut head = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    let given = |name: &str| headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    if !given("authorization") {
        head.push_str(&format!("Authorization: Basic {credentials}\r\n"));
    }
    if !given("host") {
        head.push_str("Host: {address}\r\n");
    }
    if !body.is_empty() && !given("content-length") && !given("transfer-encoding") {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Sends bytes and reads all that comes back until the connection closes. `{address}` in the header is the service's.
pub async fn all_of(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap_or(bytes.len());
    let with_host = String::from_utf8_lossy(&bytes[..head]).replace("{address}", &address.to_string());
    let (mut read, mut write) = TcpStream::connect(address).await.expect("a connection").into_split();
    let rest = bytes[head..].to_vec();
    let sent = tokio::spawn(async move {
        // The service may close before everything is sent.
        let _ = write.write_all(with_host.as_bytes()).await;
        let _ = write.write_all(&rest).await;
        write
    });
    let mut answer = Vec::new();
    let whole = async {
        let mut part = [0; 16 * 1024];
        while let Ok(count @ 1..) = read.read(&mut part).await {
            answer.extend_from_slice(&part[..count]);
        }
    };
    tokio::time::timeout(Duration::from_secs(20), whole).await.expect("the connection closes");
    sent.abort();
    answer
}

/// Sends a request and returns its answer.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> Reply {
    let answer = all_of(address, bytes).await;
    parse(&answer).unwrap_or_else(|| {
        let asked = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
        panic!("no answer to {asked}: {}", String::from_utf8_lossy(&answer))
    })
}

/// The first answer in the received bytes.
pub fn parse(bytes: &[u8]) -> Option<Reply> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(&bytes[..head]).ok()?.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Some(Reply { status, headers, body: bytes[head + 4..].to_vec() })
}

/// A text with everything that looks like a UUID replaced by `<uuid>`.
pub fn without_uuids(text: &str) -> String {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let is_uuid = |part: &[u8]| {
        let fits = |(at, byte): (usize, &u8)| match DASHES.contains(&at) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        };
        part.len() == 36 && part.iter().enumerate().all(fits)
    };
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        if rest.as_bytes().get(..36).is_some_and(is_uuid) {
            out.push_str("<uuid>");
            rest = &rest[36..];
        } else {
            let next = rest.chars().next().expect("not empty");
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

/// Whether a value has the expected form: `<any>` stands for any value but null, everything else for itself.
pub fn alike(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::String(word), value) if word == "<any>" => !value.is_null(),
        (Value::Array(expected), Value::Array(items)) => {
            expected.len() == items.len() && expected.iter().zip(items).all(|(expected, item)| alike(expected, item))
        }
        (Value::Object(expected), Value::Object(fields)) => {
            let same = |key: &String| fields.get(key).is_some_and(|field| alike(&expected[key], field));
            expected.len() == fields.len() && expected.keys().all(same)
        }
        _ => expected == value,
    }
}
