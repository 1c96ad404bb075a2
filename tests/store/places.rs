//! Where a store may be: among nobody's files, opened by its own user, and looked for without making one.

use super::backup::text;
use crate::support::run::run;
use crate::support::stored::{ask, postgres_address};
use crate::support::world::mfa;
use mfa_shared::fault::exit;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn init(home: &Path, store: &Path) -> crate::support::run::Ran {
    let password = home.join("password");
    fs::write(&password, "blue kettle 7").unwrap();
    run(mfa(home, &["init", "--data-dir", text(store), "--admin", "ama", "--password-file", text(&password)]))
}

#[test]
fn a_store_is_not_made_among_other_files() {
    let home = TempDir::new().unwrap();
    let store = home.path().join("store");
    fs::create_dir(&store).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(store.join("my-notes.txt"), "mine").unwrap();
    let refused = init(home.path(), &store);
    assert!(refused.exit == exit::USAGE && refused.err.contains("such as my-notes.txt"), "{}", refused.err);
    let names: Vec<_> = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["my-notes.txt"]);
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o755);
    // What a file system has by itself is nobody's.
    fs::remove_file(store.join("my-notes.txt")).unwrap();
    fs::create_dir(store.join("lost+found")).unwrap();
    init(home.path(), &store).ok();
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_store_is_not_copied_into_itself() {
    let home = TempDir::new().unwrap();
    let store = home.path().join("store");
    init(home.path(), &store).ok();
    for to in ["store", "store/copy", "store/index/copy"] {
        let to = home.path().join(to);
        let refused = run(mfa(home.path(), &["migrate", "--from", text(&store), "--to", text(&to)]));
        let says = format!("{} is", text(&to));
        assert!(refused.exit == exit::USAGE && refused.err.contains(&says), "{}", refused.err);
    }
    assert!(!store.join("copy").exists());
    let copy = home.path().join("store-2");
    run(mfa(home.path(), &["migrate", "--from", text(&store), "--to", text(&copy)])).ok();
}

#[test]
fn root_does_not_open_the_store_of_another_user() {
    const NOBODY: u32 = 65_534;
    if !geteuid().is_root() {
        return;
    }
    let home = TempDir::new().unwrap();
    let store = home.path().join("store");
    init(home.path(), &store).ok();
    let whose = |owner: u32| {
        let listed = below(&store);
        listed.lines().for_each(|file| chown(file, Some(owner), None).unwrap());
    };
    whose(NOBODY);
    let before = below(&store);
    for command in [
        &["check"][..],
        &["admin", "recover-user", "ama"],
        &["backup", "create", "--out", text(&home.path().join("b.mfab"))],
    ] {
        let seen = run(mfa(home.path(), &[command, &["--data-dir", text(&store), "--yes"]].concat()));
        assert!(seen.exit != 0 && seen.err.contains("belongs to user 65534"), "{command:?}: {}", seen.err);
    }
    assert_eq!(below(&store), before);
    whose(0);
    run(mfa(home.path(), &["check", "--data-dir", text(&store)])).ok();
}

/// Every file below a folder.
fn below(dir: &Path) -> String {
    let mut found: Vec<_> = vec![text(dir).to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        let inside = fs::read_dir(&path).into_iter().flatten().flatten();
        found.extend(inside.map(|entry| text(&entry.path()).to_owned()));
        at += 1;
    }
    found.sort();
    found.join("\n")
}

#[test]
fn a_look_at_a_database_without_a_store_makes_nothing_in_it() {
    let Some(address) = postgres_address() else { return };
    let home = TempDir::new().unwrap();
    let (url, copy) = (address.to_string(), home.path().join("copy"));
    let out = home.path().join("b.mfab");
    for command in [
        &["check", "--store", &url][..],
        &["backup", "create", "--store", &url, "--out", text(&out)],
        &["admin", "recover-user", "ama", "--store", &url, "--yes"],
        &["migrate", "--from", &url, "--to", text(&copy)],
    ] {
        let seen = run(mfa(home.path(), command));
        assert!(
            seen.exit == exit::USAGE && seen.err.contains("there is no store in"),
            "{command:?}: {}",
            seen.err
        );
    }
    assert!(!copy.exists() && !out.exists());
    let schema = url.rsplit_once("schema=").unwrap().1;
    let there = format!("select 1 from pg_namespace where nspname = '{schema}'");
    assert!(Runtime::new().unwrap().block_on(ask(&address, &there)).is_empty());
}
