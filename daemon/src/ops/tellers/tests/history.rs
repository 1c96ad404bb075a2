//! Random histories of a branch: the operations and the model agree on every answer and every balance.

use super::branch::{Branch, account, cents, code};
use super::model::{Model, Outcome, Step};
use crate::ops::ledger;
use crate::store::records::{StoredInstance, StoredTeller, StoredTransaction};
use mfa_shared::amount::Amount;
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::api::tellers::{TellerAction, TellerState, TransactionState};
use proptest::prelude::*;

/// Histories of one run, and operations of each: 20,000 in all.
const HISTORIES: u32 = 40;
const OPERATIONS: usize = 500;

/// How much, told by what is there, so that bounds are met and not only passed.
#[derive(Debug, Clone, Copy)]
enum HowMuch {
    Cents(i64),
    Balance(i64),
    Cash(i64),
    Limit(i64),
}

#[derive(Debug, Clone)]
enum Do {
    Open(usize, usize, HowMuch, i64),
    Close(usize, HowMuch, i64),
    Unlock(usize, usize, bool),
    Ready(usize),
    Pause(usize),
    Count(usize, HowMuch),
    Change(usize, i64, usize),
    NewAccount(usize),
    Create(usize, usize, usize, usize, HowMuch),
    Finish(usize, usize, bool, bool),
    FinishLast(bool, bool),
    Wait(i64),
}

const KINDS: [&str; 5] = ["ACCO", "ACCC", "ACCT", "CDPT", "CWDL"];

fn how_much() -> impl Strategy<Value = HowMuch> {
    prop_oneof![
        6 => (0..60_000_i64).prop_map(HowMuch::Cents),
        4 => (10_000..99_999_i64).prop_map(HowMuch::Cents),
        2 => (0..30_i64).prop_map(|tens| HowMuch::Cents(tens * 1_000)),
        1 => (-1..=0_i64).prop_map(HowMuch::Cents),
        3 => prop_oneof![Just(0), Just(-1_000), -10_200..200_i64].prop_map(HowMuch::Balance),
        2 => (-1..=1_i64).prop_map(HowMuch::Cash),
        1 => (-1..=1_i64).prop_map(HowMuch::Limit),
    ]
}

fn operation() -> impl Strategy<Value = Do> {
    let (teller, one) = (0..3_usize, 0..1_000_usize);
    prop_oneof![
        2 => (teller.clone(), 0..4_usize, how_much(), -1..=1_i64).prop_map(|(t, e, m, s)| Do::Open(t, e, m, s)),
        1 => (teller.clone(), how_much(), -1..=1_i64).prop_map(|(t, m, s)| Do::Close(t, m, s)),
        2 => (teller.clone(), 0..4_usize, any::<bool>()).prop_map(|(t, e, right)| Do::Unlock(t, e, right)),
        5 => teller.clone().prop_map(Do::Ready),
        1 => teller.clone().prop_map(Do::Pause),
        2 => (teller.clone(), how_much()).prop_map(|(t, m)| Do::Count(t, m)),
        1 => (teller.clone(), 0..120_000_i64, 0..5_usize).prop_map(|(t, l, d)| Do::Change(t, l, d)),
        3 => (0..3_usize).prop_map(Do::NewAccount),
        20 => (teller.clone(), 0..5_usize, one.clone(), one.clone(), how_much())
            .prop_map(|(t, k, a, b, m)| Do::Create(t, k, a, b, m)),
        5 => (teller, one, any::<bool>(), any::<bool>()).prop_map(|(t, x, c, i)| Do::Finish(t, x, c, i)),
        20 => (prop::bool::weighted(0.9), any::<bool>()).prop_map(|(c, i)| Do::FinishLast(c, i)),
        1 => (0..200_i64).prop_map(Do::Wait),
    ]
}

/// A branch and its model, which take the same steps.
struct Twins {
    branch: Branch,
    model: Model,
}

