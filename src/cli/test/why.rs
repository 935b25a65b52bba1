//! The causes of a failed expectation: the service's explanation, with the lines of the manifests.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::play::Play;
use crate::address::Address;
use crate::audience;
use crate::cases::{CaseLine, ExpectedMessage, Why};
use crate::engine::stage::{Receipt, of_device};
use crate::failure::Failure;
use crate::kinds::{self, Audience, Parts, Resource, Role, Segment, Trigger};
use crate::node::At;
use crate::nouns::audience::{SegmentRef, Selector};
use crate::nouns::send_hours::HoursClock;
use crate::nouns::vocabulary;
use crate::source::Span;

/// The causes of a failure.
#[derive(Debug, Default)]
pub struct Reasons {
    /// Sentences.
    pub notes: Vec<String>,
    /// The conditions of an audience.
    pub why: Option<Why>,
}

impl Reasons {
    /// Why the device is in a segment or not, if that is not as expected.
    pub(crate) async fn of_member(play: &Play<'_>, key: &str, expected: bool) -> Result<Option<Self>, Failure> {
        let address = Address::new(Segment::KEY, key);
        let id = play.stage.ids.get(&address).map(String::as_str).unwrap_or_default();
        let explained = explain(play, &json!({ "segment": id })).await?;
        if explained["in"] == expected {
            return Ok(None);
        }
        let whole = &explained["why"];
        let criteria = play.criteria(key);
        // The segment itself has been named. Its conditions are shown, if the service explains them.
        let mut why = match whole["conditions"].as_array().map(Vec::as_slice) {
            Some([only]) => play.why(only, criteria),
            _ => play.why(whole, None),
        };
        why.decide();
        Ok(Some(Self { notes: Vec::new(), why: Some(why) }))
    }

    /// Why a message was not received.
    pub(crate) async fn of_missing(play: &Play<'_>, message: &ExpectedMessage) -> Result<Self, Failure> {
        let Some(from) = &message.from else { return Ok(Self::default()) };
        if let Some(at) = play.stage.past.get(from) {
            let (at, start) = (play.shown(*at), play.shown(play.case.start));
            return Ok(Self::said(format!(
                "its time, {at}, had passed when the case began at {start}: it is not sent"
            )));
        }
        if play.zone().await.is_none() && play.is_local(from) {
            return Ok(Self::said("it is sent in recipients' local time, and the device has no time zone".to_owned()));
        }
        let id = play.stage.ids.get(from).map(String::as_str).unwrap_or_default();
        match waits(play, id).await? {
            Wait::Until(at) => return Ok(Self::said(format!("it is sent only at {}", play.shown(at)))),
            Wait::Passed(time) => {
                return Ok(Self::said(format!(
                    "its time, {time} by the device's clock, had passed when the case began"
                )));
            }
            Wait::Nothing => {}
        }
        let sent = play.sent().await?;
        let Some(push) = sent.iter().rev().find(|push| push["group_id"] == id) else {
            return not_set_off(play, from).await;
        };
        let at = push["time"].as_str().and_then(|at| at.parse().ok()).map(|at| play.shown(at)).unwrap_or_default();
        let mut notes = vec![format!("it was sent at {at}, but not to this device")];
        let received = play.received().await?;
        if received.iter().any(|receipt| receipt.sender.as_ref() == Some(from)) {
            notes = vec![format!("it was received once, at {at}, and an earlier step expects it")];
            return Ok(Self { notes, why: None });
        }
        let kind = play.case.device["device_type"].as_str().unwrap_or_default();
        let types = &push["push"]["device_types"];
        if types.as_array().is_some_and(|types| !types.iter().any(|one| one == kind)) {
            let types: Vec<&str> = types.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            notes.push(format!("it goes to {}, but this device is {kind}", types.join(", ")));
            return Ok(Self { notes, why: None });
        }
        let (unreached, why) = play.audience(from, &push["push"]["audience"]).await?;
        notes.extend(unreached);
        Ok(Self { notes, why })
    }

