//! Sizes beyond any written audience: the solver answers quickly, or reports that it cannot.
//!
//! With `PUSHPLAN_AUDIENCE_MILLISECONDS`, each question is asked a few times, and the fastest answer may take that
//! long. Without it, any answer is enough.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pushplan::audience::{self, Answer, Audience, Relation};
use pushplan::nouns::audience::{ChannelKey, SegmentRef, Selector};
use pushplan_testing::Dice;

use super::world::{all, any, channel, grouped, not, segment, tag, text};

fn limit() -> Duration {
    let given = std::env::var("PUSHPLAN_AUDIENCE_MILLISECONDS").ok();
    let given = given.map(|number| number.parse().expect("a number of milliseconds"));
    given.map_or(Duration::MAX, Duration::from_millis)
}

/// Asks every question about two audiences, and fails if that takes long. Returns their relation.
fn soon(what: &str, one: &Selector, two: &Selector) -> Relation {
    soon_with(what, one, two, &HashMap::new())
}

fn soon_with(what: &str, one: &Selector, two: &Selector, segments: &HashMap<String, Selector>) -> Relation {
    let lookup = |reference: &SegmentRef| match reference {
        SegmentRef::Key(key) => segments.get(key),
        SegmentRef::Id(_) => None,
    };
    type Ask<'a> = Box<dyn Fn() -> Option<Relation> + 'a>;
    let of = |selector| Audience::of(selector, lookup);
    let questions: [(&str, Ask); 5] = [
        ("compare", Box::new(|| Some(audience::compare(&of(one), &of(two))))),
        ("nobody", Box::new(|| matches!(audience::nobody(&of(one)), Answer::Yes(_)).then_some(Relation::Same))),
        ("everyone", Box::new(|| matches!(audience::everyone(&of(one)), Answer::Yes(())).then_some(Relation::Same))),
        (
            "overlap",
            Box::new(|| matches!(audience::overlap(&of(one), &of(two)), Answer::Yes(_)).then_some(Relation::Same)),
        ),
        (
            "words",
            Box::new(|| {
                assert!(audience::words(one).len() < 20_000);
                audience::tree(two);
                of(one).canonical().and(None)
            }),
        ),
    ];
    let mut relation = None;
    for (question, ask) in questions {
        let mut fastest = Duration::MAX;
        for _ in 0..5 {
            let begin = Instant::now();
            let answer = ask();
            fastest = fastest.min(begin.elapsed());
            relation = relation.or(answer);
            if fastest < limit() {
                break;
            }
        }
        assert!(fastest < limit(), "{what}: {question} takes {fastest:?}");
        if std::env::var_os("PUSHPLAN_AUDIENCE_TIMES").is_some() {
            use std::io::Write;
            writeln!(
                std::io::stderr(),
                "{what}: {question} {fastest:?} {}",
                relation.as_ref().map(ToString::to_string).unwrap_or_default().chars().take(90).collect::<String>()
            )
            .expect("stderr");
        }
    }
    relation.expect("the first question was to compare")
}

fn tags(numbers: impl IntoIterator<Item = usize>) -> Vec<Selector> {
    numbers.into_iter().map(|number| tag(&format!("t{number}"))).collect()
}

#[test]
fn a_thousand_conditions_side_by_side_are_compared() {
    let one = any(tags(0..1_000));
    assert!(matches!(soon("wide any", &one, &any(tags(0..1_001))), Relation::Broader { .. }));
    assert!(matches!(soon("wide any, fewer", &one, &any(tags(1..1_000))), Relation::Narrower { .. }));
    assert_eq!(soon("wide any, turned", &one, &any(tags((0..1_000).rev()))), Relation::Same);
    assert!(matches!(soon("wide all", &all(tags(0..1_000)), &all(tags(0..1_001))), Relation::Narrower { .. }));
    let pairs = |last| any((0..last).map(|n| all(tags([n, n + 1_000]))).collect());
    assert!(matches!(soon("wide pairs", &pairs(500), &pairs(499)), Relation::Narrower { .. }));
    let without = not(all((0..500).map(|n| not(all(tags([n + 1_000, n])))).collect()));
    assert_eq!(soon("wide pairs, negated twice", &pairs(500), &without), Relation::Same);
}

#[test]
fn a_thousand_values_of_one_thing_are_compared() {
    let users =
        |range: std::ops::Range<usize>| any(range.map(|n| Selector::NamedUser(text(&format!("u{n}")))).collect());
    assert!(matches!(soon("users", &users(0..1_000), &users(500..1_500)), Relation::Different { .. }));
    assert!(matches!(soon("other users", &users(0..500), &users(500..1_000)), Relation::Disjoint { .. }));
    let channels = |key| any((0..1_000).map(|n| channel(key, &format!("c{n}"))).collect());
    assert!(matches!(
        soon("channels", &channels(ChannelKey::Ios), &channels(ChannelKey::Any)),
        Relation::Broader { .. }
    ));
    assert!(matches!(
        soon("platforms", &channels(ChannelKey::Ios), &channels(ChannelKey::Android)),
        Relation::Disjoint { .. }
    ));
    let versions = |n: usize| grouped("ua_ios_version", &format!("{n}.0.X"));
    let apart = all((0..1_000).map(|n| any(vec![versions(n), tag("a")])).collect());
    assert!(matches!(soon("versions", &apart, &tag("a")), Relation::Same));
}

