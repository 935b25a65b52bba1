//! Messages that are newly sent in quiet hours.

use std::borrow::Cow;

use pushplan_project::timing::words::{self, QuietClock};
use pushplan_project::timing::{Times, has_passed};

use crate::plan::Change;
use crate::review::{Review, Side};

impl Review<'_> {
    /// The local times of a message that are newly in quiet hours.
    pub(super) fn newly_quiet(
        &self,
        change: &Change,
        (was, is): (Option<usize>, Option<usize>),
        several: bool,
        is_loosened: bool,
    ) -> Vec<String> {
        if self.plan.told.quiet.is_none() || is.is_none() {
            return Vec::new();
        }
        // A message to all countries is always sent at night somewhere.
        let anywhere = was.is_some();
        let quiet = |side: Side, at: Option<usize>| -> Vec<QuietClock> {
            // A country that is no longer excluded is news.
            let times = match is_loosened {
                true => Cow::Owned(self.times_by_exclusions(change, side)),
                false => self.times(change, side),
            };
            let is_own = |times: &&Times| at.is_some_and(|at| !several || times.variant == Some(at + 1));
            let own = times.iter().filter(is_own).filter(|times| !has_passed(times.when, self.plan.made));
            own.flat_map(|times| words::quiet_clocks(times, anywhere)).collect()
        };
        // If one of several times was in quiet hours before, one of them is not news.
        let mut before: Vec<String> = quiet(Side::Before, was).into_iter().map(|clock| clock.place).collect();
        let mut found = quiet(Side::After, is);
        found.retain(|clock| match before.iter().position(|place| *place == clock.place) {
            Some(known) => {
                before.swap_remove(known);
                false
            }
            None => true,
        });
        found.into_iter().map(|clock| clock.words).collect()
    }
}
