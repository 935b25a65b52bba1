//! The ledger of a target, for commands that read it or add to it.

mod command;
mod confirm;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::planning::{Place, unreadable};
use super::turn::Turn;
use super::{Context, asking, runtime, who};
use crate::address::{Address, KIND_KEYS};
use crate::compare;
use crate::failure::{Exit, Failure};
use crate::ledger::place;
use crate::ledger::store::Store;
use crate::ledger::{
    AppendError, Chain, Ended, Entry, Kept, Ledger as State, Log, Record, Taken, Twice, Untrusted, trusted,
};
use crate::manifest::Project;
use crate::render::one_line;
use crate::text;

pub use command::Ledger;

/// A ledger that is to be added to.
#[derive(Debug)]
pub struct Open {
    pub target: String,
    pub ledger: State,
    log: Chain,
}

impl Open {
    /// Opens the ledger of a target, once nobody is at work. Results that an earlier run could not write are in it then.
    pub fn new(context: &Context, place: &Place, turn: Turn) -> Result<Self, Failure> {
        asking::project(place, "written", context)?;
        let (log, target) = place.log()?;
        runtime()?.block_on(async {
            turn.ledger(context, &log, &target).await?;
            take_in(context, &log).await?;
            let ledger = State::replay(log.read(0).await.map_err(unreadable)?);
            Ok(Self { target, ledger, log })
        })
    }

    /// Appends a record. A run that has not ended is over then: it gets no place in the log any more.
    pub fn append(&mut self, context: &Context, record: Record) -> Result<(), Failure> {
        let actor = who::actor();
        let ended = self.ledger.run.clone().map(|running| {
            let note =
                format!("The run of {} since {:.0} had not ended. It is over now.", running.actor, running.since);
            context.out.note(&one_line(&note));
            Record::End { run: running.run, ended: Ended::Interrupted }
        });
        for record in ended.into_iter().chain([record]) {
            let entry = Entry { seq: self.ledger.seq + 1, at: Timestamp::now(), actor: actor.clone(), record };
            runtime()?.block_on(self.log.append(&entry)).map_err(|error| not_appended(&self.target, error))?;
            self.ledger.add(&entry);
        }
        // The record is written; what makes reading faster can wait.
        runtime()?.block_on(self.log.checkpoint(&self.ledger, &actor, Timestamp::now()));
        Ok(())
    }

    /// Everything at an address: itself and its parts, also where only an older version is left.
    pub fn at(&self, address: &Address) -> Vec<Address> {
        let older = self.ledger.retired.iter().map(|old| &old.address);
        let known = self.ledger.owned.keys().chain(self.ledger.open.keys()).chain(older);
        let mut found: Vec<Address> =
            known.filter(|known| *known == address || known.resource() == *address).cloned().collect();
        found.sort();
        found.dedup();
        found
    }

    /// What the ledger calls something: what the files have renamed has its old address until an apply moves it.
    pub fn known_as(&self, place: &Place, address: &Address) -> Address {
        let (true, Ok((site, _))) = (self.at(address).is_empty(), place.read_leniently()) else {
            return address.clone();
        };
        let new = address.resource();
        let moves = compare::moves(&site.units, &self.ledger);
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
                failure.help(format!("it has {}; `pushplan history` names them", text::count(known.len(), "thing")))
            }
        }
    }
}

/// The ledger of a target, where its project says that it is. Nothing is asked of the place yet. One that is not trusted cannot be
/// read.
pub fn of(project: &Project, root: &Path, target: &str) -> Result<Chain, Failure> {
    let place = setting(project, target);
    match trusted(place, root, target) {
        Ok(()) => at_place(place, root, target),
        Err(untrusted) => Ok(Chain::as_set(Arc::new(untrusted), place, root, target)),
    }
}

/// Refuses a ledger that only the files of the project decide on.
pub fn check_trust(log: &Chain) -> Result<(), Failure> {
    log.untrusted().map_or(Ok(()), |untrusted| Err(refused(log.target(), untrusted)))
}

