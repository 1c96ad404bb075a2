//! `tellers.md` section 10: counting the cash.

use crate::support::counter::{Counter, decimal, same};
use serde_json::{Value, json};

const PATH: &str = "/offices/accra/teller/T1/denominations";

fn paused(cash: &str) -> Counter {
    let counter = Counter::active(cash);
    counter.pause("T1").is(202);
    counter
}

#[test]
fn a_count_books_what_is_over_or_short() {
    let counter = paused("100");
    let entries = counter.journal().len();
    counter.count("T1", "100.00").is(202);
    assert_eq!(counter.journal().len(), entries, "no difference, no entry");
    counter.world.clock.advance(60);
    counter.count("T1", "99.25").is(202);
    assert_eq!(counter.last_lines().len(), 2);
    let short = counter.journal().pop().unwrap();
    assert_eq!(
        (&short["type"], &short["message"]),
        (&json!("CAJT"), &json!("Teller denomination adjustment."))
    );
    assert_eq!(short["lines"][0]["accountIdentifier"], "over-short");
    assert_eq!(short["lines"][0]["role"], "OVER_SHORT");
    same(&short["lines"][0]["amount"], "0.75");
    let note =
        json!({ "countedTotal": 101, "note": "two\nlines", "adjustingJournalEntry": "ab", "createdOn": 7 });
    counter.world.clock.advance(60);
    counter.world.post(PATH, note.to_string()).is(202);
    let over = counter.journal().pop().unwrap();
    assert_eq!(
        (&over["type"], &over["lines"][0]["accountIdentifier"]),
        (&json!("DAJT"), &json!("drawer-T1"))
    );
    same(&counter.balance("T1")["cashOnHand"], "101");
    assert_eq!(counter.teller("T1")["state"], "PAUSED");
    let listed = counter.world.get(PATH).is(200).json();
    let shown = |i: usize, field: &str| listed[i][field].clone();
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert_eq!(shown(0, "adjustingJournalEntry"), over["identifier"]);
    assert_eq!((shown(0, "note"), shown(0, "createdBy")), (json!("two\nlines"), json!("guest")));
    assert_eq!(shown(0, "createdOn"), "2031-05-06T07:10:09.123Z");
    assert_eq!(shown(1, "adjustingJournalEntry"), short["identifier"]);
    assert_eq!((shown(2, "adjustingJournalEntry"), shown(2, "note")), (Value::Null, Value::Null));
    assert_eq!(shown(2, "countedTotal").to_string(), "100.00");
}

#[test]
fn the_checks_of_a_count_come_in_their_order() {
    let counter = Counter::active("5");
    let post = |path: &str, body: Value| counter.world.post(path, body.to_string());
    for (body, field) in [
        (json!({}), "/countedTotal required"),
        (json!({ "countedTotal": -1 }), "/countedTotal out_of_range"),
        (json!({ "countedTotal": "5" }), "/countedTotal wrong_type"),
        (json!({ "countedTotal": 5, "note": "x".repeat(513) }), "/note too_long"),
        (
            json!({ "countedTotal": 5, "adjustingJournalEntry": "Adjusted J.E." }),
            "/adjustingJournalEntry bad_characters",
        ),
    ] {
        post("/offices/none/teller/T1/denominations", body).fields(&[field]);
    }
    let good = json!({ "countedTotal": 5 });
    post("/offices/none/teller/T1/denominations", good.clone()).refused(404, "office_not_found");
    post("/offices/accra/teller/none/denominations", good.clone()).refused(404, "teller_not_found");
    post(PATH, good).refused(400, "teller_not_paused");
}

#[test]
fn counts_are_listed_by_the_days_of_a_range() {
    let counter = paused("5");
    for _ in 0..3 {
        counter.count("T1", "5").is(202);
        counter.world.clock.advance(24 * 3600);
    }
    let days = |range: &str| -> Vec<String> {
        let listed = counter.world.get(&format!("{PATH}?dateRange={range}")).is(200).json();
        let listed = listed.as_array().unwrap().iter();
        listed.map(|count| count["createdOn"].as_str().unwrap()[..10].to_owned()).collect()
    };
    assert_eq!(days("2031-05-06..2031-05-07"), ["2031-05-07", "2031-05-06"]);
    assert_eq!(days("2031-05-08Z..2031-05-08Z"), ["2031-05-08"]);
    assert_eq!(days("2031-05-09..2031-06-01"), Vec::<String>::new());
    for bad in ["2017-07-13", "2017-07-16..2017-07-13", "..", "2017-02-30..2017-03-01", "x..y", ""] {
        let answer = counter.world.get(&format!("/offices/none/teller/T1/denominations?dateRange={bad}"));
        answer.refused(400, "invalid_parameter");
    }
}

#[test]
fn a_count_that_finds_nothing_joins_no_currencies() {
    let counter = Counter::active("50");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "100", "included").is(202);
    counter.define(&crate::support::counter::plain_product("euro", "EUR", 2));
    let euros = counter.account_of("bela", "euro");
    let mut second = crate::support::counter::teller("T2");
    second["assignedEmployee"] = json!("emp2");
    counter.teller_with(&second).is(202);
    counter.command("T2", json!({ "action": "OPEN" })).is(202);
    counter.unlock("T2", "emp2");
    let mut request = Counter::request("ACCO", &euros, "10");
    request["productIdentifier"] = json!("euro");
    let quote = counter.create("T2", &request).is(200).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
    counter.finish("T2", transaction, "command=CONFIRM").is(202);
    counter.pause("T1").is(202);
    counter.pause("T2").is(202);
    counter.count("T1", "154").is(202);
    counter.count("T2", "10").is(202);
    counter.count("T2", "9").refused(409, "currency_mismatch");
    same(&counter.balance("T2")["cashOnHand"], "10");
    assert_eq!(counter.balance("T1")["cashOnHand"], decimal("154"));
}
