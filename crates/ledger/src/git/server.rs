//! One git server with the ledgers of several targets: they look at it, fetch and push together.
//!
//! A connection takes much longer than what is done in it. While one is under way, whatever else is to be asked waits, and the
//! next one asks for all of it.

mod expected;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::super::store::{Pending, Server};
use super::exchange::{Listing, Move, Origin, Pushed, There};
use super::home::Home;
use super::remote::{Refs, Remote};
use super::told::Trouble;
use expected::{Expected, Queued};
use together::Together;

/// How many sets of refs move with one push.
const SETS: usize = 64;

/// What the ledgers on one remote have in common in this process.
pub(super) struct GitServer {
    root: PathBuf,
    /// Without one, each store says why it has none.
    remote: Option<Remote>,
    limit: Duration,
    looks: Together<(), Result<Arc<Listing>, Trouble>>,
    fetches: Together<Wanted, Result<(), Trouble>>,
    pushes: Together<QueuedMoves, Pushed>,
    expected: Arc<Expected>,
    ahead: Mutex<BTreeMap<String, Prefetched>>,
}

/// A record that is being written here. Other pushes wait a moment for it.
pub(super) struct Preparing(Arc<Expected>, String);

impl Drop for Preparing {
    fn drop(&mut self) {
        self.0.withdraw(&self.1);
    }
}

/// Refs of one target that are to move, all or none.
struct QueuedMoves {
    moves: Vec<OwnedMove>,
    _queued: Queued,
}

/// What was read for a target before it asks.
#[derive(Clone)]
pub(super) struct Prefetched {
    pub home: Home,
    pub listing: Arc<Listing>,
}

/// Refs that are to be fetched, and a commit of the same ledger that is here already.
#[derive(Clone)]
struct Wanted {
    names: Vec<String>,
    here: Option<String>,
}

/// One ref that is to move to a commit.
#[derive(Clone)]
struct OwnedMove {
    name: String,
    from: Option<Option<String>>,
    to: String,
}

impl OwnedMove {
    fn of(Move { name, from, to }: &Move<'_>) -> Self {
        let from = match from {
            Origin::At(commit) => Some(commit.map(str::to_owned)),
            Origin::Anywhere => None,
        };
        Self { name: (*name).to_owned(), from, to: (*to).to_owned() }
    }

    fn borrowed(&self) -> Move<'_> {
        let from = match &self.from {
            Some(commit) => Origin::At(commit.as_deref()),
            None => Origin::Anywhere,
        };
        Move { name: &self.name, from, to: &self.to }
    }
}

/// Servers that stores of this process use.
static SERVERS: Mutex<Vec<(Key, Weak<GitServer>)>> = Mutex::new(Vec::new());

/// What tells one server from another: the project's folder, the remote as it is written, how long git may take, and where
/// fetched objects go.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    root: PathBuf,
    remote: Option<String>,
    limit: Duration,
    apart: Option<PathBuf>,
}

