//! Restores that are killed, refused, or take the place of another store.

use super::backup::{institution, on, portrait, text, with_key};
use crate::support::run::run;
use crate::support::stored::files;
use crate::support::world::{World, mfa};
use mfa_daemon::store::embedded;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// An institution that was backed up, and is stopped.
fn backed_up() -> (World, PathBuf) {
    let counter = institution();
    for number in 0..300 {
        let body = json!({ "identifier": format!("k{number}"), "type": "PERSON", "surname": "Addo" });
        counter.world.post("/customers", body.to_string()).is(202);
    }
    for number in 0..60 {
        portrait(&counter.world, &format!("k{number}"), 100 + number);
    }
    let file = counter.world.dir.path().join("b.mfab");
    run(counter.world.mfa(&["backup", "create", "--out", text(&file)])).ok();
    let mut world = counter.world;
    world.stop();
    (world, file)
}

#[test]
fn a_killed_restore_does_not_open_and_the_same_command_finishes_it() {
    let (world, file) = backed_up();
    let home = world.dir.path();
    let (mut begun, mut whole) = (0, 0);
    for round in 0..16 {
        let dir = home.join(format!("killed{round}"));
        let arguments = ["backup", "restore", text(&file), "--data-dir", text(&dir)];
        let mut command = mfa(home, &arguments);
        command.env("MFA_SECRET_KEY_FILE", home.join("data.key"));
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        // From before the first commit until after the last.
        while !dir.join("FORMAT").exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(4 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let checked = with_key(home, &["check", "ledger", "--data-dir", text(&dir)]);
        match checked.exit {
            0 => whole += 1,
            _ => {
                let none = checked.err.contains("there is no store in");
                assert!(none || checked.err.contains("unfinished restore"), "{}", checked.err);
                begun += 1;
                with_key(home, &arguments).ok();
                with_key(home, &["check", "store", "--data-dir", text(&dir)]).ok();
            }
        }
    }
    println!("{begun} restores were killed half-way, {whole} behind their end");
    assert!(begun > 0, "no restore was killed half-way");
}

#[test]
fn a_restore_replaces_a_store_only_when_asked_to_and_sets_it_aside() {
    let (world, file) = backed_up();
    let (home, dir) = (world.dir.path(), world.dir.path().join("place"));
    let restore = |more: &[&str]| {
        with_key(home, &[&["backup", "restore", text(&file), "--data-dir", text(&dir)], more].concat())
    };
    restore(&[]).ok();
    let said = restore(&[]).fails(1);
    assert!(said.contains("holds a store already") && said.contains("--replace"), "{said}");
    assert!(restore(&["--replace", "--no-input"]).exit != 0, "no one agreed");
    let replaced = restore(&["--replace", "--yes", "-o", "json"]).json();
    let aside = PathBuf::from(replaced["setAside"].as_str().unwrap());
    assert!(aside.file_name().unwrap().to_str().unwrap().starts_with("place.replaced-20"), "{aside:?}");
    let beside = home.join("place.restoring");
    assert!(!beside.exists());
    // What another restore has left is named; otherwise the store could be emptied instead.
    with_key(home, &["backup", "restore", text(&file), "--data-dir", text(&beside)]).ok();
    let said = restore(&["--replace", "--yes"]).fails(1);
    assert!(said.contains(&format!("{} holds a store already", text(&beside))), "{said}");
    assert!(said.contains("move it into its place yourself, or remove it and restore again"), "{said}");
    fs::remove_dir_all(&beside).unwrap();
    for place in [&dir, &aside] {
        for what in ["store", "ledger"] {
            with_key(home, &["check", what, "--data-dir", text(place)]).ok();
        }
    }
    // What is in use is not replaced.
    let held = embedded::Lock::take(&dir).unwrap();
    let before = files(&dir).len();
    assert!(restore(&["--replace", "--yes"]).fails(11).contains("lock"));
    assert_eq!(files(&dir).len(), before);
    drop(held);
    let database = "postgres://ann@127.0.0.1:1/bank";
    let command = ["backup", "restore", text(&file), "--store", database, "--replace", "--yes"];
    let said = with_key(home, &command).fails(2);
    assert!(said.contains("a database is not replaced"), "{said}");
}

#[test]
fn a_restore_that_could_not_put_the_key_is_ended_by_the_same_command() {
    let (world, file) = backed_up();
    let (home, dir) = (world.dir.path(), world.dir.path().join("place"));
    let folder = home.join("keys");
    let restore = || {
        let command = ["backup", "restore", text(&file), "--data-dir", text(&dir), "--key-file"];
        let mut command = mfa(home, &[&command[..], &[text(&home.join("data.key"))]].concat());
        command.env("MFA_SECRET_KEY_FILE", folder.join("store.key"));
        run(command)
    };
    fs::write(&folder, "no folder").unwrap();
    let said = restore().fails(2);
    assert!(said.contains("cannot use the key file"), "{said}");
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    restore().ok();
    assert!(folder.join("store.key").exists());
    with_key(home, &["check", "ledger", "--data-dir", text(&dir)]).ok();
}

#[test]
fn a_store_that_cannot_be_exchanged_is_refused_before_a_restore() {
    let (world, file) = backed_up();
    let (home, dir) = (world.dir.path(), world.dir.path().join("place"));
    fs::create_dir(&dir).unwrap();
    let mounted = std::process::Command::new("mount").args(["-t", "tmpfs", "none", text(&dir)]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("SKIPPED: mounted folders need root and mounts");
        return;
    }
    let restore = ["backup", "restore", text(&file), "--data-dir", text(&dir)];
    let made = with_key(home, &restore);
    let replaced = with_key(home, &[&restore[..], &["--replace", "--yes"]].concat());
    let unmounted = std::process::Command::new("umount").arg(&dir).status().unwrap();
    assert!(unmounted.success());
    made.ok();
    let said = replaced.fails(1);
    assert!(said.contains("cannot be replaced in one step") && said.contains("another folder"), "{said}");
    assert!(!home.join("place.restoring").exists());
    let left = fs::read_dir(home)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".tmp"));
    assert_eq!(left.count(), 0);
}

