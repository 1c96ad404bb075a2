//! What a proxy or another server says in place of the daemon, and commands that are ended from outside:
//! nothing of that counts as made, as refused, or as whole.

use crate::support::counter::Counter;
use crate::support::run::{Ran, left, run, with_hangup};
use crate::support::scripted::{answer, key, request, server};
use crate::support::world::{World, mfa};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::io::Write;
use std::net::TcpListener;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const DOUBT: &str = "it is not known whether the change was made";
const HTML: &str = "<html>not here</html>";
const JSON: &str = "content-type: application/json;charset=UTF-8";

/// An answer without the header by which a daemon is known.
fn foreign(status: &str, kind: &str, body: &str) -> String {
    answer(status, &[&format!("content-type: {kind}")], body).replace("x-request-id: 1\r\n", "")
}

#[test]
fn what_another_server_says_does_not_settle_a_change_whose_answer_was_lost() {
    let home = tempfile::tempdir().unwrap();
    for said in [
        foreign("404 Not Found", "text/html", HTML),
        foreign("302 Found", "text/html", ""),
        foreign("200 OK", "text/html", HTML),
        // Proxies number requests as well.
        answer("404 Not Found", &["content-type: text/html"], HTML),
        answer("202 Accepted", &["content-type: text/html"], HTML),
        answer("202 Accepted", &[JSON], r#"{"status":"ok"}"#),
    ] {
        let (url, requests) = server(vec![String::new(), said.clone()]);
        let create =
            ["offices", "create", "osu", "--name", "Osu", "--retries", "1", "-o", "json", "--url", &url];
        let error = run(mfa(home.path(), &create)).fails_in_json(1);
        assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{said}: {error}");
        assert_eq!(error["idempotencyKey"], key(&requests.join().unwrap()[0]), "{said}");
    }
    // A proxy that refuses the first try has passed nothing on.
    let (url, _requests) = server(vec![foreign("404 Not Found", "text/html", HTML)]);
    let said = run(mfa(home.path(), &["offices", "create", "osu", "--name", "Osu", "--url", &url])).fails(1);
    assert!(!said.contains(DOUBT), "{said}");
}

#[test]
fn a_batch_whose_results_are_cut_or_missing_is_not_taken_for_done() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("batch.json");
    let operation = json!([{ "method": "POST", "path": "/offices", "body": { "identifier": "osu" } }]);
    std::fs::write(&file, operation.to_string()).unwrap();
    for body in [r#"{"results":[{"status":202,"#, r#"{"results":[]}"#] {
        let (url, requests) = server(vec![answer("200 OK", &[JSON], body)]);
        let line = ["batch", file.to_str().unwrap(), "-o", "json", "--url", &url];
        let error = run(mfa(home.path(), &line)).fails_in_json(1);
        assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{body}: {error}");
        assert_eq!(error["idempotencyKey"], key(&requests.join().unwrap()[0]), "{body}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("batch.json");
    let operation = json!([{ "method": "POST", "path": "/offices", "body": { "identifier": "osu" } }]);
    std::fs::write(&file, operation.to_string()).unwrap();
    let office = json!({ "identifier": "osu", "name": "Osu" });
    let result = json!({
        "status": 202, "location": "/offices/osu", "etag": null, "replayed": false,
        "danglingReferences": null, "possibleDuplicates": null, "body": null, "problem": null,
    });
    let results = json!({ "results": [result] });
    for (line, body) in
        [(["offices", "get", "osu"], office), (["batch", file.to_str().unwrap(), "--yes"], results)]
    {
        let whole = answer("200 OK", &[JSON], &body.to_string());
        let cut = whole[..whole.len() - 9].to_owned();
        let (url, requests) = server(vec![cut.clone(), cut.clone(), whole]);
        let more = ["-o", "json", "--retries", "2", "--url", &url];
        assert_eq!(run(mfa(home.path(), &[&line[..], &more].concat())).json(), body);
        let requests = requests.join().unwrap();
        assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
        // With no try left it is no answer, and a change may have been made.
        let (url, _requests) = server(vec![cut]);
        let more = ["-o", "json", "--retries", "0", "--url", &url];
        let error = run(mfa(home.path(), &[&line[..], &more].concat())).fails_in_json(10);
        let is_change = line[0] == "batch";
        assert_eq!(error["message"].as_str().unwrap().ends_with(DOUBT), is_change, "{error}");
        assert_eq!(error["idempotencyKey"].is_string(), is_change, "{error}");
    }
}

#[test]
fn a_batch_that_also_reads_is_repeated_under_one_key() {
    let counter = Counter::start();
    let world = &counter.world;
    let file = world.config().data_dir.with_file_name("batch.json");
    let account = json!({ "customerIdentifier": "c-1", "productIdentifier": "saver" });
    let operations = json!([
        { "method": "GET", "path": "/definitions/saver" },
        { "method": "POST", "path": "/instances", "body": account },
    ]);
    std::fs::write(&file, operations.to_string()).unwrap();
    let accounts = || world.get("/definitions/saver/instances").json().as_array().unwrap().len();
    let before = accounts();
    // The proxy has passed it on, and lost what came back.
    let (url, requests) = server(vec![String::new()]);
    let line = ["batch", file.to_str().unwrap(), "-o", "json"];
    let lost = run(mfa(
        world.config().data_dir.parent().unwrap(),
        &[&line[..], &["--retries", "0", "--url", &url]].concat(),
    ));
    let error = lost.fails_in_json(10);
    assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
    let sent = requests.join().unwrap().remove(0);
    world.post("/batch", sent.split_once("\r\n\r\n").unwrap().1).is(200);
    assert_eq!(accounts(), before + 1);
    let named = error["idempotencyKey"].as_str().unwrap();
    let again = [&line[..], &["--idempotency-key", named]].concat();
    let results = run(world.mfa(&again)).json();
    assert_eq!((&results["results"][1]["replayed"], accounts()), (&json!(true), before + 1), "{results}");
}

/// A command whose change has been sent when the signal comes, and is never answered.
fn ended(signal: Signal, format: &[&str]) -> (Ran, String) {
    ended_of(&["offices", "create", "osu", "--name", "Osu"], signal, format)
}

fn ended_of(line: &[&str], signal: Signal, format: &[&str]) -> (Ran, String) {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut command = with_hangup("default", &mfa(home.path(), &[line, format, &["--url", &url]].concat()));
    let running = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut client, _) = listener.accept().unwrap();
    let sent = request(&mut client);
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), signal).unwrap();
    (left(running.wait_with_output().unwrap()), sent)
}

