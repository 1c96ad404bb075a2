//! The daemon as operators meet it: in the foreground, in the background, for trying out.

use crate::support::run::run;
use crate::support::served::{Home, Served, free_address, program_in};
use crate::support::terminal::Terminal;
use crate::support::world::{World, mfa};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// `mfa` at work in the foreground.
fn foreground(home: &Path, arguments: &[&str]) -> Served {
    Served::start(mfa(home, arguments))
}

#[test]
fn a_daemon_says_where_it_listens_and_ends_on_a_signal() {
    let home = tempfile::tempdir().unwrap();
    let line = ["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off", "--data-dir"];
    let data_dir = home.path().join("store").display().to_string();
    let daemon = foreground(home.path(), &[&line[..], &[&data_dir]].concat());
    let status = run(mfa(home.path(), &["status", "--url", &daemon.url, "-o", "json"])).json();
    assert_eq!((&status["status"], &status["auth"]), (&"up".into(), &"off".into()));
    let second = run(mfa(home.path(), &[&line[..], &[&data_dir, "-o", "json"]].concat()));
    let error: serde_json::Value = serde_json::from_str(second.err.lines().last().unwrap()).unwrap();
    assert_eq!((second.exit, &error["error"]["code"]), (11, &"data_dir_locked".into()));
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_daemon_takes_memory_in_small_pages() {
    let home = Home::new();
    let daemon = Served::start(home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]));
    // Linux without huge pages says nothing of them.
    let known = std::fs::read_to_string("/proc/self/status").unwrap().contains("THP_enabled");
    assert_eq!(daemon.status("THP_enabled"), known.then(|| "0".to_owned()));
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_store_without_users_is_reported_with_the_way_out() {
    let home = Home::new();
    let warned = |daemon: &Served| {
        ["status", "daemon status"].map(|command| {
            let words: Vec<_> = command.split(' ').chain(["--url", &daemon.url]).collect();
            let ran = run(home.mfa(&words));
            assert_eq!(ran.exit, 0, "{}", ran.err);
            ran.err.contains("has no users, so no one can log in") && ran.err.contains("mfa init")
        })
    };
    let serve = |auth| Served::start(home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", auth]));
    let daemon = serve("on");
    assert_eq!(warned(&daemon), [true, true]);
    assert_eq!(daemon.end(), Some(0));
    let daemon = serve("off");
    assert_eq!(warned(&daemon), [false, false], "there is no access control");
    assert_eq!(daemon.end(), Some(0));
    let password = home.file("password", "blue kettle 7");
    run(home.mfa(&["init", "--password-file", &password])).ok();
    let daemon = serve("on");
    assert_eq!(warned(&daemon), [false, false]);
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_daemon_without_access_control_stays_on_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let said = run(mfa(home.path(), &["daemon", "run", "--listen", "0.0.0.0:0", "--auth", "off"]));
    assert_eq!(said.exit, 2, "{}", said.err);
    assert_eq!(run(mfa(home.path(), &["daemon", "run", "--listen", "nonsense"])).exit, 2);
    assert_eq!(run(mfa(home.path(), &["daemon", "run", "--auth", "perhaps"])).exit, 2);
}

#[test]
fn a_daemon_for_trying_out_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let daemon = foreground(home.path(), &["dev"]);
    run(mfa(home.path(), &["offices", "create", "abc", "--name", "A", "--url", &daemon.url])).ok();
    let kept = || std::fs::read_to_string(home.path().join("state/mfa/logins.json"));
    assert!(kept().unwrap().contains(&daemon.url));
    assert_eq!(
        run(mfa(home.path(), &["customers", "list", "-o", "id", "--url", &daemon.url])).ok().lines().count(),
        3
    );
    assert_eq!(daemon.end(), Some(0));
    assert!(kept().is_err() && !home.path().join("share").exists());
}

