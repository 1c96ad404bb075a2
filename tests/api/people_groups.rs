//! The permittable groups of `organisation.md` section 5 and `customers.md` section 10: what each covers.

use crate::support::guarded::{As, may};
use crate::support::images::{form, part};
use crate::support::world::World;
use serde_json::json;

const CARD: &str = "/customers/c-1/identifications/A-1";
const PORTRAIT: &str = "/customers/c-1/portrait";

/// A customer with a card, and an employee.
fn people() -> World {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/customers", json!({ "identifier": "c-1" })).is(202);
    let date = json!({ "year": 2031, "month": 8, "day": 14 });
    let card = json!({ "type": "National", "number": "A-1", "expirationDate": date });
    olga.post("/customers/c-1/identifications", card).is(202);
    for employee in ["ama", "kofi"] {
        olga.post("/employees", json!({ "identifier": employee })).is(202);
    }
    world
}

fn upload(caller: &As<'_>, path: &str, name: &str) -> u16 {
    let form = form("b", &[part(name, Some("image/png"), b"x")]);
    let request = caller.world.request("POST", path).bearer_auth(&caller.token);
    caller.world.send(request.header("content-type", "multipart/form-data; boundary=b").body(form)).status
}

#[test]
fn the_group_of_customers_covers_cards_and_images_but_deletes_none() {
    let world = people();
    let clerk = world.user_with("ama", &[may("customer__v1__customer", "RCD")]);
    assert_eq!(upload(&clerk, PORTRAIT, "portrait"), 202);
    assert_eq!(upload(&clerk, &format!("{CARD}/scans?scanIdentifier=s-1&description="), "image"), 202);
    for path in [CARD, PORTRAIT, &format!("{CARD}/scans"), &format!("{CARD}/scans/s-1/image")] {
        clerk.get(path).is(200);
    }
    let card =
        json!({ "type": "x", "number": "A-1", "expirationDate": { "year": 2031, "month": 8, "day": 1 } });
    clerk.put(CARD, card).is(202);
    for path in [CARD, PORTRAIT, &format!("{CARD}/scans/s-1")] {
        clerk.delete(path).refused(403, "forbidden");
    }
}

#[test]
fn the_groups_of_cards_and_of_portraits_cover_that_part_only() {
    let world = people();
    let cards = world.user_with("ama", &[may("customer__v1__identifications", "RCD")]);
    let portraits = world.user_with("yaw", &[may("customer__v1__portrait", "RCD")]);
    cards.get("/customers/c-1").refused(403, "forbidden");
    portraits.get("/customers/c-1").refused(403, "forbidden");
    assert_eq!(upload(&cards, PORTRAIT, "portrait"), 403);
    assert_eq!(upload(&portraits, PORTRAIT, "portrait"), 202);
    portraits.get(PORTRAIT).is(200);
    portraits.delete(PORTRAIT).is(202);
    portraits.get(CARD).refused(403, "forbidden");
    let scans = format!("{CARD}/scans");
    assert_eq!(upload(&cards, &format!("{scans}?scanIdentifier=s-1&description="), "image"), 202);
    cards.get(&format!("{scans}/s-1/image")).is(200);
    cards.delete(&format!("{scans}/s-1")).is(202);
    cards.delete(CARD).is(202);
}

#[test]
fn the_group_of_oneself_covers_the_own_employee_and_no_other() {
    let world = people();
    let ama = world.user_with("ama", &[may("office__v1__self", "RCD")]);
    ama.get("/employees/ama").is(200);
    ama.put("/employees/ama", json!({ "identifier": "ama", "givenName": "Ama" })).is(202);
    let contact = json!([{ "type": "EMAIL", "group": "BUSINESS", "value": "ama@example.org" }]);
    ama.put("/employees/ama/contacts", contact).is(202);
    ama.get("/employees/ama/contacts").is(200);
    ama.delete("/employees/ama/contacts").is(202);
    ama.delete("/employees/ama").refused(403, "forbidden");
    for path in ["/employees/kofi", "/employees/kofi/contacts", "/employees", "/offices"] {
        ama.get(path).refused(403, "forbidden");
    }
    let all = world.user_with("yaw", &[may("office__v1__employees", "RCD")]);
    all.get("/employees").is(200);
    all.delete("/employees/kofi").is(202);
    all.get("/offices").refused(403, "forbidden");
}
