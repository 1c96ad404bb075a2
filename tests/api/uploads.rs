//! `customers.md` section 4.1: the checks of an upload, and clients that do not send what they announce.

use crate::support::guarded::may;
use crate::support::images::{Images, LIMIT, PORTRAIT, form, hash, part, picture};
use crate::support::world::World;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

#[test]
fn the_checks_of_an_upload_come_in_their_order() {
    let images = Images::start();
    let world = &images.0;
    let scan = |query: &str, parts: &[Vec<u8>]| images.send(&format!("/customers/none/x{query}"), parts);
    scan("", &[]).refused(404, "route_not_found");
    let none = "/customers/none/identifications/A-1/scans";
    let good = "?scanIdentifier=s-1&description=";
    let huge = picture(LIMIT + 1_048_577, 1);
    let typed = |kind: &str, body: Vec<u8>| {
        world.send(world.request("POST", none).header("content-type", kind).body(body))
    };
    typed("application/json", huge.clone()).refused(413, "body_too_large");
    let chunks = huge.chunks(50_000).map(|c| Ok::<_, String>(c.to_vec())).collect::<Vec<_>>();
    let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    let chunked = world.request("POST", none).header("content-type", "text/plain").body(stream);
    world.send(chunked).refused(413, "body_too_large");
    for kind in ["application/json", "multipart/form-data", "multipart/mixed; boundary=b", "x", ""] {
        typed(kind, form("b", &[])).refused(415, "unsupported_media_type");
    }
    world.send(world.request("POST", none).body("x")).refused(415, "unsupported_media_type");
    for parameters in ["; boundary=b", " ;boundary=b", "\t ; boundary=\"b\""] {
        let kind = format!("Multipart/form-data{parameters}");
        typed(&kind, b"--b\r\n".to_vec()).refused(400, "malformed_body");
    }
    let at = |query: &str, parts: &[Vec<u8>]| images.send(&format!("{none}{query}"), parts);
    at("", &[]).refused(400, "invalid_parameter");
    at(good, &[]).refused(400, "image_part");
    let file = part("file", Some("image/png"), b"x");
    at(good, std::slice::from_ref(&file)).refused(400, "image_part");
    let text = part("image", Some("text/plain"), b"");
    at(good, &[text.clone(), text.clone()]).refused(400, "image_part");
    at(good, &[file, text]).refused(400, "image_type");
    at(good, &[part("image", Some("image/png"), b"")]).refused(400, "image_empty");
    let large = part("image", Some("image/png"), &picture(LIMIT + 1, 1));
    at(good, &[large]).refused(400, "image_too_large");
    at(good, &[part("image", Some("image/png"), b"x")]).refused(404, "customer_not_found");
    images.holds(&[]);
}

#[test]
fn only_jpeg_and_png_are_taken() {
    let images = Images::start();
    let send = |kind| images.send(PORTRAIT, &[part("portrait", kind, b"x")]);
    for kind in ["image/jpg", "image/*", "image/gif", "text/plain", "", "png", "image/png2"] {
        send(Some(kind)).refused(400, "image_type");
    }
    send(None).refused(400, "image_type");
    for (kind, stored) in [("image/jpeg", "image/jpeg"), ("Image/PNG;charset=x", "image/png")] {
        send(Some(kind)).is(202);
        assert_eq!(images.0.get(PORTRAIT).header("content-type"), stored);
    }
}

#[test]
fn a_broken_form_is_malformed() {
    let images = Images::start();
    let world = &images.0;
    let good = String::from_utf8(form("b", &[part("portrait", Some("image/png"), b"x")])).unwrap();
    let cut = |at: &str| good[..good.find(at).unwrap()].to_owned();
    for body in [
        String::new(),
        "x".to_owned(),
        cut("--b"),
        cut("Content-Type"),
        cut("x\r\n--b--"),
        cut("--b--"),
        cut("--\r\n"),
        good.replace("--b", "--c"),
        good.replace("\r\n", "\n"),
        good.replace("Content-Type: ", "Content Type "),
        format!("--b\r\n{}\r\n\r\nx\r\n--b--\r\n", "x".repeat(100_000)),
        format!("{}{good}", "preamble ".repeat(20_000)),
    ] {
        let kind = "multipart/form-data; boundary=b";
        let request = world.request("POST", PORTRAIT).header("content-type", kind);
        let seen = world.send(request.body(body.clone()));
        assert_eq!(seen.status, 400, "{:?}: {}", &body[..body.len().min(200)], seen.text());
        seen.refused(400, "malformed_body");
    }
    world.get(PORTRAIT).refused(404, "portrait_not_found");
    images.holds(&[]);
    let spaced = format!("preamble\r\n{good}epilogue").replace("--b\r\n", "--b \t\r\n");
    let request = world.request("POST", PORTRAIT).header("content-type", "multipart/form-data;boundary=b");
    world.send(request.body(spaced)).is(202);
}

