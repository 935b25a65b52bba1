//! From the bytes of a manifest to nodes, within limits.
//!
//! The parser's events become [`Node`]s, and its errors become findings in the words of this project. An unreadable
//! document does not hide the ones after it.

mod anchors;

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, MapEntry, Node, Scalar, Style, Tree};
use pushplan_model::source::{FileId, Source, Span};

use super::key_index::KeyIndex;
use super::signs::{self, Role};
use super::syntax::{self, DEPTH_LIMIT};
use super::{merge, slips};
use anchors::Anchored;

/// The key of a push that names the folder of its message catalogues.
pub(super) const LOCALES: &str = "locales";

/// The largest manifest that is read.
pub const FILE_LIMIT: u64 = 96 * 1024 * 1024;
/// The largest single value: as much as the service accepts in one request.
const SCALAR_LIMIT: usize = 5 * 1024 * 1024;
/// The maximal number of values in a file: twice as many as in 100,000 resources.
pub(super) const VALUE_LIMIT: usize = 5_000_000;
/// The maximal number of documents in a file.
const DOCUMENT_LIMIT: usize = 200_000;
/// The maximal number of anchors in a document.
const ANCHOR_LIMIT: usize = 100_000;
/// The size of a node without its text.
const NODE_WEIGHT: usize = 64;
/// The maximal number of problems that are reported for one file; with more, it is no manifest.
const PROBLEM_LIMIT: usize = 1_000;

/// The content of a file: one node per document, and whether all of it could be parsed.
#[derive(Debug, Default)]
pub struct Parsed {
    pub documents: Vec<Node>,
    pub complete: bool,
    /// Whether any text contains a `$`, and so possibly a variable.
    pub has_variables: bool,
    /// Whether any `body` is a map or any key is `locales`, which possibly name files.
    pub has_files: bool,
}

impl Parsed {
    /// Adds the facts about another file, without its documents.
    pub fn add_facts(&mut self, other: &Self) {
        self.complete &= other.complete;
        self.has_variables |= other.has_variables;
        self.has_files |= other.has_files;
    }
}

/// The text of a file as far as it is UTF-8, and the problem with the rest. A zero byte is never text: UTF-16, images
/// and damaged files have many.
pub fn to_text(mut bytes: Vec<u8>) -> (String, Option<&'static str>) {
    let wide = matches!(bytes[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=255, ..] | [1..=255, 0, ..]);
    let nul = if bytes.contains(&0) { bytes.iter().position(|byte| *byte == 0) } else { None };
    bytes.truncate(nul.unwrap_or(bytes.len()));
    let (text, damaged) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(good);
            (String::from_utf8(bytes).unwrap_or_default(), true)
        }
    };
    let wrong = match (damaged, nul) {
        (false, None) => None,
        _ if wide => Some("the file is UTF-16, not UTF-8"),
        (true, _) => Some("the file is not UTF-8 text from here on"),
        (false, Some(_)) => Some("a byte 0, which no text has"),
    };
    (text, wrong)
}

/// A part of a file that is a separate map.
#[derive(Debug)]
pub struct Piece {
    pub entries: Vec<MapEntry>,
    pub span: Span,
    pub values: usize,
    pub has_variables: bool,
    pub has_files: bool,
}

/// Reads all documents of a file in one pass, without splitting it into parts.
pub(super) fn whole(file: FileId, source: &Source, findings: &mut Findings) -> Parsed {
    let (builder, complete) = run(file, source, 0..source.text.len());
    let Builder { documents, has_variables, has_files, findings: found, .. } = builder;
    findings.extend(found);
    Parsed { documents, complete, has_variables, has_files }
}

/// Parses the map in a part of a file; `None` if anything in it is wrong or unusual.
pub(super) fn piece(file: FileId, source: &Source, within: Range<usize>) -> Option<Piece> {
    let (builder, complete) = run(file, source, within);
    let Builder { mut documents, has_variables, has_files, findings, values, anchored, .. } = builder;
    let Node { span, tree: Tree::Map(entries) } = documents.pop().filter(|_| documents.is_empty())? else {
        return None;
    };
    let is_sound = complete && findings.is_empty() && !anchored;
    is_sound.then_some(Piece { entries, span, values, has_variables, has_files })
}

