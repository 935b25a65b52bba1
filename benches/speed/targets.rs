//! The targets, and what stands against each.

use crate::options::Options;
use crate::project::Layout;
use crate::report::Sample;
use crate::requests::Requests;
use crate::rounds::{Measured, Place, Work};
use crate::shown::FORMS;
use crate::table::{Row, Target, grouped, seconds};

/// What a row says that compares two times.
fn made_of(measured: &Measured, above: Place, below: Place) -> String {
    let words = |(work, resources, layout): Place| {
        let median = measured.sample(work, resources, layout).map_or(0.0, |times| times.median());
        format!("{} {}", work.words(), seconds(median))
    };
    format!("{} ÷ {}", words(above), words(below))
}

/// All rows, in the order of the targets. What was not measured has none.
pub fn rows(options: &Options, measured: &Measured, requests: &Requests) -> Vec<Row> {
    let mut rows = Vec::new();
    let (middle, largest) = (options.middle(), options.largest());
    let name = grouped(middle as f64);
    let expected = Requests::total(&requests.expected);
    let wrong = requests.differences();
    let how = if wrong.is_empty() {
        "one for each kind and page, and each touched segment".to_owned()
    } else {
        wrong.join("; ")
    };
    let made = Sample::new(vec![Requests::total(&requests.made)]);
    rows.push(Row::new(format!("requests of a no-op plan, {name}"), made, Target::Exactly(expected), how));
    let mut add = |work: String, above: Place, below: Place, target: Target| {
        if let Some(ratio) = measured.ratio(above, below) {
            rows.push(Row::new(work, ratio, target, made_of(measured, above, below)));
        }
    };
    for layout in Layout::ALL {
        let (at, words) = (|work| (work, middle, layout), layout.words());
        add(format!("no-op plan ÷ floor, {name}, {words}"), at(Work::Plan), at(Work::Floor), Target::AtMost(1.5));
    }
    for layout in Layout::ALL {
        let (at, words) = (|work| (work, middle, layout), layout.words());
        add(format!("validate ÷ events, {name}, {words}"), at(Work::Validate), at(Work::Events), Target::AtMost(2.0));
    }
    for layout in Layout::ALL {
        let (at, words) = (|work| (work, middle, layout), layout.words());
        add(
            format!("script ÷ no-op plan, {name}, {words}"),
            at(Work::ScriptPlan),
            at(Work::Plan),
            Target::AtLeast(8.0),
        );
    }
    let at = |work| (work, middle, Layout::One);
    add(format!("octoDNS ÷ no-op plan, {name}"), at(Work::OctoDns), at(Work::Plan), Target::AtLeast(10.0));
    add(format!("apply ÷ wire, {name} creates"), at(Work::Apply), at(Work::Wire), Target::AtMost(2.0));
    add(format!("script ÷ apply, {name} creates"), at(Work::ScriptApply), at(Work::Apply), Target::AtLeast(15.0));
    let start = |work| (work, 0, Layout::One);
    add("--version ÷ an empty program".to_owned(), start(Work::Version), start(Work::Empty), Target::AtMost(3.0));
    add(
        "validate, one file ÷ an empty program".to_owned(),
        start(Work::ValidateOne),
        start(Work::Empty),
        Target::AtMost(3.0),
    );
    for (form, (words, _)) in FORMS.iter().enumerate() {
        add(
            format!("{words} ÷ planning, {name} changes"),
            at(Work::Form(form)),
            at(Work::Planning),
            Target::AtMost(0.5),
        );
    }
    if largest > middle {
        for layout in Layout::ALL {
            rows.extend(growth(measured, (Work::Plan, Work::Floor), (middle, largest), layout));
            rows.extend(growth(measured, (Work::Validate, Work::Events), (middle, largest), layout));
        }
    }
    for layout in Layout::ALL {
        rows.extend(memory(measured, largest, layout));
    }
    rows.push(Row::new(
        "seeds of the simulation per second and core",
        Sample::new(measured.seeds.clone()),
        Target::AtLeast(30_000.0),
        format!("{} seeds in each round", grouped(options.seeds as f64)),
    ));
    rows
}

/// How much faster the time of something grows than that of its floor.
fn growth(measured: &Measured, (work, floor): (Work, Work), (from, to): (usize, usize), layout: Layout) -> Option<Row> {
    let own = measured.ratio((work, to, layout), (work, from, layout))?;
    let floors = measured.ratio((floor, to, layout), (floor, from, layout))?;
    let by_round = |above: &[f64], below: &[f64], above_floor: &[f64], below_floor: &[f64]| {
        let each = above.iter().zip(below).zip(above_floor.iter().zip(below_floor));
        each.map(|((above, below), (floor_above, floor_below))| above / below / (floor_above / floor_below)).collect()
    };
    let of = |work, size| measured.of(work, size, layout).unwrap_or_default();
    let values = by_round(of(work, to), of(work, from), of(floor, to), of(floor, from));
    let how = format!("{} grows {:.1} times, {} {:.1}", work.words(), own.median(), floor.words(), floors.median());
    let (from, to) = (grouped(from as f64), grouped(to as f64));
    let name = format!("growth of {} ÷ growth of {}, {from} to {to}, {}", work.words(), floor.words(), layout.words());
    // The plan has a target; what else grows is there to be seen.
    let target = if work == Work::Plan { Target::AtMost(1.15) } else { Target::None };
    Some(Row::new(name, Sample::new(values), target, how))
}

fn memory(measured: &Measured, largest: usize, layout: Layout) -> Option<Row> {
    let (peaks, bytes) = (measured.peaks.get(&layout)?, measured.bytes.get(&layout)?);
    if peaks.is_empty() {
        return None;
    }
    let median = Sample::new(peaks.clone()).median();
    let values = Sample::new(peaks.iter().map(|peak| peak / bytes).collect());
    let mib = |bytes: f64| grouped(bytes / f64::from(1 << 20));
    let how = format!("{} MiB ÷ {} MiB of YAML and answers", mib(median), mib(*bytes));
    let name = format!("peak memory ÷ bytes, no-op plan, {}, {}", grouped(largest as f64), layout.words());
    Some(Row::new(name, values, Target::AtMost(6.0), how))
}
