//! The check of the images: a doctored store, and the findings.

use crate::support::images::{Images, PORTRAIT, hash, picture};
use crate::support::stored::in_folder;
use mfa_daemon::Clock;
use mfa_daemon::store::Store;
use mfa_daemon::store::embedded::{Embedded, Options};
use mfa_daemon::store::engine::{Change, Commit, Engine, Space};
use mfa_daemon::store::image_check::ImageReport;
use mfa_daemon::store::records::{CARDS_BY_NUMBER, CUSTOMERS, IMAGE_USES, PORTRAITS, SCANS_BY_IDENTIFIER};
use mfa_shared::time::Timestamp;
use std::fs;
use std::path::PathBuf;
use tokio::runtime::Runtime;

/// What is written where: a value, or nothing to remove what is there.
type Doctored<'a> = (Space, &'a [u8], Option<&'a [u8]>);

/// A stopped daemon with a portrait and two scans of the same picture.
struct Stopped {
    images: Images,
    runtime: Runtime,
}

fn front() -> Vec<u8> {
    picture(40_000, 1)
}

fn face() -> Vec<u8> {
    picture(3_000, 2)
}

fn stopped() -> Stopped {
    let mut images = Images::with(in_folder);
    images.portrait(&face()).is(202);
    images.scan("front", &front()).is(202);
    images.scan("again", &front()).is(202);
    images.0.stop();
    Stopped { images, runtime: Runtime::new().unwrap() }
}

impl Stopped {
    fn open(&self) -> Embedded {
        Embedded::open(Options::new(self.images.0.dir.path().join("data"))).unwrap()
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let hash = hash(bytes);
        self.images.0.dir.path().join("data/objects").join(&hash[..2]).join(hash)
    }

    /// Writes what no operation would.
    fn doctor(&self, changes: &[Doctored<'_>]) {
        let change = |(space, key, value): &Doctored<'_>| Change {
            space: *space,
            key: key.to_vec(),
            value: value.map(<[u8]>::to_vec),
        };
        let changes: Vec<_> = changes.iter().map(change).collect();
        let engine = self.open();
        let time = Timestamp::from_millis(1_900_000_000_000);
        let (actor, request) = ("nobody".to_owned(), "none".to_owned());
        let commit = Commit { time, actor, request, changes };
        self.runtime.block_on(engine.write(Box::new(move |_| Some(commit.clone())))).unwrap();
        self.runtime.block_on(engine.close()).unwrap();
    }

    fn check(&self) -> ImageReport {
        let store = Store::new(self.open(), Clock::system(), false);
        let report = self.runtime.block_on(store.check_images()).unwrap();
        self.runtime.block_on(store.close());
        report
    }

    /// Holds what the check says to these lines.
    #[track_caller]
    fn finds(&self, expected: &[&str]) {
        let found = self.check().defects;
        let found: Vec<_> = found.iter().map(|d| format!("{}: {}", d.subject, d.detail)).collect();
        assert_eq!(found, expected);
    }
}

const SCAN: &str = "scan front of card A-1 of customer c-1";
const SAME: &str = "scan again of card A-1 of customer c-1";

#[test]
fn a_store_that_is_whole_is_counted_and_nothing_is_found() {
    let stopped = stopped();
    let expected = ImageReport { records: 3, images: 2, bytes: 43_000, ..ImageReport::default() };
    assert_eq!(stopped.check(), expected);
}

#[test]
fn an_image_that_is_not_there_is_missed_by_every_record_that_names_it() {
    let stopped = stopped();
    fs::remove_file(stopped.file(&front())).unwrap();
    let missing = format!("its image {} is missing", hash(&front()));
    stopped.finds(&[&format!("{SAME}: {missing}"), &format!("{SCAN}: {missing}")]);
}

