//! `pushplan ledger`: the ledger of a target as a whole.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::confirm::Confirm;
use super::{TargetArgs, unreadable};
use crate::cli::forms::{PLAIN, described};
use crate::cli::many::each;
use crate::cli::places::Places;
use crate::cli::turn::Turn;
use crate::cli::{Context, Ended, asking, runtime};
use crate::engine::actor;
use crate::engine::ledger::append;
use crate::engine::ledger::{at_place, not_appended, of, pending, store_at, take_in, taken_in};
use crate::engine::turn;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::ledger::{Chain, Entry, Ledger as State, Log, NotMoved, Record, checkpoint, place};
use crate::manifest::Project;
use crate::render::Format;
use crate::render::ledger::{self as shown, LedgerView};
use crate::text::{self, shell_word};

/// Inspect, check, move and repair the ledger of a target.
#[derive(Debug, Args)]
pub struct Ledger {
    #[command(subcommand)]
    what: LedgerCommand,
}

#[derive(Debug, Subcommand)]
enum LedgerCommand {
    Status(Status),
    Verify(Verify),
    Compact(Compact),
    Move(Move),
    Export(Export),
    Restore(Restore),
    Confirm(Confirm),
}

/// Show the place of the ledger, its contents, and who holds the lock
#[derive(Debug, Args)]
struct Status {
    #[command(flatten)]
    places: Places,

    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,
}

/// Read every record and check that none was changed, swapped or lost
#[derive(Debug, Args)]
struct Verify {
    #[command(flatten)]
    places: Places,
}

/// Write the current state into one record, to make reading fast again. Nothing is lost
#[derive(Debug, Args)]
struct Compact {
    #[command(flatten)]
    turn: Turn,

    #[command(flatten)]
    place: TargetArgs,
}

/// Copy the ledger to another place, and close the old place, which then accepts no more records
#[derive(Debug, Args)]
struct Move {
    /// The new place, for `ledger` of the target: git, s3://bucket/prefix, postgres://host/database/schema, file:FOLDER
    #[arg(long, value_name = "PLACE")]
    to: String,

    /// The old place, if the setting of the target already names the new one [default: the setting]
    #[arg(long, value_name = "PLACE")]
    from: Option<String>,

    #[command(flatten)]
    turn: Turn,

    #[command(flatten)]
    places: Places,
}

/// Print the current state as JSON
#[derive(Debug, Args)]
struct Export {
    /// Print every record instead, one per line
    #[arg(long)]
    records: bool,

    #[command(flatten)]
    place: TargetArgs,
}

/// Add results that an earlier run could not store, or continue with a ledger from a backup
///
/// A ledger that was restored from a backup lacks the changes after that backup. `--accept-gap` records this gap. From
/// then on, plans create nothing that may have been created or sent in the gap: `pushplan plan` lists these resources.
/// Look up each one in the dashboard and run `pushplan resolve ADDRESS --created ID` or `pushplan resolve ADDRESS
/// --absent`. After the last one, run `--close-gap`.
#[derive(Debug, Args)]
struct Restore {
    /// File that the run printed
    #[arg(required_unless_present_any = ["accept_gap", "close_gap"])]
    file: Option<PathBuf>,

    /// Continue after the last record, and record that later ones are lost
    #[arg(long, conflicts_with_all = ["file", "close_gap"])]
    accept_gap: bool,

    /// Record that you have checked everything that may have been created in the gap
    #[arg(long, conflicts_with = "file")]
    close_gap: bool,

    #[command(flatten)]
    place: TargetArgs,
}

impl Ledger {
    pub fn run(&self, context: &Context) -> Ended {
        match &self.what {
            LedgerCommand::Status(command) => command.run(context),
            LedgerCommand::Verify(command) => command.run(context),
            LedgerCommand::Compact(command) => command.run(context),
            LedgerCommand::Move(command) => command.run(context),
            LedgerCommand::Export(command) => command.run(context),
            LedgerCommand::Restore(command) => command.run(context),
            LedgerCommand::Confirm(command) => command.run(context),
        }
    }
}

