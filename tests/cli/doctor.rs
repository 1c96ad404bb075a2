//! `mfa doctor`: what is wrong, and the command that repairs it.

use crate::store::postgres::fresh;
use crate::support::run::{Ran, run};
use crate::support::served::{Served, free_address};
use crate::support::world::{World, mfa};
use mfa_daemon::store::engine::{Change, Commit, Engine};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::store::records::OFFICES;
use mfa_shared::time::Timestamp;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn finding<'a>(findings: &'a Value, check: &str) -> &'a Value {
    findings.as_array().unwrap().iter().find(|finding| finding["check"] == check).unwrap()
}

#[test]
fn a_machine_in_order_passes_every_check() {
    let world = World::start();
    world.to_present();
    let findings = run(world.mfa(&["doctor", "-o", "json"])).json();
    for check in ["config", "permissions", "disk", "daemon", "version", "clock"] {
        assert_eq!(finding(&findings, check)["result"], "ok", "{findings}");
    }
    // There is no store in the default folder of this home, and this daemon asks for no token.
    let store = finding(&findings, "store");
    assert_eq!(store["result"], "warn", "{store}");
    assert!(store["found"].as_str().unwrap().ends_with(": it was not checked"), "{store}");
    assert!(store["mend"].as_str().unwrap().contains("mfa doctor --data-dir DIR"), "{store}");
    assert_eq!(finding(&findings, "login")["mend"], "mfa daemon restart --auth on");
}

#[test]
fn a_daemon_that_is_down_is_reported_with_the_command_to_start_it() {
    let mut world = World::start();
    let address = world.url();
    world.stop();
    let mut command = mfa(world.dir.path(), &["doctor", "-o", "json"]);
    let ran = run({
        command.env("MFA_URL", &address);
        command
    });
    assert_eq!(ran.exit, 1, "{}", ran.err);
    let findings: Value = serde_json::from_str(&ran.out).unwrap();
    let daemon = finding(&findings, "daemon");
    assert_eq!(daemon["result"], "fail");
    assert!(daemon["mend"].as_str().unwrap().contains("mfa daemon start"), "{daemon}");
    assert_eq!(ran.err, "", "findings are data, and no failure of the command");
    let ran = run({
        let mut command = mfa(world.dir.path(), &["doctor"]);
        command.env("MFA_URL", &address);
        command
    });
    assert_eq!((ran.exit, ran.err.as_str()), (1, "error: one check failed\n"));
}

#[test]
fn a_store_that_others_can_read_and_an_unknown_setting_are_found() {
    let world = World::start();
    let store = world.dir.path().join("share/mfa/store");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("FORMAT"), "").unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
    let config = world.dir.path().join("config/mfa");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "listn = \"127.0.0.1:1\"\n").unwrap();
    let ran = run(world.mfa(&["doctor", "-o", "json"]));
    let findings: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.exit, 1);
    let mend = format!("chmod 700 {}", store.display());
    assert_eq!(finding(&findings, "permissions")["mend"], mend);
    let config = finding(&findings, "config");
    assert_eq!(config["result"], "warn");
    assert!(config["found"].as_str().unwrap().contains("did you mean listen?"), "{config}");
}

/// `mfa doctor` in a home whose daemon is not running, with a variable.
fn looked(home: &Path, variable: (&str, &str)) -> Ran {
    let mut command = mfa(home, &["doctor", "-o", "json", "--url", &format!("http://{}", free_address())]);
    command.env(variable.0, variable.1);
    run(command)
}

fn seen(home: &Path, check: &str) -> (String, String, String) {
    let findings: Value = serde_json::from_str(&looked(home, ("MFA_QUIET", "1")).out).unwrap();
    let finding = finding(&findings, check);
    let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    (text("result"), text("found"), text("mend"))
}

/// A home with a store in its default folder, for which no daemon runs.
fn initialised() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let password = home.path().join("password");
    fs::write(&password, "blue kettle 7").unwrap();
    run(mfa(home.path(), &["init", "--password-file", password.to_str().unwrap()])).ok();
    home
}

