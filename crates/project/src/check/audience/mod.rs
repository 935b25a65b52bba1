//! Audiences: tags that no device has, devices that the push does not reach, conditions that cannot be combined.

mod compounds;
mod conditions;
mod devices;
mod extremes;
pub(super) mod locales;
mod possible;
mod tags;
mod zones;

use std::collections::HashSet;

use pushplan_model::codes;
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{SegmentRef, Selector};
use pushplan_model::source::Span;

use super::{Check, CheckScope};
use crate::manifest::Desired;

pub const TAGS: Check = Check {
    codes: &[
        &codes::AU101,
        &codes::AU102,
        &codes::AU103,
        &codes::AU104,
        &codes::AU105,
        &codes::AU106,
        &codes::AU107,
        &codes::AU108,
        &codes::AU121,
        &codes::AU110,
    ],
    run: CheckScope::Each(tags::tags),
};

pub const DEVICES: Check = Check { codes: &[&codes::AU111, &codes::AU112], run: CheckScope::Each(devices::devices) };

pub(crate) const COMPOUNDS: Check = Check {
    codes: &[&codes::AU113, &codes::AU115, &codes::AU117, &codes::AU118],
    run: CheckScope::Each(compounds::compounds),
};

pub const LOCATION: Check = Check { codes: &[&codes::AU114], run: CheckScope::Each(compounds::location) };

pub const EXCLUSIVE: Check = Check { codes: &[&codes::AU119], run: CheckScope::Each(compounds::exclusive) };

/// Runs after the checks above, so that it does not repeat their findings.
pub const EXTREMES: Check = Check { codes: &[&codes::AU119, &codes::AU120], run: CheckScope::Each(extremes::extremes) };

/// A selector of an audience, directly or through a segment.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'d> {
    pub selector: &'d At<Selector>,
    /// The segment in the audience through which it was found; `None` for the audience's own selectors.
    pub through: Option<Span>,
    /// Whether it is negated.
    pub negated: bool,
}

/// Visits every selector of an audience, outermost first, and the stored conditions of the project's segments in it.
pub fn reach<'d>(desired: &'d Desired, audience: &'d At<Selector>, visit: &mut dyn FnMut(Reached<'d>)) {
    let mut followed = HashSet::new();
    let mut open = vec![Reached { selector: audience, through: None, negated: false }];
    while let Some(reached) = open.pop() {
        visit(reached);
        let Reached { selector, through, negated } = reached;
        let within = negated != matches!(selector.value, Selector::Not(_));
        let members = selector.members().iter().rev();
        open.extend(members.map(|selector| Reached { selector, through, negated: within }));
        if let Some((key, at)) = segment(selector)
            && followed.insert((key, negated))
        {
            let conditions = desired.conditions.get_or_init(|| conditions::of_segments(desired));
            for (selector, inside) in conditions.get(key).into_iter().flatten() {
                visit(Reached { selector, through: Some(at), negated: negated != *inside });
            }
        }
    }
}

/// The key of the segment that a selector names, and its position.
fn segment(selector: &Selector) -> Option<(&str, Span)> {
    let Selector::Segment(reference) = selector else { return None };
    let SegmentRef::Key(key) = &reference.value else { return None };
    Some((key.as_str(), reference.span))
}
