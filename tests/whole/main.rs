//! The sources, the benchmarks and the tests as a whole.

mod binaries;
mod not_run;
mod rooms;
mod speed;
