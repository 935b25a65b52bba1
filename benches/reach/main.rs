//! What counting a message's audience costs: `cargo bench -p pushplan-model --bench reach`.
//!
//! The audience of one message is counted on a million devices, in turns with a loop that reads the same columns and knows the
//! condition at compile time, both on all cores. The count may cost at most four times the loop, and one message less than a
//! second; the run fails otherwise. `PUSHPLAN_DEVICES=100000` takes another number.

#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use pushplan_model::audience::Audience;
use pushplan_model::cores;
use pushplan_model::node::{Decode, Node, Reader};
use pushplan_model::nouns::audience::Selector;
use pushplan_model::nouns::device::DeviceTypes;
use pushplan_model::nouns::vocabulary::GROUPS;
use pushplan_model::population::{
    DeviceCount, DeviceFacts, Population, PopulationBuilder, PopulationSource, UserFacts,
};
use report::{Report, Target, ratios};
use serde_json::{Value, json};

/// How often both are measured.
const ROUNDS: usize = 21;
/// How much more than the loop a count may cost.
const MOST: f64 = 4.0;
/// How many seconds one message may take.
const LONGEST: f64 = 1.0;

const KINDS: [&str; 4] = ["ios", "android", "web", "amazon"];
const COUNTRIES: [&str; 6] = ["US", "CA", "GB", "DE", "FR", "AU"];

/// What the loop reads: a column for each condition.
#[derive(Default)]
struct Columns {
    kinds: Vec<u8>,
    countries: Vec<u8>,
    opt_in: Vec<u8>,
    buyers: Vec<u64>,
    unsubscribed: Vec<u64>,
    gold: Vec<u64>,
}

fn main() -> ExitCode {
    let devices: usize = std::env::var("PUSHPLAN_DEVICES").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000_000);
    let (population, columns) = made(devices);
    let audience = audience();
    let expected = DeviceCount::exact(scan(&columns));
    let (mut counts, mut scans) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let counted = black_box(&population).count(black_box(&audience));
        counts.push(start.elapsed().as_secs_f64());
        assert_eq!(counted, Some(expected), "both count the same");
        let start = Instant::now();
        black_box(scan(black_box(&columns)));
        scans.push(start.elapsed().as_secs_f64());
    }
    let bytes = population.to_bytes();
    let mut loads = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        black_box(Population::of_bytes(black_box(&bytes)).expect("a population"));
        loads.push(start.elapsed().as_secs_f64());
    }
    let mut report = Report::default();
    let longest = counts.iter().copied().fold(0.0, f64::max);
    let read = loads.iter().copied().fold(0.0, f64::max);
    report.line(&format!("{devices} devices, {} in the audience, {} bytes in a file", expected.at_least, bytes.len()));
    report.line(&format!(
        "one message takes {:.1} ms at the longest; the file is read in {:.0} ms",
        longest * 1e3,
        read * 1e3
    ));
    report.ratio("a count / a scan of the columns", &ratios(&counts, &scans), &Target::AtMost(MOST));
    let is_quick = longest + read < LONGEST;
    if !is_quick {
        report.line(&format!("reading the file and counting one message takes longer than {LONGEST} s"));
    }
    if is_quick { report.end() } else { ExitCode::FAILURE }
}

/// Devices in the United States, Canada and the United Kingdom that bought or are gold, opted in and not unsubscribed.
fn audience() -> Audience {
    let tag = |tag: &str, group: &str| json!({ "tag": tag, "group": group });
    let selector: Selector = decode(&json!({ "AND": [
        { "OR": [tag("US", "ua_locale_country"), tag("CA", "ua_locale_country"), tag("GB", "ua_locale_country")] },
        { "OR": [{ "tag": "buyer" }, tag("gold", "tier")] },
        { "NOT": { "tag": "unsubscribed" } },
        tag("true", "ua_opt_in"),
    ] }));
    Audience::of(&selector, |_| None).on(&decode::<DeviceTypes>(&json!(["ios", "android"])))
}

fn decode<T: Decode>(value: &Value) -> T {
    T::decode(&Node::from_json_value(value), &mut Reader::of_wire()).expect("it can be read")
}

fn made(devices: usize) -> (Population, Columns) {
    let place = |id: &str| GROUPS.iter().position(|group| group.id == id).expect("a group");
    let (country, opt_in) = (place("ua_locale_country"), place("ua_opt_in"));
    let mut builder = PopulationBuilder::new(PopulationSource::Sample, None, "");
    let mut columns = Columns::default();
    for column in [&mut columns.buyers, &mut columns.unsubscribed, &mut columns.gold] {
        column.resize(devices.div_ceil(64), 0);
    }
    let mut state = 1_u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for number in 0..devices {
        let (kind, from, opted) = (below(4) as usize, below(6) as usize, below(4) != 0);
        let (buyer, unsubscribed, gold) = (below(3) == 0, below(10) == 0, below(50) == 0);
        let mut tags: Vec<String> = (0..3).map(|_| format!("tag-{}", below(200))).collect();
        tags.extend(buyer.then(|| "buyer".to_owned()));
        tags.extend(unsubscribed.then(|| "unsubscribed".to_owned()));
        builder.add(&DeviceFacts {
            kind: Some(KINDS[kind].to_owned()),
            properties: vec![(country, COUNTRIES[from].to_owned()), (opt_in, opted.to_string())],
            tells_properties: true,
            tags: Some(tags),
            group_tags: Some(gold.then(|| ("tier".to_owned(), "gold".to_owned())).into_iter().collect()),
            user: UserFacts::None,
            lists: Some(Vec::new()),
            subscriptions: Some(Vec::new()),
            places: Some(Vec::new()),
        });
        columns.kinds.push(kind as u8);
        columns.countries.push(from as u8);
        columns.opt_in.push(u8::from(opted));
        for (column, is_in) in
            [(&mut columns.buyers, buyer), (&mut columns.unsubscribed, unsubscribed), (&mut columns.gold, gold)]
        {
            column[number / 64] |= u64::from(is_in) << (number % 64);
        }
    }
    (builder.done(), columns)
}

/// Counts the audience by a loop over the columns.
fn scan(columns: &Columns) -> u64 {
    const STEP: usize = 65_536;
    let starts: Vec<usize> = (0..columns.kinds.len()).step_by(STEP).collect();
    let counted = cores::each_of(starts, |start| {
        let mut found = 0;
        for at in start..columns.kinds.len().min(start + STEP) {
            let bit = |column: &[u64]| column[at / 64] >> (at % 64) & 1 == 1;
            // Without branches, which random devices would mislead.
            let is_in = (columns.kinds[at] < 2)
                & (columns.countries[at] < 3)
                & (columns.opt_in[at] == 1)
                & (bit(&columns.buyers) | bit(&columns.gold))
                & !bit(&columns.unsubscribed);
            found += u64::from(is_in);
        }
        found
    });
    counted.into_iter().sum()
}
