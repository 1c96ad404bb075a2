//! What a branch does, implemented a second time from the contract: in whole thousandths, with plain numbers,
//! without any of the code that it is compared with. Here is the state and how it is read; `day.rs` has what
//! is done to tellers, `money.rs` accounts and transactions.

use super::act::{Act, At, Look};
use std::collections::BTreeMap;

/// A refusal, with `pointer code` of the field where one is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub status: u16,
    pub code: String,
    pub field: String,
}

/// What the body of an answer holds at a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// An amount in thousandths.
    Money(i64),
    Text(String),
    Number(usize),
    Yes(bool),
    Null,
    /// The number of elements.
    Many(usize),
}

pub type Facts = Vec<(String, Fact)>;
pub type Outcome = Result<Facts, Refused>;

pub fn refuse(when: bool, status: u16, code: &str) -> Result<(), Refused> {
    if when { Err(Refused { status, code: code.to_owned(), field: String::new() }) } else { Ok(()) }
}

/// One wrong field.
pub fn wrong(when: bool, field: &str) -> Result<(), Refused> {
    let refused = Refused { status: 400, code: "invalid_fields".to_owned(), field: field.to_owned() };
    if when { Err(refused) } else { Ok(()) }
}

pub fn fact(pointer: &str, fact: Fact) -> (String, Fact) {
    (pointer.to_owned(), fact)
}

/// A value that may be missing.
pub fn or_null(value: Option<Fact>) -> Fact {
    value.unwrap_or(Fact::Null)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Closed,
    Open,
    Active,
    Paused,
}

/// Tellers that there are from the beginning, and all that are ever named: T3 comes and goes, T4 never is.
pub const TELLERS: usize = 5;
pub const EMPLOYEES: usize = 4;
pub const PINS: [&str; 3] = ["4711", "0815", "123"];

pub struct Teller {
    pub exists: bool,
    pub state: State,
    pub employee: Option<usize>,
    pub limit: i64,
    pub drawer: String,
    pub required: bool,
    pub pin: usize,
    pub opened: bool,
    /// Into the drawer or out of it, why, and how much.
    pub entries: Vec<(bool, &'static str, i64)>,
    pub counts: Vec<i64>,
    /// What the last count of the session found, and the differences of all.
    pub count: Option<(i64, i64)>,
    pub reports: Vec<Facts>,
    pub failures: Vec<i64>,
    pub last_failure: i64,
    pub locks: usize,
    pub locked_until: i64,
}

impl Teller {
    pub fn new(t: usize) -> Self {
        Self {
            exists: t < 3,
            state: State::Closed,
            employee: None,
            limit: 1_000_000,
            drawer: format!("drawer-{t}"),
            required: t == 2,
            pin: 0,
            opened: false,
            entries: Vec::new(),
            counts: Vec::new(),
            count: None,
            reports: Vec::new(),
            failures: Vec::new(),
            last_failure: 0,
            locks: 0,
            locked_until: 0,
        }
    }

    pub fn total(&self, received: bool) -> i64 {
        self.entries.iter().filter(|entry| entry.0 == received).map(|entry| entry.2).sum()
    }

    pub fn cash(&self) -> i64 {
        self.total(true) - self.total(false)
    }

    /// Cash that comes in, or below 0 goes out.
    pub fn moved(&mut self, amount: i64, why: &'static str) {
        if amount != 0 {
            self.entries.push((amount > 0, why, amount.abs()));
        }
    }

    pub fn forget_failures(&mut self) {
        (self.failures, self.locks, self.locked_until) = (Vec::new(), 0, 0);
    }
}

pub struct Account {
    pub product: usize,
    pub state: usize,
}

pub struct Transaction {
    pub teller: usize,
    pub kind: &'static str,
    pub account: usize,
    pub target: Option<usize>,
    pub amount: i64,
    pub charges: Vec<i64>,
    pub state: usize,
    pub included: Option<bool>,
}

/// An account of the ledger.
#[derive(Default)]
pub struct Book {
    pub debit: i64,
    pub credit: i64,
    pub currency: Option<&'static str>,
}

/// An entry of the journal: type, clerk, teller, and its lines, of which a debit is above 0.
pub type Entry = (&'static str, usize, usize, Vec<(String, i64)>);

pub struct Model {
    pub tellers: Vec<Teller>,
    pub accounts: Vec<Account>,
    pub transactions: Vec<Transaction>,
    pub books: BTreeMap<String, Book>,
    pub journal: Vec<Entry>,
    pub now: i64,
}

impl Model {
    pub fn new() -> Self {
        let tellers = (0..TELLERS).map(Teller::new).collect();
        let (accounts, transactions, journal) = (Vec::new(), Vec::new(), Vec::new());
        Self { tellers, accounts, transactions, journal, books: BTreeMap::new(), now: 0 }
    }

    /// What becomes of an operation of an employee.
    pub fn take(&mut self, who: usize, act: &Act) -> Outcome {
        match *act {
            Act::Make { t, at, pin } => self.make(t, at, pin),
            Act::Delete { t, at } => self.delete(t, at),
            Act::Change { t, at, limit, ref drawer, pin, employee, slip } => {
                self.change(who, t, at, (limit, drawer, pin, employee), slip)
            }
            Act::Open { t, at, employee, word, amount } => self.open(who, t, at, employee, (word, amount)),
            Act::Close { t, at, word, amount } => self.close(who, t, at, (word, amount)),
            Act::Unlock { t, employee, pin } => self.unlock(who, t, employee, pin),
            Act::Pause { t, slip } => self.pause(who, t, slip),
            Act::Count { t, at, total } => self.count(who, t, at, total),
            Act::NewAccount { product } => self.new_account(product),
            Act::Command { account, word } => self.command(account, word),
            Act::Create { t, ref wish, slip } => self.create(who, t, wish, slip),
            Act::Finish { t, x, confirm, included, slip } => {
                self.finish(who, t, x, (confirm, included), slip)
            }
            Act::Look(ref look) => self.look(look),
        }
    }

    /// The checks of the path, for the management.
    pub fn managed(&self, t: usize, at: At) -> Result<(), Refused> {
        refuse(at == At::Nowhere, 404, "office_not_found")?;
        refuse(at == At::Elsewhere || !self.tellers[t].exists, 404, "teller_not_found")
    }

    /// The checks of the path and of the caller, for the operation.
    pub fn works(&self, who: usize, t: usize) -> Result<(), Refused> {
        let teller = &self.tellers[t];
        refuse(!teller.exists, 404, "teller_not_found")?;
        let other = teller.state != State::Closed && teller.employee != Some(who);
        refuse(other, 403, "not_assigned_employee")
    }

    pub fn is_active(&self, t: usize) -> Result<(), Refused> {
        refuse(self.tellers[t].state != State::Active, 409, "wrong_state")
    }

    fn currency(&self, book: &str) -> Option<&'static str> {
        self.books.get(book).and_then(|book| book.currency)
    }

    /// Accounts that are joined have one currency, as far as they have any.
    pub fn joined(&self, books: &[&str]) -> Result<Option<&'static str>, Refused> {
        let mut found = books.iter().filter_map(|book| self.currency(book));
        let first = found.next();
        refuse(found.any(|other| Some(other) != first), 409, "currency_mismatch")?;
        Ok(first)
    }