#[test]
fn the_daemon_in_the_background_starts_once_restarts_and_stops() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let url = format!("http://{address}");
    let with =
        |words: &[&'static str]| run(mfa(home, &[words, &["--listen", &address, "-o", "json"]].concat()));
    let started = with(&["daemon", "start", "--auth", "off"]).json();
    assert_eq!((&started["url"], &started["auth"]), (&url.as_str().into(), &"off".into()));
    assert_eq!(with(&["daemon", "start"]).json()["pid"], started["pid"]);
    let status = run(mfa(home, &["daemon", "status", "--url", &url, "-o", "json"])).json();
    assert_eq!(status["pid"], started["pid"]);
    run(mfa(home, &["offices", "create", "abc", "--name", "A", "--url", &url])).ok();
    // The address that commands speak to is enough to find it, and to start it again.
    let spoken_to =
        |words: &[&'static str]| run(mfa(home, &[words, &["--url", &url, "-o", "json"]].concat()));
    let restarted = spoken_to(&["daemon", "restart"]).json();
    assert_ne!(restarted["pid"], started["pid"]);
    run(mfa(home, &["offices", "get", "abc", "--url", &url])).ok();
    assert!(with(&["daemon", "logs"]).json()["log"].as_str().unwrap().contains(&address));
    assert_eq!(spoken_to(&["daemon", "stop"]).json()["result"], "stopped");
    assert_eq!(spoken_to(&["daemon", "start", "--auth", "off"]).json()["url"], url.as_str());
    assert_eq!(with(&["daemon", "stop"]).json()["result"], "stopped");
    assert_eq!(with(&["daemon", "stop"]).json()["result"], "was not running");
    run(mfa(home, &["daemon", "status", "--url", &url, "--retries", "0"])).fails(10);
}

#[test]
fn of_a_daemon_that_is_a_service_the_words_of_systemd_are_named() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join("store").display().to_string();
    let served = foreground(
        home.path(),
        &["daemon", "run", "--data-dir", &store, "--listen", "127.0.0.1:0", "--auth", "off"],
    );
    for verb in ["stop", "restart"] {
        let said = run(mfa(home.path(), &["daemon", verb, "--url", &served.url])).fails(1);
        assert!(said.contains("sudo systemctl stop mfa, or restart mfa"), "{said}");
    }
    let said = run(mfa(home.path(), &["daemon", "logs", "--url", &served.url])).fails(3);
    assert!(said.contains("journalctl -u mfa -e"), "{said}");
    let said = run(mfa(home.path(), &["check", "--data-dir", &store])).fails(11);
    assert!(said.contains("sudo systemctl stop mfa"), "{said}");
    let other = home.path().join("other").display().to_string();
    let said =
        run(mfa(home.path(), &["daemon", "start", "--data-dir", &other, "--url", &served.url])).fails(6);
    assert!(said.contains("serves another store"), "{said}");
}

#[test]
fn a_daemon_of_another_data_directory_is_not_taken_for_the_wanted_one() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let folder = |name: &str| home.join(name).display().to_string();
    let start = |data_dir: &str| {
        let words = ["daemon", "start", "--auth", "off", "--listen", &address, "--data-dir", data_dir];
        run(mfa(home, &words))
    };
    start(&folder("one")).ok();
    start(&format!("{}/../one", folder("one"))).ok();
    let said = start(&folder("two")).fails(6);
    assert!(said.contains(&folder("one")) && said.contains(&folder("two")), "{said}");
    assert!(said.contains("--listen") && said.contains("mfa daemon stop"), "{said}");
    assert!(!home.join("two").exists(), "nothing was made");
    // Who names no data directory asks for the daemon that is there.
    run(mfa(home, &["daemon", "start", "--listen", &address])).ok();
    run(mfa(home, &["daemon", "stop", "--listen", &address])).ok();
    // Of a daemon in the foreground no more is known than what is locked.
    let line = ["daemon", "run", "--auth", "off", "--listen", &address, "--data-dir"];
    let daemon = foreground(home, &[&line[..], &[&folder("one")]].concat());
    start(&folder("one")).ok();
    let said = start(&folder("two")).fails(6);
    assert!(said.contains("serves another store"), "{said}");
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_daemon_that_does_not_start_shows_why() {
    let home = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let start = ["daemon", "start", "--auth", "off", "--timeout-seconds", "1", "--listen", &address];
    let said = run(mfa(home.path(), &start)).fails(1);
    assert!(said.contains("cannot listen") && said.contains("mfa daemon logs"), "{said}");
}

