mod asked;
mod in_place;
mod mending;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use self::asked::Ours;
use self::in_place::{InPlace, Learned};
use self::mending::Mending;
use super::planning::TargetArgs;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::address::Address;
use crate::codes::Severity;
use crate::compare;
use crate::engine::project;
use crate::engine::target::Opened;
use crate::engine::turn;
use crate::engine::workspace::{Remembered, Workspace};
use crate::failure::{Exit, Failure};
use crate::files;
use crate::finding::Finding;
use crate::kinds::{KINDS, Kind};
use crate::ledger::Ledger;
use crate::live::Live;
use crate::manifest::{Manifests, PROJECT_FILE, Project, read_project_with};
use crate::plan;
use crate::pull::{self, Changes, Choice, Declared, Draft, Existing, Gone, Left, Piece, Placed, Places, PulledFile};
use crate::render::pull::{self as told, Ending};
use crate::render::{Repetition, one_line};
use crate::text;

/// Write manifests for what the service has, and adopt it.
///
/// Nothing on the service is touched. What is pulled gets a key from its name, segments in audiences become names, and the ledger
/// knows all of it from then on: a plan has nothing to do. Manifests of what was changed on the service are edited in place: only
/// what differs, with comments, order and quotes as they are. What was changed in your files as well, or stands elsewhere, is told
/// and left to be edited by hand; what was removed on the service is told and left to you. The exit code is 6 then.
///
/// Something of ours that your files no longer have is written anew where you name it.
#[derive(Debug, Args)]
pub struct Pull {
    /// Kinds or addresses, such as segments, templates/winback or 'segments/sale-*'; also a name or an id in place of the key
    /// [default: everything that the service lists]
    #[arg(value_name = "WHAT")]
    what: Vec<String>,

    /// Also what there is one of for each person: named users, members of tag groups, open channels, carriers of tags
    #[arg(long, conflicts_with = "what")]
    all: bool,

    /// Folder of the project to write to [default: where it has its manifests]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// One file for each kind, such as segments.yaml, or one for each resource, such as segments/lapsed-buyers.yaml
    #[arg(long, value_enum, default_value_t = Layout::Kind)]
    layout: Layout,

    /// Where both your files and the service changed a value, take the service's
    #[arg(long, requires = "what")]
    theirs: bool,

    /// Show what would be written as a diff, and write neither files nor ledger
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

/// What the service and the project have, as far as a pull needs it.
#[derive(Clone, Copy)]
struct Looked<'l> {
    site: &'l Workspace,
    folder: &'l str,
    choice: &'l Choice,
    declared: &'l Declared<'l>,
    known: &'l Ledger,
    live: &'l Live,
    ours: &'l Ours<'l>,
    now: Timestamp,
}

/// Manifests as they are to be.
struct Drafted<'l> {
    changes: Changes,
    in_place: InPlace,
    draft: Draft<'l>,
    files: Vec<PulledFile>,
}

impl Pull {
    pub fn run(&self, context: &Context) -> Ended {
        let choice = Choice::of(&self.what, self.all)?;
        let made = make_folders(&self.place.root()?)?;
        let ended = self.look(&choice, context);
        if self.dry_run {
            // One that holds something by now is not removed.
            made.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
        }
        ended
    }

    fn look(&self, choice: &Choice, context: &Context) -> Ended {
        let site = self.place.read(context, Timestamp::now())?;
        let folder = self.folder(&site.manifests)?;
        runtime()?.block_on(async {
            let opened = site.open().await?;
            let ended = self.pull(choice, &site, &folder, &opened, context).await;
            opened.close().await;
            ended
        })
    }

