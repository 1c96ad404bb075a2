//! `customers.md` sections 4.2 and 5: portraits, and what all images have in common.

use crate::support::images::{Images, LIMIT, PORTRAIT, hash, part, picture};
use crate::support::stored::ask;
use serde_json::json;

#[test]
fn the_bytes_come_back_unchanged_up_to_the_limit() {
    let images = Images::start();
    for bytes in [1, 2, 32_768, 32_769, 524_287, LIMIT] {
        let sent = picture(bytes, 7);
        images.portrait(&sent).is(202);
        let read = images.0.get(PORTRAIT).is(200);
        assert!(read.body == sent, "{bytes} bytes");
        images.holds(&[hash(&sent)]);
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
        ("content-security-policy", "sandbox; default-src 'none'"),
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
    images.holds(&[]);
    world.put(PORTRAIT, "{}").refused(405, "method_not_allowed");
}

#[test]
fn a_customer_has_a_portrait_in_every_state() {
    let images = Images::start();
    for (action, state) in [("ACTIVATE", "ACTIVE"), ("LOCK", "LOCKED"), ("CLOSE", "CLOSED")] {
        let command = json!({ "action": action }).to_string();
        images.0.post("/customers/c-1/commands", command).is(202);
        images.portrait(state.as_bytes()).is(202);
        assert_eq!(images.0.get(PORTRAIT).is(200).text(), state);
        assert_eq!(images.0.get("/customers/c-1").json()["currentState"], state);
        images.0.delete(PORTRAIT).is(202);
    }
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
fn images_outlive_a_restart_and_what_no_record_names_does_not() {
    let mut images = Images::start();
    let sent = picture(100_000, 3);
    images.portrait(&sent).is(202);
    // Their hashes begin with many bytes, 00 and ff among them.
    let orphans: Vec<_> = (0u8..120).map(|number| [b'c', number]).collect();
    // The sweep of the first start may still go on, and is not to find what is put there now.
    images.0.stop();
    match images.0.config().store.postgres().cloned() {
        Some(address) => {
            let row = |orphan| format!("('{}', 'orphan', now() - interval '61 minutes')", hash(orphan));
            let rows: Vec<_> = orphans.iter().map(|orphan| row(&orphan[..])).collect();
            let insert = "insert into stored_objects (hash, bytes, kept_on) values ";
            images.0.block_on(ask(&address, &format!("{insert}{}", rows.join(", "))));
        }
        None => {
            let folder = images.0.dir.path().join("data/objects");
            for orphan in &orphans {
                let name = hash(orphan);
                std::fs::create_dir_all(folder.join(&name[..2])).unwrap();
                std::fs::write(folder.join(&name[..2]).join(name), orphan).unwrap();
            }
            std::fs::write(folder.join("tmp/0123"), b"draft").unwrap();
        }
    }
    let files = images.files();
    assert!(orphans.iter().all(|orphan| files.contains(&hash(orphan))), "{files:?}");
    assert!(files.iter().any(|name| name.starts_with("00")) && files.iter().any(|n| n.starts_with("ff")));
    let config = images.0.config().clone();
    images.0.start_on(config);
    assert!(images.0.get(PORTRAIT).is(200).body == sent);
    // The sweep runs beside the first requests; an upload waits while something is removed.
    images.settle(1);
    images.holds(&[hash(&sent)]);
}
