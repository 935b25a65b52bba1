//! A service with a file against bare commits of SQLite with the same settings.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::client::{rate, request};
use crate::memory::SEGMENT;
use crate::report::{ROUNDS, Report, Sample, Target, ratios};
use crate::servers::Service;

/// Disks have moods: short turns, and more of them.
const TIME: Duration = Duration::from_millis(300);
const CLIENTS: usize = 16;

pub fn run(report: &mut Report) {
    report.line("with a file, POST of a segment per second against bare commits");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let create = request("POST", "/api/segments", SEGMENT);
    let bare = Bare::open(&folder.path().join("bare"));
    let service = Service::start(Some(folder.path().join("service")));
    let mut rates = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..3 * ROUNDS {
        rates[0].push(bare.rate());
        rates[1].push(rate(service.address(), &create, 201, 1, TIME));
        rates[2].push(rate(service.address(), &create, 201, CLIENTS, TIME));
    }
    service.stop();
    let [commits, one, many] = &rates;
    let [a, b, c] = rates.each_ref().map(|rates| Sample::new(rates.clone()).median());
    report.line(&format!("  {a:.0} bare commits, {b:.0} with one client, {c:.0} with {CLIENTS}"));
    report.ratio("one client against bare commits", &ratios(one, commits), &Target::AtLeast(0.5));
    report.ratio("16 clients against bare commits", &ratios(many, commits), &Target::AtLeast(0.5));
    report.ratio("16 clients against one", &ratios(many, one), &Target::AtLeast(3.0));
}

/// A table of segments by key, with the same settings, and nothing else.
struct Bare(Connection);

impl Bare {
    fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("a file");
        for (name, value) in [("journal_mode", "WAL"), ("synchronous", "FULL"), ("locking_mode", "EXCLUSIVE")] {
            connection.pragma_update(None, name, value).expect("a setting");
        }
        let table = "CREATE TABLE rows (app TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (app, name, key)) WITHOUT ROWID;";
        connection.execute_batch(table).expect("a table");
        Self(connection)
    }

    fn rate(&self) -> f64 {
        let mut put = self.0.prepare("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)").expect("a statement");
        let (start, mut count) = (Instant::now(), 0_u32);
        while start.elapsed() < TIME {
            let key = uuid::Uuid::new_v4().to_string();
            put.execute(params!["key", "segments", key, SEGMENT]).expect("a commit");
            count += 1;
        }
        f64::from(count) / start.elapsed().as_secs_f64()
    }
}
