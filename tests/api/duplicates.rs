//! `Possible-Duplicates` (`decisions.md` section 7): a new customer who may be there already.

use crate::support::guarded::may;
use crate::support::world::{Seen, World};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn body(identifier: &str, given: &str, surname: &str, day: i64, phone: &str) -> Value {
    json!({
        "identifier": identifier, "givenName": given, "surname": surname,
        "dateOfBirth": { "year": 1990, "month": 2, "day": day },
        "contactDetails": [{ "type": "MOBILE", "group": "PRIVATE", "value": phone }],
    })
}

fn others(seen: &Seen) -> Option<String> {
    seen.headers.get("possible-duplicates").map(|value| value.to_str().unwrap().to_owned())
}

/// A world of one customer.
fn world() -> World {
    let world = World::start();
    let first = world.post("/customers", body("c-001", "Ama", "Söhne", 3, "+233 (24) 123-4567").to_string());
    assert_eq!(others(&first.is(202)), None, "no one is like the first customer");
    world
}

#[test]
fn a_new_customer_is_answered_with_those_who_may_be_the_same_person() {
    let world = world();
    for (given, surname, day, phone, expected) in [
        ("AMA", "Sohne", 3, "1", Some("c-001")),
        ("Ama", "Söhne", 4, "2", None),
        ("Ama", "Sohnes", 3, "3", None),
        ("Kofi", "Boateng", 5, "00233", None),
        ("Esi", "Addo", 6, "233-24-123-4567", Some("c-001")),
    ] {
        let id = format!("t-{phone}");
        let seen = world.post("/customers", body(&id, given, surname, day, phone).to_string()).is(202);
        assert_eq!(others(&seen).as_deref(), expected, "{given} {surname} {day} {phone}");
    }
    // Both by name and by phone, and each once.
    let seen = world.post("/customers", body("z", "Ama", "Söhne", 3, "2").to_string()).is(202);
    assert_eq!(others(&seen).unwrap(), "c-001, t-1, t-2");
}

#[test]
fn at_most_five_are_named_and_identifiers_are_encoded() {
    let world = World::start();
    for number in 0..7 {
        let id = format!("ä {number}");
        world.post("/customers", body(&id, "Yaw", "Mensah", 9, &format!("77{number}")).to_string()).is(202);
    }
    let seen = world.post("/customers", body("b", "Yaw", "Mensah", 9, "1").to_string()).is(202);
    assert_eq!(others(&seen).unwrap(), "%C3%A4%200, %C3%A4%201, %C3%A4%202, %C3%A4%203, %C3%A4%204");
}

