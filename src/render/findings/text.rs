//! Findings for users, in the layout of compilers: problem, place, reason and advice.

use std::collections::BTreeMap;
use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::excerpt::{self, Excerpt};
use super::{CheckReport, LocatedFinding};
use crate::codes::Severity;
use crate::cores;
use crate::render::{Style, one_line, visible};
use crate::text::{count, goes_on};

/// Every finding with its lines, and a summary at the end.
pub fn text(report: &CheckReport, style: Style) -> String {
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width);
    let (printed, rest) = printed(report);
    let each: Vec<String> = cores::each(&printed, |found| one(found, &renderer, style));
    let mut out = String::new();
    for one in each {
        out.push_str(&whole_characters(one));
        out.push_str("\n\n");
    }
    for ((file, code), number) in rest {
        let _ = writeln!(out, "{number} more {code} in {}; --format json prints all.\n", one_line(file));
    }
    for line in summary(report).iter().map(String::as_str).chain(report.notes.iter().copied()) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The number of findings of one code that are printed for each file.
const PRINTED: usize = 100;

/// The findings to print, and the number of others by file and code.
fn printed<'r>(report: &CheckReport<'r>) -> (Vec<LocatedFinding<'r>>, BTreeMap<(&'r str, &'static str), usize>) {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut printed = Vec::new();
    for found in &report.found {
        let LocatedFinding { finding, sources } = found;
        let file = finding.at.file().map_or("", |file| &*sources.get(file).path);
        let number = seen.entry((file, finding.code.name)).or_default();
        *number += 1;
        if *number <= PRINTED {
            printed.push(*found);
        }
    }
    seen.retain(|_, number| *number > PRINTED);
    seen.values_mut().for_each(|number| *number -= PRINTED);
    (printed, seen)
}

/// Repairs cut lines: a line that begins with dots may begin within a grapheme cluster, whose rest is removed.
fn whole_characters(text: String) -> String {
    const CUT: &str = "...";
    if text.is_ascii() || !text.contains(CUT) {
        return text;
    }
    let mut parts = text.split(CUT);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(CUT);
        // Half of a wide character is a blank.
        let blank = part.strip_prefix(' ').map_or(0, |_| 1);
        out.push_str(&part[..blank]);
        let mut before = '.';
        out.push_str(part[blank..].trim_start_matches(|c| {
            let goes = goes_on(before, c);
            before = c;
            goes
        }));
    }
    out
}

/// The result of `--fix`.
pub fn fixed(problems: usize, files: usize) -> String {
    match problems {
        0 => "Fixed nothing.".to_owned(),
        _ => format!("Fixed {} in {}.", count(problems, "problem"), count(files, "file")),
    }
}

/// `2 errors, 1 warning in 3 files (1 suppressed); 2 can be fixed with --fix`, or that there are none. `None` if
/// nothing was checked.
fn summary(report: &CheckReport) -> Option<String> {
    if report.found.is_empty() && report.files.is_empty() {
        let own = report.project_files.join(", ");
        return report.notes.is_empty().then(|| format!("No problems in {own}."));
    }
    Some(conclusion(report))
}

fn conclusion(report: &CheckReport) -> String {
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

fn one(found: &LocatedFinding, renderer: &Renderer, style: Style) -> String {
    let finding = found.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(one_line(&finding.message)).id(finding.code.name);
    let mut group = Group::with_title(title);
    let excerpts = excerpt::excerpts(found, style);
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
    let rendered = name_places(&renderer.render(&[group]), &excerpts);
    match excerpts.first() {
        // Without line numbers the renderer leaves no room for them.
        Some(Excerpt { lines: None, .. }) => rendered.replace('\n', "\n "),
        _ => rendered,
    }
}

/// The advice, and whether `--fix` follows it.
fn help(found: &LocatedFinding) -> Option<String> {
    const BY_FIX: &str = "`pushplan validate --fix` does it";
    match (&found.finding.help, found.finding.is_fixable()) {
        (Some(help), true) => Some(format!("{help}; {BY_FIX}")),
        (None, true) => Some(BY_FIX.to_owned()),
        (help, false) => help.clone(),
    }
}

/// The placeholder for the place of an excerpt until it is rendered. The renderer counts columns in its input, which
/// may be a part of the line; ours are those of the file. No other text contains these characters, because they are
/// invisible.
fn token(number: usize) -> String {
    format!("\u{1}{number}\u{2}")
}

/// Puts our place where the renderer wrote the placeholder and its own line and column.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;
    use crate::finding::Finding;
    use crate::source::{Source, Sources, Span};
    use proptest::prelude::*;

    fn report<'a>(finding: &'a Finding, sources: &'a Sources) -> CheckReport<'a> {
        let found = vec![LocatedFinding { finding, sources }];
        CheckReport {
            found,
            suppressed: 0,
            resources: 0,
            files: Vec::new(),
            project_files: Vec::new(),
            notes: Vec::new(),
            fails_from: Severity::Error,
        }
    }

    proptest! {
        #[test]
        fn any_place_in_any_text_can_be_shown(
            text in "[ab \t\r\n\u{feff}\u{1b}\u{202e}\u{200d}\u{301}é日😀]{0,300}",
            spans in proptest::collection::vec((0..400usize, 0..80usize), 1..4),
            width in 40..120usize,
        ) {
            let mut sources = Sources::default();
            let file = sources.add(Source::new("a\u{1b}.yaml", text));
            let span = |(start, length): &(usize, usize)| Span::new(file, *start..start + length);
            let mut finding = Finding::new(&codes::YM101, span(&spans[0]), "what\u{1b} is\nwrong").label("here");
            for other in &spans[1..] {
                finding = finding.related(span(other), "there");
            }
            let out = super::text(&report(&finding, &sources), Style { width, ..Style::PLAIN });
            prop_assert_eq!(visible(&out), out.clone());
            prop_assert!(out.starts_with("error[YM101]: what\\x1B is wrong\n"), "{out}");
            let place = if sources.get(file).text.is_empty() { "a\\x1B.yaml".to_owned() } else {
                sources.place(finding.at).replace('\u{1b}', "\\x1B")
            };
            prop_assert!(out.lines().nth(1).is_some_and(|line| line.trim_start() == format!("--> {place}")), "{place}\n{out}");
        }

        #[test]
        fn the_caret_stands_under_the_value(
            before in "[a \té日😀\u{202e}]{0,200}",
            value in "[x日]{1,6}",
            after in "[a é日😀]{0,200}",
            number in 0..12usize,
        ) {
            let mut sources = Sources::default();
            let start = number + before.len();
            let file = sources.add(Source::new("f", format!("{}{before}{value}{after}", "\n".repeat(number))));
            let finding = Finding::new(&codes::YM101, Span::new(file, start..start + value.len()), "wrong");
            let out = super::text(&report(&finding, &sources), Style { width: 80, ..Style::PLAIN });
            let caret = out.lines().find(|line| line.contains('^')).expect("a caret");
            let column = caret.find('^').expect("found");
            let width = caret.matches('^').count();
            // The part of the source line above the carets, by columns of the terminal.
            let source = out.lines().take_while(|line| *line != caret).last().expect("a source line");
            let mut at = 0;
            let under: String = source
                .chars()
                .filter(|c| {
                    let here = at;
                    at += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
                    here >= column && at <= column + width
                })
                .collect();
            prop_assert_eq!(under, value, "{}", out);
        }
    }
}
