//! The ledger in an object store, such as S3: one object per record, never changed once it exists.
//!
//! A record is created on the condition that the object does not exist. A writer that is refused or gets no answer
//! reads the object.

mod failure;
mod note;
mod place;
mod reading;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::anyhow;
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _, PutMode};
use tokio::sync::Mutex;

use super::AppendError;
use super::codec;
use super::intent::Seq;
use super::store::{New, Pending, Start, Store, Stored, Unread, going_on, plain};
use failure::{Failure, Left};
use note::{NEWEST, Note};
use place::{ObjectPlace, StoreVariables, Ways};

/// The time limit of one request.
const LIMIT: Duration = Duration::from_secs(30);
/// The pauses before each retry after a temporary refusal. Nothing was written in that case.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_millis(1000)];
/// The pauses before each look at the store after a lost answer. The request may still arrive.
const LOOKS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_millis(1200)];

/// Stores records as objects such as `<prefix>/<target>/00000007.json`.
#[derive(Clone)]
pub struct ObjectStore(Arc<Inner>);

struct Inner {
    place: ObjectPlace,
    /// The prefix of the keys of its objects.
    folder: String,
    settings: StoreVariables,
    limit: Duration,
    ways: OnceLock<Ways>,
    /// Whether the store has proved that it refuses to replace an object.
    is_proven: Mutex<bool>,
    /// The newest checkpoint that was seen; 0 if there was none.
    checkpoint: AtomicU64,
}

impl fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectStore({})", self.shown())
    }
}

impl ObjectStore {
    /// Returns the records of a target in a place such as `s3://bucket/prefix`. Does not connect yet. Credentials and
    /// endpoints come from the environment, by the conventions of the store's provider.
    pub fn new(place: &str, target: &str) -> anyhow::Result<Self> {
        Self::open(place, target, StoreVariables::of_the_process(), LIMIT)
    }

    /// Opens the store with `variables` instead of the process's environment, and with `limit` as the timeout of each request.
    pub fn with(
        place: &str,
        target: &str,
        variables: impl IntoIterator<Item = (String, String)>,
        limit: Duration,
    ) -> anyhow::Result<Self> {
        Self::open(place, target, StoreVariables::new(variables), limit)
    }

    fn open(place: &str, target: &str, settings: StoreVariables, limit: Duration) -> anyhow::Result<Self> {
        let place = ObjectPlace::parse(place)?;
        let folder = place.folder(&plain(target));
        Ok(Self(Arc::new(Inner {
            place,
            folder,
            settings,
            limit,
            ways: OnceLock::new(),
            is_proven: Mutex::new(false),
            checkpoint: AtomicU64::new(0),
        })))
    }
}

impl Store for ObjectStore {
    fn shown(&self) -> String {
        self.0.place.shown(self.0.folder.trim_end_matches('/'))
    }

    fn record(&self, seq: Seq) -> String {
        self.0.shown(seq)
    }

    fn go_on(&self, seq: Seq) -> String {
        let folder = self.0.place.shown(&self.0.folder);
        let going_on = going_on(seq);
        format!(
            "move record {seq}, all later records and the object `{NEWEST}` out of {folder} to {going_on}. Later \
                changes are then unknown: `pushplan plan` shows a resource as not managed if the service lists it, \
                and as new if not. Check the plan, and run `pushplan adopt ADDRESS --id ID` for everything that \
                already exists, so that nothing is sent twice"
        )
    }

    fn read(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(self.0.read(from))
    }

    fn read_as_is(&self, from: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(self.0.read_noted(from, None))
    }

    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(self.0.create(new))
    }
}

impl Inner {
    fn key(&self, name: &str) -> Path {
        Path::parse(format!("{}{name}", self.folder)).expect("the place was parsed, and a name has no slash")
    }

    fn shown(&self, seq: Seq) -> String {
        self.place.shown(&format!("{}{}", self.folder, file_name(seq)))
    }

    fn ways(&self) -> Result<&Ways, Failure> {
        if let Some(ways) = self.ways.get() {
            return Ok(ways);
        }
        let ways = self.place.ways(&self.settings, self.limit).map_err(Failure::before)?;
        Ok(self.ways.get_or_init(|| ways))
    }

    async fn within<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> Result<T, Failure> {
        match tokio::time::timeout(self.limit, request).await {
            Ok(answer) => answer.map_err(|error| Failure::of(&error, &self.settings, self.limit)),
            Err(_) => Err(Failure::late(self.limit)),
        }
    }

    /// Returns the bytes of an object; `None` if it does not exist.
    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let (read, key) = (&self.ways()?.read, self.key(name));
        match self.within(async { read.get(&key).await?.bytes().await }).await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(failure) if failure.is_absent => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn put(&self, name: &str, bytes: &[u8], mode: PutMode) -> Result<(), Failure> {
        let (write, key) = (&self.ways()?.write, self.key(name));
        self.within(write.put_opts(&key, bytes.to_vec().into(), mode.into())).await.map(|_| ())
    }

