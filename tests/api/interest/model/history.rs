//! A random history of a bank: what happens to the daemon happens to the plain books, too.

use super::calendar::Day;
use super::chance::Chance;
use super::plain::{Account, Payable, Plain, Product, State, WHOLE};
use super::text_of;
use crate::api::interest::bank::{Bank, interest_product};
use crate::support::counter::{Counter, PIN, decimal, teller};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Most events of a day.
const EVENTS_MAX: i64 = 7;

pub struct History {
    pub bank: Bank,
    pub plain: Plain,
    pub chance: Chance,
    /// What was sent of each product.
    pub bodies: Vec<Value>,
}

impl History {
    /// A bank on the day that the clock shows, with its tellers, its products, and accounts of each.
    pub fn begin(world: World, chance: Chance, accounts: usize) -> Self {
        let today = Day::of(&world.clock.now().day().to_string());
        let bank = Bank::on(world);
        let mut chance = chance;
        let products = products(&mut chance);
        for (code, employee) in [("USD", "emp2"), (products[2].currency, "emp3")] {
            let mut new = teller(code);
            new["cashdrawLimit"] = json!(1_000_000_000);
            new["vaultAccountIdentifier"] = json!(format!("vault-{code}"));
            new["password"] = json!(PIN);
            bank.counter.teller_with(&new).is(202);
            bank.counter.open(code, employee, "900000000");
            bank.counter.unlock(code, employee);
        }
        let (bodies, plain) = (Vec::new(), Plain::new(today, Vec::new()));
        let mut history = Self { bank, plain, chance, bodies };
        for product in products {
            history.sell(product);
        }
        for _ in 0..accounts {
            history.new_account();
        }
        history
    }

    fn sell(&mut self, product: Product) {
        let (payable, term) = match product.payable {
            Payable::Months(1) => ("MONTHLY", None),
            Payable::Months(3) => ("QUARTERLY", None),
            Payable::Months(_) => ("ANNUALLY", None),
            Payable::Maturity(term) => ("MATURITY", term),
        };
        let mut body = interest_product(&product.name, &text_of(product.rate, 5), payable);
        body["type"] = json!(if product.share { "SHARE" } else { "SAVINGS" });
        body["term"] = json!({ "interestPayable": payable });
        if let Some(months) = term {
            body["term"]["period"] = json!(months);
            body["term"]["timeUnit"] = json!("MONTH");
        }
        body["currency"]["code"] = json!(product.currency);
        body["currency"]["scale"] = json!(product.scale);
        body["minimumBalance"] = decimal(&text_of(product.minimum, product.scale));
        if product.charge > 0 {
            body["charges"] = json!([{
                "actionIdentifier": "Deposit",
                "incomeAccountIdentifier": format!("income-{}", product.name),
                "name": "Deposit",
                "amount": decimal(&text_of(product.charge, product.scale)),
            }]);
        }
        self.bank.counter.define(&body);
        self.bodies.push(body);
        self.plain.products.push(product);
        if !self.chance.once_in(6) {
            self.activate(self.plain.products.len() - 1, true);
        }
    }

    /// Plays so many days, with runs among them or without.
    pub fn play(&mut self, days: i64, runs: bool) {
        let end = (0..days).fold(self.plain.today, |day, _| day.next());
        while self.plain.today < end {
            let quiet = if self.chance.once_in(4) { self.chance.from(0, 25) } else { 0 };
            let events = if self.chance.once_in(3) { 0 } else { self.chance.from(1, EVENTS_MAX) };
            for _ in 0..events {
                self.event(runs);
            }
            for _ in 0..=quiet {
                if self.plain.today < end {
                    self.end_day();
                }
            }
        }
    }

