//! What this run of `cargo test` left out.

use std::io::Write;

/// Runs last, because cargo runs the tests of packages in the order of their names.
#[test]
fn tests_that_could_not_run_are_listed() {
    let lines = pushplan_testing::take_not_run();
    if !lines.is_empty() {
        // The harness captures the macros, and not the stream itself.
        let list = lines.join("\n  ");
        writeln!(std::io::stderr(), "\nNOT RUN, because something is missing:\n  {list}\n").expect("standard error");
    }
}
