//! The selection of resources on the service.

use std::collections::BTreeSet;

use pushplan_io::failure::Failure;
use pushplan_model::kinds::{self, KINDS, Kind};
use pushplan_model::nouns::level::Level;
use pushplan_model::text;

/// The requested resources.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Empty: every kind that the service lists.
    patterns: Vec<Pattern>,
    /// Whether to include resources of single people.
    people: bool,
}

#[derive(Clone, Debug)]
struct Pattern {
    kind: &'static Kind,
    /// A key with `*` for any characters, a name or an id; `None`: all of the kind.
    which: Option<String>,
}

/// The names of a resource.
#[derive(Clone, Copy, Debug)]
pub struct Called<'c> {
    pub kind: &'c str,
    /// Its key in git, which may be a proposed one.
    pub key: Option<&'c str>,
    pub name: &'c str,
    pub id: &'c str,
}

impl Choice {
    /// Parses the arguments of a command line: kinds and addresses.
    pub fn of(words: &[String], people: bool) -> Result<Self, Failure> {
        let pattern = |word: &String| {
            let (kind, which) = match word.split_once('/') {
                Some((kind, which)) if !which.is_empty() => (kind, Some(which.to_owned())),
                Some((kind, _)) => (kind, None),
                None => (word.as_str(), None),
            };
            let kind = kinds::kind(kind).ok_or_else(|| unknown(kind))?;
            Ok(Pattern { kind, which })
        };
        let patterns = words.iter().map(pattern).collect::<Result<_, Failure>>()?;
        Ok(Self { patterns, people })
    }

    /// The kinds that are read.
    pub fn kinds(&self) -> BTreeSet<&'static str> {
        let is_asked = |kind: &&Kind| match self.patterns.is_empty() {
            true => self.people || !is_of_people(kind),
            false => self.patterns.iter().any(|pattern| pattern.kind.key == kind.key),
        };
        KINDS.iter().filter(is_asked).map(|kind| kind.key).collect()
    }

    /// The kinds that are read completely: also resources of single people, if they are requested by name.
    pub fn contents(&self) -> BTreeSet<&'static str> {
        let counts = self.people || !self.patterns.is_empty();
        let is_read = |kind: &&Kind| counts || kind.api.census().is_empty();
        let asked = self.kinds();
        KINDS.iter().filter(is_read).map(|kind| kind.key).filter(|key| asked.contains(key)).collect()
    }

    pub fn takes(&self, called: Called) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.takes(called))
    }

    /// Whether it was requested by its exact name, not by a pattern.
    pub fn names(&self, called: Called) -> bool {
        let is_one = |pattern: &&Pattern| pattern.which.as_ref().is_some_and(|which| !which.contains('*'));
        self.patterns.iter().filter(is_one).any(|pattern| pattern.takes(called))
    }

    /// Whether it was requested by more than its kind.
    pub(crate) fn singles_out(&self, called: Called) -> bool {
        self.patterns.iter().filter(|pattern| pattern.which.is_some()).any(|pattern| pattern.takes(called))
    }

    /// The first argument that matches no resource.
    pub fn idle<'c>(&self, all: &[Called<'c>]) -> Option<String> {
        let is_idle = |pattern: &&Pattern| pattern.which.is_some() && !all.iter().any(|called| pattern.takes(*called));
        let Pattern { kind, which } = self.patterns.iter().find(is_idle)?;
        Some(format!("{}/{}", kind.key, which.as_deref().unwrap_or_default()))
    }
}

impl Pattern {
    fn takes(&self, called: Called) -> bool {
        let Called { kind, key, name, id } = called;
        let Some(which) = &self.which else { return self.kind.key == kind };
        let key = key.is_some_and(|key| text::is_like(which, key));
        self.kind.key == kind && (key || which == name || which == id)
    }
}

/// Whether a kind has resources of single people, which are listed only on request.
fn is_of_people(kind: &Kind) -> bool {
    !kind.api.census().is_empty() && kind.api.list(Level::Extended).is_empty()
}

fn unknown(kind: &str) -> Failure {
    let failure = Failure::usage(format!("no kind has the name `{}`", text::short(kind, 40)));
    match text::nearest(kind, KINDS.iter().map(|kind| kind.key)) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
            failure.help(format!("expected {}, or an address such as segments/lapsed-buyers", text::any_of(&known)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str], people: bool) -> Choice {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Choice::of(&words, people).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn people_are_looked_at_only_when_they_are_asked_for() {
        let usual = of(&[], false);
        assert!(usual.kinds().contains("tags") && !usual.kinds().contains("named_users"));
        assert!(usual.contents().contains("segments") && !usual.contents().contains("tags"));
        assert!(of(&[], true).contents().len() == KINDS.len());
        assert_eq!(of(&["named_users"], false).contents(), BTreeSet::from(["named_users"]));
    }

    #[test]
    fn a_thing_is_meant_by_its_key_its_name_or_its_id() {
        let called = Called { kind: "segments", key: Some("lapsed-buyers"), name: "Lapsed buyers", id: "6f1c" };
        for word in ["segments", "segments/", "segments/lapsed-*", "segments/Lapsed buyers", "segments/6f1c"] {
            assert!(of(&[word], false).takes(called), "{word}");
        }
        for word in ["templates", "segments/lapsed", "templates/lapsed-buyers"] {
            assert!(!of(&[word], false).takes(called), "{word}");
        }
        assert!(of(&["segments/6f1c"], false).names(called) && !of(&["segments/lapsed-*"], false).names(called));
        assert_eq!(of(&["segments/x"], false).idle(&[called]).as_deref(), Some("segments/x"));
    }
}
