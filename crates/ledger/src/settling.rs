//! The time when requests of earlier runs have taken effect or never will.

use jiff::{SignedDuration, Timestamp};

use super::state::{Ledger, Unconfirmed};

/// How far two machines' clocks may be apart. A time that another machine wrote down is believed only if it is older than this.
pub const CLOCKS_APART: SignedDuration = SignedDuration::from_mins(30);

/// The knowledge of one process about the requests of earlier runs.
#[derive(Clone, Copy, Debug)]
pub struct Settling<'s> {
    /// How long the service may take until every answer shows a change.
    pub settle: SignedDuration,
    /// When the process first read the ledger in its current state, by its own clock.
    pub read_at: Timestamp,
    /// Identifies the process's clock.
    pub clock: Option<&'s str>,
    /// The run that has not ended sends nothing more: its process has ended, or its lease was observed.
    pub is_over: bool,
    /// Times of other machines are not compared with the own clock. The simulation turns this off to prove that it
    /// would notice.
    pub by_own_clock: bool,
}

impl Settling<'_> {
    /// Returns when something that was written at a time has settled, if the process has to wait for that. It was
    /// written before the process read it, so a settle time after reading is enough, whatever other clocks show.
    pub fn after(&self, written: Timestamp) -> Option<Timestamp> {
        self.after_lasting(written, SignedDuration::ZERO)
    }

    /// Returns when something has settled that continued for up to some time after it was written.
    fn after_lasting(&self, written: Timestamp, lasting: SignedDuration) -> Option<Timestamp> {
        let length = lasting.saturating_add(self.settle);
        let by_wall = later(written, length);
        if !self.by_own_clock {
            return Some(by_wall);
        }
        (later(by_wall, CLOCKS_APART) > self.read_at).then(|| later(self.read_at, length))
    }

    /// Returns when the request of an intent has settled.
    fn of_intent(&self, open: &Unconfirmed) -> Option<Timestamp> {
        let deadline = open.intent.deadline;
        if open.clock.is_some() && open.clock.as_deref() == self.clock {
            return Some(later(deadline, self.settle));
        }
        if self.is_over && self.by_own_clock {
            return self.after(deadline);
        }
        self.after_lasting(open.at, deadline.duration_since(open.at))
    }
}

impl Ledger {
    /// Returns when every lost request has taken effect or never will, by the clock of this process. `None` if no
    /// request was lost, or if that was long ago. Requests whose records are missing may have been sent until a person
    /// accepted the gap.
    pub fn settled_at(&self, settling: &Settling) -> Option<Timestamp> {
        let intents = self.open.values().filter_map(|open| settling.of_intent(open));
        let gap = self.gap.as_ref().filter(|gap| !gap.is_closed).map(|gap| gap.at);
        intents.chain(self.unsettled.into_iter().chain(gap).filter_map(|lost| settling.after(lost))).max()
    }
}

fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use pushplan_model::address::Address;

    use super::super::{Intent, Verb};
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(seconds)).expect("a time")
    }

    /// A creation whose intent is from 1000 s and whose request may be sent for a minute.
    fn lost(clock: Option<&str>) -> Ledger {
        let intent = Intent {
            address: Address::new("segments", "a"),
            verb: Verb::Create,
            id: None,
            spec: None,
            refs: Default::default(),
            seen: Default::default(),
            deadline: at(1060),
            protect: false,
            zone: None,
        };
        let open = Unconfirmed { clock: clock.map(str::to_owned), ..Unconfirmed::new(intent.clone(), at(1000)) };
        Ledger { open: [(intent.address, open)].into(), ..Ledger::default() }
    }

    fn read_at(seconds: i64) -> Settling<'static> {
        Settling {
            settle: SignedDuration::from_secs(10),
            read_at: at(seconds),
            clock: Some("here"),
            is_over: false,
            by_own_clock: true,
        }
    }

    #[test]
    fn what_another_machine_sent_is_waited_for_from_when_it_was_read() {
        for clock in [None, Some("there")] {
            let lost = lost(clock);
            // Its clock may be ahead or behind by minutes: 900 s here may be 1000 s there, and so may 2800 s.
            for seconds in [900, 1000, 2800] {
                assert_eq!(lost.settled_at(&read_at(seconds)), Some(at(seconds + 70)));
            }
            assert_eq!(lost.settled_at(&read_at(2870)), None, "no two clocks are that far apart");
            let over = Settling { is_over: true, ..read_at(1000) };
            assert_eq!(lost.settled_at(&over), Some(at(1010)), "nothing more leaves");
            let by_wall = Settling { by_own_clock: false, ..read_at(2800) };
            assert_eq!(lost.settled_at(&by_wall), Some(at(1070)));
        }
    }

    #[test]
    fn what_this_machine_sent_is_waited_for_by_its_clock() {
        for seconds in [1000, 1065, 5000] {
            assert_eq!(lost(Some("here")).settled_at(&read_at(seconds)), Some(at(1070)));
        }
    }

    #[test]
    fn a_lost_answer_takes_a_settle_time() {
        let lost = Ledger { unsettled: Some(at(1000)), ..Ledger::default() };
        assert_eq!(lost.settled_at(&read_at(1009)), Some(at(1019)));
        assert_eq!(lost.settled_at(&read_at(2810)), None);
        assert_eq!(Ledger::default().settled_at(&read_at(0)), None);
    }
}