/// The password that a run has shown for a user.
fn shown_password(said: &str, user: &str) -> Option<String> {
    let (_, rest) = said.split_once(&format!("the password of {user} is "))?;
    Some(rest.split(':').next().unwrap().to_owned())
}

#[test]
fn a_quick_start_leaves_an_operator_logged_in_who_can_do_the_daily_work() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let address = free_address();
    let url = format!("http://{address}");
    let with = |words: &[&str]| run(mfa(home, &[words, &["--url", &url, "-o", "json"]].concat()));
    let started = run(mfa(home, &["quickstart", "--empty", "--listen", &address, "-o", "json"]));
    let (admin, operator) = ["admin", "operator"].map(|user| shown_password(&started.err, user)).into();
    assert_eq!(started.json(), serde_json::json!([]));
    assert_eq!(with(&["status"]).json()["auth"], "on");
    let who = with(&["whoami"]).json();
    assert_eq!((&who["user"], &who["role"]), (&"operator".into(), &"administrator".into()));
    with(&["offices", "create", "accra", "--name", "Accra"]).json();
    with(&["customers", "create", "c-100", "--given-name", "Ama", "--assigned-office", "accra"]).json();
    with(&["users", "create", "kojo", "--role", "teller", "--generate-password"]).json();
    with(&["logout"]).json();
    with(&["customers", "list"]).fails(4);
    // A user who is logged out gets a hint, and without a terminal no question is asked.
    let once_more = ["quickstart", "--listen", &address, "-o", "json"];
    let error = run(mfa(home, &once_more)).fails_in_json(4);
    assert!(error["hint"].as_str().unwrap().contains("mfa login operator"), "{error}");
    std::fs::write(home.join("word"), operator.unwrap()).unwrap();
    let file = home.join("word").display().to_string();
    with(&["login", "operator", "--password-file", &file]).json();
    assert_eq!(run(mfa(home, &once_more)).json()[0]["identifier"], "c-100", "real records stay alone");
    // The first user can do nothing before changing the password that was shown.
    std::fs::write(home.join("word"), admin.unwrap()).unwrap();
    let first = with(&["login", "admin", "--password-file", &file]);
    assert!(first.err.contains(&format!("mfa --url {url} users set-password admin")), "{}", first.err);
    assert_eq!(first.json()["passwordChangeRequired"], true);
    run(mfa(home, &["daemon", "stop", "--listen", &address])).ok();
}

#[test]
fn a_quick_start_elsewhere_says_how_later_commands_find_it() {
    let world = World::start();
    let address = free_address();
    let terminal = Terminal::start(&world, 120, &[]);
    let folder = world.dir.path().join("elsewhere");
    let line = format!("mfa quickstart --auth off --data-dir {} --listen {address}", folder.display());
    let screen = terminal.run(&line);
    let export = format!("export MFA_URL=http://{address} MFA_LISTEN={address}");
    assert!(screen.contains(&export) && !screen.contains("--url"), "{screen}");
    terminal.run(&export);
    let screen = terminal.run("mfa customers activate c-002");
    assert!(screen.contains("customer c-002 activated (ACTIVE)"), "{screen}");
    let screen = terminal.run("mfa daemon stop");
    assert!(screen.ends_with("exit 0\n$"), "{screen}");
    world.get("/live").is(200);
}

#[test]
fn a_repeated_quick_start_changes_nothing_and_spares_real_records() {
    let home = tempfile::tempdir().unwrap();
    let address = free_address();
    let start = ["quickstart", "--listen", &address, "-o", "json"];
    let first = run(mfa(home.path(), &start)).json();
    assert_eq!(first[0]["currentState"], "ACTIVE");
    let again = run(mfa(home.path(), &start));
    assert!(!again.err.contains("password"), "{}", again.err);
    assert_eq!(again.json(), first);
    // The login outlives the daemon, and so do the users.
    run(mfa(home.path(), &["daemon", "stop", "--listen", &address])).ok();
    let restarted = run(mfa(home.path(), &start));
    assert!(!restarted.err.contains("password"), "{}", restarted.err);
    assert_eq!(restarted.json(), first);
    let url = format!("http://{address}");
    run(mfa(home.path(), &["customers", "create", "real", "--url", &url])).ok();
    run(mfa(home.path(), &["offices", "delete", "market", "--yes", "--url", &url])).ok();
    run(mfa(home.path(), &start)).ok();
    run(mfa(home.path(), &["offices", "get", "market", "--url", &url])).fails(3);
    run(mfa(home.path(), &["daemon", "stop", "--listen", &address])).ok();
}

