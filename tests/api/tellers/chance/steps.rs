//! What happens next: random numbers, and the operation that they select in the current state of the model,
//! so that most operations are possible and bounds are met, not only passed.

use super::Twins;
use super::act::{Act, At, Look, Slip, Wish};
use super::model::{EMPLOYEES, PINS, State};
use super::money::{PRODUCTS, account_name};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Make,
    Delete,
    Change,
    Open,
    Close,
    Unlock,
    /// Whatever makes the teller ready for transactions.
    Ready,
    Pause,
    Count,
    NewAccount,
    Command,
    Create,
    /// Of a transaction made shortly before, at its own teller.
    Finish,
    FinishAny,
    Look,
}

/// An amount, absolute or relative to one of the model.
#[derive(Debug, Clone, Copy)]
enum HowMuch {
    Thousandths(i64),
    Balance(i64),
    Cash(i64),
    Limit(i64),
}

#[derive(Debug, Clone)]
pub struct Step {
    kind: Kind,
    how_much: HowMuch,
    n: usize,
    m: usize,
    yes: bool,
    /// One of a hundred; few of them are mistakes.
    slip: usize,
    /// Another teller from now on.
    desk: Option<usize>,
    /// The time that passes before it.
    pub seconds: i64,
    pub restart: bool,
    /// Whether the waiting operations are sent after it.
    pub send: bool,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Make),
        1 => Just(Kind::Delete),
        4 => Just(Kind::Change),
        5 => Just(Kind::Open),
        1 => Just(Kind::Close),
        2 => Just(Kind::Unlock),
        4 => Just(Kind::Ready),
        1 => Just(Kind::Pause),
        4 => Just(Kind::Count),
        6 => Just(Kind::NewAccount),
        4 => Just(Kind::Command),
        60 => Just(Kind::Create),
        60 => Just(Kind::Finish),
        10 => Just(Kind::FinishAny),
        12 => Just(Kind::Look),
    ]
}

fn how_much() -> impl Strategy<Value = HowMuch> {
    let near = || prop_oneof![Just(0), -1..=1_i64, Just(-10), Just(10)];
    prop_oneof![
        6 => (0..600_000_i64).prop_map(HowMuch::Thousandths),
        4 => (100_000..999_999_i64).prop_map(HowMuch::Thousandths),
        2 => (0..30_i64).prop_map(|tens| HowMuch::Thousandths(tens * 10_000)),
        1 => (-1..=0_i64).prop_map(HowMuch::Thousandths),
        3 => prop_oneof![near(), Just(-10_000), -102_000..2_000_i64].prop_map(HowMuch::Balance),
        2 => near().prop_map(HowMuch::Cash),
        1 => near().prop_map(HowMuch::Limit),
    ]
}

/// Rarely something other than the first value.
fn seldom<T: Clone + std::fmt::Debug>(
    first: T,
    one_of: u32,
    other: impl Strategy<Value = T>,
) -> impl Strategy<Value = T> {
    prop_oneof![one_of - 1 => Just(first), 1 => other]
}

pub fn step() -> impl Strategy<Value = Step> {
    let seconds = prop_oneof![8 => 1..200_i64, 1 => Just(25 * 3600)];
    let numbers = (0..1_000_usize, 0..1_000_usize, any::<bool>(), 0..100_usize);
    let around = (
        seldom(None, 20, (0..4_usize).prop_map(Some)),
        seldom(0, 100, seconds),
        seldom(false, 1_500, Just(true)),
        prop::bool::weighted(0.1),
    );
    (kind(), how_much(), numbers, around).prop_map(
        |(kind, how_much, (n, m, yes, slip), (desk, seconds, restart, send))| Step {
            kind,
            how_much,
            n,
            m,
            yes,
            slip,
            desk,
            seconds,
            restart,
            send,
        },
    )
}

/// What a history might never reach by chance: the first employee is wanted at a second teller, and closes an
/// account that holds nothing.
pub fn overture() -> Vec<Act> {
    let (at, word, slip) = (At::Here, "NONE", Slip::None);
    let open = |t| Act::Open { t, at, employee: Some(0), word, amount: 0 };
    let (account, target, product) = (4, 0, 1);
    vec![
        open(0),
        open(1),
        Act::Unlock { t: 0, employee: 0, pin: 0 },
        Act::Command { account, word: "ACTIVATE" },
        Act::Create { t: 0, wish: Wish { kind: "ACCC", account, target, product, amount: 0 }, slip },
        Act::Finish { t: 0, x: 0, confirm: true, included: false, slip },
    ]
}

const KINDS: [&str; 5] = ["ACCO", "ACCC", "ACCT", "CDPT", "CWDL"];
const ADJUSTMENTS: [&str; 3] = ["NONE", "DEBIT", "CREDIT"];
const COMMANDS: [&str; 4] = ["ACTIVATE", "CLOSE", "TRANSACTION", "RESUME"];

