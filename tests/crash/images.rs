//! Images under SIGKILL and loss of power: what was acknowledged is there byte for byte, what was removed
//! is gone, and nothing is left that no record names.

use super::power::Rig;
use super::{Process, client, folder, random};
use crate::support::images::{form, hash, part, picture};
use mfa_daemon::Clock;
use mfa_daemon::store::Store;
use mfa_daemon::store::embedded::{Embedded, Options};
use reqwest::{Client, Method};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Customers, each with a writer, a portrait, and a card with scans.
const WRITERS: usize = 8;
const SCANS: usize = 3;
/// Different pictures. They are few, so that records of several writers name the same one.
const PICTURES: u64 = 24;
/// Bytes of the pictures, one after the other; a draft above 32 KiB is a file before it is complete.
const SIZES: [usize; 4] = [1, 900, 40_000, 150_000];
/// Kills of a run, and power cuts.
const KILLS: usize = 60;
const CUTS: usize = 30;
/// Time in which what a crash has left must be swept.
const SWEEP_MAX: Duration = Duration::from_secs(30);

/// A picture, or none.
type Shown = Option<u64>;

fn bytes(picture_number: u64) -> Vec<u8> {
    let size = SIZES[usize::try_from(picture_number).unwrap() % SIZES.len()];
    picture(size, u32::try_from(picture_number).unwrap())
}

/// What one place was asked to show, in the order of the requests, and how many of them were acknowledged.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    sent: Vec<Shown>,
    acknowledged: usize,
}

/// Every place of an image by its path.
type Places = BTreeMap<String, Asked>;
type Known = Arc<Mutex<Places>>;

fn card(writer: usize) -> String {
    format!("/customers/c-{writer}/identifications")
}

fn portrait(writer: usize) -> String {
    format!("/customers/c-{writer}/portrait")
}

fn scan(writer: usize, scan: usize) -> String {
    format!("{}/A-{writer}/scans/s-{scan}/image", card(writer))
}

fn nothing() -> Places {
    let paths = (0..WRITERS).flat_map(|w| (0..SCANS).map(move |s| scan(w, s)).chain([portrait(w)]));
    paths.map(|path| (path, Asked { sent: vec![None], acknowledged: 1 })).collect()
}

/// One of the writers.
struct Writer {
    number: usize,
    http: Client,
    url: String,
    known: Known,
}

