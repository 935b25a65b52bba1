//! A project's files, read into the desired state and checked.

pub mod cases;
pub mod check;
pub mod look;
pub mod manifest;
pub mod timing;
pub mod translations;
