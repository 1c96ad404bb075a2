//! A full disk: writes are refused and taken back, reads go on, and writes come back by themselves.

use super::power::{Mounted, image, run, text};
use super::{Acknowledged, Known, Process, WRITERS, client, folder, verify, write};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Takes all the space there is.
fn fill(disk: &Path) {
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

#[test]
fn a_full_tmpfs_refuses_writes_and_serves_reads() {
    on(|_, disk| run("mount", &["-t", "tmpfs", "-o", "size=48m", "tmpfs", text(disk)]));
}

#[test]
fn a_full_ext4_refuses_writes_and_serves_reads() {
    on(|home, disk| {
        let file = home.join("ext4.img");
        image(&file, 64, "mkfs.ext4", &["-q"])?;
        run("mount", &["-o", "loop", text(&file), text(disk)])
    });
}
