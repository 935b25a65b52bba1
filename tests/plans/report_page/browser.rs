//! The pages in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use pushplan_testing::missing;
use serde_json::Value;

/// The programs that open pages; `None` if they are missing and not required.
fn tools() -> Option<(PathBuf, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-page");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tools = entries.filter(|path| path.join("node_modules").is_dir()).max();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let chromium = std::env::split_paths(&paths).map(|path| path.join("chromium")).find(|path| path.is_file());
    let found = tools.zip(chromium);
    if found.is_none() {
        let remedy = "run tests/plans/report_page/install-chromium and tests/plans/report_page/fetch";
        missing("a browser", remedy, "PUSHPLAN_REQUIRE_BROWSER");
    }
    found
}

/// The measurements of the driver, four for each page.
fn look_at(files: &[PathBuf]) -> Option<Vec<Value>> {
    let (tools, chromium) = tools()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans/report_page/check.mjs");
    let ran = Command::new("node").arg(script).arg(tools).arg(chromium).args(files).output().expect("node");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.len(), 4 * files.len(), "each page narrow and wide, light and dark");
    Some(told)
}

fn write(name: &str, page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-page/pages");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.html"));
    std::fs::write(&file, page).expect("a page");
    file
}

/// The problems of a page.
fn wrong(one: &Value) -> Vec<&'static str> {
    let has_any = |key: &str| one[key].as_array().is_none_or(|found| !found.is_empty());
    let mut found: Vec<&str> = ["said", "asked", "serious", "broken"].into_iter().filter(|key| has_any(key)).collect();
    let fits = one["scroll"].as_u64().zip(one["inner"].as_u64()).is_some_and(|(scroll, inner)| scroll <= inner);
    found.extend((!fits).then_some("scroll"));
    found.extend((one["scripts"] != 0).then_some("scripts"));
    found.extend((one["dark"] != (one["colorScheme"] == "dark")).then_some("dark"));
    found
}

#[test]
fn every_page_is_shown_well_in_a_browser() {
    let files: Vec<PathBuf> = super::reports::all().iter().map(|(name, page)| write(name, page)).collect();
    let told = look_at(&files).unwrap_or_default();
    let told = told.iter().filter(|one| !wrong(one).is_empty()).map(|one| format!("{:?}: {one:#}", wrong(one)));
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// The lowest position that is visible without scrolling, on a small phone and on a laptop.
const FOLD: f64 = 720.0;

/// The verdict and the first changed message are visible without scrolling, narrow and wide.
#[test]
fn the_verdict_and_the_first_message_are_above_the_fold() {
    let pages = ["told", "campaign", "graph", "huge"];
    let all = super::reports::all();
    let page = |name: &&str| {
        let (_, page) = all.iter().find(|(other, _)| *other == **name).expect("a page");
        write(&format!("fold-{name}"), page)
    };
    let files: Vec<PathBuf> = pages.iter().map(page).collect();
    for one in &look_at(&files).unwrap_or_default() {
        for part in ["verdict", "message"] {
            let bottom = one[part].as_f64().unwrap_or_else(|| panic!("no {part}: {one:#}"));
            assert!(bottom <= FOLD, "the {part} ends at {bottom} of {}: {one:#}", one["width"]);
        }
    }
}

/// Pages of the book: prose, wide blocks, wide tables and long words. Their links are checked with the book.
#[test]
fn pages_of_the_book_are_shown_well_in_a_browser() {
    const PAGES: [&str; 5] = [
        "index.html",
        "tutorial/first-project.html",
        "how-to/guards.html",
        "reference/commands-apply.html",
        "reference/kinds/notification-ios.html",
    ];
    let book = pushplan::render::book::html::files(&pushplan::cli::book());
    let file = |path: &&str| {
        let page = book.iter().find(|file| file.path == **path).unwrap_or_else(|| panic!("{path} is no page"));
        write(&format!("book-{}", path.trim_end_matches(".html").replace('/', "-")), &page.text)
    };
    let files: Vec<PathBuf> = PAGES.iter().map(file).collect();
    let found = look_at(&files).unwrap_or_default();
    for one in &found {
        let wrong: Vec<&str> = wrong(one).into_iter().filter(|key| *key != "broken").collect();
        assert!(wrong.is_empty(), "{wrong:?}: {one:#}");
    }
}

#[test]
fn what_is_wrong_with_a_page_is_found() {
    let page = "<!doctype html><html lang=en><head><title>x</title></head><body><main><h1>x</h1>\
        <div style='width:2000px'>wide</div><p style='color:#ccc;background:#fff'>pale</p>\
        <img src='gone.png' alt=''><a href='#nowhere'>a</a><script>console.error('no')</script></main></body></html>";
    let told = look_at(&[write("wrong", page)]).unwrap_or_default();
    for one in &told {
        assert_eq!(wrong(one), ["said", "asked", "serious", "broken", "scroll", "scripts"], "{one:#}");
    }
}
