//! The fields that decide whether a triggered message is sent, before and after.

use pushplan_model::kinds::{self, SendRule, Spec};

use super::{Review, Side};
use crate::plan::Change;

/// Such a field of a change, in words on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleChange {
    pub field: &'static str,
    pub label: &'static str,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl Review<'_> {
    /// The fields of a change that decide whether its triggered messages are sent.
    pub fn rules(&self, change: &Change) -> Vec<RuleChange> {
        let fields = kinds::of(&change.address).rules;
        if fields.is_empty() {
            return Vec::new();
        }
        let rules = |side| self.of_resource(change, side, |spec: &dyn Spec| spec.rules()).unwrap_or_default();
        let (old, new) = (rules(Side::Before), rules(Side::After));
        let both = |field: &&'static str| {
            let of = |rules: &[SendRule]| rules.iter().find(|rule| rule.field == *field).cloned();
            let (old, new) = (of(&old), of(&new));
            let SendRule { field, label, .. } = new.clone().or(old.clone())?;
            Some(RuleChange { field, label, old: old.map(|rule| rule.words), new: new.map(|rule| rule.words) })
        };
        fields.iter().filter_map(both).collect()
    }
}
