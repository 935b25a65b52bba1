//! The functions that answer requests, one file per part of the contract.

pub mod experiments;
pub mod location;
pub mod pipelines;
pub mod push;
pub mod reports;
pub mod schedules;
pub mod segments;
pub mod templates;
