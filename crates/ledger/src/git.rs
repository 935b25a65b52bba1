//! The ledger as commits on a ref of a git server, which most teams already have.
//!
//! A record is a commit on `refs/pushplan/<target>`, and a push names the commit that the ref must still have, so only
//! one of two writers succeeds. A checkpoint is a commit without a parent, so reading costs only what came after it;
//! earlier records stay reachable from a ref of their own. In the user's repository, only objects and one ref that
//! notes what was seen change.

mod append;
mod exchange;
mod home;
mod objects;
mod remote;
mod server;
mod told;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pushplan_io::git::LIMIT;
use tokio::sync::OnceCell;

use super::AppendError;
use super::codec;
use super::intent::Seq;
use super::store::{New, Pending, Server, Sibling, Start, Store, Stored, Unread};
use exchange::{Listing, Mark};
use home::Home;
use objects::Tip;
use remote::{Refs, Remote};
use server::GitServer;
use told::Trouble;

/// How many times a push is tried.
const ATTEMPTS: u32 = 3;

/// How long the records may lag behind their mark: a server moves several refs one after the other, and lists them in
/// between.
const LAGS: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1000)];

/// The ledger of one target on a git server.
pub struct GitStore {
    root: PathBuf,
    remote: anyhow::Result<Remote>,
    refs: Refs,
    limit: Duration,
    /// The folder for fetched objects, if the repository must not change.
    apart: Option<PathBuf>,
    home: OnceCell<Home>,
    /// What it shares with the ledgers of other targets there.
    server: OnceLock<Arc<GitServer>>,
    /// What the other end had when it was last looked at.
    listing: Mutex<Option<Arc<Listing>>>,
    known: Mutex<LastRead>,
    sound: Mutex<Sound>,
    /// Records that were seen here and that the server no longer has.
    gone: Mutex<Option<Gone>>,
    /// The server refuses to replace commits with one that has no parent.
    is_unrooted: AtomicBool,
    /// The server does not move the mark together with the records.
    is_unmarked: AtomicBool,
    /// The mark at the last look.
    mark: Mutex<Option<Mark>>,
}

/// The state at the last read.
#[derive(Clone, Default)]
struct LastRead {
    tip: Option<Tip>,
    /// The checksum at the end of the newest record.
    checksum: Option<String>,
}

/// Records that were read or written here and are intact. A damaged commit is never included, so nothing is missing
/// once the server is repaired.
#[derive(Clone, Default)]
struct Sound {
    tip: Option<Tip>,
    /// The commit that the project's repository notes as seen.
    noted: Option<String>,
}

/// Records that the server no longer has.
#[derive(Clone)]
struct Gone {
    /// The newest commit that was seen here.
    seen: Tip,
    /// The newest commit that the server has instead.
    there: Option<Tip>,
}

/// Returns the folder that a remote in the settings names; `None` for any other remote.
pub fn folder_of(root: &Path, remote: &str) -> Option<PathBuf> {
    match Remote::read(root, remote) {
        Ok(Remote::Folder(folder)) => Some(folder),
        _ => None,
    }
}

impl fmt::Debug for GitStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GitStore").field(&self.shown()).finish()
    }
}

impl GitStore {
    /// Returns the ledger of a target on a remote, given by name, address or folder; `origin` by default. Runs nothing
    /// yet.
    pub fn new(root: &Path, remote: Option<&str>, target: &str) -> Self {
        Self {
            root: root.to_owned(),
            remote: Remote::read(root, remote.unwrap_or("origin")),
            refs: Refs::of(target),
            limit: LIMIT,
            apart: None,
            home: OnceCell::new(),
            server: OnceLock::new(),
            listing: Mutex::default(),
            known: Mutex::default(),
            sound: Mutex::default(),
            gone: Mutex::default(),
            is_unrooted: AtomicBool::new(false),
            is_unmarked: AtomicBool::new(false),
            mark: Mutex::default(),
        }
    }

    /// Fetches into this folder and notes nothing. For readers only.
    pub fn apart(self, folder: &Path) -> Self {
        Self { apart: Some(folder.to_owned()), ..self }
    }

    /// Sets the time limit of each git command.
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Whether the server has anything of this ledger. Fetches nothing, and returns `false` if the answer is unknown.
    pub async fn has_records(&self) -> bool {
        let Ok(home) = self.home().await else { return false };
        let Ok(listing) = self.server().list(home).await else { return false };
        let there = listing.there(&self.refs);
        there.tip.is_some() || there.mark.is_some() || there.has_history
    }

