//! The sources, the benchmarks and the tests as a whole.

mod binaries;
mod layers;
mod not_run;
mod speed;
