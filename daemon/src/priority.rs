//! Threads that give way to those that serve: lists, searches, and what the store does in the background.

use rustix::process::{getpid, getpriority_process, setpriority_process};
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

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

/// One of so many processors is left to those that serve, one at least.
#[cfg(target_os = "linux")]
const LEFT_ONE_OF: usize = 4;

/// Keeps the calling thread off some of the processors, where there are several: a thread that gives way
/// still works to the end of its turn, some milliseconds, before another one has its processor.
pub fn leave_processors() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rest_of_processors().and_then(|rest| sched_setaffinity(None, &rest)) {
        tracing::warn!(%error, "a thread leaves no processor to others");
    }
}

/// The processors for threads that give way. Those of the process are those of its first thread, which leaves
/// none.
#[cfg(target_os = "linux")]
fn rest_of_processors() -> rustix::io::Result<CpuSet> {
    let mut processors = sched_getaffinity(Some(getpid()))?;
    let all: Vec<_> = (0..CpuSet::MAX_CPU).filter(|number| processors.is_set(*number)).collect();
    if all.len() > 1 {
        all.iter().take((all.len() / LEFT_ONE_OF).max(1)).for_each(|number| processors.unset(*number));
    }
    Ok(processors)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Whether the calling thread keeps off the processors that are left to those that serve.
    pub fn leaves_processors() -> bool {
        sched_getaffinity(None).unwrap() == rest_of_processors().unwrap()
    }

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
    fn of_several_processors_some_are_left_however_often_it_is_asked_for() {
        let count = |of: Option<rustix::process::Pid>| sched_getaffinity(of).unwrap().count() as usize;
        let all = count(Some(getpid()));
        let rest = std::thread::spawn(move || {
            leave_processors();
            let inner = std::thread::spawn(move || {
                leave_processors();
                count(None)
            });
            [count(None), inner.join().unwrap()]
        });
        let expected = if all > 1 { all - (all / LEFT_ONE_OF).max(1) } else { 1 };
        assert_eq!(rest.join().unwrap(), [expected; 2]);
        assert_eq!(count(None), all, "others have all of them");
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
