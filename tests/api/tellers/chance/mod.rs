//! Random histories of a branch: the daemon and a model agree on every status, every code and every amount,
//! whether operations come alone or many in one request, over whichever engine serves.

mod act;
mod branch;
mod day;
mod model;
mod money;
mod steps;

use crate::support::stored::postgres;
use act::{Act, At, Call, Look, thousandths};
use branch::Branch;
use mfa_daemon::Check;
use model::{Model, Outcome, State, TELLERS};
use money::account_name;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestError, TestRunner};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use steps::{Step, overture, step};

/// Histories of one run, and operations of each: 20,000 in all on the embedded store.
const HISTORIES: u32 = 5;
const OPERATIONS: usize = 4_000;
/// On PostgreSQL everything takes more round trips, so there is one.
const HISTORIES_ON_POSTGRES: u32 = 1;
/// After so many operations everything that can be read is compared.
const LOOK_AFTER: usize = 1_000;
/// Most operations of a request.
const TOGETHER_MAX: usize = 200;

/// A branch and its model, which are given the same operations.
struct Twins {
    branch: Branch,
    model: Model,
    /// The teller at which most things happen, and who does them.
    desk: usize,
    who: usize,
    /// Operations that were not sent yet, each with what the model says.
    waiting: Vec<(Act, Outcome)>,
    /// The codes of all refusals, and what was done.
    met: Vec<String>,
}

impl Twins {
    fn new() -> Self {
        let (branch, model, waiting, met) = (Branch::open(), Model::new(), Vec::new(), Vec::new());
        Self { branch, model, desk: 0, who: 0, waiting, met }
    }

    fn step(&mut self, step: &Step) -> TestCaseResult {
        if step.seconds != 0 || step.restart {
            self.send()?;
            self.branch.world.clock.advance(step.seconds);
            self.model.now += step.seconds;
        }
        if step.restart {
            self.branch.world.restart();
        }
        for act in self.before(step) {
            let who = self.caller(&act, step);
            self.take(who, act)?;
        }
        let act = self.act(step);
        let who = self.caller(&act, step);
        self.take(who, act)?;
        if step.send { self.send() } else { Ok(()) }
    }

    /// Lets the model do something, and has the branch do it with the next request.
    fn take(&mut self, who: usize, act: Act) -> TestCaseResult {
        // No request can name a transaction that it makes itself, and a PIN never travels with others.
        let made = self.branch.transactions.len();
        let unknown = match act {
            Act::Finish { x, .. } | Act::Look(Look::Transaction { x, .. }) => {
                x >= made && x < self.model.transactions.len()
            }
            _ => false,
        };
        let alone = matches!(act, Act::Unlock { .. });
        if who != self.who || unknown || alone || self.waiting.len() >= TOGETHER_MAX {
            self.send()?;
        }
        self.who = who;
        let expected = self.model.take(who, &act);
        self.met.push(match (&expected, &act) {
            (Err(refused), _) => refused.code.clone(),
            (Ok(_), Act::Finish { x, confirm: true, included, .. }) => {
                format!(
                    "{} {}",
                    self.model.transactions[*x].kind,
                    if *included { "included" } else { "excluded" }
                )
            }
            (Ok(_), act) => format!("{act:?}").split([' ', '(']).next().unwrap_or_default().to_owned(),
        });
        self.waiting.push((act, expected));
        if alone { self.send() } else { Ok(()) }
    }

    /// Sends the waiting operations, and compares each answer with the model's.
    fn send(&mut self) -> TestCaseResult {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let calls: Vec<_> = waiting.iter().map(|(act, _)| act.call(&self.branch.transactions)).collect();
        let answers = self.branch.send(self.who, &calls);
        prop_assert_eq!(answers.len(), waiting.len());
        for (((act, expected), call), answer) in waiting.iter().zip(&calls).zip(&answers) {
            let Call { method, path, success, .. } = call;
            let what = || format!("emp{} {act:?}: {method} {path}: {}", self.who, answer.body);
            match expected {
                Ok(facts) => {
                    prop_assert_eq!(answer.status, *success, "{}", what());
                    prop_assert_eq!(&answer.facts(facts), facts, "{}", what());
                }
                Err(refused) => {
                    prop_assert_eq!(answer.status, refused.status, "{}", what());
                    prop_assert_eq!(answer.body["code"].as_str(), Some(refused.code.as_str()), "{}", what());
                    prop_assert_eq!(fields(&answer.body), refused.field.as_str(), "{}", what());
                }
            }
            if let (Act::Create { .. }, Ok(_)) = (act, expected) {
                let identifier = answer.body["tellerTransactionIdentifier"].as_str().unwrap();
                self.branch.transactions.push(identifier.to_owned());
            }
        }
        Ok(())
    }

    /// Everything that can be read is what the model says.
    fn look(&mut self) -> TestCaseResult {
        self.send()?;
        let mut looks: Vec<_> = (0..self.model.accounts.len()).map(Look::Account).collect();
        for t in 0..TELLERS {
            let at = At::Here;
            looks.extend([Look::Teller { t, at }, Look::Balance { t, at }, Look::Counts { t, at }]);
            looks.push(Look::Report { t, at });
        }
        let transactions = self.model.transactions.iter().enumerate();
        looks.extend(transactions.map(|(x, found)| Look::Transaction { t: found.teller, x }));
        looks.extend(self.model.books.keys().cloned().map(Look::Book));
        looks.into_iter().try_for_each(|look| self.take(self.who, Act::Look(look)))?;
        self.send()?;
        let trial = self.branch.world.login("olga").get("/ledger/trial-balance").is(200).json();
        prop_assert_eq!(thousandths(&trial["totalDebit"]), thousandths(&trial["totalCredit"]));
        for (t, teller) in self.model.tellers.iter().enumerate() {
            prop_assert!(teller.cash() >= 0, "T{}", t);
            prop_assert!(teller.state == State::Closed || teller.employee.is_some(), "T{}", t);
        }
        Ok(())
    }

