//! The book in `docs/`: its examples are real, its links work, and its reference matches this program.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test commands book` rewrites the outputs and the reference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use pushplan::cli::book;
use pushplan::codes::{CODES, LIMITS};
use pushplan::render::book::html::{anchors_of, files, links_of};
use pushplan::render::book::{GENERATED, SUMMARY, entries};
use pushplan_testing::{Folder, Project, root};

use super::console::Document;

/// The folder of the pages.
const SOURCES: &str = "docs/src";
/// The maximal number of lines of a page.
const LONGEST: usize = 200;
/// The number of pages that run at the same time.
const SIDE_BY_SIDE: usize = 4;

fn blesses() -> bool {
    std::env::var_os("PUSHPLAN_BLESS").is_some()
}

/// Every Markdown file beneath the folder of the pages, without the summary.
fn sources() -> BTreeSet<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let top = root().join(SOURCES);
    let mut found = Vec::new();
    walk(&top, &mut found);
    let name = |path: PathBuf| path.strip_prefix(&top).expect("beneath the folder").to_str().expect("UTF-8").to_owned();
    found.into_iter().map(name).filter(|name| name != "SUMMARY.md").collect()
}

/// The pages by their paths, as this program has them.
fn pages() -> BTreeMap<String, String> {
    book().pages.into_iter().map(|page| (page.path, page.text)).collect()
}

#[test]
fn the_console_blocks_of_the_book_do_what_they_show() {
    let all: Vec<String> = entries(SUMMARY)
        .iter()
        .map(|entry| format!("{SOURCES}/{}", entry.path))
        .filter(|path| fs::read_to_string(root().join(path)).is_ok_and(|text| text.contains("```console")))
        .collect();
    let left = Mutex::new(all.iter());
    let work = || {
        let mut wrong = Vec::new();
        let next = || left.lock().expect("no panic").next();
        while let Some(path) = next() {
            wrong.extend(Document::run(path).check());
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = (0..SIDE_BY_SIDE).map(|_| scope.spawn(work)).collect();
        runs.into_iter().flat_map(|run| run.join().expect("a page runs")).collect()
    });
    assert!(all.len() > 10, "{all:?}");
    assert!(wrong.is_empty(), "the book shows something else than what happens:\n{}", wrong.join("\n"));
}

#[test]
fn the_reference_is_that_of_this_program() {
    let book = book();
    let (written, _) = SUMMARY.split_once(GENERATED).expect("a generated part");
    let mut expected: BTreeMap<String, String> = book
        .pages
        .iter()
        .filter(|page| page.path.starts_with("reference/"))
        .map(|page| (page.path.clone(), page.text.clone()))
        .collect();
    expected.insert("SUMMARY.md".into(), format!("{written}{GENERATED}\n\n{}", book.contents));
    let stale = || sources().into_iter().filter(|name| name.starts_with("reference/") && !expected.contains_key(name));
    if blesses() {
        for (name, text) in &expected {
            let path = root().join(SOURCES).join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a page");
        }
        stale().for_each(|name| fs::remove_file(root().join(SOURCES).join(name)).expect("a page"));
        return;
    }
    let differs = |(name, text): &(&String, &String)| {
        fs::read_to_string(root().join(SOURCES).join(name)).is_ok_and(|found| found == **text)
    };
    let wrong: Vec<&String> = expected.iter().filter(|page| !differs(page)).map(|(name, _)| name).collect();
    assert!(wrong.is_empty(), "not current (PUSHPLAN_BLESS=1 writes them): {wrong:?}");
    assert_eq!(stale().count(), 0, "pages that nothing generates: {:?}", stale().collect::<Vec<_>>());
}

#[test]
fn the_summary_has_every_page_once() {
    let entries = entries(SUMMARY);
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path).filter(|path| !path.is_empty()).collect();
    let listed: BTreeSet<String> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(listed.len(), paths.len(), "a page is listed twice");
    assert_eq!(listed, sources());
    assert_eq!(listed, pages().into_keys().collect());
}

/// mdBook is not a dependency, so its rules for a summary are checked here: a title, pages before the first part, and parts with lists
/// in which no page is more than one level below the page before it.
#[test]
fn the_summary_is_one_that_mdbook_reads() {
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md")).expect("the summary");
    let is_page = |text: &str| text.starts_with('[') && text.contains("](") && text.ends_with(".md)");
    let (mut level, mut parts) = (None, 0);
    for (number, line) in summary.lines().enumerate() {
        let place = format!("docs/src/SUMMARY.md:{}: {line}", number + 1);
        let text = line.trim_start();
        let indent = line.len() - text.len();
        match text.strip_prefix("- ") {
            Some(page) => {
                assert!(is_page(page), "{place}: a page is [title](path.md)");
                let deepest = level.map_or(0, |level: usize| level + 1);
                assert!(indent % 2 == 0 && indent / 2 <= deepest, "{place}: too far to the right");
                level = Some(indent / 2);
            }
            None if text.is_empty() => {}
            None if line.starts_with("# ") => (level, parts) = (None, parts + 1),
            None => assert!(is_page(line) && parts == 1 && level.is_none(), "{place}: not in the list of a part"),
        }
    }
    assert!(parts > 2, "{parts} headings");
}

