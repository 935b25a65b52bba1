//! Webhooks over https: to a receiver whose certificate comes from an authority of one's own. The files beside this one are
//! such an authority, a certificate that it gave to localhost with its key, and another authority.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pushplan_testing::Folder;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

const CA: &str = include_str!("ca.pem");
const OTHER: &str = include_str!("other.pem");

/// An https server that takes every delivery.
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    fn new() -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = vec![CertificateDer::from_pem_slice(include_bytes!("server.pem")).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("server.key")).expect("a key");
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_no_client_auth().with_single_cert(chain, key);
        let config = Arc::new(config.expect("a certificate and its key"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let receiver = Self { address: listener.local_addr().expect("an address"), got: Arc::default() };
        let got = receiver.got.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, got) = (config.clone(), got.clone());
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).expect("a connection");
                    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
                    while let Some(body) = take(&mut stream) {
                        got.lock().expect("no panic").push(body);
                    }
                });
            }
        });
        receiver
    }

    fn got(&self) -> Vec<Value> {
        self.got.lock().expect("no panic").clone()
    }
}

/// Reads one request and answers it; `None` if the client has gone, or never trusted this server.
fn take(stream: &mut BufReader<StreamOwned<ServerConnection, TcpStream>>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
    serde_json::from_slice(&body).ok()
}

/// The real service, with one device.
struct Service {
    child: Child,
    origin: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    fn start(folder: &Folder, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["serve", "--port", "0"])
            .args(args)
            .current_dir(folder.path())
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let origin = lines.find_map(|line| {
            let start = line.find("http://127.0.0.1:")?;
            line[start..].split_whitespace().next().map(|url| url.trim_end_matches('/').to_owned())
        });
        let origin = origin.expect("it says where it listens");
        thread::spawn(move || lines.for_each(drop));
        Self { child, origin: origin.trim_end_matches("/local").trim_end_matches("/local:").to_owned() }
    }

    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        let url = format!("{}{path}", self.origin);
        let mut request = client.request(method.parse().expect("a method"), url);
        if let Some(body) = body {
            request = request.json(body);
        }
        let reply = request.send().await.expect("an answer");
        assert!(reply.status().is_success(), "{method} {path}: {}", reply.status());
        reply.json().await.expect("JSON")
    }

    /// Causes events: a device is registered and opens the app.
    async fn happen(&self) {
        self.call("PUT", "/local/devices/phone", Some(&json!({ "device_type": "ios" }))).await;
        self.call("POST", "/local/devices/phone/open", None).await;
    }

    /// Waits until the only webhook meets a condition, and returns it.
    async fn webhook(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let all = self.call("GET", "/local/webhooks", None).await;
            assert_eq!(all["count"], 1, "{all:#}");
            if wanted(&all["webhooks"][0]) {
                return all["webhooks"][0].clone();
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{all:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Checks that everything arrives, in order, and nothing has failed.
async fn assert_delivered(service: &Service, receiver: &Receiver) {
    service.happen().await;
    let webhook = service.webhook(|webhook| webhook["waiting"] == 0 && webhook["last_attempt"].is_string()).await;
    assert_eq!(webhook["last_failure"], Value::Null, "{webhook:#}");
    assert_eq!(webhook["next_attempt"], Value::Null, "{webhook:#}");
    let types: Vec<Value> = receiver.got().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["OPEN", "FIRST_OPEN", "CLOSE"]);
}

/// Checks that nothing arrives, and that the reason is visible.
async fn assert_distrusted(service: &Service, receiver: &Receiver) {
    service.happen().await;
    let webhook = service.webhook(|webhook| webhook["failed_attempts"].as_u64() >= Some(2)).await;
    assert_eq!(webhook["waiting"], 3, "{webhook:#}");
    assert_eq!(webhook["offset"], "00000000000000000000");
    assert_eq!(webhook["last_failure"]["status"], Value::Null);
    let reason = webhook["last_failure"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("certificate"), "{reason}");
    let time = |name: &str| webhook[name].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok()).expect("a time");
    assert!(time("next_attempt") > time("last_attempt"), "{webhook:#}");
    assert_eq!(receiver.got(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_receiver_is_trusted_by_the_authority_that_the_file_of_webhooks_names() {
    let (folder, receiver) = (Folder::new(), Receiver::new());
    let url = format!("https://{}/events", receiver.address);
    folder.write("settings/ca.pem", CA);
    folder.write("settings/service.toml", format!("[[webhook]]\nurl = \"{url}\"\nca = \"ca.pem\"\n"));
    let service = Service::start(&folder, &["--config", "settings/service.toml"], &[]);
    assert_delivered(&service, &receiver).await;
}

#[tokio::test]
async fn a_receiver_is_trusted_by_the_authority_of_the_command_line() {
    let (folder, receiver) = (Folder::new(), Receiver::new());
    let url = format!("https://localhost:{}/events", receiver.address.port());
    folder.write("ca.pem", CA);
    let service = Service::start(&folder, &["--webhook", &url, "--webhook-ca", "ca.pem"], &[]);
    assert_delivered(&service, &receiver).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_receiver_is_trusted_by_the_authorities_of_the_machine() {
    let (folder, receiver) = (Folder::new(), Receiver::new());
    let url = format!("https://{}/events", receiver.address);
    folder.write("ca.pem", CA);
    let service = Service::start(&folder, &["--webhook", &url], &[("SSL_CERT_FILE", "ca.pem")]);
    assert_delivered(&service, &receiver).await;
}

#[tokio::test]
async fn a_receiver_of_another_authority_gets_nothing_and_one_can_see_why() {
    let (folder, receiver) = (Folder::new(), Receiver::new());
    let url = format!("https://{}/events", receiver.address);
    folder.write("other.pem", OTHER);
    let service = Service::start(&folder, &["--webhook", &url, "--webhook-ca", "other.pem"], &[]);
    assert_distrusted(&service, &receiver).await;
}

#[tokio::test]
async fn a_receiver_with_a_certificate_for_another_name_gets_nothing() {
    let (folder, receiver) = (Folder::new(), Receiver::new());
    let url = format!("https://[::ffff:127.0.0.1]:{}/events", receiver.address.port());
    folder.write("ca.pem", CA);
    let service = Service::start(&folder, &["--webhook", &url, "--webhook-ca", "ca.pem"], &[]);
    assert_distrusted(&service, &receiver).await;
}

#[test]
fn a_file_without_a_certificate_is_told_with_its_place() {
    let folder = Folder::new();
    folder.write("empty.pem", "nothing\n");
    folder.write("service.toml", "[[webhook]]\nurl = \"https://localhost/\"\nca = \"empty.pem\"\n");
    let ran = folder.run(&["serve", "--port", "0", "--config", "service.toml"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("service.toml:3:6: empty.pem: there is no certificate in it"), "{}", ran.stderr);
    let ran = folder.run(&["serve", "--port", "0", "--webhook", "https://localhost/", "--webhook-ca", "none.pem"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("none.pem: No such file"), "{}", ran.stderr);
}
