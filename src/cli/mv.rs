use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::ledger::{self, OpenLedger};
use super::planning::{TargetArgs, tell};
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::address::{Address, is_key, is_own, to_key};
use crate::cases::names;
use crate::codes::Severity;
use crate::compare;
use crate::engine::{project, target};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::files::{self, FileError};
use crate::finding::Finding;
use crate::git::Git;
use crate::kinds::{self, Kind};
use crate::ledger::{Ledger, Log, Record};
use crate::manifest::{Manifests, read_project};
use crate::rekey::{Refused, RekeyRequest, Rekeyed, rekey, reread};
use crate::render::one_line;
use crate::text;

/// Rename a resource in all files and ledgers.
///
/// It changes the key and all references in manifests, overlays, device tests and the ledger, and keeps comments,
/// quotes and order. `mv` does not contact the service. If the old key is also the name on the service, that name is
/// added to the manifest.
///
/// The ledger of the target is updated at once, and so are ledgers of other targets that are stored here. This suits a
/// folder from which you apply. If CI applies after a merge, use --in-git: it writes `lifecycle: {renamed_from: OLD}`
/// and changes no ledger, and the next apply of each target renames its entry.
#[derive(Debug, Args)]
pub struct Mv {
    /// Current address, such as segments/lapsed
    #[arg(value_name = "OLD")]
    old: String,

    /// New address of the same kind, or only the new key
    #[arg(value_name = "NEW")]
    new: String,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    turn: Turn,

    /// Change no ledger; write `lifecycle: {renamed_from: OLD}` into the manifest
    #[arg(long)]
    in_git: bool,

    /// Show the edits and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// The ledger of a target, as far as it can be read here.
struct TargetLedger {
    target: String,
    ledger: anyhow::Result<Ledger>,
}

impl TargetLedger {
    fn has(&self, address: &Address) -> bool {
        let known = |ledger: &Ledger| ledger.owned.keys().chain(ledger.open.keys()).any(|it| it.resource() == *address);
        self.ledger.as_ref().is_ok_and(known)
    }

    fn is_empty(&self) -> bool {
        self.ledger.as_ref().is_ok_and(|ledger| ledger.seq == 0)
    }
}

impl Mv {
    pub fn run(&self, context: &Context) -> Ended {
        let (kind, from, to) = self.addresses()?;
        let root = self.place.root()?;
        let manifests = read_project(&root, None);
        let (name, _) = target::choose(&manifests.project, self.place.target())?;
        sound(&manifests, context)?;
        if self.turn.waits() && !self.in_git && !self.dry_run {
            let (log, target) = self.place.log()?;
            runtime()?.block_on(self.turn.ledger(context, &log, &target))?;
        }
        let known = ledgers(&manifests, &root)?;
        let declared = |address: &Address| !manifests.declarations(kind, &address.key).is_empty();
        let follows = !declared(&from) && declared(&to);
        // After the files are edited, a ledger without the rename would plan to delete the old resource and to create
        // the new one.
        let concerned = known.iter().filter(|one| !self.in_git && (one.target == name || !follows));
        if let Some(why) = concerned.into_iter().find_map(|one| one.ledger.as_ref().err()) {
            return Err(Failure::new(format!(
                "{why}; nothing was renamed, because that ledger would be out of \
                date"
            ))
            .help(
                "run mv where all ledgers can be read, or pass --in-git: then the next apply of each target renames \
                    its own entry",
            ));
        }
        match (declared(&from), declared(&to)) {
            (true, true) => return Err(taken(kind, &manifests, &to, "it is already declared")),
            (true, false) => {}
            (false, true) => return self.follow(&manifests, &known, &name, &from, &to, context),
            (false, false) => return Err(unknown(kind, &manifests, &from)),
        }
        self.at_rest(&known, &name, &from)?;
        if let Some(there) = known.iter().find(|known| known.has(&to)) {
            let why = format!("the ledger of `{}` has this address", there.target);
            return Err(taken(kind, &manifests, &to, &why));
        }
        let rekeyed = self.rekeyed(&manifests, &name, kind, &from, &to)?;
        let after = reread(&manifests, &rekeyed.files);
        sound(&after, context)?;
        if !self.dry_run {
            write(&root, &rekeyed)?;
        }
        self.told(&rekeyed, &from, &to, context);
        if self.dry_run {
            context.out.print(&difference(&rekeyed));
        }
        self.record(&known, &name, &from, &to, context)
    }

