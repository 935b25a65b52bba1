//! The functions that answer requests, one file per part of the contract.

pub mod channel_tags;
pub mod channels;
pub mod legacy_tags;
pub mod limits;
pub mod named_users;
pub mod paging;
pub mod segments;
