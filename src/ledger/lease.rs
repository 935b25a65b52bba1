//! Who is at work, and for how long others believe it.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the clocks of two machines may be apart.
const APART: SignedDuration = SignedDuration::from_secs(30);

/// What a run tells of itself when it begins. It holds for so many seconds after the newest record of the run: whoever goes on
/// extends it, and whoever died loses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    pub holder: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Where the job is shown that it runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Tells one clock from another, where that is known: all that say the same go by the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    pub seconds: i64,
}

impl Lease {
    /// Two minutes for somebody of whom no more is known.
    pub fn of(holder: impl Into<String>) -> Self {
        Self { holder: holder.into(), host: None, job: None, clock: None, seconds: 120 }
    }

    pub fn length(&self) -> SignedDuration {
        SignedDuration::from_secs(self.seconds)
    }
}

/// A run that has begun and has not ended. Its id is the id of its lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Running {
    pub run: String,
    pub actor: String,
    #[schemars(with = "String")]
    pub since: Timestamp,
    /// A run of an early version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// When its lease is over if nothing more is heard of it, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub expires: Option<Timestamp>,
}

impl Running {
    pub fn new(run: &str, actor: &str, lease: Option<Lease>, since: Timestamp) -> Self {
        let mut running = Self { run: run.to_owned(), actor: actor.to_owned(), since, lease, expires: None };
        running.heard(since);
        running
    }

    /// It has written something. What is older than what was heard before takes nothing away.
    pub fn heard(&mut self, at: Timestamp) {
        let end = |lease: &Lease| at.checked_add(lease.length()).unwrap_or(Timestamp::MAX);
        self.expires = self.expires.max(self.lease.as_ref().map(end));
    }

    /// Until when somebody else leaves it alone, who goes by this clock. Clocks that may differ get some time more.
    pub fn holds_until(&self, clock: Option<&str>) -> Option<Timestamp> {
        let own = self.lease.as_ref().and_then(|lease| lease.clock.as_deref());
        let same = own.is_some() && own == clock;
        let more = if same { SignedDuration::ZERO } else { APART };
        self.expires.map(|expires| expires.checked_add(more).unwrap_or(Timestamp::MAX))
    }

    /// Whether somebody else has to leave it alone.
    pub fn is_held(&self, now: Timestamp, clock: Option<&str>) -> bool {
        self.holds_until(clock).is_some_and(|until| now <= until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Begin, Ended, Entry, Ledger, Record};
    use super::*;
    use crate::digest::Digest;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(seconds)).expect("a time")
    }

    fn begin(lease: Option<Lease>) -> Record {
        let (plan, changes) = (Digest::of(b""), Default::default());
        Record::Begin(Begin { run: "r".into(), plan, app: String::new(), tool: "0".into(), changes, lease, home: None })
    }

    fn after(records: Vec<(i64, &str, Record)>) -> Option<Running> {
        let entry = |(place, (seconds, actor, record)): (usize, (i64, &str, Record))| Entry {
            seq: place as u64 + 1,
            at: at(seconds),
            actor: actor.into(),
            record,
        };
        Ledger::replay(records.into_iter().enumerate().map(entry)).run
    }

    #[test]
    fn every_record_of_a_run_extends_its_lease() {
        let begun = (0, "ada", begin(Some(Lease::of("ada"))));
        let held = after(vec![begun.clone(), (50, "ada", Record::Alive { run: "r".into() })]).expect("a run");
        assert_eq!((held.since, held.expires), (at(0), Some(at(170))));
        let others = after(vec![begun.clone(), (50, "grace", Record::Forget(Vec::new()))]).expect("a run");
        assert_eq!(others.expires, Some(at(120)), "somebody else's extends nothing");
        let end = Record::End { run: "r".into(), ended: Ended::Interrupted };
        assert_eq!(after(vec![begun, (60, "grace", end)]), None);
    }

    #[test]
    fn clocks_that_may_differ_get_more_time() {
        let lease = Lease { clock: Some("here".into()), ..Lease::of("ada") };
        let held = after(vec![(0, "ada", begin(Some(lease)))]).expect("a run");
        assert!(held.is_held(at(120), Some("here")) && !held.is_held(at(121), Some("here")));
        for other in [Some("there"), None] {
            assert!(held.is_held(at(150), other) && !held.is_held(at(151), other));
        }
    }

    #[test]
    fn a_run_of_an_early_version_holds_nothing() {
        let old = r#"{"begin":{"run":"r","plan":"PLAN","tool":"0","changes":{}}}"#;
        let text = old.replace("PLAN", &Digest::of(b"").to_string());
        let record: Record = serde_json::from_str(&text).expect("a record without a lease");
        let run = after(vec![(0, "ada", record)]).expect("a run");
        assert!(!run.is_held(at(1), None));
        assert_eq!(run.expires, None);
    }
}
