//! `tellers.md` sections 5 to 7: creating, confirming, cancelling and listing transactions.

use crate::support::counter::{Counter, decimal, digits, plain_product, product, same, teller};
use serde_json::{Value, json};

/// T1 active with 1000, and an open account with 500 of `anna`.
fn with_account() -> (Counter, String) {
    let counter = Counter::active("1000");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "500", "included").is(202);
    (counter, account)
}

fn changed(request: &Value, field: &str, value: Value) -> Value {
    let mut request = request.clone();
    request[field] = value;
    request
}

#[test]
fn each_bad_field_of_a_transaction_is_named() {
    let (counter, account) = with_account();
    let good = Counter::request("CDPT", &account, "10");
    for (field, value, code) in [
        ("transactionType", Value::Null, "required"),
        ("transactionType", json!(5), "wrong_type"),
        ("transactionDate", json!("yesterday"), "impossible_date"),
        ("transactionDate", json!("2031-05-06"), "impossible_date"),
        ("transactionDate", json!("2031-05-06T07:08:09+0100"), "impossible_date"),
        ("transactionDate", json!("0000-01-01T00:00:00+01:00"), "impossible_date"),
        ("customerIdentifier", json!(" "), "blank"),
        ("customerIdentifier", Value::Null, "required"),
        ("productIdentifier", json!("x"), "too_short"),
        ("customerAccountIdentifier", json!("x".repeat(74)), "too_long"),
        ("customerAccountIdentifier", Value::Null, "required"),
        ("clerk", json!("x".repeat(33)), "too_long"),
        ("amount", Value::Null, "required"),
        ("amount", json!("1"), "wrong_type"),
        ("amount", json!(-1), "out_of_range"),
        ("amount", json!(0), "out_of_range"),
        ("amount", decimal("1e15"), "out_of_range"),
        ("amount", decimal("0.000001"), "too_many_decimals"),
        ("amount", decimal("10.005"), "too_many_decimals"),
    ] {
        counter.create("T1", &changed(&good, field, value)).fields(&[&format!("/{field} {code}")]);
    }
    for kind in ["CWDL", "ACCT"] {
        let mut zero = Counter::request(kind, &account, "0");
        zero["targetAccountIdentifier"] = json!("other");
        counter.create("T1", &zero).fields(&["/amount out_of_range"]);
    }
    let transfer = Counter::request("ACCT", &account, "0");
    counter.create("T1", &transfer).fields(&["/amount out_of_range", "/targetAccountIdentifier required"]);
    for kind in ["CCHQ", "PPAY", "XXXX", ""] {
        let request = changed(&good, "transactionType", json!(kind));
        counter.create("none", &request).refused(400, "unsupported_transaction_type");
    }
    let many = json!({ "transactionType": "PPAY", "amount": -1 });
    counter.create("none", &many).fields(&[
        "/amount out_of_range",
        "/customerIdentifier required",
        "/productIdentifier required",
        "/customerAccountIdentifier required",
    ]);
    // A target means nothing to other types, whatever it is.
    counter.create("T1", &changed(&good, "targetAccountIdentifier", json!(7))).is(200);
    counter.create("T1", &changed(&good, "targetAccountIdentifier", json!(""))).is(200);
    counter.create("T1", &changed(&good, "amount", decimal("10.500"))).is(200);
    // The years that are written with four digits are all taken, to their last moment.
    for (sent, shown) in [
        ("9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59.999Z"),
        ("9999-12-30T22:00:01Z", "9999-12-30T22:00:01.000Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
    ] {
        let made = counter.create("T1", &changed(&good, "transactionDate", json!(sent))).is(200).json();
        let id = made["tellerTransactionIdentifier"].as_str().unwrap();
        let read = counter.world.get(&format!("/teller/T1/transactions/{id}")).is(200).json();
        assert_eq!(read["transactionDate"], shown);
        counter.finish("T1", id, "command=CONFIRM").is(202);
        assert_eq!(counter.journal().pop().unwrap()["transactionDate"], shown);
    }
    let beyond = changed(&good, "transactionDate", json!("9999-12-31T23:30:00-01:00"));
    counter.create("T1", &beyond).fields(&["/transactionDate impossible_date"]);
}

#[test]
fn the_moment_of_the_request_is_a_date_like_others() {
    let (counter, account) = with_account();
    let now = counter.world.clock.now().to_string();
    let given = changed(&Counter::request("CDPT", &account, "10"), "transactionDate", json!(now));
    let identifier = counter.quote(&given);
    counter.world.clock.advance(86_400);
    counter.finish("T1", &identifier, "command=CONFIRM").is(202);
    let entry = counter.journal().pop().unwrap();
    assert_eq!(entry["transactionDate"], json!(now));
    assert_ne!(entry["postedOn"], json!(now));
}

#[test]
fn a_transaction_is_quoted_with_the_charges_of_its_product() {
    let counter = Counter::active("1000");
    let mut product = plain_product("rich", "USD", 2);
    let charge = |action: &str, name: &str, proportional: bool, amount: &str| {
        json!({
            "actionIdentifier": action, "incomeAccountIdentifier": format!("{name}-income"), "name": name,
            "proportional": proportional, "amount": decimal(amount),
        })
    };
    let action = json!({ "identifier": "Extra", "name": "Extra", "transactionType": "cdpt" });
    counter.world.post("/actions", action.to_string()).is(202);
    product["charges"] = json!([
        charge("Extra", "extra", false, "0.10"),
        charge("Deposit", "percent", true, "3"),
        charge("Deposit", "nothing", false, "0"),
        charge("Withdraw", "elsewhere", false, "9"),
        charge("Deposit", "tiny", true, "0.00001"),
    ]);
    counter.define(&product);
    let account = counter.account_of("anna", "rich");
    counter.world.post(&format!("/instances/{account}?command=ACTIVATE"), "").is(202);
    let mut request = Counter::request("cdpt", &account, "50.50");
    request["productIdentifier"] = json!("rich");
    let quote = counter.create("T1", &request).is(200).json();
    let identifier = quote["tellerTransactionIdentifier"].as_str().unwrap();
    assert!(identifier.len() == 32 && identifier.chars().all(|c| c.is_ascii_alphanumeric()));
    same(&quote["totalAmount"], "52.12");
    let charges = json!([
        { "code": "Extra", "incomeAccountIdentifier": "extra-income", "name": "extra", "amount": decimal("0.10") },
        { "code": "Deposit", "incomeAccountIdentifier": "percent-income", "name": "percent",
            "amount": decimal("1.52") },
    ]);
    assert_eq!(quote["charges"], charges);
    assert_eq!(quote.as_object().unwrap().len(), 3);
    // The charges quoted to the customer are booked, even if the product changes in between.
    product["charges"] = json!([]);
    counter.world.put("/definitions/rich", product.to_string()).is(202);
    counter.finish("T1", identifier, "command=CONFIRM").is(202);
    let lines = counter.last_lines();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[3..], ["CREDIT extra-income 0.10", "CREDIT percent-income 1.52"]);
    same(&counter.instance(&account)["balance"], "48.88");
    let next = counter.create("T1", &request).is(200).json();
    assert_eq!((&next["charges"], digits(&next["totalAmount"])), (&json!([]), "50.50".to_owned()));
}

