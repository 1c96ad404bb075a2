//! Files that are written through links, and the output of the process as a file.

use crate::support::run::run;
use crate::support::world::World;
use rustix::process::geteuid;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt, lchown, symlink};
use std::path::PathBuf;
use std::process::Command;

fn place(world: &World, name: &str) -> PathBuf {
    world.dir.path().join(name)
}

#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_written() {
    let world = World::start();
    fs::create_dir(place(&world, "sub")).unwrap();
    fs::write(place(&world, "sub/old.svg"), "the last one").unwrap();
    symlink("old.svg", place(&world, "sub/current.svg")).unwrap();
    let plot = |name: &str| {
        let mut command = world.mfa(&["report", "customers", "--out", name, "-q"]);
        command.current_dir(world.dir.path());
        run(command)
    };
    for (link, to, end) in [
        ("one.svg", "sub/old.svg", "sub/old.svg"),
        ("chain.svg", "sub/current.svg", "sub/old.svg"),
        ("dangling.svg", "sub/new.svg", "sub/new.svg"),
    ] {
        symlink(to, place(&world, link)).unwrap();
        plot(link).ok();
        assert_eq!(fs::read_link(place(&world, link)).unwrap(), PathBuf::from(to));
        assert!(fs::read_to_string(place(&world, end)).unwrap().contains("<svg"), "{link}");
        fs::write(place(&world, end), "the last one").unwrap();
    }
    assert!(place(&world, "sub/current.svg").is_symlink());
    for (link, to, why) in [
        ("loop.svg", "loop.svg", "Too many levels of symbolic links"),
        ("nowhere.svg", "missing/new.svg", "No such file or directory"),
        ("folder.svg", "sub", "Is a directory"),
    ] {
        symlink(to, place(&world, link)).unwrap();
        let said = plot(link).fails(1).to_lowercase();
        assert!(said.contains(&format!("cannot write {link}: {}", why.to_lowercase())), "{said}");
        assert!(place(&world, link).is_symlink(), "{link}");
    }
}

#[test]
fn a_link_of_somebody_else_is_replaced_and_not_followed() {
    // Only root can make a link of somebody else.
    if !geteuid().is_root() {
        return;
    }
    let world = World::start();
    let (link, aim) = (place(&world, "link.svg"), place(&world, "aim"));
    fs::write(&aim, "not to be touched").unwrap();
    symlink(&aim, &link).unwrap();
    lchown(&link, Some(47_110), Some(47_110)).unwrap();
    run(world.mfa(&["report", "customers", "--out", link.to_str().unwrap(), "-q"])).ok();
    assert_eq!(fs::read_to_string(&aim).unwrap(), "not to be touched");
    assert!(!link.is_symlink() && fs::read_to_string(&link).unwrap().contains("<svg"));
    // A new key takes neither owner nor mode of what such a link leads to.
    let folder = place(&world, "tls");
    let made = ["tls", "generate", "--name", "bank.example.org", "--out", folder.to_str().unwrap()];
    run(world.mfa(&made)).ok();
    let key = folder.join("certificate.key");
    fs::remove_file(&key).unwrap();
    lchown(&aim, Some(47_110), Some(47_110)).unwrap();
    symlink(&aim, &key).unwrap();
    lchown(&key, Some(47_110), Some(47_110)).unwrap();
    run(world.mfa(&[&made[..], &["--renew"]].concat())).ok();
    let made = key.symlink_metadata().unwrap();
    assert!(made.is_file() && made.uid() == 0 && made.mode() & 0o777 == 0o600, "{made:?}");
}

#[test]
fn profiles_may_be_kept_behind_a_link() {
    let world = World::start();
    let file = place(&world, "dotfiles.toml");
    fs::create_dir_all(place(&world, "config/mfa")).unwrap();
    fs::write(&file, "").unwrap();
    let link = place(&world, "config/mfa/profiles.toml");
    symlink(&file, &link).unwrap();
    run(world.mfa(&["profile", "add", "bank", "--url", "https://bank.example.org"])).ok();
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("bank.example.org"));
}

#[test]
fn what_a_process_has_open_is_added_to_and_never_replaced() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Addo"}"#).is(202);
    let (link, log) = (place(&world, "stdout"), place(&world, "log"));
    // As /dev/stdout is one.
    symlink("/proc/self/fd/1", &link).unwrap();
    let export = ["customers", "export", "-o", "jsonl", "--out", link.to_str().unwrap()];
    let plot = ["report", "customers", "--no-header", "--out", link.to_str().unwrap()];
    fs::write(&log, "before\n").unwrap();
    for line in [&export[..], &plot[..]] {
        let mut command = world.mfa(line);
        command.stdout(OpenOptions::new().append(true).open(&log).unwrap());
        run(command).ok();
        assert!(link.is_symlink(), "{line:?}");
    }
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("before\n{") && text.contains("Addo") && text.contains("<svg"), "{text}");
    // Others write to the same output, which begins anew, and to another descriptor.
    for (line, place) in [
        (r#"{ echo before; "$0" "$@"; echo after; } > "$LOG""#, link.to_str().unwrap()),
        (r#"{ echo before; "$0" "$@"; echo after; } >> "$LOG" 3>&1"#, "/dev/fd/3"),
    ] {
        let mut words = export;
        words[5] = place;
        let plain = world.mfa(&words);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("LOG", &log);
        run(command).ok();
        let text = fs::read_to_string(&log).unwrap();
        let lines: Vec<_> = text.lines().rev().take(3).collect();
        assert!(lines[0] == "after" && lines[1].contains("Addo") && lines[2] == "before", "{line}: {text}");
    }
}