    /// Parses the arguments.
    fn addresses(&self) -> Result<(&'static Kind, Address, Address), Failure> {
        let from = ledger::address_at(&self.old, &self.place)?;
        let kind = kinds::of(&from);
        if from.part().is_some() {
            return Err(Failure::usage(format!("{from} is a part of {} and is renamed with it", from.resource())));
        }
        let to = match self.new.split_once('/') {
            Some(_) => ledger::address(&self.new)?,
            None => Address::new(kind.key, &self.new),
        };
        if to.kind != from.kind {
            return Err(Failure::usage(format!(
                "{from} and {to} are of different kinds: the kind of a {} cannot \
                change",
                kind.noun
            ))
            .help(format!("did you mean {}/{}?", kind.key, to.key)));
        }
        if is_own(&to.key) {
            let message = format!("`{}` cannot be the key of a {}", text::short(&to.key, 40), kind.noun);
            let near = to_key(&format!("{}-{}", kind.noun, to.key));
            return Err(Failure::usage(message)
                .help(format!("keys that begin with x- are ignored; did you mean {}/{near}?", kind.key)));
        }
        if !is_key(&to.key) {
            let failure =
                Failure::usage(format!("`{}` cannot be the key of a {}", text::short(&to.key, 40), kind.noun));
            return Err(match to_key(&to.key) {
                near if near.is_empty() => failure.help("up to 128 letters, digits, -, _ and ."),
                near => failure.help(format!("did you mean {}/{near}?", kind.key)),
            });
        }
        if from == to {
            return Err(Failure::usage(format!("{from} already has this key")));
        }
        if kind.api.name_field().is_none() {
            let message = format!("a {} cannot be renamed: its key is its name on the service", kind.noun);
            return Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
                "create `{}` in the dashboard, declare it next to `{}`, move its members, then remove the old one",
                to.key, from.key
            )));
        }
        Ok((kind, from, to))
    }

    fn rekeyed(
        &self,
        manifests: &Manifests,
        target: &str,
        kind: &'static Kind,
        from: &Address,
        to: &Address,
    ) -> Result<Rekeyed, Failure> {
        let old = manifests.resolve(Some(target)).0.resources.remove(from).and_then(|it| it.lifecycle.renamed_from);
        if let Some(older) = old.filter(|_| self.in_git) {
            let message = format!(
                "{from} already has `lifecycle.renamed_from: {older}`, and can have only one old \
                key"
            );
            return Err(Failure::new(message).kind(FailureKind::Refused).help(format!(
                "remove that line ({}) when every target has been applied, or rename it without --in-git",
                manifests.sources.place(older.span)
            )));
        }
        let cases = names::names(manifests, Some(target));
        if let Some(wrong) = cases.findings.iter().find(|finding| finding.severity == Severity::Error) {
            let message = format!("{}: {}", cases.sources.place(wrong.at), wrong.message);
            return Err(Failure::new(one_line(&message))
                .kind(FailureKind::Invalid)
                .help("correct it first: mv has to read the device tests before it can edit them"));
        }
        let asked = RekeyRequest { manifests, cases: &cases, kind, from, to, in_git: self.in_git };
        rekey(&asked).map_err(|refused| match refused {
            Refused::Places(places) => {
                let told: Vec<String> =
                    places.iter().map(|(at, text)| format!("\n  {at}  {}", text::short(text, 80))).collect();
                let are = if places.len() == 1 { "place names" } else { "places name" };
                let message = format!("{} {are} {from} in a way that cannot be edited:{}", places.len(), told.concat());
                Failure::new(message).kind(FailureKind::Refused).help(
                    "nothing was written; write the key there without a variable, an alias or an escape, then run mv \
                        again",
                )
            }
            Refused::Differ(addresses) => {
                let told: Vec<String> = addresses.iter().take(5).map(ToString::to_string).collect();
                let message = format!("with the new key, {} would change its meaning", text::all_of(&told));
                Failure::new(message)
                    .kind(FailureKind::Refused)
                    .help("nothing was written; a reference may share an anchor with another value: edit it by hand")
            }
        })
    }

    fn told(&self, rekeyed: &Rekeyed, from: &Address, to: &Address, context: &Context) {
        let would = if self.dry_run { "Would move" } else { "Moved" };
        context.out.print(&one_line(&format!("{would} {from} to {to}:")));
        let wide = rekeyed.places.iter().map(|(place, _)| place.chars().count()).max().unwrap_or_default();
        for (place, what) in &rekeyed.places {
            context.out.print(&one_line(&format!("  {place:wide$}  {what}")));
        }
        if let Some(field) = rekeyed.named {
            let stays = format!("Its old key stays its name on the service: `{field}: {}` was added.", from.key);
            context.out.print(&one_line(&stays));
        }
    }

    /// Updates the ledgers, because the files already have the new key.
    fn follow(
        &self,
        manifests: &Manifests,
        known: &[TargetLedger],
        name: &str,
        from: &Address,
        to: &Address,
        context: &Context,
    ) -> Ended {
        let (desired, _) = manifests.resolve(Some(name));
        let mut units = compare::units(&desired, &manifests.sources);
        units.retain(|address, _| address.resource() == *to);
        units.values_mut().for_each(|unit| unit.renamed_from = Some(from.key.clone()));
        let can = |known: &TargetLedger| {
            known.ledger.as_ref().is_ok_and(|ledger| compare::moves(&units, ledger).contains_key(to))
        };
        let Some(own) = known.iter().find(|known| known.target == name).filter(|known| can(known)) else {
            let message = format!(
                "your files have {to} and not {from}, and the ledger of `{name}` cannot rename one to the \
                    other"
            );
            let help = "the old address is not in the ledger, the new one is already there, or the resource is \
                different";
            return Err(Failure::new(message).kind(FailureKind::Refused).help(help));
        };
        if self.in_git {
            let message =
                format!("your files already have {to}: write `lifecycle: {{renamed_from: {}}}` there", from.key);
            return Err(Failure::new(message)
                .kind(FailureKind::Refused)
                .help("without --in-git, mv updates the ledger at once"));
        }
        self.at_rest(known, &own.target, from)?;
        context.out.print(&one_line(&format!("Your files already have {to}; no file was edited.")));
        self.record(known, &own.target, from, to, context)
    }

    /// Refuses, before anything is written, if a run holds the lock of a ledger that would be updated.
    fn at_rest(&self, known: &[TargetLedger], name: &str, from: &Address) -> Result<(), Failure> {
        let concerned = known.iter().filter(|one| !self.in_git && (one.target == name || one.has(from)));
        for one in concerned {
            if let Ok(ledger) = &one.ledger {
                at_rest(ledger, &one.target, from)?;
            }
        }
        Ok(())
    }

    /// Updates the ledgers, or prints which command will.
    fn record(&self, known: &[TargetLedger], name: &str, from: &Address, to: &Address, context: &Context) -> Ended {
        let say = |words: String| context.out.print(&one_line(&words));
        if self.in_git {
            say("No ledger was changed: with `lifecycle.renamed_from`, the next apply of each target renames its \
                entry. Remove that line once every target has been applied."
                .to_owned());
            return Ok(Exit::Done);
        }
        let (mut elsewhere, mut failed) = (Vec::new(), None);
        // The requested target comes first: if it fails, no other ledger is updated.
        for one in known.iter().filter(|one| one.target == name).chain(known.iter().filter(|one| one.target != name)) {
            let target = text::short(&one.target, 80);
            match &one.ledger {
                Err(why) => {
                    say(format!("The ledger of {target} cannot be read and was not changed: {why}"));
                    say(format!("When it can be read, run: pushplan mv {from} {to} --target {target}"));
                }
                Ok(_) if one.is_empty() => elsewhere.push(target),
                Ok(_) if !one.has(from) => {
                    say(format!("The ledger of {target} does not have {from} and was not changed."));
                }
                Ok(_) if one.has(to) => {
                    say(format!("The ledger of {target} already has {to} and was not changed."));
                }
                Ok(_) if self.dry_run => say(format!("The ledger of {target} would rename it to {to}.")),
                Ok(_) => {
                    let record = Record::Move { from: from.clone(), to: to.clone() };
                    let place = self.place.of_target(&one.target);
                    let moved = OpenLedger::new(context, &place, self.turn).and_then(|mut open| {
                        // A run may have begun since the check.
                        at_rest(&open.ledger, &one.target, from)?;
                        open.append(context, record)
                    });
                    match moved {
                        Ok(()) => say(format!("The ledger of {target} now has it as {to}.")),
                        Err(failure) => {
                            failed = Some(failure);
                            break;
                        }
                    }
                }
            }
        }
        if !elsewhere.is_empty() {
            let have = if elsewhere.len() == 1 { "has" } else { "have" };
            say(format!(
                "{} {have} no ledger here. If one is kept elsewhere, run `pushplan mv {from} {to}` there, or write \
                 `lifecycle: {{renamed_from: {}}}` into the manifest.",
                text::all_of(&elsewhere),
                from.key
            ));
        }
        match failed {
            None => Ok(Exit::Done),
            Some(failure) => {
                Err(Failure::new(format!("the files were edited, but not all ledgers: {}", failure.message))
                    .kind(failure.kind)
                    .help(format!("run `pushplan mv {from} {to}` again: it only updates the ledger")))
            }
        }
    }
}