#[test]
fn a_signal_after_a_change_was_sent_leaves_it_in_doubt_and_names_its_key() {
    for (signal, exit) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (ran, sent) = ended(signal, &["-o", "json"]);
        let error = ran.fails_in_json(exit);
        assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
        assert_eq!(error["idempotencyKey"], key(&sent));
        let said = ended(signal, &[]).0.fails(exit);
        assert!(said.contains(DOUBT) && said.contains("--idempotency-key"), "{said}");
    }
}

#[test]
fn a_signal_after_a_free_request_was_sent_names_its_key() {
    let post = ["api", "POST", "/offices", "-F", "identifier=osu", "-F", "name=Osu"];
    for own in [&[][..], &["--idempotency-key", "osu-1"]] {
        let (ran, sent) = ended_of(&post, Signal::TERM, &[own, &["-o", "json"]].concat());
        assert_eq!(ran.fails_in_json(143)["idempotencyKey"], key(&sent));
    }
}

#[test]
fn a_signal_names_no_key_that_repeats_nothing() {
    // A repeated command would make up another password.
    let create = ["users", "create", "kofi", "--role", "clerk", "--generate-password"];
    let error = ended_of(&create, Signal::TERM, &["-o", "json"]).0.fails_in_json(143);
    assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
    assert!(error["idempotencyKey"].is_null(), "{error}");
}

#[test]
fn an_atomic_import_that_is_ended_after_it_was_sent_is_in_doubt_and_says_how_it_goes_on() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("rows.csv"), "identifier,givenName,surname\nc-1,Ama,Mensah\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut command =
        mfa(home.path(), &["customers", "import", "rows.csv", "--atomic", "-o", "json", "--url", &url]);
    command.current_dir(home.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = command.spawn().unwrap();
    let (mut client, _) = listener.accept().unwrap();
    assert!(request(&mut client).starts_with("POST /batch "));
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    let error = left(running.wait_with_output().unwrap()).fails_in_json(143);
    assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
    assert!(error["hint"].as_str().unwrap().ends_with(" --resume"), "{error}");
}

#[test]
fn a_read_that_is_ended_from_outside_says_so_to_a_program() {
    let (ran, _) = ended_of(&["offices", "list"], Signal::TERM, &["-o", "json"]);
    let error = ran.fails_in_json(143);
    assert_eq!((&error["code"], &error["message"]), (&json!("interrupted"), &json!("interrupted")));
    let (ran, _) = ended_of(&["offices", "list"], Signal::TERM, &[]);
    assert_eq!(ran.fails(143), "");
}