#[test]
fn a_quick_start_without_access_control_serves_loopback_only() {
    let home = tempfile::tempdir().unwrap();
    let address = free_address();
    let start = ["quickstart", "--auth", "off", "-o", "json", "--listen"];
    run(mfa(home.path(), &[&start[..], &["0.0.0.0:6399"]].concat())).fails_in_json(2);
    let started = run(mfa(home.path(), &[&start[..], &[&address]].concat()));
    assert!(started.err.contains("auth off") && !started.err.contains("password"), "{}", started.err);
    assert_eq!(started.json()[0]["currentState"], "ACTIVE");
    run(mfa(home.path(), &["daemon", "stop", "--listen", &address])).ok();
}

#[test]
fn a_quick_start_has_its_sample_where_references_are_strict() {
    let home = tempfile::tempdir().unwrap();
    let address = free_address();
    let url = format!("http://{address}");
    let strict = |line: &[&str]| {
        let mut command = mfa(home.path(), line);
        command.env("MFA_STRICT_REFERENCES", "true").env("MFA_URL", &url).env("MFA_OFFICE", "head-office");
        run(command)
    };
    let start = ["quickstart", "--listen", &address, "-o", "json"];
    let first = strict(&start);
    assert!(!first.err.contains("warning: the sample"), "{}", first.err);
    let first = first.json();
    let tellers = strict(&["teller", "list", "-o", "json"]).json();
    assert_eq!((&tellers[1]["code"], &tellers[1]["state"]), (&"desk-2".into(), &"ACTIVE".into()));
    assert_eq!(strict(&start).json(), first);
    assert_eq!(strict(&["teller", "list", "-o", "json"]).json(), tellers);
    // It is the strict daemon that has taken all of it.
    strict(&["customers", "create", "c-9", "--assigned-office", "nowhere"]).fails(7);
    strict(&["daemon", "stop", "--listen", &address]).ok();
}

#[test]
fn at_an_existing_strict_daemon_quickstart_says_what_tellers_need() {
    let home = tempfile::tempdir().unwrap();
    let address = free_address();
    let url = format!("http://{address}");
    let line = |line: &str| {
        let mut command = mfa(home.path(), &line.split(' ').collect::<Vec<_>>());
        command.env("MFA_STRICT_REFERENCES", "true").env("MFA_URL", &url).env("MFA_OFFICE", "head-office");
        command.env("MFA_AUTH", "off").env("MFA_LISTEN", &address);
        run(command)
    };
    line("daemon start").ok();
    let started = line("quickstart -o json");
    let why = "warning: the sample has no tellers: references are strict at this daemon";
    assert!(started.err.contains(why), "{}", started.err);
    let said = started.err.clone();
    assert_eq!(started.json()[0]["currentState"], "ACTIVE");
    assert_eq!(line("teller list -o json").json(), serde_json::json!([]));
    // What it says to type makes the rest.
    let typed: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("  mfa ")).collect();
    assert_eq!(typed.len(), 8, "{said}");
    for words in typed {
        line(words).ok();
    }
    assert_eq!(line("teller list -o id").ok(), "desk-1\ndesk-2\ndesk-3\n");
    line("daemon stop").ok();
}

#[test]
fn a_store_is_made_once() {
    let home = tempfile::tempdir().unwrap();
    let data_dir = home.path().join("store").display().to_string();
    let init = ["init", "--data-dir", &data_dir, "--no-input", "-o", "json"];
    let made = run(mfa(home.path(), &init)).json();
    assert_eq!((&made["identifier"], &made["result"]), (&data_dir.as_str().into(), &"initialised".into()));
    let again = run(mfa(home.path(), &init)).json();
    assert_eq!((&again["instance"], &again["result"]), (&made["instance"], &"already initialised".into()));
}