#[test]
fn percent_are_rounded_once_to_the_scale_of_the_currency_and_half_to_even() {
    let counter = Counter::active("1000");
    // The table of section 7: amount, percent, scale, and what is charged; 0 is left out.
    for (number, (amount, percent, scale, charged)) in [
        ("1234.56", "3", 2, Some("37.04")),
        ("1234.56", "3", 3, Some("37.037")),
        ("50.50", "3", 2, Some("1.52")),
        ("81.50", "3", 2, Some("2.44")),
        ("80.20", "12.5", 2, Some("10.02")),
        ("50", "3", 0, Some("2")),
        ("150", "3", 0, Some("4")),
        ("0.10", "3", 2, None),
    ]
    .into_iter()
    .enumerate()
    {
        let identifier = format!("p{number}");
        let mut product = plain_product(&identifier, "USD", scale);
        product["charges"] = json!([{
            "actionIdentifier": "Deposit", "incomeAccountIdentifier": "income", "name": "percent",
            "proportional": true, "amount": decimal(percent),
        }]);
        counter.define(&product);
        let account = counter.account_of("anna", &identifier);
        counter.world.post(&format!("/instances/{account}?command=ACTIVATE"), "").is(202);
        let mut request = Counter::request("CDPT", &account, amount);
        request["productIdentifier"] = json!(identifier);
        let quote = counter.create("T1", &request).is(200).json();
        let found = quote["charges"].as_array().unwrap();
        assert_eq!(found.len(), usize::from(charged.is_some()), "{amount} {percent} {scale}: {quote}");
        if let Some(charged) = charged {
            same(&found[0]["amount"], charged);
        }
    }
}