impl Writer {
    /// Sends a request that makes places show something; false if the daemon is gone.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        image: Option<(&str, u64)>,
        places: &[(String, Shown)],
    ) -> bool {
        for (place, shown) in places {
            self.known.lock().unwrap().get_mut(place).unwrap().sent.push(*shown);
        }
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some((name, number)) = image {
            let form = form("b", &[part(name, Some("image/png"), &bytes(number))]);
            request = request.header("content-type", "multipart/form-data; boundary=b").body(form);
        }
        match request.send().await.map(|answer| answer.status().as_u16()) {
            Ok(202) => {}
            Ok(503) | Err(_) => return false,
            Ok(status) => panic!("{path} was answered with {status}"),
        }
        for (place, _) in places {
            let mut known = self.known.lock().unwrap();
            let asked = known.get_mut(place).unwrap();
            asked.acknowledged = asked.sent.len();
        }
        true
    }

    fn shows(&self, place: &str) -> Shown {
        *self.known.lock().unwrap()[place].sent.last().unwrap()
    }

    /// Makes the card, unless a crash has left it.
    async fn prepare(&self) -> bool {
        let number = self.number;
        let date = json!({ "year": 2031, "month": 8, "day": 14 });
        let record = json!({ "type": "National", "number": format!("A-{number}"), "expirationDate": date });
        let customer = json!({ "identifier": format!("c-{number}") });
        for (path, body) in [("/customers".to_owned(), customer), (card(number), record)] {
            let sent = self.http.post(format!("{}{path}", self.url)).body(body.to_string()).send().await;
            match sent.map(|answer| answer.status().as_u16()) {
                Ok(202 | 409) => {}
                Ok(503) | Err(_) => return false,
                Ok(status) => panic!("{path} was answered with {status}"),
            }
        }
        true
    }

    /// Changes images until it is stopped or the daemon is gone.
    async fn run(self, stop: Arc<AtomicBool>) {
        let mut there = self.prepare().await;
        while there && !stop.load(SeqCst) {
            there = self.step().await;
        }
    }

    async fn step(&self) -> bool {
        let (writer, number) = (self.number, random(PICTURES));
        match random(12) {
            0 => {
                // A card goes with all of its scans, in one transaction.
                let places: Vec<_> = (0..SCANS).map(|s| (scan(writer, s), None)).collect();
                let path = format!("{}/A-{writer}", card(writer));
                self.ask(Method::DELETE, &path, None, &places).await && self.prepare().await
            }
            1..=2 => self.ask(Method::DELETE, &portrait(writer), None, &[(portrait(writer), None)]).await,
            3..=6 => {
                let place = [(portrait(writer), Some(number))];
                self.ask(Method::POST, &portrait(writer), Some(("portrait", number)), &place).await
            }
            _ => {
                let s = usize::try_from(random(SCANS as u64)).unwrap();
                let place = scan(writer, s);
                let scans = format!("{}/A-{writer}/scans", card(writer));
                if self.shows(&place).is_some() {
                    let path = format!("{scans}/s-{s}");
                    return self.ask(Method::DELETE, &path, None, &[(place, None)]).await;
                }
                let path = format!("{scans}?scanIdentifier=s-{s}&description=");
                self.ask(Method::POST, &path, Some(("image", number)), &[(place, Some(number))]).await
            }
        }
    }
}

fn start_writers(
    http: &Client,
    url: &str,
    known: &Known,
    stop: &Arc<AtomicBool>,
) -> Vec<tokio::task::JoinHandle<()>> {
    let start = |number| {
        let writer = Writer { number, http: http.clone(), url: url.to_owned(), known: known.clone() };
        tokio::spawn(writer.run(stop.clone()))
    };
    (0..WRITERS).map(start).collect()
}

/// Reads every place and compares it with what may be there. Returns what is there, and what is wrong.
async fn look(http: &Client, url: &str, allowed: &Places) -> (Places, Vec<String>) {
    let (mut found, mut wrong) = (Places::new(), Vec::new());
    for (path, asked) in allowed {
        let answer = http.get(format!("{url}{path}")).send().await.unwrap();
        let status = answer.status().as_u16();
        // A truncated answer is not what was acknowledged.
        let seen = answer.bytes().await.unwrap_or_default();
        let may_be = &asked.sent[asked.acknowledged - 1..];
        let same = |shown: &&Shown| match shown {
            Some(number) => status == 200 && seen == bytes(*number),
            None => status == 404,
        };
        match may_be.iter().find(same) {
            Some(shown) => {
                found.insert(path.clone(), Asked { sent: vec![*shown], acknowledged: 1 });
            }
            None => {
                wrong.push(format!("{path} is {status} with {} bytes, and may be {may_be:?}", seen.len()))
            }
        }
    }
    (found, wrong)
}

