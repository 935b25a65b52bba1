//! The ledger as files: appended records are there, and nothing else is trusted.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::ledger::{Adopted, AppendError, Chain, Entry, Ledger, Log, Position, Record, Seq, Unreadable};
use serde_json::json;

use crate::files::FileLog;

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().expect("a time")
}

fn adopt(seq: Seq, key: &str) -> Entry {
    let adopted = Adopted {
        address: Address::new("segments", key),
        id: format!("id-{key}"),
        spec: json!({"display_name": key}).into(),
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

/// A project's folder with a ledger of this number of records.
fn ledger(records: Seq) -> (tempfile::TempDir, FileLog) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = FileLog::new(folder.path(), "local");
    for seq in 1..=records {
        log.write(&adopt(seq, &format!("s{seq}"))).expect("a sound ledger");
    }
    (folder, log)
}

fn folder_of(root: &Path) -> PathBuf {
    root.join(".pushplan/ledger/local")
}

fn file(root: &Path, seq: Seq) -> PathBuf {
    folder_of(root).join(format!("{seq:08}.json"))
}

/// The result for a reader without any memory of the ledger.
fn read(root: &Path) -> Result<Vec<Entry>, Unreadable> {
    let log = FileLog::new(root, "local");
    let (read, history) = (log.load(0), log.history());
    assert_eq!(read.is_ok(), history.is_ok(), "{read:?} {history:?}");
    read
}

#[track_caller]
fn refused(root: &Path, says: &str, last_good: Seq) -> String {
    let error = read(root).expect_err("it is refused");
    let help = error.help.unwrap_or_default();
    assert!(error.message.contains("the ledger of `local`"), "{}", error.message);
    assert!(error.message.contains(says), "expected {says:?}: {}", error.message);
    let position =
        if last_good == 0 { "no record is intact".into() } else { format!("last intact record is {last_good};") };
    assert!(help.contains(&position), "expected {position:?}: {help}");
    help
}

#[tokio::test]
async fn what_was_appended_is_read_back_by_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let log = FileLog::new(folder.path(), "local");
    assert_eq!(log.0.read(0).await.unwrap(), []);
    assert_eq!(log.position().unwrap(), Position::default());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "reading makes nothing");
    let entries = [adopt(1, "a"), adopt(2, "é\"\n"), adopt(3, "c")];
    for entry in &entries {
        log.0.append(entry).await.unwrap();
    }
    let other = FileLog::new(folder.path(), "local");
    assert_eq!(other.0.read(0).await.unwrap(), entries);
    assert_eq!(other.0.read(2).await.unwrap(), entries[2..]);
    assert_eq!(other.0.read(3).await.unwrap(), []);
    let error = other.0.read(4).await.expect_err("it was never there");
    assert!(error.message.contains("ends with record 3, but record 4 existed"), "{error}");
    let position = other.position().unwrap();
    assert_eq!((position.seq, position), (3, log.position().unwrap()));
    let elsewhere = FileLog::new(folder.path(), "production");
    assert_eq!(elsewhere.0.read(0).await.unwrap(), [], "each target has its own");
    assert_eq!(other.load(0).unwrap(), entries);
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_it_and_git_leaves_it_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _log) = ledger(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder_of(folder.path())), 0o700);
    assert_eq!(mode(&file(folder.path(), 1)), 0o600);
    assert_eq!(fs::read_to_string(folder.path().join(".pushplan/.gitignore")).unwrap(), "*\n");
    let left: Vec<_> =
        fs::read_dir(folder_of(folder.path())).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the record and the note of the newest: {left:?}");
}

