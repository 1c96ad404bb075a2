//! Requests that a proxy and the daemon could read differently: where a body ends, and which host is meant.

use super::connections::{connect, rest};
use crate::support::world::World;
use serde_json::json;
use std::io::Write;

#[test]
fn a_request_with_two_body_lengths_is_refused_and_ends_the_connection() {
    let world = World::start();
    let both = "Content-Length: 4\r\nTransfer-Encoding: chunked";
    let turned = "transfer-encoding:chunked\r\ncontent-length:4";
    let twice = "Content-Length: 5\r\ncontent-length:5";
    let head = |line: &str, headers: &str| format!("{line} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n");
    for headers in [both, turned, twice] {
        let ambiguous = head("POST /offices", headers) + "0\r\n\r\n";
        let hidden = head("POST /offices", "Content-Length: 0");
        let mut stream = connect(&world);
        stream.write_all(format!("{ambiguous}{hidden}").as_bytes()).unwrap();
        let answer = rest(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("ambiguous_request"), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        // What comes before it on the same connection is answered as ever, also in small pieces.
        let body = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n";
        let before = [
            head("GET /live", "X: y"),
            head("POST /offices", &format!("Content-Length: {}", body.len())) + body,
            head("POST /offices", "Transfer-Encoding: chunked")
                + &format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
            head("GET /live", "X: y"),
        ];
        let text = before.concat() + &ambiguous + &hidden;
        for size in [text.len(), 7] {
            let mut stream = connect(&world);
            stream.set_nodelay(true).unwrap();
            text.as_bytes().chunks(size).for_each(|piece| stream.write_all(piece).unwrap());
            let answer = rest(&mut stream);
            let statuses: Vec<_> =
                answer.match_indices("HTTP/1.1 ").map(|(at, _)| &answer[at + 9..at + 12]).collect();
            assert_eq!(statuses, ["200", "400", "400", "200", "400"], "{answer}");
            assert_eq!(answer.matches("ambiguous_request").count(), 2, "type and code of one: {answer}");
        }
    }
}

#[test]
fn a_body_whose_end_or_coding_is_unclear_is_refused_and_ends_the_connection() {
    let world = World::start();
    let office = |name: &str| json!({ "identifier": name, "name": "Accra" }).to_string();
    let chunks = |body: &str| format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let plain = office("plain");
    let length = plain.len();
    // Headers, the status, and the code where the refusal is the daemon's own.
    let of_chunks = [
        ("Transfer-Encoding: gzip, chunked", "415", "unsupported_media_type"),
        ("Transfer-Encoding: identity, chunked", "415", "unsupported_media_type"),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "415", "unsupported_media_type"),
        ("Transfer-Encoding: chunked, chunked", "400", "ambiguous_request"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "400", "ambiguous_request"),
        ("Transfer-Encoding: , chunked", "400", "ambiguous_request"),
        ("Transfer-Encoding: chunked, gzip", "400", ""),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", "400", ""),
        ("Transfer-Encoding: xchunked", "400", ""),
        ("Transfer-Encoding: chunked;q=1", "400", ""),
        ("Transfer-Encoding: \x0bchunked", "400", ""),
        ("Transfer-Encoding : chunked", "400", ""),
        ("Transfer-Encoding\t: chunked", "400", ""),
        ("Transfer-Encoding:\r\n chunked", "400", ""),
        (" Transfer-Encoding: chunked", "400", ""),
        ("X: a\r\n Transfer-Encoding: chunked", "400", ""),
        ("X: a\rTransfer-Encoding: chunked", "400", ""),
        ("Transfer-Encoding: chunked\r", "400", ""),
    ]
    .map(|(headers, status, code)| (headers.to_owned(), chunks(&plain), status, code));
    let of_length = [
        (format!("Content-Length: {length}\r\nContent-Length: {length}"), "ambiguous_request"),
        (format!("Content-Length: {length}\r\nContent-Length: 0"), ""),
        (format!("Content-Length: {length}, {length}"), ""),
        (format!("Content-Length: +{length}"), ""),
        (format!("Content-Length: 0x{length:x}"), ""),
        (format!("Content-Length : {length}"), ""),
        (format!("X: a\r\n Content-Length: {length}"), ""),
    ]
    .map(|(headers, code)| (headers, plain.clone(), "400", code));
    let hidden = office("hidden");
    let next = format!(
        "POST /offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{hidden}",
        hidden.len()
    );
    for (headers, body, status, code) in of_chunks.into_iter().chain(of_length) {
        let mut stream = connect(&world);
        let head = format!("POST /offices HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n");
        stream.write_all(format!("{head}{body}{next}").as_bytes()).unwrap();
        let answer = rest(&mut stream);
        let is_as_said = answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(code);
        assert!(is_as_said, "{headers:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{headers:?}: {answer}");
        for office in ["plain", "hidden"] {
            world.get(&format!("/offices/{office}")).refused(404, "office_not_found");
        }
    }
    // What is clear is taken, in whatever letters.
    let mut stream = connect(&world);
    let headers = "Connection: close\r\nTransfer-Encoding:CHUNKED";
    let head = format!("POST /offices HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n");
    stream.write_all(format!("{head}{}", chunks(&plain)).as_bytes()).unwrap();
    assert!(rest(&mut stream).starts_with("HTTP/1.1 202"));
}

#[test]
fn a_request_for_two_hosts_is_refused() {
    let world = World::start();
    let mut stream = connect(&world);
    stream
        .write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\nHost: b\r\nConnection: close\r\n\r\n")
        .unwrap();
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("ambiguous_request"), "{answer}");
}

#[test]
fn a_target_that_is_a_whole_address_names_the_host() {
    let world = World::start();
    let ask = |target: &str, host: &str| {
        let mut stream = connect(&world);
        let head =
            format!("GET http://{target}/offices HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        rest(&mut stream)
    };
    let foreign = ask("evil.example", "localhost");
    assert!(foreign.starts_with("HTTP/1.1 403") && foreign.contains("forbidden_origin"), "{foreign}");
    assert!(ask("localhost:80", "evil.example").starts_with("HTTP/1.1 200"));
    let two = ask("localhost", "localhost\r\nHost: b");
    assert!(two.starts_with("HTTP/1.1 400") && two.contains("ambiguous_request"), "{two}");
}
