//! Any request, and waiting for a record: `mfa api`, `mfa wait`, `--print-curl`.

use super::pictures::FACE;
use crate::support::guarded::PASSWORD;
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::scripted::{answer, server};
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

#[test]
fn any_request_of_the_daemon_can_be_sent() {
    let world = World::start();
    let api = |words: &[&str]| run(world.mfa(&[&["api"], words].concat()));
    for number in 1..=25 {
        let identifier = format!("identifier=o-{number:02}");
        assert_eq!(api(&["POST", "/offices", "-F", &identifier, "-F", "name=One of many"]).ok(), "");
    }
    assert_eq!(api(&["get", "/offices/o-07"]).json(), world.get("/offices/o-07").json());
    let page = api(&["GET", "/offices?size=5", "-F", "term=o-1"]).json();
    assert_eq!(page, world.get("/offices?size=5&term=o-1").json());
    // Pages are as large as they may be, unless they are asked for otherwise.
    for (sizes, pages) in [(&["-F", "size=10"][..], 3), (&[], 1)] {
        let line = ["GET", "/offices", "--paginate", "--print-curl", "--jq", "length"];
        let ran = api(&[&line, sizes].concat());
        assert_eq!((ran.out.as_str(), ran.err.matches("curl ").count()), ("25\n", pages), "{}", ran.err);
    }
    // Words of JSON keep their kind, everything else is text.
    let body = ["-F", "identifier=c-1", "-F", "member=true", "-F", "surname=12 Apostles"];
    api(&[&["POST", "/customers"][..], &body].concat()).ok();
    let customer = world.get("/customers/c-1").json();
    assert_eq!((&customer["member"], &customer["surname"]), (&json!(true), &json!("12 Apostles")));
    let twice = ["POST", "/customers", "-F", "identifier=c-2", "-F", "surname=Addo", "-F", "surname=Mensah"];
    assert!(api(&twice).fails(2).contains("\"surname\" twice"));
    world.get("/customers/c-2").is(404);
    let tag = world.get("/offices/o-01").header("etag");
    api(&["DELETE", "/offices/o-01", "-H", "if-match: \"other\""]).fails(6);
    api(&["DELETE", "/offices/o-01", "-H", &format!("if-match: {tag}")]).ok();
    assert_eq!(api(&["GET", "/offices/o-01", "-o", "json"]).fails_in_json(3)["code"], "office_not_found");
    api(&["BREW", "/offices"]).fails(2);
    api(&["GET", "offices"]).fails(2);
    api(&["GET", "/offices/o-02", "--paginate"]).fails(2);
}

#[test]
fn a_head_that_is_refused_ends_as_the_get_does() {
    let world = World::guarded();
    let token = world.user("esi", "clerk").token;
    let head = |path: &str, token: &str| {
        let mut command = world.mfa(&["api", "HEAD", path, "-o", "json"]);
        command.env("MFA_TOKEN", token);
        run(command)
    };
    assert_eq!(head("/customers", &token).ok(), "");
    for (path, token, exit, status) in
        [("/customers/nobody", &*token, 3, 404), ("/users", &token, 5, 403), ("/customers", "none", 4, 401)]
    {
        let error = head(path, token).fails_in_json(exit);
        assert_eq!((&error["code"], &error["status"]), (&json!("refused"), &json!(status)), "{error}");
        assert_eq!(error["message"], format!("HEAD {path} was refused with {status}"));
        assert!(error["hint"].as_str().unwrap().ends_with(&format!("mfa api GET {path}")), "{error}");
    }
    // What is no daemon refuses nothing.
    let (url, _requests) = server(vec![answer("404 Not Found", &[], "")]);
    run(world.mfa(&["api", "HEAD", "/customers", "--url", &url])).fails(1);
}

