use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::engine::Workspace;
use crate::engine::pull::{PullRequest, Pulled, folders};
use crate::exit::Exit;
use crate::plan;
use crate::pull::{self, Choice};
use crate::render::Repetition;
use crate::render::pull::{self as told, Ending};
use crate::text;

/// Write manifests for what the service has, and adopt it.
///
/// The service is not changed. Each resource gets a key from its name, segment ids in audiences become keys, and the
/// ledger records everything, so the next plan is empty. If a managed resource was changed on the service, only that
/// difference is edited in its manifest; comments, order and quotes stay. Changes that conflict with your files or
/// cannot be edited automatically are listed, and so are resources that were removed on the service. The exit code is
/// then 6.
///
/// To write the manifest of a managed resource that is no longer in your files, pass its address.
#[derive(Debug, Args)]
pub struct Pull {
    /// Kinds or addresses, such as segments, templates/winback or 'segments/sale-*'; also a name or an id instead of
    /// the key [default: everything that the service lists]
    #[arg(value_name = "WHAT")]
    what: Vec<String>,

    /// Also pull data of single people: named users, members of tag groups, open channels, devices with legacy tags
    #[arg(long, conflicts_with = "what")]
    all: bool,

    /// Folder of the project to write to [default: the folder of its manifests]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// One file per kind, such as segments.yaml, or per resource, such as segments/lapsed-buyers.yaml
    #[arg(long, value_enum, default_value_t = Layout::Kind)]
    layout: Layout,

    /// If a value changed in your files and on the service, take the service's
    #[arg(long, requires = "what")]
    theirs: bool,

    /// Show the changes as a diff; write neither files nor ledger
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    place: TargetArgs,

    #[command(flatten)]
    turn: Turn,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layout {
    Kind,
    Resource,
}

impl Pull {
    pub fn run(&self, context: &Context) -> Ended {
        let request = PullRequest {
            choice: Choice::of(&self.what, self.all)?,
            all_kinds: self.what.is_empty(),
            out: self.out.clone(),
            layout: match self.layout {
                Layout::Kind => pull::Layout::Kind,
                Layout::Resource => pull::Layout::Resource,
            },
            theirs: self.theirs,
            dry_run: self.dry_run,
            wait: self.turn.wait,
        };
        let created = folders::create(&self.place.root()?)?;
        let ended = self.pull(&request, context);
        if self.dry_run {
            folders::remove(&created);
        }
        ended
    }

    fn pull(&self, request: &PullRequest, context: &Context) -> Ended {
        let workspace = self.place.read(context, Timestamp::now())?;
        let pulled = runtime()?.block_on(workspace.pull(request, &context.session))?;
        if self.dry_run {
            show_diffs(&pulled, context);
        }
        let ended = self.tell(&workspace, &pulled, context);
        for line in notes(&pulled) {
            context.out.note(&line);
        }
        if pulled.ignored > 0 {
            let things = text::count(pulled.ignored, "thing");
            context.out.note(&format!("Skipped: {things} in ignore_unmanaged. To pull one, name it."));
        }
        context.out.print(&told::ending(&ended, !self.dry_run, &self.again().plan()));
        Ok(if ended.is_whole() { Exit::Done } else { Exit::Partly })
    }

    /// Prints the changes, made or planned.
    fn tell(&self, workspace: &Workspace, pulled: &Pulled, context: &Context) -> Ending {
        let Pulled { in_place, files, learned, agreed, .. } = pulled;
        for line in told::edited(&in_place.settled, !self.dry_run).iter().chain(&told::files(files, !self.dry_run)) {
            context.out.print(line);
        }
        told::agreed(agreed, !self.dry_run).iter().for_each(|line| context.out.print(line));
        for line in told::parts(&learned.adopted, &learned.forgotten, !self.dry_run) {
            context.out.print(&line);
        }
        let following = told::following(&in_place.settled);
        following.iter().for_each(|line| context.out.print(&context.out.said(line, None)));
        let mut after: BTreeMap<&str, &str> = BTreeMap::new();
        if !self.dry_run {
            after.extend(in_place.settled.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            after.extend(files.iter().map(|(name, file)| (name.as_str(), file.text.as_str())));
        }
        for line in told::unplaced(&in_place.settled, &workspace.manifests.sources, &after, &self.again()) {
            context.out.note(&line);
        }
        Ending {
            agreed: agreed.len(),
            pulled: pulled.gained,
            groups: pulled.groups,
            edited: in_place.edited().len(),
            by_hand: in_place.to_do(),
            gone: pulled.changes.gone.len(),
            undecided: pulled.left.iter().filter(|left| left.undecided).count(),
        }
    }

    fn again(&self) -> Repetition {
        self.place.again("pull", &plan::Choice::default())
    }
}

/// Prints the planned changes as diffs. A file that is both edited and extended has one diff.
fn show_diffs(pulled: &Pulled, context: &Context) {
    let is_added_to = |name: &str| pulled.files.iter().any(|(other, _)| other == name);
    for (name, before, after) in pulled.in_place.files().filter(|(name, ..)| !is_added_to(name)) {
        context.out.print(&told::diff(name, before, after));
    }
    for (name, file) in &pulled.files {
        context.out.print(&told::diff(name, pulled.in_place.before(name, file), &file.text));
    }
}

/// Notes about resources that were not pulled.
fn notes(pulled: &Pulled) -> Vec<String> {
    let Pulled { changes, left, unlisted, cut_short, .. } = pulled;
    let mut notes = told::left(left);
    notes.extend(changes.gone.iter().map(told::gone));
    for (address, thing) in &changes.grown {
        let parts = text::count(thing.singles.len(), "part");
        notes.push(format!(
            "Skipped: {address} is managed but not declared for this target; {parts} of it on the service {} not in \
                git.",
            match thing.singles.len() {
                1 => "is",
                _ => "are",
            }
        ));
    }
    if let Some(first) = unlisted.first() {
        let names: Vec<String> = unlisted.iter().map(|kind| kind.plural()).collect();
        notes.push(format!(
            "Not checked: {}. This API does not list them; declare one and run `pushplan adopt {}/KEY --id ID`.",
            text::all_of(&names),
            first.key
        ));
    }
    for (kind, listed) in cut_short {
        notes.push(format!("The service lists only {}.", told::count(*listed, kind)));
    }
    notes
}
