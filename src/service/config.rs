//! Reading the files that set a service up. What is wrong in one is told with its file, line and column.

use std::ops::Range;

use serde::de::DeserializeOwned;

use crate::source::Source;

/// The file as a type; its unknown keys and wrong values are errors.
pub fn read<T: DeserializeOwned>(source: &Source) -> Result<T, String> {
    toml::from_str(&source.text).map_err(|error| at(source, error.span().unwrap_or_default(), error.message().trim()))
}

/// What is wrong, after the place where it is.
pub fn at(source: &Source, range: Range<usize>, message: &str) -> String {
    let position = source.position(range.start);
    format!("{}:{}:{}: {message}", source.path, position.line, position.column)
}
