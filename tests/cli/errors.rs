//! Failures: the message, its form, and the exit code.

use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::world::{World, mfa};
use std::process::Stdio;

#[test]
fn a_failure_says_what_is_the_case_and_what_to_do() {
    let world = World::start();
    sample(&world);
    let said = run(world.mfa(&["customers", "get", "c-01"])).fails(3);
    let expected =
        "error: there is no customer \"c-01\"\nhint: did you mean c-001? list them: mfa customers list\n";
    assert_eq!(said, expected);
    // A teller is looked for in its office, or in all of them.
    for (line, office) in [
        ("teller get dsk-1 --office head-office", "head-office"),
        ("teller close desk1 --office head-office", "head-office"),
        ("teller balance dexk-1 --office head-office", "head-office"),
        ("teller pause desk-11", "OFFICE"),
        ("teller transactions list desk_1", "OFFICE"),
        ("teller deposit desk-q1 --account c-003.9100.00002 --amount 5 -y", "OFFICE"),
    ] {
        let said = run(world.mfa(&line.split(' ').collect::<Vec<_>>())).fails(3);
        let near = format!("hint: did you mean desk-1? list them: mfa teller list --office {office}\n");
        assert!(said.ends_with(&near), "{line}: {said}");
    }
    let mut at_one_office = world.mfa(&["teller", "pause", "desk-11"]);
    at_one_office.env("MFA_OFFICE", "head-office");
    assert!(run(at_one_office).fails(3).ends_with(" list them: mfa teller list\n"));
    let said = run(world.mfa(&["teller", "get", "desk-9", "--office", "market"])).fails(3);
    assert!(said.ends_with("\nhint: list them: mfa teller list --office market\n"), "{said}");
    let said = run(world.mfa(&["offices", "get", "nowhere-near"])).fails(3);
    assert!(said.ends_with("hint: list them: mfa offices list\n"), "{said}");
    let said = run(world.mfa(&["customers", "lock", "c-002"])).fails(6);
    assert!(said.contains("LOCK is not possible, only ACTIVATE or CLOSE\n"), "{said}");
    let said = run(world.mfa(&["customers", "import", "no-such-file.csv"])).fails(2);
    assert_eq!(said, "error: cannot read no-such-file.csv: No such file or directory\n");
    run(world.mfa(&["offices", "create", "market", "--name", "Again"])).fails(6);
    run(world.mfa(&["offices", "create", "m"])).fails(7);
    let said = run(world.mfa(&["offices", "create", "tema"])).fails(7);
    assert_eq!(said, "error: /name is required\nhint: give --name\n");
    let said = run(world.mfa(&["offices", "address", "set", "market", "--street", "1 Quay"])).fails(7);
    assert!(said.ends_with("hint: give --city, --country-code, --country\n"), "{said}");
    let said = run(world.mfa(&["offices", "list", "--filter", "parnt=x"])).fails(2);
    assert!(said.ends_with("hint: did you mean parent?\n"), "{said}");
    run(world.mfa(&["offices", "update", "market"])).fails(2);
    run(world.mfa(&["offices", "references", "set", "market", "--type", "x", "--state", "perhaps"])).fails(7);
}

#[test]
fn an_identifier_that_looks_like_a_flag_is_given_behind_two_dashes() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"-x1","surname":"Addo"}"#).is(202);
    let said = run(world.mfa(&["customers", "get", "-x1"])).fails(2);
    assert!(said.contains(" comes last, behind --: mfa customers get -- VALUE; "), "{said}");
    assert_eq!(run(world.mfa(&["customers", "get", "-o", "id", "--", "-x1"])).ok(), "-x1\n");
    let said = run(world.mfa(&["products", "create", "saver", "--interest", "-5"])).fails(2);
    assert!(said.contains("a value that begins with - is given with =: --interest=-5; "), "{said}");
    // A flag without a value takes none.
    assert!(!run(world.mfa(&["products", "get", "--yes", "-5"])).fails(2).contains("--yes=-5"));
}

