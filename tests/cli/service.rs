//! The daemon as a service of systemd.

use crate::support::run::{Ran, run};
use crate::support::world::mfa;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

/// The value of a setting of a unit.
fn setting<'a>(unit: &'a str, name: &str) -> &'a str {
    let line = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {name} in {unit}"))
}

#[test]
fn a_unit_runs_this_program_with_the_given_settings() {
    let home = tempfile::tempdir().unwrap();
    let print = |flags: &[&str]| run(mfa(home.path(), &[&["service", "print"], flags].concat()));
    let unit = print(&[]).ok();
    assert!(setting(&unit, "ExecStart").ends_with("/mfa daemon run --data-dir /var/lib/mfa/store"), "{unit}");
    assert_eq!((setting(&unit, "LimitCORE"), setting(&unit, "TasksMax")), ("0", "512"));
    assert_eq!(setting(&unit, "MemoryMax"), "75%");
    assert_eq!((setting(&unit, "StateDirectory"), setting(&unit, "User")), ("mfa", "mfa"));
    assert_eq!(run(mfa(home.path(), &["service", "print", "-o", "json"])).json()["unit"], unit.as_str());
    let store = "postgres://mfa@db1,db2,db3/mfa?sslmode=verify-full";
    let flags =
        ["--data-dir", "/srv/my bank/store", "--store", store, "--listen", "10.0.0.1:6320", "--user", "m"];
    let unit = print(&flags).ok();
    let line = setting(&unit, "ExecStart").split_once(" daemon ").unwrap().1;
    assert_eq!(line, format!("run --data-dir \"/srv/my bank/store\" --store {store} --listen 10.0.0.1:6320"));
    assert_eq!((setting(&unit, "ReadWritePaths"), setting(&unit, "User")), ("\"/srv/my bank\"", "m"));
    let unit = print(&["--tls-cert", "/etc/mfa/50%.pem", "--tls-key", "/etc/mfa/key.pem"]).ok();
    // As systemd 249 knows it, which has no %d yet.
    let credentials =
        ["cert", "key"].map(|name| format!(" --tls-{name} ${{CREDENTIALS_DIRECTORY}}/tls_{name}"));
    assert!(setting(&unit, "ExecStart").ends_with(&credentials.concat()), "{unit}");
    assert!(
        unit.contains(
            "\nLoadCredential=tls_cert:/etc/mfa/50%%.pem\nLoadCredential=tls_key:/etc/mfa/key.pem\n"
        )
    );
    assert_eq!(print(&["--tls-cert", "a.pem", "--tls-key", "/k"]).exit, 2);
    let secret = print(&["--store", "postgres://mfa:not-a-secret@db1/mfa"]);
    assert_eq!((secret.exit, secret.err.contains("not-a-secret")), (2, false), "{}", secret.err);
    for folder in ["store", "/store", "/var/lib/store", "/srv/a\nb/store"] {
        assert_eq!(print(&["--data-dir", folder]).exit, 2, "{folder}");
    }
}

#[test]
fn a_unit_serves_the_folder_that_is_set() {
    let home = tempfile::tempdir().unwrap();
    let print = |variable: Option<&str>, flags: &[&str]| {
        let mut command = mfa(home.path(), &[&["service", "print"], flags].concat());
        command.envs(variable.map(|folder| ("MFA_DATA_DIR", folder)));
        run(command)
    };
    let served = |ran: Ran| setting(&ran.ok(), "ExecStart").split_once(" daemon ").unwrap().1.to_owned();
    fs::create_dir_all(home.path().join("config/mfa")).unwrap();
    fs::write(home.path().join("config/mfa/config.toml"), "data_dir = '/srv/bank/store'\n").unwrap();
    assert_eq!(served(print(None, &[])), "run --data-dir /srv/bank/store");
    let unit = print(Some("/srv/other/store"), &[]).ok();
    assert!(setting(&unit, "ExecStart").ends_with("run --data-dir /srv/other/store"), "{unit}");
    assert_eq!(setting(&unit, "ReadWritePaths"), "/srv/other");
    let flag = ["--data-dir", "/srv/third/store"];
    assert_eq!(served(print(Some("/srv/other/store"), &flag)), "run --data-dir /srv/third/store");
    let hidden = print(Some("/home/ama/bank/store"), &[]).err;
    assert!(hidden.contains("a service does not see /home/ama/bank/store"), "{hidden}");
    let relative = print(Some("store"), &[]).fails(2);
    assert!(relative.contains("MFA_DATA_DIR"), "{relative}");
}

#[test]
fn the_unit_of_a_package_runs_the_installed_program_as_a_user_that_stays() {
    let home = tempfile::tempdir().unwrap();
    let print = |flags: &[&str]| run(mfa(home.path(), &[&["service", "print"], flags].concat()));
    let unit = print(&["--program", "/usr/bin/mfa", "--fixed-user"]).ok();
    assert_eq!(setting(&unit, "ExecStart"), "/usr/bin/mfa daemon run --data-dir /var/lib/mfa/store");
    assert_eq!((setting(&unit, "User"), setting(&unit, "RemoveIPC")), ("mfa", "yes"));
    assert!(!unit.contains("DynamicUser"), "{unit}");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../package/mfa.service");
    assert_eq!(fs::read_to_string(shipped).unwrap(), unit);
    assert_eq!(print(&["--program", "bin/mfa"]).exit, 2);
}

