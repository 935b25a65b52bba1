//! Parsing a large manifest in parts, in parallel.
//!
//! Most manifests are maps by kind, and a line with the key of a resource ends everything before it. If a file clearly
//! has that form, its resources are parsed in parts, and the parts are combined into the same result. If a part has
//! anything wrong or unusual in it, the file is not split, and parsing the whole reports the problem.

use std::collections::HashSet;
use std::ops::Range;

use pushplan_model::cores;
use pushplan_model::finding::Findings;
use pushplan_model::node::{At, MapEntry, Node, Tree};
use pushplan_model::source::{FileId, Source, Span};

use super::parse::{Parsed, Piece, VALUE_LIMIT, piece, whole};

/// Smaller files are parsed in one part.
const LARGE: usize = 128 * 1024;
/// The size of a part, if there is more than one.
const PART: usize = 64 * 1024;

/// A key of the file, and the ranges of the parts of its map.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    key: Range<usize>,
    parts: Vec<Range<usize>>,
}

/// Parses all documents of a file.
pub fn parse(file: FileId, source: &Source, findings: &mut Findings) -> Parsed {
    in_parts(file, source).unwrap_or_else(|| whole(file, source, findings))
}

/// Parses a file in parts; `None` if it is small, or not entirely in that form.
fn in_parts(file: FileId, source: &Source) -> Option<Parsed> {
    let (sections, pieces) = pieces(file, source, |_, piece| Some(piece))?;
    joined(file, source, sections, pieces)
}

/// The results of a function for the parts of each map of such a file, as soon as they are parsed: by the keys of the
/// maps, in order.
pub fn made<R: Send>(
    file: FileId,
    source: &Source,
    make: impl Fn(&str, Piece) -> Option<R> + Sync,
) -> Option<Vec<(&str, Vec<R>)>> {
    let (sections, pieces) = pieces(file, source, make)?;
    let mut pieces = pieces.into_iter();
    let own = |Section { key, parts }: Section| (&source.text[key], pieces.by_ref().take(parts.len()).collect());
    Some(sections.into_iter().map(own).collect())
}

fn pieces<R: Send>(
    file: FileId,
    source: &Source,
    make: impl Fn(&str, Piece) -> Option<R> + Sync,
) -> Option<(Vec<Section>, Vec<R>)> {
    if source.text.len() < LARGE {
        return None;
    }
    let sections = sections(&source.text, PART)?;
    let own = |section: &Section| section.parts.iter().map(|part| (section.key.clone(), part.clone())).collect();
    let parts: Vec<(Range<usize>, Range<usize>)> = sections.iter().flat_map::<Vec<_>, _>(own).collect();
    let one = |(key, part): (Range<usize>, Range<usize>)| make(&source.text[key], piece(file, source, part)?);
    let pieces = cores::each_if(true, parts, one);
    Some((sections, pieces.into_iter().collect::<Option<_>>()?))
}

fn joined(file: FileId, source: &Source, sections: Vec<Section>, pieces: Vec<Piece>) -> Option<Parsed> {
    let (mut has_variables, mut has_files, mut values) = (false, false, 0);
    let mut entries: Vec<MapEntry> = Vec::with_capacity(sections.len());
    let mut pieces = pieces.into_iter();
    for Section { key, parts } in sections {
        let mut own: Vec<MapEntry> = Vec::new();
        let mut span: Option<Span> = None;
        for piece in pieces.by_ref().take(parts.len()) {
            has_variables |= piece.has_variables;
            has_files |= piece.has_files;
            values += piece.values;
            span = Some(span.map_or(piece.span, |first| first.to(piece.span)));
            own.extend(piece.entries);
        }
        let mut keys = HashSet::with_capacity(own.len());
        if !own.iter().all(|entry| keys.insert(entry.key.as_str())) {
            return None;
        }
        let name = source.text.get(key.clone())?.to_owned();
        let value = Node { span: span?, tree: Tree::Map(own) };
        entries.push(MapEntry { key: At::new(name, Span::new(file, key)), value });
    }
    let mut keys = HashSet::new();
    let is_whole = entries.iter().all(|entry| keys.insert(entry.key.as_str()));
    let span = entries.first()?.key.span.to(entries.last()?.value.span);
    let document = Node { span, tree: Tree::Map(entries) };
    (is_whole && values < VALUE_LIMIT).then(|| Parsed {
        documents: vec![document],
        complete: true,
        has_variables,
        has_files,
    })
}

/// The parts of a text that is clearly a map of maps. `None` if a line does not fit that form.
fn sections(text: &str, part: usize) -> Option<Vec<Section>> {
    // One by one, because a search for a single character compares many bytes at a time.
    if ['\r', '\t', '\u{feff}'].into_iter().any(|other| text.contains(other)) {
        return None;
    }
    let mut sections: Vec<Section> = Vec::new();
    let (mut indent, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let written = line.trim_start_matches(' ');
        let depth = line.len() - written.len();
        if written.trim_end().is_empty() || written.starts_with('#') {
            continue;
        }
        if depth == 0 {
            end(&mut sections, begin)?;
            let key = key(written)?;
            let behind = written[key.len() + 1..].trim();
            if !(behind.is_empty() || behind.starts_with('#')) {
                return None;
            }
            sections.push(Section { key: begin..begin + key.len(), parts: Vec::new() });
            indent = 0;
            continue;
        }
        let section = sections.last_mut()?;
        match section.parts.last_mut() {
            None => {
                key(written)?;
                indent = depth;
                section.parts.push(begin..begin);
            }
            Some(_) if depth > indent => {}
            Some(_) if depth < indent => return None,
            Some(last) => {
                key(written)?;
                if begin - last.start >= part {
                    // A block of text ends where the next content begins.
                    last.end = begin + depth;
                    section.parts.push(begin..begin);
                }
            }
        }
    }
    end(&mut sections, at)?;
    Some(sections)
}

