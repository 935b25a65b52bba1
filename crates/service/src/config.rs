//! Reads the configuration files of a service. Errors contain the file, line and column.

use std::ops::Range;

use anyhow::anyhow;
use pushplan_model::source::Source;
use pushplan_model::text;
use serde::de::DeserializeOwned;

/// A file with a sample for users: everything that it can contain, with explanations.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub name: &'static str,
    pub about: &'static str,
    pub text: &'static str,
}

/// Every type of configuration file.
pub const SAMPLES: &[Sample] = &[
    Sample {
        name: "faults.toml",
        about: "Simulated failures: pushplan serve --faults FILE.",
        text: include_str!("faults/sample.toml"),
    },
    Sample {
        name: "service.toml",
        about: "Webhooks that receive events: pushplan serve --config FILE.",
        text: include_str!("webhook/sample.toml"),
    },
];

/// Returns the hint for an unknown name: a similar one, and all that exist.
pub fn instead<S: AsRef<str>>(name: &str, known: &[S]) -> String {
    let all = text::all_of(known);
    match text::nearest(name, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("did you mean {near}? There are {all}"),
        None => format!("there are {all}"),
    }
}

/// Parses the file. Unknown keys and wrong values are errors.
pub fn read<T: DeserializeOwned>(source: &Source) -> anyhow::Result<T> {
    toml::from_str(&source.text).map_err(|error| at(source, error.span().unwrap_or_default(), error.message().trim()))
}

/// Returns an error message, with its position in front.
pub fn at(source: &Source, range: Range<usize>, message: &str) -> anyhow::Error {
    let position = source.position(range.start);
    anyhow!("{}:{}:{}: {message}", source.path, position.line, position.column)
}
