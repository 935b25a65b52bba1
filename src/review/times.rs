//! When the messages of a plan go out, and which of them are too near to each other.

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::{Review, Side, after, resource};
use crate::address::Address;
use crate::kinds::{self, Parts, Spec};
use crate::model::audience::SegmentRef;
use crate::node::At;
use crate::plan::{Action, Change};
use crate::source::Span;
use crate::timing::{self, Collisions, Country, Times, Upcoming, has_passed, places};

impl Review<'_> {
    /// The times at which a change's messages go out, as they were or as they will be.
    pub fn times(&self, change: &Change, side: Side) -> Vec<Times> {
        let Some(spec) = resource(change, side) else { return Vec::new() };
        let told = &self.plan.told;
        let zone = told.of.get(&change.address).and_then(|aside| TimeZone::get(aside.zone.as_deref()?).ok());
        let zone = zone.unwrap_or(TimeZone::UTC);
        let key = key(&change.address);
        let mut parts = Parts::new(&key);
        spec.parts(&mut parts);
        let times = parts.sendings.iter().map(|sending| {
            let audience =
                places(sending.audience, |reference: &SegmentRef| self.segment(side, reference), Country::All);
            let label = sending.variant.map(|number| format!("variant {number}"));
            Times::new(sending.schedule.when, &zone, &audience, told.quiet).labelled(label)
        });
        times.collect()
    }

    /// The messages of the plan that one person would get shortly after each other, also among those that stay as they are.
    pub fn collisions(&self) -> Collisions {
        let plan = self.plan;
        let apart = plan.told.apart_seconds.map_or(timing::APART, SignedDuration::from_secs);
        // Most resources send nothing at a time, which their kind tells without reading them.
        let sends = |change: &&Change| {
            let runs = after(change).and_then(|spec| kinds::api(&change.address).runs(spec));
            change.action != Action::Past && runs.and_then(|runs| runs.last).is_some_and(|last| last > plan.made)
        };
        let sending: Vec<(&Change, Box<dyn Spec>, At<String>)> = plan
            .changes
            .iter()
            .filter(sends)
            .filter_map(|change| Some((change, resource(change, Side::After)?, key(&change.address))))
            .collect();
        let upcoming: Vec<Upcoming> = sending
            .iter()
            .flat_map(|(change, spec, key)| {
                let mut parts = Parts::new(key);
                spec.parts(&mut parts);
                let news = change.action != Action::Keep;
                let sendings = parts.sendings.into_iter();
                sendings.map(|sending| Upcoming::of(&change.address, sending, news)).collect::<Vec<_>>()
            })
            .filter(|upcoming| !has_passed(upcoming.when, plan.made))
            .collect();
        timing::collisions(&upcoming, apart, |reference| self.segment(Side::After, reference))
    }
}

fn key(address: &Address) -> At<String> {
    At::new(address.key.clone(), Span::NONE)
}
