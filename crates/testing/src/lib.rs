//! Shared support for integration tests and benchmarks: folders, the real binary, services and servers.

mod dice;
mod folder;
mod golden;
pub mod hosts;
mod missing;
mod outside;
pub mod postgres;
mod project;
mod schema;
pub mod servers;
mod sources;
pub mod sshd;
pub mod wire;

use std::env;
use std::path::{Path, PathBuf};

pub use dice::Dice;
pub use folder::{Folder, Ran, copy, copy_but, shop};
pub use golden::golden;
pub use missing::{missing, not_run, take_not_run};
pub use outside::outside_ci;
pub use project::{Project, Service, changes, ended, says, signal, stand_in};
pub use schema::checked;
pub use sources::{SourceFile, crates, sources};

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is two folders below the root")
}

/// Returns the `pushplan` binary of this build.
///
/// cargo sets the variable for the tests of the package that has the binary. If a test is started without cargo, the binary is one
/// folder above the test: `target/debug/pushplan` for `target/debug/deps/stories-…`.
pub fn binary() -> PathBuf {
    if let Some(path) = env::var_os("CARGO_BIN_EXE_pushplan") {
        return path.into();
    }
    let test = env::current_exe().expect("a test is a file");
    let folder = test.ancestors().nth(2).expect("a test is two folders deep");
    let binary = folder.join(format!("pushplan{}", env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} does not exist: run `cargo build` first", binary.display());
    binary
}
