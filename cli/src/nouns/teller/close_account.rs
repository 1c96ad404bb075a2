//! The end of an account: its interest is paid or given up, and what it holds is paid out.

use super::as_amount;
use super::counter::{Moved, Wish, check, transact};
use crate::command::cx::Cx;
use crate::command::money::product_scale;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::input::money;
use crate::nouns::interest;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, exit};
use serde_json::{Value, json};

/// Tries before the search for an amount goes by halves.
const STEPS: usize = 8;

/// The amount, which need not be given.
#[derive(Args)]
struct SomeOrAll {
    /// How much; by default the whole balance, less charges that the account pays
    #[arg(short = 'm', long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    amount: Option<Value>,
}

#[derive(Args)]
pub struct CloseAccount {
    /// Pay accrued interest to the account first
    #[arg(long, conflicts_with = "forfeit_interest")]
    pay_interest: bool,
    /// Give accrued interest up
    #[arg(long)]
    forfeit_interest: bool,
    #[command(flatten)]
    wish: Wish<SomeOrAll>,
}

impl Verb for CloseAccount {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateTransaction::META);
    const ABOUT: &'static str = "Close an account and pay it out";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller close-account desk-2 --account c-003.9100.00002 --yes",
        "mfa teller close-account desk-2 --account c-003.9100.00002 --amount 100 --charges included --yes",
        "mfa teller close-account desk-2 --account c-003.9100.00002 --forfeit-interest --yes",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        check(cx, &self.wish)?;
        let given = self.wish.amount.amount.clone();
        if given.is_none() && cx.client.keys.are_given() {
            // Closing the account changes its balance, so the key would cover two different amounts.
            let what = "--idempotency-key repeats a transaction of one amount, and none is given";
            return Err(Failure::usage(what).hint("give --amount, too"));
        }
        let instance = self.wish.instance(cx).await?;
        let account = instance["accountIdentifier"].as_str().unwrap_or_default();
        let found = interest::of_account(cx, account).await;
        if let Some(found) = found.filter(|found| found.accrued > Amount::ZERO) {
            cx.out.say(&format!("account {account} has accrued {} of interest", found.accrued));
            // Paid before the rest is shown, so that the balance is the one that is paid out.
            if !self.forfeit_interest && (self.pay_interest || wants_it(cx)?) {
                pay(cx, account).await?;
            }
        }
        let amount = match given {
            Some(amount) => amount,
            None => {
                let amount = all(cx, &self.wish).await?;
                // The key is that of a transaction of this amount.
                cx.client.repeat_with(&format!("--amount {amount}"));
                amount
            }
        };
        let moved = Moved { kind: TransactionType::Accc, amount, target: None };
        transact(cx, self.wish, moved).await
    }
}

/// Pays accrued interest to the account, but not in a dry run.
async fn pay(cx: &Cx, account: &str) -> Outcome {
    if cx.client.dry_run {
        cx.out.say("it would be paid first, and then be part of the balance");
        return Ok(());
    }
    // Without a key of the user's a repetition finds that nothing is left to pay.
    let client = if cx.client.keys.are_given() { cx.client.step("interest") } else { cx.client.aside() };
    match interest::pay(&client, account).await {
        Err(failure) if failure.code == fault::NOTHING_ACCRUED.code => Ok(()),
        Err(failure) if failure.exit == exit::FORBIDDEN => Err(failure.hint(format!(
            "have it paid by someone who may, then repeat the command: \
             mfa accounts pay-interest {account}; or give it up: --forfeit-interest"
        ))),
        paid => paid,
    }
}

/// Whether the accrued interest is to be paid first; if no question is asked, a flag has to say so.
fn wants_it(cx: &Cx) -> Outcome<bool> {
    if !cx.prompt.can_ask() || cx.prompt.yes {
        let what = "the account has accrued interest, and nothing says whether it is paid";
        return Err(Failure::new(codes::INPUT_NEEDED, what).hint("give --pay-interest or --forfeit-interest"));
    }
    let typed = cx.prompt.ask_or("pay it to the account first? y or n", "y")?;
    Ok(!typed.to_ascii_lowercase().starts_with('n'))
}

