//! The real time.

use std::time::Duration;

use jiff::Timestamp;

use super::Now;

/// The current time on both clocks.
pub fn now() -> Now {
    Now { wall: Timestamp::now(), boot: boot() }
}

/// The time since the machine started, also while it slept.
#[cfg(unix)]
fn boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    // On other systems, the clock called monotonic continues during sleep.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// The time since the first call. Its clock continues while the machine sleeps.
#[cfg(not(unix))]
fn boot() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_on() {
        let before = now();
        std::thread::sleep(Duration::from_millis(5));
        let after = now();
        assert!(after.boot >= before.boot + Duration::from_millis(5));
        assert!(after.wall > before.wall);
        #[cfg(target_os = "linux")]
        {
            let uptime = std::fs::read_to_string("/proc/uptime").expect("a clock");
            let seconds: f64 = uptime.split(' ').next().and_then(|text| text.parse().ok()).expect("a number");
            assert!((after.boot.as_secs_f64() - seconds).abs() < 5.0, "{seconds} {after:?}");
        }
    }
}
