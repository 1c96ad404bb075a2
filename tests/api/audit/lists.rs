//! Lists of the trail, compared with a plain look through all of it.

use super::records;
use crate::support::world::World;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// A trail of a few days, with several records, requests and outcomes.
fn world() -> World {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"ho","name":"Head"}"#).is(202);
    for n in 0..40 {
        let customer = format!("c-{}", n % 7);
        match n {
            0..7 => world.post("/customers", json!({ "identifier": customer }).to_string()).is(202),
            _ if n % 3 == 0 => {
                let card = json!({ "type": "National", "number": format!("N{n}"),
                    "expirationDate": { "year": 2032, "month": 1, "day": 1 } });
                world.post(&format!("/customers/{customer}/identifications"), card.to_string()).is(202)
            }
            _ if n % 5 == 0 => {
                let request = world.request("GET", "/customers").header("accept", "application/x-ndjson");
                world.send(request).is(200)
            }
            _ => {
                let body = json!({ "identifier": customer, "surname": format!("S{n}") });
                world.put(&format!("/customers/{customer}"), body.to_string()).is(202)
            }
        };
        if n % 10 == 9 {
            world.get("/audit/head").is(200);
            world.clock.advance(86_400);
        }
    }
    // What is recorded after an answer waits in the daemon that gave it, for less than a second.
    if world.config().store.postgres().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    world
}

fn matches(record: &Value, name: &str, value: &str) -> bool {
    let day = |text: &str| text.trim_end_matches('Z').to_owned();
    match name {
        "resource" => {
            let named = record["affects"].as_array().unwrap().iter().chain([&record["resource"]]);
            named.filter_map(Value::as_str).any(|resource| match value.strip_suffix('*') {
                Some(under) => resource.starts_with(under),
                None => resource == value,
            })
        }
        "after" => record["sequence"].as_i64().unwrap() > value.parse::<i64>().unwrap(),
        "dateRange" => {
            let (from, to) = value.split_once("..").unwrap();
            let on = &record["occurredOn"].as_str().unwrap()[..10];
            day(from).as_str() <= on && on <= day(to).as_str()
        }
        _ => record[name] == value,
    }
}

type Filter = (&'static str, String);

/// A filter, with values that are there and values that are not.
fn filters([first, middle, last]: [String; 3], requests: Vec<String>) -> impl Strategy<Value = Filter> {
    prop_oneof![
        prop_oneof![
            Just("customer/c-3"),
            Just("customer/*"),
            Just("customer/nobody"),
            Just("office/ho"),
            Just("card/*"),
            Just("card/c-2/*"),
            Just("nothing/*"),
            Just("customer"),
        ]
        .prop_map(|value| ("resource", value.to_owned())),
        prop_oneof![Just("guest"), Just("nobody")].prop_map(|value| ("actor", value.to_owned())),
        prop_oneof![Just("CreateCustomer"), Just("UpdateCustomer"), Just("Nothing")]
            .prop_map(|value| ("operation", value.to_owned())),
        prop_oneof![Just("DONE"), Just("REFUSED"), Just("FAILED")]
            .prop_map(|value| ("outcome", value.to_owned())),
        proptest::sample::select(requests).prop_map(|value| ("requestId", value)),
        (0i64..50).prop_map(|value| ("after", value.to_string())),
        proptest::sample::select(vec![
            format!("{first}..{first}"),
            format!("{middle}..{last}"),
            format!("{first}..{last}"),
            format!("{middle}..{middle}"),
            "1999-01-01..1999-12-31".to_owned(),
        ])
        .prop_map(|value| ("dateRange", value)),
    ]
}

#[test]
fn every_page_of_every_filter_is_that_of_a_plain_look() {
    let world = world();
    let mut all = records(&world, "size=1000&sortDirection=ASC");
    assert!(all.len() >= 41 && all.iter().zip(1..).all(|(record, number)| record["sequence"] == number));
    let days: Vec<_> =
        all.iter().map(|record| record["occurredOn"].as_str().unwrap()[..10].to_owned()).collect();
    let requests: Vec<_> =
        all.iter().map(|record| record["requestId"].as_str().unwrap().to_owned()).collect();
    let (first, last) = (days[0].clone(), days[days.len() - 1].clone());
    let middle = days[days.len() / 2].clone();
    let filters = filters([first, middle, last], requests);
    let ask =
        (proptest::collection::btree_map(0usize..3, filters, 0..3), any::<bool>(), 1usize..15, 0usize..4);
    let mut runner = TestRunner::new(Config { cases: 80, failure_persistence: None, ..Config::default() });
    let done = runner.run(&ask, |(filters, ascending, size, page)| {
        let mut filters: Vec<_> = filters.into_values().collect();
        filters.sort();
        filters.dedup_by_key(|(name, _)| *name);
        let mut query = format!("size={size}&pageIndex={page}");
        if ascending {
            query.push_str("&sortDirection=ASC");
        }
        for (name, value) in &filters {
            query.push_str(&format!("&{name}={value}"));
        }
        let seen = world.get(&format!("/audit?{query}")).is(200).json();
        let mut expected: Vec<_> = all
            .iter()
            .filter(|r| filters.iter().all(|(name, value)| matches(r, name, value)))
            .cloned()
            .collect();
        if !ascending {
            expected.reverse();
        }
        let total = expected.len();
        let page: Vec<_> = expected.into_iter().skip(page * size).take(size).collect();
        prop_assert_eq!(&seen["records"], &json!(page), "{}", query);
        prop_assert_eq!(&seen["totalElements"], &json!(total), "{}", query);
        prop_assert_eq!(&seen["totalPages"], &json!(total.div_ceil(size)), "{}", query);
        Ok(())
    });
    done.unwrap();
    all.reverse();
    let newest_first = records(&world, "size=1000");
    assert_eq!(newest_first, all);
}

#[test]
fn as_lines_a_list_is_the_same_and_whole() {
    let world = world();
    let all = records(&world, "size=1000&resource=customer/c-3");
    let request =
        world.request("GET", "/audit?resource=customer/c-3&size=1").header("accept", "application/x-ndjson");
    let text = world.send(request).is(200).text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, all);
}

#[test]
fn an_unknown_filter_is_refused() {
    let world = World::start();
    for bad in
        ["dateRange=2024-13-01..x", "size=0", "outcome=MAYBE", "after=-1", "after=x", "sortDirection=UP"]
    {
        world.get(&format!("/audit?{bad}")).refused(400, "invalid_parameter");
    }
}
