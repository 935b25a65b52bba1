//! Random projects: what they mean, how they are written, and what applying them does.

pub mod further;
pub mod meaning;
pub mod sound;
pub mod world;
pub mod writing;
