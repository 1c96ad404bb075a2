//! Stores that earlier programs made (`tests/stores`): this program opens each with all that it holds.

use super::full::{fill, on_tmpfs};
use super::{Process, client, random};
use crate::support::images::hash;
use crate::support::run::run;
use crate::support::stored::{close_and_pack, files};
use crate::support::template::copy_folder;
use crate::support::world::mfa;
use memchr::memmem;
use mfa_daemon::domain::bootstrap;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Kills on the way from what a program before left to what this one makes of it.
const KILLS: usize = 50;

/// The kept stores, each unpacked in a folder: `data`, `data.key` and `shown.json`.
fn kept() -> Vec<(String, tempfile::TempDir)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("tests/stores");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let stores: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "gz")).collect();
    assert!(!stores.is_empty(), "no store is kept");
    let unpack = |path: &PathBuf| {
        let dir = tempfile::tempdir().unwrap();
        let unpacked = Command::new("tar").arg("-xzf").arg(path).arg("-C").arg(dir.path()).status().unwrap();
        assert!(unpacked.success(), "{}", path.display());
        (path.file_name().unwrap().to_string_lossy().into_owned(), dir)
    };
    stores.iter().map(unpack).collect()
}

/// A daemon with access control over such a folder.
fn command(home: &Path) -> Command {
    let data = home.join("data");
    let listen = crate::support::served::free_address();
    let mut command =
        mfa(home, &["daemon", "run", "--data-dir", data.to_str().unwrap(), "--listen", &listen]);
    command.env("MFA_URL", format!("http://{listen}"));
    command
}

/// Whether everything of the older answer is in the present one; what is new there is of no matter.
fn holds(now: &Value, before: &Value) -> bool {
    match (now, before) {
        // How make.py keeps an amount.
        (Value::Number(now), Value::Object(kept)) => kept.get("decimal") == Some(&json!(now.to_string())),
        (Value::Object(now), Value::Object(before)) => {
            before.iter().all(|(name, before)| now.get(name).is_some_and(|now| holds(now, before)))
        }
        (Value::Array(now), Value::Array(before)) => {
            now.len() == before.len() && now.iter().zip(before).all(|(now, before)| holds(now, before))
        }
        (now, before) => now == before,
    }
}

/// What reads of a running daemon show otherwise than they did with the program that made the store.
async fn differences(http: &reqwest::Client, url: &str, kept: &Value) -> Vec<String> {
    let login = json!({ "grant_type": "password", "username": "ama", "password": kept["password"] });
    let sent = http.post(format!("{url}/token")).header("content-type", "application/json");
    let answer = sent.body(login.to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 200, "the user of before logs in");
    let token: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let token = token["access_token"].as_str().unwrap();
    let mut found = Vec::new();
    let mut answers = Vec::new();
    for (path, before) in kept["shown"].as_object().unwrap() {
        // Without a date a trial balance is of today, and that was another day.
        let day = before["asOf"].as_str().map_or_else(String::new, |day| format!("?asOf={day}"));
        let answer = http.get(format!("{url}{path}{day}")).bearer_auth(token).send().await.unwrap();
        let status = answer.status();
        let bytes = answer.bytes().await.unwrap();
        let now = match before {
            Value::String(_) => Value::String(hash(&bytes)),
            _ => serde_json::from_slice(&bytes).unwrap_or_default(),
        };
        // Groups and rights of later endpoints are added.
        let grown = ["/permittablegroups", "/roles"].contains(&path.as_str());
        if status != 200 || !(grown && among(&now, before) || holds(&now, before)) {
            found.push(format!("{path}: {status}: {now}\nbefore: {before}"));
        }
        if path == "/permittablegroups" {
            let has = |name: &str| now.as_array().unwrap().iter().any(|group| group["identifier"] == name);
            let lacking = bootstrap::groups().map(|group| group.identifier).filter(|group| !has(group));
            found.extend(lacking.map(|group| format!("{path} lacks {group}: see LATER_GROUPS")));
        }
        answers.push((path.split('?').next().unwrap(), now));
    }
    found.extend(answers.iter().flat_map(|(path, now)| lacking(path, now, &answers)));
    found
}

