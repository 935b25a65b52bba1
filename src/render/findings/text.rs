//! Findings for people, in the layout of compilers: what, where, why, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::excerpt::{self, Excerpt};
use super::{Found, Report, visible};
use crate::finding::Severity;
use crate::text::count;

/// How the terminal shows it.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub width: usize,
    pub color: bool,
}

/// Every finding with the lines it is about, and a last line that sums up.
pub fn text(report: &Report, style: Style) -> String {
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width);
    let mut out = String::new();
    for found in &report.found {
        out.push_str(&one(found, &renderer, style.width));
        out.push_str("\n\n");
    }
    out.push_str(&summary(report));
    out.push('\n');
    out
}

/// What `--fix` did.
pub fn fixed(problems: usize, files: usize) -> String {
    match problems {
        0 => "Fixed nothing.".to_owned(),
        _ => format!("Fixed {} in {}.", count(problems, "problem"), count(files, "file")),
    }
}

/// `2 errors, 1 warning in 3 files (1 suppressed); 2 can be fixed with --fix`, or that there are none.
fn summary(report: &Report) -> String {
    if report.found.is_empty() {
        let (resources, files) = (count(report.resources, "resource"), count(report.files.len(), "file"));
        return match report.suppressed {
            0 => format!("No problems in {resources} ({files})."),
            number => format!("No problems in {resources} ({files}, {number} suppressed)."),
        };
    }
    let suppressed = match report.suppressed {
        0 => String::new(),
        number => format!(" ({number} suppressed)"),
    };
    let numbers: Vec<String> = [Severity::Error, Severity::Warning]
        .into_iter()
        .map(|severity| (report.count(severity), severity.word()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| count(number, word))
        .collect();
    let fixable = match report.fixable() {
        0 => String::new(),
        number => format!("; {number} can be fixed with --fix"),
    };
    format!("{} in {}{suppressed}{fixable}", numbers.join(", "), count(report.files_with_findings(), "file"))
}

fn one(found: &Found, renderer: &Renderer, width: usize) -> String {
    let finding = found.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(one_line(&finding.message)).id(finding.code.name);
    let mut group = Group::with_title(title);
    let excerpts = excerpt::excerpts(found, width);
    for (number, Excerpt { lines, .. }) in excerpts.iter().enumerate() {
        let path = token(number);
        group = match lines {
            None => group.element(Origin::path(path)),
            Some(lines) => group.element(Snippet::source(&lines.text).line_start(lines.first).path(path).annotations(
                lines.marks.iter().map(|mark| {
                    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                    kind.span(mark.at.clone()).label(one_line(&mark.label))
                }),
            )),
        };
    }
    for note in &finding.notes {
        group = group.element(Level::NOTE.message(visible(note)));
    }
    if let Some(help) = help(found) {
        group = group.element(Level::HELP.message(visible(&help)));
    }
    name_places(&renderer.render(&[group]), &excerpts)
}

/// What to do, and whether it can be done by `--fix`.
fn help(found: &Found) -> Option<String> {
    const BY_FIX: &str = "`pushplan validate --fix` does it";
    match (&found.finding.help, found.finding.is_fixable()) {
        (Some(help), true) => Some(format!("{help}; {BY_FIX}")),
        (None, true) => Some(BY_FIX.to_owned()),
        (help, false) => help.clone(),
    }
}

fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// Stands for the place of an excerpt until it is rendered. The renderer counts columns in the text that it is given, which
/// may be a part of the line; ours are those of the file. No other text has these characters in it: they are not visible.
fn token(number: usize) -> String {
    format!("\u{1}{number}\u{2}")
}

/// Puts our place where the renderer wrote the token and its own line and column.
fn name_places(rendered: &str, excerpts: &[Excerpt]) -> String {
    let mut out = String::with_capacity(rendered.len() + 64);
    let mut rest = rendered;
    while let Some((before, after)) = rest.split_once('\u{1}') {
        out.push_str(before);
        let (number, after) = after.split_once('\u{2}').unwrap_or((after, ""));
        if let Some(excerpt) = number.parse().ok().and_then(|number: usize| excerpts.get(number)) {
            out.push_str(&one_line(&excerpt.place));
        }
        rest = after.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    }
    out.push_str(rest);
    out
}
