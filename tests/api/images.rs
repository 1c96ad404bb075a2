//! `customers.md` sections 4, 5 and 7: portraits and scans.

use crate::world::{Seen, World};
use serde_json::json;
use sha2::{Digest, Sha256};

const PORTRAIT: &str = "/customers/c-1/portrait";
const SCANS: &str = "/customers/c-1/identifications/A-1/scans";
const LIMIT: usize = 524_288;

/// Bytes that repeat nothing and hold every value, line ends and dashes included.
fn picture(bytes: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn part(name: &str, kind: Option<&str>, bytes: &[u8]) -> Vec<u8> {
    let kind = kind.map_or(String::new(), |kind| format!("Content-Type: {kind}\r\n"));
    let head = format!("Content-Disposition: form-data; name=\"{name}\"; filename=\"x.gif\"\r\n{kind}\r\n");
    [head.as_bytes(), bytes].concat()
}

fn form(boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for part in parts {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        body.extend_from_slice(part);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

struct Images(World);

impl Images {
    fn start() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut mfa_daemon::Config)) -> Self {
        let world = World::with(change);
        let date = json!({ "year": 2031, "month": 8, "day": 14 });
        for (customer, number) in [("c-1", "A-1"), ("c-2", "A-2")] {
            world.post("/customers", json!({ "identifier": customer }).to_string()).is(202);
            let card = json!({ "type": "National", "number": number, "expirationDate": date });
            world.post(&format!("/customers/{customer}/identifications"), card.to_string()).is(202);
        }
        Self(world)
    }

    fn request(&self, path: &str, parts: &[Vec<u8>]) -> reqwest::RequestBuilder {
        let kind = "multipart/form-data; boundary=\"b o'x\"";
        self.0.request("POST", path).header("content-type", kind).body(form("b o'x", parts))
    }

    fn send(&self, path: &str, parts: &[Vec<u8>]) -> Seen {
        self.0.send(self.request(path, parts))
    }

    fn portrait(&self, bytes: &[u8]) -> Seen {
        self.send(PORTRAIT, &[part("portrait", Some("image/png"), bytes)])
    }

    fn scan(&self, identifier: &str, bytes: &[u8]) -> Seen {
        let path = format!("{SCANS}?scanIdentifier={identifier}&description=Front");
        self.send(&path, &[part("image", Some("image/jpeg"), bytes)])
    }

    /// The names of the files that hold images, drafts included.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        for folder in std::fs::read_dir(self.0.dir.path().join("data/objects")).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                files.push(file.unwrap().file_name().into_string().unwrap());
            }
        }
        files.sort();
        files
    }

    fn get(&self, path: &str, header: (&str, &str)) -> Seen {
        self.0.send(self.0.request("GET", path).header(header.0, header.1))
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_bytes_come_back_unchanged_up_to_the_limit() {
    let images = Images::start();
    for bytes in [1, 2, 32_768, 32_769, 524_287, LIMIT] {
        let sent = picture(bytes, 7);
        images.portrait(&sent).is(202);
        let read = images.0.get(PORTRAIT).is(200);
        assert!(read.body == sent, "{bytes} bytes");
        assert_eq!(images.files(), [hash(&sent)], "the portrait before is gone");
    }
    images.portrait(&picture(LIMIT + 1, 7)).refused(400, "image_too_large");
    images.portrait(&picture(750_000, 7)).refused(400, "image_too_large");
    images.portrait(&[]).refused(400, "image_empty");
    assert_eq!(images.0.get(PORTRAIT).body.len(), LIMIT);
    let dashes = b"\r\n--b o'\r\n--b o'y--\r\n\r\r\n--".repeat(2_000);
    images.portrait(&dashes).is(202);
    assert!(images.0.get(PORTRAIT).body == dashes, "text like a boundary is no boundary");
}

#[test]
fn a_download_has_the_headers_of_its_image() {
    let images = Images::start();
    let sent = picture(70_000, 1);
    images.send(PORTRAIT, &[part("portrait", Some("IMAGE/Jpeg; q=1"), &sent)]).is(202);
    images.0.clock.advance(60);
    let tag = format!("\"{}\"", hash(&sent));
    let plain = images.0.get(PORTRAIT).is(200);
    let head = images.0.send(images.0.request("HEAD", PORTRAIT)).is(200);
    assert_eq!(head.body.len(), 0);
    for (name, value) in [
        ("content-type", "image/jpeg"),
        ("content-length", "70000"),
        ("etag", tag.as_str()),
        ("last-modified", "Tue, 06 May 2031 07:08:09 GMT"),
        ("cache-control", "private, no-cache"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(plain.header(name), value);
        assert_eq!(head.header(name), value, "HEAD");
    }
    for header in [("range", "bytes=0-9"), ("accept", "application/json"), ("accept", "text/html")] {
        let read = images.get(PORTRAIT, header).is(200);
        assert!(read.body == sent, "{header:?}");
    }
    for same in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let unchanged = images.get(PORTRAIT, ("if-none-match", &same)).is(304);
        assert_eq!((unchanged.body.len(), unchanged.header("etag")), (0, tag.clone()));
        assert_eq!(unchanged.header("cache-control"), "private, no-cache");
    }
    images.get(PORTRAIT, ("if-none-match", "\"x\"")).is(200);
}

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
    typed("multipart/form-data; boundary=b", b"--b\r\n".to_vec()).refused(400, "malformed_body");
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
    assert_eq!(images.files(), Vec::<String>::new());
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
fn a_portrait_is_replaced_and_removed() {
    let images = Images::start();
    let world = &images.0;
    world.get(PORTRAIT).refused(404, "portrait_not_found");
    world.delete(PORTRAIT).is(202);
    assert_eq!(world.get("/customers/c-1").json()["lastModifiedOn"], "2031-05-06T07:08:09.123Z");
    world.clock.advance(1);
    world.delete(PORTRAIT).is(202);
    let modified = || world.get("/customers/c-1").json()["lastModifiedOn"].clone();
    assert_eq!(modified(), "2031-05-06T07:08:09.123Z", "there was nothing to remove");
    images.portrait(b"one").is(202);
    assert_eq!(modified(), "2031-05-06T07:08:10.123Z");
    world.clock.advance(1);
    images.portrait(b"two").is(202);
    assert_eq!(modified(), "2031-05-06T07:08:11.123Z");
    assert_eq!(world.get("/customer/v1/customers/c-1/portrait").body, b"two");
    world.clock.advance(1);
    let condition = |tag: &str| world.send(world.request("DELETE", PORTRAIT).header("if-match", tag));
    condition(&format!("\"{}\"", hash(b"one"))).refused(412, "precondition_failed");
    condition(&format!("\"{}\"", hash(b"two"))).is(202);
    assert_eq!(modified(), "2031-05-06T07:08:12.123Z");
    world.get(PORTRAIT).refused(404, "portrait_not_found");
    condition("*").refused(412, "precondition_failed");
    let missing = world.request("DELETE", "/customers/none/portrait").header("if-match", "*");
    world.send(missing).refused(404, "customer_not_found");
    for method in ["GET", "DELETE"] {
        world.send(world.request(method, "/customers/none/portrait")).refused(404, "customer_not_found");
    }
    assert_eq!(images.files(), Vec::<String>::new());
    world.put(PORTRAIT, "{}").refused(405, "method_not_allowed");
}

#[test]
fn a_reader_of_a_portrait_that_is_replaced_all_the_time_sees_one_of_them() {
    let images = Images::start();
    let pictures = [picture(100_000, 1), picture(100_000, 2)];
    images.portrait(&pictures[0]).is(202);
    let mut requests = Vec::new();
    for i in 0..60 {
        let parts = [part("portrait", Some("image/png"), &pictures[i % 2])];
        requests.push(images.request(PORTRAIT, &parts));
        requests.extend((0..3).map(|_| images.0.request("GET", PORTRAIT)));
    }
    for seen in images.0.send_all(requests) {
        match seen.status {
            202 => assert!(seen.body.is_empty()),
            200 => {
                assert!(pictures.contains(&seen.body), "{} bytes", seen.body.len());
                assert_eq!(seen.header("etag"), format!("\"{}\"", hash(&seen.body)));
            }
            status => panic!("{status}: {}", seen.text()),
        }
    }
    assert_eq!(images.files().len(), 1);
}

#[test]
fn a_scan_belongs_to_its_card() {
    let images = Images::start();
    let world = &images.0;
    world.clock.advance(5);
    images.scan("front", b"front").is(202);
    images.scan("back", b"back").is(202);
    let described = part("description", None, "Line\none é".as_bytes());
    let named = part("scanIdentifier", None, b"Both");
    let image = part("image", Some("image/png"), b"both");
    images.send(SCANS, &[named, image, described]).is(202);
    let expected = r#"[{"identifier":"front","description":"Front"},{"identifier":"back","description":"Front"},{"identifier":"Both","description":"Line\none é"}]"#;
    assert_eq!(world.get(SCANS).is(200).text(), expected);
    let scan = world.get(&format!("{SCANS}/Both")).is(200);
    assert_eq!(scan.text(), r#"{"identifier":"Both","description":"Line\none é"}"#);
    let image = world.get(&format!("{SCANS}/front/image")).is(200);
    assert_eq!(
        (image.body.as_slice(), image.header("content-type")),
        (&b"front"[..], "image/jpeg".to_owned())
    );
    images.scan("front", b"other").refused(409, "identifier_taken");
    let other = "/customers/c-2/identifications/A-2/scans";
    let parts = [part("image", Some("image/png"), b"front")];
    images.send(&format!("{other}?scanIdentifier=front&description="), &parts).is(202);
    assert_eq!(images.files().len(), 3, "equal bytes are stored once, refused ones not at all");
    let card = world.get("/customers/c-1/identifications/A-1").json();
    assert_eq!(card["lastModifiedOn"], "2031-05-06T07:08:14.123Z");
    assert_eq!(world.get("/customers/c-1").json()["lastModifiedOn"], "2031-05-06T07:08:09.123Z");
    world.delete("/customers/c-1/identifications/A-1").is(202);
    assert_eq!(images.files(), [hash(b"front")], "the scan of the other card uses it");
    world.get(&format!("{SCANS}/front")).refused(404, "card_not_found");
    world.delete(&format!("{other}/front")).is(202);
    assert_eq!(images.files(), Vec::<String>::new());
}

#[test]
fn every_way_to_a_scan_is_checked_from_left_to_right() {
    let images = Images::start();
    let world = &images.0;
    images.scan("front", b"x").is(202);
    for (path, code) in [
        ("/customers/none/identifications/A-1/scans", "customer_not_found"),
        ("/customers/c-2/identifications/A-1/scans", "card_not_found"),
        ("/customers/c-1/identifications/A-9/scans", "card_not_found"),
    ] {
        let query = "?scanIdentifier=s-1&description=";
        let parts = [part("image", Some("image/png"), b"x")];
        images.send(&format!("{path}{query}"), &parts).refused(404, code);
        for path in [path.to_owned(), format!("{path}/front"), format!("{path}/front/image")] {
            world.get(&path).refused(404, code);
        }
        world.delete(&format!("{path}/front")).refused(404, code);
    }
    for path in ["none", "none/image", "%20", "Front", "front%00x"] {
        world.get(&format!("{SCANS}/{path}")).refused(404, "scan_not_found");
    }
    let card = || world.get("/customers/c-1/identifications/A-1").text();
    let before = card();
    world.clock.advance(1);
    world.delete(&format!("{SCANS}/none")).is(202);
    assert_eq!(card(), before);
    let condition = |scan: &str, tag: &str| {
        world.send(world.request("DELETE", &format!("{SCANS}/{scan}")).header("if-match", tag))
    };
    condition("none", "*").refused(412, "precondition_failed");
    condition("front", "\"old\"").refused(412, "precondition_failed");
    let tag = world.get(&format!("{SCANS}/front")).header("etag");
    condition("front", &tag).is(202);
    assert_ne!(card(), before);
    assert_eq!(world.get(SCANS).text(), "[]");
}

#[test]
fn the_parameters_of_a_scan_keep_their_rules() {
    let images = Images::start();
    let image = part("image", Some("image/png"), b"x");
    let long = "x".repeat(4097);
    for query in [
        "",
        "?scanIdentifier=s-1",
        "?description=x",
        "?scanIdentifier=x&description=",
        "?scanIdentifier=&description=",
        "?scanIdentifier=a%20b&description=",
        "?scanIdentifier=..&description=",
        "?scanIdentifier=s-1&scanIdentifier=s-1&description=",
        "?scanIdentifier=s-1&description=a&description=b",
        "?scanIdentifier=s-1&description=%00",
        "?scanIdentifier=s-1&description=%ff",
        &format!("?scanIdentifier={}&description=", "x".repeat(33)),
        &format!("?scanIdentifier=s-1&description={long}"),
    ] {
        let refused = images.send(&format!("{SCANS}{query}"), std::slice::from_ref(&image));
        refused.refused(400, "invalid_parameter");
    }
    let field = |name, bytes: &[u8]| part(name, None, bytes);
    for fields in [
        vec![field("scanIdentifier", b"s-1")],
        vec![field("scanIdentifier", b"s-1"), field("description", b"\xff")],
        vec![field("scanIdentifier", b"s-1"), field("description", long.as_bytes())],
        vec![field("scanIdentifier", b"s-1"), field("description", &[b'x'; 300_000])],
        vec![field("scanIdentifier", b"s-1"), field("scanIdentifier", b"s-1"), field("description", b"")],
    ] {
        let parts = [fields, vec![image.clone()]].concat();
        images.send(SCANS, &parts).refused(400, "invalid_parameter");
    }
    assert_eq!(images.0.get(SCANS).text(), "[]");
    let fields = [field("scanIdentifier", b"form"), field("description", b"form"), image.clone()];
    images.send(&format!("{SCANS}?scanIdentifier=query"), &fields).is(202);
    let longest = "é".repeat(4096);
    let fields = [field("description", longest.as_bytes()), image];
    images.send(&format!("{SCANS}?scanIdentifier=a%2Bb+c"), &fields).refused(400, "invalid_parameter");
    images.send(&format!("{SCANS}?scanIdentifier=longest"), &fields).is(202);
    let scans = images.0.get(SCANS).json();
    assert_eq!(scans[0], json!({ "identifier": "query", "description": "form" }));
    assert_eq!(scans[1]["description"], longest);
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
    assert_eq!(images.files(), Vec::<String>::new());
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
    assert_eq!(images.files(), [hash(b"x")]);
    world.delete(PORTRAIT).is(202);
    assert_eq!(send("b3", PORTRAIT, &[image(b"x")]).is(202).header("idempotency-replayed"), "true");
    world.get(PORTRAIT).refused(404, "portrait_not_found");
    assert_eq!(images.files(), Vec::<String>::new(), "the repetition has stored nothing");
}

#[test]
fn the_limit_of_an_image_is_a_setting() {
    let images = Images::with(|config| config.image_max_bytes = 10);
    images.portrait(&[1; 10]).is(202);
    images.portrait(&[1; 11]).refused(400, "image_too_large");
    images.portrait(&[1; 1_048_587]).refused(413, "body_too_large");
}

#[test]
fn images_outlive_a_restart_and_what_no_record_names_does_not() {
    let mut images = Images::start();
    let sent = picture(100_000, 3);
    images.portrait(&sent).is(202);
    let objects = images.0.dir.path().join("data/objects");
    let (orphan, draft) = (hash(b"orphan"), objects.join("tmp/0123"));
    let folder = objects.join(&orphan[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(&orphan), b"orphan").unwrap();
    std::fs::write(&draft, b"draft").unwrap();
    images.0.restart();
    assert!(images.0.get(PORTRAIT).is(200).body == sent);
    assert!(!draft.exists());
    // The sweep goes on beside the first requests; an upload waits for the part that is being swept.
    for _ in 0..1000 {
        if images.files().len() == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(images.files(), [hash(&sent)]);
}

#[test]
fn one_of_many_simultaneous_scans_of_a_name_wins() {
    let images = Images::start();
    let request = |i: u8| {
        let path = format!("{SCANS}?scanIdentifier=front&description=");
        images.request(&path, &[part("image", Some("image/png"), &[i; 40_000])])
    };
    let mut statuses: Vec<_> =
        images.0.send_all((0..20).map(request).collect()).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[202].as_slice(), &[409; 19]].concat());
    assert_eq!(images.files().len(), 1);
    let listed = images.0.get(SCANS).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
}
