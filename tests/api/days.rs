//! Ends of days: one numbered report for each day of an office, which goes on where the one before has ended.

use crate::support::counter::{Counter, decimal, same, teller};
use crate::support::guarded::As;
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

const TODAY: &str = "2031-05-06";
const TOMORROW: &str = "2031-05-07";
const HOURS: i64 = 3600;

/// T1 and T2 at work, and an account with 500.
fn branch() -> (Counter, String) {
    let counter = Counter::active("2000");
    counter.world.post("/customers", r#"{"identifier":"anna"}"#).is(202);
    for employee in ["emp1", "emp2"] {
        counter.world.post("/employees", json!({ "identifier": employee }).to_string()).is(202);
    }
    counter.teller_with(&teller("T2")).is(202);
    counter.open("T2", "emp2", "100");
    counter.unlock("T2", "emp2");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "500", "included").is(202);
    (counter, account)
}

fn end(world: &World, date: &str) -> Seen {
    world.post(&format!("/offices/accra/days/{date}"), "")
}

fn end_open(world: &World, date: &str) -> Seen {
    world.post(&format!("/offices/accra/days/{date}"), r#"{"leaveOpen":true}"#)
}

fn report(world: &World, date: &str) -> Value {
    world.get(&format!("/offices/accra/days/{date}")).is(200).json()
}

fn exceptions(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let shown = |e: &Value| format!("{} {} {}", text(&e["kind"]), text(&e["tellerCode"]), text(&e["detail"]));
    report["exceptions"].as_array().unwrap().iter().map(shown).collect()
}

/// `CDPT 2 10 3.00 0` for each type.
fn totals(report: &Value) -> Vec<String> {
    let shown = |t: &Value| {
        let kind = t["transactionType"].as_str().unwrap();
        format!("{kind} {} {} {} {}", t["confirmed"], t["amount"], t["charges"], t["canceled"])
    };
    report["totals"].as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn a_report_shows_what_a_day_of_two_tellers_came_to() {
    let (counter, account) = branch();
    counter.teller_with(&teller("T3")).is(202);
    let world = &counter.world;
    counter.transact("CDPT", &account, None, "10", "excluded").is(202);
    counter.transact("CDPT", &account, None, "20.50", "included").is(202);
    counter.quote(&Counter::request("CWDL", &account, "5"));
    counter.pause("T1").is(202);
    counter.count("T1", "2535.00").is(202);
    counter.close("T1").is(202);
    counter.command("T2", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 100 })).is(202);
    world.clock.advance(HOURS);
    let ended = end(world, TODAY).is(202);
    assert_eq!(ended.header("location"), format!("/offices/accra/days/{TODAY}"));
    let found = report(world, TODAY);
    for (field, expected) in [
        ("number", json!(1)),
        ("officeIdentifier", json!("accra")),
        ("officeName", json!("Accra")),
        ("date", json!(TODAY)),
        ("endedOn", json!("2031-05-06T08:08:09.123Z")),
        ("endedBy", json!("guest")),
        ("coversFrom", json!("2031-05-06T00:00:00.000Z")),
        ("coversUntil", json!("2031-05-06T08:08:09.123Z")),
        ("lastEntry", json!(counter.journal().len())),
    ] {
        assert_eq!(found[field], expected, "{field}");
    }
    assert_eq!(totals(&found), ["ACCO 1 500 5 0", "CDPT 2 30.50 3.00 0", "CWDL 0 0 0 1"]);
    let tellers: Vec<_> = found["tellers"].as_array().unwrap().iter().map(|t| t["code"].clone()).collect();
    assert_eq!(tellers, ["T1", "T2", "T3"]);
    assert_eq!(found["tellers"][0]["cashOnHand"], decimal("2535.00"));
    let sessions = found["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    let first = world.get("/offices/accra/teller/T1/reports/1").json();
    for field in
        ["openedOn", "closedOn", "cashReceivedTotal", "cashDisbursedTotal", "difference", "cashOnHand"]
    {
        assert_eq!(sessions[0][field], first[field], "{field}");
    }
    assert_eq!((&sessions[1]["teller_code"], &sessions[1]["tellerCode"]), (&Value::Null, &json!("T2")));
    // The vault moved before anything had a currency.
    let vault = json!([{ "accountIdentifier": "vault", "currency": null, "balance": -2000 }]);
    assert_eq!(found["vaults"], vault);
    let trial = world.get("/ledger/trial-balance").json();
    same(&found["totalDebit"], &trial["totalDebit"].to_string());
    same(&found["totalCredit"], &trial["totalCredit"].to_string());
    assert_eq!(exceptions(&found), ["DIFFERENCE T1 day report 1: 2.00 short", "DORMANT T3 was never opened"]);
}

#[test]
fn a_report_names_employees_and_customers_that_do_not_exist() {
    let (counter, account) = branch();
    let stranger = counter.account("nobody");
    counter.transact("ACCO", &stranger, None, "100", "included").is(202);
    for amount in ["1", "2"] {
        counter.transact("CDPT", &stranger, None, amount, "included").is(202);
        counter.transact("CDPT", &account, None, amount, "included").is(202);
    }
    let request = Counter::request("ACCO", &counter.account("waits"), "100");
    counter.quote(&request);
    counter.teller_with(&teller("T3")).is(202);
    counter.open("T3", "emp9", "10");
    end_open(&counter.world, TODAY).is(202);
    let found = exceptions(&report(&counter.world, TODAY));
    let dangling: Vec<_> = found.iter().filter(|line| line.starts_with("DANGLING")).collect();
    let customer = format!("account \"{stranger}\" belongs to customer \"nobody\", who does not exist");
    assert_eq!(
        dangling,
        [
            &format!("DANGLING T1 {customer}"),
            "DANGLING T3 is assigned to employee \"emp9\", who does not exist"
        ]
    );
}

#[test]
fn a_day_does_not_end_while_a_teller_is_open_unless_asked_to() {
    let (counter, account) = branch();
    let world = &counter.world;
    let pending = counter.quote(&Counter::request("CDPT", &account, "7"));
    counter.close("T2").is(202);
    let refused = end(world, TODAY).refused(409, "tellers_open");
    assert!(refused.text().contains("T1 is ACTIVE"), "{}", refused.text());
    world.get(&format!("/offices/accra/days/{TODAY}")).refused(404, "day_not_found");
    assert_eq!(world.get("/offices/accra/days").is(200).json(), json!([]));
    end_open(world, TODAY).is(202);
    let found = report(world, TODAY);
    let expected = ["OPEN_TELLER T1 is ACTIVE for emp1", "PENDING T1 1 transaction waits for confirmation"];
    assert_eq!(exceptions(&found), expected);
    assert_eq!(totals(&found), ["ACCO 1 500 5 0"]);
    // What waited is in the report of the day on which it was confirmed.
    counter.finish("T1", &pending, "command=CONFIRM").is(202);
    counter.close("T1").is(202);
    world.clock.advance(24 * HOURS);
    end(world, TOMORROW).is(202);
    let next = report(world, TOMORROW);
    assert_eq!(totals(&next), ["CDPT 1 7 1.50 0"]);
    assert_eq!((&next["number"], &next["coversFrom"]), (&json!(2), &found["coversUntil"]));
}

#[test]
fn an_ended_day_never_changes_and_later_entries_are_in_the_next_one() {
    let (mut counter, account) = branch();
    counter.close("T1").is(202);
    counter.close("T2").is(202);
    assert_eq!(end(&counter.world, TODAY).is(202).header("already-ended"), "");
    let first = counter.world.get(&format!("/offices/accra/days/{TODAY}")).is(200).text();
    // The office opens again on the same day.
    counter.open("T1", "emp1", "1");
    counter.unlock("T1", "emp1");
    counter.transact("CDPT", &account, None, "3", "excluded").is(202);
    counter.close("T1").is(202);
    counter.world.restart();
    for _ in 0..2 {
        assert_eq!(end_open(&counter.world, TODAY).is(202).header("already-ended"), "true");
        assert_eq!(counter.world.get(&format!("/offices/accra/days/{TODAY}")).is(200).text(), first);
    }
    counter.world.clock.advance(24 * HOURS);
    end(&counter.world, TOMORROW).is(202);
    let next = report(&counter.world, TOMORROW);
    assert_eq!(totals(&next), ["CDPT 1 3 1.50 0"]);
    assert_eq!((next["sessions"][0]["report"].as_u64(), next["number"].as_u64()), (Some(2), Some(2)));
    let listed = counter.world.get("/offices/accra/days").is(200).json();
    assert_eq!(listed, json!([serde_json::from_str::<Value>(&first).unwrap(), next]));
    let mut world = counter.world;
    world.stop();
    assert_eq!(world.check(&[mfa_daemon::Check::Ledger]), [""; 0]);
}

#[test]
fn a_day_that_is_over_ends_as_it_was_at_midnight() {
    let (counter, account) = branch();
    let world = &counter.world;
    counter.close("T2").is(202);
    // Accounts for several pages, between those of the drawers and that of the vault.
    let account_of = json!({ "customerIdentifier": "many", "productIdentifier": "saver" });
    let open = json!({ "method": "POST", "path": "/instances", "body": account_of });
    world.post("/batch", json!({ "atomic": true, "operations": vec![open; 1_000] }).to_string()).is(200);
    let trial = world.get("/ledger/trial-balance").json();
    let cash = counter.balance("T1")["cashOnHand"].clone();
    world.clock.advance(24 * HOURS);
    counter.transact("CDPT", &account, None, "50", "excluded").is(202);
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 100 })).is(202);
    end(world, TODAY).is(202);
    let found = report(world, TODAY);
    assert_eq!(found["coversUntil"], format!("{TOMORROW}T00:00:00.000Z"));
    assert_eq!(totals(&found), ["ACCO 1 500 5 0"]);
    assert_eq!(found["tellers"][0]["cashOnHand"], cash);
    same(&found["vaults"][0]["balance"], "-2100");
    same(&found["totalDebit"], &trial["totalDebit"].to_string());
    same(&found["totalCredit"], &trial["totalCredit"].to_string());
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1, "T1 was closed on the day after");
    end(world, TOMORROW).is(202);
    let next = report(world, TOMORROW);
    assert_eq!(totals(&next), ["CDPT 1 50 1.50 0"]);
    assert_eq!(next["sessions"].as_array().unwrap().len(), 1);
    same(&next["vaults"][0]["balance"], "-2000");
}

