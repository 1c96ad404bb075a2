//! The program. What it does is a library, which is compiled while the daemon is still being optimised.

use std::process::ExitCode;

/// The daemon makes and drops many small values in many threads, and this one is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mfa_cli::main()
}
