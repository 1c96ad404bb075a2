//! What the process leaves behind is for its user alone.

use super::run::run;
use crate::served::{Home, Served, free_address};
use crate::stored::files;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// `sh` with an open mask that becomes `mfa`.
fn openly(command: &Command) -> Command {
    let mut open = Command::new("/bin/sh");
    open.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    open.env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        value.map(|value| open.env(name, value));
    }
    open.env("PATH", std::env::var_os("PATH").unwrap());
    open
}

#[test]
fn no_file_is_for_others_whatever_the_mask() {
    let home = Home { store: None, ..Home::new() };
    let password = home.file("password", "blue kettle 7");
    let init = home.mfa(&["init", "--password-file", &password]);
    assert!(openly(&init).stdout(Stdio::null()).status().unwrap().success());
    fs::remove_file(&password).unwrap();
    let address = free_address();
    let start = home.mfa(&["daemon", "start", "--listen", &address]);
    assert!(openly(&start).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    run(home.mfa(&["daemon", "stop", "--listen", &address])).ok();
    let found = files(home.dir.path());
    assert!(found.iter().any(|(name, _)| name.contains("/index/")), "sled has files");
    assert!(found.iter().any(|(name, _)| name.ends_with(".log")), "the daemon has a log: {found:?}");
    for (name, _) in found {
        let mode = fs::metadata(&name).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{name} has the mode {mode:o}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_leaves_no_image_of_its_memory() {
    let home = Home { store: None, ..Home::new() };
    let daemon = Served::start(home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]));
    let limits = fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let words: Vec<_> = core.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{core}");
    assert_eq!(daemon.end(), Some(0));
}

/// The system gives `/proc` files of a process to root if core dumps of it are forbidden.
#[cfg(target_os = "linux")]
#[test]
fn nobody_looks_into_the_memory_of_a_daemon_but_root() {
    const NOBODY: u32 = 65_534;
    let home = Home { store: None, ..Home::new() };
    let own = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    // Root is the owner in any case, and another user may not reach the program where it was built.
    let is_root = rustix::process::getuid().is_root();
    let program = match is_root {
        true => home.dir.path().join("mfa"),
        false => own.get_program().into(),
    };
    if is_root {
        fs::copy(own.get_program(), &program).unwrap();
        std::os::unix::fs::chown(home.dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let as_somebody = |mut command: Command| {
        match is_root {
            true => command.uid(NOBODY).gid(NOBODY).current_dir("/"),
            false => &mut command,
        };
        command
    };
    let mut command = Command::new(program);
    command.args(own.get_args()).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let owner = |pid: u32| fs::metadata(format!("/proc/{pid}/environ")).unwrap().uid();
    let mut other = as_somebody(Command::new("cat")).stdin(Stdio::piped()).spawn().unwrap();
    let daemon = Served::start(as_somebody(command));
    let owners = (owner(other.id()), owner(daemon.pid()));
    drop(other.stdin.take());
    other.wait().unwrap();
    assert!(owners.0 != 0 && owners.1 == 0, "{owners:?}");
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_quiet_initialisation_prints_no_password() {
    let home = Home::new();
    let refused = run(home.mfa(&["init", "-q"]));
    assert_eq!(refused.exit, 2, "{}", refused.err);
    assert!(refused.err.contains("--password-file"), "{}", refused.err);
    assert!(!home.dir.path().join("data").exists());
    let made = run(home.mfa(&["init", "-q", "-o", "json", "--operator", "oscar"]));
    let err = made.err.clone();
    let record = made.json();
    let password = record["passwords"]["oscar"].as_str().unwrap().to_owned();
    assert!(password.len() > 10 && !err.contains(&password), "{err}");
    let again = home.file("password", "blue kettle 7");
    let quiet = run(home.mfa(&["init", "-q", "--password-file", &again]));
    assert_eq!((quiet.exit, quiet.err.as_str()), (0, ""));
}

#[test]
fn what_is_started_for_trying_out_prints_no_password_either_where_it_is_to_be_quiet() {
    let home = Home { store: None, ..Home::new() };
    let address = free_address();
    let started = run(home.mfa(&["quickstart", "-q", "-o", "json", "--empty", "--listen", &address]));
    assert_eq!((started.exit, started.err.as_str()), (0, ""));
    let at = |words: &[&str]| run(home.mfa(&[words, &["--url", &format!("http://{address}")]].concat()));
    assert_eq!(at(&["whoami", "-o", "json"]).json()["user"], "operator", "whoever started it is logged in");
    let create = ["users", "create", "kojo", "--role", "teller", "--generate-password"];
    let said = at(&[&create[..], &["-q"]].concat()).fails(2);
    assert!(said.contains("--password-file"), "{said}");
    assert!(at(&create).err.contains("the password of kojo is"));
    run(home.mfa(&["daemon", "stop", "--listen", &address])).ok();
    let log = home.dir.path().join("log");
    let dev = home.mfa(&["dev", "-q", "--empty"]);
    let dev = Served::start_logged(dev, fs::File::create(&log).unwrap());
    assert_eq!(dev.end(), Some(0));
    let said = fs::read_to_string(&log).unwrap();
    assert!(!said.contains("password"), "{said}");
}
