//! One of several targets has an unusable ledger, which does not affect the others.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{Ran, says, signal};

use super::{MANIFEST, MATRIX, REPORTS, World, checked};

/// Locations of unusable ledgers, with their error messages.
const PLACES: [(&str, &str); 3] = [
    ("postgres://keeper@127.0.0.1:1/x/y", "the ledger of `shop-de` cannot be read"),
    ("git:nowhere.git", "the ledger of `shop-de` cannot be read"),
    ("file:taken/ledger", "taken/ledger does"),
];

fn settle(world: &World, place: &str) {
    world.settle(MATRIX, &format!("[groups.germany]\ntargets = [\"*-de\"]\n[targets.shop-de]\nledger = \"{place}\"\n"));
}

/// The other two are applied, and the broken one has a line with the reason.
fn others_go_on(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 6, "{ran}");
    says(
        &ran.stdout,
        &[
            "  cafe-de    applied: 2 created\n",
            "  shop-de    failed: ",
            why,
            "  shop-us    applied: 2 created\n",
            "3 targets: 1 failed, 2 applied.",
        ],
    );
}

const APPLY: [&str; 4] = ["apply", "--target", "*-de,shop-us", "--yes"];
const GO_ON: [&str; 6] = ["apply", "--target", "*-de,shop-us", "--yes", "--on-error", "continue"];

#[test]
fn a_ledger_that_cannot_be_reached_is_told_of_its_target_and_the_others_go_on() {
    for (place, why) in PLACES {
        let world = World::new(MANIFEST, &["cafe-de", "shop-de", "shop-us"]);
        world.project.folder.write("taken", "");
        settle(&world, place);
        let ran = world.run(&APPLY);
        assert_eq!(ran.code, 1, "{place}: {ran}");
        says(
            &ran.stdout,
            &[
                "  cafe-de    not begun\n",
                "  shop-de    failed: ",
                why,
                "  shop-us    not begun\n",
                "3 targets: 1 failed, 2 not begun.",
            ],
        );
        // There is no other error.
        assert!(ran.stderr.matches("error: ").count() == 1 && ran.stderr.contains("error: shop-de: "), "{ran}");
        others_go_on(&world.run(&GO_ON), why);
        assert_eq!((world.segments("cafe-de").len(), world.segments("shop-de").len()), (2, 0), "{place}");
    }
}

#[test]
fn a_damaged_record_is_told_of_its_target_and_the_others_go_on() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de", "shop-us"]);
    world.good(&["apply", "--target", "shop-de", "--yes"]);
    let record = world.project.folder.path().join(".pushplan/ledger/shop-de/00000002.json");
    fs::write(&record, fs::read_to_string(&record).expect("a record").replace("\"vip\"", "\"vap\"")).expect("a file");
    others_go_on(&world.run(&GO_ON), "damaged");
}

#[test]
fn a_lease_that_somebody_holds_is_told_of_its_target_and_the_others_go_on() {
    let slow = "[[fault]]\nkind = \"delay\"\nms = 60000\nmethod = \"POST\"\ntimes = 1\n";
    let world = World::faulty(MANIFEST, &["cafe-de", "shop-de", "shop-us"], slow);
    let mut holder = world.start(&["apply", "--target", "shop-de", "--yes", "--concurrency", "1"]);
    let began = Instant::now();
    while !world.project.folder.path().join(".pushplan/ledger/shop-de/00000002.json").exists() {
        assert!(began.elapsed() < Duration::from_secs(120), "an intent is written");
        sleep(Duration::from_millis(50));
    }
    let ran = world.run(&[&GO_ON[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, 6, "{ran}");
    let told = checked(&ran, REPORTS);
    let of = |number: usize| told["targets"][number]["fate"].as_str().expect("a word");
    assert_eq!([of(0), of(1), of(2)], ["applied", "failed", "applied"], "{ran}");
    says(told["targets"][1]["error"]["message"].as_str().expect("words"), &["is applying to `shop-de` since "]);
    // The running apply has its own lines. `reconcile`, which runs again by itself, names no option that it does not
    // have.
    let ran = world.run(&GO_ON);
    let line = |start: &str| {
        ran.stdout.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{start}: {ran}"))
    };
    assert!(line("lease  ").contains(", until 20") && line("= help: ").contains("--wait 10m"), "{ran}");
    assert!(line("or, if that run is dead: ").contains("pushplan unlock"), "{ran}");
    let ran = world.run(&["reconcile", "--once", "--target", "*-de"]);
    let told = ran.stdout + &ran.stderr;
    let why = told.lines().find(|line| line.contains("is applying to `shop-de`")).unwrap_or_else(|| panic!("{told}"));
    says(why, &["; lease  ", "(if that run is dead: pushplan unlock --lease "]);
    assert!(!why.contains("--wait") && !why.contains("   "), "{why}");
    signal(&holder, "-KILL");
    let _ = holder.wait();
}
