//! The wire: the creates of a project, sent by a bare client, sixteen at a time. Nothing is written down, nothing is waited for.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;
use pushplan::compare::units;
use pushplan::exchange::Request;
use pushplan::finding::Findings;
use pushplan::kinds;
use pushplan::kinds::remote::point;
use pushplan::manifest::{self, Input, InputSource, Project};
use pushplan::source::Sources;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::floor::client::{Client, Place};

/// How many requests are under way at a time.
pub const TOGETHER: usize = 16;

/// The requests that make all that a manifest declares. Segments that others name have an id which says nothing: the service
/// takes any.
pub fn creates(yaml: &str) -> Vec<Request> {
    let input = Input { name: "all.yaml".into(), from: InputSource::Bytes(yaml.as_bytes().to_vec()) };
    let read = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
    let (desired, found) = read.resolve(None);
    assert!(read.findings.is_empty() && found.is_empty(), "the manifests are sound");
    let create = |(address, unit): (_, pushplan::compare::Unit)| {
        let api = kinds::api(&address);
        let spec = point(api.audiences(), &unit.spec, &mut |_| "00000000-0000-0000-0000-000000000000".into());
        api.create(&spec)
    };
    units(&desired, &read.sources).into_iter().map(create).collect()
}

/// Writes requests so that they are read in no time: each has three lines.
pub fn write(path: &Path, requests: &[Request]) {
    let mut text = String::new();
    for Request { method, path, body } in requests {
        for line in [method.word(), path, body.as_deref().unwrap_or_default()] {
            text.push_str(line);
            text.push('\n');
        }
    }
    fs::write(path, text).expect("a file of requests");
}

/// The program: sends the requests of a file, and says how many there were.
pub fn run(path: &str) -> usize {
    let text = Bytes::from(fs::read(path).expect("a file of requests"));
    let lines: Vec<Bytes> = text.split(|byte| *byte == b'\n').map(|line| text.slice_ref(line)).collect();
    let requests: Arc<Vec<[Bytes; 3]>> =
        Arc::new(lines.chunks_exact(3).map(|three| std::array::from_fn(|n| three[n].clone())).collect());
    let (place, next) = (Place::from_environment(), Arc::new(AtomicUsize::new(0)));
    let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..TOGETHER {
            let (requests, next, mut client) = (requests.clone(), next.clone(), Client::connect(&place).await);
            tasks.spawn(async move {
                while let Some([method, path, body]) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let text = |bytes| std::str::from_utf8(bytes).expect("text");
                    client.send(text(method), text(path), body.clone()).await;
                }
            });
        }
        tasks.join_all().await;
    });
    requests.len()
}