/// Refuses to rename during a run: the run would be ended, and its new resource would be unmanaged.
fn at_rest(ledger: &Ledger, target: &str, from: &Address) -> Result<(), Failure> {
    let target = text::short(target, 80);
    if let Some(run) = &ledger.run {
        let message =
            format!("a run of {} since {:.0} has not ended on {target}: nothing was renamed", run.actor, run.since);
        return Err(Failure::new(one_line(&message)).kind(FailureKind::Refused).help(format!(
            "wait for its end, for example with --wait 10m; if it was interrupted, `pushplan apply --target \
                {target}` checks what it did and ends it. With --in-git, no ledger is needed"
        )));
    }
    let in_doubt = ledger.open.iter().find(|(address, _)| address.resource() == *from);
    if let Some((address, open)) = in_doubt {
        let message = format!("the state of {address} on {target} is unknown since {:.0}: it was not renamed", open.at);
        return Err(Failure::new(one_line(&message)).kind(FailureKind::Refused).help(format!(
            "`pushplan plan --target {target}` shows how to resolve it; then run mv again. With --in-git, no ledger \
                is needed"
        )));
    }
    Ok(())
}

/// Refuses a project with errors, because references in it are unknown.
fn sound(manifests: &Manifests, context: &Context) -> Result<(), Failure> {
    let names = manifests.project.target_names();
    let targets: Vec<Option<&str>> = if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
    let verdict = project::check(manifests, &targets, Timestamp::now());
    let errors: Vec<&Finding> = verdict.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    tell(manifests, errors.into_iter(), false, context);
    Err(Failure::new("the manifests have errors, or would have errors: nothing was renamed")
        .kind(FailureKind::Invalid)
        .help("correct them first; `pushplan validate` shows them with warnings too"))
}

