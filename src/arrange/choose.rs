//! Choosing a part of the changes, with `--only` and `--except`.

use std::collections::BTreeSet;

use crate::address::Address;
use crate::compare::Compared;
use crate::kinds;
use crate::kinds::remote::segments;
use crate::kinds::{Resource, Segment};
use crate::plan::Action;

/// Which addresses are meant, by patterns such as `segments/*` or `scheduled_pushes/sale`.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub only: Vec<String>,
    pub except: Vec<String>,
}

impl Choice {
    fn takes(&self, address: &Address) -> bool {
        let is = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, address));
        (self.only.is_empty() || is(&self.only)) && !is(&self.except)
    }

    /// Leaves alone what is not chosen, and says what that is. What a chosen one needs is chosen with it.
    pub fn apply(&self, compared: &mut [Compared]) -> Vec<Address> {
        let mut taken: BTreeSet<Address> = BTreeSet::new();
        let mut open: Vec<Address> =
            compared.iter().map(|one| &one.change.address).filter(|address| self.takes(address)).cloned().collect();
        while let Some(address) = open.pop() {
            if !taken.insert(address.clone()) {
                continue;
            }
            let desired = compared.iter().find(|one| one.change.address == address);
            let Some(spec) = desired.and_then(|one| one.change.desired.as_ref()) else { continue };
            let named = segments(kinds::api(&address).audiences(), spec);
            open.extend(named.into_iter().map(|key| Address::new(Segment::KEY, key)));
        }
        let mut left = Vec::new();
        for one in compared.iter_mut().filter(|one| !taken.contains(&one.change.address)) {
            if !matches!(one.change.action, Action::Keep | Action::Past) {
                left.push(one.change.address.clone());
            }
            one.change.action = Action::Keep;
            one.change.reasons.clear();
            one.change.moved = None;
            (one.refresh, one.close, one.released, one.recovered) = (false, false, false, None);
        }
        left
    }
}

/// Whether a pattern means an address or what it is a part of. `*` stands for any letters.
fn matches(pattern: &str, address: &Address) -> bool {
    let whole = address.to_string();
    is_like(pattern, &whole) || is_like(pattern, &address.resource().to_string())
}

fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_addresses_and_their_parts() {
        let address = Address::new("tag_groups", "loyalty/named_users/u-1");
        for pattern in
            ["tag_groups/loyalty", "tag_groups/*", "*", "*/u-1", "tag_groups/loyalty/named_users/u-1", "tag*loy*"]
        {
            assert!(matches(pattern, &address), "{pattern}");
        }
        for pattern in ["tag_groups", "tag_groups/loy", "segments/*", "*/u-2", ""] {
            assert!(!matches(pattern, &address), "{pattern}");
        }
    }
}