impl Status {
    fn run(&self, context: &Context) -> Ended {
        each::run(&self.places, self.format, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        let (log, target) = place.log()?;
        let facts = runtime()?.block_on(log.facts()).map_err(unreadable)?;
        let kept = runtime()?.block_on(log.unwritten()).map_err(unreadable)?;
        let shown = log.shown();
        let is_held = turn::holder(&facts.ledger, Timestamp::now()).is_some();
        let view = LedgerView { target: &target, place: &shown, facts: &facts, kept: &kept, is_held };
        match self.format {
            Format::Json => context.out.json(&view.json()),
            _ => context.out.print(&view.text()),
        }
        Ok(Exit::Done)
    }
}

impl Verify {
    fn run(&self, context: &Context) -> Ended {
        each::run(&self.places, Format::Text, context, verify)
    }
}

fn verify(place: &TargetArgs, context: &Context) -> Ended {
    let (log, target) = place.log()?;
    let (all, kept) =
        runtime()?.block_on(async { Ok((log.history().await?, log.unwritten().await?)) }).map_err(unreadable)?;
    context.out.print(&shown::verified(&target, &log.shown(), &all));
    if let Some(note) = pending(&kept) {
        context.out.note(&note);
    }
    Ok(Exit::Done)
}

impl Compact {
    fn run(&self, context: &Context) -> Ended {
        asking::project(&self.place, "written", context)?;
        let (log, target) = self.place.log()?;
        let (before, seq) = runtime()?.block_on(async {
            self.turn.ledger(context, &log, &target).await?;
            take_in(&context.session, &log).await?;
            let entries = log.read(0).await.map_err(unreadable)?;
            let before = entries.len();
            if before < 2 {
                return Ok((before, None));
            }
            let entry = checkpoint(entries, &actor::name(), Timestamp::now());
            log.append(&entry).await.map_err(|error| not_appended(&target, error))?;
            Ok::<_, Failure>((before, Some(entry.seq)))
        })?;
        context.out.print(&match seq {
            None if before == 0 => {
                format!("Nothing to do: the ledger of {} has no record yet.", text::short(&target, 80))
            }
            None => format!("Nothing to do: the ledger of {} is read from one record.", text::short(&target, 80)),
            Some(seq) => format!(
                "Wrote record {seq}, a checkpoint: the ledger of {} is now read from this record on, not from all {}.",
                text::short(&target, 80),
                text::count(before, "record")
            ),
        });
        Ok(Exit::Done)
    }
}

impl Move {
    fn run(&self, context: &Context) -> Ended {
        each::in_turn(&self.places, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        asking::project(place, "written", context)?;
        let root = place.root()?;
        let project = Project::open(&root);
        let (mut log, target) = place.log()?;
        if let Some(from) = &self.from {
            // It is not in the configured place, and has no local notes.
            log = Chain::new(store_at(Some(from), &root, &target)?, &root, &target);
        }
        if let Some(why) = place::objection(&self.to) {
            return Err(Failure::usage(format!("the ledger cannot be moved there: {why}")));
        }
        let there = at_place(Some(&self.to), &root, &target)?;
        if there.shown() == log.shown() {
            return Err(already(&target, &log.shown(), &self.to, self.from.is_some()));
        }
        let moved = runtime()?.block_on(async {
            // An interrupted move back has already closed the old place.
            if log.facts().await.map_err(unreadable)?.moved_to() != Some(&*self.to) {
                self.turn.ledger(context, &log, &target).await?;
                take_in(&context.session, &log).await?;
                // An interrupted run is ended.
                let ledger = State::replay(log.read(0).await.map_err(unreadable)?);
                if let Some(end) = turn::end_of(&ledger) {
                    append(&log, ledger.seq, end).await?;
                }
            }
            Ok::<_, Failure>(log.move_to(&there, &self.to, &actor::name(), Timestamp::now()).await)
        })?;
        let records = moved.map_err(|why| not_moved(why, &target, &log, &there.shown()))?;
        let is_declared = of(&project, &root, &target).is_ok_and(|log| log.shown() == there.shown());
        context.out.print(&shown::moved(&target, records, &log.shown(), &self.to, is_declared));
        Ok(Exit::Done)
    }
}

/// The failure for moving a ledger to the place where it already is, according to the settings or the option.
fn already(target: &str, place: &str, to: &str, is_given: bool) -> Failure {
    if is_given {
        return Failure::usage(format!("--from and --to of the ledger of `{target}` are the same place, {place}"));
    }
    let from = if to == place::HOME { "PLACE" } else { place::HOME };
    let (to, name) = (shell_word(&place::shown(to)), shell_word(target));
    Failure::usage(format!("the ledger of `{target}` is already in {place}, according to pushplan.toml")).help(format!(
        "if its records are still in another place, set --from: pushplan ledger move --from {from} --to {to} \
            --target {name}"
    ))
}

fn not_moved(why: NotMoved, target: &str, log: &Chain, to: &str) -> Failure {
    match why {
        NotMoved::Unreadable(why) => unreadable(why),
        NotMoved::Empty => {
            Failure::new(format!("the ledger of `{target}` has no record yet, so there is nothing to move"))
                .help("write the new place in pushplan.toml")
        }
        NotMoved::Already(to) => Failure::new(format!("the ledger of `{target}` has already moved to {to}"))
            .help(format!("write `ledger = \"{to}\"` into [targets.{target}] of pushplan.toml")),
        NotMoved::Busy(who) => Failure::new(format!("the ledger of `{target}` was not moved: {who}"))
            .kind(FailureKind::Busy)
            .help("wait for its end and run the command again"),
        NotMoved::Former(place) => Failure::new(format!(
            "the ledger of `{target}` was not moved: it was in {place} before, and the records there differ"
        ))
        .kind(FailureKind::Refused)
        .help(format!(
            "choose another place, or move the records in {place} elsewhere first: this ledger has all of \
            them"
        )),
        NotMoved::Halfway(why) => Failure::new(format!(
            "the ledger of `{target}` was moved from {}, but {to}, its earlier place, cannot be used again: {why}",
            log.shown()
        ))
        .help("run the command again"),
        NotMoved::Taken(place) => {
            Failure::new(format!("the ledger of `{target}` was not moved: {place} has another ledger"))
                .kind(FailureKind::Refused)
                .help("choose an empty place")
        }
        NotMoved::Closed { why, help } => {
            let failure = Failure::new(format!("the ledger of `{target}` was not moved: {to} cannot be used: {why}"));
            Failure { help, ..failure }
        }
        NotMoved::Failed(why) => {
            Failure::new(format!("the ledger of `{target}` was not moved from {}: {why}", log.shown()))
                .help("run the command again: copied records are kept")
        }
    }
}

impl Export {
    fn run(&self, context: &Context) -> Ended {
        let (log, target) = self.place.log()?;
        if self.records {
            let all: Vec<Entry> = runtime()?.block_on(log.history()).map_err(unreadable)?;
            context.out.json(&shown::records(&all));
            return Ok(Exit::Done);
        }
        let facts = runtime()?.block_on(log.facts()).map_err(unreadable)?;
        context.out.json(&shown::export(&target, &facts));
        Ok(Exit::Done)
    }
}

impl Restore {
    fn run(&self, context: &Context) -> Ended {
        match &self.file {
            Some(file) => self.results(file, context),
            None if self.close_gap => self.close(context),
            None => self.accept(context),
        }
    }

