//! Recomputes the ledger from its lines: what must hold after any history
//! (`deposits.md` section 4.5).

use crate::domain::ledger::{ACCOUNT_CHANGE, ACCRUAL, GIVEN_UP, balance, cash_moved, check_lines, join};
use crate::domain::teller::{CARRIED_OVER, count_movement};
use crate::ops::days::check_days;
use crate::ops::interest::check_interest;
use crate::ops::reports::{check::compare, days};
use crate::ops::tellers::check_tellers;
use crate::store::Tx;
pub use crate::store::check::Finding;
use crate::store::engine::{Pair, Range};
use crate::store::record::{Record, number, numbered};
use crate::store::records::{
    ACCOUNT_LINES, AccountLine, DRAWER_ENTRIES, DrawerCash, LastPosting, SessionCash, StoredEntry,
    StoredInstance, StoredRun, StoredTransaction, line_number,
};
use crate::store::tx::{decode, entries_of};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, LedgerAccount, Side};
use mfa_shared::api::tellers::TransactionState;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Entries that are read in one step.
const STEP: usize = 256;

/// What the lines say about an account.
#[derive(Debug, Default)]
struct Computed {
    debits: Amount,
    credits: Amount,
    last_entry_on: Option<Timestamp>,
    currency: Option<String>,
}

#[derive(Debug, Default)]
struct Books {
    accounts: BTreeMap<String, (LedgerAccount, Computed)>,
    drawers: BTreeMap<String, Amount>,
    /// What the sessions that are counted have moved, by teller.
    sessions: BTreeMap<String, SessionCash>,
    /// What the lines with the role INCOME say that each account has earned.
    earned: BTreeMap<String, Amount>,
    lines: u64,
    drawer_entries: u64,
    days: days::Days,
    findings: Vec<Finding>,
}

/// Everything that does not hold of accounts, entries and tellers; empty if all is well.
pub fn check_ledger(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut findings = check_books(tx)?;
    findings.extend(check_tellers(tx)?);
    findings.extend(check_interest(tx)?);
    findings.extend(check_days(tx)?);
    Ok(findings)
}

/// Everything that does not hold of accounts and entries.
pub fn check_books(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut books = Books::default();
    for account in tx.all::<LedgerAccount>(&[])? {
        let own = account.role == Some(AccountRole::Customer);
        let currency = account.currency.clone().filter(|_| own);
        let computed = Computed { currency, ..Computed::default() };
        books.accounts.insert(account.identifier.clone(), (account, computed));
    }
    books.begin_sessions(tx)?;
    books.replay(tx)?;
    books.findings.extend(compare(tx, std::mem::take(&mut books.days).summed())?);
    books.hold_accounts(tx)?;
    books.compare_accounts();
    books.compare_drawers(tx)?;
    for (space, expected, what) in [
        (ACCOUNT_LINES, books.lines, "lines on accounts"),
        (DRAWER_ENTRIES, books.drawer_entries, "entries on drawers"),
    ] {
        let stored = tx.count(space, &[])?;
        if stored != expected {
            let detail = format!("the journal has {expected} {what}, {stored} are kept under them");
            books.find("journal".to_owned(), detail);
        }
    }
    books.compare_instances(tx)?;
    books.compare_charges(tx)?;
    Ok(books.findings)
}

/// The teller of an entry, as a sentence names it.
fn teller_of(entry: &JournalEntry) -> &str {
    entry.teller_code.as_deref().unwrap_or("no teller")
}

/// Announces what entries are compared with: their copies under accounts and drawers.
fn expect_copies(tx: &mut Tx<'_>, entries: &[(u64, StoredEntry)]) -> Result<(), Fault> {
    let mut places = Vec::new();
    for (place, stored) in entries {
        places.extend(entries_of(stored));
        for (at, line) in (0..).zip(&stored.entry.lines) {
            let key = numbered(&[&line.account_identifier], line_number(*place, at));
            places.push((AccountLine::SPACE, key));
        }
    }
    tx.expect_places(&places)
}

impl Books {
    fn find(&mut self, subject: String, detail: String) {
        self.findings.push(Finding { subject, detail });
    }

