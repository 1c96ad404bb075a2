//! Portraits and scans: sent from files and pipes, saved unchanged, drawn in the terminal.

use crate::support::images::{LIMIT, hash, picture};
use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::world::{World, mfa};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// 24 x 32 dots.
pub const FACE: &[u8] = include_bytes!("pictures/face.png");
/// 32 x 16 dots in eight shades of grey.
pub const CARD: &[u8] = include_bytes!("pictures/card.jpg");

const SCANS: [&str; 2] = ["c-001", "GHA-001122334-5"];

fn institution() -> World {
    let world = World::start();
    sample(&world);
    world
}

fn file(world: &World, name: &str, bytes: &[u8]) -> String {
    let path = world.dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

/// Runs `mfa` with bytes on standard input; its stdout as it is, and what it said.
fn piped(world: &World, line: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let mut command = world.mfa(line);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that refuses early does not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code().unwrap(), stdout, String::from_utf8(stderr).unwrap())
}

/// Runs `mfa` with a terminal of 40 columns and 24 lines as all of its ends.
pub fn at_terminal(world: &World, line: &[&str], variables: &[(&str, &str)]) -> Ran {
    let own = world.mfa(line);
    let words: Vec<_> = own.get_args().map(|word| word.to_str().unwrap().to_owned()).collect();
    let program = own.get_program().to_str().unwrap();
    let errors = world.dir.path().join("errors");
    let ran = format!("stty cols 40 rows 24; {program} {} 2>{}", words.join(" "), errors.display());
    let mut command = Command::new("script");
    command.args(["-qefc", &ran, "/dev/null"]).env_clear().stdin(Stdio::null());
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TERM", "xterm").envs(variables.iter().copied());
    Ran { err: String::new(), ..run(command) }.with_errors(&errors)
}

impl Ran {
    fn with_errors(self, file: &PathBuf) -> Self {
        Self { err: fs::read_to_string(file).unwrap(), ..self }
    }
}

#[test]
fn the_bytes_of_a_portrait_come_back_unchanged() {
    let world = institution();
    let saved = world.dir.path().join("saved.png");
    let out = saved.to_str().unwrap();
    for bytes in [1, 524_287, LIMIT] {
        let sent = picture(bytes, 3);
        let file = file(&world, "sent.png", &sent);
        let set = run(world.mfa(&["customers", "portrait", "set", "c-002", &file, "-o", "json"])).json();
        assert_eq!((&set["bytes"], &set["sha256"]), (&bytes.into(), &hash(&sent).into()));
        assert_eq!((&set["identifier"], &set["contentType"]), (&"c-002".into(), &"image/png".into()));
        assert!(set["uploadedOn"].as_str().unwrap().ends_with(".000Z"), "HTTP has whole seconds");
        let get =
            run(world.mfa(&["customer", "portrait", "get", "c-002", "--out", out, "-o", "json"])).json();
        assert_eq!((&get["file"], &get["sha256"]), (&out.into(), &hash(&sent).into()));
        assert!(fs::read(&saved).unwrap() == sent, "{bytes} bytes");
        let (exit, piped, said) =
            piped(&world, &["customers", "portrait", "get", "c-002", "--out", "-"], b"");
        assert!(exit == 0 && piped == sent, "{said}");
    }
}

#[test]
fn an_image_comes_by_standard_input_as_well() {
    let world = institution();
    let line = ["customers", "portrait", "set", "c-002", "-", "-o", "json"];
    let (exit, out, said) = piped(&world, &line, FACE);
    assert_eq!(exit, 0, "{said}");
    let set: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&set["contentType"], &set["sha256"]), (&"image/png".into(), &hash(FACE).into()));
    assert_eq!(world.get("/customers/c-002/portrait").body, FACE);
    let large = [FACE, &picture(LIMIT, 1)].concat();
    let (exit, out, said) = piped(&world, &line, &large);
    let size = large.len();
    assert_eq!((exit, out), (7, vec![]));
    assert!(
        said.contains(&format!("part portrait has {size} bytes, and an image may have 524288")),
        "{said}"
    );
    let scan =
        ["card", "scan", "add", "c-001", SCANS[1], "back", "-", "--description", "Back side", "-o", "id"];
    assert_eq!(piped(&world, &scan, CARD), (0, b"back\n".to_vec(), String::new()));
}