#[test]
fn a_command_that_is_to_outlive_its_session_ignores_its_end() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let line = mfa(home.path(), &["api", "GET", "/offices/osu", "-o", "jsonl", "--url", &url]);
    let mut command = with_hangup("ignore", &line);
    let running = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut client, _) = listener.accept().unwrap();
    request(&mut client);
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::HUP).unwrap();
    client.write_all(answer("200 OK", &[JSON], "{\"identifier\":\"osu\"}").as_bytes()).unwrap();
    assert_eq!(left(running.wait_with_output().unwrap()).ok(), "{\"identifier\":\"osu\"}\n");
}

#[test]
fn waiting_and_free_requests_believe_no_other_server() {
    let home = tempfile::tempdir().unwrap();
    let run = |line: &[&str], answers: Vec<String>| {
        let (url, _requests) = server(answers);
        run(mfa(home.path(), &[line, &["--retries", "0", "-o", "json", "--url", &url]].concat()))
    };
    let active = foreign("200 OK", "application/json", r#"{"state":"ACTIVE"}"#);
    let own = answer("200 OK", &[JSON], r#"{"identifier":"c-1","state":"ACTIVE"}"#);
    let mut here = vec![foreign("404 Not Found", "text/html", HTML), active.clone(), own.clone()];
    // The record is read once more, to be shown.
    here.push(own);
    let waited = run(&["wait", "customer/c-1", "--for", "state=ACTIVE", "--timeout", "20s"], here).json();
    assert_eq!(waited["identifier"], "c-1");
    run(&["wait", "customer/c-1", "--for", "exists", "--timeout", "0s"], vec![active.clone()])
        .fails_in_json(1);
    run(&["api", "GET", "/customers/c-1"], vec![active]).fails_in_json(1);
    run(&["api", "GET", "/customers/c-1"], vec![answer("200 OK", &[JSON], r#"{"identifier":"c-"#)])
        .fails_in_json(1);
    let page = vec![foreign("200 OK", "text/html", HTML)];
    let error = run(&["api", "POST", "/offices", "-F", "identifier=osu"], page).fails_in_json(1);
    assert!(error["message"].as_str().unwrap().ends_with(DOUBT), "{error}");
    // A page of another server is no list.
    let page = answer("200 OK", &["content-type: text/html"], HTML);
    run(&["customers", "export"], vec![page]).fails_in_json(1);
}

#[test]
fn an_answer_that_drips_is_given_up_in_its_time() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        request(&mut client);
        let _ = client
            .write_all(answer("200 OK", &[JSON], &" ".repeat(100_000)).split(' ').next().unwrap().as_bytes());
        while client.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let began = Instant::now();
    let get = ["customers", "get", "c-1", "--timeout-seconds", "1", "--retries", "0", "--url", &url];
    assert!(run(mfa(home.path(), &get)).fails(10).contains("no answer within 1 s"));
    assert!(began.elapsed() < Duration::from_secs(30), "it never ends by itself");
}

#[test]
fn an_import_whose_summary_cannot_be_written_says_that_it_was_done() {
    let counter = Counter::start();
    let file = counter.world.config().data_dir.with_file_name("accounts.csv");
    std::fs::write(&file, "customerIdentifier,productIdentifier\nc-1,saver\nc-2,saver\n").unwrap();
    let mut import = counter.world.mfa(&["accounts", "import", file.to_str().unwrap(), "-o", "json"]);
    import.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap()).stderr(Stdio::piped());
    let said = left(import.spawn().unwrap().wait_with_output().unwrap()).err;
    assert!(said.contains("; none of the 2 rows failed") && said.contains("--resume"), "{said}");
}

#[test]
fn over_http_1_0_nothing_is_sent_whose_end_could_not_be_told() {
    let world = World::start();
    let asked = |more: &str| world.raw(&format!("GET /offices HTTP/1.0{more}"));
    assert!(asked("").contains("200 OK"), "a length is known");
    let refused = asked("\r\naccept: application/x-ndjson");
    assert!(refused.contains("400 Bad Request") && refused.contains("http_version_too_old"), "{refused}");
    let whole = world.raw("GET /offices HTTP/1.1\r\naccept: application/x-ndjson");
    assert!(whole.contains("200 OK") && whole.contains("chunked"), "{whole}");
}
