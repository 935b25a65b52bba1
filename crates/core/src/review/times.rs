//! The send times of a plan's messages, and messages that are too close together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::address::Address;
use pushplan_model::kinds::{self, Parts, Sending, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::SegmentRef;
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::nouns::schedule::When;
use pushplan_model::nouns::zone;
use pushplan_model::source::Span;
use pushplan_project::timing::words;
use pushplan_project::timing::{self, Collisions, Country, Times, Upcoming, has_passed, places, places_by_exclusions};
use serde_json::Value;

use super::fields::partners;
use super::impact::MessageClass;
use super::{Review, Side, after, before, is_new_and_left_out};
use crate::plan::{Action, Change};

/// The times of a change on both sides.
#[derive(Debug)]
pub struct BothTimes<'r> {
    pub old: Cow<'r, [Times]>,
    pub new: Cow<'r, [Times]>,
    /// The indexes of paired times.
    pairs: Vec<Pair>,
}

type Pair = (Option<usize>, Option<usize>);

impl BothTimes<'_> {
    /// All times, each before and after.
    pub fn each(&self) -> impl Iterator<Item = (Option<&Times>, Option<&Times>)> {
        self.pairs.iter().map(|(was, is)| (was.map(|at| &self.old[at]), is.map(|at| &self.new[at])))
    }
}

/// The pairs of times: those of the same variant, or the same moments. The others have moved, in their order.
fn pairs(change: &Change, old: &[Times], new: &[Times]) -> Vec<Pair> {
    let was = match new.iter().any(|times| times.variant.is_some()) {
        true => by_variant(change, old, new),
        false => by_moment(old, new),
    };
    let stay: BTreeSet<usize> = was.iter().flatten().copied().collect();
    let gone = (0..old.len()).filter(|at| !stay.contains(at));
    let gone: Vec<Pair> = gone.map(|at| (Some(at), None)).collect();
    was.iter().enumerate().map(|(is, was)| (*was, Some(is))).chain(gone).collect()
}

/// The old time for each new one.
fn by_variant(change: &Change, old: &[Times], new: &[Times]) -> Vec<Option<usize>> {
    let partners = partners(variants(before(change)), variants(after(change)));
    let was = |times: &Times| partners.get(times.variant?.checked_sub(1)?).copied().flatten();
    let place = |number: usize| old.iter().position(|times| times.variant == Some(number + 1));
    new.iter().map(|times| was(times).and_then(place)).collect()
}

fn variants(spec: Option<&Value>) -> &[Value] {
    spec.and_then(|spec| spec["variants"].as_array()).map(Vec::as_slice).unwrap_or_default()
}

fn by_moment(old: &[Times], new: &[Times]) -> Vec<Option<usize>> {
    let mut left: BTreeMap<(Timestamp, Timestamp), Vec<usize>> = BTreeMap::new();
    for (at, times) in old.iter().enumerate().rev() {
        left.entry(timing::range(times.when)).or_default().push(at);
    }
    let mut was: Vec<Option<usize>> =
        new.iter().map(|times| left.get_mut(&timing::range(times.when)).and_then(Vec::pop)).collect();
    let mut others: Vec<usize> = (0..new.len()).filter(|at| was[*at].is_none()).collect();
    others.sort_by_key(|at| timing::range(new[*at].when));
    for (is, before) in others.into_iter().zip(left.into_values().flatten()) {
        was[is] = Some(before);
    }
    was
}