    /// Replays the whole journal, and compares every entry with what is kept about it.
    fn replay(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut next = 1;
        let mut seal = String::new();
        let mut posted_on = None;
        let last = tx.get::<LastPosting>(LastPosting::KEY)?;
        let mut from = 0;
        let summed = days::end(tx)?;
        loop {
            let range = Range { from: numbered(&[], from), to: None };
            let pairs = tx.scan(StoredEntry::SPACE, &range, false, STEP)?;
            let decoded =
                |(key, value): &Pair| decode(StoredEntry::SPACE, value).map(|entry| (number(key), entry));
            let entries = pairs.iter().map(decoded).collect::<Result<Vec<(u64, StoredEntry)>, _>>()?;
            expect_copies(tx, &entries)?;
            for (place, stored) in entries {
                let missing = tx.missing_entries(&stored)?;
                let StoredEntry { entry, seal: kept } = stored;
                let subject = format!("entry {place}");
                if !missing.is_empty() {
                    let detail = format!("is not kept under the drawer of {}", teller_of(&entry));
                    self.find(subject.clone(), detail);
                }
                if place != next || entry.sequence.unsigned_abs() != place {
                    let detail = format!("is in the place of number {next}, and says {}", entry.sequence);
                    self.find(subject.clone(), detail);
                }
                if StoredEntry::seal(&entry, &seal) != kept {
                    self.find(subject.clone(), "is not the entry that was written first".to_owned());
                }
                if Some(entry.posted_on) < posted_on {
                    self.find(subject.clone(), "was posted before the entry that precedes it".to_owned());
                }
                if let Err(refusal) = check_lines(&entry.lines) {
                    self.find(subject.clone(), format!("is not an entry: {refusal:?}"));
                }
                self.post(tx, &entry, place, &subject)?;
                if place <= summed {
                    self.days.post(tx, &entry)?;
                }
                (next, seal, posted_on) = (place + 1, kept, Some(entry.posted_on));
            }
            if pairs.len() < STEP {
                break;
            }
            from = next;
        }
        let whole = match (&last, posted_on) {
            // Interest ends days behind the last entry.
            (Some(last), Some(posted_on)) => {
                (last.sequence, &last.seal) == (next - 1, &seal) && last.posted_on >= posted_on
            }
            (last, posted_on) => last.is_none() && posted_on.is_none(),
        };
        if !whole {
            let detail = format!("has {} entries, and its end is kept as another one", next - 1);
            self.find("journal".to_owned(), detail);
        }
        if summed >= next {
            let detail = format!("has {} entries, and reports sum up {summed}", next - 1);
            self.find("journal".to_owned(), detail);
        }
        Ok(())
    }

    fn post(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &JournalEntry,
        place: u64,
        subject: &str,
    ) -> Result<(), Fault> {
        for line in &entry.lines {
            let Some((_, computed)) = self.accounts.get_mut(&line.account_identifier) else {
                let detail = format!("names {}, which is not an account", line.account_identifier);
                self.find(subject.to_owned(), detail);
                continue;
            };
            match line.side {
                Side::Debit => computed.debits = computed.debits.plus(line.amount),
                Side::Credit => computed.credits = computed.credits.plus(line.amount),
            }
            computed.last_entry_on = Some(entry.posted_on);
        }
        for line in entry.lines.iter().filter(|line| line.role == AccountRole::Income) {
            let earned = self.earned.entry(line.account_identifier.clone()).or_default();
            *earned = match line.side {
                Side::Debit => earned.minus(line.amount),
                Side::Credit => earned.plus(line.amount),
            };
        }
        self.join_currencies(tx, entry, subject)?;
        self.drawer_entries += u64::from(entry.lines.iter().any(|line| line.role == AccountRole::Drawer));
        let moved = Amount::sum(entry.lines.iter().map(cash_moved));
        if let Some(teller) = &entry.teller_code {
            self.count_session(teller, place, entry);
            let drawer = self.drawers.entry(teller.clone()).or_default();
            *drawer = drawer.plus(moved);
            let cash = *drawer;
            if cash.is_negative() {
                self.find(subject.to_owned(), format!("leaves {cash} in the drawer of {teller}"));
            }
        } else if !moved.is_zero() {
            self.find(subject.to_owned(), "moves cash of a drawer and names no teller".to_owned());
        }
        for (at, line) in (0..).zip(&entry.lines) {
            let number = line_number(place, at);
            self.lines += 1;
            let key = numbered(&[&line.account_identifier], number);
            let kept: Option<AccountLine> = tx.at(&key)?;
            let computed = self.accounts.get(&line.account_identifier);
            let expected = computed.map(|(account, c)| balance(account.kind, c.debits, c.credits));
            if kept.map(|line| line.balance) != expected {
                let detail = format!("differs from its copy under account {}", line.account_identifier);
                self.find(subject.to_owned(), detail);
            }
        }
        Ok(())
    }

