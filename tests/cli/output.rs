//! Formats: one shape for scripts and HTTP clients, and nothing on stdout but data.

use super::pictures::at_terminal;
use super::tree::{commands, shell, words};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::{World, mfa};
use serde_json::{Value, json};

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn rows(text: &str, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn json_is_what_the_daemon_sends() {
    let world = World::start();
    sample(&world);
    let record = world.get("/customers/c-001").json();
    assert_eq!(run(world.mfa(&["customers", "get", "c-001", "-o", "json"])).json(), record);
    let line = run(world.mfa(&["customers", "get", "c-001", "-o", "jsonl"])).ok();
    assert_eq!(line.trim_end(), world.get("/customers/c-001").text());
    assert_eq!(yaml(&run(world.mfa(&["customers", "get", "c-001", "-o", "yaml"])).ok()), record);
    let page = world.get("/customers?includeClosed=true").json();
    let list = ["customers", "list", "--include-closed", "-o"];
    assert_eq!(run(world.mfa(&[&list[..], &["json"]].concat())).json(), page["customers"]);
    assert_eq!(yaml(&run(world.mfa(&[&list[..], &["yaml"]].concat())).ok()), page["customers"]);
    let lines = run(world.mfa(&[&list[..], &["jsonl"]].concat())).ok();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(lines), page["customers"]);
    assert_eq!(run(world.mfa(&[&list[..], &["id"]].concat())).ok(), "c-001\nc-002\nc-003\nc-004\n");
}

#[test]
fn csv_and_tsv_hold_the_same_rows_and_tsv_is_the_default_in_a_pipe() {
    let world = World::start();
    let odd = "a, \"b\"\tc\\d";
    let body = json!({ "identifier": "odd", "name": "Odd", "description": format!("{odd}\nnext") });
    world.post("/offices", body.to_string()).is(202);
    let csv = rows(&run(world.mfa(&["offices", "get", "odd", "-o", "csv"])).ok(), b',');
    assert_eq!(csv[0][..4], ["identifier", "name", "parent", "description"]);
    assert_eq!(csv[1][3], format!("{odd}\nnext"));
    let tsv = run(world.mfa(&["offices", "get", "odd"])).ok();
    assert_eq!(tsv, run(world.mfa(&["offices", "get", "odd", "-o", "tsv"])).ok());
    assert!(tsv.lines().nth(1).unwrap().contains("a, \"b\"\\tc\\\\d\\nnext"), "{tsv}");
    assert!(!tsv.contains('\u{1b}'));
    let chosen = run(world.mfa(&["offices", "list", "--columns", "name,identifier", "--no-header"])).ok();
    assert_eq!(chosen, "Odd\todd\n");
}

#[test]
fn every_change_answers_in_every_format() {
    let world = World::start();
    for (i, format) in ["table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "id"].iter().enumerate() {
        let office = format!("office-{i}");
        let created = run(world.mfa(&["offices", "create", &office, "--name", "A", "-o", format])).ok();
        assert!(created.contains(&office), "{format}: {created}");
        let done =
            run(world.mfa(&["offices", "update", &office, "--name", "B", "--no-read", "-o", format])).ok();
        let deleted = run(world.mfa(&["offices", "delete", &office, "--yes", "-o", format])).ok();
        match *format {
            "json" | "jsonl" => {
                assert_eq!(serde_json::from_str::<Value>(&created).unwrap()["name"], "A");
                let expected = json!({ "identifier": office, "result": "updated" });
                assert_eq!(serde_json::from_str::<Value>(&done).unwrap(), expected);
                assert_eq!(serde_json::from_str::<Value>(&deleted).unwrap()["result"], "deleted");
            }
            "yaml" => assert_eq!(yaml(&deleted), json!({ "identifier": office, "result": "deleted" })),
            "csv" => assert_eq!(rows(&deleted, b',')[1], [office.as_str(), "deleted"]),
            "tsv" => assert_eq!(rows(&deleted, b'\t')[1], [office.as_str(), "deleted"]),
            "id" => assert_eq!(deleted, format!("{office}\n")),
            // On a terminal stderr says it; there is no record left to show.
            _ => assert_eq!(deleted, ""),
        }
    }
}

