//! What people and programs read. One file per form; nothing else prints.

mod out;

pub use out::Out;
