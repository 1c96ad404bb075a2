//! Commands that ask for what nobody typed.

use crate::api::definitions::PRODUCT;
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
fn creating_a_product_offers_what_is_there_and_tells_the_line_that_does_the_same() {
    let world = World::start();
    world.post("/definitions", PRODUCT).is(202);
    let terminal = Terminal::start(&world, 600, &[]);
    let answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.type_line(text);
    };
    terminal.type_line("clear; mfa products create");
    answer("Identifier:", "day");
    answer("Name:", "Ama's savings");
    answer("> SAVINGS\n  CHECKING\n  SHARE", "");
    answer("> USD Dollar\n  (another)", "");
    answer("> 9100\n  (another)", "");
    answer("> 1000\n  (another)", "");
    answer("> 3000\n  (another)", "");
    answer("> 8000\n  (another)", "another");
    answer("Account for accruals:", "8100");
    answer("> MATURITY\n  ANNUALLY\n  QUARTERLY\n  MONTHLY", "month");
    answer("Laid up for how many months or years:", "12");
    answer("> MONTH\n  YEAR", "year");
    answer("Minimum balance:", "ten");
    answer("it must be an amount, such as 1250.00\nMinimum balance:", "10.50");
    answer("Interest, percent a year:", "");
    answer("May the interest be changed later? [no]:", "y");
    answer("Description:", "");
    answer("Add a charge? [no]:", "y");
    answer("> Open\n  Transfer\n  Close\n  Deposit\n  Withdraw", "withdr");
    answer("> 4000\n  (another)", "");
    answer("Name of the charge:", "Leaving, early");
    answer("> an amount\n  percent of the transaction", "percent");
    answer("Percent:", "1.50");
    answer("Add another charge? [no]:", "y");
    answer("> Open\n  Transfer\n  Close\n  Deposit\n  Withdraw", "");
    answer("> 4000\n  (another)", "");
    answer("Name of the charge:", "Opening");
    answer("> an amount\n  percent of the transaction", "");
    answer("Amount:", "2.00");
    answer("Add another charge? [no]:", "");
    assert_eq!(world.get("/definitions/day").status, 404, "nothing is done before the last yes");
    answer("create this product? [y/N]", "y");
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
    let answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.type_line(text);
    };
    terminal.type_line("clear; mfa products create");
    answer("Identifier:", "shares");
    answer("Name:", "Shares");
    answer("> SAVINGS\n  CHECKING\n  SHARE", "share");
    answer("Code of the currency, such as EUR:", "JPY");
    answer("Its name:", "Yen");
    answer("Its sign:", "¥");
    answer("Digits after the point of its smallest amount:", "6");
    answer("Digits after the point of its smallest amount:", "0");
    answer("Ledger of the customers' accounts:", "9200");
    answer("Account for cash:", "7300");
    // A product of this type accrues nothing.
    answer("Account for expenses:", "3900");
    answer("> MATURITY\n  ANNUALLY\n  QUARTERLY\n  MONTHLY", "");
    for question in ["Laid up for how many months or years:", "Minimum balance:", "Interest, percent a year:"]
    {
        answer(question, "");
    }
    answer("May the interest be changed later? [no]:", "");
    answer("Description:", "");
    answer("Add a charge? [no]:", "");
    answer("create this product? [y/N]", "y");
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
        terminal.wait_for(question);
        terminal.type_line(text);
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
    let said = super::run::run(world.mfa(&["customers", "create"])).fails(2);
    assert!(said.contains("ID is needed"), "{said}");
    let said = super::run::run(world.mfa(&["customers", "create", "--surname", "Addo"])).fails(2);
    assert!(said.contains("<ID> is needed"), "{said}");
    let said = super::run::run(world.mfa(&["products", "create"])).fails(2);
    assert!(said.contains("ID is needed"), "{said}");
    let said = super::run::run(world.mfa(&["products", "create", "--name", "Savings"])).fails(2);
    assert!(said.contains("<ID> is needed"), "{said}");
}
