//! The rules of double entry (`deposits.md` section 4): kinds, sides, balancing, currencies.

use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::ProductType;
use mfa_shared::api::ledger::AccountKind::{self, Asset, Equity, Expense, Liability, Revenue};
use mfa_shared::api::ledger::Side::{self, Credit, Debit};
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine};
use mfa_shared::api::tellers::TransactionType;
use mfa_shared::rule::Word;
use serde::{Deserialize, Serialize};

/// Why lines are no journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// An entry has at least two lines.
    TooFewLines,
    /// An amount is not above 0.
    NotAboveZero,
    /// The debits and the credits differ.
    Unbalanced(Amount, Amount),
}

/// The identifier of the entry with this sequence: 16 hexadecimal digits of it, then 16 at random, so that it
/// cannot be guessed and is found without an index.
pub fn entry_identifier(sequence: u64, random: &str) -> String {
    format!("{sequence:016x}{random}")
}

/// The sequence that an identifier of an entry begins with.
pub fn entry_sequence(identifier: &str) -> Option<u64> {
    identifier.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok())
}

/// The kind of the account that a role brings into being; that of a customer depends on the product.
pub fn kind_of_role(role: AccountRole) -> Option<AccountKind> {
    use AccountRole::*;
    match role {
        Customer => None,
        Drawer | Vault | ChequesReceivable | ProductCash => Some(Asset),
        OverShort | ProductExpense => Some(Expense),
        ProductAccrue => Some(Liability),
        Income => Some(Revenue),
    }
}

/// The kind of a customer's account: deposits are owed to customers, shares are capital of the members.
pub fn kind_of_product(product: ProductType) -> AccountKind {
    match product {
        ProductType::Checking | ProductType::Savings => Liability,
        ProductType::Share => Equity,
    }
}

/// The side that raises the balance of a kind.
pub fn raised_by(kind: AccountKind) -> Side {
    match kind {
        Asset | Expense => Debit,
        Liability | Equity | Revenue => Credit,
    }
}

/// The balance of a kind after sums of debits and credits.
pub fn balance(kind: AccountKind, debits: Amount, credits: Amount) -> Amount {
    match raised_by(kind) {
        Debit => debits.minus(credits),
        Credit => credits.minus(debits),
    }
}

/// A balance as the trial balance shows it: debit and credit, one of them 0.
pub fn on_sides(kind: AccountKind, balance: Amount) -> (Amount, Amount) {
    let debit = match raised_by(kind) {
        Debit => balance,
        Credit => balance.negated(),
    };
    if debit.is_negative() { (Amount::ZERO, debit.negated()) } else { (debit, Amount::ZERO) }
}

/// The sum of the lines of one side.
pub fn total(lines: &[JournalLine], side: Side) -> Amount {
    Amount::sum(lines.iter().filter(|line| line.side == side).map(|line| line.amount))
}

/// Checks that lines are an entry: two or more, each above 0, debits equal to credits.
pub fn check_lines(lines: &[JournalLine]) -> Result<(), Refusal> {
    let debits = total(lines, Debit);
    let credits = total(lines, Credit);
    if lines.len() < 2 {
        return Err(Refusal::TooFewLines);
    }
    if lines.iter().any(|line| line.amount <= Amount::ZERO) {
        return Err(Refusal::NotAboveZero);
    }
    if debits != credits {
        return Err(Refusal::Unbalanced(debits, credits));
    }
    Ok(())
}

/// What a line does to the cash of a drawer: debits with the role DRAWER bring cash in.
pub fn cash_moved(line: &JournalLine) -> Amount {
    match (line.role, line.side) {
        (AccountRole::Drawer, Debit) => line.amount,
        (AccountRole::Drawer, Credit) => line.amount.negated(),
        _ => Amount::ZERO,
    }
}

/// Type of the entry that takes the cash of a drawer along to another account; it is no movement of cash.
pub const ACCOUNT_CHANGE: &str = "ADJT";
/// Cash comes into a drawer, by hand or by a count.
pub const CASH_IN: &str = "DAJT";
/// Cash leaves a drawer, by hand or by a count.
pub const CASH_OUT: &str = "CAJT";
/// Interest of a product's day is booked.
pub const ACCRUAL: &str = "INTA";
/// Interest is paid to an account.
pub const PAYMENT: &str = "INTP";
/// Interest of a closed account is given up.
pub const GIVEN_UP: &str = "INTF";
/// A dividend is paid to an account.
pub const DIVIDEND: &str = "DIVD";
/// Types of the entries that interest and dividends write.
pub const INTEREST_TYPES: [&str; 4] = [ACCRUAL, PAYMENT, GIVEN_UP, DIVIDEND];

/// Whether an entry can be of this type. No others are written, so no one has to look for them.
pub fn is_entry_type(word: &str) -> bool {
    [ACCOUNT_CHANGE, CASH_IN, CASH_OUT].contains(&word)
        || INTEREST_TYPES.contains(&word)
        || TransactionType::WORDS.iter().any(|(written, _)| *written == word)
}

/// What moved in a drawer, or on accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moved {
    /// What came in.
    pub received: Amount,
    /// What went out.
    pub disbursed: Amount,
    /// What a count found over.
    pub over: Amount,
    /// What a count found short.
    pub short: Amount,
}

