//! What people and programs read. One file per form; nothing else prints.

pub mod findings;
mod out;

pub use out::Out;
