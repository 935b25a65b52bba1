//! A resource on the service, described for its author.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::audience;
use crate::compare::Names;
use crate::kinds::{Found, Kind, Parts};
use crate::ledger::Ledger;
use crate::node::At;
use crate::source::Span;

/// A resource on the service.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LookedUpThing {
    /// The kind: `segment`, `template`.
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    /// Its address if it is managed: `segments/lapsed-buyers`.
    pub address: Option<String>,
    pub created: Option<String>,
    pub changed: Option<String>,
    pub last_used: Option<String>,
    pub description: Option<String>,
    /// The audience.
    pub audiences: Vec<Who>,
    /// The texts that recipients see.
    pub messages: Vec<LookedUpMessage>,
    pub variables: Vec<Variable>,
    /// The whole content in the form of plans; managed segments are named by their keys.
    pub spec: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Who {
    /// The audience as a sentence.
    pub words: String,
    /// The audience as a tree: a line for each condition, indented by two spaces.
    pub criteria: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LookedUpMessage {
    pub alert: Option<String>,
    /// The title of the message in the inbox.
    pub title: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Variable {
    pub key: String,
    pub name: Option<String>,
    pub default_value: Option<String>,
}

impl LookedUpThing {
    /// Combines a search result with the facts in the ledger.
    pub fn of(kind: &'static Kind, found: &Found, ledger: &Ledger) -> Self {
        let names = Names::new(ledger);
        let spec = found.spec.as_ref().map(|spec| names.by_key(kind.api, spec).into_value());
        let owned = ledger.owned.iter().find(|(address, owned)| address.kind == kind.key && owned.id == found.id);
        let stamped = found.stamp.as_deref().and_then(|stamp| kind.api.stamped(stamp).or_else(|| stamp.parse().ok()));
        let mut thing = Self {
            kind: kind.noun,
            id: found.id.clone(),
            name: found.name.clone(),
            address: owned.map(|(address, _)| address.to_string()),
            created: found.made.map(|at| at.to_string()),
            changed: stamped.map(|at| at.to_string()),
            last_used: found.used.map(|at| at.to_string()),
            description: spec.as_ref().and_then(|spec| spec["description"].as_str()).map(str::to_owned),
            audiences: Vec::new(),
            messages: Vec::new(),
            variables: Vec::new(),
            spec,
        };
        let read = thing.spec.as_ref().and_then(|spec| kind.api.read(spec));
        let Some(read) = read else { return thing };
        let key = At::new(found.name.clone(), Span::NONE);
        let mut parts = Parts::new(&key);
        read.parts(&mut parts);
        thing.audiences.extend(parts.audiences.iter().map(|one| {
            Who {
                words: audience::words(one.selector),
                criteria: audience::tree(one.selector)
                    .iter()
                    .map(|line| format!("{}{}", "  ".repeat(line.depth), line.text))
                    .collect(),
            }
        }));
        for said in &parts.said {
            let alert = said.notification.and_then(|notification| notification.alert.as_ref());
            thing.messages.push(LookedUpMessage {
                alert: alert.map(|alert| alert.value.clone()),
                title: said.message.map(|message| message.title.value.clone()),
            });
            thing.variables.extend(said.variables.unwrap_or_default().iter().map(|variable| Variable {
                key: variable.key.value.clone(),
                name: variable.name.as_ref().map(|name| name.value.clone()),
                default_value: variable.default_value.as_ref().map(|value| value.value.clone()),
            }));
        }
        thing
    }
}
