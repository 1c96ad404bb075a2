//! `mfa apply` and `mfa diff`: an institution from files.

use crate::support::guarded::PASSWORD;
use crate::support::run::{Ran, run};
use crate::support::world::World;
use serde_json::{Value, json};

/// A whole institution; each record comes after those that refer to it.
const FILES: &[(&str, &str)] = &[
    (
        "a-counter.yaml",
        "kind: teller\noffice: osu\ncode: osu-1\npassword: ${file:secret/osu-1.pin}\ncashdrawLimit: 5000.00\n\
         tellerAccountIdentifier: drawer-osu-1\nvaultAccountIdentifier: vault-osu\n\
         chequesReceivableAccount: cheques\ncashOverShortAccount: over-short\nassignedEmployee: ama\n\
         ---\n# a comment alone\n---\n\
         - {kind: user, identifier: ama, role: desk, password: '${env:AMA_PASSWORD}'}\n\
         - kind: employee\n  identifier: ama\n  surname: Mensah\n  assignedOffice: osu\n  contactDetails:\n\
         \x20   - {type: mobile, group: private, value: '${env:AMA_PHONE}', preferenceLevel: 2}\n\
         \x20   - {type: email, group: business, value: ama@example.org, preferenceLevel: 1}\n",
    ),
    (
        "b-offices.yml",
        "kind: office\nidentifier: osu\nname: Osu\nparentIdentifier: accra\n---\n\
         kind: office\nidentifier: accra\nname: Accra\ndescription: 'costs $${amount}'\naddress:\n  street: 1 Ring Road\n\
         \x20 city: Accra\n  countryCode: gh\n  country: Ghana\n",
    ),
    (
        "below/roles.json",
        r#"{"kind":"role","identifier":"desk","permissions":[
            {"permittableEndpointGroupIdentifier":"see-customers","allowedOperations":["READ"]}]}
           {"kind":"group","identifier":"see-customers","permittables":[{"path":"customer-v1/customers","method":"GET"}]}"#,
    ),
    (
        "below/money.yaml",
        "kind: product\ntype: savings\nidentifier: savings\nname: Savings\nminimumBalance: 5.10\n\
         currency: {code: GHS, name: Cedi, sign: ₵, scale: 2}\nequityLedgerIdentifier: '9100'\n\
         cashAccountIdentifier: '7300'\nexpenseAccountIdentifier: '3900'\naccrueAccountIdentifier: '8100'\n\
         term: {interestPayable: annually}\ncharges:\n\
         \x20 - {name: Deposit, actionIdentifier: Deposit, incomeAccountIdentifier: fees, amount: 1.50}\nactive: true\n\
         ---\nkind: email-gateway\nidentifier: mail\nhost: mail.example.org\nport: 587\nusername: bank\n\
         app_password: ${env:MAIL_PASSWORD}\nsmtp_auth: true\n",
    ),
    (
        "below/sms.json",
        r#"[{"kind":"sms-gateway","identifier":"sms","auth_token":"${env:SMS_TOKEN}","account_sid":"AC1","sender_number":"Bank"}]"#,
    ),
    ("notes.txt", "kind: nothing\n"),
];
const PIN: &str = "pin-4711-osu";
const PHONE: &str = "+233201234567";
const SECRETS: &[(&str, &str)] = &[
    ("AMA_PASSWORD", "first-of-ama"),
    ("AMA_PHONE", PHONE),
    ("MAIL_PASSWORD", "word-of-mail"),
    ("SMS_TOKEN", "token-of-sms"),
];

/// Lays the files of the institution into the folder of a world.
pub fn institution(world: &World) {
    for (name, text) in FILES {
        write(world, &format!("set/{name}"), text);
    }
    write(world, "set/secret/osu-1.pin", &format!("{PIN}\n"));
}