#[test]
fn a_data_directory_may_be_named_with_a_slash_at_its_end() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("store/").display().to_string();
    run(mfa(home.path(), &["init", "--data-dir", &dir])).ok();
    run(mfa(home.path(), &["check", "--data-dir", dir.trim_end_matches('/')])).ok();
    assert!(home.path().join("store.key").is_file());
}

#[test]
fn a_folder_that_is_named_is_the_store_whatever_the_settings_say() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("store").display().to_string();
    run(mfa(home.path(), &["init", "--data-dir", &dir])).ok();
    let elsewhere = |arguments: &[&str]| {
        let mut command = mfa(home.path(), arguments);
        command.env("MFA_STORE", "postgres://ann@127.0.0.1:1/bank");
        run(command)
    };
    elsewhere(&["check", "--data-dir", &dir]).ok();
    elsewhere(&["admin", "recover-user", "admin", "--yes", "--data-dir", &dir]).ok();
    assert!(elsewhere(&["check"]).fails(1).contains("postgres://ann@127.0.0.1:1/bank"));
}

#[test]
fn silent_clients_leave_files_for_the_store_where_few_may_be_open() {
    let home = tempfile::tempdir().unwrap();
    let daemon = mfa(home.path(), &["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(daemon.get_program()).args(daemon.get_args());
    shell.env_clear().envs(daemon.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("MFA_HEADER_TIMEOUT_SECONDS", "2");
    let daemon = Served::start(shell);
    let address = daemon.url.trim_start_matches("http://");
    let silent: Vec<_> = (0..80).map(|_| TcpStream::connect(address).unwrap()).collect();
    std::thread::sleep(Duration::from_secs(1));
    let open = daemon.open_files();
    assert!(open <= 56, "{open} of 64 files are open");
    // Those that wait for their turn go on when the silent ones are cut off.
    let create = ["offices", "create", "accra", "--name", "Accra", "--url", &daemon.url];
    run(mfa(home.path(), &create)).ok();
    drop(silent);
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_store_for_which_no_thread_starts_is_said_to_lack_threads() {
    if !rustix::process::getuid().is_root() {
        // Only root can become a user that has no other process, whose threads would count.
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let program = program_in(home.path());
    let limited = |threads: &str| {
        let own = mfa(home.path(), &["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
        let mut command = Command::new("timeout");
        // Otherwise it would pass a Ctrl-C on twice, and the second one ends a daemon at once.
        command.args([
            "--foreground",
            "-s",
            "KILL",
            "60",
            "prlimit",
            &format!("--nproc={threads}"),
            "setpriv",
        ]);
        command.args(["--reuid=47110", "--clear-groups", "--inh-caps=-all"]).arg(&program);
        command.args(own.get_args()).env_clear();
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let all = |path: &Path| {
        assert!(Command::new("chown").args(["-R", "47110"]).arg(path).status().unwrap().success())
    };
    all(home.path());
    assert_eq!(Served::start(limited("1000")).end(), Some(0));
    let index = home.path().join("share/mfa/store/index/db");
    let before = std::fs::read(&index).unwrap();
    let ran = run(limited("12"));
    assert_eq!(ran.exit, 1, "{}", ran.err);
    assert!(ran.err.contains("the system starts no more threads"), "{}", ran.err);
    assert!(ran.err.contains("ulimit -u") && ran.err.contains("TasksMax"), "{}", ran.err);
    assert!(!ran.err.contains("made anew") && !ran.err.contains("panicked"), "{}", ran.err);
    assert_eq!(std::fs::read(&index).unwrap(), before, "the index is left as it was");
    // Not even what runs the program has its threads.
    for threads in ["1", "2"] {
        let ran = run(limited(threads));
        assert_eq!(ran.exit, 1, "{threads}: {}", ran.err);
        assert!(ran.err.contains("the system starts no more threads"), "{threads}: {}", ran.err);
        assert!(ran.err.contains("ulimit -u") && !ran.err.contains("panicked"), "{threads}: {}", ran.err);
    }
}