#[test]
fn no_page_is_longer_than_two_hundred_lines() {
    let lines = |(path, text): (String, String)| (text.lines().count(), path);
    let long: Vec<(usize, String)> = pages().into_iter().map(lines).filter(|(lines, _)| *lines > LONGEST).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn the_page_of_a_code_has_all_of_its_text() {
    let codes = CODES.iter().map(|code| (code.name, code.page));
    let limits = LIMITS.iter().map(|limit| (limit.name, limit.page));
    let pages = pages();
    for (name, text) in codes.chain(limits) {
        let page = &pages[&format!("reference/codes/{name}.md")];
        let (_, body) = text.split_once('\n').expect("a title");
        assert!(!body.trim().is_empty() && page.ends_with(body.trim_start()), "{name}: {page}");
    }
}

#[test]
fn every_link_leads_to_a_page_and_a_heading() {
    let pages = pages();
    let anchors: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|(path, text)| (path.as_str(), anchors_of(text))).collect();
    let mut wrong = Vec::new();
    for (path, text) in &pages {
        for link in links_of(text).into_iter().filter(|link| !link.starts_with("https://")) {
            let (to, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let to = if to.is_empty() { path.clone() } else { joined(path, to) };
            let found = anchors.get(to.as_str());
            if !found.is_some_and(|anchors| anchor.is_empty() || anchors.iter().any(|known| known == anchor)) {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these links lead nowhere: {wrong:#?}");
}

/// The path that a relative link leads to.
fn joined(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[test]
fn the_readme_links_to_pages_that_exist() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README");
    let links = links_of(&readme);
    let local: Vec<&String> = links.iter().filter(|link| !link.starts_with("https://")).collect();
    assert!(local.len() > 5, "{links:?}");
    for link in local {
        let path = link.split('#').next().unwrap_or_default();
        assert!(root().join(path).is_file(), "the README links to {link}");
    }
}

#[test]
fn every_page_is_two_clicks_from_the_first() {
    let book = book();
    let html: BTreeMap<String, String> = files(&book).into_iter().map(|file| (file.path, file.text)).collect();
    let from = |path: &str| -> BTreeSet<String> {
        let links = html[path].split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next());
        links.filter(|link| link.ends_with(".html")).map(|link| joined(path, link)).collect()
    };
    let first = from("index.html");
    let second: BTreeSet<String> = first.iter().flat_map(|path| from(path)).collect();
    let far: Vec<&String> = html.keys().filter(|path| !first.contains(*path) && !second.contains(*path)).collect();
    assert_eq!(far, ["index.html"]);
}

#[test]
fn pages_have_no_script_no_style_attribute_and_nothing_from_elsewhere() {
    for file in files(&book()) {
        // The text between `<` and `>` is a tag: those of a text are escaped.
        for tag in file.text.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            let name = tag.split_whitespace().next().unwrap_or_default();
            assert!(!["script", "img", "iframe", "form", "link", "object"].contains(&name), "{}: <{tag}>", file.path);
            let is_foreign = [" style=", " src=", " on", "javascript:"].iter().any(|part| tag.contains(part));
            assert!(!is_foreign, "{}: <{tag}>", file.path);
        }
        assert!(!file.text.contains("@import") && !file.text.contains("url("), "{}", file.path);
        assert!(file.text.contains("default-src 'none'; style-src 'sha256-"), "{}", file.path);
        assert_eq!(file.text.matches("<h1").count(), 1, "{}", file.path);
    }
}

#[test]
fn the_book_is_served_and_written() {
    let folder = Folder::new();
    let ran = folder.run(&["docs", "--out", "book"]);
    assert_eq!(ran.code, 0, "{ran}");
    let index = folder.read("book/index.html");
    assert!(index.contains("<h1") && folder.read("book/reference/exit-codes.html").contains("<td>143</td>"));

    let project = Project::new("segments: {}\n");
    let mut child = project.start_as(&["docs"], &[]);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("a text");
    let address = first.split("http://").nth(1).expect("an address").trim_end_matches('/').to_owned();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&address).expect("a connection");
        stream
            .write_all(format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
            .expect("asked");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        page
    };
    let page = ask("GET /");
    assert!(page.starts_with("HTTP/1.1 200") && page.ends_with(&index), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'; style-src 'sha256-"), "{page}");
    assert!(ask("GET /reference/codes/AU107.html").starts_with("HTTP/1.1 200"));
    assert!(ask("GET /../Cargo.toml").starts_with("HTTP/1.1 404"));
    assert!(ask("POST /").starts_with("HTTP/1.1 405"));
    pushplan_testing::signal(&child, "-TERM");
    assert!(child.wait().expect("it ends").success());
}
