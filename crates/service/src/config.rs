//! Reading the files that set a service up. What is wrong in one is told with its file, line and column.

use std::ops::Range;

use pushplan_model::source::Source;
use pushplan_model::text;
use serde::de::DeserializeOwned;

/// A file of which a user is shown a sample: all that can stand in it, with what it means.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub name: &'static str,
    pub about: &'static str,
    pub text: &'static str,
}

/// Every kind of file that sets a service up.
pub const SAMPLES: &[Sample] = &[
    Sample {
        name: "faults.toml",
        about: "What goes wrong on purpose: pushplan serve --faults FILE.",
        text: include_str!("faults/sample.toml"),
    },
    Sample {
        name: "service.toml",
        about: "Webhooks that receive events: pushplan serve --config FILE.",
        text: include_str!("webhook/sample.toml"),
    },
];

/// What to say behind a name that there is not: the one that is near, and all there are.
pub fn instead<S: AsRef<str>>(name: &str, known: &[S]) -> String {
    let all = text::all_of(known);
    match text::nearest(name, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("did you mean {near}? There are {all}"),
        None => format!("there are {all}"),
    }
}

/// The file as a type; its unknown keys and wrong values are errors.
pub fn read<T: DeserializeOwned>(source: &Source) -> Result<T, String> {
    toml::from_str(&source.text).map_err(|error| at(source, error.span().unwrap_or_default(), error.message().trim()))
}

/// What is wrong, after the place where it is.
pub fn at(source: &Source, range: Range<usize>, message: &str) -> String {
    let position = source.position(range.start);
    format!("{}:{}:{}: {message}", source.path, position.line, position.column)
}
