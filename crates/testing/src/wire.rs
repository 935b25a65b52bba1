//! What lies between a client and a store: it sees each request, and may answer it, lose it or lose the answer.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    /// The path, with the query.
    pub target: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    /// Such as `PUT /team/x/local/00000001.json`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = || {
            let mut text = String::new();
            reader.read_line(&mut text).ok().filter(|read| *read > 0).map(|_| text.trim_end().to_owned())
        };
        let first = line()?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, target) = (words.next()?, words.next()?);
        let mut headers = Vec::new();
        while let Some((name, value)) = line()?.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut asked = Self { method, target, headers, body: Vec::new() };
        asked.body = vec![0; asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut asked.body).ok()?;
        Some(asked)
    }
}

/// Answers on a free port of this machine. Where there is no answer, the connection is cut.
pub fn serve(answer: impl Fn(&Asked) -> Option<Vec<u8>> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let said = Asked::read(&stream).and_then(|asked| answer(&asked));
                let _ = (&stream).write_all(&said.unwrap_or_default());
            });
        }
    });
    port
}

/// What another server on this machine answers.
pub fn forward(port: u16, asked: &Asked) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", asked.method, asked.target);
    for (name, value) in asked.headers.iter().filter(|(name, _)| name != "connection") {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server is there");
    stream.write_all(&[head.as_bytes(), b"\r\n", &asked.body].concat()).expect("it listens");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    answer
}

pub fn say(status: &str, headers: &str, body: &[u8]) -> Option<Vec<u8>> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
    Some([head.as_bytes(), body].concat())
}

/// A server between a client and another one, which keeps what was asked.
#[derive(Debug)]
pub struct Between {
    pub port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Between {
    /// `on` says what to do with a request instead of passing it on; `Some(None)` is to cut the connection.
    pub fn new(behind: u16, on: impl Fn(&Asked) -> Option<Option<Vec<u8>>> + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let port = serve(move |asked| {
            log.lock().expect("sound").push(asked.line());
            on(asked).unwrap_or_else(|| Some(forward(behind, asked)))
        });
        Self { port, seen }
    }

    /// What was asked since the last time.
    pub fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().expect("sound"))
    }
}

pub type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A store in memory that speaks what S3 and Google Cloud Storage have in common. It honours conditions, or does not.
pub fn store_in_memory(honours: bool) -> (u16, Objects) {
    const TAGS: &str = "etag: \"1\"\r\nx-goog-generation: 1\r\nlast-modified: Sun, 15 Nov 2026 12:00:00 GMT\r\n";
    let objects = Objects::default();
    let held = Arc::clone(&objects);
    let port = serve(move |asked| {
        let mut objects = held.lock().expect("sound");
        let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
        let key = path.strip_prefix("/team").expect("the bucket").trim_start_matches('/');
        let key = percent_encoding::percent_decode_str(key).decode_utf8().expect("text").into_owned();
        let is_create =
            asked.header("if-none-match") == Some("*") || asked.header("x-goog-if-generation-match") == Some("0");
        match asked.method.as_str() {
            "PUT" if honours && is_create && objects.contains_key(&key) => {
                say("412 Precondition Failed", "", b"<Error><Code>PreconditionFailed</Code></Error>")
            }
            "PUT" => {
                objects.insert(key, asked.body.clone());
                say("200 OK", TAGS, b"")
            }
            "GET" if key.is_empty() => {
                let pairs: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
                let is_listed = |key: &&String| key.starts_with(&pairs["prefix"]) && **key > pairs["start-after"];
                let listed = objects.keys().filter(is_listed).map(|key| {
                    format!(
                        "<Contents><Key>{key}</Key><Size>1</Size><ETag>1</ETag>\
                         <LastModified>2026-11-15T12:00:00.000Z</LastModified></Contents>"
                    )
                });
                let xml = format!("<ListBucketResult>{}</ListBucketResult>", listed.collect::<String>());
                say("200 OK", "", xml.as_bytes())
            }
            "GET" => match objects.get(&key) {
                Some(bytes) => say("200 OK", TAGS, bytes),
                None => say("404 Not Found", "", b"<Error><Code>NoSuchKey</Code></Error>"),
            },
            "DELETE" => {
                objects.remove(&key);
                say("204 No Content", "", b"")
            }
            _ => {
                // Several are removed at a time.
                let body = String::from_utf8_lossy(&asked.body).into_owned();
                objects.retain(|key, _| !body.contains(&format!("<Key>{key}</Key>")));
                say("200 OK", "", b"<DeleteResult></DeleteResult>")
            }
        }
    });
    (port, objects)
}