#[test]
fn the_first_report_has_what_was_made_before_midnight_and_finished_after_it() {
    let (counter, account) = branch();
    let world = &counter.world;
    // A session that ended before, with a transaction of its own.
    counter.quote(&Counter::request("CDPT", &account, "1"));
    counter.close("T1").is(202);
    world.clock.advance(HOURS);
    counter.open("T1", "emp1", "10");
    counter.unlock("T1", "emp1");
    counter.transact("CDPT", &account, None, "2", "excluded").is(202);
    let [confirmed, canceled, waiting] =
        ["3", "4", "5"].map(|amount| counter.quote(&Counter::request("CDPT", &account, amount)));
    world.clock.advance(24 * HOURS);
    counter.unlock("T1", "emp1");
    counter.finish("T1", &confirmed, "command=CONFIRM&charges=excluded").is(202);
    counter.finish("T1", &canceled, "command=CANCEL").is(202);
    end_open(world, TOMORROW).is(202);
    assert_eq!(totals(&report(world, TOMORROW)), ["CDPT 1 3 1.50 1"]);
    world.clock.advance(24 * HOURS);
    counter.unlock("T1", "emp1");
    counter.finish("T1", &waiting, "command=CONFIRM&charges=excluded").is(202);
    end_open(world, "2031-05-08").is(202);
    assert_eq!(totals(&report(world, "2031-05-08")), ["CDPT 1 5 1.50 0"]);
}

