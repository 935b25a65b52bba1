//! `kill -9` two hundred times while clients write: acknowledged writes are there, nothing is incomplete, and no push
//! is sent twice.

mod ledger;
mod process;

use std::time::Duration;

use pushplan_testing::Dice;

use ledger::Ledger;
use process::{Process, check_file};

const KILLS: usize = 200;
const CLIENTS: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_acknowledged_is_lost_or_done_twice() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut dice = Dice::new(7);
    let mut process = Process::start(&data).await;
    let client = reqwest::Client::new();
    let mut ledgers = Vec::new();
    for number in 0..CLIENTS {
        ledgers.push(Ledger::new(number, &process.talker(&client)).await);
    }
    let mut acknowledged = 0;
    for kill in 1..=KILLS {
        let mut work = tokio::task::JoinSet::new();
        for mut ledger in ledgers.drain(..) {
            let talker = process.talker(&client);
            work.spawn(async move {
                let done = ledger.write_until_broken(&talker).await;
                (done, ledger)
            });
        }
        tokio::time::sleep(Duration::from_millis(5 + dice.below(60) as u64)).await;
        process.kill();
        for (done, ledger) in work.join_all().await {
            acknowledged += done;
            ledgers.push(ledger);
        }
        check_file(&data, kill % 20 == 0);
        if kill % 10 == 0 {
            // It can also die while it starts.
            Process::start_and_kill(&data, Duration::from_millis(dice.below(30) as u64));
            check_file(&data, false);
        }
        process = Process::start(&data).await;
        let talker = process.talker(&client);
        Ledger::check_all(&mut ledgers, &talker).await;
        if kill % 40 == 0 {
            Ledger::check_sent(&ledgers, &talker, false).await;
        }
    }
    assert!(acknowledged > 2 * KILLS, "{acknowledged} writes were acknowledged: too few to say anything");
    // Every scheduled push was sent by now.
    tokio::time::sleep(Duration::from_secs(4)).await;
    Ledger::check_sent(&ledgers, &process.talker(&client), true).await;
    process.kill();
    check_file(&data, true);
}
