//! Slow, stuck and many clients, and a stop in the middle of the work.

use crate::support::stored::in_folder;
use crate::support::world::World;
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

pub fn connect(world: &World) -> TcpStream {
    let stream = TcpStream::connect(world.url().trim_start_matches("http://")).unwrap();
    // Far beyond every deadline of these tests: only a hanging daemon reaches it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

pub fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset after the answer is an end like any other.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_head_that_never_ends_is_cut_off() {
    let world = World::with(|config| config.header_timeout_seconds = 1);
    let mut stream = connect(&world);
    stream.write_all(b"GET /offices HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap();
    let answer = rest(&mut stream);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    world.get("/live").is(200);
}

#[test]
fn a_body_that_never_ends_is_refused() {
    let world = World::with(|config| config.request_timeout_seconds = 1);
    let mut stream = connect(&world);
    stream
        .write_all(b"POST /offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{\"ident")
        .unwrap();
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("malformed_body"), "{answer}");
}

#[test]
fn a_body_that_stops_in_the_middle_changes_nothing() {
    let world = World::start();
    let body = json!({ "identifier": "accra", "name": "Accra" }).to_string();
    let head =
        format!("POST /offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len() + 1);
    let mut stream = connect(&world);
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    drop(stream);
    world.get("/offices/accra").refused(404, "office_not_found");
}

#[test]
fn bytes_that_are_not_http_are_refused_and_harm_no_one() {
    let world = World::start();
    for text in ["\r\n\r\n\0\0", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\0\x01\0\x01"] {
        let mut stream = connect(&world);
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = rest(&mut stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{text:?}: {answer}");
    }
    let long = format!("GET /offices?term={} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1_000_000));
    let mut stream = connect(&world);
    let _ = stream.write_all(long.as_bytes());
    let answer = rest(&mut stream);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    world.get("/live").is(200);
}

#[test]
fn a_head_that_is_too_long_is_refused_also_where_it_comes_at_once() {
    let world = World::start();
    for (length, status) in [(15_000, 200), (17_000, 431), (40_000, 431)] {
        let mut stream = connect(&world);
        // A long body has the connection read much at once from then on.
        let body = "x".repeat(900_000);
        let first =
            format!("POST /offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{first}{body}").as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 400");
        let head = "GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ";
        stream.write_all(format!("{head}{}\r\n\r\n", "x".repeat(length)).as_bytes()).unwrap();
        let answer = rest(&mut stream);
        assert!(answer.contains(&format!("HTTP/1.1 {status} ")), "{length}: {answer}");
    }
}

#[test]
fn a_request_for_a_host_instead_of_a_path_is_refused() {
    let world = World::start();
    let mut stream = connect(&world);
    stream.write_all(b"CONNECT x:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 404") && answer.contains("route_not_found"), "{answer}");
}

#[test]
fn a_client_that_sends_all_of_a_refused_body_first_still_reads_the_answer() {
    let world = World::start();
    let body = vec![b'x'; 4_000_000];
    for (line, status) in [
        ("POST /offices", "413"),
        ("POST /nothing", "404"),
        ("PATCH /offices", "405"),
        ("GET /offices", "200"),
        ("DELETE /offices/none", "404"),
    ] {
        let mut stream = connect(&world);
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let answer = rest(&mut stream);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {answer}");
    }
}

#[test]
fn more_clients_than_connections_wait_for_their_turn() {
    let world = World::with(|config| config.connections_max = 2);
    let idle: Vec<_> = (0..2).map(|_| connect(&world)).collect();
    let mut waiting = connect(&world);
    waiting.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    drop(idle);
    assert!(rest(&mut waiting).starts_with("HTTP/1.1 200"));
}

/// The answer to a request on a connection of its own, which the daemon may close when it has answered.
fn asked(world: &World, line: &str) -> String {
    let mut stream = connect(world);
    stream.write_all(format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    rest(&mut stream)
}

#[test]
fn a_daemon_whose_connections_are_all_taken_is_still_seen_to_live() {
    let world = World::with(|config| config.connections_max = 2);
    let idle: Vec<_> = (0..2).map(|_| connect(&world)).collect();
    for line in ["GET /live", "HEAD /live", "GET /ready", "GET /metrics"] {
        let answer = asked(&world, line);
        assert!(answer.starts_with("HTTP/1.1 200"), "{line}: {answer}");
    }
    for line in ["GET /offices", "POST /live", "GET /version", "GET /nothing"] {
        let answer = asked(&world, line).to_ascii_lowercase();
        assert!(
            answer.starts_with("http/1.1 503") && answer.contains("retry-after: 1\r\n"),
            "{line}: {answer}"
        );
        assert!(
            answer.contains("connections_max") && answer.contains("connection: close"),
            "{line}: {answer}"
        );
    }
    drop(idle);
    let began = std::time::Instant::now();
    let ask = b"GET /offices HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    loop {
        let mut stream = connect(&world);
        stream.write_all(ask).unwrap();
        if rest(&mut stream).starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no connection becomes free");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn clients_who_say_nothing_do_not_keep_the_spare_connections() {
    let world = World::with(|config| config.connections_max = 2);
    let silent: Vec<_> = (0..2 + 8).map(|_| connect(&world)).collect();
    assert!(asked(&world, "GET /live").starts_with("HTTP/1.1 200"));
    drop(silent);
}

/// The value of a metric, asked for on a connection that stays.
fn metric(stream: &mut TcpStream, name: &str) -> String {
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let (mut answer, mut byte) = (Vec::new(), [0]);
    let mut until = |end: &dyn Fn(&[u8]) -> bool| {
        answer.clear();
        while !end(&answer) {
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    };
    let head = until(&|text| text.ends_with(b"\r\n\r\n")).to_ascii_lowercase();
    let page = match head.split_once("content-length: ") {
        Some((_, rest)) => {
            let length: usize = rest.split_once('\r').unwrap().0.parse().unwrap();
            until(&|text| text.len() == length)
        }
        None => until(&|text| text.ends_with(b"0\r\n\r\n")),
    };
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{head}{page}")).to_owned()
}

#[test]
fn a_connection_beyond_the_limit_of_its_address_is_refused() {
    // Every test is on this machine, which otherwise has thousands.
    let world =
        World::with(|config| (config.connections_per_address, config.connections_of_loopback) = (2, Some(2)));
    let (mut stays, mut goes) = (connect(&world), connect(&world));
    for stream in [&mut stays, &mut goes] {
        assert_eq!(metric(stream, "mfa_http_connections_refused_total"), "0");
    }
    assert_eq!(metric(&mut stays, "mfa_http_connections"), "2");
    // It is not waited for what they ask.
    let refused = rest(&mut connect(&world));
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1\r\n"), "{refused}");
    let problem = refused.split_once("\r\n\r\n").unwrap().1;
    let problem: serde_json::Value = serde_json::from_str(problem).unwrap();
    assert_eq!(problem["code"], "unavailable");
    let detail = "127.0.0.1 has as many connections as one address may have; close some of them";
    assert_eq!(problem["detail"], detail);
    assert_eq!(metric(&mut goes, "mfa_http_connections_refused_total"), "1");
    drop(goes);
    let began = std::time::Instant::now();
    while metric(&mut stays, "mfa_http_connections") != "1" {
        assert!(began.elapsed() < Duration::from_secs(60), "the daemon does not see that it was closed");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut next = connect(&world);
    next.write_all(b"GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert!(rest(&mut next).starts_with("HTTP/1.1 200"));
}

/// A pace under which a client that does nothing is cut off soon.
fn hurried(config: &mut mfa_daemon::Config) {
    config.pace.grace = Duration::from_millis(500);
    config.pace.bytes_a_second = 256 * 1024;
}

#[test]
fn a_client_that_asks_and_never_reads_is_cut_off() {
    let world = World::with(hurried);
    let mut stream = connect(&world);
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    let asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500);
    let began = std::time::Instant::now();
    // The daemon takes no more requests while its answers are not read, and then closes.
    let cut = loop {
        match stream.write_all(&asked) {
            Ok(()) => {}
            Err(error) => break error,
        }
        std::thread::sleep(Duration::from_millis(20));
        assert!(began.elapsed() < Duration::from_secs(30), "still connected");
    };
    assert!(matches!(cut.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{cut}");
    world.get("/live").is(200);
}

#[test]
fn a_slow_reader_gets_the_whole_answer() {
    let world = World::with(|config| {
        config.pace.grace = Duration::from_millis(500);
        config.pace.bytes_a_second = 64 * 1024;
    });
    let mut stream = connect(&world);
    let last = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let before = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3);
    stream.write_all(&[&before[..], last].concat()).unwrap();
    let (mut taken, mut piece) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let bytes = stream.read(&mut piece).unwrap();
        if bytes == 0 {
            break;
        }
        taken.extend_from_slice(&piece[..bytes]);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(String::from_utf8_lossy(&taken).matches("HTTP/1.1 200").count(), 4);
}

#[test]
fn a_body_a_byte_at_a_time_is_refused() {
    let world = World::with(hurried);
    for line in ["POST /offices", "POST /token"] {
        let mut stream = connect(&world);
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let began = std::time::Instant::now();
        let mut answer = [0; 12];
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        while stream.read_exact(&mut answer).is_err() {
            let _ = stream.write_all(b" ");
            assert!(began.elapsed() < Duration::from_secs(10), "{line}: no answer");
        }
        assert_eq!(&answer, b"HTTP/1.1 400", "{line}");
    }
}

#[test]
fn a_body_of_a_login_has_so_long_in_all_however_steadily_it_comes() {
    let world = World::with(|config| {
        config.pace.grace = Duration::from_secs(1);
        config.pace.bytes_a_second = 1;
    });
    // Far more than the pace asks for, so nothing but the time in all can end it.
    let cut_after = |path: &str| {
        let mut stream = connect(&world);
        let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000";
        stream.write_all(format!("POST {path} {head}\r\n\r\n").as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (began, mut answer) = (std::time::Instant::now(), [0; 12]);
        while began.elapsed() < Duration::from_secs(3) {
            if stream.read_exact(&mut answer).is_ok() {
                return Some(String::from_utf8_lossy(&answer).into_owned());
            }
            let _ = stream.write_all(b" ");
        }
        None
    };
    assert_eq!(cut_after("/token").as_deref(), Some("HTTP/1.1 400"));
    assert_eq!(cut_after("/offices"), None, "what is no login has the time of a request");
}

#[test]
fn a_stop_loses_no_acknowledged_request_and_waits_for_no_idle_client() {
    let mut world = World::start();
    let idle = connect(&world);
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|w| {
            let (stop, url) = (stop.clone(), world.url());
            let http = world.http();
            world.spawn(async move {
                let mut acknowledged = Vec::new();
                for i in 0.. {
                    let id = format!("c-{w}-{i}");
                    let body = json!({ "identifier": id }).to_string();
                    match http.post(format!("{url}/customers")).body(body).send().await {
                        Ok(answer) if answer.status() == 202 => acknowledged.push(id),
                        Ok(answer) => assert_eq!(answer.status(), 503),
                        Err(_) if stop.load(SeqCst) => break,
                        Err(_) => {}
                    }
                    if stop.load(SeqCst) {
                        break;
                    }
                }
                acknowledged
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    world.restart();
    stop.store(true, SeqCst);
    let mut count = 0;
    for writer in writers {
        for id in world.wait(writer) {
            world.get(&format!("/customers/{id}")).is(200);
            count += 1;
        }
    }
    assert!(count > 8, "only {count} were acknowledged");
    drop(idle);
}

#[test]
fn an_address_off_the_machine_needs_access_control() {
    let mut config = mfa_daemon::Config::new("/nonexistent");
    config.auth = mfa_daemon::Auth::Off;
    config.listen = "0.0.0.0:0".parse().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let refused = runtime.block_on(mfa_daemon::Daemon::start(config, mfa_daemon::Clock::system()));
    let why = refused.map(|_| ()).unwrap_err().to_string();
    assert!(why.contains("auth") && why.contains("loopback"), "{why}");
}

#[test]
fn an_address_off_the_machine_needs_a_word_that_it_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    let start = |plaintext: bool| {
        let mut config = mfa_daemon::Config::new(dir.path().join("data"));
        config.listen = "0.0.0.0:0".parse().unwrap();
        config.plaintext = plaintext;
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            match mfa_daemon::Daemon::start(config, mfa_daemon::Clock::system()).await {
                Ok(daemon) => {
                    daemon.stop().await;
                    String::new()
                }
                Err(error) => error.to_string(),
            }
        })
    };
    let why = start(false);
    assert!(why.contains("not encrypted") && why.contains("--plaintext"), "{why}");
    assert!(!dir.path().join("data").exists(), "nothing was made");
    assert_eq!(start(true), "");
}

#[test]
fn two_daemons_never_share_a_data_directory() {
    let world = World::with(in_folder);
    let mut config = mfa_daemon::Config::new(world.dir.path().join("data"));
    config.auth = mfa_daemon::Auth::Off;
    config.listen = "127.0.0.1:0".parse().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let refused = runtime.block_on(mfa_daemon::Daemon::start(config, mfa_daemon::Clock::system()));
    let why = refused.map(|_| ()).unwrap_err();
    assert!(matches!(why, mfa_daemon::StartError::Locked(_)), "{why}");
    assert!(why.to_string().contains(&std::process::id().to_string()), "{why}");
}
