use std::collections::BTreeSet;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::ledger::{self, OpenLedger};
use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::address::Address;
use crate::compare;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::kinds::{self, Delete, OpenChannel, Read, Resource};
use crate::ledger::Record;
use crate::manifest::{Project, Target, read_project};
use crate::nouns::level::Level;
use crate::render::one_line;
use crate::text::{self, pattern_of, quoted};

/// Stop managing resources; the service keeps them.
///
/// They are removed from the ledger. pushplan no longer changes or deletes them.
#[derive(Debug, Args)]
pub struct Forget {
    /// Addresses such as segments/lapsed-buyers; all parts of a resource are forgotten, such as its send times
    #[arg(value_name = "ADDRESS", required = true)]
    addresses: Vec<String>,

    /// Also forget pending pushes that the API cannot list. If one is still declared, the next apply creates it again
    #[arg(long)]
    even_if_pending: bool,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    turn: Turn,
}

impl Forget {
    pub fn run(&self, context: &Context) -> Ended {
        let wanted =
            self.addresses.iter().map(|text| ledger::address_at(text, &self.place)).collect::<Result<Vec<_>, _>>()?;
        let mut open = OpenLedger::new(context, &self.place, self.turn)?;
        let mut found = Vec::new();
        for address in &wanted {
            let here = open.at(&open.known_as(&self.place, address));
            if here.is_empty() {
                return Err(open.unknown(address));
            }
            found.extend(here);
        }
        found.sort();
        found.dedup();
        // A forgotten resource may be created again. If a request is unconfirmed, it could then exist twice.
        if let Some(doubt) = found.iter().find(|address| open.ledger.open.contains_key(address)) {
            let message = format!("the state of {doubt} is unknown: if you forget it, it could be created again");
            return Err(Failure::new(message)
                .kind(FailureKind::Refused)
                .help(format!("resolve it first: pushplan resolve {doubt} --created ID | --absent")));
        }
        let (level, now) = runtime()?.block_on(self.place.level_and_time())?;
        let pending = |address: &&Address| {
            let owned = open.ledger.owned.get(*address).map(|it| &it.spec);
            // An older version of it may be sent as well.
            let older = open.ledger.retired.iter().filter(|old| old.address == **address).map(|old| &old.spec);
            owned.into_iter().chain(older).any(|spec| waits(address, spec, level, now))
        };
        if let Some(address) = found.iter().find(pending).filter(|_| !self.even_if_pending) {
            let message = format!(
                "{address} is pending, and this API cannot list it: if you forget it, it is still sent, and a later \
                    apply would create it again"
            );
            return Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
                "remove it from your files first, or remove it in the service's dashboard; then pushplan forget \
                    {address} \
                 --even-if-pending"
            )));
        }
        self.not_pruned(&open, &found, level, now)?;
        let is_over = |address: &&Address| {
            open.ledger.owned.get(*address).is_some_and(|it| it.past || has_gone_out(address, &it.spec, now))
        };
        let (over, there): (Vec<&Address>, Vec<&Address>) = found.iter().partition(is_over);
        let over = over.len();
        let has_rest = |address: &&Address| {
            let spec = open.ledger.owned.get(*address).map(|it| &it.spec);
            spec.is_some_and(|spec| has_gone_out(address, spec, now) && is_to_come(address, spec, now))
        };
        let half_out: Vec<String> = found.iter().filter(has_rest).map(ToString::to_string).collect();
        // No list shows which segments it names, and the ledger no longer has it.
        let named = found.iter().filter(pending).filter_map(|address| open.ledger.owned.get(address));
        let named: BTreeSet<String> =
            named.flat_map(|owned| owned.refs.keys()).map(|key| format!("segments/{key}")).collect();
        open.append(context, Record::Forget(found.clone()))?;
        for address in &found {
            context.out.print(&format!("Forgot {address}"));
        }
        let target = text::short(&open.target, 80);
        if !there.is_empty() {
            let them = if there.len() == 1 { "it" } else { "them" };
            let next = match there.iter().all(|address| is_recognized(address, level)) {
                true => format!("apply refuses until you adopt {them} or remove {them} from your files"),
                false => format!("the next apply creates {them} again, unless you adopt {them}"),
            };
            context.out.print(&format!("{target} still has {them}. If your files still declare {them}, {next}."));
        }
        if !named.is_empty() {
            let named = text::all_of(&Vec::from_iter(named));
            context.out.print(&format!(
                "Do not edit or remove {named} before it is sent: it uses {named}, and pushplan no longer tracks that."
            ));
        }
        if over > 0 {
            context.out.print(
                "A sent message cannot be undone. Remove it from your files, or the next apply creates it \
                    again.",
            );
        }
        if !half_out.is_empty() {
            context.out.print(&format!("Pending messages of {} will still be sent.", text::all_of(&half_out)));
        }
        Ok(Exit::Done)
    }
}

