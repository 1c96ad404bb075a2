//! Protects what the process leaves behind: files that only its user may read, and no core dump, which would
//! hold passwords and keys in clear.

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

/// Protects the process, before it does anything else; goes on without where the system refuses.
pub fn close() {
    umask(Mode::RWXG | Mode::RWXO);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
