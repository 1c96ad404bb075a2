//! SIGKILL at any moment, also during the start.

use super::{Acknowledged, Process, WRITERS, client, folder, kills, random, verify, write};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Kills under load; of four daemons, one is killed during its start instead.
const KILLS: usize = 83;
/// Cycles after which all that was ever acknowledged is verified.
const WHOLE_EVERY: usize = 10;

/// Customers that each daemon acknowledges before it is killed.
const ACKNOWLEDGED_EACH: usize = 7;

/// How many customers were acknowledged with their names.
fn confirmed(known: &Acknowledged) -> usize {
    known.lock().unwrap().values().filter(|known| !known.surname.is_empty()).count()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_daemon_is_killed() {
    let kills = kills(KILLS);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (_kept, home) = folder();
        let data = home.join("data");
        let http = client();
        let known: Acknowledged = Arc::default();
        for cycle in 0..(kills * 4).div_ceil(3) {
            if cycle % 4 == 3 {
                let process = Process::spawn(&home, &data);
                tokio::time::sleep(Duration::from_millis(random(120))).await;
                process.kill();
                continue;
            }
            let process = Process::start(&home, &data, &http).await;
            if cycle % WHOLE_EVERY == 0 {
                let all = known.lock().unwrap().clone();
                assert_eq!(verify(&http, &process.url, &all).await, Vec::<String>::new(), "cycle {cycle}");
            }
            let stop = Arc::new(AtomicBool::new(false));
            let writers: Vec<_> = (0..WRITERS)
                .map(|w| {
                    let name = format!("k{cycle}-{w}");
                    let (http, url) = (http.clone(), process.url.clone());
                    tokio::spawn(write(http, url, name, known.clone(), stop.clone()))
                })
                .collect();
            // On a busy machine the first answers take their time, and a kill before them shows nothing.
            let begun = confirmed(&known);
            let patience = Instant::now() + Duration::from_secs(10);
            while confirmed(&known) < begun + ACKNOWLEDGED_EACH && Instant::now() < patience {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            tokio::time::sleep(Duration::from_millis(random(150))).await;
            process.kill();
            for writer in writers {
                writer.await.unwrap();
            }
        }
        let process = Process::start(&home, &data, &http).await;
        let all: BTreeMap<_, _> = known.lock().unwrap().clone();
        let confirmed = confirmed(&known);
        assert!(confirmed > kills * 20 / 3);
        assert_eq!(verify(&http, &process.url, &all).await, Vec::<String>::new());
        println!("{kills} kills under load, {confirmed} acknowledged customers, 0 lost");
    });
}
