//! The nouns of the service: what the contract's objects are made of.
//!
//! Each can be read from the many forms that authors and the service use for it, and is written in one.

pub mod audience;
pub mod clock;
pub mod delay;
pub mod device;
pub mod field_path;
pub mod level;
pub mod many;
pub mod message;
pub mod notification;
pub mod on_drift;
pub mod placeholder;
pub mod push;
pub mod quiet;
pub mod recipient;
pub mod schedule;
pub mod spelling;
pub mod tagged;
pub mod trigger;
pub mod variable;

pub mod vocabulary;
pub mod zone;
