//! The output formats of all commands: one row each.

use std::fmt;

/// An output format. Each command has some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Jsonl,
    Markdown,
    Html,
    Csv,
    Ics,
    Dot,
    Mermaid,
    Sarif,
    Github,
    CodeQuality,
    Junit,
    Xliff,
}

/// The reader of a format on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person at a terminal, or a log.
    Person,
    /// A program that reads JSON.
    Json,
    /// A program that needs every byte unchanged.
    Bytes,
}

struct Row {
    format: Format,
    name: &'static str,
    /// The file extension.
    extension: &'static str,
    about: &'static str,
    reader: Reader,
}

const fn row(format: Format, name: &'static str, extension: &'static str, reader: Reader, about: &'static str) -> Row {
    Row { format, name, extension, about, reader }
}

static ROWS: [Row; 14] = [
    row(Format::Text, "text", ".txt", Reader::Person, "For reading in a terminal"),
    row(Format::Json, "json", ".json", Reader::Json, "For programs"),
    row(Format::Jsonl, "jsonl", ".jsonl", Reader::Json, "For programs, one line of JSON per item"),
    row(Format::Markdown, "markdown", ".md", Reader::Person, "For a pull request, at most 60,000 bytes"),
    row(Format::Html, "html", ".html", Reader::Bytes, "For a browser, one file"),
    row(Format::Csv, "csv", ".csv", Reader::Bytes, "For a spreadsheet"),
    row(Format::Ics, "ics", ".ics", Reader::Bytes, "iCalendar, for calendars"),
    row(Format::Dot, "dot", ".dot", Reader::Bytes, "For Graphviz"),
    row(Format::Mermaid, "mermaid", ".mmd", Reader::Bytes, "For Mermaid"),
    row(Format::Sarif, "sarif", ".sarif", Reader::Json, "SARIF 2.1.0, for code hosts and editors"),
    row(Format::Github, "github", ".txt", Reader::Bytes, "GitHub workflow commands: annotations on changed lines"),
    row(Format::CodeQuality, "code-quality", ".json", Reader::Json, "The Code Quality report of GitLab"),
    row(Format::Junit, "junit", ".xml", Reader::Bytes, "JUnit XML, for the test reports of CI systems"),
    row(Format::Xliff, "xliff", ".xlf", Reader::Bytes, "XLIFF 2.0, for translators"),
];

impl Format {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The format with a name.
    pub fn named(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.format)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The file extension of this format.
    pub fn extension(self) -> &'static str {
        self.row().extension
    }

    /// A note about its purpose.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    pub fn reader(self) -> Reader {
        self.row().reader
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_at_its_format() {
        for row in &ROWS {
            assert_eq!(row.format.row().name, row.name);
            assert_eq!(Format::named(row.name), Some(row.format));
        }
    }
}