#[test]
fn every_command_that_shows_something_honours_json() {
    let world = World::start();
    sample(&world);
    for line in [
        &["status"][..],
        &["version"],
        &["daemon", "status"],
        &["config", "path"],
        &["commands"],
        &["explain", "error"],
        &["explain", "error", "wrong_state"],
        &["explain", "office.address"],
        &["help", "exit-codes"],
        &["help", "environment"],
        &["help", "output"],
        &["help", "offices", "create"],
        &["completions", "bash"],
        &["offices", "address", "get", "market"],
        &["offices", "references", "list", "market"],
        &["customers", "commands", "c-001"],
    ] {
        let json = run(world.mfa(&[line, &["-o", "json"]].concat())).json();
        assert_eq!(yaml(&run(world.mfa(&[line, &["-o", "yaml"]].concat())).ok()), json, "{line:?}");
        for format in ["table", "wide", "jsonl", "csv", "tsv", "id"] {
            run(world.mfa(&[line, &["-o", format]].concat())).ok();
        }
    }
}

#[test]
fn a_column_that_does_not_exist_is_refused_before_anything_is_changed() {
    let world = World::start();
    sample(&world);
    let lists = [
        "/customers",
        "/employees",
        "/events/subscriptions",
        "/instances?customer=c-001",
        "/offices",
        "/offices/head-office/teller",
        "/offices/head-office/days",
        "/applications",
    ];
    let all = || lists.map(|path| world.get(path).is(200).json());
    let before = all();
    let [file, key, store, batch, office] =
        ["b.mfab", "key.pem", "new", "batch.json", "office.yaml"].map(|name| world.dir.path().join(name));
    let made = r#"{"method":"POST","path":"/offices","body":{"identifier":"osu","name":"Osu"}}"#;
    std::fs::write(&batch, format!("[{made}]")).unwrap();
    std::fs::write(&office, "kind: office\nidentifier: osu\nname: Osu\n").unwrap();
    for words in [
        "customers create c-9 --surname Addo",
        "customers create c-9 --surname Addo --no-read",
        "customers update c-001 --surname Addo",
        "customers lock c-001 --yes",
        "employees delete kojo --yes",
        "offices address delete head-office --yes",
        "accounts create --customer c-001 --product savings",
        "webhooks create sync2 --receiver https://example.org/",
        "teller close desk-2 --office head-office --yes",
        "day end head-office --yes --confirm head-office",
        &format!("batch {}", batch.display()),
        &format!("apply -f {} --yes", office.display()),
        &format!("applications keygen crm-v9 --out {} --bits 2048", key.display()),
        &format!("init --data-dir {} --no-input", store.display()),
        &format!("backup create --out {}", file.display()),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let said = run(world.mfa(&[&words[..], &["--columns", "nothing"]].concat())).fails(2);
        assert!(said.contains("there is no column \"nothing\""), "{words:?}: {said}");
        assert_eq!(all(), before, "{words:?}");
    }
    assert!(!file.exists() && !key.exists() && !store.exists());
    run(world.mfa(&["customers", "create", "c-9", "--no-read", "--columns", "result"])).ok();
    run(world.mfa(&["customers", "create", "c-8", "--dry-run", "--columns", "result"])).ok();
}

/// Verbs whose result has no columns: a receipt on paper, a login.
const WITHOUT_COLUMNS: &[&str] = &["login", "teller receipt"];

