//! Medians, spreads and targets.

use std::io::Write;
use std::process::ExitCode;

/// How often each pair is measured.
pub const ROUNDS: usize = 7;

/// What was measured several times.
#[derive(Clone, Debug)]
pub struct Sample(Vec<f64>);

impl Sample {
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// From the first quarter to the third.
    pub fn spread(&self) -> f64 {
        self.at(0.75) - self.at(0.25)
    }

    fn at(&self, part: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * part).round() as usize]
    }
}

/// The ratios of two rows of measurements, round by round: what slows a round down slows both of its halves down.
pub fn ratios(above: &[f64], below: &[f64]) -> Sample {
    Sample::new(above.iter().zip(below).map(|(above, below)| above / below).collect())
}

pub enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// What was found so far.
#[derive(Default)]
pub struct Report {
    missed: Vec<String>,
}

impl Report {
    pub fn line(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").expect("standard output can be written");
    }

    pub fn ratio(&mut self, name: &str, ratio: &Sample, target: &Target) {
        let (median, spread) = (ratio.median(), ratio.spread());
        let (words, lacks) = match target {
            Target::AtLeast(least) => (format!("at least {least}"), least - median),
            Target::AtMost(most) => (format!("at most {most}"), median - most),
        };
        let missed = lacks > spread;
        let verdict = if missed {
            "MISSED"
        } else if lacks > 0.0 {
            "within its spread"
        } else {
            "ok"
        };
        self.line(&format!("  {name:<40} {median:>7.2} ± {spread:<6.2} {words:<13} {verdict}"));
        if missed {
            self.missed.push(name.to_owned());
        }
    }

    pub fn end(self) -> ExitCode {
        if self.missed.is_empty() {
            return ExitCode::SUCCESS;
        }
        self.line(&format!("missed: {}", self.missed.join(", ")));
        ExitCode::FAILURE
    }
}
