//! What holds for every endpoint: `decisions.md` sections 1, 3, 4, 7, 8 and 11.

use crate::support::world::World;
use serde_json::{Value, json};

fn office(identifier: &str) -> String {
    json!({ "identifier": identifier, "name": "Name" }).to_string()
}

#[test]
fn a_path_answers_under_its_old_prefix_and_with_a_slash_at_its_end() {
    let world = World::start();
    world.post("/office/v1/offices/", office("accra")).is(202);
    world.get("/office/v1/offices/accra/").is(200);
    world.get("/customer/v1/offices/accra").is(200);
    world.get("/%6Fffices/acc%72a").is(200);
    for nothing in
        ["/", "/offices//accra", "/office/v2/offices", "/v1/offices", "/offices/accra/x", "/offices/%zz"]
    {
        world.get(nothing).refused(404, "route_not_found");
    }
}

#[test]
fn an_unknown_method_names_the_known_ones() {
    let world = World::start();
    let patch = world.call("PATCH", "/offices/accra", "").refused(405, "method_not_allowed");
    assert_eq!(patch.header("allow"), "GET, HEAD, POST, PUT, DELETE, OPTIONS");
    let options = world.send(world.request("OPTIONS", "/customers")).is(204);
    assert_eq!(options.header("allow"), "GET, HEAD, POST, OPTIONS");
    world.send(world.request("OPTIONS", "/nothing")).refused(404, "route_not_found");
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let world = World::start();
    world.post("/offices", office("accra")).is(202);
    let get = world.get("/offices/accra").is(200);
    let head = world.send(world.request("HEAD", "/offices/accra")).is(200);
    assert_eq!(head.body.len(), 0);
    for name in ["etag", "content-type", "content-length"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
    }
    let missing = world.send(world.request("HEAD", "/offices/none")).is(404);
    assert_eq!(missing.body.len(), 0);
}

#[test]
fn a_body_that_cannot_be_read_is_refused() {
    let world = World::start();
    for body in [
        "",
        " ",
        "{",
        "[]",
        "\"x\"",
        "null",
        "{\"identifier\":\"a\\ud800\"}",
        "{\"identifier\":\"aa\",\"name\":\"n\",\"identifier\":\"bb\"}",
        "{\"identifier\":\"aa\",\"name\":\"n\"}}",
    ] {
        world.post("/offices", body).refused(400, "malformed_body");
    }
    let not_utf8 = world.request("POST", "/offices").body(b"{\"name\":\"\xff\"}".to_vec());
    world.send(not_utf8).refused(400, "malformed_body");
    world.post("/offices", r#"{"identifier":"aa","name":"n","x":1,"x":2}"#).is(202);
    assert_eq!(world.get("/offices").json()["totalElements"], 1);
}

#[test]
fn a_body_is_json_unless_it_says_otherwise() {
    let world = World::start();
    let send = |kind: &str, id: &str| {
        world.send(world.request("POST", "/offices").header("content-type", kind).body(office(id)))
    };
    send("application/json; charset=utf-8", "o1").is(202);
    send("application/vnd.office+json", "o2").is(202);
    world.send(world.request("POST", "/offices").body(office("o3"))).is(202);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "x"] {
        send(kind, "o4").refused(415, "unsupported_media_type");
    }
    let ignored = world.request("DELETE", "/offices/o1").header("content-type", "text/plain").body("}");
    world.send(ignored).is(202);
}