    async fn pull(&self, choice: &Choice, site: &Workspace, folder: &str, opened: &Opened, context: &Context) -> Ended {
        if !self.dry_run {
            self.turn.ledger(context, &site.log, &site.target).await?;
        }
        let Remembered { ledger, .. } = site.settled(opened, Duration::MAX, &context.session).await?;
        let moves = compare::moves(&site.units, &ledger);
        let mut known = ledger.clone();
        moves.iter().for_each(|(to, from)| known.rename(from, to));
        let live = site
            .fetch_with(opened, &site.units, &known, self.what.is_empty(), &choice.contents(), &context.session)
            .await?;
        let now = opened.now();

        let addresses = addresses(&site.manifests);
        let (desired, _) = site.manifests.resolve(Some(&site.target));
        let declared = Declared { desired: &desired, units: &site.units, addresses: &addresses };
        let untold = asked::untold(choice, opened.level);
        let names = asked::names(&declared, &known, &live);
        let ours = Ours { ledger: &known, declared: &addresses, names: &names };
        let returning = ours.returning(choice);
        let mut unmanaged = pull::unmanaged(&live, &returning.without(&known), &choice.kinds(), now);
        let ignored = unmanaged.ignore(&site.ignored(), choice);
        let mut places = pull::place(unmanaged, &declared, &known);
        returning.keep_keys(&mut places.placed);
        let places = asked::chosen(choice, places, &ours, &untold)?;
        let looked = Looked { site, folder, choice, declared: &declared, known: &known, live: &live, ours: &ours, now };
        let drafted = self.draft(&looked, &places)?;
        let Drafted { changes, in_place, draft, files } = &drafted;
        let named: Vec<(String, &PulledFile)> = files.iter().map(|file| (within(folder, &file.path), file)).collect();
        if self.dry_run {
            let elsewhere = |name: &str| named.iter().any(|(other, _)| other == name);
            in_place.diffs(&elsewhere).iter().for_each(|diff| context.out.print(diff));
            for (name, file) in &named {
                context.out.print(&told::diff(name, in_place.before(name, file), &file.text));
            }
        }
        let learned = in_place.learned(&known);
        let mut adopted = draft.adopted();
        adopted.extend(learned.adopted.iter().chain(&learned.partly).cloned());
        if !self.dry_run {
            let records = record::records(&known, &moves, adopted, learned.forgotten.clone())?;
            let first = turn::end_of(&ledger).into_iter().chain(site.about(opened, &ledger));
            let records = if records.is_empty() { records } else { first.chain(records).collect() };
            let files = record::Files::before(&site.manifests, &in_place.settled.texts, &named);
            record::write(site, ledger.seq, &files, records, |root, wrote| {
                in_place.write(root, wrote)?;
                named.iter().try_for_each(|(name, file)| write(root, name, file).map(|()| wrote(name)))
            })
            .await?;
        }
        let ended = self.tell(&looked, &drafted, &named, &learned, context);
        for line in notes(choice, &untold, &live, changes, &draft.left) {
            context.out.note(&line);
        }
        if ignored > 0 {
            let things = text::count(ignored, "thing");
            context
                .out
                .note(&format!("Left out: {things} that ignore_unmanaged names. Asked for by name, each is pulled."));
        }
        context.out.print(&told::ending(&ended, !self.dry_run, &self.again().plan()));
        Ok(if ended.is_whole() { Exit::Done } else { Exit::Partly })
    }

