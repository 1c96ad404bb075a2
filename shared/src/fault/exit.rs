//! How `mfa` ends. `mfa help exit-codes` prints this table.

/// Every exit code with its meaning.
pub const TABLE: &[(i32, &str)] = &[
    (OK, "ok"),
    (FAILURE, "server fault (5xx) or another failure"),
    (USAGE, "wrong usage, or a prompt was needed without a terminal"),
    (NOT_FOUND, "not found"),
    (NOT_LOGGED_IN, "not logged in, or the login has expired"),
    (FORBIDDEN, "not allowed"),
    (CONFLICT, "conflict: exists already, wrong state, in use, balance, changed meanwhile"),
    (INVALID, "refused by validation"),
    (WAIT_TIMEOUT, "a wait timed out"),
    (BULK_FAILURES, "a bulk run finished with failures"),
    (UNREACHABLE, "the daemon cannot be reached; where a change may have been made, the message says so"),
    (LOCKED, "the data directory is locked by another process"),
    (INCOMPATIBLE, "client and daemon are incompatible"),
    (TOO_MANY_ATTEMPTS, "too many attempts (429): wait, then try again"),
    (CHANGES_FOUND, "diff, or the dry run of apply, found changes"),
    (HUNG_UP, "ended with its terminal or session (SIGHUP)"),
    (INTERRUPTED, "interrupted"),
    (TERMINATED, "ended from outside (SIGTERM)"),
];
/// Ok.
pub const OK: i32 = 0;
/// Server fault or another failure.
pub const FAILURE: i32 = 1;
/// Wrong usage.
pub const USAGE: i32 = 2;
/// Not found.
pub const NOT_FOUND: i32 = 3;
/// Not logged in.
pub const NOT_LOGGED_IN: i32 = 4;
/// Not allowed.
pub const FORBIDDEN: i32 = 5;
/// Conflict.
pub const CONFLICT: i32 = 6;
/// Refused by validation.
pub const INVALID: i32 = 7;
/// A wait timed out.
pub const WAIT_TIMEOUT: i32 = 8;
/// A bulk run finished with failures.
pub const BULK_FAILURES: i32 = 9;
/// The daemon cannot be reached.
pub const UNREACHABLE: i32 = 10;
/// The data directory is locked.
pub const LOCKED: i32 = 11;
/// Client and daemon are incompatible.
pub const INCOMPATIBLE: i32 = 12;
/// Too many attempts.
pub const TOO_MANY_ATTEMPTS: i32 = 13;
/// Changes were found.
pub const CHANGES_FOUND: i32 = 20;
/// Ended by SIGHUP.
pub const HUNG_UP: i32 = 128 + 1;
/// Interrupted.
pub const INTERRUPTED: i32 = 128 + 2;
/// Ended by SIGTERM.
pub const TERMINATED: i32 = 128 + 15;
