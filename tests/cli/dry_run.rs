//! `--dry-run` of every verb that changes something.

use super::run::run;
use super::tree::{NEEDS_GATEWAY, OTHER_CALLERS, commands, sample, shell, words};
use crate::world::World;
use mfa_shared::api::rows;
use mfa_shared::endpoint::Method;
use serde_json::Value;

/// Every list of the institution, as text.
fn everything(world: &World) -> Vec<String> {
    let lists = rows().filter(|row| row.method == Method::Get && row.lists() && !row.path.contains('{'));
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
            || NEEDS_GATEWAY.contains(&endpoint)
            || OTHER_CALLERS.iter().any(|(name, _)| *name == endpoint);
        if !alone || elsewhere {
            continue;
        }
        let line = example.replacen(&own, &format!("{own} --dry-run"), 1);
        let ran = run(shell(&world, &line));
        assert_eq!(ran.exit, 0, "{line}\n{}", ran.err);
        // A batch tells of its operations, and an editor that changes nothing leaves nothing to try.
        let other = endpoint == "SendBatch" || line.starts_with("EDITOR=");
        assert!(ran.out.contains("nothing was changed") || other, "{line}\n{}", ran.out);
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
    assert!(everything(&world) == before, "a dry run has changed something");
}
