//! Runs: what accrues, what is booked and paid, and what is tried again.

use super::bank::{Bank, interest_product, refusal, share_product};
use crate::support::counter::{Counter, same, teller};
use serde_json::{Value, json};

#[test]
fn a_day_is_accrued_booked_and_listed() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    let empty = bank.account("Nana", "gain", "0.01");
    bank.days(1);
    assert_eq!(bank.interest(&account)["accruedUntil"], json!(null));
    let ran = bank.run_body(json!({ "date": "2031-05-06" })).is(202);
    assert_eq!(ran.header("location"), "/interest/runs?date=2031-05-06");
    let runs = bank.runs("");
    assert_eq!(runs.len(), 1);
    let expected = json!({
        "date": "2031-05-06", "productIdentifier": "gain", "accounts": 1, "outcome": "DONE", "payments": 0,
        "code": null, "detail": null, "ranBy": "guest",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&runs[0][name], value, "{name}");
    }
    same(&runs[0]["accrued"], "0.06849");
    same(&runs[0]["booked"], "0.07");
    same(&runs[0]["paid"], "0");
    assert_eq!(bank.entries(), ["INTA 2031-05-06 0.07 DEBIT expense-gain CREDIT accrue-gain"]);
    let interest = bank.interest(&account);
    same(&interest["accrued"], "0.06849");
    same(&interest["paidTotal"], "0");
    same(&interest["rate"], "2.5");
    assert_eq!(interest["accruedUntil"], "2031-05-06");
    assert_eq!(interest["nextPayment"], "2031-05-31");
    assert_eq!(interest["payments"], json!([]));
    same(&bank.interest(&empty)["accrued"], "0");
    // Further runs, by any caller, do nothing.
    bank.run();
    bank.run_body(json!({ "date": "2031-05-01" })).is(202);
    assert_eq!((bank.runs("").len(), bank.entries().len()), (1, 1));
    bank.check();
}

#[test]
fn a_run_does_not_go_through_the_days_before_the_first_posting() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    bank.days(2);
    // Eleven centuries, day by day, would take too long.
    bank.run_body(json!({ "from": "0900-01-01" })).is(202);
    let dates: Vec<_> = bank.runs("").iter().map(|run| run["date"].clone()).collect();
    assert_eq!(dates, ["2031-05-07", "2031-05-06"]);
    same(&bank.interest(&account)["accrued"], "0.13698");
    bank.check();
}

#[test]
fn a_first_run_of_long_ago_leaves_no_centuries_to_the_next_one() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000");
    bank.days(3);
    bank.run_body(json!({ "date": "0001-01-01" })).is(202);
    bank.run();
    let days: Vec<_> = bank.runs("").into_iter().map(|run| run["date"].clone()).collect();
    assert_eq!(days, ["2031-05-08", "2031-05-07", "2031-05-06"]);
    same(&bank.interest(&account)["accrued"], "3");
    bank.check();
}

#[test]
fn a_month_of_days_is_run_at_once_and_paid_on_its_last() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    bank.days(27);
    assert_eq!(bank.today(), "2031-06-02");
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    // 26 days of May, paid on its last; one of June, still without what was paid now.
    let paid = "INTP 2031-05-31 1.78 DEBIT accrue-gain CREDIT Maria.9100.00001";
    let entries = bank.entries();
    assert!(entries.iter().any(|entry| entry == paid), "{entries:?}");
    let interest = bank.interest(&account);
    // 27 times 0.06849 less 1.78.
    same(&interest["accrued"], "0.06923");
    same(&interest["paidTotal"], "1.78");
    assert_eq!(interest["nextPayment"], "2031-06-30");
    assert_eq!(interest["payments"].as_array().unwrap().len(), 1);
    assert_eq!(interest["payments"][0]["date"], "2031-05-31");
    same(&bank.counter.instance(&account)["balance"], "1001.78");
    let runs = bank.runs("product=gain");
    assert_eq!(runs.len(), 27);
    assert_eq!((&runs[0]["date"], &runs[26]["date"]), (&json!("2031-06-01"), &json!("2031-05-06")));
    let oldest = bank.runs("sortDirection=ASC&dateRange=2031-05-30..2031-05-31");
    assert_eq!((oldest.len(), &oldest[1]["payments"]), (2, &json!(1)));
    for (query, runs) in [
        ("date=2031-05-30&dateRange=2031-05-01..2031-05-31", 1),
        ("date=2031-05-30&dateRange=2031-05-31..2031-05-31", 0),
        ("date=2031-05-31&dateRange=2031-05-30..2031-05-30", 0),
        ("dateRange=2031-05-31..9999-12-31", 2),
        ("dateRange=2031-05-31..9999-12-31&product=other", 0),
    ] {
        assert_eq!(bank.runs(query).len(), runs, "{query}");
    }
    assert_eq!(bank.runs("product=other").len() + bank.runs("date=2030-01-01").len(), 0);
    bank.check();
}

