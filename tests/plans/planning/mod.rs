//! Plans, decided from a project in sync with a service and one difference. No request is made.

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