#[test]
fn a_place_is_taken_once() {
    let (folder, log) = ledger(1);
    let late = FileLog::new(folder.path(), "local");
    assert!(matches!(late.write(&adopt(1, "other")), Err(AppendError::Conflict)));
    log.write(&adopt(2, "a")).unwrap();
    late.load(0).unwrap();
    assert!(matches!(late.write(&adopt(2, "b")), Err(AppendError::Conflict)));
    // A writer that lost the response asks again and learns that the record was written.
    log.write(&adopt(2, "a")).unwrap();
    assert!(
        matches!(late.write(&adopt(4, "b")), Err(AppendError::NotWritten(why)) if why.contains("record 3 is missing"))
    );
    assert!(matches!(late.write(&adopt(0, "b")), Err(AppendError::NotWritten(_))));
    assert_eq!(read(folder.path()).unwrap(), [adopt(1, "s1"), adopt(2, "a")]);
}

#[test]
fn a_first_append_that_is_tried_again_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let log = FileLog::new(folder.path(), "local");
    log.write(&adopt(1, "a")).unwrap();
    log.write(&adopt(1, "a")).unwrap();
    let other = FileLog::new(folder.path(), "local");
    assert!(matches!(other.write(&adopt(1, "a")), Err(AppendError::Conflict)), "another ledger would have begun");
}

/// Changes one byte in place, because rewriting a file would wait for the disk each time.
fn poke(path: &Path, at: usize, byte: u8) {
    let mut file = fs::OpenOptions::new().write(true).open(path).expect("a record");
    file.seek(SeekFrom::Start(at as u64)).expect("a place in it");
    file.write_all(&[byte]).expect("a byte");
}

#[test]
fn no_byte_of_any_record_can_be_another() {
    let (folder, _log) = ledger(4);
    for seq in 1..=4 {
        let path = file(folder.path(), seq);
        let good = fs::read(&path).unwrap();
        for (at, byte) in good.iter().enumerate() {
            for flip in [0x01, 0x80] {
                poke(&path, at, byte ^ flip);
                let help = refused(folder.path(), &format!("record {seq} is damaged"), seq - 1);
                assert!(help.contains(&format!(".pushplan/ledger/local/{seq:08}.json")), "{help}");
            }
            poke(&path, at, *byte);
        }
    }
    assert_eq!(read(folder.path()).unwrap().len(), 4);
}

#[test]
fn no_record_can_be_cut_short() {
    let (folder, log) = ledger(3);
    for seq in 1..=3 {
        let path = file(folder.path(), seq);
        let good = fs::read(&path).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        for length in (0..good.len()).rev() {
            file.set_len(length as u64).unwrap();
            refused(folder.path(), &format!("record {seq} is damaged"), seq - 1);
        }
        fs::write(&path, &good).unwrap();
    }
    // Nothing is appended after a record that was damaged meanwhile.
    fs::write(file(folder.path(), 3), "{}").unwrap();
    assert!(
        matches!(log.write(&adopt(4, "d")), Err(AppendError::NotWritten(why)) if why.contains("has changed since"))
    );
    assert!(!file(folder.path(), 4).exists());
}

/// Changes a record and seals it again, like another version of pushplan or a forger.
fn forge(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("it works");
    let (body, _) = text.rsplit_once(",\"checksum\":").expect("it works");
    assert!(body.contains(from), "{body}");
    let body = body.replacen(from, to, 1);
    fs::write(path, format!("{body},\"checksum\":\"{}\"}}\n", Digest::of(body.as_bytes()))).expect("a sound ledger");
}

#[test]
fn a_later_format_is_left_to_later_versions() {
    let (folder, _log) = ledger(3);
    let tool = format!("\"tool\":\"{}\"", env!("CARGO_PKG_VERSION"));
    forge(&file(folder.path(), 3), &format!("\"format\":1,{tool}"), "\"format\":4,\"tool\":\"9.2.0\"");
    let help = refused(
        folder.path(),
        "record 3 was written by pushplan 9.2.0 in format 4, but this version reads formats up to 2",
        2,
    );
    assert!(help.ends_with("use pushplan 9.2.0 or later"), "{help}");
    // A record of an unknown kind, in the same format.
    let (folder, _log) = ledger(2);
    forge(&file(folder.path(), 2), "\"record\":{\"adopt\"", "\"record\":{\"bequeath\"");
    refused(folder.path(), "unknown variant `bequeath`", 1);
}