#[test]
fn a_customer_who_is_named_in_place_of_an_account_gets_the_list_of_accounts() {
    let world = World::start();
    sample(&world);
    for (line, exit) in [
        ("accounts get c-003", 3),
        ("accounts statement c-003", 3),
        ("accounts interest c-003", 3),
        ("accounts activate c-003", 3),
        ("teller deposit desk-2 --account c-003 --amount 5 -y", 3),
        ("teller close-account desk-2 --account c-003 -y", 3),
        ("teller transfer desk-2 --account c-003.9100.00002 --to c-003 --amount 5 -y", 7),
    ] {
        let said = run(world.mfa(&line.split(' ').collect::<Vec<_>>())).fails(exit);
        let next = "hint: c-003 is a customer; their accounts: mfa accounts list --customer c-003\n";
        assert!(said.contains("\"c-003\"") && said.ends_with(next), "{line}: {said}");
    }
    let said = run(world.mfa(&["accounts", "get", "c-009"])).fails(3);
    assert!(!said.contains("is a customer"), "{said}");
}

#[test]
fn a_bad_field_is_shown_with_the_flag_that_gives_it() {
    let world = World::start();
    sample(&world);
    for (line, error) in [
        (
            "customers create c-9 --type plant",
            "/type (--type) must be one of PERSON, BUSINESS, not \"plant\"",
        ),
        (
            "offices address set market --street x --city y --country-code GHANA --country z",
            "/countryCode (--country-code) ",
        ),
        (
            "customers create c-9 --surname x --contact type=FAX,value=1,group=PRIVATE",
            "/contactDetails/0/type (--contact) ",
        ),
        ("webhooks create sync --receiver ftp://x", "/url (--receiver) "),
        (
            "teller update desk-1 --office head-office --drawer-account !",
            "/tellerAccountIdentifier (--drawer-account) ",
        ),
    ] {
        let said = run(world.mfa(&line.split(' ').collect::<Vec<_>>()));
        let said = said.fails(7);
        assert!(said.starts_with(&format!("error: {error}")), "{line}: {said}");
    }
    // Where several are wrong, each has its own; the record for machines keeps the words of the daemon.
    let line = ["customers", "create", "c-9", "--type", "plant", "--contact", "type=FAX"];
    let said = run(world.mfa(&line)).fails(7);
    for field in ["field: /type (--type) ", "field: /contactDetails/0/type (--contact) "] {
        assert!(said.contains(field), "{said}");
    }
    let said = run(world.mfa(&[&line[..], &["-o", "json"]].concat())).fails(7);
    assert!(said.contains("/type must be") && !said.contains("(--type)"), "{said}");
}

#[test]
fn what_is_still_used_is_refused_with_the_commands_that_list_the_uses() {
    let world = World::start();
    sample(&world);
    let said = run(world.mfa(&["offices", "delete", "head-office", "--yes"])).fails(6);
    let (_, lists) = said.split_once("list them: ").unwrap();
    let lists: Vec<_> = lists.trim().split(", ").collect();
    assert_eq!(lists.len(), 3, "{said}");
    for list in lists {
        let words: Vec<_> = list.split(' ').skip(1).chain(["-o", "id"]).collect();
        let ran = run(world.mfa(&words));
        assert!(ran.exit == 0 && !ran.out.trim().is_empty(), "{list}: {ran:?}");
    }
}

#[test]
fn a_metric_that_is_not_there_is_warned_of() {
    let world = World::start();
    let ran = run(world.mfa(&["metrics", "foo", "-o", "json"]));
    assert_eq!((ran.exit, ran.out.as_str()), (0, "[]\n"), "{}", ran.err);
    assert!(ran.err.contains("no metric has a name that begins with foo"), "{}", ran.err);
    let ran = run(world.mfa(&["metrics", "mfa_sessions", "-o", "json"]));
    assert!(ran.exit == 0 && ran.err.is_empty() && ran.out.contains("mfa_sessions"), "{ran:?}");
}

