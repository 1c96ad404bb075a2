//! Pages of the list of runs: by what is known in memory they are those of a walk, and cost what they show.

use super::{Job, Next, Order, Part, claim, give_up, list, of_account, step as run_step};
use crate::domain::numbers::ListNumbers;
use crate::ops::interest::runs::{end_day, forget, put_again};
use crate::ops::ledger::tests::memory::Memory;
use crate::ops::ledger::tests::posting::{amount, customer, entry};
use crate::ops::ledger::{self, CustomerAccount};
use crate::ops::list::List;
use crate::ops::{Caller, OrderName, definitions};
use crate::store::Tx;
use crate::store::records::{InterestState, RunPhase, StoredInstance, StoredInterest, StoredRun};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::*;
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::interest::{InterestRun, ListInterestRuns, RunOutcome, RunQuery};
use mfa_shared::api::ledger::AccountRole;
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;
use mfa_shared::object::nested;
use mfa_shared::query::{Parameters, Params};
use mfa_shared::rule::check_body;
use mfa_shared::time::Date;
use mfa_shared::wire::{Json, Query};
use proptest::prelude::*;
use std::sync::Arc;

const PRODUCTS: [&str; 4] = ["gain", "plain", "save", "term"];

fn begun() -> Date {
    Date::new(2031, 5, 6).unwrap()
}

fn store() -> Memory {
    let mut store = Memory::new();
    let state = InterestState {
        begun: begun(),
        last: None,
        runner: None,
        beat: 0,
        removed: 0,
        looked_through: true,
        first: None,
    };
    store.write(|tx| tx.put(&state)).unwrap();
    store
}

fn run(day: Date, product: &str, outcome: RunOutcome, ended: bool, now: &Tx<'_>) -> StoredRun {
    let run = InterestRun {
        date: day,
        product_identifier: product.to_owned(),
        accounts: 0,
        accrued: Amount::ZERO,
        booked: Amount::ZERO,
        paid: Amount::ZERO,
        payments: 0,
        outcome,
        code: None,
        detail: None,
        ran_on: now.now(),
        ran_by: "system".to_owned(),
    };
    let (phase, give_up) = (RunPhase::End, Vec::new());
    StoredRun { run, phase, ended, after: None, due: false, payable: None, expense: None, give_up }
}

/// The day that is to be run next.
fn next_day(tx: &mut Tx<'_>) -> Result<Date, Fault> {
    let state = tx.get::<InterestState>(InterestState::KEY)?;
    Ok(state.and_then(|state| state.last).map_or(begun(), Date::next))
}

/// What happens to the runs of a store.
#[derive(Debug, Clone)]
enum Step {
    /// A day is run for some products, one of which may fail.
    Day([bool; 4], usize),
    /// A product is run, or begun, on a day that is not over.
    Part(usize, bool),
    /// A run that failed is removed with its product.
    Forget(usize),
    /// What failed is tried again, and done at once.
    Again,
    /// What failed is tried again, and not done yet.
    Reopen,
    /// What was tried again is done.
    Close,
}

fn take(tx: &mut Tx<'_>, step: &Step) -> Result<(), Fault> {
    let day = next_day(tx)?;
    let failed = |row: &StoredRun| row.run.outcome == RunOutcome::Failed;
    match step {
        Step::Day(ran, fails) => {
            for (at, product) in PRODUCTS.iter().enumerate().filter(|(at, _)| ran[*at]) {
                let outcome = if at == *fails { RunOutcome::Failed } else { RunOutcome::Done };
                tx.put(&run(day, product, outcome, true, tx))?;
            }
            let begun: Vec<_> = tx.all::<StoredRun>(&[&day.to_string()])?;
            for row in begun.into_iter().filter(|row| !row.ended) {
                tx.put(&StoredRun { ended: true, ..row })?;
            }
            end_day(tx, day)
        }
        Step::Part(product, ended) => tx.put(&run(day, PRODUCTS[*product], RunOutcome::Done, *ended, tx)),
        Step::Forget(at) => {
            let rows: Vec<_> = tx.all::<StoredRun>(&[])?.into_iter().filter(failed).collect();
            rows.get(at % rows.len().max(1)).map_or(Ok(()), |row| forget(tx, row))
        }
        Step::Again => {
            for mut row in tx.all::<StoredRun>(&[])?.into_iter().filter(failed) {
                row.run.outcome = RunOutcome::Done;
                tx.put(&row)?;
            }
            Ok(())
        }
        Step::Reopen => {
            for mut row in tx.all::<StoredRun>(&[])?.into_iter().filter(failed) {
                (row.run.outcome, row.ended) = (RunOutcome::Done, false);
                put_again(tx, &row)?;
            }
            Ok(())
        }
        Step::Close => {
            let open = tx.all::<StoredRun>(&[])?.into_iter().filter(|row| !row.ended && row.run.date < day);
            open.into_iter().try_for_each(|row| put_again(tx, &StoredRun { ended: true, ..row }))
        }
    }
}

