//! Appends a record: writes it here, pushes it with the commit that the ref must still have, and looks for it if the
//! answer leaves the result open.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::AppendError;
use super::super::codec::{self, LIMIT};
use super::super::intent::Seq;
use super::super::store::{New, Store};
use super::exchange::{Move, Origin, Pushed};
use super::home::Home;
use super::objects::{Alone, Tip};
use super::server::Preparing;
use super::told::Trouble;
use super::{ATTEMPTS, GitStore};

/// How long to wait for another push, multiplied by the number of attempts.
const PAUSE: Duration = Duration::from_millis(150);

/// A record that is being appended.
struct Attempt<'a> {
    store: &'a GitStore,
    home: &'a Home,
    new: New<'a>,
    blob: String,
    /// The blob of the record before it, when the append began.
    before: Option<String>,
    /// An answer was lost. From then on, only another record in its place proves that it was not written.
    lost: Option<Trouble>,
    /// Others wait with their pushes until it is ready.
    preparing: Option<Preparing>,
}

impl GitStore {
    pub(super) async fn append(&self, new: New<'_>) -> Result<(), AppendError> {
        let not_written = |trouble: Trouble| AppendError::NotWritten(trouble.at(&self.record(new.seq)).told());
        if new.bytes.len() as u64 > LIMIT {
            return Err(not_written(Trouble::new(&format!("it would be larger than {LIMIT} bytes"))));
        }
        if new.seq == 0 {
            return Err(not_written(Trouble::new("records are counted from 1")));
        }
        let home = self.home().await.map_err(not_written)?;
        home.make(&self.root).await.map_err(not_written)?;
        let preparing = Some(self.server().prepare(&self.refs));
        let blob = home.records().blob(new.bytes).await.map_err(not_written)?;
        let known = self.known();
        let tip = match known.tip.filter(|tip| tip.last() + 1 >= new.seq) {
            Some(tip) => {
                let is_other = |stated: &String| new.previous.is_some_and(|previous| previous.as_str() != stated);
                if tip.last() + 1 == new.seq && known.checksum.as_ref().is_some_and(is_other) {
                    return Err(not_written(Trouble::new("the record before it has changed")));
                }
                Some(tip)
            }
            // The push demands that there is none.
            None if new.seq == 1 && self.is_known_empty() => None,
            None => self.look(home).await.map_err(not_written)?,
        };
        let before = tip.as_ref().and_then(|tip| tip.records.get(&(new.seq - 1))).cloned();
        Attempt { store: self, home, new, blob, before, lost: None, preparing }.run(tip).await
    }

    /// Moves the ref and its mark. A checkpoint without a parent also creates a ref to the commit before it, first or
    /// in the same push.
    async fn push(&self, home: &Home, from: Option<&Tip>, to: &Tip, is_rooted: bool) -> Pushed {
        let (mark, old) = (self.refs.mark(), from.filter(|_| is_rooted));
        let history = old.map(|old| self.refs.history(old.last()));
        let tip = || Move { name: &self.refs.tip, from: Origin::At(from.map(|tip| &*tip.commit)), to: &to.commit };
        let mark = || Move { name: &mark, from: Origin::Anywhere, to: &to.commit };
        let kept = || {
            let (name, old) = (history.as_deref()?, old?);
            Some(Move { name, from: Origin::At(None), to: &old.commit })
        };
        if !self.is_unmarked.load(Ordering::Acquire) {
            let moves: Vec<Move> = [tip(), mark()].into_iter().chain(kept()).collect();
            match self.server().push(home, &self.refs, &moves).await {
                // The server moves one ref at a time, or accepts no refs except those of earlier versions.
                Pushed::NotAtOnce | Pushed::Refused(_) => self.is_unmarked.store(true, Ordering::Release),
                pushed => return pushed,
            }
        }
        let pushed = self.push_unmarked(home, tip(), kept()).await;
        if pushed == Pushed::Done {
            // A mark that stays behind does no harm, except that less is detected.
            let _ = self.server().push(home, &self.refs, &[mark()]).await;
        }
        pushed
    }

    async fn push_unmarked(&self, home: &Home, tip: Move<'_>, history: Option<Move<'_>>) -> Pushed {
        let Some(history) = history else { return self.server().push(home, &self.refs, &[tip]).await };
        let (name, moves) = (history.name.to_owned(), [tip, history]);
        match self.server().push(home, &self.refs, &moves).await {
            Pushed::NotAtOnce => {}
            pushed => return pushed,
        }
        let [tip, history] = moves;
        match self.server().push(home, &self.refs, &[history]).await {
            Pushed::Done => self.server().push(home, &self.refs, &[tip]).await,
            Pushed::Stale => Pushed::Refused(format!("{name} is there already")),
            // Whether or not the history was written, the record itself was not sent.
            Pushed::Lost(trouble) => Pushed::Unsent(trouble),
            pushed => pushed,
        }
    }
}

