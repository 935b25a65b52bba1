//! The algebra of audiences: against every device that the laws allow, at hostile sizes, and in words.

mod hostile;
// These ask the built-in service, which the program alone needs.
#[cfg(feature = "program")]
mod neighbors;
mod pairs;
mod read_back;
mod told;
mod world;
