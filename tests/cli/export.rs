//! `mfa export`: an institution as files that `mfa apply` takes.

use super::apply::{institution, mfa, write};
use crate::support::guarded::PASSWORD;
use crate::support::run::run;
use crate::support::world::World;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Text that means something to YAML, to a shell, to a terminal, or to the documents themselves.
const NASTY: &str = "${env:HOME} $${x} ${ $ \"'\\ \t\r\n---\n# no comment: [{&*!|>%@`\n\u{2028}\u{feff}\u{202e}\
                     \u{85}é 🏦 ends with blanks  ";

/// Everything in the files of a folder, without those of the folders in it.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

/// An institution with a record of every kind, some of them with names that are hard to write down.
fn everything() -> World {
    let world = World::start();
    institution(&world);
    mfa(&world, "apply -f set --yes").ok();
    // A control character of the second block is refused by the interface, everything else is taken.
    let text = NASTY.replace('\u{85}', "");
    for (id, name) in [("no", "no"), ("1e5", "~"), ("null", "=1+1"), ("a.b-c_d", "- x: y")] {
        let office = json!({ "identifier": id, "name": name, "description": text });
        world.post("/offices", office.to_string()).is(202);
    }
    let line = text.replace(['\t', '\r', '\n'], " ");
    let employee = json!({ "identifier": "null", "surname": line, "assignedOffice": "1e5" });
    world.post("/employees", employee.to_string()).is(202);
    world
}

#[test]
fn an_export_differs_in_nothing_and_makes_the_same_institution_elsewhere() {
    let world = everything();
    let rows = mfa(&world, "export out -o json").json();
    let count = |kind: &str| {
        rows.as_array().unwrap().iter().find(|row| row["kind"] == kind).unwrap()["records"].clone()
    };
    for (kind, records) in [
        // Among them those of every daemon.
        ("group", 5),
        ("role", 2),
        ("office", 6),
        ("employee", 2),
        ("user", 1),
        ("product", 1),
        ("teller", 1),
        ("email-gateway", 1),
        ("sms-gateway", 1),
    ] {
        assert_eq!(count(kind), records, "{kind}: {rows}");
    }
    let out = world.dir.path().join("out");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&out), 0o700);
    for (name, text) in files(&out) {
        assert_eq!(mode(&out.join(&name)), 0o600, "{name}");
        for word in ["externalReferences", "currentState", "lastOpenedBy", "word-of-mail", "token-of-sms"] {
            assert!(!text.contains(word), "{word} in {name}: {text}");
        }
    }
    for line in ["diff -f out", "apply -f out", "apply -f out --dry-run"] {
        let ran = mfa(&world, line);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{line} {}", ran.out);
    }

    let other = World::start();
    let out = out.to_str().unwrap();
    for (file, secret) in [
        ("user/ama.password", "first-of-ama"),
        ("teller/osu-1.password", "pin-4711-osu"),
        ("sms-gateway/sms.auth_token", "token-of-sms"),
        ("email-gateway/mail.app_password", "word-of-mail"),
    ] {
        write(&world, &format!("out/secrets/{file}"), &format!("{secret}\n"));
    }
    mfa(&other, &format!("apply -f {out} --yes")).ok();
    for line in [format!("diff -f {out}"), format!("apply -f {out}")] {
        let ran = mfa(&other, &line);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{line} {}", ran.out);
    }
    for path in ["/offices/no", "/offices/1e5", "/employees/null", "/definitions/savings"] {
        let own = |world: &World| {
            let mut record = world.get(path).json();
            ["createdOn", "lastModifiedOn"].iter().for_each(|name| record[name] = Value::Null);
            record
        };
        assert_eq!(own(&world), own(&other), "{path}");
    }
    assert_eq!(other.get("/configuration/email/mail").json()["app_password"], "word-of-mail");
    other.try_login("ama", "first-of-ama").is(200);
    mfa(&other, "export again").ok();
    assert_eq!(files(Path::new(out)), files(&other.dir.path().join("again")));
}

