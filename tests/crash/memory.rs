//! A control group with little memory: what the kernel can give back harms nothing, and a daemon that the
//! kernel ends for the memory that it takes loses nothing.

use super::{Acknowledged, Process, WRITERS, client, folder_in, random, verify, write};
use crate::support::images::{form, part, picture};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Daemons that the kernel ends.
const ENDS: usize = 10;
/// Memory that a daemon has on top of what it takes before its first request, MiB.
const SPARE_MIB: u64 = 24;
/// Memory of a daemon that reads and writes far more than this, MiB.
const SMALL_MIB: u64 = 192;
/// Portraits of such a daemon, and their bytes: more than twice its memory.
const PORTRAITS: usize = 800;
const PORTRAIT_BYTES: usize = 524_288;

/// Where a store counts as files; in a file system in memory it would count as memory of the daemon.
const DISK: &str = "/var/tmp";

/// A control group of its own, of either version; it is removed at the end.
struct Group {
    dir: PathBuf,
    limit: &'static str,
    used: &'static str,
    kills: &'static str,
}

impl Group {
    fn new(name: &str) -> Result<Self, String> {
        let root = Path::new("/sys/fs/cgroup");
        let name = format!("mfa-test-{}-{name}", std::process::id());
        let made = |dir: PathBuf| fs::create_dir(&dir).map(|()| dir).map_err(|error| error.to_string());
        if root.join("memory/memory.limit_in_bytes").exists() {
            let dir = made(root.join("memory").join(name))?;
            let (limit, used) = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            return Ok(Self { dir, limit, used, kills: "memory.oom_control" });
        }
        if !root.join("cgroup.controllers").exists() {
            return Err("there is no /sys/fs/cgroup".to_owned());
        }
        // The group of this process may give its controllers to no other one.
        fs::write(root.join("cgroup.subtree_control"), "+memory").map_err(|error| error.to_string())?;
        let dir = made(root.join(name))?;
        let group = Self { dir, limit: "memory.max", used: "memory.current", kills: "memory.events" };
        if !group.dir.join(group.limit).exists() {
            return Err("the kernel counts no memory".to_owned());
        }
        Ok(group)
    }

