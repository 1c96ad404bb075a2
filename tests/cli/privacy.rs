//! What the process leaves behind is for its user alone.

use super::tree::{commands, shell, words};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::served::{Home, Served, free_address, program_in};
use crate::support::stored::{close_and_pack, files, in_folder};
use crate::support::world::World;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `sh` with an open mask that becomes `mfa`.
fn openly(command: &Command) -> Command {
    let mut open = Command::new("/bin/sh");
    open.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    open.env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        value.map(|value| open.env(name, value));
    }
    if !command.get_envs().any(|(name, _)| name == "PATH") {
        open.env("PATH", std::env::var_os("PATH").unwrap());
    }
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

/// Flags that say where a file is written.
const PLACES: &[&str] = &["--out", "--to", "--report", "--failed", "--report-dir"];

/// Nouns whose records come from a table and go into one.
const TABLES: &[&str] = &["accounts", "cards", "customers", "employees", "offices", "products", "users"];

/// Every other command that writes a file, at work.
const WRITES: &[&str] = &[
    "cp rows.csv made; mfa customers import made/rows.csv --failed made/rows.failed || test $? = 9",
    "mfa accounts list --customer c-003 --out made/accounts.pdf",
    "mfa applications keygen pay-v1 --out made/pay.pem",
    "mfa audit export made/trail.ndjson",
    "mfa backup create --out made/whole.mfab",
    "mfa cards scans get c-001 GHA-001122334-5 front --out made/front.jpg",
    "mfa customers portrait get c-001 --out made/face.png",
    "mfa export made/institution",
    "mfa login esi --password-file word.txt",
    "mfa ledger trial-balance --out made/balance.pdf",
    "mfa profile add bank --url https://mfa.example.org --use; mfa profile use --none",
    "mfa report cash head-office --out made/cash.svg",
    "mfa report customers --out made/customers.svg",
    "mfa report deposits savings --out made/deposits.svg",
    "mfa statement c-003.9100.00001 --out made/statement.pdf",
    "mfa statement c-003.9100.00001 --paper 80mm --out made/statement.txt",
    "mfa teller reports print desk-1 1 --office head-office --out made/report.pdf",
    "mfa teller reports save desk-1 1 --office head-office --report-dir made/reports",
    "mfa teller transactions confirm desk-2 $(mfa teller transactions list desk-2 --status pending -o id) \
     --yes --out made/r6.pdf",
    "mfa teller open-account desk-2 --account c-002.9100.00001 --amount 100 --yes --out made/r2.pdf",
    "mfa teller deposit desk-2 --account c-003.9100.00002 --amount 50 --yes --out made/r3.pdf",
    "mfa teller withdraw desk-2 --account c-003.9100.00002 --amount 20 --yes --out made/r4.pdf",
    "mfa teller transfer desk-2 --account c-003.9100.00002 --to c-002.9100.00001 --amount 5 --yes \
     --out made/r5.pdf",
    "mfa teller close-account desk-2 --account c-003.9100.00003 --amount 5 --charges included --yes \
     --out made/r1.pdf",
    "mfa teller receipt --teller desk-2 --out made/r7.pdf \
     $(mfa teller transactions list desk-2 --status confirmed -o id | head -n 1)",
    "mfa teller close desk-2 --office head-office --counted 605.00 --yes --report-dir made/closed",
    "mfa day end head-office --leave-open --report-dir made/closed",
    "mfa tls generate --name bank.example --out made/tls",
];

/// The same on the store itself, while the daemon is stopped.
const WRITES_HERE: &[&str] = &[
    "mfa admin archive-journal --out made/journal --backup made/whole.mfab",
    "mfa admin rotate-key",
    "mfa audit prune --before 2099-01-01 --out made/old.ndjson --confirm 2099-01-01",
    "mfa backup restore made/whole.mfab --data-dir made/restored --key-file data.key",
    "mfa migrate --from data --to made/moved",
];

/// Tables of a noun, written and read.
fn tables(noun: &str) -> [String; 2] {
    let files = format!("--report made/{noun}.report --failed made/{noun}.failed");
    // Some rows are there already.
    let import = format!("mfa {noun} import rows.csv {files} || test $? = 9");
    [
        format!("mfa {noun} export --out made/{noun}.csv"),
        format!("mfa {noun} import --template >rows.csv; {import}"),
    ]
}

/// Commands with such a flag that are left out, and why.
const WRITES_ELSEWHERE: &[&str] = &[
    // Pages of the repository, and the unit, which everyone may read.
    "docs",
    "service install",
    // It needs a daemon that speaks TLS; what it writes is public.
    "tls trust",
];

/// What is readable by all who may enter its folder, because clients need it.
const PUBLIC: &[&str] = &["certificate.pem", "authority.pem"];