impl GitServer {
    /// The server that all stores of this process share that name it in the same way.
    pub(super) fn of(root: &Path, remote: Option<&Remote>, limit: Duration, apart: Option<&Path>) -> Arc<Self> {
        let written = remote.map(Remote::argument);
        let key = Key { root: root.to_owned(), remote: written, limit, apart: apart.map(Path::to_owned) };
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|(_, server)| server.strong_count() > 0);
        if let Some(server) = servers.iter().find(|(other, _)| *other == key).and_then(|(_, server)| server.upgrade()) {
            return server;
        }
        let server = Arc::new(Self {
            root: root.to_owned(),
            remote: remote.cloned(),
            limit,
            looks: Together::default(),
            fetches: Together::default(),
            pushes: Together::default(),
            expected: Arc::default(),
            ahead: Mutex::default(),
        });
        servers.push((key, Arc::downgrade(&server)));
        server
    }

    /// What was read ahead for a target. It answers one question.
    pub(super) fn take_ahead(&self, refs: &Refs) -> Option<Arc<Listing>> {
        self.ahead().remove(&refs.tip).map(|ahead| ahead.listing)
    }

    /// Where git runs, as it was found when this target was read ahead.
    pub(super) fn home_ahead(&self, refs: &Refs) -> Option<Home> {
        self.ahead().get(&refs.tip).map(|ahead| ahead.home.for_target(refs))
    }

    fn ahead(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Prefetched>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the other end has, at least as new as when this was called.
    pub(super) async fn list(&self, home: &Home) -> Result<Arc<Listing>, Trouble> {
        loop {
            let asked = self.looks.ask((), async {}, |all| async move {
                let begun = Instant::now();
                let listed = home.list().await.map(Arc::new);
                self.expected.took(begun.elapsed());
                vec![listed; all.len()]
            });
            // The one that asked for all was dropped on the way.
            if let Some(listed) = asked.await {
                return listed;
            }
        }
    }

    /// Fetches refs: only their objects. `here` is a commit of the same ledger, with all of it here.
    pub(super) async fn fetch(&self, home: &Home, names: &[&str], here: Option<&str>) -> Result<(), Trouble> {
        let wanted =
            Wanted { names: names.iter().map(|name| (*name).to_owned()).collect(), here: here.map(str::to_owned) };
        loop {
            let asked = self.fetches.ask(wanted.clone(), async {}, |all: Vec<Wanted>| async move {
                let fetched = fetch_all(home, &all).await;
                if fetched.is_ok() || all.len() == 1 {
                    return vec![fetched; all.len()];
                }
                // One that is not there, or cannot be read, fails them all.
                let mut each = Vec::new();
                for wanted in &all {
                    each.push(fetch_all(home, std::slice::from_ref(wanted)).await);
                }
                each
            });
            if let Some(fetched) = asked.await {
                return fetched;
            }
        }
    }

    /// Moves refs of a target there, all or none. Those of other targets may move with the same push; what becomes of them
    /// changes nothing here.
    pub(super) async fn push(&self, home: &Home, refs: &Refs, moves: &[Move<'_>]) -> Pushed {
        let moves = moves.iter().map(OwnedMove::of).collect();
        let queued = QueuedMoves { moves, _queued: self.expected.queue(&refs.tip) };
        let exchange = |all: Vec<QueuedMoves>| async move {
            let begun = Instant::now();
            let answers = push_all(home, &all.iter().map(|queued| &*queued.moves).collect::<Vec<_>>()).await;
            self.expected.took(begun.elapsed());
            // The next push waits for the targets that this one answers, because their runs continue.
            drop(all);
            answers
        };
        let pushed = self.pushes.ask(queued, self.expected.gathered(), exchange).await;
        pushed.unwrap_or_else(|| Pushed::Lost(Trouble::new("the push was broken off")))
    }

    /// Announces a record that is about to be pushed.
    pub(super) fn prepare(&self, refs: &Refs) -> Preparing {
        self.expected.announce(&refs.tip);
        Preparing(self.expected.clone(), refs.tip.clone())
    }
}

/// Fetches what several targets want with one connection.
async fn fetch_all(home: &Home, all: &[Wanted]) -> Result<(), Trouble> {
    let names: BTreeSet<&str> = all.iter().flat_map(|wanted| wanted.names.iter().map(String::as_str)).collect();
    let here: BTreeSet<&str> = all.iter().filter_map(|wanted| wanted.here.as_deref()).collect();
    home.fetch(&names.into_iter().collect::<Vec<_>>(), &here.into_iter().collect::<Vec<_>>()).await
}

/// Pushes sets of refs: with one connection where nothing is in the way. A set moves as a whole or not at all.
async fn push_all(home: &Home, sets: &[&[OwnedMove]]) -> Vec<Pushed> {
    let mut answers: Vec<Option<Pushed>> = vec![None; sets.len()];
    loop {
        let left: Vec<usize> = (0..sets.len()).filter(|number| answers[*number].is_none()).collect();
        let round = free_of_conflicts(sets, &left);
        let answered = match &round[..] {
            [] => return answers.into_iter().flatten().collect(),
            [one] => vec![home.push(&borrowed(sets[*one])).await],
            _ => push_round(home, &round.iter().map(|number| sets[*number]).collect::<Vec<_>>()).await,
        };
        for (number, answer) in round.into_iter().zip(answered) {
            answers[number] = Some(answer);
        }
    }
}

/// The sets that can move together: no two of them move the same ref.
fn free_of_conflicts(sets: &[&[OwnedMove]], left: &[usize]) -> Vec<usize> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut round = Vec::new();
    for number in left {
        let own = || sets[*number].iter().map(|each| &*each.name);
        if round.len() < SETS && own().all(|name| !names.contains(name)) {
            names.extend(own());
            round.push(*number);
        }
    }
    round
}