#[test]
fn what_was_changed_since_is_what_counts() {
    let world = world();
    let mut changed = body("c-001", "Akua", "Söhne", 3, "5");
    world.put("/customers/c-001", changed.to_string()).is(202);
    let seen = world.post("/customers", body("c-2", "Ama", "Söhne", 3, "6").to_string()).is(202);
    assert_eq!(others(&seen), None, "the first one has another name by now");
    changed["identifier"] = json!("c-3");
    let begun = Instant::now();
    loop {
        let request = world.request("POST", "/customers").header("dry-run", "true").body(changed.to_string());
        if others(&world.send(request).is(202)).as_deref() == Some("c-001") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "the new name is not known");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_dry_run_names_them_and_adds_no_duplicate() {
    let world = world();
    let like = |id: &str| body(id, "Ama", "Söhne", 3, "9").to_string();
    for _ in 0..2 {
        let request = world.request("POST", "/customers").header("dry-run", "true").body(like("c-9"));
        assert_eq!(others(&world.send(request).is(202)).unwrap(), "c-001");
    }
    assert_eq!(others(&world.post("/customers", like("c-10")).is(202)).unwrap(), "c-001");
}

#[test]
fn each_result_of_a_batch_names_them_and_its_own_rows_count_too() {
    let world = world();
    let create = |body: Value| json!({ "method": "POST", "path": "/customers", "body": body });
    let operations = json!({ "operations": [
        create(body("b-1", "Ama", "Söhne", 3, "11")),
        create(body("b-2", "Yaw", "Boateng", 3, "12")),
        create(body("b-3", "Efua", "Owusu", 7, "12")),
        create(body("b-3", "Efua", "Owusu", 7, "12")),
    ]});
    let results = world.post("/batch", operations.to_string()).is(200).json()["results"].clone();
    assert_eq!(results[0]["possibleDuplicates"], json!(["c-001"]));
    let others = [&results[1]["possibleDuplicates"], &results[2]["possibleDuplicates"]];
    assert_eq!(others, [&json!(["b-3"]), &json!(["b-2"])], "{results}");
    assert_eq!((&results[3]["status"], &results[3]["possibleDuplicates"]), (&json!(409), &json!(null)));
}

#[test]
fn a_dry_run_of_a_batch_names_those_whom_the_batch_names() {
    let world = world();
    let create = |body: Value| json!({ "method": "POST", "path": "/customers", "body": body });
    let mut operations = vec![
        create(body("b-1", "Ama", "Söhne", 3, "11")),
        create(body("b-2", "Yaw", "Boateng", 3, "12")),
        create(body("b-0", "Efua", "Owusu", 7, "12")),
        create(body("b-0", "Ama", "Söhne", 3, "13")),
        create(body("b-3", "Esi", "Addo", 8, "none")),
    ];
    // More than are named, before and behind the one who is there.
    let like = |name: &str| create(body(name, "Ama", "Söhne", 3, "none"));
    operations.extend(["d-1", "a-2", "a-1", "d-2", "a-3", "d-3"].map(like));
    let operations = json!({ "operations": operations }).to_string();
    let send = |dry: &str| {
        let request = world.request("POST", "/batch").header("dry-run", dry).body(operations.clone());
        let results = world.send(request).is(200).json()["results"].as_array().unwrap().clone();
        results.iter().map(|result| result["possibleDuplicates"].clone()).collect::<Vec<_>>()
    };
    let tried = send("true");
    assert_eq!(send("true"), tried, "a dry run has left something");
    assert_eq!(send("false"), tried);
    assert_eq!(tried[1..3], [json!(["b-0"]), json!(["b-2"])]);
    assert_eq!(tried[0], json!(["a-1", "a-2", "a-3", "c-001", "d-1"]));
}

#[test]
fn a_repeated_answer_names_them_as_the_first_one_did() {
    let world = world();
    let like = |id: &str| body(id, "Ama", "Söhne", 3, id);
    let create = || {
        let request = world.request("POST", "/customers").header("idempotency-key", "k1");
        world.send(request.body(like("21").to_string())).is(202)
    };
    let (first, again) = (create(), create());
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!([others(&first), others(&again)], [Some("c-001".to_owned()), Some("c-001".to_owned())]);
    for key in ["k2", ""] {
        let mut operation = json!({ "method": "POST", "path": "/customers", "body": like("22") });
        if key.is_empty() {
            operation["body"] = like("23");
            operation["idempotencyKey"] = json!("k3");
        }
        let send = || {
            let request = world.request("POST", "/batch");
            let request = if key.is_empty() { request } else { request.header("idempotency-key", key) };
            world.send(request.body(json!({ "operations": [operation] }).to_string())).is(200)
        };
        let named = |seen: Seen| seen.json()["results"][0]["possibleDuplicates"].clone();
        let (first, again) = (named(send()), named(send()));
        assert!(first.as_array().is_some_and(|others| others.contains(&json!("c-001"))), "{first}");
        assert_eq!(first, again);
    }
}

#[test]
fn only_who_may_read_customers_sees_duplicates() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/customers", body("c-001", "Ama", "Söhne", 3, "1")).is(202);
    assert_eq!(
        others(&olga.post("/customers", body("c-002", "Ama", "Söhne", 3, "2")).is(202)).unwrap(),
        "c-001"
    );
    let blind = world.user_with("blind", &[may("customer__v1__customer", "C")]);
    assert_eq!(others(&blind.post("/customers", body("c-003", "Ama", "Söhne", 3, "3")).is(202)), None);
    let batch = json!({ "operations": [
        { "method": "POST", "path": "/customers", "body": body("c-004", "Ama", "Söhne", 3, "4") }
    ]});
    let results = blind.post("/batch", batch).is(200).json();
    assert_eq!(results["results"][0]["possibleDuplicates"], json!(null));
}

#[test]
fn a_name_or_a_phone_is_known_as_soon_as_its_change_is_answered() {
    let world = world();
    world.post("/customers", body("p-1", "Efua", "Owusu", 4, "70").to_string()).is(202);
    world.put("/customers/p-1", body("p-1", "Abena", "Owusu", 4, "70").to_string()).is(202);
    let seen = world.post("/customers", body("p-2", "Abena", "Owusu", 4, "71").to_string()).is(202);
    assert_eq!(others(&seen).as_deref(), Some("p-1"));
    let phone = json!([{ "type": "MOBILE", "group": "PRIVATE", "value": "0205550142" }]);
    world.put("/customers/p-1/contact", phone.to_string()).is(202);
    let seen = world.post("/customers", body("p-3", "Esi", "Owusu", 4, "020-5550142").to_string()).is(202);
    assert_eq!(others(&seen).as_deref(), Some("p-1"));
    let operations = json!({ "operations": [
        { "method": "PUT", "path": "/customers/p-3", "body": body("p-3", "Adwoa", "Owusu", 4, "73") },
    ]});
    world.post("/batch", operations.to_string()).is(200);
    let seen = world.post("/customers", body("p-4", "Adwoa", "Owusu", 4, "74").to_string()).is(202);
    assert_eq!(others(&seen).as_deref(), Some("p-3"));
}
