//! Explains in words why a device is or is not in an audience.

use std::collections::{BTreeSet, HashSet};

use pushplan_model::audience;
use pushplan_model::nouns::audience::{Attribute, ChannelKey, Location, SegmentRef, Selector, Tag};
use pushplan_model::nouns::vocabulary::{self, Group, NO_TIME_ZONE, UNKNOWN, Values};
use pushplan_model::text;
use serde::Serialize;

use crate::state::App;
use crate::state::devices::{Device, Members, NO_GROUP, property_tags};

/// The maximum number of names in a sentence.
const LISTED: usize = 10;

/// A condition, and whether a device meets it.
#[derive(Debug, Serialize)]
pub struct Reason {
    /// The condition: `country = US`.
    pub condition: String,
    pub holds: bool,
    /// What the device has instead, or why it has it: `it is DE`.
    pub because: Option<String>,
    /// The whole sentence: `country = US: no, it is DE`.
    pub words: String,
    /// The parts of the condition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Reason>,
}

impl Reason {
    fn new(condition: String, holds: bool, because: Option<String>) -> Self {
        let answer = if holds { "yes" } else { "no" };
        let words = match &because {
            Some(because) => format!("{condition}: {answer}, {because}"),
            None => format!("{condition}: {answer}"),
        };
        Self { condition, holds, because, words, conditions: Vec::new() }
    }

    fn of(mut self, conditions: Vec<Reason>) -> Self {
        self.conditions = conditions;
        self
    }
}

/// Explains one device. The decision is made by the same code as for pushes; only the words are made here.
pub struct Explainer<'a> {
    app: &'a App,
    members: Members<'a>,
    id: &'a str,
    /// Segments that have been explained. Each is explained once.
    explained: HashSet<String>,
}

impl<'a> Explainer<'a> {
    pub fn new(app: &'a App, members: Members<'a>, id: &'a str) -> Self {
        Self { app, members, id, explained: HashSet::new() }
    }

    pub fn why(&mut self, selector: &Selector) -> Reason {
        let device = self.app.devices.get(self.id).zip(self.app.devices.by_id(self.id));
        match device {
            Some((device, number)) if device.installed => self.reason(selector, device, number),
            _ => {
                let because = "and a device without the app is in no audience";
                Reason::new("has the app".to_owned(), false, Some(because.to_owned()))
            }
        }
    }

    fn reason(&mut self, selector: &Selector, device: &Device, number: u32) -> Reason {
        let holds = self.members.matches(selector, number);
        let instead = match selector {
            Selector::All => None,
            Selector::Triggered => Some("only a pipeline's outcome has such a device".to_owned()),
            Selector::Tag(Tag { tag, group }) => match group.as_ref().and_then(|group| vocabulary::group(group)) {
                Some(group) => Some(property(group, tag, device)),
                None => {
                    let group = group.as_ref().map_or(NO_GROUP, |group| group);
                    return self.tag(audience::words(selector), tag, group, device, holds);
                }
            },
            Selector::Channel(key, id) => Some(channel(*key, id, self.id, device)),
            Selector::NamedUser(_) => {
                let own = device.named_user.as_ref();
                Some(own.map_or("it has no named user".to_owned(), |own| format!("its named user is {own}")))
            }
            Selector::Segment(reference) => return self.segment(reference, device, number, holds),
            Selector::StaticList(_) => Some(on(&device.lists)),
            Selector::SubscriptionList(_) => Some(on(&device.subscriptions)),
            Selector::Location(location) => Some(place(location, device)),
            Selector::Attribute(attribute) => Some(self::attribute(attribute, device)),
            Selector::And(_) | Selector::Or(_) | Selector::Not(_) => {
                return self.compound(selector, device, number, holds);
            }
        };
        Reason::new(audience::words(selector), holds, instead.filter(|_| !holds))
    }

    fn compound(&mut self, selector: &Selector, device: &Device, number: u32, holds: bool) -> Reason {
        let conditions: Vec<Reason> =
            selector.members().iter().map(|member| self.reason(member, device, number)).collect();
        let condition = match selector {
            Selector::And(_) => "all of these",
            Selector::Or(_) => "any of these",
            _ => "none of this",
        };
        let met = conditions.iter().filter(|reason| reason.holds).count();
        let because = match selector {
            Selector::Not(_) => None,
            _ if conditions.is_empty() => Some("there are no conditions".to_owned()),
            Selector::And(_) if !holds => Some(format!("only {met} of {} match", conditions.len())),
            _ => Some(format!("{met} of {} match", conditions.len())),
        };
        Reason::new(condition.to_owned(), holds, because).of(conditions)
    }

