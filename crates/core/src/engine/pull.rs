//! Writing manifests for existing resources, and adopting them.

mod asked;
pub mod folders;
mod in_place;
mod mending;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::Ledger;
use pushplan_model::address::Address;
use pushplan_model::codes::Severity;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::{KINDS, Kind};
use pushplan_model::text::one_line;
use pushplan_project::manifest::{Manifests, read_project_with};

use self::asked::Ours;
use self::folders::within;
use self::mending::Mending;
use super::target::Opened;
use super::turn::{self, Waiting};
use super::workspace::{Remembered, Workspace};
use super::{Session, project};
use crate::compare;
use crate::live::Live;
use crate::pull::{
    self, Changes, Choice, Declared, Draft, Existing, Gone, Layout, Left, Piece, Placed, Places, PulledFile,
};

pub use in_place::{InPlace, Learned};

/// The settings of a pull.
#[derive(Clone, Debug)]
pub struct PullRequest {
    pub choice: Choice,
    /// Whether to read every kind that the service lists, instead of only the required kinds.
    pub all_kinds: bool,
    /// The folder for new files, relative to the current one. Default: the project's folder of manifests.
    pub out: Option<PathBuf>,
    pub layout: Layout,
    /// Whether the service's value wins if a value was changed on both sides.
    pub theirs: bool,
    /// Whether to write neither files nor ledger.
    pub dry_run: bool,
    /// How long to wait for another apply to finish.
    pub wait: Option<SignedDuration>,
}

/// The result of a pull, also of a dry run.
#[derive(Debug)]
pub struct Pulled {
    /// Edits of existing manifests.
    pub in_place: InPlace,
    /// New or extended files, by name.
    pub files: Vec<(String, PulledFile)>,
    pub learned: Learned,
    /// Resources whose files already agree with the service.
    pub agreed: BTreeSet<Address>,
    /// How many resources are added to the files.
    pub gained: usize,
    /// How many tag groups are added to the files because resources name them.
    pub groups: usize,
    pub changes: Changes,
    /// Resources that are not pulled.
    pub left: Vec<Left>,
    /// Requested kinds that this API does not list.
    pub unlisted: Vec<&'static Kind>,
    /// Requested kinds whose lists are incomplete, with the number of resources that they show.
    pub cut_short: Vec<(&'static Kind, usize)>,
    /// The number of resources that `ignore_unmanaged` excludes.
    pub ignored: usize,
}

/// The state of service and project, as far as a pull needs it.
#[derive(Clone, Copy)]
struct Looked<'l> {
    request: &'l PullRequest,
    workspace: &'l Workspace,
    folder: &'l str,
    declared: &'l Declared<'l>,
    known: &'l Ledger,
    live: &'l Live,
    ours: &'l Ours<'l>,
    now: Timestamp,
}

/// The edited manifests.
struct Drafted<'l> {
    changes: Changes,
    in_place: InPlace,
    draft: Draft<'l>,
    files: Vec<PulledFile>,
}

impl Workspace {
    /// Writes manifests for existing resources, and adopts them. Does not change the service.
    pub async fn pull(&self, request: &PullRequest, session: &Session) -> Result<Pulled, Failure> {
        let folder = folders::folder(&self.manifests, request.out.as_deref())?;
        let opened = self.open().await?;
        let pulled = self.pull_from(&opened, request, &folder, session).await;
        opened.close().await;
        pulled
    }

    async fn pull_from(
        &self,
        opened: &Opened,
        request: &PullRequest,
        folder: &str,
        session: &Session,
    ) -> Result<Pulled, Failure> {
        let choice = &request.choice;
        if !request.dry_run {
            let held = Waiting::start(request.wait).ledger(session, &self.log, &self.target).await?;
            held.map_err(|held| held.failure())?;
        }
        let Remembered { ledger, .. } = self.settled(opened, Duration::MAX, session).await?;
        let moves = compare::moves(&self.units, &ledger);
        let mut known = ledger.clone();
        moves.iter().for_each(|(to, from)| known.rename(from, to));
        let mut live =
            self.fetch_with(opened, &self.units, &known, request.all_kinds, &choice.contents(), session).await?;
        let now = opened.now();

        let addresses = addresses(&self.manifests);
        let (desired, _) = self.manifests.resolve(Some(&self.target));
        let declared = Declared { desired: &desired, units: &self.units, addresses: &addresses };
        let unlisted = asked::unlisted(choice, opened.level);
        let names = asked::names(&declared, &known, &live);
        let ours = Ours { ledger: &known, declared: &addresses, names: &names };
        let returning = ours.returning(choice);
        let mut unmanaged = pull::unmanaged(&live, &returning.without(&known), &choice.kinds(), now);
        // Lists of people are by far the longest, and all pulled people were taken out of them.
        drop(std::mem::take(&mut live.counted));
        let ignored = unmanaged.ignore(&self.ignored(), choice);
        let mut places = pull::place(unmanaged, &declared, &known);
        returning.keep_keys(&mut places.placed);
        let places = asked::chosen(choice, places, &ours, &unlisted)?;
        let looked = Looked {
            request,
            workspace: self,
            folder,
            declared: &declared,
            known: &known,
            live: &live,
            ours: &ours,
            now,
        };
        let Drafted { changes, in_place, draft, files } = looked.draft(&places)?;
        let files: Vec<(String, PulledFile)> =
            files.into_iter().map(|file| (within(folder, &file.path), file)).collect();
        let learned = in_place.learned(&known);
        let mut adopted = draft.adopted();
        adopted.extend(learned.adopted.iter().chain(&learned.partly).cloned());
        if !request.dry_run {
            let records = record::records(&known, &moves, adopted, learned.forgotten.clone())?;
            let first = turn::end_of(&ledger).into_iter().chain(self.about(opened, &ledger));
            let records = if records.is_empty() { records } else { first.chain(records).collect() };
            let before = record::Files::before(&self.manifests, &in_place.settled.texts, &files);
            record::write(self, ledger.seq, &before, records, |root, wrote| {
                in_place.write(root, wrote)?;
                files.iter().try_for_each(|(name, file)| folders::write(root, name, file).map(|()| wrote(name)))
            })
            .await?;
        }
        let declared_already = draft.pieces.iter().filter(|it| !it.is_new).map(Piece::address);
        Ok(Pulled {
            agreed: in_place.agreed().into_iter().chain(declared_already).collect(),
            gained: draft.pieces.iter().filter(|piece| piece.is_new).count(),
            groups: draft.groups.len(),
            left: draft.left.clone(),
            cut_short: cut_short(choice, &live),
            in_place,
            files,
            learned,
            changes,
            unlisted,
            ignored,
        })
    }
}