pub fn write(world: &World, name: &str, text: &str) {
    let path = world.dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// `mfa LINE` in the folder of a world with the secrets in its environment; none of them is ever shown.
#[track_caller]
pub fn mfa(world: &World, line: &str) -> Ran {
    let words: Vec<_> = line.split(' ').collect();
    let mut command = world.mfa(&words);
    command.current_dir(world.dir.path()).envs(SECRETS.iter().copied());
    let ran = run(command);
    for secret in SECRETS.iter().map(|(_, secret)| *secret).chain([PIN]) {
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{secret}: {} {}", ran.out, ran.err);
    }
    ran
}

/// `kind identifier result` of the rows that a run has printed.
fn results(ran: &Ran) -> Vec<String> {
    let rows: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err));
    let word = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let row = |row| format!("{} {} {}", word(row, "kind"), word(row, "identifier"), word(row, "result"));
    rows.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn files_in_any_order_make_an_institution_and_again_change_nothing() {
    let world = World::start();
    institution(&world);
    let tried = mfa(&world, "apply -f set --dry-run -o json");
    assert_eq!(tried.exit, 20, "{} {}", tried.out, tried.err);
    assert_eq!(world.get("/offices").json()["totalElements"], 0);
    let ran = mfa(&world, "apply -f set --yes -o json");
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{}", ran.out);
    let made = [
        "group see-customers",
        "office accra",
        "product savings",
        "email-gateway mail",
        "sms-gateway sms",
        "role desk",
        "office osu",
        "employee ama",
        "user ama",
        "teller osu-1",
    ];
    let mut found = results(&ran);
    let with = |word: &str| {
        let mut rows: Vec<_> = made.iter().map(|name| format!("{name} {word}")).collect();
        rows.sort();
        rows
    };
    found.sort();
    assert_eq!(found, with("created"));
    let mut found = results(&tried);
    found.sort();
    assert_eq!(found, with("would be created"));
    assert_eq!(world.get("/offices/osu").json()["parentIdentifier"], "accra");
    assert_eq!(world.get("/offices/accra").json()["description"], "costs ${amount}");
    assert_eq!(world.get("/employees/ama").json()["contactDetails"][1]["value"], PHONE);
    let savings = world.get("/definitions/savings");
    assert!(savings.text().contains("\"minimumBalance\":5.10"), "{}", savings.text());
    assert_eq!(savings.json()["active"], true);
    assert_eq!(world.get("/configuration/email/mail").json()["app_password"], "word-of-mail");
    world.try_login("ama", "first-of-ama").is(200);
    for line in
        ["apply -f set -o json", "apply -f set --dry-run -o json", "diff -f set -o json", "diff -f set"]
    {
        let again = mfa(&world, line);
        assert_eq!((again.exit, again.err.as_str()), (0, ""), "{line} {}", again.out);
        assert!(["[]\n", ""].contains(&again.out.as_str()), "{line} {}", again.out);
    }
}