impl Twins {
    fn amount(&self, how_much: HowMuch, teller: usize, account: usize) -> i64 {
        match how_much {
            HowMuch::Cents(cents) => cents,
            HowMuch::Balance(more) => self.model.accounts.get(account).map_or(0, |a| a.balance) + more,
            HowMuch::Cash(more) => self.model.cash(teller) + more,
            HowMuch::Limit(more) => self.model.tellers[teller].limit + more,
        }
    }

    /// A teller, in most cases one that is ready.
    fn teller_for(&self, t: usize, n: usize) -> usize {
        let ready = (0..3).map(|i| (t + i) % 3).find(|i| self.model.tellers[*i].state == Step::Active);
        ready.filter(|_| !n.is_multiple_of(10)).unwrap_or(t)
    }

    /// An account, in most cases one that stands where the type of transaction needs it.
    fn account_for(&self, kind: &str, n: usize) -> usize {
        let accounts = &self.model.accounts;
        let needed = u8::from(kind != "ACCO");
        let fit: Vec<_> = (0..accounts.len()).filter(|i| accounts[*i].state == needed).collect();
        if fit.is_empty() || n.is_multiple_of(10) { n % accounts.len() } else { fit[n % fit.len()] }
    }

    /// Takes one step on both sides; the answers of both.
    fn step(&mut self, step: &Do) -> (Outcome, Outcome) {
        let accounts = self.model.accounts.len();
        let done = (Ok(()), Ok(()));
        match *step {
            Do::Open(t, e, how_much, sign) => {
                let amount = self.amount(how_much, t, 0).max(0) * sign;
                (self.model.open(t, e, amount), self.branch.command(TellerAction::Open, t, e, amount))
            }
            Do::Close(t, how_much, sign) => {
                let amount = self.amount(how_much, t, 0).max(0) * sign;
                (self.model.close(t, amount), self.branch.command(TellerAction::Close, t, 0, amount))
            }
            Do::Unlock(t, e, right) => (self.model.unlock(t, e, right), self.branch.unlock(t, e, right)),
            Do::Ready(t) => match self.model.tellers[t].employee {
                Some(e) => (self.model.unlock(t, e, true), self.branch.unlock(t, e, true)),
                None => self.step(&Do::Open(t, t, HowMuch::Cents(30_000), 1)),
            },
            Do::Pause(t) => (self.model.pause(t), self.branch.pause(t)),
            Do::Count(t, how_much) => {
                let total = self.amount(how_much, t, 0).max(0);
                (self.model.count(t, total), self.branch.count(t, total))
            }
            Do::Change(t, limit, drawer) => {
                let drawer = format!("drawer-{drawer}");
                (self.model.change(t, limit, &drawer), self.branch.change(t, limit, &drawer))
            }
            Do::NewAccount(product) => {
                self.branch.new_account(accounts, product);
                self.model.accounts.push(super::model::Account { product, state: 0, balance: 0 });
                done
            }
            Do::Create(t, kind, a, b, how_much) if accounts > 0 => {
                let kind = KINDS[kind];
                let (t, a, b) =
                    (self.teller_for(t, a), self.account_for(kind, a), self.account_for("ACCT", b));
                let amount = self.amount(how_much, t, a);
                let product = self.model.accounts[a].product;
                let expected = self.model.create(t, kind, a, b, amount);
                (expected, self.branch.create(t, kind, (a, product), b, amount))
            }
            Do::Finish(t, x, confirm, included) if !self.model.transactions.is_empty() => {
                let x = x % self.model.transactions.len();
                self.finish(t, x, confirm, included)
            }
            Do::FinishLast(confirm, included) if !self.model.transactions.is_empty() => {
                let x = self.model.transactions.len() - 1;
                self.finish(self.model.transactions[x].teller, x, confirm, included)
            }
            Do::Wait(seconds) => {
                self.model.now += seconds;
                self.branch.store.now = self.branch.store.now.plus_seconds(seconds);
                done
            }
            _ => done,
        }
    }

    fn finish(&mut self, t: usize, x: usize, confirm: bool, included: bool) -> (Outcome, Outcome) {
        (self.model.finish(t, x, confirm, included), self.branch.finish(t, x, confirm, included))
    }

