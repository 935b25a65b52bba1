//! Lists that are had early, before it is known what the manifests declare.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cores;
use crate::exchange::Request;
use crate::kinds::{Found, Kind, Read};
use crate::model::level::Level;

/// What was listed of each kind. A kind whose list was not had to its end is left out, and is listed later.
#[derive(Debug, Default)]
pub struct Early {
    pub listed: BTreeMap<&'static str, BTreeMap<String, Found>>,
}

/// Takes in a page of a kind's list.
pub fn take_page(
    kind: &Kind,
    request: &Request,
    body: &Value,
    (level, settle, now): (Level, SignedDuration, Timestamp),
    listed: &mut BTreeMap<String, Found>,
) -> Result<(), String> {
    let items = body[kind.api.listed()]
        .as_array()
        .ok_or_else(|| format!("{request}: the answer holds no `{}`", kind.api.listed()))?;
    let by_itself = kind.api.lifecycle(level).read == Read::ListedThenGet;
    for found in found(kind, items) {
        let mut found = found.ok_or_else(|| format!("{request}: an item of the list has no id"))?;
        if by_itself {
            // The content is read with another request, which may not show what was changed a moment ago.
            found.stamp.take_if(|stamp| {
                let seen = kind.api.stamped(stamp).and_then(|at| at.checked_add(settle).ok());
                seen.is_none_or(|seen| now < seen)
            });
        }
        // Listed a second time, it has the content that was read before, unless it was changed meanwhile.
        let before = listed.get(&found.id).filter(|before| before.stamp == found.stamp);
        found.spec = found.spec.or_else(|| before.and_then(|before| before.spec.clone()));
        listed.insert(found.id.clone(), found);
    }
    Ok(())
}

/// The items of a page. Many are understood side by side.
fn found(kind: &Kind, items: &[Value]) -> Vec<Option<Found>> {
    cores::each(items, |item| kind.api.found(item))
}