    /// Goes to a moment of the next day, its very first and last seconds included.
    fn end_day(&mut self) {
        let now = self.bank.world().clock.now().millis() / 1_000 % DAY;
        let second = match self.chance.below(4) {
            0 => 0,
            1 => DAY - 1,
            _ => self.chance.from(0, DAY - 1),
        };
        self.bank.world().clock.advance(DAY - now + second);
        self.plain.end_day();
        assert_eq!(self.bank.today(), self.plain.today.to_string());
    }

    fn event(&mut self, runs: bool) {
        match self.chance.below(20) {
            0..=3 => self.deposit(),
            4..=6 => self.withdraw(),
            7..=8 => self.transfer(),
            9 => self.change_rate(),
            10 => {
                let product = self.chance.below(self.plain.products.len());
                let active = !self.chance.once_in(3);
                self.activate(product, active);
            }
            11 => self.change_expense(),
            12 => self.new_account(),
            13 => self.open_pending(),
            14..=15 => self.pay(),
            16 => self.close(),
            17 if self.chance.once_in(8) => {
                self.chance.note("the daemon starts again".to_owned());
                self.bank.counter.world.restart();
            }
            _ if runs => self.run(),
            _ => {}
        }
    }

    fn note(&mut self, what: &str) {
        let today = self.plain.today;
        self.chance.note(format!("{today} {what}"));
    }

    /// An account in this state that a chance picks.
    pub fn any(&mut self, state: State) -> Option<usize> {
        let accounts = &self.plain.accounts;
        let fit: Vec<_> = (0..accounts.len()).filter(|place| accounts[*place].state == state).collect();
        (!fit.is_empty()).then(|| self.chance.one(&fit))
    }

    /// A sum in the currency of an account, above 0. Some accounts only have such that many a day's accrual
    /// is exactly half of the smallest part, in an ordinary year or in a leap year.
    fn sum(&mut self, account: usize) -> i128 {
        let product = &self.plain.products[self.plain.accounts[account].product];
        let (unit, scale) = (product.unit(), product.scale);
        let days = [Some(365), Some(366), None][account % 3].filter(|_| scale >= 2);
        if let Some(days) = days {
            return i128::from(self.chance.from(1, 9_999)) * days * WHOLE / 20;
        }
        let most = [50, 5_000, 400_000, 30_000_000][self.chance.below(4)];
        let parts = i128::from(self.chance.from(1, most));
        if scale == 0 { parts.min(300_000) * unit } else { parts * unit }
    }

    /// A transaction at the teller of the currency, with any business date.
    fn act(&mut self, kind: &str, account: usize, amount: i128, to: Option<usize>) -> Seen {
        let (account, to) =
            (&self.plain.accounts[account], to.map(|to| self.plain.accounts[to].name.clone()));
        let product = &self.plain.products[account.product];
        let amount = text_of(amount, product.scale);
        self.chance.note(format!("{} {kind} {} {amount} {to:?}", self.plain.today, account.name));
        let mut request = Counter::request(kind, &account.name, &amount);
        request["productIdentifier"] = json!(product.name);
        request["targetAccountIdentifier"] = json!(to);
        if self.chance.once_in(2) {
            // Interest goes by the day of posting; this date is for information.
            let date = self.plain.today.before(self.chance.from(0, 40));
            request["transactionDate"] = json!(format!("{date}T12:00:00Z"));
        }
        let quoted = self.bank.counter.create(product.currency, &request).is(200).json();
        let transaction = quoted["tellerTransactionIdentifier"].as_str().unwrap();
        self.bank.counter.finish(product.currency, transaction, "command=CONFIRM&charges=EXCLUDED")
    }

    pub fn new_account(&mut self) {
        let product = self.chance.below(self.plain.products.len());
        let customer = format!("c{}", self.plain.accounts.len());
        let name = self.bank.counter.account_of(&customer, &self.plain.products[product].name);
        self.note(&format!("account {name} of {}", self.plain.products[product].name));
        self.plain.accounts.push(Account::new(&name, product));
        if !self.chance.once_in(8) {
            self.open(self.plain.accounts.len() - 1);
        }
    }

