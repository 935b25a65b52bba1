//! The result of a case.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    pub name: String,
    /// Its position: `tests/sale.test.yaml:3`.
    pub place: CaseLine,
    /// The zone of its times.
    pub zone: TimeZone,
    /// The number of expectations that were checked.
    pub checks: usize,
    /// The expectations that failed. Empty: it passed.
    pub failures: Vec<Failed>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseLine {
    pub file: String,
    pub line: usize,
}

/// A failed expectation.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The line of the expectation.
    pub place: CaseLine,
    /// The time of the case's clock.
    pub at: Timestamp,
    pub what: Mismatch,
    /// The causes, in sentences.
    pub notes: Vec<String>,
    /// The conditions that decided the membership in an audience.
    pub why: Option<Why>,
}

/// The difference from the expectation.
#[derive(Clone, Debug)]
pub enum Mismatch {
    /// The device is in a segment and should not be, or the reverse.
    Member { segment: String, expected: bool },
    /// An expected message was not received.
    Missing { expected: ExpectedAlert },
    /// A message from the expected sender has other properties.
    Different { expected: ExpectedAlert, got: Got },
    /// An unexpected message was received.
    Unexpected { got: Got },
    /// A step cannot be executed.
    Impossible { why: String },
}

/// An expected message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedAlert {
    pub from: Option<String>,
    pub at: Option<Timestamp>,
    /// The allowed texts: quoted, or `something with "..."`.
    pub alert: Option<String>,
    pub title: Option<String>,
    pub message: Option<String>,
}

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// The address of its sender.
    pub from: String,
    pub at: Timestamp,
    pub alert: Option<String>,
    /// The title of the notification on the device.
    pub title: Option<String>,
    /// The title of its Message Center message.
    pub message: Option<String>,
}

/// A condition, and whether the device meets it.
#[derive(Clone, Debug)]
pub struct Why {
    /// The condition: `country = US`.
    pub condition: String,
    pub holds: bool,
    /// The value that the device has instead, or that meets the condition.
    pub because: Option<String>,
    /// The position of the condition's declaration.
    pub place: Option<CaseLine>,
    /// Whether the result would differ if this condition, alone or together with similar ones, had the other result.
    pub decided: bool,
    pub conditions: Vec<Why>,
}

impl Why {
    /// Marks the single conditions that decided: those with the same result as the whole, down to conditions without
    /// parts. For a negated condition, this is the inner one.
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
