//! The branch itself: a daemon that asks who calls, with three tellers, four employees and four products.

use super::act::{Call, teller, thousandths};
use super::model::{EMPLOYEES, Fact, Facts};
use super::money::{PRODUCTS, Product};
use crate::support::counter::{decimal, plain_product};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

pub struct Branch {
    pub world: World,
    /// The tokens of the employees.
    tokens: Vec<String>,
    /// Identifiers of the transactions, in the order of their creation.
    pub transactions: Vec<String>,
}

/// What came back for one operation.
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// The values at the pointers of these facts, as facts.
    pub fn facts(&self, expected: &Facts) -> Facts {
        let found = |(pointer, like): &(String, Fact)| {
            let value = self.body.pointer(pointer).unwrap_or(&Value::Null);
            let fact = match (value, like) {
                (Value::Null, _) => Fact::Null,
                (Value::Bool(value), _) => Fact::Yes(*value),
                (Value::Number(number), Fact::Number(_)) => Fact::Number(number.to_string().parse().unwrap()),
                (Value::Number(_), _) => Fact::Money(thousandths(value)),
                (Value::Array(list), _) => Fact::Many(list.len()),
                (other, _) => Fact::Text(other.as_str().unwrap_or_default().to_owned()),
            };
            (pointer.clone(), fact)
        };
        expected.iter().map(found).collect()
    }
}

impl Branch {
    pub fn open() -> Self {
        let world = World::guarded();
        let manager = world.login("olga");
        for office in ["accra", "tema"] {
            manager.post("/offices", json!({ "identifier": office, "name": office })).is(202);
        }
        for product in &PRODUCTS {
            manager.post("/definitions", definition(product)).is(202);
        }
        for t in 0..3 {
            manager.post("/offices/accra/teller", teller(t, 0)).is(202);
        }
        let employee = |e| world.user(&format!("emp{e}"), "administrator").token;
        let tokens = (0..EMPLOYEES).map(employee).collect();
        Self { world, tokens, transactions: Vec::new() }
    }

    /// Sends operations of an employee: one alone, several as a batch.
    pub fn send(&mut self, who: usize, calls: &[Call]) -> Vec<Answer> {
        let operation = |call: &Call| {
            let mut operation = json!({ "method": call.method, "path": call.path });
            if let Some(body) = &call.body {
                operation["body"] = body.clone();
            }
            operation
        };
        if let [call] = calls {
            let seen = self.request(who, call.method, &call.path, call.body.as_ref());
            let body = if seen.body.is_empty() { Value::Null } else { seen.json() };
            return vec![Answer { status: seen.status, body }];
        }
        let batch = json!({ "operations": calls.iter().map(operation).collect::<Vec<_>>() });
        let seen = self.request(who, "POST", "/batch", Some(&batch)).is(200).json();
        let results = seen["results"].as_array().unwrap().iter();
        let answer = |result: &Value| {
            let body = if result["problem"].is_null() { &result["body"] } else { &result["problem"] };
            Answer { status: result["status"].as_u64().unwrap().try_into().unwrap(), body: body.clone() }
        };
        results.map(answer).collect()
    }

    /// An employee whose token has expired logs in again.
    fn request(&mut self, who: usize, method: &str, path: &str, body: Option<&Value>) -> Seen {
        let send = |token: &str| {
            let request = self.world.request(method, path).bearer_auth(token);
            let body = body.map_or(String::new(), Value::to_string);
            self.world.send(request.header("content-type", "application/json").body(body))
        };
        let seen = send(&self.tokens[who]);
        if seen.status != 401 {
            return seen;
        }
        let token = self.world.login(&format!("emp{who}")).token;
        let seen = send(&token);
        self.tokens[who] = token;
        seen
    }
}

fn definition(product: &Product) -> Value {
    let mut definition = plain_product(product.identifier, product.currency, 0);
    definition["currency"]["scale"] = json!(product.scale);
    definition["minimumBalance"] = super::act::money(product.minimum);
    let charges = product.charges.iter().enumerate().map(|(place, charge)| {
        let percent = || decimal(&format!("{}.{:02}", charge.value / 100, charge.value % 100));
        json!({
            "actionIdentifier": charge.action,
            "incomeAccountIdentifier": format!("income-{}", product.currency),
            "name": format!("{} {place}", charge.action),
            "proportional": charge.proportional,
            "amount": if charge.proportional { percent() } else { super::act::money(charge.value) },
        })
    });
    definition["charges"] = charges.collect();
    definition
}
