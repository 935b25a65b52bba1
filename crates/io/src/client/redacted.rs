//! Redacts secrets in the failures that servers report: some repeat everything that they received.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use pushplan_model::exchange::{Answer, Meaning};
use serde_json::Value;

use super::credentials::{Credentials, Secret};
use super::whole::Whole;

/// Replaces a secret.
const HIDDEN: &str = "[hidden]";
/// The length of the shortest secret that is redacted: a shorter one may be part of any word.
const SHORTEST: usize = 6;

/// Secrets that are redacted in everything that a server returns.
///
/// They are found as they are, in base64, in hexadecimal digits, and each of these escaped as in a URL or in JSON, in
/// upper or lower case.
#[derive(Clone, Debug, Default)]
pub struct Redacted {
    /// All forms to look for, computed once.
    forms: Arc<[Secret]>,
}

impl Redacted {
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.reveal().len() >= SHORTEST);
        let forms: BTreeSet<String> = secrets.flat_map(|secret| forms(secret.reveal())).collect();
        Self { forms: forms.into_iter().map(Secret::new).collect() }
    }

    /// Returns the secrets of an application. Its key is redacted as well.
    pub fn of(credentials: &Credentials) -> Self {
        let Credentials { app_key, master_secret } = credentials;
        let pair = Secret::new(format!("{app_key}:{}", master_secret.reveal()));
        Self::new([Secret::new(app_key), master_secret.clone(), pair])
    }

    pub fn text(&self, text: &str) -> String {
        let struck = struck(&self.forms, text.as_bytes());
        struck.map_or_else(|| text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Redacts the secrets in an answer that is not a success. A successful answer is data and stays unchanged.
    pub fn answer(&self, answer: &mut Answer) {
        if answer.meaning() != Meaning::Done {
            self.refused(answer);
        }
    }

    /// Redacts the secrets in an answer that is not a success, including its headers and raw bytes. A successful answer is data
    /// and stays unchanged.
    pub fn whole(&self, whole: &mut Whole) {
        if whole.answer.meaning() == Meaning::Done {
            return;
        }
        let is_struck = self.refused(&mut whole.answer);
        whole.headers.iter_mut().for_each(|(_, value)| {
            strike(value, &self.forms);
        });
        if let Some(bytes) = struck(&self.forms, &whole.bytes) {
            whole.bytes = bytes;
        }
        // The raw bytes may escape a secret differently, so they are replaced by the redacted body.
        if let Some(body) = whole.answer.body.as_ref().filter(|_| is_struck)
            && serde_json::from_slice::<Value>(&whole.bytes).ok().as_ref() != Some(body)
        {
            whole.bytes = body.to_string().into_bytes();
        }
    }

    /// Redacts an answer. Returns whether there was a secret in its body.
    fn refused(&self, answer: &mut Answer) -> bool {
        if let Some(location) = &mut answer.location {
            strike(location, &self.forms);
        }
        answer.body.as_mut().is_some_and(|body| strike_value(body, &self.forms))
    }
}

/// Returns the forms in which a secret may be repeated.
fn forms(secret: &str) -> Vec<String> {
    let plain = secret.as_bytes();
    let mut forms = vec![secret.to_owned(), plain.iter().map(|byte| format!("{byte:02x}")).collect()];
    for engine in [&BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE_NO_PAD] {
        let whole = engine.encode(plain);
        forms.push(format!("{whole}{}", "=".repeat((4 - whole.len() % 4) % 4)));
        forms.push(whole);
        for before in 0..3 {
            // Within a longer text: the characters that it shares with its neighbours are left out.
            let coded = engine.encode([&[0; 3][..before], plain].concat());
            let inner = (before * 8).div_ceil(6)..(before + plain.len()) * 8 / 6;
            forms.extend(coded.get(inner).map(str::to_owned));
        }
    }
    forms
}

/// Redacts all texts of a value, including names. Returns whether there was a secret.
fn strike_value(value: &mut Value, forms: &[Secret]) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => {
            let mut text = number.to_string();
            let is_struck = strike(&mut text, forms);
            if is_struck {
                *value = Value::String(text);
            }
            is_struck
        }
        Value::String(text) => strike(text, forms),
        // All of them, not only up to the first match.
        Value::Array(items) => items.iter_mut().filter_map(|item| strike_value(item, forms).then_some(())).count() > 0,
        Value::Object(fields) => {
            let mut any = false;
            for (mut name, mut field) in std::mem::take(fields) {
                any |= strike(&mut name, forms);
                any |= strike_value(&mut field, forms);
                fields.insert(name, field);
            }
            any
        }
    }
}

