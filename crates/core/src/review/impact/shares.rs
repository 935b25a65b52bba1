//! The shares of an audience that the variants of an experiment get, before and after.

use pushplan_model::kinds::{Parts, Spec};
use pushplan_model::node::At;
use pushplan_model::nouns::split::{Share, Split};
use pushplan_model::population::DeviceCount;
use pushplan_model::source::Span;

use super::sides::Messages;
use super::{MessageChange, MessageClass, MessageFate};
use crate::plan::{Change, ReachChange};
use crate::review::{Review, Side};

/// The share of a variant and the number of variants, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariantShares {
    /// `None` if the variant is new.
    pub old: Option<Share>,
    /// `None` if the variant is cancelled.
    pub new: Option<Share>,
    pub variants: (usize, usize),
    /// Whether the audience of an existing experiment is divided in another way.
    pub is_moved: bool,
    /// Whether all variants have equal shares and everyone gets one, before and after.
    pub is_even: bool,
}

impl Review<'_> {
    /// How the audience of a change is divided, before and after. `None` if all parts are equal, before and after.
    pub fn splits(&self, change: &Change) -> Option<(Option<Split>, Option<Split>)> {
        let key = At::new(change.address.key.clone(), Span::NONE);
        let split = |side| {
            let split = self.of_resource(change, side, |spec: &dyn Spec| {
                let mut parts = Parts::new(&key);
                spec.parts(&mut parts);
                parts.split
            });
            split.flatten()
        };
        let both = (split(Side::Before), split(Side::After));
        let is_even = |split: &Option<Split>| split.as_ref().is_none_or(Split::is_even);
        (!is_even(&both.0) || !is_even(&both.1)).then_some(both)
    }
}

impl MessageChange {
    /// Whether it is a variant that only a part of its audience gets, so that the number of its devices is an estimate.
    pub fn is_part_of_its_audience(&self) -> bool {
        let is_part = |share: Option<Share>| share.is_some_and(|share| !share.is_same(Share(1.0)));
        self.shares.is_some_and(|shares| is_part(shares.old) || is_part(shares.new))
    }
}

impl VariantShares {
    pub(super) fn of((old, new): (&Messages, &Messages), (was, is): (Option<usize>, Option<usize>)) -> Option<Self> {
        let share = |messages: &Messages, at: Option<usize>| messages.split.as_ref()?.share(at?);
        let splits = || old.split.iter().chain(&new.split);
        splits().next()?;
        let is_both = !old.texts.is_empty() && !new.texts.is_empty();
        Some(Self {
            old: share(old, was),
            new: share(new, is),
            variants: (old.texts.len(), new.texts.len()),
            is_moved: is_both && old.split != new.split,
            is_even: splits().all(Split::is_even),
        })
    }

    /// The old and the new share, if they differ.
    pub fn moved(&self) -> Option<(Share, Share)> {
        self.old.zip(self.new).filter(|(old, new)| !old.is_same(*new))
    }

    /// The old and the new share in words, if they differ.
    pub fn moved_words(&self) -> Option<(String, String)> {
        self.moved().map(|(old, new)| Share::both(old, new, self.is_even))
    }

    /// The class of a variant whose share changes.
    pub(super) fn class(&self) -> Option<MessageClass> {
        let (old, new) = self.moved()?;
        Some(if new > old { MessageClass::More } else { MessageClass::Fewer })
    }

    /// Whether a reader has to be told the share: it changes, or it is not an equal part of the audience.
    pub fn is_said(&self, fate: MessageFate) -> bool {
        match fate {
            MessageFate::Changed => self.moved().is_some(),
            MessageFate::New => self.is_moved || !self.is_even,
            MessageFate::Cancelled | MessageFate::Sent => false,
        }
    }

    /// The devices of this variant, from those of the whole audience.
    pub(super) fn reach(&self, whole: ReachChange) -> ReachChange {
        let part = |count: Option<DeviceCount>, share: Option<Share>| {
            let (DeviceCount { at_least, at_most }, share) = (count?, share?);
            Some(DeviceCount { at_least: share.of(at_least), at_most: share.of(at_most) })
        };
        ReachChange { before: part(whole.before, self.old), after: part(whole.after, self.new) }
    }
}
