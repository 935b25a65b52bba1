use clap::Args;

use super::{Context, Ended};
use crate::codes::{self, CODES, LIMITS};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kinds::KINDS;
use crate::manifest::PROJECT_FILE;
use crate::manifest::fields::Book;
use crate::render::explain;
use crate::service::config::{SAMPLES, Sample};
use crate::text;

/// Explain a code, a kind, a field or a file.
#[derive(Debug, Args)]
pub struct Explain {
    /// Code (AU101), kind (segments), field (pipelines.outcome.delay, targets.quiet_hours) or file (faults.toml)
    /// [default: a list of all]
    topic: Option<String>,
}

impl Explain {
    pub fn run(&self, context: &Context) -> Ended {
        let text = match &self.topic {
            None => {
                let files: Vec<_> = SAMPLES.iter().map(|sample| (sample.name, sample.about)).collect();
                explain::topics(&files)
            }
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
    // People say `segment` for what a manifest calls `segments`.
    let path = KINDS.iter().find(|kind| kind.noun == topic).map_or(topic, |kind| kind.key);
    let path = path.strip_prefix(PROJECT_FILE).map_or(path, |rest| rest.trim_start_matches('.'));
    let place = if path.is_empty() { Some(book.project_file()) } else { book.find(path) };
    place.map(|place| explain::place(&place)).ok_or_else(|| unknown(topic, path, &book))
}

/// Whether a file is meant: `faults.toml`, or `faults` for short.
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
