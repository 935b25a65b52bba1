//! The ledger of a target, for commands that read it or add to it.

mod command;
mod confirm;

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, asking, runtime};
use crate::address::{Address, is_key};
use crate::compare;
use crate::engine::actor;
use crate::engine::ledger::unreadable;
use crate::engine::ledger::{not_appended, take_in};
use crate::failure::Failure;
use crate::ledger::{Chain, Ended, Entry, Ledger as State, Log, Record};
use crate::render::one_line;
use crate::text;

pub use crate::engine::ledger::address;
pub use command::Ledger;

/// Reads an address as a user writes it. A key alone is enough if only one resource of the project or of the ledger has it.
pub fn address_at(written: &str, place: &TargetArgs) -> Result<Address, Failure> {
    if !is_key(written) {
        return address(written);
    }
    let declared = place.open_leniently().ok();
    let mut known = declared.map(|(workspace, _)| resources(workspace.units.keys())).unwrap_or_default();
    if !known.iter().any(|known| known.key == written) {
        known.extend(in_ledger(place).unwrap_or_default());
    }
    address_among(written, &known)
}

/// Reads an address, or the key of the only one of these resources that has it.
pub fn address_among(written: &str, known: &BTreeSet<Address>) -> Result<Address, Failure> {
    let found: Vec<&Address> = known.iter().filter(|known| known.key == written).collect();
    match (found.as_slice(), address(written)) {
        (_, Ok(address)) => Ok(address),
        ([only], _) => Ok((*only).clone()),
        ([], Err(failure)) => {
            let near = text::nearest(written, known.iter().map(|known| known.key.as_str()));
            Err(match near.and_then(|near| known.iter().find(|known| known.key == near)) {
                Some(near) => failure.help(format!("did you mean {near}?")),
                None => failure,
            })
        }
        _ => {
            let names: Vec<String> = found.iter().map(ToString::to_string).collect();
            Err(Failure::usage(format!("`{written}` is the key of {}", text::count(names.len(), "resource")))
                .help(format!("write {}", text::any_of(&names))))
        }
    }
}

/// Returns the resources of these addresses, without parts.
pub fn resources<'a>(addresses: impl Iterator<Item = &'a Address>) -> BTreeSet<Address> {
    addresses.map(Address::resource).collect()
}

/// Returns the addresses of the resources in the ledger.
fn in_ledger(place: &TargetArgs) -> Result<BTreeSet<Address>, Failure> {
    let (log, _) = place.log()?;
    let ledger = State::replay(runtime()?.block_on(log.read(0)).map_err(unreadable)?);
    Ok(resources(ledger.owned.keys().chain(ledger.open.keys())))
}

/// A ledger to append to.
#[derive(Debug)]
pub struct OpenLedger {
    pub target: String,
    pub ledger: State,
    log: Chain,
}

impl OpenLedger {
    /// Opens the ledger of a target when no other run holds its lock. Results that an earlier run could not write are
    /// added first.
    pub fn new(context: &Context, place: &TargetArgs, turn: Turn) -> Result<Self, Failure> {
        asking::project(place, "written", context)?;
        let (log, target) = place.log()?;
        runtime()?.block_on(async {
            turn.ledger(context, &log, &target).await?;
            take_in(&context.session, &log).await?;
            let ledger = State::replay(log.read(0).await.map_err(unreadable)?);
            Ok(Self { target, ledger, log })
        })
    }

    /// Appends a record. A run that has not ended is ended first: it can append no more records.
    pub fn append(&mut self, context: &Context, record: Record) -> Result<(), Failure> {
        let actor = actor::name();
        let ended = self.ledger.run.clone().map(|running| {
            let note = format!("The unfinished run of {} since {:.0} is now ended.", running.actor, running.since);
            context.out.note(&one_line(&note));
            Record::End { run: running.run, ended: Ended::Interrupted }
        });
        for record in ended.into_iter().chain([record]) {
            let entry = Entry { seq: self.ledger.seq + 1, at: Timestamp::now(), actor: actor.clone(), record };
            runtime()?.block_on(self.log.append(&entry)).map_err(|error| not_appended(&self.target, error))?;
            self.ledger.add(&entry);
        }
        // The record is written; the checkpoint only makes reading faster.
        runtime()?.block_on(self.log.checkpoint(&self.ledger, &actor, Timestamp::now()));
        Ok(())
    }

    /// All addresses of a resource: itself and its parts, also if only an older version is left.
    pub fn at(&self, address: &Address) -> Vec<Address> {
        let older = self.ledger.retired.iter().map(|old| &old.address);
        let known = self.ledger.owned.keys().chain(self.ledger.open.keys()).chain(older);
        let mut found: Vec<Address> =
            known.filter(|known| *known == address || known.resource() == *address).cloned().collect();
        found.sort();
        found.dedup();
        found
    }

    /// The address in the ledger: a resource that was renamed in the files has its old address until the next apply.
    pub fn known_as(&self, place: &TargetArgs, address: &Address) -> Address {
        let (true, Ok((workspace, _))) = (self.at(address).is_empty(), place.open_leniently()) else {
            return address.clone();
        };
        let new = address.resource();
        let moves = compare::moves(&workspace.units, &self.ledger);
        moves.get(&new).and_then(|old| address.renamed(&new, old)).unwrap_or_else(|| address.clone())
    }

    /// The failure for an address that the ledger does not have.
    pub fn unknown(&self, address: &Address) -> Failure {
        let known: Vec<String> =
            self.ledger.owned.keys().chain(self.ledger.open.keys()).map(ToString::to_string).collect();
        let failure = Failure::usage(format!("the ledger of `{}` has nothing at {address}", self.target));
        match text::nearest_of_few(&address.to_string(), known.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None if known.is_empty() => failure.help("it has nothing yet"),
            None => {
                failure.help(format!("it has {}; `pushplan list` shows them", text::count(known.len(), "resource")))
            }
        }
    }
}