    /// Drafts manifests. Each round mends something that the one before had wrong.
    fn draft<'l>(&self, looked: &Looked<'l>, places: &Places) -> Result<Drafted<'l>, Failure> {
        let Looked { site, folder, choice, declared, known, live, ours, now } = *looked;
        let Places { placed, grown, left } = places;
        let mut mending = Mending::default();
        loop {
            let is_pulled = |it: &&Placed| !mending.lost.contains(&it.thing.id);
            let pulled: Vec<Placed> = placed.iter().filter(is_pulled).cloned().collect();
            let mut changes = pull::changed(declared, known, live, &pulled, grown.clone(), self.theirs, now);
            let gone: BTreeSet<Address> = changes.gone.iter().map(|one| one.address.clone()).collect();
            changes.changed.retain(|one| ours.calls(&one.address, &one.name, &one.id, &|it| choice.takes(it)));
            changes.gone.retain(|one| ours.calls(&one.address, &one.name, &one.id, &|it| choice.takes(it)));
            let is_asked = |one: &&Gone| ours.calls(&one.address, &one.name, &one.id, &|it| choice.names(it));
            if let Some(gone) = changes.gone.iter().find(is_asked) {
                return Err(told::nothing_there(gone));
            }
            let changed = std::mem::take(&mut changes.changed);
            let in_place = InPlace::of(&site.manifests, &site.target, changed, &mending);
            let left = left.iter().chain(&changes.left).cloned().collect();
            let mut draft = Draft::new(placed.clone(), left, known, declared.addresses, &gone);
            draft.groups.clone_from(&mending.groups);
            let (files, findings) = self.settle(&mut draft, site, folder, now, &in_place.settled.texts)?;
            let kept: BTreeSet<&str> = draft.pieces.iter().map(|piece| piece.thing.id.as_str()).collect();
            let lost = pulled.iter().map(|it| &it.thing.id).filter(|id| !kept.contains(id.as_str()));
            let lost: Vec<String> = lost.cloned().collect();
            if !lost.is_empty() && !in_place.settled.placed.is_empty() {
                mending.lost.extend(lost);
            } else if !mending.learn(&findings, &in_place, &draft) {
                return Ok(Drafted { changes, in_place, draft, files });
            }
        }
    }

    /// Prints what was written, or would be.
    fn tell(
        &self,
        looked: &Looked,
        drafted: &Drafted,
        named: &[(String, &PulledFile)],
        learned: &Learned,
        context: &Context,
    ) -> Ending {
        let Drafted { changes, in_place, draft, .. } = drafted;
        let sources = &looked.site.manifests.sources;
        for line in told::edited(&in_place.settled, !self.dry_run).iter().chain(&told::files(named, !self.dry_run)) {
            context.out.print(line);
        }
        let agreed =
            in_place.agreed().into_iter().chain(draft.pieces.iter().filter(|it| !it.is_new).map(Piece::address));
        let agreed: BTreeSet<Address> = agreed.collect();
        told::agreed(&agreed, !self.dry_run).iter().for_each(|line| context.out.print(line));
        for line in told::parts(&learned.adopted, &learned.forgotten, !self.dry_run) {
            context.out.print(&line);
        }
        let following = told::following(&in_place.settled);
        following.iter().for_each(|line| context.out.print(&context.out.said(line, None)));
        let mut after: BTreeMap<&str, &str> = BTreeMap::new();
        if !self.dry_run {
            after.extend(in_place.settled.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            after.extend(named.iter().map(|(name, file)| (name.as_str(), file.text.as_str())));
        }
        for line in told::unplaced(&in_place.settled, sources, &after, &self.again()) {
            context.out.note(&line);
        }
        Ending {
            agreed: agreed.len(),
            pulled: draft.pieces.iter().filter(|piece| piece.is_new).count(),
            groups: draft.groups.len(),
            edited: in_place.edited().len(),
            by_hand: in_place.to_do(),
            gone: changes.gone.len(),
            undecided: draft.left.iter().filter(|left| left.undecided).count(),
        }
    }

    /// The draft as files that the project can be read with: findings about what the account really has are warnings, and what
    /// cannot be said is left out.
    fn settle(
        &self,
        draft: &mut Draft,
        site: &Workspace,
        folder: &str,
        now: Timestamp,
        edited: &BTreeMap<String, String>,
    ) -> Result<(Vec<PulledFile>, Vec<Finding>), Failure> {
        let Workspace { manifests, target, .. } = site;
        let root = &manifests.project.root;
        let mut sources: BTreeMap<&str, &str> =
            manifests.sources.iter().map(|(_, source)| (&*source.path, source.text.as_str())).collect();
        sources.extend(edited.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let existing = |path: &str| {
            let name = within(folder, path);
            match sources.get(name.as_str()) {
                Some(text) => Existing::Manifest(text),
                None if root.join(&name).symlink_metadata().is_ok() => Existing::Other,
                None => Existing::Nothing,
            }
        };
        let targets: Vec<Option<&str>> = manifests.project.target_names().into_iter().map(Some).collect();
        loop {
            let layout = match self.layout {
                Layout::Kind => pull::Layout::Kind,
                Layout::Resource => pull::Layout::Resource,
            };
            let files = pull::files(draft, layout, &existing);
            if draft.pieces.is_empty() && edited.is_empty() {
                return Ok((files, Vec::new()));
            }
            let mut texts = edited.clone();
            texts.extend(files.iter().map(|file| (within(folder, &file.path), file.text.clone())));
            // Bodies beside the manifests are none.
            texts.retain(|name, _| !edited.contains_key(name) || sources_hold(manifests, name));
            let read = read_project_with(root, in_place::inputs(&texts), &[]);
            let verdict = project::check(&read, &targets, now);
            if draft.mend(&verdict.findings) {
                continue;
            }
            let (desired, _) = read.resolve(Some(target));
            let units = compare::units(&desired, &read.sources);
            if draft.verify(&units) {
                continue;
            }
            let is_ours = |finding: &&Finding| {
                let at = finding.at.file().map(|file| &*read.sources.get(file).path);
                let ours = files.iter().any(|file| Some(within(folder, &file.path).as_str()) == at);
                ours && finding.severity == Severity::Error && finding.address.is_none()
            };
            if let Some(finding) = verdict.findings.iter().find(is_ours) {
                return Err(Failure::new(format!("what was pulled cannot be written down: {}", finding.message))
                    .help("pull less at a time, or with --layout resource"));
            }
            return Ok((files, verdict.findings));
        }
    }

    /// The folder that files are written to, from the project's. It must be one whose manifests the project reads, or all that
    /// is pulled would be ours and declared nowhere.
    fn folder(&self, manifests: &Manifests) -> Result<String, Failure> {
        let root = &manifests.project.root;
        let places = manifests.project.places();
        let folder = match &self.out {
            Some(out) => lexical(&project::here()?.join(out)),
            None => places.iter().find(|place| !place.is_file()).cloned().ok_or_else(|| {
                Failure::usage(format!("{PROJECT_FILE} names files alone, and no folder to write to"))
                    .help("name a folder under `manifests`, and here with --out")
            })?,
        };
        let shown = folder.display();
        let inside = folder.strip_prefix(root).ok().filter(|_| places.iter().any(|place| folder.starts_with(place)));
        let Some(inside) = inside else {
            return Err(Failure::usage(format!("{shown} is no folder that the project reads manifests from"))
                .help(format!("choose one beneath it, or name it under `manifests` in {PROJECT_FILE}")));
        };
        let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if parts.iter().any(|part| part.starts_with('.')) {
            return Err(Failure::usage(format!("{shown} is hidden, and manifests in it are not read"))
                .help("choose a folder whose name begins with a letter"));
        }
        let mut path = root.clone();
        for part in inside {
            path.push(part);
            if path.is_symlink() || path.is_file() {
                return Err(Failure::usage(format!("{} is no folder of the project", path.display()))
                    .help("choose one that is not reached through a link"));
            }
        }
        Ok(parts.join("/"))
    }

    fn again(&self) -> Repetition {
        self.place.again("pull", &plan::Choice::default())
    }
}

/// Whether a file was read as a manifest.
fn sources_hold(manifests: &Manifests, name: &str) -> bool {
    manifests.sources.iter().any(|(_, source)| *source.path == *name)
}

/// A path from the project's folder.
fn within(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// A path without `.` and `..`, as it is written.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Every resource that is declared for any target.
fn addresses(manifests: &Manifests) -> BTreeSet<Address> {
    manifests.declared().map(|it| Address::new(it.kind.key, it.key.value.clone())).collect()
}

/// What people should know of what was not pulled.
fn notes(choice: &Choice, untold: &[&Kind], live: &Live, changes: &Changes, left: &[Left]) -> Vec<String> {
    let mut notes = told::left(left);
    notes.extend(changes.gone.iter().map(told::gone));
    for (address, thing) in &changes.grown {
        let parts = text::count(thing.singles.len(), "part");
        notes.push(format!(
            "Left alone: {address} is ours and not declared for this target; {parts} of it on the service {} not in git.",
            match thing.singles.len() {
                1 => "is",
                _ => "are",
            }
        ));
    }
    let asked = choice.kinds();
    let asked: Vec<&Kind> = KINDS.iter().filter(|kind| asked.contains(kind.key)).collect();
    if let Some(first) = untold.first() {
        let names: Vec<String> = untold.iter().map(|kind| told::plural(kind)).collect();
        notes.push(format!(
            "Not looked at: {}. This API does not list them; declare one and run `pushplan adopt {}/KEY --id ID`.",
            text::all_of(&names),
            first.key
        ));
    }
    for kind in asked.iter().filter(|kind| live.listed.contains_key(kind.key) && !live.whole.contains(kind.key)) {
        let listed = live.listed.get(kind.key).map_or(0, BTreeMap::len);
        notes.push(format!("The service lists {} and says nothing of the rest.", told::count(listed, kind)));
    }
    notes
}

/// Writes a file. What is there is added to as it was read, and nothing else is ever replaced.
fn write(root: &Path, name: &str, file: &PulledFile) -> Result<(), Failure> {
    let path = root.join(name);
    let cannot = |why: String| {
        Failure::new(format!("{} cannot be written: {why}", one_line(name)))
            .help("nothing is recorded yet; run the command again once it can be written")
    };
    match &file.before {
        None => files::create(root, name, file.text.as_bytes()).map_err(cannot),
        Some(before) => {
            let found = files::read_unlinked(&path, crate::manifest::FILE_LIMIT).map_err(cannot)?;
            if found != before.as_bytes() {
                return Err(cannot("somebody else has changed it in the meantime".to_owned()));
            }
            files::replace(&path, file.text.as_bytes()).map_err(cannot)
        }
    }
}

/// Makes the folders that the project names and that are not there, and names them: git keeps no empty ones.
fn make_folders(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut made = Vec::new();
    for place in Project::open(root).places() {
        let is_file = place.extension().is_some();
        let stays_inside = |inside: &&Path| inside.components().all(|part| matches!(part, Component::Normal(_)));
        let Some(inside) = place.strip_prefix(root).ok().filter(|_| !is_file).filter(stays_inside) else { continue };
        let mut path = root.to_owned();
        for part in inside {
            path.push(part);
            if path.is_symlink() || path.is_file() {
                break;
            }
            if !path.exists() {
                std::fs::create_dir(&path).map_err(|error| {
                    Failure::new(format!("{} cannot be made: {}", path.display(), files::describe(&error)))
                })?;
                made.push(path.clone());
            }
        }
    }
    Ok(made)
}
