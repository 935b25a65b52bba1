//! The time: the real one, or a virtual one that is moved manually.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{anyhow, bail};
use jiff::Timestamp;

use super::store::{Kept, Row};

/// The owner of the virtual clock in a data file, which belongs to no application.
const NO_APP: &str = "";
const TABLE: &str = "clock";
const KEY: &str = "now";

#[derive(Debug)]
pub enum Clock {
    Real,
    /// Stands still until it is moved.
    Virtual(Mutex<Hand>),
}

#[derive(Debug)]
pub struct Hand {
    at: Timestamp,
    /// Its time in the file.
    kept: Option<Timestamp>,
}

impl Clock {
    /// Returns a virtual clock if one is requested or stored, otherwise the real one.
    ///
    /// Everything in the data happened before the stored time of the clock, so the clock continues from there or later,
    /// and never from an earlier time.
    pub fn new(start: Option<Timestamp>, rows: &[Kept]) -> anyhow::Result<Self> {
        let row = rows.iter().find(|row| row.app == NO_APP && row.table == TABLE && row.key == KEY);
        let kept = match row.map(|row| row.value.parse()) {
            None => None,
            Some(Ok(at)) => Some(at),
            Some(Err(_)) => bail!("the time of the virtual clock in the data cannot be read"),
        };
        match (start, kept) {
            (Some(start), Some(kept)) if start < kept => Err(anyhow!(
                "the data stands at {kept}, and time never goes back: --clock {start} is past; leave --clock out to continue from there, or give a later time or another file"
            )),
            (start, kept) => {
                let at = start.or(kept);
                Ok(at.map_or(Self::Real, |at| Self::Virtual(Mutex::new(Hand { at, kept }))))
            }
        }
    }

    fn hand(&self) -> Option<MutexGuard<'_, Hand>> {
        match self {
            Self::Real => None,
            Self::Virtual(hand) => Some(hand.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.hand().map_or_else(Timestamp::now, |hand| hand.at)
    }

    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }

    /// Moves a virtual clock forward. Returns `false` for the real clock and for a move back, which have no effect.
    pub fn move_to(&self, to: Timestamp) -> bool {
        let Some(mut hand) = self.hand().filter(|hand| to >= hand.at) else { return false };
        hand.at = to;
        true
    }

    /// Returns the row to store, if a virtual clock has moved since the last call.
    pub fn row(&self) -> Option<Row> {
        let mut hand = self.hand().filter(|hand| hand.kept != Some(hand.at))?;
        hand.kept = Some(hand.at);
        Some(Row { app: NO_APP.to_owned(), table: TABLE, key: KEY.to_owned(), value: Some(hand.at.to_string()) })
    }
}

/// Returns the applications that own the rows.
pub fn owners(rows: &[Kept]) -> impl Iterator<Item = &str> {
    rows.iter().map(|row| row.app.as_str()).filter(|app| *app != NO_APP)
}
