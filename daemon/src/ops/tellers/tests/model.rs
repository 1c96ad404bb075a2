//! What a branch with three tellers does, told a second time: in whole cents, with plain numbers, without
//! any of the code that it is compared with.

use std::collections::BTreeMap;

pub type Refused = (u16, &'static str);
pub type Outcome = Result<(), Refused>;

const WRONG_STATE: Refused = (409, "wrong_state");
const MISMATCH: Refused = (409, "currency_mismatch");
const NO_CASH: Refused = (409, "insufficient_cash");
const NO_BALANCE: Refused = (409, "insufficient_balance");
const MINIMUM: Refused = (409, "below_minimum_balance");
const LIMIT: Refused = (409, "over_cashdraw_limit");

/// A product: identifier, currency, minimum, and for each type of transaction its charges, fixed in cents
/// or in hundredths of a percent.
pub struct Product {
    pub identifier: &'static str,
    pub currency: &'static str,
    pub minimum: i64,
    pub charges: &'static [(&'static str, &'static str, bool, i64)],
}

pub const PRODUCTS: [Product; 3] = [
    Product {
        identifier: "saver",
        currency: "USD",
        minimum: 10_000,
        charges: &[
            ("ACCO", "Open", false, 500),
            ("CDPT", "Deposit", false, 150),
            ("CWDL", "Withdraw", true, 300),
            ("CWDL", "Withdraw", false, 1),
            ("ACCT", "Transfer", true, 125),
            ("ACCC", "Close", false, 1000),
        ],
    },
    Product { identifier: "plain", currency: "USD", minimum: 0, charges: &[] },
    Product {
        identifier: "euro",
        currency: "EUR",
        minimum: 100,
        charges: &[("CDPT", "Deposit", true, 1250), ("ACCO", "Open", true, 50)],
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Closed,
    Open,
    Active,
    Paused,
}

pub struct Teller {
    pub state: Step,
    pub employee: Option<usize>,
    pub opened: bool,
    pub counted: bool,
    pub required: bool,
    pub limit: i64,
    pub drawer: String,
    pub received: i64,
    pub disbursed: i64,
    pub entries: usize,
    failures: Vec<i64>,
    locks: usize,
    locked_until: i64,
}

pub struct Account {
    pub product: usize,
    pub state: u8,
    pub balance: i64,
}

pub struct Transaction {
    pub teller: usize,
    pub kind: &'static str,
    pub account: usize,
    pub target: Option<usize>,
    pub amount: i64,
    pub charges: Vec<i64>,
    pub state: u8,
}

pub struct Model {
    pub tellers: Vec<Teller>,
    pub accounts: Vec<Account>,
    pub transactions: Vec<Transaction>,
    /// Debits minus credits and currency of every account that is no customer's.
    pub books: BTreeMap<String, (i64, Option<&'static str>)>,
    pub entries: i64,
    pub now: i64,
}

impl Model {
    pub fn new() -> Self {
        let teller = |i: usize| Teller {
            state: Step::Closed,
            employee: None,
            opened: false,
            counted: false,
            required: i == 2,
            limit: 100_000,
            drawer: format!("drawer-{i}"),
            received: 0,
            disbursed: 0,
            entries: 0,
            failures: Vec::new(),
            locks: 0,
            locked_until: 0,
        };
        let tellers = (0..3).map(teller).collect();
        let (accounts, transactions, books) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { tellers, accounts, transactions, books, entries: 0, now: 0 }
    }

    pub fn cash(&self, t: usize) -> i64 {
        self.tellers[t].received - self.tellers[t].disbursed
    }

    fn currency(&self, book: &str) -> Option<&'static str> {
        self.books.get(book).and_then(|(_, currency)| *currency)
    }

    /// Posts: amounts above 0 debit an account, amounts below credit it. Nothing is written where two
    /// currencies meet.
    fn post(&mut self, customer: Option<&'static str>, lines: &[(&str, i64)]) -> Outcome {
        let lines: Vec<_> = lines.iter().filter(|(_, amount)| *amount != 0).collect();
        let mut found = customer;
        for (book, _) in &lines {
            if let Some(currency) = self.currency(book) {
                if found.is_some_and(|found| found != currency) {
                    return Err(MISMATCH);
                }
                found = Some(currency);
            }
        }
        for (book, amount) in &lines {
            let at = self.books.entry((*book).to_owned()).or_default();
            at.0 += amount;
            at.1 = found;
        }
        Ok(())
    }

    fn move_cash(&mut self, t: usize, amount: i64) {
        let teller = &mut self.tellers[t];
        if amount > 0 {
            teller.received += amount;
        } else {
            teller.disbursed -= amount;
        }
        teller.entries += usize::from(amount != 0);
    }

    fn adjust(&mut self, t: usize, amount: i64) -> Outcome {
        if self.cash(t) + amount < 0 {
            return Err(NO_CASH);
        }
        let drawer = self.tellers[t].drawer.clone();
        self.post(None, &[(&drawer, amount), ("vault", -amount)])?;
        self.entries += i64::from(amount != 0);
        Ok(())
    }

    pub fn open(&mut self, t: usize, employee: usize, amount: i64) -> Outcome {
        if self.tellers[t].state != Step::Closed {
            return Err(WRONG_STATE);
        }
        if self.tellers.iter().any(|other| other.state != Step::Closed && other.employee == Some(employee)) {
            return Err((409, "employee_has_open_teller"));
        }
        self.adjust(t, amount)?;
        let carried = self.cash(t);
        let teller = &mut self.tellers[t];
        (teller.state, teller.employee) = (Step::Open, Some(employee));
        (teller.received, teller.disbursed) = (carried, 0);
        (teller.opened, teller.counted, teller.entries) = (true, false, usize::from(carried > 0));
        self.move_cash(t, amount);
        Ok(())
    }

    pub fn close(&mut self, t: usize, amount: i64) -> Outcome {
        let teller = &self.tellers[t];
        if teller.state == Step::Closed {
            return Err(WRONG_STATE);
        }
        if teller.required && !teller.counted {
            return Err((409, "denomination_required"));
        }
        self.adjust(t, amount)?;
        self.move_cash(t, amount);
        (self.tellers[t].state, self.tellers[t].employee) = (Step::Closed, None);
        for transaction in self.transactions.iter_mut().filter(|x| x.teller == t && x.state == 0) {
            transaction.state = 2;
        }
        Ok(())
    }

    pub fn unlock(&mut self, t: usize, employee: usize, right: bool) -> Outcome {
        let (now, teller) = (self.now, &mut self.tellers[t]);
        if teller.state == Step::Closed {
            return Err(WRONG_STATE);
        }
        if teller.employee != Some(employee) {
            return Err((403, "not_assigned_employee"));
        }
        if now < teller.locked_until {
            return Err((429, "too_many_attempts"));
        }
        if right {
            (teller.failures, teller.locks, teller.locked_until) = (Vec::new(), 0, 0);
            teller.state = Step::Active;
            return Ok(());
        }
        teller.failures.retain(|at| now - at <= 900);
        teller.failures.push(now);
        if teller.failures.len() == 5 {
            teller.failures.clear();
            teller.locked_until = now + [60, 120, 240, 480, 960, 1920, 3600][teller.locks.min(6)];
            teller.locks += 1;
        }
        Err((403, "wrong_drawer_password"))
    }

    pub fn pause(&mut self, t: usize) -> Outcome {
        if self.tellers[t].state != Step::Active {
            return Err(WRONG_STATE);
        }
        self.tellers[t].state = Step::Paused;
        Ok(())
    }

    pub fn count(&mut self, t: usize, total: i64) -> Outcome {
        if self.tellers[t].state != Step::Paused {
            return Err((400, "teller_not_paused"));
        }
        let (difference, drawer) = (total - self.cash(t), self.tellers[t].drawer.clone());
        self.post(None, &[(&drawer, difference), ("over-short", -difference)])?;
        self.entries += i64::from(difference != 0);
        self.move_cash(t, difference);
        self.tellers[t].counted = true;
        Ok(())
    }

    pub fn change(&mut self, t: usize, limit: i64, drawer: &str) -> Outcome {
        let (cash, before) = (self.cash(t), self.tellers[t].drawer.clone());
        if drawer != before {
            self.post(None, &[(drawer, cash), (&before, -cash)])?;
            self.entries += i64::from(cash != 0);
        }
        let teller = &mut self.tellers[t];
        (teller.limit, teller.drawer) = (limit, drawer.to_owned());
        (teller.failures, teller.locks, teller.locked_until) = (Vec::new(), 0, 0);
        Ok(())
    }

    fn charges(&self, kind: &str, account: usize, amount: i64) -> Vec<i64> {
        let of_kind = PRODUCTS[self.accounts[account].product].charges.iter().filter(|c| c.0 == kind);
        let computed = of_kind.map(|(_, _, proportional, value)| match proportional {
            false => *value,
            true => {
                let exact = amount * value;
                let (whole, rest) = (exact / 10_000, exact % 10_000);
                whole + i64::from(rest > 5_000 || (rest == 5_000 && whole % 2 == 1))
            }
        });
        computed.filter(|charge| *charge != 0).collect()
    }

    fn stands(&self, kind: &str, account: usize, target: Option<usize>) -> Outcome {
        let needed = u8::from(kind != "ACCO");
        let ready = self.accounts[account].state == needed;
        let target_ready = target.is_none_or(|target| self.accounts[target].state == 1);
        if ready && target_ready { Ok(()) } else { Err(WRONG_STATE) }
    }

    fn same_currency(&self, t: usize, account: usize, target: Option<usize>) -> Outcome {
        let of = |account: usize| PRODUCTS[self.accounts[account].product].currency;
        let drawer = self.currency(&self.tellers[t].drawer);
        let joined = drawer.is_none_or(|drawer| drawer == of(account))
            && target.is_none_or(|target| of(target) == of(account));
        if joined { Ok(()) } else { Err(MISMATCH) }
    }

    pub fn create(
        &mut self,
        t: usize,
        kind: &'static str,
        account: usize,
        target: usize,
        amount: i64,
    ) -> Outcome {
        if amount < 0 || (amount == 0 && !matches!(kind, "ACCO" | "ACCC")) {
            return Err((400, "invalid_fields"));
        }
        let target = (kind == "ACCT").then_some(target);
        if target == Some(account) {
            return Err((400, "contradicts_account"));
        }
        if self.tellers[t].state != Step::Active {
            return Err(WRONG_STATE);
        }
        self.stands(kind, account, target)?;
        let minimum = PRODUCTS[self.accounts[account].product].minimum;
        if matches!(kind, "CWDL" | "ACCC") && amount > self.tellers[t].limit {
            return Err(LIMIT);
        }
        if kind == "ACCO" && amount < minimum {
            return Err(MINIMUM);
        }
        self.same_currency(t, account, target)?;
        let charges = self.charges(kind, account, amount);
        self.transactions.push(Transaction { teller: t, kind, account, target, amount, charges, state: 0 });
        Ok(())
    }

    pub fn finish(&mut self, t: usize, x: usize, confirm: bool, included: bool) -> Outcome {
        let transaction = &self.transactions[x];
        if self.tellers[t].state != Step::Active {
            return Err(WRONG_STATE);
        }
        if transaction.teller != t {
            return Err((409, "other_teller"));
        }
        if transaction.state != 0 {
            return Err(WRONG_STATE);
        }
        if confirm {
            self.confirm(t, x, included)?;
        }
        self.transactions[x].state = if confirm { 1 } else { 2 };
        Ok(())
    }

    fn confirm(&mut self, t: usize, x: usize, included: bool) -> Outcome {
        let Transaction { kind, account, target, amount, charges, .. } = &self.transactions[x];
        let (kind, account, target, amount, charges) = (*kind, *account, *target, *amount, charges.clone());
        self.stands(kind, account, target)?;
        let total: i64 = charges.iter().sum();
        let (cash_part, account_part) = if included { (total, 0) } else { (0, total) };
        let (to_account, to_drawer) = match kind {
            "ACCO" | "CDPT" => (amount - account_part, amount + cash_part),
            "CWDL" | "ACCC" => (-amount - account_part, cash_part - amount),
            _ => (-amount - account_part, cash_part),
        };
        let pays = matches!(kind, "CWDL" | "ACCC");
        let (balance, product) = (self.accounts[account].balance, &PRODUCTS[self.accounts[account].product]);
        let after = balance + to_account;
        if pays && amount > self.tellers[t].limit {
            return Err(LIMIT);
        }
        if after < 0 {
            return Err(NO_BALANCE);
        }
        if kind == "ACCC" && after > 0 {
            return Err((409, "remaining_balance"));
        }
        let too_low = match kind {
            "ACCO" => amount < product.minimum,
            "CWDL" | "ACCT" => after < product.minimum,
            _ => false,
        };
        if too_low {
            return Err(MINIMUM);
        }
        if pays && self.cash(t) + to_drawer < 0 {
            return Err(NO_CASH);
        }
        self.same_currency(t, account, target)?;
        let (drawer, income) = (self.tellers[t].drawer.clone(), format!("income-{}", product.currency));
        let lines = [(drawer.as_str(), cash_part), (&drawer, to_drawer - cash_part), (&income, -total)];
        self.post(Some(product.currency), &lines)?;
        self.entries += i64::from(amount + total != 0);
        match pays {
            true => {
                self.move_cash(t, cash_part);
                self.move_cash(t, -amount);
            }
            false => self.move_cash(t, to_drawer),
        }
        self.accounts[account].balance = after;
        if let Some(target) = target {
            self.accounts[target].balance += amount;
        }
        match kind {
            "ACCO" => self.accounts[account].state = 1,
            "ACCC" => self.accounts[account].state = 2,
            _ => {}
        }
        Ok(())
    }
}
