mod in_place;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use self::in_place::InPlace;
use super::planning::{Place, Site};
use super::target::Opened;
use super::{Context, Ended, project, runtime};
use crate::address::Address;
use crate::compare;
use crate::failure::{Exit, Failure};
use crate::finding::Severity;
use crate::kinds::{KINDS, Kind, Read};
use crate::ledger::{Ledger, Record};
use crate::live::Live;
use crate::manifest::{Manifests, PROJECT_FILE, files, read_project_with};
use crate::plan;
use crate::pull::{self, Called, Changes, Choice, Declared, Draft, Existing, File, Left, Places};
use crate::render::pull as told;
use crate::render::{Again, one_line};
use crate::text;

/// Write manifests for what the service has, and adopt it.
///
/// Nothing on the service is touched. What is pulled gets a key from its name, segments in audiences become names, and the ledger
/// knows all of it from then on: a plan has nothing to do. Manifests of what was changed on the service are edited in place: only
/// what differs, with comments, order and quotes as they are.
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

    /// Show what would be written as a diff, and write neither files nor ledger
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layout {
    Kind,
    Resource,
}

impl Pull {
    pub fn run(&self, context: &Context) -> Ended {
        let choice = Choice::of(&self.what, self.all)?;
        let site = self.place.read(context, Timestamp::now())?;
        let folder = self.folder(&site.manifests)?;
        runtime()?.block_on(async {
            let opened = site.open().await?;
            let ended = self.pull(&choice, &site, &folder, &opened, context).await;
            opened.close().await;
            ended
        })
    }

    async fn pull(&self, choice: &Choice, site: &Site, folder: &str, opened: &Opened, context: &Context) -> Ended {
        let ledger = site.settled(opened, context).await?;
        let moves = compare::moves(&site.units, &ledger);
        let mut known = ledger.clone();
        moves.iter().for_each(|(to, from)| known.rename(from, to));
        let live = site.fetch_with(opened, &site.units, &known, self.what.is_empty(), &choice.contents()).await?;
        let now = opened.now();

        let addresses = addresses(&site.manifests);
        let (desired, _) = site.manifests.resolve(Some(&site.target));
        let unmanaged = pull::unmanaged(&live, &known, &choice.kinds(), now);
        let declared = Declared { desired: &desired, units: &site.units, addresses: &addresses };
        let places = chosen(choice, pull::place(unmanaged, &declared, &known), &known, &addresses)?;
        let Places { placed, grown, mut left } = places;
        let mut changes = pull::changed(&declared, &known, &live, grown, now);
        changes.changed.retain(|one| choice.takes(ours(&one.address, &one.name, &one.id)));
        changes.gone.retain(|one| choice.takes(ours(&one.address, &one.name, &one.id)));
        if let Some(gone) = changes.gone.iter().find(|one| choice.names(ours(&one.address, &one.name, &one.id))) {
            return Err(told::nothing_there(gone));
        }
        let in_place = InPlace::of(&site.manifests, &site.target, std::mem::take(&mut changes.changed), now);
        left.append(&mut changes.left);
        let mut draft = Draft::new(placed, left, &known, &addresses);
        let files = self.settle(&mut draft, site, folder, now, &in_place.settled.texts)?;

        let named: Vec<(String, &File)> = files.iter().map(|file| (within(folder, &file.path), file)).collect();
        if self.dry_run {
            let elsewhere = |name: &str| named.iter().any(|(other, _)| other == name);
            in_place.diffs(&elsewhere).iter().for_each(|diff| context.out.print(diff));
            for (name, file) in &named {
                context.out.print(&told::diff(name, in_place.before(name, file), &file.text));
            }
        }
        let learned = in_place.learned();
        let mut adopted = draft.adopted();
        adopted.extend(learned.adopted.clone());
        if !self.dry_run {
            in_place.write(&site.manifests.project.root)?;
            for (name, file) in &named {
                write(&site.manifests.project.root, name, file)?;
            }
            let adopt = (!adopted.is_empty()).then_some(Record::Adopt(adopted));
            let forget = (!learned.forgotten.is_empty()).then(|| Record::Forget(learned.forgotten.clone()));
            for (after, record) in (ledger.seq..).zip(adopt.into_iter().chain(forget)) {
                site.append(after, record).await.map_err(|failure| unrecorded(failure, &files))?;
            }
        }
        for line in told::edited(&in_place.settled, !self.dry_run).iter().chain(&told::files(&named, !self.dry_run)) {
            context.out.print(line);
        }
        for line in told::parts(&learned.adopted, &learned.forgotten, !self.dry_run) {
            context.out.print(&line);
        }
        for line in told::unplaced(&in_place.settled, &site.manifests.sources) {
            context.out.note(&line);
        }
        for line in notes(choice, opened, &live, &changes, &draft.left) {
            context.out.note(&line);
        }
        context.out.print(&self.last_line(draft.pieces.len(), &in_place));
        Ok(Exit::Done)
    }

