//! Proofs of the format and of the one moment, without a daemon.

mod damage;
mod moments;

use super::BackupError;
use super::crypt::{BackupKeys, EncryptTo, Seal, SealWriter, decrypt};
use super::frames::{Framer, HEAD};
use super::read::{Item, Reader, whole};
use super::restore::put_back;
use crate::clock::Clock;
use crate::store::Store;
use crate::store::embedded::{Embedded, Options};
use crate::store::engine::{Change, Commit, Engine, Range, Space};
use crate::store::export::{MARK, export, look, spaces};
use crate::store::images::Uses;
use crate::store::objects::Draft;
use crate::store::record::{key, numbered};
use crate::store::records::{
    CUSTOMERS, EMPLOYEES, IMAGE_USES, LOCAL, OFFICES, SESSIONS, SPACES, SYSTEM, StoreFacts,
};
use mfa_shared::time::Timestamp;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::mpsc;

/// Everything in a store that a backup holds, by space and key.
type State = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

fn put(space: Space, key: Vec<u8>, value: &[u8]) -> Change {
    Change { space, key, value: Some(value.to_vec()) }
}

fn gone(space: Space, key: Vec<u8>) -> Change {
    Change { space, key, value: None }
}

async fn write(engine: &Embedded, mut changes: Vec<Change>) {
    changes.sort_by(|a, b| (a.space, &a.key).cmp(&(b.space, &b.key)));
    let time = Timestamp::from_millis(1_700_000_000_000);
    let actor = "ada".to_owned();
    let commit = Commit { time, actor, request: "r-1".to_owned(), changes };
    engine.write(Box::new(move |_| Some(commit.clone()))).await.unwrap();
}

async fn keep(engine: &Embedded, bytes: &[u8]) -> String {
    let mut draft = Draft::new(engine.objects().drafts());
    draft.push(bytes).await.unwrap();
    let hash = draft.hash();
    engine.objects().keep(draft).await.unwrap();
    hash
}

fn picture(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(700)
}

/// A store with records in several spaces, of several pages, and some images.
async fn filled(dir: &Path) -> Embedded {
    let engine = Embedded::open(Options::new(dir)).unwrap();
    let facts = StoreFacts {
        instance: "0".repeat(32),
        created_on: Timestamp::from_millis(0),
        form: StoreFacts::FORM,
        program: None,
    };
    let facts = serde_json::to_vec(&facts).unwrap();
    write(&engine, vec![put(SYSTEM, key(&["store"]), &facts), put(SESSIONS, key(&["s"]), b"secret")]).await;
    for space in [OFFICES, CUSTOMERS, EMPLOYEES] {
        let records = (0..2_000).map(|n| put(space, numbered(&[], n), &n.to_le_bytes().repeat(9)));
        write(&engine, records.collect()).await;
    }
    for number in 0..20 {
        let hash = keep(&engine, &picture(number)).await;
        write(&engine, vec![put(IMAGE_USES, key(&[&hash, "portrait", "c"]), b"")]).await;
    }
    engine
}

/// Takes a backup, and does something after each piece.
async fn taken(store: &Store, mut between: impl AsyncFnMut()) -> Vec<u8> {
    let (sender, mut receiver) = mpsc::channel(1);
    let store = store.clone();
    let making = tokio::spawn(async move { store.back_up(sender).await });
    let mut bytes = Vec::new();
    while let Some(piece) = receiver.recv().await {
        bytes.extend_from_slice(&piece.unwrap());
        between().await;
    }
    making.await.unwrap().unwrap();
    bytes
}

async fn state(engine: &dyn Engine) -> State {
    let mut state = State::new();
    for space in spaces() {
        let all = look(engine, move |view| view.scan(space, &Range::prefix(b""), false, usize::MAX));
        for (key, value) in all.await.unwrap() {
            if space != SYSTEM || key != MARK {
                state.insert((space.id, key), value);
            }
        }
    }
    state
}

