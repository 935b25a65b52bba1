//! pushplan keeps a messaging service's configuration in git.
pub mod address;
pub mod check;
pub mod cli;
pub mod codes;
pub mod failure;
pub mod finding;
pub mod kinds;
pub mod manifest;
pub mod model;
pub mod node;
pub mod render;
pub mod source;
pub mod text;
