//! A legacy tag whose creation was interrupted belongs to the project, unless it existed before.

use std::process::Child;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pushplan_testing::wire::forward;
use pushplan_testing::{Ran, says};
use reqwest::Method;

use super::{Nth, Site, path};

const KEPT: &str = "segments:\n  kept: {criteria: {tag: kept}}\n";
const TAG: &str = "tags:\n  vip: {}\n";

/// A site whose service gets the first `PUT` of a tag and answers when the client is gone. The receiver is notified.
fn cut_off() -> (Site, Receiver<()>) {
    let (arrived, heard) = channel();
    let (creation, arrived) = (Nth::default(), Mutex::new(arrived));
    let site = Site::new(&format!("{KEPT}{TAG}"), "extended", move |asked, port| {
        if asked.method != "PUT" || path(asked) != "/api/tags/vip" || !creation.is(0) {
            return None;
        }
        drop(forward(port, asked));
        arrived.lock().expect("sound").send(()).expect("the test listens");
        std::thread::sleep(Duration::from_secs(30));
        Some(None)
    });
    (site, heard)
}

/// Kills an apply after its `PUT` arrived and before it was answered.
fn kill(site: &Site, heard: &Receiver<()>) {
    let credentials = site.credentials();
    let env: Vec<(&str, &str)> = credentials.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut apply: Child = site.project.start_as(&["apply", "--yes"], &env);
    heard.recv_timeout(Duration::from_secs(60)).expect("the tag is created");
    apply.kill().expect("it runs");
    apply.wait().expect("it ends");
    assert_eq!(tags(site), ["vip"]);
}

/// Applies once the killed run is known to have ended, and expects this exit code.
#[track_caller]
fn apply_after(site: &Site, code: i32) -> Ran {
    let ran = site.run(&["apply", "--yes", "--wait", "1m", "--allow-deletes", "1"]);
    assert_eq!(ran.code, code, "{ran}");
    ran
}

fn tags(site: &Site) -> Vec<String> {
    let body = site.service.get("/api/tags/");
    body["tags"].as_array().expect("a list").iter().map(|tag| tag.as_str().expect("a tag").to_owned()).collect()
}

#[test]
fn a_tag_whose_creation_was_killed_is_managed() {
    let (site, heard) = cut_off();
    kill(&site, &heard);
    apply_after(&site, 0);
    site.matches();
    site.project.write(KEPT);
    let ran = site.run(&["apply", "--yes", "--allow-deletes", "1"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(tags(&site), [""; 0], "it was managed, so that its removal deletes it");
}

#[test]
fn a_tag_whose_creation_was_killed_is_deleted_if_it_is_no_longer_declared() {
    let (site, heard) = cut_off();
    kill(&site, &heard);
    site.project.write(KEPT);
    apply_after(&site, 0);
    assert_eq!(tags(&site), [""; 0]);
    site.matches();
}

/// A list of a hundred tags may not contain it. Creating a tag again changes nothing.
#[test]
fn a_tag_that_the_list_has_no_room_for_is_created_again_and_managed() {
    let (site, heard) = cut_off();
    kill(&site, &heard);
    for number in 0..100 {
        let path = format!("/api/tags/a{number:03}");
        assert_eq!(site.service.ask(Method::PUT, &path, None).0, 201);
    }
    assert!(!tags(&site).contains(&"vip".to_owned()));
    apply_after(&site, 0);
    let shown = site.run(&["show", "tags/vip"]);
    says(&shown.stdout, &["vip"]);
    site.matches();
}

/// Its state cannot be read, and it is not declared: a person decides.
#[test]
fn a_tag_that_the_list_has_no_room_for_is_not_silently_forgotten() {
    let (site, heard) = cut_off();
    kill(&site, &heard);
    for number in 0..100 {
        let path = format!("/api/tags/a{number:03}");
        assert_eq!(site.service.ask(Method::PUT, &path, None).0, 201);
    }
    site.project.write(KEPT);
    let ran = apply_after(&site, 7);
    says(&ran.stderr, &["tags/vip", "pushplan resolve tags/vip"]);
}
