//! Encrypted backups, with the real `age`.

use super::backup::{institution, on, text, with_key};
use crate::support::run::run;
use crate::support::world::{World, mfa};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The holder of an age key, made by `age-keygen`.
pub struct Holder {
    dir: tempfile::TempDir,
}

impl Holder {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new("age-keygen").arg("-o").arg(dir.path().join("key.txt")).output();
        assert!(made.expect("age is installed").status.success());
        Self { dir }
    }

    /// The file of the private key.
    pub fn file(&self) -> &str {
        self.dir.path().join("key.txt").to_str().unwrap().to_owned().leak()
    }

    pub fn public(&self) -> String {
        let out = Command::new("age-keygen").args(["-y", self.file()]).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }
}

/// The world of an institution, and a backup of it, made with more arguments.
fn backed_up(more: &[&str]) -> (World, PathBuf) {
    let world = institution().world;
    let file = world.dir.path().join("b.mfab.age");
    let mut command = world.mfa(&[&["backup", "create", "--out", text(&file)], more].concat());
    command.env("MFA_SECRET_KEY_FILE", world.dir.path().join("data.key"));
    run(command).ok();
    (world, file)
}

fn decrypted(holder: &Holder, file: &Path) -> Vec<u8> {
    let out = Command::new("age").args(["-d", "-i", holder.file(), text(file)]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn with(file: &Path, command: &str, more: &[&str]) -> Vec<String> {
    [&["backup", command, text(file)], more].concat().iter().map(|word| (*word).to_owned()).collect()
}

fn ran(home: &Path, words: Vec<String>) -> crate::support::run::Ran {
    with_key(home, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_backup_for_two_keys_opens_with_each_of_them_and_with_age_itself() {
    let (first, second, stranger) = (Holder::new(), Holder::new(), Holder::new());
    let to = [first.public(), second.public()];
    let (mut world, file) = backed_up(&["--encrypt-to", &to[0], "--encrypt-to", &to[1]]);
    let home = world.dir.path().to_owned();
    assert!(fs::read(&file).unwrap().starts_with(b"age-encryption.org/v1\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let plain = home.join("plain.mfab");
    fs::write(&plain, decrypted(&first, &file)).unwrap();
    assert!(fs::read(&plain).unwrap().starts_with(b"mfab/1\n"));
    let digest = |record: Value| record["digest"].as_str().unwrap().to_owned();
    let expected = digest(ran(&home, with(&plain, "verify", &["-o", "json"])).json());
    for holder in [&first, &second] {
        for command in ["show", "verify"] {
            let more = ["--identity", holder.file(), "-o", "json"];
            let record = ran(&home, with(&file, command, &more)).json();
            assert_eq!(
                (&record["encrypted"], digest(record.clone())),
                (&Value::Bool(true), expected.clone())
            );
        }
    }
    let dir = home.join("restored");
    for command in ["show", "verify", "restore"] {
        let place: &[&str] = if command == "restore" { &["--data-dir", text(&dir)] } else { &[] };
        let said = ran(&home, with(&file, command, place)).fails(1);
        assert!(said.contains("--identity FILE"), "{said}");
        let other = [place, &["--identity", stranger.file()]].concat();
        let said = ran(&home, with(&file, command, &other)).fails(1);
        assert!(said.contains("other keys"), "{said}");
        assert!(!dir.exists());
    }
    world.stop();
    ran(&home, with(&file, "restore", &["--data-dir", text(&dir), "--identity", second.file()])).ok();
    world.start_on(on(&home, &dir, None));
    world.get("/customers/anna/portrait").is(200);
    world.stop();
}

#[test]
fn encrypted_backups_are_listed_by_moment_and_read_with_the_key() {
    let (holder, world) = (Holder::new(), institution().world);
    let dir = world.dir.path().join("backups");
    fs::create_dir(&dir).unwrap();
    let create = ["backup", "create", "--out", text(&dir), "--encrypt-to", &holder.public(), "-o", "json"];
    let made = run(world.mfa(&create)).json();
    let listed = run(world.mfa(&["backup", "list", text(&dir), "-o", "json"])).json();
    assert_eq!((&listed[0]["state"], &listed[0]["file"]), (&"encrypted".into(), &made["file"]));
    let second = |moment: &Value| moment.as_str().unwrap()[..19].to_owned();
    assert_eq!(second(&listed[0]["moment"]), second(&made["moment"]));
    assert_eq!((&listed[0]["instance"], &listed[0]["bytes"]), (&made["instance"], &made["bytes"]));
    let read = ["backup", "list", text(&dir), "--identity", holder.file(), "-o", "json"];
    assert_eq!(run(world.mfa(&read)).json()[0]["digest"], made["digest"]);
    // To a pipe as well.
    let piped = world.mfa(&["backup", "create", "--out", "-", "--encrypt-to", &holder.public()]).output();
    let file = dir.join("piped.age");
    fs::write(&file, piped.unwrap().stdout).unwrap();
    assert!(decrypted(&holder, &file).ends_with(b"mfab-end"));
}

#[test]
fn a_passphrase_opens_only_what_it_closed() {
    let words = tempfile::tempdir().unwrap();
    let word = |name: &str, text: &str| {
        let file = words.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let (right, wrong) = (word("right", "stapled horse 8\n"), word("wrong", "stapled horse 9\n"));
    let (mut world, file) = backed_up(&["--passphrase-file", text(&right)]);
    let home = world.dir.path().to_owned();
    let said = ran(&home, with(&file, "verify", &[])).fails(1);
    assert!(said.contains("--passphrase-file FILE"), "{said}");
    let said = ran(&home, with(&file, "verify", &["--passphrase-file", text(&wrong)])).fails(1);
    assert!(said.contains("the passphrase does not open it") && !said.contains("horse"), "{said}");
    world.stop();
    let dir = home.join("restored");
    let more = ["--data-dir", text(&dir), "--passphrase-file", text(&right)];
    ran(&home, with(&file, "restore", &more)).ok();
    with_key(&home, &["check", "store", "--data-dir", text(&dir)]).ok();
}

#[test]
fn the_key_file_goes_only_into_an_encrypted_backup_and_comes_back_from_it() {
    let holder = Holder::new();
    let (mut world, file) = backed_up(&["--encrypt-to", &holder.public(), "--with-key"]);
    let home = world.dir.path().to_owned();
    let said = run(world.mfa(&["backup", "create", "--with-key"])).fails(2);
    assert!(said.contains("must be encrypted"), "{said}");
    let private = fs::read_to_string(holder.file()).unwrap();
    let private = private.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1")).unwrap();
    let said = run(world.mfa(&["backup", "create", "--encrypt-to", private])).fails(2);
    assert!(said.contains("public key") && !said.contains(private), "{said}");
    // The key file of another store would be found out only when it is needed.
    let other = home.join("other.key");
    let digits = "0123456789abcdef".repeat(4);
    fs::write(&other, format!("mfa-key-1 0123456789abcdef {digits}\n")).unwrap();
    let out = home.join("never.mfab.age");
    let command = ["backup", "create", "--out", text(&out), "--encrypt-to", &holder.public(), "--with-key"];
    let mut command = world.mfa(&command);
    command.env("MFA_SECRET_KEY_FILE", &other);
    let said = run(command).fails(1);
    assert!(said.contains("key file that was put in") && !out.exists(), "{said}");
    world.stop();
    // What age has decrypted is taken as it is.
    let plain = home.join("plain.mfab");
    fs::write(&plain, decrypted(&holder, &file)).unwrap();
    for (name, from, more) in [("x", &file, vec!["--identity", holder.file()]), ("y", &plain, vec![])] {
        let dir = home.join("elsewhere").join(name);
        fs::create_dir_all(home.join("elsewhere")).unwrap();
        let command = [&["backup", "restore", text(from), "--data-dir", text(&dir)], &more[..]].concat();
        run(mfa(&home, &command)).ok();
        let key = home.join("elsewhere").join(format!("{name}.key"));
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        let mut config = on(&home, &dir, None);
        config.secret_key_file = key;
        world.start_on(config);
        assert_eq!(world.get("/configuration/email/main").is(200).json()["app_password"], "word");
        world.stop();
    }
}
