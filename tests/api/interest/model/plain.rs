//! The books of interest, recalculated plainly from what happened. All amounts are in 0.00001.

use super::calendar::Day;
use std::collections::{BTreeMap, BTreeSet};

/// One whole in 0.00001.
pub const WHOLE: i128 = 100_000;

/// When a product pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payable {
    /// At the end of every month whose number is a multiple.
    Months(i64),
    /// So many months after the account was opened.
    Maturity(Option<i64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Pending,
    Active,
    Closed,
}

pub struct Product {
    pub name: String,
    pub currency: &'static str,
    pub scale: u32,
    pub share: bool,
    pub payable: Payable,
    pub minimum: i128,
    /// What a deposit costs.
    pub charge: i128,
    /// Percent a year, in 0.00001.
    pub rate: i128,
    pub active: bool,
    pub expense: String,
    /// The rates at the ends of the days on which it was active.
    pub rates: BTreeMap<Day, i128>,
    pub accruals: i128,
    pub booked: i128,
    /// Days that could not be booked.
    pub left_out: BTreeSet<Day>,
}

pub struct Account {
    pub name: String,
    pub product: usize,
    pub state: State,
    pub opened: Option<Day>,
    pub closed: Option<Day>,
    pub balance: i128,
    /// The balances at the ends of the days on which it was active.
    pub ends: BTreeMap<Day, i128>,
    pub accruals: i128,
    given_up: i128,
    pub payments: Vec<(Day, i128)>,
}

/// An entry of the journal: type, day, day of posting, amount, debited and credited account.
pub type Entry = (String, String, String, i128, String, String);

/// A day of a product.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub done: bool,
    pub accounts: i128,
    pub accrued: i128,
    pub booked: i128,
    pub paid: i128,
    pub payments: i128,
    pub ran_on: String,
}

pub struct Plain {
    pub today: Day,
    pub products: Vec<Product>,
    pub accounts: Vec<Account>,
    /// The first day and the last one that were run.
    pub begun: Option<Day>,
    pub last: Option<Day>,
    pub rows: BTreeMap<(String, String), Row>,
    pub entries: Vec<Entry>,
    /// The currencies of the accounts to which interest was booked.
    pub currencies: BTreeMap<String, &'static str>,
    /// Accruals that were calculated.
    pub account_days: u64,
}

/// A quotient, a tie to the even number; neither number is negative.
fn divided(number: i128, by: i128) -> i128 {
    let (whole, rest) = (number / by, number % by);
    let up = rest * 2 > by || (rest * 2 == by && whole % 2 == 1);
    whole + i128::from(up)
}

impl Product {
    pub fn new(name: &str, currency: &'static str, payable: Payable) -> Self {
        Self {
            name: name.to_owned(),
            currency,
            scale: 2,
            share: false,
            payable,
            minimum: 0,
            charge: 0,
            rate: 0,
            active: false,
            expense: format!("expense-{name}"),
            rates: BTreeMap::new(),
            accruals: 0,
            booked: 0,
            left_out: BTreeSet::new(),
        }
    }

    /// The smallest amount of its currency.
    pub fn unit(&self) -> i128 {
        10_i128.pow(5 - self.scale)
    }

    /// What is booked for an amount: nothing for one that is not above 0.
    pub fn rounded(&self, amount: i128) -> i128 {
        divided(amount.max(0), self.unit()) * self.unit()
    }

    pub fn accrue(&self) -> String {
        format!("accrue-{}", self.name)
    }

    fn pays(&self, account: &Account, day: Day) -> bool {
        match self.payable {
            Payable::Months(months) => day.ends(months),
            Payable::Maturity(term) => {
                let opened = account.opened.zip(term);
                opened.is_some_and(|(opened, months)| opened.months_later(months) == day)
            }
        }
    }

    /// Whether its expense account holds another currency.
    pub fn is_broken(&self, currencies: &BTreeMap<String, &'static str>) -> bool {
        currencies.get(&self.expense).is_some_and(|currency| *currency != self.currency)
    }
}

