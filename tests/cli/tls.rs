//! `mfa tls` and commands that speak `https:`.

use crate::support::run::run;
use crate::support::served::{Home, Served, free_address};
use crate::support::terminal::Terminal;
use crate::support::world::World;
use rustix::process::geteuid;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;
use std::time::{Duration, Instant};

/// A home with a certificate for the host `bank.example`.
fn with_certificate() -> Home {
    let home = Home::new();
    run(home.mfa(&["tls", "generate", "--name", "bank.example", "--out", &path(&home, "")])).ok();
    home
}

fn path(home: &Home, name: &str) -> String {
    home.dir.path().join("tls").join(name).to_str().unwrap().to_owned()
}

fn serve(home: &Home) -> Served {
    let (certificate, key) = (path(home, "certificate.pem"), path(home, "certificate.key"));
    let arguments = ["daemon", "run", "--auth", "off", "--listen", "127.0.0.1:0", "--tls-cert", &certificate];
    let mut command = home.mfa(&arguments);
    command.args(["--tls-key", &key]);
    Served::start(command)
}

#[test]
fn a_certificate_is_made_by_an_authority_that_stays_when_it_is_renewed() {
    let home = with_certificate();
    let verify = || {
        let mut openssl = Command::new("openssl");
        openssl.args(["verify", "-x509_strict", "-verify_hostname", "bank.example", "-CAfile"]);
        openssl.args([path(&home, "authority.pem"), path(&home, "certificate.pem")]).output().unwrap()
    };
    let said = verify();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    for name in ["authority.key", "certificate.key"] {
        assert_eq!(fs::metadata(path(&home, name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    let generate = ["tls", "generate", "--name", "bank.example", "--out"];
    let out = path(&home, "");
    let again = run(home.mfa(&[&generate[..], &[&out]].concat()));
    assert!(again.exit == 6 && again.err.contains("--renew"), "{again:?}");
    let show = |name: &str| run(home.mfa(&["tls", "show", &path(&home, name), "-o", "json"])).json();
    let before = show("certificate.pem");
    assert_eq!(before[1], {
        let mut authority = show("authority.pem")[0].clone();
        authority["file"] = before[1]["file"].clone();
        authority
    });
    let more = ["--renew", "--name", "10.0.0.5", "--days", "30"];
    run(home.mfa(&[&generate[..], &[&out], &more].concat())).ok();
    let after = show("certificate.pem");
    assert_ne!(before[0]["fingerprint"], after[0]["fingerprint"]);
    assert_eq!(before[1]["fingerprint"], after[1]["fingerprint"]);
    assert_eq!(after[0]["names"], serde_json::json!(["bank.example", "localhost"]));
    assert!(verify().status.success());
    // What openssl calls the fingerprint is the same number.
    let mut openssl = Command::new("openssl");
    openssl.args(["x509", "-noout", "-fingerprint", "-sha256", "-in", &path(&home, "certificate.pem")]);
    let reported = String::from_utf8(openssl.output().unwrap().stdout).unwrap();
    let reported = reported.trim().rsplit_once('=').unwrap().1.replace(':', "").to_lowercase();
    assert_eq!(after[0]["fingerprint"], reported);
}

#[test]
fn a_renewed_certificate_is_readable_for_the_service_as_before() {
    let home = with_certificate();
    let (certificate, key) = (path(&home, "certificate.pem"), path(&home, "certificate.key"));
    let is_root = geteuid().is_root();
    if is_root {
        chown(&key, Some(65_534), Some(65_533)).unwrap();
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::read(&key).unwrap();
    run(home.mfa(&["tls", "generate", "--name", "bank.example", "--out", &path(&home, ""), "--renew"])).ok();
    let facts = fs::metadata(&key).unwrap();
    assert_ne!(fs::read(&key).unwrap(), before);
    assert_eq!(facts.mode() & 0o777, 0o640, "the group reads it as before, and others no longer");
    assert_eq!(fs::metadata(&certificate).unwrap().mode() & 0o777, 0o644);
    if is_root {
        assert_eq!((facts.uid(), facts.gid()), (65_534, 65_533));
    }
}

#[test]
fn other_machines_need_the_authority_and_this_one_knows_its_own_daemon() {
    let home = with_certificate();
    let served = serve(&home);
    let port = served.url.rsplit_once(':').unwrap().1;
    let url = format!("https://localhost:{port}");
    assert!(served.url.starts_with("https://127.0.0.1:"), "{}", served.url);
    let strange = run(home.mfa(&["offices", "list", "--url", &url, "--retries", "0"]));
    assert!(strange.exit == 10 && strange.err.contains("does not know its authority"), "{strange:?}");
    assert!(strange.err.contains("--ca-file"), "{}", strange.err);
    let authority = path(&home, "authority.pem");
    let trusting = ["offices", "create", "accra", "--name", "Accra", "--url", &url, "--ca-file"];
    run(home.mfa(&[&trusting[..], &[&authority]].concat())).ok();
    // On its own machine the certificate is known by its file, whatever host it is for.
    let mut own = home.mfa(&["offices", "list", "-o", "id", "--url", &served.url]);
    own.env("MFA_TLS_CERT", path(&home, "certificate.pem"));
    assert_eq!(run(own).ok(), "accra\n");
    let mut other = home.mfa(&["offices", "list", "--url", &served.url, "--retries", "0"]);
    run(home.mfa(&["tls", "generate", "--name", "x", "--out", &path(&home, "other")])).ok();
    other.env("MFA_TLS_CERT", path(&home, "other/certificate.pem"));
    let refused = run(other);
    assert!(refused.exit == 10 && refused.err.contains("tls_cert"), "{refused:?}");
    // Plain HTTP hears what is the case, and so does its user.
    let plain = run(home.mfa(&["offices", "list", "--url", &url.replace("https", "http")]));
    assert!(plain.err.contains("https://"), "{plain:?}");
    let missing = run(home.mfa(&["offices", "list", "--url", &url, "--ca-file", "nowhere.pem"]));
    assert!(missing.exit == 2 && missing.err.contains("ca_file nowhere.pem"), "{missing:?}");
}

#[test]
fn an_authority_is_saved_once_its_fingerprint_was_compared() {
    let home = with_certificate();
    let served = serve(&home);
    let url = served.url.replace("127.0.0.1", "localhost");
    let right = run(home.mfa(&["tls", "show", &path(&home, "authority.pem"), "-o", "json"])).json();
    let right = right[0]["fingerprint"].as_str().unwrap().to_owned();
    let shown = run(home.mfa(&["tls", "show", &url, "-o", "json"])).json();
    assert_eq!(shown[1]["fingerprint"], right.as_str());
    let out = home.dir.path().join("trusted.pem");
    let trust = |fingerprint: &[&str]| {
        let arguments = ["tls", "trust", "--url", &url, "--out", out.to_str().unwrap()];
        run(home.mfa(&[&arguments[..], fingerprint].concat()))
    };
    let unasked = trust(&[]);
    assert!(unasked.exit == 2 && unasked.err.contains("--fingerprint is needed"), "{unasked:?}");
    assert_eq!(trust(&["--yes"]).exit, 2, "a yes compares nothing");
    let first = if right.starts_with('0') { "1" } else { "0" };
    assert_eq!(trust(&["--fingerprint", &format!("{first}{}", &right[1..])]).exit, 6);
    assert!(!out.exists());
    trust(&["--fingerprint", &right.to_uppercase()]).ok();
    run(home.mfa(&["offices", "list", "--url", &url, "--ca-file", out.to_str().unwrap()])).ok();
    let plain = run(home.mfa(&["tls", "show", "http://localhost:1"]));
    assert!(plain.exit == 2 && plain.err.contains("https:"), "{plain:?}");
}

#[test]
fn a_yes_trusts_no_certificate_on_a_terminal_either() {
    let home = with_certificate();
    let served = serve(&home);
    let url = served.url.replace("127.0.0.1", "localhost");
    let world = World::start();
    let terminal = Terminal::start(&world, 120, &[]);
    let line = format!("mfa tls trust --url {url} --out trusted.pem");
    for line in [format!("{line} --yes"), format!("MFA_YES=1 {line}")] {
        let screen = terminal.run(&line);
        assert!(screen.contains("a yes compares nothing") && screen.contains("--fingerprint"), "{screen}");
        assert!(screen.contains("exit 2"), "{screen}");
    }
    let trusted = world.dir.path().join("trusted.pem");
    assert!(!trusted.exists());
    terminal.type_line(&format!("clear; {line}"));
    terminal.wait_for("Trust it? [y/N]");
    terminal.type_line("y");
    terminal.wait_for("$");
    assert!(trusted.exists());
}

#[test]
fn a_background_daemon_keeps_its_certificate_and_reloads_on_a_signal() {
    let home = with_certificate();
    let address = free_address();
    let (certificate, key) = (path(&home, "certificate.pem"), path(&home, "certificate.key"));
    let flags = ["--auth", "off", "--listen", &address, "--tls-cert", &certificate, "--tls-key", &key];
    run(home.mfa(&[&["daemon", "start"], &flags[..]].concat())).ok();
    let restarted = run(home.mfa(&["daemon", "restart", "--listen", &address, "-o", "json"])).json();
    assert_eq!(restarted["url"], format!("https://{address}"));
    let url = format!("https://{address}");
    let shown = || run(home.mfa(&["tls", "show", &url, "-o", "json"])).json()[0]["fingerprint"].clone();
    let before = shown();
    let out = path(&home, "");
    run(home.mfa(&["tls", "generate", "--name", "bank.example", "--out", &out, "--renew"])).ok();
    let pid = restarted["pid"].to_string();
    assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    let until = Instant::now() + Duration::from_secs(20);
    while shown() == before {
        assert!(Instant::now() < until, "the old certificate is still served");
        std::thread::sleep(Duration::from_millis(20));
    }
    run(home.mfa(&["daemon", "stop", "--listen", &address])).ok();
}

#[test]
fn an_unusable_certificate_is_reported_before_the_start_and_by_doctor() {
    let home = with_certificate();
    run(home.mfa(&["tls", "generate", "--name", "x", "--out", &path(&home, "other")])).ok();
    let (certificate, key) = (path(&home, "certificate.pem"), path(&home, "certificate.key"));
    let nothing = home.file("tls/nothing.pem", "");
    let finding = |certificate: &str, key: &str| {
        let mut doctor = home.mfa(&["doctor", "-o", "json"]);
        doctor.env("MFA_TLS_CERT", certificate).env("MFA_TLS_KEY", key);
        let found: Value = serde_json::from_str(&run(doctor).out).unwrap();
        let found = found.as_array().unwrap().iter().find(|one| one["check"] == "certificate").cloned();
        found.unwrap_or_default()
    };
    for (certificate, key, why) in [
        (&certificate, &path(&home, "other/certificate.key"), "is not the key of"),
        (&nothing, &key, "no certificate in PEM form"),
        (&certificate, &nothing, "no private key in PEM form"),
        (&path(&home, "gone.pem"), &key, "No such file"),
    ] {
        let mut start = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
        start.env("MFA_TLS_CERT", certificate).env("MFA_TLS_KEY", key);
        let ran = run(start);
        assert!(ran.exit == 2 && ran.err.contains(why), "{ran:?}");
        let found = finding(certificate, key);
        assert!(found["result"] == "fail" && found["found"].as_str().unwrap().contains(why), "{found}");
    }
    let mut half = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0"]);
    half.env("MFA_TLS_CERT", &certificate);
    assert!(run(half).err.contains("tls_key is not"), "one without the other");
    assert_eq!(finding(&certificate, &key)["result"], "ok");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(finding(&certificate, &key)["mend"], format!("chmod 600 {key}"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let out = path(&home, "");
    run(home.mfa(&["tls", "generate", "--name", "x", "--out", &out, "--renew", "--days", "20"])).ok();
    let ending = finding(&certificate, &key);
    assert!(ending["result"] == "warn" && ending["mend"].as_str().unwrap().contains("--renew"), "{ending}");
}

#[test]
fn beyond_this_machine_a_certificate_takes_the_place_of_plaintext() {
    let home = with_certificate();
    let arguments = ["daemon", "run", "--listen", "0.0.0.0:0"];
    let refused = run(home.mfa(&arguments));
    assert!(refused.exit == 2 && refused.err.contains("mfa tls generate"), "{refused:?}");
    let mut command = home.mfa(&arguments);
    command.env("MFA_TLS_CERT", path(&home, "certificate.pem"));
    command.env("MFA_TLS_KEY", path(&home, "certificate.key"));
    run(home.mfa(&["init", "-q", "--yes"]));
    let served = Served::start(command);
    assert!(served.url.starts_with("https://0.0.0.0:"), "{}", served.url);
}

#[test]
fn a_client_shows_its_own_certificate_where_the_daemon_asks_for_one() {
    let dir = tempfile::tempdir().unwrap();
    let authority = crate::support::servers::Authority::new(dir.path());
    let own = authority.certificate("localhost", 2098);
    let world = World::with(|config| {
        (config.tls_cert, config.tls_key) = (Some(own.certificate.clone()), Some(own.key.clone()));
        config.tls_client_ca = Some(authority.file());
    });
    let url = world.url().replace("127.0.0.1", "localhost");
    let list = |identity: bool| {
        let mut command = world.mfa(&["offices", "list", "-o", "json", "--url", &url, "--retries", "0"]);
        command.env("MFA_CA_FILE", authority.file());
        if identity {
            command.env("MFA_CLIENT_CERT", &own.certificate).env("MFA_CLIENT_KEY", &own.key);
        }
        run(command)
    };
    assert_eq!(list(true).json(), serde_json::json!([]));
    assert_eq!(list(false).exit, 10);
    let mut half = world.mfa(&["offices", "list"]);
    half.env("MFA_CLIENT_CERT", &own.certificate);
    assert_eq!(run(half).exit, 2);
}
