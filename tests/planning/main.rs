//! Plans, decided from a project in sync with a service and one difference. No request is made.

mod drifting;
mod owning;
mod recovering;
mod renaming;
mod stories;
mod world;
