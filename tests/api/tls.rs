//! `https:`: what is spoken, what is refused, and a certificate that changes while clients are busy.

use crate::support::servers::{Authority, Files};
use crate::support::world::World;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Far beyond the time in which a daemon looks at its files again.
const AGAIN_MAX: Duration = Duration::from_secs(20);

/// A daemon with a certificate for localhost, in files that can be replaced.
struct Site {
    world: World,
    authority: Authority,
    files: Files,
    dir: tempfile::TempDir,
}

fn served(change: impl FnOnce(&mut mfa_daemon::Config)) -> Site {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let made = authority.certificate("localhost", 2098);
    let place = |name: &str| dir.path().join(name);
    let files = Files { certificate: place("present.pem"), key: place("present.key") };
    put(&made, &files);
    let world = World::with(|config| {
        (config.tls_cert, config.tls_key) = (Some(files.certificate.clone()), Some(files.key.clone()));
        change(config);
    });
    Site { world, authority, files, dir }
}

/// Replaces files as `mfa tls generate` and the programs of public authorities do.
fn put(made: &Files, place: &Files) {
    for (from, to) in [(&made.key, &place.key), (&made.certificate, &place.certificate)] {
        fs::copy(from, to.with_extension("new")).unwrap();
        fs::rename(to.with_extension("new"), to).unwrap();
    }
}

fn port(world: &World) -> u16 {
    world.url().rsplit_once(':').unwrap().1.parse().unwrap()
}