#[test]
fn records_of_another_ledger_are_refused() {
    let (folder, _log) = ledger(3);
    let (other, _other) = ledger(4);
    fs::copy(file(other.path(), 3), file(folder.path(), 3)).unwrap();
    let help = refused(folder.path(), "record 3 belongs to another ledger", 2);
    assert!(help.contains("restore only the records of this ledger"), "{help}");
    // All records of another ledger, where the newest record of this one was noted.
    for seq in 1..=4 {
        fs::copy(file(other.path(), seq), file(folder.path(), seq)).unwrap();
    }
    let help = refused(folder.path(), "record 1 belongs to another ledger", 0);
    assert!(
        help.contains("move record 1, all later records") && help.contains("to start with an empty ledger"),
        "{help}"
    );
    // The first records of this ledger are left, and the report says so.
    let (folder, _log) = ledger(5);
    for seq in 3..=4 {
        fs::copy(file(other.path(), seq), file(folder.path(), seq)).unwrap();
    }
    fs::copy(file(other.path(), 4), file(folder.path(), 5)).unwrap();
    refused(folder.path(), "record 3 belongs to another ledger", 2);
    for seq in 3..=5 {
        fs::remove_file(file(folder.path(), seq)).unwrap();
    }
    fs::remove_file(file(folder.path(), 1).with_file_name("newest")).unwrap();
    fs::remove_dir_all(folder.path().join(".pushplan/seen")).unwrap();
    assert_eq!(read(folder.path()).unwrap().len(), 2);
}

#[test]
fn replaced_swapped_and_missing_records_are_noticed() {
    let (folder, _log) = ledger(5);
    // A valid record of the same ledger and position, with other content.
    let good = fs::read(file(folder.path(), 2)).unwrap();
    forge(&file(folder.path(), 2), "id-s2", "id-x");
    refused(folder.path(), "record 3 does not match the record before it", 2);
    fs::write(file(folder.path(), 2), good).unwrap();
    let [three, four] = [3, 4].map(|seq| fs::read(file(folder.path(), seq)).unwrap());
    fs::write(file(folder.path(), 3), &four).unwrap();
    fs::write(file(folder.path(), 4), &three).unwrap();
    refused(folder.path(), "record 3 is in the wrong place: its file contains record 4", 2);
    fs::write(file(folder.path(), 3), &three).unwrap();
    fs::remove_file(file(folder.path(), 4)).unwrap();
    refused(folder.path(), "record 4 is missing, although record 5 exists", 3);
    fs::write(file(folder.path(), 4), &four).unwrap();
    assert_eq!(read(folder.path()).unwrap().len(), 5);
    // Removing the newest ones leaves no gap.
    fs::remove_file(file(folder.path(), 5)).unwrap();
    fs::remove_file(file(folder.path(), 4)).unwrap();
    let help = refused(folder.path(), "it ends with record 3, but record 5 existed before", 3);
    assert!(help.contains("`pushplan ledger restore --accept-gap --target local`"), "{help}");
    // The effect of that command.
    let chain = Chain::in_files(folder.path(), "local");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let restored = chain.restored().await.expect("three sound records");
        assert_eq!((restored.ledger.seq, restored.seen), (3, 5));
        chain.accept_gap(&restored, "ada", now()).await.expect("written");
    });
    let entries = read(folder.path()).unwrap();
    assert!(matches!(entries[3].record, Record::Gap { upto: 5, .. }), "{:?}", entries[3]);
    FileLog::new(folder.path(), "local").write(&adopt(5, "again")).unwrap();
    assert_eq!(read(folder.path()).unwrap().len(), 5);
}

/// The file that the help says to remove if more records were seen.
fn seen(root: &Path, help: &str) -> PathBuf {
    let file = help.split("remove ").nth(1).and_then(|words| words.split(' ').next());
    root.join(file.expect(help))
}