    fn open_pending(&mut self) {
        if let Some(account) = self.any(State::Pending) {
            self.open(account);
        }
    }

    fn open(&mut self, account: usize) {
        let product = self.plain.accounts[account].product;
        if self.chance.once_in(6) {
            self.command(account, "ACTIVATE").is(202);
            return self.plain.open(account, 0);
        }
        let amount = self.plain.products[product].minimum + self.sum(account);
        self.act("ACCO", account, amount, None).is(202);
        self.plain.open(account, amount);
    }

    fn command(&mut self, account: usize, command: &str) -> Seen {
        let name = self.plain.accounts[account].name.clone();
        self.note(&format!("{command} {name}"));
        self.bank.world().post(&format!("/instances/{name}?command={command}"), "")
    }

    fn deposit(&mut self) {
        let Some(account) = self.any(State::Active) else { return };
        let product = self.plain.accounts[account].product;
        let charge = self.plain.products[product].charge;
        let amount = charge + self.sum(account);
        self.act("CDPT", account, amount, None).is(202);
        self.plain.accounts[account].balance += amount - charge;
    }

    /// Takes what may be taken, all of it once in a while; also more, which is refused.
    fn withdraw(&mut self) {
        let Some(account) = self.any(State::Active) else { return };
        let product = self.plain.accounts[account].product;
        let most = self.plain.accounts[account].balance - self.plain.products[product].minimum;
        let wanted = self.sum(account);
        let amount = if self.chance.once_in(5) { most.max(wanted) } else { wanted };
        let seen = self.act("CWDL", account, amount, None);
        if amount > most {
            assert_eq!(seen.status, 409, "{}", seen.text());
            return;
        }
        seen.is(202);
        self.plain.accounts[account].balance -= amount;
    }

    fn transfer(&mut self) {
        let (Some(from), Some(to)) = (self.any(State::Active), self.any(State::Active)) else { return };
        let product = |account: usize| &self.plain.products[self.plain.accounts[account].product];
        let most = self.plain.accounts[from].balance - product(from).minimum;
        if from == to || product(from).currency != product(to).currency || most <= 0 {
            return;
        }
        let amount = self.sum(from).min(most);
        self.act("ACCT", from, amount, Some(to)).is(202);
        self.plain.accounts[from].balance -= amount;
        self.plain.accounts[to].balance += amount;
    }

    fn change_rate(&mut self) {
        let product = self.chance.below(self.plain.products.len());
        if self.plain.products[product].share {
            return;
        }
        let rate = rate(&mut self.chance);
        self.plain.products[product].rate = rate;
        self.bodies[product]["interest"] = decimal(&text_of(rate, 5));
        self.put(product);
    }

    pub fn put(&mut self, product: usize) {
        let (name, body) = (&self.plain.products[product].name, &self.bodies[product]);
        let today = self.plain.today;
        self.chance.note(format!("{today} {name} {} {}", body["interest"], body["expenseAccountIdentifier"]));
        self.bank.world().put(&format!("/definitions/{name}"), body.to_string()).is(202);
    }

    pub fn activate(&mut self, product: usize, active: bool) {
        let name = self.plain.products[product].name.clone();
        let command = if active { "ACTIVATE" } else { "DEACTIVATE" };
        self.note(&format!("{command} {name}"));
        self.bank.command(&name, command);
        self.plain.products[product].active = active;
    }

