//! Input and output: files, git and HTTP.

pub mod client;
pub mod failure;
pub mod files;
pub mod git;
pub mod private;
