//! The algebra of audiences: compared with every device that the rules allow, at extreme sizes, and in words.

mod hostile;
// These use the built-in service, which only the program needs.
#[cfg(feature = "program")]
mod neighbors;
mod pairs;
mod read_back;
mod told;
mod world;