impl Account {
    pub fn new(name: &str, product: usize) -> Self {
        Self {
            name: name.to_owned(),
            product,
            state: State::Pending,
            opened: None,
            closed: None,
            balance: 0,
            ends: BTreeMap::new(),
            accruals: 0,
            given_up: 0,
            payments: Vec::new(),
        }
    }

    pub fn paid(&self) -> i128 {
        self.payments.iter().map(|(_, amount)| amount).sum()
    }

    pub fn accrued(&self) -> i128 {
        self.accruals - self.paid() - self.given_up
    }
}

impl Plain {
    pub fn new(today: Day, products: Vec<Product>) -> Self {
        Self {
            today,
            products,
            accounts: Vec::new(),
            begun: None,
            last: None,
            rows: BTreeMap::new(),
            entries: Vec::new(),
            currencies: BTreeMap::new(),
            account_days: 0,
        }
    }

    pub fn end_day(&mut self) {
        for product in self.products.iter_mut().filter(|product| product.active) {
            product.rates.insert(self.today, product.rate);
        }
        for account in self.accounts.iter_mut().filter(|account| account.state == State::Active) {
            account.ends.insert(self.today, account.balance);
        }
        self.today = self.today.next();
    }

    pub fn open(&mut self, account: usize, amount: i128) {
        let account = &mut self.accounts[account];
        (account.state, account.opened, account.balance) = (State::Active, Some(self.today), amount);
    }

    pub fn close(&mut self, account: usize) {
        let closed = &mut self.accounts[account];
        (closed.state, closed.closed, closed.balance) = (State::Closed, Some(self.today), 0);
        self.give_up(account, self.today);
    }

    fn give_up(&mut self, account: usize, day: Day) {
        let account = &mut self.accounts[account];
        let product = &self.products[account.product];
        let amount = product.rounded(account.accrued());
        account.given_up += amount;
        let (debit, credit) = (product.accrue(), product.expense.clone());
        self.book("INTF", day, amount, debit, credit);
    }

    /// Pays what is accrued; false where that comes to nothing.
    fn pay(&mut self, account: usize, day: Day) -> i128 {
        let account = &mut self.accounts[account];
        let product = &self.products[account.product];
        let amount = product.rounded(account.accrued());
        if amount > 0 {
            account.payments.push((day, amount));
            account.balance += amount;
        }
        let (debit, credit) = (product.accrue(), account.name.clone());
        self.book("INTP", day, amount, debit, credit);
        amount
    }

    /// As [`Plain::pay`], at the wish of a person.
    pub fn pay_now(&mut self, account: usize) -> bool {
        let day = self.accrued_until(account).unwrap_or(self.today);
        self.pay(account, day) > 0
    }

    fn book(&mut self, kind: &str, day: Day, amount: i128, debit: String, credit: String) {
        if amount > 0 {
            let posted = self.today.to_string();
            self.entries.push((kind.to_owned(), day.to_string(), posted, amount, debit, credit));
        }
    }

    /// The days behind the last one that was run.
    pub fn run(&mut self, until: Day) {
        let first = self.last.map_or_else(|| self.begun.unwrap(), Day::next);
        for product in 0..self.products.len() {
            let left_out = self.products[product].left_out.iter();
            let mut due: Vec<_> = left_out.filter(|day| **day <= until).copied().collect();
            let days = std::iter::successors(Some(first), |day| Some(day.next()));
            due.extend(days.take_while(|day| *day <= until));
            due.into_iter().for_each(|day| self.run_day(product, day));
        }
        self.last = self.last.max(Some(until));
    }

