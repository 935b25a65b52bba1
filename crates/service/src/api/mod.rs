//! The functions that answer requests, with one file per part of the contract.

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

use crate::answer::{Answered, Refusal};
use crate::request::{Call, Request, RequestBody};
use crate::state::App;

/// A change that a request makes.
pub type StateChange = Box<dyn FnOnce(&mut App, &Call) -> Answered + Send>;

/// A question in the body of a request.
pub type Question = Box<dyn Fn(&App, &Call) -> Answered + Send + Sync>;

/// Decodes and checks a body, without the state and its lock.
pub type Decoding<T> = fn(&Request, &RequestBody) -> Result<T, Refusal>;
