//! A daemon with a small sample institution, for the first five minutes.

use super::daemon::{self, DaemonFlags};
use super::{background, login};
use crate::client::Client;
use crate::command::cx::Cx;
use crate::command::flags::{CodeFlag, PasswordFlags, made_up_password};
use crate::command::records::identifiers;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::input;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::cards::CreateCard;
use mfa_shared::api::customers::{CommandCustomer, CreateCustomer, CustomerQuery, ListCustomers};
use mfa_shared::api::definitions::{CommandDefinition, CreateDefinition};
use mfa_shared::api::employees::CreateEmployee;
use mfa_shared::api::instances::{CommandInstance, CreateInstance, InstanceCommand, InstanceCommandForm};
use mfa_shared::api::ledger::AccountKind;
use mfa_shared::api::offices::{CreateOffice, ListOffices};
use mfa_shared::api::system::GetVersion;
use mfa_shared::api::tellers::{
    ChargesWord, CommandTeller, CreateTeller, CreateTransaction, FinishTransaction, TransactionCommandWord,
    TransactionForm, UnlockDrawer,
};
use mfa_shared::api::tokens::GetCurrentToken;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::UNKNOWN_REFERENCE;
use mfa_shared::query::Paging;
use mfa_shared::wire::{Form, Nothing, Query};
use serde_json::{Value, json};

/// The user who does the daily work of a store that a quick start has made.
const OPERATOR: &str = "operator";

/// The customers of the sample: identifier, given name, surname, office, and what is done to them.
const CUSTOMERS: &[(&str, &str, &str, &str, &[&str])] = &[
    ("c-001", "Ama", "Mensah", "head-office", &["ACTIVATE"]),
    ("c-002", "Kofi", "Boateng", "head-office", &[]),
    ("c-003", "Esi", "Addo", "market", &["ACTIVATE", "LOCK"]),
    ("c-004", "Yaw", "Owusu", "market", &["CLOSE"]),
];

/// The ledger accounts that the tellers of the sample name, each of which has a drawer of its own.
const TELLER_ACCOUNTS: &[(&str, AccountKind)] = &[
    ("drawer-desk-1", AccountKind::Asset),
    ("drawer-desk-2", AccountKind::Asset),
    ("drawer-desk-3", AccountKind::Asset),
    ("vault", AccountKind::Asset),
    ("cheques", AccountKind::Asset),
    ("over-short", AccountKind::Expense),
];

#[derive(Args)]
pub struct Quickstart {
    /// Folder of the store [env: MFA_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Address to listen on [env: MFA_LISTEN]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]
    #[arg(long, value_name = "on|off")]
    auth: Option<String>,
    /// Without the sample institution
    #[arg(long)]
    empty: bool,
}

impl Verb for Quickstart {
    const ABOUT: &'static str =
        "Start a daemon with a sample institution and log in; running it again changes nothing";
    const EXAMPLES: &'static [&'static str] =
        &["mfa quickstart", "mfa quickstart --empty --data-dir ./store --listen 127.0.0.1:6321"];
    async fn run(self, cx: &Cx) -> Outcome {
        let flags = DaemonFlags {
            data_dir: self.data_dir,
            listen: self.listen,
            auth: self.auth,
            ..DaemonFlags::default()
        };
        let client = background::client(cx, &flags)?;
        let password =
            if background::serves(&client).await { None } else { prepare(cx, &flags, self.empty).await? };
        background::start(cx, &flags).await?;
        let caller = settle(cx, &client, password).await?;
        if !self.empty && only_sample(&client).await {
            sample(cx, &client, caller.as_deref()).await?;
        }
        let records = client.send(&ListCustomers {}, &all()).await?.value;
        cx.out.show(&views::CUSTOMER, &records["customers"])?;
        // Commands would ask another daemon, with another login.
        let elsewhere = if client.url == cx.client.url {
            String::new()
        } else {
            let listen = client.url.rsplit('/').next().unwrap_or_default();
            format!("  export MFA_URL={} MFA_LISTEN={listen}\n", client.url)
        };
        let (first, second) = match records["totalElements"].as_u64() {
            Some(0) => ("offices create head-office --name \"Head Office\"", "customers create --help"),
            _ => ("customers activate c-002", "teller deposit desk-2 -a c-003.9100.00002 -m 25"),
        };
        let user = "users create esi --role clerk --generate-password";
        let lines =
            [first, second, user, "roles matrix", "help first-day"].map(|line| format!("  mfa {line}\n"));
        cx.out.tip(&format!("try next:\n{elsewhere}{}  mfa daemon stop", lines.concat()));
        Ok(())
    }
}

/// Prepares a store before its daemon starts; returns the password of the operator if it is new.
pub async fn prepare(cx: &Cx, flags: &DaemonFlags, empty: bool) -> Outcome<Option<String>> {
    let password = first_users(cx, flags).await?;
    // An existing store gets nothing that its owner might not want.
    if password.is_some() && !empty {
        daemon::add_accounts(cx, flags, TELLER_ACCOUNTS).await?;
    }
    Ok(password)
}

/// Makes the first users of a store that has none, unless the daemon will not authenticate; returns the
/// password of the operator.
async fn first_users(cx: &Cx, flags: &DaemonFlags) -> Outcome<Option<String>> {
    if flags.auth.as_deref().unwrap_or(cx.settings.get("auth").0).eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    let password = made_up_password();
    let made = daemon::first_users(cx, flags, OPERATOR, &password).await?;
    Ok(made.then_some(password))
}