#[test]
fn an_unknown_command_is_answered_with_the_one_that_was_meant() {
    let home = tempfile::tempdir().unwrap();
    for (line, hint) in [
        ("", "begin with mfa quickstart or mfa login; every command: mfa --help"),
        ("customer", "see: mfa customers --help"),
        ("customers creat c-1", "did you mean create? see: mfa customers --help"),
        (
            "customers create c-1 --office x",
            "did you mean --assigned-office? see: mfa customers create --help",
        ),
        ("customers create c-1 --surnam x", "did you mean --surname? see: mfa customers create --help"),
        (
            "accounts create c-1",
            "give it by a flag, such as --customer, --product, --alternative-number; see: mfa accounts create --help",
        ),
        ("whoami x", "see: mfa whoami --help"),
        ("offices list --limit three", "see: mfa offices list --help"),
        ("start", "did you mean daemon start? see: mfa --help"),
        ("offices show market", "did you mean get? see: mfa offices --help"),
        ("offices rm market", "did you mean delete? see: mfa offices --help"),
        ("card add c-001", "did you mean create? see: mfa cards --help"),
        ("gateways get email", "it is one of email, sms; see: mfa gateways --help"),
        ("teller reports tree", "it is one of list, get, print, save; see: mfa teller reports --help"),
        ("teller transfer desk-1 --target x", "see: mfa teller transfer --help"),
        (
            "accounts statement c-1 --paper a4",
            "--paper is a flag of mfa statement; see: mfa accounts statement --help",
        ),
        (
            "accounts get -z",
            "a value that begins with - comes last, behind --: mfa accounts get -- VALUE; see: mfa accounts get --help",
        ),
        ("daemon status -z", "see: mfa daemon status --help"),
        ("customers delete c-1", "did you mean close? see: mfa customers --help"),
        ("customers deactivate c-1", "did you mean lock? see: mfa customers --help"),
        (
            "customers lock c-1 c-2",
            "it takes only ID: repeat it for each, or give a flag; see: mfa customers lock --help",
        ),
        ("login -u olga", "USER is given without a flag: mfa login USER; see: mfa login --help"),
        ("help imprt", "did you mean mfa help import? see: mfa --help"),
        ("help custmers", "did you mean mfa help customers? see: mfa --help"),
        ("help customers creat", "did you mean mfa help customers create? see: mfa --help"),
        ("offices list --quite", "did you mean --quiet? see: mfa offices list --help"),
    ] {
        let said = run(mfa(home.path(), &line.split_whitespace().collect::<Vec<_>>())).fails(2);
        assert!(said.ends_with(&format!("\nhint: {hint}\n")), "{line}: {said}");
    }
    let said = run(mfa(home.path(), &["products", "charges", "list"])).fails(2);
    assert!(
        said.starts_with("error: there is no command mfa products charges\nhint: it is one of list, "),
        "{said}"
    );
}

#[test]
fn an_identifier_that_would_lead_elsewhere_is_not_sent() {
    let world = World::start();
    for identifier in ["", ".", ".."] {
        run(world.mfa(&["customers", "get", identifier])).fails(2);
        run(world.mfa(&["offices", "delete", identifier, "--yes"])).fails(2);
    }
}

#[test]
fn programs_get_one_line_of_json_whatever_went_wrong() {
    let world = World::start();
    for format in ["json", "jsonl", "yaml"] {
        let error = run(world.mfa(&["customers", "get", "c-01", "-o", format])).fails_in_json(3);
        assert_eq!((&error["code"], &error["status"]), (&"customer_not_found".into(), &404.into()));
        assert!(error["requestId"].is_string());
        let error = run(world.mfa(&["customers", "gett", "-o", format])).fails_in_json(2);
        assert_eq!(error["code"], "usage");
        let error = run(world.mfa(&["customers", "create", "c/1", "-o", format])).fails_in_json(7);
        assert_eq!(error["field"], "/identifier");
        let mut command = world.mfa(&["status", &format!("-o{format}")]);
        let error = run({
            command.env("MFA_URL", "http://127.0.0.1:1");
            command
        });
        assert_eq!(error.fails_in_json(10)["code"], "daemon_unreachable");
    }
    let said = run(world.mfa(&["customers", "create", "c-9", "--date-of-birth", "1990-02-31"])).fails(2);
    assert!(said.ends_with("hint: see: mfa customers create --help\n"), "{said}");
    let mut command = world.mfa(&["customers", "gett"]);
    command.env("MFA_OUTPUT", "json");
    run(command).fails_in_json(2);
}

