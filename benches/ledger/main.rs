//! What reading a ledger costs as it grows: `cargo bench --bench ledger`.
//!
//! Ledgers of 10,000 resources are read after 10, 110 and 1,010 applies, by someone who has not read them before. What
//! is ours is the same in all three, and so is what came since the last checkpoint, which is written where the program
//! would write one. A hundred times the history may cost at most twice as much; the run fails otherwise. All are
//! measured in turns in one run, so that the ratios mean the same on any machine. Places whose servers are not
//! installed are left out, and said to be. `-- file`, `-- git`, `-- postgres` and `-- s3` take one place;
//! `PUSHPLAN_RESOURCES=1000` takes another number.

mod places;

#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use jiff::Timestamp;
use pushplan::address::Address;
use pushplan::digest::Digest;
use pushplan::ledger::{Adopted, Begin, Chain, Done, Ended, Entry, Intent, Ledger, Log, Outcome, Record, Seq, Verb};
use report::{Report, Sample, Target, ratios};
use serde_json::{Value, json};

use places::{PLACES, Place};

/// After so many applies. Checkpoints are written after fifty, so that ten came since the last one in each of them.
const APPLIES: [usize; 3] = [10, 110, 1_010];
/// After so many records, the program writes a checkpoint.
const MANY: usize = 200;
/// How often each is read.
const ROUNDS: usize = 9;
/// How much more the longest history may cost than the shortest.
const MOST: f64 = 2.0;

fn main() -> ExitCode {
    let resources = std::env::var("PUSHPLAN_RESOURCES").ok().and_then(|number| number.parse().ok()).unwrap_or(10_000);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut report = Report::default();
    report.line(&format!("ledgers of {resources} resources are read"));
    for (name, make) in PLACES {
        if !wanted.is_empty() && !wanted.iter().any(|word| word == name) {
            continue;
        }
        let Some(places) = APPLIES.map(|_| make()).into_iter().collect::<Option<Vec<_>>>() else {
            report.line(&format!("  {name}: not run"));
            continue;
        };
        runtime.block_on(measure(name, &places, resources, &mut report));
    }
    report.end()
}

async fn measure(name: &str, places: &[Box<dyn Place>], resources: usize, report: &mut Report) {
    let start = Instant::now();
    let mut expected = None;
    for (place, applies) in places.iter().zip(APPLIES) {
        write(&place.chain(), resources, applies).await;
        // However it came to be so, it is the same but for when.
        let ledger = Ledger::replay(place.chain().read(0).await.expect("records"));
        let known: Vec<(Address, Value)> =
            ledger.owned.into_iter().map(|(address, owned)| (address, owned.spec.into_value())).collect();
        assert_eq!(known.len(), resources);
        assert!(expected.get_or_insert_with(|| known.clone()) == &known, "{name}: all of them end alike");
    }
    let wrote = start.elapsed().as_secs_f64();
    let mut times = [const { Vec::new() }; APPLIES.len()];
    for _ in 0..ROUNDS {
        for (place, times) in places.iter().zip(&mut times) {
            let chain = place.chain();
            let start = Instant::now();
            let ledger = Ledger::replay(chain.read(0).await.expect("records"));
            times.push(start.elapsed().as_secs_f64());
            assert_eq!(ledger.owned.len(), resources);
        }
    }
    let medians = times.each_ref().map(|times| format!("{:.0}", Sample::new(times.clone()).median() * 1e3)).join(", ");
    report.line(&format!("{name}: {medians} ms after {APPLIES:?} applies, which took {wrote:.0} s to write"));
    let [short, longer, longest] = &times;
    report.ratio(
        &format!("{name}: {} against {} applies", APPLIES[1], APPLIES[0]),
        &ratios(longer, short),
        &Target::AtMost(MOST),
    );
    report.ratio(
        &format!("{name}: {} against {} applies", APPLIES[2], APPLIES[0]),
        &ratios(longest, short),
        &Target::AtMost(MOST),
    );
}

/// Records as applies leave them, and checkpoints where they are due.
async fn write(chain: &Chain, resources: usize, applies: usize) {
    let mut seq = 0;
    let all = (0..resources).map(adopted).collect();
    append(chain, &mut seq, Record::Adopt(all)).await;
    let mut since = usize::MAX;
    for apply in 0..applies {
        if since >= MANY {
            let now = Timestamp::now();
            let is_written = match apply {
                // So many resources may make one due by their size, and may not.
                0 => chain
                    .append(&pushplan::ledger::checkpoint(chain.read(0).await.expect("records"), "ada", now))
                    .await
                    .is_ok(),
                _ => {
                    let known = Ledger::replay(chain.read(0).await.expect("records"));
                    chain.checkpoint(&known, "ada", now).await
                }
            };
            assert!(is_written, "a checkpoint is due after {seq} records");
            (seq, since) = (seq + 1, 0);
        }
        for record in changes(apply, resources) {
            append(chain, &mut seq, record).await;
            since += 1;
        }
    }
}

async fn append(chain: &Chain, seq: &mut Seq, record: Record) {
    *seq += 1;
    let entry = Entry { seq: *seq, at: Timestamp::now(), actor: "ada on build-7".to_owned(), record };
    chain.append(&entry).await.unwrap_or_else(|error| panic!("record {seq}: {error:?}"));
}

/// A run that makes one thing what it is to be. Ten of them in turn, so that all histories end alike.
fn changes(apply: usize, resources: usize) -> [Record; 4] {
    let run = format!("run-{apply}");
    let adopted = adopted(apply % resources.min(10));
    let intent = Intent {
        address: adopted.address.clone(),
        verb: Verb::Update,
        id: Some(adopted.id),
        spec: Some(adopted.spec),
        refs: BTreeMap::new(),
        seen: Default::default(),
        deadline: Timestamp::now(),
        protect: false,
        zone: None,
    };
    let result = Done::Done { id: None, push_ids: Vec::new() };
    let outcome = Outcome { address: adopted.address, verb: Verb::Update, result, unsettled: None };
    let begin = Begin {
        run: run.clone(),
        plan: Digest::of(run.as_bytes()),
        app: String::new(),
        tool: "0.1.0".to_owned(),
        changes: BTreeMap::from([("update".to_owned(), 1)]),
        lease: None,
        home: None,
        checkout: None,
        safeguards: None,
        reverts: None,
    };
    [
        Record::Begin(begin),
        Record::Intents(vec![intent]),
        Record::Outcomes(vec![outcome]),
        Record::End { run, ended: Ended::Done },
    ]
}

fn adopted(number: usize) -> Adopted {
    let name = format!("segment-{number:05}");
    let tags: Vec<Value> = (0..6).map(|place| json!({ "tag": format!("tag-{number}-{place}") })).collect();
    Adopted {
        address: Address::new("segments", &name),
        id: format!("00000000-0000-0000-0000-{number:012}"),
        spec: json!({ "display_name": name, "criteria": { "or": tags } }).into(),
        refs: BTreeMap::new(),
        stamp: None,
        protect: false,
        past: false,
        push_ids: Vec::new(),
        zone: None,
        pruned: false,
    }
}
