//! The end of a random history as processes of their own: runs that SIGKILL ends, and that others take up.

use super::chance::{Chance, any_seed, asked, is_long};
use super::history::History;
use super::plain::{Account, WHOLE};
use super::{LONG, account_days, text_of};
use crate::support::counter::{Counter, decimal};
use crate::support::served::Served;
use crate::support::stored::postgres;
use crate::support::world::World;
use mfa_daemon::Clock;
use serde_json::{Value, json};
use std::time::Duration;

/// Accruals that are compared in an ordinary run of the tests.
const ACCOUNT_DAYS: u64 = 7_000;
/// More accounts than one transaction of a run looks at, so that a kill also comes within a day.
const CROWD: usize = 510;
/// Operations of a batch.
const BATCH: usize = 100;
/// Seconds of a day.
const DAY: i64 = 86_400;
/// Seconds that a history takes at most: it must end on the day on which it began.
const HISTORY_MAX: i64 = 180;

impl History {
    /// Opens many accounts of the first product, each with something on it.
    fn crowd(&mut self) {
        let name = |number: usize| format!("crowd-{number}.9100.00001");
        let first = self.plain.accounts.len();
        for number in 0..CROWD {
            self.plain.accounts.push(Account::new(&name(number), 0));
            self.plain.open(first + number, 0);
        }
        let create = |number: usize| {
            let body =
                json!({ "customerIdentifier": format!("crowd-{number}"), "productIdentifier": "month" });
            let path = format!("/instances/{}?command=ACTIVATE", name(number));
            let create = json!({ "method": "POST", "path": "/instances", "body": body });
            [create, json!({ "method": "POST", "path": path })]
        };
        self.batch((0..CROWD).flat_map(create).collect());
        let sums: Vec<_> =
            (0..CROWD).map(|_| i128::from(self.chance.from(1, 9_000_000)) * WHOLE / 100).collect();
        let deposit = |number: usize| {
            let mut body = Counter::request("CDPT", &name(number), &text_of(sums[number], 2));
            body["productIdentifier"] = json!("month");
            json!({ "method": "POST", "path": "/teller/USD/transactions", "body": body })
        };
        let quotes = self.batch((0..CROWD).map(deposit).collect());
        let confirm = |quote: &Value| {
            let transaction = quote["body"]["tellerTransactionIdentifier"].as_str().unwrap();
            let form = "command=CONFIRM&charges=EXCLUDED";
            let path = format!("/teller/USD/transactions/{transaction}?{form}");
            json!({ "method": "POST", "path": path })
        };
        self.batch(quotes.iter().map(confirm).collect());
        let opened = self.plain.accounts[first..].iter_mut();
        opened.zip(sums).for_each(|(account, sum)| account.balance = sum);
    }

    /// Operations in a few requests; their results. A batch of all would be one long transaction, which on a
    /// busy machine loses against the short ones of PostgreSQL's other daemon until it is sent away.
    fn batch(&self, operations: Vec<Value>) -> Vec<Value> {
        let send = |part: &[Value]| {
            let body = json!({ "operations": part }).to_string();
            let answer = self.bank.world().post("/batch", body).is(200).json();
            answer["results"].as_array().unwrap().clone()
        };
        let results: Vec<_> = operations.chunks(BATCH).flat_map(send).collect();
        results.iter().for_each(|result| assert!([200, 202].contains(&result["status"].as_u64().unwrap())));
        results
    }

    /// Makes sure that the product of the crowd earns.
    fn earn(&mut self) {
        self.plain.products[0].rate = 5 * WHOLE;
        self.bodies[0]["interest"] = decimal("5");
        self.bodies[0]["expenseAccountIdentifier"] = json!("expense-month");
        self.plain.products[0].expense = "expense-month".to_owned();
        self.put(0);
        self.activate(0, true);
    }
}

/// Daemons on the store of a bank whose own daemons are stopped: one, or on PostgreSQL two.
struct Daemons<'a> {
    world: &'a World,
    served: Vec<Served>,
}

impl<'a> Daemons<'a> {
    fn start(world: &'a World) -> Self {
        let count = if world.config().store.postgres().is_some() { 2 } else { 1 };
        Self { world, served: (0..count).map(|_| serve(world)).collect() }
    }