/// What the journal says of the state after a commit.
async fn played(engine: &dyn Engine, upto: u64) -> State {
    let mut state = State::new();
    for (sequence, commit) in engine.commits_since(0, usize::MAX).await.unwrap() {
        if sequence > upto {
            break;
        }
        for Change { space, key, value } in commit.changes {
            match value {
                _ if LOCAL.contains(&space) => {}
                Some(value) => drop(state.insert((space.id, key), value)),
                None => drop(state.remove(&(space.id, key))),
            }
        }
    }
    state
}

/// Moves values to and fro, makes and removes records, and changes portraits, until asked to stop.
async fn work(engine: Arc<Embedded>, store: Store, worker: u64, stop: Arc<AtomicBool>, done: Arc<AtomicU64>) {
    let mut portrait: Option<String> = None;
    for round in 0.. {
        if stop.load(SeqCst) {
            return;
        }
        let number = (round * 7 + worker * 500) % 2_000;
        let text = format!("{worker} {round}");
        // One commit touches the beginning and the end of the stream.
        let mut changes = vec![
            put(OFFICES, numbered(&[], number), text.as_bytes()),
            put(EMPLOYEES, numbered(&[], 1_999 - number), text.as_bytes()),
            put(CUSTOMERS, numbered(&[&worker.to_string()], round), text.as_bytes()),
        ];
        if round > 3 {
            changes.push(gone(CUSTOMERS, numbered(&[&worker.to_string()], round - 3)));
        }
        let ended = portrait.take();
        if round % 2 == 0 {
            let hash = keep(&engine, &picture(1_000_000 * (worker + 1) + round)).await;
            changes.push(put(IMAGE_USES, key(&[&hash, "portrait", "w"]), b""));
            portrait = Some(hash);
        }
        changes.extend(ended.iter().map(|hash| gone(IMAGE_USES, key(&[hash, "portrait", "w"]))));
        write(&engine, changes).await;
        store.remove_unused(&Uses { ended: ended.into_iter().collect(), ..Uses::default() }).await;
        done.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_backup_beside_writers_is_the_store_after_one_commit() {
    let home = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = Arc::new(filled(&home.path().join("data")).await);
        let store = Store::over(engine.clone(), Clock::system(), false);
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let work = |worker| work(engine.clone(), store.clone(), worker, stop.clone(), done.clone());
        let workers: Vec<_> = (0..4).map(|worker| tokio::spawn(work(worker))).collect();
        for round in 0..4 {
            let others_write = async || {
                let until = done.load(SeqCst) + 20;
                while done.load(SeqCst) < until {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            let bytes = taken(&store, others_write).await;
            let facts = whole(Cursor::new(&bytes)).unwrap().facts;
            let target = Embedded::open(Options::new(home.path().join(format!("target-{round}")))).unwrap();
            let mut reader = Reader::begin(Cursor::new(&bytes)).unwrap();
            let now = Clock::system().now();
            put_back(&mut reader, &target, &facts.digest, now, &|_| {}).await.unwrap();
            let expected = played(&*engine, facts.trailer.journal_sequence).await;
            let found = state(&target).await;
            assert!(found == expected, "round {round}: {} and {} pairs", found.len(), expected.len());
            assert!(facts.trailer.changes > 50, "{facts:?}");
            // Every image that is named is there.
            for (_, entry) in found.keys().filter(|(space, _)| *space == IMAGE_USES.id) {
                let hash = String::from_utf8_lossy(&entry[..64]).into_owned();
                assert!(target.objects().open(&hash).await.unwrap().is_some(), "{hash}");
            }
            target.close().await.unwrap();
        }
        stop.store(true, SeqCst);
        for worker in workers {
            worker.await.unwrap();
        }
        engine.close().await.unwrap();
    });
}

/// A small backup.
fn sample() -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = Arc::new(filled(&home.path().join("data")).await);
        let bytes = taken(&Store::over(engine.clone(), Clock::system(), false), async || ()).await;
        engine.close().await.unwrap();
        bytes
    })
}

/// Where the frames of a backup begin and end.
fn frames(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut at = 7;
    let mut found = Vec::new();
    while at < bytes.len() - 16 {
        let stored = u32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()) as usize;
        found.push(at..at + 41 + stored);
        at += 41 + stored;
    }
    found
}