impl Review<'_> {
    /// The send times of a change's messages, before or after.
    pub fn times(&self, change: &Change, side: Side) -> Cow<'_, [Times]> {
        if !kinds::api(&change.address).has_runs() {
            return Cow::Borrowed(&[]);
        }
        match self.known(change) {
            Some(known) => Cow::Borrowed(known.of(side).times.get_or_init(|| self.goes_out(change, side))),
            None => Cow::Owned(self.goes_out(change, side)),
        }
    }

    /// The times before and after. Replaced times have no local times of recipients.
    pub fn both_times(&self, change: &Change) -> BothTimes<'_> {
        let new = self.times(change, Side::After);
        let by_author = |sending: &Sending, zone: &TimeZone| {
            Times::by_author(sending.schedule.when, zone).of_variant(sending.variant)
        };
        if new.is_empty() {
            let old = self.times(change, Side::Before);
            let pairs = (0..old.len()).map(|was| (Some(was), None)).collect();
            return BothTimes { old, new, pairs };
        }
        let mut old = self.each_time(change, Side::Before, by_author);
        let pairs = pairs(change, &old, &new);
        if self.old_zone(change).is_none() {
            for (was, is) in pairs.iter().filter_map(|(was, is)| was.zip(*is)) {
                old[was].zone = new[is].zone.clone();
            }
        }
        BothTimes { old: old.into(), new, pairs }
    }

    /// The previous time zone of the times of a change, if the ledger has it.
    fn old_zone(&self, change: &Change) -> Option<TimeZone> {
        zone::get(self.plan.told.of.get(&change.address)?.old_zone.as_deref()?)
    }

    fn goes_out(&self, change: &Change, side: Side) -> Vec<Times> {
        self.each_time(change, side, |sending, zone| {
            let segment = |reference: &SegmentRef| self.segment(side, reference);
            let audience = places(sending.audience, segment, Country::All);
            let times = Times::new(sending.schedule.when, zone, &audience, self.plan.told.quiet);
            times.of_variant(sending.variant)
        })
    }

    /// The local times in quiet hours at which the messages of a change are sent after the plan: `Sydney 01:00 Sat`.
    pub fn quiet_clocks(&self, change: &Change, quiet: Quiet) -> Vec<String> {
        if matches!(change.action, Action::Delete | Action::Past | Action::Forget) {
            return Vec::new();
        }
        let all = self.each_time(change, Side::After, |sending, zone| {
            let segment = |reference: &SegmentRef| self.segment(Side::After, reference);
            let audience = places(sending.audience, segment, Country::All);
            Times::new(sending.schedule.when, zone, &audience, Some(quiet))
        });
        let to_come = all.iter().filter(|times| !has_passed(times.when, self.plan.made));
        // A message to all countries is always sent at night somewhere.
        to_come.flat_map(|times| words::quiet_clocks(times, false)).map(|clock| clock.words).collect()
    }

    /// The times of a change, with local times of people outside the countries that its audience excludes.
    pub(super) fn times_by_exclusions(&self, change: &Change, side: Side) -> Vec<Times> {
        self.each_time(change, side, |sending, zone| {
            let segment = |reference: &SegmentRef| self.segment(side, reference);
            let audience = places_by_exclusions(sending.audience, segment);
            let times = Times::new(sending.schedule.when, zone, &audience, self.plan.told.quiet);
            times.of_variant(sending.variant)
        })
    }

    fn each_time(&self, change: &Change, side: Side, time: impl Fn(&Sending, &TimeZone) -> Times) -> Vec<Times> {
        if !kinds::api(&change.address).has_runs() {
            return Vec::new();
        }
        let aside = self.plan.told.of.get(&change.address);
        let old_zone = self.old_zone(change).filter(|_| side == Side::Before);
        let own = |sending: &Sending| match sending.schedule.when {
            When::At(instant) if old_zone.is_none() => zone::get(aside?.zones.get(&instant)?),
            _ => None,
        };
        let zone = old_zone.clone().or_else(|| zone::get(aside?.zone.as_deref()?)).unwrap_or(TimeZone::UTC);
        let key = key(&change.address);
        let times = |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            parts.sendings.iter().map(|sending| time(sending, own(sending).as_ref().unwrap_or(&zone))).collect()
        };
        self.of_resource(change, side, times).unwrap_or_default()
    }

    /// The events that trigger a change's messages, if they have triggers: before and after.
    pub fn both_set_off(&self, change: &Change) -> (Option<String>, Option<String>) {
        let new = self.set_off(change, Side::After);
        let (was, is) = (before(change), after(change));
        let is_same = |was: &Value, is: &Value| {
            ["immediate_trigger", "historical_trigger"].iter().all(|trigger| was[trigger] == is[trigger])
        };
        let is_same = new.is_some() && was.zip(is).is_some_and(|(was, is)| is_same(was, is));
        (if is_same { new.clone() } else { self.set_off(change, Side::Before) }, new)
    }

    /// Returns the events that trigger a change's messages, on one side; `None` if nothing triggers them.
    pub fn set_off(&self, change: &Change, side: Side) -> Option<String> {
        if !kinds::api(&change.address).speaks() {
            return None;
        }
        let key = key(&change.address);
        let triggers = |spec: &dyn Spec| -> Vec<String> {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let mut happens: Vec<String> = parts.triggers.iter().map(|trigger| trigger.happens()).collect();
            // Their order has no meaning.
            happens.sort_unstable();
            happens
        };
        let triggers = self.of_resource(change, side, triggers).filter(|triggers| !triggers.is_empty())?;
        Some(pushplan_model::text::any_of(&triggers))
    }

    /// The messages of the plan that one person would get shortly after each other, including unchanged ones.
    pub fn collisions(&self) -> Collisions {
        self.collisions_within(self.plan.told.apart_seconds.map_or(timing::APART, SignedDuration::from_secs))
    }

    /// The messages of the plan that one person would get within some time.
    pub(crate) fn collisions_within(&self, apart: SignedDuration) -> Collisions {
        let plan = self.plan;
        // Most resources have no send time, which their kind shows without parsing them.
        let sends = |change: &Change| {
            let runs = after(change).and_then(|spec| kinds::api(&change.address).runs(spec));
            !is_new_and_left_out(change)
                && change.action != Action::Past
                && runs.and_then(|runs| runs.last).is_some_and(|last| last > plan.made)
        };
        // A push that has begun continues unchanged.
        let side = |change: &Change| match change.rest() {
            [] => sends(change).then_some(Side::After),
            _ => Some(Side::Before),
        };
        let sending: Vec<(&Change, &dyn Spec, At<String>)> = plan
            .changes
            .iter()
            .zip(&self.known.0)
            .filter_map(|(change, known)| {
                let side = side(change)?;
                Some((change, known.of(side).read(change, side)?, key(&change.address)))
            })
            .collect();
        // Two that were close together before, with the same audience, are no news if only a text changes.
        let is_as_near = |class| matches!(class, MessageClass::Text | MessageClass::Fewer | MessageClass::Nobody);
        let messages = self.impact().iter().filter(|message| !is_as_near(message.class));
        let news: BTreeSet<&Address> = messages.map(|message| &message.address).collect();
        let upcoming: Vec<Upcoming> = sending
            .iter()
            .flat_map(|(change, spec, key)| {
                let mut parts = Parts::new(key);
                spec.parts(&mut parts);
                let news = news.contains(&change.address) && change.rest().is_empty();
                let sendings = parts.sendings.into_iter();
                let upcoming = sendings.map(|sending| Upcoming {
                    people: self.people(Side::After, sending.audience),
                    ..Upcoming::of(&change.address, sending, news)
                });
                upcoming.collect::<Vec<_>>()
            })
            .filter(|upcoming| !has_passed(upcoming.when, plan.made))
            .collect();
        timing::collisions(&upcoming, apart, |reference| self.segment(Side::After, reference))
    }
}

