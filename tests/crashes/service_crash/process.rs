//! The real service in a separate process, and the file that it leaves behind.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::Value;

const KEY: &str = "application-key-000000";
const SECRET: &str = "master-secret-00000000";

/// What the file holds in one of its tables: the last row of each key.
const LAST: &str = "SELECT value FROM log WHERE name = ? AND value IS NOT NULL
    AND seq IN (SELECT max(seq) FROM log GROUP BY app, name, key)";

pub struct Process {
    child: Child,
    origin: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(data: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["serve", "--port", "0", "--app", &format!("{KEY}:{SECRET}"), "--data"])
        .arg(data)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the binary starts")
}

impl Process {
    /// Starts it and waits until it prints its address.
    pub async fn start(data: &Path) -> Self {
        let mut child = spawn(data);
        let output = child.stdout.take().expect("piped");
        let (found, origin) = tokio::sync::oneshot::channel();
        // All output is read, because the service would end if nobody read it.
        std::thread::spawn(move || {
            let mut found = Some(found);
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let url = line.find("http://127.0.0.1:").and_then(|start| line[start..].split_whitespace().next());
                if let Some((url, found)) = url.and_then(|url| Some((url, found.take()?))) {
                    let _ = found.send(url.trim_end_matches('/').to_owned());
                }
            }
        });
        let origin = origin.await.expect("it says where it listens");
        Self { child, origin }
    }

    /// Starts it and kills it at once.
    pub fn start_and_kill(data: &Path, after: Duration) {
        let mut child = spawn(data);
        std::thread::sleep(after);
        child.kill().expect("it can be killed");
        child.wait().expect("it is gone");
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is gone");
    }

    pub fn talker(&self, client: &Client) -> Talker {
        Talker { client: client.clone(), origin: self.origin.clone() }
    }
}

/// A client that detects when the service is gone.
#[derive(Clone)]
pub struct Talker {
    client: Client,
    origin: String,
}

/// There was no answer, so the result is unknown.
#[derive(Debug)]
pub struct Broken;

impl Talker {
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<(u16, Value), Broken> {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.origin) };
        let mut request = self.client.request(method, url).basic_auth(KEY, Some(SECRET));
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.map_err(|_| Broken)?;
        let status = reply.status().as_u16();
        let text = reply.text().await.map_err(|_| Broken)?;
        Ok((status, serde_json::from_str(&text).unwrap_or_default()))
    }

    /// A change that must succeed if it is answered.
    pub async fn change(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Broken> {
        let (status, answer) = self.send(method, path, body).await?;
        assert!((200..300).contains(&status), "{path}: {status} {answer:#}");
        Ok(answer)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, None).await.expect("an answer")
    }

    /// Every item of a listing, over all its pages.
    pub async fn all(&self, path: &str, name: &str) -> Vec<Value> {
        let (mut items, mut next) = (Vec::new(), Some(path.to_owned()));
        while let Some(path) = next {
            let (status, mut page) = self.get(&path).await;
            assert_eq!(status, 200, "{path}: {page:#}");
            items.append(page[name].as_array_mut().expect("a list"));
            next = page["next_page"].as_str().map(str::to_owned);
        }
        items
    }
}

/// Checks that the file after a kill is intact and its records of pushes are consistent. Works on a copy, so that the
/// service finds the original.
pub fn check_file(data: &Path, thoroughly: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("data");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        if Path::new(&name(data)).exists() {
            std::fs::copy(name(data), name(&copy)).expect("a copy");
        }
    }
    let connection = rusqlite::Connection::open(&copy).expect("it opens");
    let state: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a result");
    assert_eq!(state, "ok");
    if !thoroughly {
        return;
    }
    let rows = |table: &str| -> Vec<Value> {
        let mut select = connection.prepare(LAST).expect("a log of rows");
        let values = select.query_map([table], |row| row.get::<_, String>(0)).expect("rows");
        values.map(|value| serde_json::from_str(&value.expect("a text")).expect("JSON")).collect()
    };
    let count =
        |sends: &Value| sends.as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum::<u64>();
    let sent: u64 = rows("sent").iter().map(|sent| count(&sent["sends"])).sum();
    let counted: u64 = rows("activity").iter().map(|hour| count(&hour["sends"])).sum();
    let received = rows("receipts").len() as u64;
    assert_eq!((sent, counted), (received, received), "pushes, reports and what devices got agree");
}
