//! The required behaviour of every ledger location.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::ledger::store::{New, Pending, Start, Store, Stored, Unread};
use pushplan::ledger::{Adopted, AppendError, Chain, Entry, Ledger, Log, Position, Record, Seq};
use serde_json::json;

/// A location for ledgers.
pub trait Place: Sync {
    /// The store of a target, as a separate process would open it.
    fn open(&self, target: &str) -> Arc<dyn Store>;

    /// Replaces or removes the bytes of a record without the store.
    fn tamper<'a>(&'a self, target: &'a str, seq: Seq, bytes: Option<&'a [u8]>) -> Pending<'a, ()>;

    /// Whether the location itself has a note of its newest record, for machines that have never read it.
    fn notes_the_newest(&self) -> bool {
        true
    }

    /// Whether records before a checkpoint are named by their content, so that they cannot be replaced.
    fn seals_the_past(&self) -> bool {
        false
    }
}

/// One ledger in a location, with a folder for records that cannot be written.
struct Book<'p> {
    place: &'p dyn Place,
    target: String,
    folder: tempfile::TempDir,
}

impl<'p> Book<'p> {
    fn new(place: &'p dyn Place, target: &str) -> Self {
        Self { place, target: target.to_owned(), folder: tempfile::tempdir().expect("a folder") }
    }

    fn chain(&self) -> Chain {
        self.over(self.place.open(&self.target))
    }

    fn over(&self, store: Arc<dyn Store>) -> Chain {
        Chain::new(store, self.folder.path(), &self.target)
    }

    /// Creates a ledger with this number of records.
    async fn filled(place: &'p dyn Place, target: &str, records: Seq) -> Self {
        let book = Self::new(place, target);
        let chain = book.chain();
        for seq in 1..=records {
            chain.append(&adopt(seq, &format!("s{seq}"))).await.expect("a record");
        }
        book
    }

    async fn stored(&self) -> Vec<Stored> {
        self.place.open(&self.target).read(Start::At(1)).await.expect("records")
    }

    async fn refused(&self) -> String {
        let error = self.chain().read(0).await.expect_err("it is refused");
        format!("{} | {}", error.message, error.help.unwrap_or_default())
    }
}

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn adopt(seq: Seq, key: &str) -> Entry {
    let adopted = Adopted {
        address: Address::new("segments", key),
        id: format!("id-{key}"),
        spec: json!({ "display_name": key }).into(),
        refs: BTreeMap::new(),
        stamp: None,
        protect: false,
        past: false,
        push_ids: Vec::new(),
        zone: None,
        pruned: false,
    };
    Entry { seq, at: now(), actor: "ada on build-7".into(), record: Record::Adopt(vec![adopted]) }
}

pub async fn what_is_appended_is_read_back_by_anybody(place: &dyn Place) {
    let book = Book::new(place, "read-back");
    let chain = book.chain();
    assert_eq!(chain.read(0).await.expect("nothing yet"), []);
    assert_eq!(chain.position().await.expect("nowhere yet"), Position::default());
    let entries = [adopt(1, "a"), adopt(2, "b"), adopt(3, "c")];
    for entry in &entries {
        chain.append(entry).await.expect("a record");
    }
    let other = book.chain();
    assert_eq!(other.read(0).await.expect("records"), entries);
    assert_eq!(other.read(2).await.expect("records"), entries[2..]);
    assert_eq!(other.read(3).await.expect("records"), []);
    assert_eq!(other.history().await.expect("records"), entries);
    let position = other.position().await.expect("a place");
    assert_eq!((position.seq, &position), (3, &chain.known()));
    let error = other.read(4).await.expect_err("it was never there");
    assert!(error.message.contains("ends with record 3"), "{error}");
    let elsewhere = Book::new(place, "read-back-2");
    assert_eq!(elsewhere.chain().read(0).await.expect("nothing"), [], "each target has its own");
}

