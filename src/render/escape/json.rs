//! JSON that can be printed anywhere: a parser reads the same, a terminal and a CI system find nothing to act on.

use std::borrow::Cow;
use std::fmt::Write;

use crate::text::marked;

/// A JSON document in which whatever cannot be seen, and what CI systems take for a command, is escaped within its string.
///
/// Outside of strings, JSON holds none of these characters, so that the document need not be read to be changed.
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

#[cfg(test)]
mod tests {
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
