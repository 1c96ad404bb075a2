//! A counter: an office with a teller, a product, and customers with accounts.

use crate::support::world::{Seen, World};
use serde_json::{Value, json};

/// The drawer's PIN.
pub const PIN: &str = "4711";

/// A daemon with the office `accra`, the product of the worked example and the teller `T1`.
pub struct Counter {
    pub world: World,
}

/// The product of the worked example.
pub fn product() -> Value {
    let charge = |action: &str, amount: Value, proportional: bool| {
        json!({
            "actionIdentifier": action,
            "incomeAccountIdentifier": "income",
            "name": action,
            "proportional": proportional,
            "amount": amount,
        })
    };
    json!({
        "type": "SAVINGS",
        "identifier": "saver",
        "name": "Saver",
        "currency": { "code": "USD", "name": "Dollar", "sign": "$", "scale": 2 },
        "minimumBalance": 100,
        "equityLedgerIdentifier": "9100",
        "cashAccountIdentifier": "7300",
        "expenseAccountIdentifier": "3900",
        "accrueAccountIdentifier": "8100",
        "term": { "period": 12, "timeUnit": "MONTH", "interestPayable": "MATURITY" },
        "charges": [
            charge("Open", json!(5), false),
            charge("Deposit", decimal("1.50"), false),
            charge("Withdraw", json!(3), true),
            charge("Transfer", decimal("1.25"), true),
            charge("Close", json!(10), false),
        ],
    })
}

