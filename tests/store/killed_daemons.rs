//! Two processes on one database, killed in turn under load. Whichever of them was about to seal the audit
//! trail or to deliver an event, the other one goes on: `audit.md` sections 2 and 4.

use super::postgres::fresh;
use crate::crash::{Acknowledged, client, kills, verify, write};
use crate::support::served::Served;
use crate::support::servers::Receiver;
use crate::support::world::mfa;
use mfa_daemon::Address;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

const KILLS: usize = 16;
/// Clients that write at each daemon.
const WRITERS: usize = 3;

fn start(home: &Path, store: &Address) -> Served {
    let mut command = mfa(home, &["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    command.env("MFA_STORE", store.to_string());
    command.env("MFA_WEBHOOK_PLAINTEXT", "true").env("MFA_WEBHOOK_PRIVATE_ADDRESSES", "127.0.0.0/8");
    Served::start(command)
}

/// The numbers of the trail that a subscription to customers gets.
async fn numbers(http: &reqwest::Client, url: &str, after: u64) -> Vec<u64> {
    let trail = http.get(format!("{url}/audit?sortDirection=ASC&after={after}&resource=customer/*"));
    let text = trail.header("accept", "application/x-ndjson").send().await.unwrap().text().await.unwrap();
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["sequence"].as_u64().unwrap();
    text.lines().map(number).collect()
}

#[test]
fn two_daemons_killed_in_turn_leave_no_unsealed_record_or_lost_event() {
    let Some(store) = fresh() else { return };
    let kills = kills(KILLS);
    let home = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(&[]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (found, arrived) = runtime.block_on(async {
        let http = client();
        let known: Acknowledged = Arc::default();
        let mut daemons = [start(home.path(), &store), start(home.path(), &store)];
        let subscription = json!({ "identifier": "sync", "url": receiver.url(), "kinds": ["customer"] });
        let subscribe = http.post(format!("{}/events/subscriptions", daemons[0].url));
        let made = subscribe.body(subscription.to_string()).send().await.unwrap();
        let made: Value = serde_json::from_slice(&made.bytes().await.unwrap()).unwrap();
        for cycle in 0..kills {
            let stop = Arc::new(AtomicBool::new(false));
            let writers: Vec<_> = (0..2 * WRITERS)
                .map(|number| {
                    let url = daemons[number % 2].url.clone();
                    let name = format!("k{cycle}-{number}");
                    tokio::spawn(write(http.clone(), url, name, known.clone(), stop.clone()))
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(100 + 40 * cycle as u64 % 200)).await;
            let successor = start(home.path(), &store);
            std::mem::replace(&mut daemons[cycle % 2], successor).kill();
            stop.store(true, SeqCst);
            for writer in writers {
                writer.await.unwrap();
            }
        }
        let all = known.lock().unwrap().clone();
        let confirmed = all.values().filter(|known| !known.surname.is_empty()).count();
        assert!(confirmed > kills * 5);
        let url = &daemons[1].url;
        assert_eq!(verify(&http, url, &all).await, Vec::<String>::new());
        let found = numbers(&http, url, made["position"].as_u64().unwrap()).await;
        let expected = found.len();
        let arrived = tokio::task::spawn_blocking(move || receiver.taken_events(expected)).await.unwrap();
        println!("{kills} kills, {confirmed} acknowledged customers, {expected} events, 0 lost");
        (found, arrived)
    });
    assert_eq!(arrived, found, "each event, in order, once");
}
