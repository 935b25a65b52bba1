//! Counting resources of single people in lists of people and devices.

use std::collections::BTreeMap;

use pushplan_model::exchange::{BadAnswer, Request};
use pushplan_model::kinds::{Census, KINDS, Kind};
use serde_json::Value;

use super::{Ask, Fetch, For};

/// The identity of a counted resource: its name on the service, its part, and its id.
pub type CensusKey = (String, Option<String>, String);

impl Fetch<'_> {
    /// Requests the lists of people and devices for kinds that are read completely. Several kinds share one.
    pub(super) fn take_census(&mut self, asks: &mut Vec<Ask>) {
        let mut lists: BTreeMap<Census, Vec<&'static Kind>> = BTreeMap::new();
        for kind in KINDS.iter().filter(|kind| self.look.contents.contains(kind.key)) {
            for list in kind.api.census() {
                lists.entry(list).or_default().push(kind);
            }
        }
        for (list, kinds) in lists {
            self.ask(For::Census(list, kinds), list.request(), asks);
        }
    }

    pub(super) fn count(
        &mut self,
        list: Census,
        kinds: Vec<&'static Kind>,
        request: &Request,
        body: &Value,
        asks: &mut Vec<Ask>,
    ) -> Result<(), BadAnswer> {
        let listed = list.listed;
        let items = body[listed].as_array().ok_or_else(|| format!("{request}: the answer has no `{listed}`"))?;
        for kind in &kinds {
            let all = self.live.counted.entry(kind.key).or_default();
            for counted in items.iter().flat_map(|item| kind.api.counted(item)) {
                let place = (counted.resource.clone(), counted.part.clone(), counted.found.id.clone());
                all.insert(place, counted);
            }
        }
        let goes_on = self.believe(list, items) || !kinds.is_empty();
        if !goes_on {
            return Ok(());
        }
        if let Some(next) = self.pages.next(self.look.origin, &request.path, body)? {
            self.ask(For::Census(list, kinds), Request::get(next), asks);
        }
        Ok(())
    }

    /// Whether a resource is in the ledger, or may be one that an earlier run was about to create.
    pub(super) fn may_be_ours(&self, kind: &Kind, id: &str) -> bool {
        let ledger = self.look.ledger;
        ledger.ids().contains(&(kind.key, id)) || ledger.open.keys().any(|address| address.kind == kind.key)
    }
}
