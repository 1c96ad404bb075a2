//! A daemon with a small sample institution, for the first five minutes.

use super::daemon::DaemonFlags;
use super::{identifiers, service};
use crate::client::Client;
use crate::cx::Cx;
use crate::failure::Outcome;
use crate::input;
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_shared::api::cards::CreateCard;
use mfa_shared::api::customers::{CommandCustomer, CreateCustomer, CustomerQuery, ListCustomers};
use mfa_shared::api::definitions::CreateDefinition;
use mfa_shared::api::employees::CreateEmployee;
use mfa_shared::api::instances::{CommandInstance, CreateInstance, InstanceCommand, InstanceCommandForm};
use mfa_shared::api::offices::CreateOffice;
use mfa_shared::api::tellers::{
    ChargesWord, CommandTeller, CreateTeller, CreateTransaction, FinishTransaction, TransactionCommandWord,
    TransactionForm, UnlockDrawer,
};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::{Form, Query};
use serde_json::{Value, json};

/// The customers of the sample: identifier, given name, surname, office, and what is done to them.
const CUSTOMERS: &[(&str, &str, &str, &str, &[&str])] = &[
    ("c-001", "Ama", "Mensah", "head-office", &["ACTIVATE"]),
    ("c-002", "Kofi", "Boateng", "head-office", &[]),
    ("c-003", "Esi", "Addo", "market", &["ACTIVATE", "LOCK"]),
    ("c-004", "Yaw", "Owusu", "market", &["CLOSE"]),
];

#[derive(Args)]
pub struct Quickstart {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Address to listen on [env: MFA_LISTEN]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Without the sample institution
    #[arg(long)]
    empty: bool,
}

impl Verb for Quickstart {
    const ABOUT: &'static str = "Start a daemon with a small sample institution; once more changes nothing";
    const EXAMPLES: &'static [&'static str] =
        &["mfa quickstart", "mfa quickstart --data-dir ./store --listen 127.0.0.1:6321"];
    async fn run(self, cx: &Cx) -> Outcome {
        let flags = DaemonFlags {
            data_dir: self.data_dir,
            listen: self.listen,
            auth: Some("off".to_owned()),
            ..DaemonFlags::default()
        };
        service::start(cx, &flags).await?;
        let client = service::client(cx, &flags)?;
        cx.out.say(&format!("a daemon serves at {}; it asks nobody for a token (auth off)", client.url));
        if !self.empty && only_sample(&client).await {
            sample(&client).await?;
        }
        let records = client.send(&ListCustomers {}, &all()).await?.value;
        cx.out.show(&views::CUSTOMER, &records["customers"])?;
        let url = if client.url == cx.client.url { String::new() } else { format!(" --url {}", client.url) };
        cx.out.tip(&format!(
            "try next:\n  mfa customers activate c-002{url}\n  mfa offices list{url}\n  \
             mfa customers create --help\n  mfa daemon stop"
        ));
        Ok(())
    }
}

fn all() -> Query<CustomerQuery> {
    Query(CustomerQuery { include_closed: true, ..CustomerQuery::default() })
}

/// Whether the store holds nothing but the sample, so that the sample is not mixed into real records.
async fn only_sample(client: &Client) -> bool {
    let offices = identifiers(client, "office", "").await;
    let customers = identifiers(client, "customer", "").await;
    offices.iter().all(|office| ["head-office", "market"].contains(&office.as_str()))
        && customers.iter().all(|customer| CUSTOMERS.iter().any(|(sample, ..)| sample == customer))
}

/// Creates what is not there; a customer that is there is left in the state in which it is.
async fn sample(client: &Client) -> Outcome {
    let address = json!({
        "street": "1 Independence Avenue", "city": "Accra", "region": "Greater Accra", "postalCode": "GA-001",
        "countryCode": "GH", "country": "Ghana"
    });
    let head = json!({ "identifier": "head-office", "name": "Head Office", "address": address });
    let market = json!({ "identifier": "market", "name": "Market", "parentIdentifier": "head-office" });
    for office in [head, market] {
        create(client, CreateOffice {}, &office).await?;
    }
    for (identifier, given, surname) in
        [("efua.sarpong", "Efua", "Sarpong"), ("kojo", "Kojo", "Annan"), ("kwame", "Kwame", "Asante")]
    {
        let employee = json!({
            "identifier": identifier, "givenName": given, "surname": surname, "assignedOffice": "head-office"
        });
        create(client, CreateEmployee {}, &employee).await?;
    }
    for (identifier, given, surname, office, commands) in CUSTOMERS {
        let record = json!({
            "identifier": identifier, "givenName": given, "surname": surname, "assignedOffice": office
        });
        if create(client, CreateCustomer {}, &record).await? {
            for action in *commands {
                let body = input::body::<CommandCustomer>(&json!({ "action": action }))?;
                client.send(&CommandCustomer { customer: (*identifier).to_owned() }, &body).await?;
            }
        }
    }
    let card = json!({
        "type": "Ghana Card", "number": "GHA-001122334-5", "issuer": "Identification Authority",
        "expirationDate": { "year": 2035, "month": 12, "day": 31 }
    });
    create(client, CreateCard { customer: "c-001".to_owned() }, &card).await?;
    sample_products(client).await
}