/// Logs in at a daemon that requires it, and returns which user is logged in.
pub async fn settle(cx: &Cx, client: &Client, password: Option<String>) -> Outcome<Option<String>> {
    let version = client.send(&GetVersion {}, &Nothing).await?.value;
    if version["auth"] == "off" {
        cx.out.say(&format!("a daemon serves at {}; it does not ask for tokens (auth off)", client.url));
        return Ok(None);
    }
    if let Some(password) = password {
        login::log_in(client, OPERATOR, password, None).await?;
    }
    let caller = match client.send(&GetCurrentToken {}, &Nothing).await {
        Err(failure) if failure.status == Some(401) => {
            if !cx.prompt.can_ask() {
                let hint = format!("log in: mfa login {OPERATOR} --url {}", quoted(&client.url));
                return Err(failure.hint(format!("{hint}; then again: mfa quickstart")));
            }
            login::by_password(cx, client, (None, OPERATOR), &PasswordFlags::default(), &CodeFlag::default())
                .await?;
            client.send(&GetCurrentToken {}, &Nothing).await?.value
        }
        answer => answer?.value,
    };
    let name = caller["user"].as_str().or(caller["application"].as_str()).unwrap_or_default();
    let role = caller["role"].as_str().map_or_else(String::new, |role| format!(" (role {role})"));
    cx.out.say(&format!("a daemon serves at {}; you are logged in as {name}{role}", client.url));
    Ok(caller["user"].as_str().map(str::to_owned))
}

fn all() -> Query<CustomerQuery> {
    Query(CustomerQuery { include_closed: true, ..CustomerQuery::default() })
}

/// Whether the store holds nothing but the sample, so that the sample is not mixed into real records.
async fn only_sample(client: &Client) -> bool {
    let offices = identifiers(client, &ListOffices {}, &Query(Paging::default())).await;
    let all = Query(CustomerQuery { paging: Paging::default(), include_closed: true });
    let customers = identifiers(client, &ListCustomers {}, &all).await;
    offices.iter().all(|office| ["head-office", "market"].contains(&office.as_str()))
        && customers.iter().all(|customer| CUSTOMERS.iter().any(|(sample, ..)| sample == customer))
}

/// Creates what is missing; the state of an existing customer is left as it is.
pub async fn sample(cx: &Cx, client: &Client, caller: Option<&str>) -> Outcome {
    let at_work = caller.unwrap_or("kwame");
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
        [("efua.sarpong", "Efua", "Sarpong"), ("kojo", "Kojo", "Annan"), (at_work, "Kwame", "Asante")]
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
    sample_products(client).await?;
    counter(cx, client, at_work).await
}

/// A savings product with accounts, and a product without any.
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
    // Before it is on sale, strict references refuse accounts of it.
    let on_sale = input::body::<CommandDefinition>(&json!({ "action": "ACTIVATE" }))?;
    client.send(&CommandDefinition { definition: "savings".to_owned() }, &on_sale).await?;
    for customer in ["c-002", "c-003", "c-003", "c-003"] {
        let account = json!({ "customerIdentifier": customer, "productIdentifier": "savings" });
        create(client, CreateInstance {}, &account).await?;
    }
    let form = Form(InstanceCommandForm { command: InstanceCommand::Activate });
    client.send(&CommandInstance { account: "c-003.9100.00001".to_owned() }, &form).await?;
    Ok(())
}

/// Tellers of the head office: one has had its first day, one is at work and has opened two accounts, and one
/// was never opened.
async fn counter(cx: &Cx, client: &Client, at_work: &str) -> Outcome {
    for (code, employee) in [("desk-1", None), ("desk-2", Some(at_work)), ("desk-3", None)] {
        let teller = json!({
            "code": code, "password": "4711", "cashdrawLimit": 5000,
            "tellerAccountIdentifier": format!("drawer-{code}"), "vaultAccountIdentifier": "vault",
            "chequesReceivableAccount": "cheques", "cashOverShortAccount": "over-short",
            "assignedEmployee": employee
        });
        match create(client, CreateTeller { office: "head-office".to_owned() }, &teller).await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(failure) if failure.code == UNKNOWN_REFERENCE.code => {
                warn_of_accounts(cx);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        }
    }
    for (code, command) in [
        ("desk-1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "kojo" })),
        ("desk-1", json!({ "action": "CLOSE" })),
        ("desk-2", json!({ "action": "OPEN", "adjustment": "DEBIT", "amount": 500 })),
    ] {
        let at = CommandTeller { office: "head-office".to_owned(), teller: code.to_owned() };
        client.send(&at, &input::body::<CommandTeller>(&command)?).await?;
    }
    let teller = "desk-2".to_owned();
    let unlock = json!({ "employeeIdentifier": at_work, "password": "4711" });
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

/// Warns of accounts that the sample's tellers lack at an existing daemon, and says how to add them.
fn warn_of_accounts(cx: &Cx) {
    cx.out.warn(
        "the sample has no tellers: references are strict at this daemon, and the ledger accounts that the \
         tellers would name are not there",
    );
    let add = |(identifier, kind): &(&str, AccountKind)| {
        format!("  mfa admin add-account {identifier} {}\n", kind.as_str().to_lowercase())
    };
    let lines: String = TELLER_ACCOUNTS.iter().map(add).collect();
    cx.out.say(&format!(
        "accounts are added while it is stopped; with the same --data-dir and --listen as now:\n  \
         mfa daemon stop\n{lines}  mfa quickstart"
    ));
}

/// Creates a record unless its identifier is taken; returns whether it did.
async fn create<E: Endpoint>(client: &Client, endpoint: E, record: &Value) -> Outcome<bool> {
    match client.send(&endpoint, &input::body::<E>(record)?).await {
        Ok(_) => Ok(true),
        Err(failure) if ["identifier_taken", "card_number_taken"].contains(&failure.code.as_str()) => {
            Ok(false)
        }
        Err(failure) => Err(failure),
    }
}