    /// Whether the server had the mark at the last look.
    fn has_mark(&self) -> bool {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn known(&self) -> LastRead {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, tip: Option<Tip>, checksum: Option<String>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = LastRead { tip, checksum };
    }

    fn sound(&self) -> Sound {
        self.sound.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a commit that is intact, for this process and for later ones.
    async fn note_sound(&self, home: &Home, tip: Tip) {
        if self.apart.is_none() && self.sound().noted.as_ref() != Some(&tip.commit) {
            home.note(&tip).await;
        }
        let noted = Some(tip.commit.clone());
        *self.sound.lock().unwrap_or_else(PoisonError::into_inner) = Sound { tip: Some(tip), noted };
    }

    fn gone(&self) -> Option<Gone> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn home(&self) -> Result<&Home, Trouble> {
        let find = async {
            if let Some(home) = self.server().home_ahead(&self.refs) {
                return Ok(home);
            }
            let remote = self.remote.as_ref().map_err(|why| Trouble::new(&why.to_string()))?.clone();
            Home::find(&self.root, remote, &self.refs, self.limit, self.apart.as_deref()).await
        };
        self.home.get_or_try_init(|| find).await
    }

    /// Whether the other end had nothing of this ledger when it was last looked at.
    fn is_known_empty(&self) -> bool {
        let listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let there = listing.map(|listing| listing.there(&self.refs));
        there.is_some_and(|there| there.tip.is_none() && there.mark.is_none() && !there.has_history)
    }

    fn server(&self) -> &Arc<GitServer> {
        self.server
            .get_or_init(|| GitServer::of(&self.root, self.remote.as_ref().ok(), self.limit, self.apart.as_deref()))
    }

    /// Returns the newest commit of the server, after fetching all of it.
    async fn look(&self, home: &Home) -> Result<Option<Tip>, Trouble> {
        self.look_at(home, None).await
    }

    /// Looks as [`Self::look`] does, at what was listed ahead if anything was.
    async fn look_at(&self, home: &Home, mut ahead: Option<Arc<Listing>>) -> Result<Option<Tip>, Trouble> {
        for _ in 0..ATTEMPTS {
            let listing = match ahead.take() {
                Some(listing) => listing,
                None => self.server().list(home).await?,
            };
            let there = listing.there(&self.refs);
            *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = Some(listing);
            *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = there.mark;
            let Some(commit) = there.tip else {
                if there.has_history {
                    let why = format!("{} is missing, although its history exists", self.refs.tip);
                    let help = format!("find the newest ref below {} and push it again", self.refs.histories());
                    return Err(Trouble::with(&why, &help));
                }
                return Ok(None);
            };
            if let Some(tip) = self.known().tip.filter(|tip| tip.commit == commit) {
                return Ok(Some(tip));
            }
            home.make(&self.root).await?;
            if let Some(tip) = home.records().tip(&commit).await? {
                return Ok(Some(tip));
            }
            self.fetch(home, &self.refs.tip).await?;
            if let Some(tip) = home.records().tip(&commit).await? {
                return Ok(Some(tip));
            }
            // Another process has replaced it with a checkpoint.
        }
        Err(Trouble::with("it changes faster than it can be read", "run the command again"))
    }

    /// Returns the newest records that ever existed, according to the mark, if they are ahead of these. A mark that
    /// cannot be read is ignored.
    async fn marked(&self, home: &Home, tip: Option<&Tip>) -> Option<Tip> {
        let mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        if tip.is_some_and(|tip| tip.commit == mark.commit) {
            return None;
        }
        home.make(&self.root).await.ok()?;
        let mut marked = home.records().tip(&mark.commit).await.ok()?;
        if marked.is_none() {
            self.fetch(home, &mark.name).await.ok()?;
            marked = home.records().tip(&mark.commit).await.ok()?;
        }
        marked.filter(|marked| tip.map_or(0, Tip::last) < marked.last())
    }

    async fn fetch(&self, home: &Home, name: &str) -> Result<(), Trouble> {
        let here = home.records().tip(&home.seen).await?;
        self.server().fetch(home, &[name], here.as_ref().map(|tip| &*tip.commit)).await
    }

    /// Returns the commit before the first record of this one, after fetching all of it.
    async fn older(&self, home: &Home, tip: &Tip) -> Result<Option<Tip>, Trouble> {
        let first = tip.first();
        let Some(before) = home.records().before(&tip.commit, first).await? else { return Ok(None) };
        let mut older = home.records().tip(&before).await?;
        if older.is_none() {
            self.server().fetch(home, &[&self.refs.history(first - 1)], None).await?;
            older = home.records().tip(&before).await?;
        }
        Ok(older.filter(|older| older.last() + 1 == first))
    }

    /// Returns the bytes of records, from this one on.
    async fn records(&self, home: &Home, tip: &Tip, from: Seq) -> Result<Vec<Stored>, Trouble> {
        let (seqs, ids): (Vec<Seq>, Vec<String>) =
            tip.records.range(from..).map(|(seq, id)| (*seq, id.clone())).unzip();
        let mut blobs = home.records().blobs(&ids).await?;
        if blobs.is_none() {
            // Objects that no ref keeps may have been removed by git's garbage collection.
            self.server().fetch(home, &[&self.refs.tip], None).await?;
            blobs = home.records().blobs(&ids).await?;
        }
        let blobs = blobs.ok_or_else(|| Trouble::new("not all of its objects can be fetched"))?;
        Ok(seqs.into_iter().zip(blobs).map(|(seq, bytes)| Stored { seq, bytes }).collect())
    }

    /// Returns the ledgers of other targets on the server, with a single fetch.
    async fn siblings(&self) -> Result<Vec<Sibling>, Trouble> {
        let home = self.home().await?;
        // As the server was when this ledger was read.
        let known = self.listing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let listing = match known {
            Some(listing) => listing,
            None => self.server().list(home).await?,
        };
        let there: Vec<(&str, &str)> = listing.tips().filter(|(name, _)| *name != self.refs.tip).collect();
        if there.is_empty() {
            return Ok(Vec::new());
        }
        home.make(&self.root).await?;
        let commits: Vec<String> = there.iter().map(|(_, commit)| (*commit).to_owned()).collect();
        let present = home.records().present(&commits).await?;
        let missing = there.iter().filter(|(_, commit)| !present.iter().any(|here| here == commit));
        let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            self.server().fetch(home, &missing, None).await?;
        }
        let mut all = Vec::new();
        for (name, commit) in there {
            let Some(tip) = home.records().tip(commit).await? else { continue };
            // An unreadable ledger of another target must not stop this one.
            let Ok(records) = self.records(home, &tip, 1).await else { continue };
            let shown = format!("{name} on {}", home.shown);
            all.push(Sibling { name: Refs::target_of(name).to_owned(), shown, records, becomes: None });
        }
        Ok(all)
    }

    async fn read_all(&self, from: Start, is_as_is: bool) -> Result<Vec<Stored>, Unread> {
        let failed = |trouble: Trouble| Unread::from(trouble.at(&self.shown()));
        let home = self.home().await.map_err(failed)?;
        // The note about seen records is read first, because an append writes it last.
        let seen = if home.is_made() { home.records().tip(&home.seen).await.map_err(failed)? } else { None };
        self.sound.lock().unwrap_or_else(PoisonError::into_inner).noted = seen.as_ref().map(|tip| tip.commit.clone());
        let seen = [seen, self.sound().tip].into_iter().flatten().max_by_key(Tip::last);
        let ahead = self.server().take_ahead(&self.refs);
        let mut tip = self.look_at(home, ahead).await.map_err(failed)?;
        let marked = self.marked(home, tip.as_ref()).await.filter(|_| !is_as_is);
        for pause in LAGS.into_iter().filter(|_| marked.is_some()) {
            if tip.as_ref().map(Tip::last) >= marked.as_ref().map(Tip::last) {
                break;
            }
            tokio::time::sleep(pause).await;
            tip = self.look(home).await.map_err(failed)?;
        }
        let last = tip.as_ref().map_or(0, Tip::last);
        let seen = [seen, marked].into_iter().flatten().max_by_key(Tip::last);
        if let Some(seen) = seen.filter(|seen| last < seen.last() && !is_as_is) {
            let was = seen.last();
            *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = Some(Gone { seen, there: tip });
            return Err(Unread::CutShort { last, was });
        }
        let Some(mut tip) = tip else { return Ok(Vec::new()) };
        if tip.is_marked && !self.has_mark() && !is_as_is {
            return Err(Unread::Unmarked { last, mark: self.refs.mark() });
        }
        let newest = tip.clone();
        let mut read: Vec<Stored> = Vec::new();
        loop {
            if let Some((seq, there)) = tip.gap() {
                self.remember(Some(newest), None);
                return Err(Unread::Missing { seq, there });
            }
            let begin = match from {
                Start::Newest => last,
                Start::At(seq) => seq,
                Start::Checkpoint => 1,
            };
            let mut part = self.records(home, &tip, begin).await.map_err(failed)?;
            part.append(&mut read);
            read = part;
            if read.last().is_some_and(|newest| newest.seq == last) {
                let checksum = read.last().and_then(|newest| codec::stated(&newest.bytes)).map(str::to_owned);
                self.remember(Some(newest.clone()), checksum);
            }
            let checkpoint = read.iter().rposition(|stored| codec::is_checkpoint(&stored.bytes));
            if let (Start::Checkpoint, Some(checkpoint)) = (from, checkpoint) {
                return Ok(read.split_off(checkpoint));
            }
            if tip.first() <= begin.max(1) {
                return Ok(read);
            }
            let first = tip.first();
            let missing = Unread::Missing { seq: first.saturating_sub(1), there: first };
            tip = self.older(home, &tip).await.map_err(failed)?.ok_or(missing)?;
        }
    }
}

impl Store for GitStore {
    fn shown(&self) -> String {
        match &self.remote {
            Ok(remote) => format!("{} on {}", self.refs.tip, remote.shown()),
            Err(_) => self.refs.tip.clone(),
        }
    }

