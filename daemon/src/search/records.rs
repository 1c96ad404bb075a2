//! The lines of records: what a customer, an employee or an office is found by.

use super::line::{Line, Part};
use crate::domain::alike::Alike;
use crate::domain::customer::KnownCustomer;
use crate::domain::search::{Field, Kind};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{key, prefix};
use crate::store::records::{
    CARDS, CUSTOMERS, EMPLOYEES, INSTANCES, INSTANCES_BY_CUSTOMER, OFFICES, StoredCard, StoredEmployee,
    StoredInstance, StoredOffice,
};
use crate::store::tx::{decode, indexed_key};
use mfa_shared::api::customers::{ContactType, Customer, CustomerState};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::fault::Fault;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// A record: its kind and identifier.
pub type Named = (Kind, String);

/// A record whose line is to be brought up to date.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// The record.
    pub named: Named,
    /// Whether it is a customer that is known to have neither cards nor accounts: they are not looked for.
    pub bare: bool,
}

impl From<Named> for Wanted {
    fn from(named: Named) -> Self {
        Self { named, bare: false }
    }
}

/// Lines, and where the next chunk begins.
type Chunk = (Vec<Line>, Option<Vec<u8>>);

/// What is between the customer and the rest in the identifier of an account, and the letter behind it.
const BEHIND_CUSTOMER: char = '/';

/// The lines of the next records of a kind.
pub fn chunk(tx: &mut Tx<'_>, kind: Kind, from: Vec<u8>, limit: usize) -> Result<Chunk, Fault> {
    match kind {
        Kind::Office => simple(tx, OFFICES, from, limit, office),
        Kind::Employee => simple(tx, EMPLOYEES, from, limit, employee),
        Kind::Customer | Kind::Account => customers(tx, from, limit),
    }
}

/// The lines of records, where they are there.
pub fn lines(tx: &mut Tx<'_>, records: Vec<Wanted>) -> Result<Vec<(Named, Option<Line>)>, Fault> {
    announce(tx, &records)?;
    let read = |wanted: Wanted| line(tx, &wanted).map(|line| (wanted.named, line));
    records.into_iter().map(read).collect()
}

/// Announces what lines are made of: a database is queried twice for all of them, and not four times for each
/// customer.
pub fn announce(tx: &mut Tx<'_>, records: &[Wanted]) -> Result<(), Fault> {
    let mut places = Vec::new();
    let mut customers = Vec::new();
    for Wanted { named: (kind, name), bare } in records {
        match kind {
            Kind::Office => places.push((OFFICES, key(&[name]))),
            Kind::Employee => places.push((EMPLOYEES, key(&[name]))),
            Kind::Customer | Kind::Account if *bare => places.push((CUSTOMERS, key(&[name]))),
            Kind::Customer | Kind::Account => customers.push(name.as_str()),
        }
    }
    let under = |customer: &&str| {
        let range = Range::prefix(&prefix(&[customer]));
        [(INSTANCES_BY_CUSTOMER, range.clone()), (CARDS, range)]
    };
    if !tx.expect_ranges(&customers.iter().flat_map(under).collect::<Vec<_>>())? {
        return Ok(());
    }
    for customer in customers {
        let parts = [customer];
        places.push((CUSTOMERS, key(&parts)));
        let entry = Range::prefix(&prefix(&parts));
        tx.walk(INSTANCES_BY_CUSTOMER, entry, &mut |entry, _| {
            places.push((INSTANCES, indexed_key(&parts, entry).to_vec()));
            Ok(true)
        })?;
    }
    tx.expect_places(&places)
}