#[test]
fn an_image_with_other_bytes_is_damaged_however_many_there_are() {
    let stopped = stopped();
    let (file, name) = (stopped.file(&face()), hash(&face()));
    let mut flipped = face();
    flipped[1_500] ^= 1;
    for bytes in [flipped, face()[..2_999].to_vec(), [face(), vec![0]].concat(), Vec::new()] {
        fs::write(&file, &bytes).unwrap();
        let detail = format!("its image {name} is damaged: the hash of its bytes is {}", hash(&bytes));
        stopped.finds(&[&format!("portrait of customer c-1: {detail}")]);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(stopped.check().defects[0].detail.contains("cannot be opened"));
    fs::remove_dir(&file).unwrap();
    fs::write(&file, face()).unwrap();
    stopped.finds(&[]);
}

#[test]
fn images_that_no_record_names_are_orphans_and_swept_whatever_their_hash_begins_with() {
    let stopped = stopped();
    let orphans: Vec<_> = (0u8..120).map(|number| [b'c', number]).collect();
    let mut names: Vec<_> = orphans.iter().map(|orphan| hash(orphan)).collect();
    names.sort();
    assert!(names[0].starts_with("00") && names[119].starts_with("ff"), "{names:?}");
    for orphan in &orphans {
        let file = stopped.file(orphan);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, orphan).unwrap();
    }
    let report = stopped.check();
    assert_eq!((report.orphans, report.defects), (names, vec![]));
    let store = Store::new(stopped.open(), Clock::system(), false);
    assert_eq!(stopped.runtime.block_on(store.sweep_images()).unwrap(), 120);
    stopped.runtime.block_on(store.close());
    drop(store);
    assert!(orphans.iter().all(|orphan| !stopped.file(orphan).exists()));
    assert!(stopped.file(&face()).exists());
    assert_eq!(stopped.check().orphans, Vec::<String>::new());
}

#[test]
fn a_record_without_what_it_is_a_part_of_is_found() {
    let stopped = stopped();
    stopped.doctor(&[(CUSTOMERS, b"c-1", None)]);
    stopped.finds(&["portrait of customer c-1: customer c-1 is not there"]);
    let card = [b"A-1\0c-1\0".as_slice(), &1_u64.to_be_bytes()].concat();
    stopped.doctor(&[(CUSTOMERS, b"c-1", Some(b"{}")), (CARDS_BY_NUMBER, &card, None)]);
    let lost = "card A-1 of customer c-1 is not there";
    stopped.finds(&[&format!("{SAME}: {lost}"), &format!("{SCAN}: {lost}")]);
}

#[test]
fn an_index_that_does_not_go_with_the_records_is_found() {
    let stopped = stopped();
    let (face, front) = (hash(&face()), hash(&front()));
    let first = 1_u64.to_be_bytes();
    let portrait = format!("{face}\0portrait\0c-1");
    let scan = [format!("{front}\0scan\0c-1\0A-1\0").as_bytes(), &first].concat();
    let named = [b"c-1\0A-1\0front\0c-1\0A-1\0".as_slice(), &first].concat();
    let false_use = format!("{front}\0portrait\0c-1");
    stopped.doctor(&[
        (SCANS_BY_IDENTIFIER, &named, None),
        (IMAGE_USES, portrait.as_bytes(), None),
        (IMAGE_USES, &scan, None),
        (IMAGE_USES, false_use.as_bytes(), Some(b"")),
    ]);
    stopped.finds(&[
        &format!("image {front}: the index image_uses says it is the portrait c-1, which it is not"),
        "portrait of customer c-1: it is not in the index image_uses",
        &format!("{SCAN}: it is not in the index image_uses"),
        &format!("{SCAN}: it is not in the index scans_by_identifier"),
    ]);
}

