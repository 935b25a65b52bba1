//! Lists that are requested early, before the manifests are read.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Ledger;
use pushplan_model::exchange::{BadAnswer, Request};
use pushplan_model::kinds::{self, Census, Found, Kind, Read};
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::people::{Alone, Gain, People, is_looked_up, shown};

/// Lists that were read early.
#[derive(Debug, Default)]
pub struct PrefetchedLists {
    /// The listed resources of each kind. A kind whose list was not read completely is left out, and is listed later.
    pub listed: BTreeMap<&'static str, BTreeMap<String, Found>>,
    pub people: People,
    /// The latest time that the lists show, by the service's clock.
    pub at: Option<Timestamp>,
}

/// The items of a page of a kind's list.
pub fn items<'b>(kind: &Kind, request: &Request, body: &'b Value) -> Result<&'b [Value], BadAnswer> {
    let key = kind.api.listed();
    let items = body[key].as_array().map(Vec::as_slice);
    items.ok_or_else(|| format!("{request}: the answer has no `{key}`").into())
}

/// Processes a page of a kind's list, item by item. `at` is the time of the page, by the service's clock if it has one.
pub fn take_page(
    kind: &Kind,
    request: &Request,
    items: impl IntoIterator<Item = Option<Found>>,
    (level, settle, at): (Level, SignedDuration, Timestamp),
    listed: &mut BTreeMap<String, Found>,
) -> Result<(), BadAnswer> {
    let by_itself = kind.api.lifecycle(level).read == Read::ListedThenGet;
    for found in items {
        let mut found = found.ok_or_else(|| format!("{request}: an item of the list has no id"))?;
        if by_itself {
            // The content is read with another request, which may not show a recent change.
            found.stamp.take_if(|stamp| {
                let seen = kind.api.stamped(stamp).and_then(|changed| changed.checked_add(settle).ok());
                seen.is_none_or(|seen| at < seen)
            });
        }
        // Listed again, it has the content that was read before, unless it has changed since.
        let before = listed.get(&found.id).filter(|before| before.stamp == found.stamp);
        found.spec = found.spec.or_else(|| before.and_then(|before| before.spec.clone()));
        listed.insert(found.id.clone(), found);
    }
    Ok(())
}

/// Managed people and devices that a list may show, so that they need not be read one by one.
#[derive(Debug)]
pub struct Sought {
    pub list: Census,
    /// The requests that they would need.
    alone: Alone,
    gain: Gain,
    found: People,
}

impl Sought {
    /// The searches, one for each list that is worth reading.
    pub fn of(ledger: &Ledger, level: Level) -> Vec<Self> {
        let mut alone: BTreeMap<Census, Alone> = BTreeMap::new();
        for (address, owned) in ledger.owned.iter().filter(|(address, _)| is_looked_up(address, level)) {
            let request = kinds::api(address).get(&owned.id, &owned.spec.tree(), level);
            if let Some((list, request)) = request.and_then(|request| Some((Census::showing(&request)?, request))) {
                alone.entry(list).or_default().entry(request).or_default().push(address.clone());
            }
        }
        let sought = alone.into_iter().map(|(list, alone)| Self {
            list,
            gain: Gain::of(alone.len()),
            alone,
            found: People::default(),
        });
        sought.filter(|sought| sought.gain.is_much()).collect()
    }

    /// Processes a page, and returns whether the next one is worth reading.
    pub fn page(&mut self, body: &Value, ledger: &Ledger) -> bool {
        let mut spared = 0;
        for item in body[self.list.listed].as_array().into_iter().flatten() {
            if let Some((request, found)) = shown(&self.alone, ledger, self.list, item) {
                self.alone.remove(&request);
                self.found.seen.extend(found);
                spared += 1;
            }
        }
        self.gain.page(spared)
    }

    /// The people who were found, when no other page is worth reading.
    pub fn found(self) -> People {
        People { left: self.alone.into_keys().collect(), ..self.found }
    }

    /// The people who were found before a page failed. The others may still be in the list.
    pub fn so_far(self) -> People {
        self.found
    }
}
