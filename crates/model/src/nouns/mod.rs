//! The nouns of the service: the parts of the contract's objects.
//!
//! Each can be read in all forms that authors and the service use, and is written in one.

pub mod actions;
pub mod audience;
pub mod clock;
pub mod condition;
pub mod delay;
pub mod device;
pub mod field_path;
pub mod inactivity;
pub mod level;
pub mod locale;
pub mod localization;
pub mod many;
pub mod message;
pub mod notification;
pub mod on_drift;
pub mod overrides;
pub mod placeholder;
pub mod push;
pub mod quiet;
pub mod rate;
pub mod recipient;
pub mod schedule;
pub mod send_hours;
pub mod spelling;
pub mod split;
pub mod tagged;
pub mod time_of_day;
pub mod timing;
pub mod trigger;
pub mod utc_time;
pub mod variable;

pub mod vocabulary;
pub mod zone;