#[test]
fn days_end_in_their_order() {
    let counter = Counter::start();
    let world = &counter.world;
    for bad in ["2031-5-6", "2031-02-30", "today", "2031-05-06Z"] {
        end(world, bad).refused(400, "invalid_parameter");
        world.get(&format!("/offices/accra/days/{bad}")).refused(404, "day_not_found");
    }
    end(world, TOMORROW).refused(409, "day_out_of_order");
    world.post(&format!("/offices/none/days/{TODAY}"), "").refused(404, "office_not_found");
    world.get("/offices/none/days").refused(404, "office_not_found");
    world.get(&format!("/offices/none/days/{TODAY}")).refused(404, "office_not_found");
    world
        .post(&format!("/offices/accra/days/{TODAY}"), r#"{"leaveOpen":1}"#)
        .fields(&["/leaveOpen wrong_type"]);
    end(world, "2031-05-03").is(202);
    end(world, TODAY).is(202);
    end(world, "2031-05-05").refused(409, "day_out_of_order");
    assert_eq!(end(world, "2031-05-03").is(202).header("already-ended"), "true");
    // Each office has numbers of its own.
    world.post("/offices", r#"{"identifier":"tema","name":"Tema"}"#).is(202);
    world.post(&format!("/offices/tema/days/{TODAY}"), "").is(202);
    let numbers = |office: &str| {
        let listed = world.get(&format!("/offices/{office}/days")).is(200).json();
        listed.as_array().unwrap().iter().map(|day| day["number"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((numbers("accra"), numbers("tema")), (vec![1, 2], vec![1]));
}

#[test]
fn of_ends_at_once_one_writes_the_report() {
    let (counter, _) = branch();
    counter.close("T1").is(202);
    counter.close("T2").is(202);
    let world = &counter.world;
    let path = format!("/offices/accra/days/{TODAY}");
    let requests = (0..8).map(|i| world.request("POST", &path).header("x-request-id", format!("end-{i}")));
    let answers = world.insist_all(requests.collect());
    let first = answers.iter().filter(|answer| answer.header("already-ended").is_empty()).count();
    assert!(answers.iter().all(|answer| answer.status == 202));
    assert_eq!(first, 1);
    let listed = world.get("/offices/accra/days").is(200).json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["number"]), (1, &json!(1)));
}

#[test]
fn a_retry_hears_the_first_answer_and_the_trail_has_the_report_once() {
    let counter = Counter::start();
    let world = &counter.world;
    let send = || {
        let request = world.request("POST", &format!("/offices/accra/days/{TODAY}"));
        world.send(request.header("idempotency-key", "evening")).is(202)
    };
    send();
    assert_eq!(send().header("idempotency-replayed"), "true");
    end(world, TODAY).is(202);
    if world.config().store.postgres().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let trail = world.get(&format!("/audit?resource=day/accra/{TODAY}&sortDirection=ASC")).is(200).json();
    let records = trail["records"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{trail}");
    let made = json!([{ "field": "", "before": null, "after": report(world, TODAY) }]);
    assert_eq!((&records[0]["operation"], &records[0]["changes"]), (&json!("EndOfficeDay"), &made));
    assert_eq!(records[1]["changes"], json!([]));
}

#[test]
fn managers_end_days_and_the_others_read_them() {
    let world = World::guarded();
    let olga = world.login("olga");
    for office in ["accra", "tema"] {
        olga.post("/offices", json!({ "identifier": office, "name": office })).is(202);
    }
    let end =
        |caller: &As<'_>, office: &str| caller.post(&format!("/offices/{office}/days/{TODAY}"), json!({}));
    let roles = ["clerk", "teller", "auditor"];
    for role in roles {
        let caller = world.user(&format!("a-{role}"), role);
        end(&caller, "accra").refused(403, "forbidden");
    }
    end(&olga, "accra").is(202);
    end(&world.user("mara", "branch-manager"), "tema").is(202);
    for role in roles {
        let caller = world.login(&format!("a-{role}"));
        let days = caller.get("/offices/tema/days").is(200).json();
        assert_eq!(days[0]["endedBy"], "mara");
        caller.get(&format!("/offices/tema/days/{TODAY}")).is(200);
    }
    world.get("/offices/tema/days").refused(401, "unauthenticated");
}

#[test]
fn a_deleted_office_leaves_no_report_to_the_next_one_of_its_name() {
    let mut world = World::start();
    world.post("/offices", r#"{"identifier":"accra","name":"First"}"#).is(202);
    end(&world, TODAY).is(202);
    world.delete("/offices/accra").is(202);
    world.post("/offices", r#"{"identifier":"accra","name":"Second"}"#).is(202);
    assert_eq!(world.get("/offices/accra/days").is(200).json(), json!([]));
    world.get(&format!("/offices/accra/days/{TODAY}")).refused(404, "day_not_found");
    assert_eq!(end(&world, TODAY).is(202).header("already-ended"), "");
    let found = report(&world, TODAY);
    assert_eq!((&found["officeName"], &found["number"]), (&json!("Second"), &json!(1)));
    world.stop();
    assert_eq!(world.check(&[mfa_daemon::Check::Store, mfa_daemon::Check::Ledger]), Vec::<String>::new());
}
