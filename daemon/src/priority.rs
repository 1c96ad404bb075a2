//! Threads that give way to those that serve: lists, searches, and what the store does in the background.

use rustix::process::{getpid, getpriority_process, setpriority_process};

/// How far they give way: in a full machine each still gets a quarter of a processor.
const NICE: i32 = 5;

/// Lets the calling thread give way to others of this process.
pub fn give_way() {
    // On Linux this is about the calling thread alone; elsewhere it is about the whole process.
    if !cfg!(target_os = "linux") {
        return;
    }
    // The one that has started this thread may give way itself; the first thread of a process never does.
    let lowered = getpriority_process(Some(getpid())).and_then(|nice| setpriority_process(None, nice + NICE));
    if let Err(error) = lowered {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        tracing::warn!(%error, name, "a thread does not give way to others");
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// How far the calling thread gives way.
    pub fn niceness() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // The name of the thread, in brackets, may hold spaces.
        stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().parse().unwrap()
    }

    /// How far a thread gives way that has called [`give_way`].
    pub fn lowered() -> i32 {
        getpriority_process(Some(getpid())).unwrap() + NICE
    }

    #[test]
    fn a_thread_that_gives_way_does_so_once_and_alone() {
        let own = niceness();
        let both = std::thread::spawn(|| {
            give_way();
            // A thread that it starts gives way as well, and not twice as far.
            let inner = std::thread::spawn(|| {
                give_way();
                niceness()
            });
            (niceness(), inner.join().unwrap())
        });
        assert_eq!(both.join().unwrap(), (lowered(), lowered()));
        assert_eq!(niceness(), own);
    }
}
