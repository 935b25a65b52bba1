//! Git: the program, how it is started, and the content of commits.

mod commit;
mod find;
mod locate;
mod masked;
mod repository;
mod run;
mod settings;
mod tracked;
mod trust;

pub use commit::{Commit, TreeEntry};
pub use find::Unusable;
pub use masked::{is_secret, masked};
pub use repository::{Repository, Revision};
pub use run::{Git, LIMIT, Ran, Silent};
pub use tracked::tracked;
pub use trust::{OF_ANOTHER, trust};