pub async fn a_place_is_taken_once(place: &dyn Place) {
    let book = Book::filled(place, "once", 1).await;
    let (one, other) = (book.chain(), book.chain());
    assert!(matches!(other.append(&adopt(1, "x")).await, Err(AppendError::Conflict)));
    one.append(&adopt(2, "a")).await.expect("a record");
    assert!(matches!(other.append(&adopt(2, "b")).await, Err(AppendError::Conflict)));
    one.append(&adopt(2, "a")).await.expect("it is its own record");
    let gap = other.append(&adopt(4, "b")).await.expect_err("a gap");
    assert!(matches!(&gap, AppendError::NotWritten(why) if why.contains("record 3")), "{gap:?}");
    assert_eq!(book.stored().await.len(), 2);
}

pub async fn of_many_writers_one_gets_each_place(place: &dyn Place) {
    const WRITERS: usize = 8;
    const RECORDS: usize = 4;
    let book = Book::new(place, "many");
    let writers = (0..WRITERS).map(|writer| {
        let chain = book.chain();
        async move {
            let mut written = Vec::new();
            while written.len() < RECORDS {
                let seq = chain.read(0).await.expect("records").last().map_or(0, |entry| entry.seq) + 1;
                let key = format!("w{writer}-{}", written.len());
                match chain.append(&adopt(seq, &key)).await {
                    Ok(()) => written.push((seq, key)),
                    Err(AppendError::Conflict) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
            written
        }
    });
    let tasks: Vec<_> = writers.map(tokio::spawn).collect();
    let mut all = BTreeMap::new();
    for task in tasks {
        for (seq, key) in task.await.expect("a writer") {
            assert_eq!(all.insert(seq, key), None, "record {seq} was written by two");
        }
    }
    let found = book.chain().history().await.expect("a sound ledger");
    let found: BTreeMap<Seq, String> =
        found.iter().map(|entry| (entry.seq, entry.record.addresses()[0].key.clone())).collect();
    assert_eq!(found, all);
}

/// A slow store whose responses to creations are lost.
#[derive(Debug)]
struct Forgetful {
    store: Arc<dyn Store>,
    lost: AtomicUsize,
    delay: Duration,
}

impl Store for Forgetful {
    fn shown(&self) -> String {
        self.store.shown()
    }
    fn record(&self, seq: Seq) -> String {
        self.store.record(seq)
    }
    fn go_on(&self, seq: Seq) -> String {
        self.store.go_on(seq)
    }
    fn read(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        Box::pin(async move {
            tokio::time::sleep(self.delay).await;
            self.store.read(start).await
        })
    }
    fn read_as_is(&self, start: Start) -> Pending<'_, Result<Vec<Stored>, Unread>> {
        self.store.read_as_is(start)
    }
    fn create<'a>(&'a self, new: New<'a>) -> Pending<'a, Result<(), AppendError>> {
        Box::pin(async move {
            tokio::time::sleep(self.delay).await;
            let created = self.store.create(new).await;
            let lost = self.lost.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if lost.is_ok() { Err(AppendError::Unknown("the answer was lost".into())) } else { created }
        })
    }
}

fn forgetful(book: &Book<'_>, lost: usize, delay: Duration) -> Chain {
    book.over(Arc::new(Forgetful { store: book.place.open(&book.target), lost: AtomicUsize::new(lost), delay }))
}

pub async fn a_record_whose_answer_was_lost_is_known_again(place: &dyn Place) {
    let book = Book::new(place, "lost");
    let chain = forgetful(&book, 2, Duration::ZERO);
    let entry = adopt(1, "a");
    assert!(matches!(chain.append(&entry).await, Err(AppendError::Unknown(_))));
    assert!(matches!(chain.append(&entry).await, Err(AppendError::Unknown(_))));
    chain.append(&entry).await.expect("its own record");
    // The second writer at a position does not take the first one's record for its own.
    assert!(matches!(book.chain().append(&adopt(1, "a")).await, Err(AppendError::Conflict)));
    assert_eq!(book.stored().await.len(), 1);
}

pub async fn a_slow_place_is_only_slow(place: &dyn Place) {
    let book = Book::filled(place, "slow", 3).await;
    let chain = forgetful(&book, 0, Duration::from_millis(50));
    assert_eq!(chain.read(0).await.expect("records").len(), 3);
    chain.append(&adopt(4, "d")).await.expect("a record");
    assert!(matches!(
        forgetful(&book, 0, Duration::from_millis(50)).append(&adopt(4, "x")).await,
        Err(AppendError::Conflict)
    ));
}

pub async fn damage_is_found_and_told(place: &dyn Place) {
    let book = Book::filled(place, "damage", 4).await;
    let sound = book.stored().await;
    let second = &sound[1].bytes;
    let mut flipped = second.clone();
    flipped[second.len() / 2] ^= 1;
    book.place.tamper(&book.target, 2, Some(&flipped)).await;
    let told = book.refused().await;
    assert!(told.contains("record 2 is damaged") && told.contains("the last intact record is 1"), "{told}");
    assert!(told.contains(&place.open(&book.target).record(2)), "{told}");
    book.place.tamper(&book.target, 2, Some(&second[..second.len() - 9])).await;
    assert!(book.refused().await.contains("record 2 is damaged"));
    book.place.tamper(&book.target, 2, Some(second)).await;
    assert_eq!(book.chain().read(0).await.expect("sound again").len(), 4);
    // A missing record, and a record at the position of another.
    book.place.tamper(&book.target, 3, Some(second)).await;
    let told = book.refused().await;
    assert!(told.contains("record 3 is in the wrong place"), "{told}");
    book.place.tamper(&book.target, 3, None).await;
    let told = book.refused().await;
    assert!(told.contains("record 3 is missing") || told.contains("ends with record 2"), "{told}");
}

pub async fn an_end_that_is_gone_is_missed(place: &dyn Place) {
    let book = Book::filled(place, "end", 3).await;
    let chain = book.chain();
    assert_eq!(chain.read(0).await.expect("records").len(), 3);
    book.place.tamper(&book.target, 3, None).await;
    let expected = "it ends with record 2, but record 3 existed before";
    let gone = chain.read(0).await.expect_err("it is gone");
    assert!(gone.message.contains(expected) && gone.help.is_some_and(|help| help.contains("record is 2")));
    assert!(chain.history().await.expect_err("it is gone").message.contains(expected));
    assert!(chain.facts().await.expect_err("it is gone").message.contains(expected));
    // A machine that has never read it.
    let stranger = Book::new(place, "end");
    if place.notes_the_newest() {
        assert!(stranger.refused().await.contains(expected));
    }
}

pub async fn a_restored_place_goes_on_with_a_gap(place: &dyn Place) {
    let book = Book::filled(place, "gap", 4).await;
    let other = Book::new(place, "gap");
    assert_eq!(other.chain().read(0).await.expect("records").len(), 4);
    for lost in [4, 3] {
        book.place.tamper(&book.target, lost, None).await;
    }
    let told = book.refused().await;
    assert!(told.contains("pushplan ledger restore --accept-gap --target gap"), "{told}");
    let chain = book.chain();
    let restored = chain.restored().await.expect("what is there");
    assert_eq!((restored.ledger.seq, restored.seen), (2, 4));
    chain.accept_gap(&restored, "ada", now()).await.expect("a gap");
    // Nothing is reported missing here, on the machine that has read more, or on a new one.
    for machine in [&book, &other, &Book::new(place, "gap")] {
        let ledger = Ledger::replay(machine.chain().read(0).await.expect("it is accepted"));
        assert_eq!((ledger.seq, ledger.owned.len()), (3, 2));
        assert!(ledger.gap.is_some_and(|gap| gap.upto == 4 && gap.covers(&Address::new("segments", "s3"))));
    }
    other.chain().append(&adopt(4, "x")).await.expect("it goes on");
    book.chain().append(&adopt(5, "y")).await.expect("it goes on");
}

pub async fn a_later_format_and_another_ledger_are_told(place: &dyn Place) {
    let book = Book::filled(place, "later", 2).await;
    let sound = book.stored().await;
    let text = String::from_utf8(sound[1].bytes.clone()).expect("UTF-8");
    let later = sealed(&text.replacen("\"format\":1,\"tool\":\"", "\"format\":9,\"tool\":\"7.", 1));
    book.place.tamper(&book.target, 2, Some(later.as_bytes())).await;
    let told = book.refused().await;
    assert!(told.contains("format 9") && told.contains("use pushplan 7."), "{told}");
    let other = Book::filled(place, "later-2", 2).await;
    book.place.tamper(&book.target, 2, Some(&other.stored().await[1].bytes)).await;
    let told = book.refused().await;
    assert!(told.contains("another ledger") || told.contains("does not follow"), "{told}");
}

/// A record with its matching checksum.
fn sealed(text: &str) -> String {
    let at = text.rfind(",\"checksum\":\"").expect("a checksum");
    let body = &text[..at];
    format!("{body},\"checksum\":\"{}\"}}\n", pushplan::digest::Digest::of(body.as_bytes()))
}

pub async fn reading_begins_at_the_newest_checkpoint(place: &dyn Place) {
    let book = Book::filled(place, "checkpoint", 5).await;
    let chain = book.chain();
    for _ in 0..2 {
        let ledger = Ledger::replay(chain.read(0).await.expect("records"));
        let seq = ledger.seq + 1;
        let entry = Entry { seq, at: now(), actor: "ada".into(), record: Record::Checkpoint(Box::new(ledger)) };
        chain.append(&entry).await.expect("a checkpoint");
        chain.append(&adopt(seq + 1, &format!("s{}", seq + 1))).await.expect("a record");
    }
    let all = book.chain().history().await.expect("all of it");
    assert_eq!(all.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=9).collect::<Vec<_>>());
    let short = book.chain().read(0).await.expect("the end of it");
    assert_eq!(short, all[7..]);
    assert_eq!(Ledger::replay(short), Ledger::replay(all.clone()));
    assert_eq!(book.chain().read(3).await.expect("an older place"), all[3..]);
    // Earlier records are not read any more.
    let old = book.stored().await[2].bytes.clone();
    book.place.tamper(&book.target, 3, Some(&old[..old.len() / 2])).await;
    assert_eq!(book.chain().read(0).await.expect("sound since"), all[7..]);
    let history = book.chain().history().await;
    match place.seals_the_past() {
        true => assert_eq!(history.expect("all of it"), all),
        false => assert!(history.expect_err("damaged").message.contains("record 3"), "all of it is looked at"),
    }
}