#[test]
fn a_damaged_journal_is_found_with_and_without_a_daemon() {
    let home = initialised();
    let store = home.path().join("share/mfa/store");
    let (result, found, _) = seen(home.path(), "journal");
    assert_eq!(result, "ok", "{found}");
    let daemon = ["daemon", "run", "--listen", "127.0.0.1:0", "--data-dir", store.to_str().unwrap()];
    let daemon = Served::start(mfa(home.path(), &daemon));
    assert_eq!(seen(home.path(), "journal").0, "ok", "beside a daemon that has it open");
    let file = store.join("journal/00000001.log");
    let good = fs::read(&file).unwrap();
    // One byte at a time and in its place: the daemon may append meanwhile.
    let open = fs::OpenOptions::new().write(true).open(&file).unwrap();
    for place in [10, 200, good.len() - 20] {
        open.write_all_at(&[good[place] ^ 1], place as u64).unwrap();
        let (result, found, mend) = seen(home.path(), "journal");
        assert_eq!(result, "fail", "byte {place}: {found}");
        assert!(found.contains("00000001.log is damaged") && found.contains("from a backup"), "{found}");
        assert!(mend.contains(&format!("mfa check store --data-dir {}", store.display())), "{mend}");
        open.write_all_at(&[good[place]], place as u64).unwrap();
    }
    assert_eq!(seen(home.path(), "journal").0, "ok");
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_key_file_that_is_missing_wrong_or_open_to_others_is_found() {
    let (home, other) = (initialised(), initialised());
    let file = home.path().join("share/mfa/store.key");
    let good = fs::read(&file).unwrap();
    assert_eq!(seen(home.path(), "key file").0, "ok");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let (result, found, mend) = seen(home.path(), "key file");
    assert_eq!((result.as_str(), mend), ("fail", format!("chmod 600 {}", file.display())), "{found}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&file).unwrap();
    let (result, found, mend) = seen(home.path(), "key file");
    assert!(
        result == "fail" && found.contains("is missing") && mend.contains("cp -p COPY"),
        "{found}: {mend}"
    );
    fs::copy(other.path().join("share/mfa/store.key"), &file).unwrap();
    let (result, found, mend) = seen(home.path(), "key file");
    assert!(
        result == "fail" && found.contains("other keys") && mend.contains("cp -p COPY"),
        "{found}: {mend}"
    );
    fs::write(&file, "nonsense").unwrap();
    assert!(seen(home.path(), "key file").1.contains("is not a key file"));
    fs::write(&file, good).unwrap();
    assert_eq!(seen(home.path(), "key file").0, "ok");
}

#[test]
fn settings_that_cannot_be_read_are_a_line_of_the_table() {
    let home = tempfile::tempdir().unwrap();
    for (variable, value) in [
        ("MFA_TIMEOUT_SECONDS", "soon"),
        ("MFA_RETRIES", "-1"),
        ("MFA_YES", "perhaps"),
        ("MFA_LISTEN", "nowhere"),
        ("MFA_TOKEN_FILE", "/does/not/exist"),
        ("MFA_PROFILE", "nobody"),
    ] {
        let ran = looked(home.path(), (variable, value));
        let findings: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        let config = finding(&findings, "config");
        assert_eq!((ran.exit, &config["result"]), (1, &"fail".into()), "{variable}: {config}");
        assert!(config["found"].as_str().unwrap().contains(value), "{config}");
        assert!(config["mend"].as_str().unwrap().contains("mfa "), "{config}");
        finding(&findings, "daemon");
    }
    let config = home.path().join("config/mfa");
    fs::create_dir_all(&config).unwrap();
    for file in ["config.toml", "profiles.toml"] {
        fs::write(config.join(file), "\nlisten = [").unwrap();
        let (result, found, mend) = seen(home.path(), "config");
        assert!(result == "fail" && found.contains(file) && mend.contains("mfa doctor"), "{found}: {mend}");
        run(mfa(home.path(), &["customers", "list"])).fails(2);
        fs::remove_file(config.join(file)).unwrap();
    }
}

#[test]
fn a_daemon_that_other_machines_reach_is_found_however_it_was_started() {
    let home = initialised();
    let store = home.path().join("share/mfa/store");
    let words = ["daemon", "run", "--listen", "0.0.0.0:0", "--data-dir", store.to_str().unwrap()];
    let mut command: Command = mfa(home.path(), &words);
    command.env("MFA_PLAINTEXT", "true");
    let daemon = Served::start(command);
    let port = daemon.url.rsplit(':').next().unwrap();
    let ran = run(mfa(home.path(), &["doctor", "-o", "json", "--url", &format!("http://127.0.0.1:{port}")]));
    let findings: Value = serde_json::from_str(&ran.out).unwrap();
    let listen = finding(&findings, "listen");
    assert_eq!(listen["result"], "warn", "{listen}");
    assert!(listen["found"].as_str().unwrap().contains(&format!("0.0.0.0:{port}")), "{listen}");
    let mend = format!("mfa daemon restart --listen 127.0.0.1:{port}");
    assert!(listen["mend"].as_str().unwrap().contains(&mend), "{listen}");
    assert_eq!(daemon.end(), Some(0));
    let findings: Value =
        serde_json::from_str(&looked(home.path(), ("MFA_LISTEN", "0.0.0.0:6320")).out).unwrap();
    assert_eq!(finding(&findings, "listen")["result"], "warn", "{findings}");
    assert_eq!(seen(home.path(), "listen").0, "ok");
}

#[test]
fn a_log_that_cannot_be_written_is_found() {
    let home = tempfile::tempdir().unwrap();
    let address = free_address();
    let port = address.rsplit(':').next().unwrap();
    let log = home.path().join(format!("state/mfa/daemon-{port}.log"));
    let look = || {
        let ran = run(mfa(home.path(), &["doctor", "-o", "json", "--url", &format!("http://{address}")]));
        let findings: Value = serde_json::from_str(&ran.out).unwrap();
        finding(&findings, "log").clone()
    };
    assert_eq!(look()["result"], "ok");
    fs::create_dir_all(&log).unwrap();
    assert_eq!(
        (&look()["result"], &look()["mend"]),
        (&"fail".into(), &format!("put it aside: mv {0} {0}.old", log.display()).into())
    );
    fs::remove_dir_all(home.path().join("state")).unwrap();
    fs::write(home.path().join("state"), "no folder").unwrap();
    assert_eq!(look()["result"], "fail");
}

#[test]
fn an_audit_trail_older_than_it_should_be_kept_is_warned_of() {
    const DAY: i64 = 24 * 60 * 60;
    let world = World::start();
    world.to_present();
    world.clock.advance(-40 * DAY);
    let oldest = world.clock.now().day();
    world.post("/customers", r#"{"identifier":"c-001","type":"PERSON"}"#).is(202);
    world.clock.advance(10 * DAY);
    let kept = world.clock.now().day();
    let look = |days: &str| {
        let mut command = world.mfa(&["doctor", "-o", "json"]);
        let ran = run({
            command.env("MFA_AUDIT_RETENTION_DAYS", days);
            command
        });
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let late = look("30");
    let late = finding(&late, "audit");
    assert_eq!(late["result"], "warn");
    let found = format!("the audit trail goes back to {oldest}, and audit_retention_days is 30");
    assert_eq!(late["found"], found);
    let mend = format!("with the daemon stopped: mfa audit prune --before {kept} --out FILE");
    assert_eq!(late["mend"], mend);
    assert_eq!(finding(&look("50"), "audit")["result"], "ok");
    assert_eq!(finding(&look("many"), "audit")["result"], "fail");
    let never = look("0");
    assert!(never.as_array().unwrap().iter().all(|finding| finding["check"] != "audit"));
}

#[test]
fn a_database_of_which_nothing_shows_that_it_is_the_right_one_is_warned_of() {
    let home = initialised();
    let server = |store: &str| {
        let findings: Value = serde_json::from_str(&looked(home.path(), ("MFA_STORE", store)).out).unwrap();
        finding(&findings, "server").clone()
    };
    // An address that is not loopback, at which nobody answers.
    let open = "postgres://mfa@0.0.0.0:1/mfa";
    let seen = server(open);
    assert_eq!(seen["result"], "warn", "{seen}");
    let words = "nothing shows that 0.0.0.0 is the database that is meant";
    assert!(seen["found"].as_str().unwrap().starts_with(words), "{seen}");
    assert!(seen["mend"].as_str().unwrap().contains("sslmode=verify-full"), "{seen}");
    for fine in ["postgres://mfa@127.0.0.1:1/mfa", &format!("{open}?sslmode=verify-full&sslrootcert=/c.pem")]
    {
        assert_eq!(server(fine)["result"], "ok", "{fine}");
    }
    let mut start = mfa(home.path(), &["daemon", "run"]);
    start.env("MFA_STORE", open);
    let ran = run(start);
    assert!(ran.exit != 0 && ran.err.contains(words), "{}", ran.err);
}

#[test]
fn a_transaction_that_holds_up_the_audit_trail_is_named() {
    let Some(address) = fresh() else { return };
    let world = World::start();
    let engine = Postgres::open(Options::new(address.clone(), &[])).unwrap();
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let other = world.block_on(async {
        let (other, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        other
            .batch_execute("set application_name = 'report'; begin; select pg_current_xact_id()")
            .await
            .unwrap();
        // By the clock of the daemon that was long ago.
        let time = Timestamp::from_millis(0);
        let changes = vec![Change { space: OFFICES, key: b"a".to_vec(), value: Some(b"{}".to_vec()) }];
        let commit = Commit { time, actor: "ada".into(), request: "r".into(), changes };
        engine.write(Box::new(move |_| Some(commit.clone()))).await.unwrap();
        other
    });
    let database = || {
        let mut command = mfa(world.dir.path(), &["doctor", "-o", "json"]);
        command.env("MFA_URL", world.url()).env("MFA_STORE", address.to_string());
        let findings: Value = serde_json::from_str(&run(command).out).unwrap();
        finding(&findings, "database").clone()
    };
    // Tests beside this one may have older transactions, for a moment.
    let until = Instant::now() + Duration::from_secs(60);
    let wait_for = |what: &dyn Fn(&Value) -> bool| {
        let mut seen = database();
        while !what(&seen) {
            assert!(Instant::now() < until, "{seen}");
            seen = database();
        }
        seen
    };
    let held = wait_for(&|seen| seen["found"].as_str().unwrap().contains(", report)"));
    assert_eq!(held["result"], "warn", "{held}");
    let mend = held["mend"].as_str().unwrap();
    let end = &mend[mend.find("select pg_terminate_backend(").expect("a statement")..];
    world.block_on(async {
        let (psql, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        psql.batch_execute(end).await.unwrap();
    });
    wait_for(&|seen| seen["result"] == "ok");
    world.block_on(other.batch_execute("commit")).unwrap_err();
    world.block_on(engine.close()).unwrap();
}

#[test]
fn a_store_here_that_the_daemon_does_not_have_is_warned_of() {
    let home = initialised();
    let other = home.path().join("other").display().to_string();
    let words = ["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off", "--data-dir", &other];
    let daemon = Served::start(mfa(home.path(), &words));
    let look = |more: &[&str]| {
        let ran = run(mfa(home.path(), &[&["doctor", "-o", "json", "--url", &daemon.url], more].concat()));
        let findings: Value = serde_json::from_str(&ran.out).unwrap();
        finding(&findings, "store").clone()
    };
    let store = look(&[]);
    assert_eq!(store["result"], "warn", "{store}");
    assert!(store["found"].as_str().unwrap().contains("the daemon has another store"), "{store}");
    assert!(store["mend"].as_str().unwrap().contains("mfa doctor --data-dir DIR"), "{store}");
    assert_eq!(look(&["--data-dir", &other])["result"], "ok");
    assert_eq!(daemon.end(), Some(0));
}

#[test]
fn a_command_that_names_a_folder_with_a_space_can_be_pasted() {
    let home = initialised();
    let folder = home.path().join("in sp");
    fs::rename(home.path().join("share/mfa"), &folder).unwrap();
    let store = folder.join("store").display().to_string();
    fs::set_permissions(&store, PermissionsExt::from_mode(0o755)).unwrap();
    let look = |check: &str| {
        let mut doctor = mfa(home.path(), &["doctor", "-o", "json", "--data-dir", &store]);
        doctor.env("MFA_BACKUP_DIR", &folder);
        let findings: Value = serde_json::from_str(&run(doctor).out).unwrap();
        finding(&findings, check)["mend"].as_str().unwrap().to_owned()
    };
    assert_eq!(look("permissions"), format!("chmod 700 '{store}'"));
    assert!(look("backup").ends_with(&format!("mfa backup create --out '{}'", folder.display())));
    fs::set_permissions(folder.join("store.key"), PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(look("key file"), format!("chmod 600 '{store}.key'"));
    let out = format!("{}/none/", folder.display());
    let said = run(mfa(home.path(), &["backup", "create", "--out", &out])).fails(1);
    assert!(said.contains(&format!("mkdir -p '{}/none'", folder.display())), "{said}");
}
