//! Money in tables: with as many digits after the point as its currency has, so that the points are aligned.
//! Nothing is ever rounded, and programs get amounts unchanged.
//!
//! The digits of a currency are in the products. Where the products may not be read, or do not say, amounts
//! are shown unchanged.

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::views::{Currency, View};
use crate::output::{Output, text, texts};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::{GetDefinition, ListDefinitions};
use mfa_shared::api::instances::GetInstance;
use mfa_shared::api::ledger::GetLedgerAccount;
use mfa_shared::api::tellers::GetTeller;
use mfa_shared::endpoint::{Endpoint, Meta, path_params, render};
use mfa_shared::fault::Fault;
use mfa_shared::wire::Nothing;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The amounts of the records that an endpoint answers.
pub struct Money<'a> {
    client: &'a Client,
    /// The pointers to the amounts; empty if the output is no table.
    pointers: Vec<&'static str>,
    currency: Option<Currency>,
    /// The parameters of the path with their names.
    path: Vec<(&'static str, String)>,
    scales: Option<Scales>,
    /// What other records said, by their addresses; nothing where one may not be read.
    found: HashMap<String, Option<String>>,
}

/// How many digits follow the point, according to the products.
#[derive(Debug, Default, PartialEq)]
struct Scales {
    products: HashMap<String, u32>,
    codes: HashMap<String, u32>,
    /// Where all products agree, nothing else needs to be asked.
    only: Option<u32>,
}

impl<'a> Money<'a> {
    /// The amounts of what an endpoint answers, shown in a view.
    pub fn of<E: Endpoint>(client: &'a Client, out: &Output, endpoint: &E, view: &View) -> Self {
        Self::of_row(client, out, (&E::META, &endpoint.params()), view)
    }

    /// The same for a row of the endpoint table and the parameters of its path.
    pub fn of_row(client: &'a Client, out: &Output, row: (&Meta, &[&str]), view: &View) -> Self {
        let table = out.is_read_by_people();
        let columns = || view.columns.iter().filter(|_| table);
        let money = columns().filter(|column| column.currency.is_some());
        let pointers = money.map(|column| column.pointer).collect();
        Self { pointers, currency: columns().find_map(|column| column.currency), ..Self::at(client, row) }
    }

    /// The same on paper, whichever format records would have.
    pub fn on_paper<E: Endpoint>(client: &'a Client, endpoint: &E, view: &View) -> Self {
        let money = || view.columns.iter().filter(|column| column.currency.is_some());
        let pointers = money().map(|column| column.pointer).collect();
        let currency = money().find_map(|column| column.currency);
        Self { pointers, currency, ..Self::at(client, (&E::META, &endpoint.params())) }
    }

    /// Where the amounts come from; none are read yet.
    fn at(client: &'a Client, (meta, params): (&Meta, &[&str])) -> Self {
        Self {
            client,
            pointers: Vec::new(),
            currency: None,
            path: path_params(meta.path).zip(params.iter().map(|param| (*param).to_owned())).collect(),
            scales: None,
            found: HashMap::new(),
        }
    }

    /// A record as a table shows it.
    pub async fn shown(&mut self, mut record: Value) -> Value {
        let Some(currency) = self.currency else { return record };
        if let Some(scale) = self.scale(&record, currency).await {
            for pointer in &self.pointers {
                let steps: Vec<_> = pointer.split('/').skip(1).collect();
                rescale(&mut record, &steps, scale);
            }
        }
        record
    }

    /// The same for the text of a record.
    pub async fn line<'l>(&mut self, record: &'l str) -> Cow<'l, str> {
        match self.currency.and_then(|_| serde_json::from_str(record).ok()) {
            Some(value) => Cow::Owned(self.shown(value).await.to_string()),
            None => Cow::Borrowed(record),
        }
    }

    async fn scale(&mut self, record: &Value, currency: Currency) -> Option<u32> {
        if let Currency::Scale(pointer) = currency {
            return u32::try_from(record.pointer(pointer)?.as_u64()?).ok();
        }
        if self.scales.is_none() {
            self.scales = Some(Scales::read(self.client).await);
        }
        let scales = self.scales.as_ref()?;
        if scales.only.is_some() || scales.products.is_empty() {
            return scales.only;
        }
        let code = match currency {
            Currency::Product(pointer) => return scales.products.get(&text(record, pointer)).copied(),
            Currency::Scale(_) => None,
            Currency::Code(pointer) => Some(text(record, pointer)),
            Currency::Accounts(pointer) => self.code_of_any(texts(record, pointer)).await,
            Currency::PathAccount => self.code_of_any(self.parameter("account")).await,
            Currency::PathInstance => {
                let account = GetInstance { account: self.parameter("account")? };
                let product = self.said(account, "productIdentifier").await?;
                return self.scales.as_ref()?.products.get(&product).copied();
            }
            Currency::PathTeller => {
                let (office, teller) = (self.parameter("office")?, self.parameter("teller")?);
                let drawer = self.said(GetTeller { office, teller }, "tellerAccountIdentifier").await;
                self.code_of_any(drawer).await
            }
        };
        self.scales.as_ref()?.codes.get(&code?).copied()
    }

    fn parameter(&self, name: &str) -> Option<String> {
        self.path.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone())
    }

    /// The currency of the first of some accounts that has one.
    async fn code_of_any(&mut self, accounts: impl IntoIterator<Item = String>) -> Option<String> {
        for account in accounts {
            let code = self.said(GetLedgerAccount { account }, "currency").await;
            if code.is_some() {
                return code;
            }
        }
        None
    }

    /// A text of another record, which is read once.
    async fn said<E: Endpoint<Body = Nothing>>(&mut self, read: E, property: &str) -> Option<String> {
        let address = render(E::META.path, &read.params());
        if !self.found.contains_key(&address) {
            let reply = self.client.send(&read, &Nothing).await.ok();
            let text = reply.and_then(|reply| Some(reply.value[property].as_str()?.to_owned()));
            self.found.insert(address.clone(), text);
        }
        self.found.get(&address).cloned().flatten()
    }
}