#[test]
fn a_folder_that_was_emptied_is_no_new_ledger() {
    let (folder, _log) = ledger(3);
    fs::remove_dir_all(folder_of(folder.path())).unwrap();
    let help = refused(folder.path(), "it ends with record 0, but record 3 existed before", 0);
    // The advice in the help.
    fs::remove_file(seen(folder.path(), &help)).unwrap();
    assert_eq!(read(folder.path()).unwrap(), []);
    FileLog::new(folder.path(), "local").write(&adopt(1, "anew")).unwrap();
    // Another ledger in the same place is not the one that was seen.
    let (other, _log) = ledger(2);
    fs::remove_dir_all(folder_of(folder.path())).unwrap();
    fs::rename(folder_of(other.path()), folder_of(folder.path())).unwrap();
    let error = read(folder.path()).expect_err("it is another one");
    assert!(error.message.contains("another ledger"), "{error}");
}

#[test]
fn the_note_of_the_newest_can_be_damaged_without_harm() {
    let (folder, _log) = ledger(3);
    let path = folder_of(folder.path()).join("newest");
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x02;
        fs::write(&path, &bad).unwrap();
        assert_eq!(read(folder.path()).unwrap().len(), 3, "byte {at}");
        fs::write(&path, &good[..at]).unwrap();
        assert_eq!(read(folder.path()).unwrap().len(), 3, "{at} bytes");
    }
}

#[test]
fn what_a_crash_left_behind_is_ignored_and_cleaned() {
    let (folder, _log) = ledger(2);
    let left = [".00000002.0123.new", ".00000003.0123.new", ".00000000.0123.new"]
        .map(|name| folder_of(folder.path()).join(name));
    left.iter().for_each(|path| fs::write(path, "half a rec").unwrap());
    assert_eq!(read(folder.path()).unwrap().len(), 2);
    FileLog::new(folder.path(), "local").write(&adopt(3, "c")).unwrap();
    // Another writer may still be writing for the same position; writers for earlier ones have lost.
    assert_eq!(left.each_ref().map(|path| path.exists()), [false, true, false]);
    FileLog::new(folder.path(), "local").write(&adopt(4, "d")).unwrap();
    assert!(!left[1].exists());
    assert_eq!(read(folder.path()).unwrap().len(), 4);
}

#[cfg(unix)]
#[test]
fn links_and_odd_files_are_refused() {
    use std::os::unix::fs::symlink;
    let (folder, log) = ledger(2);
    let says = |expected: &str| {
        let error = read(folder.path()).expect_err("it is refused");
        assert!(error.message.contains(expected), "{error}");
    };
    for name in ["00000002 (conflicted copy).json", "3.json", "notes.txt"] {
        let odd = folder_of(folder.path()).join(name);
        fs::write(&odd, "").unwrap();
        says(&format!(".pushplan/ledger/local/{name} is not a record"));
        fs::remove_file(&odd).unwrap();
    }
    let odd = file(folder.path(), 3);
    fs::create_dir(&odd).unwrap();
    says("00000003.json is not a regular file");
    assert!(log.write(&adopt(3, "c")).is_err());
    fs::remove_dir(&odd).unwrap();
    let aside = folder.path().join("aside.json");
    fs::rename(file(folder.path(), 2), &aside).unwrap();
    symlink(&aside, file(folder.path(), 2)).unwrap();
    says("00000002.json is a symbolic link, which is not followed");
    fs::remove_file(file(folder.path(), 2)).unwrap();
    fs::rename(&aside, file(folder.path(), 2)).unwrap();
    assert_eq!(read(folder.path()).unwrap().len(), 2);
    // A project that tries to make pushplan write elsewhere.
    for part in [".pushplan/ledger/local", ".pushplan/ledger", ".pushplan"] {
        let (folder, _) = ledger(1);
        let outside = tempfile::tempdir().unwrap();
        let place = folder.path().join(part);
        fs::rename(&place, outside.path().join("moved")).unwrap();
        symlink(outside.path().join("moved"), &place).unwrap();
        let log = FileLog::new(folder.path(), "local");
        let error = log.load(0).expect_err("it is refused");
        assert!(error.message.contains(&format!("{part} is a symbolic link")), "{error}");
        assert!(
            matches!(log.write(&adopt(1, "a")), Err(AppendError::NotWritten(why)) if why.contains("symbolic link"))
        );
    }
}