/// What empties the account: its balance, less the charges where it pays them. Charges may be a part of the
/// amount, and rounded, so the daemon is asked for those of one amount after the other until both come to the
/// balance.
async fn all(cx: &Cx, wish: &Wish<SomeOrAll>) -> Outcome<Value> {
    let instance = wish.instance(cx).await?;
    let balance = as_amount(&instance["balance"])?;
    if wish.charges.word() == ChargesWord::Included {
        return Ok(json!(balance));
    }
    let scale = product_scale(&cx.client, instance["productIdentifier"].as_str().unwrap_or_default()).await;
    let scale = scale.unwrap_or_default().max(balance.fraction_digits());
    let endpoint = CreateTransaction { teller: wish.teller(cx)? };
    let mut search = Search::of(units(balance, scale));
    let mut over_limit = None;
    while let Some(tried) = search.next() {
        let amount = json!(of_units(tried, scale));
        let moved = Moved { kind: TransactionType::Accc, amount, target: None };
        let body = wish.draft(&instance, &moved).body::<CreateTransaction>()?;
        let total = match cx.client.try_telling(&endpoint, &body).await {
            // The limit is for the amount without its charges, so a smaller one may do.
            Err(failure) if failure.code == fault::OVER_CASHDRAW_LIMIT.code => {
                search.note(tried, i64::MAX);
                over_limit = Some(failure);
                continue;
            }
            quote => as_amount(&quote?["totalAmount"])?,
        };
        let is_over = tried == 0 && total > balance;
        if total == balance || is_over {
            // Charges above the balance are for the daemon to refuse.
            return Ok(moved.amount);
        }
        if total > balance {
            over_limit = None;
        }
        search.note(tried, units(total, scale));
    }
    if let Some(failure) = over_limit {
        return Err(failure);
    }
    let what = format!("no amount and its charges come to exactly {balance}, which the account holds");
    Err(Failure::of(fault::REMAINING_BALANCE, what).hint("pay the charges in cash: --charges included"))
}

/// An amount in the smallest units of its currency.
fn units(amount: Amount, scale: u32) -> i64 {
    amount.in_scale(scale).to_string().replace('.', "").parse().unwrap_or(i64::MAX)
}

/// The amount of so many units, 0 or more.
fn of_units(units: i64, scale: u32) -> Amount {
    let scale = scale as usize;
    let digits = format!("{units:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    Amount::parse(&format!("{whole}.{fraction}")).unwrap_or_default()
}

/// Looks for the amount that comes to a sum with its charges, which never fall when the amount grows.
struct Search {
    sum: i64,
    /// The largest amount known to be too small, and the smallest that is too large.
    bounds: (i64, i64),
    next: i64,
    tries: usize,
}

impl Search {
    /// Begins with what an amount of 0 costs: most charges are fixed.
    fn of(sum: i64) -> Self {
        Self { sum, bounds: (-1, sum.saturating_add(1)), next: 0, tries: 0 }
    }

    /// The next amount to try, while one is left.
    fn next(&self) -> Option<i64> {
        (self.bounds.0 < self.next && self.next < self.bounds.1).then_some(self.next)
    }

    /// Notes what an amount comes to with its charges. The same charges are tried for the rest first, which
    /// finds all but steep ones soon; then halves are.
    fn note(&mut self, tried: i64, total: i64) {
        let (low, high) = &mut self.bounds;
        let side = if total < self.sum { low } else { high };
        *side = tried;
        self.tries += 1;
        let (low, high) = self.bounds;
        let same = self.sum.saturating_sub(total.saturating_sub(tried));
        let is_within = low < same && same < high && self.tries < STEPS;
        self.next = if is_within { same } else { low + (high - low) / 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The amount that is found for a sum, and after how many tries.
    fn found(sum: i64, charges: impl Fn(i64) -> i64) -> (Option<i64>, usize) {
        let mut search = Search::of(sum);
        while let Some(tried) = search.next() {
            let total = tried + charges(tried);
            if total == sum {
                return (Some(tried), search.tries + 1);
            }
            search.note(tried, total);
        }
        (None, search.tries)
    }

    #[test]
    fn the_amount_that_comes_to_a_sum_with_its_charges_is_found_if_there_is_one() {
        for percent in [0, 1, 3, 12, 50, 60, 99, 100] {
            for fixed in [0, 1, 725] {
                for sum in (0..400).chain([10_000, 123_457, 99_999_999_999]) {
                    // Half to even, as charges are rounded.
                    let part = |amount: i64| {
                        let exact = i128::from(amount) * percent;
                        let up = exact % 100 > 50 || exact % 100 == 50 && exact / 100 % 2 == 1;
                        i64::try_from(exact / 100).unwrap() + i64::from(up)
                    };
                    let charges = |amount: i64| part(amount) + fixed;
                    let (amount, tries) = found(sum, charges);
                    assert!(tries <= 60, "{tries} tries for {percent} of {sum}");
                    if sum < 400 {
                        let expected = (0..=sum).find(|amount| amount + charges(*amount) == sum);
                        assert_eq!(amount.is_some(), expected.is_some(), "{percent} and {fixed} of {sum}");
                    }
                }
            }
        }
        assert_eq!(found(10_000, |_| 725), (Some(9_275), 2));
        assert_eq!(found(10_000, |_| 0), (Some(10_000), 2));
    }

    #[test]
    fn an_amount_is_its_units_and_back() {
        for (text, scale, number) in [("0.00", 2, 0), ("0.05", 2, 5), ("97.09", 2, 9_709), ("1250", 0, 1_250)]
        {
            let amount = Amount::parse(text).unwrap();
            assert_eq!((units(amount, scale), of_units(number, scale)), (number, amount), "{text}");
        }
    }
}
