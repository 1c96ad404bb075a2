//! Waiting for a record of a daemon that is away for a while, or does not answer.

use crate::support::run::{Ran, run};
use crate::support::scripted::{answer, serve, server};
use crate::support::world::mfa;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

fn wait(home: &Path, url: &str, more: &[&str]) -> Ran {
    let line = ["wait", "customer/c-1", "--url", url, "-o", "json"];
    run(mfa(home, &[&line[..], more].concat()))
}

/// A customer in a state.
fn customer(state: &str) -> String {
    answer("200 OK", &[], &format!(r#"{{"identifier":"c-1","currentState":"{state}"}}"#))
}

#[test]
fn a_wait_for_a_daemon_that_does_not_answer_ends_in_time() {
    let home = tempfile::tempdir().unwrap();
    // Connections are taken, as a daemon that is stopped takes them, and nothing comes back.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let began = Instant::now();
    let error = wait(home.path(), &url, &["--for", "exists", "--timeout", "2s"]).fails_in_json(10);
    assert!(began.elapsed() < Duration::from_secs(20), "{error}");
    assert_eq!(error["code"], "daemon_unreachable");
    assert!(error["message"].as_str().unwrap().contains("cannot reach the daemon at"), "{error}");
}

#[test]
fn a_wait_whose_daemon_goes_away_ends_with_the_last_answer() {
    let home = tempfile::tempdir().unwrap();
    let (url, _requests) = server(vec![customer("PENDING")]);
    let error = wait(home.path(), &url, &["--for", "state=ACTIVE", "--timeout", "2s"]).fails_in_json(8);
    let message = error["message"].as_str().unwrap();
    let begin = "customer/c-1 is not state=ACTIVE after 2 s, it is PENDING; cannot reach the daemon at";
    assert!(message.starts_with(begin), "{message}");
}

#[test]
fn a_wait_outlives_a_restart_of_the_daemon() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let before = serve(listener, vec![customer("PENDING")]);
    let restart = std::thread::spawn(move || {
        before.join().unwrap();
        // For so long nothing listens there, longer than a look and its repetitions take.
        std::thread::sleep(Duration::from_secs(2));
        serve(TcpListener::bind(address).unwrap(), vec![customer("ACTIVE")]).join().unwrap()
    });
    let found = wait(home.path(), &format!("http://{address}"), &["--for", "state=ACTIVE"]).json();
    assert_eq!(found["currentState"], "ACTIVE");
    restart.join().unwrap();
}

#[test]
fn a_wait_goes_on_where_a_proxy_says_that_the_daemon_is_away() {
    let home = tempfile::tempdir().unwrap();
    let away = answer("502 Bad Gateway", &["content-type: text/html"], "<html>");
    let busy = answer("429 Too Many Requests", &["retry-after: 1"], "");
    let (url, requests) = server(vec![away.clone(), busy, away, customer("PENDING")]);
    assert_eq!(wait(home.path(), &url, &["--for", "exists"]).json()["identifier"], "c-1");
    assert_eq!(requests.join().unwrap().len(), 4);
}