#[test]
fn other_parts_are_ignored_even_a_thousand_of_them() {
    let images = Images::start();
    let mut parts: Vec<_> = (0..1000).map(|i| part(&format!("p{i}"), Some("text/x"), &[7; 100])).collect();
    parts.insert(500, part("portrait", Some("image/png"), b"found"));
    images.send(PORTRAIT, &parts).is(202);
    assert_eq!(images.0.get(PORTRAIT).body, b"found");
    let nameless = b"Content-Type: image/png\r\n\r\nx".to_vec();
    images.send(PORTRAIT, &[nameless, part("Portrait", Some("image/png"), b"x")]).refused(400, "image_part");
}

#[test]
fn a_part_has_its_name_whatever_its_file_name_says() {
    let images = Images::start();
    for (number, disposition) in [
        r#"filename="x; name=other.png"; name="portrait""#,
        r#"filename="name=other"; name="portrait""#,
        r#"filename*=UTF-8''x; name=portrait"#,
    ]
    .into_iter()
    .enumerate()
    {
        let bytes = format!("picture {number}");
        let head = format!("Content-Disposition: form-data; {disposition}\r\nContent-Type: image/png");
        images.send(PORTRAIT, &[format!("{head}\r\n\r\n{bytes}").into_bytes()]).is(202);
        assert_eq!(images.0.get(PORTRAIT).body, bytes.as_bytes());
    }
    let head = "Content-Disposition: form-data; filename=\"name=portrait\"\r\nContent-Type: image/png";
    images.send(PORTRAIT, &[format!("{head}\r\n\r\nx").into_bytes()]).refused(400, "image_part");
}

#[test]
fn a_transfer_encoding_is_not_undone() {
    let images = Images::start();
    let encoded = b"Content-Disposition: form-data; name=\"portrait\"\r\nContent-Type: image/png\r\n\
        Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=";
    images.send(PORTRAIT, &[encoded.to_vec()]).is(202);
    assert_eq!(images.0.get(PORTRAIT).body, b"aGVsbG8=");
}

#[test]
fn many_parts_of_the_name_are_refused_and_none_is_kept() {
    let images = Images::start();
    let parts: Vec<_> = (0..1000).map(|_| part("portrait", Some("image/png"), &[7; 500])).collect();
    let refused = images.send(PORTRAIT, &parts).refused(400, "image_part").json();
    assert!(refused["detail"].as_str().unwrap().ends_with("and it has 1000"), "{refused}");
    images.holds(&[]);
}

#[test]
fn only_who_may_send_pictures_does() {
    let world = World::guarded();
    let nobody = world.user_with("ama", &[may("customer__v1__customer", "R")]);
    let send = |token: Option<&str>| {
        let request = world.request("POST", PORTRAIT).header("content-type", "text/plain");
        let request = request.body(picture(LIMIT + 1_048_577, 1));
        world.send(if let Some(token) = token { request.bearer_auth(token) } else { request })
    };
    send(None).refused(401, "unauthenticated");
    send(Some(&nobody.token)).refused(403, "forbidden");
}

