//! A full disk under PostgreSQL itself: the daemon refuses what the database refuses, and recovers with it.

use crate::crash::power::{Mounted, run, text};
use crate::crash::{client, folder};
use crate::support::served::Served;
use crate::support::servers::PostgresServer;
use crate::support::world::mfa;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait until the database and the daemon go on by themselves.
const WAIT_MAX: Duration = Duration::from_secs(90);

struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    async fn create(&self, id: &str) -> (u16, Value) {
        // Long enough that the database needs new pages soon.
        let body = json!({ "identifier": id, "name": id, "description": "a".repeat(2000) }).to_string();
        let answer = self.http.post(format!("{}/offices", self.url)).body(body).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    async fn has(&self, id: &str) -> u16 {
        self.http.get(format!("{}/offices/{id}", self.url)).send().await.unwrap().status().as_u16()
    }
}

async fn story(disk: &Path, home: &Path, server: &PostgresServer) {
    let mut command = mfa(home, &["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    // The schema has the name of a word of SQL, which is as good as any.
    command.env("MFA_STORE", server.address("schema=full").to_string());
    let daemon = Served::start(command);
    let client = Client { http: client(), url: daemon.url.clone() };
    let mut acknowledged = BTreeSet::new();
    for round in 0..2 {
        let first = format!("r{round}-first");
        assert_eq!(client.create(&first).await.0, 202);
        acknowledged.insert(first);
        let mut filler = fs::File::create(disk.join("filler")).unwrap();
        for bytes in [1 << 20, 8192] {
            while filler.write_all(&vec![1; bytes]).and_then(|()| filler.sync_data()).is_ok() {}
        }
        drop(filler);
        let refused = loop {
            let id = format!("r{round}-{}", acknowledged.len());
            let (status, body) = client.create(&id).await;
            if status != 202 {
                break (status, body);
            }
            acknowledged.insert(id);
        };
        // While the server itself is down, or comes up again, no more than that can be said.
        let code = refused.1["code"].as_str().unwrap_or_default();
        assert!(refused.0 == 503 && ["disk_full", "unavailable"].contains(&code), "{refused:?}");
        println!("round {round}: {} acknowledged, then {code}", acknowledged.len());
        fs::remove_file(disk.join("filler")).unwrap();
        let begun = Instant::now();
        let after = format!("r{round}-after");
        loop {
            let (status, body) = client.create(&after).await;
            match status {
                // The answer of an earlier try may have been lost with the server.
                202 | 409 => break,
                503 => assert!(begun.elapsed() < WAIT_MAX, "nothing goes on: {body}"),
                status => panic!("{status}: {body}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        acknowledged.insert(after);
        for id in &acknowledged {
            assert_eq!(client.has(id).await, 200, "{id}");
        }
    }
}

#[test]
fn a_database_without_space_refuses_changes_and_loses_nothing() {
    let (_kept, home) = folder();
    let disk = home.join("disk");
    fs::create_dir_all(&disk).unwrap();
    if let Err(why) = run("mount", &["-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs", text(&disk)]) {
        println!("SKIPPED: full disks need root and mounts: {why}");
        return;
    }
    let _mounted = Mounted(vec![disk.clone()]);
    // It runs as another user, who must be able to come this far.
    run("chmod", &["755", text(&home)]).unwrap();
    let Some(server) = PostgresServer::start_in(|| disk.join("postgres"), None) else { return };
    tokio::runtime::Runtime::new().unwrap().block_on(story(&disk, &home, &server));
}
