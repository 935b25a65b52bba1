//! Taking what the service has into git: what it is called there, what its manifest says, and which file that is in.
//!
//! Pure: whoever pulls reads the service and the project, asks the checks what they think of the draft, writes the files and
//! appends one record to the ledger.
//!
//! [`unmanaged()`] finds what is in no manifest, [`place()`] gives it a key, [`Draft`] says what is written of it, and
//! [`files()`] where. [`changed()`] finds what is declared and was changed on the service, or has more parts there: its manifests are edited
//! in place.

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