#[test]
fn an_image_record_with_a_wrong_length_or_key_is_found() {
    let stopped = stopped();
    let image = |length: usize| {
        let (sha256, uploaded) = (hash(&face()), "2031-05-06T07:08:09.123Z");
        format!(
            r#"{{"customer":"c-1","image":{{"sha256":"{sha256}","length":{length},"contentType":"image/png","uploadedOn":"{uploaded}"}}}}"#
        )
    };
    stopped.doctor(&[(PORTRAITS, b"c-1", Some(image(3_001).as_bytes()))]);
    let detail = format!("its image {} has 3000 bytes, and the record says 3001", hash(&face()));
    stopped.finds(&[&format!("portrait of customer c-1: {detail}")]);
    let misplaced = image(3_000);
    stopped.doctor(&[
        (PORTRAITS, b"c-1", Some(misplaced.as_bytes())),
        (PORTRAITS, b"c-2", Some(misplaced.as_bytes())),
    ]);
    stopped.finds(&["portrait of customer c-1: it is stored under the key of another record"]);
}

#[test]
fn images_that_come_and_go_during_the_check_are_no_defects() {
    let mut images = Images::with(in_folder);
    images.portrait(&face()).is(202);
    let data = images.0.dir.path().join("data");
    images.0.restart_after(|| {
        let runtime = Runtime::new().unwrap();
        let store = Store::new(Embedded::open(Options::new(data)).unwrap(), Clock::system(), false);
        runtime.block_on(async {
            let writer = |writer: u32| {
                let store = store.clone();
                tokio::spawn(async move {
                    for round in 0..50_u32 {
                        let mut draft = store.draft();
                        draft.push(&(writer * 1_000 + round).to_be_bytes()).await.unwrap();
                        // No record names it, so it goes again.
                        store.write_with("r", draft, |_| Ok(())).await.unwrap();
                    }
                })
            };
            let writers: Vec<_> = (0..4).map(writer).collect();
            for _ in 0..5 {
                assert_eq!(store.check_images().await.unwrap().defects, []);
            }
            for writer in writers {
                writer.await.unwrap();
            }
            let whole = ImageReport { records: 1, images: 1, bytes: 3_000, ..ImageReport::default() };
            assert_eq!(store.check_images().await.unwrap(), whole);
            store.close().await;
        });
    });
    assert!(images.0.get(PORTRAIT).is(200).body == face());
}

#[test]
fn a_damaged_image_is_refused_until_it_is_uploaded_again() {
    let images = Images::with(in_folder);
    let (sound, name) = (face(), hash(&face()));
    let file = images.0.dir.path().join("data/objects").join(&name[..2]).join(&name);
    let mut flipped = sound.clone();
    flipped[2_999] ^= 1;
    let damages: [&dyn Fn(); 6] = [
        &|| fs::write(&file, &flipped).unwrap(),
        &|| fs::write(&file, &sound[..100]).unwrap(),
        &|| fs::write(&file, b"").unwrap(),
        &|| fs::write(&file, front()).unwrap(),
        &|| fs::remove_file(&file).unwrap(),
        &|| fs::remove_dir_all(file.parent().unwrap()).unwrap(),
    ];
    for (i, damage) in damages.iter().enumerate() {
        images.portrait(&sound).is(202);
        assert!(images.0.get(PORTRAIT).is(200).body == sound, "damage {i}");
        damage();
        let refused = images.0.get(PORTRAIT).refused(503, "image_damaged");
        assert!(refused.text().contains(&name), "damage {i}: {}", refused.text());
        // Everything else goes on.
        images.0.get("/customers/c-1").is(200);
    }
}

#[test]
fn foreign_files_among_the_drafts_do_not_stop_a_start() {
    let mut images = Images::with(in_folder);
    images.portrait(&face()).is(202);
    let drafts = images.0.dir.path().join("data/objects/tmp");
    images.0.restart_after(|| {
        fs::create_dir_all(drafts.join("folder/in it")).unwrap();
        fs::write(drafts.join("half"), "of an upload").unwrap();
    });
    assert!(drafts.join("folder").exists() && !drafts.join("half").exists());
    assert!(images.0.get(PORTRAIT).is(200).body == face());
    images.portrait(&front()).is(202);
}