#[test]
fn only_json_is_on_stderr_after_a_failure_and_warnings_are_in_it() {
    let world = World::start();
    sample(&world);
    let config = world.dir.path().join("typo.toml");
    std::fs::write(&config, "outptu = 'json'\n").unwrap();
    let ran = |amount: &str| {
        let line = format!("teller withdraw desk-2 --account c-003.9100.00002 --amount {amount} -y -o json");
        let mut command = world.mfa(&line.split(' ').collect::<Vec<_>>());
        command.env("MFA_CONFIG", &config);
        run(command)
    };
    let error = ran("101").fails_in_json(6);
    assert_eq!(error["code"], "insufficient_balance");
    let warnings = error["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{error}");
    assert!(warnings[0].as_str().unwrap().contains("unknown setting outptu"), "{error}");
    // Of a command that does not fail all of it is shown.
    let ran = ran("5");
    assert!(ran.err.contains("warning: ") && ran.err.contains("drawer"), "{}", ran.err);
    assert_eq!(ran.json()["state"], "CONFIRMED");
}

#[test]
fn a_daemon_that_does_not_answer_has_its_own_failure() {
    let home = tempfile::tempdir().unwrap();
    let status = |url: &str| run(mfa(home.path(), &["status", "--retries", "0", "--url", url])).fails(10);
    let refused = status("http://127.0.0.1:1");
    assert!(refused.contains("http://127.0.0.1:1: the connection was refused"), "{refused}");
    assert!(refused.contains("hint: start it: mfa --url http://127.0.0.1:1 daemon start"), "{refused}");
    let world = World::start();
    let plain = status(&world.url().replace("http:", "https:"));
    assert!(
        plain.ends_with("does not speak TLS\nhint: is the address http:// in place of https://?\n"),
        "{plain}"
    );
    let unknown = status("http://no-such-host.invalid");
    assert!(unknown.contains("no such host"), "{unknown}");
    run(mfa(home.path(), &["status", "--url", "nonsense"])).fails(2);
    for format in ["csv", "tsv", "id", "jsonl"] {
        let list = ["offices", "list", "--retries", "0", "-o", format, "--url", "http://127.0.0.1:1"];
        run(mfa(home.path(), &list)).fails(10);
    }
}

#[test]
fn nothing_is_asked_where_no_one_can_answer() {
    let world = World::start();
    sample(&world);
    for line in [
        &["offices", "delete", "market"][..],
        &["offices", "delete", "market", "--no-input"],
        &["offices", "address", "delete", "head-office"],
    ] {
        let mut command = world.mfa(line);
        command.stdin(Stdio::null());
        let said = run(command).fails(2);
        assert!(said.contains("--yes is needed"), "{said}");
    }
    let mut command = world.mfa(&["offices", "delete", "market"]);
    command.env("MFA_YES", "1");
    run(command).ok();
}

#[test]
fn an_unknown_format_is_wrong_usage_wherever_it_comes_from() {
    let world = World::start();
    let said = run(world.mfa(&["status", "-o", "xml"])).fails(2);
    assert!(said.contains("xml"), "{said}");
    let mut command = world.mfa(&["status"]);
    command.env("MFA_OUTPUT", "xml");
    let said = run(command).fails(2);
    assert!(said.contains("environment MFA_OUTPUT"), "{said}");
    let mut command = world.mfa(&["status"]);
    command.env("MFA_YES", "perhaps");
    let said = run(command).fails(2);
    assert!(said.contains("one of true, 1, yes, on, false, 0, no, off, from environment MFA_YES"), "{said}");
    let said = run(world.mfa(&["daemon", "start", "--listen", "127.0.0.1:99999"])).fails(2);
    assert!(said.contains("is not a value of listen: it has another form, such as 127.0.0.1:6320"), "{said}");
    let said = run(world.mfa(&["offices", "list", "--limit", "three"])).fails(2);
    assert!(said.contains("'--limit <NUMBER>': it must be a whole number\n"), "{said}");
}

