//! Dividends of share products.

use super::bank::{Bank, interest_product, refusal, share_product};
use crate::support::counter::same;
use crate::support::world::Seen;
use serde_json::{Value, json};

fn distribute(bank: &Bank, product: &str, due: Value, rate: &str) -> Seen {
    let rate: Value = serde_json::from_str(rate).unwrap();
    let body = json!({ "dueDate": due, "dividendRate": rate });
    bank.world().post(&format!("/definitions/{product}/dividends"), body.to_string())
}

fn day(year: i64, month: i64, day: i64) -> Value {
    json!({ "year": year, "month": month, "day": day })
}

#[test]
fn a_dividend_is_paid_for_the_balances_of_its_period() {
    let bank = Bank::open();
    bank.sell(&share_product("shares", "MONTHLY"));
    let account = bank.account("Maria", "shares", "1000");
    let late = bank.account("Nana", "shares", "100");
    bank.counter.account_of("Kofi", "shares");
    bank.days(10);
    bank.act("CDPT", &late, "shares", "900").is(202);
    bank.days(20);
    assert_eq!(bank.today(), "2031-06-05");
    distribute(&bank, "shares", day(2031, 5, 31), "36.5").is(202);
    // Maria: 26 days of 1.00. Nana: 10 days of 0.10, 16 days of 1.00.
    same(&bank.counter.instance(&account)["balance"], "1026");
    same(&bank.counter.instance(&late)["balance"], "1017");
    assert_eq!(
        bank.entries(),
        [
            "DIVD 2031-05-31 26.00 DEBIT expense-shares CREDIT Maria.9100.00001",
            "DIVD 2031-05-31 17.00 DEBIT expense-shares CREDIT Nana.9100.00001",
        ]
    );
    distribute(&bank, "shares", day(2031, 5, 30), "0.00001").is(202);
    let listed = bank.world().get("/definitions/shares/dividends").is(200).json();
    let shown: Vec<_> =
        listed.as_array().unwrap().iter().map(|d| (d["dueDate"].clone(), d["accounts"].clone())).collect();
    assert_eq!(shown, [(day(2031, 5, 30), json!(0)), (day(2031, 5, 31), json!(2))]);
    same(&listed[1]["amount"], "43");
    same(&listed[1]["dividendRate"], "36.5");
    assert_eq!(listed[1]["createdBy"], "guest");
    bank.check();
}

#[test]
fn what_a_dividend_is_refused_for() {
    let bank = Bank::open();
    bank.sell(&share_product("shares", "ANNUALLY"));
    bank.counter.define(&share_product("asleep", "ANNUALLY"));
    bank.sell(&interest_product("gain", "1", "ANNUALLY"));
    let due = || day(2031, 5, 5);
    for (product, due, rate, refused) in [
        ("shares", due(), "0", "400 invalid_fields /dividendRate out_of_range"),
        ("shares", due(), "1000.1", "400 invalid_fields /dividendRate out_of_range"),
        ("shares", due(), "1.000001", "400 invalid_fields /dividendRate too_many_decimals"),
        ("shares", day(2031, 5, 6), "1", "400 invalid_fields /dueDate out_of_range"),
        ("shares", day(2031, 2, 30), "1", "400 invalid_fields /dueDate impossible_date"),
        ("shares", Value::Null, "1", "400 invalid_fields /dueDate required"),
        ("nothing", day(2031, 2, 30), "1", "400 invalid_fields /dueDate impossible_date"),
        ("nothing", due(), "1", "404 definition_not_found"),
        ("gain", due(), "1", "409 wrong_product_type"),
        ("asleep", due(), "1", "409 product_inactive"),
    ] {
        assert_eq!(refusal(&distribute(&bank, product, due, rate)), refused);
    }
    distribute(&bank, "shares", due(), "5").is(202);
    assert_eq!(refusal(&distribute(&bank, "shares", due(), "5")), "409 already_distributed");
    assert_eq!(refusal(&distribute(&bank, "shares", due(), "6")), "409 already_distributed");
    assert_eq!(
        bank.world().get("/definitions/nothing/dividends").is(404).json()["code"],
        "definition_not_found"
    );
    assert_eq!(bank.world().get("/definitions/gain/dividends").is(200).json(), json!([]));
}

#[test]
fn more_accounts_than_one_transaction_takes_are_paid_once_each() {
    let bank = Bank::open();
    bank.sell(&share_product("shares", "MONTHLY"));
    for number in 0..205 {
        bank.account(&format!("c{number:03}"), "shares", "1000");
    }
    bank.days(1);
    distribute(&bank, "shares", day(2031, 5, 6), "36.5").is(202);
    let listed = bank.world().get("/definitions/shares/dividends").is(200).json();
    assert_eq!(listed[0]["accounts"], 205);
    same(&listed[0]["amount"], "205");
    bank.check();
}

#[test]
fn of_equal_dividends_at_once_one_is_paid_and_the_others_are_refused() {
    let bank = Bank::open();
    bank.sell(&share_product("shares", "MONTHLY"));
    bank.account("Maria", "shares", "1000");
    bank.days(30);
    let body = json!({ "dueDate": day(2031, 5, 31), "dividendRate": 12 }).to_string();
    let one = |_| bank.world().request("POST", "/definitions/shares/dividends").body(body.clone());
    let seen = bank.world().insist_all((0..8).map(one).collect());
    let mut statuses: Vec<_> = seen.iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(bank.entries().len(), 1);
}
