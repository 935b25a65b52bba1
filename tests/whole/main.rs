//! The sources, the benchmarks and the tests as a whole.

mod layers;
mod speed;
