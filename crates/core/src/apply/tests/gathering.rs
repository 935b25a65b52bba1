//! Stories of slow stores: how many records are written, and how long everything takes.

use std::collections::BTreeMap;

use pushplan_ledger::Lease;

use super::*;

#[test]
fn many_steps_need_few_appends() {
    let steps = (0..1000).map(|n| segment(n, &format!("s{n}"))).collect();
    let mut story = Story::of(steps);
    // Appends take as long as eight requests.
    story.appends = false;
    let mut appended = story.log.len();
    let mut made = 0;
    while story.report.is_none() {
        for _ in 0..8 {
            if !story.sent.is_empty() {
                made += 1;
                story.answer(201, json!({ "segment_id": format!("id-{made}") }));
            }
        }
        if story.log.len() > appended {
            appended = story.log.len();
            let seq = story.log.last().unwrap().seq;
            story.say(Event::Appended(seq));
        }
    }
    assert_eq!(made, 1000);
    assert!(story.log.len() < 200, "{} appends", story.log.len());
}

/// A world in which appends and requests take a given time, by a counted clock.
struct Slow {
    append: Duration,
    request: Duration,
}

/// The result.
struct Took {
    time: Duration,
    appends: usize,
    report: Report,
    /// The largest number of durable intents that had not left.
    ahead: usize,
}

impl Slow {
    fn apply(&self, steps: Vec<Step>, adjust: impl Fn(&mut ApplySettings)) -> Took {
        let start = Duration::from_secs(1000);
        let mut settings = ApplySettings { lease: Lease::of("ada"), ..ApplySettings::new("run-1", "ada") };
        adjust(&mut settings);
        let mut now = Now { wall: noon(), boot: start };
        let (mut run, mut effects) = Run::start(plan(steps), &Ledger::default(), settings, now);
        let mut queue: BTreeMap<(Duration, usize), Event> = BTreeMap::new();
        let (mut number, mut appends, mut cleared, mut ahead) = (0, 0, 0_usize, 0);
        let mut intended = BTreeMap::new();
        loop {
            for effect in effects {
                number += 1;
                match effect {
                    Effect::Append(entry) => {
                        appends += 1;
                        if let Record::Intents(all) = &entry.record {
                            intended.insert(entry.seq, all.len());
                        }
                        queue.insert((now.boot + self.append, number), Event::Appended(entry.seq));
                    }
                    Effect::Send(sending) => {
                        assert!(!sending.not_after.has_passed(now));
                        cleared -= 1;
                        let answer = Answer::new(201, json!({ "segment_id": format!("id-{number}") }));
                        queue.insert((now.boot + self.request, number), Event::Answered(sending.step, answer));
                    }
                    Effect::Ask(step, request) => panic!("step {step} asks {request}"),
                    Effect::Wait(until) => {
                        let after = until.duration_since(now.wall).max(SignedDuration::ZERO);
                        queue.insert((now.boot + after.unsigned_abs(), number), Event::Time);
                    }
                    Effect::Finish(report) => return Took { time: now.boot - start, appends, report, ahead },
                }
            }
            let ((at, _), event) = queue.pop_first().expect("something happens until it is over");
            let passed = SignedDuration::try_from(at - now.boot).unwrap();
            now = Now { wall: now.wall.checked_add(passed).unwrap(), boot: at };
            if let Event::Appended(seq) = &event {
                cleared += intended.remove(seq).unwrap_or_default();
            }
            ahead = ahead.max(cleared);
            effects = run.on(event, now);
        }
    }
}

