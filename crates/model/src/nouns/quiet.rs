//! Quiet hours.

use std::fmt;

use jiff::civil::Time;
use serde::{Deserialize, Serialize};

/// A daily period, which may pass midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiet {
    pub from: Time,
    pub to: Time,
}

impl Quiet {
    pub fn contains(&self, time: Time) -> bool {
        let Self { from, to } = *self;
        if from <= to { from <= time && time < to } else { time >= from || time < to }
    }
}

/// `21:00 to 08:00`.
impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} to {}", self.from.strftime("%H:%M"), self.to.strftime("%H:%M"))
    }
}