#[test]
fn an_answer_that_was_asked_to_wait_is_waited_for() {
    let world = World::start();
    let line = ["api", "GET", "/events?after=1000000", "-F", "waitSeconds=3", "--timeout-seconds", "1"];
    assert_eq!(run(world.mfa(&line)).json(), json!([]));
}

#[test]
fn the_mask_of_a_secret_is_not_sent_in_its_place() {
    let world = World::start();
    let email = json!({ "identifier": "main", "host": "h", "port": 25, "app_password": "a word" });
    world.post("/configuration/email", email.to_string()).is(201);
    let file = world.dir.path().join("main.json");
    let put = |words: &[&str]| {
        let shown =
            run(world.mfa(&[&["gateways", "email", "get", "main", "-o", "json"], words].concat())).ok();
        std::fs::write(&file, shown).unwrap();
        run(world.mfa(&["api", "PUT", "/configuration/email", "--input", file.to_str().unwrap()]))
    };
    let said = put(&[]).fails(2);
    assert!(said.contains("app_password is ***") && said.contains("--show-secrets"), "{said}");
    put(&["--show-secrets"]).ok();
    assert_eq!(world.get("/configuration/email/main").json()["app_password"], "a word");
    let create = ["webhooks", "create", "sync", "--receiver", "https://example.org/x", "-o", "json"];
    let mut command = world.mfa(&create);
    command.env("MFA_DEBUG", "http");
    let made = run(command);
    let record: Value = serde_json::from_str(&made.out).unwrap();
    let secret = record["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && made.err.contains("***"), "{}", made.err);
    assert!(!made.err.contains(secret), "{}", made.err);
}

#[test]
fn a_secret_that_is_read_is_masked_unless_it_is_asked_for() {
    let world = World::start();
    let email = json!({ "identifier": "main", "host": "h", "port": 25, "app_password": "a word" });
    world.post("/configuration/email", email.to_string()).is(201);
    let path = "/configuration/email/main";
    for (more, expected) in [(&[][..], "***"), (&["--show-secrets"], "a word")] {
        let shown = run(world.mfa(&[&["api", "GET", path], more].concat())).json();
        assert_eq!((&shown["app_password"], &shown["host"]), (&json!(expected), &json!("h")));
        let file = world.dir.path().join("operations.json");
        std::fs::write(&file, json!([{ "method": "GET", "path": path }]).to_string()).unwrap();
        for format in ["json", "jsonl"] {
            let line = ["batch", file.to_str().unwrap(), "-o", format];
            let ran = run(world.mfa(&[&line[..], more].concat()));
            let secret = format!(r#""app_password":"{expected}""#);
            assert!(ran.ok().replace(": ", ":").contains(&secret), "{format}");
        }
    }
    let file = world.dir.path().join("put.json");
    let body = json!({ "identifier": "main", "app_password": "***" });
    let put = json!([{ "method": "PUT", "path": "/configuration/email", "body": body }]);
    std::fs::write(&file, put.to_string()).unwrap();
    let said = run(world.mfa(&["batch", file.to_str().unwrap()])).fails(2);
    assert!(said.contains("app_password is ***"), "{said}");
    assert_eq!(world.get(path).json()["app_password"], "a word");
}

#[test]
fn the_printed_line_of_curl_sends_the_same_and_holds_no_secret() {
    let world = World::start();
    let create = ["offices", "create", "tema", "--name", "Tema's \"Harbour\"", "--print-curl", "--no-read"];
    let ran = run(world.mfa(&create));
    let line = ran.err.lines().find(|line| line.starts_with("curl -X POST")).unwrap().to_owned();
    assert_eq!(world.get("/offices/tema").json()["name"], "Tema's \"Harbour\"");
    let paste = |line: &str| {
        let done = Command::new("/bin/sh").args(["-ec", &format!("{line} -sS --fail")]).output().unwrap();
        assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
    };
    // However often it is pasted, it does its work.
    for _ in 0..2 {
        world.delete("/offices/tema").is(202);
        paste(&line);
        assert_eq!(world.get("/offices/tema").json()["name"], "Tema's \"Harbour\"");
    }
    // A key that the user chose stays in the line, and makes a repetition of it.
    let keyed = ["offices", "create", "osu", "--name", "Osu", "--idempotency-key", "night-1"];
    let ran = run(world.mfa(&[&keyed[..], &["--print-curl", "--no-read"]].concat()));
    world.delete("/offices/osu").is(202);
    paste(ran.err.lines().find(|line| line.starts_with("curl -X POST")).unwrap());
    world.get("/offices/osu").refused(404, "office_not_found");
}

#[test]
fn a_request_has_the_key_that_the_user_gave_as_a_header_or_a_flag() {
    let world = World::start();
    let post = |key: &[&str], id: &str| {
        let words = ["api", "POST", "/offices", "-F", &format!("identifier={id}"), "-F", "name=Osu"];
        run(world.mfa(&[&words[..], key].concat()))
    };
    let ways: [(&str, &[&str]); 3] = [
        ("o-1", &["-H", "Idempotency-Key: night-1"]),
        ("o-2", &["--idempotency-key", "night-2"]),
        ("o-3", &["-H", "idempotency-key:night-3", "--print-curl"]),
    ];
    for (id, key) in ways {
        let made = post(key, id);
        assert_eq!(made.exit, 0, "{made:?}");
        assert_eq!(made.err.contains("night-3"), key.contains(&"--print-curl"), "{made:?}");
        // Sent again, it is the same request.
        world.delete(&format!("/offices/{id}")).is(202);
        assert_eq!(post(key, id).exit, 0, "{id}");
        world.get(&format!("/offices/{id}")).refused(404, "office_not_found");
    }
    let said = post(&["-H", "Idempotency-Key: a", "--idempotency-key", "b"], "o-4").fails(2);
    assert!(said.contains("both give a key"), "{said}");
}

#[test]
fn the_printed_line_of_a_batch_repeats_its_operations() {
    let world = World::start();
    let file = world.dir.path().join("operations.json");
    let create =
        json!([{"method": "POST", "path": "/offices", "body": {"identifier": "tema", "name": "Tema"}}]);
    std::fs::write(&file, create.to_string()).unwrap();
    let mut command = world.mfa(&["batch", &file.display().to_string(), "--print-curl"]);
    command.env("MFA_DEBUG", "http");
    let ran = run(command);
    assert_eq!(ran.exit, 0, "{ran:?}");
    // What is sent has keys, since it may be sent again; what is pasted twice is meant twice.
    let key = "idempotency-key: ";
    assert!(ran.err.lines().any(|line| line.starts_with("> ") && line.contains(key)), "{}", ran.err);
    assert!(ran.err.lines().any(|line| line.contains("curl -") && !line.contains(key)), "{}", ran.err);
    world.delete("/offices/tema").is(202);
    paste(&world, &ran.err, &[]);
    world.get("/offices/tema").is(200);
}

/// Runs the curl lines of a command in a shell, as if pasted.
fn paste(world: &World, err: &str, variables: &[(&str, &str)]) {
    let lines: Vec<_> =
        err.lines().filter(|line| line.contains("curl -") || line.contains("curl ")).collect();
    assert!(!lines.is_empty(), "{err}");
    for line in lines {
        let mfa = world.mfa(&[]);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-ec", &format!("{line} -sS --fail -o /dev/null")]).env_clear().current_dir(&world.dir);
        for (name, value) in mfa.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_mfa")).parent().unwrap();
        shell.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
        let done = shell.envs(variables.iter().copied()).output().unwrap();
        assert!(done.status.success(), "{line}\n{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn a_pasted_line_of_curl_works_with_token_password_form_and_image() {
    let world = World::guarded();
    let file = |name: &str, bytes: &[u8]| {
        let path = world.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let own = file("own", format!("{PASSWORD}\n").as_bytes());
    let curl = |words: &[&str]| {
        let ran = run(world.mfa(&[words, &["--print-curl"]].concat()));
        assert_eq!(ran.exit, 0, "{ran:?}");
        assert!(!ran.err.contains("kettle") && !ran.err.contains("mfaa_"), "{}", ran.err);
        ran.err
    };
    // A form with a password, and what needs the token of the login.
    let lines = curl(&["login", "olga", "--password-file", &own]);
    paste(&world, &lines, &[("MFA_PASSWORD_FILE", &own)]);
    let token = run(world.mfa(&["auth", "token"])).ok();
    assert_eq!(world.bearer(&json!(token.trim())).get("/token/_current").is(200).json()["user"], "olga");
    assert_eq!(run(world.mfa(&["auth", "token", "-o", "json"])).json()["token"], token.trim());
    paste(&world, &curl(&["users", "list", "--url", &world.url()]), &[]);
    // A password with signs that JSON and shells know.
    let tricky = file("tricky", "a \\ \"kettle\" $HOME 'it' 7\n".as_bytes());
    let lines = curl(&["users", "create", "ama", "--role", "clerk", "--password-file", &tricky]);
    world.login("admin").delete("/users/ama").is(202);
    paste(&world, &lines, &[("MFA_PASSWORD_FILE", &tricky)]);
    world.try_login("ama", "a \\ \"kettle\" $HOME 'it' 7").is(200);
    // An image, from a file with a name that shells split.
    curl(&["customers", "create", "c-1", "--given-name", "Ama's \"Best\""]);
    let image = file("her \"face.png", FACE);
    paste(&world, &curl(&["customers", "portrait", "set", "c-1", &image, "--no-read"]), &[]);
    let got = world.dir.path().join("got.png").display().to_string();
    paste(&world, &curl(&["customers", "portrait", "get", "c-1", "--out", &got]), &[]);
    run(world.mfa(&["logout"])).ok();
    run(world.mfa(&["auth", "token"])).fails(4);
}

#[test]
fn a_terminal_gets_a_warning_with_the_token_and_a_program_does_not() {
    let world = World::guarded();
    let own = world.dir.path().join("own");
    std::fs::write(&own, format!("{PASSWORD}\n")).unwrap();
    run(world.mfa(&["login", "olga", "--password-file", own.to_str().unwrap()])).ok();
    let alone = run(world.mfa(&["auth", "token"]));
    let token = alone.out.trim().to_owned();
    assert_eq!((alone.exit, alone.err.as_str()), (0, ""));
    assert!(token.starts_with("mfaa_"), "{token}");
    let note = "anyone with this line can act as you until it expires; mfa logout ends it at once";
    let terminal = Terminal::start(&world, 120, &[]);
    let screen = terminal.run("mfa auth token");
    assert!(screen.contains(&format!("{note}\n{token}\nexit 0")), "{screen}");
    // The note is for who sees the token.
    for line in ["mfa auth token | wc -l", "test -n \"$(mfa auth token)\"", "mfa auth token >word"] {
        let screen = terminal.run(line);
        assert!(screen.contains("exit 0") && !screen.contains(note), "{screen}");
    }
    let screen = terminal.run("mfa auth token 2>said; cat said");
    assert!(!screen.contains(note), "{screen}");
    assert_eq!(std::fs::read_to_string(world.dir.path().join("word")).unwrap().trim(), token);
}

#[test]
fn a_script_waits_until_a_record_is_as_it_needs_it() {
    let world = World::start();
    sample(&world);
    let wait = |words: &[&str]| run(world.mfa(&[&["wait"], words].concat()));
    let active = ["customer/c-001", "--for", "state=ACTIVE"];
    // It answers as the command does that reads the record.
    for format in ["json", "yaml", "csv", "id", "table"] {
        let read = run(world.mfa(&["customers", "get", "c-001", "-o", format])).ok();
        assert_eq!(wait(&[&active[..], &["-o", format]].concat()).ok(), read, "{format}");
    }
    assert_eq!(wait(&active).ok(), run(world.mfa(&["customers", "get", "c-001"])).ok());
    let seen = wait(&["customer/c-001", "--for", "state=LOCKED", "--timeout", "1s", "-o", "json"]);
    let failure = seen.fails_in_json(8);
    assert!(failure["message"].as_str().unwrap().contains("it is ACTIVE"), "{failure}");
    for record in ["customers/c-001", "products/savings", "product/savings", "account/c-003.9100.00002"] {
        wait(&[record, "--for", "exists", "-o", "json"]).json();
    }
    assert_eq!(wait(&["office/nowhere", "--for", "gone"]).ok(), "");
    // The secret of a gateway is not shown.
    let seen = wait(&["configuration/main", "--for", "exists", "-o", "json"]).json();
    assert_eq!((&seen["host"], &seen["app_password"]), (&"mail.example.org".into(), &"***".into()));
    let seen = wait(&["configuration/main", "--for", "app_password=x", "--timeout", "1s"]);
    assert!(seen.fails(8).contains("it is ***"));
    wait(&["office/nowhere", "--for", "exists", "--timeout", "1"]).fails(8);
    wait(&["customer/c-001", "--for", "stat=ACTIVE"]).fails(2);
    // What the state never is would be waited for in vain.
    let said = wait(&["customer/c-001", "--for", "state=ACTIV"]).fails(2);
    assert!(said.contains("state is never \"ACTIV\"") && said.contains("did you mean ACTIVE?"), "{said}");
    wait(&["customer/c-001", "--for", "state=active"]).ok();
    wait(&["customer/nobody", "--for", "state=ACTIVE"]).fails(3);
    assert!(wait(&["custmer/c", "--for", "exists"]).fails(2).contains("did you mean customer?"));
    // A record has the noun of its events as well as that of its commands.
    for (record, own) in [("email/main", "host"), ("sms/main", "account_sid")] {
        let seen = wait(&[record, "--for", "exists", "-o", "json"]).json();
        assert!(seen.get(own).is_some(), "{record}: {seen}");
    }
    assert!(wait(&["nothing/c", "--for", "exists"]).fails(2).contains("it is one of office, "));
    assert!(wait(&["teller/desk-1", "--for", "exists"]).fails(2).contains("teller/OFFICE-ID/TELLER-ID"));
    wait(&["teller/head-office/desk-1", "--for", "state=CLOSED"]).ok();
    wait(&["teller/head-office/desk-1", "--for", "state=closed", "--timeout", "1"]).ok();
    wait(&["teller/head-office/desk-1", "--for", "cashdrawLimit=5000.00", "--timeout", "1"]).ok();
    let terminal = Terminal::start(&world, 80, &[]);
    let screen = terminal.run("mfa wait teller/head-office/desk-2 --for state=ACTIVE");
    assert!(screen.contains("\nteller/head-office/desk-2: state is ACTIVE\ncode "), "{screen}");
    assert!(screen.contains(" 5000.00\n"), "{screen}");
    let screen = terminal.run("mfa wait office/market --for exists");
    assert!(screen.contains("\noffice/market exists\nidentifier "), "{screen}");
    let screen = terminal.run("mfa wait office/nowhere --for gone");
    assert!(screen.contains("\noffice/nowhere is gone\nexit 0"), "{screen}");
    // Another user makes it so while the command waits.
    let waiting = world
        .mfa(&["wait", "customer/c-002", "--for", "state=ACTIVE", "--timeout", "1m"])
        .stdout(std::process::Stdio::null())
        .spawn();
    std::thread::sleep(Duration::from_millis(300));
    let body: Value = json!({ "action": "ACTIVATE" });
    world.post("/customers/c-002/commands", body.to_string()).is(202);
    assert!(waiting.unwrap().wait().unwrap().success());
}
