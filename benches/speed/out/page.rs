//! The results as a page that people read.

use std::fmt::Write;

use super::{About, Found};
use crate::project::Layout;
use crate::rounds::{Measured, Work};
use crate::table::{Verdict, grouped, missed, seconds};

pub fn markdown(found: &Found) -> String {
    let Found { about, options, measured, requests, rows } = found;
    let About { cores, processor, date, commit, peers, minutes } = about;
    let mut out = format!(
        "# How fast it is\n\n`cargo bench --bench speed` wrote this page; CONTRIBUTING.md says how to run it.\n\n\
         {cores} cores, {processor} · {date} · commit {commit} · {} rounds in {minutes:.0} minutes · {peers}\n\n",
        options.rounds
    );
    let targets = rows.iter().filter(|row| row.verdict() != Verdict::Noted).count();
    let lost = missed(rows);
    let _ = match lost.len() {
        0 => writeln!(out, "All {targets} targets are met, or missed by less than their spread."),
        count => writeln!(out, "{count} of {targets} targets are missed."),
    };
    out.push_str("\n| work | measured | target | | made of |\n|---|---:|---:|---|---|\n");
    for row in *rows {
        let word = match row.verdict() {
            Verdict::Missed => "**missed**",
            Verdict::Noted => "",
            verdict => verdict.word(),
        };
        let _ = writeln!(out, "| {} | {} | {} | {word} | {} |", row.work, row.measured(), row.wanted(), row.how);
    }
    out.push_str(
        "\nEach figure is the median of the rounds, with the distance between the first and the third quarter. A ratio is of two \
         times of the same round. *floor*, *wire* and *events* are small programs that do the unavoidable work alone; the \
         *script* is what a team would write by hand. `benches/speed` says what each of them does.\n\n",
    );
    out.push_str("## Time by size\n\n![Seconds by the number of resources, both in powers of ten](results.svg)\n\n");
    times(&mut out, measured, &options.sizes);
    out.push_str("\n## Requests of a plan without changes\n\n| request | made | expected |\n|---|---:|---:|\n");
    let shapes: std::collections::BTreeSet<&String> = requests.made.keys().chain(requests.expected.keys()).collect();
    for shape in shapes {
        let count = |of: &std::collections::BTreeMap<String, usize>| of.get(shape).copied().unwrap_or_default();
        let _ = writeln!(out, "| `{shape}` | {} | {} |", count(&requests.made), count(&requests.expected));
    }
    out
}

/// The medians of what was measured at every size.
fn times(out: &mut String, measured: &Measured, sizes: &[usize]) {
    let columns = [Work::Floor, Work::Plan, Work::Events, Work::Validate];
    out.push_str("| resources | files |");
    for work in columns {
        let _ = write!(out, " {} |", work.words());
    }
    out.push_str(" script, plan | octoDNS |\n|---:|---|---:|---:|---:|---:|---:|---:|\n");
    for size in sizes {
        for layout in Layout::ALL {
            let _ = write!(out, "| {} | {} |", grouped(*size as f64), layout.key());
            for work in columns.into_iter().chain([Work::ScriptPlan, Work::OctoDns]) {
                let time = measured.sample(work, *size, layout).map(|times| seconds(times.median()));
                let _ = write!(out, " {} |", time.unwrap_or_default());
            }
            out.push('\n');
        }
    }
}
