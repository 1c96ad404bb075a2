//! Requests that are repeated, against a server that fails on purpose.

use crate::support::run::run;
use crate::support::scripted::{answer, key, server};
use crate::support::world::mfa;
use std::net::TcpListener;

#[test]
fn a_change_is_repeated_with_the_same_key() {
    let home = tempfile::tempdir().unwrap();
    let failed = answer("503 Service Unavailable", &["retry-after: 0"], "");
    let (url, requests) = server(vec![String::new(), failed, answer("202 Accepted", &[], "")]);
    run(mfa(home.path(), &["offices", "create", "abc", "--name", "A", "--no-read", "--url", &url])).ok();
    let requests = requests.join().unwrap();
    assert_eq!(key(&requests[0]).len(), 36);
    assert_eq!(key(&requests[0]).as_bytes()[14], b'4', "a UUID of version 4");
    assert!(requests.iter().all(|request| key(request) == key(&requests[0])));
    assert!(requests.iter().all(|request| request.starts_with("POST /offices HTTP/1.1")));
}

#[test]
fn a_key_can_be_given_and_repeating_can_be_switched_off() {
    let home = tempfile::tempdir().unwrap();
    let (url, requests) = server(vec![answer("500 Internal Server Error", &[], "")]);
    let create =
        ["offices", "create", "abc", "--name", "A", "--idempotency-key", "night-1", "--retries", "0"];
    run(mfa(home.path(), &[&create[..], &["--url", &url]].concat())).fails(1);
    assert_eq!(key(&requests.join().unwrap()[0]), "night-1");
}

#[test]
fn following_events_goes_on_after_a_failure_as_every_read_does() {
    let home = tempfile::tempdir().unwrap();
    let event = r#"{"sequence":7,"kind":"office","operation":"CreateOffice"}"#;
    let listed = answer("200 OK", &[], &format!("[{event}]"));
    let (url, requests) = server(vec![answer("503 Service Unavailable", &["retry-after: 0"], ""), listed]);
    let follow = ["events", "follow", "--after", "0", "--count", "1", "-o", "jsonl", "--url", &url];
    assert!(run(mfa(home.path(), &follow)).ok().contains("\"sequence\":7"));
    assert_eq!(requests.join().unwrap().len(), 2);
}

#[test]
fn a_refusal_is_not_retried_and_that_of_a_proxy_is_not_a_conflict() {
    let home = tempfile::tempdir().unwrap();
    let (url, requests) = server(vec![answer("409 Conflict", &[], "")]);
    run(mfa(home.path(), &["customers", "lock", "c-1", "--url", &url])).fails(1);
    assert_eq!(requests.join().unwrap().len(), 1);
}

#[test]
fn the_traffic_can_be_seen_without_secrets() {
    let home = tempfile::tempdir().unwrap();
    let (url, _requests) = server(vec![answer("202 Accepted", &["set-cookie: secret"], "")]);
    let mut command =
        mfa(home.path(), &["offices", "create", "abc", "--name", "A", "--no-read", "--url", &url]);
    command.env("MFA_DEBUG", "http");
    let ran = run(command);
    assert_eq!(ran.exit, 0);
    assert!(ran.err.contains(&format!("> POST {url}/offices")) && ran.err.contains("< 202"), "{}", ran.err);
    assert!(ran.err.contains("set-cookie: ***") && !ran.err.contains("secret"), "{}", ran.err);
}

#[test]
fn a_race_is_a_conflict_that_names_who_was_faster() {
    let home = tempfile::tempdir().unwrap();
    let record = |who: &str| {
        let body = format!(
            "{{\"identifier\":\"c-1\",\"lastModifiedBy\":{who},\"lastModifiedOn\":\"2031-05-06T07:08:09.123Z\"}}"
        );
        answer("200 OK", &["etag: \"1\""], &body)
    };
    let problem = "{\"type\":\"urn:mfa:problem:precondition_failed\",\"title\":\"t\",\"status\":412,\
        \"detail\":\"customer c-1 has changed\",\"code\":\"precondition_failed\",\"instance\":\"/customers/c-1\",\
        \"requestId\":\"r\"}";
    let refused = answer("412 Precondition Failed", &[], problem);
    let (url, requests) = server(vec![record("null"), refused, record("\"ama\"")]);
    let said =
        run(mfa(home.path(), &["customers", "update", "c-1", "--surname", "B", "--url", &url])).fails(6);
    assert!(said.contains("customer c-1 has changed; ama changed it at 2031-05-06T07:08:09.123Z"), "{said}");
    assert!(requests.join().unwrap()[1].contains("if-match: \"1\""));
}

#[test]
fn a_wait_can_be_interrupted() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut command = mfa(home.path(), &["status", "-o", "json", "--url", &url]);
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Once it has connected, it waits for an answer that never comes.
    let _connection = listener.accept().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&ended.stderr).starts_with("{\"error\":{\"code\":\"interrupted\""));
}
