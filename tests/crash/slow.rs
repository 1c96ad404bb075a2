//! A disk that takes two seconds for each sync: reads continue, few changes wait, the others are refused at
//! once, and with a quick disk everything recovers by itself.

use super::{Process, client, folder};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Clients that write at the same time.
const CLIENTS: usize = 300;
const SYNC: Duration = Duration::from_secs(2);
const SLOW_FOR: Duration = Duration::from_secs(10);

/// Takes as many milliseconds for a sync as a file says.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void wait_first(void) {
    const char *name = getenv("SYNC_MILLIS_FILE");
    FILE *file = name ? fopen(name, "r") : NULL;
    int millis = 0;
    if (file) {
        if (fscanf(file, "%d", &millis) != 1) millis = 0;
        fclose(file);
    }
    usleep(millis * 1000);
}
int fdatasync(int file) { wait_first(); return syscall(SYS_fdatasync, file); }
int fsync(int file) { wait_first(); return syscall(SYS_fsync, file); }
"#;

fn library(home: &Path) -> PathBuf {
    let (source, built) = (home.join("slow.c"), home.join("slow.so"));
    std::fs::write(&source, LIBRARY).unwrap();
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&built).arg(&source).status();
    assert!(status.unwrap().success(), "the library is built");
    built
}

/// What the clients saw.
#[derive(Default)]
struct Seen {
    acknowledged: AtomicU64,
    refused: AtomicU64,
    /// Refusals that came later than a sync takes.
    refused_late: AtomicU64,
}

/// Creates one customer after the other until it is stopped; each is tried until it is acknowledged.
async fn create(
    http: reqwest::Client,
    url: String,
    name: usize,
    seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
) -> usize {
    for number in 0.. {
        let body = json!({ "identifier": format!("c-{name}-{number}") }).to_string();
        loop {
            let begin = Instant::now();
            let answer = http.post(format!("{url}/customers")).body(body.clone()).send().await.unwrap();
            if answer.status().as_u16() == 202 {
                seen.acknowledged.fetch_add(1, SeqCst);
                break;
            }
            assert_eq!(
                (answer.status().as_u16(), &answer.headers()["retry-after"]),
                (503, &"1".parse().unwrap())
            );
            seen.refused.fetch_add(1, SeqCst);
            seen.refused_late.fetch_add(u64::from(begin.elapsed() >= SYNC), SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        if stop.load(SeqCst) {
            return number + 1;
        }
    }
    0
}

#[test]
fn a_disk_that_syncs_for_two_seconds_delays_no_read_and_refuses_at_once() {
    let (_kept, home) = folder();
    let millis = home.join("millis");
    let sync_takes = |time: Duration| std::fs::write(&millis, time.as_millis().to_string()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let http = client();
        let listen = crate::support::served::free_address();
        let mut command = Process::command(&home, &home.join("data"), &listen);
        command.env("MFA_URL", format!("http://{listen}")).env("LD_PRELOAD", library(&home));
        command.env("SYNC_MILLIS_FILE", &millis).env("MFA_CONNECTIONS_PER_ADDRESS", "1000");
        let process = Process::start_as(&home, command, &http).await;
        let (seen, stop) = (Arc::<Seen>::default(), Arc::new(AtomicBool::new(false)));
        sync_takes(SYNC);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|name| {
                tokio::spawn(create(http.clone(), process.url.clone(), name, seen.clone(), stop.clone()))
            })
            .collect();
        let (begin, mut longest, mut reads) = (Instant::now(), Duration::ZERO, 0);
        while begin.elapsed() < SLOW_FOR {
            let asked = Instant::now();
            let answer = http.get(format!("{}/customers?size=1", process.url)).send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 200);
            (longest, reads) = (longest.max(asked.elapsed()), reads + 1);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(reads > 20 && longest < SYNC, "{reads} reads, the longest took {longest:?}");
        let refused = seen.refused.load(SeqCst);
        assert!(refused > 100, "{refused} refusals");
        assert_eq!(seen.refused_late.load(SeqCst), 0, "of {refused} refusals");
        assert!(seen.acknowledged.load(SeqCst) > 100, "those that were let in are acknowledged");
        sync_takes(Duration::ZERO);
        stop.store(true, SeqCst);
        let mut created = 0;
        for client in clients {
            created += client.await.unwrap();
        }
        assert_eq!(created as u64, seen.acknowledged.load(SeqCst));
        println!("{created} acknowledged, {refused} refused at once, longest of {reads} reads {longest:?}");
        process.kill();
        let process = Process::start(&home, &home.join("data"), &http).await;
        let page = http.get(format!("{}/customers?size=1", process.url)).send().await.unwrap();
        let page: serde_json::Value = serde_json::from_str(&page.text().await.unwrap()).unwrap();
        assert_eq!(page["totalElements"], created, "what was acknowledged is there after a kill");
    });
}
