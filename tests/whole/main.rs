//! The sources, the benchmarks and the tests as a whole.

mod binaries;
mod names;
mod phrases;
mod rooms;
mod speed;
mod targets;
