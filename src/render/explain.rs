//! The output of `pushplan explain`: the list of all topics, a code's page, a field of a manifest.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::codes::{CODES, Code, FAMILIES, LIMITED, LIMITS, Limit};
use crate::kinds::KINDS;
use crate::manifest::fields::SchemaField;

/// The width at which lines are broken.
const WIDTH: usize = 100;
const BOLD: Style = Style::new().bold();

/// All codes by family, all kinds, and the files with a sample, each with its purpose.
pub(crate) fn topics(files: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (family, about) in FAMILIES {
        codes(&mut out, family, about);
        out.push('\n');
    }
    limits(&mut out);
    out.push('\n');
    kinds(&mut out);
    out.push('\n');
    served(&mut out, files);
    out.push_str(
        "\n`pushplan explain` with a code, a kind or a field, such as pipelines.outcome.delay, explains \
        it;\n",
    );
    out.push_str("with a file, it prints a sample to begin with, and with a heading the part under it.\n");
    out
}

/// The headings for topics other than codes.
const KINDS_HEADING: &str = "kinds";
const FILES_HEADING: &str = "files of pushplan serve";

/// The part of the list under one heading, given by the prefix of the codes or the first word of the heading.
pub(crate) fn group(topic: &str, files: &[(&str, &str)]) -> Option<String> {
    let topic = topic.to_lowercase();
    let is = |title: &str| {
        let title = title.to_lowercase();
        title == topic || title.split(' ').next() == Some(&topic)
    };
    let mut out = String::new();
    let family = FAMILIES.iter().find(|(family, about)| family.to_lowercase() == topic || is(about));
    match family {
        Some((family, about)) => codes(&mut out, family, about),
        None if is(KINDS_HEADING) => kinds(&mut out),
        None if is(FILES_HEADING) => served(&mut out, files),
        None if topic == LIMITED
            || LIMITS.iter().all(|limit| limit.name.trim_end_matches(char::is_numeric).to_lowercase() == topic) =>
        {
            limits(&mut out);
        }
        None => return None,
    }
    Some(out)
}

fn codes(out: &mut String, family: &str, about: &str) {
    heading(out, about);
    for code in CODES.iter().filter(|code| code.name.starts_with(family)) {
        row(out, &[(code.name, 5), (code.severity.word(), 7)], code.title);
    }
}

fn limits(out: &mut String) {
    heading(out, LIMITED);
    for limit in LIMITS {
        row(out, &[(limit.name, 5)], limit.title);
    }
}

fn kinds(out: &mut String) {
    heading(out, KINDS_HEADING);
    let widest = KINDS.iter().map(|kind| kind.key.len()).max().unwrap_or_default();
    for kind in KINDS {
        row(out, &[(kind.key, widest)], kind.purpose);
    }
}

fn served(out: &mut String, files: &[(&str, &str)]) {
    heading(out, FILES_HEADING);
    let widest = files.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, about) in files {
        row(out, &[(name, widest)], about);
    }
}

/// An example as a starting point: a manifest with resources of a kind, or device tests.
pub fn example(topic: &str, text: &str) -> String {
    let mut out = String::new();
    heading(&mut out, "Example");
    for line in text.lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    let _ = writeln!(out, "\n`pushplan explain {topic}.FIELD` explains a field.");
    out
}

/// The page of a code.
pub fn page(code: &Code) -> String {
    let off = if code.is_free() { "can be turned off" } else { "cannot be turned off" };
    laid_out(code.page, &format!("\n\nSeverity: {}; {off}", code.severity.word()))
}

/// The page of a limitation of the API.
pub fn limit(limit: &Limit) -> String {
    laid_out(limit.page, "")
}

