//! What people do with the real binary, and what they see.
#![cfg(unix)]

mod api;
mod bare;
mod believed;
mod choosing;
mod clocks;
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
mod limits;
mod lookups;
mod lost;
mod many;
mod moved_back;
mod moving;
mod newer;
mod next;
mod offline;
mod offline_alike;
mod older;
mod outcomes;
mod own_keys;
mod ownership;
mod parts;
mod past;
mod pasted;
mod proof;
mod reconcile;
mod renaming;
mod repaired;
mod reports;
mod restored;
mod reverting;
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
#[path = "../stores/object/wire.rs"]
#[expect(dead_code, reason = "a proxy is needed here, and no store")]
mod wire;
