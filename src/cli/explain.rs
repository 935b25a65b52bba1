use clap::Args;

use super::init::{example, example_case};
use super::{Context, Ended};
use crate::codes::{self, CODES, LIMITS};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kinds::KINDS;
use crate::manifest::PROJECT_FILE;
use crate::manifest::fields::{Book, SchemaField};
use crate::render::explain;
use crate::service::config::{SAMPLES, Sample};
use crate::text;

/// Explain a code, a kind, a field or a file.
#[derive(Debug, Args)]
pub struct Explain {
    /// Code (AU101), kind (segments), field (lifecycle, pipelines.outcome.delay, targets.quiet_hours), file (faults.toml, tests) or
    /// group of topics (audiences, kinds) [default: list all topics]
    topic: Option<String>,
}

impl Explain {
    pub fn run(&self, context: &Context) -> Ended {
        let text = match &self.topic {
            None => explain::topics(&files()),
            Some(topic) if topic.trim().is_empty() => {
                let failure = Failure::usage("an empty text is not a code, a kind, a field or a file");
                return Err(failure.help("`pushplan explain` lists all codes and kinds"));
            }
            Some(topic) => about(topic.trim())?,
        };
        context.out.print(&text);
        Ok(Exit::Done)
    }
}

fn about(topic: &str) -> Result<String, Failure> {
    if let Some(code) = codes::code(topic) {
        return Ok(explain::page(code));
    }
    if let Some(limit) = codes::limit(topic) {
        return Ok(explain::limit(limit));
    }
    if let Some(sample) = SAMPLES.iter().find(|sample| is_of(sample, topic)) {
        return Ok(sample.text.to_owned());
    }
    let book = Book::default();
    // The topic can be `segment` instead of the kind `segments`.
    let path = KINDS.iter().find(|kind| kind.noun == topic).map_or(topic, |kind| kind.key);
    let path = path.strip_prefix(PROJECT_FILE).map_or(path, |rest| rest.trim_start_matches('.'));
    if let Some(kind) = KINDS.iter().find(|kind| kind.key == path)
        && let (Some(place), Some(example)) = (book.find(path), example(path))
    {
        return Ok(format!("{}\n{}", explain::place(&place), explain::example(kind.key, &example)));
    }
    if let (true, Some(place)) = (is_tests(path), of_tests(path)) {
        return Ok(format!("{}\n{}", explain::place(&place), explain::example("tests.cases", &example_case())));
    }
    let place = if path.is_empty() { Some(book.project_file()) } else { book.find(path) };
    let place = place.or_else(|| of_every_kind(path, &book)).or_else(|| of_tests(path));
    let found = place.map(|place| explain::place(&place)).or_else(|| explain::group(topic, &files()));
    found.ok_or_else(|| unknown(topic, path, &book))
}

/// The files with a sample, each with its purpose.
fn files() -> Vec<(&'static str, &'static str)> {
    SAMPLES.iter().map(|sample| (sample.name, sample.about)).collect()
}

/// A field that every kind has, such as `lifecycle.protect`.
fn of_every_kind(path: &str, book: &Book) -> Option<SchemaField> {
    let first = path.split('.').next().unwrap_or_default();
    let is_in_all = KINDS.iter().all(|kind| book.find(&format!("{}.{first}", kind.key)).is_some());
    let kind = KINDS.iter().find(|_| is_in_all)?;
    let place = book.find(&format!("{}.{path}", kind.key))?;
    Some(SchemaField { path: path.to_owned(), ..place })
}

/// Whether the topic is the file of device tests.
fn is_tests(path: &str) -> bool {
    matches!(path, "test" | "tests" | "test.yaml" | "tests.yaml")
}

/// The file of device tests, or a field of it such as `tests.cases.device`.
fn of_tests(path: &str) -> Option<SchemaField> {
    let book = Book::of(crate::cases::schema());
    let (file, field) = path.split_once('.').unwrap_or((path, ""));
    if file == "cases" {
        return book.find(path);
    }
    if !["test", "tests"].contains(&file) {
        return None;
    }
    match field {
        "" | "yaml" => Some(book.file("*.test.yaml")),
        field => book.find(field).map(|place| SchemaField { path: path.to_owned(), ..place }),
    }
}

/// Whether the topic names a file: `faults.toml`, or `faults` for short.
fn is_of(sample: &Sample, topic: &str) -> bool {
    sample.name == topic || sample.name.strip_suffix(".toml") == Some(topic)
}

fn unknown(topic: &str, path: &str, book: &Book) -> Failure {
    let names = CODES
        .iter()
        .map(|code| code.name)
        .chain(LIMITS.iter().map(|limit| limit.name))
        .chain(KINDS.iter().flat_map(|kind| [kind.key, kind.noun]));
    let names = names.chain(SAMPLES.iter().map(|sample| sample.name));
    let near = text::nearest(topic, names).map(str::to_owned).or_else(|| book.nearest(path));
    let failure = Failure::usage(format!("`{topic}` is not a code, a kind, a field or a file"));
    match near {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help("`pushplan explain` lists all codes and kinds"),
    }
}
