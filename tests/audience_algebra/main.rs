//! The algebra of audiences: against every device that the laws allow, at hostile sizes, and in words.

mod hostile;
mod neighbors;
mod pairs;
mod told;
mod world;