    fn segment(&mut self, reference: &SegmentRef, device: &Device, number: u32, holds: bool) -> Reason {
        let (SegmentRef::Key(id) | SegmentRef::Id(id)) = reference;
        let app = self.app;
        let (Some(segment), Some(criteria)) = (app.segments.table.get(id), app.segments.criteria.get(id)) else {
            return Reason::new(format!("segment {id}"), holds, Some("there is no such segment".to_owned()));
        };
        let condition = format!("segment {} ({id})", segment.display_name);
        if !self.explained.insert(id.clone()) {
            return Reason::new(condition, holds, Some("explained above".to_owned()));
        }
        let inner = self.reason(criteria, device, number);
        Reason::new(condition, holds, None).of(vec![inner])
    }

    fn tag(&self, condition: String, tag: &str, group: &str, device: &Device, holds: bool) -> Reason {
        let user = device.named_user.as_ref();
        let of_user = user.and_then(|user| Some((user, &self.app.named_users.get(user)?.tags)));
        if holds {
            let by_itself = device.tags.get(group).is_some_and(|tags| tags.contains(tag));
            let through = of_user.filter(|_| !by_itself).map(|(user, _)| format!("through its named user {user}"));
            return Reason::new(condition, holds, through);
        }
        let sources = || [Some(&*device.tags), of_user.map(|(_, tags)| tags)].into_iter().flatten();
        let elsewhere = sources().flatten().find(|(_, tags)| tags.contains(tag));
        let instead = match elsewhere {
            Some((other, _)) if other.is_empty() => "it has it without a group".to_owned(),
            Some((other, _)) => format!("it has it in the group {other}"),
            None => {
                let there: BTreeSet<String> = sources().filter_map(|tags| tags.get(group)).flatten().cloned().collect();
                match there.is_empty() {
                    true if group.is_empty() => "it has no tag without a group".to_owned(),
                    true => "it has none there".to_owned(),
                    false => format!("it has {}", list(&there)),
                }
            }
        };
        Reason::new(condition, holds, Some(instead))
    }
}

/// Returns what a device reports for a property.
fn property(group: &Group, tag: &str, device: &Device) -> String {
    let own = property_tags(device).find(|(id, _)| *id == group.id).map(|(_, tag)| tag);
    if let (Values::Flag, "true" | "false") = (group.values, tag) {
        let instead = match own.as_deref() {
            Some("true") => "it is",
            Some(_) => "it is not",
            None => "it does not report this: that takes SDK 6.0 or later",
        };
        return instead.to_owned();
    }
    match own.as_deref() {
        None => format!("its type is {}", device.device_type),
        Some(UNKNOWN | NO_TIME_ZONE) => "it is not known".to_owned(),
        Some(own) => match &device.properties.timezone {
            Some(zone) if group.values == Values::TimeZone && zone != own => {
                format!("it is {own}, the nearest to {zone}")
            }
            _ => format!("it is {own}"),
        },
    }
}

fn channel(key: ChannelKey, wanted: &str, id: &str, device: &Device) -> String {
    if key == ChannelKey::Open {
        let own = device.address.as_ref();
        return own.map_or("it has no address".to_owned(), |own| format!("its address is {own}"));
    }
    if wanted == id { format!("its type is {}", device.device_type) } else { format!("it is {id}") }
}

fn place(Location { id, .. }: &Location, device: &Device) -> String {
    let seen = device.seen_at.get(id.as_str());
    seen.map_or("it was never seen there".to_owned(), |at| format!("it was last seen there at {at}"))
}

fn attribute(Attribute { attribute, .. }: &Attribute, device: &Device) -> String {
    let own = device.attributes.get(&attribute.value);
    own.map_or("it has no such attribute".to_owned(), |own| format!("it is {own}"))
}

fn on(lists: &BTreeSet<String>) -> String {
    if lists.is_empty() { "it is on none".to_owned() } else { format!("it is on {}", list(lists)) }
}

/// Returns the first names, and the number of the others.
fn list(names: &BTreeSet<String>) -> String {
    let mut words: Vec<String> = names.iter().take(LISTED).map(|name| text::short(name, 60)).collect();
    if names.len() > LISTED {
        words.push(format!("{} more", names.len() - LISTED));
    }
    text::all_of(&words)
}