#[test]
fn a_repeated_upload_is_known_by_its_parts_whatever_the_boundary() {
    let images = Images::start();
    let world = &images.0;
    let send = |boundary: &str, path: &str, parts: &[Vec<u8>]| {
        let request = world.request("POST", path).header("idempotency-key", "k1");
        let kind = format!("multipart/form-data; boundary={boundary}");
        world.send(request.header("content-type", kind).body(form(boundary, parts)))
    };
    let image = |bytes: &[u8]| part("portrait", Some("image/png"), bytes);
    assert_eq!(send("b1", PORTRAIT, &[image(b"x")]).is(202).header("idempotency-replayed"), "");
    assert_eq!(send("b2", PORTRAIT, &[image(b"x")]).is(202).header("idempotency-replayed"), "true");
    send("b1", PORTRAIT, &[image(b"y")]).refused(422, "idempotency_key_reused");
    send("b1", PORTRAIT, &[image(b"x"), part("other", None, b"")]).refused(422, "idempotency_key_reused");
    send("b1", PORTRAIT, &[part("portrait", Some("image/gif"), b"x")]).refused(422, "idempotency_key_reused");
    send("b1", "/customers/c-2/portrait", &[image(b"x")]).refused(422, "idempotency_key_reused");
    images.holds(&[hash(b"x")]);
    world.delete(PORTRAIT).is(202);
    assert_eq!(send("b3", PORTRAIT, &[image(b"x")]).is(202).header("idempotency-replayed"), "true");
    world.get(PORTRAIT).refused(404, "portrait_not_found");
    images.holds(&[]);
}

#[test]
fn the_limit_of_an_image_is_a_setting() {
    let images = Images::with(|config| config.image_max_bytes = 10);
    images.portrait(&[1; 10]).is(202);
    images.portrait(&[1; 11]).refused(400, "image_too_large");
    images.portrait(&[1; 1_048_587]).refused(413, "body_too_large");
}

fn connect(images: &Images, head: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(images.0.url().trim_start_matches("http://")).unwrap();
    // Far beyond every deadline of these tests: only a hanging daemon reaches it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let kind = "Host: localhost\r\nContent-Type: multipart/form-data; boundary=b";
    stream.write_all(format!("POST {PORTRAIT} HTTP/1.1\r\n{kind}\r\n{head}\r\n\r\n").as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset after the answer is an end like any other.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn an_upload_that_stops_in_the_middle_changes_nothing_and_leaves_nothing() {
    let images = Images::start();
    images.portrait(b"before").is(202);
    let body = form("b", &[part("portrait", Some("image/png"), &picture(400_000, 1))]);
    let announced = format!("Content-Length: {}", body.len());
    for cut in [50, 200_000, body.len() - 1] {
        drop(connect(&images, &announced, &body[..cut]));
        let half_closed = connect(&images, &announced, &body[..cut]);
        half_closed.shutdown(Shutdown::Write).unwrap();
        let answer = rest(half_closed);
        assert!(answer.is_empty() || answer.contains("malformed_body"), "{answer}");
    }
    images.settle(1);
    images.holds(&[hash(b"before")]);
    assert_eq!(images.0.get(PORTRAIT).body, b"before");
}

#[test]
fn a_part_that_arrives_too_slowly_is_refused_and_costs_others_nothing() {
    let images = Images::with(|config| config.request_timeout_seconds = 1);
    let body = form("b", &[part("portrait", Some("image/png"), &picture(400_000, 1))]);
    let announced = format!("Content-Length: {}", body.len());
    let slow: Vec<_> = (0..50).map(|i| connect(&images, &announced, &body[..1000 + i * 1000])).collect();
    let trickle = connect(&images, &announced, &body[..1000]);
    let (mut drops, rest_of_it) = (trickle.try_clone().unwrap(), body[1000..].to_vec());
    std::thread::spawn(move || {
        for byte in rest_of_it {
            // It ends when the daemon does not listen any more.
            if drops.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    images.portrait(&picture(100_000, 2)).is(202);
    for stream in slow.into_iter().chain([trickle]) {
        let answer = rest(stream);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("malformed_body"), "{answer}");
    }
    images.settle(1);
    images.holds(&[hash(&picture(100_000, 2))]);
}

#[test]
fn a_length_that_is_not_the_length_of_the_form_is_noticed() {
    let images = Images::with(|config| config.request_timeout_seconds = 1);
    let body = form("b", &[part("portrait", Some("image/png"), b"x")]);
    let with = |length: usize| rest(connect(&images, &format!("Content-Length: {length}"), &body));
    assert!(with(body.len() - 10).contains("malformed_body"));
    assert!(with(body.len() + 10).contains("malformed_body"));
    assert!(with(2_000_000).contains("body_too_large"));
    images.0.get(PORTRAIT).refused(404, "portrait_not_found");
    let lengths = format!("Content-Length: {}\r\nConnection: close", body.len());
    assert!(rest(connect(&images, &lengths, &body)).starts_with("HTTP/1.1 202"));
}