/// A product for savings with accounts, and a product that nobody has yet.
async fn sample_products(client: &Client) -> Outcome {
    let product = |kind: &str, identifier: &str, name: &str, equity: &str, charges: Value| {
        json!({
            "type": kind, "identifier": identifier, "name": name, "equityLedgerIdentifier": equity,
            "currency": { "code": "GHS", "name": "Cedi", "sign": "GH₵", "scale": 2 },
            "cashAccountIdentifier": "1000", "expenseAccountIdentifier": "3000",
            "accrueAccountIdentifier": "8000", "term": { "interestPayable": "ANNUALLY" },
            "charges": charges
        })
    };
    create(client, CreateDefinition {}, &product("SHARE", "shares", "Shares", "9200", json!([]))).await?;
    let charges = json!([
        { "actionIdentifier": "Deposit", "incomeAccountIdentifier": "fees", "name": "Deposit", "amount": 1 },
        { "actionIdentifier": "Close", "incomeAccountIdentifier": "fees", "name": "Close", "amount": 1 }
    ]);
    let savings = product("SAVINGS", "savings", "Savings", "9100", charges);
    if !create(client, CreateDefinition {}, &savings).await? {
        return Ok(());
    }
    for customer in ["c-002", "c-003", "c-003", "c-003"] {
        let account = json!({ "customerIdentifier": customer, "productIdentifier": "savings" });
        create(client, CreateInstance {}, &account).await?;
    }
    let form = Form(InstanceCommandForm { command: InstanceCommand::Activate });
    client.send(&CommandInstance { account: "c-003.9100.00001".to_owned() }, &form).await?;
    counter(client).await
}

/// Two tellers of the head office: one is closed, one is at work and has opened two accounts.
async fn counter(client: &Client) -> Outcome {
    for (code, employee) in [("desk-1", None), ("desk-2", Some("kwame"))] {
        let teller = json!({
            "code": code, "password": "4711", "cashdrawLimit": 5000,
            "tellerAccountIdentifier": format!("drawer-{code}"), "vaultAccountIdentifier": "vault",
            "chequesReceivableAccount": "cheques", "cashOverShortAccount": "over-short",
            "assignedEmployee": employee
        });
        create(client, CreateTeller { office: "head-office".to_owned() }, &teller).await?;
    }
    let (office, teller) = ("head-office".to_owned(), "desk-2".to_owned());
    let open = json!({ "action": "OPEN", "adjustment": "DEBIT", "amount": 500 });
    let body = input::body::<CommandTeller>(&open)?;
    client.send(&CommandTeller { office, teller: teller.clone() }, &body).await?;
    let unlock = json!({ "employeeIdentifier": "kwame", "password": "4711" });
    let body = input::body::<UnlockDrawer>(&unlock)?;
    client.send(&UnlockDrawer { teller: teller.clone() }, &body).await?;
    for (account, kind, amount, confirmed) in [
        ("c-003.9100.00002", "ACCO", 100, true),
        ("c-003.9100.00003", "ACCO", 5, true),
        ("c-003.9100.00002", "CDPT", 20, false),
    ] {
        let wish = json!({
            "transactionType": kind, "customerIdentifier": "c-003", "productIdentifier": "savings",
            "customerAccountIdentifier": account, "amount": amount
        });
        let body = input::body::<CreateTransaction>(&wish)?;
        let quote = client.send(&CreateTransaction { teller: teller.clone() }, &body).await?.value;
        let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap_or_default().to_owned();
        if confirmed {
            let (command, charges) = (TransactionCommandWord::Confirm, ChargesWord::Excluded);
            let endpoint = FinishTransaction { teller: teller.clone(), transaction };
            client.send(&endpoint, &Form(TransactionForm { command, charges })).await?;
        }
    }
    Ok(())
}

/// Creates a record unless its identifier is taken; tells whether it did.
async fn create<E: Endpoint>(client: &Client, endpoint: E, record: &Value) -> Outcome<bool> {
    match client.send(&endpoint, &input::body::<E>(record)?).await {
        Ok(_) => Ok(true),
        Err(failure) if ["identifier_taken", "card_number_taken"].contains(&failure.code.as_str()) => {
            Ok(false)
        }
        Err(failure) => Err(failure),
    }
}
