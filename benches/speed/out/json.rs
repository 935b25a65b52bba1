//! The results as data.

use serde_json::{Value, json};

use super::{About, Found};
use crate::table::Target;

pub fn text(found: &Found) -> String {
    let Found { about, options, measured, requests, rows } = found;
    let About { cores, processor, date, commit, peers, minutes } = about;
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let (kind, target) = match row.target {
                Target::AtMost(most) => ("at most", Some(most)),
                Target::AtLeast(least) => ("at least", Some(least)),
                Target::Exactly(number) => ("exactly", Some(number)),
                Target::None => ("none", None),
            };
            json!({
                "work": row.work,
                "median": round(row.values.median()),
                "spread": round(row.values.spread()),
                "target": target,
                "is": kind,
                "verdict": row.verdict().word(),
                "made_of": row.how,
            })
        })
        .collect();
    let times: Vec<Value> = measured
        .times
        .iter()
        .map(|((work, resources, layout), seconds)| {
            let seconds: Vec<f64> = seconds.iter().copied().map(round).collect();
            json!({ "work": work.words(), "resources": resources, "layout": layout.key(), "seconds": seconds })
        })
        .collect();
    let machine = json!({ "cores": cores, "processor": processor });
    let results = json!({
        "date": date,
        "commit": commit,
        "machine": machine,
        "peers": peers,
        "minutes": round(*minutes),
        "rounds": options.rounds,
        "sizes": options.sizes,
        "rows": rows,
        "times": times,
        "requests": { "made": requests.made, "expected": requests.expected },
    });
    format!("{results:#}\n")
}

/// To four digits after the first that is not zero: what comes later is noise.
fn round(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return 0.0;
    }
    let unit = 10_f64.powi(4 - number.abs().log10().floor() as i32);
    (number * unit).round() / unit
}