/// What the read of one record lacks, and the list that has the record shows: a record that is stored under its
/// wire type is read as its bytes are, so a field that was added later needs a step in `upgrade.rs`.
fn lacking(path: &str, record: &Value, answers: &[(&str, Value)]) -> Vec<String> {
    let (above, name) = path.rsplit_once('/').unwrap();
    let listed = answers.iter().filter(|(list, _)| *list == above).flat_map(|(_, answer)| match answer {
        Value::Object(page) => page.values().find_map(Value::as_array),
        list => list.as_array(),
    });
    let is_it = |shown: &&Value| ["identifier", "number", "code"].iter().any(|key| shown[*key] == name);
    let fields = listed.flatten().filter(is_it).filter_map(Value::as_object).flat_map(|shown| shown.keys());
    let lacks = fields.filter(|field| record.get(field.as_str()).is_none());
    lacks
        .map(|field| format!("{path} lacks {field}, which {above} shows: see daemon/src/upgrade.rs"))
        .collect()
}

/// Whether each record of the older list is in the present one, with what it held.
fn among(now: &Value, before: &Value) -> bool {
    let (now, before) = (now.as_array().unwrap(), before.as_array().unwrap());
    let more = |now: &Value, before: &Value| match (now, before) {
        (Value::Array(now), Value::Array(before)) => {
            before.iter().all(|before| now.iter().any(|now| holds(now, before)))
        }
        (now, before) => holds(now, before),
    };
    let grown = |now: &Value, before: &Value| {
        before.as_object().unwrap().iter().all(|(name, before)| more(&now[name], before))
    };
    before.iter().all(|before| now.iter().any(|now| grown(now, before)))
}

fn shown(home: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(home.join("shown.json")).unwrap()).unwrap()
}

#[test]
#[ignore = "tests/stores/make runs it over a store that is to be kept"]
fn a_store_that_is_kept_has_a_packed_file_and_a_checkpoint() {
    let (plain, packed) = close_and_pack(Path::new(&std::env::var_os("MFA_KEEP").unwrap()));
    assert!(packed < plain);
}

#[test]
fn a_store_of_every_earlier_program_opens_with_all_that_it_holds() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let http = client();
    for (name, dir) in kept() {
        let home = dir.path();
        for _ in 0..2 {
            let process = runtime.block_on(Process::start_as(home, command(home), &http));
            let found = runtime.block_on(differences(&http, &process.url, &shown(home)));
            assert!(found.is_empty(), "{name}: {}", found.join("\n"));
            process.kill();
        }
        let data = home.join("data");
        for what in ["store", "ledger", "references"] {
            let ran = run(mfa(home, &["check", what, "--data-dir", data.to_str().unwrap(), "-o", "json"]));
            let list: Value = serde_json::from_str(&ran.out).unwrap();
            let broken = |found: &&Value| what != "references" && !found.is_null();
            let broken: Vec<_> = list.as_array().unwrap().iter().filter(broken).collect();
            assert!(broken.is_empty(), "{name}: {broken:?}");
        }
    }
}

#[test]
fn a_store_of_an_earlier_program_survives_kills_on_its_way_to_this_one() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let http = client();
    for (name, dir) in kept() {
        let left = tempfile::tempdir().unwrap();
        copy_folder(dir.path(), left.path());
        for kill in 0..KILLS {
            // Half of the kills meet the store as the earlier program left it, the others one that was killed before.
            let fresh = tempfile::tempdir().unwrap();
            let home = if kill % 2 == 0 { fresh.path() } else { left.path() };
            if kill % 2 == 0 {
                copy_folder(dir.path(), home);
            }
            let process = Process::spawn_as(home, command(home));
            std::thread::sleep(Duration::from_millis(random(400)));
            process.kill();
            if kill % 10 < 2 || kill + 1 == KILLS {
                let process = runtime.block_on(Process::start_as(home, command(home), &http));
                let found = runtime.block_on(differences(&http, &process.url, &shown(home)));
                assert!(found.is_empty(), "{name}, kill {kill}: {}", found.join("\n"));
                process.kill();
            }
        }
    }
}

