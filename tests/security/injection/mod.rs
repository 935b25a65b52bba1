//! Texts from a manifest or a service never break out of their place: each of these tests tries.
#![cfg(unix)]

mod commands;
mod habits;
mod markdown;
mod points;
mod project;