    /// The journal has the entries of the model, line by line, and the checks of the store find nothing.
    fn hold(mut self) -> TestCaseResult {
        self.look()?;
        let world = &mut self.branch.world;
        let token = world.login("olga").token;
        let list = world.request("GET", "/ledger/journal").header("accept", "application/x-ndjson");
        let text = world.send(list.bearer_auth(token)).is(200).text();
        let journal: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(journal.len(), self.model.journal.len());
        let mut held: BTreeMap<String, i64> = BTreeMap::new();
        for (sequence, (found, expected)) in (1..).zip(journal.iter().zip(&self.model.journal)) {
            let (kind, who, t, lines) = expected;
            prop_assert_eq!(found["sequence"].as_u64(), Some(sequence));
            prop_assert_eq!(found["type"].as_str(), Some(*kind));
            prop_assert_eq!(&found["clerk"], &format!("emp{who}"));
            prop_assert_eq!(&found["tellerCode"], &format!("T{t}"));
            let posted: Vec<_> = found["lines"].as_array().unwrap().iter().map(line).collect();
            prop_assert_eq!(&posted, lines, "entry {}", sequence);
            for (account, amount) in &posted {
                *held.entry(account.clone()).or_default() -= amount;
            }
            // The minimum of no product changes here, so nothing is paid out or transferred below it.
            if matches!(*kind, "CWDL" | "ACCT") {
                let paying =
                    (0..self.model.accounts.len()).find(|a| account_name(*a) == posted[0].0).unwrap();
                prop_assert!(held[&posted[0].0] >= self.model.product(paying).minimum, "entry {}", sequence);
            }
        }
        world.stop();
        prop_assert_eq!(world.check(&[Check::Ledger, Check::Store]), [""; 0]);
        Ok(())
    }
}

/// A line of the journal; a debit is above 0.
fn line(line: &Value) -> (String, i64) {
    let amount = thousandths(&line["amount"]);
    let account = line["accountIdentifier"].as_str().unwrap().to_owned();
    (account, if line["side"] == "DEBIT" { amount } else { -amount })
}

/// `pointer code` of each field that breaks its rule.
fn fields(problem: &Value) -> String {
    let errors = problem["errors"].as_array().filter(|_| problem["code"] == "invalid_fields");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let shown = |error: &Value| format!("{} {}", text(&error["field"]), text(&error["code"]));
    errors.into_iter().flatten().map(shown).collect::<Vec<_>>().join(", ")
}

/// What a run always meets, dozens of times each: so none of it goes unnoticed.
const MET: &[&str] = &[
    "ACCC excluded",
    "ACCC included",
    "ACCO excluded",
    "ACCO included",
    "ACCT excluded",
    "ACCT included",
    "CDPT excluded",
    "CDPT included",
    "CWDL excluded",
    "CWDL included",
    "Change",
    "Close",
    "Command",
    "Count",
    "Create",
    "Finish",
    "NewAccount",
    "Open",
    "Pause",
    "Unlock",
    "account_kind_mismatch",
    "balance_not_zero",
    "below_minimum_balance",
    "contradicts_account",
    "currency_mismatch",
    "employee_has_open_teller",
    "insufficient_balance",
    "insufficient_cash",
    "invalid_fields",
    "invalid_parameter",
    "not_assigned_employee",
    "office_not_found",
    "other_teller",
    "over_cashdraw_limit",
    "remaining_balance",
    "report_not_found",
    "teller_not_found",
    "teller_not_paused",
    "teller_used",
    "too_many_attempts",
    "transaction_not_found",
    "unknown_reference",
    "unsupported_transaction_type",
    "wrong_drawer_password",
    "wrong_state",
];

fn play(steps: &[Step], met: &RefCell<BTreeMap<String, usize>>) -> TestCaseResult {
    let mut twins = Twins::new();
    for product in [0, 0, 1, 2, 1] {
        twins.take(0, Act::NewAccount { product })?;
    }
    overture().into_iter().try_for_each(|act| twins.take(0, act))?;
    for (place, step) in steps.iter().enumerate() {
        twins.step(step)?;
        if place % LOOK_AFTER == 0 {
            twins.look()?;
        }
    }
    for code in std::mem::take(&mut twins.met) {
        *met.borrow_mut().entry(code).or_default() += 1;
    }
    twins.hold()
}

#[test]
fn a_branch_does_what_the_model_does() {
    let cases = if postgres().is_some() { HISTORIES_ON_POSTGRES } else { HISTORIES };
    let settings = Config { cases, max_shrink_time: 120_000, failure_persistence: None, ..Config::default() };
    let met = RefCell::new(BTreeMap::new());
    let history = prop::collection::vec(step(), OPERATIONS);
    let played = TestRunner::new(settings).run(&history, |steps| play(&steps, &met));
    if let Err(error) = played {
        match error {
            // The reason comes last, below the shortest history that was found for it.
            TestError::Fail(reason, steps) => panic!("{steps:?}\nafter {} steps: {reason}", steps.len()),
            TestError::Abort(reason) => panic!("{reason}"),
        }
    }
    let met = met.into_inner();
    let missed: Vec<_> = MET.iter().filter(|code| !met.contains_key(**code)).collect();
    assert!(missed.is_empty() || postgres().is_some(), "{missed:?} of {met:?}");
}
