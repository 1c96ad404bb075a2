//! `--dry-run` of every verb that changes something.

use super::tree::{NEEDS_CODE, OTHER_CALLERS, commands, needs_gateway, shell, words};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::world::World;
use mfa_shared::api::rows;
use mfa_shared::endpoint::Method;
use serde_json::{Value, json};

/// Every list of the institution, as text. The audit trail hears of looks, too.
fn everything(world: &World) -> Vec<String> {
    let lists = rows().filter(|row| row.method == Method::Get && row.lists() && !row.path.contains('{'));
    let lists = lists.filter(|row| row.application() != "audit-v1");
    let olga = world.login("olga");
    lists.map(|row| olga.get(row.path)).filter(|seen| seen.status == 200).map(|seen| seen.text()).collect()
}

#[test]
fn every_change_can_be_tried_without_changing_anything() {
    let world = World::guarded();
    sample(&world);
    let before = everything(&world);
    let mut tried = 0;
    for command in commands().iter().filter(|c| c["endpoint"].is_string() && c["method"] != "GET") {
        let takes = |flag: &Value| flag["name"] == "--dry-run";
        assert!(command["flags"].as_array().unwrap().iter().any(takes), "{command}");
        let endpoint = command["endpoint"].as_str().unwrap();
        let own = format!("mfa {}", words(command).join(" "));
        let example = command["examples"][0].as_str().unwrap();
        let alone = example.matches("mfa ").count() == 1 && example.contains(&own);
        let elsewhere = endpoint == "CreateToken"
            || needs_gateway(endpoint)
            || NEEDS_CODE.contains(&endpoint)
            // A secret that is not kept cannot be tried.
            || endpoint == "BeginSecondFactor"
            || OTHER_CALLERS.iter().any(|(name, _)| *name == endpoint);
        if !alone || elsewhere {
            continue;
        }
        let line = example.replacen(&own, &format!("{own} --dry-run"), 1);
        let ran = run(shell(&world, &line));
        assert_eq!(ran.exit, 0, "{line}\n{}", ran.err);
        // A batch reports its operations, and an editor that changes nothing leaves nothing to try.
        let other = endpoint == "SendBatch" || line.starts_with("EDITOR=");
        assert!(ran.out.contains("nothing was changed") || other, "{line}\n{}", ran.out);
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
    assert!(everything(&world) == before, "a dry run has changed something");
}

#[test]
fn a_request_written_by_hand_can_be_tried() {
    let world = World::start();
    let api = |words: &[&str]| run(world.mfa(&[&["api"], words, &["--dry-run"]].concat()));
    let create = ["POST", "/offices", "-F", "identifier=tema", "-F", "name=Tema", "-o", "json"];
    let tried = api(&create).json();
    assert_eq!((&tried["method"], &tried["path"]), (&json!("POST"), &json!("/offices")));
    assert_eq!(tried["result"], "would be accepted; nothing was changed");
    world.get("/offices/tema").refused(404, "office_not_found");
    world.post("/offices", r#"{"identifier":"tema","name":"Tema"}"#).is(202);
    assert_eq!(api(&create).fails_in_json(6)["code"], "identifier_taken");
    assert!(api(&["delete", "/offices/tema"]).ok().contains("nothing was changed"));
    world.get("/offices/tema").is(200);
    // What reads changes nothing anyway, and what cannot be tried says so.
    assert!(api(&["GET", "/offices/tema"]).ok().contains("Tema"));
    let login = ["POST", "/token", "-F", "grant_type=password", "-F", "username=a", "-F", "password=b"];
    assert_eq!(api(&[&login[..], &["-o", "json"]].concat()).fails_in_json(7)["code"], "no_dry_run");
}

#[test]
fn the_key_of_an_application_can_be_tried_without_a_file() {
    let world = World::start();
    let file = world.dir.path().join("crm.pem");
    let keygen = |more: &[&str]| {
        let words = ["applications", "keygen", "crm-v1", "--out", file.to_str().unwrap(), "--bits", "2048"];
        run(world.mfa(&[&words[..], &["--dry-run"], more].concat()))
    };
    let tried = keygen(&["-o", "json"]).json();
    assert_eq!(tried["result"], "a key of crm-v1 would be written and registered; nothing was changed");
    assert!(keygen(&["--no-register"]).ok().contains("would be written; nothing was changed"));
    assert!(!file.exists());
    assert_eq!(world.get("/applications").json(), json!([]));
    std::fs::write(&file, "mine").unwrap();
    assert_eq!(keygen(&["-o", "json"]).fails_in_json(6)["code"], "file_exists");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}