    /// A run at one of the daemons; its status, or nothing if that daemon was killed.
    fn run(&self, at: usize, until: &str) -> tokio::task::JoinHandle<Option<u16>> {
        let url = format!("{}/interest/runs", self.served[at].url);
        let request = self.world.http().post(url).header("content-type", "application/json");
        let request = request.body(json!({ "date": until }).to_string());
        self.world.spawn(async { request.send().await.ok().map(|answer| answer.status().as_u16()) })
    }

    /// Days of products that were run.
    fn days_run(&self) -> usize {
        let url = format!("{}/interest/runs?size=1", self.served[0].url);
        let request = self.world.http().get(url);
        let bytes = self.world.block_on(async { request.send().await.unwrap().bytes().await.unwrap() });
        let page: Value = serde_json::from_slice(&bytes).unwrap();
        let count = page["totalElements"].as_u64().unwrap_or_else(|| panic!("a list of runs is {page}"));
        count.try_into().unwrap()
    }

    /// Kills the first daemon while two callers run, and starts it again; whether a run was not answered.
    fn kill(&mut self, until: &str, chance: &mut Chance) -> bool {
        let wanted = self.days_run() + chance.below(12);
        let last = self.served.len() - 1;
        let (killed, other) = (self.run(0, until), self.run(last, until));
        while self.days_run() < wanted && !killed.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(chance.below(30) as u64));
        self.served.remove(0).kill();
        let unanswered = self.world.wait(killed).is_none();
        let other = self.world.wait(other);
        // The other one takes the run over, if it lives.
        assert!(other == Some(202) || (last == 0 && other.is_none()), "{other:?}");
        self.served.insert(0, serve(self.world));
        unanswered
    }
}

fn serve(world: &World) -> Served {
    Served::start(world.mfa_on_store(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]))
}

/// Waits for the next day where this one is about to end.
fn stay_within_a_day() {
    let left = DAY - Clock::system().now().millis() / 1_000 % DAY;
    if left < HISTORY_MAX {
        std::thread::sleep(Duration::from_secs(u64::try_from(left).unwrap() + 1));
    }
}

/// A history whose last days are run by daemons that are killed; its accruals, and the runs that were cut.
fn play(seed: u64) -> (u64, u64) {
    let kills = if is_long(seed) { 4 } else { 1 };
    stay_within_a_day();
    let mut chance = Chance::new("api::interest::model::killed", seed);
    let world = World::start();
    world.to_present();
    let (before, due) = (chance.from(5, 60), chance.from(15, 25) * kills);
    world.clock.advance(-(before + due) * DAY);
    let mut history = History::begin(world, chance, 20);
    history.crowd();
    history.play(before, true);
    if history.plain.begun.is_none() {
        history.first_run();
    }
    history.earn();
    history.play(due - 1, false);
    history.bank.world().to_present();
    history.plain.end_day();
    assert_eq!(history.bank.today(), history.plain.today.to_string());
    history.bank.counter.world.stop();
    let yesterday = history.plain.today.previous();
    let mut daemons = Daemons::start(&history.bank.counter.world);
    let mut cut = 0;
    for left in (0..kills).rev() {
        // Where another daemon ends the run that is cut, the next kill needs days of its own.
        let until = if daemons.served.len() > 1 { yesterday.before(due / kills * left) } else { yesterday };
        history.chance.note(format!("run {until}, killed"));
        cut += u64::from(daemons.kill(&until.to_string(), &mut history.chance));
    }
    let last = daemons.served.len() - 1;
    let callers = [0, last].map(|at| daemons.run(at, &yesterday.to_string()));
    for caller in callers {
        assert_eq!(daemons.world.wait(caller), Some(202));
    }
    drop(daemons);
    history.plain.run(yesterday);
    history.bank.counter.world.restart();
    (history.finish(), cut)
}

#[test]
fn runs_that_are_killed_come_out_as_a_plain_recalculation_says() {
    let wanted = account_days(if postgres().is_some() { ACCOUNT_DAYS / 2 } else { ACCOUNT_DAYS });
    let (mut compared, mut cut, mut histories) = (0, 0, 0);
    while compared < wanted || cut == 0 {
        let (accruals, runs) = play(any_seed(wanted >= LONG));
        compared += accruals;
        cut += runs;
        histories += 1;
        assert!(cut > 0 || histories < 10, "no run was cut");
        if asked().is_some() {
            break;
        }
    }
    println!("{compared} account-days of {histories} histories are equal, {cut} runs were cut");
}
