//! Plans for a project that is in sync with a service except for one difference. No request is made.

mod choosing;
mod drifting;
mod looked;
mod owning;
mod people;
mod pruning;
mod recovering;
mod renaming;
mod sending;
mod stamps;
mod stories;
mod unknown;
mod unmanaged;
mod world;
