//! Planning and applying: the live state, the changes, and the steps that make them.

pub mod apply;
pub mod arrange;
pub mod compare;
pub mod drift;
pub mod engine;
pub mod fetch;
pub mod forge;
pub mod guard;
pub mod live;
pub mod outcome;
pub mod plan;
pub mod planner;
pub mod promote;
pub mod pull;
pub mod query;
pub mod reconcile;
pub mod rekey;
pub mod review;
pub mod test_send;
pub mod unmanaged;