/// Redacts a text. Returns whether there was a secret.
fn strike(text: &mut String, forms: &[Secret]) -> bool {
    let struck = struck(forms, text.as_bytes());
    if let Some(bytes) = &struck {
        *text = String::from_utf8_lossy(bytes).into_owned();
    }
    struck.is_some()
}

/// Returns a text without these forms; `None` if it has none of them. Forms that touch or overlap are redacted as one.
fn struck(forms: &[Secret], text: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut until) = (Vec::new(), None::<usize>);
    for (at, byte) in text.iter().enumerate() {
        let may_begin = |form: &&[u8]| {
            matches!(byte, b'%' | b'\\') || form.first().is_some_and(|first| first.eq_ignore_ascii_case(byte))
        };
        let forms = forms.iter().map(|form| form.reveal().as_bytes()).filter(may_begin);
        if let Some(length) = forms.filter_map(|form| begins(&text[at..], form)).max() {
            if until.is_none_or(|until| at > until) {
                out.extend_from_slice(HIDDEN.as_bytes());
            }
            until = until.max(Some(at + length));
        }
        if until.is_none_or(|until| at >= until) {
            out.push(*byte);
        }
    }
    until.map(|_| out)
}

/// Returns the length of this form at the beginning of a text, escaped or not.
fn begins(text: &[u8], form: &[u8]) -> Option<usize> {
    if text.get(..form.len()).is_some_and(|text| text.eq_ignore_ascii_case(form)) {
        return Some(form.len());
    }
    let mut length = 0;
    for wanted in form {
        let rest = &text[length..];
        length += match escaped(rest) {
            Some((byte, taken)) if byte.eq_ignore_ascii_case(wanted) => taken,
            _ if rest.first()?.eq_ignore_ascii_case(wanted) => 1,
            _ => return None,
        };
    }
    Some(length)
}

