//! Changes whose answer is lost: what is said, and how they are repeated so that they are made once.

use crate::support::counter::Counter;
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::scripted::{answer, key, request, server};
use crate::support::world::{World, mfa};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const DOUBT: &str = "it is not known whether the change was made";

/// Passes requests on to a daemon until a change contains a text, of which it keeps as many answers, and then goes
/// away.
fn losing(world: &World, last: &'static str, mut answers: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let daemon = world.url().strip_prefix("http://").unwrap().to_owned();
    thread::spawn(move || {
        while answers > 0 {
            let (mut client, _) = listener.accept().unwrap();
            let request = request(&mut client);
            // The client makes a connection for each request.
            let passed = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
            let (mut daemon, mut answer) = (TcpStream::connect(&daemon).unwrap(), Vec::new());
            daemon.write_all(passed.as_bytes()).unwrap();
            daemon.read_to_end(&mut answer).unwrap();
            if request.contains(last) && !request.contains("dry-run: true") {
                answers -= 1;
            } else {
                client.write_all(&answer).unwrap();
            }
        }
    });
    url
}

fn refusal(status: &str, kind: &str, body: &str) -> String {
    answer(status, &[&format!("content-type: {kind}"), "retry-after: 0"], body)
}

#[test]
fn a_change_whose_answer_is_lost_can_be_repeated_with_the_key_that_is_named() {
    let counter = Counter::start();
    let world = &counter.world;
    let create = ["accounts", "create", "--customer", "c-1", "--product", "saver"];
    let url = losing(world, "POST /instances", 3);
    let mut lost = run(world.mfa(&[&create[..], &["-o", "json", "--url", &url]].concat()));
    // The warning about the customer, who does not exist, is no part of the error.
    lost.err = lost.err.lines().last().unwrap().to_owned() + "\n";
    let error = lost.fails_in_json(10);
    let accounts = || world.get("/definitions/saver/instances").json().as_array().unwrap().len();
    assert_eq!(accounts(), 1, "made once by three tries");
    assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
    let key = error["idempotencyKey"].as_str().unwrap();
    let hint =
        format!("then repeat the command with --idempotency-key {key}, which makes the change only once");
    assert!(error["hint"].as_str().unwrap().ends_with(&hint), "{error}");
    let again = [&create[..], &["--idempotency-key", key]].concat();
    let made = run(world.mfa(&[&again[..], &["-o", "json"]].concat())).json();
    assert_eq!((&made["customerIdentifier"], accounts()), (&json!("c-1"), 1));
    // The key that was given is not given anew.
    let url = losing(world, "POST /instances", 3);
    let said = run(world.mfa(&[&again[..], &["--url", &url]].concat())).fails(10);
    assert!(said.contains(DOUBT) && said.contains("then repeat it with the same key"), "{said}");
}

#[test]
fn every_way_to_send_a_change_names_the_key_of_a_lost_one() {
    let home = tempfile::tempdir().unwrap();
    let batch = home.path().join("batch.json");
    let office = json!({ "identifier": "osu", "name": "Osu" });
    let operation = json!([{ "method": "POST", "path": "/offices", "body": office }]);
    std::fs::write(&batch, operation.to_string()).unwrap();
    let count = ["teller", "denominations", "add", "T1", "--office", "accra", "--counted", "5"];
    for (line, reads) in [
        (&["offices", "create", "osu", "--name", "Osu"][..], 0),
        (&["api", "POST", "/offices", "-F", "identifier=osu"], 0),
        (&["batch", batch.to_str().unwrap()], 0),
        // It looks at the money of the teller and at its cash before.
        (&count, 2),
    ] {
        let answers =
            [vec![refusal("404 Not Found", "text/html", ""); reads], vec![String::new(); 2]].concat();
        let (url, requests) = server(answers);
        let line = [line, &["-o", "json", "--retries", "1", "--url", &url]].concat();
        let error = run(mfa(home.path(), &line)).fails_in_json(10);
        let requests = requests.join().unwrap();
        assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{line:?}: {error}");
        for request in &requests[reads..] {
            assert_eq!(error["idempotencyKey"], key(request), "{line:?}");
        }
    }
}

#[test]
fn a_doubt_about_one_try_stays_until_the_daemon_says_what_became_of_the_change() {
    let home = tempfile::tempdir().unwrap();
    let create = |answers: Vec<String>, exit: i32| {
        let (url, _requests) = server(answers);
        let line = ["offices", "create", "osu", "--name", "Osu", "-o", "json", "--no-read", "--url", &url];
        run(mfa(home.path(), &line)).fails_in_json(exit)
    };
    let problem = |status: u16, code: &str| {
        json!({
            "type": format!("urn:mfa:problem:{code}"), "title": "t", "status": status, "detail": "it is so",
            "code": code, "instance": "/offices", "requestId": "r",
        })
        .to_string()
    };
    let own = |status: &str, code: &str| {
        let number = status[..3].parse().unwrap();
        refusal(status, "application/problem+json;charset=UTF-8", &problem(number, code))
    };
    let (away, busy) = (refusal("502 Bad Gateway", "text/html", ""), own("503 Service", "unavailable"));
    let is_told = |error: &Value| error["message"].as_str().unwrap().ends_with(DOUBT);
    // The daemon goes away after the first try.
    assert!(is_told(&create(vec![String::new()], 10)));
    assert!(is_told(&create(vec![away; 3], 1)));
    assert!(is_told(&create(vec![String::new(), busy.clone(), busy.clone()], 1)));
    // What the daemon refuses it has not done; a store may not know it, so the key is named.
    let refused = create(vec![busy; 3], 1);
    assert!(!is_told(&refused) && refused["idempotencyKey"].is_string(), "{refused}");
    let taken = create(vec![String::new(), own("409 Conflict", "identifier_taken")], 6);
    assert!(!is_told(&taken) && taken["idempotencyKey"].is_null(), "{taken}");
    // Of a change with a secret in its answer the daemon keeps no repetition, so the first try may be why.
    let taken = own("409 Conflict", "identifier_taken");
    let (url, requests) = server(vec![String::new(), taken]);
    let create = ["webhooks", "create", "crm", "--receiver", "https://crm.example.org/hook"];
    let error =
        run(mfa(home.path(), &[&create[..], &["-o", "json", "--url", &url]].concat())).fails_in_json(6);
    assert!(is_told(&error) && error["idempotencyKey"].is_null(), "{error}");
    let requests = requests.join().unwrap();
    assert!(requests.iter().all(|request| !request.contains("idempotency-key")), "{requests:?}");
}