#[test]
fn every_damage_is_refused_with_a_sentence() {
    let good = sample();
    let places = frames(&good);
    assert!(places.len() >= 4, "{places:?}");
    whole(Cursor::new(&good)).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        let error = whole(Cursor::new(bytes)).expect_err(what);
        let said = error.to_string();
        assert!(matches!(error, BackupError::Damaged(_)) && said.contains(' '), "{what}: {said}");
    };
    let chance = |most: usize| usize::from_le_bytes(crate::random::bytes()) % most;
    for _ in 0..250 {
        let (at, bit) = (chance(good.len()), chance(8));
        let mut bytes = good.clone();
        bytes[at] ^= 1 << bit;
        refused(&bytes, &format!("bit {bit} of byte {at}"));
    }
    for _ in 0..150 {
        let at = chance(good.len());
        refused(&good[..at], &format!("cut at {at}"));
    }
    for length in [1, 7, 16, 41, 1_000] {
        refused(&[&good[..], &vec![chance(256) as u8; length]].concat(), "append");
        refused(&[&good[..], &good[..length]].concat(), "append of itself");
    }
    for a in 0..places.len() {
        let without = [&good[..places[a].start], &good[places[a].end..]].concat();
        refused(&without, &format!("without frame {a}"));
        let twice = [&good[..places[a].end], &good[places[a].start..]].concat();
        refused(&twice, &format!("frame {a} twice"));
        for b in a + 1..places.len() {
            let (x, y) = (places[a].clone(), places[b].clone());
            let parts =
                [&good[..x.start], &good[y.clone()], &good[x.end..y.start], &good[x.clone()], &good[y.end..]];
            refused(&parts.concat(), &format!("frames {a} and {b} swapped"));
        }
    }
    // The same number of bytes that somebody has cut out somewhere.
    for _ in 0..50 {
        let at = chance(good.len() - 100);
        refused(&[&good[..at], &good[at + 1 + chance(99)..]].concat(), &format!("a hole at {at}"));
    }
}

/// A backup as it is encrypted with a key file in it, and what opens it.
fn sealed(good: &[u8]) -> (Vec<u8>, BackupKeys) {
    let mut bytes = Vec::new();
    let key_file = Some(zeroize::Zeroizing::new(b"key".to_vec()));
    let seal = Seal { to: EncryptTo::Keys(Vec::new()), key_file };
    let mut writer = SealWriter::begin(&mut bytes, Some(&seal)).unwrap();
    for piece in good.chunks(10_000) {
        writer.write(piece).unwrap();
    }
    let keys = writer.finish().unwrap();
    (bytes, keys)
}

#[test]
fn every_damage_of_an_encrypted_backup_is_refused_with_a_sentence() {
    let good = sample();
    let (bytes, keys) = sealed(&good);
    let read = |bytes: &[u8]| whole(decrypt(bytes, &keys)?);
    let found = read(&bytes).unwrap();
    assert_eq!(found.key_file.unwrap().as_slice(), b"key");
    assert_eq!(found.facts.digest, whole(Cursor::new(&good)).unwrap().facts.digest);
    let refused = |bytes: &[u8], what: &str| {
        let said = read(bytes).expect_err(what).to_string();
        assert!(said.contains(' ') && !said.contains("defect"), "{what}: {said}");
    };
    let chance = |most: usize| usize::from_le_bytes(crate::random::bytes()) % most;
    let head = 400;
    for round in 0..400 {
        let at = if round % 2 == 0 { chance(head) } else { chance(bytes.len()) };
        let bit = chance(8);
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << bit;
        refused(&bytes, &format!("bit {bit} of byte {at}"));
    }
    for round in 0..200 {
        let at = if round % 2 == 0 { chance(head) } else { chance(bytes.len()) };
        refused(&bytes[..at], &format!("cut at {at}"));
        let from = at + 1 + chance(99);
        refused(&[&bytes[..at], &bytes[from.min(bytes.len())..]].concat(), &format!("a hole at {at}"));
        refused(&[&bytes[..], &vec![chance(256) as u8; 1 + chance(70_000)]].concat(), "append");
    }
}

