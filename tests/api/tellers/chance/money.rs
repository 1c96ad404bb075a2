//! The accounts of customers and the transactions of the model.

use super::act::{Slip, Wish};
use super::model::*;

/// A product: its minimum in thousandths, and its charges.
pub struct Product {
    pub identifier: &'static str,
    pub currency: &'static str,
    pub scale: u32,
    pub minimum: i64,
    pub charges: &'static [Charge],
}

/// A charge: transaction type, action, and thousandths, or hundredths of a percent.
pub struct Charge {
    pub kind: &'static str,
    pub action: &'static str,
    pub proportional: bool,
    pub value: i64,
}

const fn fixed(kind: &'static str, action: &'static str, value: i64) -> Charge {
    Charge { kind, action, proportional: false, value }
}

const fn percent(kind: &'static str, action: &'static str, value: i64) -> Charge {
    Charge { kind, action, proportional: true, value }
}

pub const PRODUCTS: [Product; 4] = [
    Product {
        identifier: "saver",
        currency: "USD",
        scale: 2,
        minimum: 100_000,
        charges: &[
            fixed("ACCO", "Open", 5_000),
            fixed("CDPT", "Deposit", 1_500),
            percent("CWDL", "Withdraw", 300),
            fixed("CWDL", "Withdraw", 10),
            percent("ACCT", "Transfer", 125),
            fixed("ACCC", "Close", 10_000),
        ],
    },
    Product { identifier: "plain", currency: "USD", scale: 2, minimum: 0, charges: &[] },
    Product {
        identifier: "dinar",
        currency: "KWD",
        scale: 3,
        minimum: 500,
        charges: &[
            percent("CDPT", "Deposit", 1_250),
            percent("ACCO", "Open", 50),
            percent("ACCC", "Close", 300),
        ],
    },
    Product {
        identifier: "yen",
        currency: "JPY",
        scale: 0,
        minimum: 100_000,
        charges: &[percent("CWDL", "Withdraw", 300), percent("ACCT", "Transfer", 50)],
    },
];

impl Product {
    /// The smallest amount of the currency, in thousandths.
    pub fn unit(&self) -> i64 {
        10_i64.pow(3 - self.scale)
    }

    /// What a transaction is charged; percentages are rounded once, half to even. A charge of 0 is left out.
    fn charged(&self, kind: &str, amount: i64) -> Vec<(&'static str, i64)> {
        let of_kind = self.charges.iter().filter(|charge| charge.kind == kind);
        let computed = of_kind.map(|charge| {
            let exact = amount * charge.value;
            let whole = 10_000 * self.unit();
            let (units, rest) = (exact / whole, exact % whole);
            let up = 2 * rest > whole || (2 * rest == whole && units % 2 == 1);
            let rounded = (units + i64::from(up)) * self.unit();
            (charge.action, if charge.proportional { rounded } else { charge.value })
        });
        computed.filter(|(_, amount)| *amount != 0).collect()
    }
}

/// The identifier of the account with a number.
pub fn account_name(account: usize) -> String {
    format!("anna.9100.{:05}", account + 1)
}

