//! Records of almost a megabyte: a page of them has a bound, and their lines come whole and in order.

use crate::support::world::World;
use serde_json::{Value, json};

const CUSTOMERS: usize = 24;

/// Values as long as a request may be.
fn long_values() -> Vec<Value> {
    let value = |number: usize| {
        let name = format!("f{number:05}");
        json!({ "catalogIdentifier": "cat", "fieldIdentifier": name, "value": "x".repeat(4_096) })
    };
    (0..235).map(value).collect()
}

/// A world with customers who have such values.
fn long_customers() -> World {
    let (world, values) = (World::start(), long_values());
    for number in 0..CUSTOMERS {
        let surname = format!("Mensah {}", CUSTOMERS - number);
        let customer =
            json!({ "identifier": format!("c{number:02}"), "surname": surname, "customValues": values });
        world.post("/customers", customer.to_string()).is(202);
    }
    world
}

fn lines(world: &World, path: &str) -> Vec<Value> {
    let seen = world.send(world.request("GET", path).header("accept", "application/x-ndjson")).is(200);
    seen.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_page_of_long_records_is_refused_and_smaller_ones_and_lines_have_them_all() {
    let world = long_customers();
    for path in ["/customers?size=100", "/customers?size=100&sortColumn=surname", "/audit?size=100"] {
        let says = world.get(path).is(400).json();
        let detail = says["detail"].as_str().unwrap();
        assert!(says["code"] == "invalid_parameter" && detail.contains("ask for fewer"), "{path}: {says}");
    }
    let page = world.get("/customers?size=10&pageIndex=2").is(200).json();
    assert_eq!((&page["totalElements"], page["customers"].as_array().unwrap().len()), (&json!(CUSTOMERS), 4));
    assert_eq!(world.get("/audit?size=10").is(200).json()["records"].as_array().unwrap().len(), 10);
    let names: Vec<_> = (0..CUSTOMERS).map(|number| json!(format!("c{number:02}"))).collect();
    let backwards: Vec<_> = names.iter().rev().cloned().collect();
    let seen = |path: &str| -> Vec<Value> {
        lines(&world, path).into_iter().map(|mut line| line["identifier"].take()).collect()
    };
    assert_eq!(seen("/customers"), names);
    assert_eq!(seen("/customers?sortDirection=DESC"), backwards);
    assert_eq!(seen("/customers?term=mensah"), names);
    let mut by_name = lines(&world, "/customers?sortColumn=surname");
    assert_eq!(by_name.len(), CUSTOMERS);
    assert!(by_name.is_sorted_by_key(|line| line["surname"].as_str().unwrap().to_lowercase()));
    by_name.sort_by_key(|line| line["identifier"].to_string());
    assert!(by_name.iter().map(|line| &line["identifier"]).eq(&names));
    for (direction, first) in [("ASC", 1), ("DESC", CUSTOMERS)] {
        let trail = lines(&world, &format!("/audit?operation=CreateCustomer&sortDirection={direction}"));
        let numbers: Vec<_> = trail.iter().map(|record| record["sequence"].as_u64().unwrap()).collect();
        assert_eq!(numbers.len(), CUSTOMERS);
        assert!(trail.iter().all(|record| record["operation"] == "CreateCustomer"));
        assert!(if first == 1 { numbers.is_sorted() } else { numbers.iter().rev().is_sorted() });
    }
}

#[test]
fn a_batch_over_many_long_records_is_refused_whole_and_a_part_is_done() {
    let world = World::start();
    let customer = json!({ "identifier": "c01", "surname": "Mensah", "customValues": long_values() });
    world.post("/customers", customer.to_string()).is(202);
    world.post("/customers/c01/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    let path = "/customers/c01/commands";
    let command = |action: &str| json!({ "method": "POST", "path": path, "body": { "action": action } });
    let batch = |atomic: bool, times: usize| {
        let operations: Vec<_> = (0..times).flat_map(|_| ["LOCK", "UNLOCK"]).map(command).collect();
        world.post("/batch", json!({ "atomic": atomic, "operations": operations }).to_string())
    };
    let says = batch(false, 500).refused(413, "body_too_large").json();
    let detail = says["detail"].as_str().unwrap();
    assert!(detail.contains("nothing of it was done: send fewer operations"), "{detail}");
    let carried_out = || world.get("/customers/c01/commands").is(200).json().as_array().unwrap().len();
    let before = carried_out();
    let done = batch(true, 2).is(200).json();
    assert!(done["results"].as_array().unwrap().iter().all(|result| result["status"] == 202));
    assert_eq!((before, carried_out()), (1, before + 4));
}
