//! What `package/` makes packages of, as far as it shows without making them; `tests/run package` makes them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy())).collect()
}

/// Source and place of each file of the Debian package, and the places of its links.
fn assets() -> (Vec<(String, String)>, Vec<String>) {
    let manifest: toml::Table = read("cli/Cargo.toml").parse().unwrap();
    let (mut sources, mut links) = (Vec::new(), Vec::new());
    for asset in manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap() {
        let text = |value: &toml::Value| value.as_str().unwrap().trim_start_matches("../").to_owned();
        match asset.as_array() {
            Some(asset) => sources.push((text(&asset[0]), text(&asset[1]))),
            None => links.push(text(&asset["dest"])),
        }
    }
    (sources, links)
}

/// Whether a pattern with at most one star names a file.
fn names(pattern: &str, file: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == file,
        Some((start, end)) => file.starts_with(start) && file.ends_with(end),
    }
}

#[test]
fn the_debian_package_holds_every_page_completion_and_example() {
    let (sources, links) = assets();
    let packed = |file: &String| sources.iter().any(|(source, _)| names(source, file));
    let mut wanted = [files("man"), files("contrib"), files("completions"), files("docs/guides")].concat();
    // There is no PowerShell on Debian.
    wanted.retain(|file| !file.ends_with(".ps1"));
    wanted.extend(["package/config.toml", "docs/figures.md", "docs/session.svg"].map(str::to_owned));
    let missing: Vec<_> = wanted.iter().filter(|file| !packed(file)).collect();
    assert!(wanted.len() > 200 && missing.is_empty(), "{missing:?}");
    for (source, place) in sources.iter().filter(|(source, _)| !source.starts_with("target/")) {
        let folder = source.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let found = files(folder).iter().any(|file| names(source, file.trim_start_matches("./")));
        assert!(found, "{source} for {place} is not there");
    }
    for second in [
        "usr/bin/mfactl",
        "usr/share/man/man1/mfactl.1.gz",
        "usr/share/bash-completion/completions/mfactl",
        "usr/share/fish/vendor_completions.d/mfactl.fish",
    ] {
        assert!(links.iter().any(|link| link == second), "{second}");
    }
}

#[test]
fn every_place_says_the_same_version() {
    let version = env!("CARGO_PKG_VERSION");
    let minor = version.rsplit_once('.').unwrap().0;
    for (file, line) in [
        ("Cargo.toml", format!("version = \"{version}\"")),
        ("package/debian/changelog", format!("mfa ({version}-1) unstable; urgency=medium")),
        ("SECURITY.md", format!("| {minor} | yes |")),
        ("man/mfa.1", format!("v{version}")),
    ] {
        assert!(read(file).lines().any(|found| found == line), "{file} lacks: {line}");
    }
    let changes = read("CHANGELOG.md");
    let newest = changes.lines().find(|line| line.starts_with("## ") && !line.ends_with("Unreleased"));
    assert_eq!(newest, Some(format!("## {version}").as_str()));
}

#[test]
fn the_scripts_of_packages_pass_shellcheck() {
    let scripts =
        ["build", "install.sh", "debian/postinst", "debian/postrm"].map(|name| format!("package/{name}"));
    let proofs = ["run", "inside", "image"].map(|name| format!("tests/package/{name}"));
    let line = scripts.iter().chain(&proofs);
    let Ok(seen) = Command::new("shellcheck").args(line).current_dir(root()).output() else {
        return println!("skipped: shellcheck is not here");
    };
    assert!(seen.status.success(), "{}", String::from_utf8_lossy(&seen.stdout));
}

