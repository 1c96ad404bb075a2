//! A day of a product, in short transactions: accounts accrue, the product is booked, accounts are paid.

use super::runs::{self, Job};
use super::{accrue_account, book, give_up_on, of_account, pay};
use crate::domain::interest::{self as rules, rounded};
use crate::domain::ledger::ACCRUAL;
use crate::ops::ledger::{self, EndOfDay};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{Record, key, prefix};
use crate::store::records::{
    INSTANCES_BY_PRODUCT, INTEREST_OPEN, ProductInterest, RateBefore, RunPhase, StoredDefinitionCommand,
    StoredInstance, StoredInterest, StoredRun,
};
use crate::store::tx::indexed_key;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::{Definition, DefinitionAction, InterestPayable};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::interest::{InterestRun, RunOutcome};
use mfa_shared::api::ledger::{AccountKind, AccountRole, LedgerAccount};
use mfa_shared::fault::{self, Fault, Kind};
use mfa_shared::time::Date;

/// Accounts that one transaction looks at which only accrues, and so holds up nobody on a shared engine: as
/// many as the contract allows.
const ACCRUING_MAX: usize = 1000;
/// The same for one that posts, which runs alone.
const POSTING_MAX: usize = 330;
/// The same where one writer decides everything, and a confirmation waits for the whole step before it:
/// about two milliseconds.
const ACCOUNTS_MAX_ONE_WRITER: usize = 50;

/// How many accounts a step looks at.
pub fn accounts_at_once(is_shared: bool, part: Part) -> usize {
    match part {
        _ if !is_shared => ACCOUNTS_MAX_ONE_WRITER,
        Part::Accrual => ACCRUING_MAX,
        Part::Any => POSTING_MAX,
    }
}

/// What a step may do, and how its transaction has to run for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Accounts accrue, and nothing is posted. The day is over: no change beside it makes a difference to
    /// what they earned, but those that write the same records, so a snapshot is enough.
    Accrual,
    /// Everything, entries of the journal as well.
    Any,
}

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A step of the same job.
    Step(Part),
    /// Nothing: the job has ended.
    End,
    /// Nothing: another runs meanwhile.
    Theirs,
}

/// What a step did.
#[derive(Debug, PartialEq, Eq)]
pub struct Stepped {
    /// What follows.
    pub next: Next,
    /// Accounts that were paid, or gave up what they had accrued.
    pub settled: Vec<String>,
}

impl From<Next> for Stepped {
    fn from(next: Next) -> Self {
        Self { next, settled: Vec::new() }
    }
}

/// Does the next part of a job as one transaction, which looks at `left` accounts at most.
pub fn step(
    tx: &mut Tx<'_>,
    job: &Job,
    part: Part,
    left: usize,
    runner: &str,
    by: &str,
) -> Result<Stepped, Fault> {
    if !runs::beat(tx, runner)? {
        return Ok(Next::Theirs.into());
    }
    let stored = tx.get::<StoredRun>(&[&job.day.to_string(), &job.product])?;
    let Some(mut definition) = tx.get::<Definition>(&[&job.product])? else {
        // A definition that had no account is gone, and so is what was left out.
        stored.iter().try_for_each(|row| runs::forget(tx, row))?;
        return Ok(Next::End.into());
    };
    if stored.as_ref().is_some_and(|row| row.ended && (!job.again || row.run.outcome == RunOutcome::Done)) {
        return Ok(Next::End.into());
    }
    let rate = rate_on(tx, &definition, job.day)?;
    let row = match stored {
        Some(row) => row,
        None => match begin(tx, &definition, job.day, rate, by)? {
            Some(row) => row,
            None => return Ok(Next::End.into()),
        },
    };
    // All accounts of a day are paid by the terms with which it began, and what they accrue is booked where
    // its first accruals made sure that it can be.
    definition.term.interest_payable = row.payable.unwrap_or(definition.term.interest_payable);
    if let Some(expense) = &row.expense {
        definition.expense_account_identifier.clone_from(expense);
    }
    let settled = Vec::new();
    let mut running = Running { definition, day: job.day, rate, row, left, part, settled, by };
    running.go_on(tx)?;
    Ok(Stepped { next: running.next_step(), settled: running.settled })
}