    /// Why an unexpected message was received.
    pub(crate) async fn of_unexpected(play: &Play<'_>, receipt: &Receipt) -> Result<Self, Failure> {
        let Some(from) = &receipt.sender else { return Ok(Self::default()) };
        let sent = play.sent().await?;
        let push = sent.iter().find(|push| push["push_id"] == receipt.push_id.as_str());
        match push.map(|push| &push["push"]["audience"]) {
            Some(audience) if *audience != "triggered" => {
                let (_, why) = play.audience(from, audience).await?;
                Ok(Self { notes: Vec::new(), why })
            }
            _ => Ok(Self::said("an event on the device triggered it".to_owned())),
        }
    }

    fn said(note: String) -> Self {
        Self { notes: vec![note], why: None }
    }
}

/// What something that has not come waits for.
enum Wait {
    Until(Timestamp),
    /// It waits for other clocks: this time has passed by the clock of the device.
    Passed(DateTime),
    Nothing,
}

/// When something of that id is sent next to this device or to many, if it waits for its time.
async fn waits(play: &Play<'_>, id: &str) -> Result<Wait, Failure> {
    let due = play.ask("GET", "/local/due", None).await?;
    let zone = play.zone().await.unwrap_or(TimeZone::UTC);
    let mut wait = Wait::Nothing;
    for due in due["due"].as_array().into_iter().flatten() {
        let what = due["what"].as_object().and_then(|what| what.values().next()).unwrap_or(&Value::Null);
        let is_named = ["id", "experiment", "pipeline"].iter().any(|key| what[key] == id);
        let is_own = what["device"].is_null() || what["device"] == play.device.as_str();
        let Some(at) = due["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok()) else { continue };
        if !is_named || !is_own {
            continue;
        }
        // By each device's own clock, there is a moment for every clock of the world.
        let time = what["local"]["time"].as_str().and_then(|time| time.parse::<DateTime>().ok());
        let own = time.and_then(|time| Some((time, zone.to_ambiguous_timestamp(time).compatible().ok()?)));
        match (own, &wait) {
            (Some((time, own)), Wait::Nothing) if own != at && own <= play.case.start => wait = Wait::Passed(time),
            (Some((_, own)), _) if own != at => {}
            (_, Wait::Until(earlier)) if *earlier <= at => {}
            _ => wait = Wait::Until(at),
        }
    }
    Ok(wait)
}

/// Why a triggered sender did not send.
async fn not_set_off(play: &Play<'_>, from: &Address) -> Result<Reasons, Failure> {
    let Some(unit) = play.world.workspace.units.get(from) else { return Ok(Reasons::default()) };
    let api = kinds::api(from);
    if api.is_off(&unit.spec) {
        return Ok(Reasons::said("it is not enabled".to_owned()));
    }
    let explained = explain(play, &json!("all")).await?;
    if let Some(why) = explained["unreachable_because"].as_str() {
        return Ok(Reasons::said(format!("no notification reaches the device: {why}")));
    }
    let mut notes = vec!["nothing has triggered it".to_owned()];
    for trigger in api.firing(&unit.spec).iter().flat_map(|firing| &firing.triggers) {
        let group = trigger.group.as_ref().map_or(String::new(), |group| format!(" in the group {group}"));
        let how = if trigger.removed { "removed" } else { "added" };
        notes.push(format!("it waits for the tag {}{group} to be {how}", trigger.tag));
    }
    let declared = play.world.desired.resources.get(from);
    let mut is_local = false;
    if let Some(declared) = declared {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        let inactivity = parts.triggers.iter().filter(|trigger| matches!(trigger, Trigger::Inactive { .. }));
        notes.extend(inactivity.map(|trigger| format!("it waits until {}", trigger.happens())));
        is_local = parts.hours.is_some_and(|hours| hours.clock == HoursClock::Local);
    }
    if is_local && play.zone().await.is_none() {
        notes.push("the device has no time zone, and its hours are in recipients' local time".to_owned());
    }
    let rules = declared.map(|declared| declared.spec.rules()).unwrap_or_default();
    notes.extend(rules.iter().map(|rule| format!("it may have been kept back: {} {}", rule.label, rule.words)));
    if let Some(condition) = play.parts(from, |audience| audience.role == Role::Condition) {
        notes.push(format!("it may have been kept back: only {}", audience::words(condition)));
    }
    Ok(Reasons { notes, why: None })
}

async fn explain(play: &Play<'_>, audience: &Value) -> Result<Value, Failure> {
    let body = json!({ "audience": audience, "device": play.device });
    Ok(play.ask("POST", "/local/audience/explain", Some(body)).await?)
}

impl Play<'_> {
    /// The time zone of the device, if it has one.
    async fn zone(&self) -> Option<TimeZone> {
        let record = self.ask("GET", &of_device(&self.device, ""), None).await.unwrap_or_default();
        let name = record["device"]["properties"]["timezone"].as_str()?;
        TimeZone::get(vocabulary::iana(name.trim())).ok()
    }

    /// Whether the device can be reached, and why it is in an audience or not.
    async fn audience(&self, from: &Address, audience: &Value) -> Result<(Option<String>, Option<Why>), Failure> {
        let explained = explain(self, audience).await?;
        let reached = explained["unreachable_because"].as_str();
        let unreached = reached.map(|why| format!("no notification reaches the device: {why}"));
        let selector = self.parts(from, |audience| audience.role != Role::Criteria);
        let mut why = self.why(&explained["why"], selector);
        why.decide();
        Ok((unreached, Some(why)))
    }

    /// Whether all messages of a resource are sent in recipients' local time.
    fn is_local(&self, address: &Address) -> bool {
        self.world.desired.resources.get(address).is_some_and(|declared| {
            let mut parts = Parts::new(&declared.key);
            declared.spec.parts(&mut parts);
            parts.is_local()
        })
    }

    /// The first matching audience of a resource, as declared.
    fn parts(&self, address: &Address, wanted: impl Fn(&Audience) -> bool) -> Option<&At<Selector>> {
        let declared = self.world.desired.resources.get(address)?;
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        parts.audiences.into_iter().find(wanted).map(|audience| audience.selector)
    }

    fn criteria(&self, key: &str) -> Option<&At<Selector>> {
        self.parts(&Address::new(Segment::KEY, key), |_| true)
    }

    /// The service's explanation of a condition, with the position of its declaration. The service has the same tree.
    fn why(&self, reason: &Value, selector: Option<&At<Selector>>) -> Why {
        let conditions = reason["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let inner: Vec<Option<&At<Selector>>> = match selector.map(|selector| &selector.value) {
            Some(Selector::Segment(reference)) => match &reference.value {
                SegmentRef::Key(key) => vec![self.criteria(key)],
                SegmentRef::Id(_) => Vec::new(),
            },
            Some(compound) => compound.members().iter().map(Some).collect(),
            None => Vec::new(),
        };
        let inner = if inner.len() == conditions.len() { inner } else { vec![None; conditions.len()] };
        let text = |value: &Value| value.as_str().map(|text| self.by_address(text));
        Why {
            condition: text(&reason["condition"]).unwrap_or_default(),
            holds: reason["holds"] == true,
            because: text(&reason["because"]),
            place: selector.and_then(|selector| self.place(selector.span)),
            decided: false,
            conditions: conditions.iter().zip(inner).map(|(reason, selector)| self.why(reason, selector)).collect(),
        }
    }

    /// Replaces ids of the service by addresses in a text.
    fn by_address(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (address, id) in &self.stage.ids {
            if text.contains(id.as_str()) {
                text = text.replace(id.as_str(), &address.to_string());
            }
        }
        text
    }

    fn place(&self, span: Span) -> Option<CaseLine> {
        let source = self.world.workspace.manifests.sources.get(span.file()?);
        Some(CaseLine { file: source.path.to_string(), line: source.position(span.range().start).line })
    }

    fn shown(&self, at: Timestamp) -> String {
        self.case.zone.to_datetime(at).strftime("%Y-%m-%dT%H:%M").to_string()
    }
}