/// Parses a file, or a part of it as if it were separate. Also returns whether all of it could be parsed.
fn run(file: FileId, source: &Source, within: Range<usize>) -> (Builder<'_>, bool) {
    let (from, is_part) = (within.start, within.len() < source.text.len());
    let depth = DEPTH_LIMIT - usize::from(is_part);
    let mut builder = Builder {
        file,
        text: &source.text,
        stack: Vec::new(),
        anchors: HashMap::new(),
        anchored: false,
        kept: 0,
        copied: 0,
        values: 0,
        trimmed: (0, 0),
        documents: Vec::new(),
        begun: 0,
        findings: Vec::new(),
        broken: false,
        spoiled: false,
        has_variables: false,
        has_files: false,
    };
    let mut options = granit_parser::options! {
        strict_indentation: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(&source.text[within], options);
    let mut complete = true;
    loop {
        match parser.next_event() {
            None => break,
            Some(Ok((Event::StreamEnd, _))) => break,
            Some(Ok((event, span))) => {
                let place = |range: Range<usize>| range.start + from..range.end + from;
                let range = place(span.byte_range().unwrap_or(0..0));
                let tag = span.tag_span().and_then(|tag| tag.byte_range()).map(place);
                builder.event(event, Span::new(file, range), tag);
            }
            // The problem is reported when the whole file is parsed.
            Some(Err(_)) if is_part => {
                complete = false;
                break;
            }
            Some(Err(error)) => {
                let is_first = std::mem::take(&mut complete);
                // Searched only once: other errors follow from it.
                if is_first && let Some(conflict) = slips::conflict(file, source) {
                    builder.findings.push(conflict);
                    builder.abandon();
                    break;
                }
                let problem = syntax::problem(&error, file, source);
                // Earlier findings within it have the same cause.
                builder.findings.retain(|earlier| !problem.at.contains(earlier.at));
                builder.findings.push(problem);
                builder.abandon();
                match parser.proceed_next_document() {
                    Ok(true) => {}
                    _ => break,
                }
            }
        }
        if let Some(problem) = builder.excess() {
            complete = false;
            builder.documents.clear();
            builder.findings.push(problem);
            break;
        }
    }
    complete &= !builder.broken;
    (builder, complete)
}

/// An open collection.
struct OpenCollection {
    span: Span,
    anchor: usize,
    tree: Tree,
    /// The key of the next value.
    key: Option<At<String>>,
    seen: KeyIndex,
    /// Its size so far.
    weight: usize,
    /// Whether the entry is dropped because its key was reported.
    skip: bool,
    /// Whether an entry was dropped.
    dropped: bool,
}

struct Builder<'t> {
    file: FileId,
    text: &'t str,
    stack: Vec<OpenCollection>,
    anchors: HashMap<usize, Anchored>,
    /// Whether there was any anchor.
    anchored: bool,
    /// The size of the anchored nodes.
    kept: usize,
    /// The size that aliases have added.
    copied: usize,
    /// The number of values so far.
    values: usize,
    /// The end of the last collection according to the parser, and without the white space before it.
    trimmed: (usize, usize),
    documents: Vec<Node>,
    /// The number of documents before the current one.
    begun: usize,
    findings: Vec<Finding>,
    /// Whether something was dropped, so that the content is incomplete.
    broken: bool,
    /// Whether the document is no manifest, which was reported: all of it is dropped.
    spoiled: bool,
    has_variables: bool,
    has_files: bool,
}

