use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Plans allocate and free many small objects on several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    // Before anything else: from here on, no other process of the same user can read the secrets of this one.
    pushplan::cli::conceal();
    pushplan::cli::main()
}
