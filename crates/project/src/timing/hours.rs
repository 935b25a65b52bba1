//! Quiet hours and the hours of pipelines.

use jiff::{SignedDuration, Timestamp};
use pushplan_model::nouns::quiet::Quiet;
use pushplan_model::nouns::send_hours::{HoursClock, SendHours};
use pushplan_model::nouns::zone;

use super::Where;

/// Half a year, after which clocks differ the most from now.
const HALF_A_YEAR: SignedDuration = SignedDuration::from_hours(24 * 182);

/// Whether a triggered message can be sent in quiet hours of a recipient. `None` for the hours means at any time, and
/// for the places of recipients anywhere.
pub fn can_disturb(hours: Option<&SendHours>, quiet: Quiet, there: Option<&Where>, now: Timestamp) -> bool {
    if quiet.from == quiet.to {
        return false;
    }
    let Some(hours) = hours else { return true };
    if hours.clock == HoursClock::Local {
        return !hours.avoids(quiet);
    }
    let Some(there) = there.filter(|there| !there.elsewhere) else { return true };
    let later = now.checked_add(HALF_A_YEAR).unwrap_or(now);
    let mut zones = there.named.iter().map(|(name, _)| zone::get(name)).peekable();
    zones.peek().is_none()
        || zones.any(|zone| {
            // An unknown zone can be any.
            let Some(zone) = zone else { return true };
            [now, later].into_iter().any(|at| !hours.avoids_in(quiet, zone.to_offset(at)))
        })
}
