//! Single devices before and after a plan: for each message whose recipients change, one device that joins, one that leaves and one
//! that stays excluded, each replayed through the built-in service.

mod attributes;
mod device;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use pushplan_io::failure::Failure;
use pushplan_model::address::Address;
use pushplan_model::audience::{Audience, ExampleDevice, Neighbors};
use pushplan_model::kinds::remote::{TagTrigger, pointed};
use pushplan_model::kinds::{self, Firing};
use pushplan_model::node::Shared;
use pushplan_model::nouns::device::DeviceType;
use pushplan_project::cases::Tags;
use pushplan_project::look;
use pushplan_service::store::Kept;
use serde_json::json;

use super::Session;
use super::stage::{self, Receipt, Replay, Stage, StageSetup};
use super::workspace::{PlanRequest, Replays, Workspace};
use crate::compare::Unit;
use crate::plan::{Change, DevicePart, LockScreen, MessagePeople, People, Plan, Reason, ReplayedDevice};
use crate::review::{self, ChangedRecipients, Recipients, Review, Side};

pub use device::{ExampleForm, device as whole_device};

/// The length of the replay.
const REPLAYED: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The number of messages for which devices are replayed, the most urgent first.
const MOST_MESSAGES: usize = 10;
/// The largest number of resources in a plan that is replayed by default.
const SMALL: usize = 500;
/// The number of lock screens on one side of a device.
const MOST_SCREENS: usize = 100;
/// Why a message has no device.
const UNMANAGED: &str =
    "its audience has a segment that is not managed by pushplan, or a condition that only the service can evaluate";

/// A device before it is replayed.
#[derive(Debug)]
struct Person {
    part: DevicePart,
    words: String,
    whole: ExampleForm,
    /// The event that triggers the message, if it has a trigger.
    event: Option<TagEvent>,
    id: String,
}

#[derive(Debug)]
struct TagEvent {
    at: Timestamp,
    trigger: TagTrigger,
}

impl Workspace {
    /// Adds messages that single devices receive before and after to a plan, if the request asks for it. They are
    /// optional: devices that cannot be replayed are reported and skipped.
    pub(in crate::engine) async fn add_people(&self, plan: &mut Plan, request: &PlanRequest, session: &Session) {
        let is_asked = match request.people {
            Replays::None => false,
            Replays::Small => plan.changes.len() <= SMALL,
            Replays::All => true,
        };
        if !is_asked {
            return;
        }
        match replayed(plan).await {
            Ok(people) => plan.told.people = Some(people),
            Err(failure) => self.note(&format!("No device was replayed: {}.", failure.message), session),
        }
    }
}

/// Replays the devices of a plan.
pub async fn replayed(plan: &Plan) -> Result<People, Failure> {
    let from = plan.made;
    let until = from.checked_add(REPLAYED).unwrap_or(from);
    let (mut of, left_out) = cast(plan);
    let mut people = People { from, until, of: Vec::new(), left_out };
    if of.iter().all(|(_, persons, _)| persons.is_empty()) {
        people.of =
            of.into_iter().map(|(address, _, note)| MessagePeople { address, devices: Vec::new(), note }).collect();
        return Ok(people);
    }
    let rows = name(of.iter_mut().flat_map(|(_, persons, _)| persons), from);
    let mut seen = BTreeMap::new();
    let mut refused: BTreeMap<Address, String> = BTreeMap::new();
    for side in [Side::Before, Side::After] {
        let units = units(plan, side);
        let setup =
            StageSetup { target: &plan.target, level: plan.level, units: &units, start: from, devices: rows.clone() };
        let stage = Stage::set(setup).await?.with_fixed_variants();
        let persons = of.iter().flat_map(|(_, persons, _)| persons);
        seen.extend(play(&stage, persons, side, until).await?);
        refused.extend(stage.refused);
    }
    for (address, persons, note) in of {
        let one = |person: Person| {
            let screens = |side: Side| seen.get(&(person.id.clone(), side)).cloned().unwrap_or_default();
            let (before, after) = (screens(Side::Before), screens(Side::After));
            let ExampleForm { device_type, zone, .. } = person.whole;
            ReplayedDevice { part: person.part, words: person.words, device_type, zone, before, after }
        };
        let note = note.or_else(|| {
            let why = refused.get(&address)?;
            Some(format!("the built-in service refuses it: {why}"))
        });
        people.of.push(MessagePeople { devices: persons.into_iter().map(one).collect(), address, note });
    }
    Ok(people)
}

type CastMessage = (Address, Vec<Person>, Option<String>);

