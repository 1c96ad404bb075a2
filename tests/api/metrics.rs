//! `GET /metrics`: `audit.md` section 5.

use crate::support::counter::{Counter, PIN, teller};
use crate::support::guarded::{PASSWORD, may};
use crate::support::run::run;
use crate::support::world::{Seen, World};
use mfa_daemon::http::metrics::families::{
    ALL, BACKUP_BYTES, BACKUP_MADE, CHECKPOINT_AGE, OF_EMBEDDED, OF_POSTGRES,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The values of a page by their series, such as `mfa_tellers{state="OPEN"}`.
pub fn series(page: &str) -> BTreeMap<&str, &str> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').unwrap()).collect()
}

/// The metrics of the first daemon, and the value of one series; 0 where it is missing.
fn value(world: &World, name: &str) -> i64 {
    let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
    series(&page).get(name).map_or(0, |value| value.parse().unwrap())
}

/// Sends to the first daemon, which alone counts it.
fn first(world: &World, method: &str, path: &str, body: &str) -> Seen {
    let request = world.request_at(0, method, path).header("content-type", "application/json");
    world.send(request.body(body.to_owned()))
}

#[test]
fn the_page_has_every_metric_of_its_store_once_with_help_and_type() {
    let world = World::start();
    world.send(world.request_at(0, "GET", "/offices")).is(200);
    let seen = world.send(world.request_at(0, "GET", "/metrics")).is(200);
    assert_eq!(seen.header("content-type"), "text/plain; version=0.0.4");
    let page = seen.text();
    let typed: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let names: BTreeSet<_> = typed.iter().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(names.len(), typed.len(), "{page}");
    let (other, own) = match world.config().store.postgres() {
        Some(_) => (OF_EMBEDDED, OF_POSTGRES),
        None => (OF_POSTGRES, OF_EMBEDDED),
    };
    // A young store has no checkpoint and no backup yet.
    let missing = |name: &str| [CHECKPOINT_AGE.name, BACKUP_MADE.name, BACKUP_BYTES.name].contains(&name);
    let expected = ALL.iter().filter(|family| !other.contains(family)).map(|family| family.name);
    assert_eq!(names, expected.filter(|name| !missing(name)).collect());
    assert!(own.iter().all(|family| missing(family.name) || names.contains(family.name)));
    for family in ALL.iter().filter(|family| names.contains(family.name)) {
        assert!(page.contains(&format!("# HELP {} {}\n", family.name, family.help)), "{page}");
    }
    let shown = series(&page);
    for (series, value) in &shown {
        assert!(value.parse::<f64>().is_ok_and(|value| value >= 0.0), "{series} {value}");
    }
    let kind = if world.config().store.postgres().is_some() { "postgres" } else { "embedded" };
    assert!(shown.keys().any(|series| series.starts_with("mfa_build_info{") && series.contains(kind)));
    for positive in ["process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total"] {
        assert_ne!(shown[positive], "0", "{positive}");
    }
}

#[test]
fn requests_count_by_operation_and_class() {
    let world = World::start();
    let of = |operation: &str, class: &str| {
        format!("mfa_http_requests_total{{operation=\"{operation}\",status=\"{class}\"}}")
    };
    let before = value(&world, "mfa_http_request_duration_seconds_count{operation=\"CreateOffice\"}");
    assert_eq!(before, 0);
    first(&world, "POST", "/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    first(&world, "POST", "/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(409);
    first(&world, "GET", "/offices/accra", "").is(200);
    first(&world, "GET", "/office/v1/offices/accra/", "").is(200);
    first(&world, "GET", "/nowhere/at/all", "").is(404);
    first(&world, "PATCH", "/offices", "").is(405);
    for (operation, class, count) in [
        ("CreateOffice", "2xx", 1),
        ("CreateOffice", "4xx", 1),
        ("CreateOffice", "5xx", 0),
        ("GetOffice", "2xx", 2),
        ("unknown", "4xx", 2),
    ] {
        assert_eq!(value(&world, &of(operation, class)), count, "{operation} {class}");
    }
    let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
    let all = series(&page);
    let duration = |end: &str| all[format!("mfa_http_request_duration_seconds_{end}").as_str()];
    assert_eq!(duration("count{operation=\"CreateOffice\"}"), "2");
    assert_eq!(duration("bucket{operation=\"CreateOffice\",le=\"+Inf\"}"), "2");
    assert_ne!(duration("sum{operation=\"CreateOffice\"}"), "0");
    // This request is the one that is being answered.
    assert_eq!(all["mfa_http_requests_running"], "1");
    assert!(all["mfa_http_connections"].parse::<u32>().unwrap() >= 1);
    // An operation that was never called has no series.
    assert!(!page.contains("DeleteOffice"), "{page}");
}

#[test]
fn connections_count_while_they_are_open() {
    let world = World::start();
    let address = world.url().replace("http://", "");
    let open = value(&world, "mfa_http_connections");
    let accepted = value(&world, "mfa_http_connections_accepted_total");
    let held: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    // The client of the test may open one more at any time.
    let wait_until = |right: &dyn Fn(i64) -> bool| {
        let mut seen = (0..200).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            value(&world, "mfa_http_connections")
        });
        seen.find(|open| right(*open)).expect("connections are counted wrongly")
    };
    let most = wait_until(&|now| now >= open + 3);
    drop(held);
    wait_until(&|now| now <= most - 3);
    assert!(value(&world, "mfa_http_connections_accepted_total") >= accepted + 3);
}

