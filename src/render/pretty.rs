//! Indents JSON for readers. Only white space changes: the order of keys and the spelling of numbers stay.

/// A JSON document with a line for each value. The caller guarantees that it is valid JSON.
pub fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json.trim_start();
    let begin = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(sign) = rest.chars().next() {
        let length = match sign {
            '"' => text(rest),
            _ => sign.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after.trim_start();
        match sign {
            '{' | '[' => {
                out.push_str(token);
                // Empty arrays and objects stay on one line.
                if rest.starts_with(['}', ']']) {
                    out.push_str(&rest[..1]);
                    rest = rest[1..].trim_start();
                } else {
                    depth += 1;
                    begin(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin(&mut out, depth);
                out.push_str(token);
            }
            ',' => {
                out.push_str(token);
                begin(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push_str(token),
        }
    }
    out.push('\n');
    out
}

/// The length of the quoted text at the beginning.
fn text(json: &str) -> usize {
    let mut escaped = false;
    let end = json.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(json.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn order_numbers_and_escapes_stay_as_they_are() {
        let json = r#" {"b":[1.50,-2e400,{}],"a":"x \" , {\u00e9","c":[ ],"b":12345678901234567890123} "#;
        let expected = r#"{
  "b": [
    1.50,
    -2e400,
    {}
  ],
  "a": "x \" , {\u00e9",
  "c": [],
  "b": 12345678901234567890123
}
"#;
        assert_eq!(pretty(json), expected);
        assert_eq!(pretty("null"), "null\n");
        assert_eq!(pretty("\"a\""), "\"a\"\n");
    }

    proptest! {
        #[test]
        fn the_same_is_read_back(texts in prop::collection::vec("[a-z\"\\\\{}\\[\\]:, é\n]{0,20}", 0..5), number: i64) {
            let value = serde_json::json!({"texts": texts, "number": number, "in": {"list": [[], {}, texts.first()]}});
            let shown = pretty(&value.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), value.clone());
            prop_assert_eq!(shown, format!("{value:#}\n"));
        }
    }
}