    fn record(&self, seq: Seq) -> String {
        format!("record {seq} of {}", self.shown())
    }

    fn go_on(&self, seq: Seq) -> String {
        let good = seq.saturating_sub(1);
        let how = self
            .cut(seq)
            .unwrap_or_else(|| format!("push the commit of record {good} to {}, replacing its commit", self.shown()));
        format!(
            "{how} to continue from record {good}. Later changes are then unknown: `pushplan plan` shows a resource \
                as not managed if the service lists it, and as new if not. Check the plan, and run `pushplan adopt \
                ADDRESS --id ID` for everything that already exists, so that nothing is sent twice"
        )
    }

    fn put_back(&self, was: Seq) -> Option<String> {
        let Gone { seen, there } = self.gone().filter(|gone| gone.seen.last() == was)?;
        let Home { git, shown, .. } = self.home.get()?;
        let (typed, Refs { tip: name, .. }) = (git.typed(), &self.refs);
        let there = there.map(|tip| tip.commit).unwrap_or_default();
        let commit = &seen.commit;
        Some(format!(
            "this clone has the records up to {was}: run `{typed} push --force-with-lease={name}:{there} {shown} \
             {commit}:{name}` to restore them"
        ))
    }

    fn remembers(&self) -> bool {
        true
    }

