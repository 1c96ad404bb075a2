//! The comparison of everything that can be read with the plain books.

use super::history::History;
use super::plain::{Entry, Row, State};
use super::{hundred_thousandths as parts, text_of};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The first ten characters of a moment.
fn day(value: &Value) -> String {
    value.as_str().unwrap()[..10].to_owned()
}

/// What differs of two lists.
#[track_caller]
fn same<T: Ord + Clone + std::fmt::Debug>(what: &str, mut found: Vec<T>, mut expected: Vec<T>) {
    found.sort();
    expected.sort();
    if found != expected {
        let count = |list: &[T]| {
            let mut counts = BTreeMap::new();
            list.iter().for_each(|one| *counts.entry(one.clone()).or_insert(0) += 1);
            counts
        };
        let (found, expected) = (count(&found), count(&expected));
        let more = found.iter().filter(|(one, times)| expected.get(*one) != Some(*times));
        let less = expected.iter().filter(|(one, times)| found.get(*one) != Some(*times));
        panic!("{what}: found {:#?}, expected {:#?}", more.collect::<Vec<_>>(), less.collect::<Vec<_>>());
    }
}

impl History {
    /// Every account has accrued and been paid what the plain books say.
    pub fn compare_accounts(&self) {
        for place in 0..self.plain.accounts.len() {
            self.compare_account(place);
        }
    }

    /// As [`History::compare_accounts`], of a few accounts.
    pub fn compare_some(&mut self) {
        for _ in 0..4 {
            let place = self.chance.below(self.plain.accounts.len());
            self.compare_account(place);
        }
    }

    fn compare_account(&self, place: usize) {
        let account = &self.plain.accounts[place];
        let name = &account.name;
        let found = self.bank.interest(name);
        assert_eq!(parts(&found["accrued"]), account.accrued(), "accrued of {name}");
        assert_eq!(parts(&found["paidTotal"]), account.paid(), "paid to {name}");
        assert_eq!(parts(&found["rate"]), self.plain.products[account.product].rate, "rate of {name}");
        let until = self.plain.accrued_until(place).map(|day| day.to_string());
        assert_eq!(found["accruedUntil"], json!(until), "{name}");
        let next = self.plain.next_payment(place).map(|day| day.to_string());
        assert_eq!(found["nextPayment"], json!(next), "{name}");
        let payments = found["payments"].as_array().unwrap().iter();
        let payments: Vec<_> = payments.map(|one| (text(&one["date"]), parts(&one["amount"]))).collect();
        let expected: Vec<_> = account.payments.iter().map(|(day, sum)| (day.to_string(), *sum)).collect();
        assert_eq!(payments, expected, "payments of {name}");
        let instance = self.bank.counter.instance(name);
        assert_eq!(parts(&instance["balance"]), account.balance, "balance of {name}");
        let state = match account.state {
            State::Pending => "PENDING",
            State::Active => "ACTIVE",
            State::Closed => "CLOSED",
        };
        assert_eq!(instance["state"], state, "{name}");
    }

    /// Everything that can be read, and the checks of the store.
    pub fn compare_all(self) -> u64 {
        self.compare_accounts();
        self.compare_runs();
        let entries = self.compare_entries();
        self.compare_ledger(&entries);
        let account_days = self.plain.account_days;
        let History { bank, chance, .. } = self;
        bank.check();
        drop(chance);
        account_days
    }

    fn compare_runs(&self) {
        let list = self.bank.world().request("GET", "/interest/runs?sortDirection=ASC");
        let listed = self.bank.world().send(list.header("accept", "application/x-ndjson")).is(200).text();
        let found = listed.lines().map(|line| {
            let run: Value = serde_json::from_str(line).unwrap();
            let row = Row {
                done: run["outcome"] == "DONE",
                accounts: run["accounts"].as_i64().unwrap().into(),
                accrued: parts(&run["accrued"]),
                booked: parts(&run["booked"]),
                paid: parts(&run["paid"]),
                payments: run["payments"].as_i64().unwrap().into(),
                ran_on: day(&run["ranOn"]),
            };
            let code = if row.done { Value::Null } else { json!("currency_mismatch") };
            assert_eq!((&run["code"], &run["ranBy"]), (&code, &json!("guest")));
            ((text(&run["date"]), text(&run["productIdentifier"])), row)
        });
        let expected = self.plain.rows.iter().map(|(key, row)| (key.clone(), row.clone()));
        same("runs", found.collect(), expected.collect());
    }

    /// The entries of interest are those of the plain books, and each payment names its own.
    fn compare_entries(&self) -> Vec<Entry> {
        let journal = self.bank.counter.journal();
        let of_interest = journal.iter().filter(|entry| text(&entry["type"]).starts_with("INT"));
        let mut by_identifier = BTreeMap::new();
        let mut found = Vec::new();
        for entry in of_interest {
            let [debit, credit] = entry["lines"].as_array().unwrap().as_slice() else { panic!("{entry}") };
            assert_eq!((&debit["side"], &credit["side"]), (&json!("DEBIT"), &json!("CREDIT")));
            assert_eq!(debit["amount"], credit["amount"]);
            assert_eq!((&entry["clerk"], &entry["tellerCode"]), (&json!("guest"), &Value::Null));
            let shown: Entry = (
                text(&entry["type"]),
                day(&entry["transactionDate"]),
                day(&entry["postedOn"]),
                parts(&debit["amount"]),
                text(&debit["accountIdentifier"]),
                text(&credit["accountIdentifier"]),
            );
            by_identifier.insert(text(&entry["identifier"]), shown.clone());
            found.push(shown);
        }
        same("entries", found.clone(), self.plain.entries.clone());
        for account in &self.plain.accounts {
            for payment in self.bank.interest(&account.name)["payments"].as_array().unwrap() {
                let entry = by_identifier.remove(&text(&payment["journalEntryIdentifier"])).unwrap();
                let paid = (entry.0.as_str(), entry.1, entry.3, &entry.5);
                let expected = ("INTP", text(&payment["date"]), parts(&payment["amount"]), &account.name);
                assert_eq!(paid, expected);
            }
        }
        found
    }

    /// The accounts of the products hold what the entries sum to.
    fn compare_ledger(&self, entries: &[Entry]) {
        for product in self.plain.products.iter().filter(|product| !product.share) {
            for (account, is_raised_by_credits) in [
                (product.accrue(), true),
                (format!("expense-{}", product.name), false),
                (format!("expense-{}-2", product.name), false),
            ] {
                let lines = entries.iter().map(|(_, _, _, amount, debit, credit)| {
                    if *credit == account {
                        *amount
                    } else if *debit == account {
                        -amount
                    } else {
                        0
                    }
                });
                let credits: i128 = lines.sum();
                let expected = if is_raised_by_credits { credits } else { -credits };
                let found = self.bank.world().get(&format!("/ledger/accounts/{account}"));
                let found = if found.status == 404 { 0 } else { parts(&found.is(200).json()["balance"]) };
                assert_eq!(found, expected, "{account} should hold {}", text_of(expected, 5));
            }
        }
    }
}
