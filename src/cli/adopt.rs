use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, Ended, ledger, runtime};
use crate::address::{Address, count_resources};
use crate::compare::Names;
use crate::engine::target::Opened;
use crate::engine::workspace::{PlanRequest, Workspace};
use crate::exchange::Meaning;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::kinds::{self, Found, Read};
use crate::ledger::{Adopted, Ledger, Record};
use crate::live::{Live, LiveState};
use crate::nouns::level::Level;
use crate::plan::{Choice, Reason};
use crate::text;

/// Add existing resources to the ledger, to manage them.
///
/// From then on, pushplan manages these resources. The service is not changed.
#[derive(Debug, Args)]
pub struct Adopt {
    /// Declared resources, such as segments/lapsed-buyers
    #[arg(value_name = "ADDRESS", required_unless_present = "all_matching")]
    addresses: Vec<String>,

    /// Id on the service, if several resources have the name
    #[arg(long, value_name = "ID", conflicts_with = "all_matching")]
    id: Option<String>,

    /// Adopt every declared resource that matches exactly one resource on the service by name
    #[arg(long, conflicts_with = "addresses")]
    all_matching: bool,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    turn: Turn,
}

impl Adopt {
    pub fn run(&self, context: &Context) -> Ended {
        if self.id.is_some() && self.addresses.len() != 1 {
            return Err(Failure::usage("--id needs exactly one address"));
        }
        if self.id.as_ref().is_some_and(|id| id.trim().is_empty()) {
            return Err(Failure::usage("an id cannot be empty"));
        }
        let workspace = self.place.read(context, Timestamp::now())?;
        runtime()?.block_on(async {
            let opened = workspace.open().await?;
            let ended = self.adopt(&workspace, &opened, context).await;
            opened.close().await;
            ended
        })
    }

    async fn adopt(&self, workspace: &Workspace, opened: &Opened, context: &Context) -> Ended {
        self.turn.ledger(context, &workspace.log, &workspace.target).await?;
        let planned = workspace.plan(opened, &PlanRequest::default(), &context.session).await?;
        let (mut found, mut in_doubt) = (BTreeMap::new(), BTreeMap::new());
        for change in &planned.plan.changes {
            for reason in &change.reasons {
                match reason {
                    Reason::Collision { ids } => drop(found.insert(change.address.clone(), ids.clone())),
                    Reason::InDoubt { candidates, .. } => {
                        in_doubt.insert(change.address.clone(), candidates.clone());
                    }
                    _ => {}
                }
            }
        }
        let namesakes = Namesakes { found: &found, in_doubt: &in_doubt };
        let shared = namesakes.shared();
        let chosen = if self.all_matching {
            for (address, ids) in found.iter().filter(|(_, ids)| ids.len() > 1) {
                context.out.note(&format!("Skipped: {}", several(address, ids).message));
            }
            for (address, ids) in &in_doubt {
                context.out.note(&format!("Skipped: {}", doubtful(address, ids).message));
            }
            for ((_, id), addresses) in &shared {
                context.out.note(&format!("Skipped: {}", for_several(id, addresses).message));
            }
            let alone = found.iter().filter_map(|(address, ids)| Some((address.clone(), one(ids)?)));
            alone.filter(|(address, id)| !shared.contains_key(&(&*address.kind, id.as_str()))).collect()
        } else {
            self.named(workspace, opened.level, &planned.ledger, &namesakes)?
        };
        if chosen.is_empty() && !found.is_empty() {
            let why = if shared.is_empty() { "" } else { ", or a name that others have too" };
            let message = format!("nothing was adopted: several unmanaged resources have each declared name{why}");
            return Err(Failure::new(message)
                .kind(FailureKind::Refused)
                .help("choose one by its id: pushplan adopt ADDRESS --id ID"));
        }
        let declared = in_doubt.iter().find(|(address, _)| workspace.units.contains_key(*address));
        if let (true, Some((address, ids))) = (chosen.is_empty(), declared) {
            return Err(Failure { message: "nothing was adopted".to_owned(), ..doubtful(address, ids) });
        }
        if chosen.is_empty() {
            context.out.print(
                "Nothing to adopt: all resources with a declared name on the service are already \
                managed.",
            );
            return Ok(Exit::Done);
        }
        let live =
            workspace.fetch(opened, &workspace.units, &planned.ledger, &BTreeSet::new(), &context.session).await?;
        let mut adopted = Vec::new();
        for (address, id) in &chosen {
            adopted.push(taken(workspace, opened, &planned.ledger, &live, address, id).await?);
        }
        workspace.append(opened, &planned.ledger, Record::Adopt(adopted)).await?;
        for (address, _) in chosen.iter().filter(|(address, _)| cannot_be_read(address, opened.level)) {
            context.out.note(&format!("{address} is adopted as declared: this API cannot show whether it exists."));
        }
        let lines: Vec<String> = chosen.iter().map(|(address, id)| format!("{address}  {id}")).collect();
        context.out.print(&format!(
            "{}\n{} adopted. Next: {}",
            lines.join("\n"),
            text::count(count_resources(chosen.iter().map(|(address, _)| address)), "resource"),
            self.place.again("adopt", &Choice::default()).plan()
        ));
        Ok(Exit::Done)
    }

