//! Runs of a random history, by one caller or by several at once.

use super::calendar::Day;
use super::history::History;
use super::plain::State;
use super::text_of;
use crate::api::interest::bank::refusal;
use crate::support::counter::Counter;
use crate::support::world::Seen;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

/// How a run is answered.
fn answer(seen: &Seen) -> String {
    match seen.status {
        202 => format!("202 {}", seen.header("location")),
        _ => refusal(seen),
    }
}

fn accepted(day: Day) -> String {
    format!("202 /interest/runs?date={day}")
}

impl History {
    /// Runs up to yesterday or an earlier day; at times each day by itself.
    pub fn run(&mut self) {
        if self.plain.begun.is_none() {
            return self.first_run();
        }
        let days = if self.chance.once_in(3) { self.chance.from(0, 9) } else { 0 };
        let until = self.plain.today.previous().before(days);
        match self.chance.below(8) {
            0 => self.run_each_day(until),
            1..=2 => {
                let earlier = until.before(self.chance.from(0, 4));
                self.run_at_once(&[until, earlier]);
            }
            3 => {
                self.refused_runs();
                self.run_at_once(&[until]);
            }
            _ => self.run_at_once(&[until]),
        }
        if self.chance.once_in(10) {
            self.compare_accounts();
        } else {
            self.compare_some();
        }
    }

    /// The first run may say from which day on. Of two callers who do, one comes too late.
    pub fn first_run(&mut self) {
        let yesterday = self.plain.today.previous();
        let (from, body) = if self.chance.once_in(3) {
            (yesterday, json!({}))
        } else {
            let from = yesterday.before(self.chance.from(0, 40));
            (from, json!({ "from": from.to_string() }))
        };
        self.chance.note(format!("{} first run from {from}", self.plain.today));
        let late = if body["from"].is_null() { accepted(yesterday) } else { "409 already_begun".to_owned() };
        let requests = vec![self.run_request(&body), self.run_request(&body)];
        let mut answers: Vec<_> = self.bank.world().send_all(requests).iter().map(answer).collect();
        answers.sort();
        assert_eq!(answers, [accepted(yesterday), late]);
        self.plain.begun = Some(from);
        self.plain.run(yesterday);
    }

    /// Runs all that is left, and compares everything.
    pub fn finish(mut self) -> u64 {
        if self.plain.begun.is_none() {
            self.first_run();
        }
        let yesterday = self.plain.today.previous();
        self.run_at_once(&[yesterday, yesterday]);
        self.compare_all()
    }

    fn run_each_day(&mut self, until: Day) {
        let last = self.plain.last.unwrap();
        let days = std::iter::successors(Some(last.next()), |day| Some(day.next()));
        for day in days.take_while(|day| *day <= until) {
            self.run_at_once(&[day]);
            self.compare_some();
        }
    }

    /// Runs up to several days at the same time, and a deposit is made meanwhile. Each caller is answered
    /// with the day that was asked for.
    pub fn run_at_once(&mut self, days: &[Day]) {
        self.chance.note(format!("{} run {}", self.plain.today, days[0]));
        let request = |day: &Day| self.run_request(&json!({ "date": day.to_string() }));
        let mut requests: Vec<_> = days.iter().map(request).collect();
        requests.extend(if days.len() > 1 { self.deposit_request() } else { None });
        let answers: Vec<_> = self.bank.world().send_all(requests).iter().map(answer).collect();
        let expected: Vec<_> = days.iter().map(|day| accepted(*day)).collect();
        assert_eq!(answers[..days.len()], expected);
        answers[days.len()..].iter().for_each(|answer| assert_eq!(answer, "202 "));
        self.plain.run(*days.iter().max().unwrap());
    }

    fn run_request(&self, body: &Value) -> RequestBuilder {
        let request = self.bank.world().request("POST", "/interest/runs");
        request.header("content-type", "application/json").body(body.to_string())
    }

    /// The confirmation of a deposit, which is still to be sent.
    fn deposit_request(&mut self) -> Option<RequestBuilder> {
        let account = self.any(State::Active)?;
        let paid_in = &self.plain.accounts[account];
        let product = &self.plain.products[paid_in.product];
        let (amount, charge, code) = (product.unit() * 400_000, product.charge, product.currency);
        let mut request = Counter::request("CDPT", &paid_in.name, &text_of(amount, product.scale));
        request["productIdentifier"] = json!(product.name);
        self.chance.note(format!("{} at the same time {request}", self.plain.today));
        let quoted = self.bank.counter.create(code, &request).is(200).json();
        let transaction = quoted["tellerTransactionIdentifier"].as_str().unwrap();
        self.plain.accounts[account].balance += amount - charge;
        let form = "command=CONFIRM&charges=EXCLUDED";
        let path = format!("/teller/{code}/transactions/{transaction}?{form}");
        Some(self.bank.world().request("POST", &path))
    }

    /// Runs that are refused, and change nothing.
    fn refused_runs(&self) {
        let (today, yesterday) = (self.plain.today, self.plain.today.previous());
        let bodies = [
            (json!({ "from": yesterday.to_string() }), "409 already_begun"),
            (json!({ "date": today.to_string() }), "400 invalid_fields /date out_of_range"),
        ];
        for (body, refused) in bodies {
            assert_eq!(refusal(&self.bank.run_body(body)), refused);
        }
    }
}