    fn run_day(&mut self, place: usize, day: Day) {
        let product = &mut self.products[place];
        if product.share {
            return;
        }
        let rate = product.rates.get(&day).copied().filter(|rate| *rate > 0);
        let again = product.left_out.contains(&day);
        let may_pay = match product.payable {
            Payable::Months(months) => day.ends(months),
            Payable::Maturity(_) => true,
        };
        let due = may_pay && (product.accruals > 0 || !product.left_out.is_empty());
        if product.is_broken(&self.currencies) {
            if rate.is_some() || due || again {
                product.left_out.insert(day);
                let row = self.row(false);
                self.rows.insert((day.to_string(), self.products[place].name.clone()), row);
            }
            return;
        }
        product.left_out.remove(&day);
        let mut row = self.row(true);
        if let Some(rate) = rate {
            self.accrue(place, day, rate, &mut row);
        }
        let product = &mut self.products[place];
        row.booked = product.rounded(product.accruals) - product.booked;
        product.booked += row.booked;
        let (debit, credit) = (product.expense.clone(), product.accrue());
        // What accrues is owed in the currency of the product, also before it comes to something.
        if row.accrued > 0 {
            let currency = product.currency;
            self.currencies.extend([debit.clone(), credit.clone()].map(|account| (account, currency)));
        }
        self.book("INTA", day, row.booked, debit, credit);
        for account in self.accounts_of(place) {
            let paid = &self.accounts[account];
            if paid.state == State::Closed && rate.is_some() && paid.ends.contains_key(&day) {
                self.give_up(account, day);
            } else if paid.state == State::Active && self.products[place].pays(paid, day) {
                let amount = self.pay(account, day);
                row.paid += amount;
                row.payments += i128::from(amount > 0);
            }
        }
        if rate.is_some() || row.payments > 0 || again {
            self.rows.insert((day.to_string(), self.products[place].name.clone()), row);
        }
    }

    fn accrue(&mut self, place: usize, day: Day, rate: i128, row: &mut Row) {
        for place in self.accounts_of(place) {
            let account = &mut self.accounts[place];
            let Some(balance) = account.ends.get(&day) else { continue };
            let earned = divided(balance * rate, WHOLE * 100 * day.days_of_year());
            account.accruals += earned;
            self.products[account.product].accruals += earned;
            row.accrued += earned;
            row.accounts += i128::from(earned > 0);
            self.account_days += 1;
        }
    }

    fn row(&self, done: bool) -> Row {
        let ran_on = self.today.to_string();
        Row { done, accounts: 0, accrued: 0, booked: 0, paid: 0, payments: 0, ran_on }
    }

    fn accounts_of(&self, product: usize) -> Vec<usize> {
        (0..self.accounts.len()).filter(|account| self.accounts[*account].product == product).collect()
    }

    /// The last day that was run for a product without a gap.
    fn run_until(&self, product: &Product) -> Option<Day> {
        let left_out = product.left_out.first().map(|day| day.previous());
        self.last.map(|last| left_out.map_or(last, |day| last.min(day)))
    }

    /// The same for an account.
    pub fn accrued_until(&self, account: usize) -> Option<Day> {
        let account = &self.accounts[account];
        let product = &self.products[account.product];
        let closed = account.closed.map(Day::previous);
        let until = [self.run_until(product), closed].into_iter().flatten().min()?;
        let since = account.opened?.max(self.begun?);
        (self.last.is_some() && !product.share && since <= until).then_some(until)
    }

    /// The next day on which an account is paid.
    pub fn next_payment(&self, account: usize) -> Option<Day> {
        let place = account;
        let account = &self.accounts[place];
        let product = &self.products[account.product];
        let idle = product.rate == 0 && account.accrued() == 0;
        if account.state != State::Active || product.share || idle {
            return None;
        }
        let after = self.run_until(product).unwrap_or(self.today.previous());
        let first = after.next().max(account.opened.unwrap());
        // A term has at most three months, as a year has at most 366 days.
        let mut days = std::iter::successors(Some(first), |day| Some(day.next())).take(370);
        days.find(|day| product.pays(account, *day))
    }
}
