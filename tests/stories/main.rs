//! What people do with the real binary, and what they see.
#![cfg(unix)]

mod first_run;
mod world;

#[path = "../support/mod.rs"]
mod support;