    /// Another expense account: its own, a new one, or one that holds another currency, so that the product
    /// cannot be booked.
    fn change_expense(&mut self) {
        let product = self.chance.below(self.plain.products.len());
        let Product { name, currency, expense, share, .. } = &self.plain.products[product];
        if *share {
            return;
        }
        let is_foreign = |(account, of): &(&String, &&str)| account.starts_with("expense") && *of != currency;
        let foreign = self.plain.currencies.iter().find(is_foreign).map(|(account, _)| account.clone());
        let own = format!("expense-{name}");
        let next = match foreign.filter(|_| expense.starts_with(&own)) {
            Some(foreign) if self.chance.once_in(2) => foreign,
            _ if *expense == own => format!("{own}-2"),
            _ => own,
        };
        self.bodies[product]["expenseAccountIdentifier"] = json!(next);
        self.plain.products[product].expense = next;
        self.put(product);
    }

    /// Pays an account, at times by two callers at once, of whom one comes too late.
    fn pay(&mut self) {
        let Some(account) = self.any(State::Active) else { return };
        let name = self.plain.accounts[account].name.clone();
        let due = self.plain.pay_now(account);
        self.note(&format!("pay {name}"));
        let twice = self.chance.once_in(3);
        let request = || {
            let path = format!("/instances/{name}/interest");
            let request = self.bank.world().request("POST", &path);
            request.header("content-type", "application/json").body(r#"{"action":"PAY"}"#)
        };
        let seen = self.bank.world().send_all((0..=usize::from(twice)).map(|_| request()).collect());
        let mut found: Vec<_> = seen.iter().map(|seen| seen.status).collect();
        found.sort_unstable();
        let mut expected = vec![409; usize::from(twice)];
        expected.insert(0, if due { 202 } else { 409 });
        assert_eq!(found, expected, "{name}");
        let late = seen.iter().filter(|seen| seen.status == 409);
        late.for_each(|seen| assert_eq!(seen.json()["code"], "nothing_accrued"));
    }

    /// Closes an account with what it accrued; where it is asked for, that is paid before.
    fn close(&mut self) {
        let Some(account) = self.any(State::Active) else { return };
        let closed = &self.plain.accounts[account];
        let product = &self.plain.products[closed.product];
        if product.is_broken(&self.plain.currencies) {
            // What is given up would have to be booked to an account of another currency.
            return;
        }
        let name = closed.name.clone();
        if self.chance.once_in(3) {
            let due = self.plain.pay_now(account);
            self.bank.pay(&name).is(if due { 202 } else { 409 });
        }
        match self.plain.accounts[account].balance {
            0 => self.command(account, "CLOSE").is(202),
            balance => self.act("ACCC", account, balance, None).is(202),
        };
        self.plain.close(account);
    }
}

/// A rate in percent, in 0.00001: ordinary ones, none, very small and very large ones.
fn rate(chance: &mut Chance) -> i128 {
    match chance.below(12) {
        0 => 0,
        1 => i128::from(chance.from(1, 9)),
        2 => i128::from(chance.from(1, 2_500_000)),
        3 => i128::from(chance.from(900, 1_000)) * WHOLE,
        _ => i128::from(chance.from(1, 2_500)) * WHOLE / 100,
    }
}

/// Two products in dollars, one in another currency, some more, and one that never earns.
fn products(chance: &mut Chance) -> Vec<Product> {
    let (other, scale) = chance.one(&[("EUR", 2), ("BHD", 3), ("JPY", 0), ("CLF", 4)]);
    let months = |name: &str, months| Product::new(name, "USD", Payable::Months(months));
    let mut found = vec![
        months("month", 1),
        Product { minimum: 100 * WHOLE, charge: WHOLE * 3 / 2, ..months("quarter", 3) },
        Product { scale, ..Product::new("other", other, Payable::Months(chance.one(&[1, 3]))) },
        Product { share: true, ..months("share", 1) },
    ];
    if chance.once_in(2) {
        found.push(months("year", 12));
    }
    let term = chance.one(&[None, Some(1), Some(2), Some(3)]);
    if chance.once_in(2) {
        found.push(Product::new("term", "USD", Payable::Maturity(term)));
    }
    for product in found.iter_mut().filter(|product| !product.share) {
        product.rate = rate(chance);
    }
    found
}
