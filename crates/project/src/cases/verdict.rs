//! What became of a case.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub name: String,
    /// Where it stands: `tests/sale.test.yaml:3`.
    pub place: CaseLine,
    /// The zone of its times.
    pub zone: TimeZone,
    /// How many expectations were looked at.
    pub checks: usize,
    /// What was otherwise than expected. None: it passed.
    pub failures: Vec<Failed>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseLine {
    pub file: String,
    pub line: usize,
}

/// One expectation that was not met.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The line of the expectation.
    pub place: CaseLine,
    /// What the clock of the case showed.
    pub at: Timestamp,
    pub what: Mismatch,
    /// What it comes from, in sentences.
    pub notes: Vec<String>,
    /// The conditions that decided, where someone is in an audience or not.
    pub why: Option<Why>,
}

/// How it was otherwise than expected.
#[derive(Clone, Debug)]
pub enum Mismatch {
    /// The device is in a segment or not, and should not be or should.
    Member { segment: String, expected: bool },
    /// A message was expected and did not come.
    Missing { expected: ExpectedAlert },
    /// One came from where it should, and is otherwise.
    Different { expected: ExpectedAlert, got: Got },
    /// One came and was not expected.
    Unexpected { got: Got },
    /// A step cannot be carried out.
    Impossible { why: String },
}

/// A message as it was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedAlert {
    pub from: Option<String>,
    pub at: Option<Timestamp>,
    /// The texts that it may have: quoted, or `something with "..."`.
    pub alert: Option<String>,
    pub message: Option<String>,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The address of what sent it.
    pub from: String,
    pub at: Timestamp,
    pub alert: Option<String>,
    /// The title of its Message Center message.
    pub message: Option<String>,
}

/// A condition, and how the device stands to it.
#[derive(Clone, Debug)]
pub struct Why {
    /// What is asked: `country = US`.
    pub condition: String,
    pub holds: bool,
    /// What the device has instead, or by what it has it.
    pub because: Option<String>,
    /// Where the condition is declared.
    pub place: Option<CaseLine>,
    /// Whether the whole would be otherwise if this alone, or this with others like it, were.
    pub decided: bool,
    pub conditions: Vec<Why>,
}

impl Why {
    /// Marks the single conditions that decided: those that are as the whole is, down to where nothing is left to take
    /// apart. For a condition that is turned around, that is the one within it.
    pub fn decide(&mut self) {
        if self.conditions.is_empty() {
            self.decided = true;
            return;
        }
        let same = self.conditions.iter().any(|inner| inner.holds == self.holds);
        for inner in &mut self.conditions {
            if !same || inner.holds == self.holds {
                inner.decide();
            }
        }
    }

    /// The conditions that decided.
    pub fn deciding(&self) -> Vec<&Why> {
        let own = self.decided.then_some(self);
        own.into_iter().chain(self.conditions.iter().flat_map(Why::deciding)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(condition: &str, holds: bool, conditions: Vec<Why>) -> Why {
        Why { condition: condition.to_owned(), holds, because: None, place: None, decided: false, conditions }
    }

    fn decided(mut whole: Why) -> Vec<String> {
        whole.decide();
        whole.deciding().iter().map(|why| why.condition.clone()).collect()
    }

    #[test]
    fn what_decides_is_what_is_as_the_whole_is() {
        let (yes, no) = (|name| why(name, true, vec![]), |name| why(name, false, vec![]));
        assert_eq!(decided(why("all", false, vec![yes("a"), no("b"), no("c")])), ["b", "c"]);
        assert_eq!(decided(why("all", true, vec![yes("a"), yes("b")])), ["a", "b"]);
        assert_eq!(decided(why("any", true, vec![yes("a"), no("b")])), ["a"]);
        assert_eq!(decided(why("any", false, vec![no("a"), no("b")])), ["a", "b"]);
        assert_eq!(decided(why("none", false, vec![yes("a")])), ["a"]);
        let inner = why("none", false, vec![why("any", true, vec![no("x"), yes("y")])]);
        assert_eq!(decided(why("all", false, vec![yes("a"), inner])), ["y"]);
    }
}
