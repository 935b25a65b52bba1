//! What time it is: the real time, or one that is moved by hand.

use std::sync::Mutex;

use jiff::Timestamp;

#[derive(Debug)]
pub enum Clock {
    Real,
    /// Stands still until somebody moves it.
    Virtual(Mutex<Timestamp>),
}

impl Clock {
    pub fn new(start: Option<Timestamp>) -> Self {
        start.map_or(Self::Real, |start| Self::Virtual(Mutex::new(start)))
    }

    pub fn now(&self) -> Timestamp {
        match self {
            Self::Real => Timestamp::now(),
            Self::Virtual(at) => *at.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
        }
    }

    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }

    /// Moves a virtual clock forward; the real one and a move back are left alone, and `false` says so.
    pub fn move_to(&self, to: Timestamp) -> bool {
        let Self::Virtual(at) = self else { return false };
        let mut at = at.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let forward = to >= *at;
        if forward {
            *at = to;
        }
        forward
    }
}