#[test]
fn secrets_are_restored_with_their_key_file_or_listed_as_missing() {
    let (mut world, file) = backed_up();
    let home = world.dir.path().to_owned();
    let target = |name: &str| home.join("elsewhere").join(name);
    fs::create_dir(home.join("elsewhere")).unwrap();
    let restore = |name: &str, more: &[&str]| {
        let dir = target(name);
        run(mfa(&home, &[&["backup", "restore", text(&file), "--data-dir", text(&dir)], more].concat()))
    };
    let said = restore("a", &[]).fails(2);
    assert!(said.contains("--key-file") && said.contains("--without-secrets"), "{said}");
    assert!(!target("a").exists());
    let key = home.join("data.key");
    restore("a", &["--key-file", text(&key)]).ok();
    assert_eq!(fs::read(&key).unwrap().len(), fs::read(target("a.key")).unwrap().len());
    assert_eq!(fs::metadata(target("a.key")).unwrap().permissions().mode() & 0o777, 0o600);
    let mut config = on(&home, &target("a"), None);
    config.secret_key_file = target("a.key");
    world.start_on(config);
    assert_eq!(world.get("/configuration/email/main").is(200).json()["app_password"], "word");
    world.stop();
    // A key file in that place which others may read is no reason to overwrite it.
    let open = target("c.key");
    fs::copy(&key, &open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let said = restore("c", &["--key-file", text(&key)]).fails(2);
    assert!(said.contains("chmod 600") && said.contains("move it away") && !target("c").exists(), "{said}");
    let dir = home.join("elsewhere/b");
    let command = ["backup", "restore", text(&file), "--data-dir", text(&dir), "--without-secrets"];
    let restored = run(mfa(&home, &[&command[..], &["-o", "json"]].concat()));
    assert!(restored.err.contains("email gateway main needs its secret again"), "{}", restored.err);
    assert_eq!(restored.json()["lacksSecrets"], json!(["email gateway main"]));
    let mut config = on(&home, &dir, None);
    config.secret_key_file = home.join("elsewhere/b.key");
    world.start_on(config);
    world.get("/customers/anna").is(200);
    world.stop();
}

#[test]
fn a_full_disk_leaves_no_half_a_backup() {
    let counter = institution();
    let disk = counter.world.dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let options = ["-t", "tmpfs", "-o", "size=16k", "none", text(&disk)];
    let mounted = std::process::Command::new("mount").args(options).status();
    if !mounted.is_ok_and(|status| status.success()) {
        println!("SKIPPED: full disks need root and mounts");
        return;
    }
    let ran = run(counter.world.mfa(&["backup", "create", "--out", text(&disk)]));
    let left = fs::read_dir(&disk).unwrap().count();
    let unmounted = std::process::Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success());
    let said = ran.fails(1);
    assert!(said.contains("cannot write a backup to") && said.contains("No space left"), "{said}");
    assert_eq!(left, 0);
}
