use clap::Args;
use jiff::Timestamp;

use super::ledger::{self, OpenLedger};
use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::address::Address;
use crate::compare::{found_in_gap, may_be_replaced};
use crate::engine::target;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::kinds;
use crate::ledger::{Owned, Record, Resolution, Settling, Verb};

/// Record what happened to a request without an answer.
#[derive(Debug, Args)]
pub struct Resolve {
    /// Address such as scheduled_pushes/black-friday
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// It was created with this id on the service
    #[arg(long, value_name = "ID", conflicts_with = "absent")]
    created: Option<String>,

    /// It was sent already: never create it again
    #[arg(long, requires = "created")]
    sent: bool,

    /// It does not exist on the service
    #[arg(long)]
    absent: bool,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    turn: Turn,
}

impl Resolve {
    pub fn run(&self, context: &Context) -> Ended {
        let address = ledger::address_at(&self.address, &self.place)?;
        let mut open = OpenLedger::new(context, &self.place, self.turn)?;
        let known = open.known_as(&self.place, &address);
        let in_gap = self.since_gap(&open, &known)?;
        if !in_gap.is_empty() {
            in_gap.into_iter().try_for_each(|record| open.append(context, record))?;
            context.out.print(&match &self.created {
                Some(id) if self.sent => format!(
                    "{address} was sent, with the id {id}; it will not be created again, whatever time your files give it"
                ),
                Some(id) => format!("{address} is managed now, with the id {id}"),
                None => format!("{address} was not created in the gap; the next apply creates it"),
            });
            return Ok(Exit::Done);
        }
        if self.sent {
            let known = format!("the ledger knows the time of {address}, so --sent is not needed");
            return Err(Failure::usage(known).help("pass only --created ID"));
        }
        let found = self.found(&open, &known)?;
        open.append(context, Record::Resolve { address: known.clone(), found: found.clone() })?;
        context.out.print(&match found {
            Resolution::Created { id } => format!("{address} is managed now, with the id {id}"),
            Resolution::Absent if open.ledger.owned.contains_key(&known) => {
                format!("{address} was not created; the earlier version is still managed")
            }
            Resolution::Absent => format!("{address} does not exist; the next plan shows whether it is created"),
        });
        Ok(Exit::Done)
    }

    /// The records for a resource that may have been created in a gap of the ledger; empty for any other.
    fn since_gap(&self, open: &OpenLedger, address: &Address) -> Result<Vec<Record>, Failure> {
        let ledger = &open.ledger;
        let Some(gap) = ledger.gap.as_ref().filter(|gap| gap.covers(address)) else { return Ok(Vec::new()) };
        let owned = ledger.owned.get(address);
        let is_known = |owned: &Owned| !may_be_replaced(gap, owned, kinds::api(address));
        if ledger.open.contains_key(address) || owned.is_some_and(is_known) {
            return Ok(Vec::new());
        }
        let (workspace, _) = self.place.open_leniently()?;
        let Some(unit) = workspace.units.get(address) else { return Err(open.unknown(address)) };
        let id = match (&self.created, self.absent) {
            (None, true) => return Ok(vec![Record::Resolve { address: address.clone(), found: Resolution::Absent }]),
            (Some(id), _) if id.trim().is_empty() => return Err(Failure::usage("an id cannot be empty")),
            (Some(id), _) if !self.sent && owned.is_some_and(|owned| owned.id == *id) => {
                let found = Resolution::Created { id: id.clone() };
                return Ok(vec![Record::Resolve { address: address.clone(), found }]);
            }
            (Some(id), _)
                if owned.is_none_or(|owned| owned.id != *id)
                    && ledger.ids().contains(&(&*address.kind, id.as_str())) =>
            {
                return Err(Failure::usage(format!("{id} is already managed, with another address")));
            }
            (Some(id), _) => id.clone(),
            (None, false) => {
                return Err(Failure::usage(format!("look up whether {address} was created")).help(format!(
                    "pushplan resolve {address} --created ID, or --absent if it was neither created nor sent"
                )));
            }
        };
        if self.sent && !kinds::api(address).has_runs() {
            return Err(Failure::usage(format!("{address} has no send time, so --sent does not apply")));
        }
        let level = runtime()?.block_on(target::level(&workspace.manifests.project, &workspace.target));
        Ok(found_in_gap(unit, address, &id, self.sent, (ledger, level, Timestamp::now())))
    }

    /// The resolution on the command line, if it is valid for the intent.
    fn found(&self, open: &OpenLedger, address: &Address) -> Result<Resolution, Failure> {
        let owned = open.ledger.owned.get(address);
        let not_now = |message: String| Err(Failure::usage(message));
        let intent = match (open.ledger.open.get(address), owned) {
            (Some(open), _) => &open.intent,
            (None, None) => return Err(open.unknown(address)),
            // Declaring a known resource absent would create it again.
            (None, Some(owned)) => {
                let known = format!("the state of {address} is known: it is managed, with the id {}", owned.id);
                return Err(
                    Failure::usage(known).help(format!("if the service no longer has it: pushplan forget {address}"))
                );
            }
        };
        let id = match (&self.created, self.absent) {
            (Some(id), _) => id,
            (None, true) => return self.is_settled(open, address).map(|()| Resolution::Absent),
            (None, false) => {
                return Err(Failure::usage(format!("look up the state of {address}")).help(format!(
                    "pushplan resolve {address} --created ID, or --absent if it is not on the service"
                )));
            }
        };
        match owned {
            // It was not deleted in time.
            Some(owned) if intent.verb == Verb::Delete && owned.id == *id => Ok(Resolution::Created { id: id.clone() }),
            _ if intent.verb != Verb::Create => {
                let failure = Failure::usage(format!("{address} was not created, but {}", intent.verb.done()));
                Err(failure.help("the next plan checks this; --absent confirms that it no longer exists"))
            }
            Some(owned) if owned.id == *id => {
                not_now(format!("{id} is the earlier version of {address}: the new version has another id"))
            }
            _ if id.trim().is_empty() => not_now("an id cannot be empty".to_owned()),
            _ if intent.seen.contains(id) => {
                not_now(format!("{id} already existed before {address} was created: it is not the new resource"))
            }
            _ if open.ledger.ids().contains(&(&*address.kind, id.as_str())) => {
                not_now(format!("{id} is already managed, with another address"))
            }
            _ => Ok(Resolution::Created { id: id.clone() }),
        }
    }

    /// Refuses to declare a resource absent that may still be created. A person who checked the service has waited
    /// already, so the times of the ledger decide.
    fn is_settled(&self, open: &OpenLedger, address: &Address) -> Result<(), Failure> {
        let now = Timestamp::now();
        let settle = self.place.settle()?;
        let settling = Settling { settle, read_at: now, clock: None, is_over: false, by_own_clock: false };
        let Some(until) = open.ledger.settled_at(&settling).filter(|until| *until > now) else { return Ok(()) };
        Err(Failure::new(format!("a request for {address} may still take effect, until {until:.0}"))
            .kind(FailureKind::Refused)
            .help("check the service after that, then run this again"))
    }
}
