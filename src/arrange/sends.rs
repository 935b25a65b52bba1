//! What goes out at once because of a plan.

use serde_json::Value;

use crate::address::Address;
use crate::kinds;
use crate::ledger::Ledger;
use crate::plan::{Action, Change, Send};

/// A pipeline that is or will be on: its address, and the tags that set it off.
type Firing = (Address, Vec<(String, Option<String>)>);

/// Marks every change that messages people at once: a tag that sets off a pipeline, an A/B test without a time.
pub fn sends(changes: &mut [Change], ledger: &Ledger) {
    let firing = firing(changes, ledger);
    for change in changes.iter_mut() {
        let (Action::Create | Action::Update | Action::Replace, Some(desired)) = (change.action, &change.desired)
        else {
            continue;
        };
        let api = kinds::api(&change.address);
        let at_once = api.runs(desired).is_some_and(|runs| runs.first.is_none());
        if at_once {
            let to = "its whole audience".to_owned();
            change.sends.push(Send { by: change.address.clone(), tag: None, to });
        }
        for given in api.gives(change.live.as_ref(), desired) {
            for (pipeline, tags) in &firing {
                let fires = |(tag, group): &(String, Option<String>)| {
                    *tag == given.tag && group.as_ref().is_none_or(|group| given.group.as_ref() == Some(group))
                };
                if tags.iter().any(fires) {
                    let (by, tag, to) = (pipeline.clone(), Some(given.tag.clone()), given.who.clone());
                    change.sends.push(Send { by, tag, to });
                }
            }
        }
    }
}

fn firing(changes: &[Change], ledger: &Ledger) -> Vec<Firing> {
    let mut specs: Vec<(&Address, &Value)> =
        ledger.owned.iter().map(|(address, owned)| (address, &owned.spec)).collect();
    specs.extend(changes.iter().filter_map(|change| Some((&change.address, change.desired.as_ref()?))));
    let mut firing: Vec<Firing> = Vec::new();
    for (address, spec) in specs {
        let tags = kinds::api(address).fires_on(spec);
        if tags.is_empty() {
            continue;
        }
        match firing.iter_mut().find(|(other, _)| other == address) {
            Some((_, known)) => known.extend(tags),
            None => firing.push((address.clone(), tags)),
        }
    }
    firing
}
