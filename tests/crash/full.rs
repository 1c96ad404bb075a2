//! A full disk: writes are refused and rolled back, reads continue, and writes recover by themselves.

use super::power::{Mounted, image, run, text};
use super::{Acknowledged, Known, Process, WRITERS, client, folder, verify, write};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Takes all the space there is.
pub(super) fn fill(disk: &Path) {
    let mut file = File::create(disk.join("filler")).unwrap();
    for bytes in [1 << 20, 4096, 1] {
        while file.write_all(&vec![1; bytes]).and_then(|()| file.sync_data()).is_ok() {}
    }
}

/// Writes until the daemon refuses because the disk is full.
async fn write_until_refused(http: &reqwest::Client, url: &str, name: &str, known: &Acknowledged) {
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..WRITERS)
        .map(|w| {
            tokio::spawn(write(
                http.clone(),
                url.to_owned(),
                format!("{name}-{w}"),
                known.clone(),
                stop.clone(),
            ))
        })
        .collect();
    for writer in writers {
        tokio::time::timeout(Duration::from_secs(120), writer).await.expect("the disk is full").unwrap();
    }
    // A group did not fit; what is shorter may, for a while.
    for i in 0.. {
        let id = format!("{name}-last-{i}");
        let (status, body) = create(http, url, &id).await;
        if status != 202 {
            assert_eq!((status, body["code"].as_str()), (503, Some("disk_full")), "{body}");
            break;
        }
        note(known, id);
    }
    let ready = http.get(format!("{url}/ready")).send().await.unwrap();
    assert_eq!(ready.status(), 503);
    assert!(ready.text().await.unwrap().contains("disk_full"));
    // What was refused with an answer is not there, nor after any restart.
    for known in known.lock().unwrap().values_mut() {
        known.unsure = false;
    }
}

