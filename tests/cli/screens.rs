//! What the user sees: whole screens, as they are kept in `tests/screens`. Any change of them must be
//! intended: `MFA_TEST_ACCEPT=1 cargo test --test mfa screens` rewrites them, to be read before a commit.

use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::json;
use std::path::Path;

/// Three customers, one of them with everything, and one whose name wants to steer the terminal.
fn institution() -> World {
    let world = World::start();
    let post = |path: &str, body: serde_json::Value| {
        world.post(path, body.to_string()).is(202);
    };
    post(
        "/offices",
        json!({ "identifier": "accra", "name": "Accra Head Office", "description": "Ring Road" }),
    );
    post("/employees", json!({ "identifier": "ama", "givenName": "Ama", "surname": "Mensah" }));
    let address =
        json!({ "street": "12 Market Road", "city": "Accra", "countryCode": "GH", "country": "Ghana" });
    post(
        "/customers",
        json!({
            "identifier": "c-001", "givenName": "Kwabena", "middleName": "Nii", "surname": "Asante-Frimpong",
            "dateOfBirth": { "year": 1984, "month": 3, "day": 9 }, "address": address, "member": true,
            "assignedOffice": "accra", "assignedEmployee": "ama", "applicationDate": "2031-05-01",
            "contactDetails": [{ "type": "MOBILE", "group": "PRIVATE", "value": "+233 20 123 4567" }],
            "customValues": [{ "catalogIdentifier": "kyc", "fieldIdentifier": "source", "value": "market" }]
        }),
    );
    post("/customers", json!({ "identifier": "c-002", "type": "BUSINESS", "surname": "Núñez & Søn 貿易" }));
    post("/customers", json!({ "identifier": "c-003", "surname": "red \u{202e}turned" }));
    post("/customers/c-001/commands", json!({ "action": "ACTIVATE" }));
    let may = |group: &str, operations: &[&str]| json!({ "permittableEndpointGroupIdentifier": group, "allowedOperations": operations });
    let (all, read) = (["READ", "CHANGE", "DELETE"], ["READ"]);
    for (role, permissions) in [
        ("administrator", vec![may("identity__v1__users", &all), may("office__v1__offices", &all)]),
        ("auditor", vec![may("identity__v1__users", &read), may("teller__v1__operation", &read)]),
        ("branch-manager", vec![may("office__v1__offices", &all[..2]), may("deposit__v1__definition", &all)]),
        ("clerk", vec![may("customer__v1__customer", &all[..2]), may("deposit__v1__instance", &all[..2])]),
        ("teller", vec![may("teller__v1__operation", &all), may("deposit__v1__instance", &read)]),
    ] {
        post("/roles", json!({ "identifier": role, "permissions": permissions }));
    }
    world
}

/// Holds a screen to the one that is kept, colours included.
#[track_caller]
pub fn same(terminal: &Terminal, name: &str, line: &str, world: &World) {
    terminal.run(line);
    let screen = terminal.coloured().replace(&world.url(), "http://127.0.0.1:6320") + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/screens").join(name);
    if std::env::var_os("MFA_TEST_ACCEPT").is_some() {
        std::fs::write(&file, &screen).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(screen == kept, "{name} was\n{kept}\nand is\n{screen}");
}

#[test]
fn tables_fit_80_and_200_columns() {
    let world = institution();
    for columns in [80, 200] {
        let terminal = Terminal::start(&world, columns, &[]);
        let kept = |name: &str, line: &str| same(&terminal, &format!("{name}-{columns}"), line, &world);
        kept("customers-list", "mfa customers list");
        kept("customers-list-wide", "mfa customers list -o wide --columns identifier,surname,city,applied");
        kept("customers-get", "mfa customers get c-001");
        kept("offices-list", "mfa offices list");
        kept("roles-matrix", "mfa roles matrix");
        kept("nothing", "mfa customers list --term nobody");
        kept("rest", "mfa customers list --limit 1");
        kept("changed", "mfa customers lock c-001 --no-read -y");
        kept("unchanged", "mfa customers unlock c-001 --no-read");
    }
}

#[test]
fn mistakes_look_the_same_on_dark_and_light_and_without_colour() {
    let world = institution();
    let grounds = [
        ("dark", &[("COLORFGBG", "15;0")][..]),
        ("light", &[("COLORFGBG", "0;15")]),
        ("no-color", &[("NO_COLOR", "1")]),
        ("dumb", &[("TERM", "dumb")]),
        ("latin", &[("LC_ALL", "C")]),
    ];
    for (ground, variables) in grounds {
        let terminal = Terminal::start(&world, 80, variables);
        let kept = |name: &str, line: &str| same(&terminal, &format!("{name}-{ground}"), line, &world);
        kept("mistyped-identifier", "mfa customers get c-01");
        kept("mistyped-verb", "mfa customers lst");
        kept("bad-field", "mfa customers create c-009 --type plant");
        kept("wrong-state", "mfa customers reopen c-001");
        kept("list", "mfa customers list");
    }
}

#[test]
fn the_picture_of_the_readme_begins_with_a_list() {
    let world = World::start();
    for (identifier, name) in [("head-office", "Head Office"), ("market", "Market Branch")] {
        let office = json!({ "identifier": identifier, "name": name });
        world.post("/offices", office.to_string()).is(202);
    }
    for (number, given, surname, office, actions) in [
        (1, "Ama", "Mensah", "head-office", &["ACTIVATE"][..]),
        (2, "Kofi", "Boateng", "head-office", &[]),
        (3, "Esi", "Addo", "market", &["ACTIVATE"]),
        (4, "Akosua", "Núñez", "market", &["ACTIVATE", "LOCK"]),
    ] {
        let identifier = format!("c-00{number}");
        let person = json!({
            "identifier": identifier, "givenName": given, "surname": surname, "assignedOffice": office
        });
        world.post("/customers", person.to_string()).is(202);
        for action in actions {
            let path = format!("/customers/{identifier}/commands");
            world.post(&path, json!({ "action": action }).to_string()).is(202);
        }
    }
    let terminal = Terminal::start(&world, 80, &[("COLORFGBG", "0;15")]);
    same(&terminal, "session-list", "mfa customers list", &world);
}
