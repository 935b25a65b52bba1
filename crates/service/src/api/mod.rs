//! The functions that answer requests, one file per part of the contract.

pub mod channel_tags;
pub mod channels;
pub mod experiments;
pub mod legacy_tags;
pub mod limits;
pub mod location;
pub mod named_users;
pub mod paging;
pub mod pipelines;
pub mod push;
pub mod reports;
pub mod schedules;
pub mod segments;
pub mod templates;

use crate::answer::Answered;
use crate::request::Call;
use crate::state::App;

/// A change that a request asks for.
pub type StateChange = Box<dyn FnOnce(&mut App, &Call) -> Answered + Send>;
