//! Findings: one type for problems of every layer.

use crate::address::Address;
use crate::codes::{Code, Severity};
use crate::source::{Sources, Span};

/// A problem: what, where, why, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: &'static Code,
    pub severity: Severity,
    /// The problem, in the user's words.
    pub message: String,
    /// The position of the exact value.
    pub at: Span,
    /// A few words under the caret.
    pub label: String,
    /// Related places.
    pub related: Vec<(Span, String)>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// The resource, if the finding is about one.
    pub address: Option<Address>,
    /// The part of `at` that the finding is about, for code that does not have the text.
    pub part: Option<Part>,
}

/// A part of a written value: these words, at the `nth` place, from 0, of the sign that they begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub words: String,
    /// The length of the sign in bytes.
    sign: usize,
    pub nth: usize,
}

/// An edit of the text that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub at: Span,
    pub text: String,
    /// A safe fix cannot change the meaning: `validate --fix` applies it without asking.
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

    /// Makes it a warning, even if its code is an error.
    pub fn mild(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Whether `validate --fix` fixes it.
    pub fn is_fixable(&self) -> bool {
        self.fix.as_ref().is_some_and(|fix| fix.safe)
    }

    /// Adds an edit that cannot change the meaning.
    pub fn fix(mut self, at: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { at, text: text.into(), safe: true });
        self
    }

    /// Adds an edit that is probably right, for a person to accept.
    pub fn suggest(mut self, at: Span, text: impl Into<String>) -> Self {
        self = self.fix(at, text);
        self.fix.as_mut().expect("just set").safe = false;
        self
    }

    /// Limits the finding to the `nth` place, from 0, of `words` in the value. A fix of the whole value becomes a fix
    /// of that place.
    pub fn within(mut self, words: impl Into<String>, nth: usize) -> Self {
        let words = words.into();
        self.part = Some(Part { sign: words.len(), words, nth });
        self
    }

    /// Limits the finding to `words` at the `nth` place of `sign` in the value, from 0. `words` starts with `sign`, and
    /// so may other words in the value. Places at which the sign overlaps itself count as well.
    pub fn within_signs(mut self, sign: &str, words: impl Into<String>, nth: usize) -> Self {
        self.part = Some(Part { sign: sign.len(), words: words.into(), nth });
        self
    }

    /// Moves the finding to its part, if the value contains exactly those words. Quotes, escapes and variables can make
    /// the written form differ from the text; the position then stays, and a fix of the part is dropped.
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

/// Finds signs in written values. A text can have very many findings, and it is searched once for all of them.
#[derive(Debug)]
pub struct Signs<'s> {
    sources: &'s Sources,
    /// The value and the sign of the last search.
    last: Option<(Span, String)>,
    places: Vec<usize>,
}

impl<'s> Signs<'s> {
    pub fn new(sources: &'s Sources) -> Self {
        Self { sources, last: None, places: Vec::new() }
    }

    /// Returns the positions of a sign in a value, in bytes.
    fn places(&mut self, at: Span, sign: &str) -> &[usize] {
        if self.last.as_ref().is_none_or(|(last, same)| *last != at || same != sign) {
            self.places = places(self.sources.text(at), sign).collect();
            self.last = Some((at, sign.to_owned()));
        }
        &self.places
    }
}

/// Returns the positions of a sign in a text, in bytes, including overlapping ones.
pub fn places(text: &str, sign: &str) -> impl Iterator<Item = usize> {
    let step = sign.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(sign)?;
        from = at + step;
        Some(at)
    })
}

/// Findings that are being collected, with the resource that they are about.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    about: Option<Address>,
}

impl Findings {
    /// Returns findings about one resource: each one that is added gets its address.
    pub fn about(address: &Address) -> Self {
        Self { list: Vec::new(), about: Some(address.clone()) }
    }

    pub fn push(&mut self, mut finding: Finding) {
        if finding.address.is_none() {
            finding.address.clone_from(&self.about);
        }
        self.list.push(finding);
    }

    /// Adds several findings.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the findings after this number of others.
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
