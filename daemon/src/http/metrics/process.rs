//! Figures of this process, from `/proc`; nothing on a system without it. A service sees nothing there but
//! processes (`ProcSubset=pid`).

use crate::clock::machine_started_micros;
use rustix::param::clock_ticks_per_second;
use std::fs;
use std::sync::OnceLock;

/// What is known of the process.
#[derive(Debug, Default)]
pub struct Process {
    /// Time that its threads have used processors, in microseconds.
    pub cpu_micros: Option<u64>,
    /// When it started, in microseconds since 1970.
    pub started_micros: Option<u64>,
    /// Memory that it has.
    pub resident_bytes: Option<u64>,
    /// Addresses that it has.
    pub virtual_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Open files and connections.
    pub files: Option<u64>,
    /// Most of them.
    pub files_max: Option<u64>,
}

/// Found once: a clock that is set does not start the process again.
static STARTED: OnceLock<Option<u64>> = OnceLock::new();

impl Process {
    /// Asks the system.
    pub fn look() -> Self {
        let text = |name: &str| fs::read_to_string(format!("/proc/{name}")).unwrap_or_default();
        let stat = text("self/stat");
        let status = text("self/status");
        let limits = text("self/limits");
        Self {
            cpu_micros: cpu_micros(&stat),
            started_micros: *STARTED.get_or_init(|| started_micros(&stat, machine_started_micros()?)),
            resident_bytes: number_after(&status, "VmRSS:").map(|kib| kib * 1024),
            virtual_bytes: number_after(&status, "VmSize:").map(|kib| kib * 1024),
            threads: number_after(&status, "Threads:"),
            files: open_files(),
            files_max: number_after(&limits, "Max open files"),
        }
    }
}

/// A field of `/proc/self/stat`, counted from the state, which is 0. The fields before it may hold anything.
fn field(stat: &str, at: usize) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(at)?.parse().ok()
}

fn ticks_to_micros(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000) / clock_ticks_per_second().max(1)
}

fn cpu_micros(stat: &str) -> Option<u64> {
    Some(ticks_to_micros(field(stat, 11)? + field(stat, 12)?))
}

/// The process counts from the start of the machine.
fn started_micros(stat: &str, of_machine: u64) -> Option<u64> {
    of_machine.checked_add(ticks_to_micros(field(stat, 19)?))
}

/// The first number of the line that begins so.
fn number_after(text: &str, beginning: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(beginning))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn open_files() -> Option<u64> {
    // One of them is the folder that is being read.
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    u64::try_from(count).ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_may_look_like_fields() {
        let stat = "10282 (a) R 7 (b) S 1 2 3 4 5 6 7 8 9 10 100 50 13 14 15 16 17 18 4092599 20";
        assert_eq!(
            (field(stat, 11), field(stat, 12), field(stat, 19)),
            (Some(100), Some(50), Some(4_092_599))
        );
        assert_eq!(cpu_micros(stat), Some(150 * 1_000_000 / clock_ticks_per_second()));
        assert_eq!(cpu_micros("10282 (cut"), None);
    }

    #[test]
    fn the_process_was_started_once_and_when_the_kernel_says() {
        let started = Process::look().started_micros.unwrap();
        assert_eq!(Process::look().started_micros, Some(started), "it was started once");
        // The whole second in which the machine was started, where the kernel says it.
        let machine = number_after(&fs::read_to_string("/proc/stat").unwrap(), "btime").unwrap();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let by_kernel = machine * 1_000_000 + ticks_to_micros(field(&stat, 19).unwrap());
        assert!(started.abs_diff(by_kernel) < 2_000_000, "{started}, and {by_kernel} by the kernel");
    }

    #[test]
    fn what_the_system_says_is_found() {
        let limits =
            "Limit  Soft  Hard  Units\nMax open files            20000                20000  files\n";
        assert_eq!(number_after(limits, "Max open files"), Some(20_000));
        assert_eq!(number_after("Max open files   unlimited", "Max open files"), None);
        let seen = Process::look();
        assert!(
            seen.files > Some(2) && seen.resident_bytes > Some(1 << 20) && seen.threads >= Some(2),
            "{seen:?}"
        );
    }
}
