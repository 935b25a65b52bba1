//! The engine: one call for each use case. It does the input and output, returns data, and prints nothing.
//!
//! A [`Location`] names a project and one of its targets. [`Location::open`] reads and checks the files and returns a
//! [`Workspace`]; [`Workspace::open`] connects to the target. [`Workspace::plan`] then makes a plan, and
//! [`Workspace::apply`] carries it out. A [`Session`] receives notes during these calls, and stores what this process
//! knows of other runs.

pub mod actor;
pub mod applying;
pub mod drift;
pub mod lasting;
pub mod ledger;
pub mod local;
mod location;
pub mod offline;
pub mod outcome;
pub mod people;
pub mod project;
pub mod promote;
pub mod pull;
pub mod reach;
mod safeguards;
pub mod saved;
pub mod scope;
pub mod select;
mod session;
pub mod several;
pub mod stage;
pub mod target;
pub mod translations;
pub mod turn;
pub mod validate;
pub mod workspace;

pub use applying::ApplyRequest;
pub use location::{Invalid, Location, NotOpened};
pub use session::{Notes, Session};
pub use target::Opened;
pub use workspace::{PlanRequest, Planned, Workspace};
