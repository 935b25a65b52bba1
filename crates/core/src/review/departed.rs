//! Channels that a plan installs or uninstalls. Before the one and after the other, they get no message, whatever an
//! audience says.

use pushplan_model::kinds::{self, Parts, Role, Spec, Whose};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::source::Span;

use super::{Review, Side, end, start};
use crate::plan::{Action, Change, Plan};

/// The maximal depth of nested segments, and the maximal number of channels.
const DEEPEST: usize = 60;
const MOST: usize = 40;

/// The fields of a channel from which the service derives tags, and the groups of these tags.
const DERIVED: [(&str, &str); 3] =
    [("locale_country", "ua_locale_country"), ("locale_language", "ua_locale_language"), ("timezone", "timezone")];

/// A channel that a plan installs or uninstalls.
#[derive(Debug)]
pub(super) struct Departed<'p> {
    pub whose: Whose,
    /// The side on which it is installed.
    pub side: Side,
    /// Its tags according to the plan, with their groups.
    tags: Vec<(Option<&'static str>, String)>,
    pub change: &'p Change,
}

impl<'p> Departed<'p> {
    pub fn all(plan: &'p Plan) -> Vec<Self> {
        let one = |change: &'p Change| {
            let api = kinds::api(&change.address);
            // The successor of a replaced channel has its tags.
            let (side, whole) = match change.action {
                Action::Delete => (Side::Before, start(change)),
                Action::Create => (Side::After, end(change)),
                _ => return None,
            };
            let other = if side == Side::Before { end(change) } else { None };
            let whose = api.departing(whole, other)?;
            let own = api.taggings(None, whole).into_iter().map(|tagging| (None, tagging.tag));
            let derived = DERIVED.iter().filter_map(|(field, group)| {
                let value = whole.and_then(|spec| spec[*field].as_str())?;
                Some((Some(*group), value.to_owned()))
            });
            Some(Self { whose, side, tags: own.chain(derived).collect(), change })
        };
        plan.changes.iter().filter_map(one).take(MOST).collect()
    }

    /// The effect in words: `uninstalls the open channel till-1`.
    pub fn words(&self) -> String {
        let verb = if self.side == Side::Before { "uninstalls" } else { "installs" };
        format!("{verb} {}", self.whose.who)
    }

    fn has(&self, Tag { tag, group }: &Tag) -> bool {
        let group = group.as_ref().map(|group| group.value.as_str());
        self.tags.iter().any(|(own, name)| *own == group && *name == tag.value)
    }
}

impl<'p> Review<'p> {
    /// The channels that the plan installs or uninstalls and that are in the audience of a change while installed.
    pub(super) fn departed_from(&self, change: &Change) -> Vec<&Departed<'p>> {
        if self.departed.is_empty() {
            return Vec::new();
        }
        let key = At::new(change.address.key.clone(), Span::NONE);
        let on = |side: Side| {
            let named = self.of_resource(change, side, |spec: &dyn Spec| {
                let mut parts = Parts::new(&key);
                spec.parts(&mut parts);
                let own = parts.audiences.iter().find(|audience| audience.role == Role::Push)?;
                let outdated = self.with_outdated(change, side, &own.selector.value);
                let selector = outdated.as_ref().unwrap_or(&own.selector.value);
                let is_reached = |one: &&Departed| {
                    let device = one.whose.device.as_ref();
                    let is_sent =
                        own.devices.zip(device).is_none_or(|(devices, device)| devices.value.includes(device));
                    one.side == side && is_sent && self.includes(side, selector, one, DEEPEST)
                };
                Some(self.departed.iter().filter(is_reached).collect::<Vec<_>>())
            });
            named.flatten().unwrap_or_default()
        };
        [Side::Before, Side::After].into_iter().flat_map(on).collect()
    }

    /// Whether an audience on one side includes a channel, according to the plan.
    fn includes(&self, side: Side, selector: &Selector, one: &Departed, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let includes = |member: &At<Selector>| self.includes(side, &member.value, one, depth);
        match selector {
            Selector::All => true,
            Selector::And(members) => members.iter().all(includes),
            Selector::Or(members) => members.iter().any(includes),
            Selector::Not(inner) => !includes(inner),
            Selector::Segment(reference) => {
                let criteria = self.segment(side, &reference.value);
                criteria.is_some_and(|criteria| self.includes(side, criteria, one, depth))
            }
            Selector::Tag(tag) => one.has(tag),
            // The files give no attributes to a channel.
            Selector::Attribute(attribute) => attribute.matches_missing(),
            other => *other == one.whose.selector,
        }
    }

    /// An audience without the channels in it that are not installed on that side; `None` if all are installed.
    pub(super) fn without_departed(&self, change: &Change, side: Side, selector: &Selector) -> Option<Selector> {
        let known = self.departed_from(change);
        let is_known = |one: &Departed| known.iter().any(|other| std::ptr::eq(*other, one));
        let is_absent =
            |one: &&Departed| one.side != side && (is_known(one) || self.includes(side, selector, one, DEEPEST));
        let departed: Vec<&Departed> = self.departed.iter().filter(is_absent).collect();
        let at = |selector: Selector| At::new(selector, Span::NONE);
        let without = |one: &&Departed| at(Selector::Not(Box::new(at(one.whose.selector.clone()))));
        let rest: Vec<At<Selector>> = departed.iter().map(without).collect();
        let own = std::iter::once(at(selector.clone()));
        (!rest.is_empty()).then(|| Selector::And(own.chain(rest).collect()))
    }
}
