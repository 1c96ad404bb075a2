//! An institution with products that pay interest, and a teller who brings money.

use crate::support::counter::{Counter, PIN, decimal, plain_product};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

/// A counter that is open, for tests of interest. Its clock begins on 2031-05-06.
pub struct Bank {
    pub counter: Counter,
}

/// A product that pays interest, without charges, with accounts of its own.
pub fn interest_product(identifier: &str, rate: &str, payable: &str) -> Value {
    let mut product = plain_product(identifier, "USD", 2);
    product["interest"] = decimal(rate);
    product["flexible"] = json!(true);
    product["expenseAccountIdentifier"] = json!(format!("expense-{identifier}"));
    product["accrueAccountIdentifier"] = json!(format!("accrue-{identifier}"));
    product["term"] = json!({ "interestPayable": payable });
    product
}

pub fn share_product(identifier: &str, payable: &str) -> Value {
    let mut product = interest_product(identifier, "0", payable);
    product["type"] = json!("SHARE");
    product["interest"] = Value::Null;
    product
}

impl Bank {
    pub fn open() -> Self {
        Self::on(World::start())
    }

    pub fn on(world: World) -> Self {
        let counter = Counter::with(world);
        let limit = json!({ "code": "T1", "password": PIN, "cashdrawLimit": 1_000_000 });
        counter.world.put("/offices/accra/teller/T1", limit.to_string()).is(202);
        counter.open("T1", "emp1", "900000");
        counter.unlock("T1", "emp1");
        Self { counter }
    }

    pub fn world(&self) -> &World {
        &self.counter.world
    }

    /// Defines a product and puts it on sale.
    pub fn sell(&self, product: &Value) {
        self.counter.define(product);
        self.command(product["identifier"].as_str().unwrap(), "ACTIVATE");
    }

    pub fn command(&self, product: &str, action: &str) {
        let path = format!("/definitions/{product}/commands");
        self.world().post(&path, json!({ "action": action }).to_string()).is(202);
    }

    /// An account that was opened with an amount.
    pub fn account(&self, customer: &str, product: &str, amount: &str) -> String {
        let account = self.counter.account_of(customer, product);
        self.act("ACCO", &account, product, amount).is(202);
        account
    }

    /// A transaction at the teller.
    pub fn act(&self, kind: &str, account: &str, product: &str, amount: &str) -> Seen {
        let mut request = Counter::request(kind, account, amount);
        request["productIdentifier"] = json!(product);
        let transaction = self.counter.quote(&request);
        self.counter.finish("T1", &transaction, "command=CONFIRM&charges=EXCLUDED")
    }

    /// Moves the clock by days.
    pub fn days(&self, days: i64) {
        self.world().clock.advance(days * 86_400);
    }

    pub fn today(&self) -> String {
        self.world().clock.now().day().to_string()
    }

    /// A run up to yesterday.
    pub fn run(&self) {
        self.world().post("/interest/runs", "{}").is(202);
    }

    pub fn run_body(&self, body: Value) -> Seen {
        self.world().post("/interest/runs", body.to_string())
    }

    pub fn runs(&self, query: &str) -> Vec<Value> {
        let page = self.world().get(&format!("/interest/runs?size=1000&{query}")).is(200).json();
        page["runs"].as_array().unwrap().clone()
    }

    pub fn interest(&self, account: &str) -> Value {
        self.world().get(&format!("/instances/{account}/interest")).is(200).json()
    }

    pub fn pay(&self, account: &str) -> Seen {
        self.world().post(&format!("/instances/{account}/interest"), r#"{"action":"PAY"}"#)
    }

    /// The entries of interest and dividends: `INTA 2031-05-06 0.07 DEBIT expense-x CREDIT accrue-x`.
    pub fn entries(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of_interest =
            |entry: &&Value| ["INTA", "INTP", "INTF", "DIVD"].contains(&text(&entry["type"]).as_str());
        let shown = |entry: &Value| {
            let lines: Vec<_> = entry["lines"].as_array().unwrap().iter().collect();
            let sides: Vec<_> = lines
                .iter()
                .map(|l| format!("{} {}", text(&l["side"]), text(&l["accountIdentifier"])))
                .collect();
            let day = text(&entry["transactionDate"]);
            assert!(day.ends_with("T00:00:00.000Z") && entry["tellerCode"].is_null());
            format!("{} {} {} {}", text(&entry["type"]), &day[..10], lines[0]["amount"], sides.join(" "))
        };
        self.counter.journal().iter().filter(of_interest).map(shown).collect()
    }

    /// Stops the daemon and holds its books to everything that must hold.
    #[track_caller]
    pub fn check(mut self) {
        self.counter.world.stop();
        assert_eq!(self.counter.world.check(&[mfa_daemon::Check::Ledger]), Vec::<String>::new());
    }
}

/// The code of a refusal with its fields: `invalid_fields /date out_of_range`.
pub fn refusal(seen: &Seen) -> String {
    let problem = seen.json();
    let fields = problem["errors"].as_array().cloned().unwrap_or_default();
    let fields =
        fields.iter().map(|e| format!(" {} {}", e["field"].as_str().unwrap(), e["code"].as_str().unwrap()));
    format!("{} {}{}", seen.status, problem["code"].as_str().unwrap(), fields.collect::<String>())
}
