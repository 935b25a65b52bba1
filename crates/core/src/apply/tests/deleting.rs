//! A deletion that finds nothing: one 404 may be wrong, so another answer has to agree.

use super::*;

fn deletion() -> Story {
    Story::with(vec![template(0, Verb::Delete, "t1")], &owning("templates/t", "t1"), |_| {})
}

/// The request in flight.
fn asked(story: &Story) -> String {
    story.sent.front().expect("a request on its way").request.to_string()
}

#[test]
fn what_is_gone_by_its_own_answer_too_is_deleted() {
    let mut story = deletion();
    story.answer(404, json!({}));
    assert_eq!(asked(&story), "GET /api/templates/t1");
    assert!(story.run.ledger().owned.len() == 1, "nothing is recorded yet");
    story.answer(404, json!({}));
    assert_eq!(story.fates(), ["Done"]);
    assert!(story.run.ledger().owned.is_empty());
}

#[test]
fn what_is_still_there_is_deleted_again() {
    let there = json!({ "ok": true, "template": { "id": "t1", "name": "t", "push": {} } });
    let mut story = deletion();
    story.answer(404, json!({}));
    story.answer(200, there.clone());
    story.wait(1);
    assert_eq!(asked(&story), "DELETE /api/templates/t1");
    story.answer(200, json!({ "ok": true }));
    assert_eq!(story.fates(), ["Done"]);

    let mut story = deletion();
    for _ in 0..4 {
        story.answer(404, json!({}));
        story.answer(200, there.clone());
        story.wait(60);
    }
    assert_eq!(story.fates(), ["Unknown"]);
    assert_eq!(story.run.ledger().owned.len(), 1, "it is still managed");
    assert_eq!(story.run.ledger().open.len(), 1);
}

#[test]
fn a_look_without_an_answer_says_nothing() {
    for seconds in [1, 60] {
        let mut story = deletion();
        story.answer(404, json!({}));
        story.lose();
        story.wait(seconds);
        assert_eq!(asked(&story), "DELETE /api/templates/t1", "after {seconds} s");
        story.answer(404, json!({}));
        story.answer(503, json!({}));
        story.wait(seconds + 1);
        story.answer(404, json!({}));
        story.answer(404, json!({}));
        assert_eq!(story.fates(), ["Done"]);
    }
}

#[test]
fn a_busy_service_is_asked_again() {
    let mut story = deletion();
    story.answer(404, json!({}));
    story.answer(429, json!({}));
    story.wait(20);
    assert_eq!(asked(&story), "GET /api/templates/t1");
    story.answer(404, json!({}));
    assert_eq!(story.fates(), ["Done"]);
}

#[test]
fn a_run_that_stops_before_it_has_looked_leaves_it_open() {
    let mut story = deletion();
    story.answer(404, json!({}));
    story.say(Event::Interrupt);
    story.say(Event::Lost(0, Loss::NotSent("refused".to_owned())));
    assert_eq!(story.fates(), ["Unknown"]);
    assert_eq!(story.run.ledger().owned.len(), 1);
    assert_eq!(story.run.ledger().open.len(), 1);
}

#[test]
fn what_cannot_be_looked_at_is_deleted_a_second_time() {
    let spec = json!({ "tag": "vip" });
    let steps = vec![Step { id: Some("vip".to_owned()), ..step(0, "tags/vip", Verb::Delete, spec) }];
    let mut story = Story::with(steps, &owning("tags/vip", "vip"), |_| {});
    story.answer(404, json!({}));
    assert_eq!(asked(&story), "DELETE /api/tags/vip");
    story.answer(404, json!({}));
    assert_eq!(story.fates(), ["Done"]);
}

#[test]
fn without_the_protection_one_answer_is_enough() {
    let adjust = |settings: &mut ApplySettings| settings.protections.confirm_deletion = false;
    let mut story = Story::with(vec![template(0, Verb::Delete, "t1")], &owning("templates/t", "t1"), adjust);
    story.answer(404, json!({}));
    assert_eq!(story.fates(), ["Done"]);
}

#[test]
fn an_answer_that_denies_itself_is_not_known() {
    let wrong = [(408, json!({})), (499, json!({})), (200, json!({ "ok": false }))];
    for (status, body) in wrong {
        let mut story = Story::of(vec![segment(0, "s")]);
        story.answer(status, body.clone());
        assert_eq!(story.fates(), ["Unknown"], "{status}");
        let mut story = Story::with(vec![template(0, Verb::Update, "t1")], &owning("templates/t", "t1"), |_| {});
        story.answer(status, body);
        assert!(story.report.is_none() && story.sent.is_empty(), "{status}: it is sent again later");
        story.wait(1);
        assert_eq!(asked(&story), "POST /api/templates/t1");
    }
    let adjust = |settings: &mut ApplySettings| settings.protections.doubt_answers = false;
    let mut story = Story::with(vec![segment(0, "s")], &Ledger::default(), adjust);
    story.answer(408, json!({}));
    assert_eq!(story.fates(), ["Failed"]);
}

/// It was replaced: whether the old one was sent no longer matters, and it cannot be deleted twice.
#[test]
fn an_old_version_that_is_gone_after_its_time_is_done_with() {
    let mut spec = push(0, "2026-11-15T11:00").spec.unwrap();
    spec = json!({ "push": spec["push"], "schedule": [{ "scheduled_time": "2026-11-15T1100" }] }).into();
    for is_old in [false, true] {
        let mut ledger = owning("scheduled_pushes/p", if is_old { "new" } else { "old" });
        if is_old {
            let address = Address::try_from("scheduled_pushes/p".to_owned()).unwrap();
            let old = Retired { address, id: "old".to_owned(), spec: spec.clone(), refs: BTreeMap::new() };
            ledger.retired.push(old);
        }
        let delete = step(0, "scheduled_pushes/p", Verb::Delete, json!({}));
        let delete = Step { id: Some("old".to_owned()), spec: Some(spec.clone()), ..delete };
        let mut story = Story::with(vec![delete], &ledger, |_| {});
        story.answer(404, json!({}));
        if is_old {
            story.answer(404, json!({}));
        }
        assert_eq!(story.fates(), [if is_old { "Done" } else { "Unknown" }]);
        assert!(story.run.ledger().retired.is_empty());
        assert_eq!(story.run.ledger().owned.len(), 1);
    }
}