impl Forget {
    /// Refuses resources that the target would prune next: undeclared ones of a pruned kind.
    fn not_pruned(&self, open: &OpenLedger, found: &[Address], level: Level, now: Timestamp) -> Result<(), Failure> {
        let root = self.place.root()?;
        let pruned = Project::open(&root).target(&open.target).map(Target::pruned).unwrap_or_default();
        let deletes = |address: &&Address| {
            pruned.contains(&*address.kind) && kinds::api(address).lifecycle(level).delete != Delete::Never
        };
        let asked: Vec<&Address> = found.iter().filter(deletes).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let manifests = read_project(&root, None);
        let units = compare::units(&manifests.resolve(Some(&open.target)).0, &manifests.sources);
        // A resource with a declared name is not deleted without a person's decision.
        let declared: BTreeSet<(&str, String)> =
            units.iter().map(|(address, unit)| (&*address.kind, kinds::api(address).name(&unit.spec))).collect();
        let ignored = manifests.project.ignore_unmanaged(&open.target);
        for address in asked {
            let older = open.ledger.retired.iter().filter(|old| old.address == *address).map(|old| &old.spec);
            for spec in open.ledger.owned.get(address).map(|owned| &owned.spec).into_iter().chain(older) {
                let name = kinds::api(address).name(spec);
                let meant = format!("{}/{name}", address.kind);
                let is_ignored = ignored.iter().any(|pattern| text::is_like(&pattern.value, &meant));
                if is_ignored || has_gone_out(address, spec, now) || declared.contains(&(&*address.kind, name.clone()))
                {
                    continue;
                }
                let target = text::short(&open.target, 80);
                let message = format!(
                    "{address} is not in your files, and prune.{} of {target} deletes unmanaged resources: if you \
                        forget it, the next apply deletes it",
                    address.kind
                );
                let pattern = quoted(&format!("{}/{}", address.kind, pattern_of(&name)));
                return Err(Failure::new(one_line(&message)).kind(FailureKind::Refused).help(one_line(&format!(
                    "to keep it, first add this to pushplan.toml, under [project] or the target: ignore_unmanaged = \
                        [{pattern}]"
                ))));
            }
        }
        Ok(())
    }
}

/// Whether a plan finds it on the service by its name, and so does not create it a second time.
fn is_recognized(address: &Address, level: Level) -> bool {
    address.kind != OpenChannel::KEY && kinds::api(address).lifecycle(level).read != Read::LedgerOnly
}

/// Whether a resource has begun to message people.
fn has_gone_out(address: &Address, spec: &Value, now: Timestamp) -> bool {
    kinds::api(address).runs(spec).is_some_and(|runs| runs.has_begun(now))
}

/// Whether a resource still messages people by itself, possibly again.
fn is_to_come(address: &Address, spec: &Value, now: Timestamp) -> bool {
    kinds::api(address).runs(spec).is_some_and(|runs| !runs.is_done(now, SignedDuration::ZERO))
}

/// Whether a resource still messages people by itself, and could not be found again after it is forgotten.
fn waits(address: &Address, spec: &Value, level: Level, now: Timestamp) -> bool {
    is_to_come(address, spec, now) && kinds::api(address).lifecycle(level).read == Read::LedgerOnly
}
