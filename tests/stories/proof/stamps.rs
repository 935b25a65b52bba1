//! An update that the service lost is found by the next plan, although the segment's modification time does not show
//! it.

use std::fs::{copy, remove_file};

use pushplan_testing::{Project, Service};

use super::{Nth, Site, instead};

const BEFORE: &str = "segments:\n  vip: {criteria: {tag: vip}}\n";
const AFTER: &str = "segments:\n  vip: {criteria: {tag: gold}}\n";

fn tag(service: &Service) -> String {
    let id = service.segment_id("vip");
    service.get(&format!("/api/segments/{id}"))["criteria"]["tag"].as_str().expect("a tag").to_owned()
}

/// The service's clock is far behind, so no change counts as recent enough to be read.
fn site(lie: impl Fn(&pushplan_testing::wire::Asked, u16) -> super::Lie + Send + Sync + 'static) -> Site {
    Site::with(BEFORE, "extended", &["--clock", "2026-01-01T00:00Z"], lie)
}

#[test]
fn an_update_that_was_answered_and_not_done_is_made_again() {
    let update = Nth::default();
    let site = site(
        move |asked, _| {
            if asked.method == "PUT" && update.is(0) { instead("200 OK", "{\"ok\": true}") } else { None }
        },
    );
    site.apply(0);
    site.project.write(AFTER);
    site.apply(0);
    assert_eq!(tag(&site.service), "vip", "the update was lost");
    let ran = site.run(&["plan", "--detailed-exitcode"]);
    assert_eq!(ran.code, 2, "{ran}");
    site.apply(0);
    assert_eq!(tag(&site.service), "gold");
    site.matches();
}

#[test]
fn an_update_that_a_restored_service_does_not_know_is_made_again() {
    let project = Project::new(BEFORE);
    let serve = || project.serve_with(&["--data", "service.db", "--clock", "2026-01-01T00:00Z"]);
    let file = |name: &str, end: &str| project.folder.path().join(format!("{name}{end}"));
    // The latest writes are in files next to the database.
    let copy_all = |from: &str, to: &str| {
        for end in ["", "-wal", "-shm"] {
            let _ = remove_file(file(to, end));
            let copied = copy(file(from, end), file(to, end));
            assert!(copied.is_ok() || !end.is_empty(), "{copied:?}");
        }
    };
    let service = serve();
    project.good(&["apply", "--yes"]);
    drop(service);
    copy_all("service.db", "backup.db");
    let service = serve();
    project.write(AFTER);
    project.good(&["apply", "--yes"]);
    assert_eq!(tag(&service), "gold");
    drop(service);
    copy_all("backup.db", "service.db");
    let service = serve();
    assert_eq!(tag(&service), "vip", "the update is lost");
    let ran = project.run(&["plan", "--detailed-exitcode"]);
    assert_eq!(ran.code, 2, "{ran}");
    project.good(&["apply", "--yes"]);
    assert_eq!(tag(&service), "gold");
}