/// Pushes several sets at once. Those that are behind are answered, and the others pushed again without them; where the server
/// refuses, each is pushed by itself.
async fn push_round(home: &Home, sets: &[&[OwnedMove]]) -> Vec<Pushed> {
    let mut answers: Vec<Option<Pushed>> = vec![None; sets.len()];
    loop {
        let left: Vec<usize> = (0..sets.len()).filter(|number| answers[*number].is_none()).collect();
        if let [] | [_] = left[..] {
            break;
        }
        let of_left: Vec<Vec<Move<'_>>> = left.iter().map(|number| borrowed(sets[*number])).collect();
        let pushed = home.push_sets(&of_left.iter().map(Vec::as_slice).collect::<Vec<_>>()).await;
        let is_behind = pushed.contains(&Pushed::Stale);
        for (number, pushed) in left.into_iter().zip(pushed) {
            match pushed {
                Pushed::Done | Pushed::Stale | Pushed::Unsent(_) | Pushed::Lost(_) => answers[number] = Some(pushed),
                Pushed::Refused(_) | Pushed::Busy(_) | Pushed::NotAtOnce => {}
            }
        }
        if !is_behind {
            break;
        }
    }
    let mut all = Vec::new();
    for (answer, set) in answers.into_iter().zip(sets) {
        all.push(match answer {
            Some(answer) => answer,
            None => home.push(&borrowed(set)).await,
        });
    }
    all
}

fn borrowed(set: &[OwnedMove]) -> Vec<Move<'_>> {
    set.iter().map(OwnedMove::borrowed).collect()
}

impl Server for GitServer {
    fn read_ahead<'a>(&'a self, targets: &'a [String]) -> Pending<'a, ()> {
        Box::pin(async move {
            let refs: Vec<Refs> = targets.iter().map(|target| Refs::of(target)).collect();
            // What cannot be read ahead is read by each target for itself, which says why.
            let _ = self.read(&refs).await;
        })
    }

    fn is_ahead(&self, target: &str) -> bool {
        self.ahead().contains_key(&Refs::of(target).tip)
    }

    fn forget_ahead(&self) {
        self.ahead().clear();
    }

    fn announce(&self, target: &str) {
        self.expected.announce(&Refs::of(target).tip);
    }

    fn withdraw(&self, target: &str) {
        self.expected.withdraw(&Refs::of(target).tip);
    }
}

impl GitServer {
    async fn read(&self, all: &[Refs]) -> Result<(), Trouble> {
        let Some(first) = all.first() else { return Ok(()) };
        let remote = self.remote.clone().ok_or_else(|| Trouble::new("the git remote is not known"))?;
        let home = Home::find(&self.root, remote, first, self.limit, None).await?;
        let listing = self.list(&home).await?;
        let there: Vec<(&Refs, There)> = all.iter().map(|refs| (refs, listing.there(refs))).collect();
        let tips: Vec<String> = there.iter().filter_map(|(_, there)| there.tip.clone()).collect();
        if !tips.is_empty() {
            home.make(&self.root).await?;
            let present = home.records().present(&tips).await?;
            let is_missing = |there: &There| there.tip.as_ref().is_some_and(|tip| !present.contains(tip));
            let names: Vec<&str> =
                there.iter().filter(|(_, there)| is_missing(there)).map(|(refs, _)| &*refs.tip).collect();
            if !names.is_empty() {
                let seen: Vec<String> = all.iter().map(|refs| home.for_target(refs).seen).collect();
                let here = home.records().present(&seen).await?;
                home.fetch(&names, &here.iter().map(String::as_str).collect::<Vec<_>>()).await?;
            }
        }
        let ahead = |refs: &Refs| (refs.tip.clone(), Prefetched { home: home.clone(), listing: listing.clone() });
        self.ahead().extend(all.iter().map(ahead));
        Ok(())
    }
}