impl<'l> Looked<'l> {
    /// Drafts manifests. Each round corrects an error of the previous one.
    fn draft(&self, places: &Places) -> Result<Drafted<'l>, Failure> {
        let Self { request, workspace, declared, known, live, ours, now, .. } = *self;
        let choice = &request.choice;
        let Places { placed, grown, left } = places;
        let mut mending = Mending::default();
        loop {
            let is_pulled = |it: &&Placed| !mending.lost.contains(&it.thing.id);
            let pulled: Vec<Placed> = placed.iter().filter(is_pulled).cloned().collect();
            let mut changes = pull::changed(declared, known, live, &pulled, grown.clone(), request.theirs, now);
            let gone: BTreeSet<Address> = changes.gone.iter().map(|one| one.address.clone()).collect();
            changes.changed.retain(|one| ours.calls(&one.address, &one.name, &one.id, &|it| choice.takes(it)));
            changes.gone.retain(|one| ours.calls(&one.address, &one.name, &one.id, &|it| choice.takes(it)));
            let is_asked = |one: &&Gone| ours.calls(&one.address, &one.name, &one.id, &|it| choice.names(it));
            if let Some(gone) = changes.gone.iter().find(is_asked) {
                return Err(nothing_there(gone));
            }
            let changed = std::mem::take(&mut changes.changed);
            let in_place = InPlace::of(&workspace.manifests, &workspace.target, changed, &mending);
            let left = left.iter().chain(&changes.left).cloned().collect();
            let mut draft = Draft::new(placed.clone(), left, known, declared.addresses, &gone);
            draft.groups.clone_from(&mending.groups);
            let (files, findings) = self.settle(&mut draft, &in_place.settled.texts)?;
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

    /// Makes the draft valid as part of the project: findings about the account's actual content become warnings, and
    /// content that manifests cannot express is left out.
    fn settle(
        &self,
        draft: &mut Draft,
        edited: &BTreeMap<String, String>,
    ) -> Result<(Vec<PulledFile>, Vec<Finding>), Failure> {
        let Self { request, workspace, folder, now, .. } = *self;
        let Workspace { manifests, target, .. } = workspace;
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
            let files = pull::files(draft, request.layout, &existing);
            if draft.pieces.is_empty() && edited.is_empty() {
                return Ok((files, Vec::new()));
            }
            let mut texts = edited.clone();
            texts.extend(files.iter().map(|file| (within(folder, &file.path), file.text.clone())));
            // Edited body files are not manifests.
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
                return Err(Failure::new(format!("the pulled resources cannot be written: {}", finding.message))
                    .help("pull fewer resources at once, or use --layout resource"));
            }
            return Ok((files, verdict.findings));
        }
    }
}

/// Whether a file was read as a manifest.
fn sources_hold(manifests: &Manifests, name: &str) -> bool {
    manifests.sources.iter().any(|(_, source)| *source.path == *name)
}

/// Every resource that is declared for any target.
fn addresses(manifests: &Manifests) -> BTreeSet<Address> {
    manifests.declared().map(|it| Address::new(it.kind.key, it.key.value.clone())).collect()
}

/// Requested kinds whose lists are incomplete.
fn cut_short(choice: &Choice, live: &Live) -> Vec<(&'static Kind, usize)> {
    let asked = choice.kinds();
    let is_cut =
        |kind: &&Kind| asked.contains(kind.key) && live.listed.contains_key(kind.key) && !live.whole.contains(kind.key);
    let listed = |kind: &'static Kind| (kind, live.listed.get(kind.key).map_or(0, BTreeMap::len));
    KINDS.iter().filter(is_cut).map(listed).collect()
}

/// The failure for a requested resource that was removed on the service.
fn nothing_there(gone: &Gone) -> Failure {
    let address = one_line(&gone.address.to_string());
    Failure::new(format!("{address} was removed on the service: there is nothing to pull"))
        .kind(FailureKind::Refused)
        .help(one_line(&gone.way_out()))
}