/// The interest that a product paid at the end of a day; nothing where it was not active or paid none.
fn rate_on(tx: &mut Tx<'_>, definition: &Definition, day: Date) -> Result<Option<Amount>, Fault> {
    let product = &definition.identifier;
    let end = day.next().start();
    let commands = tx.all::<StoredDefinitionCommand>(&[product])?;
    let last = commands.iter().rfind(|command| command.record.created_on < end);
    if last.is_none_or(|command| command.record.action != DefinitionAction::Activate) {
        return Ok(None);
    }
    let before = tx.all::<RateBefore>(&[product])?.into_iter().find(|rate| rate.until >= end);
    let rate = before.map_or(definition.interest, |rate| rate.interest);
    Ok(rate.filter(|rate| !rate.is_zero()))
}

/// The row of a day on which a product earns or may have something to pay.
fn begin(
    tx: &mut Tx<'_>,
    definition: &Definition,
    day: Date,
    rate: Option<Amount>,
    by: &str,
) -> Result<Option<StoredRun>, Fault> {
    let product = &definition.identifier;
    let payable = definition.term.interest_payable;
    let may_pay = (payable == InterestPayable::Maturity || rules::is_payment_day(payable, day))
        && (tx.has::<ProductInterest>(&[product])? || is_left_out(tx, product)?);
    if rate.is_none() && !may_pay {
        return Ok(None);
    }
    // What is accrued is of the balances at the end of the day, which may not change any more.
    ledger::end_day(tx, day)?;
    let run = InterestRun {
        date: day,
        product_identifier: product.clone(),
        accounts: 0,
        accrued: Amount::ZERO,
        booked: Amount::ZERO,
        paid: Amount::ZERO,
        payments: 0,
        outcome: RunOutcome::Done,
        code: None,
        detail: None,
        ran_on: tx.now(),
        ran_by: by.to_owned(),
    };
    let (phase, payable) = (RunPhase::Accrue, Some(payable));
    let (expense, give_up) = (None, Vec::new());
    Ok(Some(StoredRun { run, phase, ended: false, after: None, due: false, payable, expense, give_up }))
}

/// Whether days of a product were left out: what they earn may be due on a later day.
fn is_left_out(tx: &mut Tx<'_>, product: &str) -> Result<bool, Fault> {
    let open = tx.indexed::<StoredRun>(INTEREST_OPEN, &[StoredRun::OPEN])?;
    Ok(open.iter().any(|row| row.run.product_identifier == product))
}

struct Running<'a> {
    definition: Definition,
    day: Date,
    /// Nothing where the product earns nothing on the day.
    rate: Option<Amount>,
    row: StoredRun,
    /// Accounts that this transaction may still look at.
    left: usize,
    /// What this transaction may do.
    part: Part,
    /// Accounts that were paid, or gave up what they had accrued.
    settled: Vec<String>,
    by: &'a str,
}

