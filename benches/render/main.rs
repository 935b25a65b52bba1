//! What it costs to show a plan: `cargo bench --bench render`.
//!
//! A plan of 10,000 resources of all kinds, of which each one is created, edited or deleted, is made and shown in every form.
//! In each form 10,000 resources may cost at most twelve times as much as 1,000, and 10,000 messages that change through one
//! segment at most twice as much as 10,000 that change by themselves; the run fails otherwise. What a form may cost
//! against the plan itself is a target of `cargo bench --bench speed`; here it stands beside. Planning is what `pushplan plan` does before it shows anything, without the network and the disk: it reads and
//! checks the manifests, reads the JSON that the service has answered with, compares, and arranges the steps. Beside it stands
//! how much of that is comparing and arranging alone. The machine's speed says nothing here: everything is a ratio of two
//! times of the same round.

mod extremes;
mod project;
#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use extremes::{EXTREMES, edits, users};
use project::{World, units_of};
use pushplan::check::{Subject, check};
use pushplan::plan::Plan;
use pushplan::render::Style;
use pushplan::render::html::report::html;
use pushplan::render::plan::{NextSteps, json, markdown, text};
use report::{ROUNDS, Report, Target, ratios};
use serde_json::Value;

const SMALL: usize = 1_000;
const LARGE: usize = 10_000;
/// How much longer ten times as much may take.
const GROWTH: f64 = 12.0;
/// How much more messages may cost that change through a segment than messages that change by themselves.
const THROUGH: f64 = 2.0;

type Form = (&'static str, fn(&Plan, &NextSteps) -> String);
const FORMS: [Form; 4] =
    [("text", |plan, ahead| text(plan, ahead, Style::PLAIN)), ("JSON", json), ("Markdown", markdown), ("HTML", html)];

/// The seconds of each round.
#[derive(Default)]
struct Times {
    planning: Vec<f64>,
    /// Comparing and arranging alone.
    comparing: Vec<f64>,
    forms: [Vec<f64>; FORMS.len()],
}

struct Subjected {
    world: World,
    times: Times,
    bytes: [usize; FORMS.len()],
}

fn seconds<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let begin = Instant::now();
    let made = black_box(run());
    (begin.elapsed().as_secs_f64(), made)
}

impl Subjected {
    fn new(world: World) -> Self {
        Self { world, times: Times::default(), bytes: [0; FORMS.len()] }
    }

    fn round(&mut self) {
        let world = &self.world;
        let (read, units) = seconds(|| {
            let manifests = world.manifests();
            let (desired, _) = manifests.resolve(None);
            black_box(check(&Subject { desired: &desired, target: None, now: world.now }));
            let answered: Vec<Value> = serde_json::from_str(&world.answers).expect("JSON");
            black_box(answered);
            units_of(&manifests)
        });
        let (comparing, plan) = seconds(|| world.plan(&units));
        self.times.planning.push(read + comparing);
        self.times.comparing.push(comparing);
        let ahead = NextSteps::default();
        for (number, (_, form)) in FORMS.iter().enumerate() {
            let (took, made) = seconds(|| form(&plan, &ahead));
            self.times.forms[number].push(took);
            self.bytes[number] = made.len();
        }
    }
}

/// Two sizes of one thing, measured in turn, so that a busy moment of the machine hits both alike.
fn measured(small: World, large: World, rounds: usize) -> [Subjected; 2] {
    let mut both = [Subjected::new(small), Subjected::new(large)];
    for _ in 0..rounds {
        both.iter_mut().for_each(Subjected::round);
    }
    both
}

/// A plan in which one segment changes that many messages use, against one in which each of them changes by itself.
fn through_a_segment(report: &mut Report) {
    let [direct, through] = measured(edits(LARGE), users(LARGE), 3);
    report.line(&format!("one segment changes that {LARGE} messages use ÷ {LARGE} messages that change by themselves"));
    for (number, (name, _)) in FORMS.iter().enumerate() {
        let whole = |times: &Times| -> Vec<f64> {
            times.planning.iter().zip(&times.forms[number]).map(|(planning, form)| planning + form).collect()
        };
        let cost = ratios(&whole(&through.times), &whole(&direct.times));
        report.ratio(&format!("planning and {name}"), &cost, &Target::AtMost(THROUGH));
    }
}

fn main() -> ExitCode {
    let mut report = Report::default();
    let [small, large] = measured(World::edited(SMALL), World::edited(LARGE), ROUNDS);
    report.line(&format!("{LARGE} resources of all kinds, each of them changed: seconds ÷ seconds of planning"));
    let alone = ratios(&large.times.comparing, &large.times.planning).median();
    report.line(&format!("  {:<40} {alone:>7.2}", "comparing and arranging alone"));
    for (number, (name, _)) in FORMS.iter().enumerate() {
        let name = format!("{name} ({:.1} MB)", large.bytes[number] as f64 / 1e6);
        let cost = ratios(&large.times.forms[number], &large.times.planning).median();
        report.line(&format!("  {name:<40} {cost:>7.2}"));
    }
    report.line(&format!("{LARGE} resources ÷ {SMALL}"));
    let planning = ratios(&large.times.planning, &small.times.planning);
    report.line(&format!("  {:<40} {:>7.2}", "planning", planning.median()));
    for (number, (name, _)) in FORMS.iter().enumerate() {
        let growth = ratios(&large.times.forms[number], &small.times.forms[number]);
        report.ratio(name, &growth, &Target::AtMost(GROWTH));
    }
    let [.., comment, page] = large.bytes;
    assert!(comment <= 60_000 && page < 8_000_000, "{comment} bytes of Markdown and {page} of HTML");
    through_a_segment(&mut report);
    for (name, world) in EXTREMES {
        let [small, large] = measured(world(SMALL / 10), world(SMALL), 3);
        report.line(&format!("{SMALL} {name}: seconds ÷ seconds of planning; ÷ those of {}", SMALL / 10));
        for (number, (name, _)) in FORMS.iter().enumerate() {
            let cost = ratios(&large.times.forms[number], &large.times.planning).median();
            let growth = ratios(&large.times.forms[number], &small.times.forms[number]).median();
            report.line(&format!("  {name:<40} {cost:>7.2} {growth:>9.1}"));
        }
    }
    report.end()
}
