//! Whole plans of real projects, made by the real binary against the built-in service.
//!
//! `PUSHPLAN_BLESS=1 cargo test --test plans samples` rewrites the expected outputs: look at their diff as a marketer,
//! as a reviewer and as a platform engineer would.
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
