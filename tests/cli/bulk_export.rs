//! The files of `mfa NOUN export --out`.

use crate::support::run::run;
use crate::support::world::World;
use serde_json::json;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn an_export_that_fails_leaves_the_last_one_and_one_that_ends_is_private() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Addo"}"#).is(202);
    let file = world.dir.path().join("all.csv");
    let export = |format: &str, more: &[&str]| {
        let words = ["customers", "export", "-o", format, "--out", file.to_str().unwrap()];
        run(world.mfa(&[&words[..], more].concat()))
    };
    let names = || fs::read_dir(world.dir.path()).unwrap().count();
    for format in ["csv", "jsonl", "json", "yaml"] {
        fs::write(&file, "the last one").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let before = names();
        export(format, &["--url", "http://127.0.0.1:1", "--retries", "0"]).fails(10);
        assert_eq!(fs::read_to_string(&file).unwrap(), "the last one", "{format}");
        export(format, &[]).ok();
        assert_eq!(names(), before, "{format}");
        assert!(fs::read_to_string(&file).unwrap().contains("Addo"), "{format}");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{format}");
    }
}

#[test]
fn an_export_goes_into_a_pipe_and_through_a_link() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Addo"}"#).is(202);
    let place = |name: &str| world.dir.path().join(name);
    let export = |out: &str| {
        let mut command = world.mfa(&["customers", "export", "-o", "csv", "--out", out]);
        command.current_dir(world.dir.path());
        run(command)
    };
    fs::write(place("target.csv"), "").unwrap();
    symlink("target.csv", place("link.csv")).unwrap();
    export("link.csv").ok();
    assert!(place("link.csv").is_symlink());
    assert!(fs::read_to_string(place("target.csv")).unwrap().contains("Addo"));
    assert!(export("/dev/stdout").ok().contains("Addo"));
    assert!(Command::new("mkfifo").arg(place("pipe")).status().unwrap().success());
    let pipe = place("pipe");
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    export("pipe").ok();
    assert!(reader.join().unwrap().contains("Addo"));
    let said = export("missing/all.csv").fails(1);
    assert!(said.contains("cannot write missing/all.csv"), "{said}");
}

#[test]
fn an_export_refuses_to_choose_columns_and_can_leave_out_their_names() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Addo","member":true}"#).is(202);
    let file = world.dir.path().join("all.csv");
    for format in ["csv", "json", "jsonl", "yaml"] {
        for (flag, value, list) in [
            ("--columns", "identifier,surname", "mfa customers export -o tsv --columns NAME,..."),
            ("--columns", "identifer", "mfa customers export -o tsv --columns NAME,..."),
            ("--jq", ".[].identifier", "mfa customers export -o tsv --jq EXPRESSION"),
        ] {
            let line = ["customers", "export", "-o", format, "--out", file.to_str().unwrap(), flag, value];
            let said = run(world.mfa(&line)).fails(2);
            assert!(said.contains(&format!("{flag} cannot be used")) && said.contains(list), "{said}");
            assert!(!file.exists(), "{line:?}");
        }
    }
    let chosen = ["customers", "export", "-o", "tsv", "--jq", ".[].identifier"];
    assert_eq!(run(world.mfa(&chosen)).ok(), "c-1\n");
    let table = ["customers", "export", "-o", "tsv", "--columns", "identifier,surname", "--no-header"];
    assert_eq!(run(world.mfa(&table)).ok(), "c-1\tAddo\n");
    let whole = run(world.mfa(&["customers", "export"])).ok();
    let rows = run(world.mfa(&["customers", "export", "--no-header"])).ok();
    assert_eq!(Some(rows.as_str()), whole.split_once('\n').map(|(_, rows)| rows));
    assert!(rows.starts_with("c-1,"), "{rows}");
}

#[test]
fn an_interrupted_export_leaves_the_last_one_and_nothing_beside_it() {
    let world = World::start();
    let folder = world.dir.path().join("made");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("all.csv");
    fs::write(&file, "the last one").unwrap();
    // A daemon that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let names = || fs::read_dir(&folder).unwrap().count();
    let words = ["customers", "export", "--out", file.to_str().unwrap(), "-o", "csv", "--url", &url];
    let mut child = world.mfa(&words).stderr(Stdio::null()).spawn().unwrap();
    while names() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    // Its request is there, so it waits for the answer.
    silent.accept().unwrap();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((names(), fs::read_to_string(&file).unwrap().as_str()), (1, "the last one"));
}

#[test]
fn an_export_that_a_device_or_a_pipe_does_not_take_fails_and_names_it() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1","surname":"Addo"}"#).is(202);
    for format in ["csv", "jsonl", "json", "yaml"] {
        let said = run(world.mfa(&["customers", "export", "-o", format, "--out", "/dev/full"])).fails(1);
        assert!(said.contains("cannot write /dev/full: No space left on device"), "{format}: {said}");
    }
    let pipe = world.dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A daemon that answers once the reader of the pipe has left.
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", slow.local_addr().unwrap());
    let words = ["customers", "export", "--out", pipe.to_str().unwrap(), "-o", "csv", "--url", &url];
    let child = world.mfa(&words).stderr(Stdio::piped()).spawn().unwrap();
    let reader = fs::File::open(&pipe).unwrap();
    let (mut asked, _) = slow.accept().unwrap();
    drop(reader);
    // A program that another test is starting may still have a copy of it.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    while OpenOptions::new().write(true).custom_flags(nonblocking).open(&pipe).is_ok() {
        sleep(Duration::from_millis(5));
    }
    let length = asked.read(&mut [0; 65536]).unwrap();
    assert!(length > 0);
    let record = r#"{"identifier":"c-1","surname":"Addo"}"#;
    let head =
        "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-type: application/x-ndjson\r\nconnection: close";
    write!(asked, "{head}\r\ncontent-length: {}\r\n\r\n{record}\n", record.len() + 1).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot write {}: Broken pipe", pipe.display())), "{said}");
}

#[test]
fn an_export_whose_reader_has_seen_enough_ends_quietly() {
    let world = World::start();
    let customer = |number: usize| {
        let body = json!({ "identifier": format!("c-{number}"), "surname": "x".repeat(256) });
        json!({ "method": "POST", "path": "/customers", "body": body })
    };
    // More than a pipe holds.
    let list: Vec<_> = (0..500).map(customer).collect();
    world.post("/batch", json!({ "operations": list }).to_string()).is(200);
    for format in ["csv", "jsonl", "json", "table"] {
        let mut export = world.mfa(&["customers", "export", "-o", format]);
        let mut child = export.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!((ended.status.code(), said.as_str()), (Some(0), ""), "{format}");
    }
}