/// The devices for each of the most urgent messages, and the number of skipped messages.
fn cast(plan: &Plan) -> (Vec<CastMessage>, usize) {
    let review = Review::of(plan);
    let mut all = review.changed_recipients().into_iter();
    let mut found = Vec::new();
    for changed in all.by_ref() {
        let (persons, note) = persons(&changed, plan.made);
        if !persons.is_empty() || note.is_some() {
            found.push((changed.address, persons, note));
        }
        if found.len() == MOST_MESSAGES {
            break;
        }
    }
    (found, all.count())
}

/// The devices for one message, or the reason why there are none.
fn persons(changed: &ChangedRecipients, now: Timestamp) -> (Vec<Person>, Option<String>) {
    let (before, after) = (&changed.before, &changed.after);
    if matches!(before, Recipients::Tagged(_)) || matches!(after, Recipients::Tagged(_)) {
        let (old, new) = (firing(before), firing(after));
        let joins = newly(new, old).and_then(|trigger| tagged(DevicePart::Joins, new?, trigger, now));
        let leaves = newly(old, new).and_then(|trigger| tagged(DevicePart::Leaves, old?, trigger, now));
        return (joins.into_iter().chain(leaves).collect(), None);
    }
    let Neighbors { joins, leaves, excluded } = Neighbors::of(audience(before), audience(after));
    let examples = [(DevicePart::Joins, joins), (DevicePart::Leaves, leaves), (DevicePart::Excluded, excluded)];
    let examples: Vec<(DevicePart, ExampleDevice)> =
        examples.into_iter().filter_map(|(part, example)| Some((part, example?))).collect();
    let whole = |(part, example): &(DevicePart, ExampleDevice)| {
        let whole = whole_device(example, now)?;
        Some(Person { part: *part, words: example.to_string(), whole, event: None, id: String::new() })
    };
    let persons: Vec<Person> = examples.iter().filter_map(whole).collect();
    let note = (persons.is_empty() && !examples.is_empty()).then(|| UNMANAGED.to_owned());
    (persons, note)
}

fn audience(recipients: &Recipients) -> Option<&Audience> {
    match recipients {
        Recipients::Audience(audience) => Some(audience),
        Recipients::Nobody | Recipients::Tagged(_) => None,
    }
}

fn firing(recipients: &Recipients) -> Option<&Firing> {
    match recipients {
        Recipients::Tagged(firing) => Some(firing),
        Recipients::Nobody | Recipients::Audience(_) => None,
    }
}

/// A trigger of one side that the other does not have.
fn newly<'f>(one: Option<&'f Firing>, other: Option<&Firing>) -> Option<&'f TagTrigger> {
    let known = other.map(|other| other.triggers.as_slice()).unwrap_or_default();
    one?.triggers.iter().find(|trigger| !known.contains(trigger))
}

/// A device that gets or loses a tag.
fn tagged(part: DevicePart, firing: &Firing, trigger: &TagTrigger, now: Timestamp) -> Option<Person> {
    let Neighbors { joins, .. } = Neighbors::of(None, Some(&everyone(firing)));
    let mut whole = whole_device(&joins?, now)?;
    let group = trigger.group.as_ref().map(|group| format!(" of {group}")).unwrap_or_default();
    let words = match trigger.removed {
        false => format!("a device that gets the tag {}{group}", trigger.tag),
        true => format!("a device that loses the tag {}{group}", trigger.tag),
    };
    if trigger.removed {
        whole.form["tags"] = json!(tags(trigger));
    }
    let at = firing.from.filter(|from| *from > now).unwrap_or(now);
    let event = Some(TagEvent { at, trigger: trigger.clone() });
    Some(Person { part, words, whole, event, id: String::new() })
}

/// Everyone with one of the kinds of device that a pipeline messages.
fn everyone(firing: &Firing) -> Audience {
    use pushplan_model::node::At;
    use pushplan_model::nouns::audience::Selector;
    use pushplan_model::nouns::device::DeviceTypes;
    use pushplan_model::nouns::many::{Many, Set};
    use pushplan_model::source::Span;
    let all = Audience::of(&Selector::All, |_| None);
    let kinds = firing.outcomes.iter().find(|outcome| !outcome.devices.is_empty()).map(|outcome| &outcome.devices);
    match kinds {
        Some(kinds) => {
            let kinds = kinds.iter().map(|kind| At::new(kind.clone(), Span::NONE)).collect();
            all.on(&DeviceTypes::Some(Set(Many(kinds))))
        }
        None => all,
    }
}

fn tags(trigger: &TagTrigger) -> Tags {
    [(trigger.group.clone().unwrap_or_default(), BTreeSet::from([trigger.tag.clone()]))].into()
}

