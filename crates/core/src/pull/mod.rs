//! Pulling live resources into git: their keys, their manifests, and the files of these.
//!
//! Pure: the caller reads the service and the project, runs the checks on the draft, writes the files and appends one
//! record to the ledger.
//!
//! [`unmanaged()`] finds resources that are in no manifest, [`place()`] gives them keys, [`Draft`] has their manifests,
//! and [`files()`] the files. [`changed()`] finds declared resources that were changed on the service, or have more
//! parts there: their manifests are edited in place.

mod changed;
mod choice;
mod draft;
mod files;
pub mod keys;
mod merge;
mod placing;
mod unmanaged;

pub use changed::{Changed, Changes, Gone, Part, changed};
pub use choice::{Called, Choice};
pub use draft::{Draft, Piece};
pub use files::{Existing, Layout, PulledFile, files};
pub use merge::{Clash, Edited, rebased};
pub use placing::{Declared, Placed, Places, place};
pub use unmanaged::{Left, PAST, Single, Unmanaged, UnmanagedResource, unmanaged};
