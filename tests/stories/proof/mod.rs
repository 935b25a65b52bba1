//! Wrong answers. A proxy in front of the service lies once, and nothing is sent twice or silently lost because of it.
//!
//! Every story is judged by the final content of the service, read without the proxy.

mod answers;
mod deletions;
mod stamps;
mod tags;
mod unknown;

use std::sync::atomic::{AtomicUsize, Ordering};

use pushplan_testing::wire::{Asked, Between, forward, say};
use pushplan_testing::{Project, Ran, Service};
use serde_json::json;

// One of each kind that sends messages.
const PUSH: &str = "\
scheduled_pushes:
  sale:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: vip}, device_types: [ios], notification: {alert: Sale}}
";
const TRIAL: &str = "\
experiments:
  trial:
    audience: {tag: vip}
    device_types: [ios]
    variants:
      - {push: {notification: {alert: A}}, schedule: {scheduled_time: 2035-01-22T10:00}}
      - {push: {notification: {alert: B}}, schedule: {scheduled_time: 2035-01-22T10:00}}
";
const PIPELINE: &str = "\
pipelines:
  remind:
    enabled: true
    immediate_trigger: {tag_added: remind-me}
    outcome: {push: {audience: triggered, device_types: [ios], notification: {alert: Still interested?}}}
";

/// The proxy's action for a request: `None` passes it on, `Some(None)` cuts the connection.
type Lie = Option<Option<Vec<u8>>>;

/// A project whose target is the service behind a proxy.
pub struct Site {
    pub project: Project,
    pub service: Service,
    proxy: Between,
}

impl Site {
    /// `lie` gets each request and the port of the service.
    pub fn new(manifest: &str, level: &str, lie: impl Fn(&Asked, u16) -> Lie + Send + Sync + 'static) -> Self {
        Self::with(manifest, level, &[], lie)
    }

    /// Creates a site and starts its service with these options. `lie` gets each request and the port of the service.
    pub fn with(
        manifest: &str,
        level: &str,
        serve: &[&str],
        lie: impl Fn(&Asked, u16) -> Lie + Send + Sync + 'static,
    ) -> Self {
        let project = Project::new(manifest);
        let service = project.serve_with(serve);
        let port = service.origin.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let proxy = Between::new(port, move |asked| lie(asked, port));
        let settings = format!(
            "[targets.far]\nbase_url = \"http://127.0.0.1:{}\"\napi = \"{level}\"\nledger = \"file:\"\n\
             settle = \"1s\"\nsend_within = \"2s\"\n",
            proxy.port
        );
        project.folder.write("pushplan.toml", settings);
        Self { project, service, proxy }
    }

    /// Credentials with all rights, through the proxy.
    pub fn credentials(&self) -> Vec<(&'static str, String)> {
        let mut all = self.service.credentials().map(|(name, value)| (name, value.to_owned())).to_vec();
        all[0].1 = format!("http://127.0.0.1:{}", self.proxy.port);
        all
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let credentials = self.credentials();
        let env: Vec<(&str, &str)> = credentials.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.project.run_as(arguments, &env)
    }

    /// Applies, and expects this exit code.
    #[track_caller]
    pub fn apply(&self, code: i32) -> Ran {
        let ran = self.run(&["apply", "--yes"]);
        assert_eq!(ran.code, code, "{ran}");
        ran
    }

    /// Expects that nothing is left to do.
    #[track_caller]
    pub fn matches(&self) {
        let ran = self.run(&["plan", "--detailed-exitcode"]);
        assert_eq!(ran.code, 0, "{ran}");
    }

    /// A person deletes the only scheduled push, or moves it to two minutes after the start of 2035-01-20T09:00Z, and it is sent.
    pub fn take_schedule(&self, is_deleted: bool) {
        let mut push = self.service.get("/api/schedules")["schedules"][0].clone();
        let url = push["url"].as_str().expect("a URL").to_owned();
        let path = &url[url.find("/api/").expect("a path")..];
        if is_deleted {
            self.service.delete(path);
            return;
        }
        push["schedule"] = json!({"scheduled_time": "2035-01-20T09:02:00"});
        for key in ["url", "push_ids"] {
            push.as_object_mut().expect("an object").remove(key);
        }
        self.service.put(path, &push);
        self.service.post("/local/clock", &json!({"by": "5m"}));
    }

    /// The requests that reached the proxy since the last call.
    pub fn seen(&self) -> Vec<String> {
        self.proxy.seen()
    }
}

/// Counts requests, and selects some of them.
#[derive(Default)]
pub struct Nth(AtomicUsize);

impl Nth {
    /// Whether this is the request with that number, from 0.
    pub fn is(&self, number: usize) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) == number
    }

    /// Whether this is one of the first `number` requests.
    pub fn is_below(&self, number: usize) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst) < number
    }
}

/// The path without its query.
pub fn path(asked: &Asked) -> &str {
    asked.target.split('?').next().unwrap_or_default().trim_end_matches('/')
}

/// The service gets the request, and its response is lost.
pub fn lost(asked: &Asked, port: u16) -> Lie {
    drop(forward(port, asked));
    Some(None)
}

/// An answer that does not come from the service.
pub fn instead(status: &str, body: &str) -> Lie {
    Some(say(status, "content-type: application/json\r\n", body.as_bytes()))
}

/// Runs each case in its own project, in parallel, because they mostly wait.
pub fn side_by_side<C: Send>(cases: impl IntoIterator<Item = C>, story: impl Fn(C) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let story = &story;
            scope.spawn(move || story(case));
        }
    });
}
