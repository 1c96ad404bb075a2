//! The proof: numbers without gaps, and a chain of hashes that anyone can compute again.

use super::{of, records};
use crate::support::world::World;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The lines of the trail, the oldest first.
fn lines(world: &World) -> Vec<String> {
    let request = world.request("GET", "/audit?sortDirection=ASC").header("accept", "application/x-ndjson");
    world.send(request).is(200).text().lines().map(str::to_owned).collect()
}

/// Checks a chain with nothing but its lines; the error says what is wrong.
pub fn verify(lines: &[String]) -> Result<String, String> {
    let mut before = "0".repeat(64);
    for (number, line) in (1u64..).zip(lines) {
        let record: Value = serde_json::from_str(line).map_err(|_| format!("line {number} is no JSON"))?;
        let (part, _) = line.rsplit_once(",\"hash\":").ok_or("no hash")?;
        let hash: String = Sha256::digest(part.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        if record["sequence"] != number || record["previousHash"] != before || record["hash"] != hash {
            return Err(format!("record {number}"));
        }
        before = hash;
    }
    Ok(before)
}

#[test]
fn a_fresh_store_has_no_record_and_no_head() {
    let world = World::start();
    world.get("/audit/head").refused(404, "audit_record_not_found");
    world.get("/audit/1").refused(404, "audit_record_not_found");
    let page = world.get("/audit").is(200).json();
    assert_eq!(page, json!({ "records": [], "totalPages": 0, "totalElements": 0 }));
}

#[test]
fn the_chain_has_no_gap_and_its_head_is_the_last_record() {
    let world = World::start();
    let change = |n: usize| {
        let body = json!({ "identifier": format!("c-{n}"), "surname": "Ölçü \"x\" / \\ \u{2028}" });
        world.request("POST", "/customers").body(body.to_string())
    };
    // Several at once, so that they are committed together.
    for round in 0..4 {
        for seen in world.insist_all((0..20).map(|n| change(round * 20 + n)).collect()) {
            seen.is(202);
        }
    }
    let lines = lines(&world);
    assert_eq!(lines.len(), 80);
    let hash = verify(&lines).unwrap();
    let head = world.get("/audit/head").is(200).json();
    // The stream of lines was itself recorded meanwhile.
    let last = head["sequence"].as_i64().unwrap();
    assert!(last >= 80);
    let record = world.get("/audit/80").is(200);
    assert_eq!(record.json()["hash"], hash);
    assert_eq!(record.text(), lines[79]);
    let names: Vec<_> = head.as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["sequence", "hash", "occurredOn"]);
    for none in ["0", "081", "+80", "-1", "x", "99999999999999999999999"] {
        world.get(&format!("/audit/{none}")).refused(404, "audit_record_not_found");
    }
}

#[test]
fn altered_removed_swapped_and_inserted_records_are_found() {
    let world = World::start();
    for n in 0..6 {
        world.post("/customers", json!({ "identifier": format!("c-{n}") }).to_string()).is(202);
    }
    let whole = lines(&world);
    verify(&whole).unwrap();
    for at in 0..whole.len() {
        let number = format!("record {}", at + 1);
        let mut altered = whole.clone();
        altered[at] = altered[at].replace("\"guest\"", "\"ghost\"");
        assert_eq!(verify(&altered), Err(number.clone()));
        let mut removed = whole.clone();
        removed.remove(at);
        if at + 1 < whole.len() {
            assert_eq!(verify(&removed), Err(number.clone()));
        }
        let mut inserted = whole.clone();
        inserted.insert(at, whole[at].clone());
        assert!(verify(&inserted).is_err());
        if at > 0 {
            let mut swapped = whole.clone();
            swapped.swap(at, at - 1);
            assert_eq!(verify(&swapped), Err(format!("record {at}")));
        }
    }
}

#[test]
fn what_a_request_did_is_there_when_the_trail_is_asked_for_at_once() {
    let world = World::start();
    for n in 0..30 {
        world.post("/customers", json!({ "identifier": format!("c-{n}") }).to_string()).is(202);
        let last = &records(&world, "size=1")[0];
        assert_eq!(last["resource"], format!("customer/c-{n}"));
        assert_eq!(last["sequence"], n + 1);
    }
}

#[test]
fn the_operations_of_one_batch_are_in_the_trail_in_their_order() {
    let world = World::start();
    let create =
        json!({ "method": "POST", "path": "/offices", "body": { "identifier": "wa", "name": "Wa" } });
    let change = |at: usize| {
        let body = json!({ "identifier": "wa", "name": format!("Wa {at}") });
        json!({ "method": "PUT", "path": "/offices/wa", "body": body })
    };
    let operations: Vec<_> = std::iter::once(create).chain((1..8).map(change)).collect();
    let body = json!({ "atomic": true, "operations": operations });
    let seen = world.post("/batch", body.to_string()).is(200);
    let places: Vec<_> = of(&world, &seen).iter().map(|record| record["batchIndex"].clone()).collect();
    assert_eq!(json!(places), json!([0, 1, 2, 3, 4, 5, 6, 7]));
}