/// The line of a record, if it is there.
pub fn line(tx: &mut Tx<'_>, wanted: &Wanted) -> Result<Option<Line>, Fault> {
    let (kind, identifier) = &wanted.named;
    let parts: &[&str] = &[identifier];
    match kind {
        Kind::Office => Ok(tx.get::<StoredOffice>(parts)?.map(|record| office(&record))),
        Kind::Employee => Ok(tx.get::<StoredEmployee>(parts)?.map(|record| employee(&record))),
        Kind::Customer | Kind::Account => {
            let accounts = if wanted.bare {
                Vec::new()
            } else {
                tx.indexed::<StoredInstance>(INSTANCES_BY_CUSTOMER, parts)?
            };
            let Some(record) = known(tx, identifier)? else {
                return Ok(ownerless(identifier, &accounts));
            };
            let cards = if wanted.bare { Vec::new() } else { tx.all::<StoredCard>(parts)? };
            Ok(Some(customer(&record, &cards, &accounts)))
        }
    }
}

/// What a customer is found by, if there is this one.
pub fn known(tx: &mut Tx<'_>, customer: &str) -> Result<Option<KnownCustomer>, Fault> {
    tx.bytes::<Customer>(&[customer])?.map(|stored| decode(CUSTOMERS, &stored)).transpose()
}

/// The customers of accounts.
pub fn owners(tx: &mut Tx<'_>, accounts: &[String]) -> Result<Vec<String>, Fault> {
    let keys: Vec<_> = accounts.iter().map(|account| key(&[account])).collect();
    let found = tx.fetch::<StoredInstance>(keys)?;
    Ok(found.into_iter().map(|instance| instance.customer_identifier).collect())
}

/// The customers that the next accounts name, whether they exist or not, and where the next chunk begins.
pub fn named(tx: &mut Tx<'_>, from: Vec<u8>, limit: usize) -> Result<(Vec<Named>, Option<Vec<u8>>), Fault> {
    let pairs = tx.scan(INSTANCES_BY_CUSTOMER, &Range { from, to: None }, false, limit)?;
    let next = pairs.last().filter(|_| pairs.len() == limit).map(|(last, _)| [last, &[0u8][..]].concat());
    let first = |key: &[u8]| key.split(|byte| *byte == 0).next().map(String::from_utf8_lossy).map(Into::into);
    let mut names: Vec<String> = pairs.iter().filter_map(|(key, _)| first(key)).collect();
    names.dedup();
    Ok((names.into_iter().map(|name| (Kind::Customer, name)).collect(), next))
}

/// At most `limit` records from a key on, and the key behind them if there may be more.
fn records<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    space: Space,
    from: Vec<u8>,
    limit: usize,
) -> Result<(Vec<T>, Option<Vec<u8>>), Fault> {
    let pairs = tx.scan(space, &Range { from, to: None }, false, limit)?;
    let next = pairs.last().filter(|_| pairs.len() == limit).map(|(last, _)| [last, &[0u8][..]].concat());
    let read = pairs.iter().map(|(_, value)| decode(space, value));
    Ok((read.collect::<Result<_, _>>()?, next))
}

fn simple<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    space: Space,
    from: Vec<u8>,
    limit: usize,
    line: fn(&T) -> Line,
) -> Result<Chunk, Fault> {
    let (found, next) = records::<T>(tx, space, from, limit)?;
    Ok((found.iter().map(line).collect(), next))
}

/// Customers with their cards and accounts, which are stored in nearly the same order: this reads three
/// ranges rather than two for each customer.
fn customers(tx: &mut Tx<'_>, from: Vec<u8>, limit: usize) -> Result<Chunk, Fault> {
    let (found, next) = records::<KnownCustomer>(tx, CUSTOMERS, from, limit)?;
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok((Vec::new(), next)) };
    let to = Range::prefix(&prefix(&[&last.identifier])).to;
    let cards_of = Range { from: key(&[&first.identifier]), to };
    // The identifier of an account is that of its customer, a dot, and more.
    let ends = found.iter().map(|customer| format!("{}{BEHIND_CUSTOMER}", customer.identifier));
    let accounts_of = Range { from: key(&[&first.identifier]), to: ends.max().map(String::into_bytes) };
    let mut cards: HashMap<String, Vec<StoredCard>> = HashMap::new();
    tx.walk(CARDS, cards_of, &mut |_, value| {
        let card: StoredCard = decode(CARDS, value)?;
        cards.entry(card.customer.clone()).or_default().push(card);
        Ok(true)
    })?;
    let mut accounts: HashMap<String, Vec<StoredInstance>> = HashMap::new();
    tx.walk(INSTANCES, accounts_of, &mut |_, value| {
        let account: StoredInstance = decode(INSTANCES, value)?;
        accounts.entry(account.customer_identifier.clone()).or_default().push(account);
        Ok(true)
    })?;
    let none = (Vec::new(), Vec::new());
    let lines = found.iter().map(|record| {
        let cards = cards.get(&record.identifier).unwrap_or(&none.0);
        customer(record, cards, accounts.get(&record.identifier).unwrap_or(&none.1))
    });
    Ok((lines.collect(), next))
}