#[test]
fn what_has_drifted_is_shown_and_set_right_and_the_rest_stays() {
    let world = World::start();
    institution(&world);
    mfa(&world, "apply -f set --yes").ok();
    world.put("/offices/osu", r#"{"identifier":"osu","name":"Other","description":"new"}"#).is(202);
    world.put("/configuration/email", r#"{"identifier":"mail","app_password":"other-word"}"#).is(202);
    world.post("/definitions/savings/commands", r#"{"action":"DEACTIVATE"}"#).is(202);
    let ran = mfa(&world, "diff -f set");
    assert_eq!((ran.exit, ran.err.as_str()), (20, ""));
    for line in [
        "-name: Other\n",
        "+name: Osu\n",
        "+active: true\n",
        " description: new\n",
        "+++ office osu in set/b-offices.yml, document 1\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains("app_password: \"***\"") && !ran.out.contains("other-word"), "{}", ran.out);
    write(
        &world,
        "more.yaml",
        "kind: office\nidentifier: accra\naddress: null\n---\nkind: employee\nidentifier: ama\nassignedOffice:\n",
    );
    let both = mfa(&world, "diff -f more.yaml -o json");
    let rows: Value = serde_json::from_str(&both.out).unwrap();
    assert_eq!(rows[0]["fields"][0]["field"], "address");
    assert_eq!(
        (&rows[0]["fields"][0]["after"], rows[0]["fields"][0]["before"]["city"].as_str()),
        (&Value::Null, Some("Accra"))
    );
    let said = mfa(&world, "apply -f set").fails(2);
    assert!(
        said.contains("~ office osu (set/b-offices.yml, document 1)\n~     name: Other -> Osu\n"),
        "{said}"
    );
    assert!(said.contains("--yes is needed"), "{said}");
    let ran = mfa(&world, "apply -f set --yes -o json");
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let mut changed = results(&ran);
    changed.sort();
    assert_eq!(changed, ["email-gateway mail changed", "office osu changed", "product savings changed"]);
    let office = world.get("/offices/osu").json();
    assert_eq!((&office["name"], &office["description"]), (&json!("Osu"), &json!("new")));
    assert_eq!(world.get("/configuration/email/mail").json()["app_password"], "word-of-mail");
    write(&world, "mail.yaml", "kind: email-gateway\nidentifier: mail\nservice: new.example.org\n");
    assert!(mfa(&world, "diff -f mail.yaml").out.contains("+host: new.example.org\n"));
    mfa(&world, "apply -f mail.yaml --yes").ok();
    assert_eq!(world.get("/configuration/email/mail").json()["host"], "new.example.org");
    mfa(&world, "apply -f more.yaml --yes").ok();
    assert_eq!(world.get("/offices/accra").json()["address"], Value::Null);
    assert_eq!(world.get("/employees/ama").json()["assignedOffice"], Value::Null);
    assert_eq!(world.get("/employees/ama").json()["surname"], "Mensah");
}

#[test]
fn all_errors_of_the_files_are_reported_with_their_place_before_sending() {
    let world = World::start();
    let office = |id: &str, more: &str| format!("kind: office\nidentifier: {id}\nname: N\n{more}");
    for (text, said) in [
        (
            "kind: ofice\nidentifier: x1\n".to_owned(),
            "x.yaml, document 1: there is no kind \"ofice\"\nhint: did you mean office?",
        ),
        ("identifier: x1\n".to_owned(), "x.yaml, document 1: kind is required"),
        ("kind: office\nname: x\n".to_owned(), "x.yaml, document 1: /identifier is required"),
        (
            format!("{}---\n{}", office("x1", ""), office("x2", "nmae: y\n")),
            "x.yaml, document 2: office has no field /nmae\nhint: did you mean name?",
        ),
        (office("x1", "address: {street: a, citty: b}\n"), "office has no field /address/citty"),
        (
            office("x1", "externalReferences: true\n"),
            "/externalReferences of office is set by the daemon and cannot be set",
        ),
        (office("x1", "description: 5\n"), "x.yaml, document 1: /description must be a string, not a number"),
        (
            office("x1", "description: ${env:NOT_THERE}\n"),
            "/description ${env:NOT_THERE}: the variable NOT_THERE is not set",
        ),
        (office("x1", "description: ${file:not-there}\n"), "cannot read not-there"),
        (office("x1", "description: ${evn:HOME}\n"), "is neither ${env:NAME} nor ${file:PATH}"),
        (
            office("x1", "parentIdentifier: nowhere\n"),
            "/parentIdentifier names office \"nowhere\", which is neither in the files nor at the daemon\nhint: correct the name",
        ),
        (
            format!(
                "{}---\n{}",
                office("x1", "parentIdentifier: x2\n"),
                office("x2", "parentIdentifier: x1\n")
            ),
            "in a circle: office x1 (x.yaml, document 1) -> office x2 (x.yaml, document 2) -> office x1",
        ),
        (
            format!("{}---\n{}", office("x1", ""), office("x1", "")),
            "x.yaml, document 2: office x1 is in x.yaml, document 1 already",
        ),
        (
            format!(
                "{}---\nkind: user\nidentifier: u1\nrole: nothing\npassword: 12345678\n",
                office("x1", "")
            ),
            "/password must be a string",
        ),
    ] {
        write(&world, "x.yaml", &text);
        let heard = mfa(&world, "apply -f x.yaml --yes").fails(7);
        assert!(heard.contains(said) || heard.replace("  field ", "").contains(said), "{text}\n{heard}");
        let error = mfa(&world, "diff -f x.yaml -o json").fails_in_json(7);
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
    }
    write(&world, "x.yaml", "kind: [\n");
    mfa(&world, "apply -f x.yaml --yes").fails(2);
    mfa(&world, "apply -f nothing.yaml --yes").fails(2);
    assert_eq!(world.get("/offices").json()["totalElements"], 0);
}

#[test]
fn a_refusal_stops_only_what_names_it_and_a_second_run_completes_it() {
    let world = World::guarded();
    institution(&world);
    let file = world.dir.path().join("word.txt");
    std::fs::write(&file, PASSWORD).unwrap();
    run(world.mfa(&["login", "olga", "--password-file", file.to_str().unwrap()])).ok();
    let ran = mfa(&world, "apply -f set --yes -o json");
    assert_eq!(ran.exit, 9, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("2 of 10 changes were not done"), "{}", ran.err);
    // No one grants what they do not hold themselves, and a user without the role would be a wrong one.
    let left: Vec<_> = results(&ran).into_iter().filter(|row| !row.ends_with(" created")).collect();
    assert_eq!(left, ["role desk refused", "user ama not sent"]);
    let rows: Value = serde_json::from_str(&ran.out).unwrap();
    let row = |id: &str, kind: &str| {
        rows.as_array().unwrap().iter().find(|row| row["identifier"] == id && row["kind"] == kind).unwrap()
    };
    assert_eq!(
        (row("desk", "role")["code"].as_str(), row("ama", "user")["code"].as_str()),
        (Some("exceeds_own_permissions"), Some("not_sent"))
    );
    assert_eq!(row("ama", "user")["message"], "it needs role desk, which was not done");
    let olga = world.login("olga");
    olga.get("/users/ama").is(404);
    olga.get("/offices/osu/teller/osu-1").is(200);
    let (name, roles) = FILES[2];
    write(
        &world,
        &format!("set/{name}"),
        &roles.replace("Identifier\":\"see-customers", "Identifier\":\"identity__v1__users"),
    );
    let ran = mfa(&world, "apply -f set --yes -o json");
    assert_eq!(ran.exit, 0, "{} {}", ran.out, ran.err);
    assert_eq!(results(&ran), ["role desk created", "user ama created"]);
    assert_eq!(mfa(&world, "diff -f set").exit, 0);
}
