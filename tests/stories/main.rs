//! What people do with the real binary, and what they see.
#![cfg(unix)]

mod api;
mod bare;
mod choosing;
mod collisions;
mod documented;
mod drift;
mod drifted;
mod exits;
mod first_run;
mod forms;
mod gone;
mod guards;
mod half_out;
mod leases;
mod ledgers;
mod let_go;
mod lookups;
mod lost;
mod many;
mod moving;
mod moved_back;
mod next;
mod offline;
mod newer;
mod offline_alike;
mod outcomes;
mod own_keys;
mod ownership;
mod parts;
mod past;
mod pasted;
mod reconcile;
mod renaming;
mod reports;
mod reverting;
mod repaired;
mod saved;
mod statistics;
mod test_sends;
mod times;
mod told;
mod unmanaged;
mod unread;
mod world;

#[path = "../support/schema.rs"]
mod schema;
#[path = "../support/mod.rs"]
mod support;
