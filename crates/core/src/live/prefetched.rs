//! What is asked for early, before it is known what the manifests declare.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pushplan_ledger::Ledger;
use pushplan_model::exchange::Request;
use pushplan_model::kinds::{self, Census, Found, Kind, Read};
use pushplan_model::nouns::level::Level;
use serde_json::Value;

use super::people::{Alone, Gain, People, is_looked_up, shown};

/// What was had early.
#[derive(Debug, Default)]
pub struct PrefetchedLists {
    /// What was listed of each kind. A kind whose list was not had to its end is left out, and is listed later.
    pub listed: BTreeMap<&'static str, BTreeMap<String, Found>>,
    pub people: People,
}

/// The items of a page of a kind's list.
pub fn items<'b>(kind: &Kind, request: &Request, body: &'b Value) -> Result<&'b [Value], String> {
    let key = kind.api.listed();
    let items = body[key].as_array().map(Vec::as_slice);
    items.ok_or_else(|| format!("{request}: the answer has no `{key}`"))
}

/// Takes in a page of a kind's list, item by item. `at` is when the page was written, by the service's clock if it says so.
pub fn take_page(
    kind: &Kind,
    request: &Request,
    items: impl IntoIterator<Item = Option<Found>>,
    (level, settle, at): (Level, SignedDuration, Timestamp),
    listed: &mut BTreeMap<String, Found>,
) -> Result<(), String> {
    let by_itself = kind.api.lifecycle(level).read == Read::ListedThenGet;
    for found in items {
        let mut found = found.ok_or_else(|| format!("{request}: an item of the list has no id"))?;
        if by_itself {
            // The content is read with another request, which may not show what was changed a moment ago.
            found.stamp.take_if(|stamp| {
                let seen = kind.api.stamped(stamp).and_then(|changed| changed.checked_add(settle).ok());
                seen.is_none_or(|seen| at < seen)
            });
        }
        // Listed a second time, it has the content that was read before, unless it has changed since it was read.
        let before = listed.get(&found.id).filter(|before| before.stamp == found.stamp);
        found.spec = found.spec.or_else(|| before.and_then(|before| before.spec.clone()));
        listed.insert(found.id.clone(), found);
    }
    Ok(())
}

/// Managed people and devices that a list may show, so that they need not be asked for one by one.
#[derive(Debug)]
pub struct Sought {
    pub list: Census,
    /// The requests that they would take.
    alone: Alone,
    gain: Gain,
    found: People,
}

impl Sought {
    /// By the list, where a look at that is worth its time.
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

    /// Takes in a page, and says whether the next one is worth its time.
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

    /// Who was found, once no other page is worth its time.
    pub fn found(self) -> People {
        People { left: self.alone.into_keys().collect(), ..self.found }
    }

    /// Who was found before a page could not be had. The others may still be in the list.
    pub fn so_far(self) -> People {
        self.found
    }
}
