//! The content of webhooks.

use pushplan_testing::says;
use serde_json::{Value, json};

use super::{Loop, ONE, Receiver, applied, edit};

fn addresses(items: &Value) -> Vec<&str> {
    items.as_array().expect("a list").iter().map(|item| item["address"].as_str().expect("an address")).collect()
}

#[test]
fn a_webhook_gets_one_post_for_each_change() {
    let (project, service) = applied(ONE, "");
    let receiver = Receiver::new(&[]);
    let rounds = Loop::start(&project, &["--webhook", &receiver.url]);
    rounds.round("in_sync");
    assert_eq!(receiver.posts(), Vec::<Value>::new(), "nothing drifts");
    edit(&service, "theirs");
    rounds.round("drift");
    rounds.round("drift");
    let posts = receiver.posts();
    assert_eq!(posts.len(), 1, "{posts:#?}");
    let target = &posts[0]["targets"][0];
    assert_eq!((&posts[0]["event"], &posts[0]["mode"]), (&"drift".into(), &"report".into()));
    assert_eq!((&target["target"], &target["in_sync"]), (&"local".into(), &false.into()));
    assert_eq!(addresses(&target["began"]), ["segments/lapsed"]);
    assert_eq!(target["drift"][0]["fields"], json!(["criteria"]));
    assert!(!posts[0].to_string().contains("theirs"), "no values: {}", posts[0]);

    edit(&service, "again");
    rounds.round("drift");
    rounds.round("drift");
    assert_eq!(receiver.posts().len(), 2, "it drifts otherwise");
    edit(&service, "lapsed");
    rounds.round("in_sync");
    rounds.round("in_sync");
    let posts = receiver.posts();
    assert_eq!(posts.len(), 3, "{posts:#?}");
    assert_eq!(addresses(&posts[2]["targets"][0]["over"]), ["segments/lapsed"]);
    assert_eq!(posts[2]["targets"][0]["in_sync"], true);
    assert_eq!(rounds.metrics()["pushplan_webhook_posts_total{result=\"done\"}"], 3.0);
    assert_eq!(rounds.stop().0, 0);
}

#[test]
fn what_is_corrected_is_posted_once() {
    let (project, service) = applied(ONE, "");
    let receiver = Receiver::new(&[]);
    // The variable can contain the URL too; other users cannot read it from a list of processes.
    let rounds = Loop::start_as(&project, &["--drift", "fix"], &[("PUSHPLAN_WEBHOOK", &receiver.url)]);
    rounds.round("in_sync");
    edit(&service, "theirs");
    rounds.times("corrected", 1);
    rounds.round("in_sync");
    let posts = receiver.posts();
    assert_eq!(posts.len(), 1, "{posts:#?}");
    let target = &posts[0]["targets"][0];
    assert_eq!((&posts[0]["mode"], &target["in_sync"]), (&"fix".into(), &true.into()));
    assert_eq!(addresses(&target["corrected"]), ["segments/lapsed"]);
    assert_eq!(rounds.stop().0, 0);
}

#[test]
fn a_webhook_that_fails_is_tried_again_told_and_counted_and_ends_nothing() {
    let (project, service) = applied(ONE, "");
    edit(&service, "theirs");
    let receiver = Receiver::new(&["500 Oops", "503 Busy", "302 Found", "500 Oops"]);
    let rounds = Loop::start(&project, &["--webhook", &receiver.url]);
    rounds.until("the news", |_| receiver.posts().len() >= 5);
    rounds.round("drift");
    assert_eq!(receiver.posts().len(), 5, "three attempts, then one that fails and one that is taken");
    let told = rounds.events("not_posted");
    assert_eq!(told.len(), 1, "{told:#?}");
    let why = told[0]["why"].as_str().expect("a reason");
    says(why, &["http://127.0.0.1:", " did not accept the report: it answered 302, and redirects are not followed"]);
    let metrics = rounds.metrics();
    assert_eq!(metrics["pushplan_webhook_posts_total{result=\"done\"}"], 1.0);
    assert_eq!(metrics["pushplan_webhook_posts_total{result=\"not_done\"}"], 1.0);
    let (code, said) = rounds.stop();
    assert_eq!(code, 0);
    assert!(said.iter().all(|line| !line.to_string().contains("hunter2")), "the URL may hold a secret");
}

#[test]
fn a_webhook_that_all_could_read_is_refused() {
    let (project, _service) = applied(ONE, "");
    let ran = project.run(&["reconcile", "--once", "--webhook", "http://hooks.example/hunter2"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["the webhook is neither https nor on this machine"]);
    assert!(!ran.to_string().contains("hunter2"), "{ran}");
}
