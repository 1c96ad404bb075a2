//! Commands that ask for what nobody typed.

use crate::terminal::Terminal;
use crate::world::World;
use serde_json::json;

fn office(world: &World) {
    world.post("/offices", json!({ "identifier": "accra", "name": "Accra" }).to_string()).is(202);
}

#[test]
fn creating_a_customer_asks_for_everything_and_tells_the_line_that_does_the_same() {
    let world = World::start();
    office(&world);
    let terminal = Terminal::start(&world, 120, &[]);
    let answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.type_line(text);
    };
    terminal.type_line("clear; mfa customers create");
    // What breaks a rule is told at once and asked again.
    answer("Identifier:", "..");
    answer("warning: it must not be \"..\"\nIdentifier:", "g-001");
    answer("> PERSON\n  BUSINESS", "busi");
    answer("Given name:", "");
    answer("Surname, or name of the business:", "Osei's Shop");
    answer("Born on (YYYY-MM-DD):", "1990-02-30");
    answer("it must be a date, YYYY-MM-DD\nBorn on (YYYY-MM-DD):", "");
    answer("> (none)\n  accra", "acc");
    answer("Employee:", "");
    answer("Add an address? [no]:", "y");
    answer("Street:", "1 Quay, rear");
    answer("City:", "Tema");
    answer("Region:", "");
    answer("Postal code:", "");
    answer("Country code, such as GH:", "GH");
    answer("Country:", "Ghana");
    answer("Add a contact? [no]:", "");
    assert_eq!(world.get("/customers/g-001").status, 404, "nothing is done before the last yes");
    answer("create this customer? [y/N]", "y");
    let screen = terminal.wait_for("$");
    let line =
        "mfa customers create g-001 --type BUSINESS --surname 'Osei'\\''s Shop' --assigned-office accra";
    assert!(screen.contains(line), "{screen}");
    let customer = world.get("/customers/g-001").is(200).json();
    assert_eq!(customer["surname"], "Osei's Shop");
    assert_eq!(customer["address"]["street"], "1 Quay, rear");
    assert_eq!((&customer["type"], &customer["assignedOffice"]), (&json!("BUSINESS"), &json!("accra")));
}

#[test]
fn leaving_a_question_with_ctrl_c_or_a_no_changes_nothing() {
    let world = World::start();
    let terminal = Terminal::start(&world, 80, &[]);
    terminal.type_line("clear; mfa customers create; echo exit $?");
    terminal.wait_for("Identifier:");
    terminal.press("C-c");
    let screen = terminal.wait_for("$");
    assert!(screen.contains("exit 130"), "{screen}");
    let page = world.get("/customers").json();
    assert_eq!(page["totalElements"], 0);
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let world = World::start();
    let said = super::run::run(world.mfa(&["customers", "create"])).fails(2);
    assert!(said.contains("ID is needed"), "{said}");
    let said = super::run::run(world.mfa(&["customers", "create", "--surname", "Addo"])).fails(2);
    assert!(said.contains("<ID> is needed"), "{said}");
}