    /// Resolves the addresses on the command line.
    fn named(
        &self,
        workspace: &Workspace,
        level: Level,
        ledger: &Ledger,
        namesakes: &Namesakes,
    ) -> Result<Vec<(Address, String)>, Failure> {
        let declared = ledger::resources(workspace.units.keys());
        let mut chosen = Vec::new();
        let mut asked = Vec::new();
        for text in &self.addresses {
            let address = ledger::address_among(text, &declared)?;
            // A resource with parts is adopted part by part.
            let is_new = |part: &&Address| part.resource() == address && !ledger.owned.contains_key(*part);
            let parts: Vec<&Address> = match workspace.units.contains_key(&address) || self.id.is_some() {
                true => Vec::new(),
                false => workspace.units.keys().filter(is_new).collect(),
            };
            match parts.is_empty() {
                true => asked.push((text, address)),
                false => asked.extend(parts.into_iter().map(|part| (text, part.clone()))),
            }
        }
        for (text, address) in asked {
            if let Some(owned) = ledger.owned.get(&address) {
                return Err(Failure::new(format!("{address} is already managed, with the id {}", owned.id))
                    .help(format!("to adopt another, run `pushplan forget {address}` first")));
            }
            // The resource of an earlier run may differ from the declared one.
            let in_doubt = ledger.open.contains_key(&address) || namesakes.in_doubt.contains_key(&address);
            if in_doubt && cannot_be_read(&address, level) {
                return Err(doubtful(&address, &[]));
            }
            if !workspace.units.contains_key(&address) {
                let known = workspace.units.keys().map(ToString::to_string).collect::<Vec<_>>();
                let failure = Failure::usage(format!("{address} is not declared for {}", workspace.target));
                return Err(match text::nearest(text, known.iter().map(String::as_str)) {
                    Some(near) => failure.help(format!("did you mean {near}?")),
                    None => failure.help("declare it first, then adopt it"),
                });
            }
            let ids = namesakes.found.get(&address).map(Vec::as_slice).unwrap_or_default();
            let id = match (&self.id, ids) {
                (Some(id), _) => id.clone(),
                (None, [id]) => id.clone(),
                (None, []) if cannot_be_read(&address, level) => {
                    return Err(Failure::new(format!("this API cannot show whether the service has {address}"))
                        .help(format!("if it exists: pushplan adopt {address} --id ID")));
                }
                (None, []) if namesakes.in_doubt.contains_key(&address) => {
                    return Err(doubtful(&address, &namesakes.in_doubt[&address]));
                }
                (None, []) => {
                    return Err(Failure::new(format!("no resource on the service has the name of {address}"))
                        .help("pass its id with --id, or create it with `pushplan apply`"));
                }
                (None, ids) => return Err(several(&address, ids)),
            };
            if ledger.ids().contains(&(&*address.kind, id.as_str())) {
                return Err(Failure::new(format!("{id} is already managed, with another address"))
                    .kind(FailureKind::Refused)
                    .help("a resource has one address; `pushplan history` shows which"));
            }
            let doubt =
                namesakes.in_doubt.iter().find(|(other, ids)| **other != address && is_of(other, &address, &id, ids));
            if let Some((other, _)) = doubt {
                return Err(doubtful(other, std::slice::from_ref(&id)));
            }
            let mut before = chosen.iter().filter(|(other, _): &&(Address, String)| *other != address);
            if let Some((other, _)) = before.find(|(other, its)| is_of(other, &address, &id, std::slice::from_ref(its)))
            {
                return Err(for_several(&id, &[other, &address]));
            }
            chosen.push((address, id));
        }
        Ok(chosen)
    }
}

/// Resources on the service with the names of declared, unmanaged resources.
struct Namesakes<'f> {
    found: &'f BTreeMap<Address, Vec<String>>,
    /// Resources on the service that an earlier run may have created, by the intended address.
    in_doubt: &'f BTreeMap<Address, Vec<String>>,
}