#[test]
fn the_checks_of_a_new_transaction_come_in_their_order() {
    let (counter, account) = with_account();
    let pending = counter.account("bela");
    counter.define(&plain_product("other", "USD", 2));
    counter.define(&plain_product("yen", "JPY", 0));
    counter.teller_with(&teller("T2")).is(202);
    let mut request = Counter::request("ACCT", "anna.none", "1000.005");
    request["targetAccountIdentifier"] = json!("bela.none");
    request["productIdentifier"] = json!("none");
    request["customerIdentifier"] = json!("bela");
    let mut refused = |field: &str, value: &str, code: &str, status: u16, pointer: &str, teller: &str| {
        if !field.is_empty() {
            request[field] = if field == "amount" { decimal(value) } else { json!(value) };
        }
        let seen = counter.create(teller, &request).refused(status, code);
        if !pointer.is_empty() {
            assert_eq!(seen.json()["errors"][0]["field"], pointer);
        }
    };
    refused("", "", "teller_not_found", 404, "", "none");
    refused("", "", "unknown_reference", 400, "/productIdentifier", "T2");
    refused("productIdentifier", "other", "unknown_reference", 400, "/customerAccountIdentifier", "T2");
    let pointer = "/targetAccountIdentifier";
    refused("customerAccountIdentifier", &account, "unknown_reference", 400, pointer, "T2");
    refused("targetAccountIdentifier", &account, "contradicts_account", 400, "", "T2");
    refused("productIdentifier", "saver", "contradicts_account", 400, "", "T2");
    refused("customerIdentifier", "anna", "contradicts_account", 400, "", "T2");
    refused("targetAccountIdentifier", &pending, "invalid_fields", 400, "/amount", "T2");
    refused("amount", "400", "wrong_state", 409, "", "T2");
    refused("", "", "wrong_state", 409, "", "T1");
    let fresh = counter.account("cilla");
    for (kind, account) in [("ACCO", &account), ("CDPT", &fresh), ("CWDL", &fresh), ("ACCC", &fresh)] {
        counter.create("T1", &Counter::request(kind, account, "2000")).refused(409, "wrong_state");
    }
    for kind in ["CWDL", "ACCC"] {
        let above = Counter::request(kind, &account, "1000.01");
        counter.create("T1", &above).refused(409, "over_cashdraw_limit");
        counter.create("T1", &Counter::request(kind, &account, "1000")).is(200);
    }
    counter.create("T1", &Counter::request("ACCO", &fresh, "99.99")).refused(409, "below_minimum_balance");
    let yen = counter.account_of("dora", "yen");
    let mut request = Counter::request("ACCO", &yen, "1");
    request["productIdentifier"] = json!("yen");
    counter.create("T1", &request).refused(409, "currency_mismatch");
    request["amount"] = decimal("1.5");
    counter.create("T1", &request).fields(&["/amount too_many_decimals"]);
}

