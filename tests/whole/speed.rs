//! The parts of `benches/speed` that decide what its figures mean.

#[path = "../../benches/speed/options.rs"]
#[expect(dead_code, reason = "the benchmark alone says how it is used")]
mod options;
#[path = "../../benches/speed/project.rs"]
#[expect(dead_code, reason = "the benchmark alone has words for layouts")]
mod project;
#[path = "../../benches/service/report.rs"]
#[expect(dead_code, reason = "the benchmark has a table of its own")]
mod report;
#[path = "../../benches/speed/floor/split.rs"]
mod split;
#[path = "../../benches/speed/table.rs"]
#[expect(dead_code, reason = "the benchmark alone prints it")]
mod table;

use std::collections::BTreeSet;
use std::path::Path;

use pushplan::address::Address;
use pushplan::check::{Subject, check};
use pushplan::compare::{Unit, units};
use pushplan::finding::Findings;
use pushplan::kinds::KINDS;
use pushplan::manifest::{self, Input, InputSource, Project};
use pushplan::source::Sources;

use options::Options;
use project::{Layout, Wording, resource};
use report::Sample;
use table::{Row, Target, Verdict};

#[test]
fn a_project_has_all_kinds_with_about_twenty_lines_each() {
    let all: Vec<_> = (0..project::KINDS).map(|n| resource(n, false)).collect();
    let kinds: BTreeSet<&str> = all.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, KINDS.iter().map(|kind| kind.key).collect());
    for (kind, text) in all {
        let lines = text.lines().count();
        assert!((16..=24).contains(&lines), "{kind} has {lines} lines:\n{text}");
    }
}

/// Findings would be shown, and a resource of several parts be several requests: both cost time that other projects do not.
#[test]
fn a_project_has_no_findings_and_is_one_thing_for_each_resource() {
    let sound = |resources: &mut dyn Iterator<Item = (&'static str, String)>| {
        let input =
            Input { name: "all.yaml".into(), from: InputSource::Bytes(project::manifest(resources).into_bytes()) };
        let read = manifest::read(Project::bare(Path::new(".")), vec![input], Sources::default(), Findings::default());
        let (desired, found) = read.resolve(None);
        assert!(read.findings.is_empty() && found.is_empty());
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let findings = check(&Subject { desired: &desired, target: None, now });
        assert!(findings.is_empty(), "{}", findings[0].message);
        units(&desired, &read.sources)
    };
    let before = sound(&mut (0..450).map(|n| resource(n, false)));
    assert_eq!(before.len(), 450);
    // What an edit leaves is as sound, and something of it is new wherever it is still there.
    let after = sound(&mut (0..450).filter(|n| !project::goes(*n)).map(project::edited));
    let is_new = |(address, unit): &(&Address, &Unit)| before.get(*address).is_none_or(|old| old.spec != unit.spec);
    let edited: BTreeSet<Address> = after.iter().filter(is_new).map(|(address, _)| address.resource()).collect();
    let all: BTreeSet<Address> = after.keys().map(Address::resource).collect();
    assert!((400..450).contains(&all.len()) && edited == all);
}

#[test]
fn both_layouts_have_the_same_resources_and_are_cut_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let cut = Layout::ALL.map(|layout| {
        let place = folder.path().join(layout.key());
        let bytes = project::write(&place, "[targets.local]\n", Wording { resources: 5_000, layout, before: false });
        let texts = split::read(&place.join("messages"));
        assert_eq!(bytes, texts.iter().map(|text| text.len() as u64).sum::<u64>());
        let pieces: Vec<_> = texts.iter().flat_map(|text| split::pieces(text)).collect();
        // What is cut apart is a mapping again, and nothing is lost.
        let is_key = |line: &&str| line.starts_with("  ") && !line[2..].starts_with(' ');
        assert!(pieces.iter().all(|piece| piece.text.lines().next().is_some_and(|line| is_key(&line))));
        let keys = pieces.iter().flat_map(|piece| piece.text.lines().filter(is_key).map(|line| (piece.kind, line)));
        let keys: BTreeSet<(String, String)> = keys.map(|(kind, key)| (kind.to_owned(), key.to_owned())).collect();
        (pieces.len(), keys)
    });
    let [(few, one), (many, other)] = cut;
    assert!(few > project::KINDS && many == 5_000, "{few} and {many} pieces");
    assert_eq!(one.len(), 5_000);
    assert!(one == other);
}

#[test]
fn a_target_is_missed_only_by_more_than_the_spread() {
    let verdict = |values: [f64; 5], target| Row::new("work", Sample::new(values.into()), target, "").verdict();
    let values = [1.0, 1.4, 1.6, 1.8, 9.0];
    assert_eq!(verdict(values, Target::AtMost(1.6)), Verdict::Met);
    assert_eq!(verdict(values, Target::AtMost(1.3)), Verdict::Near);
    assert_eq!(verdict(values, Target::AtMost(1.1)), Verdict::Missed);
    assert_eq!(verdict(values, Target::AtLeast(1.6)), Verdict::Met);
    assert_eq!(verdict(values, Target::AtLeast(1.9)), Verdict::Near);
    assert_eq!(verdict(values, Target::AtLeast(2.1)), Verdict::Missed);
    assert_eq!(verdict([42.0; 5], Target::Exactly(42.0)), Verdict::Met);
    assert_eq!(verdict([43.0; 5], Target::Exactly(42.0)), Verdict::Missed);
    assert_eq!(verdict(values, Target::None), Verdict::Noted);
}

#[test]
fn only_a_run_without_options_is_a_whole_one() {
    let read = |line: &str| Options::read(line.split_whitespace().map(str::to_owned));
    let whole = read("--bench").unwrap();
    assert!(whole.whole && whole.rounds >= 5 && whole.peers);
    assert_eq!((whole.middle(), whole.largest()), (10_000, 100_000));
    for part in ["--quick", "--rounds 9", "--sizes 1000,100", "--no-peers"] {
        assert!(!read(part).unwrap().whole, "{part}");
    }
    assert_eq!(read("--sizes 1_000,100").unwrap().sizes, [100, 1_000]);
    for wrong in ["--sizes", "--sizes 100,many", "--rounds 0", "--sizes 3", "--fast"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
