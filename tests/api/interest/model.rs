//! Random histories against a plain recalculation.

use super::bank::{Bank, interest_product};
use mfa_shared::time::Date;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

/// What happens on a day, before it ends.
#[derive(Debug, Clone)]
enum Event {
    Move(usize, i64),
    Rate(u32),
    Active(bool),
    Run,
    Pay(usize),
    Nothing,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..2usize, -40_000..90_000i64).prop_map(|(account, cents)| Event::Move(account, cents)),
        1 => (0..2_000u32).prop_map(Event::Rate),
        1 => any::<bool>().prop_map(Event::Active),
        2 => Just(Event::Run),
        1 => (0..2usize).prop_map(Event::Pay),
        2 => Just(Event::Nothing),
    ]
}

/// One account by itself; all in 0.00001.
#[derive(Default)]
struct Plain {
    balance: i128,
    accrued: i128,
    paid: i128,
}

/// A value of the wire in 0.00001.
fn parts(of: &serde_json::Value) -> i128 {
    let text = of.to_string();
    // The sign precedes all digits.
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    assert!(fraction.len() <= 5, "{text}");
    format!("{whole}{fraction:0<5}").parse().unwrap()
}

/// Cents as an amount.
fn shown(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// A quotient, a tie to the even digit; neither number is negative.
fn divided(number: i128, by: i128) -> i128 {
    let (whole, rest) = (number / by, number % by);
    let up = rest * 2 > by || (rest * 2 == by && whole % 2 == 1);
    whole + i128::from(up)
}

struct Model {
    accounts: [Plain; 2],
    /// In 0.01 percent.
    rate: u32,
    active: bool,
    /// Days that are not run: the day, its rate, the balances at its end.
    due: Vec<(Date, u32, [i128; 2])>,
}

impl Model {
    fn end_day(&mut self, day: Date) {
        let rate = if self.active { self.rate } else { 0 };
        self.due.push((day, rate, [self.accounts[0].balance, self.accounts[1].balance]));
    }

    fn run(&mut self) {
        for (day, rate, balances) in std::mem::take(&mut self.due) {
            for (account, balance) in self.accounts.iter_mut().zip(balances) {
                account.accrued +=
                    divided(balance * i128::from(rate), 10_000 * i128::from(day.days_in_year()));
                if day.last_of_month() == day {
                    account.pay();
                }
            }
        }
    }
}

impl Plain {
    fn pay(&mut self) -> bool {
        if self.accrued <= 0 {
            return false;
        }
        let amount = divided(self.accrued, 1_000) * 1_000;
        self.accrued -= amount;
        self.paid += amount;
        self.balance += amount;
        amount > 0
    }
}

fn play(events: &[(Event, Event)]) {
    let bank = Bank::open();
    // Two days before the end of a month.
    bank.days(22);
    let mut product = interest_product("gain", "12.5", "MONTHLY");
    bank.sell(&product);
    let names = [bank.account("Maria", "gain", "500"), bank.account("Nana", "gain", "0.05")];
    let mut model = Model { accounts: Default::default(), rate: 1_250, active: true, due: Vec::new() };
    (model.accounts[0].balance, model.accounts[1].balance) = (50_000_000, 5_000);
    let mut begun = false;
    for (first, second) in events {
        for event in [first, second] {
            act(&bank, &mut model, &mut product, &names, &mut begun, event);
        }
        model.end_day(bank.world().clock.now().day());
        bank.days(1);
    }
    for (name, plain) in names.iter().zip(&model.accounts) {
        let interest = bank.interest(name);
        assert_eq!(parts(&interest["accrued"]), plain.accrued, "accrued of {name}");
        assert_eq!(parts(&interest["paidTotal"]), plain.paid, "paid to {name}");
        assert_eq!(parts(&bank.counter.instance(name)["balance"]), plain.balance, "{name}");
    }
    bank.check();
}

fn act(
    bank: &Bank,
    model: &mut Model,
    product: &mut serde_json::Value,
    names: &[String; 2],
    begun: &mut bool,
    event: &Event,
) {
    match event {
        Event::Move(account, amount) if *amount > 0 => {
            bank.act("CDPT", &names[*account], "gain", &shown(*amount)).is(202);
            model.accounts[*account].balance += i128::from(*amount) * 1_000;
        }
        Event::Move(account, amount) => {
            let all = i64::try_from(model.accounts[*account].balance / 1_000).unwrap();
            let most = all.min(-amount);
            if most > 0 {
                bank.act("CWDL", &names[*account], "gain", &shown(most)).is(202);
                model.accounts[*account].balance -= i128::from(most) * 1_000;
            }
        }
        Event::Rate(rate) => {
            model.rate = *rate;
            product["interest"] = serde_json::from_str(&shown(i64::from(*rate))).unwrap();
            bank.world().put("/definitions/gain", product.to_string()).is(202);
        }
        Event::Active(active) => {
            bank.command("gain", if *active { "ACTIVATE" } else { "DEACTIVATE" });
            model.active = *active;
        }
        Event::Run if model.due.is_empty() => {}
        Event::Run => {
            let from = model.due[0].0.to_string();
            let body = if *begun { json!({}) } else { json!({ "from": from }) };
            bank.run_body(body).is(202);
            *begun = true;
            model.run();
        }
        Event::Pay(account) => {
            let due = model.accounts[*account].pay();
            bank.pay(&names[*account]).is(if due { 202 } else { 409 });
        }
        Event::Nothing => {}
    }
}

#[test]
fn random_histories_come_out_as_a_plain_recalculation_says() {
    let days = prop::collection::vec((event(), event()), 3..9);
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    runner
        .run(&days, |days| {
            play(&days);
            Ok(())
        })
        .unwrap();
}