/// Gives every device an id, and returns the devices as rows of the service. Of two with one channel id, the first is
/// stored.
fn name<'p>(persons: impl Iterator<Item = &'p mut Person>, start: Timestamp) -> Vec<Kept> {
    let mut rows: Vec<Kept> = Vec::new();
    for (number, person) in (1..).zip(persons) {
        person.id = person.whole.channel.clone().unwrap_or_else(|| format!("{}-{number}", person.part.word()));
        let is_known = rows.iter().any(|row| row.key == person.id);
        rows.extend(stage::device(&person.id, &person.whole.form, true, start).ok().filter(|_| !is_known));
    }
    rows
}

/// The content of the service on one side.
fn units(plan: &Plan, side: Side) -> BTreeMap<Address, Unit> {
    let earlier = plan.told.earlier.iter();
    let kept: BTreeSet<&str> =
        plan.changes.iter().filter_map(old_id).chain(earlier.clone().map(|old| old.id.as_str())).collect();
    let point = |audiences: &[&str], spec: &Shared, refs: Option<&BTreeMap<String, String>>| {
        pointed(audiences, spec, &mut |reference| {
            let id = reference.as_str().and_then(|key| refs?.get(key)).filter(|id| kept.contains(id.as_str()));
            id.map_or_else(|| reference.clone(), |id| id.as_str().into())
        })
    };
    let versions = earlier.map(|old| {
        let spec = point(kinds::api(&old.address).audiences(), &old.spec, Some(&old.refs));
        (Address::new(old.address.kind, &old.id), Unit::of(spec))
    });
    let unit = |change: &Change| {
        let start = review::start(change);
        let spec = if side == Side::Before { start } else { review::end(change) }?;
        let is_new = start.is_none_or(|start| !std::ptr::eq(start, spec));
        let kept_refs = plan.told.of.get(&change.address).map(|of| &of.earlier);
        let refs = change.outdated_refs().filter(|_| !is_new).or(kept_refs);
        let spec = point(kinds::api(&change.address).audiences(), spec, refs);
        let address = match old_id(change) {
            Some(id) => Address::new(change.address.kind, id),
            None => change.address.clone(),
        };
        Some((address, Unit::of(spec)))
    };
    versions.chain(plan.changes.iter().filter_map(unit)).collect()
}

/// The id of an earlier version that something else replaced.
fn old_id(change: &Change) -> Option<&str> {
    change.reasons.iter().find_map(|reason| match reason {
        Reason::Retired { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

/// Plays one side: the events of the devices, until the end.
async fn play<'p>(
    stage: &Stage,
    persons: impl Iterator<Item = &'p Person> + Clone,
    side: Side,
    until: Timestamp,
) -> Result<BTreeMap<(String, Side), Vec<LockScreen>>, Failure> {
    let replay = stage.begin(Vec::new())?;
    // Pushes sent while the resources were applied are not part of the replay.
    let earlier: BTreeSet<String> =
        replay.sent().await?.iter().filter_map(|push| push["push_id"].as_str().map(str::to_owned)).collect();
    let mut events: Vec<(&Person, &TagEvent)> =
        persons.clone().filter_map(|person| Some((person, person.event.as_ref()?))).collect();
    events.sort_by_key(|(_, event)| event.at);
    for (person, TagEvent { at, trigger }) in events {
        replay.wait(*at).await?;
        happen(&replay, &person.id, trigger).await?;
    }
    replay.wait(until).await?;
    let mut found = BTreeMap::new();
    for person in persons {
        let received = replay.received(&person.id, &person.whole.device_type).await.unwrap_or_default();
        let own = received.into_iter().filter(|receipt| !earlier.contains(&receipt.push_id));
        let screens = own.take(MOST_SCREENS).map(|receipt| screen(receipt, &person.whole.device_type)).collect();
        found.insert((person.id.clone(), side), screens);
    }
    Ok(found)
}

async fn happen(replay: &Replay<'_>, device: &str, trigger: &TagTrigger) -> anyhow::Result<()> {
    let tags = tags(trigger);
    match trigger.removed {
        false => replay.retag(device, &tags, |own, tags| own.extend(tags.iter().cloned())).await,
        true => replay.retag(device, &tags, |own, tags| own.retain(|tag| !tags.contains(tag))).await,
    }
}

/// A message as shown on the lock screen of a device.
fn screen(receipt: Receipt, device_type: &str) -> LockScreen {
    let kind = DeviceType::parse(device_type);
    let shown = |text: String| {
        let screen = look::screens(None).find(|screen| Some(&screen.device) == kind.as_ref());
        let cut = screen.and_then(|screen| screen.cut(text.trim_end())).map(|kept| format!("{kept}…"));
        cut.unwrap_or(text)
    };
    LockScreen {
        at: receipt.got.at,
        from: receipt.got.from,
        title: receipt.got.title,
        alert: receipt.got.alert.map(shown),
        message: receipt.got.message,
    }
}