#[test]
fn an_update_keeps_what_it_does_not_name() {
    let world = World::start();
    sample(&world);
    run(world.mfa(&["customers", "update", "c-001", "--middle-name", "Akua", "--member"])).ok();
    let said = run(world.mfa(&["customers", "update", "c-001", "--clear", "middle-name"])).fails(2);
    assert_eq!(said, "error: there is no \"middle-name\" to clear\nhint: did you mean middleName?\n");
    let before = world.get("/customers/c-001").json();
    let line = ["customers", "update", "c-001", "--surname", "Owusu", "--clear", "middleName", "-o", "json"];
    let after = run(world.mfa(&line)).json();
    assert_eq!(before["middleName"], "Akua");
    assert!(after["middleName"].is_null());
    assert_eq!((&after["surname"], &after["member"]), (&"Owusu".into(), &true.into()));
    assert_eq!(after["assignedOffice"], before["assignedOffice"]);
    // What an update keeps although it is left out cannot be emptied, and then nothing else is changed.
    for property in ["type", "member"] {
        let line = ["customers", "update", "c-001", "--surname", "Addo", "--clear", property];
        let said = run(world.mfa(&line)).fails(2);
        assert!(
            said.starts_with(&format!("error: {property} of customer c-001 cannot be emptied\n")),
            "{said}"
        );
        let said = run(world.mfa(&[&line[..], &["--dry-run"]].concat())).fails(2);
        assert!(said.contains("cannot be emptied"), "{said}");
    }
    assert_eq!(world.get("/customers/c-001").json()["surname"], "Owusu");
}

#[test]
fn a_wrong_state_or_missing_part_names_the_next_command_in_full() {
    let world = World::start();
    sample(&world);
    world.post("/customers", r#"{"identifier":"x-1","surname":"Mensah"}"#).is(202);
    for (line, exit, hint) in [
        ("customers lock x-1", 6, "mfa customers activate x-1"),
        ("customers unlock x-1", 6, "mfa customers close x-1"),
        ("customers portrait get x-1 --out x.png", 3, "mfa customers portrait set x-1 FILE"),
        ("cards get x-1 G7", 3, "mfa cards list x-1"),
        ("cards scans list x-1 G7", 3, "mfa cards list x-1"),
        ("accounts get x-1.9100.00001", 3, "mfa accounts list --customer x-1"),
    ] {
        let words: Vec<_> = line.split(' ').collect();
        let said = run(world.mfa(&words)).fails(exit);
        assert!(said.contains(hint), "{line}: {said}");
        assert!(!said.contains("CUSTOMER"), "{line}: {said}");
        let error = run(world.mfa(&[&words[..], &["-o", "json"]].concat())).fails_in_json(exit);
        assert!(error["hint"].as_str().unwrap().contains(hint), "{line}: {error}");
    }
}

#[test]
fn errors_are_json_however_the_format_is_written() {
    let world = World::start();
    let nope = ["offices", "get", "nope"];
    for flags in [&["-qo", "json"][..], &["-qojson"], &["-yqo=json"], &["-o", "json", "-q"]] {
        let error = run(world.mfa(&[flags, &nope[..]].concat())).fails_in_json(3);
        assert_eq!(error["code"], "office_not_found", "{flags:?}");
        // A line that is wrong has no format yet.
        let error = run(world.mfa(&[flags, &["offices", "get"]].concat())).fails_in_json(2);
        assert_eq!(error["code"], "usage", "{flags:?}");
    }
    for line in [&nope[..], &["offices", "get"]] {
        let mut command = world.mfa(line);
        command.env("MFA_OUTPUT", " json");
        let said = run(command).err;
        assert!(said.starts_with("{\"error\":"), "{said}");
    }
}
