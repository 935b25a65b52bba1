//! JSON that can be printed anywhere: parsers read the same, and terminals and CI systems find no commands.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::text::marked;

/// Escapes invisible characters and possible CI commands in the strings of a JSON document.
///
/// Outside of strings, JSON has none of these characters, so the document need not be parsed.
pub fn text(json: &str) -> Cow<'_, str> {
    let harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if json.bytes().all(harmless) && !json.contains("##") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    for (at, c, hidden) in marked(json) {
        let command = c == '#' && json[at + 1..].starts_with('#');
        if (hidden && !matches!(c, '\n' | '\r' | '\t')) || command {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes a JSON document through [`text`], some lines at a time: a string in JSON has no line break, so no escaped
/// text spans two lines.
#[derive(Debug)]
pub struct Escaped<W: Write> {
    to: W,
    /// Bytes that were not passed on yet.
    held: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    /// The number of bytes that are collected before they are passed on.
    const PIECE: usize = 64 * 1024;

    pub fn new(to: W) -> Self {
        Self { to, held: Vec::with_capacity(2 * Self::PIECE) }
    }

    fn pass(&mut self, end: usize) -> io::Result<()> {
        let piece = std::str::from_utf8(&self.held[..end]).map_err(io::Error::other)?;
        self.to.write_all(text(piece).as_bytes())?;
        self.held.drain(..end);
        Ok(())
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= Self::PIECE
            && let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n')
        {
            self.pass(self.held.len() - bytes.len() + last + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass(self.held.len())?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn every_character_is_read_back_and_none_is_hidden() {
        for chunk in ('\0'..=char::MAX).collect::<Vec<_>>().chunks(4096) {
            let value = Value::from(chunk.iter().collect::<String>());
            let written = super::text(&serde_json::to_string(&value).expect("JSON")).into_owned();
            assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), value);
            assert_eq!(crate::render::visible(&written), written);
        }
    }

    #[test]
    fn a_document_in_pieces_is_written_as_a_whole_one_is() {
        let list = (0..20_000).map(|n| format!("## {n} \u{1b}é\u{202e}")).collect::<Vec<_>>();
        let mut pieces = super::Escaped::new(Vec::new());
        serde_json::to_writer_pretty(&mut pieces, &list).expect("JSON");
        assert!(!pieces.to.is_empty(), "something is written before the end");
        pieces.flush().expect("memory");
        let whole = serde_json::to_string_pretty(&list).expect("JSON");
        assert_eq!(String::from_utf8(pieces.to).expect("UTF-8"), super::text(&whole));
    }

    proptest! {
        #[test]
        fn commands_are_read_back_and_cannot_be_found(text in r#"[#\[\]\\"a:vso\n\u{1b}]{0,40}"#) {
            let value = json!({"text": text, "list": [text], text.clone(): 1});
            let written = super::text(&serde_json::to_string_pretty(&value).expect("JSON")).into_owned();
            prop_assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), value);
            prop_assert!(!written.contains("##"));
            prop_assert!(written.lines().all(|line| !line.trim_start().starts_with("::")));
        }
    }
}