impl Running<'_> {
    fn failed(&self) -> bool {
        self.row.run.outcome == RunOutcome::Failed
    }

    fn next_step(&self) -> Next {
        match self.row.phase {
            _ if self.failed() => Next::End,
            RunPhase::End => Next::End,
            RunPhase::Accrue => Next::Step(Part::Accrual),
            RunPhase::Book | RunPhase::Pay => Next::Step(Part::Any),
        }
    }

    fn go_on(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        // Asked until something accrues: from then on the accounts have the currency of the product.
        // Payments leave the expense account alone, and the accrue account has been booked by then.
        if self.row.phase != RunPhase::Pay
            && self.row.expense.is_none()
            && let Some(why) = unbookable(tx, &self.definition)?
        {
            return self.fail(tx, why);
        }
        // A day that is tried again is open until its last transaction.
        let reopened = self.row.ended;
        (self.row.run.outcome, self.row.ended) = (RunOutcome::Done, false);
        let posts = self.part == Part::Any;
        while self.left > 0
            && self.row.phase != RunPhase::End
            && (posts || self.row.phase == RunPhase::Accrue)
        {
            match self.row.phase {
                RunPhase::Accrue => self.accrue(tx)?,
                RunPhase::Book => self.book(tx)?,
                RunPhase::Pay => self.pay(tx)?,
                RunPhase::End => {}
            }
        }
        match self.row.phase {
            RunPhase::End => self.end(tx),
            _ if reopened => runs::put_again(tx, &self.row),
            _ => tx.put(&self.row),
        }
    }

    fn fail(&mut self, tx: &mut Tx<'_>, (kind, detail): (&'static Kind, String)) -> Result<(), Fault> {
        let run = &mut self.row.run;
        (run.code, run.detail) = (Some(kind.code.to_owned()), Some(detail));
        run.outcome = RunOutcome::Failed;
        (run.ran_on, run.ran_by) = (tx.now(), self.by.to_owned());
        self.row.ended = true;
        tx.put(&self.row)
    }

    fn end(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.rate.is_none() && self.row.run.payments == 0 && self.row.run.code.is_none() {
            // A day on which a product neither earns nor pays is no news, unless it had failed; it was not
            // stored before either, unless it took several transactions.
            if tx.has::<StoredRun>(&[&self.day.to_string(), &self.definition.identifier])? {
                tx.remove(&self.row);
            }
            return Ok(());
        }
        let run = &mut self.row.run;
        let again = run.code.is_some();
        (run.code, run.detail) = (None, None);
        (run.ran_on, run.ran_by) = (tx.now(), self.by.to_owned());
        self.row.ended = true;
        if again { runs::put_again(tx, &self.row) } else { tx.put(&self.row) }
    }

    /// The next accounts of the product, and whether there are more behind them.
    fn next(&mut self, tx: &mut Tx<'_>) -> Result<(Vec<StoredInstance>, bool), Fault> {
        let parts = [self.definition.identifier.as_str()];
        let under = prefix(&parts);
        let mut range = Range::prefix(&under);
        if let Some(after) = &self.row.after {
            range.from = [&under, after.as_bytes(), &[0]].concat();
        }
        let pairs = tx.scan(INSTANCES_BY_PRODUCT, &range, false, self.left)?;
        let more = pairs.len() == self.left;
        self.left -= pairs.len();
        let keys = pairs.iter().map(|(entry, _)| indexed_key(&parts, entry).to_vec()).collect();
        let found: Vec<StoredInstance> = tx.fetch(keys)?;
        if let Some(last) = found.last() {
            self.row.after = Some(last.account_identifier.clone());
        }
        Ok((found, more))
    }

    fn accrue(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let term = &self.definition.term;
        let by_account = term.interest_payable == InterestPayable::Maturity;
        if self.rate.is_none() && !by_account {
            self.row.phase = RunPhase::Book;
            return Ok(());
        }
        let (instances, more) = self.next(tx)?;
        expect(tx, &[LedgerAccount::SPACE, StoredInterest::SPACE], &instances)?;
        let mut end = EndOfDay::of(self.day);
        let mut sum = Amount::ZERO;
        for instance in instances {
            self.row.due |= rules::falls_due(&self.definition.term, instance.opened_on, self.day);
            let Some(rate) = self.rate.filter(|_| was_active(&instance, self.day)) else { continue };
            let account = &instance.account_identifier;
            let Some(ledger) = tx.get::<LedgerAccount>(&[account])? else { continue };
            let earned = rules::accrual(ledger::balance_on(tx, &ledger, &mut end)?, rate, self.day);
            if earned.is_zero() {
                continue;
            }
            let mut kept = of_account(tx, account)?;
            kept.accruals = kept.accruals.plus(earned);
            tx.add(&kept);
            if instance.state == InstanceState::Closed {
                // Closed since: what it still earned on a day before is never paid.
                self.row.give_up.push(account.clone());
            }
            self.row.run.accounts += 1;
            sum = sum.plus(earned);
        }
        self.row.run.accrued = self.row.run.accrued.plus(sum);
        if !sum.is_zero() {
            self.hold_accounts(tx)?;
            let mut product = of_product(tx, &self.definition.identifier)?;
            product.accruals = product.accruals.plus(sum);
            tx.add(&product);
        }
        if !more {
            (self.row.phase, self.row.after) = (RunPhase::Book, None);
        }
        Ok(())
    }

    /// Gives the accounts on which the day is booked the currency of the product, and keeps to them: what has
    /// accrued can be booked on them, whatever happens beside the steps of the day.
    fn hold_accounts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.row.expense.is_none() {
            let definition = &self.definition;
            for account in [definition.expense_account_identifier.as_str(), accrue_account(definition)?] {
                ledger::give_currency(tx, account, &definition.currency.code)?;
            }
            self.row.expense = Some(definition.expense_account_identifier.clone());
        }
        Ok(())
    }

    /// Brings what is booked of the product to what its accounts have accrued.
    fn book(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let mut product = of_product(tx, &self.definition.identifier)?;
        let amount = rounded(product.accruals, self.definition.currency.scale).minus(product.booked);
        if amount > Amount::ZERO {
            self.hold_accounts(tx)?;
            let definition = &self.definition;
            let expense = definition.expense_account_identifier.as_str();
            let accrue = accrue_account(definition)?;
            let lines = vec![
                ledger::debit(expense, AccountRole::ProductExpense, amount),
                ledger::credit(accrue, AccountRole::ProductAccrue, amount),
            ];
            book(tx, ACCRUAL, &definition.identifier, self.by, self.day, lines)?;
            product.booked = product.booked.plus(amount);
            tx.add(&product);
            self.row.run.booked = amount;
        }
        let goes_on = self.pays() || !self.row.give_up.is_empty();
        self.row.phase = if goes_on { RunPhase::Pay } else { RunPhase::End };
        Ok(())
    }

    /// Whether accounts may be paid on the day.
    fn pays(&self) -> bool {
        self.row.due || rules::is_payment_day(self.definition.term.interest_payable, self.day)
    }

    /// Lets the next of the accounts that were closed since give up what they accrued on the day.
    fn give_up(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let next = self.row.give_up.len().min(self.left);
        let accounts: Vec<_> = self.row.give_up.drain(..next).collect();
        self.left -= next;
        let keys: Vec<_> = accounts.iter().map(|account| key(&[account])).collect();
        tx.expect(StoredInterest::SPACE, &keys)?;
        for account in accounts {
            if give_up_on(tx, &self.definition, &account, self.day, self.by)? {
                self.settled.push(account);
            }
        }
        if self.row.give_up.is_empty() && !self.pays() {
            self.row.phase = RunPhase::End;
        }
        Ok(())
    }

    fn pay(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if !self.row.give_up.is_empty() {
            return self.give_up(tx);
        }
        let (mut instances, more) = self.next(tx)?;
        instances.retain(|instance| {
            instance.state == InstanceState::Active
                && rules::falls_due(&self.definition.term, instance.opened_on, self.day)
        });
        expect(tx, &[StoredInterest::SPACE, LedgerAccount::SPACE], &instances)?;
        for instance in instances {
            let account = &instance.account_identifier;
            if let Some(amount) = pay(tx, &self.definition, account, self.day, self.by)? {
                self.row.run.paid = self.row.run.paid.plus(amount);
                self.row.run.payments += 1;
                self.settled.push(account.clone());
            }
        }
        if !more {
            (self.row.phase, self.row.after) = (RunPhase::End, None);
        }
        Ok(())
    }
}