#[test]
fn the_licence_of_every_work_of_others_is_passed_on() {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("python3").arg(root().join("package/parts")).arg(dir.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let notices = fs::read_to_string(dir.path().join("THIRD-PARTY-NOTICES")).unwrap();
    let copyright = read("package/debian/copyright");
    for (file, stanza) in [
        ("cli/fonts/NotoSans.license", "cli/fonts/*"),
        ("shared/src/common_passwords.license", "shared/src/common_passwords.txt"),
    ] {
        assert!(notices.contains(read(file).trim()), "{file}");
        assert!(copyright.contains(&format!("\nFiles: {stanza}\n")), "{stanza}");
    }
    let beside = ["cli/fonts", "shared/src"].map(files).concat();
    assert_eq!(beside.iter().filter(|file| file.ends_with(".license")).count(), 2, "one is not in this test");
}

/// What a tarball unpacks to, with a program that only says its version.
fn unpacked(folder: &Path) {
    for (name, text) in [("bin/mfa", "#!/bin/sh\necho mfa 9.9.9\n"), ("share/man/man1/mfa.1", ".TH MFA 1\n")]
    {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::set_permissions(folder.join("bin/mfa"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("mfa", folder.join("bin/mfactl")).unwrap();
    fs::create_dir_all(folder.join("share/doc/mfa")).unwrap();
    fs::write(folder.join("share/doc/mfa/LICENSE"), "licence\n").unwrap();
    fs::create_dir_all(folder.join("share/doc/mfa/docs/guides")).unwrap();
    fs::write(folder.join("share/doc/mfa/docs/guides/installation.md"), "# Installation\n").unwrap();
    fs::copy(root().join("package/install.sh"), folder.join("install.sh")).unwrap();
    sum(folder);
}

/// Writes the digests of what a tarball holds.
fn sum(folder: &Path) {
    let line = "find bin share install.sh -type f -exec sha256sum {} + >SHA256SUMS";
    assert!(Command::new("sh").args(["-c", line]).current_dir(folder).status().unwrap().success());
}

/// Runs the script with a mask that hides files from others, as that of some administrators does.
fn install(folder: &Path, arguments: &[&str]) -> Output {
    let mut sh = Command::new("sh");
    sh.args(["-c", "umask 077; exec sh \"$@\"", "sh"]).arg(folder.join("install.sh"));
    sh.args(arguments).output().unwrap()
}

#[test]
fn the_tarball_installs_into_a_prefix_and_takes_away_what_it_brought() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, prefix) = (dir.path().join("tree"), dir.path().join("a prefix"));
    unpacked(&tree);
    let flag = format!("--prefix={}", prefix.display());
    let tried = install(&tree, &[&flag, "--dry-run"]);
    let said = String::from_utf8(tried.stdout).unwrap();
    assert!(tried.status.success() && said.contains("would install") && !prefix.exists(), "{said}");
    let done = install(&tree, &[&flag]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.starts_with("installed: mfa 9.9.9") && said.contains("mfa help installation"), "{said}");
    for folder in ["", "bin", "share/doc/mfa/docs/guides"] {
        assert_eq!(
            fs::metadata(prefix.join(folder)).unwrap().permissions().mode() & 0o777,
            0o755,
            "{folder}"
        );
    }
    let list = fs::metadata(prefix.join("share/doc/mfa/installed")).unwrap();
    assert_eq!(list.permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::read_link(prefix.join("bin/mfactl")).unwrap(), Path::new("mfa"));
    fs::write(prefix.join("bin/other"), "of someone else").unwrap();
    // A later version lacks a page that this one had.
    fs::remove_file(tree.join("share/man/man1/mfa.1")).unwrap();
    sum(&tree);
    let upgraded = install(&tree, &[&flag]);
    assert!(upgraded.status.success());
    let said = String::from_utf8(upgraded.stdout).unwrap();
    assert!(said.contains("systemctl restart mfa"), "the daemon goes on with the earlier program: {said}");
    assert!(!prefix.join("share/man/man1/mfa.1").exists() && prefix.join("bin/mfa").exists());
    assert!(install(&tree, &[&flag, "--uninstall"]).status.success());
    assert!(!prefix.join("bin/mfa").exists() && !prefix.join("share/doc/mfa").exists());
    assert!(prefix.join("bin/other").exists(), "what it did not bring stays");
    let again = install(&tree, &[&flag, "--uninstall"]);
    assert!(
        !again.status.success() && String::from_utf8_lossy(&again.stderr).contains("nothing was installed")
    );
}

#[test]
fn nothing_of_a_damaged_tarball_is_installed() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, prefix) = (dir.path().join("tree"), dir.path().join("prefix"));
    unpacked(&tree);
    fs::write(tree.join("bin/mfa"), "#!/bin/sh\necho mfa 9.9.8\n").unwrap();
    let refused = install(&tree, &["--prefix", prefix.to_str().unwrap()]);
    assert!(!refused.status.success() && !prefix.exists());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a file is damaged; fetch the tarball again"));
    let relative = install(&tree, &["--prefix", "here"]);
    assert!(
        !relative.status.success() && String::from_utf8_lossy(&relative.stderr).contains("no absolute path")
    );
}