#[test]
fn every_verb_that_changes_something_refuses_a_wrong_column_first() {
    let world = World::start();
    sample(&world);
    let (mut proven, mut wrong) = (0, Vec::new());
    for command in commands().iter().filter(|c| c["endpoint"].is_string() && c["method"] != "GET") {
        let name = words(command).join(" ");
        let (own, example) = (format!("mfa {name}"), command["examples"][0].as_str().unwrap());
        // What follows where the verb fails is not its own.
        let example = example.split("||").next().unwrap();
        if WITHOUT_COLUMNS.contains(&name.as_str()) || !example.contains(&own) {
            continue;
        }
        let flags = format!("{own} --columns nothing --output tsv --print-curl");
        let said = run(shell(&world, &example.replacen(&own, &flags, 1))).err;
        let sent = ["curl -X POST", "curl -X PUT", "curl -X DELETE"];
        if !said.contains("there is no column \"nothing\"") || sent.iter().any(|line| said.contains(line)) {
            wrong.push(format!("{example}\n{said}"));
        }
        proven += 1;
    }
    assert!(proven > 90 && wrong.is_empty(), "{proven}\n{}", wrong.join("\n"));
    // Neither does one that changes this machine, or many records at once.
    std::fs::write(world.dir.path().join("rows.csv"), "identifier\nc-9\n").unwrap();
    for line in [
        "profile add bank --url https://mfa.example.org",
        "profile use --none",
        "customers import rows.csv",
        "daemon stop",
    ] {
        let said = run(shell(&world, &format!("mfa {line} --columns nothing -o csv"))).fails(2);
        assert!(said.contains("there is no column \"nothing\""), "{line}: {said}");
    }
    assert_eq!(run(world.mfa(&["profile", "list", "-o", "json"])).json(), json!([]));
    world.get("/customers/c-9").refused(404, "customer_not_found");
}

#[test]
fn a_wrong_column_makes_no_certificate_consent_second_factor_account_or_copy() {
    let mut world = World::guarded();
    sample(&world);
    let wrong = |world: &World, line: &str| {
        let words: Vec<&str> = line.split(' ').chain(["--columns", "nothing"]).collect();
        let said = run(world.mfa_on_store(&words)).fails(2);
        assert!(said.contains("there is no column \"nothing\""), "{line}: {said}");
    };
    let url = world.url();
    let [folder, copy] = ["tls", "copy"].map(|name| world.dir.path().join(name));
    wrong(&world, &format!("tls generate --name bank.example --out {}", folder.display()));
    assert!(!folder.exists());
    let shown = |line: &str| run(world.mfa(&line.split(' ').collect::<Vec<_>>())).json();
    let consent = "crm-v1 identity__v1__users olga";
    let given = &format!("applications consents get {consent} -o json");
    let factor = "second-factor status -o json";
    let before = [shown(given), shown(factor)];
    wrong(&world, &format!("applications consents set {consent} true --url {url}"));
    wrong(&world, &format!("second-factor enable --no-input --url {url}"));
    assert_eq!([shown(given), shown(factor)], before);
    world.stop();
    wrong(&world, "admin add-account 7352 asset");
    wrong(&world, &format!("migrate --from {} --to {}", world.config().data_dir.display(), copy.display()));
    assert!(!copy.exists());
    // It was not there.
    run(world.mfa_on_store(&["admin", "add-account", "7352", "asset"])).ok();
}

#[test]
fn an_empty_list_is_fine() {
    let world = World::start();
    assert_eq!(run(world.mfa(&["offices", "list", "-o", "json"])).json(), json!([]));
    assert_eq!(run(world.mfa(&["offices", "list", "-o", "jsonl"])).ok(), "");
    assert_eq!(run(world.mfa(&["offices", "list", "-o", "table"])).ok(), "");
}