impl Step {
    fn at(&self) -> At {
        match self.slip {
            0 => At::Nowhere,
            1 => At::Elsewhere,
            _ => At::Here,
        }
    }

    /// Rarely, one of the mistakes that an operation knows.
    fn mistake(&self, known: &[Slip]) -> Slip {
        let place = self.slip.checked_sub(90).filter(|place| *place < known.len());
        place.map_or(Slip::None, |place| known[place])
    }
}

impl Twins {
    fn amount(&self, how_much: HowMuch, t: usize, account: Option<usize>) -> i64 {
        match how_much {
            HowMuch::Thousandths(amount) => amount,
            HowMuch::Balance(more) => account.map_or(0, |account| self.model.held(account)) + more,
            HowMuch::Cash(more) => self.model.tellers[t].cash() + more,
            HowMuch::Limit(more) => self.model.tellers[t].limit + more,
        }
    }

    /// Who does it: at the counter nearly always the one who is assigned.
    pub fn caller(&self, act: &Act, step: &Step) -> usize {
        let (Act::Unlock { t, .. } | Act::Pause { t, .. } | Act::Create { t, .. } | Act::Finish { t, .. }) =
            act
        else {
            return self.who;
        };
        let assigned = self.model.tellers[*t].employee.filter(|_| step.slip != 2);
        assigned.unwrap_or(step.n % EMPLOYEES)
    }

    /// What precedes it: a pause before most counts, and rarely PINs until the drawer is locked.
    pub fn before(&self, step: &Step) -> Vec<Act> {
        let (t, employee) = (self.desk, self.assigned(self.desk));
        let teller = &self.model.tellers[t];
        let guess = Act::Unlock { t, employee, pin: (teller.pin + 1) % PINS.len() };
        match step.kind {
            Kind::Unlock if step.slip > 90 => vec![guess; 5],
            Kind::Count if teller.state == State::Active && step.yes => {
                vec![Act::Pause { t, slip: Slip::None }]
            }
            _ => Vec::new(),
        }
    }

    /// The operation of a step.
    pub fn act(&mut self, step: &Step) -> Act {
        self.desk = step.desk.unwrap_or(self.desk);
        let (n, m, at) = (step.n, step.m, step.at());
        let t = if step.slip < 5 { n % 5 } else { self.desk };
        let amount = self.amount(step.how_much, t, None);
        let is_active = self.model.tellers[t].state == State::Active;
        match step.kind {
            Kind::Create | Kind::Finish if !is_active && step.slip > 30 => self.ready(t),
            Kind::Make => Act::Make { t: n % 4, at: if step.slip == 0 { at } else { At::Here }, pin: m % 3 },
            // Those that are never opened come and go.
            Kind::Delete => Act::Delete { t: if step.yes { 3 } else { t }, at },
            Kind::Change => self.change(step, t),
            Kind::Open => {
                let employee = (step.slip < 70).then_some(m % EMPLOYEES);
                let closed = |t: &usize| self.model.tellers[*t].state == State::Closed;
                let t = Some((t + 1) % 3).filter(closed).filter(|_| step.yes).unwrap_or(t);
                let (word, amount) = adjusted(n, amount, step.slip);
                Act::Open { t, at, employee, word, amount }
            }
            Kind::Close => {
                let (word, amount) = adjusted(n, amount, step.slip);
                Act::Close { t, at, word, amount }
            }
            Kind::Unlock => {
                let employee = if step.slip < 8 { m % EMPLOYEES } else { self.assigned(t) };
                Act::Unlock { t, employee, pin: n % 3 }
            }
            Kind::Ready => self.ready(t),
            Kind::Pause => Act::Pause { t, slip: step.mistake(&[Slip::Word]) },
            Kind::Count => Act::Count { t, at, total: if step.slip == 99 { -1 } else { amount.max(0) } },
            Kind::NewAccount => {
                let product = if step.slip == 99 { PRODUCTS.len() } else { m % PRODUCTS.len() };
                Act::NewAccount { product }
            }
            Kind::Command => {
                let word = if step.slip > 95 { 3 } else { n % 3 };
                Act::Command { account: m % (self.model.accounts.len() + 1), word: COMMANDS[word] }
            }
            Kind::Create => self.create(step, t),
            Kind::Finish | Kind::FinishAny => self.finish(step, t),
            Kind::Look => Act::Look(self.a_look(step, t)),
        }
    }

    fn assigned(&self, t: usize) -> usize {
        self.model.tellers[t].employee.unwrap_or(t % EMPLOYEES)
    }

    fn ready(&self, t: usize) -> Act {
        let (teller, at) = (&self.model.tellers[t], At::Here);
        match teller.state {
            _ if !teller.exists => Act::Make { t: 3, at, pin: 0 },
            State::Closed => {
                let (employee, word, amount) = (Some(t % EMPLOYEES), "DEBIT", 300_000);
                Act::Open { t, at, employee, word, amount }
            }
            State::Open | State::Paused => Act::Unlock { t, employee: self.assigned(t), pin: teller.pin },
            State::Active => Act::Look(Look::Balance { t, at }),
        }
    }

