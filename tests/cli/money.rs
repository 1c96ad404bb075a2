//! Money in tables: in the scale of its currency, on the right side; for programs as it came.

use crate::support::counter::{Counter, plain_product, teller};
use crate::support::run::run;
use crate::support::world::World;
use serde_json::json;

/// Dollars at T1 and yen at T2: an account each, with money that came without fraction digits.
fn two_currencies() -> Counter {
    let counter = Counter::active("1000");
    counter.define(&plain_product("dollar", "USD", 2));
    counter.define(&plain_product("yen", "JPY", 0));
    let mut other = teller("T2");
    other["vaultAccountIdentifier"] = json!("vault-2");
    counter.teller_with(&other).is(202);
    counter.open("T2", "emp2", "50000");
    counter.unlock("T2", "emp2");
    for (code, customer, product, amount) in [("T1", "anna", "dollar", "500"), ("T2", "bela", "yen", "1250")]
    {
        let account = counter.account_of(customer, product);
        let mut request = Counter::request("ACCO", &account, amount);
        request["productIdentifier"] = json!(product);
        let quote = counter.create(code, &request).is(200).json();
        let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
        counter.finish(code, transaction, "command=CONFIRM").is(202);
    }
    counter
}

fn table(world: &World, line: &str) -> String {
    let words: Vec<_> = line.split(' ').chain(["-o", "table"]).collect();
    run(world.mfa(&words)).ok()
}

/// The words of the line of a table that has a word.
#[track_caller]
fn row(table: &str, word: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let found = table.lines().map(words).find(|words| words.iter().any(|other| other == word));
    found.unwrap_or_else(|| panic!("no line has {word}:\n{table}"))
}

#[test]
fn a_table_shows_money_with_the_digits_of_its_currency() {
    let counter = two_currencies();
    let world = &counter.world;
    world.post("/offices/accra/teller/T1/commands", r#"{"action":"CLOSE"}"#).is(202);
    world.post("/offices/accra/teller/T2/commands", r#"{"action":"CLOSE"}"#).is(202);
    for (line, word, amounts) in [
        ("accounts list --customer anna", "anna.9100.00001", &["500.00"][..]),
        ("accounts list --customer bela", "bela.9100.00001", &["1250"]),
        ("accounts get anna.9100.00001", "balance", &["500.00"]),
        ("products accounts yen", "bela.9100.00001", &["1250"]),
        ("products list", "dollar", &["0.00"]),
        ("products list", "yen", &["0"]),
        ("ledger accounts list", "drawer-T1", &["1500.00"]),
        ("ledger accounts list", "drawer-T2", &["51250"]),
        ("ledger accounts list --sort -kind,identifier", "drawer-T1", &["1500.00"]),
        ("ledger accounts get bela.9100.00001", "balance", &["1250"]),
        ("ledger entries drawer-T1", "account", &["500.00", "1500.00"]),
        ("ledger entries drawer-T2", "account", &["1250", "51250"]),
        ("ledger trial-balance", "drawer-T1", &["1500.00", "0.00"]),
        ("ledger trial-balance", "bela.9100.00001", &["0", "1250"]),
        ("accounts statement anna.9100.00001", "opening", &["0.00"]),
        ("accounts statement anna.9100.00001", "account", &["500.00", "500.00"]),
        ("accounts statement bela.9100.00001", "closing", &["1250"]),
        ("teller list --office accra", "T1", &["1000.00"]),
        ("teller list --office accra", "T2", &["1000"]),
        ("teller transactions list T1", "account", &["500.00", "500.00"]),
        ("teller transactions list T2", "account", &["1250", "1250"]),
        ("teller reports list T1 --office accra", "1", &["1500.00"]),
        ("teller reports list T2 --office accra", "1", &["51250"]),
        ("teller reports get T1 latest --office accra", "left", &["1500.00"]),
        ("teller balance T2 --office accra", "on-hand", &["51250"]),
    ] {
        let shown = table(world, line);
        let words = row(&shown, word);
        for amount in amounts {
            assert!(
                words.contains(&(*amount).to_owned()),
                "{amount} is not in {words:?} of {line}:\n{shown}"
            );
        }
    }
    // A message that is a sentence keeps its period only where it is alone.
    let movements = table(world, "teller reports list T1 --office accra --columns movements");
    assert!(movements.contains("Teller adjustment, ") && !movements.contains(".,"), "{movements}");
    let journal = table(world, "ledger journal list --columns type,amounts");
    for amounts in ["500.00, 500.00", "1250, 1250", "1000.00, 1000.00", "50000, 50000"] {
        assert!(journal.contains(amounts), "{journal}");
    }
}

#[test]
fn amounts_stand_on_the_right_side_and_are_never_rounded() {
    let world = World::start();
    let counter = Counter::with(world);
    let fine = r#"{"code":"USD","name":"Dollar","sign":"$","scale":3}"#;
    let mut product = plain_product("fine", "USD", 2);
    product["minimumBalance"] = serde_json::from_str("1234567.5").unwrap();
    counter.define(&product);
    product["currency"] = serde_json::from_str(fine).unwrap();
    product["identifier"] = json!("finer");
    product["minimumBalance"] = serde_json::from_str("0.00125").unwrap();
    counter.define(&product);
    let shown = table(&counter.world, "products list --columns identifier,minimum-balance");
    let expected = "\
IDENTIFIER  MINIMUM-BALANCE
fine             1234567.50
finer               0.00125
saver                100.00
";
    assert_eq!(shown, expected);
}

#[test]
fn programs_get_every_digit_as_it_came() {
    let counter = two_currencies();
    for (format, digits) in
        [("csv", ",1500,"), ("tsv", "\t1500\t"), ("jsonl", "\"balance\":1500,"), ("yaml", "balance: 1500\n")]
    {
        let shown = run(counter.world.mfa(&["ledger", "accounts", "list", "-o", format])).ok();
        assert!(shown.contains(digits) && !shown.contains("1500.00"), "{shown}");
    }
    let expression = [".[] | select(.identifier == \"drawer-T1\") | .balance"];
    let words = ["ledger", "accounts", "list", "-o", "table", "--jq", expression[0]];
    assert_eq!(run(counter.world.mfa(&words)).ok(), "1500\n");
}

#[test]
fn amounts_without_a_known_currency_are_shown_unchanged() {
    let counter = Counter::active("1000");
    let read = || row(&table(&counter.world, "ledger accounts get drawer-T1"), "balance");
    assert_eq!(read(), ["balance", "1000.00"]);
    counter.world.delete("/definitions/saver").is(202);
    assert_eq!(read(), ["balance", "1000"]);
}
