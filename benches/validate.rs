//! How long `pushplan validate` takes, and how that grows: `cargo bench --bench validate`.
//!
//! Projects of 10,000 and 100,000 resources of all kinds, in one file and in as many files, are validated by the real
//! binary. Ten times the resources may take at most twelve times as long; the run fails otherwise. Beside it stands the
//! time that the YAML parser alone needs for the same bytes on as many threads.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use granit_parser::Parser;
use rayon::prelude::*;

const SMALL: usize = 10_000;
const LARGE: usize = 100_000;
/// How often each project is validated, in turn with the others, so that a busy moment of the machine hits all alike.
const ROUNDS: usize = 7;
/// How much longer ten times the resources may take.
const GROWTH: f64 = 12.0;

/// A project on the disk, and its manifests once more in memory for the parser alone.
struct Layout {
    name: &'static str,
    folder: tempfile::TempDir,
    texts: Vec<String>,
    validated: Vec<Duration>,
    parsed: Vec<Duration>,
}

impl Layout {
    fn new(name: &'static str, texts: Vec<String>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("pushplan.toml"), "[targets.local]\n").expect("a project file");
        for (number, text) in texts.iter().enumerate() {
            // Folders of a hundred files, as people keep them.
            let place = folder.path().join(format!("messages/{:04}", number / 100));
            fs::create_dir_all(&place).expect("a folder");
            fs::write(place.join(format!("{number:06}.yaml")), text).expect("a manifest");
        }
        Self { name, folder, texts, validated: Vec::new(), parsed: Vec::new() }
    }

    fn round(&mut self) {
        self.validated.push(validate(self.folder.path()));
        let begin = Instant::now();
        let events: usize = self.texts.par_iter().map(|text| events(text)).sum();
        self.parsed.push(begin.elapsed());
        assert!(events > self.texts.len());
    }

    fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// Runs the binary, which must find nothing: a project that is refused early would be quick for the wrong reason.
fn validate(folder: &Path) -> Duration {
    let begin = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_pushplan"))
        .args(["validate", "--now", "2026-01-01T00:00Z"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let took = begin.elapsed();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout).chars().take(2_000).collect::<String>()
    );
    took
}

fn events(text: &str) -> usize {
    let mut options = granit_parser::options! { strict_indentation: true };
    options.set_emit_comments(false);
    Parser::new_from_str_with_options(text, options).inspect(|event| assert!(event.is_ok())).count()
}

/// One resource of about 20 lines. The kinds take turns.
fn resource(n: usize) -> (&'static str, String) {
    let mut out = String::new();
    let kind = match n % 9 {
        0 => {
            let _ = write!(
                out,
                "  group-{n}:\n    description: What customers of region {n} like\n    tags:\n      - new-{n}\n      - buyer-{n}\n\
                 \x20     - lapsed-{n}\n      - vip-{n}\n    members:\n      named_users:\n        qa-team-{n}:\n          - buyer-{n}\n\
                 \x20         - vip-{n}\n        press-{n}:\n          - new-{n}\n      ios_channels:\n\
                 \x20       9c36e8c7-5a73-47c0-9716-{n:012}:\n          - lapsed-{n}\n"
            );
            "tag_groups"
        }
        1 => {
            let _ = write!(
                out,
                "  segment-{n}:\n    display_name: Lapsed buyers of region {n}\n    criteria:\n      and:\n\
                 \x20       - {{tag: buyer-{m}, group: group-{m}}}\n        - {{tag: lapsed-{m}, group: group-{m}}}\n\
                 \x20       - country: [US, CA]\n        - or:\n            - tag: newsletter-{n}\n            - named_user: user-{n}\n\
                 \x20           - opt_in: true\n        - not:\n            or:\n              - {{tag: vip-{m}, group: group-{m}}}\n\
                 \x20             - language: [en, fr, es]\n        - timezone: America/New_York\n",
                m = n - 1
            );
            "segments"
        }
        2 => {
            let _ = write!(
                out,
                "  template-{n}:\n    description: Brings people of region {n} back\n    variables:\n      - key: FIRST_NAME\n\
                 \x20       name: First name\n        default_value: there\n      - key: OFFER\n        default_value: \"10 %\"\n\
                 \x20   push:\n      notification:\n        alert: \"Hi {{{{FIRST_NAME}}}}, here is {{{{OFFER}}}}\"\n        actions:\n\
                 \x20         open:\n            type: url\n            content: https://example.com/offers/{n}\n"
            );
            "templates"
        }
        3 => {
            let _ = write!(
                out,
                "  pipeline-{n}:\n    enabled: true\n    immediate_trigger:\n      tag_added:\n        tag: new-{m}\n        group: group-{m}\n\
                 \x20   outcome:\n      delay: 1h30m\n      push:\n        audience: triggered\n        device_types: [ios, android]\n\
                 \x20       notification:\n          alert: Still interested in {n}?\n          actions:\n            add_tag: reminded-{n}\n\
                 \x20           share: Look at this\n",
                m = n - 3
            );
            "pipelines"
        }
        4 => {
            let _ = write!(
                out,
                "  push-{n}:\n    name: Sale of region {n}\n    schedule:\n      scheduled_time: 2026-11-27T09:00\n      time_zone: America/New_York\n\
                 \x20   push:\n      audience:\n        segment: segment-{m}\n      device_types:\n        - ios\n        - android\n\
                 \x20     notification:\n        alert: The sale begins now\n        actions:\n          open:\n            type: url\n\
                 \x20           content: https://example.com/sale/{n}\n",
                m = n - 3
            );
            "scheduled_pushes"
        }
        5 => {
            let _ = write!(
                out,
                "  experiment-{n}:\n    description: Which words work in region {n}\n    audience: {{tag: buyer-{m}, group: group-{m}}}\n\
                 \x20   device_types: [ios, android]\n    variants:\n      - push:\n          notification:\n            alert: Come back\n\
                 \x20       schedule:\n          scheduled_time: 2026-11-27T09:00\n      - push:\n          notification:\n\
                 \x20           alert: We miss you\n        schedule:\n          scheduled_time: 2026-11-27T09:00\n          time_zone: Europe/Paris\n",
                m = n - 5
            );
            "experiments"
        }
        6 => {
            let _ = writeln!(out, "  user-{n}:\n    channels:");
            for (device, count) in [("ios", 5_usize), ("android", 4)] {
                for channel in 0..count {
                    let _ = write!(
                        out,
                        "      - channel_id: {channel}c36e8c7-5a73-47c0-9716-{n:012}\n        device_type: {device}\n"
                    );
                }
            }
            "named_users"
        }
        7 => {
            let _ = write!(
                out,
                "  channel-{n}:\n    opt_in: true\n    # Kept by the support team.\n    address: \"+1 555 {n:07}\"\n    tags:\n      - support-{n}\n\
                 \x20     - sms\n      - region-{n}\n    timezone: Europe/Paris\n    locale_country: FR\n    locale_language: fr\n    open:\n\
                 \x20     open_platform_name: sms\n      identifiers:\n        carrier: \"carrier-{n}\"\n        number: \"+1 555 {n:07}\"\n\
                 \x20       region: \"{n}\"\n"
            );
            "open_channels"
        }
        _ => {
            let _ = writeln!(out, "  tag-{n}:\n    tag: legacy-{n}\n    ios_channels:");
            for channel in 0..8 {
                let _ = writeln!(out, "      - {channel}d36e8c7-5a73-47c0-9716-{n:012}");
            }
            let _ = writeln!(out, "    android_channels:");
            for channel in 0..8 {
                let _ = writeln!(out, "      - {channel}e36e8c7-5a73-47c0-9716-{n:012}");
            }
            "tags"
        }
    };
    (kind, out)
}

/// All resources in one manifest, kind by kind.
fn one_file(count: usize) -> String {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for n in 0..count {
        let (kind, text) = resource(n);
        match sections.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, section)) => section.push_str(&text),
            None => sections.push((kind, format!("{kind}:\n{text}"))),
        }
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

fn many_files(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| {
            let (kind, text) = resource(n);
            format!("{kind}:\n{text}")
        })
        .collect()
}

fn median(of: &[Duration]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort();
    sorted[sorted.len() / 2].as_secs_f64()
}

fn main() -> ExitCode {
    let mut layouts = [
        Layout::new("10,000 in one file", vec![one_file(SMALL)]),
        Layout::new("100,000 in one file", vec![one_file(LARGE)]),
        Layout::new("10,000 files", many_files(SMALL)),
        Layout::new("100,000 files", many_files(LARGE)),
    ];
    for _ in 0..ROUNDS {
        layouts.iter_mut().for_each(Layout::round);
    }
    println!("{:<22}{:>9}{:>12}{:>12}{:>9}", "median of 7", "MiB", "validate", "parser", "ratio");
    for layout in &layouts {
        let (took, alone) = (median(&layout.validated), median(&layout.parsed));
        let mib = layout.bytes() as f64 / f64::from(1 << 20);
        println!("{:<22}{mib:>9.1}{took:>10.3} s{alone:>10.3} s{:>9.2}", layout.name, took / alone);
    }
    let mut linear = true;
    for (name, small, large) in [("one file", 0, 1), ("as many files", 2, 3)] {
        let growth = median(&layouts[large].validated) / median(&layouts[small].validated);
        println!("t(100k)/t(10k), {name}: {growth:.1} (at most {GROWTH})");
        linear &= growth <= GROWTH;
    }
    if linear { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
