//! What is found wrong: one type for every layer that can find something.

use crate::address::Address;
use crate::codes::{Code, Severity};
use crate::source::{Sources, Span};

/// One thing that is wrong: what, where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: &'static Code,
    pub severity: Severity,
    /// What is wrong, in the user's words.
    pub message: String,
    /// Where, to the exact value.
    pub at: Span,
    /// A few words under the caret.
    pub label: String,
    /// Related places.
    pub related: Vec<(Span, String)>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// The suggestion.
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// The resource it is about, where there is one.
    pub address: Option<Address>,
    /// The part of `at` that is meant, where whoever found it does not have the text.
    pub part: Option<Part>,
}

/// A part of a written value: these words, where a sign that they begin with is in it for the `nth` time, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub words: String,
    /// How many bytes of the words are the sign.
    sign: usize,
    pub nth: usize,
}

/// An edit of the text that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub at: Span,
    pub text: String,
    /// A safe fix cannot change what the author meant: `validate --fix` applies it unasked.
    pub safe: bool,
}

impl Finding {
    pub fn new(code: &'static Code, at: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            message: message.into(),
            at,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            address: None,
            part: None,
        }
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub fn related(mut self, at: Span, label: impl Into<String>) -> Self {
        self.related.push((at, label.into()));
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A warning, also where its code is an error.
    pub fn mild(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Whether `validate --fix` removes it.
    pub fn is_fixable(&self) -> bool {
        self.fix.as_ref().is_some_and(|fix| fix.safe)
    }

    /// An edit that cannot change what the author meant.
    pub fn fix(mut self, at: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { at, text: text.into(), safe: true });
        self
    }

    /// An edit that is probably meant, for a person to accept.
    pub fn suggest(mut self, at: Span, text: impl Into<String>) -> Self {
        self = self.fix(at, text);
        self.fix.as_mut().expect("just set").safe = false;
        self
    }

    /// Only the `nth` time, from 0, that `words` are in the value is meant. A fix of the whole value becomes one of
    /// them.
    pub fn within(mut self, words: impl Into<String>, nth: usize) -> Self {
        let words = words.into();
        self.part = Some(Part { sign: words.len(), words, nth });
        self
    }

    /// Limits the finding to `words` at the `nth` place of `sign` in the value, from 0. `words` starts with `sign`, and so may
    /// other words in the value. Places at which the sign overlaps itself count too.
    pub fn within_signs(mut self, sign: &str, words: impl Into<String>, nth: usize) -> Self {
        self.part = Some(Part { sign: sign.len(), words: words.into(), nth });
        self
    }

    /// Moves the finding to the part that is meant, if the value is written with just those words. Quotes, escapes and
    /// variables can stand between a text and how it is written: then the place stays, and a fix that is meant for the part is
    /// no longer one.
    pub fn narrow(&mut self, signs: &mut Signs) {
        let Some(Part { words, sign, nth }) = self.part.take() else { return };
        let whole = self.at;
        let begin = signs.places(whole, &words[..sign]).get(nth).copied();
        match begin.filter(|from| signs.sources.text(whole)[*from..].starts_with(&words)) {
            Some(from) => {
                self.at = whole.slice(from..from + words.len());
                if let Some(fix) = self.fix.as_mut().filter(|fix| fix.at == whole) {
                    fix.at = self.at;
                }
            }
            None => self.fix = self.fix.take().filter(|fix| fix.at != whole),
        }
    }
}

/// Where signs are in written values. A text can have very many findings: it is looked through once for all of them.
#[derive(Debug)]
pub struct Signs<'s> {
    sources: &'s Sources,
    /// The value and the sign that were asked for last.
    last: Option<(Span, String)>,
    places: Vec<usize>,
}

impl<'s> Signs<'s> {
    pub fn new(sources: &'s Sources) -> Self {
        Self { sources, last: None, places: Vec::new() }
    }

    /// Where a sign is in a value, in bytes.
    fn places(&mut self, at: Span, sign: &str) -> &[usize] {
        if self.last.as_ref().is_none_or(|(last, same)| *last != at || same != sign) {
            self.places = places(self.sources.text(at), sign).collect();
            self.last = Some((at, sign.to_owned()));
        }
        &self.places
    }
}

/// Where a sign is in a text, in bytes, also where it overlaps itself.
pub fn places(text: &str, sign: &str) -> impl Iterator<Item = usize> {
    let step = sign.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(sign)?;
        from = at + step;
        Some(at)
    })
}

/// Findings as they gather, with the resource they are about.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    about: Option<Address>,
}

impl Findings {
    /// Findings about one resource: each that is pushed is marked with its address.
    pub fn about(address: &Address) -> Self {
        Self { list: Vec::new(), about: Some(address.clone()) }
    }

    pub fn push(&mut self, mut finding: Finding) {
        if finding.address.is_none() {
            finding.address.clone_from(&self.about);
        }
        self.list.push(finding);
    }

    /// Pushes each of several.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Those that came after so many others.
    pub fn since(&self, before: usize) -> &[Finding] {
        &self.list[before..]
    }

    pub fn last(&self) -> Option<&Finding> {
        self.list.last()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn into_vec(self) -> Vec<Finding> {
        self.list
    }
}