impl Attempt<'_> {
    async fn run(mut self, mut tip: Option<Tip>) -> Result<(), AppendError> {
        let New { seq, bytes, is_checkpoint, .. } = self.new;
        if let Some(answer) = self.settled(tip.as_ref()).await {
            return answer;
        }
        let mut is_rooted = is_checkpoint && !self.store.is_unrooted.load(Ordering::Acquire);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let preparing = self.preparing.take().unwrap_or_else(|| self.store.server().prepare(&self.store.refs));
            let alone = is_checkpoint.then_some(if is_rooted { Alone::Rooted } else { Alone::Following });
            let commit = self.home.records().commit(seq, &self.blob, tip.as_ref(), alone, self.store.has_mark()).await;
            let commit = commit.map_err(|trouble| self.over(trouble))?;
            drop(preparing);
            let pushed = self.store.push(self.home, tip.as_ref(), &commit, is_rooted).await;
            let is_stale = pushed == Pushed::Stale;
            let mut is_final = attempts >= ATTEMPTS;
            let (why, pause) = match pushed {
                Pushed::Done => {
                    if is_checkpoint && !is_rooted {
                        self.store.is_unrooted.store(true, Ordering::Release);
                    }
                    self.store.note_sound(self.home, commit.clone()).await;
                    self.store.remember(Some(commit), codec::stated(bytes).map(str::to_owned));
                    return Ok(());
                }
                Pushed::Unsent(trouble) => return Err(self.over(trouble)),
                Pushed::Lost(trouble) => {
                    self.lost = Some(trouble.clone());
                    (trouble, PAUSE)
                }
                Pushed::Busy(why) => (Trouble::new(&why), PAUSE),
                Pushed::Stale => (Trouble::new("another process writes there"), Duration::ZERO),
                Pushed::NotAtOnce => (Trouble::new("the server does not update the ref"), Duration::ZERO),
                Pushed::Refused(why) => {
                    is_final |= !is_rooted;
                    is_rooted = false;
                    (Trouble::new(&why), Duration::ZERO)
                }
            };
            tokio::time::sleep(pause * attempts).await;
            tip = match self.store.look(self.home).await {
                Ok(tip) => tip,
                // The existing record may be this very one, from an earlier attempt.
                Err(trouble) if is_stale => return Err(self.unknown(&trouble)),
                Err(_) => return Err(self.over(why)),
            };
            if let Some(answer) = self.settled(tip.as_ref()).await {
                return answer;
            }
            if is_final {
                return Err(self.over(why));
            }
        }
    }

    /// Returns the result if the server's state decides it: the number is taken, or the record before it does not
    /// exist.
    async fn settled(&self, tip: Option<&Tip>) -> Option<Result<(), AppendError>> {
        let seq = self.new.seq;
        let last = tip.map_or(0, Tip::last);
        if let Some(tip) = tip.filter(|_| seq <= last) {
            let found = self.store.blob_of(self.home, tip, seq).await;
            self.store.remember(Some(tip.clone()), None);
            return Some(match found {
                Ok(Some(found)) if found == self.blob => Ok(()),
                Ok(Some(_)) => Err(AppendError::Conflict),
                Ok(None) => Err(self.unknown(&Trouble::new("it is not in the history"))),
                Err(trouble) => Err(self.unknown(&trouble)),
            });
        }
        let before = tip.and_then(|tip| tip.records.get(&(seq - 1)));
        if last + 1 < seq {
            let why = format!("record {} must exist before it, but the last one is {last}", seq - 1);
            return Some(Err(self.over(Trouble::new(&why))));
        }
        if before != self.before.as_ref() {
            return Some(Err(self.over(Trouble::new(&format!("record {} has changed", seq - 1)))));
        }
        None
    }

    /// Returns the error after the last attempt.
    fn over(&self, why: Trouble) -> AppendError {
        match &self.lost {
            Some(_) => self.unknown(&why),
            None => AppendError::NotWritten(why.at(&self.store.record(self.new.seq)).told()),
        }
    }

    fn unknown(&self, why: &Trouble) -> AppendError {
        let lost = self.lost.as_ref().filter(|lost| *lost != why).map(|lost| format!("{}; then ", lost.why));
        let record = self.store.record(self.new.seq);
        AppendError::Unknown(format!("{record}: {}{}", lost.unwrap_or_default(), why.told()))
    }
}

impl GitStore {
    /// Returns the blob of a record, even if a checkpoint came since; `None` if the history does not contain it.
    async fn blob_of(&self, home: &Home, tip: &Tip, seq: Seq) -> Result<Option<String>, Trouble> {
        let mut tip = tip.clone();
        while seq < tip.first() {
            match self.older(home, &tip).await? {
                Some(older) => tip = older,
                None => return Ok(None),
            }
        }
        Ok(tip.records.get(&seq).cloned())
    }
}
