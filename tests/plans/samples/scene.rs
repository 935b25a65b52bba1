//! A project with its own service, whose clock stands still until it is moved.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use pushplan::render::schema::SCHEMAS;
use pushplan_testing::{Folder, Ran};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use unicode_width::UnicodeWidthStr;

use super::facts;

/// The start of every scene: a Monday.
const NOW: &str = "2026-11-16T09:00Z";
/// The application of a service without a given one.
const APP: (&str, &str) = ("local-application-key0", "local-master-secret-00");
/// The wait for lost responses is shorter than in production.
const QUICK: &str = "settle = \"1s\"\nsend_within = \"2s\"\n";

pub const DOCUMENTED: &str = "documented";
pub const EXTENDED: &str = "extended";

pub struct Scene {
    pub folder: Folder,
    service: Child,
    origin: String,
    client: Client,
    runtime: Runtime,
    /// Every text that was ever in a file of the project.
    files: Vec<String>,
    /// Further arguments of its plans.
    more: Vec<&'static str>,
}

impl Scene {
    /// A project without manifests, on a service with these verbs.
    pub fn new(level: &'static str, settings: &str) -> Self {
        Self::starting(level, settings, NOW, None)
    }

    /// A project with a service where the response to the first request with this path is lost, after it was carried
    /// out.
    pub fn losing(level: &'static str, path: &str) -> Self {
        let fault = "[[fault]]\nkind = \"close\"\nwhen = \"after\"\nmethod = \"POST\"\ntimes = 1\n";
        Self::starting(level, "", NOW, Some(&format!("{fault}path = \"{path}\"\n")))
    }

    pub fn starting(level: &'static str, settings: &str, now: &str, faults: Option<&str>) -> Self {
        let folder = Folder::new();
        folder.write("pushplan.toml", format!("[targets.local]\napi = \"{level}\"\n{QUICK}{settings}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_pushplan"));
        command.args([
            "serve",
            "--port",
            "0",
            "--api",
            level,
            "--clock",
            now,
            "--app",
            &format!("{}:{}", APP.0, APP.1),
        ]);
        command.current_dir(folder.path());
        if let Some(rules) = faults {
            command.arg("--faults").arg(folder.write("faults.rules", rules));
        }
        let mut service = command.stdout(Stdio::piped()).spawn().expect("the service starts");
        let mut screen = String::new();
        for line in BufReader::new(service.stdout.take().expect("piped")).lines() {
            screen.push_str(&line.expect("a line"));
            screen.push('\n');
            if screen.contains("Ctrl-C") {
                break;
            }
        }
        let origin = screen.lines().next().and_then(|line| line.strip_prefix("Ready on "));
        let origin = origin.unwrap_or_else(|| panic!("{screen}")).to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { folder, service, origin, client, runtime, files: Vec::new(), more: Vec::new() }
    }

    pub fn write(&mut self, name: &str, text: &str) {
        self.files.push(text.to_owned());
        self.folder.write(name, text);
    }

    /// Changes one place of a file.
    pub fn edit(&mut self, name: &str, from: &str, to: &str) {
        let text = self.folder.read(name);
        assert_eq!(text.matches(from).count(), 1, "{from} stands in {name} once:\n{text}");
        self.write(name, &text.replace(from, to));
    }