    /// The command, in the group from its first instruction on.
    fn around(&self, command: &Command) -> Command {
        let mut around = Command::new("sh");
        around.args(["-c", r#"echo $$ > "$0" && exec "$@""#]).arg(self.dir.join("cgroup.procs"));
        around.arg(command.get_program()).args(command.get_args()).env_clear();
        around.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        around
    }

    /// Sets how many bytes it may take.
    fn limit(&self, bytes: u64) {
        fs::write(self.dir.join(self.limit), bytes.to_string()).unwrap();
        // Where there is swap, a process that has no memory left would become slow instead.
        let swap = match self.limit {
            "memory.max" => ("memory.swap.max", 0),
            _ => ("memory.memsw.limit_in_bytes", bytes),
        };
        let _ = fs::write(self.dir.join(swap.0), swap.1.to_string());
    }

    fn unlimited(&self) {
        for (name, all) in [("memory.memsw.limit_in_bytes", "-1"), ("memory.limit_in_bytes", "-1")] {
            let _ = fs::write(self.dir.join(name), all);
        }
        let _ = fs::write(self.dir.join("memory.max"), "max");
    }

    /// Bytes that its processes take, files that the kernel keeps for them included.
    fn used(&self) -> u64 {
        fs::read_to_string(self.dir.join(self.used)).unwrap().trim().parse().unwrap()
    }

    /// Processes that were ended for their memory.
    fn kills(&self) -> u64 {
        let text = fs::read_to_string(self.dir.join(self.kills)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        line.unwrap().parse().unwrap()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just ended may still be in it.
        for _ in 0..100 {
            if fs::remove_dir(&self.dir).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn group(name: &str) -> Option<Group> {
    Group::new(name)
        .inspect_err(|why| println!("SKIPPED: limits of memory need root and cgroups: {why}"))
        .ok()
}

async fn start(group: &Group, home: &Path, http: &reqwest::Client) -> Process {
    let listen = crate::support::served::free_address();
    let mut command = Process::command(home, &home.join("data"), &listen);
    command.env("MFA_URL", format!("http://{listen}"));
    Process::start_as(home, group.around(&command), http).await
}

/// Memory of a process that the kernel cannot take back, bytes.
fn own_memory(process: &Process) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", process.child.id())).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Asks for large things side by side until the daemon is gone: batches that change nothing.
async fn burden(http: reqwest::Client, url: String, stop: Arc<AtomicBool>) {
    let operation = |number: usize| {
        let body = json!({ "identifier": format!("never-{number}"), "surname": "x".repeat(200) });
        json!({ "method": "POST", "path": "/customers", "body": body })
    };
    let operations: Vec<_> = (0..1_000).map(operation).collect();
    let body = json!({ "atomic": true, "operations": operations }).to_string();
    while !stop.load(SeqCst) {
        let request = http.post(format!("{url}/batch")).header("dry-run", "true").body(body.clone());
        if request.send().await.is_err() {
            return;
        }
    }
}

/// How many customers were acknowledged.
fn acknowledged(known: &Acknowledged) -> usize {
    known.lock().unwrap().values().filter(|known| !known.surname.is_empty()).count()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_kernel_ends_the_daemon() {
    let Some(group) = group("end") else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (_kept, home) = folder_in(Path::new(DISK));
        let http = client();
        let known: Acknowledged = Arc::default();
        for end in 0..ENDS {
            group.unlimited();
            let mut process = start(&group, &home, &http).await;
            let before = group.kills();
            let stop = Arc::new(AtomicBool::new(false));
            let writers: Vec<_> = (0..WRITERS)
                .map(|w| {
                    let (http, url) = (http.clone(), process.url.clone());
                    tokio::spawn(write(http, url, format!("m{end}-{w}"), known.clone(), stop.clone()))
                })
                .collect();
            // Also on a busy machine there is something to lose.
            let begun = Instant::now();
            while acknowledged(&known) <= (end + 1) * WRITERS {
                assert!(begun.elapsed() < Duration::from_secs(60), "no one works");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(100 + random(300))).await;
            group.limit(own_memory(&process) + (SPARE_MIB << 20));
            let burdens: Vec<_> = (0..2 * WRITERS)
                .map(|_| tokio::spawn(burden(http.clone(), process.url.clone(), stop.clone())))
                .collect();
            let begun = Instant::now();
            let status = loop {
                if let Some(status) = process.child.try_wait().unwrap() {
                    break status;
                }
                assert!(begun.elapsed() < Duration::from_secs(60), "the memory was enough: {}", group.used());
                tokio::time::sleep(Duration::from_millis(5)).await;
            };
            assert_eq!((status.signal(), group.kills()), (Some(9), before + 1), "{status}");
            stop.store(true, SeqCst);
            for task in writers.into_iter().chain(burdens) {
                task.await.unwrap();
            }
        }
        group.unlimited();
        let process = start(&group, &home, &http).await;
        let all: BTreeMap<_, _> = known.lock().unwrap().clone();
        assert_eq!(verify(&http, &process.url, &all).await, Vec::<String>::new());
        let confirmed = acknowledged(&known);
        assert!(confirmed > ENDS * WRITERS, "{confirmed}");
        println!("ended {ENDS} times, {confirmed} acknowledged customers, 0 lost");
    });
}

#[test]
fn a_daemon_with_little_memory_serves_many_times_as_many_bytes() {
    let Some(group) = group("small") else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (_kept, home) = folder_in(Path::new(DISK));
        let http = client();
        let process = start(&group, &home, &http).await;
        group.limit(SMALL_MIB << 20);
        let pattern = picture(PORTRAIT_BYTES, 1);
        let portrait = |number: usize| [&number.to_be_bytes()[..], &pattern[8..]].concat();
        let body = |number| form("b", &[part("portrait", Some("image/png"), &portrait(number))]);
        for number in 0..PORTRAITS {
            let customer = json!({ "identifier": format!("c-{number}") }).to_string();
            let sent = http.post(format!("{}/customers", process.url)).body(customer).send().await.unwrap();
            assert_eq!(sent.status(), 202);
            let request = http.post(format!("{}/customers/c-{number}/portrait", process.url));
            let request =
                request.header("content-type", "multipart/form-data; boundary=b").body(body(number));
            assert_eq!(request.send().await.unwrap().status(), 202, "{number}");
        }
        for number in 0..PORTRAITS {
            let got =
                http.get(format!("{}/customers/c-{number}/portrait", process.url)).send().await.unwrap();
            assert!(got.bytes().await.unwrap() == portrait(number), "{number}");
        }
        assert_eq!(group.kills(), 0);
        let written = (PORTRAITS * PORTRAIT_BYTES) as u64 >> 20;
        assert!(written > 2 * SMALL_MIB);
        let (own, used) = (own_memory(&process) >> 20, group.used() >> 20);
        println!("{written} MiB written and read in {SMALL_MIB} MiB: {used} in use, {own} of them its own");
    });
}
