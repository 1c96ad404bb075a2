//! Operations of a branch, and the requests that they are.

use super::model::PINS;
use super::money::{PRODUCTS, account_name};
use crate::support::counter::decimal;
use serde_json::{Value, json};

/// The office in a path: that of the tellers, a different one, or an unknown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Here,
    Elsewhere,
    Nowhere,
}

/// The mistake in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    None,
    /// An unknown word.
    Word,
    /// Something that belongs to another.
    Other,
    Customer,
    Product,
    /// No target.
    Target,
}

/// A requested transaction.
#[derive(Debug, Clone)]
pub struct Wish {
    pub kind: &'static str,
    pub account: usize,
    pub target: usize,
    /// The product of the account, if there is such an account.
    pub product: usize,
    pub amount: i64,
}

#[derive(Debug, Clone)]
pub enum Look {
    Teller { t: usize, at: At },
    Balance { t: usize, at: At },
    Counts { t: usize, at: At },
    Report { t: usize, at: At },
    Account(usize),
    Transaction { t: usize, x: usize },
    Book(String),
}

#[derive(Debug, Clone)]
pub enum Act {
    Make {
        t: usize,
        at: At,
        pin: usize,
    },
    Delete {
        t: usize,
        at: At,
    },
    Change {
        t: usize,
        at: At,
        limit: i64,
        drawer: String,
        pin: usize,
        employee: Option<Option<usize>>,
        slip: Slip,
    },
    Open {
        t: usize,
        at: At,
        employee: Option<usize>,
        word: &'static str,
        amount: i64,
    },
    Close {
        t: usize,
        at: At,
        word: &'static str,
        amount: i64,
    },
    Unlock {
        t: usize,
        employee: usize,
        pin: usize,
    },
    Pause {
        t: usize,
        slip: Slip,
    },
    Count {
        t: usize,
        at: At,
        total: i64,
    },
    NewAccount {
        product: usize,
    },
    Command {
        account: usize,
        word: &'static str,
    },
    Create {
        t: usize,
        wish: Wish,
        slip: Slip,
    },
    Finish {
        t: usize,
        x: usize,
        confirm: bool,
        included: bool,
        slip: Slip,
    },
    Look(Look),
}

/// A request: method, path, body, and the status of its success.
pub struct Call {
    pub method: &'static str,
    pub path: String,
    pub body: Option<Value>,
    pub success: u16,
}

/// Thousandths as the shortest digits.
pub fn money(thousandths: i64) -> Value {
    let sign = if thousandths < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", thousandths.abs() / 1_000, thousandths.abs() % 1_000);
    decimal(text.trim_end_matches('0').trim_end_matches('.'))
}

