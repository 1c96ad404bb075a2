//! `customers.md` section 7: scans of identification cards.

use crate::support::images::{Images, SCANS, hash, part};
use serde_json::json;

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
    // Equal bytes are stored once, refused ones not at all.
    assert_eq!(images.files().len(), 3);
    let card = world.get("/customers/c-1/identifications/A-1").json();
    assert_eq!(card["lastModifiedOn"], "2031-05-06T07:08:14.123Z");
    assert_eq!(world.get("/customers/c-1").json()["lastModifiedOn"], "2031-05-06T07:08:09.123Z");
    world.delete("/customers/c-1/identifications/A-1").is(202);
    images.holds(&[hash(b"front")]);
    world.get(&format!("{SCANS}/front")).refused(404, "card_not_found");
    world.delete(&format!("{other}/front")).is(202);
    images.holds(&[]);
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
    world.put(&format!("{SCANS}/front"), "{}").refused(405, "method_not_allowed");
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
fn a_repeated_upload_is_known_by_its_parameters_too() {
    let images = Images::start();
    let send = |name: &str, key: &str| {
        let path = format!("{SCANS}?scanIdentifier={name}&description=");
        let request = images.request(&path, &[part("image", Some("image/png"), b"x")]);
        images.0.send(request.header("idempotency-key", key))
    };
    send("front", "k1").is(202);
    assert_eq!(send("front", "k1").is(202).header("idempotency-replayed"), "true");
    send("back", "k1").refused(422, "idempotency_key_reused");
    send("front", "k2").refused(409, "identifier_taken");
    assert_eq!(images.0.get(SCANS).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn a_repeated_upload_is_known_however_its_parameters_are_written() {
    let images = Images::start();
    let send = |query: &str| {
        let request = images.request(&format!("{SCANS}?{query}"), &[part("image", Some("image/png"), b"x")]);
        images.0.send(request.header("idempotency-key", "k1"))
    };
    send("scanIdentifier=side&description=Left+side").is(202);
    for same in [
        "scanIdentifier=side&description=Left%20side",
        "description=Left+side&scanIdentifier=side",
        "scanIdentifier=si%64e&&description=Left+side",
    ] {
        assert_eq!(send(same).is(202).header("idempotency-replayed"), "true", "{same}");
    }
    for other in [
        "scanIdentifier=side&description=Left+Side",
        "scanIdentifier=side&description=Left%2Bside",
        "scanIdentifier=side&description=Left+side&x=",
        "scanIdentifier=side&scanIdentifier=side&description=Left+side",
        "scanIdentifier=side&description=Left+side&x=%zz",
    ] {
        send(other).refused(422, "idempotency_key_reused");
    }
    assert_eq!(images.0.get(SCANS).json().as_array().map(Vec::len), Some(1));
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

#[test]
fn the_trail_names_a_scan_as_the_query_names_it_before_the_form_does() {
    let images = Images::start();
    let parts = [part("scanIdentifier", None, b"form"), part("image", Some("image/png"), b"x")];
    images.send(&format!("{SCANS}?description="), &parts).is(202);
    images.send(&format!("{SCANS}?scanIdentifier=query&description="), &parts).is(202);
    let records =
        images.0.get("/audit?operation=CreateScan&sortDirection=ASC").is(200).json()["records"].clone();
    let named = |record: &serde_json::Value| (record["resource"].clone(), record["affects"].clone());
    let affects = json!(["customer/c-1", "card/c-1/A-1"]);
    assert_eq!(named(&records[0]), (json!("scan/c-1/A-1/form"), affects.clone()));
    assert_eq!(named(&records[1]), (json!("scan/c-1/A-1/query"), affects));
}