    /// Adds results that a run stored in a file.
    fn results(&self, path: &Path, context: &Context) -> Ended {
        asking::project(&self.place, "written", context)?;
        let (log, _) = self.place.log()?;
        let file = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| Failure::usage(format!("{file} cannot be read: {error}")))?;
        let kept = log.kept_in(&file, &bytes).map_err(Failure::usage)?;
        let taken = runtime()?.block_on(log.restore(&kept)).map_err(unreadable)?;
        taken_in(&context.session, taken);
        Ok(Exit::Done)
    }

    fn accept(&self, context: &Context) -> Ended {
        asking::project(&self.place, "written", context)?;
        let (log, target) = self.place.log()?;
        let restored = runtime()?.block_on(async {
            let restored = log.restored().await.map_err(unreadable)?;
            if let Some(running) = turn::holder(&restored.ledger, Timestamp::now()) {
                return Err(Failure::new(turn::at_work(running))
                    .kind(FailureKind::Busy)
                    .help("then run the command again"));
            }
            let accepted = log.accept_gap(&restored, &actor::name(), Timestamp::now()).await;
            accepted.map_err(|error| not_appended(&target, error))?;
            Ok(restored)
        })?;
        context.out.print(&shown::accepted(&target, &restored));
        Ok(Exit::Done)
    }

    fn close(&self, context: &Context) -> Ended {
        let mut open = super::OpenLedger::new(context, &self.place, Turn::default())?;
        if open.ledger.gap.as_ref().is_none_or(|gap| gap.is_closed) {
            return Err(Failure::usage(format!("the ledger of `{}` has no open gap", open.target)));
        }
        open.append(context, Record::GapClosed)?;
        let target = text::short(&open.target, 80);
        context.out.print(&format!(
            "The gap in the ledger of {target} is closed. Messages that were still unknown are now new: the next \
                apply creates them."
        ));
        Ok(Exit::Done)
    }
}