    /// Adds the replay of single devices to plans.
    pub fn with_people(mut self) -> Self {
        self.more.push("--people");
        self
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).expect("a file");
    }

    pub fn good(&self, arguments: &[&str]) -> Ran {
        let ran = self.folder.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
        ran
    }

    pub fn apply(&self) {
        self.good(&["apply", "--yes"]);
    }

    /// An apply whose response is lost.
    pub fn apply_and_lose(&self) {
        let ran = self.folder.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 6, "{ran}");
    }

    /// Advances the clock.
    pub fn later(&self, by: &str) {
        self.ask(Method::POST, "/local/clock", Some(json!({ "by": by })));
    }

    /// A device that has registered itself.
    pub fn device(&self, id: &str, device: Value) {
        self.ask(Method::PUT, &format!("/local/devices/{id}"), Some(device));
    }

    /// Changes made in the dashboard or through the API.
    pub fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (key, secret) = APP;
        let mut request = self.client.request(method, format!("{}{path}", self.origin)).basic_auth(key, Some(secret));
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.runtime.block_on(async {
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            let body = answer.json().await.unwrap_or(Value::Null);
            assert!(status.is_success(), "{path}: {status} {body}");
            body
        })
    }

    pub fn post(&self, path: &str, body: Value) -> Value {
        self.ask(Method::POST, path, Some(body))
    }

    /// The id of the only listed object with a name.
    pub fn id(&self, path: &str, field: &str, name: &str) -> String {
        let body = self.ask(Method::GET, path, None);
        let items: Vec<&Value> =
            body.as_object().into_iter().flatten().filter_map(|(_, it)| it.as_array()).flatten().collect();
        let named: Vec<&Value> = items.into_iter().filter(|item| item[field] == name).collect();
        assert_eq!(named.len(), 1, "{name} in {body}");
        let ids = ["id", "uid", "experiment_id", "url"].iter().filter_map(|key| named[0][key].as_str());
        ids.map(|id| id.rsplit('/').next().unwrap_or(id).to_owned()).next().expect("an id")
    }

    /// The plan at a given width, with placeholders for values that differ in each run.
    pub fn shown(&self, width: usize) -> (String, Value) {
        let file = self.folder.path().join("plan.json");
        let output = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(["plan", "--format", "text", "--format", "json", "--out", "plan.json", "--color", "never"])
            .args(&self.more)
            .current_dir(self.folder.path())
            .env("COLUMNS", width.to_string())
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let document = fs::read(&file).unwrap_or_else(|_| panic!("{said}"));
        fs::remove_file(&file).expect("a file");
        let document: Value = serde_json::from_slice(&document).expect("JSON");
        // A plan that `apply` would refuse has its own exit code.
        let is_refused = document["refused"].as_array().is_some_and(|refused| !refused.is_empty());
        assert_eq!(output.status.code(), Some(if is_refused { 7 } else { 0 }), "{said}");
        (text, document)
    }

    /// Compares the output of a plan with the expected files, at the widths of a wide and a narrow terminal.
    pub fn golden(&self, name: &str) -> String {
        let (text, document) = self.shown(100);
        follows_its_schema(name, &document);
        let (unwrapped, _) = self.shown(100_000);
        facts::all_are_in(name, &unwrapped, &document);
        golden(&format!("{name}.txt"), &self.lasting(&text));
        for width in [60, 80] {
            let (text, _) = self.shown(width);
            for line in text.lines() {
                let copied = line.contains("pushplan ") || line.contains("/api/");
                assert!(copied || line.width() <= width, "{name} at {width} columns: {line}");
            }
        }
        text
    }

    /// Compares a plan with the expected output for a wide terminal, for a narrow terminal and for programs.
    pub fn golden_in_all_forms(&self, name: &str) {
        self.golden(name);
        golden(&format!("{name}-80.txt"), &self.lasting(&self.shown(80).0));
        let (_, mut document) = self.shown(100);
        for key in VARYING_KEYS {
            assert!(document[key].is_string(), "{key} in {document}");
            document[key] = format!("<{key}>").into();
        }
        // A step's digest depends on the ids too.
        for step in document["steps"].as_array_mut().into_iter().flatten() {
            step["digest"] = "<digest>".into();
        }
        let text = serde_json::to_string_pretty(&document).expect("JSON");
        golden(&format!("{name}.json"), &format!("{}\n", self.lasting(&text)));
    }

    /// Compares the Markdown of a plan, and the beginning of the page and of the JSON, with the expected ones.
    pub fn golden_head(&self, name: &str) {
        let page = |format: &str| self.folder.run(&[&["plan", "--format", format], &self.more[..]].concat()).stdout;
        golden(&format!("{name}.md"), &self.lasting(&without_digests(&page("markdown"))));
        let html = page("html");
        let start = html.find("<p class=\"verdict\">").unwrap_or_else(|| panic!("{name}: no verdict in {html}"));
        let part = |id: &str| {
            let rest = html.split_once(&format!("<section id=\"{id}\">")).map_or("", |(_, rest)| rest);
            rest.split_once("</section>").map_or("", |(part, _)| part).to_owned()
        };
        let verdict = html[start..].split_once("</p>").map_or("", |(verdict, _)| verdict);
        let mut head = [verdict.to_owned(), part("messages"), part("guards")].join("\n");
        if self.more.contains(&"--people") {
            head.push_str(
                html.split_once("<section id=\"people\">")
                    .map_or("", |(_, rest)| rest.split_once("<section id=").map_or("", |(part, _)| part)),
            );
        }
        golden(&format!("{name}.html"), &format!("{}\n", self.lasting(&head.replace("><", ">\n<"))));
        let document: Value = serde_json::from_str(&page("json")).expect("JSON");
        let head = json!({ "verdict": document["verdict"], "messages": document["messages"], "loosened": document["loosened"] });
        let text = serde_json::to_string_pretty(&head).expect("JSON");
        golden(&format!("{name}.json"), &format!("{}\n", self.lasting(&text)));
    }

    /// A text with placeholders for ids of the service, for the plan's digest, and for the time of the test. Ids in
    /// files are left unchanged.
    fn lasting(&self, text: &str) -> String {
        let (mut out, mut known): (String, Vec<&str>) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let Some(id) = id_at(rest) else {
                out.push(next);
                rest = &rest[next.len_utf8()..];
                continue;
            };
            rest = &rest[id.len()..];
            if self.files.iter().any(|file| file.contains(id)) {
                out.push_str(id);
                continue;
            }
            let number = known.iter().position(|other| *other == id).unwrap_or(known.len());
            if number == known.len() {
                known.push(id);
            }
            out.push_str(&format!("<id {}>", number + 1));
        }
        for (before, after, stand_in) in VARYING {
            let Some((start, rest)) = out.split_once(before) else { continue };
            let Some((_, end)) = rest.split_once(after) else { continue };
            out = format!("{start}{before}{stand_in}{after}{end}");
        }
        out
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.service.kill();
        let _ = self.service.wait();
    }
}