/// Waits until there is a file for each picture that is shown, and no other one.
async fn swept(data: &Path, found: &Places) -> Result<(), String> {
    let shown = found.values().filter_map(|asked| asked.sent[0]);
    let expected: BTreeSet<String> = shown.map(|number| hash(&bytes(number))).collect();
    let begun = Instant::now();
    loop {
        let mut files = BTreeSet::new();
        for folder in std::fs::read_dir(data.join("objects")).unwrap() {
            let files_of = std::fs::read_dir(folder.unwrap().path()).unwrap();
            files.extend(files_of.map(|file| file.unwrap().file_name().into_string().unwrap()));
        }
        if files == expected {
            return Ok(());
        }
        if begun.elapsed() > SWEEP_MAX {
            let (more, less) = (files.difference(&expected).count(), expected.difference(&files).count());
            return Err(format!("{more} files that no record names, {less} missing"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Changes that each daemon acknowledges before it is killed.
const ACKNOWLEDGED_EACH: usize = 6;

#[test]
fn a_killed_daemon_loses_no_acknowledged_image_and_leaves_none_over() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (_kept, home) = folder();
        let (data, http) = (home.join("data"), client());
        let (mut places, mut acknowledged) = (nothing(), 0);
        for kill in 0..KILLS {
            let process = Process::start(&home, &data, &http).await;
            let (found, wrong) = look(&http, &process.url, &places).await;
            assert_eq!(wrong, Vec::<String>::new(), "after kill {kill}");
            assert_eq!(swept(&data, &found).await, Ok(()), "after kill {kill}");
            let (known, stop) = (Arc::new(Mutex::new(found)), Arc::default());
            let writers = start_writers(&http, &process.url, &known, &stop);
            // On a busy machine the first answers take their time, and a kill before them shows nothing.
            let answered =
                || known.lock().unwrap().values().map(|asked| asked.acknowledged - 1).sum::<usize>();
            let patience = Instant::now() + Duration::from_secs(10);
            while answered() < ACKNOWLEDGED_EACH && Instant::now() < patience {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            tokio::time::sleep(Duration::from_millis(random(200))).await;
            process.kill();
            for writer in writers {
                writer.await.unwrap();
            }
            places = known.lock().unwrap().clone();
            acknowledged += places.values().map(|asked| asked.acknowledged - 1).sum::<usize>();
        }
        // What the last kill has left, seen by the check, and mended by it.
        let store = Store::new(Embedded::open(Options::new(&data)).unwrap(), Clock::system(), false);
        let report = store.check_images().await.unwrap();
        assert_eq!(report.defects, []);
        assert_eq!(store.sweep_images().await.unwrap(), report.orphans.len() as u64);
        let after = store.check_images().await.unwrap();
        assert_eq!((after.defects, after.orphans), (vec![], vec![]));
        store.close().await;
        assert!(acknowledged > KILLS * 5, "only {acknowledged} were acknowledged");
        println!("{KILLS} kills, {acknowledged} acknowledged changes of images, 0 lost, 0 left over");
    });
}

#[test]
fn no_acknowledged_image_is_lost_when_the_power_is_cut() {
    let (_kept, home) = folder();
    let mut rig = match Rig::new(&home) {
        Ok(rig) => rig,
        Err(why) => {
            println!("SKIPPED: power cuts need root, loop devices and xfsprogs: {why}");
            return;
        }
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let http = client();
        let (known, stop) = (Arc::new(Mutex::new(nothing())), Arc::default());
        let process = Process::start(&home, &rig.data.join("data"), &http).await;
        let writers = start_writers(&http, &process.url, &known, &stop);
        for cut in 0..CUTS {
            tokio::time::sleep(Duration::from_millis(20 + random(200))).await;
            let before = known.lock().unwrap().clone();
            rig.cut().await;
            // What was asked for while the copy was made may be in it or not.
            let mut allowed = known.lock().unwrap().clone();
            for (path, asked) in &mut allowed {
                asked.acknowledged = before[path].acknowledged;
            }
            let after = rig.mount_copy().join("data");
            let restarted = Process::start(&home, &after, &http).await;
            let (found, wrong) = look(&http, &restarted.url, &allowed).await;
            let left = if wrong.is_empty() { swept(&after, &found).await } else { Ok(()) };
            drop(restarted);
            rig.drop_copy();
            assert_eq!((wrong, left), (vec![], Ok(())), "after cut {cut}");
        }
        stop.store(true, SeqCst);
        for writer in writers {
            writer.await.unwrap();
        }
        let acknowledged = known.lock().unwrap().values().map(|asked| asked.acknowledged - 1).sum::<usize>();
        println!("{CUTS} cuts, {acknowledged} acknowledged changes of images, 0 lost, 0 left over");
    });
}
