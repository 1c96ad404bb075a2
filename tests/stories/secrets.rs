//! A first day with secrets of every kind, none of which is left exposed at the end: not in the list of
//! processes, not in the daemon's log or environment, not in the output of commands, not in the store.

use crate::support::run::{Ran, run, run_with};
use crate::support::served::{Home, free_address};
use crate::support::servers::closed_port;
use crate::support::stored::{at_rest, files, forms, holds};
use mfa_daemon::Config;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Wait between two looks at the list of processes; a command takes longer.
const LOOK: Duration = Duration::from_millis(10);
/// A token of no user.
const STRAY_TOKEN: &str = "mfaa_strayStrayStrayStrayStrayStrayStrayStrayStr";

/// The command lines of all processes that were there while it looked.
struct Watch {
    stop: Arc<AtomicBool>,
    seen: Arc<Mutex<BTreeSet<Vec<u8>>>>,
    looking: Option<JoinHandle<()>>,
}

impl Watch {
    fn begin() -> Self {
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<BTreeSet<_>>>::default());
        let (stopped, noted) = (stop.clone(), seen.clone());
        let looking = std::thread::spawn(move || {
            while !stopped.load(SeqCst) {
                let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
                // A process may be gone by now.
                let lines = processes.filter_map(|process| fs::read(process.join("cmdline")).ok());
                noted.lock().unwrap().extend(lines);
                std::thread::sleep(LOOK);
            }
        });
        Self { stop, seen, looking: Some(looking) }
    }

    fn end(mut self) -> Vec<Vec<u8>> {
        self.stop.store(true, SeqCst);
        self.looking.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.seen.lock().unwrap()).into_iter().collect()
    }
}

/// A day at one daemon: all its secrets, and all its output.
struct Day {
    home: Home,
    address: String,
    data: PathBuf,
    secrets: BTreeMap<String, String>,
    said: Vec<(String, Vec<u8>)>,
    watch: Watch,
}

impl Day {
    fn begin() -> Self {
        let home = Home::new();
        let data = home.dir.path().join("data");
        let (secrets, said) = (BTreeMap::new(), Vec::new());
        Self { home, address: free_address(), data, secrets, said, watch: Watch::begin() }
    }

    /// Notes a secret, and writes it to a file in which a command finds it.
    fn secret(&mut self, name: &str, text: &str) -> String {
        assert!(text.len() >= 7, "{name} is too short to be looked for");
        self.secrets.insert(name.to_owned(), text.to_owned());
        self.home.file(name, text)
    }

    /// Runs a command that shows its traffic, and keeps what it says.
    fn mfa(&mut self, line: &[&str], input: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.home.mfa(line);
        command.env("MFA_DATA_DIR", &self.data).env("MFA_LISTEN", &self.address).env("MFA_LOG", "trace");
        command.env("MFA_URL", format!("http://{}", self.address)).env("MFA_DEBUG", "http");
        command.envs(variables.iter().copied());
        let ran = if input.is_empty() { run(command) } else { run_with(command, input) };
        let words = line.join(" ");
        self.said.push((format!("arguments of {words}"), words.clone().into_bytes()));
        self.said.push((format!("output of {words}"), ran.out.clone().into_bytes()));
        self.said.push((format!("stderr of {words}"), ran.err.clone().into_bytes()));
        ran
    }

    #[track_caller]
    fn ok(&mut self, line: &[&str]) -> String {
        self.mfa(line, "", &[]).ok()
    }

    /// Notes the tokens of the present login under a name.
    fn note_tokens(&mut self, name: &str) {
        let login = self.login()[0].clone();
        for kind in ["accessToken", "refreshToken"] {
            if let Some(token) = login[kind].as_str() {
                self.secrets.insert(format!("{name}'s {kind}"), token.to_owned());
            }
        }
    }

    fn logins(&self) -> PathBuf {
        self.home.dir.path().join("state/mfa/logins.json")
    }

