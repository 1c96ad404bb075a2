//! A daemon that is stopped for a minute in the middle of its work, and then goes on, as a virtual machine does
//! that is moved to another host.

use crate::support::served::{Home, Served, free_address};
use reqwest::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Clients that write at the same time.
const WRITERS: usize = 8;
const FROZEN: Duration = Duration::from_secs(60);
/// Time under load before and behind it.
const LOAD: Duration = Duration::from_secs(3);
/// Some clients wait for their answer until the end, the others give up and send again.
const PATIENCE: [Duration; 2] = [Duration::from_secs(120), Duration::from_secs(7)];
/// Time in which work goes on when the daemon does.
const RESUMES_MAX: Duration = Duration::from_secs(20);

/// What all clients saw.
#[derive(Default)]
struct Seen {
    acknowledged: Mutex<Vec<(String, Instant)>>,
    /// Requests that were carried out and whose answer did not arrive.
    replayed: Mutex<usize>,
    stop: AtomicBool,
}

/// Creates one customer after the other, each with a key under which it is sent until it is acknowledged.
async fn write(url: String, writer: usize, seen: Arc<Seen>) {
    let patience = PATIENCE[writer % PATIENCE.len()];
    let http = Client::builder().no_proxy().timeout(patience).build().unwrap();
    for number in 0.. {
        let name = format!("w{writer}-{number}");
        let body = json!({ "identifier": name, "type": "PERSON" }).to_string();
        loop {
            let request = http.post(format!("{url}/customers")).header("idempotency-key", &name);
            let Ok(answer) = request.body(body.clone()).send().await else { continue };
            if answer.status() == 202 {
                let replayed = answer.headers().contains_key("idempotency-replayed");
                *seen.replayed.lock().unwrap() += usize::from(replayed);
                break;
            }
            assert!(
                answer.status() == 503 && answer.headers().contains_key("retry-after"),
                "{name}: {answer:?}"
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        seen.acknowledged.lock().unwrap().push((name, Instant::now()));
        if seen.stop.load(SeqCst) {
            return;
        }
    }
}

/// All customers of a daemon, each once.
async fn stored(url: &str) -> Vec<String> {
    let http = Client::builder().no_proxy().build().unwrap();
    let list = http.get(format!("{url}/customers")).header("accept", "application/x-ndjson");
    let text = list.send().await.unwrap().text().await.unwrap();
    let name = |line| serde_json::from_str::<Value>(line).unwrap()["identifier"].as_str().unwrap().to_owned();
    text.lines().map(name).collect()
}

#[test]
fn a_daemon_frozen_for_a_minute_under_load_loses_nothing_and_goes_on() {
    let home = Home::new();
    let serve =
        || Served::start(home.mfa(&["daemon", "run", "--auth", "off", "--listen", free_address().as_str()]));
    let served = serve();
    let pid = Pid::from_raw(i32::try_from(served.pid()).unwrap()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let seen = Arc::<Seen>::default();
    let writers: Vec<_> =
        (0..WRITERS).map(|writer| runtime.spawn(write(served.url.clone(), writer, seen.clone()))).collect();
    std::thread::sleep(LOAD);
    kill_process(pid, Signal::STOP).unwrap();
    // What was on its way arrives.
    std::thread::sleep(Duration::from_secs(1));
    let before = seen.acknowledged.lock().unwrap().len();
    std::thread::sleep(FROZEN);
    assert_eq!(seen.acknowledged.lock().unwrap().len(), before, "it is frozen");
    let thawed = Instant::now();
    kill_process(pid, Signal::CONT).unwrap();
    std::thread::sleep(LOAD);
    while seen.acknowledged.lock().unwrap().len() < 2 * before {
        assert!(thawed.elapsed() < RESUMES_MAX, "work does not go on as before");
        std::thread::sleep(Duration::from_millis(50));
    }
    seen.stop.store(true, SeqCst);
    for writer in writers {
        runtime.block_on(writer).unwrap();
    }
    let acknowledged = seen.acknowledged.lock().unwrap().clone();
    let resumed = acknowledged.iter().filter_map(|(_, at)| at.checked_duration_since(thawed)).min().unwrap();
    let expected: BTreeSet<_> = acknowledged.into_iter().map(|(name, _)| name).collect();
    // What it held in its memory alone would be gone now.
    served.kill();
    let served = serve();
    let found = runtime.block_on(stored(&served.url));
    assert_eq!(found.len(), expected.len(), "each once");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    let replayed = seen.replayed.lock().unwrap();
    println!(
        "frozen for {FROZEN:?}: {} acknowledged, {before} of them before, 0 lost; first answer {resumed:?} behind \
              it, {replayed} had been carried out before they were sent again",
        expected.len()
    );
}