fn ledgers(manifests: &Manifests, root: &std::path::Path) -> Result<Vec<TargetLedger>, Failure> {
    // Outside git, a target whose ledger is in git has none here.
    let is_outside = matches!(Git::find_now(root), Ok(None));
    let is_absent = |target: &str| {
        let place = crate::engine::ledger::setting(&manifests.project, target);
        is_outside && place == Some("git")
    };
    let read = async |target: &str| {
        if is_absent(target) {
            return Ok(Ledger::default());
        }
        let log = crate::engine::ledger::of(&manifests.project, root, target)?;
        anyhow::Ok(Ledger::replay(log.read(0).await?))
    };
    let names = manifests.project.target_names();
    runtime()?.block_on(async {
        let mut all = Vec::new();
        for target in names {
            all.push(TargetLedger { target: target.to_owned(), ledger: read(target).await });
        }
        Ok(all)
    })
}

fn unknown(kind: &'static Kind, manifests: &Manifests, address: &Address) -> Failure {
    let keys: Vec<&str> = manifests.declared().filter(|it| it.kind.key == kind.key).map(|it| it.key.as_str()).collect();
    let failure = Failure::usage(format!("your files have no {address}"));
    match text::nearest(&address.key, keys.iter().copied()) {
        Some(near) => failure.help(format!("did you mean {}/{near}?", kind.key)),
        None => failure.help("`pushplan graph` lists all declared resources"),
    }
}

/// The failure for a key in use, with a free one.
fn taken(kind: &'static Kind, manifests: &Manifests, to: &Address, why: &str) -> Failure {
    let free = (2..).map(|number| format!("{}-{number}", to.key));
    let free = free.into_iter().find(|key| manifests.declarations(kind, key).is_empty()).unwrap_or_default();
    Failure::usage(format!("{to} is taken: {why}")).help(format!("choose another, such as {}/{free}", kind.key))
}

/// The edits as a diff.
fn difference(rekeyed: &Rekeyed) -> String {
    let mut out = String::new();
    for (name, [before, after]) in &rekeyed.files {
        let diff = similar::TextDiff::from_lines(before, after);
        let names = (format!("a/{name}"), format!("b/{name}"));
        out.push_str(&diff.unified_diff().context_radius(2).header(&names.0, &names.1).to_string());
    }
    out
}

/// Writes all files or none.
fn write(root: &std::path::Path, rekeyed: &Rekeyed) -> Result<(), Failure> {
    let failed =
        |name: &str, why: FileError| Failure::new(format!("`{name}` cannot be written, so nothing was written: {why}"));
    let mut all: BTreeMap<PathBuf, [&[u8]; 2]> = BTreeMap::new();
    for (name, [before, after]) in &rekeyed.files {
        let path = root.join(name);
        let now = files::read(&path, u64::MAX - 1).map_err(|why| failed(name, why))?;
        if now != before.as_bytes() {
            return Err(failed(name, "it has changed since it was read".into()).help("run the command again"));
        }
        all.insert(path, [before.as_bytes(), after.as_bytes()]);
    }
    let all: Vec<(PathBuf, [&[u8]; 2])> = all.into_iter().collect();
    files::replace_all(&all).map_err(|(path, why)| failed(&crate::manifest::shown(root, &path), why))
}
