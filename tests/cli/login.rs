//! Logging in from the command line, and what it leaves on the machine.

use crate::support::guarded::{PASSWORD, may};
use crate::support::run::run;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mfa_daemon::domain::second_factor::{from_base32, step_code};
use mfa_shared::api::tokens::JWT_BEARER;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs with a file of the password in the folder of the world.
fn with_password(world: &World, arguments: &[&str]) -> crate::support::run::Ran {
    let file = world.dir.path().join("password");
    std::fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    let mut command = world.mfa(arguments);
    command.env("MFA_PASSWORD_FILE", file);
    run(command)
}

fn logins(world: &World) -> PathBuf {
    world.dir.path().join("state/mfa/logins.json")
}

#[test]
fn a_login_is_kept_for_its_owner_and_ends_on_logout() {
    let world = World::guarded();
    let said = run(world.mfa(&["users", "list"])).fails(4);
    assert!(said.contains("mfa login"), "{said}");
    let who = with_password(&world, &["login", "olga", "-o", "json"]).json();
    assert_eq!((&who["user"], &who["role"]), (&json!("olga"), &json!("administrator")));
    let mode = std::fs::metadata(logins(&world)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(run(world.mfa(&["users", "list", "-o", "id"])).ok(), "admin\nolga\n");
    let sessions = run(world.mfa(&["sessions", "list", "--local", "-o", "json"])).json();
    assert_eq!((&sessions[0]["url"], &sessions[0]["caller"]), (&json!(world.url()), &json!("olga")));
    run(world.mfa(&["logout"])).ok();
    run(world.mfa(&["whoami"])).fails(4);
    assert!(!logins(&world).exists(), "a token that has ended is not kept");
    with_password(&world, &["login", "nobody"]).fails(4);
}

#[test]
fn a_login_that_has_ended_is_refreshed_on_the_way() {
    let world = World::guarded_with(|config| config.access_token_seconds = 60);
    with_password(&world, &["login", "olga"]).ok();
    let before = end_token(&world);
    world.clock.advance(120);
    run(world.mfa(&["users", "list"])).ok();
    let after: Value = serde_json::from_str(&std::fs::read_to_string(logins(&world)).unwrap()).unwrap();
    assert_ne!(before[0]["refreshToken"], after[0]["refreshToken"]);
    run(world.mfa(&["whoami"])).ok();
}

/// Writes into the file of the logins that the token has ended, as it would after a while.
fn end_token(world: &World) -> Value {
    let mut ended: Value = serde_json::from_str(&std::fs::read_to_string(logins(world)).unwrap()).unwrap();
    ended[0]["endsSeconds"] = json!(0);
    std::fs::write(logins(world), ended.to_string()).unwrap();
    ended
}

/// Takes the lock on the logins, as another command has it while its token is refreshed.
fn lock_logins(world: &World) -> File {
    let file = File::create(logins(world).with_extension("lock")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_command_does_not_wait_for_the_logins_longer_than_for_an_answer() {
    let world = World::guarded();
    with_password(&world, &["login", "olga"]).ok();
    end_token(&world);
    let held = lock_logins(&world);
    let list = ["users", "list", "-o", "id", "--timeout-seconds", "1"];
    let began = Instant::now();
    let said = run(world.mfa(&list)).fails(1);
    assert!(began.elapsed() < Duration::from_secs(20), "{said}");
    let file = logins(&world).with_extension("lock");
    assert!(said.contains(&format!("another command has held {} for 1 s", file.display())), "{said}");
    drop(held);
    assert_eq!(run(world.mfa(&list)).ok(), "admin\nolga\n");
}

#[test]
fn an_import_on_one_processor_outlives_its_token() {
    let world = World::guarded();
    world.user("esi", "clerk");
    with_password(&world, &["login", "esi"]).ok();
    let mut import = world.mfa(&["customers", "import", "-", "--report", "r.csv", "--failed", "f.csv"]);
    import.current_dir(&world.dir).env("TOKIO_WORKER_THREADS", "1");
    let mut import =
        import.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut rows = import.stdin.take().unwrap();
    let mut send = |first: &str, numbers: Range<u32>| {
        let text: String = numbers.map(|i| format!("c-{i}\n")).collect();
        rows.write_all(format!("{first}{text}").as_bytes()).unwrap();
    };
    let esi = world.login("esi");
    let count = || esi.get("/customers?size=1").json()["totalElements"].clone();
    // The first rows are sent alone, with a token that lives.
    send("identifier\n", 0..501);
    let began = Instant::now();
    while count() != 500 {
        assert!(began.elapsed() < Duration::from_secs(60), "the first rows are not there: {}", count());
        std::thread::sleep(Duration::from_millis(50));
    }
    // The next ones find that it has ended, all at once.
    let before = end_token(&world);
    let held = lock_logins(&world);
    send("", 501..2_000);
    drop(rows);
    std::thread::sleep(Duration::from_secs(1));
    drop(held);
    let began = Instant::now();
    let ended = loop {
        match import.try_wait().unwrap() {
            Some(ended) => break ended,
            None if began.elapsed() > Duration::from_secs(60) => {
                import.kill().unwrap();
                panic!("the import hangs");
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    assert!(ended.success(), "{ended}");
    assert_eq!(count(), 2_000);
    let after: Value = serde_json::from_str(&std::fs::read_to_string(logins(&world)).unwrap()).unwrap();
    assert_ne!(before[0]["refreshToken"], after[0]["refreshToken"]);
}

#[test]
fn a_completion_leaves_the_login_as_it_is() {
    let world = World::guarded_with(|config| config.access_token_seconds = 60);
    with_password(&world, &["login", "olga"]).ok();
    let ended = end_token(&world);
    world.clock.advance(120);
    run(world.mfa(&["complete", "-q", "-o", "id", "--", "users", "get", "o"])).ok();
    let after: Value = serde_json::from_str(&std::fs::read_to_string(logins(&world)).unwrap()).unwrap();
    assert_eq!(after, ended, "the refresh token is not spent on a key press");
    run(world.mfa(&["users", "list"])).ok();
    run(world.mfa(&["complete", "-q", "-o", "id", "--", "users", "get", "o"])).ok();
}

#[test]
fn a_token_of_the_environment_goes_before_the_login() {
    let world = World::guarded();
    with_password(&world, &["login", "olga"]).ok();
    let admin = world.login("admin");
    let who = |name: &str, value: &str| {
        let mut command = world.mfa(&["whoami", "-o", "json"]);
        command.env(name, value);
        run(command).json()["user"].clone()
    };
    assert_eq!(who("MFA_TOKEN", &admin.token), "admin");
    let file = world.dir.path().join("token");
    std::fs::write(&file, &admin.token).unwrap();
    assert_eq!(who("MFA_TOKEN_FILE", file.to_str().unwrap()), "admin");
    // A script whose token is missing does not act as who has logged in.
    for name in ["MFA_TOKEN", "MFA_TOKEN_FILE"] {
        let mut command = world.mfa(&["whoami"]);
        command.env(name, "");
        let said = run(command).fails(2);
        assert!(said.contains(&format!("{name} is empty")), "{said}");
        let mut doctor = world.mfa(&["doctor", "-o", "json"]);
        doctor.env(name, "");
        let findings: Vec<Value> = serde_json::from_str(&run(doctor).out).unwrap();
        let login = findings.iter().find(|finding| finding["check"] == "login").unwrap();
        assert_eq!(login["found"], format!("{name} is empty"));
        assert!(login["mend"].as_str().unwrap().contains(&format!("unset {name}")), "{login}");
        // What needs no token asks for none.
        for line in [&["help", "exit-codes"][..], &["daemon", "status"], &["version"]] {
            let mut command = world.mfa(line);
            command.env(name, "");
            run(command).ok();
        }
    }
    let mut shown = world.mfa(&["config", "view"]);
    shown.env("MFA_TOKEN", &admin.token).env("MFA_DEBUG", "http");
    let shown = run(shown);
    assert!(!shown.out.contains(&admin.token) && !shown.err.contains(&admin.token));
}

#[test]
fn a_first_password_has_to_be_changed_before_anything_else() {
    let world = World::guarded();
    let admin = world.login("admin");
    let body = json!({ "identifier": "anna", "role": "clerk", "password": PASSWORD });
    admin.post("/users", body).is(202);
    let said = with_password(&world, &["login", "anna"]);
    assert!(said.exit == 0 && said.err.contains("mfa users set-password anna"), "{said:?}");
    run(world.mfa(&["offices", "list"])).fails(5);
    let file = world.dir.path().join("new");
    std::fs::write(&file, "green kettle 8").unwrap();
    run(world.mfa(&["users", "set-password", "anna", "--password-file", file.to_str().unwrap()])).ok();
    world.try_login("anna", "green kettle 8").is(200);
}

#[test]
fn a_password_or_token_is_sent_to_another_machine_only_encrypted() {
    let world = World::guarded();
    let file = world.dir.path().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    // Not a loopback address by its text, although this daemon answers there.
    let url = world.url().replace("127.0.0.1", "0.0.0.0");
    let login = ["login", "olga", "--password-file", file.to_str().unwrap(), "--url", &url];
    let said = run(world.mfa(&login)).fails(2);
    assert!(said.contains("plain HTTP") && said.contains("ssh -L") && said.contains("--insecure"), "{said}");
    let list = ["customers", "list", "--url", &url];
    let with_token = |more: &[&str]| {
        let mut list = world.mfa(&[&list[..], more].concat());
        list.env("MFA_TOKEN", world.login("olga").token);
        run(list)
    };
    let said = with_token(&[]).fails(2);
    assert!(said.contains("plain HTTP") && !said.contains("mfaa_"), "{said}");
    // What is public needs nothing, and where it is meant, it is sent.
    run(world.mfa(&["status", "--url", &url])).ok();
    run(world.mfa(&[&login[..], &["--insecure"]].concat())).ok();
    with_token(&["--insecure"]).ok();
}

#[test]
fn a_login_that_is_locked_ends_with_a_code_of_its_own_and_says_how_long() {
    let world = World::guarded();
    let file = world.dir.path().join("wrong");
    std::fs::write(&file, "no such kettle").unwrap();
    let try_it =
        || run(world.mfa(&["login", "olga", "--password-file", file.to_str().unwrap(), "--retries", "0"]));
    for _ in 0..5 {
        try_it().fails(4);
    }
    let said = try_it().fails(13);
    assert!(said.ends_with("hint: try again in 1 minute\n"), "{said}");
}

#[test]
fn an_application_signs_in_with_a_key_that_was_made_here() {
    let world = World::guarded();
    world.to_present();
    with_password(&world, &["login", "olga"]).ok();
    let file = world.dir.path().join("crm.pem").display().to_string();
    run(world.mfa(&["applications", "keygen", "crm-v1", "--out", &file, "--bits", "2048"])).ok();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    run(world.mfa(&["applications", "permissions", "add", "crm-v1", "office__v1__offices=R"])).ok();
    let who = run(world.mfa(&["login", "--key", &file, "-o", "json"])).json();
    assert_eq!((&who["user"], &who["application"]), (&Value::Null, &json!("crm-v1")));
    run(world.mfa(&["offices", "list"])).ok();
    run(world.mfa(&["customers", "list"])).fails(5);
}

#[test]
fn openssl_finds_a_key_that_was_made_here_right_and_signs_in_with_it() {
    let world = World::guarded();
    with_password(&world, &["login", "olga"]).ok();
    let file = world.dir.path().join("crm.pem").display().to_string();
    let made = run(world.mfa(&["applications", "keygen", "crm-v1", "--out", &file, "-o", "json"])).json();
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command.args(arguments);
        command
    };
    assert_eq!(run(openssl(&["rsa", "-check", "-noout", "-in", &file])).ok(), "RSA key ok\n");
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let header = json!({ "alg": "RS256", "kid": made["timestamp"] }).to_string();
    let instance = world.get("/version").json()["instance"].clone();
    let exp = world.clock.now().millis() / 1000 + 60;
    let claims = json!({ "iss": "crm-v1", "aud": instance, "exp": exp, "jti": "one" }).to_string();
    let signed = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
    let (text, signature) = (world.dir.path().join("signed"), world.dir.path().join("signature"));
    std::fs::write(&text, &signed).unwrap();
    let (text, out) = (text.to_str().unwrap(), signature.to_str().unwrap());
    run(openssl(&["dgst", "-sha256", "-sign", &file, "-out", out, text])).ok();
    let assertion = format!("{signed}.{}", encode(&std::fs::read(&signature).unwrap()));
    let asked = json!({ "grant_type": JWT_BEARER, "assertion": assertion });
    let token = world.token(&asked).is(200).json();
    let current = world.bearer(&token["access_token"]).get("/token/_current").is(200).json();
    assert_eq!((&current["user"], &current["application"]), (&Value::Null, &json!("crm-v1")));
}

#[test]
fn the_matrix_has_a_column_for_each_role() {
    let world = World::guarded();
    world.user_with("anna", &[may("office__v1__offices", "RC")]);
    with_password(&world, &["login", "olga"]).ok();
    let rows = run(world.mfa(&["roles", "matrix", "-o", "json"])).json();
    let offices = rows.as_array().unwrap().iter().find(|row| row["group"] == "office__v1__offices").unwrap();
    assert_eq!((&offices["role-anna"], &offices["administrator"]), (&json!("RC"), &json!("RCD")));
}

#[test]
fn whether_a_user_may_do_something_is_an_exit_code() {
    let world = World::guarded();
    world.user("esi", "clerk");
    with_password(&world, &["login", "esi"]).ok();
    let rows = run(world.mfa(&["auth", "can-i", "change", "/customers", "-o", "json"])).json();
    assert_eq!((&rows[0]["method"], &rows[0]["allowed"]), (&json!("POST"), &json!(true)));
    let said = run(world.mfa(&["auth", "can-i", "CHANGE", "/offices"])).fails(5);
    assert!(said.contains("CHANGE on office__v1__offices"), "{said}");
    let refused = run(world.mfa(&["auth", "can-i", "CHANGE", "/offices", "-o", "json"])).fails_in_json(5);
    let group = &refused["missing"][0]["permittableEndpointGroupIdentifier"];
    assert_eq!((&refused["code"], group), (&json!("forbidden"), &json!("office__v1__offices")));
    // The refused request itself says the same.
    let create = ["offices", "create", "accra", "--name", "Accra", "-o", "json"];
    let really = run(world.mfa(&create)).fails_in_json(5);
    assert_eq!((&really["missing"], &really["hint"]), (&refused["missing"], &refused["hint"]));
    let other = ["auth", "can-i", "READ", "/customers", "--user", "olga"];
    run(world.mfa(&other)).fails(5);
    with_password(&world, &["login", "olga"]).ok();
    run(world.mfa(&other)).ok();
    run(world.mfa(&["auth", "can-i", "READ", "/nothing"])).fails(7);
    run(world.mfa(&["auth", "can-i", "WRITE", "/customers"])).fails(2);
    run(world.mfa(&["logout"])).ok();
    run(world.mfa(&["auth", "can-i", "READ", "/customers"])).fails(4);
}

#[test]
fn a_second_factor_is_set_up_and_asked_for_by_files_and_at_a_terminal() {
    let world = World::guarded();
    world.to_present();
    world.user("anna", "clerk");
    let file = |name: &str, text: &str| {
        let path = world.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let password = file("password", PASSWORD);
    run(world.mfa(&["login", "anna", "--password-file", &password])).ok();
    let made = run(world.mfa(&["second-factor", "enable", "--no-input", "-o", "json"])).json();
    let secret = from_base32(made["secret"].as_str().unwrap()).unwrap();
    let code = |steps: i64| step_code(&secret, world.clock.now().plus_seconds(30 * steps));
    let codes =
        run(world.mfa(&["second-factor", "confirm", "--otp-file", &file("code", &code(0)), "-o", "json"]));
    assert_eq!(codes.json().as_array().unwrap().len(), 10);
    let status = run(world.mfa(&["second-factor", "status", "-o", "json"])).json();
    assert_eq!(status["state"], "ACTIVE");
    let said = run(world.mfa(&["login", "anna", "--password-file", &password])).fails(4);
    assert!(said.contains("second factor"), "{said}");
    world.clock.advance(60);
    let otp = file("code", &format!("{}\n", code(0)));
    run(world.mfa(&["login", "anna", "--password-file", &password, "--otp-file", &otp])).ok();
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line(&format!("clear; mfa login anna --password-file {password}; echo exit $?"));
    terminal.wait_for("code of your authenticator:");
    terminal.type_line(&code(1));
    terminal.wait_for("exit 0\n$");
    world.clock.advance(90);
    let otp = file("code", &code(0));
    run(world.mfa(&["second-factor", "disable", "--otp-file", &otp, "--yes"])).ok();
    // If the picture was not shown, no code is asked for.
    let screen = terminal.run("mfa second-factor enable --quiet");
    assert!(screen.contains("otpauth://totp/") && screen.contains("exit 0\n"), "{screen}");
    terminal.type_line("clear; mfa second-factor enable");
    let screen = terminal.wait_for("the code that it shows now:");
    assert!(screen.contains('█') && screen.contains("or type the secret: "), "{screen}");
}
