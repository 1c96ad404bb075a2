//! What reports must show, summed up plainly from the journal.

use crate::support::counter::digits;
use crate::support::world::World;
use mfa_shared::amount::Amount;
use mfa_shared::time::Date;
use serde_json::Value;
use std::collections::BTreeMap;

/// The journal, and what its accounts are.
pub struct Books {
    entries: Vec<Value>,
    currencies: BTreeMap<String, Option<String>>,
}

/// Received, disbursed, over, short, and the balance after.
pub type Sums = [Amount; 5];

/// The first and the last day of a period.
pub type Period = (Date, Date);

pub fn lines(world: &World, path: &str) -> Vec<Value> {
    let list = world.request("GET", path).header("accept", "application/x-ndjson");
    let text = world.send(list).is(200).text();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn amount(value: &Value) -> Amount {
    Amount::parse(&digits(value)).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn day_of(entry: &Value) -> Date {
    Date::parse(&text(&entry["postedOn"])[..10]).unwrap()
}

impl Books {
    pub fn read(world: &World) -> Self {
        let account = |account: &Value| {
            (text(&account["identifier"]).to_owned(), account["currency"].as_str().map(str::to_owned))
        };
        let currencies = lines(world, "/ledger/accounts").iter().map(account).collect();
        Self { entries: lines(world, "/ledger/journal"), currencies }
    }

    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// What the drawers of tellers show at the end of each day of a period, in a currency.
    pub fn cash(
        &self,
        tellers: &[&str],
        currency: Option<&str>,
        (first, last): Period,
    ) -> BTreeMap<Date, Sums> {
        let of_currency = |line: &Value| {
            text(&line["role"]) == "DRAWER"
                && self.currencies[text(&line["accountIdentifier"])].as_deref() == currency
        };
        let own = |entry: &&Value| entry["tellerCode"].as_str().is_some_and(|code| tellers.contains(&code));
        self.sum(first, last, |entry, sums| {
            let lines = entry["lines"].as_array().unwrap();
            let counted = lines.iter().any(|line| line["role"] == "OVER_SHORT");
            for line in lines.iter().filter(|line| own(&entry) && of_currency(line)) {
                let debit = line["side"] == "DEBIT";
                let place = match (entry["type"] == "ADJT", counted, debit) {
                    (true, ..) => None,
                    (_, false, true) => Some(0),
                    (_, false, false) => Some(1),
                    (_, true, true) => Some(2),
                    (_, true, false) => Some(3),
                };
                move_sum(sums, place, debit, amount(&line["amount"]));
            }
        })
    }

    /// What some accounts of customers show at the end of each day of a period.
    pub fn deposits(&self, accounts: &[String], (first, last): Period) -> BTreeMap<Date, Sums> {
        let own = |line: &&Value| {
            line["role"] == "CUSTOMER" && accounts.iter().any(|own| line["accountIdentifier"] == **own)
        };
        self.sum(first, last, |entry, sums| {
            for line in entry["lines"].as_array().unwrap().iter().filter(own) {
                let credit = line["side"] == "CREDIT";
                move_sum(sums, Some(usize::from(!credit)), credit, amount(&line["amount"]));
            }
        })
    }

    fn sum(&self, first: Date, last: Date, add: impl Fn(&Value, &mut Sums)) -> BTreeMap<Date, Sums> {
        let mut moved: BTreeMap<Date, Sums> = BTreeMap::new();
        for entry in &self.entries {
            add(entry, moved.entry(day_of(entry)).or_default());
        }
        let mut balance = Amount::sum(moved.range(..first).map(|(_, sums)| sums[4]));
        let (mut found, mut day) = (BTreeMap::new(), first);
        while day <= last {
            let mut sums = moved.get(&day).copied().unwrap_or_default();
            balance = balance.plus(sums[4]);
            sums[4] = balance;
            found.insert(day, sums);
            day = day.next();
        }
        found
    }
}

fn move_sum(sums: &mut Sums, place: Option<usize>, up: bool, amount: Amount) {
    if let Some(place) = place {
        sums[place] = sums[place].plus(amount);
    }
    sums[4] = if up { sums[4].plus(amount) } else { sums[4].minus(amount) };
}

/// The sums of days, month by month.
pub fn by_month(days: &BTreeMap<Date, Sums>) -> BTreeMap<String, Sums> {
    let mut months: BTreeMap<String, Sums> = BTreeMap::new();
    for (day, sums) in days {
        let month = months.entry(day.to_string()[..7].to_owned()).or_default();
        for (sum, more) in month.iter_mut().zip(sums).take(4) {
            *sum = sum.plus(*more);
        }
        month[4] = sums[4];
    }
    months
}
