//! Who is meant, before and after, and what that means.

use super::{Review, Side, after, before};
use crate::audience::{self, Audience, Line, Relation};
use crate::kinds::{self, Parts, Role, Spec, remote};
use crate::model::audience::{SegmentRef, Selector};
use crate::model::device::DeviceTypes;
use crate::node::At;
use crate::plan::{Change, Moved};
use crate::source::Span;

/// An audience of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// In a sentence, as it will be, or as it was where it goes.
    pub words: String,
    /// Where that names segments alone: who is in them.
    pub meaning: Option<String>,
    /// As a tree, with what comes and goes.
    pub tree: Vec<Marked>,
    /// It says the same as before, to the same kinds of device: what changes is a segment that it names.
    pub through: bool,
    /// What was last applied, where both sides have moved on from it.
    pub last_applied: Option<String>,
    /// How it changes; `None` where there is nothing to compare.
    pub effect: Option<Relation>,
}

/// A line of a tree, and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    pub mark: Mark,
    pub line: Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Same,
    Comes,
    Goes,
}

impl Review<'_> {
    /// The audiences of a change, each with what it was before. Those of a pipeline are whoever sets it off, and not told.
    pub fn who(&self, change: &Change) -> Vec<Who> {
        if kinds::api(&change.address).audiences().is_empty() {
            return Vec::new();
        }
        match self.known(change) {
            Some(known) => known.who.get_or_init(|| self.meant(change)).clone(),
            None => self.meant(change),
        }
    }

    fn meant(&self, change: &Change) -> Vec<Who> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        let of = |spec: &dyn Spec| -> Vec<Meant> {
            let mut parts = Parts::new(&key);
            spec.parts(&mut parts);
            let own = parts.audiences.iter().filter(|audience| audience.role != Role::Pipeline);
            own.map(|one| (one.selector.value.clone(), one.devices.map(|devices| devices.value.clone()))).collect()
        };
        let side = |side| self.of_resource(change, side, of).unwrap_or_default();
        let (old, new) = (side(Side::Before), side(Side::After));
        let applied = change.ledger.as_ref().filter(|_| change.moved == Some(Moved::Both));
        let applied = applied.and_then(|spec| kinds::api(&change.address).read(spec));
        let applied = applied.as_deref().map(of).unwrap_or_default();
        let last = |at: usize| {
            let (applied, _) = applied.get(at).filter(|applied| Some(*applied) != old.get(at))?;
            Some(audience::words(applied))
        };
        let settled = self.is_settled(change);
        let number = old.len().max(new.len());
        (0..number).map(|at| Who { last_applied: last(at), ..self.one(old.get(at), new.get(at), settled) }).collect()
    }

    /// Whether every segment that a change names means the same people on both sides.
    fn is_settled(&self, change: &Change) -> bool {
        let audiences = kinds::api(&change.address).audiences();
        let specs = before(change).into_iter().chain(after(change));
        specs.flat_map(|spec| remote::segments(audiences, spec)).all(|key| !self.moved.contains(key))
    }

    fn one(&self, old: Option<&Meant>, new: Option<&Meant>, settled: bool) -> Who {
        let lines = |meant: Option<&Meant>| meant.map(|(selector, _)| audience::tree(selector)).unwrap_or_default();
        let effect = old.zip(new).map(|(old, new)| {
            // What is written alike and names nothing that changes needs no proof.
            if settled && old == new {
                return Relation::Same;
            }
            let (before, after) = (self.audience(Side::Before, old), self.audience(Side::After, new));
            audience::compare(&before, &after)
        });
        Who {
            words: new.or(old).map(|(selector, _)| audience::words(selector)).unwrap_or_default(),
            meaning: new
                .map(|new| (Side::After, new))
                .or(old.map(|old| (Side::Before, old)))
                .and_then(|(side, meant)| self.meaning(side, meant)),
            tree: marked(&lines(old), &lines(new)),
            through: old.is_some() && old == new,
            last_applied: None,
            effect,
        }
    }

    /// Who is in the one segment that an audience is.
    fn meaning(&self, side: Side, (selector, _): &Meant) -> Option<String> {
        match selector {
            Selector::Segment(reference) => self.segment(side, reference).map(audience::words),
            _ => None,
        }
    }

    /// Those who are reached: an audience with its segments as they are on that side.
    fn audience(&self, side: Side, (selector, devices): &Meant) -> Audience {
        let audience = Audience::of(selector, |reference: &SegmentRef| self.segment(side, reference));
        match devices {
            Some(devices) => audience.on(devices),
            None => audience,
        }
    }
}

/// An audience, and the devices that it is reached on.
type Meant = (Selector, Option<DeviceTypes>);

/// Two trees as one. Lines that stay are those of the longest run that both have in the same order.
fn marked(old: &[Line], new: &[Line]) -> Vec<Marked> {
    let text = |lines: &[Line]| -> Vec<String> {
        lines.iter().map(|line| format!("{}{}", "  ".repeat(line.depth), line.text)).collect()
    };
    let (was, is) = (text(old), text(new));
    let mut found = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Patience, &was, &is) {
        let (tag, before, after) = op.as_tag_tuple();
        let goes = tag != similar::DiffTag::Equal;
        if goes {
            found.extend(old[before].iter().map(|line| Marked { mark: Mark::Goes, line: line.clone() }));
        }
        let mark = if goes { Mark::Comes } else { Mark::Same };
        found.extend(new[after].iter().map(|line| Marked { mark, line: line.clone() }));
    }
    found
}
