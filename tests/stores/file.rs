//! A folder.

use std::fs;
use std::sync::Arc;

use pushplan::ledger::store::{Pending, Store};
use pushplan::ledger::{FileStore, Seq};

use crate::suite::Place;

struct Folder(tempfile::TempDir);

impl Place for Folder {
    fn open(&self, target: &str) -> Arc<dyn Store> {
        Arc::new(FileStore::at(self.0.path(), target))
    }

    fn tamper<'a>(&'a self, target: &'a str, seq: Seq, bytes: Option<&'a [u8]>) -> Pending<'a, ()> {
        let file = self.0.path().join(target).join(format!("{seq:08}.json"));
        fs::remove_file(&file).expect("a record");
        if let Some(bytes) = bytes {
            fs::write(&file, bytes).expect("a record");
        }
        Box::pin(async {})
    }
}

fn place() -> Option<Folder> {
    Some(Folder(tempfile::tempdir().expect("a folder")))
}

crate::behaves!(place());
