//! Records of a ledger in PostgreSQL, as the store sees them.

use pushplan::digest::Digest;
use pushplan::ledger::AppendError;
use pushplan::ledger::postgres::PostgresStore;
use pushplan::ledger::store::{New, Start, Store};
use pushplan_testing::postgres::Server;

/// The ledger of `prod` in a schema of this server.
pub fn store_in(server: &Server, schema: &str) -> PostgresStore {
    PostgresStore::new(&server.place(schema), "prod").expect("a place")
}

/// A record that ends with its checksum, like every record.
#[derive(Clone, Debug)]
pub struct Sample {
    pub bytes: Vec<u8>,
    pub checksum: Digest,
}

impl Sample {
    pub fn new(text: &str, previous: Option<&Digest>) -> Self {
        let body = format!("{{\"text\":\"{text}\",\"previous\":\"{}\"", previous.map_or("", Digest::as_str));
        let checksum = Digest::of(body.as_bytes());
        let bytes = format!("{body},\"checksum\":\"{}\"}}\n", checksum.as_str()).into_bytes();
        Self { bytes, checksum }
    }
}

/// Creates a record.
pub async fn create(
    store: &dyn Store,
    seq: u64,
    sample: &Sample,
    previous: Option<&Digest>,
) -> Result<(), AppendError> {
    store.create(New { seq, bytes: &sample.bytes, previous, is_checkpoint: false }).await
}

/// Creates the first records, each after the previous one.
pub async fn fill(store: &dyn Store, count: u64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for seq in 1..=count {
        let previous = samples.last().map(|sample| sample.checksum.clone());
        let sample = Sample::new(&format!("record {seq}"), previous.as_ref());
        create(store, seq, &sample, previous.as_ref()).await.expect("created");
        samples.push(sample);
    }
    samples
}

/// The existing records from a position on, with their numbers.
pub async fn read(store: &dyn Store, start: Start) -> Vec<(u64, Vec<u8>)> {
    let records = store.read(start).await.expect("readable");
    records.into_iter().map(|stored| (stored.seq, stored.bytes)).collect()
}

/// Samples as records.
pub fn numbered(samples: &[Sample]) -> Vec<(u64, Vec<u8>)> {
    (1..).zip(samples.iter().map(|sample| sample.bytes.clone())).collect()
}

pub fn not_written(result: Result<(), AppendError>) -> String {
    match result {
        Err(AppendError::NotWritten(why)) => why,
        other => panic!("{other:?}"),
    }
}
