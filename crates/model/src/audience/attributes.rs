//! Relations between conditions on one attribute: more than 100 implies more than 10, and nothing is both more than 10
//! and less than 5.
//!
//! A device has no value of an attribute, or a number, a text or something else. Numbers are ordered by size and texts
//! by their letters. Each bound in a condition has a literal for "at least" and one for "more than", in the order of
//! the bounds. Conditions with unknown operators are left open.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::solver::{Lit, Solver};

/// A condition on an attribute.
struct Test {
    operator: Operator,
    bound: Json,
    /// Holds if the condition does.
    lit: Lit,
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Equals,
    Less,
    Greater,
    Contains,
    Present,
}

impl Test {
    /// Returns the name of the attribute, and the condition; `None` if the operator is unknown.
    fn read(written: &str, lit: Lit) -> Option<(String, Self)> {
        let written: Json = serde_json::from_str(written).ok()?;
        let name = written["attribute"].as_str()?.to_owned();
        let (operator, is_opposite) = match written["operator"].as_str().unwrap_or("equals") {
            "equals" => (Operator::Equals, false),
            "not_equals" => (Operator::Equals, true),
            "less" | "less_than" | "before" => (Operator::Less, false),
            "greater" | "greater_than" | "after" => (Operator::Greater, false),
            "contains" => (Operator::Contains, false),
            "not_contains" => (Operator::Contains, true),
            "is_empty" => (Operator::Present, true),
            "is_not_empty" => (Operator::Present, false),
            _ => return None,
        };
        let bound = written["value"].clone();
        if bound.is_null() && operator != Operator::Present {
            return None;
        }
        Some((name, Self { operator, bound, lit: if is_opposite { !lit } else { lit } }))
    }
}

/// A bound, with literals for "at least" and "more than".
struct Bound<'t> {
    bound: &'t Json,
    at_least: Lit,
    more: Lit,
}

/// Adds the clauses that hold for the attributes of every device, for conditions as written.
pub(super) fn laws<'t>(solver: &mut Solver, conditions: impl Iterator<Item = (&'t str, Lit)>) {
    let mut tests: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for (name, test) in conditions.filter_map(|(written, lit)| Test::read(written, lit)) {
        tests.entry(name).or_default().push(test);
    }
    tests.values().filter(|tests| tests.len() > 1).for_each(|tests| of_one(solver, tests));
}

fn of_one(solver: &mut Solver, tests: &[Test]) {
    let present = solver.variable();
    let (number, text) = (solver.variable(), solver.variable());
    solver.clause([!number, present]);
    solver.clause([!text, present]);
    solver.clause([!number, !text]);
    for (is_kind, of_kind) in [(Json::is_number as fn(&Json) -> bool, number), (Json::is_string, text)] {
        let own: Vec<&Test> = tests.iter().filter(|test| is_kind(&test.bound)).collect();
        ordered(solver, &own, of_kind);
    }
    let mut others: Vec<(&Json, Lit)> = Vec::new();
    let mut parts: Vec<(&Json, Lit)> = Vec::new();
    for Test { operator, bound, lit } in tests {
        let is_ordered = bound.is_number() || bound.is_string();
        match operator {
            Operator::Present => same(solver, *lit, present),
            Operator::Contains => part(solver, &mut parts, bound, *lit),
            Operator::Equals if !is_ordered => {
                [present, !number, !text].into_iter().for_each(|holds| solver.clause([!*lit, holds]));
                let others_of = others.iter().filter(|(other, _)| *other != bound);
                others_of.for_each(|(_, other)| solver.clause([!*lit, !*other]));
                let alike = others.iter().find(|(other, _)| *other == bound).map(|(_, other)| *other);
                alike.into_iter().for_each(|other| same(solver, *lit, other));
                others.push((bound, *lit));
            }
            // Only values of one type have an order.
            Operator::Less | Operator::Greater if !is_ordered => solver.clause([!*lit]),
            Operator::Equals | Operator::Less | Operator::Greater => {}
        }
    }
    for (bound, lit) in &parts {
        solver.clause([!*lit, present]);
        solver.clause([!*lit, !number]);
        let Some(bound) = bound.as_str() else {
            solver.clause([!*lit, !text]);
            continue;
        };
        for (other, also) in &parts {
            if other.as_str().is_some_and(|other| other != bound && bound.contains(other)) {
                solver.clause([!*lit, !text, *also]);
            }
        }
        for test in tests.iter().filter(|test| test.operator == Operator::Equals) {
            if let Some(whole) = test.bound.as_str() {
                let lit = if whole.contains(bound) { *lit } else { !*lit };
                solver.clause([!test.lit, lit]);
            }
        }
    }
}

/// Adds a condition. Conditions with the same part are equivalent.
fn part<'t>(solver: &mut Solver, parts: &mut Vec<(&'t Json, Lit)>, bound: &'t Json, lit: Lit) {
    match parts.iter().find(|(other, _)| *other == bound) {
        Some((_, other)) => same(solver, lit, *other),
        None => parts.push((bound, lit)),
    }
}

/// Adds the bounds of one type, in order, and the conditions that compare with them.
fn ordered(solver: &mut Solver, tests: &[&Test], of_kind: Lit) {
    let compares = |test: &&&Test| !matches!(test.operator, Operator::Contains | Operator::Present);
    let mut values: Vec<&Json> = tests.iter().filter(compares).map(|test| &test.bound).collect();
    values.sort_by(|one, other| order(one, other));
    values.dedup_by(|one, other| order(one, other).is_eq());
    let mut bounds: Vec<Bound> = Vec::new();
    for bound in values {
        let (at_least, more) = (solver.variable(), solver.variable());
        solver.clause([!at_least, of_kind]);
        solver.clause([!more, at_least]);
        if let Some(below) = bounds.last() {
            solver.clause([!at_least, below.more]);
        }
        // No text is less than the empty one.
        if bound.as_str() == Some("") {
            solver.clause([!of_kind, at_least]);
        }
        bounds.push(Bound { bound, at_least, more });
    }
    for test in tests.iter().filter(compares) {
        let Some(Bound { at_least, more, .. }) = bounds.iter().find(|it| order(it.bound, &test.bound).is_eq()) else {
            continue;
        };
        match test.operator {
            Operator::Equals => both(solver, test.lit, *at_least, !*more),
            Operator::Less => both(solver, test.lit, of_kind, !*at_least),
            Operator::Greater => same(solver, test.lit, *more),
            Operator::Contains | Operator::Present => {}
        }
    }
}

fn order(one: &Json, other: &Json) -> std::cmp::Ordering {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => one.as_str().cmp(&other.as_str()),
    }
}

/// Adds that two literals are equivalent.
fn same(solver: &mut Solver, one: Lit, other: Lit) {
    solver.clause([!one, other]);
    solver.clause([!other, one]);
}

/// Adds that a literal is equivalent to the conjunction of two others.
fn both(solver: &mut Solver, lit: Lit, one: Lit, other: Lit) {
    solver.clause([!lit, one]);
    solver.clause([!lit, other]);
    solver.clause([lit, !one, !other]);
}