impl Scales {
    async fn read(client: &Client) -> Self {
        let reply = client.send(&ListDefinitions {}, &Nothing).await;
        let products = reply.ok().and_then(|reply| reply.value.as_array().cloned());
        Self::of(&products.unwrap_or_default())
    }

    fn of(products: &[Value]) -> Self {
        let mut scales = Self::default();
        for product in products {
            let currency = &product["currency"];
            let Some(scale) = currency["scale"].as_u64().and_then(|scale| u32::try_from(scale).ok()) else {
                continue;
            };
            scales.products.insert(text(product, "/identifier"), scale);
            // Of two scales of one currency the finer one shows every amount in full.
            let code = scales.codes.entry(text(currency, "/code")).or_insert(scale);
            *code = scale.max(*code);
        }
        let mut all = scales.products.values();
        scales.only = all.next().copied().filter(|first| all.all(|scale| scale == first));
        scales
    }
}

/// How many digits follow the point in each currency, as far as the products say.
pub async fn currency_scales(client: &Client) -> HashMap<String, u32> {
    Scales::read(client).await.codes
}

/// How many digits follow the point in the currency of a product, where that may be read.
pub async fn product_scale(client: &Client, product: &str) -> Option<u32> {
    let read = GetDefinition { definition: product.to_owned() };
    let definition = client.send(&read, &Nothing).await.ok()?.value;
    u32::try_from(definition["currency"]["scale"].as_u64()?).ok()
}

/// How many digits follow the point in the currency of a teller's drawer, as far as it is known.
pub async fn teller_scale(client: &Client, office: &str, teller: &str) -> Option<u32> {
    let read = GetTeller { office: office.to_owned(), teller: teller.to_owned() };
    Money::at(client, (&GetTeller::META, &read.params())).scale(&Value::Null, Currency::PathTeller).await
}

/// Refuses an amount that was typed with more digits after the point than its currency has, zeros among them:
/// who means thousands by 1.250 would else move 1.25.
pub fn check_digits(field: &str, amount: &Value, scale: Option<u32>) -> Outcome {
    let text = amount.to_string();
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let Some(scale) = scale.filter(|scale| digits > *scale as usize) else { return Ok(()) };
    let rule = format!("must have at most {scale} fraction digits");
    let refused = Fault::field(field, "too_many_decimals", &rule);
    Err(Failure::from(refused).hint("there is no mark between thousands: 1250.00"))
}

/// An amount with that many digits after the point, unless it has more.
pub fn with_digits(amount: Amount, scale: Option<u32>) -> String {
    scale.map_or(amount, |scale| amount.in_scale(scale)).to_string()
}

/// Puts the amounts at a pointer into a scale.
fn rescale(value: &mut Value, steps: &[&str], scale: u32) {
    match (steps, value) {
        (["*", rest @ ..], Value::Array(elements)) => {
            elements.iter_mut().for_each(|element| rescale(element, rest, scale));
        }
        ([name, rest @ ..], Value::Object(properties)) => {
            if let Some(property) = properties.get_mut(*name) {
                rescale(property, rest, scale);
            }
        }
        ([], value) => {
            let amount = value.as_number().and_then(|number| Amount::parse(&number.to_string()).ok());
            let shown = amount.and_then(|amount| serde_json::to_value(amount.in_scale(scale)).ok());
            if let Some(shown) = shown {
                *value = shown;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn product(identifier: &str, code: &str, scale: u32) -> Value {
        json!({ "identifier": identifier, "currency": { "code": code, "scale": scale } })
    }

    #[test]
    fn the_digits_of_a_currency_are_those_of_its_products() {
        let scales = Scales::of(&[product("a", "EUR", 2), product("b", "USD", 2)]);
        assert_eq!(scales.only, Some(2));
        let scales = Scales::of(&[product("a", "EUR", 2), product("b", "JPY", 0), product("c", "EUR", 4)]);
        assert_eq!((scales.only, scales.codes["EUR"], scales.codes["JPY"]), (None, 4, 0));
        assert_eq!((scales.products["a"], scales.products["c"]), (2, 4));
        assert_eq!(Scales::of(&[]).only, None);
    }

    #[test]
    fn amounts_are_found_through_lists_and_other_numbers_stay() {
        let record =
            r#"{"number":7,"none":null,"lines":[{"amount":1250},{"amount":0.125}],"total":1250.125}"#;
        let mut record: Value = serde_json::from_str(record).unwrap();
        for steps in [&["lines", "*", "amount"][..], &["total"], &["none"], &["missing", "amount"]] {
            rescale(&mut record, steps, 2);
        }
        let expected =
            r#"{"number":7,"none":null,"lines":[{"amount":1250.00},{"amount":0.125}],"total":1250.125}"#;
        assert_eq!(record.to_string(), expected);
    }
}
