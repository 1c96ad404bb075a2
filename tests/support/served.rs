//! The daemon as a process of its own.

use crate::support::stored::postgres;
use crate::support::world::mfa;
use mfa_daemon::Address;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A daemon that was started in the foreground; it ends with this value.
pub struct Served {
    child: Child,
    pub url: String,
}

impl Served {
    /// Starts `mfa daemon run`, or another command that serves, and waits until it says where it listens.
    #[track_caller]
    pub fn start(command: Command) -> Self {
        Self::start_with(command, Stdio::null())
    }

    /// As [`Served::start`], with its log in a file.
    #[track_caller]
    pub fn start_logged(command: Command, log: std::fs::File) -> Self {
        Self::start_with(command, log.into())
    }

    #[track_caller]
    fn start_with(mut command: Command, log: Stdio) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("mfa daemon listens on ").unwrap_or_else(|| panic!("{line}"));
        Self { child, url: url.to_owned() }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How many files it has open.
    pub fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// What Linux says of the process under a name.
    pub fn status(&self, name: &str) -> Option<String> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(|value| value.trim().to_owned())
    }

    /// Stops it, and returns its exit code.
    pub fn end(mut self) -> Option<i32> {
        self.stop()
    }

    /// Kills it as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn stop(&mut self) -> Option<i32> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        // Once it has been waited for, its number may be another process's.
        if let Ok(Some(status)) = self.child.try_wait() {
            return status.code();
        }
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

/// An address that no other test takes before the daemon of this one does: each has a host of its own.
pub fn free_address() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Relaxed));
    let host = format!("127.{}.{}.{}", 1 + process / 250 % 250, 1 + process % 250, 1 + count % 250);
    TcpListener::bind((host, 0)).unwrap().local_addr().unwrap().to_string()
}

/// A port on which nothing listens, at any address of this machine. The system gives it to no client, which
/// could come between the end of a daemon and its next start.
pub fn free_port() -> u16 {
    let clients = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
    let first: u16 = clients.split_whitespace().next().unwrap().parse().unwrap();
    let is_free = |port: &u16| TcpListener::bind(("0.0.0.0", *port)).is_ok();
    (1_024..first).rev().find(is_free).expect("a free port")
}

/// The program in another folder, for whom may not reach the one that was built. This process does not write it
/// itself: whatever it starts at the same moment would have the file open, too, and nobody could run it.
pub fn program_in(folder: &Path) -> PathBuf {
    let program = folder.join("mfa");
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_mfa")).arg(&program).status().unwrap();
    assert!(copied.success());
    program
}

/// A home in which `mfa` works on one store: a folder, or PostgreSQL where the tests run on it.
pub struct Home {
    pub dir: tempfile::TempDir,
    /// PostgreSQL, where it is the store.
    pub store: Option<Address>,
}

impl Home {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), store: postgres() }
    }

    /// `mfa` there.
    pub fn mfa(&self, arguments: &[&str]) -> Command {
        let mut command = mfa(self.dir.path(), arguments);
        if let Some(store) = &self.store {
            command.env("MFA_STORE", store.to_string());
        }
        command
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path: &Path = &self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