/// Ends the last section; a section without content is no map.
fn end(sections: &mut [Section], at: usize) -> Option<()> {
    if let Some(section) = sections.last_mut() {
        section.parts.last_mut()?.end = at;
    }
    Some(())
}

/// The plain key at the beginning of a line.
fn key(written: &str) -> Option<&str> {
    let (key, behind) = written.split_once(':')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let begins = key.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    (begins && key.bytes().all(is_plain) && behind.starts_with([' ', '\n'])).then_some(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The result for a text in parts of one resource, and as a whole.
    fn both(text: &str) -> (Option<String>, String) {
        let source = Source::new("all.yaml", text);
        let split = sections(text, 1).and_then(|sections| {
            let parts = sections.iter().flat_map(|section| &section.parts);
            let pieces: Option<Vec<Piece>> = parts.map(|part| piece(FileId::ONLY, &source, part.clone())).collect();
            joined(FileId::ONLY, &source, sections, pieces?)
        });
        let mut findings = Findings::default();
        let whole = whole(FileId::ONLY, &source, &mut findings);
        if split.is_some() {
            assert!(findings.is_empty(), "{text}\n{:?}", findings.into_vec());
        }
        (split.map(|parsed| format!("{parsed:?}")), format!("{whole:?}"))
    }

    fn is_split(text: &str) -> bool {
        let (split, whole) = both(text);
        split.inspect(|split| assert_eq!(*split, whole, "{text}")).is_some()
    }

    const PLAIN: &str = "# All of it.
segments: # who

  # The first.
  one:
    criteria: {and: [{tag: a},
      {tag: b}]}
  # The second.
  two:
    display_name: \"of two
      lines\"
    criteria:
      tag: é $x
      # Behind it.

templates:
    three:
        push:
            body: {file: x}
            text: |
              four:
                # no comment
            long: >-
              and
               so on
    five: {}
# At the end.
";

    #[test]
    fn parts_make_up_the_whole() {
        assert!(is_split(PLAIN));
        assert!(is_split(PLAIN.trim_end()));
        assert!(is_split(&PLAIN.replace("    five: {}\n", "    five:\n")));
        assert!(is_split("a:\n b:\n"));
    }

    #[test]
    fn what_is_not_plain_is_read_as_a_whole() {
        let other = [
            ("  two:", " two:"),
            ("  two:", "  \"two\":"),
            ("  two:", "  one:"),
            ("  two:", "  two: &x"),
            ("  two:", "  ? two\n  :"),
            ("  two:", "  <<:"),
            ("templates:", "segments:"),
            ("templates:", "---\ntemplates:"),
            ("templates:", "templates: |"),
            ("templates:", "templates: {}\nmore:"),
            ("templates:", "none:\ntemplates:"),
            ("  # The second.", "\t# The second."),
            ("# All of it.", "%YAML 1.2\n---"),
            ("{tag: a},", "{tag: a,"),
            ("      lines\"", "  lines: \""),
            ("display_name: \"of", "display_name: \"of\n  two: \""),
            ("tag: é", "tag: é\n      tag: b"),
            ("tag: é", "tag: *x"),
            ("tag: é", "tag: !!str x"),
        ];
        for (from, to) in other {
            assert!(PLAIN.contains(from));
            assert!(!is_split(&PLAIN.replacen(from, to, 1)), "{to}");
        }
        assert!(!is_split("") && !is_split("a: b\n") && !is_split("- a\n"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_of_any_sort_make_up_the_whole(
            lines in prop::collection::vec(
                prop::sample::select(vec![
                    "a:", "b: # c", "  one:", "  two: x", "  three: |", "  four: [a,", "  five: \"x", "  six: 'y'", "    k: v",
                    "    - i", "     deep", "    z]", "   x\"", "", "# c", "    # c", "  - j", "   odd:", "    l: >+", "    m: {n: o}",
                    "    ? q", " ", "  seven: &s", "    t: *s", "    u: \"v",
                ]),
                1..14,
            ),
        ) {
            // The test only requires equality for texts that are split.
            is_split(&(lines.join("\n") + "\n"));
        }
    }

    #[test]
    fn a_large_file_is_split() {
        let mut text = String::from("segments:\n");
        for n in 0..4_000 {
            text += &format!("  s{n}:\n    display_name: The name of number {n}\n    criteria: {{tag: t{n}}}\n");
        }
        let source = Source::new("all.yaml", text.as_str());
        let split = in_parts(FileId::ONLY, &source).expect("it is plain");
        assert!(sections(&text, PART).is_some_and(|sections| sections[0].parts.len() > 2));
        let whole = whole(FileId::ONLY, &source, &mut Findings::default());
        assert_eq!(format!("{split:?}"), format!("{whole:?}"));
    }
}