/// Returns the byte that is escaped at the beginning of a text, and the length of the escape.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    let hex = |high: u8, low: u8| {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        u8::try_from(digit(high)? * 16 + digit(low)?).ok()
    };
    match *text {
        [b'%', high, low, ..] => Some((hex(high, low)?, 3)),
        [b'\\', b'u', b'0', b'0', high, low, ..] => Some((hex(high, low).filter(u8::is_ascii)?, 6)),
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Some((byte, 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use serde_json::json;

    use super::*;

    const KEY: &str = "k/+?app\"key";
    const SECRET: &str = "q/+??>>\\\\hush%41:é=";

    fn known() -> Redacted {
        Redacted::of(&Credentials::new(KEY, SECRET))
    }

    fn json_of(text: &str) -> String {
        serde_json::to_string(text).unwrap().trim_matches('"').to_owned()
    }

    #[test]
    fn a_secret_is_struck_out_in_every_form() {
        let pair = format!("{KEY}:{SECRET}");
        for plain in [KEY, SECRET, &pair] {
            let hex: String = plain.bytes().map(|byte| format!("{byte:02x}")).collect();
            let percent = utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string();
            let standard = BASE64_STANDARD.encode(plain);
            for form in [
                plain.to_owned(),
                hex.to_uppercase(),
                hex,
                percent.to_lowercase(),
                percent,
                form_urlencoded::byte_serialize(plain.as_bytes()).collect(),
                json_of(plain),
                json_of(plain).replace('/', "\\/"),
                plain.replace('"', "\\u0022").replace('/', "\\u002F").replace('\\', "\\\\").replace("\\\\u", "\\u"),
                standard.trim_end_matches('=').to_owned(),
                standard.replace('/', "\\/"),
                utf8_percent_encode(&standard, NON_ALPHANUMERIC).to_string(),
                standard,
                BASE64_URL_SAFE.encode(plain).trim_end_matches('=').to_owned(),
                BASE64_URL_SAFE.encode(plain),
            ] {
                assert_eq!(known().text(&format!("é {form}, {form}!")), "é [hidden], [hidden]!", "{form}");
            }
        }
    }

    #[test]
    fn a_secret_is_struck_out_of_what_was_coded_together_with_it() {
        let known = Redacted::new([Secret::new("hush-hush-hush")]);
        for before in ["", "x", "xy", "user:"] {
            let coded = BASE64_STANDARD.encode(format!("{before}hush-hush-hush, and more"));
            let told = known.text(&coded);
            // At most two characters of it are left, which it shares with its neighbours.
            let most = coded.len() - 14 * 8 / 6 + 1 + HIDDEN.len();
            assert!(told.contains(HIDDEN) && told.len() <= most, "{before}: {told}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "hush", "é%zz%4\\u00zz\\", "Basic aHVzaA==", "100 %"] {
            assert_eq!(known().text(text), text);
        }
        // A secret this short may be part of anything.
        let short = Redacted::of(&Credentials::new("app", "seg"));
        assert_eq!(short.text("no segment of this app"), "no segment of this app");
        assert_eq!(short.text("not for app:seg or YXBwOnNlZw=="), "not for [hidden] or [hidden]");
        assert_eq!(Redacted::default().text("anything"), "anything");
    }

    fn whole(status: u16, text: &str) -> Whole {
        let body = serde_json::from_str(text).ok();
        let answer = Answer { body, location: Some(format!("/{SECRET}")), ..Answer::new(status, Value::Null) };
        let mut whole =
            Whole { answer, headers: vec![("x-got".to_owned(), SECRET.to_owned())], bytes: text.as_bytes().to_vec() };
        known().whole(&mut whole);
        whole
    }

    #[test]
    fn only_an_answer_that_says_no_is_touched() {
        let text = json!({"error": SECRET, "z": [{SECRET: 1.50}]}).to_string();
        let kept = whole(200, &text);
        assert_eq!((kept.bytes, kept.headers[0].1.as_str()), (text.clone().into_bytes(), SECRET));
        assert_eq!(kept.answer.location, Some(format!("/{SECRET}")));
        for status in [302, 400, 401, 404, 429, 500] {
            let told = whole(status, &text);
            let body = json!({"error": "[hidden]", "z": [{"[hidden]": 1.5}]});
            assert_eq!(serde_json::from_slice::<Value>(&told.bytes).unwrap(), body);
            assert_eq!(told.answer.body, Some(body));
            assert_eq!((told.headers[0].1.as_str(), told.answer.location.as_deref()), ("[hidden]", Some("/[hidden]")));
        }
        // Without a secret, not a byte changes.
        let plain = "{\"z\": 1.50,  \"a\": 1}";
        assert_eq!(whole(400, plain).bytes, plain.as_bytes());
        // A page for people.
        assert_eq!(whole(200, &format!("<p>{SECRET}</p>")).bytes, b"<p>[hidden]</p>");
    }

    #[test]
    fn the_bytes_tell_no_more_than_the_body() {
        let every: String = SECRET.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let told = whole(400, &format!("{{\"error\": \"{every}\"}}"));
        assert_eq!(told.bytes, b"{\"error\":\"[hidden]\"}");
        let mut number = Answer::new(400, json!({"error": 12_345_678}));
        Redacted::new([Secret::new("12345678")]).answer(&mut number);
        assert_eq!(number.body, Some(json!({"error": "[hidden]"})));
    }
}