/// Everything in a folder, and the folder itself.
fn all_in(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inside = inside.flat_map(|path| if path.is_dir() { all_in(&path) } else { vec![path] });
    inside.chain([folder.to_owned()]).collect()
}

#[test]
fn what_a_command_writes_is_for_its_user_alone_whatever_the_mask() {
    let plain = WRITES_HERE.iter().chain(WRITES).map(|line| (*line).to_owned());
    let lines: Vec<_> = plain.chain(TABLES.iter().flat_map(|noun| tables(noun))).collect();
    for command in commands() {
        let places = command["flags"].as_array().unwrap().iter().filter(|flag| {
            let is_file = |value: &str| value.contains("FILE") || value.contains("DIR");
            PLACES.contains(&flag["name"].as_str().unwrap()) && flag["value"].as_str().is_some_and(is_file)
        });
        let name = words(&command).join(" ");
        for flag in places.map(|flag| flag["name"].as_str().unwrap()) {
            let tried = |line: &str| line.contains(&format!("mfa {name}")) && line.contains(flag);
            assert!(
                lines.iter().any(|line| tried(line)) || WRITES_ELSEWHERE.contains(&name.as_str()),
                "{name} {flag} writes a file"
            );
        }
    }
    let mut world = World::with(in_folder);
    sample(&world);
    let home = world.dir.path().to_owned();
    // A young store has no file of the journal for an archive.
    world.restart_after(|| {
        close_and_pack(&home.join("data"));
    });
    let before: BTreeSet<_> = all_in(&home).into_iter().collect();
    fs::DirBuilder::new().mode(0o700).create(home.join("made")).unwrap();
    fs::write(home.join("rows.csv"), "identifier,surname\nc-90,Addo\nc/91,Mensah\n").unwrap();
    let line = |line: &str| {
        let mut command = openly(&shell(&world, line));
        command.current_dir(&home);
        (line.to_owned(), command)
    };
    let store = format!("export MFA_DATA_DIR={0}/data MFA_SECRET_KEY_FILE={0}/data.key", home.display());
    let at_daemon: Vec<_> = lines[WRITES_HERE.len()..].iter().map(|own| line(own)).collect();
    let here: Vec<_> = WRITES_HERE.iter().map(|own| line(&format!("{store}; {own}"))).collect();
    let write = |(line, command): (String, Command)| {
        let ran = run(command);
        assert_eq!(ran.exit, 0, "{line}\n{}", ran.err);
    };
    at_daemon.into_iter().for_each(write);
    world.stop();
    here.into_iter().for_each(write);
    let written: Vec<_> = all_in(&home).into_iter().filter(|path| !before.contains(path)).collect();
    // Where no row fails there is no file of them.
    let named = lines.iter().flat_map(|line| line.split([' ', ';'])).filter(|word| word.starts_with("made/"));
    for name in named.chain(["made/rows.csv.report.csv"]).filter(|name| !name.ends_with(".failed")) {
        assert!(written.contains(&home.join(name)), "{name} was not written");
    }
    for part in ["made/rows.failed", "config/mfa/profiles.toml", "state/mfa/logins.json"] {
        assert!(written.contains(&home.join(part)), "{part} was not written: {written:?}");
    }
    for path in written {
        // What the shell itself has written.
        let name = path.file_name().unwrap().to_str().unwrap();
        if PUBLIC.contains(&name) || name == "rows.csv" {
            continue;
        }
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} has the mode {mode:o}", path.display());
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
fn only_root_reads_the_memory_of_a_daemon() {
    const NOBODY: u32 = 65_534;
    let home = Home { store: None, ..Home::new() };
    let own = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    // Root is the owner in any case, and another user may not reach the program where it was built.
    let is_root = rustix::process::getuid().is_root();
    let program = if is_root { program_in(home.dir.path()) } else { own.get_program().into() };
    if is_root {
        std::os::unix::fs::chown(home.dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let as_somebody = |mut command: Command| {
        if is_root {
            command.uid(NOBODY).gid(NOBODY).current_dir("/")
        } else {
            &mut command
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
fn with_quiet_a_trial_daemon_prints_no_password_either() {
    let home = Home { store: None, ..Home::new() };
    let address = free_address();
    let started = run(home.mfa(&["quickstart", "-q", "-o", "json", "--empty", "--listen", &address]));
    assert_eq!((started.exit, started.err.as_str()), (0, ""));
    let at = |words: &[&str]| run(home.mfa(&[words, &["--url", &format!("http://{address}")]].concat()));
    assert_eq!(
        at(&["whoami", "-o", "json"]).json()["user"],
        "operator",
        "the user who started it is logged in"
    );
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
