//! `mfa doctor`: what is wrong, and the command that mends it.

use super::run::run;
use crate::world::World;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

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
    // Nobody has made a store in the default folder of this home, and this daemon asks for no token.
    assert_eq!(finding(&findings, "login")["mend"], "mfa daemon restart --auth on");
}

#[test]
fn a_daemon_that_is_down_is_told_with_the_command_that_starts_it() {
    let mut world = World::start();
    let address = world.url();
    world.stop();
    let mut command = crate::world::mfa(world.dir.path(), &["doctor", "-o", "json"]);
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
        let mut command = crate::world::mfa(world.dir.path(), &["doctor"]);
        command.env("MFA_URL", &address);
        command
    });
    assert_eq!((ran.exit, ran.err.as_str()), (1, "error: one check failed\n"));
}

#[test]
fn a_store_that_others_can_read_and_a_setting_that_nobody_knows_are_found() {
    let world = World::start();
    let store = world.dir.path().join("share/mfa/store");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("FORMAT"), "").unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = world.dir.path().join("config/mfa");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "listn = \"127.0.0.1:1\"\n").unwrap();
    let ran = run(world.mfa(&["doctor", "-o", "json"]));
    let findings: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.exit, 1);
    let mend = format!("chmod 700 {}", store.display());
    assert_eq!(finding(&findings, "permissions")["mend"], mend);
    let config = finding(&findings, "config");
    assert_eq!(config["result"], "warn");
    assert!(config["found"].as_str().unwrap().contains("did you mean listen?"), "{config}");
}
