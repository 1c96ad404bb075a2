//! Images that a disk or a person has damaged: none is served, and the check finds every one.

use crate::support::images::{Images, PORTRAIT, hash, part, picture};
use crate::support::run::run;
use crate::support::stored::{ask, in_folder, postgres_address};
use mfa_daemon::Check;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// What is done to the file of an image; a sound one is there for exchanges.
type Damage = fn(&Path, &Path);

fn change(file: &Path, how: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    fs::write(file, how(fs::read(file).unwrap())).unwrap();
}

fn flip(file: &Path, place: usize) {
    change(file, |mut bytes| {
        bytes[place] ^= 1;
        bytes
    });
}

/// Replaces a file.
fn replace(file: &Path, with: impl FnOnce(&Path)) {
    fs::remove_file(file).unwrap();
    with(file);
}

/// Moves the folder of a file away and puts something else in its place.
fn replace_folder(file: &Path, with: impl FnOnce(&Path)) {
    let folder = file.parent().unwrap();
    fs::rename(folder, folder.with_extension("away")).unwrap();
    with(folder);
}

const DAMAGES: &[(&str, Damage)] = &[
    ("emptied", |file, _| change(file, |_| Vec::new())),
    ("one byte left", |file, _| change(file, |bytes| bytes[..1].to_vec())),
    ("cut in half", |file, _| change(file, |bytes| bytes[..1_500].to_vec())),
    ("first byte lost", |file, _| change(file, |bytes| bytes[1..].to_vec())),
    ("last byte lost", |file, _| change(file, |bytes| bytes[..2_999].to_vec())),
    ("byte lost in the middle", |file, _| change(file, |bytes| [&bytes[..9], &bytes[10..]].concat())),
    ("first bit flipped", |file, _| flip(file, 0)),
    ("middle bit flipped", |file, _| flip(file, 1_500)),
    ("last bit flipped", |file, _| flip(file, 2_999)),
    ("byte appended", |file, _| change(file, |bytes| [bytes, vec![0]].concat())),
    ("byte put before", |file, _| change(file, |bytes| [vec![0], bytes].concat())),
    ("twice", |file, _| change(file, |bytes| bytes.repeat(2))),
    ("zeros", |file, _| change(file, |_| vec![0; 3_000])),
    ("ones", |file, _| change(file, |_| vec![255; 3_000])),
    ("a block of zeros", |file, _| change(file, |bytes| [&bytes[..512], &[0; 512], &bytes[1024..]].concat())),
    ("halves exchanged", |file, _| change(file, |bytes| [&bytes[1_500..], &bytes[..1_500]].concat())),
    ("backwards", |file, _| change(file, |bytes| bytes.into_iter().rev().collect())),
    ("end lost and a hole in its place", |file, _| {
        let file = fs::OpenOptions::new().write(true).open(file).unwrap();
        file.set_len(2_000).unwrap();
        file.set_len(3_000).unwrap();
    }),
    ("bytes of another", |file, other| fs::write(file, fs::read(other).unwrap()).unwrap()),
    ("hard link to another", |file, other| replace(file, |file| fs::hard_link(other, file).unwrap())),
    ("removed", |file, _| fs::remove_file(file).unwrap()),
    ("in capitals", |file, _| {
        let name = file.file_name().unwrap().to_str().unwrap().to_uppercase();
        fs::rename(file, file.with_file_name(name)).unwrap();
    }),
    ("with an ending", |file, _| fs::rename(file, file.with_extension("png")).unwrap()),
    ("in the folder above", |file, _| {
        fs::rename(file, file.parent().unwrap().with_file_name(file.file_name().unwrap())).unwrap();
    }),
    ("an empty folder", |file, _| replace(file, |file| fs::create_dir(file).unwrap())),
    ("a folder with a file", |file, other| {
        replace(file, |file| fs::create_dir(file).unwrap());
        fs::copy(other, file.join("x")).unwrap();
    }),
    ("a link to its own bytes", |file, _| {
        let copy = file.with_extension("copy");
        fs::rename(file, &copy).unwrap();
        symlink(copy, file).unwrap();
    }),
    ("a link to nothing", |file, _| replace(file, |file| symlink("nothing", file).unwrap())),
    ("a link to itself", |file, _| replace(file, |file| symlink(file, file).unwrap())),
    ("a link to bytes without end", |file, _| replace(file, |file| symlink("/dev/zero", file).unwrap())),
    ("a pipe", |file, _| {
        replace(file, |file| assert!(Command::new("mkfifo").arg(file).status().unwrap().success()));
    }),
    ("folder removed", |file, _| fs::remove_dir_all(file.parent().unwrap()).unwrap()),
    ("folder is a file", |file, _| replace_folder(file, |folder| fs::write(folder, "x").unwrap())),
    ("folder is a link to nothing", |file, _| {
        replace_folder(file, |folder| symlink("nothing", folder).unwrap());
    }),
    ("folder is a link to itself", |file, _| replace_folder(file, |folder| symlink(folder, folder).unwrap())),
];

