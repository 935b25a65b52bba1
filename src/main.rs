use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A plan makes and drops many small things on several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    pushplan::cli::main()
}