/// Markdown for a terminal, with a text after its title.
fn laid_out(page: &str, behind: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            let _ = writeln!(out, "{BOLD}{title}{BOLD:#}{behind}");
        } else if let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) {
            heading(&mut out, title);
        } else if let Some(info) = line.strip_prefix("```") {
            // A block for a separate file has its name.
            if let Some((_, file)) = info.split_once(' ') {
                let _ = writeln!(out, "  {file}:");
            }
            for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                let _ = writeln!(out, "{}", format!("    {line}").trim_end());
            }
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// A field: its description, its allowed values, and its subfields.
pub fn place(place: &SchemaField) -> String {
    let SchemaField { path, about, what, required, fields } = place;
    let mut out = format!("{BOLD}{path}{BOLD:#}\n\n");
    for paragraph in about {
        out.push_str(&wrap(paragraph, 0));
        out.push_str("\n\n");
    }
    row(&mut out, &[("Type", 8)], what);
    row(&mut out, &[("Required", 8)], if *required { "yes" } else { "no" });
    if !fields.is_empty() {
        out.push('\n');
        heading(&mut out, "Fields");
        let widest = fields.iter().map(|field| field.name.width()).max().unwrap_or_default();
        let any = fields.iter().any(|field| field.required);
        for field in fields {
            let required = if field.required { "required" } else { "" };
            let columns = [(field.name.as_str(), widest), (required, 8)];
            row(&mut out, &columns[..1 + usize::from(any)], &field.about);
        }
    }
    out
}

pub fn heading(out: &mut String, title: &str) {
    let _ = writeln!(out, "{BOLD}{title}{BOLD:#}");
}

/// A line with columns of fixed widths and a text after them, which is wrapped in its own column.
pub fn row(out: &mut String, columns: &[(&str, usize)], text: &str) {
    let mut indent = 2;
    out.push_str("  ");
    for (word, width) in columns {
        let _ = write!(out, "{word}{}  ", " ".repeat(width.saturating_sub(word.width())));
        indent += width + 2;
    }
    let line_start = out.rfind('\n').map_or(0, |end| end + 1);
    out.push_str(&wrap(text, indent));
    let end = line_start + out[line_start..].trim_end().len();
    out.truncate(end);
    out.push('\n');
}

/// Wraps a text in lines of at most [`WIDTH`] columns, all but the first of them indented. Words are never split.
fn wrap(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut column = indent;
    for (number, paragraph) in text.split("\n\n").enumerate() {
        if number > 0 {
            let _ = write!(out, "\n\n{}", " ".repeat(indent));
            column = indent;
        }
        for word in paragraph.split_whitespace() {
            if column > indent && column + 1 + word.width() > WIDTH {
                let _ = write!(out, "\n{}", " ".repeat(indent));
                column = indent;
            } else if column > indent {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += word.width();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Setting;
    use crate::codes::Severity;

    #[test]
    fn a_page_keeps_its_samples_and_loses_its_marks() {
        let code = Code {
            name: "XX101",
            severity: Severity::Warning,
            setting: Setting::Free,
            title: "a title",
            page: "# XX101: a title\n\nWhy it matters.\n\n## Wrong\n\n```yaml\nsegments:\n\n  a: {}\n```\n\n```html bodies/a.html\n<p>\n```\n",
        };
        let page = page(&code);
        let plain = anstream::adapter::strip_str(&page).to_string();
        assert_eq!(
            plain,
            "XX101: a title\n\nSeverity: warning; can be turned off\n\nWhy it matters.\n\nWrong\n\n    segments:\n\n      a: {}\n\n  bodies/a.html:\n    <p>\n"
        );
        assert_ne!(plain, page, "headings are bold");
    }

    #[test]
    fn long_texts_go_on_beneath_themselves() {
        let mut out = String::new();
        row(&mut out, &[("name", 6)], &"word ".repeat(30));
        assert!(out.lines().all(|line| line.len() <= WIDTH), "{out}");
        assert!(out.lines().nth(1).is_some_and(|line| line.starts_with("          word")), "{out}");
    }
}