    async fn note(&self) -> Result<Option<Note>, Failure> {
        Ok(self.get(NEWEST).await?.and_then(|bytes| Note::read(&bytes)))
    }

    async fn create(&self, new: New<'_>) -> Result<(), AppendError> {
        let New { seq, bytes, is_checkpoint, .. } = new;
        self.prove().await.map_err(AppendError::not_written)?;
        let mut created = Ok(());
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            let Err(failure) = self.put(&file_name(seq), bytes, PutMode::Create).await else {
                created = Ok(());
                break;
            };
            created = self.look(seq, bytes, &failure).await;
            if !(failure.is_passing && matches!(created, Err(AppendError::NotWritten(_)))) {
                break;
            }
        }
        created?;
        if is_checkpoint {
            self.checkpoint.fetch_max(seq, Ordering::AcqRel);
        }
        if let Some(lineage) = codec::lineage(bytes) {
            let checkpoint = self.checkpoint.load(Ordering::Acquire).clamp(1, seq);
            // Without the note, reading takes longer, and the removal of this record is not detected.
            let _ = self.put(NEWEST, &Note { seq, checkpoint, lineage }.bytes(), PutMode::Overwrite).await;
        }
        Ok(())
    }

    /// Checks whether a record exists, after the store did not confirm it.
    async fn look(&self, seq: Seq, bytes: &[u8], failure: &Failure) -> Result<(), AppendError> {
        let shown = self.shown(seq);
        let tried = format!("{shown} cannot be written: {failure}; {}", self.place.check());
        let looks = if failure.left == Left::Unclear { &LOOKS[..] } else { &LOOKS[..1] };
        let mut unseen = None;
        for pause in looks {
            tokio::time::sleep(*pause).await;
            match self.get(&file_name(seq)).await {
                Ok(Some(there)) if there == bytes => return Ok(()),
                Ok(Some(_)) => return Err(AppendError::Conflict),
                Ok(None) => unseen = None,
                Err(unread) => {
                    unseen = Some(unread);
                    break;
                }
            }
        }
        match (failure.left, unseen) {
            (Left::Nothing, _) | (Left::Taken, None) => Err(AppendError::NotWritten(tried)),
            (Left::Taken, Some(unread)) => {
                Err(AppendError::Unknown(format!("{shown} exists, but its writer is unknown: {unread}")))
            }
            (Left::Unclear, None) => Err(AppendError::Unknown(format!(
                "the answer for {shown} was lost: {failure}. It does not exist yet, but may still be written; {}",
                self.place.check()
            ))),
            (Left::Unclear, Some(unread)) => Err(AppendError::Unknown(format!(
                "the answer for {shown} was lost: {failure}. Whether it exists is unknown: {unread}; {}",
                self.place.check()
            ))),
        }
    }

    /// Checks once that the store refuses to create an existing object, before anything depends on it. It creates the
    /// note with its current content, or with that of a ledger without records, so that nothing is left that does not
    /// belong there.
    async fn prove(&self) -> anyhow::Result<()> {
        let mut is_proven = self.is_proven.lock().await;
        if *is_proven {
            return Ok(());
        }
        let failed = |failure: Failure| {
            let place = self.place.shown(&self.folder);
            anyhow!("{place} cannot be written: {failure}; {}", self.place.check())
        };
        let there = self.get(NEWEST).await.map_err(failed)?;
        if let Some(note) = there.as_deref().and_then(Note::read) {
            self.checkpoint.fetch_max(note.checkpoint, Ordering::AcqRel);
        }
        let bytes = there.clone().unwrap_or_else(|| Note::before_the_first().bytes());
        // If it did not exist, the first attempt succeeds, and only the second one must be refused.
        for _ in 0..2 {
            match self.put(NEWEST, &bytes, PutMode::Create).await {
                Err(failure) if failure.left == Left::Taken => {
                    *is_proven = true;
                    return Ok(());
                }
                Err(failure) => return Err(failed(failure)),
                Ok(()) => {}
            }
        }
        if there.is_none() {
            // A store that is not used needs no note.
            let (write, key) = (&self.ways().map_err(failed)?.write, self.key(NEWEST));
            let _ = self.within(write.delete(&key)).await;
        }
        Err(anyhow!(
            "{} is in a store that ignores the condition `If-None-Match: *` (on Google Cloud Storage, \
             `x-goog-if-generation-match: 0`): it replaced an existing object. Two machines could write the same record, and \
             both would send; use a store that honours the condition",
            self.place.shown(&self.folder)
        ))
    }
}

fn file_name(seq: Seq) -> String {
    format!("{seq:08}.json")
}
