//! What the process leaves behind is its user's alone: files that no other may read, and no image of its
//! memory, in which passwords and keys are in clear.

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

/// Closes the process, before it does anything else. Where the system refuses, it works without.
pub fn close() {
    umask(Mode::RWXG | Mode::RWXO);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
