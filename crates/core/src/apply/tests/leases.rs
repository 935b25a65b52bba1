//! Stories of leases: a run never sends past its own lease, and a running one keeps it.

use pushplan_ledger::Lease;

use super::*;

fn held(steps: Vec<Step>, concurrency: usize) -> Story {
    Story::with(steps, &Ledger::default(), |settings| {
        settings.concurrency = concurrency;
        settings.send_within = SignedDuration::from_secs(300);
        settings.lease = Lease { seconds: 20, ..Lease::of("ada") };
    })
}

fn segments(count: usize) -> Vec<Step> {
    (0..count).map(|n| segment(n, &format!("s{n}"))).collect()
}

#[test]
fn a_run_tells_who_it_is_when_it_begins() {
    let story = held(segments(1), 1);
    let Record::Begin(begin) = &story.log[0].record else { panic!("{:?}", story.log[0]) };
    assert_eq!(begin.lease.as_ref().map(|lease| (&*lease.holder, lease.seconds)), Some(("ada", 20)));
    let running = story.run.ledger().run.as_ref().expect("it runs");
    assert_eq!(running.expires, Some("2026-11-15T12:00:20Z".parse().unwrap()));
}

#[test]
fn who_waits_for_an_answer_keeps_the_lease() {
    let mut story = held(segments(1), 1);
    story.wait(9);
    assert_eq!(story.records(), ["begin", "intents"]);
    for _ in 0..3 {
        story.wait(6);
        story.wait(5);
    }
    assert_eq!(story.records(), ["begin", "intents", "alive", "alive", "alive"]);
    let expires = story.run.ledger().run.as_ref().and_then(|run| run.expires).expect("a lease");
    assert!(expires > story.now.wall);
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(*story.ending(), Ending::Done);
}

#[test]
fn who_slept_past_the_lease_writes_before_anything_is_sent() {
    let mut story = held(segments(3), 1);
    story.appends = false;
    // Either clock shows it.
    story.now.boot += Duration::from_secs(21);
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert!(story.sent.is_empty(), "the lease is over");
    assert_eq!(story.records(), ["begin", "intents", "outcomes"]);
    let seq = story.log.last().unwrap().seq;
    story.say(Event::Appended(seq));
    assert_eq!(story.sent.len(), 1, "it is renewed");

    let mut story = held(segments(3), 1);
    story.appends = false;
    story.now.wall = story.now.wall.checked_add(SignedDuration::from_secs(21)).unwrap();
    story.answer(201, json!({ "segment_id": "id-1" }));
    story.say(Event::AppendFailed(AppendError::Conflict));
    assert!(story.sent.is_empty(), "somebody else has begun");
    assert_eq!(*story.ending(), Ending::Conflict);
}

#[test]
fn a_request_that_did_not_leave_before_the_lease_was_over_leaves_afterwards() {
    let mut story = held(segments(1), 1);
    let sending = story.sent.pop_front().unwrap();
    assert_eq!(
        sending.not_after.wall,
        "2026-11-15T12:00:20Z".parse().unwrap(),
        "the lease ends before the intent does"
    );
    story.appends = false;
    story.now.boot += Duration::from_secs(25);
    story.say(Event::Lost(sending.step, Loss::NotSent("too late".to_owned())));
    assert!(story.sent.is_empty());
    assert_eq!(story.records(), ["begin", "intents", "alive"]);
    story.say(Event::Appended(3));
    assert_eq!(story.sent.len(), 1);
    story.appends = true;
    story.answer(201, json!({ "segment_id": "id-1" }));
    assert_eq!(*story.ending(), Ending::Done);
}

#[test]
fn a_record_that_took_longer_than_the_lease_does_not_renew_it() {
    let mut story = held(segments(2), 1);
    story.appends = false;
    story.now.boot += Duration::from_secs(21);
    story.now.wall = story.now.wall.checked_add(SignedDuration::from_secs(21)).unwrap();
    story.answer(201, json!({ "segment_id": "id-1" }));
    let slow = story.log.last().unwrap().seq;
    story.wait(30);
    story.say(Event::Appended(slow));
    assert!(story.sent.is_empty(), "its time is counted from when it was made");
    assert_eq!(story.records().last(), Some(&"alive"));
    let seq = story.log.last().unwrap().seq;
    story.say(Event::Appended(seq));
    assert_eq!(story.sent.len(), 1);
}