#[test]
fn a_transfer_is_as_fine_as_the_coarser_of_its_accounts() {
    let (counter, account) = with_account();
    counter.define(&plain_product("coarse", "USD", 0));
    let coarse = counter.account_of("bela", "coarse");
    counter.world.post(&format!("/instances/{coarse}?command=ACTIVATE"), "").is(202);
    let mut request = Counter::request("ACCT", &account, "1.50");
    request["targetAccountIdentifier"] = json!(coarse);
    counter.create("T1", &request).fields(&["/amount too_many_decimals"]);
    request["amount"] = json!(2);
    counter.create("T1", &request).is(200);
    // An account of another currency limits no digits: no amount is right for it.
    counter.define(&plain_product("yen", "JPY", 0));
    let yen = counter.account_of("bela", "yen");
    counter.world.post(&format!("/instances/{yen}?command=ACTIVATE"), "").is(202);
    request["targetAccountIdentifier"] = json!(yen);
    request["amount"] = decimal("1.50");
    counter.create("T1", &request).refused(409, "currency_mismatch");
    request["amount"] = decimal("1.505");
    counter.create("T1", &request).fields(&["/amount too_many_decimals"]);
}

#[test]
fn an_alternative_number_names_its_account_and_lists_show_identifiers() {
    let (counter, account) = with_account();
    let new = json!({ "customerIdentifier": "bela", "productIdentifier": "saver",
        "alternativeAccountNumber": "GH 77/1".replace('/', "-") });
    counter.world.post("/instances", new.to_string()).is(202);
    let other = counter.world.get("/instances?customer=bela").json()[0]["accountIdentifier"].clone();
    let mut open = Counter::request("ACCO", "GH 77-1", "100");
    open["customerIdentifier"] = json!("bela");
    counter.world.clock.advance(1);
    let opening = counter.quote(&open);
    counter.finish("T1", &opening, "command=CONFIRM").is(202);
    let mut transfer = Counter::request("ACCT", &account, "5");
    transfer["targetAccountIdentifier"] = json!("GH 77-1");
    transfer["transactionDate"] = json!("2017-07-13T12:00:00.000000000001+02:00");
    transfer["clerk"] = json!("Mr. Clerk");
    counter.world.clock.advance(1);
    let transferred = counter.quote(&transfer);
    let listed = |status: &str| {
        counter
            .world
            .get(&format!("/teller/T1/transactions{status}"))
            .is(200)
            .json()
            .as_array()
            .unwrap()
            .clone()
    };
    let all = listed("");
    assert_eq!(all.len(), 3);
    assert_eq!(all[1]["customerAccountIdentifier"], other);
    assert_eq!(all[1]["chargesIncluded"], false);
    assert_eq!(all[1]["finishedOn"], "2031-05-06T07:08:10.123Z");
    assert_eq!(all[0]["chargesIncluded"], true);
    let shown = &all[2];
    let expected = json!({
        "identifier": transferred, "transactionType": "ACCT", "transactionDate": "2017-07-13T10:00:00.000Z",
        "customerIdentifier": "anna", "productIdentifier": "saver", "customerAccountIdentifier": account,
        "targetAccountIdentifier": other, "clerk": "Mr. Clerk", "amount": 5, "totalAmount": shown["totalAmount"],
        "charges": shown["charges"], "chargesIncluded": null, "state": "PENDING",
        "createdOn": "2031-05-06T07:08:11.123Z", "finishedOn": null,
    });
    assert_eq!(*shown, expected);
    assert_eq!(listed("?status=pending").len(), 1);
    assert_eq!(listed("?status=CONFIRMED").len(), 2);
    assert_eq!(listed("?status=CANCELED").len(), 0);
    for bad in ["OPEN", ""] {
        let seen = counter.world.get(&format!("/teller/none/transactions?status={bad}"));
        seen.refused(400, "invalid_parameter");
    }
    counter.world.get("/teller/none/transactions").refused(404, "teller_not_found");
    counter.finish("T1", &transferred, "command=CONFIRM").is(202);
    let entry = counter.journal().pop().unwrap();
    assert_eq!((&entry["type"], &entry["message"]), (&json!("ACCT"), &json!("ACCT")));
    assert_eq!(entry["transactionDate"], "2017-07-13T10:00:00.000Z");
    assert_eq!(entry["postedOn"], "2031-05-06T07:08:11.123Z");
    assert_eq!(
        (&entry["clerk"], &entry["tellerTransactionIdentifier"]),
        (&json!("guest"), &json!(transferred))
    );
}