/// Values that differ in each run: the text before and after them, and a placeholder. The ledger uses the real time,
/// and a one-digit day would change the line break.
const VARYING: [(&str, &str, &str); 2] =
    [("\nPlan ", " for local", "<digest>"), ("since the last apply ", "files:", "(<time>), not in your ")];

/// The fields of a JSON document that differ in each run.
const VARYING_KEYS: [&str; 6] = ["digest", "short_digest", "made", "expires", "last_apply", "origin"];

/// A page with placeholders for the plan's digest, which depends on the service's ids.
fn without_digests(page: &str) -> String {
    let mut out = page.to_owned();
    for (before, after) in [("digest=", " "), ("\nPlan `", "`")] {
        let Some((start, rest)) = out.split_once(before) else { continue };
        let Some((_, end)) = rest.split_once(after) else { continue };
        out = format!("{start}{before}<digest>{after}{end}");
    }
    out
}

/// The id that a text begins with.
fn id_at(text: &str) -> Option<&str> {
    let id = text.get(..36)?;
    let is_id = |(at, c): (usize, char)| match at {
        8 | 13 | 18 | 23 => c == '-',
        _ => c.is_ascii_hexdigit(),
    };
    id.char_indices().all(is_id).then_some(id)
}

fn follows_its_schema(name: &str, document: &Value) {
    static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let (_, make) = SCHEMAS.iter().find(|(name, _)| *name == "plan.schema.json").expect("a schema");
        jsonschema::validator_for(&make()).expect("a schema")
    });
    let wrong: Vec<String> = VALIDATOR.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:?}");
}

/// The path of an expected output from the root.
pub fn golden_path(name: &str) -> String {
    format!("tests/plans/samples/golden/{name}")
}

/// Compares an output with the file that holds the expected one.
fn golden(name: &str, shown: &str) {
    pushplan_testing::golden(&golden_path(name), shown);
}
