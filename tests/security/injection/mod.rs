//! Nothing that comes from a manifest or a service breaks out of its place: each of these tests tries.
#![cfg(unix)]

mod commands;
mod habits;
mod markdown;
mod points;
mod project;