#[test]
fn what_a_run_is_refused_for() {
    let bank = Bank::open();
    let try_run = |body: &str| refusal(&bank.world().post("/interest/runs", body));
    for (body, refused) in [
        (r#"{"date":"2031-05-06"}"#, "400 invalid_fields /date out_of_range"),
        (r#"{"date":"2031-05-07"}"#, "400 invalid_fields /date out_of_range"),
        (r#"{"date":"2031-02-30"}"#, "400 invalid_fields /date impossible_date"),
        (r#"{"date":"2031-05-05","from":"2031-05-06"}"#, "400 invalid_fields /from out_of_range"),
        (r#"{"from":"2031-05-06"}"#, "400 invalid_fields /from out_of_range"),
        (r#"{"from":"x","date":7}"#, "400 invalid_fields /from impossible_date /date wrong_type"),
    ] {
        assert_eq!(try_run(body), refused, "{body}");
    }
    bank.run_body(json!({ "date": null, "from": "2031-05-05" })).is(202);
    assert_eq!(try_run(r#"{"from":"2031-05-05"}"#), "409 already_begun");
    assert_eq!(try_run(r#"{"from":"2031-05-06"}"#), "400 invalid_fields /from out_of_range");
    for query in ["dateRange=2031-05-06", "pageIndex=-1", "size=0", "sortDirection=UP", "sortColumn=product"]
    {
        assert_eq!(
            bank.world().get(&format!("/interest/runs?{query}")).is(400).json()["code"],
            "invalid_parameter"
        );
    }
}

#[test]
fn only_days_at_whose_end_product_and_account_are_active_earn() {
    let bank = Bank::open();
    bank.counter.define(&interest_product("gain", "3.65", "ANNUALLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    let pending = bank.counter.account_of("Nana", "gain");
    // 05-06 inactive, 05-07 active, 05-08 at 7.30 percent, 05-09 inactive, 05-10 at 7.30 again.
    bank.days(1);
    bank.command("gain", "ACTIVATE");
    bank.days(1);
    let mut changed = interest_product("gain", "7.30", "ANNUALLY");
    changed["term"] = json!({ "interestPayable": "ANNUALLY" });
    bank.world().put("/definitions/gain", changed.to_string()).is(202);
    bank.days(1);
    bank.command("gain", "DEACTIVATE");
    bank.days(1);
    bank.command("gain", "ACTIVATE");
    bank.days(1);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    let earned: Vec<_> = bank
        .runs("sortDirection=ASC")
        .iter()
        .map(|r| (r["date"].clone(), r["accrued"].to_string()))
        .collect();
    let expected = [("2031-05-07", "0.10000"), ("2031-05-08", "0.20000"), ("2031-05-10", "0.20000")];
    assert_eq!(earned, expected.map(|(day, sum)| (json!(day), sum.to_owned())));
    same(&bank.interest(&account)["accrued"], "0.5");
    let nothing = bank.interest(&pending);
    assert_eq!((&nothing["accruedUntil"], &nothing["nextPayment"]), (&json!(null), &json!(null)));
    bank.check();
}

#[test]
fn the_balance_is_that_of_the_end_of_the_day_by_posting() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "ANNUALLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    bank.days(1);
    bank.act("CDPT", &account, "gain", "500").is(202);
    bank.act("CWDL", &account, "gain", "1400").is(202);
    bank.days(1);
    bank.act("CDPT", &account, "gain", "900").is(202);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    let earned: Vec<_> = bank.runs("sortDirection=ASC").iter().map(|r| r["accrued"].to_string()).collect();
    assert_eq!(earned, ["1.00000", "0.10000"]);
    bank.check();
}

#[test]
fn interest_of_a_term_is_paid_once_when_it_has_passed() {
    let bank = Bank::open();
    let mut product = interest_product("term", "36.5", "MATURITY");
    product["term"] = json!({ "period": 1, "timeUnit": "MONTH", "interestPayable": "MATURITY" });
    bank.sell(&product);
    bank.sell(&interest_product("never", "36.5", "MATURITY"));
    let account = bank.account("Maria", "term", "1000");
    let never = bank.account("Nana", "never", "1000");
    assert_eq!(bank.interest(&account)["nextPayment"], "2031-06-06");
    assert_eq!(bank.interest(&never)["nextPayment"], json!(null));
    bank.days(40);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    let paid: Vec<_> = bank.entries().into_iter().filter(|entry| entry.starts_with("INTP")).collect();
    assert_eq!(paid, ["INTP 2031-06-06 32.00 DEBIT accrue-term CREDIT Maria.9100.00001"]);
    same(&bank.interest(&account)["accrued"], "8");
    assert_eq!(bank.interest(&account)["nextPayment"], json!(null));
    bank.check();
}

#[test]
fn a_product_that_cannot_be_booked_is_left_out_and_tried_again() {
    let bank = Bank::open();
    let mut wrong = interest_product("wrong", "36.5", "ANNUALLY");
    wrong["accrueAccountIdentifier"] = json!("vault");
    let mut euro = interest_product("euro", "36.5", "ANNUALLY");
    euro["currency"]["code"] = json!("EUR");
    euro["expenseAccountIdentifier"] = json!("expense-gain");
    for product in [&interest_product("gain", "36.5", "ANNUALLY"), &wrong, &euro] {
        bank.sell(product);
    }
    bank.account("Maria", "gain", "1000");
    bank.account("Nana", "wrong", "1000");
    let kofi = bank.counter.account_of("Kofi", "euro");
    bank.world().post(&format!("/instances/{kofi}?command=ACTIVATE"), "").is(202);
    bank.days(1);
    bank.run();
    // The euros share an account that has dollars from this run on.
    let outcome = || {
        let shown = |r: &Value| {
            let text = |name: &str| r[name].as_str().unwrap_or("-").to_owned();
            format!("{} {} {} {}", text("date"), text("productIdentifier"), text("outcome"), text("code"))
        };
        let mut all: Vec<_> = bank.runs("").iter().map(shown).collect();
        all.sort();
        all
    };
    let first = ["euro DONE -", "gain DONE -", "wrong FAILED account_kind_mismatch"];
    assert_eq!(outcome(), first.map(|row| format!("2031-05-06 {row}")));
    bank.days(1);
    bank.run();
    let second = ["euro FAILED currency_mismatch", "gain DONE -", "wrong FAILED account_kind_mismatch"];
    let rows: Vec<_> = outcome().into_iter().filter(|row| row.starts_with("2031-05-07")).collect();
    assert_eq!(rows, second.map(|row| format!("2031-05-07 {row}")));
    assert_eq!(bank.interest(&kofi)["accruedUntil"], "2031-05-06");
    // Another expense account makes the euros good, and their day is made up for.
    euro["expenseAccountIdentifier"] = json!("expense-euro");
    bank.world().put("/definitions/euro", euro.to_string()).is(202);
    bank.run();
    let euros = bank.runs("product=euro");
    assert!(euros.len() == 2 && euros.iter().all(|run| run["outcome"] == "DONE"), "{euros:?}");
    assert_eq!(bank.interest(&kofi)["accruedUntil"], "2031-05-07");
    bank.check();
}

/// An account in euros, in a drawer of their own, with 1000 on it.
pub fn in_euros(bank: &Bank, product: &str) -> String {
    let mut euros = teller("T2");
    euros["vaultAccountIdentifier"] = json!("vault-euro");
    bank.counter.teller_with(&euros).is(202);
    bank.counter.open("T2", "emp2", "5000");
    bank.counter.unlock("T2", "emp2");
    let account = bank.counter.account_of("Nana", product);
    let mut request = Counter::request("ACCO", &account, "1000");
    request["productIdentifier"] = json!(product);
    let quote = bank.counter.create("T2", &request).is(200).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
    bank.counter.finish("T2", transaction, "command=CONFIRM&charges=EXCLUDED").is(202);
    account
}

/// A product of more accounts than one transaction looks at, of which the last two days of a month were left
/// out and can be booked now; its first and its last account, which are those with something on them.
pub fn left_out_of_many() -> (Bank, [String; 2]) {
    let bank = Bank::open();
    let mut euro = interest_product("euro", "36.5", "MONTHLY");
    euro["currency"]["code"] = json!("EUR");
    bank.sell(&euro);
    let mut product = interest_product("gain", "36.5", "MONTHLY");
    product["expenseAccountIdentifier"] = json!("expense-euro");
    bank.sell(&product);
    in_euros(&bank, "euro");
    bank.days(24);
    let first = bank.account("c0000", "gain", "1000");
    for number in 1..501 {
        let account = bank.counter.account_of(&format!("c{number:04}"), "gain");
        bank.world().post(&format!("/instances/{account}?command=ACTIVATE"), "").is(202);
    }
    let last = bank.account("c9999", "gain", "1000");
    bank.days(2);
    bank.run_body(json!({ "from": "2031-05-30" })).is(202);
    assert!(bank.runs("product=gain").iter().all(|run| run["outcome"] == "FAILED"));
    product["expenseAccountIdentifier"] = json!("expense-gain");
    bank.world().put("/definitions/gain", product.to_string()).is(202);
    (bank, [first, last])
}

/// Holds the days that were left out to what they are when they were made up for.
pub fn made_up_for(bank: &Bank, accounts: &[String], paid: &str) {
    for account in accounts {
        same(&bank.interest(account)["paidTotal"], paid);
    }
    let runs = bank.runs("product=gain&sortDirection=ASC&dateRange=2031-05-30..2031-05-31");
    let shown = runs.iter().map(|run| format!("{} {}", run["date"], run["accounts"]));
    assert_eq!(shown.collect::<Vec<_>>(), ["\"2031-05-30\" 2", "\"2031-05-31\" 2"]);
    assert!(runs.iter().all(|run| run["outcome"] == "DONE" && run["code"].is_null()), "{runs:?}");
}

#[test]
fn a_day_that_was_left_out_is_made_up_for_with_all_of_many_accounts() {
    let (bank, accounts) = left_out_of_many();
    bank.run();
    made_up_for(&bank, &accounts, "2");
    bank.check();
}

#[test]
fn a_payment_day_after_days_that_were_left_out_is_not_lost() {
    let bank = Bank::open();
    bank.sell(&interest_product("first", "36.5", "MONTHLY"));
    let mut product = interest_product("gain", "36.5", "MONTHLY");
    product["currency"]["code"] = json!("EUR");
    product["expenseAccountIdentifier"] = json!("expense-first");
    bank.sell(&product);
    bank.account("Maria", "first", "1000");
    bank.days(22);
    bank.run_body(json!({ "from": "2031-05-27" })).is(202);
    let account = in_euros(&bank, "gain");
    bank.days(3);
    assert_eq!(bank.today(), "2031-05-31");
    bank.command("gain", "DEACTIVATE");
    bank.days(1);
    bank.run();
    let left_out = bank.runs("product=gain&sortDirection=ASC");
    assert!(left_out.iter().all(|run| run["outcome"] == "FAILED"), "{left_out:?}");
    // Nothing was run for it yet, and the payment of the day that was left out is still to come.
    let interest = bank.interest(&account);
    assert_eq!((&interest["accruedUntil"], &interest["nextPayment"]), (&json!(null), &json!("2031-05-31")));
    let dates: Vec<_> = left_out.iter().map(|run| run["date"].clone()).collect();
    let days = ["2031-05-27", "2031-05-28", "2031-05-29", "2031-05-30", "2031-05-31"];
    assert_eq!(dates, days);
    product["expenseAccountIdentifier"] = json!("expense-gain");
    bank.world().put("/definitions/gain", product.to_string()).is(202);
    bank.run();
    let paid = &bank.interest(&account)["payments"];
    assert_eq!((paid[0]["date"].clone(), paid.as_array().unwrap().len()), (json!("2031-05-31"), 1));
    same(&paid[0]["amount"], "3");
    bank.check();
}

#[test]
fn the_trail_names_each_account_on_which_a_run_or_a_dividend_books() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    bank.sell(&share_product("shares", "MONTHLY"));
    let paid = bank.account("Maria", "gain", "1000");
    let empty = bank.counter.account_of("Nana", "gain");
    bank.world().post(&format!("/instances/{empty}?command=ACTIVATE"), "").is(202);
    let share = bank.account("Kofi", "shares", "1000");
    bank.days(26);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    let due = json!({ "year": 2031, "month": 5, "day": 31 });
    let dividend = json!({ "dueDate": due, "dividendRate": 10 }).to_string();
    bank.world().post("/definitions/shares/dividends", dividend).is(202);
    let booked = |account: &str| {
        let page = bank.world().get(&format!("/audit?resource=account/{account}&size=1000")).is(200).json();
        let operations: Vec<_> =
            page["records"].as_array().unwrap().iter().map(|r| r["operation"].clone()).collect();
        operations
            .into_iter()
            .filter(|name| name == "RunInterest" || name == "DistributeDividend")
            .collect::<Vec<_>>()
    };
    assert_eq!(booked(&paid), ["RunInterest"]);
    assert_eq!(booked(&empty), Vec::<Value>::new());
    assert_eq!(booked(&share), ["DistributeDividend"]);
    let heard = |kind: &str| {
        let events = bank.world().get(&format!("/events?kind={kind}&size=1000")).is(200).json();
        let affects = events.as_array().unwrap().iter().map(|event| event["affects"].clone());
        affects.filter(|affects| affects != &json!([])).collect::<Vec<_>>()
    };
    assert_eq!(heard("interest"), [json!([format!("account/{paid}")])]);
    assert!(heard("product").contains(&json!([format!("account/{share}")])));
}

#[test]
fn several_callers_at_once_book_every_day_once() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    bank.sell(&interest_product("more", "3.65", "MONTHLY"));
    for customer in ["Maria", "Nana", "Kofi"] {
        bank.account(customer, "gain", "1000");
        bank.account(customer, "more", "1000");
    }
    bank.days(30);
    let run = || {
        bank.world().request("POST", "/interest/runs").header("content-type", "application/json").body("{}")
    };
    bank.run_body(json!({ "date": "2031-05-07", "from": "2031-05-06" })).is(202);
    for seen in bank.world().send_all((0..4).map(|_| run()).collect()) {
        seen.is(202);
    }
    assert_eq!(bank.runs("").len(), 60);
    let entries = bank.entries();
    assert_eq!(entries.iter().filter(|entry| entry.starts_with("INTA")).count(), 60);
    assert_eq!(entries.iter().filter(|entry| entry.starts_with("INTP")).count(), 6);
    bank.check();
}

#[test]
fn a_product_of_many_accounts_takes_several_transactions_and_pays_each() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    let first = bank.account("c0000", "gain", "1000");
    for number in 1..1_101 {
        let account = bank.counter.account_of(&format!("c{number:04}"), "gain");
        bank.world().post(&format!("/instances/{account}?command=ACTIVATE"), "").is(202);
    }
    let last = bank.account("c9999", "gain", "1000");
    bank.days(26);
    bank.run_body(json!({ "date": "2031-05-31" })).is(202);
    for account in [&first, &last] {
        same(&bank.interest(account)["paidTotal"], "1");
    }
    assert_eq!(bank.runs("")[0]["accounts"], 2);
    bank.check();
}
