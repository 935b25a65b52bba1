//! Leases: which run is in progress, and for how long others have to assume so.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the clocks of two machines may differ.
const APART: SignedDuration = SignedDuration::from_secs(30);

/// The lease of a run. It is valid for `seconds` after the newest record of the run: a run that continues extends it,
/// and a run that has died loses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    pub holder: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The URL of the CI job that the run is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Identifies the machine's clock, if known: runs with the same value use the same clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    pub seconds: i64,
}

impl Lease {
    /// Returns a lease of two minutes, for a run without further details.
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
    /// When its lease ends unless it is renewed, by its own clock.
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

    /// Notes the time of a record that the run wrote. An earlier time than the last one does not shorten the lease.
    pub fn heard(&mut self, at: Timestamp) {
        let end = |lease: &Lease| at.checked_add(lease.length()).unwrap_or(Timestamp::MAX);
        self.expires = self.expires.max(self.lease.as_ref().map(end));
    }

    /// Returns until when the run appears to be in progress, for an observer with this clock. Clocks that may differ
    /// get some more time. Wall clocks can be wrong by any amount, so this is for showing a run and for deciding
    /// whether waiting is worthwhile, never for taking over: see [`Self::is_over`].
    pub(crate) fn holds_until(&self, clock: Option<&str>) -> Option<Timestamp> {
        let own = self.lease.as_ref().and_then(|lease| lease.clock.as_deref());
        let same = own.is_some() && own == clock;
        let more = if same { SignedDuration::ZERO } else { APART };
        self.expires.map(|expires| expires.checked_add(more).unwrap_or(Timestamp::MAX))
    }

    /// Whether the run appears to be in progress, by wall clocks.
    pub fn is_held(&self, now: Timestamp, clock: Option<&str>) -> bool {
        self.holds_until(clock).is_some_and(|until| now <= until)
    }

    /// Whether another run may begin. The holder sends nothing once its newest record is as old as its lease. So if an
    /// observer has seen no new record for that long by its own clock, nothing more is sent, whatever wall clocks show.
    pub fn is_over(&self, evidence: &Evidence) -> bool {
        let Some(lease) = &self.lease else { return true };
        if !evidence.observe {
            return !self.is_held(evidence.wall, evidence.clock);
        }
        evidence.is_gone || evidence.observed >= Duration::try_from(lease.length()).unwrap_or_default()
    }

    /// Returns how much longer the lease has to be observed.
    pub fn left_to_observe(&self, observed: Duration) -> Duration {
        let length = self.lease.as_ref().map(Lease::length).unwrap_or_default();
        Duration::try_from(length).unwrap_or_default().saturating_sub(observed)
    }
}

/// The knowledge of one process about another process's run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'e> {
    /// How long the process has seen no new record, by its own monotonic clock.
    pub observed: Duration,
    /// The run's process has certainly ended.
    pub is_gone: bool,
    pub wall: Timestamp,
    /// Identifies the clock that `wall` was read from.
    pub clock: Option<&'e str>,
    /// Whether a lease has to be observed. If not, wall clocks decide; the simulation shows what happens then.
    pub observe: bool,
}

#[cfg(test)]
mod tests {
    use pushplan_model::digest::Digest;

    use super::super::{Begin, Ended, Entry, Ledger, Observed, Record, Watch};
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(seconds)).expect("a time")
    }

    fn begin(lease: Option<Lease>) -> Record {
        let (plan, changes) = (Digest::of(b""), Default::default());
        Record::Begin(Begin {
            run: "r".into(),
            plan,
            app: String::new(),
            tool: "0".into(),
            changes,
            lease,
            home: None,
            checkout: None,
            safeguards: None,
            reverts: None,
        })
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
    fn a_lease_is_over_once_its_length_was_observed_and_not_because_clocks_differ() {
        let held = after(vec![(0, "ada", begin(Some(Lease::of("ada"))))]).expect("a run");
        let seconds = Duration::from_secs;
        let evidence =
            |observed, wall| Evidence { observed, is_gone: false, wall: at(wall), clock: None, observe: true };
        assert!(!held.is_over(&evidence(seconds(0), 100_000)), "a clock that is a day ahead proves nothing");
        assert!(!held.is_over(&evidence(seconds(119), 100_000)));
        assert!(held.is_over(&evidence(seconds(120), -100_000)), "and neither does one that is a day behind");
        assert!(held.is_over(&Evidence { is_gone: true, ..evidence(seconds(0), 0) }), "a dead process sends nothing");
        assert!(held.is_over(&Evidence { observe: false, ..evidence(seconds(0), 200) }), "without the protection");
        assert_eq!(held.left_to_observe(seconds(50)), seconds(70));
    }

    #[test]
    fn a_new_record_begins_the_observation_again() {
        let seconds = Duration::from_secs;
        let entry = |seq, seconds, record| Entry { seq, at: at(seconds), actor: "ada".into(), record };
        let mut ledger = Ledger::replay([entry(1, 0, begin(Some(Lease::of("ada"))))]);
        let mut watch = Watch::default();
        let seen = |unchanged, goes_on| Observed { unchanged: seconds(unchanged), goes_on };
        // Reading took from 10 to 12: the record may have been written at 12, and a newer one right after 30.
        assert_eq!(watch.saw(&ledger, seconds(10), seconds(12)), seen(0, false));
        assert_eq!(watch.saw(&ledger, seconds(30), seconds(33)), seen(18, false));
        ledger.add(&entry(2, 1, Record::Alive { run: "r".into() }));
        assert_eq!(watch.saw(&ledger, seconds(40), seconds(41)), seen(0, true));
        assert_eq!(watch.saw(&ledger, seconds(50), seconds(51)), seen(9, true));
        ledger.add(&entry(3, 2, Record::End { run: "r".into(), ended: Ended::Interrupted }));
        assert_eq!(watch.saw(&ledger, seconds(60), seconds(61)), seen(0, false));
        let Record::Begin(other) = begin(Some(Lease::of("eve"))) else { unreachable!("it begins") };
        ledger.add(&entry(4, 3, Record::Begin(Begin { run: "s".into(), ..other })));
        assert_eq!(watch.saw(&ledger, seconds(70), seconds(71)), seen(0, false), "another run is not known yet");
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
