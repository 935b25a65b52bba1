//! Whether a device of some kind can be in an audience at all.

use std::collections::HashMap;

use crate::kinds::Segment;
use crate::manifest::Desired;
use crate::model::audience::{ChannelKey, SegmentRef, Selector, Tag};
use crate::model::device::DeviceType;
use crate::model::vocabulary::{self, Platform};

/// How deep segments are followed. Beyond that, everything counts as possible.
pub const DEPTH: usize = 32;

/// The question for one kind of device, with the answers for segments so far.
pub struct Possible<'d> {
    desired: &'d Desired,
    device: &'d DeviceType,
    known: HashMap<(&'d str, bool), bool>,
}

impl<'d> Possible<'d> {
    pub fn new(desired: &'d Desired, device: &'d DeviceType) -> Self {
        Self { desired, device, known: HashMap::new() }
    }

    /// Whether a device of this kind can match the selector. In doubt it can: each condition is looked at by itself.
    pub fn matches(&mut self, selector: &'d Selector) -> bool {
        self.can(selector, false, 0)
    }

    /// Whether it can match, or where `negated` can fail to.
    fn can(&mut self, selector: &'d Selector, negated: bool, depth: usize) -> bool {
        match selector {
            Selector::And(members) if !negated => members.iter().all(|member| self.can(member, negated, depth)),
            Selector::And(members) => members.iter().any(|member| self.can(member, negated, depth)),
            // The lists without conditions have a code of their own.
            Selector::Or(members) if members.is_empty() => true,
            Selector::Or(members) if negated => members.iter().all(|member| self.can(member, negated, depth)),
            Selector::Or(members) => members.iter().any(|member| self.can(member, negated, depth)),
            Selector::Not(member) => self.can(member, !negated, depth),
            Selector::Tag(Tag { group: Some(id), .. }) if !negated => {
                match vocabulary::group(id).and_then(|group| group.platform) {
                    Some(Platform::Ios) => *self.device == DeviceType::Ios,
                    Some(Platform::Android) => *self.device == DeviceType::Android,
                    None => true,
                }
            }
            Selector::Channel(key, _) if !negated => match key {
                ChannelKey::Any => true,
                ChannelKey::Open => matches!(self.device, DeviceType::Open(_)),
                ChannelKey::Ios | ChannelKey::Android | ChannelKey::Amazon => {
                    key.device().as_ref() == Some(self.device)
                }
            },
            Selector::Segment(reference) => match &reference.value {
                SegmentRef::Key(key) => self.segment(key, negated, depth),
                SegmentRef::Id(_) => true,
            },
            _ => true,
        }
    }

    fn segment(&mut self, key: &'d str, negated: bool, depth: usize) -> bool {
        if let Some(known) = self.known.get(&(key, negated)) {
            return *known;
        }
        let Some(segment) = self.desired.get::<Segment>(key).filter(|_| depth < DEPTH) else { return true };
        // A circle of segments comes back to this answer.
        self.known.insert((key, negated), true);
        let can = self.can(&segment.criteria, negated, depth + 1);
        self.known.insert((key, negated), can);
        can
    }
}
