//! Who may read reports, and what is refused.

use crate::support::world::World;
use serde_json::json;

const PATHS: [&str; 3] = [
    "/ledger/reports/cash?office=accra",
    "/ledger/reports/deposits?product=saver",
    "/ledger/reports/customers",
];

#[test]
fn who_may_not_read_the_ledger_reads_no_report() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/offices", json!({ "identifier": "accra", "name": "Accra" })).is(202);
    for (name, role, allowed) in [
        ("kofi", "clerk", false),
        ("esi", "teller", false),
        ("abena", "auditor", true),
        ("yaw", "branch-manager", true),
    ] {
        drop(world.user(name, role));
        let token = world.login(name);
        for path in PATHS {
            let seen = token.get(path);
            match (allowed, path.contains("saver")) {
                (false, _) => drop(seen.refused(403, "forbidden")),
                (true, true) => drop(seen.refused(404, "definition_not_found")),
                (true, false) => drop(seen.is(200)),
            }
        }
    }
    for path in PATHS {
        world.get(path).refused(401, "unauthenticated");
    }
}

#[test]
fn a_report_refuses_what_it_cannot_show() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    for bad in [
        "cash",
        "cash?office=",
        "cash?office=accra&office=accra",
        "cash?office=accra&days=0",
        "cash?office=accra&days=367",
        "cash?office=accra&days=4000",
        "cash?office=accra&days=-1",
        "cash?office=accra&days=x",
        "deposits",
        "deposits?product=saver&months=0",
        "deposits?product=saver&months=121",
        "customers?months=-1",
        "customers?months=1.5",
        "customers?months=1&months=2",
    ] {
        world.get(&format!("/ledger/reports/{bad}")).refused(400, "invalid_parameter");
    }
    world.get("/ledger/reports/cash?office=nowhere").refused(404, "office_not_found");
    world.get("/ledger/reports/deposits?product=nothing").refused(404, "definition_not_found");
    world.get("/ledger/reports/else").refused(404, "route_not_found");
    world.get("/ledger/reports").refused(404, "route_not_found");
    world.post("/ledger/reports/customers", "{}").refused(405, "method_not_allowed");
}

#[test]
fn a_batch_reads_reports_too() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    // What a batch reads is counted beside it, so each daemon is asked before.
    for _ in 0..2 {
        world.get("/ledger/reports/customers").is(200);
    }
    let operations =
        PATHS[..1].iter().chain(&PATHS[2..]).map(|path| json!({ "method": "GET", "path": path }));
    let batch = json!({ "operations": operations.collect::<Vec<_>>() });
    let done = world.post("/batch", batch.to_string()).is(200).json();
    let statuses: Vec<_> = done["results"].as_array().unwrap().iter().map(|r| r["status"].clone()).collect();
    assert_eq!(statuses, [200, 200], "{done}");
}

#[test]
fn a_report_is_there_for_heads_lines_and_unchanged_answers() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    let lines =
        world.request("GET", "/ledger/reports/customers?months=2").header("accept", "application/x-ndjson");
    let text = world.send(lines).is(200).text();
    let expected = "{\"month\":\"2031-04\",\"created\":0,\"closed\":0,\"reopened\":0,\"open\":0}\n\
                    {\"month\":\"2031-05\",\"created\":1,\"closed\":0,\"reopened\":0,\"open\":1}\n";
    assert_eq!(text, expected);
    world.send(world.request("HEAD", "/ledger/reports/customers")).is(200);
}
