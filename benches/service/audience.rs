//! Counting an audience: the time follows its rarest tag, not the number of devices.

use std::hint::black_box;
use std::time::Instant;

use jiff::Timestamp;
use pushplan::nouns::audience::Selector;
use pushplan::service::request::understood;
use pushplan::service::state::Journal;
use pushplan::service::state::devices::{Criteria, Device, Index, Members, NO_GROUP, Properties};
use serde_json::json;
use uuid::Uuid;

use crate::report::{ROUNDS, Report, Sample, Target, ratios};

const FEW: usize = 100_000;
const MANY: usize = 1_000_000;
/// How many devices carry the rarest tag.
const RARE: [usize; 3] = [100, 1_000, 10_000];
/// The most bytes that a device may cost.
const BYTES: f64 = 600.0;

pub fn run(report: &mut Report) {
    report.line("an audience with three tags, by how many devices carry the rarest, with ten times the devices");
    let few = population(FEW);
    let (before, start) = (resident(), Instant::now());
    let many = population(MANY);
    let took = start.elapsed().as_secs_f64();
    report.line(&format!("  {MANY} devices are taken in within {took:.1} s"));
    if let Some((before, after)) = before.zip(resident()) {
        let each = Sample::new(vec![(after - before) / MANY as f64]);
        report.ratio("bytes of memory for each device", &each, &Target::AtMost(BYTES));
    }
    for rare in RARE {
        let selector = json!({ "and": [{ "tag": "half" }, { "tag": "third", "group": "crm" }, { "tag": tag(rare) }] });
        let selector: Selector = understood(&selector).expect("a selector");
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS * 3 {
            for (devices, times) in [&few, &many].into_iter().zip(&mut times) {
                times.push(time(devices, &selector, rare));
            }
        }
        let [a, b] = times.each_ref().map(|times| Sample::new(times.clone()).median() * 1e6);
        let name = format!("{rare} of {MANY}, of {FEW}: {b:.0}/{a:.0} µs");
        report.ratio(&name, &ratios(&times[1], &times[0]), &Target::AtMost(2.0));
    }
}

/// Seconds for one count. It is about a sixth of those who carry the rarest tag.
fn time(devices: &Index, selector: &Selector, rare: usize) -> f64 {
    let members = Members { devices, segments: &Criteria::new(), now: Timestamp::UNIX_EPOCH };
    let start = Instant::now();
    let found = members.of(black_box(selector)).len();
    let took = start.elapsed().as_secs_f64();
    assert!((rare / 12..=rare / 3).contains(&found), "{found} of {rare}");
    took
}

fn tag(rare: usize) -> String {
    format!("rare{rare}")
}

/// Devices as they are found: each tells its properties and carries a few tags.
fn population(count: usize) -> Index {
    let (mut index, mut journal) = (Index::new(), Journal::new("app", false));
    for n in 0..count {
        // The numbers follow no pattern, and are the same in each run.
        let dice = mixed(n as u64);
        let of = |values: &[&str], shift: u32| Some(values[(dice >> shift) as usize % values.len()].to_owned());
        let mut device = Device {
            device_type: ["ios", "android", "web"][n % 3].to_owned(),
            installed: true,
            opt_in: dice & 1 == 1,
            push_address: Some(Uuid::from_u64_pair(dice, n as u64).simple().to_string()),
            properties: Properties {
                language: of(&["en", "fr", "de", "es"], 8),
                country: of(&["US", "FR", "DE", "ES", "GB"], 12),
                timezone: of(&["America/New_York", "Europe/Paris", "Europe/London"], 16),
                app_version: of(&["1.4.2", "2.0.0", "2.1.7"], 20),
                sdk_version: of(&["16.2.0", "17.0.1"], 24),
                os_version: of(&["14.1", "15.2", "16.0"], 28),
                model: of(&["iPhone14,2", "Pixel 8", "SM-G991B"], 32),
            }
            .into(),
            ..Device::default()
        };
        let mut carry = |group: &str, tag: String| device.tags.entry(group.to_owned()).or_default().insert(tag);
        if (dice >> 40).is_multiple_of(2) {
            carry(NO_GROUP, "half".into());
        }
        if (dice >> 44).is_multiple_of(3) {
            carry("crm", "third".into());
        }
        carry("crm", format!("tier{}", (dice >> 48) % 4));
        for rare in RARE {
            if n.is_multiple_of(count / rare) {
                carry(NO_GROUP, tag(rare));
            }
        }
        index.put(&mut journal, &Uuid::from_u64_pair(mixed(dice), dice).to_string(), device);
    }
    index
}

fn mixed(n: u64) -> u64 {
    let n = (n.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// Bytes of memory in use, where the system tells.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0)
}
