//! The resources that pushplan manages on a target, from its ledger.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::layout::Style;
use super::one_line;
use super::table::{Align, Table};
use crate::address::Address;
use crate::kinds;
use crate::ledger::{Ledger, Verb};
use crate::outcome;
use crate::text;

/// The version of the JSON format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// The state of a resource in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ManagedState {
    /// It is on the service as it was applied.
    Applied,
    /// It is a push or an experiment that is still to be sent.
    Waiting,
    /// Its time has passed.
    Past,
    /// It is an old version that is deleted once nothing refers to it.
    Replaced,
    /// A request was sent, or about to be, and its effect is unknown.
    Unconfirmed,
}

impl ManagedState {
    fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Waiting => "waiting",
            Self::Past => "past",
            Self::Replaced => "replaced",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// One resource in the ledger.
#[derive(Debug, PartialEq, Eq)]
pub struct Managed {
    pub address: Address,
    pub name: String,
    pub id: Option<String>,
    pub state: ManagedState,
    pub applied: Option<Timestamp>,
}

/// Lists the resources of a ledger by address.
pub fn of(ledger: &Ledger, now: Timestamp) -> Vec<Managed> {
    let occasions = outcome::occasions(ledger);
    let is_waiting = |address: &Address| occasions.iter().any(|one| one.address == *address && one.last > now);
    let owned = ledger.owned.iter().map(|(address, owned)| Managed {
        address: address.clone(),
        name: kinds::api(address).name(&owned.spec),
        id: Some(owned.id.clone()),
        state: match owned {
            _ if ledger.open.contains_key(address) => ManagedState::Unconfirmed,
            owned if owned.past => ManagedState::Past,
            _ if is_waiting(address) => ManagedState::Waiting,
            _ => ManagedState::Applied,
        },
        applied: Some(owned.applied),
    });
    let retired = ledger.retired.iter().map(|old| Managed {
        address: old.address.clone(),
        name: kinds::api(&old.address).name(&old.spec),
        id: Some(old.id.clone()),
        state: ManagedState::Replaced,
        applied: None,
    });
    let created = |address: &Address| !ledger.owned.contains_key(address);
    let open = ledger.open.iter().filter(|(address, open)| created(address) && open.intent.verb == Verb::Create);
    let open = open.map(|(address, open)| Managed {
        address: address.clone(),
        name: open.intent.spec.as_ref().map(|spec| kinds::api(address).name(spec)).unwrap_or_default(),
        id: None,
        state: ManagedState::Unconfirmed,
        applied: None,
    });
    let mut all: Vec<Managed> = owned.chain(retired).chain(open).collect();
    all.sort_by(|a, b| (&a.address, a.state).cmp(&(&b.address, b.state)));
    all
}

/// The listed resources of a target.
#[derive(Debug)]
pub struct ManagedView<'v> {
    pub target: &'v str,
    pub managed: &'v [Managed],
    /// Whether the command selected only some of the resources.
    pub is_part: bool,
}

/// The output of `pushplan list --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ManagedDocument<'v> {
    /// The version of this format. It increases when a field is removed or changes its meaning.
    format_version: u32,
    target: &'v str,
    /// The managed resources and their parts, sorted by address.
    resources: Vec<ManagedResource<'v>>,
}

/// One resource, or one part of a resource that is applied separately.
#[derive(Debug, Serialize, JsonSchema)]
struct ManagedResource<'v> {
    /// Such as `segments/lapsed-buyers`.
    address: String,
    /// The manifest key of its kind, such as `segments`.
    kind: &'v str,
    /// The name in the dashboard.
    name: &'v str,
    /// The id on the service; null if it is unknown.
    id: Option<&'v str>,
    state: ManagedState,
    /// When it was last applied; null for an old version and for an unconfirmed creation.
    applied: Option<String>,
}

impl ManagedView<'_> {
    pub fn text(&self, style: Style) -> String {
        let target = one_line(self.target);
        match (self.managed, self.is_part) {
            ([], false) => return format!("The ledger of {target} is empty. Next: pushplan plan"),
            ([], true) => return format!("The ledger of {target} has no such resource. `pushplan list` lists all."),
            _ => {}
        }
        let mut table =
            Table::new(&[("address", Align::Left), ("state", Align::Left), ("name", Align::Left), ("id", Align::Left)]);
        for one in self.managed {
            let is_named = one.address.resource().key == one.name || one.address.key.ends_with(&one.name);
            let name = if is_named { String::new() } else { text::short(&one.name, 40) };
            // The addresses of parts contain the id.
            let id = one.id.as_deref().filter(|id| !one.address.key.ends_with(id)).unwrap_or_default();
            let id = if one.id.is_none() { "unknown" } else { id };
            table.row([one.address.to_string(), one.state.word().to_owned(), name, id.to_owned()]);
        }
        let unconfirmed = self.managed.iter().filter(|one| one.state == ManagedState::Unconfirmed).count();
        let foot = match unconfirmed {
            0 => String::new(),
            some => {
                format!("\n\n{} unconfirmed: `pushplan plan` shows how to resolve it.", text::count(some, "request"))
            }
        };
        // One line each, however wide, so that `grep` and `cut` work on the lines.
        format!("{}{foot}", table.text(Style { width: usize::MAX, ..style }).trim_end())
    }

    pub fn json(&self) -> String {
        let resources = self.managed.iter().map(|one| ManagedResource {
            address: one.address.to_string(),
            kind: &one.address.kind,
            name: &one.name,
            id: one.id.as_deref(),
            state: one.state,
            applied: one.applied.map(|at| at.to_string()),
        });
        let document = ManagedDocument { format_version: VERSION, target: self.target, resources: resources.collect() };
        serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
    }
}