fn page(tx: &mut Tx<'_>, query: &str) -> Result<String, Fault> {
    let query = Query(RunQuery::read(&Params::parse(query))?);
    let bytes = list(tx, &Caller::guest(), &ListInterestRuns {}, &query)?.page(tx)?;
    Ok(String::from_utf8(bytes).unwrap())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any::<[bool; 4]>(), 0usize..9).prop_map(|(ran, fails)| Step::Day(ran, fails)),
        2 => (0usize..4, any::<bool>()).prop_map(|(product, ended)| Step::Part(product, ended)),
        1 => any::<usize>().prop_map(Step::Forget),
        1 => Just(Step::Again),
        1 => Just(Step::Reopen),
        1 => Just(Step::Close),
    ]
}

fn query() -> impl Strategy<Value = String> {
    let product = proptest::option::of(proptest::sample::select(vec!["gain", "term", "other"]));
    let days = proptest::option::of((6u8..20, 0u8..12));
    (product, days, any::<bool>(), 0u32..6, 1u32..9).prop_map(|(product, days, ascending, index, size)| {
        let order = if ascending { "&sortDirection=ASC" } else { "" };
        let product = product.map_or_else(String::new, |product| format!("&product={product}"));
        let days = days.map_or_else(String::new, |(first, more)| {
            format!("&dateRange=2031-05-{first:02}..2031-05-{:02}", first + more)
        });
        format!("pageIndex={index}&size={size}{order}{product}{days}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 500, ..ProptestConfig::default() })]
    #[test]
    fn a_page_of_runs_by_what_is_known_is_that_of_a_walk(
        rounds in proptest::collection::vec(
            (proptest::collection::vec(step(), 1..8), proptest::collection::vec(query(), 5)), 1..5,
        ),
    ) {
        let (mut store, numbers) = (store(), Arc::new(ListNumbers::default()));
        for (steps, queries) in rounds {
            let before = store.clone();
            for step in steps {
                store.write(|tx| take(tx, &step)).unwrap();
            }
            for query in queries {
                let known = store.read_with(&numbers, |tx| page(tx, &query));
                prop_assert_eq!(known, store.read(|tx| page(tx, &query)), "{}", query);
                // A read that began earlier sees its own moment, although more is known by now.
                let mut earlier = before.clone();
                let known = earlier.read_with(&numbers, |tx| page(tx, &query));
                prop_assert_eq!(known, earlier.read(|tx| page(tx, &query)), "earlier: {}", query);
            }
        }
    }
}

#[test]
fn once_the_runs_are_known_every_page_costs_what_it_shows() {
    let mut store = store();
    let numbers = Arc::new(ListNumbers::default());
    let all = Step::Day([true; 4], 9);
    store.write(|tx| (0..1_000).try_for_each(|_| take(tx, &all))).unwrap();
    let mut cost = |query: &str| {
        store.write(|tx| take(tx, &all)).unwrap();
        store.looked_at = 0;
        store.read_with(&numbers, |tx| page(tx, query));
        store.looked_at
    };
    let first = cost("size=20");
    assert!(first > 4_000, "the first page walks the list once: {first}");
    for query in ["size=20", "size=20&pageIndex=190", "size=20&product=term&pageIndex=40", "date=2033-01-01"]
    {
        let cost = cost(query);
        assert!(cost < 40, "{query} costs {cost}");
    }
}

fn instance(account: &str) -> StoredInstance {
    StoredInstance {
        account_identifier: account.to_owned(),
        customer_identifier: "maria".to_owned(),
        product_identifier: "gain".to_owned(),
        alternative_account_number: None,
        beneficiaries: Vec::new(),
        opened_on: Some(begun()),
        transaction_command_on: None,
        closed_on: None,
        state: InstanceState::Active,
    }
}

/// On a snapshot from before the closing an account is still ACTIVE; the record that both write is all that
/// keeps an accrual from being added to a closed account, where it would stay for ever.
#[test]
fn closing_an_account_writes_its_interest_even_if_there_is_none() {
    let mut store = store();
    let instance = instance("maria.9100.00001");
    let account = [instance.account_identifier.as_str()];
    assert!(!store.read(|tx| tx.has::<StoredInterest>(&account)));
    store.write(|tx| give_up(tx, &instance, "ama")).unwrap();
    assert!(store.read(|tx| tx.has::<StoredInterest>(&account)));
    assert_eq!(store.read(|tx| of_account(tx, account[0])).accrued(), Amount::ZERO);
}

const GAIN: &str = r#"{"type":"SAVINGS","identifier":"gain","name":"S","currency":{"code":"USD","name":"N",
    "sign":"S","scale":2},"equityLedgerIdentifier":"9100","cashAccountIdentifier":"cash",
    "expenseAccountIdentifier":"cost","accrueAccountIdentifier":"accrue","interest":36.5,
    "term":{"interestPayable":"MONTHLY"}}"#;

/// Records that a database is asked for one by one while a day accrues, is booked, and is paid to accounts.
fn asked_one_by_one(accounts: usize) -> usize {
    let (mut store, guest) = (store(), Caller::guest());
    let body = Node::parse(GAIN.as_bytes()).unwrap();
    let new: NewDefinition = check_body(&nested(), &body, store.now.day()).unwrap();
    let opened = store.write(|tx| {
        definitions::create(tx, &guest, &CreateDefinition {}, &Json(new.clone()))?;
        let activate = Json(DefinitionCommand { action: DefinitionAction::Activate, note: None });
        definitions::command(tx, &guest, &CommandDefinition { definition: "gain".to_owned() }, &activate)?;
        ledger::name_account(tx, "/x", "drawer", AccountRole::Drawer)?;
        for number in 0..accounts {
            let identifier = format!("maria.9100.{number:05}");
            let account = CustomerAccount { identifier: &identifier, ..customer("", "USD") };
            ledger::name_customer_account(tx, account)?;
            tx.put(&instance(&identifier))?;
            let lines = vec![
                ledger::debit("drawer", AccountRole::Drawer, amount("100")),
                ledger::credit(&identifier, AccountRole::Customer, amount("100")),
            ];
            ledger::post(tx, entry("CDPT", lines))?;
        }
        Ok(())
    });
    opened.unwrap();
    let (by, day) = ("ama", Date::new(2031, 5, 31).unwrap());
    store.now = store.now.plus_seconds(30 * 86_400);
    let order = Order { until: day, from: None, name: OrderName::default(), by: by.to_owned() };
    store.write(|tx| claim(tx, &order, by, None)).unwrap();
    let job = Job { day, product: "gain".to_owned(), again: false };
    store.unannounced = 0;
    let mut paid = 0;
    loop {
        let done = store.write(|tx| run_step(tx, &job, Part::Any, accounts, by, by)).unwrap();
        paid += done.settled.len();
        if done.next == Next::End {
            assert_eq!(paid, accounts);
            return store.unannounced;
        }
    }
}

#[test]
fn a_database_is_asked_as_often_for_many_paid_accounts_as_for_few() {
    assert_eq!(asked_one_by_one(40), asked_one_by_one(4));
}