#[test]
fn a_file_that_is_not_an_image_is_refused_unless_the_user_insists() {
    let world = institution();
    let before = world.get("/customers/c-001/portrait").header("etag");
    let text = file(&world, "notes.txt", b"no image");
    let set = |more: &[&str]| {
        let line = [&["customers", "portrait", "set", "c-001"], more, &["-o", "json"]].concat();
        run(world.mfa(&line))
    };
    let error = set(&[&text]).fails_in_json(7);
    assert_eq!(error["code"], "image_type");
    assert!(error["message"].as_str().unwrap().ends_with("notes.txt is neither a JPEG nor a PNG image"));
    let (exit, _, said) = piped(&world, &["customers", "portrait", "set", "c-001", "-"], b"GIF89a");
    assert!(exit == 7 && said.contains("standard input is neither"), "{said}");
    set(&[&text, "--type", "gif"]).fails(2);
    set(&["nowhere.png"]).fails(2);
    set(&[]).fails(2);
    let empty = file(&world, "empty.png", b"");
    assert_eq!(set(&[&empty]).fails_in_json(7)["code"], "image_empty");
    let folder = world.dir.path().to_str().unwrap();
    set(&[folder]).fails(2);
    assert_eq!(world.get("/customers/c-001/portrait").header("etag"), before);
    assert_eq!(set(&[&text, "--type", "jpeg"]).json()["contentType"], "image/jpeg");
}

#[test]
fn an_image_above_the_limit_is_refused_in_the_words_of_the_daemon() {
    let world = institution();
    let set = |bytes: usize| {
        let file = file(&world, "large.png", &picture(bytes, 2));
        run(world.mfa(&["customers", "portrait", "set", "c-001", &file, "-o", "json"])).fails_in_json(7)
    };
    let error = set(LIMIT + 1);
    assert_eq!(error["code"], "image_too_large");
    assert_eq!(error["message"], "part portrait has 524289 bytes, and an image may have 524288");
    assert_eq!(set(4_000_000)["code"], "body_too_large");
    let huge = world.dir.path().join("huge.png");
    fs::File::create(&huge).unwrap().set_len(65 << 20).unwrap();
    let line = ["customers", "portrait", "set", "c-001", huge.to_str().unwrap()];
    assert!(run(world.mfa(&line)).fails(7).contains("has more than 67108864 bytes"));
    assert_eq!(world.get("/customers/c-001/portrait").body, FACE);
}

#[test]
fn what_is_not_there_leaves_no_file() {
    let world = institution();
    let out = world.dir.path().join("out.png");
    let path = out.to_str().unwrap();
    for (line, code) in [
        (vec!["customers", "portrait", "get", "c-002", "--out", path], "portrait_not_found"),
        (vec!["customers", "portrait", "get", "nobody", "--out", path], "customer_not_found"),
        (vec!["customers", "portrait", "show", "c-002"], "portrait_not_found"),
        (vec!["cards", "scans", "get", SCANS[0], SCANS[1], "none", "--out", path], "scan_not_found"),
        (vec!["cards", "scans", "show", SCANS[0], "A-9", "front"], "card_not_found"),
    ] {
        let error = run(world.mfa(&[&line[..], &["-o", "json"]].concat())).fails_in_json(3);
        assert_eq!(error["code"], code, "{line:?}");
        assert!(!out.exists());
    }
    // What was there before a failure stays.
    fs::write(&out, "kept").unwrap();
    run(world.mfa(&["customers", "portrait", "get", "c-002", "--out", path])).fails(3);
    assert_eq!(fs::read(&out).unwrap(), b"kept");
    run(world.mfa(&["customers", "portrait", "get", "c-001", "--out", path])).ok();
    assert_eq!(fs::read(&out).unwrap(), FACE);
    run(world.mfa(&["customers", "portrait", "get", "c-001", "--out", "/nowhere/x.png"])).fails(1);
}

#[test]
fn an_image_that_breaks_off_is_not_written_to_standard_output() {
    let whole = hash(FACE);
    let half = FACE.len() / 2;
    for (digest, sent, why) in
        [(whole.as_str(), half, "did not arrive whole"), (&"0".repeat(64), FACE.len(), "were changed")]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let head = format!(
            "HTTP/1.1 200 OK\r\nx-request-id: 1\r\ncontent-type: image/png\r\ncontent-length: {}\r\netag: \"{digest}\"\r\n\
             connection: close\r\n\r\n",
            FACE.len()
        );
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 65536]).unwrap();
            stream.write_all(&[head.as_bytes(), &FACE[..sent]].concat()).unwrap();
        });
        let home = tempfile::tempdir().unwrap();
        let line = ["customers", "portrait", "get", "c-1", "--out", "-", "--retries", "0", "--url", &url];
        let done = mfa(home.path(), &line).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(1), &[][..]), "{said}");
        assert!(said.contains(why), "{said}");
        served.join().unwrap();
    }
}