impl<'f> Namesakes<'f> {
    /// Resources that match several addresses, by kind and id. Parts are distinguished by more than their ids.
    fn shared(&self) -> BTreeMap<(&'f str, &'f str), Vec<&'f Address>> {
        let mut claims: BTreeMap<(&str, &str), Vec<&Address>> = BTreeMap::new();
        for (address, ids) in self.found.iter().chain(self.in_doubt).filter(|(address, _)| address.part().is_none()) {
            for id in ids {
                claims.entry((&*address.kind, id)).or_default().push(address);
            }
        }
        claims.retain(|_, addresses| addresses.len() > 1);
        claims
    }
}

/// Whether a resource may also belong to another address. Parts are distinguished by more than their ids.
fn is_of(other: &Address, address: &Address, id: &str, ids: &[String]) -> bool {
    let is_whole = other.part().or(address.part()).is_none();
    other.kind == address.kind && (is_whole || other == address) && ids.iter().any(|its| its == id)
}

/// The failure for a resource that matches several addresses.
fn for_several(id: &str, addresses: &[&Address]) -> Failure {
    let all: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    Failure::new(format!("{id} has the name of {}", all.join(" and of ")))
        .kind(FailureKind::Refused)
        .help("a resource has one address: adopt it as one of them, and rename the other")
}

/// The failure for a resource in an unknown state: adopting another one instead must be explicit.
fn doubtful(address: &Address, ids: &[String]) -> Failure {
    let which = match ids {
        [] => String::new(),
        [one] => format!(", and it may be {one}"),
        ids => format!(", and it may be one of these: {}", ids.join(", ")),
    };
    Failure::new(format!("the state of {address} is unknown since an earlier run{which}"))
        .kind(FailureKind::Refused)
        .help(format!("pushplan resolve {address} --created ID, or --absent if it is not on the service"))
}

fn several(address: &Address, ids: &[String]) -> Failure {
    Failure::new(format!("{} have the name of {address}: {}", ids.len(), ids.join(", ")))
        .kind(FailureKind::Refused)
        .help(format!("pushplan adopt {address} --id ID"))
}

fn one(ids: &[String]) -> Option<String> {
    match ids {
        [id] => Some(id.clone()),
        _ => None,
    }
}

/// Whether the service does not show resources of a kind.
fn cannot_be_read(address: &Address, level: Level) -> bool {
    kinds::api(address).lifecycle(level).read == Read::LedgerOnly
}

/// The record for an adopted resource, with its live state.
async fn taken(
    workspace: &Workspace,
    opened: &Opened,
    ledger: &Ledger,
    live: &Live,
    address: &Address,
    id: &str,
) -> Result<Adopted, Failure> {
    let api = kinds::api(address);
    let known = &workspace.units[address].spec;
    if cannot_be_read(address, opened.level) {
        return Ok(workspace.units[address].taken_over(address, id, ledger));
    }
    let listed = live.listed.get(&*address.kind).and_then(|all| all.get(id)).cloned();
    let looked_up = match live.of(address) {
        LiveState::There(found) if found.id == id => Some(found.clone()),
        _ => None,
    };
    let mut found = listed.or(looked_up);
    if found.as_ref().is_none_or(|found| found.spec.is_none())
        && let Some(request) = api.get(id, known, opened.level)
    {
        let answer =
            opened.reading().read(&request).await.map_err(|loss| Failure::new(format!("{request}: {loss:?}")))?;
        let stamp = found.and_then(|found| found.stamp);
        found = match answer.meaning() {
            Meaning::Done => {
                let body = answer.body.as_ref().unwrap_or(&Value::Null);
                api.got(id, known, body).map_err(|why| Failure::new(format!("{request}: {why}")))?
            }
            Meaning::Missing => None,
            _ => return Err(Failure::new(format!("{request} failed: {}", answer.error()))),
        };
        if let Some(found) = &mut found {
            found.stamp = found.stamp.take().or(stamp);
        }
    }
    let Some(Found { spec: Some(spec), stamp, push_ids, .. }) = found else {
        return Err(Failure::new(format!("the service has no {id} that could be {address}")));
    };
    let names = Names::new(ledger);
    Ok(Adopted {
        address: address.clone(),
        id: id.to_owned(),
        spec: names.by_key(api, &spec),
        refs: names.refs(api, &spec),
        stamp,
        protect: workspace.units[address].protect.unwrap_or(false),
        past: false,
        push_ids,
        zone: None,
        pruned: false,
    })
}
