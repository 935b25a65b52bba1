//! Targets that differ only in the values of their variables: with the names of the variables, their texts are equal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Several;
use crate::address::Address;
use crate::node::Shared;
use crate::plan::Plan;
use crate::render::escape::markdown::text as escaped;
use crate::text::quoted;

/// The fields that contain the texts of messages.
const TEXTS: [&str; 2] = ["notification", "message"];

/// The values of a target's variables, the longest first, each with its replacement: `${var.discount}`.
type NamedValues<'p> = Vec<(&'p str, String)>;

/// `${var.discount}`.
fn name(variable: &str) -> String {
    format!("${{var.{variable}}}")
}

/// The variables of messages whose values differ between targets.
pub(super) fn differing<'p>(several: &Several<'p>) -> BTreeSet<&'p str> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for plan in several.plans() {
        for (variable, filled) in &plan.told.variables {
            values.entry(variable).or_default().insert(&filled.value);
        }
    }
    values.into_iter().filter(|(_, values)| values.len() > 1).map(|(variable, _)| variable).collect()
}

/// A plan whose messages contain the names of these variables instead of their values, if any message uses one.
pub(super) fn with_names(plan: &Plan, variables: &BTreeSet<&str>) -> Option<Plan> {
    let is_used = |used: &[String]| used.iter().any(|variable| variables.contains(variable.as_str()));
    let uses = |address: &Address| plan.told.of.get(address).is_some_and(|aside| is_used(&aside.variables));
    if !plan.changes.iter().any(|change| uses(&change.address)) {
        return None;
    }
    let filled = plan.told.variables.iter().filter(|(variable, _)| variables.contains(variable.as_str()));
    let mut names: NamedValues = filled.map(|(variable, filled)| (filled.value.as_str(), name(variable))).collect();
    names.retain(|(value, _)| !value.is_empty());
    names.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    let mut named = plan.clone();
    for change in named.changes.iter_mut().filter(|change| uses(&change.address)) {
        for spec in [&mut change.desired, &mut change.live, &mut change.ledger].into_iter().flatten() {
            let mut value = spec.tree().into_owned();
            name_in(&mut value, false, &names);
            *spec = Shared::from(value);
        }
    }
    Some(named)
}

/// Replaces values with names in the texts below. URLs keep the values, because a reviewer could not check them
/// otherwise.
fn name_in(value: &mut Value, is_text: bool, names: &NamedValues) {
    match value {
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, field)| name_in(field, is_text || TEXTS.contains(&key.as_str()), names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_in(item, is_text, names)),
        Value::String(text) if is_text && !text.contains("://") => {
            for (value, name) in names {
                *text = replaced(text, value, name);
            }
        }
        _ => {}
    }
}

/// Replaces the occurrences of a value that are not part of a longer word or number.
fn replaced(text: &str, value: &str, name: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let joins = |outside: Option<char>, inside: Option<char>| {
            outside.is_some_and(char::is_alphanumeric) && inside.is_some_and(char::is_alphanumeric)
        };
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        let is_part = joins(last, value.chars().next()) || joins(after.chars().next(), value.chars().next_back());
        out.push_str(before);
        out.push_str(if is_part { value } else { name });
        rest = after;
    }
    out + rest
}

/// Whether a text with names has the same content as the text with values, including remarks on lengths and reasons.
/// Line breaks are ignored.
pub(super) fn is_same(named: &str, own: &str, plan: &Plan) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut filled = words(named);
    for (variable, value) in &plan.told.variables {
        let name = name(variable);
        filled = filled.replace(&name, &words(&value.value)).replace(&escaped(&name), &words(&escaped(&value.value)));
    }
    filled == words(own)
}

/// The values of each variable that is named in the texts: `${var.discount} is "10 %" on shop-de; "15 %" on shop-us`.
pub(super) fn values(several: &Several, targets: &[&str], variables: &BTreeSet<&str>, texts: &[&str]) -> Vec<String> {
    let is_named = |variable: &&&str| {
        let name = name(variable);
        texts.iter().any(|text| text.contains(&name) || text.contains(&escaped(&name)))
    };
    let value_of = |variable: &str| {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        for (target, view, _) in several.planned().filter(|(target, ..)| targets.contains(target)) {
            let Some(filled) = view.plan.told.variables.get(variable) else { continue };
            match values.iter_mut().find(|(value, _)| *value == filled.value) {
                Some((_, targets)) => targets.push(target),
                None => values.push((&filled.value, vec![target])),
            }
        }
        let on = |(value, targets): &(&str, Vec<&str>)| format!("{} on {}", quoted(value), targets.join(", "));
        let values: Vec<String> = values.iter().map(on).collect();
        format!("{} is {}", name(variable), values.join("; "))
    };
    if targets.len() < 2 {
        return Vec::new();
    }
    variables.iter().filter(is_named).map(|variable| value_of(variable)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_where_it_stands_by_itself() {
        for (text, value, expected) in [
            ("Hi 10 % off", "10 %", "Hi <> off"),
            ("10, 100 and 10", "10", "<>, 100 and <>"),
            ("rede de de", "de", "rede <> <>"),
            ("10%10%", "10%", "<><>"),
            ("nothing", "x", "nothing"),
            ("été", "é", "été"),
        ] {
            assert_eq!(replaced(text, value, "<>"), expected, "{text}");
        }
    }
}
