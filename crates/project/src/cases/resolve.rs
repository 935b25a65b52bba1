//! Resolving names, which must exist, and times, which must not go back.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::{Experiment, Parts, Resource, Role, Segment, of_kind};
use pushplan_model::node::{At, Reader};
use pushplan_model::nouns::clock::Written;
use pushplan_model::nouns::delay::Delay;
use pushplan_model::nouns::push::Content;
use pushplan_model::nouns::schedule::{When, instant};
use pushplan_model::source::{Sources, Span};
use pushplan_model::text;
use serde_json::json;

use super::language::{self, Time};
use super::{
    Against, Case, CaseLine, CaseStep, Event, Expect, ExpectedMessage, Member, Wording, alert, device, groups,
};

/// The default start of a case, in local time of its zone. It is fixed, so results do not depend on the current day.
const START: &str = "2026-01-01T09:00";
/// The maximal number of steps of a case.
const MOST_STEPS: usize = 10_000;

/// Resolves a case, or returns `None` if a problem in it was reported.
pub fn case(
    name: &At<String>,
    written: &At<language::Case>,
    against: &Against,
    sources: &Sources,
    reader: &mut Reader,
) -> Option<Case> {
    let before = reader.findings.len();
    let zone = written.time_zone.as_ref().map(|zone| At::new(zone.value.0.clone(), zone.span));
    let usual = At::new(Time(START.to_owned()), name.span);
    let start = moment(written.at.as_ref().unwrap_or(&usual), zone.as_ref(), reader);
    let form = device::whole(&written.device, against, reader);
    let locale = [&written.device.language, &written.device.country].map(|code| code.as_deref().cloned());
    let kind = written.device.device_type.as_ref().map(ToString::to_string).unwrap_or_default();
    let start = start?;
    let groups = BTreeMap::new();
    let mut reading = CaseReader {
        against,
        sources,
        reader,
        zone,
        kind,
        locale,
        groups,
        start,
        clock: start,
        since: start,
        last: name.span,
    };
    let mut found = Vec::new();
    reading.groups = groups::read(written, against, &mut |name| reading.sender(name), &mut found);
    found.into_iter().for_each(|finding| reading.report(finding));
    let mut steps: Vec<CaseStep> = Vec::new();
    let all = written.steps.as_deref().unwrap_or_default();
    if let Some(beyond) = all.get(MOST_STEPS) {
        let message = format!("a case has up to {MOST_STEPS} steps, but this one has {}", all.len());
        let finding = Finding::new(&codes::YM106, beyond.span, message).label("one step too many");
        reading.reader.report(finding.help("split it into several cases"));
        return None;
    }
    steps.extend(all.iter().filter_map(|step| reading.step(step)));
    if let Some(expect) = &written.expect {
        let place = reading.place(expect.span);
        let at = reading.clock;
        steps.extend(reading.expect(expect).map(|expect| CaseStep { place, at, event: None, expect: Some(expect) }));
    }
    let groups = std::mem::take(&mut reading.groups);
    let (zone, place) =
        (reading.zone.as_ref().map_or(TimeZone::UTC, |zone| zone.value.clone()), reading.place(name.span));
    if reader.findings.len() == before && steps.iter().all(|step| step.expect.is_none()) {
        let finding = Finding::new(&codes::YM203, name.span, "the case expects nothing, so it cannot fail");
        reader.report(finding.label("needs `expect`").help("add `expect: {in: ..., not_in: ..., receives: ...}`"));
    }
    if reader.findings.len() > before {
        return None;
    }
    Some(Case {
        name: name.value.clone(),
        place,
        zone,
        start,
        device: form?,
        channel: written.device.channel.as_ref().map(|id| id.value.clone()),
        groups,
        opened: written.device.opened.as_ref().is_some_and(|opened| opened.value),
        steps,
    })
}

/// The moment of a local time in a zone.
fn moment(time: &At<Time>, zone: Option<&At<TimeZone>>, reader: &mut Reader) -> Option<Timestamp> {
    let written = At::new(Written(time.0.clone()), time.span);
    match instant(&written, zone.cloned(), reader)?.when {
        When::At(at) => Some(at),
        When::EachZone(_) => None,
    }
}