#[test]
fn a_backup_and_a_record_precede_an_upgrade_unless_a_setting_says_no() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let http = client();
    let step = |name: &str| match name {
        _ if name.starts_with("form-1-") => Some("/dataDirectoryForm"),
        _ if name.starts_with("form-2-") => Some("/recordForm"),
        _ => None,
    };
    for (name, dir) in kept() {
        let Some(step) = step(&name) else { continue };
        let taken = dir.path().join("no folder");
        fs::write(&taken, "").unwrap();
        let refused = command(dir.path()).env("MFA_BACKUP_DIR", &taken).output().unwrap();
        let why = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && why.contains(&taken.display().to_string()), "{name}: {why}");
        fs::remove_file(taken).unwrap();
        for (wanted, expected) in [("true", 1), ("false", 0)] {
            let fresh = tempfile::tempdir().unwrap();
            let home = fresh.path();
            copy_folder(dir.path(), home);
            for _ in 0..2 {
                let mut command = command(home);
                command.env("MFA_UPGRADE_BACKUP", wanted);
                runtime.block_on(Process::start_as(home, command, &http)).kill();
            }
            let made = fs::read_dir(home.join("data.before-upgrade")).into_iter().flatten();
            let made: Vec<_> = made.map(|entry| entry.unwrap().path()).collect();
            assert_eq!(made.len(), expected, "{name}: {made:?}");
            let journal = files(&home.join("data/journal"));
            let reported = |(_, bytes): &(String, Vec<u8>)| memmem::find_iter(bytes, step).count();
            assert_eq!(journal.iter().map(reported).sum::<usize>(), 1, "{name}: the trail says it once");
            for file in made {
                let (file, restored) = (file.to_str().unwrap(), home.join("restored"));
                let (target, key) = (restored.to_str().unwrap(), home.join("data.key"));
                let command = ["backup", "restore", file, "--data-dir", target, "--key-file"];
                run(mfa(home, &[&command[..], &[key.to_str().unwrap()]].concat())).ok();
                run(mfa(home, &["check", "store", "--data-dir", target])).ok();
            }
        }
    }
}

#[test]
fn an_earlier_store_on_a_full_disk_is_served_as_it_is_and_upgraded_by_a_later_start() {
    let (_, kept) = kept().into_iter().find(|(name, _)| name.starts_with("form-2-")).unwrap();
    on_tmpfs("12m", async |disk, home| {
        copy_folder(kept.path(), disk);
        let http = client();
        let times = |text: &[u8]| {
            let journal = files(&disk.join("data/journal")).into_iter();
            journal.map(|(_, bytes)| memmem::find_iter(&bytes, text).count()).sum::<usize>()
        };
        let backups = || fs::read_dir(disk.join("data.before-upgrade")).into_iter().flatten().count();
        // An earlier program, which may still open the store, could not read the pieces of this one.
        let pieces = || times(b"a ama\0");
        let before = pieces();
        fill(disk);
        for filled in [true, false] {
            let process = Process::start_as(home, command(disk), &http).await;
            if !filled {
                fs::remove_file(disk.join("filler")).unwrap();
            }
            let found = differences(&http, &process.url, &shown(disk)).await;
            assert!(found.is_empty(), "{}", found.join("\n"));
            // Longer than the lists of the trail wait for new records.
            tokio::time::sleep(Duration::from_secs(1)).await;
            process.kill();
            assert_eq!((backups(), times(br#""form":2"#), pieces()), (0, 0, before));
        }
        for _ in 0..2 {
            let process = Process::start_as(home, command(disk), &http).await;
            let begin = Instant::now();
            while pieces() == before {
                assert!(begin.elapsed() < Duration::from_secs(60), "the lists go on");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            process.kill();
            assert_eq!((backups(), times(br#""form":2"#)), (1, 1));
        }
    });
}