impl Moved {
    /// Both together.
    pub fn plus(self, other: Moved) -> Moved {
        Moved {
            received: self.received.plus(other.received),
            disbursed: self.disbursed.plus(other.disbursed),
            over: self.over.plus(other.over),
            short: self.short.plus(other.short),
        }
    }
}

/// What a line does to the cash of its drawer, as reports show it; a line with another role does nothing.
pub fn moved_in_drawer(entry: &JournalEntry, line: &JournalLine) -> Moved {
    if line.role != AccountRole::Drawer || entry.r#type == ACCOUNT_CHANGE {
        return Moved::default();
    }
    let counted = entry.lines.iter().any(|line| line.role == AccountRole::OverShort);
    let amount = line.amount;
    let none = Moved::default();
    match (line.side, counted) {
        (Debit, false) => Moved { received: amount, ..none },
        (Credit, false) => Moved { disbursed: amount, ..none },
        (Debit, true) => Moved { over: amount, ..none },
        (Credit, true) => Moved { short: amount, ..none },
    }
}

/// What a line does to the account of a customer: a credit raises it, of deposits and of shares.
pub fn moved_on_account(line: &JournalLine) -> Moved {
    match (line.role, line.side) {
        (AccountRole::Customer, Credit) => Moved { received: line.amount, ..Moved::default() },
        (AccountRole::Customer, Debit) => Moved { disbursed: line.amount, ..Moved::default() },
        _ => Moved::default(),
    }
}

/// The one currency of accounts that are joined, if any of them has one; two that differ are refused.
pub fn join<'c>(
    codes: impl IntoIterator<Item = Option<&'c str>>,
) -> Result<Option<&'c str>, (&'c str, &'c str)> {
    let mut joined = None;
    for code in codes.into_iter().flatten() {
        match joined {
            None => joined = Some(code),
            Some(before) if before != code => return Err((before, code)),
            Some(_) => {}
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::rule::Word;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    #[test]
    fn the_table_of_roles_and_their_kinds() {
        let table = "CUSTOMER - DRAWER ASSET VAULT ASSET CHEQUES_RECEIVABLE ASSET OVER_SHORT EXPENSE \
            PRODUCT_CASH ASSET PRODUCT_EXPENSE EXPENSE PRODUCT_ACCRUE LIABILITY INCOME REVENUE";
        let cells: Vec<_> = table.split_whitespace().collect();
        assert_eq!(cells.len(), AccountRole::WORDS.len() * 2);
        for cell in cells.chunks(2) {
            let role = AccountRole::find(cell[0]).unwrap();
            assert_eq!(kind_of_role(role), AccountKind::find(cell[1]), "{role}");
        }
        assert_eq!(kind_of_product(ProductType::Checking), Liability);
        assert_eq!(kind_of_product(ProductType::Savings), Liability);
        assert_eq!(kind_of_product(ProductType::Share), Equity);
    }

    #[test]
    fn debits_raise_assets_and_expenses_and_lower_everything_else() {
        for (kind, after, sides) in [
            (Asset, "4.50", ("4.50", "0")),
            (Expense, "4.50", ("4.50", "0")),
            (Liability, "-4.50", ("4.50", "0")),
            (Equity, "-4.50", ("4.50", "0")),
            (Revenue, "-4.50", ("4.50", "0")),
        ] {
            let after_both = balance(kind, amount("10"), amount("5.50"));
            assert_eq!(after_both, amount(after), "{kind}");
            assert_eq!(on_sides(kind, after_both), (amount(sides.0), amount(sides.1)), "{kind}");
            assert_eq!(on_sides(kind, after_both.negated()), (amount(sides.1), amount(sides.0)), "{kind}");
        }
    }

    #[test]
    fn an_entry_has_two_lines_above_zero_that_balance() {
        let line = |side, amount: &str| JournalLine {
            account_identifier: "a1".to_owned(),
            side,
            role: AccountRole::Vault,
            amount: Amount::parse(amount).unwrap(),
        };
        let check = |lines: &[(Side, &str)]| {
            check_lines(&lines.iter().map(|(side, amount)| line(*side, amount)).collect::<Vec<_>>())
        };
        assert_eq!(check(&[(Debit, "1"), (Credit, "1.00")]), Ok(()));
        assert_eq!(check(&[(Debit, "3"), (Credit, "1"), (Credit, "1"), (Credit, "1")]), Ok(()));
        assert_eq!(check(&[]), Err(Refusal::TooFewLines));
        assert_eq!(check(&[(Debit, "1")]), Err(Refusal::TooFewLines));
        assert_eq!(check(&[(Debit, "0"), (Credit, "0")]), Err(Refusal::NotAboveZero));
        assert_eq!(check(&[(Debit, "-1"), (Credit, "-1")]), Err(Refusal::NotAboveZero));
        let differ = Refusal::Unbalanced(amount("1"), amount("1.00001"));
        assert_eq!(check(&[(Debit, "1"), (Credit, "1.00001")]), Err(differ));
    }

    #[test]
    fn two_currencies_are_never_joined() {
        assert_eq!(join([None, None]), Ok(None));
        assert_eq!(join([None, Some("USD"), None, Some("USD")]), Ok(Some("USD")));
        assert_eq!(join([Some("USD"), None, Some("EUR")]), Err(("USD", "EUR")));
    }
}