/// The state while the steps of a case are read, one after the other.
struct CaseReader<'r> {
    against: &'r Against<'r>,
    sources: &'r Sources,
    reader: &'r mut Reader,
    zone: Option<At<TimeZone>>,
    /// The device's type.
    kind: String,
    /// The device's language and country at the start.
    locale: [Option<String>; 2],
    /// The variants of experiments that it gets.
    groups: BTreeMap<Address, Option<usize>>,
    start: Timestamp,
    /// The current time of the clock.
    clock: Timestamp,
    /// The time of the last event.
    since: Timestamp,
    /// The position of the last change of the clock.
    last: Span,
}

impl CaseReader<'_> {
    fn place(&self, span: Span) -> CaseLine {
        match span.file() {
            Some(file) => {
                let source = self.sources.get(file);
                CaseLine { file: source.path.to_string(), line: source.position(span.range().start).line }
            }
            None => CaseLine { file: String::new(), line: 0 },
        }
    }

    fn report(&mut self, finding: Finding) {
        self.reader.report(finding);
    }

    /// A moment after another one, by a delay.
    fn later(&mut self, from: Timestamp, delay: &At<Delay>) -> Option<Timestamp> {
        let at = from.checked_add(SignedDuration::from_secs(delay.value.0)).ok();
        let wrong = match at {
            _ if delay.value.0 < 0 => "time does not go back",
            None => "it is outside the range of the calendar",
            Some(at) => return Some(at),
        };
        self.report(Finding::new(&codes::YM206, delay.span, wrong).label("not a valid duration here"));
        None
    }

    /// The time of a step. A time before the current one is reported.
    fn time(&mut self, step: &language::WrittenStep) -> Option<Timestamp> {
        match (&step.after, &step.at) {
            (Some(after), Some(at)) => {
                let finding = Finding::new(&codes::YM201, at.span, "`at` cannot be combined with `after`");
                self.report(finding.label("the time is given twice").related(after.span, "already set here"));
                None
            }
            (Some(after), None) => {
                let at = self.later(self.clock, after)?;
                self.last = after.span;
                Some(at)
            }
            (None, Some(time)) => {
                let at = moment(time, self.zone.as_ref(), self.reader)?;
                if at < self.clock {
                    let shown = self.shown(self.clock);
                    let message = format!("the clock would go back: it is already {shown}");
                    let finding = Finding::new(&codes::YM206, time.span, message).label("earlier");
                    let finding = finding.related(self.last, "the clock is set here");
                    self.report(finding.help("sort the steps by time"));
                    return None;
                }
                self.last = time.span;
                Some(at)
            }
            (None, None) => Some(self.clock),
        }
    }

    fn shown(&self, at: Timestamp) -> String {
        let zone = self.zone.as_ref().map_or(TimeZone::UTC, |zone| zone.value.clone());
        zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M").to_string()
    }

    fn step(&mut self, step: &At<language::WrittenStep>) -> Option<CaseStep> {
        let at = self.time(step);
        self.clock = at.unwrap_or(self.clock);
        let event = self.event(step);
        if matches!(event, Some(Some(_))) {
            self.since = self.clock;
        }
        let at = self.clock;
        let expect = step.expect.as_ref().map(|expect| self.expect(expect));
        let place = self.place(step.span);
        Some(CaseStep { place, at, event: event?, expect: expect.flatten() })
    }

    /// The event of a step. The outer `None` means that a problem was reported.
    fn event(&mut self, step: &At<language::WrittenStep>) -> Option<Option<Event>> {
        let language::WrittenStep {
            after: _,
            at: _,
            open,
            add_tags,
            remove_tags,
            change,
            tap,
            seen_at,
            uninstall,
            expect: _,
        } = &step.value;
        let given = [
            ("open", open.as_ref().map(|it| it.span)),
            ("add_tags", add_tags.as_ref().map(|it| it.span)),
            ("remove_tags", remove_tags.as_ref().map(|it| it.span)),
            ("change", change.as_ref().map(|it| it.span)),
            ("tap", tap.as_ref().map(|it| it.span)),
            ("seen_at", seen_at.as_ref().map(|it| it.span)),
            ("uninstall", uninstall.as_ref().map(|it| it.span)),
        ];
        let given: Vec<(&str, Span)> = given.into_iter().filter_map(|(name, span)| Some((name, span?))).collect();
        if let [(first, at), (second, span), ..] = given[..] {
            let message = format!("`{second}` cannot be combined with `{first}`: their order would be undefined");
            let finding = Finding::new(&codes::YM201, span, message).label("the second action of one step");
            self.report(finding.related(at, "the first").help("write a separate step for each"));
            return None;
        }
        for (name, flag) in [("open", open), ("uninstall", uninstall)] {
            if let Some(flag) = flag.as_ref().filter(|flag| !flag.value) {
                let finding = Finding::new(&codes::YM206, flag.span, format!("`{name}: false` has no effect"));
                self.report(finding.label("nothing would happen").help(format!("write `{name}: true`, or remove it")));
                return None;
            }
        }
        let (against, kind) = (self.against, &mut *self.reader);
        Some(match step {
            _ if open.is_some() => Some(Event::Open),
            _ if uninstall.is_some() => Some(Event::Uninstall),
            _ => match (add_tags, remove_tags, change, tap, seen_at) {
                (Some(tags), ..) => Some(Event::AddTags(device::tags(tags, against, kind)?)),
                (_, Some(tags), ..) => Some(Event::RemoveTags(device::tags(tags, against, kind)?)),
                (_, _, Some(to), ..) => Some(Event::Change(device::change(to, against, kind)?)),
                (_, _, _, Some(tap), _) => {
                    let button = tap.button.as_ref().map(|button| button.value.clone());
                    Some(Event::Tap { from: self.sender(&tap.from)?, button })
                }
                (.., Some(place)) => Some(Event::SeenAt(place.value.clone())),
                _ => None,
            },
        })
    }

    fn expect(&mut self, expect: &At<language::Expect>) -> Option<Expect> {
        let language::Expect { r#in, not_in, receives } = &expect.value;
        let place = self.place(expect.span);
        let mut members = Vec::new();
        for (keys, expected) in [(r#in, true), (not_in, false)] {
            for key in keys.iter().flatten() {
                let place = self.place(key.span);
                members.extend(self.segment(key).map(|segment| Member { place, segment, expected }));
            }
        }
        let both = not_in.iter().flatten().find(|key| r#in.iter().flatten().any(|other| other == *key));
        if let Some(key) = both {
            let message = format!("`{key}` cannot be under `in` and under `not_in`");
            self.report(Finding::new(&codes::YM206, key.span, message).label("one of them must fail"));
        }
        if members.is_empty() && receives.is_none() && r#in.is_none() && not_in.is_none() {
            let finding = Finding::new(&codes::YM207, expect.span, "`expect` is empty, so it cannot fail");
            self.report(finding.label("empty").help("add `in`, `not_in` or `receives`"));
            return None;
        }
        let messages = receives.as_ref().map(|all| {
            let read: Vec<ExpectedMessage> = all.iter().filter_map(|message| self.message(message)).collect();
            read
        });
        let times = messages.iter().flatten().filter_map(|message| message.at);
        let until = times.fold(self.clock, Timestamp::max);
        if until > self.clock {
            (self.clock, self.last) = (until, expect.span);
        }
        Some(Expect { until, members, receives: messages, place })
    }

    fn message(&mut self, written: &At<language::WrittenMessage>) -> Option<ExpectedMessage> {
        let from = match &written.from {
            Some(from) => Some(self.sender(from)?),
            None => None,
        };
        let at = match (&written.at, &written.after) {
            (Some(at), Some(after)) => {
                let finding = Finding::new(&codes::YM201, at.span, "`at` cannot be combined with `after`");
                self.report(finding.label("the time is given twice").related(after.span, "already set here"));
                return None;
            }
            (Some(time), None) => {
                let at = moment(time, self.zone.as_ref(), self.reader)?;
                if at < self.start {
                    let message = format!("the case begins at {}, which is later", self.shown(self.start));
                    self.report(Finding::new(&codes::YM206, time.span, message).label("nothing can be received then"));
                    return None;
                }
                Some(at)
            }
            (None, Some(after)) => Some(self.later(self.since, after)?),
            (None, None) => None,
        };
        let texts = |wordings: &Option<pushplan_model::nouns::many::Many<At<Wording>, 1>>| -> Vec<Wording> {
            wordings.iter().flatten().map(|wording| wording.value.clone()).collect()
        };
        let (alert, title, message) = (texts(&written.alert), texts(&written.title), texts(&written.message));
        if let Some(from) = &from {
            self.by_chance(from, written, &alert);
        }
        let place = self.place(written.span);
        Some(ExpectedMessage { place, from, at, alert, title, message })
    }

    /// Reports an expectation that only some variants of an experiment meet: the variant of a device is random, so the
    /// case would pass by chance.
    fn by_chance(&mut self, from: &Address, written: &At<language::WrittenMessage>, expected: &[Wording]) {
        let declared = self.against.desired.resources.get(from);
        let Some(experiment) = declared.and_then(|declared| of_kind::<Experiment>(&*declared.spec)) else { return };
        if self.groups.contains_key(from) {
            return;
        }
        let Some(first) = written.alert.iter().flatten().next() else { return };
        let shown = experiment.variants.iter().filter_map(|variant| {
            let Content { notification, localizations, .. } = &variant.value.push;
            let own = localizations.of_device(self.locale.each_ref().map(Option::as_deref));
            let notification = own.and_then(|own| own.notification.as_ref()).unwrap_or(notification);
            alert(&json!(notification), &self.kind).map(str::to_owned)
        });
        let missing: Vec<String> = shown.filter(|text| !expected.iter().any(|wording| wording.fits(text))).collect();
        if let Some(other) = missing.first() {
            let message = format!("a device gets one of {} variants, chosen by the service", experiment.variants.len());
            let finding =
                Finding::new(&codes::YM206, first.span, message).label("the texts do not cover every variant");
            let help = format!(
                "list the texts of all variants, also {}, choose one with `variants: {{{from}: 1}}`, or remove `alert`",
                text::quoted(&text::short(other, 60))
            );
            self.report(finding.note("the service assigns devices to variants by its own ids").help(help));
        }
    }

    fn segment(&mut self, key: &At<String>) -> Option<String> {
        let desired = self.against.desired;
        // An address is accepted as well, because messages have one.
        let own = key.strip_prefix(Segment::KEY).and_then(|rest| rest.strip_prefix('/')).unwrap_or(key);
        if desired.knows::<Segment>(own) {
            return Some(own.to_owned());
        }
        let finding =
            Finding::new(&codes::RF101, key.span, format!("no segment has the key `{key}`")).label("not declared");
        self.report(match text::nearest(own, desired.keys::<Segment>()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(key.span, near),
            None => finding.help(format!("declare `{key}` under `segments:` in a manifest")),
        });
        None
    }

    /// The address of a sender.
    fn sender(&mut self, written: &At<String>) -> Option<Address> {
        let desired = self.against.desired;
        let sends = |address: &Address| {
            desired.resources.get(address).is_some_and(|declared| {
                let mut parts = Parts::new(&declared.key);
                declared.spec.parts(&mut parts);
                parts.audiences.iter().any(|audience| audience.role != Role::Criteria)
            })
        };
        let address = Address::try_from(written.value.clone()).ok();
        if let Some(address) = address.as_ref().filter(|address| sends(address)) {
            return Some(address.clone());
        }
        let known: Vec<String> = desired.resources.keys().filter(|one| sends(one)).map(Address::to_string).collect();
        let is_other = address.is_some_and(|address| desired.resources.contains_key(&address));
        let message = match is_other {
            true => format!("`{written}` does not send messages"),
            false => format!("no resource has the address `{}`", text::short(written, 60)),
        };
        let finding = Finding::new(&codes::YM206, written.span, message).label(
            "not the address of a resource that sends \
                messages",
        );
        let by_key = known.iter().find(|known| known.split_once('/').is_some_and(|(_, key)| key == written.as_str()));
        let near = by_key.map(String::as_str).or_else(|| text::nearest(written, known.iter().map(String::as_str)));
        self.report(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(written.span, near),
            None if known.is_empty() => finding.help("the project declares no resource that sends messages"),
            None => finding.help(format!("expected an address such as {}", known[0])),
        });
        None
    }
}