async fn create(http: &reqwest::Client, url: &str, id: &str) -> (u16, Value) {
    let body = json!({ "identifier": id, "surname": "first" }).to_string();
    let answer = http.post(format!("{url}/customers")).body(body).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

async fn story(disk: &Path, home: &Path) {
    let (http, data) = (client(), disk.join("data"));
    let known: Acknowledged = Arc::default();
    let wrong = async |url: &str| {
        let all = known.lock().unwrap().clone();
        verify(&http, url, &all).await
    };
    let mut process = Process::start(home, &data, &http).await;
    for round in 0..2 {
        fill(disk);
        write_until_refused(&http, &process.url, &format!("r{round}"), &known).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(wrong(&process.url).await, Vec::<String>::new(), "round {round}");
        if round == 1 {
            // A start on the full disk serves what is there.
            process.kill();
            process = Process::start(home, &data, &http).await;
            assert_eq!(wrong(&process.url).await, Vec::<String>::new());
            write_until_refused(&http, &process.url, "r2", &known).await;
            assert_eq!(wrong(&process.url).await, Vec::<String>::new());
        }
        fs::remove_file(disk.join("filler")).unwrap();
        // The blocks of a removed file come back with the next commit of ext4.
        rustix::fs::syncfs(File::open(disk).unwrap()).unwrap();
        let again = create(&http, &process.url, &format!("after-{round}")).await;
        assert_eq!(again.0, 202, "{}", again.1);
        note(&known, format!("after-{round}"));
        assert!(http.get(format!("{}/ready", process.url)).send().await.unwrap().status().is_success());
    }
    process.kill();
    let process = Process::start(home, &data, &http).await;
    assert_eq!(wrong(&process.url).await, Vec::<String>::new());
}

fn note(known: &Acknowledged, id: String) {
    known.lock().unwrap().insert(id, Known { surname: "first".to_owned(), ..Known::default() });
}

fn on(make: impl FnOnce(&Path, &Path) -> Result<(), String>) {
    on_with(make, story);
}

fn on_with(make: impl FnOnce(&Path, &Path) -> Result<(), String>, story: impl AsyncFnOnce(&Path, &Path)) {
    let (_kept, home) = folder();
    let disk = home.join("disk");
    fs::create_dir_all(&disk).unwrap();
    if let Err(why) = make(&home, &disk) {
        println!("SKIPPED: full disks need root and mounts: {why}");
        return;
    }
    let _mounted = Mounted(vec![disk.clone()]);
    tokio::runtime::Runtime::new().unwrap().block_on(story(&disk, &home));
}

/// The same on a disk in memory.
pub(super) fn on_tmpfs(size: &str, story: impl AsyncFnOnce(&Path, &Path)) {
    let options = format!("size={size}");
    on_with(|_, disk| run("mount", &["-t", "tmpfs", "-o", &options, "tmpfs", text(disk)]), story);
}

/// A store on a disk that is mounted for reading only is served, and nothing of it changes.
async fn read_only(disk: &Path, home: &Path) {
    let (http, data) = (client(), disk.join("data"));
    let known: Acknowledged = Arc::default();
    let process = Process::start(home, &data, &http).await;
    for i in 0..20 {
        assert_eq!(create(&http, &process.url, &format!("c-{i}")).await.0, 202);
        note(&known, format!("c-{i}"));
    }
    process.kill();
    let files = |data: &Path| {
        let mut found = Vec::new();
        for name in ["journal/00000001.log", "FORMAT", "lock"] {
            found.push(fs::read(data.join(name)).unwrap());
        }
        found
    };
    let before = files(&data);
    run("mount", &["-o", "remount,ro", text(disk)]).unwrap();
    for _ in 0..2 {
        let process = Process::start(home, &data, &http).await;
        let all = known.lock().unwrap().clone();
        assert_eq!(verify(&http, &process.url, &all).await, Vec::<String>::new());
        let (status, body) = create(&http, &process.url, "d-1").await;
        assert_eq!((status, body["code"].as_str()), (503, Some("disk_read_only")), "{body}");
        let page = http.get(format!("{}/customers?size=1", process.url)).send().await.unwrap();
        assert_eq!(page.status(), 200);
        let ready = http.get(format!("{}/ready", process.url)).send().await.unwrap();
        assert_eq!(ready.status(), 503);
        assert!(ready.text().await.unwrap().contains("disk_read_only"));
        // A second daemon is kept out all the same.
        let mut second = Process::command(home, &data, "127.0.0.1:0");
        let second = second.output().unwrap();
        assert!(!second.status.success());
        assert!(String::from_utf8_lossy(&second.stderr).contains("is locked by"), "{second:?}");
    }
    assert_eq!(files(&data), before);
    run("mount", &["-o", "remount,rw", text(disk)]).unwrap();
    let process = Process::start(home, &data, &http).await;
    assert_eq!(create(&http, &process.url, "d-1").await.0, 202);
    note(&known, "d-1".to_owned());
    let all = known.lock().unwrap().clone();
    assert_eq!(verify(&http, &process.url, &all).await, Vec::<String>::new());
}

/// Text of one customer: the record, its index and its checkpoint get about as long as usual ones with notes.
const TEXT_BYTES: usize = 4000;
/// Customers in one batch.
const BATCH: usize = 200;

/// A text that a compressed checkpoint does not make much shorter.
fn noise() -> String {
    let mut bytes = [0; TEXT_BYTES * 3 / 4];
    getrandom::fill(&mut bytes).unwrap();
    STANDARD_NO_PAD.encode(bytes)
}

/// Creates customers until the disk is full.
async fn create_until_full(http: &reqwest::Client, url: &str, known: &Acknowledged) {
    for round in 0..200 {
        let ids: Vec<_> = (0..BATCH).map(|i| format!("b{round}-{i}")).collect();
        let operation = |id: &String| {
            let value = json!({ "catalogIdentifier": "notes", "fieldIdentifier": "text", "value": noise() });
            let body = json!({ "identifier": id, "surname": "first", "customValues": [value] });
            json!({ "method": "POST", "path": "/customers", "body": body })
        };
        let body = json!({ "atomic": true, "operations": ids.iter().map(operation).collect::<Vec<_>>() });
        let sent = http.post(format!("{url}/batch")).body(body.to_string()).send().await.unwrap();
        let status = sent.status();
        let text = sent.text().await.unwrap();
        if status != 200 || text.contains("disk_full") {
            assert!(text.contains("disk_full"), "{status}: {text}");
            return;
        }
        for id in ids {
            note(known, id);
        }
    }
    panic!("no checkpoint was begun");
}

/// Fills the disk as soon as a checkpoint is on its way.
fn fill_in_a_checkpoint(disk: &Path) {
    let (draft, begun) = (disk.join("data/checkpoint/tmp"), Instant::now());
    while begun.elapsed() < Duration::from_secs(120) {
        if fs::metadata(&draft).is_ok_and(|draft| draft.len() > 1 << 20) {
            return fill(disk);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The disk fills while a checkpoint is written: the draft frees its space, and everything continues.
async fn in_a_checkpoint(disk: &Path, home: &Path) {
    let (http, data) = (client(), disk.join("data"));
    let known: Acknowledged = Arc::default();
    let wrong = async |url: &str| {
        let all = known.lock().unwrap().clone();
        verify(&http, url, &all).await
    };
    let dumps = || {
        fs::read_dir(data.join("checkpoint"))
            .unwrap()
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".dump"))
            .count()
    };
    let process = Process::start(home, &data, &http).await;
    let filler = disk.to_owned();
    let filled = tokio::task::spawn_blocking(move || fill_in_a_checkpoint(&filler));
    create_until_full(&http, &process.url, &known).await;
    filled.await.unwrap();
    for _ in 0..100 {
        if !data.join("checkpoint/tmp").exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(!data.join("checkpoint/tmp").exists(), "the draft of the checkpoint kept its space");
    assert_eq!(dumps(), 0, "the checkpoint was finished before the disk was full");
    // What the draft gave back is the journal's.
    fill(disk);
    write_until_refused(&http, &process.url, "r0", &known).await;
    assert_eq!(wrong(&process.url).await, Vec::<String>::new());
    fs::remove_file(disk.join("filler")).unwrap();
    assert_eq!(create(&http, &process.url, "after-0").await.0, 202);
    note(&known, "after-0".to_owned());
    process.kill();
    let process = Process::start(home, &data, &http).await;
    assert_eq!(wrong(&process.url).await, Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_in_a_checkpoint_refuses_writes_and_goes_on() {
    on_tmpfs("600m", in_a_checkpoint);
}

#[test]
fn a_disk_for_reading_only_is_served_and_keeps_every_byte() {
    on_tmpfs("48m", read_only);
}

#[test]
fn a_full_tmpfs_refuses_writes_and_serves_reads() {
    on_tmpfs("48m", story);
}

#[test]
fn a_full_ext4_refuses_writes_and_serves_reads() {
    on(|home, disk| {
        let file = home.join("ext4.img");
        image(&file, 64, "mkfs.ext4", &["-q"])?;
        run("mount", &["-o", "loop", text(&file), text(disk)])
    });
}