impl Model {
    pub fn product(&self, account: usize) -> &'static Product {
        &PRODUCTS[self.accounts[account].product]
    }

    pub fn held(&self, account: usize) -> i64 {
        let book = &self.books[&account_name(account)];
        book.credit - book.debit
    }

    /// One product more than there are is unknown.
    pub fn new_account(&mut self, product: usize) -> Outcome {
        refuse(product >= PRODUCTS.len(), 400, "unknown_reference")?;
        let book = Book { currency: Some(PRODUCTS[product].currency), ..Book::default() };
        self.books.insert(account_name(self.accounts.len()), book);
        self.accounts.push(Account { product, state: 0 });
        Ok(Facts::new())
    }

    pub fn command(&mut self, account: usize, word: &str) -> Outcome {
        refuse(!["ACTIVATE", "CLOSE", "TRANSACTION"].contains(&word), 400, "invalid_parameter")?;
        refuse(account >= self.accounts.len(), 404, "instance_not_found")?;
        let (state, held) = (self.accounts[account].state, self.held(account));
        refuse(state == 2 && word != "CLOSE", 409, "wrong_state")?;
        refuse(word == "CLOSE" && held != 0, 409, "balance_not_zero")?;
        self.accounts[account].state = match word {
            "ACTIVATE" => 1,
            "CLOSE" => 2,
            _ => state,
        };
        Ok(Facts::new())
    }

    pub fn look_at_account(&self, account: usize) -> Outcome {
        refuse(account >= self.accounts.len(), 404, "instance_not_found")?;
        let state = ["PENDING", "ACTIVE", "CLOSED"][self.accounts[account].state];
        Ok(vec![
            fact("/state", Fact::Text(state.to_owned())),
            fact("/balance", Fact::Money(self.held(account))),
        ])
    }

    pub fn look_at_transaction(&self, t: usize, x: usize) -> Outcome {
        refuse(!self.tellers[t].exists, 404, "teller_not_found")?;
        let found = &self.transactions[x];
        refuse(found.teller != t, 404, "transaction_not_found")?;
        let state = ["PENDING", "CONFIRMED", "CANCELED"][found.state];
        let total = found.amount + found.charges.iter().sum::<i64>();
        Ok(vec![
            fact("/state", Fact::Text(state.to_owned())),
            fact("/transactionType", Fact::Text(found.kind.to_owned())),
            fact("/amount", Fact::Money(found.amount)),
            fact("/totalAmount", Fact::Money(total)),
            fact("/chargesIncluded", found.included.map_or(Fact::Null, Fact::Yes)),
        ])
    }

    fn stands(&self, kind: &str, account: usize, target: Option<usize>) -> Result<(), Refused> {
        let needed = usize::from(kind != "ACCO");
        let ready = self.accounts[account].state == needed;
        let target_ready = target.is_none_or(|target| self.accounts[target].state == 1);
        refuse(!ready || !target_ready, 409, "wrong_state")
    }

    fn one_currency(&self, t: usize, account: usize, target: Option<usize>) -> Result<(), Refused> {
        let (account, target) = (account_name(account), target.map(account_name));
        let drawer = self.tellers[t].drawer.as_str();
        let books: Vec<_> = [drawer, &account].into_iter().chain(target.as_deref()).collect();
        self.joined(&books).map(|_| ())
    }

    pub fn create(&mut self, who: usize, t: usize, wish: &Wish, slip: Slip) -> Outcome {
        let Wish { kind, account, amount, .. } = *wish;
        let target = (kind == "ACCT").then_some(wish.target);
        wrong(target.is_some() && slip == Slip::Target, "/targetAccountIdentifier required")?;
        let least = i64::from(!matches!(kind, "ACCO" | "ACCC") && slip != Slip::Word);
        wrong(amount < least, "/amount out_of_range")?;
        refuse(slip == Slip::Word, 400, "unsupported_transaction_type")?;
        self.works(who, t)?;
        let unknown = account >= self.accounts.len() || target.is_some_and(|to| to >= self.accounts.len());
        refuse(unknown || slip == Slip::Product, 400, "unknown_reference")?;
        let others = matches!(slip, Slip::Other | Slip::Customer);
        refuse(others || target == Some(account), 400, "contradicts_account")?;
        let product = self.product(account);
        // Between two currencies no amount is right, which is said later.
        let coarse = target.map(|target| self.product(target)).filter(|to| to.currency == product.currency);
        let unit = coarse.map_or(0, Product::unit).max(product.unit());
        wrong(amount % unit != 0, "/amount too_many_decimals")?;
        self.is_active(t)?;
        self.stands(kind, account, target)?;
        let over = matches!(kind, "CWDL" | "ACCC") && amount > self.tellers[t].limit;
        refuse(over, 409, "over_cashdraw_limit")?;
        refuse(kind == "ACCO" && amount < product.minimum, 409, "below_minimum_balance")?;
        self.one_currency(t, account, target)?;
        let charged = product.charged(kind, amount);
        let charges: Vec<_> = charged.iter().map(|(_, charge)| *charge).collect();
        let mut facts = vec![
            fact("/totalAmount", Fact::Money(amount + charges.iter().sum::<i64>())),
            fact("/charges", Fact::Many(charges.len())),
        ];
        for (place, (action, charge)) in charged.into_iter().enumerate() {
            facts.push(fact(&format!("/charges/{place}/code"), Fact::Text(action.to_owned())));
            facts.push(fact(&format!("/charges/{place}/amount"), Fact::Money(charge)));
        }
        let (state, included) = (0, None);
        let new = Transaction { teller: t, kind, account, target, amount, charges, state, included };
        self.transactions.push(new);
        Ok(facts)
    }

    /// `x` is one more than there are where no such transaction is.
    pub fn finish(
        &mut self,
        who: usize,
        t: usize,
        x: usize,
        (confirm, included): (bool, bool),
        slip: Slip,
    ) -> Outcome {
        refuse(matches!(slip, Slip::Word | Slip::Other), 400, "invalid_parameter")?;
        refuse(!self.tellers[t].exists, 404, "teller_not_found")?;
        refuse(x >= self.transactions.len(), 404, "transaction_not_found")?;
        self.works(who, t)?;
        self.is_active(t)?;
        refuse(self.transactions[x].teller != t, 409, "other_teller")?;
        refuse(self.transactions[x].state != 0, 409, "wrong_state")?;
        if confirm {
            self.confirm(who, x, included)?;
            self.transactions[x].included = Some(included);
        }
        self.transactions[x].state = if confirm { 1 } else { 2 };
        Ok(Facts::new())
    }

    fn confirm(&mut self, who: usize, x: usize, included: bool) -> Result<(), Refused> {
        let Transaction { teller: t, kind, account, target, amount, .. } = self.transactions[x];
        let charges = self.transactions[x].charges.clone();
        let (total, product) = (charges.iter().sum::<i64>(), self.product(account));
        self.stands(kind, account, target)?;
        let (in_cash, from_account) = if included { (total, 0) } else { (0, total) };
        let (balance, taken) = (self.held(account), amount + from_account);
        let (pays_in, pays_out) = (matches!(kind, "ACCO" | "CDPT"), matches!(kind, "CWDL" | "ACCC"));
        refuse(pays_out && amount > self.tellers[t].limit, 409, "over_cashdraw_limit")?;
        let short = if pays_in { from_account > balance + amount } else { taken > balance };
        refuse(short, 409, "insufficient_balance")?;
        refuse(kind == "ACCC" && taken < balance, 409, "remaining_balance")?;
        let left = match kind {
            "ACCO" => amount,
            "CWDL" | "ACCT" => balance - taken,
            _ => product.minimum,
        };
        refuse(left < product.minimum, 409, "below_minimum_balance")?;
        refuse(pays_out && self.tellers[t].cash() + in_cash < amount, 409, "insufficient_cash")?;
        self.one_currency(t, account, target)?;
        let drawer = |amount| (self.tellers[t].drawer.clone(), amount);
        let of_account = |amount| (account_name(account), amount);
        let from_account = [of_account(amount), of_account(from_account)];
        let (mut lines, cash) = match kind {
            "ACCO" | "CDPT" => {
                let [paid_in, charged] = from_account;
                (vec![drawer(amount + in_cash), charged, (paid_in.0, -amount)], vec![amount + in_cash])
            }
            "CWDL" | "ACCC" => {
                let of_drawer = [drawer(in_cash), drawer(-amount)];
                (from_account.into_iter().chain(of_drawer).collect(), vec![in_cash, -amount])
            }
            _ => {
                let received = (account_name(target.unwrap()), -amount);
                (from_account.into_iter().chain([drawer(in_cash), received]).collect(), vec![in_cash])
            }
        };
        lines.extend(charges.iter().map(|charge| (format!("income-{}", product.currency), -charge)));
        self.post((kind, who, t), lines)?;
        cash.into_iter().for_each(|amount| self.tellers[t].moved(amount, kind));
        match kind {
            "ACCO" => self.accounts[account].state = 1,
            "ACCC" => self.accounts[account].state = 2,
            _ => {}
        }
        Ok(())
    }
}