    /// The draft as files that the project can be read with: findings about what the account really has are warnings, and what
    /// cannot be said is left out.
    fn settle(
        &self,
        draft: &mut Draft,
        site: &Site,
        folder: &str,
        now: Timestamp,
        edited: &BTreeMap<String, String>,
    ) -> Result<Vec<File>, Failure> {
        let Site { manifests, target, .. } = site;
        let root = &manifests.project.root;
        let mut sources: BTreeMap<&str, &str> =
            manifests.sources.iter().map(|(_, source)| (source.path.as_str(), source.text.as_str())).collect();
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
            if draft.pieces.is_empty() {
                return Ok(files);
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
            let is_ours = |finding: &&crate::finding::Finding| {
                let at = finding.at.file().map(|file| read.sources.get(file).path.as_str());
                let ours = files.iter().any(|file| Some(within(folder, &file.path).as_str()) == at);
                ours && finding.severity == Severity::Error && finding.address.is_none()
            };
            if let Some(finding) = verdict.findings.iter().find(is_ours) {
                return Err(Failure::new(format!("what was pulled cannot be written down: {}", finding.message))
                    .help("pull less at a time, or with --layout resource"));
            }
            return Ok(files);
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

    fn last_line(&self, pulled: usize, in_place: &InPlace) -> String {
        let edited = in_place.edited().len();
        let to_do = in_place.settled.placed.values().filter(|placed| !placed.unplaced.is_empty()).count();
        let would_be = if self.dry_run { "would be " } else { "" };
        let mut said = Vec::new();
        let agreed = in_place.agreed();
        if agreed > 0 {
            said.push(format!("{} {would_be}adopted as declared", text::count(agreed, "resource")));
        }
        if pulled > 0 {
            said.push(format!("{} {would_be}pulled and adopted", text::count(pulled, "resource")));
        }
        if edited > 0 {
            said.push(format!("{} {would_be}edited in place", text::count(edited, "resource")));
        }
        if to_do > 0 {
            said.push(format!("{} to be edited by hand", text::count(to_do, "resource")));
        }
        match said.is_empty() {
            true => "Nothing to pull: whatever could be is in git already.".to_owned(),
            false if self.dry_run => format!("{}. Nothing was written.", said.join(", ")),
            false => format!("{}. Next: {}", said.join(", "), self.again().plan()),
        }
    }

    fn again(&self) -> Again {
        self.place.again("pull", &plan::Choice::default())
    }
}

/// Whether a file was read as a manifest.
fn sources_hold(manifests: &Manifests, name: &str) -> bool {
    manifests.sources.iter().any(|(_, source)| source.path == name)
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

/// The part that was asked for. Words that mean nothing are refused.
fn chosen(choice: &Choice, places: Places, ledger: &Ledger, declared: &BTreeSet<Address>) -> Result<Places, Failure> {
    let Places { mut placed, mut grown, mut left } = places;
    let known: BTreeSet<Address> = ledger.owned.keys().map(Address::resource).chain(declared.iter().cloned()).collect();
    let mut all: Vec<Called> = Vec::new();
    all.extend(placed.iter().map(|it| Called {
        kind: it.thing.kind.key,
        key: Some(&it.key),
        name: &it.thing.name,
        id: &it.thing.id,
    }));
    all.extend(left.iter().map(called));
    let of_ours = |address: &Address| ledger.owned.get(address).map_or("", |owned| owned.id.as_str());
    all.extend(known.iter().map(|it| Called { kind: &it.kind, key: Some(&it.key), name: "", id: of_ours(it) }));
    if let Some(word) = choice.idle(&all) {
        let keys: Vec<String> =
            all.iter().filter_map(|called| Some(format!("{}/{}", called.kind, called.key?))).collect();
        let failure = Failure::usage(format!("nothing on the service is called {}", one_line(&word)));
        return Err(match text::nearest(&word, keys.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None => failure.help("name a key, a name or an id as the dashboard shows it; `*` stands for any letters"),
        });
    }
    placed.retain(|it| {
        let (key, thing) = (Some(it.key.as_str()), &it.thing);
        choice.takes(Called { kind: thing.kind.key, key, name: &thing.name, id: &thing.id })
    });
    grown.retain(|(address, thing)| {
        choice.takes(Called { kind: &address.kind, key: Some(&address.key), name: &thing.name, id: &thing.id })
    });
    left.retain(|left| choice.takes(called(left)));
    Ok(Places { placed, grown, left })
}

fn called(left: &Left) -> Called<'_> {
    Called { kind: left.kind, key: None, name: &left.name, id: &left.id }
}

fn ours<'c>(address: &'c Address, name: &'c str, id: &'c str) -> Called<'c> {
    Called { kind: &address.kind, key: Some(&address.key), name, id }
}

/// What people should know of what was not pulled.
fn notes(choice: &Choice, opened: &Opened, live: &Live, changes: &Changes, left: &[Left]) -> Vec<String> {
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
    let untold: Vec<&&Kind> =
        asked.iter().filter(|kind| kind.api.lifecycle(opened.level).read == Read::LedgerOnly).collect();
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
fn write(root: &Path, name: &str, file: &File) -> Result<(), Failure> {
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

fn unrecorded(failure: Failure, files: &[File]) -> Failure {
    if files.is_empty() {
        return failure;
    }
    let help =
        "the files are written, and not yet in the ledger: run `pushplan pull` again, which writes nothing twice";
    failure.help(help)
}
