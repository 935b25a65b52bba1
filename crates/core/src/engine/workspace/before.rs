//! The aim of a plan that undoes a run of the history.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::undo::{Left, Taken, Undone, undone, undone_too};
use pushplan_ledger::{Entry, Ledger, Owned, Unconfirmed, Verb, history};
use pushplan_model::address::Address;
use pushplan_model::text::one_line;
use pushplan_model::text::{all_of, shell_word};

use super::Workspace;
use crate::compare::Unit;
use crate::engine::Session;
use crate::engine::ledger::unreadable;
use crate::promote::kept;

/// The largest number of names in a list.
const NAMED: usize = 10;

impl Workspace {
    /// The units of the ledger, with everything that a run changed as it was before. Resources that are not changed
    /// back are reported.
    pub(super) async fn before(
        &self,
        number: usize,
        ledger: &Ledger,
        now: Timestamp,
        session: &Session,
    ) -> Result<BTreeMap<Address, Unit>, Failure> {
        let mut entries: Vec<Entry> = self.log.history().await.map_err(unreadable)?;
        entries.retain(|entry| entry.seq <= ledger.seq);
        let deeds = history::deeds(&entries);
        let deed = deeds.iter().find(|deed| deed.number == number).ok_or_else(|| {
            Failure::usage(format!("the history has no run {number}")).help("`pushplan history` lists the runs")
        })?;
        let of_deed: BTreeSet<&Address> = deed.changes.iter().map(|changed| &changed.address).collect();
        let is_made = |(_, open): &(&Address, &Unconfirmed)| open.intent.verb == Verb::Create;
        if let Some((address, _)) = ledger.open.iter().filter(is_made).find(|(address, _)| !of_deed.contains(address)) {
            return Err(self.in_doubt(number, address));
        }
        let undone = undone(&entries, deed, ledger, now).map_err(|taken| self.taken(&taken))?;
        let mut told = self.told_of(number, &undone, ledger);
        if undone.is_idle(ledger) && (!told.is_empty() || undone.as_before == 0) {
            let failure = Failure::usage(format!("nothing of run {number} is left to undo: nothing was changed"));
            return Err(match told.is_empty() {
                true => failure.help(format!("`pushplan history {number}` shows what it did")),
                false => failure.help(told.join("\n          ")),
            });
        }
        told.extend(undone_too(&deeds, deed, &undone).into_iter().map(|(later, addresses)| {
            let all: Vec<Address> = addresses.into_iter().collect();
            let is = if all.len() == 1 { "that change is" } else { "these changes are" };
            one_line(&format!("run {later} also changed {}: {is} undone too", named(&all)))
        }));
        if self.said.set(()).is_ok() {
            told.iter().for_each(|words| self.note(words, session));
        }
        let Undone { owned, renamed, .. } = undone;
        let unit = |(address, owned): (Address, Owned)| {
            let renamed_from = renamed.get(&address.resource()).cloned();
            let unit = Unit { renamed_from, ..kept(self.units.get(&address), &owned) };
            (address, unit)
        };
        Ok(owned.into_iter().map(unit).collect())
    }

    /// A step of another user is not completed here.
    fn in_doubt(&self, number: usize, address: &Address) -> Failure {
        let message =
            format!("the state of {address} is unknown, and run {number} did not change it: nothing was changed");
        let (apply, word) = (self.command("apply"), shell_word(&address.to_string()));
        let resolve = self.command(&format!("resolve {word} --created ID | --absent"));
        Failure::new(one_line(&message))
            .kind(FailureKind::Refused)
            .help(one_line(&format!("continue that first: {apply}; or resolve it: {resolve}")))
    }

    fn taken(&self, Taken { old, now }: &Taken) -> Failure {
        let free = Address::new(old.kind, "NEW");
        Failure::usage(one_line(&format!("{old} is a different resource now, so {now} cannot have that key again")))
            .help(one_line(&format!("rename that resource first: {}", self.command(&format!("mv {old} {free}")))))
    }