fn setting<'p>(project: &'p Project, target: &str) -> Option<&'p str> {
    let setting = project.target(target).and_then(|target| target.ledger.as_ref());
    setting.map(|setting| setting.value.as_str())
}

fn refused(target: &str, Untrusted { why, help }: &Untrusted) -> Failure {
    Failure::new(format!("the ledger of `{target}` is not used: {why}")).exit(Exit::Refused).help(help.clone())
}

/// The ledger of a target in the place that the settings name, or are to name.
fn at_place(place: Option<&str>, root: &Path, target: &str) -> Result<Chain, Failure> {
    Ok(Chain::as_set(store_at(place, root, target)?, place, root, target))
}

fn store_at(place: Option<&str>, root: &Path, target: &str) -> Result<Arc<dyn Store>, Failure> {
    trusted(place, root, target).map_err(|untrusted| refused(target, &untrusted))?;
    let store = match place.and_then(place::open_secret) {
        Some(why) => Err(why),
        None => place::open(place, root, target),
    };
    store.map_err(|why| {
        Failure::new(format!("the ledger of `{target}` has no place: {why}"))
            .help("a place is such as git, s3://bucket/prefix or postgres://host/database/schema, without a password")
    })
}

/// Writes into the ledger what an earlier run could not, and says so.
pub async fn take_in(context: &Context, log: &Chain) -> Result<(), Failure> {
    taken_in(context, log.take_in().await.map_err(unreadable)?);
    Ok(())
}

/// Says what became of results that an earlier run could not write.
fn taken_in(context: &Context, taken: Taken) {
    for (outcomes, what) in
        [(taken.taken, "are in the ledger now"), (taken.outdated, "were dealt with since and are dropped")]
    {
        if !outcomes.is_empty() {
            let lines: String =
                outcomes.iter().map(|outcome| format!("\n  {}", one_line(&outcome.to_string()))).collect();
            context.out.note(&format!("Results that an earlier run could not write {what}:{lines}"));
        }
    }
    for twice in &taken.twice {
        context.out.note(&one_line(&made_twice(twice)));
    }
}

/// What is said of something that may be on the service twice.
fn made_twice(Twice { made, other, file }: &Twice) -> String {
    match other {
        None => format!(
            "A later run was about to make the same, and what became of that is not known: {made}. If the service has a second \
             one, remove that there."
        ),
        Some(other) => format!(
            "A result that an earlier run could not write is not in the ledger, which has the id {other} of the same thing: \
             {made}. If the service has both, remove one of them there; this is said until you remove {file}."
        ),
    }
}

/// What is to be said of results that are not in the ledger yet.
pub fn pending(kept: &[Kept]) -> Option<String> {
    let told: Vec<String> = kept.iter().map(|kept| crate::render::visible(&kept.to_string())).collect();
    let next = "The next command that writes to the ledger takes them in, or says why not.";
    (!told.is_empty()).then(|| format!("{}\n{next}", told.join("\n")))
}

/// An address as a user writes it.
pub fn address(text: &str) -> Result<Address, Failure> {
    Address::try_from(text.to_owned()).map_err(|why| {
        let (kind, key) = text.split_once('/').unwrap_or((text, ""));
        match text::nearest(kind, KIND_KEYS) {
            Some(near) if !key.is_empty() && near != kind => {
                Failure::usage(why).help(format!("did you mean {near}/{key}?"))
            }
            _ => Failure::usage(why).help("an address is such as segments/lapsed-buyers"),
        }
    })
}

fn not_appended(target: &str, error: AppendError) -> Failure {
    match error {
        AppendError::Conflict => Failure::new(format!(
            "somebody else has written to the ledger of `{target}` meanwhile; nothing was changed"
        ))
        .help("run the command again"),
        AppendError::NotWritten(why) => Failure::new(format!("nothing was changed: {why}")),
        AppendError::Unknown(why) => Failure::new(format!("whether it was written is not known: {why}"))
            .help("`pushplan history` shows what the ledger has"),
    }
}