    fn join_currencies(&mut self, tx: &mut Tx<'_>, entry: &JournalEntry, subject: &str) -> Result<(), Fault> {
        // The day of a product, and what is given up, have no account of a customer; their accounts get the
        // currency of the product, which is that of the account that the entry is about.
        let product = match entry.r#type.as_str() {
            ACCRUAL => tx.get::<Definition>(&[&entry.message])?.map(|product| product.currency.code),
            GIVEN_UP => self.accounts.get(&entry.message).and_then(|(_, c)| c.currency.clone()),
            _ => None,
        };
        let named: BTreeSet<_> = entry.lines.iter().map(|line| line.account_identifier.as_str()).collect();
        let codes =
            named.iter().map(|name| self.accounts.get(*name).and_then(|(_, c)| c.currency.as_deref()));
        match join(codes.chain([product.as_deref()])).map(|code| code.map(str::to_owned)) {
            Err((one, other)) => {
                let detail = format!("joins two currencies, {one} and {other}");
                self.find(subject.to_owned(), detail);
            }
            Ok(None) => {}
            Ok(Some(code)) => {
                for name in named {
                    if let Some((_, computed)) = self.accounts.get_mut(name) {
                        computed.currency.get_or_insert_with(|| code.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// Accounts on which accrued interest is to be booked have the currency of its product before that.
    fn hold_accounts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for row in tx.all::<StoredRun>(&[])? {
            let Some(expense) = row.expense else { continue };
            let Some(product) = tx.get::<Definition>(&[&row.run.product_identifier])? else { continue };
            for name in std::iter::once(expense).chain(product.accrue_account_identifier) {
                if let Some((_, computed)) = self.accounts.get_mut(&name) {
                    computed.currency.get_or_insert_with(|| product.currency.code.clone());
                }
            }
        }
        Ok(())
    }

    fn compare_accounts(&mut self) {
        let mut found = Vec::new();
        for (account, computed) in self.accounts.values() {
            let expected = balance(account.kind, computed.debits, computed.credits);
            let kept = (account.debit_total, account.credit_total, account.balance);
            if kept != (computed.debits, computed.credits, expected) {
                found
                    .push((account, format!("has balance {}, its lines sum to {expected}", account.balance)));
            }
            if account.last_entry_on != computed.last_entry_on {
                found.push((account, "says another time of its last entry than its lines".to_owned()));
            }
            if account.currency != computed.currency {
                found.push((account, "has another currency than its lines give it".to_owned()));
            }
            if account.role == Some(AccountRole::Customer) && account.balance.is_negative() {
                found.push((account, format!("has a balance of {}", account.balance)));
            }
        }
        let found = found
            .into_iter()
            .map(|(account, detail)| Finding { subject: format!("account {}", account.identifier), detail });
        let found: Vec<_> = found.collect();
        self.findings.extend(found);
    }

    /// Takes over, of sessions that are counted, where they begin and what they have carried over.
    fn begin_sessions(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for drawer in tx.all::<DrawerCash>(&[])? {
            let Some(mut session) = drawer.session else { continue };
            session.moved.retain(|sum| sum.message == CARRIED_OVER);
            self.sessions.insert(drawer.teller, session);
        }
        Ok(())
    }

    fn count_session(&mut self, teller: &str, place: u64, entry: &JournalEntry) {
        let Some(session) = self.sessions.get_mut(teller).filter(|session| session.after < place) else {
            return;
        };
        let lines = entry.lines.iter().filter(|line| line.role == AccountRole::Drawer);
        for line in lines.filter(|_| entry.r#type != ACCOUNT_CHANGE) {
            count_movement(&mut session.moved, &entry.message, line.side, line.amount);
        }
    }

    /// The cash that is kept of each drawer is what its lines sum to, and so is what its session has moved.
    fn compare_drawers(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let drawers = tx.all::<DrawerCash>(&[])?;
        let wrong =
            drawers.iter().filter(|drawer| drawer.session.as_ref() != self.sessions.get(&drawer.teller));
        let wrong: Vec<_> = wrong.map(|drawer| format!("drawer {}", drawer.teller)).collect();
        for drawer in wrong {
            self.find(drawer, "is kept with other sums of its session than its lines come to".to_owned());
        }
        let kept: BTreeMap<_, _> = drawers.into_iter().map(|drawer| (drawer.teller, drawer.cash)).collect();
        let named: BTreeSet<_> = kept.keys().chain(self.drawers.keys()).cloned().collect();
        for teller in named {
            let of = |drawers: &BTreeMap<String, Amount>| drawers.get(&teller).copied().unwrap_or_default();
            let kept = of(&kept);
            let computed = of(&self.drawers);
            if kept != computed {
                let detail = format!("is kept with {kept} in it, its lines sum to {computed}");
                self.find(format!("drawer {teller}"), detail);
            }
        }
        Ok(())
    }

    /// Every instance has its own account of a customer, and every such account its instance.
    fn compare_instances(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut numbers = BTreeSet::new();
        let mut with_instance = BTreeSet::new();
        for instance in tx.all::<StoredInstance>(&[])? {
            let subject = format!("instance {}", instance.account_identifier);
            let product = tx.get::<Definition>(&[&instance.product_identifier])?;
            for detail in self.look_at(&instance, product.as_ref()) {
                self.find(subject.clone(), detail);
            }
            if let Some(number) = instance.alternative_account_number
                && (self.accounts.contains_key(&number) || !numbers.insert(number))
            {
                self.find(subject, "shares its alternative number with another account".to_owned());
            }
            with_instance.insert(instance.account_identifier);
        }
        let alone: Vec<_> = self
            .accounts
            .values()
            .filter(|(a, _)| a.role == Some(AccountRole::Customer) && !with_instance.contains(&a.identifier))
            .map(|(account, _)| account.identifier.clone())
            .collect();
        for account in alone {
            self.find(format!("account {account}"), "is of a customer and has no instance".to_owned());
        }
        Ok(())
    }

    /// What an account has earned is the sum of the charges of confirmed transactions.
    fn compare_charges(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut charged: BTreeMap<String, Amount> = BTreeMap::new();
        tx.walk(StoredTransaction::SPACE, Range::prefix(b""), &mut |_, value| {
            let StoredTransaction { transaction, .. } = decode(StoredTransaction::SPACE, value)?;
            if transaction.state == TransactionState::Confirmed {
                for charge in transaction.charges {
                    let sum = charged.entry(charge.income_account_identifier).or_default();
                    *sum = sum.plus(charge.amount);
                }
            }
            Ok(true)
        })?;
        let named: BTreeSet<_> = charged.keys().chain(self.earned.keys()).cloned().collect();
        for account in named {
            let of = |sums: &BTreeMap<String, Amount>| sums.get(&account).copied().unwrap_or_default();
            let earned = of(&self.earned);
            let charged = of(&charged);
            if earned != charged {
                let detail =
                    format!("has earned {earned}, and confirmed transactions charged {charged} for it");
                self.find(format!("account {account}"), detail);
            }
        }
        Ok(())
    }

    fn look_at(&self, instance: &StoredInstance, product: Option<&Definition>) -> Vec<String> {
        let mut found = Vec::new();
        let mut hold = |holds: bool, detail: &str| {
            if !holds {
                found.push(detail.to_owned());
            }
        };
        let Some((account, computed)) = self.accounts.get(&instance.account_identifier) else {
            return vec!["has no ledger account".to_owned()];
        };
        hold(account.role == Some(AccountRole::Customer), "has a ledger account of another role");
        hold(
            product.is_some_and(|p| account.currency.as_ref() == Some(&p.currency.code)),
            "has another currency than its product",
        );
        match instance.state {
            InstanceState::Pending => hold(computed.last_entry_on.is_none(), "is PENDING and has lines"),
            InstanceState::Active => {}
            InstanceState::Closed => {
                hold(account.balance.is_zero(), "is CLOSED and has a balance");
                hold(computed.last_entry_on <= instance.closed_on, "has lines younger than its closing");
            }
        }
        found
    }
}
