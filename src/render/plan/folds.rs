//! Blocks with the same edit: the first ones are shown, the others only named.

use std::collections::HashMap;

use serde_json::Value;

use super::{Block, PlanView, Risk};
use crate::kinds;
use crate::plan::{Action, Moved};
use crate::review::fields::Difference;
use crate::review::{after, before, prose};
use crate::text::{all_of, count};

/// Up to this number of blocks with the same edit, all are shown.
const ALL: usize = 5;
/// The number that is shown if there are more.
const FIRST: usize = 2;
/// The number of the others that are named.
const NAMED: usize = 10;

/// An entry of a plan.
pub(super) enum Shown<'v, 'p> {
    One(&'v Block<'p>),
    /// Further blocks with the same edit as the block before.
    Others(Vec<&'v Block<'p>>),
}

/// The blocks of a plan in their order. Only edits that reach the same people at the same time are folded.
pub(super) fn shown<'v, 'p>(view: &'v PlanView<'p>) -> Vec<Shown<'v, 'p>> {
    let blocks = &view.blocks;
    if blocks.len() <= ALL {
        return blocks.iter().map(Shown::One).collect();
    }
    let keys: Vec<Option<String>> = crate::cores::each_of(blocks.iter().collect(), |block: &Block| key(block));
    let mut alike: HashMap<&str, Vec<&'v Block<'p>>> = HashMap::new();
    for (block, key) in blocks.iter().zip(&keys) {
        if let Some(key) = key {
            alike.entry(key).or_default().push(block);
        }
    }
    let mut met: HashMap<&str, usize> = HashMap::new();
    let mut out = Vec::with_capacity(blocks.len());
    for (block, key) in blocks.iter().zip(&keys) {
        let Some((key, all)) =
            key.as_deref().and_then(|key| Some((key, alike.get(key)?))).filter(|(_, all)| all.len() > ALL)
        else {
            out.push(Shown::One(block));
            continue;
        };
        let number = met.entry(key).or_default();
        *number += 1;
        match *number {
            number if number < FIRST => out.push(Shown::One(block)),
            FIRST => out.extend([Shown::One(block), Shown::Others(all[FIRST..].to_vec())]),
            _ => {}
        }
    }
    out
}

/// Two blocks with one key have the same edit.
fn key(block: &Block) -> Option<String> {
    let change = block.whole.filter(|_| block.parts.is_empty() && block.retired.is_empty())?;
    let is_calm = matches!(block.risk, Risk::Text | Risk::None);
    let is_ours = matches!(change.moved, None | Some(Moved::Git));
    if change.action != Action::Update || !is_calm || !is_ours || !change.reasons.is_empty() {
        return None;
    }
    let mut key = block.address.kind.to_string();
    for field in Difference::between(before(change), after(change)).fields {
        let edit = match (field.old, field.new) {
            (Some(Value::String(old)), Some(Value::String(new))) => prose::edit(Some(old), Some(new)),
            (old, new) => format!("{old:?} {new:?}"),
        };
        key.push_str(&format!("\n{} {:?} {edit}", field.path, field.moved));
    }
    Some(key)
}

/// `58 more scheduled pushes have the same edit: scheduled_pushes/a, scheduled_pushes/b and 56 more`.
pub(super) fn words(others: &[&Block]) -> String {
    let noun = others.first().and_then(|block| kinds::kind(&block.address.kind)).map_or("resource", |kind| kind.noun);
    let mut named: Vec<String> = others.iter().take(NAMED).map(|block| block.address.to_string()).collect();
    if others.len() > NAMED {
        named.push(format!("{} more", others.len() - NAMED));
    }
    let have = if others.len() == 1 { "has" } else { "have" };
    format!("{} {have} the same edit: {}", count(others.len(), &format!("more {noun}")), all_of(&named))
}