#[test]
fn logins_count_by_how_they_ended_and_no_user_is_named() {
    let world = World::guarded_with(|config| config.metrics_public = true);
    world.user("esi", "clerk");
    world.clock.advance(60);
    let log_in = |name: &str, word: &str| {
        let body = json!({ "grant_type": "password", "username": name, "password": word });
        first(&world, "POST", "/token", &body.to_string())
    };
    let of = |grant: &str, outcome: &str| {
        value(&world, &format!("mfa_logins_total{{grant=\"{grant}\",outcome=\"{outcome}\"}}"))
    };
    let before = (of("password", "done"), of("refresh_token", "done"), value(&world, "mfa_sessions"));
    let token = log_in("esi", PASSWORD).is(200).json();
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": token["refresh_token"] });
    first(&world, "POST", "/token", &refresh.to_string()).is(200);
    for _ in 0..5 {
        log_in("esi", "another word").refused(401, "login_failed");
    }
    log_in("nobody", PASSWORD).refused(401, "login_failed");
    let nobody = world.login("olga");
    let after = (of("password", "done"), of("refresh_token", "done"), value(&world, "mfa_sessions"));
    assert!(after.0 > before.0 && after.1 == before.1 + 1 && after.2 == before.2 + 2, "{before:?} {after:?}");
    assert_eq!(of("password", "refused"), 6);
    assert_eq!(of("password", "locked"), 0, "esi is known at this address");
    assert_eq!(value(&world, "mfa_locks_total{of=\"login\"}"), 1);
    drop(nobody);
    let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
    for name in ["esi", "olga", "admin", "nobody", "127.0.0.1"] {
        assert!(!page.contains(&format!("\"{name}\"")), "{name}: {page}");
    }
}