#[test]
fn the_checks_of_finishing_come_in_their_order() {
    let (counter, account) = with_account();
    counter.teller_with(&teller("T2")).is(202);
    let transaction = counter.quote(&Counter::request("CDPT", &account, "10"));
    for form in [
        "",
        "command=",
        "command=RESUME",
        "charges=included",
        "command=CONFIRM&charges=some",
        "command=CANCEL&charges=some",
        "command=CONFIRM&command=CANCEL",
        "command=CONFIRM&charges=included&charges=excluded",
    ] {
        counter.finish("none", &transaction, form).refused(400, "invalid_parameter");
    }
    counter.finish("none", &transaction, "command=CONFIRM").refused(404, "teller_not_found");
    counter.finish("T2", "none", "command=CONFIRM").refused(404, "transaction_not_found");
    counter.finish("T2", &transaction, "command=CONFIRM").refused(409, "wrong_state");
    counter.command("T2", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp2" })).is(202);
    counter.unlock("T2", "emp2");
    counter.finish("T2", &transaction, "command=CONFIRM").refused(409, "other_teller");
    counter.finish("T2", &transaction, "command=CANCEL").refused(409, "other_teller");
    counter.finish("T1", &transaction, "command=Confirm&command=CONFIRM&charges=INCLUDED").is(202);
    for command in ["CONFIRM", "CANCEL"] {
        counter.finish("T1", &transaction, &format!("command={command}")).refused(409, "wrong_state");
    }
    let cancelled = counter.quote(&Counter::request("CDPT", &account, "10"));
    let entries = counter.journal().len();
    counter.finish("T1", &cancelled, "command=cancel").is(202);
    assert_eq!(counter.journal().len(), entries);
    for command in ["CONFIRM", "CANCEL"] {
        counter.finish("T1", &cancelled, &format!("command={command}")).refused(409, "wrong_state");
    }
}

#[test]
fn the_form_of_finishing_may_stand_in_the_body() {
    let (counter, account) = with_account();
    for kind in ["application/x-www-form-urlencoded", "text/plain"] {
        let transaction = counter.quote(&Counter::request("CDPT", &account, "10"));
        let path = format!("/teller/T1/transactions/{transaction}");
        let request = counter.world.request("POST", &path).header("content-type", kind);
        counter.world.send(request.body("command=CONFIRM&charges=included")).is(202);
    }
    same(&counter.instance(&account)["balance"], "520");
}

#[test]
fn an_opening_and_a_closing_change_the_account() {
    let counter = Counter::active("1000");
    let account = counter.account("anna");
    let opened = |field: &str| counter.instance(&account)[field].clone();
    let quoted = counter.quote(&Counter::request("ACCO", &account, "100"));
    assert_eq!((opened("state"), opened("lastTransactionDate")), (json!("PENDING"), Value::Null));
    counter.world.clock.advance(24 * 3600);
    counter.finish("T1", &quoted, "command=CONFIRM&charges=included").is(202);
    assert_eq!((opened("state"), opened("openedOn")), (json!("ACTIVE"), json!("2031-05-07")));
    assert_eq!(opened("lastTransactionDate"), "2031-05-07T07:08:09.123Z");
    counter.transact("ACCC", &account, None, "90", "excluded").is(202);
    assert_eq!((opened("state"), opened("openedOn")), (json!("CLOSED"), json!("2031-05-07")));
    // What was quoted before an account was closed can only be cancelled.
    let second = counter.account("bela");
    counter.world.post(&format!("/instances/{second}?command=ACTIVATE"), "").is(202);
    let late = counter.quote(&Counter::request("CDPT", &second, "5"));
    counter.world.post(&format!("/instances/{second}?command=CLOSE"), "").is(202);
    counter.finish("T1", &late, "command=CONFIRM&charges=included").refused(409, "wrong_state");
    counter.finish("T1", &late, "command=CANCEL").is(202);
}

#[test]
fn charges_paid_in_cash_count_as_a_movement_of_an_account_that_they_do_not_touch() {
    let counter = Counter::active("1000");
    let mut product = plain_product("fee", "USD", 2);
    product["charges"] = json!([{
        "actionIdentifier": "Open", "incomeAccountIdentifier": "income", "name": "Opening",
        "description": null, "proportional": false, "amount": 5,
    }]);
    counter.define(&product);
    let account = counter.account_of("anna", "fee");
    let mut request = Counter::request("ACCO", &account, "0");
    request["productIdentifier"] = json!("fee");
    let opening = counter.quote(&request);
    counter.world.clock.advance(24 * 3600);
    counter.finish("T1", &opening, "command=CONFIRM&charges=included").is(202);
    let shown = counter.instance(&account);
    same(&shown["balance"], "0");
    assert_eq!(shown["state"], "ACTIVE");
    assert_eq!(shown["lastTransactionDate"], "2031-05-07T07:08:09.123Z");
}

#[test]
fn a_transaction_that_moves_nothing_has_no_entry() {
    let counter = Counter::active("1000");
    counter.define(&plain_product("free", "USD", 2));
    let account = counter.account_of("anna", "free");
    let transact = |kind: &str| {
        let mut request = Counter::request(kind, &account, "0");
        request["productIdentifier"] = json!("free");
        let transaction = counter.quote(&request);
        counter.finish("T1", &transaction, "command=CONFIRM").is(202);
    };
    let entries = counter.journal().len();
    transact("ACCO");
    assert_eq!(counter.instance(&account)["state"], "ACTIVE");
    assert_eq!(counter.instance(&account)["lastTransactionDate"], Value::Null);
    transact("ACCC");
    assert_eq!(counter.instance(&account)["state"], "CLOSED");
    assert_eq!(counter.journal().len(), entries);
}

#[test]
fn what_confirm_looks_at_is_what_is_there_then() {
    let (counter, account) = with_account();
    let confirm = |id: &str| counter.finish("T1", id, "command=CONFIRM&charges=included");
    let first = counter.quote(&Counter::request("CWDL", &account, "300"));
    let second = counter.quote(&Counter::request("CWDL", &account, "300"));
    confirm(&first).is(202);
    confirm(&second).refused(409, "insufficient_balance");
    let third = counter.quote(&Counter::request("CWDL", &account, "50"));
    let limit = json!({ "code": "T1", "password": crate::support::counter::PIN, "cashdrawLimit": 49 });
    counter.world.put("/offices/accra/teller/T1", limit.to_string()).is(202);
    confirm(&third).refused(409, "over_cashdraw_limit");
    let limit = json!({ "code": "T1", "password": crate::support::counter::PIN, "cashdrawLimit": 50 });
    counter.world.put("/offices/accra/teller/T1", limit.to_string()).is(202);
    let mut dearer = product();
    dearer["minimumBalance"] = json!(151);
    counter.world.put("/definitions/saver", dearer.to_string()).is(202);
    confirm(&third).refused(409, "below_minimum_balance");
    dearer["minimumBalance"] = json!(150);
    counter.world.put("/definitions/saver", dearer.to_string()).is(202);
    confirm(&third).is(202);
    same(&counter.instance(&account)["balance"], "150");
}