#[test]
fn a_compressed_body_is_refused_and_not_misread() {
    let world = World::start();
    let send = |method: &str, path: &str, coding: &str, body: String| {
        world.send(world.request(method, path).header("content-encoding", coding).body(body))
    };
    for coding in ["gzip", "identity, br", "x"] {
        send("POST", "/offices", coding, office("o1")).refused(415, "unsupported_media_type");
        // Parameters in the query string do not make up for those in a body that cannot be read.
        let pause = "/teller/none?command=PAUSE";
        send("POST", pause, coding, "x".to_owned()).refused(415, "unsupported_media_type");
        let portrait = "/customers/none/portrait";
        send("POST", portrait, coding, "x".to_owned()).refused(415, "unsupported_media_type");
        send("POST", "/token", coding, "x=y".to_owned()).refused(415, "unsupported_media_type");
    }
    let large = "x".repeat(1_048_577);
    send("POST", "/offices", "gzip", large).refused(413, "body_too_large");
    send("POST", "/offices", "Identity", office("o1")).is(202);
    send("DELETE", "/offices/o1", "gzip", "}".to_owned()).is(202);
}

#[test]
fn a_body_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let world = World::start();
    let sized = |bytes: usize| {
        let empty = json!({ "identifier": "aa", "name": "n", "x": "" }).to_string();
        json!({ "identifier": "aa", "name": "n", "x": "y".repeat(bytes - empty.len()) }).to_string()
    };
    assert_eq!(sized(1_048_576).len(), 1_048_576);
    world.post("/offices", sized(1_048_577)).refused(413, "body_too_large");
    let chunked = reqwest::Body::wrap_stream(futures_util::stream::iter(
        sized(1_048_577).into_bytes().chunks(60_000).map(|c| Ok::<_, String>(c.to_vec())).collect::<Vec<_>>(),
    ));
    world.send(world.request("POST", "/offices").body(chunked)).refused(413, "body_too_large");
    world.post("/offices", sized(1_048_576)).is(202);
}

#[test]
fn the_request_identifier_is_taken_over_where_it_is_sane() {
    let world = World::start();
    let with = |id: &str| world.send(world.request("GET", "/offices/none").header("x-request-id", id));
    assert_eq!(with("night-run.7").header("x-request-id"), "night-run.7");
    let mut before = String::new();
    for strange in ["a b", "<script>", ""] {
        let answer = with(strange).refused(404, "office_not_found");
        let given = answer.header("x-request-id");
        assert_eq!(given.len(), 24);
        // They begin with their time, so that what the audit trail keeps of them lies in its order.
        assert!(given[..12] >= before[..], "{given} after {before}");
        given[..12].clone_into(&mut before);
        assert!(i64::from_str_radix(&before, 16).unwrap() > 1_700_000_000_000);
    }
}

#[test]
fn a_failure_shows_names_as_they_are_and_the_path_as_sent() {
    let world = World::start();
    let problem = world.get("/customers/o'neil%7Bx%7D?term=x").refused(404, "customer_not_found").json();
    assert_eq!(problem["detail"], "there is no customer \"o'neil{x}\"");
    assert_eq!(problem["instance"], "/customers/o'neil%7Bx%7D");
    assert_eq!(problem["title"], "No such customer");
}

#[test]
fn bad_paging_is_refused() {
    let world = World::start();
    for query in [
        "size=0",
        "size=1001",
        "size=ten",
        "size=",
        "size=%2B5",
        "size=1.0",
        "pageIndex=-1",
        "pageIndex=2147483648",
        "sortColumn=colour",
        "sortColumn=Name",
        "sortDirection=up",
        "sortDirection=",
        "size=5&size=5",
        "term=a&term=a",
        "term=%ff",
        &format!("term={}", "x".repeat(257)),
    ] {
        for list in ["/offices", "/customers"] {
            world.get(&format!("{list}?{query}")).refused(400, "invalid_parameter");
        }
    }
    world.get(&format!("/offices?term={}&unknown=1&unknown=2", "x".repeat(256))).is(200);
    world.get("/offices?term=&pageIndex=2147483647&size=1000").is(200);
}