fn key(address: &Address) -> At<String> {
    At::new(address.key.clone(), Span::NONE)
}

#[cfg(test)]
mod tests {

    use serde_json::{Value, json};

    use super::*;
    use crate::plan::{About, Annotation, Annotations, Plan, Position};

    fn change(address: (&'static str, &str), action: Action, live: Option<Value>, desired: Value) -> Change {
        Change {
            address: Address::new(address.0, address.1),
            action,
            name: address.1.to_owned(),
            place: None,
            id: None,
            desired: Some(desired.into()),
            live: live.map(Into::into),
            ledger: None,
            moved: None,
            reasons: vec![],
            sends: vec![],
            protect: false,
            broadcast: false,
            ignored: vec![],
        }
    }

    fn push(time: &str, audience: &Value) -> Value {
        let push = json!({"audience": audience, "device_types": ["ios"], "notification": {"alert": "Hi"}});
        json!({"name": "x", "schedule": [{"scheduled_time": time}], "push": push})
    }

    fn plan(changes: Vec<Change>) -> Plan {
        let about = About {
            ledger: Position { lineage: "l".into(), seq: 7 },
            ..About::new("production", "https://messaging.example")
        };
        let zone = Annotation { zone: Some("America/New_York".into()), ..Annotation::default() };
        let of = [(Address::new("scheduled_pushes", "sale"), zone)].into();
        let plan = Plan::new(about, changes, vec![], vec![], "2026-11-16T09:00:00Z".parse().unwrap());
        Plan { told: Annotations { of, ..Annotations::default() }, ..plan }
    }

    #[test]
    fn a_time_is_told_in_the_zone_of_its_author_and_where_people_are() {
        let segment = json!({"display_name": "British", "criteria": {"tag": "GB", "group": "ua_locale_country"}});
        let audience = json!({"segment": "british"});
        let plan = plan(vec![
            change(
                ("scheduled_pushes", "sale"),
                Action::Update,
                Some(push("2026-11-27T1100", &json!("all"))),
                push("2026-11-27T1400", &audience),
            ),
            change(("segments", "british"), Action::Keep, Some(segment.clone()), segment),
        ]);
        let review = Review::of(&plan);
        let [old] = &review.times(&plan.changes[0], Side::Before)[..] else { panic!("one time") };
        let [new] = &review.times(&plan.changes[0], Side::After)[..] else { panic!("one time") };
        let told = "Fri 27 Nov 2026 06:00 → 09:00 America/New_York = 14:00 UTC, in 11 days";
        assert_eq!(words::changed(old, new, plan.made), told);
        assert_eq!(words::elsewhere(new, words::MOST), ["London 14:00 Fri"]);
        assert!(old.anywhere && !new.anywhere);
        assert!(review.times(&plan.changes[1], Side::After).is_empty());
    }

    #[test]
    fn what_sets_off_a_pipeline_is_told_as_it_was_and_as_it_will_be() {
        let pipeline = |tag: &str, delay: i64| {
            let push = json!({"audience": "triggered", "device_types": ["ios"], "notification": {"alert": "Hi"}});
            let outcome = json!({"delay": delay, "push": push});
            let trigger = json!({"tag_added": {"tag": tag, "group": "shop"}});
            json!({"enabled": true, "immediate_trigger": trigger, "outcome": outcome})
        };
        let told = |live: Option<Value>, action, desired: Value| {
            let plan = plan(vec![change(("pipelines", "p"), action, live, desired)]);
            Review::of(&plan).both_set_off(&plan.changes[0])
        };
        let (old, new) = told(Some(pipeline("old", 5)), Action::Update, pipeline("new", 5));
        assert!(old.is_some_and(|words| words.contains("old")) && new.is_some_and(|words| words.contains("new")));
        let (old, new) = told(Some(pipeline("same", 5)), Action::Update, pipeline("same", 9));
        assert!(old == new && new.is_some_and(|words| words.contains("same")));
        let (old, new) = told(None, Action::Create, pipeline("new", 5));
        assert!(old.is_none() && new.is_some());
        let (old, new) = told(Some(pipeline("old", 5)), Action::Delete, Value::Null);
        assert!(old.is_some() && new.is_none());
    }

    #[test]
    fn collisions_of_a_plan_are_found_also_with_what_stays() {
        let all = json!("all");
        let of = |key: &'static str, action, time: &str| {
            let live = (action == Action::Keep).then(|| push(time, &all));
            change(("scheduled_pushes", key), action, live, push(time, &all))
        };
        let plan = plan(vec![
            of("kept", Action::Keep, "2026-11-27T1200"),
            of("new", Action::Create, "2026-11-27T1300"),
            of("other", Action::Keep, "2026-11-27T1100"),
            of("past", Action::Keep, "2026-11-01T1100"),
            of("alone", Action::Create, "2026-11-29T1100"),
        ]);
        let found = Review::of(&plan).collisions();
        let told: Vec<(String, String, bool)> =
            found.found.iter().map(|it| (it.one.to_string(), it.other.to_string(), it.news)).collect();
        let address = |key: &str| format!("scheduled_pushes/{key}");
        let expected = [("other", "new", true), ("kept", "new", true), ("other", "kept", false)];
        assert_eq!(told, expected.map(|(one, other, news)| (address(one), address(other), news)));
        assert_eq!(found.apart_seconds, 4 * 3600);
        assert_eq!(found.found[0].who.as_deref(), Some("an iOS device"));
        let off = Plan { told: Annotations { apart_seconds: Some(0), ..plan.told.clone() }, ..plan };
        assert!(Review::of(&off).collisions().found.is_empty());
    }
}