    /// Everything that can be read is what the model says.
    fn compare(&mut self) {
        for t in 0..self.model.tellers.len() {
            self.compare_teller(t);
        }
        for (number, expected) in self.model.accounts.iter().enumerate() {
            let identifier = account(number);
            let (found, instance) = self.branch.store.read(|tx| {
                Ok((ledger::balance(tx, &identifier)?, tx.get::<StoredInstance>(&[&identifier])?.unwrap()))
            });
            assert_eq!(found, cents(expected.balance), "{identifier}");
            let state = [InstanceState::Pending, InstanceState::Active, InstanceState::Closed];
            assert_eq!(instance.state, state[usize::from(expected.state)], "{identifier}");
        }
        for (book, (net, currency)) in &self.model.books {
            let found: LedgerAccount = self.branch.store.read(|tx| tx.get(&[book])).unwrap();
            assert_eq!(found.debit_total.minus(found.credit_total), cents(*net), "{book}");
            assert_eq!(found.currency.as_deref(), *currency, "{book}");
        }
        for (identifier, expected) in self.branch.transactions.iter().zip(&self.model.transactions) {
            let found: StoredTransaction = self.branch.store.read(|tx| tx.get(&[identifier])).unwrap();
            let states = [TransactionState::Pending, TransactionState::Confirmed, TransactionState::Canceled];
            assert_eq!(found.transaction.state, states[usize::from(expected.state)], "{identifier}");
            let total = expected.amount + expected.charges.iter().sum::<i64>();
            assert_eq!(found.transaction.total_amount, cents(total), "{identifier}");
        }
        let sequence = self.branch.store.read(ledger::last_sequence);
        assert_eq!(i64::try_from(sequence).unwrap(), self.model.entries);
        let all: Vec<LedgerAccount> = self.branch.store.read(|tx| tx.all(&[]));
        let total = |side: fn(&LedgerAccount) -> Amount| Amount::sum(all.iter().map(side));
        assert_eq!(total(|a| a.debit_total), total(|a| a.credit_total), "the trial balance");
    }

    fn compare_teller(&mut self, t: usize) {
        let (expected, cash) = (&self.model.tellers[t], self.model.cash(t));
        let stored: StoredTeller = self.branch.store.read(|tx| tx.get(&[&code(t)])).unwrap();
        let state = match expected.state {
            Step::Closed => TellerState::Closed,
            Step::Open => TellerState::Open,
            Step::Active => TellerState::Active,
            Step::Paused => TellerState::Paused,
        };
        assert_eq!(stored.teller.state, state, "{}", code(t));
        assert_eq!(stored.teller.assigned_employee, expected.employee.map(|e| format!("emp{e}")));
        let balance = self.branch.balance(t);
        assert_eq!(balance.cash_on_hand, cents(cash), "{}", code(t));
        assert!(cash >= 0);
        assert_eq!(balance.cash_received_total, cents(expected.received), "{}", code(t));
        assert_eq!(balance.cash_disbursed_total, cents(expected.disbursed), "{}", code(t));
        assert_eq!(balance.day.is_some(), expected.opened);
        assert_eq!(balance.cash_entries.map_or(0, |entries| entries.len()), expected.entries, "{}", code(t));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: HISTORIES, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_branch_does_what_the_model_does(steps in prop::collection::vec(operation(), OPERATIONS)) {
        let mut twins = Twins { branch: Branch::new(), model: Model::new() };
        for product in [0, 0, 1, 2] {
            let _ = twins.step(&Do::NewAccount(product));
        }
        for (place, step) in steps.iter().enumerate() {
            let (expected, found) = twins.step(step);
            prop_assert_eq!(found, expected, "step {}: {:?}", place, step);
            if place % 25 == 0 || place + 1 == steps.len() {
                twins.compare();
            }
        }
        prop_assert_eq!(twins.branch.store.read(ledger::check_ledger), []);
    }
}