/// Thousandths of the digits of an answer.
pub fn thousandths(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = format!("{:0<3}", fraction.trim_end_matches('0'));
    assert_eq!(fraction.len(), 3, "{text}");
    format!("{whole}{fraction}").parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A new teller with a number.
pub fn teller(t: usize, pin: usize) -> Value {
    json!({
        "code": format!("T{t}"),
        "password": PINS[pin],
        "cashdrawLimit": 1000,
        "tellerAccountIdentifier": format!("drawer-{t}"),
        "vaultAccountIdentifier": "vault",
        "chequesReceivableAccount": "cheques",
        "cashOverShortAccount": "over-short",
        "denominationRequired": t == 2,
    })
}

fn managed(t: usize, at: At) -> String {
    let office = match at {
        At::Here => "accra",
        At::Elsewhere => "tema",
        At::Nowhere => "nowhere",
    };
    format!("/offices/{office}/teller/T{t}")
}

fn adjusted(action: &str, word: &str, amount: i64, employee: Option<usize>) -> Value {
    json!({
        "action": action,
        "adjustment": word,
        "amount": money(amount),
        "assignedEmployeeIdentifier": employee.map(|employee| format!("emp{employee}")),
    })
}

fn wanted(wish: &Wish, slip: Slip) -> Value {
    let named = |product: usize| PRODUCTS[product % PRODUCTS.len()].identifier;
    let product = match slip {
        Slip::Product => "none",
        Slip::Other => named(wish.product + 1),
        _ => named(wish.product),
    };
    let target = (wish.kind == "ACCT" && slip != Slip::Target).then(|| account_name(wish.target));
    json!({
        "transactionType": if slip == Slip::Word { "CCHQ" } else { wish.kind },
        "customerIdentifier": if slip == Slip::Customer { "bela" } else { "anna" },
        "productIdentifier": product,
        "customerAccountIdentifier": account_name(wish.account),
        "targetAccountIdentifier": target,
        "amount": money(wish.amount),
    })
}

fn finishing(confirm: bool, included: bool, slip: Slip) -> String {
    let word = match slip {
        Slip::Word => "RESUME",
        _ if confirm => "CONFIRM",
        _ => "CANCEL",
    };
    let charges = match slip {
        Slip::Other => "some",
        _ if included => "included",
        _ => "excluded",
    };
    format!("command={word}&charges={charges}")
}

impl Act {
    /// The request; `transactions` are the identifiers of those that were created, in their order.
    pub fn call(&self, transactions: &[String]) -> Call {
        let post = |path, body| Call { method: "POST", path, body, success: 202 };
        match self {
            Self::Make { t, at, pin } => {
                let path = managed(*t, *at);
                let collection = path.rsplit_once('/').unwrap().0.to_owned();
                post(collection, Some(teller(*t, *pin)))
            }
            Self::Delete { t, at } => {
                Call { method: "DELETE", path: managed(*t, *at), body: None, success: 202 }
            }
            Self::Change { t, at, limit, drawer, pin, employee, slip } => {
                let mut body = json!({
                    "code": if *slip == Slip::Other { "T9".to_owned() } else { format!("T{t}") },
                    "password": PINS[*pin],
                    "cashdrawLimit": money(*limit),
                    "tellerAccountIdentifier": drawer,
                });
                if let Some(employee) = employee {
                    let name = employee.map_or(String::new(), |employee| format!("emp{employee}"));
                    body["assignedEmployee"] = json!(name);
                }
                Call { method: "PUT", path: managed(*t, *at), body: Some(body), success: 202 }
            }
            Self::Open { t, at, employee, word, amount } => {
                let body = adjusted("OPEN", word, *amount, *employee);
                post(managed(*t, *at) + "/commands", Some(body))
            }
            Self::Close { t, at, word, amount } => {
                post(managed(*t, *at) + "/commands", Some(adjusted("CLOSE", word, *amount, None)))
            }
            Self::Unlock { t, employee, pin } => {
                let body = json!({ "employeeIdentifier": format!("emp{employee}"), "password": PINS[*pin] });
                Call { success: 200, ..post(format!("/teller/T{t}/drawer"), Some(body)) }
            }
            Self::Pause { t, slip } => {
                let word = if *slip == Slip::Word { "RESUME" } else { "PAUSE" };
                post(format!("/teller/T{t}?command={word}"), None)
            }
            Self::Count { t, at, total } => {
                let body = json!({ "countedTotal": money(*total) });
                post(managed(*t, *at) + "/denominations", Some(body))
            }
            Self::NewAccount { product } => {
                let product = PRODUCTS.get(*product).map_or("none", |product| product.identifier);
                let body = json!({ "customerIdentifier": "anna", "productIdentifier": product });
                post("/instances".to_owned(), Some(body))
            }
            Self::Command { account, word } => {
                post(format!("/instances/{}?command={word}", account_name(*account)), None)
            }
            Self::Create { t, wish, slip } => {
                let body = Some(wanted(wish, *slip));
                Call { success: 200, ..post(format!("/teller/T{t}/transactions"), body) }
            }
            Self::Finish { t, x, confirm, included, slip } => {
                let transaction = transactions.get(*x).map_or("none", String::as_str);
                let form = finishing(*confirm, *included, *slip);
                post(format!("/teller/T{t}/transactions/{transaction}?{form}"), None)
            }
            Self::Look(look) => {
                Call { method: "GET", path: look.path(transactions), body: None, success: 200 }
            }
        }
    }
}

impl Look {
    fn path(&self, transactions: &[String]) -> String {
        match self {
            Self::Teller { t, at } => managed(*t, *at),
            Self::Balance { t, at } => managed(*t, *at) + "/balance",
            Self::Counts { t, at } => managed(*t, *at) + "/denominations",
            Self::Report { t, at } => managed(*t, *at) + "/reports/latest",
            Self::Account(account) => format!("/instances/{}", account_name(*account)),
            Self::Transaction { t, x } => format!("/teller/T{t}/transactions/{}", transactions[*x]),
            Self::Book(name) => format!("/ledger/accounts/{name}"),
        }
    }
}
