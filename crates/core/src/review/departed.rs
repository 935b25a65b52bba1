//! Channels that a plan uninstalls. They get no message any more, whatever an audience says.

use pushplan_model::kinds::{self, Parts, Role, Spec, Whose};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, Tag};
use pushplan_model::source::Span;

use super::{Review, Side, end, start};
use crate::plan::{Action, Change, Plan};

/// How deep segments are followed, and how many channels are looked at.
const DEEPEST: usize = 60;
const MOST: usize = 40;

/// A channel that a plan uninstalls.
#[derive(Debug)]
pub(super) struct Departed<'p> {
    pub whose: Whose,
    /// The tags that the plan knows it has.
    tags: Vec<String>,
    pub change: &'p Change,
}

impl<'p> Departed<'p> {
    pub fn all(plan: &'p Plan) -> Vec<Self> {
        // One that is replaced has a successor with its tags.
        let acts = |change: &&Change| change.action == Action::Delete;
        let one = |change: &'p Change| {
            let api = kinds::api(&change.address);
            let whose = api.departing(start(change), end(change))?;
            let tags = api.taggings(None, start(change)).into_iter().map(|tagging| tagging.tag).collect();
            Some(Self { whose, tags, change })
        };
        plan.changes.iter().filter(acts).filter_map(one).take(MOST).collect()
    }
}

impl<'p> Review<'p> {
    /// The channels that the plan uninstalls and that may get the pushes of a change until then.
    pub(super) fn departed_from(&self, change: &Change) -> Vec<&Departed<'p>> {
        if self.departed.is_empty() {
            return Vec::new();
        }
        let key = At::new(change.address.key.clone(), Span::NONE);
        let named = self.of_resource(change, Side::Before, |spec: &dyn Spec| {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().find(|audience| audience.role == Role::Push)?;
            let is_reached = |one: &&Departed| {
                let device = one.whose.device.as_ref();
                let is_sent = own.devices.zip(device).is_none_or(|(devices, device)| devices.value.includes(device));
                is_sent && self.names(&own.selector.value, one, false, DEEPEST)
            };
            Some(self.departed.iter().filter(is_reached).collect())
        });
        named.flatten().unwrap_or_default()
    }

    /// Whether an audience includes a channel, a tag of it, or everyone, outside its exclusions.
    fn names(&self, selector: &Selector, one: &Departed, is_excluding: bool, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match selector {
            Selector::And(members) | Selector::Or(members) => {
                members.iter().any(|member| self.names(member, one, is_excluding, depth))
            }
            Selector::Not(inner) => self.names(inner, one, !is_excluding, depth),
            Selector::Segment(reference) => {
                let criteria = self.segment(Side::Before, &reference.value);
                criteria.is_some_and(|criteria| self.names(criteria, one, is_excluding, depth))
            }
            Selector::All => !is_excluding,
            Selector::Tag(Tag { tag, group: None }) => !is_excluding && one.tags.contains(&tag.value),
            other => !is_excluding && *other == one.whose.selector,
        }
    }

    /// The audience of a change without the channels that the plan uninstalls; `None` if it loses none.
    pub(super) fn without_departed(&self, change: &Change, side: Side, selector: &Selector) -> Option<Selector> {
        let departed = if side == Side::After { self.departed_from(change) } else { Vec::new() };
        let at = |selector: Selector| At::new(selector, Span::NONE);
        let without = |one: &&Departed| at(Selector::Not(Box::new(at(one.whose.selector.clone()))));
        let rest: Vec<At<Selector>> = departed.iter().map(without).collect();
        let own = std::iter::once(at(selector.clone()));
        (!rest.is_empty()).then(|| Selector::And(own.chain(rest).collect()))
    }
}