/// Pictures that share no folder, one for each damage and a sound one at the end.
fn pictures() -> Vec<Vec<u8>> {
    let mut folders = std::collections::BTreeSet::new();
    let apart = |bytes: &Vec<u8>| folders.insert(hash(bytes)[..2].to_owned());
    (1..).map(|seed| picture(3_000, seed)).filter(apart).take(DAMAGES.len() + 1).collect()
}

fn customer(i: usize) -> String {
    format!("d-{i}")
}

#[test]
fn no_damaged_image_is_served_and_the_check_finds_each() {
    let mut images = Images::with(in_folder);
    let data = images.0.dir.path().join("data");
    let file = |bytes: &[u8]| data.join("objects").join(&hash(bytes)[..2]).join(hash(bytes));
    let portrait = |i: usize| format!("/customers/{}/portrait", customer(i));
    let pictures = pictures();
    for (i, bytes) in pictures.iter().enumerate() {
        images.0.post("/customers", json!({ "identifier": customer(i) }).to_string()).is(202);
        images.send(&portrait(i), &[part("portrait", Some("image/png"), bytes)]).is(202);
    }
    let status = |images: &Images| run(images.0.mfa(&["status", "-o", "json"]));
    assert_eq!(status(&images).json()["damagedImages"], Value::Null);
    let sound = DAMAGES.len();
    for (i, (_, damage)) in DAMAGES.iter().enumerate() {
        damage(&file(&pictures[i]), &file(&pictures[sound]));
    }
    for (i, (name, _)) in DAMAGES.iter().enumerate() {
        let head = images.0.call("HEAD", &portrait(i), "");
        assert_eq!(head.status, 503, "{name}");
        let refused = images.0.get(&portrait(i));
        assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("image_damaged")), "{name}");
    }
    assert!(images.0.get(&portrait(sound)).is(200).body == pictures[sound]);
    let said = status(&images);
    assert!(said.err.contains(&format!("found {} damaged images", DAMAGES.len())), "{}", said.err);
    assert_eq!(said.json()["damagedImages"], DAMAGES.len());
    let looked = |images: &Images| -> Value {
        let ran = run(images.0.mfa(&["doctor", "-o", "json"]));
        let findings: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
        findings.into_iter().find(|finding| finding["check"] == "images").unwrap()
    };
    assert_eq!(looked(&images)["result"], "fail");
    images.0.stop();
    let found = images.0.check(&[Check::Store]);
    for i in 0..=sound {
        let subject = format!("portrait of customer {} ", customer(i));
        let about = found.iter().filter(|line| line.starts_with(&subject)).count();
        assert_eq!(about, usize::from(i != sound), "{:?}: {found:?}", DAMAGES.get(i).map(|(name, _)| name));
    }
    let doctor = run(images.0.mfa_on_store(&["doctor", "-o", "json"]));
    let found: Vec<Value> = serde_json::from_str(&doctor.out).unwrap();
    let seen = found.iter().find(|finding| finding["check"] == "images").unwrap();
    assert_eq!((doctor.exit, seen["result"].as_str()), (1, Some("fail")), "{seen}");
    // The daemon starts all the same, and an upload repairs whatever is not a folder.
    images.0.restart();
    for (i, (name, _)) in DAMAGES.iter().enumerate().filter(|(_, (name, _))| !name.contains("folder")) {
        images.send(&portrait(i), &[part("portrait", Some("image/png"), &pictures[i])]).is(202);
        assert!(images.0.get(&portrait(i)).is(200).body == pictures[i], "{name}");
    }
    assert_eq!(status(&images).json()["damagedImages"], Value::Null);
}

#[test]
fn an_image_damaged_in_the_database_is_refused_until_uploaded_again() {
    let Some(address) = postgres_address() else { return };
    let mut images = Images::with(|config| config.store = address.clone().into());
    let (sound, name) = (picture(3_000, 2), hash(&picture(3_000, 2)));
    for sql in [
        "update stored_objects set bytes = set_byte(bytes, 7, 255 - get_byte(bytes, 7))",
        "update stored_objects set bytes = substring(bytes from 1 for 100)",
        "update stored_objects set bytes = ''",
        "delete from stored_objects",
    ] {
        images.portrait(&sound).is(202);
        assert!(images.0.get(PORTRAIT).is(200).body == sound, "{sql}");
        images.0.block_on(ask(&address, sql));
        let refused = images.0.get(PORTRAIT).refused(503, "image_damaged");
        assert!(refused.text().contains(&name), "{sql}: {}", refused.text());
        assert_eq!(images.0.call("HEAD", PORTRAIT, "").status, 503, "{sql}");
        assert_eq!(images.0.get("/version").json()["damagedImages"], 1, "{sql}");
    }
    images.0.stop();
    let found = images.0.check(&[Check::Store]);
    assert!(found.iter().any(|line| line.starts_with("portrait of customer c-1 ")), "{found:?}");
    images.0.restart();
    images.portrait(&sound).is(202);
    assert!(images.0.get(PORTRAIT).is(200).body == sound);
    assert_eq!(images.0.get("/version").json()["damagedImages"], Value::Null);
}