type Names<'a> = [(Field, Option<&'a String>); 3];

fn names<'a>(
    given: Option<&'a String>,
    middle: Option<&'a String>,
    surname: Option<&'a String>,
) -> Names<'a> {
    [(Field::GivenName, given), (Field::MiddleName, middle), (Field::Surname, surname)]
}

/// A person's name; without one the identifier.
fn label(names: &Names<'_>, identifier: &str) -> String {
    let parts = names.iter().filter_map(|(_, name)| name.map(|name| name.trim())).filter(|n| !n.is_empty());
    let label = parts.collect::<Vec<_>>().join(" ");
    if label.is_empty() { identifier.to_owned() } else { label }
}

fn person(kind: Kind, identifier: &str, names: &Names<'_>, more: Vec<(Field, String)>) -> Line {
    let mut fields = vec![(Field::Identifier, identifier.to_owned())];
    fields.extend(names.iter().filter_map(|(field, name)| Some((*field, name.cloned()?))));
    fields.extend(more);
    let record = Part { identifier: identifier.to_owned(), closed: false, fields };
    Line { kind, label: label(names, identifier), record, accounts: Vec::new(), alike: None }
}

fn customer(record: &KnownCustomer, cards: &[StoredCard], accounts: &[StoredInstance]) -> Line {
    let names = names(record.given_name.as_ref(), record.middle_name.as_ref(), record.surname.as_ref());
    let contacts = record.contact_details.iter().map(|contact| {
        let field = if contact.r#type == ContactType::Email { Field::Email } else { Field::Phone };
        (field, contact.value.clone())
    });
    let cards = cards.iter().map(|card| (Field::CardNumber, card.card.number.clone()));
    let mut line = person(Kind::Customer, &record.identifier, &names, contacts.chain(cards).collect());
    line.record.closed = record.current_state == CustomerState::Closed;
    line.accounts = accounts.iter().map(account).collect();
    line.alike = Some(Alike::of(record));
    line
}

/// The accounts of a customer that does not exist, if there are any: nothing checks that it does.
fn ownerless(customer: &str, accounts: &[StoredInstance]) -> Option<Line> {
    let record = Part { identifier: customer.to_owned(), closed: false, fields: Vec::new() };
    let accounts: Vec<_> = accounts.iter().map(account).collect();
    let found = !accounts.is_empty();
    found.then(|| Line { kind: Kind::Account, label: customer.to_owned(), record, accounts, alike: None })
}

fn account(account: &StoredInstance) -> Part {
    let mut fields = vec![(Field::AccountIdentifier, account.account_identifier.clone())];
    let other = account.alternative_account_number.iter();
    fields.extend(other.map(|number| (Field::AlternativeAccountNumber, number.clone())));
    let closed = account.state == InstanceState::Closed;
    Part { identifier: account.account_identifier.clone(), closed, fields }
}

fn employee(record: &StoredEmployee) -> Line {
    let names = names(record.given_name.as_ref(), record.middle_name.as_ref(), record.surname.as_ref());
    person(Kind::Employee, &record.identifier, &names, Vec::new())
}

fn office(record: &StoredOffice) -> Line {
    let mut line = person(Kind::Office, &record.identifier, &names(None, None, None), Vec::new());
    line.record.fields.push((Field::Name, record.name.clone()));
    line.label.clone_from(&record.name);
    line
}