#[test]
fn what_a_repeated_command_would_make_up_anew_is_not_repeated_by_a_key() {
    let home = tempfile::tempdir().unwrap();
    let lost = |line: &[&str]| {
        let (url, _requests) = server(vec![String::new()]);
        let more = ["--retries", "0", "-o", "json", "--url", &url];
        let error = run(mfa(home.path(), &[line, &more].concat())).fails_in_json(10);
        assert!(
            error["idempotencyKey"].is_null() && error["message"].as_str().unwrap().contains(DOUBT),
            "{error}"
        );
        error
    };
    let create = ["users", "create", "esi", "--role", "clerk", "--generate-password"];
    assert!(lost(&create)["hint"].as_str().unwrap().ends_with(" users set-password esi"));
    let file = home.path().join("crm.pem").display().to_string();
    let error = lost(&["applications", "keygen", "crm-v1", "--bits", "2048", "--out", &file]);
    assert!(
        error["message"].as_str().unwrap().ends_with(&format!("; the private key is in {file}")),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().ends_with(" applications signatures list crm-v1"), "{error}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("PRIVATE KEY"), "it may be registered");
}

#[test]
fn the_closing_of_an_account_is_repeated_with_the_amount_that_its_key_covers() {
    let world = World::start();
    sample(&world);
    let close = |more: &[&str]| {
        let line = ["teller", "close-account", "desk-2", "--account", "c-003.9100.00002", "--yes"];
        run(world.mfa(&[&line[..], more].concat()))
    };
    let said = close(&["--retries", "0", "--url", &losing(&world, "/transactions HTTP", 1)]).fails(10);
    let again = said.rsplit_once("repeat the command with ").unwrap().1.split_once(", which").unwrap().0;
    let (amount, _) = again.split_once(" --idempotency-key ").unwrap();
    assert_eq!(amount, "--amount 99.00", "{said}");
    let flags: Vec<_> = again.split(' ').chain(["-o", "json"]).collect();
    assert_eq!(close(&flags).json()["state"], "CONFIRMED");
    assert_eq!(close(&flags).json()["state"], "CONFIRMED", "the same one");
}

#[test]
fn nothing_is_in_doubt_where_nothing_was_sent_or_changed() {
    let home = tempfile::tempdir().unwrap();
    let create = ["offices", "create", "osu", "--name", "Osu"];
    let away = ["--url", "http://127.0.0.1:1", "--retries", "0"];
    assert!(!run(mfa(home.path(), &[&create[..], &away].concat())).fails(10).contains(DOUBT));
    for line in [&["offices", "get", "osu"][..], &[&create[..], &["--dry-run"]].concat()] {
        let (url, _requests) = server(vec![String::new()]);
        let line = [line, &["--retries", "0", "--url", &url]].concat();
        let said = run(mfa(home.path(), &line)).fails(10);
        assert!(!said.contains(DOUBT) && !said.contains("--idempotency-key"), "{said}");
    }
}

#[test]
fn the_closing_of_a_teller_is_continued_under_its_key_wherever_it_was_cut_off() {
    let cuts = ["command=PAUSE", "/denominations HTTP", "\"CLOSE\""].map(|cut| (cut, DOUBT));
    let unseen = ("reports/latest", "; what the command had changed before stays changed");
    for (last, told) in cuts.into_iter().chain([unseen]) {
        let world = World::start();
        sample(&world);
        let close = |url: &str, more: &[&str]| {
            let line = ["teller", "close", "desk-2", "--office", "head-office", "--counted", "604", "-y"];
            let key = ["--idempotency-key", "close-1", "--retries", "0", "--url", url];
            run(world.mfa(&[&line[..], &key, more].concat()))
        };
        let said = close(&losing(&world, last, 1), &[]).fails(10);
        assert!(said.contains(told) && said.contains("repeat it with the same key"), "{last}: {said}");
        let report = close(&world.url(), &["-o", "json"]).json();
        assert_eq!((&report["countedTotal"], &report["difference"]), (&json!(604), &json!(-1)), "{last}");
        let teller = "/offices/head-office/teller/desk-2";
        assert_eq!(world.get(teller).json()["state"], "CLOSED", "{last}");
        assert_eq!(world.get(&format!("{teller}/denominations")).json().as_array().unwrap().len(), 1);
        assert_eq!(world.get(&format!("{teller}/reports")).json().as_array().unwrap().len(), 1, "{last}");
    }
}