#[test]
fn a_portrait_is_deleted_only_after_a_yes() {
    let world = institution();
    let delete = ["customers", "portrait", "delete", "c-001"];
    run(world.mfa(&delete)).fails(2);
    world.get("/customers/c-001/portrait").is(200);
    let done = run(world.mfa(&[&delete[..], &["--yes", "-o", "json"]].concat())).json();
    assert_eq!(done["identifier"], "c-001");
    world.get("/customers/c-001/portrait").refused(404, "portrait_not_found");
    run(world.mfa(&[&delete[..], &["--yes"]].concat())).ok();
    run(world.mfa(&["customers", "portrait", "delete", "nobody", "--yes"])).fails(3);
}

#[test]
fn scans_are_added_listed_saved_and_deleted() {
    let world = institution();
    let mfa = |verb: &str, more: &[&str]| {
        run(world.mfa(&[&["cards", "scans", verb, SCANS[0], SCANS[1]], more, &["-o", "json"]].concat()))
    };
    let card = file(&world, "back.jpg", CARD);
    let added = mfa("add", &["back", &card, "--description", "Back side"]).json();
    assert_eq!(added, serde_json::json!({ "identifier": "back", "description": "Back side" }));
    assert_eq!(mfa("add", &["inside", &card]).json()["description"], "");
    assert_eq!(mfa("add", &["back", &card]).fails_in_json(6)["code"], "identifier_taken");
    assert_eq!(mfa("add", &["x", &card]).fails_in_json(7)["code"], "invalid_parameter");
    let names: Vec<_> =
        mfa("list", &[]).json().as_array().unwrap().iter().map(|s| s["identifier"].clone()).collect();
    assert_eq!(names, ["front", "back", "inside"]);
    assert_eq!(mfa("get", &["back"]).json(), added);
    let out = world.dir.path().join("out.jpg");
    let saved = mfa("get", &["back", "--out", out.to_str().unwrap()]).json();
    assert_eq!((&saved["identifier"], &saved["contentType"]), (&"back".into(), &"image/jpeg".into()));
    assert_eq!(fs::read(&out).unwrap(), CARD);
    mfa("delete", &["back"]).fails(2);
    mfa("delete", &["back", "--yes"]).json();
    mfa("get", &["back"]).fails(3);
    assert_eq!(mfa("delete", &["back", "--yes"]).exit, 0);
}

#[test]
fn an_image_is_drawn_as_text_and_refused_as_bytes_at_a_terminal() {
    let world = institution();
    for line in [
        &["customers", "portrait", "get", "c-001"][..],
        &["customers", "portrait", "get", "c-001", "--out", "-"],
        &["cards", "scans", "get", "c-001", SCANS[1], "front", "--out", "-"],
    ] {
        let ran = at_terminal(&world, line, &[]);
        assert_eq!((ran.exit, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("--out FILE") && ran.err.contains(" show c-001"), "{}", ran.err);
    }
    let show = ["customers", "portrait", "show", "c-001"];
    let drawn = at_terminal(&world, &show, &[("COLORTERM", "truecolor")]).ok();
    assert!(drawn.contains("\x1b[38;2;220;170;130m") && drawn.contains('▀'), "{drawn:?}");
    assert_eq!(drawn.lines().count(), 16, "two rows of dots in a line");
    assert!(at_terminal(&world, &show, &[]).ok().contains("\x1b[38;5;"));
    assert!(!at_terminal(&world, &show, &[("NO_COLOR", "1")]).ok().contains('\x1b'));
    let stdin = at_terminal(&world, &["customers", "portrait", "set", "c-001", "-"], &[]);
    assert!(stdin.exit == 2 && stdin.err.contains("cannot be typed"), "{}", stdin.err);
}

#[test]
fn a_drawing_is_text_for_programs_too() {
    let world = institution();
    let show = ["cards", "scans", "show", "c-001", SCANS[1], "front"];
    let drawn = run(world.mfa(&show)).ok();
    // Two rows of four blocks of eight dots, eight lines of two.
    let rows: Vec<_> = drawn.lines().collect();
    assert_eq!((rows.len(), rows[0].len()), (8, 32));
    assert!(rows[0].starts_with("@@") || rows[0].starts_with("%%"), "{drawn}");
    assert!(rows[4][8..9] == *"." && rows[4] == rows[7], "{drawn}");
    assert_eq!(run(world.mfa(&[&show[..], &["-o", "json"]].concat())).json()["picture"], drawn);
    let text = file(&world, "text.png", b"no image at all");
    run(world.mfa(&["customers", "portrait", "set", "c-001", &text])).ok();
    let said = run(world.mfa(&["customers", "portrait", "show", "c-001"])).fails(1);
    assert!(
        said.contains("cannot be drawn") && said.contains("mfa customers portrait get c-001 --out"),
        "{said}"
    );
}