    fn change(&self, step: &Step, t: usize) -> Act {
        let (n, m) = (step.n, step.m);
        let drawer = match n % 20 {
            0 | 1 => account_name(0),
            2 => "vault".to_owned(),
            3 => "income-USD".to_owned(),
            4..8 => format!("drawer-{}", n % 5),
            _ => self.model.tellers[t].drawer.clone(),
        };
        let employee = match m % 20 {
            0 => Some(None),
            1..4 => Some(Some(n % EMPLOYEES)),
            _ => None,
        };
        let pin = if step.slip == 98 { 2 } else { m % 2 };
        let (at, limit, slip) = (step.at(), (m as i64) * 1_010, step.mistake(&[Slip::Other]));
        Act::Change { t, at, limit, drawer, pin, employee, slip }
    }

    /// An account in the state that the type of transaction needs, in most cases.
    fn account(&self, kind: &str, n: usize) -> usize {
        let accounts = &self.model.accounts;
        let needed = usize::from(kind != "ACCO");
        let drawer = self.model.books.get(&self.model.tellers[self.desk].drawer);
        let currency = drawer.and_then(|book| book.currency);
        let fits = |account: &usize| {
            let of = self.model.product(*account).currency;
            accounts[*account].state == needed && currency.is_none_or(|currency| currency == of)
        };
        let fit: Vec<_> = (0..accounts.len()).filter(fits).collect();
        // One more than there are is unknown.
        if fit.is_empty() || n.is_multiple_of(10) { n % (accounts.len() + 1) } else { fit[n % fit.len()] }
    }

    fn create(&self, step: &Step, t: usize) -> Act {
        let kind = KINDS[step.n / 10 % KINDS.len()];
        let (account, target) = (self.account(kind, step.n), self.account("ACCT", step.m));
        let known = Some(account).filter(|account| *account < self.model.accounts.len());
        let mistakes = [Slip::Word, Slip::Other, Slip::Customer, Slip::Product, Slip::Target];
        let slip = step.mistake(&mistakes);
        // An account is closed with what it holds, or without its charge.
        let how_much = match kind {
            "ACCC" if step.slip < 40 => HowMuch::Balance(0),
            "ACCC" if step.slip < 60 => HowMuch::Balance(-10_000),
            _ => step.how_much,
        };
        let mut amount = self.amount(how_much, t, known);
        // Rarely, finer than the currency allows.
        if step.slip > 4 {
            let unit = known.map_or(1, |account| self.model.product(account).unit());
            amount = amount.div_euclid(unit) * unit;
        }
        if slip == Slip::Target {
            amount = amount.max(1_000);
        }
        let product = known.map_or(0, |account| self.model.accounts[account].product);
        Act::Create { t, wish: Wish { kind, account, target, product, amount }, slip }
    }

    fn finish(&self, step: &Step, t: usize) -> Act {
        let made = self.model.transactions.len();
        let (confirm, included) = (!step.m.is_multiple_of(10), step.yes);
        let slip = step.mistake(&[Slip::Word, Slip::Other]);
        if matches!(step.kind, Kind::FinishAny) || made == 0 {
            return Act::Finish { t, x: step.n % (made + 1), confirm, included, slip };
        }
        // Those that wait and can be named, or else the last.
        let sent = self.branch.transactions.len();
        let waits = |x: &usize| self.model.transactions[*x].state == 0;
        let x = (0..sent).rev().filter(waits).nth(step.n % 8).unwrap_or(made - 1);
        let found = &self.model.transactions[x];
        let is_all = !found.charges.is_empty() && self.model.held(found.account) == found.amount;
        Act::Finish {
            t: found.teller,
            x,
            confirm,
            included: included || is_all && found.kind == "ACCC",
            slip,
        }
    }

    fn a_look(&self, step: &Step, t: usize) -> Look {
        let (at, n, made) = (step.at(), step.n, self.model.transactions.len());
        match step.m % 7 {
            0 => Look::Teller { t, at },
            1 => Look::Balance { t, at },
            2 => Look::Counts { t, at },
            3 => Look::Report { t, at },
            4 if made > 0 => Look::Transaction { t, x: n % made },
            5 if !self.model.books.is_empty() => {
                Look::Book(self.model.books.keys().nth(n % self.model.books.len()).unwrap().clone())
            }
            _ => Look::Account(n % (self.model.accounts.len() + 1)),
        }
    }
}

/// A word and an amount that fits it, in most cases.
fn adjusted(n: usize, amount: i64, slip: usize) -> (&'static str, i64) {
    let word = ADJUSTMENTS[n % ADJUSTMENTS.len()];
    match (word, slip) {
        (_, 99) => (word, -1),
        ("NONE", 0..95) => (word, 0),
        _ => (word, amount.max(0)),
    }
}