#[test]
fn a_key_file_before_a_backup_must_be_whole() {
    let good = sample();
    let prefixed = [&super::frames::key_file_prefix(b"the key")[..], &good].concat();
    assert_eq!(whole(Cursor::new(&prefixed)).unwrap().key_file.unwrap().as_slice(), b"the key");
    for at in 0..22 {
        let said = whole(Cursor::new(&prefixed[..at])).unwrap_err().to_string();
        assert!(said.contains("backup is damaged") || said.contains("the file is empty") || at < 7, "{said}");
    }
    for at in 0..15 {
        let mut flipped = prefixed.clone();
        flipped[at] ^= 64;
        whole(Cursor::new(&flipped)).map(|whole| whole.key_file).expect_err("flipped");
    }
}

#[test]
fn a_backup_of_another_form_or_format_says_which_program_reads_it() {
    let good = sample();
    let newer = [b"mfab/2\n", &good[7..]].concat();
    assert!(whole(Cursor::new(&newer)).unwrap_err().to_string().contains("another format than mfab/1"));
    let head = Reader::begin(Cursor::new(&good)).unwrap().head().clone();
    let head = super::Head { form: 99, program: "9.9.9".to_owned(), ..head };
    let frame = Framer::default().frame(HEAD, &serde_json::to_vec(&head).unwrap()).unwrap();
    let said = whole(Cursor::new([b"mfab/1\n", &frame[..]].concat())).unwrap_err().to_string();
    assert!(said.contains("form 99") && said.contains("use mfa 9.9.9"), "{said}");
}

#[test]
fn a_store_with_records_of_a_later_version_is_not_copied_without_them() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let engine = filled(&dir.path().join("data")).await;
        let later = (0..u8::MAX - 1).find(|id| SPACES.iter().all(|space| space.id != *id)).unwrap();
        write(&engine, vec![put(Space { id: later, name: "later" }, key(&["x"]), b"1")]).await;
        let (sender, _receiver) = mpsc::channel(1);
        let backup = super::write::write(&engine, &Clock::system(), sender).await;
        let copy = export(&engine, &mut std::io::sink()).await;
        for refused in [backup.unwrap_err().to_string(), copy.unwrap_err().to_string()] {
            assert!(refused.contains("does not know") && refused.contains("use the version"), "{refused}");
        }
    });
}

#[test]
fn a_backup_holds_no_session_and_no_second_copy_of_the_mark() {
    let good = sample();
    let mut reader = Reader::begin(Cursor::new(&good)).unwrap();
    while let Some(item) = reader.next_item().unwrap() {
        if let Item::Pair(space, (key, _)) = item {
            assert!(!LOCAL.contains(&space) && (space != SYSTEM || key != MARK));
        }
    }
}

#[test]
fn a_broken_restore_does_not_open_and_the_same_one_finishes_it() {
    let good = sample();
    let home = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let facts = whole(Cursor::new(&good)).unwrap().facts;
        let dir = home.path().join("target");
        for cut in [200, good.len() / 3, good.len() - 60] {
            let target = Store::new(Embedded::open(Options::new(&dir)).unwrap(), Clock::system(), false);
            let mut reader = Reader::begin(Cursor::new(&good[..cut])).unwrap();
            target.put_back(&mut reader, &facts.digest, &|_| {}).await.unwrap_err();
            let marked = target.read(false, |tx| tx.value(SYSTEM, MARK)).await.unwrap();
            assert!(marked.is_some(), "{cut}");
            let mut reader = Reader::begin(Cursor::new(&good)).unwrap();
            let other = target.put_back(&mut reader, "another", &|_| {}).await.unwrap_err().to_string();
            assert!(other.contains("unfinished restore of another backup"), "{other}");
            target.close().await;
        }
        let target = Embedded::open(Options::new(&dir)).unwrap();
        let mut reader = Reader::begin(Cursor::new(&good)).unwrap();
        put_back(&mut reader, &target, &facts.digest, Clock::system().now(), &|_| {}).await.unwrap();
        let again = state(&target).await;
        assert_eq!(again.len() as u64, facts.trailer.pairs);
        target.close().await.unwrap();
    });
}
