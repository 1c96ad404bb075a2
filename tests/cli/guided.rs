//! Commands that ask for values missing from the line.

use crate::api::definitions::PRODUCT;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::json;

fn office(world: &World) {
    world.post("/offices", json!({ "identifier": "accra", "name": "Accra" }).to_string()).is(202);
}

#[test]
fn creating_a_customer_asks_for_every_field_and_shows_the_line() {
    let world = World::start();
    office(&world);
    world.post("/customers", r#"{"identifier":"g-000"}"#).is(202);
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line("clear; mfa customers create");
    // A value that breaks a rule is refused at once and asked for again.
    terminal.answer("Identifier:", "..");
    terminal.answer("warning: it must not be \"..\"\nIdentifier:", "g-000");
    terminal.answer("warning: g-000 is taken\nIdentifier:", "g-001");
    terminal.answer("> PERSON\n  BUSINESS", "busi");
    terminal.answer("Given name:", "");
    terminal.answer("Surname, or name of the business:", "Osei's Shop");
    terminal.answer("Born on (YYYY-MM-DD):", "1990-02-30");
    terminal.answer("it must be a date, YYYY-MM-DD\nBorn on (YYYY-MM-DD):", "");
    terminal.answer("> (none)\n  accra", "acc");
    terminal.answer("Employee:", "");
    terminal.answer("Add an address? [no]:", "y");
    terminal.answer("Street:", "1 Quay, rear");
    terminal.answer("City:", "Tema");
    terminal.answer("Region:", "");
    terminal.answer("Postal code:", "");
    terminal.answer("Country code, such as GH:", "GH");
    terminal.answer("Country:", "Ghana");
    terminal.answer("Add a contact? [no]:", "y");
    terminal.answer("> MOBILE\n  PHONE\n  EMAIL", "");
    terminal.answer("> PRIVATE\n  BUSINESS", "");
    terminal.answer("Number or address:", "+233201234567");
    terminal.answer("Add another contact? [no]:", "y");
    terminal.answer("> MOBILE\n  PHONE\n  EMAIL", "email");
    terminal.answer("> PRIVATE\n  BUSINESS", "busi");
    terminal.answer("Number or address:", "shop@example.org");
    terminal.answer("Add another contact? [no]:", "");
    assert_eq!(world.get("/customers/g-001").status, 404, "nothing is done before the last yes");
    terminal.answer("create this customer? [y/N]", "y");
    let screen = terminal.wait_for("$");
    let line =
        "mfa customers create g-001 --type BUSINESS --surname 'Osei'\\''s Shop' --assigned-office accra";
    assert!(screen.contains(line), "{screen}");
    let customer = world.get("/customers/g-001").is(200).json();
    assert_eq!(customer["surname"], "Osei's Shop");
    assert_eq!(customer["address"]["street"], "1 Quay, rear");
    let contacts: Vec<_> = [0, 1].map(|i| customer["contactDetails"][i]["value"].clone()).into();
    assert_eq!(contacts, ["+233201234567", "shop@example.org"]);
    assert_eq!((&customer["type"], &customer["assignedOffice"]), (&json!("BUSINESS"), &json!("accra")));
}

#[test]
fn creating_a_product_offers_existing_names_and_shows_the_line() {
    let world = World::start();
    world.post("/definitions", PRODUCT).is(202);
    let terminal = Terminal::start(&world, 600, &[]);
    terminal.type_line("clear; mfa products create");
    terminal.answer("Identifier:", "day");
    terminal.answer("Name:", "Ama's savings");
    terminal.answer("> SAVINGS\n  CHECKING\n  SHARE", "");
    terminal.answer("> USD Dollar\n  (another)", "");
    terminal.answer("> 9100\n  (another)", "");
    terminal.answer("> 1000\n  (another)", "");
    terminal.answer("> 3000\n  (another)", "");
    terminal.answer("> 8000\n  (another)", "another");
    terminal.answer("Account for accruals:", "8100");
    terminal.answer("> MATURITY\n  ANNUALLY\n  QUARTERLY\n  MONTHLY", "month");
    terminal.answer("Term in months or years:", "12");
    terminal.answer("> MONTH\n  YEAR", "year");
    terminal.answer("Minimum balance:", "ten");
    terminal.answer("it must be an amount, such as 1250.00\nMinimum balance:", "10.50");
    terminal.answer("Interest, percent a year:", "");
    terminal.answer("May the interest be changed later? [no]:", "y");
    terminal.answer("Description:", "");
    terminal.answer("Add a charge? [no]:", "y");
    terminal.answer("> Open\n  Transfer\n  Close\n  Deposit\n  Withdraw", "withdr");
    terminal.answer("> 4000\n  (another)", "");
    terminal.answer("Name of the charge:", "Leaving, early");
    terminal.answer("> an amount\n  percent of the transaction", "percent");
    terminal.answer("Percent:", "1.50");
    terminal.answer("Add another charge? [no]:", "y");
    terminal.answer("> Open\n  Transfer\n  Close\n  Deposit\n  Withdraw", "");
    terminal.answer("> 4000\n  (another)", "");
    terminal.answer("Name of the charge:", "Opening");
    terminal.answer("> an amount\n  percent of the transaction", "");
    terminal.answer("Amount:", "2.00");
    terminal.answer("Add another charge? [no]:", "");
    assert_eq!(world.get("/definitions/day").status, 404, "nothing is done before the last yes");
    terminal.answer("create this product? [y/N]", "y");
    let screen = terminal.wait_for("$");
    let line = screen.lines().find(|line| line.starts_with("  mfa products create day ")).unwrap().trim();
    let product = world.get("/definitions/day").is(200).text();
    for part in [
        r#""type":"SAVINGS","identifier":"day","name":"Ama's savings""#,
        r#""currency":{"code":"USD","name":"Dollar","sign":"$","scale":2},"minimumBalance":10.50"#,
        r#""accrueAccountIdentifier":"8100","interest":null"#,
        r#""term":{"period":12,"timeUnit":"YEAR","interestPayable":"MONTHLY"}"#,
        r#""name":"Leaving, early","description":null,"proportional":true,"amount":1.50"#,
        r#""name":"Opening","description":null,"proportional":false,"amount":2.00"#,
        r#""flexible":true"#,
    ] {
        assert!(product.contains(part), "{part} is not in {product}");
    }
    world.delete("/definitions/day").is(202);
    let screen = terminal.run(line);
    assert!(screen.contains("exit 0"), "{screen}");
    assert_eq!(world.get("/definitions/day").is(200).text(), product);
}

#[test]
fn a_product_of_a_new_institution_is_typed_in_whole() {
    let world = World::start();
    let terminal = Terminal::start(&world, 200, &[]);
    terminal.type_line("clear; mfa products create");
    terminal.answer("Identifier:", "shares");
    terminal.answer("Name:", "Shares");
    terminal.answer("> SAVINGS\n  CHECKING\n  SHARE", "share");
    terminal.answer("Code of the currency, such as EUR:", "JPY");
    terminal.answer("Its name:", "Yen");
    terminal.answer("Its sign:", "¥");
    terminal.answer("Digits after the point of its smallest amount:", "6");
    terminal.answer("Digits after the point of its smallest amount:", "0");
    terminal.answer("Ledger of the customers' accounts:", "9200");
    terminal.answer("Account for cash:", "7300");
    // A product of this type accrues nothing.
    terminal.answer("Account for expenses:", "3900");
    terminal.answer("> MATURITY\n  ANNUALLY\n  QUARTERLY\n  MONTHLY", "");
    for question in ["Term in months or years:", "Minimum balance:", "Interest, percent a year:"] {
        terminal.answer(question, "");
    }
    terminal.answer("May the interest be changed later? [no]:", "");
    terminal.answer("Description:", "");
    terminal.answer("Add a charge? [no]:", "");
    terminal.answer("create this product? [y/N]", "y");
    terminal.wait_for("$");
    let product = world.get("/definitions/shares").is(200).json();
    assert_eq!(product["currency"], json!({ "code": "JPY", "name": "Yen", "sign": "¥", "scale": 0 }));
    assert_eq!((&product["accrueAccountIdentifier"], &product["charges"]), (&json!(null), &json!([])));
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
    office(&world);
    terminal.type_line("clear; mfa customers create; echo exit $?");
    for (question, text) in [
        ("Identifier:", "n-1"),
        ("> PERSON\n  BUSINESS", ""),
        ("Given name:", "Esi"),
        ("Surname, or name of the business:", ""),
        ("Born on (YYYY-MM-DD):", ""),
        ("> (none)\n  accra", ""),
        ("Employee:", ""),
        ("Add an address? [no]:", ""),
        ("Add a contact? [no]:", ""),
        ("create this customer? [y/N]", "n"),
    ] {
        terminal.answer(question, text);
    }
    let screen = terminal.wait_for("exit 1\n$");
    let kept = "to be corrected, in one line:\n  mfa customers create n-1 --type PERSON --given-name Esi\n";
    assert!(screen.contains(kept), "what was typed is not lost: {screen}");
    let page = world.get("/customers").json();
    assert_eq!(page["totalElements"], 0);
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let world = World::start();
    let said = crate::support::run::run(world.mfa(&["customers", "create"])).fails(2);
    assert!(said.contains("ID is needed"), "{said}");
    let said = crate::support::run::run(world.mfa(&["customers", "create", "--surname", "Addo"])).fails(2);
    assert!(said.contains("<ID> is needed"), "{said}");
    let said = crate::support::run::run(world.mfa(&["products", "create"])).fails(2);
    assert!(said.contains("ID is needed"), "{said}");
    let said = crate::support::run::run(world.mfa(&["products", "create", "--name", "Savings"])).fails(2);
    assert!(said.contains("<ID> is needed"), "{said}");
}

#[test]
fn a_step_back_repeats_the_previous_question_and_keeps_other_answers() {
    let world = World::start();
    office(&world);
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line("clear; mfa customers create");
    terminal.answer("Identifier:", "<");
    terminal.answer("this is the first question\nIdentifier:", "b-001");
    terminal.answer("> PERSON\n  BUSINESS", "");
    terminal.answer("Given name:", "Kofi");
    terminal.answer("Surname, or name of the business:", "<");
    terminal.answer("Given name [Kofi]:", "Kwame");
    terminal.answer("Surname, or name of the business:", "Boateng");
    terminal.answer("Born on (YYYY-MM-DD):", "");
    // In a list it is Esc, and several steps lead to a list.
    terminal.wait_for("> (none)\n  accra");
    terminal.press("Escape");
    terminal.answer("Born on (YYYY-MM-DD):", "<");
    terminal.answer("Surname, or name of the business [Boateng]:", "<");
    terminal.answer("Given name [Kwame]:", "<");
    terminal.answer("> PERSON\n  BUSINESS", "");
    terminal.answer("Given name [Kwame]:", "Kwaku");
    terminal.answer("Surname, or name of the business [Boateng]:", "");
    terminal.answer("Born on (YYYY-MM-DD):", "1990-02-28");
    terminal.answer("> (none)\n  accra", "");
    terminal.answer("Employee:", "");
    terminal.answer("Add an address? [no]:", "y");
    terminal.answer("Street:", "<");
    terminal.answer("Add an address? [yes]:", "no");
    terminal.answer("Add a contact? [no]:", "");
    terminal.answer("create this customer? [y/N]", "y");
    let screen = terminal.wait_for("$");
    let line = "mfa customers create b-001 --type PERSON --given-name Kwaku --surname Boateng \
                --date-of-birth 1990-02-28\n";
    assert!(screen.contains(line), "{screen}");
    let customer = world.get("/customers/b-001").is(200).json();
    assert_eq!((&customer["givenName"], &customer["address"]), (&json!("Kwaku"), &json!(null)));
}

#[test]
fn after_steps_back_what_was_answered_is_offered_again() {
    let world = World::start();
    office(&world);
    let terminal = Terminal::start(&world, 120, &[]);
    world.post("/customers", r#"{"identifier":"b-000","surname":"Addo"}"#).is(202);
    terminal.type_line("clear; mfa customers create");
    terminal.answer("Identifier:", "b-000");
    // A name that is taken is not offered.
    terminal.answer("b-000 is taken\nIdentifier:", "b-001");
    terminal.wait_for("> PERSON\n  BUSINESS");
    terminal.press("Down");
    terminal.answer("  PERSON\n> BUSINESS", "");
    terminal.answer("Given name:", "Kofi");
    terminal.answer("Surname, or name of the business:", "Boateng & Co");
    terminal.answer("Born on (YYYY-MM-DD):", "<");
    terminal.answer("Surname, or name of the business [Boateng & Co]:", "<");
    terminal.answer("Given name [Kofi]:", "<");
    terminal.wait_for("  PERSON\n> BUSINESS");
    terminal.press("Escape");
    terminal.answer("Identifier [b-001]:", "");
    terminal.answer("  PERSON\n> BUSINESS", "");
    terminal.answer("Given name [Kofi]:", "-");
    terminal.answer("Surname, or name of the business [Boateng & Co]:", "");
    terminal.answer("Born on (YYYY-MM-DD):", "");
    terminal.answer("> (none)\n  accra", "");
    terminal.answer("Employee:", "");
    terminal.answer("Add an address? [no]:", "");
    terminal.answer("Add a contact? [no]:", "");
    terminal.answer("create this customer? [y/N]", "y");
    terminal.wait_for("$");
    let customer = world.get("/customers/b-001").is(200).json();
    assert_eq!((&customer["givenName"], &customer["surname"]), (&json!(null), &json!("Boateng & Co")));
    assert_eq!(customer["type"], "BUSINESS");
}

#[test]
fn ctrl_d_ends_the_questions_and_what_was_typed_is_not_lost() {
    let world = World::start();
    let terminal = Terminal::start(&world, 80, &[]);
    terminal.type_line("clear; mfa customers create; echo exit $?");
    terminal.answer("Identifier:", "d-1");
    terminal.answer("> PERSON\n  BUSINESS", "");
    terminal.wait_for("Given name:");
    terminal.press("C-d");
    let screen = terminal.wait_for("exit 1\n$");
    assert!(screen.contains("in one line:\n  mfa customers create d-1 --type PERSON\n"), "{screen}");
    assert!(screen.contains("nothing was done"), "{screen}");
    assert_eq!(world.get("/customers/d-1").status, 404);
}

#[test]
fn ctrl_d_ends_the_questions_inside_a_list_too() {
    let world = World::start();
    let terminal = Terminal::start(&world, 80, &[]);
    terminal.type_line("clear; mfa customers create; echo exit $?");
    terminal.answer("Identifier:", "d-2");
    terminal.wait_for("> PERSON\n  BUSINESS");
    // What is typed narrows the list down; an arrow goes round it.
    terminal.press("b");
    terminal.wait_for("Type b|\n> BUSINESS");
    terminal.press("BSpace");
    terminal.wait_for("> PERSON\n  BUSINESS");
    terminal.press("Up");
    terminal.wait_for("  PERSON\n> BUSINESS");
    terminal.press("C-d");
    let screen = terminal.wait_for("exit 1\n$");
    assert!(screen.contains("in one line:\n  mfa customers create d-2\n"), "{screen}");
    assert!(screen.contains("nothing was done"), "{screen}");
    assert_eq!(world.get("/customers/d-2").status, 404);
}

#[test]
fn at_a_keyboard_a_customer_without_a_name_is_asked_about() {
    let world = World::start();
    office(&world);
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line("clear; mfa customers create n-1; echo exit $?");
    terminal.answer("customer n-1 has no name; create it anyway? [y/N]", "");
    terminal.wait_for("exit 1\n$");
    assert_eq!(world.get("/customers/n-1").status, 404);
    for (line, customer) in [("n-2 --yes", "n-2"), ("n-3 --surname Addo", "n-3"), ("n-4 -g Ama", "n-4")] {
        terminal.type_line(&format!("clear; mfa customers create {line}; echo exit $?"));
        terminal.wait_for("exit 0\n$");
        world.get(&format!("/customers/{customer}")).is(200);
    }
    // A script is not asked.
    crate::support::run::run(world.mfa(&["customers", "create", "n-5"])).ok();
    terminal.type_line("clear; mfa customers create; echo exit $?");
    for (question, text) in [
        ("Identifier:", "n-6"),
        ("> PERSON\n  BUSINESS", ""),
        ("Given name:", ""),
        ("Surname, or name of the business:", ""),
        ("A customer without a name is hard to find. Leave it out? [no]:", ""),
        ("Given name:", ""),
        ("Surname, or name of the business:", "Owusu"),
        ("Born on (YYYY-MM-DD):", ""),
    ] {
        terminal.answer(question, text);
    }
    terminal.wait_for("> (none)\n  accra");
    terminal.press("C-c");
    let screen = terminal.wait_for("exit 130\n$");
    assert!(!screen.contains("accra"), "the list is still on the screen:\n{screen}");
}

#[test]
fn possible_duplicates_are_shown_before_the_last_question() {
    let world = World::start();
    let first = json!({ "identifier": "c-001", "givenName": "Ama", "surname": "Söhne",
        "dateOfBirth": { "year": 1990, "month": 2, "day": 28 } });
    world.post("/customers", first.to_string()).is(202);
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line("clear; mfa customers create");
    for (question, text) in [
        ("Identifier:", "c-9"),
        ("> PERSON\n  BUSINESS", ""),
        ("Given name:", "ama"),
        ("Surname, or name of the business:", "Sohne"),
        ("Born on (YYYY-MM-DD):", "1990-02-28"),
        ("Office:", ""),
        ("Employee:", ""),
        ("Add an address? [no]:", ""),
        ("Add a contact? [no]:", ""),
    ] {
        terminal.answer(question, text);
    }
    let screen = terminal.wait_for("create this customer? [y/N]");
    let shown = "warning: there is a similar customer already: c-001 Ama Söhne (PENDING)";
    assert!(screen.contains(shown), "{screen}");
    terminal.type_line("y");
    let screen = terminal.wait_for("$");
    assert_eq!(screen.matches("c-001").count(), 1, "it is shown once: {screen}");
    world.get("/customers/c-9").is(200);
    // Without questions it is reported after the creation.
    let ran = crate::support::run::run(world.mfa(&[
        "customers",
        "create",
        "c-10",
        "-g",
        "Ama",
        "-s",
        "Söhne",
        "-d",
        "1990-02-28",
    ]));
    let found = "warning: customer c-10 may be the same person as c-001, c-9; compare them: mfa customers get c-001\n";
    assert!(ran.err.contains(found), "{}", ran.err);
    let file = world.dir.path().join("more.jsonl");
    let row = json!({ "identifier": "c-11", "givenName": "Ama", "surname": "Söhne",
        "dateOfBirth": { "year": 1990, "month": 2, "day": 28 } });
    std::fs::write(&file, format!("{row}\n")).unwrap();
    let ran = crate::support::run::run(world.mfa(&["customers", "import", file.to_str().unwrap()]));
    assert!(
        ran.err.contains("warning: customer c-11 may be the same person as c-001, c-10, c-9"),
        "{}",
        ran.err
    );
}
