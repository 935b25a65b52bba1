//! Plans of real projects, made by the real binary against the built-in service: what people read, whole.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test plans samples` writes the expected outputs again: look at their diff as a
//! marketer, as a reviewer and as a platform engineer would.
#![cfg(unix)]

mod campaign;
mod facts;
mod guards;
mod kinds;
mod origins;
mod reviews;
mod scene;
mod texts;
mod variants;
mod verdicts;