    fn login(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.logins()).unwrap()).unwrap()
    }

    /// Makes the store. The password of the operator is made up and shown once, here and nowhere else.
    fn initialise(&mut self) {
        let admin = self.secret("admin's password", "heron-kettle-0417-admin");
        let data = self.data.display().to_string();
        let line =
            ["init", "--data-dir", &data, "--operator", "olga", "--password-file", &admin, "-o", "json"];
        let made = run(self.home.mfa(&line)).json();
        let shown = made["passwords"]["olga"].as_str().unwrap().to_owned();
        self.secret("olga's first password", &shown);
        // The user who starts the daemon may have secrets in the environment.
        let mine = [("MFA_TOKEN", STRAY_TOKEN), ("MFA_PASSWORD_FILE", admin.as_str())];
        self.mfa(&["daemon", "start"], "", &mine).ok();
    }

    /// Logins: right, wrong, refreshed, with a stray token, and new users with passwords.
    fn people(&mut self) {
        let first = self.home.dir.path().join("olga's first password").display().to_string();
        self.ok(&["login", "olga", "--password-file", &first]);
        self.note_tokens("olga's first");
        let own = self.secret("olga's password", "olga-lantern-5520-marsh");
        self.ok(&["users", "set-password", "olga", "--password-file", &own]);
        let wrong = self.secret("a wrong password", "wrong-thistle-9031-fjord");
        self.mfa(&["login", "olga", "--password-file", &wrong], "", &[]).fails(4);
        self.ok(&["login", "olga", "--password-file", &own, "--print-curl"]);
        self.note_tokens("olga's second");
        let mut login = self.login();
        login[0]["endsSeconds"] = 0.into();
        fs::write(self.logins(), login.to_string()).unwrap();
        self.ok(&["whoami"]);
        self.note_tokens("olga's refreshed");
        self.secret("a stray token", STRAY_TOKEN);
        self.mfa(&["whoami"], "", &[("MFA_TOKEN", STRAY_TOKEN)]).fails(4);
        let esi = self.secret("esi's first password", "esi-saffron-7716-glade");
        let create = ["users", "create", "esi", "--role", "teller", "--print-curl", "--password-file", &esi];
        self.ok(&create);
        self.mfa(&create, "", &[]).fails(6);
        let short = self.secret("too short a password", "q7-Zebu");
        self.mfa(&["users", "create", "kofi", "--role", "clerk", "--password-file", &short], "", &[])
            .fails(7);
        let body = r#"{"identifier":"yaa","role":"clerk","password":"yaa-tamarind-3308-cove"}"#;
        self.secrets.insert("yaa's password".to_owned(), "yaa-tamarind-3308-cove".to_owned());
        self.mfa(&["api", "POST", "/users", "--input", "-"], body, &[]).ok();
        let rows = "identifier,role,password\nama,clerk,ama-juniper-6642-reef\nabu,clerk,u4-Yak1\n";
        self.secrets.insert("ama's password".to_owned(), "ama-juniper-6642-reef".to_owned());
        self.secrets.insert("abu's short password".to_owned(), "u4-Yak1".to_owned());
        let rows = self.home.file("users.csv", rows);
        self.mfa(&["users", "import", &rows], "", &[]);
        let report = fs::read(format!("{rows}.report.csv")).unwrap();
        self.said.push(("the report of an import".to_owned(), report));
    }

    /// An application's key and token, and gateways with theirs.
    fn machines(&mut self) {
        let key = self.home.dir.path().join("crm.pem").display().to_string();
        self.ok(&["applications", "keygen", "crm-v1", "--out", &key, "--bits", "2048", "--print-curl"]);
        let pem = fs::read_to_string(&key).unwrap();
        // The first lines are much the same in every key.
        for (number, line) in pem.lines().enumerate().filter(|(_, line)| line.len() == 64).skip(8) {
            self.secrets.insert(format!("line {number} of the application's key"), line.to_owned());
        }
        self.ok(&["applications", "permissions", "add", "crm-v1", "office__v1__offices=R"]);
        self.ok(&["login", "--key", &key, "--print-curl"]);
        self.note_tokens("the application's");
        self.ok(&["offices", "list"]);
        self.mfa(&["users", "list"], "", &[]).fails(5);
        let own = self.home.dir.path().join("olga's password").display().to_string();
        self.ok(&["login", "olga", "--password-file", &own]);
        self.note_tokens("olga's third");
        let (word, port) = ("gateway-quarry-1187-mail", closed_port().to_string());
        self.secrets.insert("the mail gateway's password".to_owned(), word.to_owned());
        let mail = ["gateways", "email", "create", "main", "--host", "127.0.0.1", "--port", &port];
        let more = ["--username", "bank@example.org", "--smtp-auth", "--password-stdin", "--print-curl"];
        self.mfa(&[&mail[..], &more].concat(), word, &[]).ok();
        self.ok(&["gateways", "email", "get", "main", "-o", "json"]);
        self.mfa(&["gateways", "email", "test", "main", "--to", "a@example.org"], "", &[]).fails(1);
        let word = "gateway-bramble-4463-text";
        self.secrets.insert("the SMS gateway's token".to_owned(), word.to_owned());
        let text = ["gateways", "sms", "create", "main", "--account-sid", "AC1", "--sender-number", "Bank"];
        self.mfa(&[&text[..], &["--password-stdin"]].concat(), word, &[]).ok();
    }

    /// A drawer with a password, mistyped and typed.
    fn counter(&mut self) {
        self.ok(&["offices", "create", "accra", "--name", "Accra"]);
        self.ok(&["employees", "create", "esi", "--assigned-office", "accra"]);
        let drawer = self.secret("the drawer's password", "drawer-cobalt-2095-inlet");
        let desk =
            ["teller", "create", "desk-1", "--office", "accra", "--limit", "1000", "--employee", "esi"];
        let accounts = ["--drawer-account", "d-1", "--vault-account", "v-1", "--cheques-account", "c-1"];
        let more = ["--over-short-account", "o-1", "--password-file", &drawer, "--print-curl"];
        self.ok(&[&desk[..], &accounts, &more].concat());
        self.ok(&["teller", "open", "desk-1", "--office", "accra"]);
        let first = self.home.dir.path().join("esi's first password").display().to_string();
        self.ok(&["login", "esi", "--password-file", &first]);
        let own = self.secret("esi's password", "esi-umber-8154-delta");
        self.ok(&["users", "set-password", "esi", "--password-file", &own]);
        self.ok(&["login", "esi", "--password-file", &own]);
        self.note_tokens("esi's");
        let wrong = self.secret("a wrong drawer password", "wrong-ochre-7043-estuary");
        self.mfa(&["teller", "unlock", "desk-1", "--password-file", &wrong], "", &[]).fails(5);
        self.mfa(&["teller", "unlock", "desk-1", "--password-stdin"], "drawer-cobalt-2095-inlet", &[]).ok();
        self.ok(&["logout"]);
    }

    /// The processor's view of the running daemon, and all that it has written.
    fn look_at_the_daemon(&mut self, when: &str) {
        let status = self.mfa(&["daemon", "status", "-o", "json"], "", &[]).json();
        let process = Path::new("/proc").join(status["pid"].to_string());
        for name in ["environ", "cmdline"] {
            self.said.push((format!("{name} of the daemon"), fs::read(process.join(name)).unwrap()));
        }
        self.look_at_the_store(when);
    }

    fn look_at_the_store(&mut self, when: &str) {
        let mut config = Config::new(&self.data);
        config.store = self.home.store.clone().into();
        let stored = tokio::runtime::Runtime::new().unwrap().block_on(at_rest(&config));
        // A daemon on PostgreSQL needs a folder of its own only while it works on images.
        let beside = if self.data.is_dir() { files(&self.data) } else { Vec::new() };
        let both = stored.into_iter().chain(beside);
        self.said.extend(both.map(|(place, bytes)| (format!("{place} {when}"), bytes)));
    }

    fn log(&self) -> PathBuf {
        let port = self.address.rsplit(':').next().unwrap();
        self.home.dir.path().join(format!("state/mfa/daemon-{port}.log"))
    }
}