#[test]
fn the_trail_its_listeners_and_what_webhooks_lack_are_shown() {
    let world = World::start();
    let until = |name: &str, wanted: &dyn Fn(i64) -> bool| {
        let mut seen = (0..400).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            value(&world, name)
        });
        seen.find(|now| wanted(*now)).unwrap_or_else(|| panic!("{name} stays {}", value(&world, name)))
    };
    first(&world, "POST", "/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    let last = until("mfa_audit_sequence", &|now| now > 0);
    assert_eq!(last, world.get("/audit/head").is(200).json()["sequence"]);
    assert_eq!(
        (value(&world, "mfa_event_listeners"), value(&world, "mfa_event_listener_lag_records")),
        (0, 0)
    );
    assert_eq!(value(&world, "mfa_webhook_lag_records"), 0);
    // Its receiver is nowhere, so it lacks everything.
    let webhook = r#"{"identifier":"sync","url":"https://nowhere.invalid/"}"#;
    first(&world, "POST", "/events/subscriptions", webhook).is(200);
    first(&world, "PUT", "/events/subscriptions/sync/position", r#"{"position":0}"#).is(202);
    until("mfa_webhook_lag_records", &|lag| lag > last);
    first(&world, "PUT", "/events/subscriptions/sync", r#"{"state":"PAUSED"}"#).is(202);
    until("mfa_webhook_lag_records", &|lag| lag == 0);
    let request = world.request_at(0, "GET", "/events").header("accept", "text/event-stream");
    let listener = world.block_on(async { request.send().await.unwrap() });
    until("mfa_event_listeners", &|now| now == 1);
    drop(listener);
    until("mfa_event_listeners", &|now| now == 0);
}

#[test]
fn a_lock_of_a_drawer_counts_and_tellers_count_by_state() {
    let counter = Counter::start();
    let tellers = || {
        let page = counter.world.get("/metrics").is(200).text();
        let all = series(&page);
        ["CLOSED", "OPEN", "ACTIVE", "PAUSED"]
            .map(|state| all[format!("mfa_tellers{{state=\"{state}\"}}").as_str()].parse::<u32>().unwrap())
    };
    for code in ["T2", "T3", "T4", "T5"] {
        counter.teller_with(&teller(code)).is(202);
    }
    assert_eq!(tellers(), [5, 0, 0, 0]);
    for code in ["T1", "T2", "T3"] {
        counter.open(code, &format!("emp-{code}"), "100");
    }
    counter.unlock("T2", "emp-T2");
    counter.unlock("T3", "emp-T3");
    counter.pause("T3");
    assert_eq!(tellers(), [2, 1, 1, 1]);
    let unlock = |pin: &str| {
        let body = json!({ "employeeIdentifier": "emp-T1", "password": pin });
        first(&counter.world, "POST", "/teller/T1/drawer", &body.to_string())
    };
    for _ in 0..5 {
        assert_eq!(value(&counter.world, "mfa_locks_total{of=\"drawer\"}"), 0);
        unlock("0000").refused(403, "wrong_drawer_password");
    }
    unlock(PIN).refused(429, "too_many_attempts");
    assert_eq!(value(&counter.world, "mfa_locks_total{of=\"drawer\"}"), 1);
    assert_eq!(value(&counter.world, "mfa_locks_total{of=\"login\"}"), 0);
}

#[test]
fn what_the_store_does_is_counted() {
    let world = World::start();
    let office = |name: &str| format!(r#"{{"identifier":"accra","name":"{name}"}}"#);
    let commits = "mfa_store_commit_duration_seconds_count";
    let before = value(&world, commits);
    let sent = value(&world, "mfa_store_round_trips_total");
    first(&world, "POST", "/offices", &office("Accra")).is(202);
    assert!(value(&world, commits) > before);
    for name in ["mfa_store_readable", "mfa_store_writable"] {
        assert_eq!(value(&world, name), 1, "{name}");
    }
    // The daemon's own work may wait for a moment too, but nothing waits for long.
    assert!((0..100).any(|_| value(&world, "mfa_store_queue_length") == 0), "the queue is never empty");
    if world.config().store.postgres().is_none() {
        assert_eq!(value(&world, "mfa_store_group_size_sum"), before + 1);
        first(&world, "POST", "/offices", &office("Accra")).is(409);
        assert_eq!(value(&world, commits), before + 1, "a refusal commits nothing");
        assert!(value(&world, "mfa_store_journal_bytes") > 64 && value(&world, "mfa_store_index_bytes") > 0);
        return;
    }
    assert!(value(&world, "mfa_store_round_trips_total") > sent);
    assert!(value(&world, "mfa_store_connections") > 0);
    // Many who change one record at once get in each other's way, sooner or later, where they do not go together.
    let hindered = (0..50).any(|round| {
        let change = |n| {
            let request = world.request_at(0, "POST", "/batch").header("content-type", "application/json");
            let body = office(&format!("Accra {round} {n}"));
            request.body(format!(
                r#"{{"atomic":true,"operations":[{{"method":"PUT","path":"/offices/accra","body":{body}}}]}}"#
            ))
        };
        world.send_all((0..8).map(change).collect());
        value(&world, "mfa_store_retries_total") > 0
    });
    assert!(hindered, "no one was hindered");
}

#[test]
fn the_command_line_shows_them_as_records_and_as_text() {
    let world = World::start();
    run(world.mfa(&["status"])).ok();
    let shown = run(world.mfa(&["metrics", "mfa_http_connections", "-o", "json"])).json();
    let names: Vec<_> = shown.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    let ends = ["", "_max", "_accepted_total", "_refused_total"];
    assert_eq!(names, ends.map(|end| format!("mfa_http_connections{end}")));
    let table = run(world.mfa(&["metrics", "-o", "table"])).ok();
    assert!(table.contains("operation=GetReady status=2xx") && !table.contains("_bucket"), "{table}");
    let text = run(world.mfa(&["metrics", "--text"])).ok();
    assert!(text.starts_with("# HELP mfa_build_info ") && text.contains("le=\"+Inf\""), "{text}");
}

#[test]
fn only_who_may_see_it_and_programs_of_this_machine_where_that_is_set() {
    let closed = World::guarded();
    closed.get("/metrics").refused(401, "unauthenticated");
    closed.login("olga").get("/metrics").is(200);
    closed.user("esi", "clerk").get("/metrics").refused(403, "forbidden");
    closed.user_with("watcher", &[may("admin__v1__admin", "R")]).get("/metrics").is(200);
    closed.login("olga").get("/identity/v1/metrics").is(200);
    drop(closed);
    let open = World::guarded_with(|config| {
        config.metrics_public = true;
        config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    });
    open.get("/metrics").is(200);
    assert_eq!(open.send(open.request("HEAD", "/metrics")).is(200).text(), "");
    // Requests through a proxy, and those of a web page shown on this machine, need a token.
    for (name, value) in [
        ("x-forwarded-for", "203.0.113.5"),
        ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", "for=203.0.113.5"),
        ("x-real-ip", "203.0.113.5"),
        ("via", "1.1 proxy"),
        ("origin", "http://evil.example"),
        ("host", "evil.example"),
    ] {
        let request = open.request("GET", "/metrics").header(name, value);
        open.send(request).refused(401, "unauthenticated");
    }
    // Nothing else is open, and nothing is changed there.
    open.get("/offices").refused(401, "unauthenticated");
    open.post("/metrics", "{}").refused(401, "unauthenticated");
}