/// A decimal with exactly these digits.
pub fn decimal(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A product like the worked example's, without charges and minimum.
pub fn plain_product(identifier: &str, currency: &str, scale: u8) -> Value {
    let mut product = product();
    product["identifier"] = json!(identifier);
    product["currency"]["code"] = json!(currency);
    product["currency"]["scale"] = json!(scale);
    product["minimumBalance"] = json!(0);
    product["charges"] = json!([]);
    product
}

/// A teller with accounts of its own.
pub fn teller(code: &str) -> Value {
    json!({
        "code": code,
        "password": PIN,
        "cashdrawLimit": 1000,
        "tellerAccountIdentifier": format!("drawer-{code}"),
        "vaultAccountIdentifier": "vault",
        "chequesReceivableAccount": "cheques",
        "cashOverShortAccount": "over-short",
        "denominationRequired": false,
        "assignedEmployee": null,
    })
}

/// A value as the text of its digits.
pub fn digits(value: &Value) -> String {
    value.to_string()
}

/// Two decimals are equal by value, whatever their digits.
#[track_caller]
pub fn same(found: &Value, expected: &str) {
    let number = |text: &str| mfa_shared::amount::Amount::parse(text).unwrap();
    assert_eq!(number(&digits(found)), number(expected));
}

impl Counter {
    pub fn start() -> Self {
        Self::with(World::start())
    }

    pub fn with(world: World) -> Self {
        world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
        let counter = Self { world };
        counter.define(&product());
        counter.teller_with(&teller("T1")).is(202);
        counter
    }

    /// T1 open with cash from the vault, the drawer unlocked.
    pub fn active(cash: &str) -> Self {
        let counter = Self::start();
        counter.open("T1", "emp1", cash);
        counter.unlock("T1", "emp1");
        counter
    }

    pub fn define(&self, product: &Value) {
        self.world.post("/definitions", product.to_string()).is(202);
    }

    pub fn teller_with(&self, teller: &Value) -> Seen {
        self.world.post("/offices/accra/teller", teller.to_string())
    }

    pub fn open(&self, code: &str, employee: &str, cash: &str) {
        let command = json!({
            "action": "OPEN",
            "adjustment": "DEBIT",
            "amount": decimal(cash),
            "assignedEmployeeIdentifier": employee,
        });
        self.command(code, command).is(202);
    }

    pub fn command(&self, code: &str, command: Value) -> Seen {
        self.world.post(&format!("/offices/accra/teller/{code}/commands"), command.to_string())
    }

    pub fn close(&self, code: &str) -> Seen {
        self.command(code, json!({ "action": "CLOSE" }))
    }

    pub fn try_unlock(&self, code: &str, employee: &str, pin: &str) -> Seen {
        let body = json!({ "employeeIdentifier": employee, "password": pin });
        self.world.post(&format!("/teller/{code}/drawer"), body.to_string())
    }

    pub fn unlock(&self, code: &str, employee: &str) {
        self.try_unlock(code, employee, PIN).is(200);
    }

    pub fn pause(&self, code: &str) -> Seen {
        self.world.post(&format!("/teller/{code}?command=PAUSE"), "")
    }

    pub fn count(&self, code: &str, total: &str) -> Seen {
        let body = json!({ "countedTotal": decimal(total), "note": null });
        self.world.post(&format!("/offices/accra/teller/{code}/denominations"), body.to_string())
    }

    /// A new account of a customer; its identifier.
    pub fn account_of(&self, customer: &str, product: &str) -> String {
        let body = json!({ "customerIdentifier": customer, "productIdentifier": product });
        let created = self.world.post("/instances", body.to_string()).is(202);
        created.header("location").trim_start_matches("/instances/").to_owned()
    }

    pub fn account(&self, customer: &str) -> String {
        self.account_of(customer, "saver")
    }

    /// A request for a transaction of an account `customer.ledger.number`.
    pub fn request(kind: &str, account: &str, amount: &str) -> Value {
        json!({
            "transactionType": kind,
            "customerIdentifier": account.split('.').next(),
            "productIdentifier": "saver",
            "customerAccountIdentifier": account,
            "amount": decimal(amount),
        })
    }

    pub fn create(&self, code: &str, request: &Value) -> Seen {
        self.world.post(&format!("/teller/{code}/transactions"), request.to_string())
    }

    /// A transaction at T1, not finished; its identifier.
    pub fn quote(&self, request: &Value) -> String {
        let quote = self.create("T1", request).is(200).json();
        quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned()
    }

    pub fn finish(&self, code: &str, transaction: &str, form: &str) -> Seen {
        self.world.post(&format!("/teller/{code}/transactions/{transaction}?{form}"), "")
    }

    /// A whole transaction at T1; `to` names the target of a transfer.
    pub fn transact(&self, kind: &str, account: &str, to: Option<&str>, amount: &str, charges: &str) -> Seen {
        let mut request = Self::request(kind, account, amount);
        request["targetAccountIdentifier"] = json!(to);
        let quoted = self.create("T1", &request);
        if quoted.status != 200 {
            return quoted;
        }
        let quote = quoted.json();
        let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
        self.finish("T1", transaction, &format!("command=CONFIRM&charges={charges}"))
    }

    pub fn teller(&self, code: &str) -> Value {
        self.world.get(&format!("/offices/accra/teller/{code}")).is(200).json()
    }

    pub fn balance(&self, code: &str) -> Value {
        self.world.get(&format!("/offices/accra/teller/{code}/balance")).is(200).json()
    }

    pub fn instance(&self, account: &str) -> Value {
        self.world.get(&format!("/instances/{account}")).is(200).json()
    }

    pub fn ledger(&self, account: &str) -> Value {
        self.world.get(&format!("/ledger/accounts/{account}")).is(200).json()["balance"].clone()
    }

    /// The journal entries, the oldest first.
    pub fn journal(&self) -> Vec<Value> {
        let list = self.world.request("GET", "/ledger/journal").header("accept", "application/x-ndjson");
        let text = self.world.send(list).is(200).text();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The lines of the last entry as `DEBIT drawer 5`.
    pub fn last_lines(&self) -> Vec<String> {
        let entry = self.journal().pop().unwrap();
        let lines = entry["lines"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let shown = lines.map(|line| {
            format!(
                "{} {} {}",
                text(&line["side"]),
                text(&line["accountIdentifier"]),
                digits(&line["amount"])
            )
        });
        shown.collect()
    }
}
