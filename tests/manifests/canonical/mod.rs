//! Every spelling of a project has the same canonical specs; and every damaged project is read without a panic.

mod equal;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use pushplan::check::{self, Subject};
use pushplan::codes::Severity;
use pushplan::finding::Findings;
use pushplan::manifest::{self, Input, InputSource, Manifests, Project};
use pushplan::source::Sources;
use serde_json::Value;

use crate::generated::meaning::{Meant, project};
use crate::generated::writing::{Choices, plainly, somehow};

fn settings(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn read(texts: Vec<Vec<u8>>, project: &str) -> Manifests {
    let inputs = texts.into_iter().enumerate();
    let inputs = inputs.map(|(n, text)| Input { name: format!("{n}.yaml"), from: InputSource::Bytes(text) }).collect();
    let (mut sources, mut findings) = (Sources::default(), Findings::default());
    let project = Project::read(Path::new("/nowhere"), project.to_owned(), &mut sources, &mut findings);
    manifest::read(project, inputs, sources, findings)
}

/// The canonical spec of every resource, by address. None may have findings.
fn canonical(texts: &[String]) -> BTreeMap<String, Value> {
    let manifests = read(texts.iter().map(|text| text.clone().into_bytes()).collect(), "[targets.local]\n");
    let (desired, found) = manifests.resolve(Some("local"));
    let mut wrong = manifests.findings.iter().chain(&found).filter(|finding| finding.severity == Severity::Error);
    if let Some(finding) = wrong.next() {
        panic!("{} {finding:#?}\n{}", manifests.sources.place(finding.at), texts.join("\n=====\n"));
    }
    desired.resources.iter().map(|(address, declared)| (address.to_string(), declared.spec.canonical())).collect()
}

proptest! {
    #![proptest_config(settings(400))]

    #[test]
    fn every_way_of_writing_a_project_gives_the_same_specs(project in project(), seed: u64) {
        let one = vec![plainly(&project)];
        let other = somehow(&project, &mut Choices::new(seed));
        let specs = canonical(&one);
        prop_assert_eq!(specs.len(), project.len());
        let again = canonical(&other);
        for (address, spec) in &specs {
            prop_assert_eq!(Some(spec), again.get(address), "{}\n{}", one[0], other.join("\n=====\n"));
        }
        prop_assert_eq!(specs.len(), again.len());
        let aliased = somehow(&project, &mut Choices::with_anchors(seed));
        prop_assert_eq!(&specs, &canonical(&aliased), "{}", aliased.join("\n=====\n"));
    }
}

/// Uses everything that was read.
fn use_fully(manifests: &Manifests) {
    let targets = manifests.project.target_names().into_iter().map(Some).chain([None]);
    let now: Timestamp = "2026-11-15T12:00Z".parse().expect("a time");
    for name in targets {
        let (desired, mut found) = manifests.resolve(name);
        let target = name.and_then(|name| manifests.project.target(name));
        found.extend(check::check(&Subject { desired: &desired, target, now }));
        for declared in desired.resources.values() {
            declared.spec.canonical();
        }
        let general = manifests.findings.iter().cloned();
        let verdict = check::judge(general, vec![(desired, found)], &manifests.project, &manifests.sources);
        for finding in &verdict.findings {
            let spans = finding.related.iter().map(|(at, _)| *at).chain(finding.fix.iter().map(|fix| fix.at));
            for span in spans.chain([finding.at]) {
                assert!(!span.file().is_some_and(|_| manifests.sources.place(span).is_empty()));
                assert!(
                    span.file().is_none_or(|file| {
                        let text = &manifests.sources.get(file).text;
                        text.get(span.range()).is_some()
                    }),
                    "{finding:?} has no place between characters"
                );
            }
        }
    }
}

const PROJECT_FILE: &str = "\
[project]
default_target = \"local\"
[checks]
SC101 = \"off\"
[targets.local]
quiet_hours = { from = \"21:00\", to = \"08:00\" }
[targets.local.variables]
sale = \"20 %\"
[targets.staging]
";

/// A text with some of its pieces removed, doubled, moved or replaced by special characters.
fn damaged(text: &str, choices: &mut Choices) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b":",
        b"- ",
        b"\n",
        b"  ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"'",
        b"&a ",
        b"*a",
        b"!t ",
        b"{{",
        b"}}",
        b"${",
        b"${var.x",
        b"|",
        b">",
        b"#",
        b"%",
        b"---\n",
        b"...\n",
        b"? ",
        b",",
        b"\t",
        b"\r",
        b"\0",
        b"\xff",
        b"\xe2\x82",
        b"\xef\xbb\xbf",
        b"null",
        b"true",
        b"-1",
        b"1e999",
        b"<<: *a\n",
        b"lifecycle: {allow: [x]}",
        b"defaults:\n",
        b"overlays:\n  local:\n",
        b"body: {file: ../x}",
        b"99999999999999999999",
        b"\xf0\x9f\x98\x80",
        b"9999-99-99T99:99",
        b"x-",
        b"AND: []",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=choices.below(6) {
        let from = choices.below(bytes.len() + 1);
        let to = (from + choices.below(40)).min(bytes.len());
        match choices.below(5) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let piece = bytes[from..to].to_vec();
                let at = choices.below(bytes.len() + 1);
                bytes.splice(at..at, piece);
            }
            2 if from < bytes.len() => bytes[from] = choices.below(256) as u8,
            _ => drop(bytes.splice(from..from, PIECES[choices.below(PIECES.len())].iter().copied())),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(settings(2_500))]

    #[test]
    fn damaged_manifests_are_read_without_a_panic(seed: u64, project in prop::sample::select(&*SAMPLES)) {
        let choices = &mut Choices::new(seed);
        let texts = somehow(&project, choices).iter().map(|text| damaged(text, choices)).collect();
        use_fully(&read(texts, PROJECT_FILE));
    }

    #[test]
    fn damaged_project_files_are_read_without_a_panic(seed: u64) {
        let text = String::from_utf8_lossy(&damaged(PROJECT_FILE, &mut Choices::new(seed))).into_owned();
        use_fully(&read(vec![b"segments: {a: {criteria: all}}\n".to_vec()], &text));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use_fully(&read(vec![bytes], PROJECT_FILE));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "[-a-c:{}\\[\\],\"'&*!|>#%?\\t\\n 0.~é]{0,80}") {
        use_fully(&read(vec![text.into_bytes()], PROJECT_FILE));
    }
}

/// Projects to damage. Creating one takes longer than reading it, so there are few.
static SAMPLES: std::sync::LazyLock<Vec<Vec<Meant>>> = std::sync::LazyLock::new(|| {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    (0..40).map(|_| project().new_tree(&mut runner).expect("a project").current()).collect()
});