#[test]
fn who_has_followed_the_ledger_makes_a_checkpoint_of_what_they_know() {
    let (folder, log) = ledger(0);
    let mut known = Ledger::replay(log.load(0).unwrap());
    // From here on, nothing is read.
    let write = |known: &mut Ledger, many: u64| {
        for _ in 0..many {
            let entry = adopt(known.seq + 1, &format!("s{}", known.seq % 50));
            log.write(&entry).unwrap();
            known.add(&entry);
        }
    };
    write(&mut known, 199);
    assert!(!log.checkpoint(&known, "ada", now()), "it is not due");
    let before = known.clone();
    write(&mut known, 1);
    assert!(!log.checkpoint(&before, "ada", now()), "they do not know all of it");
    assert!(log.checkpoint(&known, "ada", now()));
    assert!(!log.checkpoint(&known, "ada", now()), "it is there");
    let other = FileLog::new(folder.path(), "local");
    let written = other.load(0).unwrap();
    assert_eq!(written.len(), 1, "reading begins there");
    let all = Ledger::replay(other.history().unwrap());
    assert_eq!((&Ledger::replay(written), &all.owned), (&all, &known.owned));
    // If another user has written, that record stays and there is no checkpoint.
    let mut known = all;
    write(&mut known, 200);
    other.load(0).unwrap();
    other.write(&adopt(known.seq + 1, "theirs")).unwrap();
    assert!(!log.checkpoint(&known, "ada", now()));
    assert_eq!(other.load(0).unwrap().len(), 202);
}

#[test]
fn reading_begins_at_the_newest_checkpoint() {
    let (folder, log) = ledger(0);
    let mut seq = 0;
    let mut checkpoints = Vec::new();
    while checkpoints.len() < 2 {
        seq += 1;
        log.write(&adopt(seq, &format!("s{}", seq % 50))).unwrap();
        // A checkpoint is tried sometimes, and when it is nearly due.
        let known = Ledger::replay(log.load(0).unwrap());
        if (seq % 201 > 197 || seq % 50 == 0) && log.checkpoint(&known, "ada", now()) {
            seq += 1;
            checkpoints.push(seq);
        }
    }
    log.write(&adopt(seq + 1, "last")).unwrap();
    assert_eq!(checkpoints, [201, 402]);
    let log = FileLog::new(folder.path(), "local");
    let (short, long) = (log.load(0).unwrap(), log.history().unwrap());
    assert_eq!((short.len(), long.len()), (2, 403));
    assert_eq!(Ledger::replay(short), Ledger::replay(long.clone()));
    assert_eq!(log.load(300).unwrap(), long[300..]);
    // Records before the checkpoint are needed only for the history.
    fs::write(file(folder.path(), 7), "x").unwrap();
    let log = FileLog::new(folder.path(), "local");
    assert_eq!(log.load(0).unwrap().len(), 2);
    assert!(log.history().expect_err("damaged").message.contains("record 7 is damaged"));
    // Reading neither begins at a damaged checkpoint nor skips it.
    fs::write(file(folder.path(), 402), "x").unwrap();
    let error = FileLog::new(folder.path(), "local").load(0).expect_err("damaged");
    assert!(error.message.contains("record 402 is damaged"), "{error}");
    assert!(error.help.unwrap().contains("last intact record is 401;"));
}

#[test]
fn what_could_not_be_read_is_never_written() {
    let (folder, log) = ledger(1);
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let mut entry = adopt(2, "deep");
    if let Record::Adopt(all) = &mut entry.record {
        all[0].spec = deep.into();
    }
    assert!(matches!(log.write(&entry), Err(AppendError::NotWritten(why)) if why.contains("recursion limit")));
    assert_eq!(read(folder.path()).unwrap().len(), 1);
}
