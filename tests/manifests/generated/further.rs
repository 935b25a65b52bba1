//! The fields of pipelines that the contract lacks.

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::{collection, option, sample};

use super::meaning::{Tree, map, with, word};

/// The fields of a pipeline that the contract lacks.
pub const FURTHER: [&str; 6] =
    ["historical_trigger", "timing", "constraint", "condition", "activation_time", "deactivation_time"];

/// The hours at which a pipeline may send, on some days each. Days with the same hours can share a daypart or not.
fn hours() -> impl Strategy<Value = Tree> {
    let days = vec!["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let time = |hour: i64| {
        let forms = [format!("{hour:02}:30"), format!("{hour:02}:30:00")];
        Tree::Either(forms.map(Tree::text).into())
    };
    // Each two hours are one window, and the last one may be a preferred time.
    let times = (sample::subsequence((0..24_i64).collect::<Vec<_>>(), 2..6), any::<bool>()).prop_map(
        move |(hours, is_preferred)| {
            let mut times: Vec<Tree> =
                hours.chunks_exact(2).map(|pair| map([("start", time(pair[0])), ("end", time(pair[1]))])).collect();
            if let [last] = hours.chunks_exact(2).remainder()
                && is_preferred
            {
                times.push(map([("preferred", time(*last))]));
            }
            Tree::Set(times)
        },
    );
    let kinds = (sample::select(vec!["local", "utc"]), sample::select(vec!["wait", "cancel"]));
    (kinds, sample::subsequence(days, 1..8), times).prop_map(|((kind, miss), days, times)| {
        let daypart = |days: &[&str]| {
            let days = Tree::Set(days.iter().map(|day| Tree::text(*day)).collect());
            map([("days_of_week", days), ("allowed_times", times.clone())])
        };
        let apart = Tree::Set(days.iter().map(|day| daypart(&[day])).collect());
        let dayparts = Tree::Either(vec![Tree::List(vec![daypart(&days)]), apart]);
        let schedule = map([("type", Tree::text(kind)), ("miss_behavior", Tree::text(miss)), ("dayparts", dayparts)]);
        map([("schedule", schedule)])
    })
}

/// A value or none for each of these fields.
pub fn further() -> impl Strategy<Value = [Option<Tree>; 6]> {
    let bare = |number: i64| Tree::Bare(number.to_string());
    let time = || {
        option::of((1_767_225_600_i64..1_830_297_600).prop_map(|second| {
            let at = Timestamp::from_second(second).expect("a time");
            let forms = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"];
            Tree::Either(forms.map(|form| Tree::text(at.strftime(form).to_string())).into())
        }))
    };
    let period = prop_oneof![
        (1..73_i64).prop_map(|number| ("hours", number)),
        (1..91_i64).prop_map(|number| ("days", number)),
        Just(("lifetimes", 1)),
    ];
    let rate = (1..100_i64, period)
        .prop_map(move |(pushes, (key, number))| map([("rate", map([("pushes", bare(pushes)), (key, bare(number))]))]));
    let tag = (word(), any::<bool>(), any::<bool>()).prop_map(|(tag, is_grouped, is_negated)| {
        let group = is_grouped.then(|| Tree::text("device"));
        let negated = is_negated.then(|| Tree::Bare("true".to_owned()));
        map([("tag", with(map([("tag_name", Tree::Text(tag))]), [("group", group), ("negated", negated)]))])
    });
    let set = collection::vec(tag, 1..4).prop_map(|tags| map([("or", Tree::Set(tags))]));
    let condition = collection::vec(set, 1..4).prop_map(|mut sets| match sets.len() {
        1 => Tree::Many(vec![sets.remove(0)]),
        _ => Tree::Set(sets),
    });
    let constraint = collection::vec(rate, 1..3).prop_map(Tree::Many);
    let inactivity = (1..91_i64)
        .prop_map(move |days| map([("event", Tree::text("open")), ("equals", bare(0)), ("days", bare(days))]));
    let inactivity = collection::vec(inactivity, 1..3).prop_map(Tree::Many);
    (option::of(inactivity), option::of(hours()), option::of(constraint), option::of(condition), time(), time())
        .prop_map(|(inactivity, hours, constraint, condition, from, until)| {
            [inactivity, hours, constraint, condition, from, until]
        })
}