#[test]
fn systemd_takes_the_unit() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return println!("skipped: systemd-analyze is not here");
    }
    let home = tempfile::tempdir().unwrap();
    let unit = home.path().join("mfa.service");
    let place = unit.to_str().unwrap();
    run(mfa(home.path(), &["service", "install", "--to", place, "--data-dir", "/srv/50% \"off\"/store"]))
        .ok();
    let seen = Command::new("systemd-analyze").args(["verify", "--man=no", place]).output().unwrap();
    let said = String::from_utf8_lossy(&seen.stderr);
    assert!(seen.status.success() && !said.contains("mfa.service:"), "{said}");
}

#[test]
fn a_unit_is_written_once_and_changed_only_after_a_yes() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("mfa.service");
    let install = |more: &[&str]| {
        let line = ["service", "install", "--to", place.to_str().unwrap()];
        run(mfa(home.path(), &[&line[..], more].concat()))
    };
    let unit = install(&[]).ok();
    assert_eq!(fs::read_to_string(&place).unwrap(), unit);
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o644);
    install(&[]).ok();
    assert_eq!(install(&["--user", "bank"]).exit, 2);
    assert_eq!(fs::read_to_string(&place).unwrap(), unit);
    let changed = install(&["--user", "bank", "--yes"]).ok();
    assert!(changed != unit && fs::read_to_string(&place).unwrap() == changed);
    let nowhere = run(mfa(home.path(), &["service", "install", "--to", "/proc/mfa.service"]));
    assert_eq!(nowhere.exit, 1, "{}", nowhere.err);
}

#[test]
fn a_unit_of_a_user_that_does_not_exist_is_warned_of() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("mfa.service");
    let install = |more: &[&str]| {
        let line = ["service", "install", "--to", place.to_str().unwrap(), "--yes"];
        run(mfa(home.path(), &[&line[..], more].concat())).err
    };
    let made = install(&["--user", "no-such-user"]);
    assert!(made.contains("there is no user no-such-user, so systemd makes one"), "{made}");
    let fixed = install(&["--user", "no-such-user", "--fixed-user"]);
    assert!(fixed.contains("so the service cannot start; see: mfa help installation"), "{fixed}");
    let there = install(&["--user", "root", "--fixed-user"]);
    assert!(!there.contains("there is no user"), "{there}");
}

#[test]
fn systemd_hears_when_the_daemon_serves_and_when_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("notify");
    let manager = UnixDatagram::bind(&place).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let hear = || {
        let mut said = [0; 256];
        let length = manager.recv(&mut said).unwrap();
        String::from_utf8_lossy(&said[..length]).into_owned()
    };
    let data_dir = home.path().join("store").display().to_string();
    let line = ["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off", "--data-dir", &data_dir];
    let mut command = mfa(home.path(), &line);
    command.env("NOTIFY_SOCKET", &place).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = command.spawn().unwrap();
    assert_eq!(hear(), "READY=1\n");
    let pid = Pid::from_raw(i32::try_from(daemon.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(hear(), "STOPPING=1\n");
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
}

#[test]
fn the_start_of_the_daemon_shows_where_proc_has_only_processes() {
    // As with ProcSubset=pid of the unit.
    let hidden = "mount -t proc -o subset=pid proc /proc && test ! -e /proc/stat";
    let inside = |line: &str, arguments: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]);
        unshare.args([line, "sh"]).args(arguments);
        unshare
    };
    if !inside(hidden, &[]).status().is_ok_and(|status| status.success()) {
        return println!("skipped: no namespaces are to be had here");
    }
    let home = tempfile::tempdir().unwrap();
    let daemon = ["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"];
    let plain = mfa(home.path(), &daemon);
    let mut unshared = inside(&format!("{hidden} && exec \"$@\""), &[plain.get_program().to_str().unwrap()]);
    unshared.args(plain.get_args()).stdout(Stdio::piped()).stderr(Stdio::null()).env_clear();
    unshared.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    unshared.env("PATH", std::env::var_os("PATH").unwrap());
    let mut unshared = unshared.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(unshared.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().rsplit_once(' ').unwrap().1;
    let asked = ["metrics", "process_start_time_seconds", "-o", "tsv", "--columns", "value", "--url", url];
    let seen = run(mfa(home.path(), &[&asked[..], &["--no-header"]].concat()));
    unshared.kill().unwrap();
    unshared.wait().unwrap();
    let started: f64 = seen.ok().trim().parse().unwrap();
    let now = UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!(now - started < 3600.0 && started < now + 2.0, "{started} at {now}");
}
