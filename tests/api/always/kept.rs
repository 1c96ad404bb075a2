//! What browsers and proxies may keep of an answer: `decisions.md` section 11, `customers.md` section 4.2.

use crate::support::guarded::As;
use crate::support::sample::sample;
use crate::support::world::{Seen, World};
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Meta, render, segments};
use serde_json::Value;

/// Looks at the daemon itself, which are the same for every caller.
const PUBLIC: &[&str] = &["GetLive", "GetReady", "GetVersion"];
const IMAGES: &[&str] = &["GetPortrait", "GetScanImage"];

/// Names of the sample institution, by the parameters of paths.
const NAMES: &[(&str, &str)] = &[
    ("{account}", "c-003.9100.00002"),
    ("{application}", "crm-v1"),
    ("{card}", "GHA-001122334-5"),
    ("{configuration}", "main"),
    ("{customer}", "c-001"),
    ("{definition}", "savings"),
    ("{employee}", "efua.sarpong"),
    ("{group}", "identity__v1__users"),
    ("{office}", "head-office"),
    ("{receipt}", "1"),
    ("{report}", "1"),
    ("{role}", "counter"),
    ("{scan}", "front"),
    ("{sequence}", "1"),
    ("{set}", "doorway"),
    ("{subscription}", "sync"),
    ("{teller}", "desk-2"),
    ("{timestamp}", "2031-05-06T10_11_12"),
    ("{user}", "esi"),
];

/// What a read must ask for.
const QUERIES: &[(&str, &str)] = &[
    ("Search", "?text=akosua"),
    ("ListTransactionTypes", "?customer=c-003"),
    ("ListInstances", "?customer=c-003"),
    ("GetUserAccess", "?operation=READ&path=/users"),
    ("GetCashReport", "?office=head-office"),
    ("GetDepositReport", "?product=savings"),
];

fn found<'t>(table: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The path of a row in the sample institution.
fn path(olga: &As<'_>, row: &Meta) -> String {
    let first = |list: &str, of: &str, name: &str| -> String {
        let list = olga.get(list).is(200).json();
        let records = if of.is_empty() { &list } else { &list[of] };
        records[0][name].as_str().unwrap_or_else(|| panic!("{list}")).to_owned()
    };
    let value = |parameter: &str| match (parameter, row.name) {
        ("{account}", _) if row.path.starts_with("/ledger") => "1000".to_owned(),
        ("{teller}", "ListDayReports" | "GetDayReport") => "desk-1".to_owned(),
        ("{transaction}", _) => first("/teller/desk-2/transactions", "", "identifier"),
        ("{entry}", _) => first("/ledger/journal", "entries", "identifier"),
        ("{date}", _) => first("/offices/head-office/days", "", "date"),
        _ => found(NAMES, parameter).unwrap_or("nothing").to_owned(),
    };
    let values: Vec<_> = segments(row.path).filter(|word| word.starts_with('{')).map(value).collect();
    let values: Vec<_> = values.iter().map(String::as_str).collect();
    render(row.path, &values) + found(QUERIES, row.name).unwrap_or_default()
}

#[track_caller]
fn is_kept(seen: &Seen, row: &Meta, kept: &str) {
    assert!((200..500).contains(&seen.status), "{}: {}", row.name, seen.text());
    assert_eq!(seen.header("cache-control"), kept, "{}: {} {}", row.name, seen.status, seen.text());
}

#[test]
fn nothing_that_needed_a_token_is_cached_and_images_are_revalidated() {
    let world = World::guarded();
    sample(&world);
    let olga = world.login("olga");
    for row in rows().filter(|row| row.method.reads()) {
        let path = path(&olga, row);
        let kept =
            if [PUBLIC, IMAGES].concat().contains(&row.name) { "private, no-cache" } else { "no-store" };
        let seen = olga.get(&path);
        // Of a database there is no such backup.
        let is_there = row.name != "GetBackup" || world.config().store.postgres().is_none();
        assert!(
            seen.status == 200 || !is_there,
            "{path}: {}\nNAMES has a record of the sample institution for each parameter of a path; \
             tests/support/sample.rs makes it",
            seen.text()
        );
        is_kept(&seen, row, kept);
        let request = world.request("GET", &path).bearer_auth(&olga.token);
        let again = world.send(request.header("if-none-match", seen.header("etag")));
        is_kept(&again, row, kept);
        if row.tag == Some(row.name) {
            // The head of the audit trail may have moved meanwhile.
            let moved = again.header("etag") != seen.header("etag");
            assert!(again.status == 304 || moved, "{path}: {}", again.status);
        }
        let refused = if PUBLIC.contains(&row.name) { kept } else { "no-store" };
        is_kept(&world.get(&path), row, refused);
        let nothing = vec!["nothing"; row.path.matches('{').count()];
        is_kept(&olga.get(&render(row.path, &nothing)), row, refused);
    }
}

#[test]
fn no_answer_to_a_change_is_kept() {
    let world = World::guarded();
    sample(&world);
    let mut olga = world.login("olga");
    for row in rows().filter(|row| !row.method.reads()) {
        if !olga.lives() {
            olga = world.login("olga");
        }
        let path = path(&olga, row);
        is_kept(&olga.call(row.method.as_str(), &path, "{}"), row, "no-store");
        is_kept(&world.call(row.method.as_str(), &path, "{}"), row, "no-store");
    }
    let olga = world.login("olga");
    for (path, body) in [
        ("/users/olga/second-factor", "{}"),
        ("/batch", r#"{"operations":[{"method":"GET","path":"/customers"}]}"#),
    ] {
        let seen = olga.call("POST", path, body).is(200);
        assert!(!seen.body.is_empty());
        assert_eq!(seen.header("cache-control"), "no-store", "{path}");
    }
    // A repeated answer comes from memory.
    for replayed in ["", "true"] {
        let request = world.request("POST", "/customers").bearer_auth(&olga.token);
        let request = request.header("idempotency-key", "once").body(r#"{"identifier":"c-700"}"#);
        let seen = world.send(request).is(202);
        assert_eq!(seen.header("idempotency-replayed"), replayed);
        assert_eq!(seen.header("cache-control"), "no-store");
    }
    let none: Value = olga.get("/nothing").refused(404, "route_not_found").json();
    assert_eq!(none["status"], 404);
}