#[test]
fn lists_are_cut_and_sorted_as_asked() {
    let world = World::start();
    sample(&world);
    let ids = |flags: &[&str]| {
        let line = [&["customers", "list", "--include-closed", "-o", "id"][..], flags].concat();
        run(world.mfa(&line)).ok().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--limit", "2"]), ["c-001", "c-002"]);
    assert_eq!(ids(&["--limit", "0"]), Vec::<String>::new());
    assert_eq!(ids(&["--sort", "-identifier", "--all"]), ["c-004", "c-003", "c-002", "c-001"]);
    assert_eq!(ids(&["--sort", "office,-surname"]), ["c-001", "c-002", "c-004", "c-003"]);
    assert_eq!(ids(&["--term", "MENSAH"]), ["c-001"]);
    // As it is pasted from elsewhere.
    assert_eq!(ids(&["--term", " Mensah "]), ["c-001"]);
    run(world.mfa(&["customers", "list", "--sort", "city"])).fails(2);
    run(world.mfa(&["customers", "list", "--columns", "stat"])).fails(2);
}

#[test]
fn tables_make_room_by_leaving_out_what_matters_least() {
    let world = World::start();
    sample(&world);
    let table = |columns: &str, format: &str| {
        let mut command = world.mfa(&["customers", "list", "-o", format]);
        command.env("COLUMNS", columns);
        run(command).ok()
    };
    for width in [50, 80, 120] {
        let text = table(&width.to_string(), "table");
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(text.contains("IDENTIFIER") && text.contains("STATE"), "{text}");
    }
    assert!(!table("60", "table").contains("EMPLOYEE") && table("120", "table").contains("EMPLOYEE"));
    assert!(table("60", "wide").contains("MODIFIED-BY"));
}

#[test]
fn a_table_shows_each_path_of_a_group_once_with_all_its_methods() {
    let world = World::start();
    let flags = ["GET,PUT a-v1/b/*", "GET a-v1/c", "DELETE,PUT a-v1/b/*"].map(|text| ["--permittable", text]);
    run(world.mfa(&[&["groups", "create", "both"], flags.as_flattened()].concat())).ok();
    let table = run(world.mfa(&["groups", "list", "-o", "table"])).ok();
    assert_eq!(table.matches("a-v1/b/*").count(), 1, "{table}");
    assert!(table.contains("  GET,PUT,DELETE a-v1/b/*\n"), "{table}");
    let get = |format: &str| run(world.mfa(&["groups", "get", "both", "-o", format])).ok();
    let record = "identifier  both\npaths       GET,PUT,DELETE a-v1/b/*\n            GET a-v1/c\n\
                  methods     GET, PUT, DELETE\n";
    assert_eq!((get("table"), get("wide")), (record.to_owned(), record.to_owned()));
    // What programs read stays as the daemon sends it: a path for each method.
    let rows = "a-v1/b/*, a-v1/b/*, a-v1/c, a-v1/b/*, a-v1/b/*\tGET, PUT, GET, DELETE, PUT\n";
    assert!(get("tsv").ends_with(rows), "{}", get("tsv"));
    let sent = world.get("/permittablegroups/both").json();
    assert_eq!(serde_json::from_str::<Value>(&get("json")).unwrap(), sent);
}

#[test]
fn a_value_cannot_steer_the_terminal() {
    let world = World::start();
    let name = "red\u{202e}\u{1b}[31m";
    // The contract refuses control characters in a name, but a description may come with them in a file.
    let body = json!({ "identifier": "x1", "name": "X", "description": format!("a\tb\u{202e}c") });
    world.post("/offices", body.to_string()).is(202);
    let table = run(world.mfa(&["offices", "get", "x1", "-o", "table"])).ok();
    assert!(table.contains("a\\tb\\u{202e}c"), "{table}");
    let said = run(world.mfa(&["offices", "get", name])).fails(3);
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
}

#[test]
fn no_format_steers_the_terminal_and_json_stays_json() {
    let world = World::start();
    let text = "\u{202e}a\u{200e}b\u{200f}c\u{61c}d\u{2066}e\u{2028}f";
    let body = json!({ "identifier": "x1", "name": text, "description": text });
    world.post("/offices", body.to_string()).is(202);
    let get = |line: &[&str], format| at_terminal(&world, &[line, &["-o", format]].concat(), &[]);
    for line in [&["offices", "get", "x1"][..], &["offices", "list"], &["api", "GET", "/offices/x1"]] {
        for format in ["table", "wide", "json", "jsonl", "yaml", "csv", "tsv", "id"] {
            let shown = get(line, format).ok();
            assert!(
                !shown.contains(|c: char| text.contains(c) && !c.is_ascii()),
                "{line:?} {format}: {shown:?}"
            );
        }
        let shown = get(line, "jsonl").ok();
        let record: Value = serde_json::from_str(shown.trim()).unwrap_or_else(|e| panic!("{e}: {shown}"));
        assert_eq!(record["description"], text);
    }
    for format in ["csv", "json", "jsonl", "yaml"] {
        let shown = get(&["offices", "export"], format).ok();
        assert!(shown.contains("202e"), "{format}: {shown}");
        assert!(!shown.contains(|c: char| text.contains(c) && !c.is_ascii()), "{format}: {shown:?}");
    }
    // Where no terminal shows it, a program gets what is stored.
    let line = run(world.mfa(&["offices", "list", "-o", "jsonl"])).ok();
    assert!(line.contains('\u{202e}'), "{line:?}");
}

#[test]
fn a_spreadsheet_takes_no_cell_for_a_formula() {
    let world = World::start();
    let evil = r#"=HYPERLINK("http://x.example";"a")"#;
    let body = json!({ "identifier": "x1", "name": "+233", "description": evil });
    world.post("/offices", body.to_string()).is(202);
    let get = |line: &[&str]| run(world.mfa(line)).ok();
    let columns = ["--columns", "identifier,name,description,city"];
    for verb in [&["offices", "get", "x1"][..], &["offices", "list"]] {
        let csv = get(&[verb, &columns, &["-o", "csv"]].concat());
        let row = r#"x1,'+233,"'=HYPERLINK(""http://x.example"";""a"")","#;
        assert_eq!(csv.lines().last(), Some(row), "{csv}");
        let tsv = get(&[verb, &columns, &["-o", "tsv"]].concat());
        assert_eq!(tsv.lines().last(), Some(format!("x1\t'+233\t'{evil}\t").as_str()), "{tsv}");
    }
    // A flag to be typed is no cell of a spreadsheet.
    let words = get(&["complete", "-q", "-o", "tsv", "--no-header", "--", "offices", "list", "--colum"]);
    assert!(words.starts_with("--columns\t"), "{words}");
}

#[test]
fn a_question_cannot_steer_the_terminal() {
    let world = World::start();
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line("mfa groups delete $(printf 'x\\342\\200\\217y')");
    let asked = terminal.wait_for("[y/N]");
    assert!(asked.contains("x\\u{200f}y"), "{asked}");
    terminal.press("C-c");
}

#[test]
fn a_reader_that_leaves_early_causes_no_failure() {
    let home = tempfile::tempdir().unwrap();
    for line in [&["completions", "zsh"][..], &["commands", "-o", "json"], &["help", "exit-codes"]] {
        let mut command = mfa(home.path(), line);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_insist() {
    let world = World::start();
    sample(&world);
    let list = ["offices", "list", "-o", "table"];
    assert!(!run(world.mfa(&list)).ok().contains('\u{1b}'));
    assert!(run(world.mfa(&[&list[..], &["--color", "always"]].concat())).ok().contains('\u{1b}'));
    let with = |name: &str, value: &str| {
        let mut command = world.mfa(&list);
        command.env(name, value);
        run(command).ok().contains('\u{1b}')
    };
    assert!(with("CLICOLOR_FORCE", "1") && with("MFA_COLOR", "always"));
    assert!(!with("NO_COLOR", "1") && !with("CLICOLOR_FORCE", "0"));
}
