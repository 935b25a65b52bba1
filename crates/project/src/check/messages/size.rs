//! The size of a request.

use std::io;

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::text;
use serde::Serialize;

use super::super::{Check, CheckScope, Dissected, Subject};
use super::{fillable, own};

pub const SIZE: Check = Check { codes: &[&codes::MS113], run: CheckScope::Each(size) };

/// The largest body of a request.
const LIMIT: usize = 5 * 1024 * 1024;

/// All content of a resource is sent to the service in one request, including all variants of an experiment.
fn size(subject: &Subject, one: &Dissected, findings: &mut Findings) {
    let own = own(subject, one);
    let size: usize = own.iter().map(|said| length(&said.notification) + length(&said.message)).sum();
    if size <= LIMIT {
        return;
    }
    let Some(largest) = own.iter().flat_map(fillable).max_by_key(|text| text.len()) else { return };
    let over = size - LIMIT;
    findings.push(
        Finding::new(&codes::MS113, largest.span, format!("the message has {size} bytes, {over} too many"))
            .label("the largest part of it")
            .note(format!(
                "the service accepts up to {LIMIT} bytes in one request, as JSON: quotes and line breaks count twice"
            ))
            .help(format!("shorten it by {}, or link to a page", text::count(over, "byte"))),
    );
}

/// The size of a value as JSON in bytes, computed without storing it.
fn length(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => 0,
    }
}