impl Builder<'_> {
    fn event(&mut self, event: Event, span: Span, tag: Option<Range<usize>>) {
        let tagged = tag.is_some();
        if let Some(range) = tag {
            let finding =
                slips::yaml_tag(Span::new(self.file, range.clone()), self.text.get(range).unwrap_or(""), &event, span);
            self.findings.push(finding);
        }
        match event {
            Event::Scalar(value, style, anchor, _) => {
                let style = match style {
                    // The tag was reported, and the scalar has the type that its field requires.
                    _ if tagged => Style::Filled,
                    ScalarStyle::Plain => Style::Plain,
                    _ => Style::Quoted,
                };
                if value.len() > SCALAR_LIMIT {
                    self.broken = true;
                    self.findings.push(
                        Finding::new(
                            &codes::YM106,
                            span.slice(0..1),
                            format!("a value of {} MiB is too large", value.len().div_ceil(1024 * 1024)),
                        )
                        .label("begins here")
                        .note("the service accepts up to 5 MiB in one request")
                        .help("with an unclosed quote, the rest of the file becomes one value"),
                    );
                    return self.nothing(span);
                }
                let style = if style == Style::Plain { self.look(&value, span) } else { style };
                self.has_variables |= value.as_bytes().contains(&b'$');
                let weight = NODE_WEIGHT + value.len();
                let node = Node { span, tree: Tree::Scalar(Scalar { text: value.into_owned(), style }) };
                self.node(node, weight, anchor);
            }
            Event::SequenceStart(_, anchor, _) => self.open(span, anchor, Tree::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => self.open(span, anchor, Tree::Map(Vec::new())),
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(id) => self.alias(id, span),
            Event::UnresolvedAlias(name) => {
                self.findings.push(
                    Finding::new(&codes::YM104, span, format!("there is no anchor `&{name}` before this alias"))
                        .label("no such anchor")
                        .help(format!(
                            "write `&{name}` before the intended value; a text that begins with `*` needs quotes"
                        )),
                );
                self.broken = true;
                self.nothing(span);
            }
            Event::DocumentStart(..) => {
                self.begun = self.documents.len();
                self.forget();
            }
            Event::DocumentEnd => self.forget(),
            _ => {}
        }
    }

    /// Searches for misleading characters in a scalar without quotes, and returns its style.
    fn look(&mut self, value: &str, span: Span) -> Style {
        let role = match self.stack.last() {
            Some(OpenCollection { tree: Tree::Map(_), key: None, .. }) => Role::Key,
            Some(OpenCollection { tree: Tree::Map(_), key: Some(_), .. }) => {
                let before = self.text.get(..span.range().start).unwrap_or("").trim_end_matches([' ', '\t']);
                if before.ends_with(['\n', '\r']) { Role::Free } else { Role::Value }
            }
            _ => Role::Free,
        };
        if let Some((finding, end)) = signs::in_scalar(self.file, self.text, span.range(), role) {
            self.findings.push(finding);
            self.spoiled |= role == Role::Key || end > span.range().end;
            self.broken |= self.spoiled;
            return Style::Filled;
        }
        if role == Role::Key && value.strip_prefix('-').is_some_and(slips::is_field) {
            self.findings.push(slips::glued_dash(span.slice(0..1)));
            self.broken = true;
            self.spoiled = true;
        }
        Style::Plain
    }

    fn open(&mut self, span: Span, anchor: usize, tree: Tree) {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored::Open);
        }
        self.stack.push(OpenCollection {
            span,
            anchor,
            tree,
            key: None,
            seen: KeyIndex::default(),
            weight: NODE_WEIGHT,
            skip: false,
            dropped: false,
        });
    }

    fn close(&mut self, end: Span) {
        let Some(open) = self.stack.pop() else { return };
        let start = open.span.range().start;
        let end = self.trim(end.range().end.max(open.span.range().end)).max(start);
        let text = self.text.get(start..end).unwrap_or("");
        let span = Span::new(self.file, start..end);
        let node = match open.tree {
            // It was reported as a placeholder without quotes, and is treated as a text.
            Tree::Map(entries) if entries.is_empty() && text.starts_with("{{") => Node::filled(span, text),
            // Everything in it was reported.
            Tree::Map(entries) if entries.is_empty() && open.dropped => Node::unread(span),
            Tree::Map(mut entries) => {
                entries.shrink_to_fit();
                self.without_merge_key(span, entries)
            }
            Tree::List(mut items) => {
                items.shrink_to_fit();
                Node { span, tree: Tree::List(items) }
            }
            tree => Node { span, tree },
        };
        self.node(node, open.weight, open.anchor);
    }

    /// A block collection ends where the next content begins: the white space before that is not part of it.
    /// Collections with the same end search it once.
    fn trim(&mut self, end: usize) -> usize {
        if self.trimmed.0 != end {
            self.trimmed = (end, self.text.get(..end).map_or(end, |text| text.trim_end().len()));
        }
        self.trimmed.1
    }

    /// Reports `<<` and does what its author intended, so that nothing seems to be missing.
    fn without_merge_key(&mut self, span: Span, mut entries: Vec<MapEntry>) -> Node {
        // In quotes, it is an ordinary text.
        let is_merge = |entry: &MapEntry| *entry.key == "<<" && self.text.get(entry.key.span.range()) == Some("<<");
        let Some(at) = entries.iter().position(is_merge) else {
            return Node { span, tree: Tree::Map(entries) };
        };
        let MapEntry { key, value } = entries.remove(at);
        self.findings.push(
            Finding::new(&codes::YM201, key.span, "merge keys (`<<`) are not part of YAML 1.2")
                .label("unknown key")
                .help("write out the keys, or put values that all resources of a kind share under `defaults:`"),
        );
        let own = Node { span, tree: Tree::Map(entries) };
        let shared = match &value.tree {
            Tree::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&value),
        };
        // Of several, the first has priority.
        let maps = shared.iter().filter(|node| node.entries().is_some());
        maps.fold(own, |over, under| merge::lay(under, &over))
    }

    /// Adds a placeholder for a value that was reported and could not be read.
    fn nothing(&mut self, span: Span) {
        self.node(Node::unread(span), NODE_WEIGHT, 0);
    }

    /// Adds a finished node to its parent: as an item of a list, the value of a key, a key, or a document.
    fn node(&mut self, node: Node, weight: usize, anchor: usize) {
        self.values += 1;
        if anchor != 0 {
            self.keep(&node, weight, anchor);
        }
        let Some(open) = self.stack.last_mut() else {
            if !std::mem::take(&mut self.spoiled) {
                self.documents.push(node);
            }
            return;
        };
        open.weight += weight;
        match &mut open.tree {
            Tree::List(items) => items.push(node),
            Tree::Map(entries) => match open.key.take() {
                Some(_) if std::mem::take(&mut open.skip) => {}
                Some(key) => {
                    self.has_files |= match key.as_str() {
                        "body" => matches!(node.tree, Tree::Map(_)),
                        key => key == LOCALES,
                    };
                    entries.push(MapEntry { key, value: node });
                }
                None => {
                    let (key, problem) = key_of(node, open.span, self.text, entries, &mut open.seen);
                    if let Some(problem) = problem {
                        if !self.spoiled {
                            self.findings.push(problem);
                        }
                        self.broken = true;
                        open.skip = true;
                        open.dropped = true;
                    }
                    open.key = Some(key);
                }
            },
            Tree::Scalar(_) => {}
        }
    }

    /// Returns the reason to stop reading the file: a limit is exceeded.
    fn excess(&self) -> Option<Finding> {
        let at = |finding: &Finding| finding.at;
        if self.findings.len() >= PROBLEM_LIMIT {
            let at = self.findings.last().map_or(Span::new(self.file, 0..0), at);
            return Some(
                Finding::new(
                    &codes::YM106,
                    at,
                    format!("more than {PROBLEM_LIMIT} problems: the rest of the file is not read"),
                )
                .label("the last one reported"),
            );
        }
        let (code, what) = if self.values > VALUE_LIMIT {
            (&codes::YM106, format!("more than {VALUE_LIMIT} values"))
        } else if self.documents.len() > DOCUMENT_LIMIT {
            (&codes::YM106, format!("more than {DOCUMENT_LIMIT} documents"))
        } else if self.anchors.len() > ANCHOR_LIMIT {
            (&codes::YM104, format!("more than {ANCHOR_LIMIT} anchors"))
        } else {
            return None;
        };
        Some(
            Finding::new(code, Span::new(self.file, 0..0), format!("{what} in one file: the rest of it is not read"))
                .help("split it into several files"),
        )
    }

    /// Drops unfinished nodes, after a syntax error.
    fn abandon(&mut self) {
        self.stack.clear();
        self.documents.truncate(self.begun);
        self.spoiled = false;
        self.forget();
    }
}

/// A node as a key, and its problem.
fn key_of(
    node: Node,
    map: Span,
    text: &str,
    entries: &[MapEntry],
    seen: &mut KeyIndex,
) -> (At<String>, Option<Finding>) {
    let Tree::Scalar(scalar) = node.tree else {
        let problem = match text.get(map.range().start..).filter(|written| written.starts_with("{{")) {
            Some(written) => slips::unquoted(written, map),
            None => Finding::new(&codes::YM110, node.span, "a key must be plain text")
                .label("a list or a map as a key")
                .help("a key that begins with [ or { needs quotes"),
        };
        return (At::new(String::new(), node.span), Some(problem));
    };
    let key = At::new(scalar.text, node.span);
    let problem = seen.first(&key, entries).map(|first| {
        Finding::new(&codes::YM102, node.span, format!("`{key}` is repeated here"))
            .label("the second")
            .related(first, "the first")
            .note("one of the two would be lost silently")
            .help("remove one of them, or rename it")
    });
    (key, problem)
}
