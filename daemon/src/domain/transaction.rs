//! Money at the counter: charges, the checks of CONFIRM, the lines of the journal (`tellers.md` sections 6
//! to 8).

use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::TransactionType::{self, *};
use rust_decimal::{Decimal, RoundingStrategy};
use std::fmt;

/// The stage of an account, as far as it matters for moving money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountStage {
    /// Not opened yet.
    Pending,
    /// Open.
    Active,
    /// Closed for good.
    Closed,
}

/// What a charge comes to: a fixed amount of money, or percent of the transaction, computed exactly and
/// rounded once, half to even.
pub fn charge(transaction: Amount, amount: Amount, proportional: bool, scale: u32) -> Amount {
    if !proportional {
        return amount;
    }
    // 20 digits times 8 digits fit the 28 of the type, so the product is exact before it is rounded.
    let exact = transaction.0 * amount.0 * Decimal::new(1, 2);
    Amount(exact.round_dp_with_strategy(scale, RoundingStrategy::MidpointNearestEven))
}

/// Everything that the checks of CONFIRM look at, as it is before the transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// Type of the transaction.
    pub transaction: TransactionType,
    /// Its amount.
    pub amount: Amount,
    /// The sum of its charges.
    pub charges: Amount,
    /// Whether the customer pays the charges in cash, on top.
    pub included: bool,
    /// The account.
    pub account: AccountStage,
    /// The other account of a transfer.
    pub target: Option<AccountStage>,
    /// Balance of the account.
    pub balance: Amount,
    /// Minimum balance of its product.
    pub minimum: Amount,
    /// Limit of the teller.
    pub limit: Amount,
    /// Cash in the drawer.
    pub cash: Amount,
}

/// Why a transaction cannot be confirmed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The account is not in the stage that is needed.
    AccountState {
        /// Its present stage.
        stands: AccountStage,
        /// Where it must.
        needed: AccountStage,
    },
    /// The account that receives is not open.
    TargetState(AccountStage),
    /// More is paid out than the teller may.
    OverLimit(Amount),
    /// The account does not hold what is taken from it.
    Balance {
        /// What is taken.
        taken: Amount,
        /// What is there to take.
        present: Amount,
    },
    /// Something would stay on an account that is to be closed.
    Remaining(Amount),
    /// The account would hold less than its product asks for.
    Minimum {
        /// What it would hold.
        left: Amount,
        /// What it must hold.
        minimum: Amount,
    },
    /// The drawer does not hold what is paid out.
    Cash {
        /// What is paid out.
        paid: Amount,
        /// What is there to pay with.
        present: Amount,
    },
}

/// The state in which a type of transaction finds its account.
pub fn needed(transaction: TransactionType) -> AccountStage {
    if transaction == Acco { AccountStage::Pending } else { AccountStage::Active }
}

/// Whether a type of transaction pays cash out, so that the limit of the teller holds.
pub fn pays_out(transaction: TransactionType) -> bool {
    matches!(transaction, Cwdl | Accc)
}

/// The checks of CONFIRM in their order.
pub fn check(s: &Situation) -> Result<(), Refusal> {
    state(s)?;
    limit(s.transaction, s.amount, s.limit)?;
    balance(s)?;
    minimum(s)?;
    cash(s)
}

fn state(s: &Situation) -> Result<(), Refusal> {
    stage(s.transaction, s.account, s.target)
}

/// Whether the accounts are in the stages that the type of transaction needs.
pub fn stage(
    transaction: TransactionType,
    account: AccountStage,
    target: Option<AccountStage>,
) -> Result<(), Refusal> {
    let needed = needed(transaction);
    ensure(account == needed, || Refusal::AccountState { stands: account, needed })?;
    let stands = target.unwrap_or(AccountStage::Active);
    ensure(transaction != Acct || stands == AccountStage::Active, || Refusal::TargetState(stands))
}

/// Whether the teller may pay the amount out.
pub fn limit(transaction: TransactionType, amount: Amount, limit: Amount) -> Result<(), Refusal> {
    ensure(!pays_out(transaction) || amount <= limit, || Refusal::OverLimit(limit))
}

/// Whether the first deposit reaches the minimum of the product.
pub fn opening(transaction: TransactionType, amount: Amount, minimum: Amount) -> Result<(), Refusal> {
    ensure(transaction != Acco || amount >= minimum, || Refusal::Minimum { left: amount, minimum })
}

fn balance(s: &Situation) -> Result<(), Refusal> {
    let taken = s.taken();
    let present = match s.transaction {
        Acco | Cdpt => s.balance.plus(s.amount),
        Cwdl | Accc | Acct => s.balance,
    };
    ensure(taken <= present, || Refusal::Balance { taken, present })?;
    let left = present.minus(taken);
    ensure(s.transaction != Accc || left.is_zero(), || Refusal::Remaining(left))
}

fn minimum(s: &Situation) -> Result<(), Refusal> {
    opening(s.transaction, s.amount, s.minimum)?;
    let left = s.balance.minus(s.taken());
    let minimum = s.minimum;
    ensure(!matches!(s.transaction, Cwdl | Acct) || left >= minimum, || Refusal::Minimum { left, minimum })
}

fn cash(s: &Situation) -> Result<(), Refusal> {
    let present = if s.included { s.cash.plus(s.charges) } else { s.cash };
    ensure(!pays_out(s.transaction) || present >= s.amount, || Refusal::Cash { paid: s.amount, present })
}

fn ensure(holds: bool, refusal: impl FnOnce() -> Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal()) }
}

impl Situation {
    /// What is taken from the account: the amount, unless it is paid in, and the charges, unless they are
    /// paid in cash.
    fn taken(&self) -> Amount {
        let charges = if self.included { Amount::ZERO } else { self.charges };
        match self.transaction {
            Acco | Cdpt => charges,
            Cwdl | Accc | Acct => self.amount.plus(charges),
        }
    }
}

/// The account of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The drawer of the teller.
    Drawer,
    /// The account of the customer.
    Account,
    /// The account that receives a transfer.
    Target,
    /// The income account of the charge with this place in the list.
    Income(usize),
}

/// One line of a journal entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Debit, or else credit.
    pub debit: bool,
    /// Its account.
    pub place: Place,
    /// Above 0.
    pub amount: Amount,
}

/// The lines of a confirmed transaction, in their order; none where nothing moves.
pub fn lines(transaction: TransactionType, amount: Amount, charges: &[Amount], included: bool) -> Vec<Line> {
    use Place::{Account, Drawer, Income, Target};
    let total = Amount::sum(charges.iter().copied());
    let payer = if included { Drawer } else { Account };
    let (debits, credit) = match transaction {
        Cdpt | Acco if included => (vec![(Drawer, amount.plus(total))], Account),
        Cdpt | Acco => (vec![(Drawer, amount), (Account, total)], Account),
        Cwdl | Accc => (vec![(Account, amount), (payer, total)], Drawer),
        Acct => (vec![(Account, amount), (payer, total)], Target),
    };
    let income = charges.iter().enumerate().map(|(place, charge)| (Income(place), *charge));
    let credits = std::iter::once((credit, amount)).chain(income);
    let line = |debit| move |(place, amount)| Line { debit, place, amount };
    let lines = debits.into_iter().map(line(true)).chain(credits.map(line(false)));
    lines.filter(|line| !line.amount.is_zero()).collect()
}

impl fmt::Display for AccountStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccountStage::Pending => "PENDING",
            AccountStage::Active => "ACTIVE",
            AccountStage::Closed => "CLOSED",
        })
    }
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
