//! How fast it is, against what cannot be faster: `cargo bench --bench speed`.
//!
//! Projects of 100 to 100,000 resources of all kinds, in one file and in as many files, are planned, validated and applied by
//! the real binary against the built-in service. Beside it run small programs that do the unavoidable work alone, which this
//! benchmark holds itself, and others that people use. All are measured in turns, at least five times, and every answer is
//! checked. What is compared with targets is the ratio of two times of one round, so that it means the same on any machine.
//! A target that is missed by more than its spread fails the run. `-- --help` says how to measure less.

mod applying;
mod floor;
mod options;
mod out;
mod peers;
mod program;
mod project;
#[path = "../service/report.rs"]
#[expect(dead_code, reason = "the table here is another one")]
mod report;
mod requests;
mod rounds;
mod service;
mod shown;
mod simulate;
mod sites;
mod startup;
mod table;
mod targets;
mod wire;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use applying::Applying;
use options::{Options, USAGE};
use out::{About, Found};
use peers::Peers;
use requests::Requests;
use rounds::{Measured, Prepared};
use service::Service;

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").expect("standard output can be written");
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number");
    match words[..] {
        ["floor", folder] => say(&floor::run(folder)),
        ["events", folder] => say(&floor::events(folder).to_string()),
        ["wire", requests] => say(&wire::run(requests).to_string()),
        ["touch", most] => say(&requests::touch(number(most) as usize).to_string()),
        ["simulate", from, seeds] => say(&simulate::run(number(from), number(seeds)).to_string()),
        ["--serve", resources, ..] => serve(number(resources) as usize),
        ["--serve-empty", resources, ..] => serve_empty(number(resources) as usize),
        _ if words.contains(&"--help") => say(USAGE),
        _ => match Options::read(arguments) {
            Ok(options) => return measure(&options),
            Err(why) => {
                say(&format!("{why}\n\n{USAGE}"));
                return ExitCode::from(64);
            }
        },
    }
    ExitCode::SUCCESS
}

/// Keeps a project and a service that has all of it, for a profiler, until the standard input ends.
fn serve(resources: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&[resources]);
    for site in sites::prepare(folder.path(), &service, &[resources]) {
        say(&program::to_paste(&site.plan()));
    }
    until_input_ends(service);
}

/// Keeps a project and a service that has nothing of it, with the commands that make all of it: either, once.
fn serve_empty(resources: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(&[resources]);
    for command in Applying::write(folder.path(), resources).commands(&service.origin()) {
        say(&program::to_paste(&command));
    }
    until_input_ends(service);
}

fn until_input_ends(service: Service) {
    let ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    drop(ended);
    service.stop();
}

fn measure(options: &Options) -> ExitCode {
    let begin = Instant::now();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed");
    std::fs::create_dir_all(&target).expect("a folder");
    let peers = if options.peers { Peers::install(&target) } else { Err("no peers were asked for".to_owned()) };
    let about_peers = match &peers {
        Ok(peers) => peers.versions.clone(),
        Err(why) => format!("without the script and octoDNS: {why}"),
    };
    let folder = tempfile::tempdir_in(&target).expect("a folder");
    let service = Service::start(&options.sizes);
    let sites = sites::prepare(folder.path(), &service, &options.sizes);
    let prepared = Prepared::new(folder.path(), options, &sites, peers.ok());
    let passed = || begin.elapsed().as_secs_f64() / 60.0;
    say(&format!("{} projects are ready after {:.1} minutes; {about_peers}", sites.len(), passed()));
    let mut measured = Measured::default();
    for round in 0..options.rounds {
        prepared.round(round, &mut measured);
        say(&format!("round {} of {} has ended after {:.1} minutes", round + 1, options.rounds, passed()));
    }
    let middle = sites.iter().find(|site| site.resources == options.middle()).expect("a project");
    let requests = Requests::count(&service, middle);
    let rows = targets::rows(options, &measured, &requests);
    say(&format!("\n{}", table::text(&rows)));
    let place: PathBuf =
        // What was not built for speed says nothing of it.
        if options.whole && !cfg!(debug_assertions) { Path::new(env!("CARGO_MANIFEST_DIR")).join("benches") } else { target.clone() };
    let about = About::new(about_peers, passed());
    out::write(&place, &Found { about, options, measured: &measured, requests: &requests, rows: &rows });
    say(&format!("RESULTS.md, results.json and results.svg are in {}", place.display()));
    let missed = table::missed(&rows);
    if missed.is_empty() || !options.judged {
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = missed.iter().map(|row| row.work.as_str()).collect();
    say(&format!("missed: {}", names.join("; ")));
    ExitCode::FAILURE
}