#[test]
fn pages_divide_the_list_without_gap_or_overlap() {
    let world = World::start();
    for i in 0..23 {
        world.post("/offices", office(&format!("o{i:02}"))).is(202);
    }
    let mut seen = Vec::new();
    for index in 0..4 {
        let page = world.get(&format!("/offices?size=7&pageIndex={index}")).json();
        assert_eq!((&page["totalPages"], &page["totalElements"]), (&json!(4), &json!(23)));
        seen.extend(page["offices"].as_array().unwrap().iter().map(|o| o["identifier"].clone()));
    }
    assert_eq!(seen, (0..23).map(|i| Value::from(format!("o{i:02}"))).collect::<Vec<_>>());
    let behind = world.get("/offices?size=7&pageIndex=4").json();
    assert_eq!((&behind["offices"], &behind["totalElements"]), (&json!([]), &json!(23)));
    let empty = world.get("/customers").json();
    assert_eq!(empty, json!({ "customers": [], "totalPages": 0, "totalElements": 0 }));
    assert_eq!(world.get("/offices").json()["offices"].as_array().unwrap().len(), 20);
}

#[test]
fn any_list_is_streamed_a_record_a_line() {
    let world = World::start();
    for i in 0..1203 {
        world
            .post(
                "/offices",
                json!({ "identifier": format!("o{i:04}"), "name": format!("{}", i % 7) }).to_string(),
            )
            .is(202);
    }
    let lines = |query: &str| {
        let request = world.request("GET", &format!("/offices{query}"));
        let answer = world.send(request.header("accept", "text/html, Application/X-NDJSON;q=0.5")).is(200);
        assert_eq!(answer.header("content-type"), "application/x-ndjson");
        answer
            .text()
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).unwrap()["identifier"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("").len(), 1203);
    assert_eq!(lines("?size=2&pageIndex=9&sortDirection=DESC")[..2], [json!("o1202"), json!("o1201")]);
    assert_eq!(lines("?sortColumn=name&sortDirection=DESC")[..2], [json!("o0006"), json!("o0013")]);
    assert_eq!(lines("?term=o000").len(), 10);
    let refused = world.request("GET", "/offices?size=0").header("accept", "application/x-ndjson");
    world.send(refused).refused(400, "invalid_parameter");
    world.put("/offices/o0001/references", r#"{"type":"a","state":"ACTIVE"}"#).is(202);
    let plain = world.request("GET", "/offices/o0001/references").header("accept", "application/x-ndjson");
    assert_eq!(world.send(plain).is(200).text(), "{\"type\":\"a\",\"state\":\"ACTIVE\"}\n");
    let none = world.request("GET", "/offices/o0002/references").header("accept", "application/x-ndjson");
    assert_eq!(world.send(none).is(200).text(), "");
}

#[test]
fn a_write_with_a_tag_succeeds_only_on_what_was_read() {
    let world = World::start();
    world.post("/offices", office("accra")).is(202);
    let tag = world.get("/offices/accra").header("etag");
    let put = |tag: &str, name: &str| {
        let body = json!({ "identifier": "accra", "name": name }).to_string();
        world.send(world.request("PUT", "/offices/accra").header("if-match", tag).body(body))
    };
    put(&format!("W/{tag}"), "n1").refused(412, "precondition_failed");
    put(&format!("\"x\", {tag}"), "n2").is(202);
    put(&tag, "n3").refused(412, "precondition_failed");
    put("*", "n4").is(202);
    let address = r#"{"street":"S","city":"C","countryCode":"GH","country":"Ghana"}"#;
    let stale = world.request("PUT", "/offices/accra/address").header("if-match", &tag).body(address);
    world.send(stale).refused(412, "precondition_failed");
    world.put("/offices/accra/references", r#"{"type":"a","state":"ACTIVE"}"#).is(202);
    let stale = world.request("DELETE", "/offices/accra").header("if-match", &tag);
    world.send(stale).refused(412, "precondition_failed");
    let missing = world.request("DELETE", "/offices/none").header("if-match", "*");
    world.send(missing).refused(404, "office_not_found");
    let present = world.get("/offices/accra").header("etag");
    let unchanged = world.request("GET", "/offices/accra").header("if-none-match", &present);
    assert_eq!(world.send(unchanged).is(304).text(), "");
}

#[test]
fn a_repeated_request_gets_the_first_answer_again() {
    let world = World::start();
    let create = |key: &str, id: &str| {
        world.send(world.request("POST", "/offices").header("idempotency-key", key).body(office(id)))
    };
    assert_eq!(create("k1", "accra").is(202).header("idempotency-replayed"), "");
    assert_eq!(create("k1", "accra").is(202).header("idempotency-replayed"), "true");
    create("k1", "other").refused(422, "idempotency_key_reused");
    let malformed = world.request("POST", "/offices").header("idempotency-key", "k1").body("{");
    world.send(malformed).refused(422, "idempotency_key_reused");
    create("k2", "accra").refused(409, "identifier_taken");
    world.delete("/offices/accra").is(202);
    assert_eq!(
        create("k2", "accra").is(202).header("idempotency-replayed"),
        "",
        "a refusal is not remembered"
    );
    world.delete("/offices/accra").is(202);
    create("k1", "accra").is(202);
    world.get("/offices/accra").refused(404, "office_not_found");
    world.clock.advance(24 * 60 * 60);
    create("k1", "accra").is(202);
    world.get("/offices/accra").is(200);
}

#[test]
fn an_idempotency_key_is_visible_ascii_given_once() {
    let world = World::start();
    let long = "x".repeat(256);
    for bad in ["", "a b", &long] {
        let request = world.request("POST", "/offices").header("idempotency-key", bad);
        world.send(request.body(office("accra"))).refused(400, "invalid_idempotency_key");
    }
    let twice =
        world.request("POST", "/offices").header("idempotency-key", "a").header("idempotency-key", "a");
    world.send(twice.body(office("accra"))).refused(400, "invalid_idempotency_key");
    let longest = world.request("POST", "/offices").header("idempotency-key", "x".repeat(255));
    world.send(longest.body(office("accra"))).is(202);
}

#[test]
fn one_of_twenty_simultaneous_creates_wins() {
    let world = World::start();
    let requests = (0..20).map(|_| world.request("POST", "/offices").body(office("accra"))).collect();
    let mut statuses: Vec<_> = world.send_all(requests).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[202].as_slice(), &[409; 19]].concat());
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart() {
    let mut world = World::start();
    world.post("/offices", office("accra")).is(202);
    let before = world.get("/offices/accra");
    let instance = world.get("/version").json()["instance"].clone();
    world.restart();
    assert_eq!(world.get("/offices/accra").text(), before.text());
    assert_eq!(world.get("/version").json()["instance"], instance);
}

#[test]
fn the_daemon_says_that_it_lives_and_which_it_is() {
    let world = World::start();
    for path in ["/live", "/ready"] {
        assert_eq!(world.get(path).is(200).json(), json!({ "status": "up" }));
    }
    let version = world.get("/version").is(200).json();
    assert_eq!((&version["interface"], &version["auth"]), (&json!(1), &json!("off")));
    assert!(version["instance"].as_str().unwrap().starts_with("urn:mfa:instance:"));
}

#[test]
fn cross_origin_headers_go_only_to_the_named_origins() {
    let world = World::with(|config| config.cors_origins = vec!["https://branch.example.org".to_owned()]);
    let from = |world: &World, origin: &str| {
        world.send(world.request("OPTIONS", "/offices").header("origin", origin))
    };
    let allowed = from(&world, "https://branch.example.org").is(204);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://branch.example.org");
    let exposed = allowed.header("access-control-expose-headers");
    for header in ["Dangling-References", "ETag", "Location", "Possible-Duplicates", "X-Request-Id"] {
        assert!(exposed.split(", ").any(|name| name == header), "{header}: {exposed}");
    }
    // Without access control a page of another site is not answered at all.
    let refused = from(&world, "https://evil.example.org").refused(403, "forbidden_origin");
    assert_eq!(refused.header("access-control-allow-origin"), "");
    let guarded = World::guarded();
    let passed = from(&guarded, "https://evil.example.org").is(204);
    assert_eq!(passed.header("access-control-allow-origin"), "");
}

#[test]
fn without_access_control_only_this_machine_is_answered() {
    let world = World::with(|config| config.cors_origins = vec!["https://branch.example.org".to_owned()]);
    let ask =
        |name: &str, value: &str, path: &str| world.send(world.request("GET", path).header(name, value));
    for path in ["/offices", "/live", "/docs", "/nowhere"] {
        for (name, value) in [
            ("host", "evil.example.org"),
            ("host", "127.0.0.1.evil.example.org:6320"),
            ("origin", "https://evil.example.org"),
            ("origin", "null"),
        ] {
            ask(name, value, path).refused(403, "forbidden_origin");
        }
    }
    for (name, value) in
        [("host", "localhost:6320"), ("host", "[::1]"), ("origin", "https://branch.example.org")]
    {
        ask(name, value, "/offices").is(200);
    }
    let create = world.request("POST", "/offices").header("origin", "https://evil.example.org");
    let body = json!({ "identifier": "accra", "name": "Accra" }).to_string();
    world.send(create.body(body)).refused(403, "forbidden_origin");
    world.get("/offices/accra").refused(404, "office_not_found");
    // With access control a token decides, wherever the request comes from.
    let guarded = World::guarded();
    guarded.send(guarded.request("GET", "/live").header("host", "bank.example.org")).is(200);
}

#[test]
fn an_answer_that_needed_a_token_is_not_cached() {
    let world = World::guarded();
    let admin = world.login("admin");
    assert_eq!(admin.get("/users").is(200).header("cache-control"), "no-store");
    assert_eq!(admin.get("/users/nobody").is(404).header("cache-control"), "no-store");
    assert_eq!(world.get("/users").is(401).header("cache-control"), "no-store");
    assert_eq!(world.get("/version").is(200).header("cache-control"), "private, no-cache");
    let policy = world.get("/docs").is(200).header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    for word in ["frame-ancestors 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"] {
        assert!(policy.contains(word), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[test]
fn a_detail_cuts_long_names_that_are_not_there_and_escapes_controls() {
    let world = World::start();
    let long = "x".repeat(100);
    for path in [format!("/customers/{long}"), format!("/nowhere/{long}"), format!("/users/{long}/password")]
    {
        let problem = world.get(&path).json();
        let detail = problem["detail"].as_str().unwrap();
        assert!([404, 405].contains(&problem["status"].as_i64().unwrap()), "{problem}");
        assert!(!detail.contains(&long) && detail.contains('…'), "{detail}");
    }
    for (path, code) in [
        (format!("/offices/{long}"), "office_not_found"),
        (format!("/users/{long}/password"), "method_not_allowed"),
        (format!("/nowhere/{long}"), "route_not_found"),
    ] {
        let operations = json!([{ "method": "DELETE", "path": path }]);
        let batch = json!({ "atomic": true, "operations": operations });
        let seen = world.post("/batch", batch.to_string());
        assert_eq!(seen.json()["code"], code);
        let detail = seen.json()["detail"].as_str().unwrap().to_owned();
        assert!(!detail.contains(&long) && detail.contains('…'), "{detail}");
    }
    let detail = world.get("/offices/a%0Ab").refused(404, "office_not_found").json()["detail"].clone();
    assert_eq!(detail, "there is no office \"a\\u{a}b\"");
}

#[test]
fn a_parameter_that_nothing_asks_for_may_have_any_encoding() {
    let world = World::start();
    for query in ["foo=%zz", "foo=%ff", "%zz", "%ff=1"] {
        world.get(&format!("/offices?{query}")).is(200);
    }
    world.get("/offices?term=%zz").refused(400, "invalid_parameter");
}
