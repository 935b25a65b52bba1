//! Links to hosts that no message has used before.

use std::sync::OnceLock;

use pushplan_model::kinds;
use pushplan_project::look::hosts::{self, Hosts};
use serde_json::Value;

use crate::plan::Plan;
use crate::review::before;

/// A host that a message links to or loads from, and that no message used before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHost {
    pub name: String,
    /// The previously used host that it is easily mistaken for.
    pub resembles: Option<String>,
    /// Whether there is a link to it that is not encrypted.
    pub is_plain: bool,
}

impl NewHost {
    /// `shop.exmaple.com, easily mistaken for shop.example.com`.
    pub fn words(&self) -> String {
        let mut words = self.name.clone();
        if hosts::is_address(&self.name) {
            words += ", an IP address";
        }
        if hosts::is_foreign(&self.name) {
            words += ", a name with letters other than a to z";
        }
        if let Some(other) = &self.resembles {
            words += &format!(", easily mistaken for {other}");
        }
        if self.is_plain {
            words += ", not encrypted";
        }
        words
    }
}

/// The hosts of all content before the plan. Computed when a message first links to another host.
#[derive(Debug, Default)]
pub struct UsedHosts(OnceLock<Option<Hosts>>);

impl UsedHosts {
    /// `None` if there was no message before: in a first plan, every host is new.
    fn get(&self, plan: &Plan) -> Option<&Hosts> {
        let used = self.0.get_or_init(|| {
            let mut used = Hosts::new();
            let mut has_messages = false;
            for (change, spec) in plan.changes.iter().filter_map(|change| Some((change, before(change)?))) {
                has_messages |= kinds::api(&change.address).speaks();
                used.extend(hosts::hosts(spec));
            }
            has_messages.then_some(used)
        });
        used.as_ref()
    }

    /// The hosts of a message that no message used before.
    pub fn new_in(&self, plan: &Plan, old: Option<&Value>, new: Option<&Value>) -> Vec<NewHost> {
        let mut found = new.map(hosts::hosts).unwrap_or_default();
        let own = if found.is_empty() { Hosts::new() } else { old.map(hosts::hosts).unwrap_or_default() };
        found.retain(|host, _| !own.contains_key(host));
        if found.is_empty() {
            return Vec::new();
        }
        let Some(used) = self.get(plan) else { return Vec::new() };
        let is_new = |(host, _): &(String, bool)| !used.contains_key(host);
        let one = |(name, is_encrypted): (String, bool)| NewHost {
            resembles: hosts::resembling(&name, used.keys().map(String::as_str)).map(str::to_owned),
            name,
            is_plain: !is_encrypted,
        };
        found.into_iter().filter(is_new).map(one).collect()
    }
}
