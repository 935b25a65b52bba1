//! The functions that answer requests, one file per part of the contract.

pub mod location;
pub mod reports;
pub mod segments;
