//! The sources, the benchmarks and the tests as a whole.

mod binaries;
mod rooms;
mod speed;