/// Nested conditions, joined alternately in two ways.
fn deep(levels: usize, innermost: Selector) -> Selector {
    (0..levels).rev().fold(innermost, |inner, n| match n % 3 {
        0 => all(vec![tag(&format!("t{n}")), inner]),
        1 => any(vec![inner, tag(&format!("t{n}"))]),
        _ => not(inner),
    })
}

#[test]
fn a_thousand_levels_are_compared() {
    let one = deep(1_000, tag("x"));
    assert_eq!(soon("deep", &one, &deep(1_000, not(not(tag("x"))))), Relation::Same);
    assert!(matches!(soon("deep, changed", &one, &deep(1_000, tag("y"))), Relation::Different { .. }));
    let nested = |join: fn(Vec<Selector>) -> Selector| {
        (0..1_000).fold(tag("x"), |inner, n| join(vec![inner, tag(&format!("t{n}"))]))
    };
    assert!(matches!(soon("deep all and any", &nested(all), &nested(any)), Relation::Broader { .. }));
    let negated = (0..1_001).fold(tag("x"), |inner, _| not(inner));
    assert!(matches!(soon("deep not", &tag("x"), &negated), Relation::Disjoint { .. }));
}

#[test]
fn riddles_end_too() {
    // Clauses that can only just be satisfied are the hardest of their size.
    for seed in 0..3 {
        let mut dice = Dice::new(seed);
        let mut clauses = |number: usize, tags: usize| {
            let mut one = || {
                let one = tag(&format!("t{}", dice.below(tags)));
                if dice.once_in(2) { not(one) } else { one }
            };
            let clauses = (0..number).map(|_| any(vec![one(), one(), one()])).collect();
            all(clauses)
        };
        soon("random clauses", &clauses(1_000, 235), &clauses(1_000, 235));
        soon("few random clauses", &clauses(333, 78), &clauses(333, 80));
    }
    // Twelve pigeons in eleven holes: every proof of this kind is long.
    let at = |pigeon: usize, hole: usize| tag(&format!("p{pigeon}h{hole}"));
    let mut holes: Vec<Selector> = (0..12).map(|p| any((0..11).map(|h| at(p, h)).collect())).collect();
    for hole in 0..11 {
        for one in 0..12 {
            holes.extend((0..one).map(|other| not(all(vec![at(one, hole), at(other, hole)]))));
        }
    }
    assert_eq!(soon("pigeons", &all(holes), &any(vec![])), Relation::TooComplex);
    // An odd number of tags, counted in two orders.
    let odd = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.fold(any(vec![]), |odd, n| {
            let one = tag(&format!("t{n}"));
            any(vec![all(vec![odd.clone(), not(one.clone())]), all(vec![not(odd), one])])
        })
    };
    assert_eq!(soon("odd", &odd(&mut (0..7)), &odd(&mut (0..7).rev())), Relation::Same);
}

#[test]
fn segments_in_segments_are_followed_once_each() {
    let mut doubled: HashMap<String, Selector> = HashMap::from([("s0".to_owned(), tag("x"))]);
    for n in 1..=300 {
        let before = segment(&format!("s{}", n - 1));
        let ways = ["a", "b"].map(|way| all(vec![before.clone(), tag(&format!("{way}{n}"))]));
        doubled.insert(format!("s{n}"), any(ways.to_vec()));
    }
    let relation = soon_with("doubled", &segment("s300"), &segment("s299"), &doubled);
    assert!(matches!(relation, Relation::Broader { .. }), "{relation}");

    for (what, join) in [("chain", all as fn(Vec<Selector>) -> Selector), ("chain of any", any)] {
        let mut chain: HashMap<String, Selector> = HashMap::from([("s0".to_owned(), tag("x"))]);
        for n in 1..=2_000 {
            let before = segment(&format!("s{}", n - 1));
            chain.insert(
                format!("s{n}"),
                if n % 7 == 0 { not(before) } else { join(vec![before, tag(&format!("t{n}"))]) },
            );
        }
        soon_with(what, &segment("s2000"), &segment("s1999"), &chain);
        let every = any((0..1_000).map(|n| segment(&format!("s{}", 1_000 + n))).collect());
        soon_with(what, &every, &segment("s1999"), &chain);
    }
}

#[test]
fn what_is_too_much_is_said_to_be() {
    let chain: HashMap<String, Selector> = (1..=30_000)
        .map(|n| (format!("s{n}"), any(vec![segment(&format!("s{}", n - 1)), tag(&format!("t{n}"))])))
        .collect();
    assert_eq!(soon_with("endless", &segment("s30000"), &tag("x"), &chain), Relation::TooComplex);
    assert_eq!(Relation::TooComplex.to_string(), "too complex to compare");
}

#[test]
fn segments_in_a_circle_are_no_trap() {
    let circle: HashMap<String, Selector> = HashMap::from([
        ("a".to_owned(), all(vec![segment("b"), tag("x")])),
        ("b".to_owned(), any(vec![segment("a"), tag("y")])),
    ]);
    let relation = soon_with("circle", &segment("a"), &tag("x"), &circle);
    assert!(matches!(relation, Relation::Broader { .. }), "{relation}");
}
