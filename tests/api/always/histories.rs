//! Random histories at the counter against a model, over whichever engine serves: every answer is the one that
//! the model expects, and after the history every invariant of the ledger holds.

use crate::support::counter::{Counter, decimal, digits};
use crate::support::world::Seen;
use mfa_daemon::Check;
use mfa_shared::amount::Amount;
use proptest::prelude::*;
use serde_json::json;

/// What one withdrawal may pay out, in cents.
const LIMIT: i64 = 100_000;
/// What must stay on an account, in cents.
const MINIMUM: i64 = 10_000;

#[derive(Debug, Clone)]
enum Step {
    Open,
    Command(usize, &'static str),
    /// Type, account, target, how much, charges in cash.
    Transact(usize, usize, usize, HowMuch, bool),
    /// So much more than there is in the drawer.
    Count(i64),
    /// Close and open again, with so much from the vault.
    Session(i64),
    Wait(i64),
    Restart,
}

#[derive(Debug, Clone, Copy)]
enum HowMuch {
    Cents(i64),
    /// So much more than the account holds.
    Balance(i64),
}

const KINDS: [&str; 5] = ["ACCO", "ACCC", "ACCT", "CDPT", "CWDL"];

fn step() -> impl Strategy<Value = Step> {
    let words = prop_oneof![3 => Just("ACTIVATE"), 1 => Just("CLOSE"), 2 => Just("transaction")];
    let how_much = prop_oneof![
        5 => (1..60_000_i64).prop_map(HowMuch::Cents),
        2 => (10_000..20_000_i64).prop_map(HowMuch::Cents),
        3 => prop_oneof![Just(0), Just(-1_000), -10_200..200_i64].prop_map(HowMuch::Balance),
    ];
    prop_oneof![
        2 => Just(Step::Open),
        2 => (0..8_usize, words).prop_map(|(at, word)| Step::Command(at, word)),
        20 => (0..5_usize, 0..8_usize, 0..8_usize, how_much, any::<bool>())
            .prop_map(|(kind, at, to, sum, cash)| Step::Transact(kind, at, to, sum, cash)),
        1 => (-3_000..3_000_i64).prop_map(Step::Count),
        1 => (-50_000..50_000_i64).prop_map(Step::Session),
        2 => (1..200_000_i64).prop_map(Step::Wait),
        1 => Just(Step::Restart),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    Active,
    Closed,
}

#[derive(Debug)]
struct Account {
    identifier: String,
    state: State,
    balance: i64,
}

/// A counter, and what everything at it should be, in cents.
struct Twins {
    counter: Counter,
    accounts: Vec<Account>,
    cash: i64,
    vault: i64,
    income: i64,
    short: i64,
}

fn money(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

/// Percent of an amount in cents, given in hundredths of a percent, rounded half to even.
fn percent(amount: i64, hundredths: i64) -> i64 {
    let exact = amount * hundredths;
    let (whole, rest) = (exact / 10_000, exact % 10_000);
    if rest > 5_000 || (rest == 5_000 && whole % 2 == 1) { whole + 1 } else { whole }
}

/// What a transaction costs.
fn charge(kind: &str, amount: i64) -> i64 {
    match kind {
        "ACCO" => 500,
        "ACCC" => 1_000,
        "ACCT" => percent(amount, 125),
        "CDPT" => 150,
        _ => percent(amount, 300),
    }
}

/// The code of a refusal, or nothing.
type Outcome = Result<(), &'static str>;

fn refuse(when: bool, code: &'static str) -> Outcome {
    if when { Err(code) } else { Ok(()) }
}

#[track_caller]
fn answers(seen: Seen, expected: Outcome, what: &str) {
    let code = if seen.status < 300 { None } else { seen.json()["code"].as_str().map(str::to_owned) };
    assert_eq!(code.as_deref(), expected.err(), "{what}: {}", seen.text());
}

impl Twins {
    fn start() -> Self {
        let counter = Counter::active("1000");
        let (accounts, cash) = (Vec::new(), 100_000);
        let mut twins = Self { counter, accounts, cash, vault: -cash, income: 0, short: 0 };
        twins.step(&Step::Open);
        twins.step(&Step::Open);
        twins
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Open => {
                let identifier = self.counter.account("anna");
                assert_eq!(identifier, format!("anna.9100.{:05}", self.accounts.len() + 1));
                self.accounts.push(Account { identifier, state: State::Pending, balance: 0 });
            }
            Step::Command(at, word) => self.command(at % self.accounts.len(), word),
            Step::Transact(kind, at, to, sum, cash) => {
                let count = self.accounts.len();
                self.transact(KINDS[kind], at % count, to % count, sum, cash);
            }
            Step::Count(more) => {
                let total = (self.cash + more).max(0);
                self.counter.pause("T1").is(202);
                self.counter.count("T1", &money(total)).is(202);
                self.counter.unlock("T1", "emp1");
                self.short += self.cash - total;
                self.cash = total;
            }
            Step::Session(cents) => self.session(cents),
            Step::Wait(seconds) => self.counter.world.clock.advance(seconds),
            Step::Restart => self.counter.world.restart(),
        }
    }

    fn command(&mut self, at: usize, word: &str) {
        let account = &mut self.accounts[at];
        let (state, expected) = match (account.state, word) {
            (State::Pending | State::Active, "ACTIVATE") => (State::Active, Ok(())),
            (state @ (State::Pending | State::Active), "transaction") => (state, Ok(())),
            (State::Active, "CLOSE") if account.balance != 0 => (State::Active, Err("balance_not_zero")),
            (_, "CLOSE") => (State::Closed, Ok(())),
            _ => (State::Closed, Err("wrong_state")),
        };
        account.state = state;
        let path = format!("/instances/{}?command={word}", account.identifier);
        answers(self.counter.world.post(&path, ""), expected, word);
    }

    /// Closes the teller with cash to the vault, or opens it again with cash from there.
    fn session(&mut self, cents: i64) {
        let (close, open) = if cents < 0 { (-cents, 0) } else { (0, cents) };
        let adjusted = |action: &str, word: &str, cents: i64| match cents {
            0 => json!({ "action": action, "assignedEmployeeIdentifier": "emp1" }),
            _ => json!({ "action": action, "adjustment": word, "amount": decimal(&money(cents)),
                "assignedEmployeeIdentifier": "emp1" }),
        };
        let too_much = close > self.cash;
        let closed = self.counter.command("T1", adjusted("CLOSE", "CREDIT", close));
        answers(closed, refuse(too_much, "insufficient_cash"), "CLOSE");
        if too_much {
            return;
        }
        self.counter.command("T1", adjusted("OPEN", "DEBIT", open)).is(202);
        self.counter.unlock("T1", "emp1");
        self.cash += open - close;
        self.vault -= open - close;
    }

    fn transact(&mut self, kind: &'static str, at: usize, to: usize, sum: HowMuch, in_cash: bool) {
        let amount = match sum {
            HowMuch::Cents(cents) => cents,
            HowMuch::Balance(more) => (self.accounts[at].balance + more).max(1),
        };
        let fee = charge(kind, amount);
        let expected = self.allowed(kind, at, to, amount, fee, in_cash);
        let target = (kind == "ACCT").then(|| self.accounts[to].identifier.clone());
        let charges = if in_cash { "included" } else { "excluded" };
        let account = self.accounts[at].identifier.clone();
        let seen = self.counter.transact(kind, &account, target.as_deref(), &money(amount), charges);
        answers(seen, expected, kind);
        if expected.is_err() {
            return;
        }
        let (from_account, fee_in_cash) = if in_cash { (0, fee) } else { (fee, 0) };
        let (paid_in, paid_out) = match kind {
            "ACCO" | "CDPT" => (amount, 0),
            "ACCT" => (0, 0),
            _ => (0, amount),
        };
        self.cash += paid_in - paid_out + fee_in_cash;
        self.income += fee;
        let account = &mut self.accounts[at];
        account.balance += match kind {
            "ACCO" | "CDPT" => amount,
            _ => -amount,
        } - from_account;
        match kind {
            "ACCO" => account.state = State::Active,
            "ACCC" => account.state = State::Closed,
            "ACCT" => self.accounts[to].balance += amount,
            _ => {}
        }
    }

    /// The checks of creation, then those of confirmation, in the order of the contract.
    fn allowed(&self, kind: &str, at: usize, to: usize, amount: i64, fee: i64, in_cash: bool) -> Outcome {
        let account = &self.accounts[at];
        let due = if kind == "ACCO" { State::Pending } else { State::Active };
        let taken = amount + if in_cash { 0 } else { fee };
        let pays_out = matches!(kind, "CWDL" | "ACCC");
        refuse(kind == "ACCT" && at == to, "contradicts_account")?;
        refuse(account.state != due, "wrong_state")?;
        refuse(kind == "ACCT" && self.accounts[to].state != State::Active, "wrong_state")?;
        refuse(pays_out && amount > LIMIT, "over_cashdraw_limit")?;
        refuse(kind == "ACCO" && amount < MINIMUM, "below_minimum_balance")?;
        if matches!(kind, "ACCO" | "CDPT") {
            return refuse(!in_cash && fee > account.balance + amount, "insufficient_balance");
        }
        refuse(taken > account.balance, "insufficient_balance")?;
        if kind == "ACCC" {
            refuse(taken < account.balance, "remaining_balance")?;
        } else {
            refuse(account.balance - taken < MINIMUM, "below_minimum_balance")?;
        }
        refuse(pays_out && self.cash + if in_cash { fee } else { 0 } < amount, "insufficient_cash")
    }

    /// Everything that can be read is what the model says, and the check of the ledger finds nothing.
    fn hold(mut self) {
        let same = |found: &serde_json::Value, cents: i64, what: &str| {
            let found = Amount::parse(&digits(found)).unwrap();
            assert_eq!(found, Amount::parse(&money(cents)).unwrap(), "{what}");
        };
        for account in &self.accounts {
            let shown = self.counter.instance(&account.identifier);
            same(&shown["balance"], account.balance, &account.identifier);
            let state = format!("{:?}", account.state).to_uppercase();
            assert_eq!(shown["state"], state, "{}", account.identifier);
            let entries =
                format!("/ledger/accounts/{}/entries?sortDirection=DESC&size=1", account.identifier);
            let last = self.counter.world.get(&entries).is(200).json()["entries"][0]["balance"].clone();
            same(&if last.is_null() { json!(0) } else { last }, account.balance, "the last entry");
        }
        same(&self.counter.balance("T1")["cashOnHand"], self.cash, "cash on hand");
        for (account, cents) in [
            ("drawer-T1", self.cash),
            ("vault", self.vault),
            ("income", self.income),
            ("over-short", self.short),
        ] {
            same(&self.counter.ledger(account), cents, account);
        }
        let journal = self.counter.journal();
        let sequences = journal.iter().map(|entry| entry["sequence"].as_u64().unwrap());
        assert!(sequences.eq(1..=journal.len() as u64), "sequences without gaps");
        for day in journal.iter().map(|entry| entry["postedOn"].as_str().unwrap()[..10].to_owned()) {
            let trial = self.counter.world.get(&format!("/ledger/trial-balance?asOf={day}")).is(200).json();
            let total = |side: &str| Amount::parse(&digits(&trial[side])).unwrap();
            assert_eq!(total("totalDebit"), total("totalCredit"), "{day}");
        }
        self.counter.world.stop();
        assert_eq!(self.counter.world.check(&[Check::Ledger, Check::Store]), [""; 0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, max_shrink_iters: 40, failure_persistence: None, ..Default::default() })]
    #[test]
    fn after_any_history_the_books_are_those_of_the_model(steps in prop::collection::vec(step(), 30..100)) {
        let mut twins = Twins::start();
        steps.iter().for_each(|step| twins.step(step));
        twins.hold();
    }
}
