//! The list of runs.

use super::bank::{Bank, interest_product};
use serde_json::{Value, json};

#[test]
fn a_page_of_runs_is_that_part_of_the_whole_list() {
    let bank = Bank::open();
    for product in ["gain", "more", "save"] {
        bank.sell(&interest_product(product, "2.50", "MONTHLY"));
        bank.account("Maria", product, "1000.00");
    }
    let lines = |query: &str| -> Vec<Value> {
        let request = bank.world().request("GET", &format!("/interest/runs?{query}"));
        let seen = bank.world().send(request.header("accept", "application/x-ndjson")).is(200);
        seen.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    // Asked for before and after there is more, since the daemon keeps in memory what it has found.
    for (days, runs) in [(12, 36), (1, 39), (9, 66)] {
        bank.days(days);
        bank.run_body(if days == 12 { json!({ "from": "2031-05-06" }) } else { json!({}) }).is(202);
        for query in
            ["", "sortDirection=ASC", "product=more", "dateRange=2031-05-08..2031-05-20", "date=2031-05-09"]
        {
            let whole = lines(query);
            // In either direction the runs of a day are in the order of their products.
            let by = |run: &Value| (run["date"].to_string(), run["productIdentifier"].to_string());
            let in_order = |pair: &[Value]| match (by(&pair[0]), by(&pair[1])) {
                (one, two) if one.0 == two.0 => one.1 < two.1,
                (one, two) => (one.0 < two.0) == (query == "sortDirection=ASC"),
            };
            assert!(whole.windows(2).all(in_order), "{query}");
            assert!(!query.is_empty() || whole.len() == runs, "{}", whole.len());
            for page in 0..=whole.len() / 7 + 1 {
                let shown =
                    bank.world().get(&format!("/interest/runs?size=7&pageIndex={page}&{query}")).json();
                let part: Vec<_> = whole.iter().skip(page * 7).take(7).cloned().collect();
                assert_eq!(shown["runs"], json!(part), "page {page} of {query}");
                assert_eq!(shown["totalElements"], whole.len(), "{query}");
            }
        }
    }
    bank.check();
}
