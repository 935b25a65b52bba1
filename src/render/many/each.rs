//! The combined output of a command for several targets.

use schemars::JsonSchema;
use serde::Serialize;

use super::json::Error;
use super::text::failed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::Format;
use crate::render::escape::markdown;
use crate::render::layout::{self, Paint, Style, Words};

/// The output for a target, and its result.
#[derive(Debug)]
pub struct TargetText {
    pub target: String,
    pub text: String,
    pub ended: Result<Exit, Failure>,
}

/// The output of a command with `--format json` for several targets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EachDocument<T> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    pub format_version: u32,
    pub targets: Vec<EachTarget<T>>,
}

/// One target: the document that the command prints for this target only, or the error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EachTarget<T> {
    pub target: String,
    /// The document. Null if there is none.
    pub result: Option<T>,
    /// The error. Null if the command did not fail.
    pub error: Option<Error>,
}

/// The combined output in one format.
pub fn text_of(all: &[TargetText], format: Format, style: Style) -> String {
    match format {
        Format::Json => json(all),
        Format::Ics => ics(all),
        Format::Markdown => headed(all, |target| format!("## {}\n\n", markdown::text(target))),
        _ => headed(all, |target| {
            let mut out = String::new();
            let line = Words::default().paint(&format!("On {target}:"), Paint::Strong);
            layout::paragraph(&mut out, &line, 0, style);
            out + "\n"
        }),
    }
}

fn headed(all: &[TargetText], heading: impl Fn(&str) -> String) -> String {
    let part = |TargetText { target, text, ended }: &TargetText| {
        let mut part = heading(target);
        part.push_str(text.trim_end());
        if let Err(failure) = ended {
            let mut line = String::new();
            layout::rows(&mut line, &[failed(target, failure)], 2, Style::PLAIN);
            part.push_str(line.trim_end());
        }
        part
    };
    all.iter().map(part).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// One JSON object, with the document of each target unchanged.
fn json(all: &[TargetText]) -> String {
    let one = |TargetText { target, text, ended }: &TargetText| {
        let error = ended.as_ref().err().map(Error::new);
        let result: Option<serde_json::Value> = serde_json::from_str(text).ok();
        EachTarget { target: target.clone(), result, error }
    };
    let document = EachDocument { format_version: 1, targets: all.iter().map(one).collect() };
    let mut text = serde_json::to_string_pretty(&document).expect("texts and numbers are valid JSON");
    text.push('\n');
    text
}

/// One calendar with the events of all targets: programs read only the first calendar of a file.
fn ics(all: &[TargetText]) -> String {
    const EVENT: &str = "BEGIN:VEVENT";
    const END: &str = "END:VCALENDAR";
    let mut out = String::new();
    for TargetText { target, text, .. } in all {
        let Some(end) = text.rfind(END) else { continue };
        let events = text.find(EVENT).unwrap_or(end);
        if out.is_empty() {
            let is_name = |line: &&str| line.starts_with("X-WR-CALNAME:");
            let head = text[..events].split_inclusive('\n');
            out.extend(head.map(|line| if is_name(&line) { "X-WR-CALNAME:pushplan\r\n" } else { line }));
        }
        out.push_str(&text[events..end].replace("\r\nSUMMARY:", &format!("\r\nSUMMARY:{target}: ")));
    }
    if out.is_empty() { out } else { format!("{out}{END}\r\n") }
}