/// Announces the records of accounts that are read next.
fn expect(tx: &mut Tx<'_>, spaces: &[Space], accounts: &[StoredInstance]) -> Result<(), Fault> {
    let keys: Vec<_> = accounts.iter().map(|account| key(&[&account.account_identifier])).collect();
    spaces.iter().try_for_each(|space| tx.expect(*space, &keys))
}

/// Whether an account was ACTIVE at the end of a day. It becomes so once, and CLOSED once.
fn was_active(instance: &StoredInstance, day: Date) -> bool {
    instance.opened_on.is_some_and(|opened| opened <= day)
        && instance.closed_on.is_none_or(|closed| closed.day() > day)
}

fn of_product(tx: &mut Tx<'_>, product: &str) -> Result<ProductInterest, Fault> {
    let nothing =
        || ProductInterest { product: product.to_owned(), accruals: Amount::ZERO, booked: Amount::ZERO };
    Ok(tx.get(&[product])?.unwrap_or_else(nothing))
}

/// Why a product cannot be booked, if that is so.
fn unbookable(tx: &mut Tx<'_>, definition: &Definition) -> Result<Option<(&'static Kind, String)>, Fault> {
    let accrue = accrue_account(definition)?;
    for name in [definition.expense_account_identifier.as_str(), accrue] {
        let Some(account) = tx.get::<LedgerAccount>(&[name])? else { continue };
        if name == accrue && account.kind != AccountKind::Liability {
            let detail = format!("account {name} is {} and not {}", account.kind, AccountKind::Liability);
            return Ok(Some((fault::ACCOUNT_KIND_MISMATCH, detail)));
        }
        let code = &definition.currency.code;
        if let Some(other) = account.currency.filter(|other| other != code) {
            let detail = format!("account {name} has {other}, product {} has {code}", definition.identifier);
            return Ok(Some((fault::CURRENCY_MISMATCH, detail)));
        }
    }
    Ok(None)
}