fn segments(count: usize) -> Vec<Step> {
    (0..count).map(|n| segment(n, &format!("s{n}"))).collect()
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

#[test]
fn ten_thousand_creates_over_a_slow_store_take_less_than_twice_as_long() {
    for request in [1, 2, 20] {
        let fast = Slow { append: ms(2), request: ms(request) }.apply(segments(10_000), |_| {});
        let slow = Slow { append: ms(100), request: ms(request) }.apply(segments(10_000), |_| {});
        for took in [&fast, &slow] {
            assert_eq!(took.report.ending, Ending::Done);
        }
        assert!(slow.appends <= 300, "{} appends with requests of {request} ms", slow.appends);
        let ratio = slow.time.as_secs_f64() / fast.time.as_secs_f64();
        assert!(ratio < 2.0, "{ratio:.2} times as long with requests of {request} ms");
        assert!(fast.ahead <= 256, "{} ahead though the store is fast", fast.ahead);
    }
}

#[test]
fn a_store_that_is_as_fast_as_the_service_is_not_asked_for_every_answer() {
    let took = Slow { append: ms(1), request: ms(1) }.apply(segments(10_000), |settings| settings.concurrency = 16);
    assert_eq!(took.report.ending, Ending::Done);
    assert!(took.appends <= 300, "{} appends", took.appends);
    assert!(took.time < ms(1000), "{:?}, where the requests alone take 625 ms", took.time);
    assert!(took.ahead <= 256, "{} ahead", took.ahead);
}

#[test]
fn an_outcome_is_written_soon_though_no_other_follows() {
    let mut now = Now { wall: noon(), boot: Duration::from_secs(1000) };
    let (mut run, effects) =
        Run::start(plan(segments(200)), &Ledger::default(), ApplySettings::new("run-1", "ada"), now);
    let mut todo = VecDeque::from(effects);
    let (mut sent, mut answered, mut waits) = (Vec::new(), false, None);
    while let Some(effect) = todo.pop_front() {
        match effect {
            Effect::Append(entry) if matches!(entry.record, Record::Outcomes(_)) => {
                assert!(answered && now.wall > noon(), "it waits for others");
                return;
            }
            Effect::Append(entry) => todo.extend(run.on(Event::Appended(entry.seq), now)),
            Effect::Send(sending) => sent.push(sending.step),
            Effect::Ask(step, request) => panic!("step {step} asks {request}"),
            Effect::Wait(until) => waits = Some(until),
            Effect::Finish(report) => panic!("{report:?}"),
        }
        if todo.is_empty() && !answered {
            answered = true;
            let answer = Answer::new(201, json!({ "segment_id": "id-1" }));
            todo.extend(run.on(Event::Answered(sent[0], answer), now));
        }
        if todo.is_empty() && answered {
            let passed = waits.take().expect("it asks for time").duration_since(now.wall);
            assert!(passed <= SignedDuration::from_millis(10), "{passed:?}");
            now = Now { wall: now.wall + passed, boot: now.boot + passed.unsigned_abs() };
            todo.extend(run.on(Event::Time, now));
        }
    }
    panic!("it is never written");
}

#[test]
fn a_store_that_takes_a_second_is_not_asked_more_than_some_hundred_times() {
    let took = Slow { append: ms(1000), request: ms(5) }.apply(segments(10_000), |_| {});
    assert_eq!(took.report.ending, Ending::Done);
    assert!(took.appends < 50, "{} appends", took.appends);
}

#[test]
fn a_service_that_is_slower_than_it_seemed_gets_everything_in_time() {
    let took = Slow { append: ms(100), request: ms(4000) }.apply(segments(2000), |_| {});
    assert_eq!(took.report.ending, Ending::Done);
}

fn numbered_push(n: usize) -> Step {
    let step = push(n, "2026-12-15T1200");
    Step { address: Address::try_from(format!("scheduled_pushes/p{n}")).unwrap(), ..step }
}

#[test]
fn what_is_not_intended_ahead_holds_up_nobody_behind_it() {
    let step = |n: usize| if n < 400 { numbered_push(n) } else { segment(n, &format!("s{n}")) };
    let story = Story::of((0..600).map(step).collect());
    let intents = story.log.iter().find_map(|entry| match &entry.record {
        Record::Intents(intents) => Some(intents),
        _ => None,
    });
    let kinds: Vec<&str> = intents.into_iter().flatten().map(|intent| &*intent.address.kind).collect();
    let of = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!(of("scheduled_pushes"), 8, "as many as can leave at once");
    assert!(of("segments") > 50, "{kinds:?}");
}

#[test]
fn what_nobody_can_look_up_is_not_intended_ahead() {
    let plan_of = |level| {
        let steps: Vec<Step> =
            (0..40).map(|n| if n < 20 { segment(n, &format!("s{n}")) } else { numbered_push(n) }).collect();
        Plan { level, ..plan(steps) }
    };
    let now = Now { wall: noon(), boot: Duration::from_secs(1000) };
    let settings = ApplySettings { concurrency: 4, ..ApplySettings::new("run-1", "ada") };
    let (mut run, effects) = Run::start(plan_of(Level::Documented), &Ledger::default(), settings, now);
    let (mut todo, mut sent, mut made) = (VecDeque::from(effects), VecDeque::new(), 0);
    let mut waiting: Vec<Address> = Vec::new();
    loop {
        match todo.pop_front() {
            Some(Effect::Append(entry)) => {
                if let Record::Intents(all) = &entry.record {
                    waiting.extend(all.iter().map(|intent| intent.address.clone()));
                }
                let pushes = waiting.iter().filter(|address| address.kind == "scheduled_pushes").count();
                assert!(pushes <= 4, "{pushes} pushes are intended at once");
                todo.extend(run.on(Event::Appended(entry.seq), now));
            }
            Some(Effect::Send(sending)) => sent.push_back(sending),
            Some(Effect::Ask(step, request)) => panic!("step {step} asks {request}"),
            Some(Effect::Wait(_)) => {}
            Some(Effect::Finish(report)) => {
                assert_eq!(report.ending, Ending::Done);
                return;
            }
            None => {
                let sending: Sending = sent.pop_front().expect("a request");
                made += 1;
                let address = &run.plan().steps[sending.step].address;
                waiting.retain(|other| other != address);
                let body = json!({ "segment_id": format!("{made}"), "schedule_urls": [], "schedule_ids": [format!("{made}")] });
                todo.extend(run.on(Event::Answered(sending.step, Answer::new(201, body)), now));
            }
        }
    }
}