pub async fn readers_see_whole_records_while_others_write(place: &dyn Place) {
    const RECORDS: Seq = 12;
    let book = Book::filled(place, "readers", 1).await;
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let chain = book.chain();
            tokio::spawn(async move {
                let mut seen = 0;
                while seen < RECORDS {
                    let entries = chain.read(0).await.expect("a sound ledger at any time");
                    let last = entries.last().expect("a record").seq;
                    assert!(last >= seen, "record {seen} was there before, and the last is {last}");
                    seen = last;
                }
            })
        })
        .collect();
    let chain = book.chain();
    for seq in 2..=RECORDS {
        chain.append(&adopt(seq, &format!("s{seq}"))).await.expect("a record");
    }
    for reader in readers {
        reader.await.expect("a reader");
    }
}

/// The whole suite as tests of a location.
#[macro_export]
macro_rules! behaves {
    ($place:expr) => {
        $crate::behaves!(@ $place,
            what_is_appended_is_read_back_by_anybody, a_place_is_taken_once, of_many_writers_one_gets_each_place,
            a_record_whose_answer_was_lost_is_known_again, a_slow_place_is_only_slow, damage_is_found_and_told,
            an_end_that_is_gone_is_missed, a_restored_place_goes_on_with_a_gap,
            a_later_format_and_another_ledger_are_told, reading_begins_at_the_newest_checkpoint,
            readers_see_whole_records_while_others_write);
    };
    (@ $place:expr, $($name:ident),*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            if let Some(place) = $place {
                $crate::suite::$name(&place).await;
            }
        })*
    };
}
