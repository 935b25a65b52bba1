//! The sources, the benchmarks and the tests as a whole.

mod binaries;
mod names;
mod rooms;
mod speed;
