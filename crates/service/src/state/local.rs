//! Local times of devices.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::devices::{Device, nearest_zone};

/// A local time, and the moment at which some zones reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    pub time: DateTime,
    pub at: Timestamp,
}

impl Local {
    /// Whether the clocks of a zone show the time at this moment. A time that they skip is later by the length of the
    /// skip; of a time that they show twice, the first one counts.
    fn is_shown_in(&self, zone: &TimeZone) -> bool {
        zone.to_ambiguous_timestamp(self.time).compatible().is_ok_and(|at| at == self.at)
    }

    /// Whether the clock of a device shows it. A device without a zone, or with an unknown one, has no local time.
    pub(crate) fn is_shown_on(&self, device: &Device) -> bool {
        device.zone().is_some_and(|zone| self.is_shown_in(&zone))
    }

    /// Returns the tags of the devices that may show it: those of all zones whose clocks do. Most moments have none.
    pub fn zones(&self) -> BTreeSet<&'static str> {
        let shown = every_zone().iter().filter(|(zone, _)| self.is_shown_in(zone));
        shown.map(|(_, tag)| *tag).collect()
    }
}

/// Returns all zones, each with the tag that its devices have.
fn every_zone() -> &'static [(TimeZone, &'static str)] {
    static ZONES: OnceLock<Vec<(TimeZone, &str)>> = OnceLock::new();
    ZONES.get_or_init(|| {
        let named = |name: &str| Some((TimeZone::get(name).ok()?, nearest_zone(name)));
        jiff::tz::db().available().filter_map(|name| named(name.as_str())).collect()
    })
}
