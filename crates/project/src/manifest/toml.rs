//! From the text of the project file to nodes, so that it is read like manifests.

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::{FileId, Source, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximal number of problems that are reported; with more, it is no TOML.
const PROBLEM_LIMIT: usize = 1_000;

/// Parses TOML, and reports each error.
pub fn parse(file: FileId, source: &Source, findings: &mut Findings) -> Node {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let unsaid = errors.len() > PROBLEM_LIMIT;
    for error in errors.into_iter().take(PROBLEM_LIMIT) {
        let span = error.span().unwrap_or(0..0);
        findings.push(
            Finding::new(&codes::YM301, Span::new(file, span), format!("not valid TOML: {}", error.message().trim()))
                .label("here")
                .help("write names of tables in brackets and texts in double quotes: base_url = \"https://...\""),
        );
    }
    if let Some(last) = findings.last().map(|last| last.at).filter(|_| unsaid) {
        let message = format!("more than {PROBLEM_LIMIT} problems: the rest is not reported");
        findings.push(Finding::new(&codes::YM106, last, message).label("the last one reported"));
    }
    let span = Span::new(file, table.span());
    Node { span, tree: map(file, table.get_ref()) }
}

fn map(file: FileId, table: &DeTable) -> Tree {
    let entries = table.iter().map(|(key, value)| MapEntry {
        key: At::new(key.get_ref().to_string(), Span::new(file, key.span())),
        value: node(file, value),
    });
    Tree::Map(entries.collect())
}

fn node(file: FileId, value: &Spanned<DeValue>) -> Node {
    let scalar = |text: &str, style| Tree::Scalar(Scalar { text: text.to_owned(), style });
    let tree = match value.get_ref() {
        DeValue::String(text) => scalar(text, Style::Quoted),
        DeValue::Integer(number) => scalar(number.as_str(), Style::Plain),
        DeValue::Float(number) => scalar(number.as_str(), Style::Plain),
        DeValue::Boolean(value) => scalar(&value.to_string(), Style::Plain),
        DeValue::Datetime(time) => scalar(&time.to_string(), Style::Plain),
        DeValue::Array(items) => Tree::List(items.iter().map(|item| node(file, item)).collect()),
        DeValue::Table(table) => map(file, table),
    };
    Node { span: Span::new(file, value.span()), tree }
}