    /// Messages about changes of a run that are not undone, with advice.
    fn told_of(&self, number: usize, undone: &Undone, ledger: &Ledger) -> Vec<String> {
        let Undone { adopted, forgotten, left, .. } = undone;
        let mut told = Vec::new();
        if !adopted.is_empty() {
            let adopted = wholes(adopted, ledger);
            let words: Vec<String> = adopted.iter().take(NAMED).map(|one| shell_word(&one.to_string())).collect();
            let (they, stay, them) = if adopted.len() == 1 { ("it", "stays", "it") } else { ("they", "stay", "them") };
            let more = adopted.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(", and so on for {more} more") } else { String::new() };
            told.push(format!(
                "run {number} adopted existing resources: {they} {stay} managed, {}. To stop managing {them}: {}{more}",
                named(&adopted),
                self.command(&format!("forget {}", words.join(" ")))
            ));
        }
        for (address, id) in forgotten.iter().take(NAMED) {
            let first = if self.units.contains_key(address) { "" } else { "declare it again, then " };
            let command = format!("adopt {} --id {}", shell_word(&address.to_string()), shell_word(id));
            told.push(format!(
                "run {number} removed {address} from the ledger. It is not created again, because the service may \
                    still \
                    have it. To manage it again: {first}{}",
                self.command(&command)
            ));
        }
        if forgotten.len() > NAMED {
            let many = forgotten.len() - NAMED;
            told.push(format!("The same applies to {many} more: `pushplan history {number}` shows their ids."));
        }
        let mut reasons: BTreeMap<&Left, Vec<Address>> = BTreeMap::new();
        for (address, why) in left {
            reasons.entry(why).or_default().push(address.clone());
        }
        for (why, addresses) in reasons {
            told.push(format!("{} {}.", named(&addresses), because(why, addresses.len() == 1)));
        }
        told.iter().map(|words| one_line(words)).collect()
    }

    /// A command for this target.
    fn command(&self, words: &str) -> String {
        match self.manifests.project.target_names().len() {
            0 | 1 => format!("pushplan {words}"),
            _ => format!("pushplan {words} --target {}", shell_word(&self.target)),
        }
    }
}

/// Why a resource is not changed, as text after its address.
fn because(why: &Left, is_one: bool) -> String {
    let (is, was, it) = if is_one { ("is", "was", "it") } else { ("are", "were", "them") };
    match why {
        Left::Gone => format!("{was} deleted or forgotten since, and {is} not created again"),
        Left::Another => format!("{is} not changed: another resource now has that key"),
        Left::Past => format!("{is} not changed: {} time has passed", if is_one { "its" } else { "their" }),
        Left::Names(segment) => {
            format!("{is} not changed: the earlier version named {segment}, which was deleted or forgotten since")
        }
        Left::NotOurs => format!("{was} not managed when that run deleted {it}, and {is} not created again"),
    }
}

/// Replaces members by their resource if all its managed members are listed.
fn wholes(addresses: &[Address], ledger: &Ledger) -> Vec<Address> {
    let all: BTreeSet<&Address> = addresses.iter().collect();
    let others: BTreeSet<Address> =
        ledger.owned.keys().filter(|address| !all.contains(address)).map(Address::resource).collect();
    let whole = |address: &Address| Some(address.resource()).filter(|whole| !others.contains(whole));
    let found: BTreeSet<Address> =
        addresses.iter().map(|address| whole(address).unwrap_or_else(|| address.clone())).collect();
    found.into_iter().collect()
}

fn named(addresses: &[Address]) -> String {
    let mut words: Vec<String> = addresses.iter().take(NAMED).map(ToString::to_string).collect();
    if addresses.len() > NAMED {
        words.push(format!("{} more", addresses.len() - NAMED));
    }
    all_of(&words)
}
