use std::process::ExitCode;

fn main() -> ExitCode {
    pushplan::cli::main()
}
