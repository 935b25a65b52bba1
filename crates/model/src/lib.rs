//! The vocabulary of pushplan: addresses, findings and their codes, values with their positions, the service's nouns,
//! kinds and audiences.

// Makes a path in a macro the same here as in other crates.
extern crate self as pushplan_model;

pub mod address;
pub mod audience;
pub mod backoff;
pub mod codes;
pub mod cores;
pub mod digest;
pub mod exchange;
pub mod finding;
pub mod kinds;
pub mod node;
pub mod nouns;
pub mod population;
pub mod source;
pub mod text;