fn curl(authority: &Path, url: &str, more: &[&str]) -> Output {
    let mut command = Command::new("curl");
    command.args(["-sS", "--noproxy", "*", "--max-time", "20", "--cacert"]).arg(authority);
    command.args(more).arg(url).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn both_protocols_answer_alike_and_browsers_get_the_hsts_header() {
    let Site { world, authority, dir: _dir, .. } = served(|_| {});
    let url = format!("https://localhost:{}", port(&world));
    for (flag, spoken) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let customer = format!("c-{}", spoken.replace('.', "-"));
        let body = format!(r#"{{"identifier":"{customer}","type":"PERSON"}}"#);
        let found = "\n%{http_version} %{http_code}";
        let send = ["-i", "-w", found, flag, "-H", "content-type: application/json", "-d", &body];
        let made = text(&curl(&authority.file(), &format!("{url}/customers"), &send).stdout);
        assert!(made.ends_with(&format!("\n{spoken} 202")), "{made}");
        assert!(made.contains("strict-transport-security: max-age=31536000"), "{made}");
        let large = curl(&authority.file(), &format!("{url}/openapi.json"), &[flag]).stdout;
        let read: serde_json::Value = serde_json::from_slice(&large).unwrap();
        assert!(large.len() > 100_000 && read["paths"]["/customers"].is_object());
        let missing =
            text(&curl(&authority.file(), &format!("{url}/customers/nobody"), &["-i", flag]).stdout);
        assert!(missing.contains("customer_not_found"), "{missing}");
    }
    // Without access control a page of another site is refused here, too, whatever the protocol.
    let other = curl(&authority.file(), &format!("{url}/offices"), &["--http2", "-H", "Host: evil.example"]);
    assert!(text(&other.stdout).contains("forbidden_origin"), "{}", text(&other.stdout));
}

#[test]
fn thousands_of_requests_at_once_over_http_2_all_succeed() {
    let Site { world, dir: _dir, .. } = served(|_| {});
    let url = format!("https://localhost:{}/offices", port(&world));
    // 4 connections with 32 streams each.
    let mut command = Command::new("h2load");
    let said = text(&command.args(["-n", "4000", "-c", "4", "-m", "32", &url]).output().unwrap().stdout);
    assert!(said.contains("Application protocol: h2"), "{said}");
    let all = "requests: 4000 total, 4000 started, 4000 done, 4000 succeeded, 0 failed, 0 errored, 0 timeout";
    assert!(said.contains(all) && said.contains("status codes: 4000 2xx"), "{said}");
}

#[test]
fn a_stranger_to_the_authority_sends_nothing() {
    let Site { world, dir, .. } = served(|_| {});
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let refused = curl(&Authority::new(&other).file(), &format!("https://localhost:{}", port(&world)), &[]);
    assert_eq!(refused.status.code(), Some(60), "{}", text(&refused.stderr));
}

#[test]
fn old_versions_and_weak_suites_are_refused() {
    let Site { world, authority, dir: _dir, .. } = served(|_| {});
    let address = format!("127.0.0.1:{}", port(&world));
    let agree = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command.args(["s_client", "-connect", &address, "-servername", "localhost", "-CAfile"]);
        command.arg(authority.file()).args(arguments).stdin(Stdio::null());
        text(&command.output().unwrap().stdout)
    };
    for fine in [&["-tls1_3"][..], &["-tls1_2"]] {
        let said = agree(fine);
        assert!(said.contains("Verify return code: 0 (ok)") && !said.contains("Cipher is (NONE)"), "{said}");
    }
    let weak = ["AES128-SHA", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"];
    let weak = weak.map(|suite| ["-tls1_2", "-cipher", suite]);
    let old = [["-tls1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]];
    for arguments in weak.iter().chain(&old) {
        let said = agree(arguments);
        assert!(said.contains("Cipher is (NONE)"), "{arguments:?}: {said}");
    }
}

#[test]
fn plain_http_gets_a_hint_at_tls_and_nonsense_gets_nothing() {
    let Site { world, dir: _dir, .. } = served(|_| {});
    for daemon_speaks in [b"GET /customers HTTP/1.1\r\nhost: localhost\r\n\r\n".as_slice(), b"\0\x01nonsense"]
    {
        let mut socket = TcpStream::connect(("127.0.0.1", port(&world))).unwrap();
        socket.write_all(daemon_speaks).unwrap();
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        let answer = text(&answer);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("tls_required"), "{answer}");
        let named = answer.split_once("x-request-id: ").unwrap().1.lines().next().unwrap();
        assert!(answer.contains(&format!("\"requestId\":\"{named}\"")), "{answer}");
    }
    // An invalid greeting ends the connection.
    let mut socket = TcpStream::connect(("127.0.0.1", port(&world))).unwrap();
    socket.write_all(b"\x16\x03\x01\x00\x05hello").unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    assert!(answer.len() < 16, "{answer:?}");
}

/// The certificate that is served.
fn served_certificate(world: &World, authority: &Authority) -> Vec<u8> {
    let mut stream = connect(world, authority, &[]);
    stream.write_all(b"GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

fn connect(world: &World, authority: &Authority, protocols: &[&[u8]]) -> Client {
    let mut roots = RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_file(authority.file()).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect(("127.0.0.1", port(world))).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    StreamOwned::new(connection, socket)
}

#[test]
fn a_certificate_is_replaced_under_load_without_one_failed_request() {
    let Site { world, authority, files, dir: _dir } = served(|_| {});
    let before = served_certificate(&world, &authority);
    let root = reqwest::Certificate::from_pem(&fs::read(authority.file()).unwrap()).unwrap();
    let url = format!("https://localhost:{}/live", port(&world));
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let busy: Vec<_> = [0, 1000]
        .map(|kept| {
            let client = reqwest::Client::builder().no_proxy().tls_certs_only([root.clone()]);
            let client = client.pool_max_idle_per_host(kept).build().unwrap();
            let (url, stop, done) = (url.clone(), stop.clone(), done.clone());
            world.spawn(async move {
                while !stop.load(SeqCst) {
                    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
                    done.fetch_add(1, SeqCst);
                }
            })
        })
        .into();
    // What does not belong together leaves all as it was.
    let other = authority.certificate("localhost", 2097);
    fs::copy(&other.key, &files.key).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert!(served_certificate(&world, &authority) == before);
    put(&other, &files);
    let until = Instant::now() + AGAIN_MAX;
    while served_certificate(&world, &authority) == before {
        assert!(Instant::now() < until, "the new certificate is not served");
        std::thread::sleep(Duration::from_millis(100));
    }
    stop.store(true, SeqCst);
    busy.into_iter().for_each(|client| world.wait(client));
    assert!(done.load(SeqCst) > 100, "{done:?}");
}

#[test]
fn clients_without_a_certificate_are_refused_where_one_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let of_clients = Authority::new(dir.path());
    let Site { world, authority, dir: _dir, .. } =
        served(|config| config.tls_client_ca = Some(of_clients.file()));
    let url = format!("https://localhost:{}/live", port(&world));
    assert!(!curl(&authority.file(), &url, &[]).status.success());
    let own = of_clients.certificate("branch-7", 2098);
    let (certificate, key) = (own.certificate.to_str().unwrap(), own.key.to_str().unwrap());
    let answered = curl(&authority.file(), &url, &["--cert", certificate, "--key", key]);
    assert!(answered.status.success(), "{}", text(&answered.stderr));
    // A certificate of the daemon's own authority is not a client certificate.
    let other = authority.certificate("branch-8", 2098);
    let (certificate, key) = (other.certificate.to_str().unwrap(), other.key.to_str().unwrap());
    assert!(!curl(&authority.file(), &url, &["--cert", certificate, "--key", key]).status.success());
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

type Client = StreamOwned<ClientConnection, TcpStream>;

/// What comes until the daemon ends the connection of a client that shows all the time that it is alive;
/// nothing where it does not end soon.
fn until_ended(stream: &mut Client, alive: &[u8]) -> Option<Vec<u8>> {
    stream.sock.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let begun = Instant::now();
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while begun.elapsed() < Duration::from_secs(8) {
        match stream.read(&mut buffer) {
            Ok(0) => return Some(seen),
            Ok(count) => seen.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return Some(seen),
        }
        let _ = stream.write_all(alive);
    }
    None
}

/// Whether there is a frame of this kind among what came.
fn has_frame(mut seen: &[u8], kind: u8) -> bool {
    while let [a, b, c, found, _, _, _, _, _, rest @ ..] = seen {
        if *found == kind {
            return true;
        }
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        seen = rest.get(length..).unwrap_or_default();
    }
    false
}

/// Asks for something over HTTP/2, by the numbers of HPACK's static table, and leaves no room for the answer;
/// it must be disconnected for that, and no one else.
fn disconnected_without_room(Site { world, authority, .. }: &Site, head: &[u8]) {
    let mut stream = connect(world, authority, &[b"h2"]);
    let no_window = frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]);
    stream.write_all(&[GREETING, &no_window, &frame(1, 5, 1, head)].concat()).unwrap();
    // A client that sends pings is alive, and still reads nothing.
    let seen = until_ended(&mut stream, &frame(6, 0, 0, b"are-here")).expect("it is still connected");
    assert!(!has_frame(&seen, 0), "it was sent a body all the same");
    assert!(!served_certificate(world, authority).is_empty(), "others are served");
}

#[test]
fn an_http_2_client_that_asks_for_nothing_is_disconnected() {
    let Site { world, authority, dir: _dir, .. } = served(|config| {
        config.header_timeout_seconds = 1;
        config.pace.grace = Duration::from_millis(500);
        config.pace.bytes_a_second = 1_000_000;
    });
    let mut silent = connect(&world, &authority, &[b"h2"]);
    while silent.conn.is_handshaking() {
        silent.conn.complete_io(&mut silent.sock).unwrap();
    }
    assert!(until_ended(&mut silent, b"").is_some(), "it has not even greeted");
    // One that has asked before, and answers whatever it is asked.
    let live = [&[0x82, 0x87, 0x44, 5][..], b"/live", &[0x41, 9], b"localhost"].concat();
    for asked in [Vec::new(), frame(1, 5, 1, &live)] {
        let mut stream = connect(&world, &authority, &[b"h2"]);
        stream.write_all(&[GREETING, &frame(4, 0, 0, &[]), &asked].concat()).unwrap();
        let seen = until_ended(&mut stream, &frame(6, 0, 0, b"are-here")).expect("it is still connected");
        assert_eq!(has_frame(&seen, 1), !asked.is_empty(), "what it asked for is answered");
        assert!(has_frame(&seen, 7), "it was not told that the connection ends");
    }
    // A listener waits for what happens, however long that takes.
    let url = format!("https://localhost:{}/events?after=0", port(&world));
    let listen = ["--http2", "--max-time", "5", "-H", "accept: text/event-stream"];
    let listened = curl(&authority.file(), &url, &listen);
    assert_eq!(listened.status.code(), Some(28), "it was ended: {}", text(&listened.stderr));
}

#[test]
fn a_head_that_is_too_long_is_refused_at_once_over_both_protocols() {
    let Site { world, authority, dir: _dir, .. } = served(|_| {});
    let url = format!("https://localhost:{}/live", port(&world));
    let status = |protocol: &str, fields: usize, length: usize| {
        let fields = (0..fields).map(|n| format!("f{n}: {}", "x".repeat(length)));
        let fields: Vec<_> = fields.flat_map(|field| ["-H".to_owned(), field]).collect();
        let more = [protocol, "-o", "/dev/null", "-w", "%{http_code}"].into_iter();
        let more: Vec<_> = more.chain(fields.iter().map(String::as_str)).collect();
        text(&curl(&authority.file(), &url, &more).stdout)
    };
    for protocol in ["--http1.1", "--http2"] {
        let seen = [(96, 1), (101, 1), (1, 15_000), (1, 17_000)].map(|(n, long)| status(protocol, n, long));
        assert_eq!(seen, ["200", "431", "200", "431"], "{protocol}");
    }
    // A login whose body never ends does not keep a head of so many fields.
    let mut stream = connect(&world, &authority, &[b"h2"]);
    let login = [&[0x83, 0x87, 0x44, 6][..], b"/token", &[0x41, 9], b"localhost"].concat();
    let head = [&login[..], &[0, 1, b'a', 0].repeat(150)].concat();
    stream.write_all(&[GREETING, &frame(4, 0, 0, &[]), &frame(1, 4, 1, &head)].concat()).unwrap();
    stream.sock.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !has_frame(&seen, 1) {
        let count = stream.read(&mut buffer).expect("it waits for the body");
        seen.extend_from_slice(&buffer[..count]);
    }
}

#[test]
fn an_http_2_client_that_leaves_no_room_for_answers_is_disconnected() {
    let site = served(|config| {
        config.pace.grace = Duration::from_millis(500);
        config.pace.bytes_a_second = 1_000_000;
    });
    let head = [&[0x82, 0x87, 0x44, 13][..], b"/openapi.json", &[0x41, 9], b"localhost"].concat();
    disconnected_without_room(&site, &head);
}

#[test]
fn an_http_2_listener_that_leaves_no_room_for_events_is_disconnected() {
    let site = served(|config| config.listener_patience = Duration::from_millis(500));
    let create = |n: u32| {
        let body = serde_json::json!({ "identifier": format!("c-{n}") });
        serde_json::json!({ "method": "POST", "path": "/customers", "body": body })
    };
    let operations: Vec<_> = (0..400).map(create).collect();
    let url = format!("https://localhost:{}/batch", port(&site.world));
    let body = site.dir.path().join("batch.json");
    fs::write(&body, serde_json::json!({ "operations": operations }).to_string()).unwrap();
    let data = format!("@{}", body.display());
    let sent = curl(&site.authority.file(), &url, &["-f", "-o", "/dev/null", "--json", &data]);
    assert!(sent.status.success(), "{}", text(&sent.stderr));
    let path = [&[0x82, 0x87, 0x44, 15][..], b"/events?after=0", &[0x41, 9], b"localhost"].concat();
    let head = [&path[..], &[0x53, 17], b"text/event-stream"].concat();
    disconnected_without_room(&site, &head);
}

#[test]
fn a_client_that_greets_and_falls_silent_is_dropped() {
    let Site { world, dir: _dir, .. } = served(|config| config.header_timeout_seconds = 1);
    for begun in [&b""[..], b"\x16\x03\x01"] {
        let mut socket = TcpStream::connect(("127.0.0.1", port(&world))).unwrap();
        socket.write_all(begun).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let ended = socket.read(&mut [0; 64]);
        assert!(
            !ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            "it is still held"
        );
    }
}