    /// Posts an entry, of which a debit is above 0; lines of 0 are left out.
    pub fn post(
        &mut self,
        (kind, who, t): (&'static str, usize, usize),
        lines: Vec<(String, i64)>,
    ) -> Result<(), Refused> {
        let lines: Vec<_> = lines.into_iter().filter(|(_, amount)| *amount != 0).collect();
        let names: Vec<_> = lines.iter().map(|(book, _)| book.as_str()).collect();
        let currency = self.joined(&names)?;
        for (name, amount) in &lines {
            let book = self.books.entry(name.clone()).or_default();
            book.debit += (*amount).max(0);
            book.credit += (-amount).max(0);
            book.currency = book.currency.or(currency);
        }
        if !lines.is_empty() {
            self.journal.push((kind, who, t, lines));
        }
        Ok(())
    }

    fn look(&self, look: &Look) -> Outcome {
        match *look {
            Look::Teller { t, at } => {
                self.managed(t, at)?;
                let teller = &self.tellers[t];
                Ok(vec![
                    fact("/state", Fact::Text(format!("{:?}", teller.state).to_uppercase())),
                    fact("/assignedEmployee", or_null(teller.employee.map(employee_name))),
                    fact("/cashdrawLimit", Fact::Money(teller.limit)),
                    fact("/tellerAccountIdentifier", Fact::Text(teller.drawer.clone())),
                ])
            }
            Look::Balance { t, at } => {
                self.managed(t, at)?;
                Ok(self.tellers[t].balance())
            }
            Look::Counts { t, at } => {
                self.managed(t, at)?;
                let counts = &self.tellers[t].counts;
                let mut facts = vec![fact("", Fact::Many(counts.len()))];
                for (place, total) in counts.iter().rev().enumerate() {
                    facts.push(fact(&format!("/{place}/countedTotal"), Fact::Money(*total)));
                }
                Ok(facts)
            }
            Look::Report { t, at } => {
                self.managed(t, at)?;
                let report = self.tellers[t].reports.last().cloned();
                report.ok_or_else(|| refuse(true, 404, "report_not_found").unwrap_err())
            }
            Look::Account(account) => self.look_at_account(account),
            Look::Transaction { t, x } => self.look_at_transaction(t, x),
            Look::Book(ref name) => {
                let book = &self.books[name];
                Ok(vec![
                    fact("/debitTotal", Fact::Money(book.debit)),
                    fact("/creditTotal", Fact::Money(book.credit)),
                    fact("/currency", or_null(book.currency.map(|code| Fact::Text(code.to_owned())))),
                ])
            }
        }
    }
}

impl Teller {
    fn balance(&self) -> Facts {
        let mut facts = vec![
            fact("/cashOnHand", Fact::Money(self.cash())),
            fact("/cashReceivedTotal", Fact::Money(self.total(true))),
            fact("/cashDisbursedTotal", Fact::Money(self.total(false))),
        ];
        if !self.opened {
            facts.push(fact("/cashEntries", Fact::Null));
            return facts;
        }
        facts.push(fact("/cashEntries", Fact::Many(self.entries.len())));
        for (place, (received, why, amount)) in self.entries.iter().enumerate() {
            let side = if *received { "DEBIT" } else { "CREDIT" };
            for (name, found) in [
                ("type", Fact::Text(side.to_owned())),
                ("message", Fact::Text((*why).to_owned())),
                ("amount", Fact::Money(*amount)),
            ] {
                facts.push(fact(&format!("/cashEntries/{place}/{name}"), found));
            }
        }
        facts
    }
}

pub fn employee_name(employee: usize) -> Fact {
    Fact::Text(format!("emp{employee}"))
}
