//! Pending transactions have a bound, so that a teller can always be closed.

use crate::support::counter::Counter;
use mfa_daemon::Check;
use mfa_shared::api::batch::OPERATIONS_MAX;
use serde_json::{Value, json};

/// What the daemon lets a teller have, to the next count.
const MOST: usize = 5_119;

/// Creates so many transactions at T1, as far as they are accepted; the answers.
fn create(counter: &Counter, request: &Value, mut count: usize) -> Vec<Value> {
    let mut results = Vec::new();
    while count > 0 {
        let together = count.min(OPERATIONS_MAX);
        let operation = json!({ "method": "POST", "path": "/teller/T1/transactions", "body": request });
        let body = json!({ "operations": vec![operation; together] });
        let answer = counter.world.post("/batch", body.to_string()).is(200).json();
        results.extend(answer["results"].as_array().unwrap().iter().cloned());
        count -= together;
    }
    results
}

fn pending(counter: &Counter) -> usize {
    let listed = counter.world.get("/teller/T1/transactions?status=PENDING").is(200).json();
    listed.as_array().unwrap().len()
}

#[test]
fn a_teller_with_too_many_pending_transactions_takes_no_more_and_can_be_closed() {
    let mut counter = Counter::active("100");
    let account = counter.account("anna");
    let request = Counter::request("ACCO", &account, "100");
    let results = create(&counter, &request, MOST);
    assert!(results.iter().all(|result| result["status"] == 200));
    let refused = counter.create("T1", &request).refused(409, "too_many_pending").json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with("teller T1 has 5000 transactions or more"), "{detail}");
    counter.create("T1", &request).refused(409, "too_many_pending");
    assert_eq!(pending(&counter), MOST);
    // Each that is finished makes room, once they are fewer than the bound.
    let finish = |result: &Value| {
        let identifier = result["body"]["tellerTransactionIdentifier"].as_str().unwrap();
        let path = format!("/teller/T1/transactions/{identifier}?command=CANCEL");
        json!({ "method": "POST", "path": path })
    };
    let ended: Vec<Value> = results[..MOST - 5_000].iter().map(finish).collect();
    for operations in ended.chunks(OPERATIONS_MAX) {
        counter.world.post("/batch", json!({ "operations": operations }).to_string()).is(200);
    }
    counter.create("T1", &request).refused(409, "too_many_pending");
    let last = results[MOST - 1]["body"]["tellerTransactionIdentifier"].as_str().unwrap();
    counter.finish("T1", last, "command=CANCEL").is(202);
    counter.create("T1", &request).is(200);
    counter.close("T1").is(202);
    assert_eq!(pending(&counter), 0);
    counter.world.stop();
    assert_eq!(counter.world.check(&[Check::Store, Check::Ledger]), Vec::<String>::new());
}