#[test]
fn an_export_and_the_refusal_of_it_say_which_file_holds_which_secret() {
    let (world, other) = (everything(), World::start());
    mfa(&world, "export out").ok();
    let out = world.dir.path().join("out");
    let out = out.to_str().unwrap();
    // Nothing can be made without its secret, and the refusal says where each is missing.
    let said = mfa(&other, &format!("apply -f {out} --yes")).fails(7);
    for file in [
        "user/ama.password",
        "teller/osu-1.password",
        "sms-gateway/sms.auth_token",
        "email-gateway/mail.app_password",
    ] {
        assert!(said.contains(&format!("there is no file {out}/secrets/{file}")), "{file}: {said}");
    }
    assert!(said.contains("hint: put each secret where it is looked for: a file holds it alone"), "{said}");
    // And so do the files themselves.
    for (file, place) in [
        ("users.yaml", "secrets/user/ID.password for the password of user ID"),
        ("tellers.yaml", "secrets/teller/ID.password for the password of teller ID"),
        ("sms-gateways.yaml", "secrets/sms-gateway/ID.auth_token for the auth_token of sms-gateway ID"),
        (
            "email-gateways.yaml",
            "secrets/email-gateway/ID.app_password for the app_password of email-gateway ID",
        ),
    ] {
        let text = fs::read_to_string(Path::new(out).join(file)).unwrap();
        let reported = "# files beside it, each of which holds one secret on a line, and nothing else:\n";
        assert!(text.contains(&format!("{reported}# {place}\n---\n")), "{text}");
    }
    assert_eq!(other.get("/offices").json()["totalElements"], 0);
    // One of them alone is still missing.
    for file in ["user/ama.password", "teller/osu-1.password", "sms-gateway/sms.auth_token"] {
        write(&world, &format!("out/secrets/{file}"), "blue kettle 7\n");
    }
    let said = mfa(&other, &format!("apply -f {out} --yes")).fails(7);
    let lacks = format!("there is no file {out}/secrets/email-gateway/mail.app_password\n");
    assert!(said.contains(&lacks) && said.matches("there is no file").count() == 1, "{said}");
}

#[test]
fn a_folder_with_files_is_overwritten_only_with_force_and_others_stay() {
    let world = everything();
    fs::create_dir(world.dir.path().join("out")).unwrap();
    mfa(&world, "export out").ok();
    let said = mfa(&world, "export out").fails(6);
    assert!(said.contains("out exists and is not empty") && said.contains("--force"), "{said}");
    mfa(&world, "export set/a-counter.yaml").fails(1);
    write(&world, "out/notes.txt", "mine");
    write(&world, "out/secrets/user/ama.password", "first-of-ama\n");
    world.put("/offices/osu", r#"{"identifier":"osu","name":"Osu Two"}"#).is(202);
    assert_eq!(mfa(&world, "diff -f out").exit, 20);
    world.delete("/configuration/sms/sms").is(200);
    mfa(&world, "export out --force").ok();
    assert_eq!(mfa(&world, "diff -f out").exit, 0);
    let found = files(&world.dir.path().join("out"));
    assert_eq!(found.len(), 10, "{found:?}");
    assert!(found.iter().any(|(name, text)| name == "notes.txt" && text == "mine"));
    let names: Vec<_> = fs::read_dir(world.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("mfa-export")), "{names:?}");
}

#[test]
fn dangling_references_are_warned_about_and_a_refusal_leaves_no_folder() {
    let world = World::guarded();
    let login = |user: &str| {
        let file = world.dir.path().join("word.txt");
        fs::write(&file, PASSWORD).unwrap();
        run(world.mfa(&["login", user, "--password-file", file.to_str().unwrap()])).ok();
    };
    mfa(&world, "export out").fails(4);
    assert!(!world.dir.path().join("out").exists());
    login("olga");
    mfa(&world, "export out").ok();
    assert_eq!(mfa(&world, "diff -f out").exit, 0);
    write(
        &world,
        "lost.yaml",
        "kind: role\nidentifier: lost\npermissions: []\n---\nkind: user\nidentifier: kofi\nrole: lost\n\
         password: first-of-kofi\n",
    );
    mfa(&world, "apply -f lost.yaml --yes").ok();
    let ran = mfa(&world, "users set-role kofi nowhere");
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let ran = mfa(&world, "export with-lost");
    assert_eq!(ran.exit, 0, "{}", ran.err);
    assert!(ran.err.contains("user kofi names role nowhere, which does not exist"), "{}", ran.err);
    assert_eq!(mfa(&world, "diff -f with-lost").exit, 0);
}