#[test]
fn no_secret_of_a_first_day_is_left_behind() {
    let mut day = Day::begin();
    day.initialise();
    day.people();
    day.machines();
    day.counter();
    day.look_at_the_daemon("while the daemon runs");
    day.ok(&["daemon", "stop"]);
    day.look_at_the_store("after the daemon has stopped");
    let log = fs::read(day.log()).unwrap();
    let Day { said, secrets, watch, .. } = day;
    let lines = watch.end();
    // Proof that the right places were searched: each holds something of this day that is no secret.
    let lies =
        |text: &str, places: &[(String, Vec<u8>)]| places.iter().any(|(_, b)| holds(b, text.as_bytes()));
    assert!(lies("> POST http", &said) && lies("curl -X POST", &said), "commands showed their traffic");
    assert!(lies("bank@example.org", &said), "the store was read");
    assert!(lies("MFA_LOG=trace", &said) && holds(&log, b"listens on"), "the daemon logged all that it says");
    assert!(lines.iter().any(|line| holds(line, b"desk-1")), "the list of processes was watched");
    assert!(secrets.len() > 30, "{:?}", secrets.keys());
    let mut places = said;
    places.push(("the log of the daemon".to_owned(), log));
    places.extend(lines.into_iter().map(|line| ("the list of processes".to_owned(), line)));
    let mut leaks = BTreeSet::new();
    for (name, secret) in &secrets {
        let forms = forms(secret);
        for (place, bytes) in &places {
            if forms.iter().any(|form| holds(bytes, form)) {
                leaks.insert(format!("{name} is in {place}"));
            }
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
}
