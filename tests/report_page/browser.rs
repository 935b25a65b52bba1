//! The pages in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What it takes to open pages; `None` where it is missing and nobody asks for it.
fn tools() -> Option<(PathBuf, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-page");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tools = entries.filter(|path| path.join("node_modules").is_dir()).max();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let chromium = std::env::split_paths(&paths).map(|path| path.join("chromium")).find(|path| path.is_file());
    let found = tools.zip(chromium);
    let required = std::env::var_os("PUSHPLAN_REQUIRE_BROWSER").is_some();
    assert!(found.is_some() || !required, "run tests/report_page/install-chromium and tests/report_page/fetch");
    found
}

#[test]
fn every_page_is_shown_well_in_a_browser() {
    let Some((tools, chromium)) = tools() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-page/pages");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut files = Vec::new();
    for (name, page) in crate::reports::all() {
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, page).expect("a page");
        files.push(file);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report_page/check.mjs");
    let ran = Command::new("node").arg(script).arg(tools).arg(chromium).args(&files).output().expect("node");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    let mut wrong = Vec::new();
    let mut shown = 0;
    for line in told.lines() {
        let one: Value = serde_json::from_str(line).expect("JSON");
        shown += 1;
        let is_empty = |key: &str| one[key].as_array().is_some_and(Vec::is_empty);
        let fits = one["scroll"].as_u64().zip(one["inner"].as_u64()).is_some_and(|(scroll, inner)| scroll <= inner);
        let quiet = ["said", "asked", "serious", "broken"].into_iter().all(is_empty);
        if !(fits && quiet && one["scripts"] == 0 && one["dark"] == (one["colorScheme"] == "dark")) {
            wrong.push(format!("{one:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(shown, 4 * files.len(), "each page narrow and wide, light and dark");
}