    fn is_sound(&self, newest: Seq) -> Pending<'_, ()> {
        Box::pin(async move {
            let tip = self.known().tip.filter(|tip| tip.last() == newest);
            if let (Some(tip), Ok(home)) = (tip, self.home().await) {
                self.note_sound(home, tip).await;
            }
        })
    }

    fn read(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(self.read_all(from, false))
    }

    fn read_as_is(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(self.read_all(from, true))
    }

    fn accept(&self) -> Pending<'_, Result<(), Unread>> {
        Box::pin(async {
            let failed = |trouble: Trouble| Unread::from(trouble.at(&self.shown()));
            let home = self.home().await.map_err(failed)?;
            self.remember(None, None);
            *self.sound.lock().unwrap_or_else(PoisonError::into_inner) = Sound::default();
            let tip = self.look(home).await.map_err(failed)?;
            self.remember(tip.clone(), None);
            if let Some(tip) = tip {
                self.note_sound(home, tip).await;
            }
            *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = None;
            Ok(())
        })
    }

    fn server(&self) -> Option<Arc<dyn Server>> {
        let server: Arc<dyn Server> = Self::server(self).clone();
        Some(server)
    }

    fn beside(&self) -> Pending<'_, Result<Vec<Sibling>, Unread>> {
        Box::pin(async { self.siblings().await.map_err(|trouble| Unread::from(trouble.at(&self.shown()))) })
    }

    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(self.append(new))
    }
}

impl GitStore {
    /// Returns the commands that remove a record and all later ones.
    fn cut(&self, seq: Seq) -> Option<String> {
        let home = self.home.get()?;
        let Home { git, shown, seen, .. } = home;
        let (typed, Refs { tip: name, .. }) = (git.typed(), &self.refs);
        // If the server has no record from there on, only the notes of what was seen have to be deleted.
        if self.gone().is_some_and(|gone| gone.there.map_or(0, |tip| tip.last()) < seq) {
            return Some(format!("run `{typed} update-ref -d {seen}` in every clone that saw later records"));
        }
        let tip = self.known().tip?;
        let lease = format!("--force-with-lease={name}:{}", tip.commit);
        let good = match seq.checked_sub(1)? {
            0 => String::new(),
            _ => home.records().before_now(&tip.commit, seq)?,
        };
        Some(format!(
            "run `{typed} push {lease} {shown} {good}:{name}`, and `{typed} update-ref -d {seen}` in every clone that saw \
             later records,"
        ))
    }
}
