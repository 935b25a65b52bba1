//! Parses JSON to nodes with their positions, which no JSON crate provides.

use std::collections::{HashMap, HashSet};

use super::{At, MapEntry, Node, Scalar, Style, Tree};
use crate::source::{FileId, Span};

/// The maximum depth of arrays and objects.
const DEPTH_LIMIT: usize = 100;

/// Why a text is not JSON, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub struct NotJson {
    pub at: usize,
    pub why: &'static str,
}

/// Parses one JSON value. Spans refer to the given file.
pub fn from_json(file: FileId, text: &str) -> Result<Node, NotJson> {
    let mut parser = Parser { file, text, at: 0 };
    let node = parser.value(0)?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.wrong("something follows the value"));
    }
    Ok(node)
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn wrong(&self, why: &'static str) -> NotJson {
        NotJson { at: self.at, why }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start..self.at)
    }

    fn value(&mut self, depth: usize) -> Result<Node, NotJson> {
        self.blank();
        let start = self.at;
        let tree = match self.peek() {
            None => return Err(self.wrong("a value is missing")),
            Some(b'{' | b'[') if depth == DEPTH_LIMIT => return Err(self.wrong("nested too deeply")),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Tree::Scalar(Scalar { text: self.string()?, style: Style::Quoted }),
            Some(_) => Tree::Scalar(Scalar { text: self.word()?, style: Style::Plain }),
        };
        Ok(Node { span: self.span(start), tree })
    }

    fn object(&mut self, depth: usize) -> Result<Tree, NotJson> {
        let mut entries: Vec<MapEntry> = Vec::new();
        self.at += 1;
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Tree::Map(entries));
        }
        loop {
            self.blank();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key is missing"));
            }
            let key = At::new(self.string()?, self.span(start));
            self.blank();
            if self.peek() != Some(b':') {
                return Err(self.wrong("a colon is missing"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            entries.push(MapEntry { key, value });
            if self.next_or(b'}')? {
                return Ok(Tree::Map(last_of_each(entries)));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Tree, NotJson> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Tree::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.next_or(b']')? {
                return Ok(Tree::List(items));
            }
        }
    }

    /// Skips a comma, or the end of a collection. Returns whether it was the end.
    fn next_or(&mut self, end: u8) -> Result<bool, NotJson> {
        self.blank();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.wrong("a comma or the end is missing")),
        }
    }

    /// Parses a string by its own grammar; serde_json unescapes it.
    fn string(&mut self) -> Result<String, NotJson> {
        let start = self.at;
        self.at += 1;
        let mut plain = true;
        loop {
            // Most of a string has no special characters.
            let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
            let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20));
            let Some(special) = special else { return Err(NotJson { at: start, why: "a string is not closed" }) };
            self.at += special;
            match rest[special] {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    self.at += 2;
                }
                _ => return Err(self.wrong("a control character in a string")),
            }
        }
        self.at += 1;
        let written = self.text.get(start..self.at).ok_or(NotJson { at: start, why: "a broken string" })?;
        if plain {
            return Ok(written[1..written.len() - 1].to_owned());
        }
        serde_json::from_str(written).map_err(|_| NotJson { at: start, why: "a wrong escape in a string" })
    }

    /// Parses `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<String, NotJson> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let word = &rest[..end];
        let known =
            matches!(word, "true" | "false" | "null") || serde_json::from_str::<serde_json::Number>(word).is_ok();
        if !known {
            return Err(self.wrong("not a value"));
        }
        self.at += end;
        Ok(word.to_owned())
    }
}

/// Keeps the last of two equal keys, as most JSON parsers do.
fn last_of_each(entries: Vec<MapEntry>) -> Vec<MapEntry> {
    // Most objects are small: comparing each pair costs less than a table.
    let few = entries.len() <= 16;
    if few && entries.iter().enumerate().all(|(at, one)| entries[..at].iter().all(|other| *other.key != *one.key)) {
        return entries;
    }
    let mut last: HashMap<&str, usize> = HashMap::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        last.insert(&entry.key, at);
    }
    if last.len() == entries.len() {
        return entries;
    }
    let keep: HashSet<usize> = last.into_values().collect();
    entries.into_iter().enumerate().filter(|(at, _)| keep.contains(at)).map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, Sources};

    fn read(text: &str) -> Result<Node, NotJson> {
        let mut sources = Sources::default();
        let file = sources.add(Source::new("body", text));
        from_json(file, text)
    }

    #[test]
    fn json_becomes_the_same_value_that_serde_reads() {
        for text in [
            "null",
            "true",
            "-1.5e3",
            "\"a\\u00e9\\n\\\"\"",
            "[]",
            "{}",
            "[1, [2, {\"a\": []}]]",
            " {\"a\" : 1 , \"b\":[true,false,null], \"c\":\"😀\"} ",
            "{\"a\":1,\"a\":2}",
            "12345678901",
        ] {
            let expected: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(read(text).unwrap().to_json(), expected, "{text}");
        }
    }

    #[test]
    fn a_place_has_a_path() {
        let text = r#"{"a": 1, "variants": [{"push": {}}, {"push": {"alert1": "x"}}]}"#;
        let node = read(text).unwrap();
        let at = |needle: &str| {
            let start = text.find(needle).unwrap();
            node.path_to(Span::new(FileId::ONLY, start..start + needle.len()))
        };
        assert_eq!(at("1"), "a");
        assert_eq!(at("\"alert1\""), "variants[1].push.alert1");
        assert_eq!(at("\"x\""), "variants[1].push.alert1");
        assert_eq!(at("\"variants\""), "variants");
    }

    #[test]
    fn what_is_not_json_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            ("{", 1),
            ("{\"a\"}", 4),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{a:1}", 1),
            ("tru", 0),
            ("01", 0),
            ("1 1", 2),
            ("\"a", 0),
            ("\"\\x\"", 0),
            ("'a'", 0),
            ("[1", 2),
            ("\"\u{1}\"", 1),
            ("\"\\", 0),
        ] {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err());
            assert_eq!(read(text).map(|node| node.to_json()).unwrap_err().at, at, "{text}");
        }
        let deep = "[".repeat(10_000);
        assert_eq!(read(&deep).unwrap_err().why, "nested too deeply");
    }
}
