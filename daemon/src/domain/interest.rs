//! The arithmetic of interest and dividends, and the days on which it is paid. Contract: `interest.md`.

use mfa_shared::amount::{Amount, FRACTION_DIGITS_MAX};
use mfa_shared::api::definitions::{InterestPayable, Term, TimeUnit};
use mfa_shared::time::Date;
use rust_decimal::{Decimal, RoundingStrategy};

/// Fraction digits of what is accrued.
pub const ACCRUED_DIGITS: u32 = 5;

/// Smallest parts of an amount in one whole.
const PARTS: i128 = 100_000;

const _: () = assert!(FRACTION_DIGITS_MAX == ACCRUED_DIGITS as usize);

/// An amount in its smallest parts.
fn parts(amount: Amount) -> i128 {
    let mut value = amount.0;
    value.rescale(ACCRUED_DIGITS);
    value.mantissa()
}

/// A quotient of integers, rounded half-even; the divisor is above 0.
fn half_even(number: i128, divisor: i128) -> i128 {
    let whole = number.div_euclid(divisor);
    let rest = number.rem_euclid(divisor);
    match (rest * 2).cmp(&divisor) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole.rem_euclid(2),
    }
}

/// What a balance earns on a day at a rate in percent a year; nothing where it is not above 0.
pub fn accrual(balance: Amount, rate: Amount, day: Date) -> Amount {
    let earned = parts(balance)
        .checked_mul(parts(rate))
        .map(|product| half_even(product, PARTS * 100 * i128::from(day.days_in_year())));
    let earned = earned.and_then(|parts| Decimal::try_from_i128_with_scale(parts, ACCRUED_DIGITS).ok());
    Amount(earned.unwrap_or_default().max(Decimal::ZERO))
}

/// An amount as it is booked: half-even, in the scale of its currency.
pub fn rounded(amount: Amount, scale: i64) -> Amount {
    let scale = u32::try_from(scale).unwrap_or_default();
    let mut value = amount.0.round_dp_with_strategy(scale, RoundingStrategy::MidpointNearestEven);
    value.rescale(scale);
    Amount(value)
}

/// Months between two payments; none where it is paid at maturity.
fn months(payable: InterestPayable) -> Option<i64> {
    match payable {
        InterestPayable::Monthly => Some(1),
        InterestPayable::Quarterly => Some(3),
        InterestPayable::Annually => Some(12),
        InterestPayable::Maturity => None,
    }
}

/// The day on which the term of an account has passed.
pub fn maturity(term: &Term, opened_on: Option<Date>) -> Option<Date> {
    let unit = match term.time_unit? {
        TimeUnit::Month => 1,
        TimeUnit::Year => 12,
    };
    Some(opened_on?.plus_months(term.period? * unit))
}

/// Whether a day is a payment day for every account of a product.
pub fn is_payment_day(payable: InterestPayable, day: Date) -> bool {
    let month = i64::from(day.parts().1);
    months(payable).is_some_and(|months| month % months == 0 && day == day.last_of_month())
}

/// Whether an account that was opened on a day is paid on another one.
pub fn falls_due(term: &Term, opened_on: Option<Date>, day: Date) -> bool {
    match term.interest_payable {
        InterestPayable::Maturity => maturity(term, opened_on) == Some(day),
        payable => is_payment_day(payable, day),
    }
}

/// The first payment day behind a day.
pub fn next_payment(term: &Term, opened_on: Option<Date>, after: Date) -> Option<Date> {
    let Some(months) = months(term.interest_payable) else {
        return maturity(term, opened_on).filter(|day| *day > after);
    };
    let first = after.next();
    let month = i64::from(first.parts().1);
    let wait = (months - month % months) % months;
    // From the first of the month, so that a short month on the way shortens nothing.
    let (year, month, _) = first.parts();
    let start = Date::new(year.into(), month.into(), 1)?;
    Some(start.plus_months(wait).last_of_month())
}

/// The first day of the period of a dividend that ends with a day.
pub fn period_start(payable: InterestPayable, due: Date) -> Date {
    due.next().plus_months(-months(payable).unwrap_or(12))
}

/// The dividend for days with a balance each, rounded once; none where the sums leave the integers.
pub fn dividend(days: impl IntoIterator<Item = (Date, Amount)>, rate: Amount, scale: i64) -> Option<Amount> {
    let mut common = 0_i128;
    let mut leap = 0_i128;
    for (day, balance) in days {
        let sum = if day.days_in_year() == 366 { &mut leap } else { &mut common };
        *sum = sum.checked_add(parts(balance))?;
    }
    let sum = common.checked_mul(366)?.checked_add(leap.checked_mul(365)?)?;
    let scale = u32::try_from(scale).ok()?;
    let divisor = 10_i128.pow((2 * ACCRUED_DIGITS).checked_sub(scale)?) * 100 * 365 * 366;
    let amount = half_even(sum.checked_mul(parts(rate))?, divisor).max(0);
    Decimal::try_from_i128_with_scale(amount, scale).ok().map(Amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    fn day(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn term(payable: InterestPayable, period: Option<i64>, time_unit: Option<TimeUnit>) -> Term {
        Term { period, time_unit, interest_payable: payable }
    }

    #[test]
    fn the_worked_accruals() {
        for (balance, rate, on, earned) in [
            ("1000.00", "2.50", "2017-08-02", "0.06849"),
            ("1000.00", "2.50", "2020-02-29", "0.06831"),
            ("0.00", "2.50", "2017-08-02", "0"),
            ("-5", "2.50", "2017-08-02", "0"),
            // 0.00365 of a part rounds away, exact halves go to the even digit.
            ("0.01", "0.13", "2017-08-02", "0"),
            ("18.25", "0.01", "2017-08-02", "0"),
            ("54.75", "0.01", "2017-08-02", "0.00002"),
            ("999999999999999.99999", "1000", "2017-08-02", "27397260273972.60274"),
        ] {
            assert_eq!(accrual(amount(balance), amount(rate), day(on)), amount(earned), "{balance} {on}");
        }
    }

    #[test]
    fn booked_amounts_are_rounded_to_the_even_digit() {
        for (accrued, scale, booked) in [
            ("0.06849", 2, "0.07"),
            ("0.005", 2, "0.00"),
            ("0.015", 2, "0.02"),
            ("2.5", 0, "2"),
            ("1", 3, "1.000"),
        ] {
            assert_eq!(rounded(amount(accrued), scale).to_string(), booked, "{accrued}");
        }
    }

    #[test]
    fn payment_days_and_the_next_one() {
        use InterestPayable::*;
        for (payable, after, next) in [
            (Monthly, "2031-05-06", "2031-05-31"),
            (Monthly, "2031-05-31", "2031-06-30"),
            (Monthly, "2032-01-31", "2032-02-29"),
            (Quarterly, "2031-05-06", "2031-06-30"),
            (Quarterly, "2031-06-30", "2031-09-30"),
            (Quarterly, "2031-12-31", "2032-03-31"),
            (Annually, "2031-05-06", "2031-12-31"),
            (Annually, "2031-12-31", "2032-12-31"),
        ] {
            let term = term(payable, None, None);
            assert_eq!(next_payment(&term, None, day(after)), Some(day(next)), "{payable} {after}");
            assert!(is_payment_day(payable, day(next)), "{payable} {next}");
            assert!(!is_payment_day(payable, day(next).previous()));
        }
    }

    #[test]
    fn a_term_ends_on_the_same_day_of_the_month_or_its_last() {
        use TimeUnit::*;
        for (opened, period, unit, ends) in [
            ("2031-05-06", 12, Month, "2032-05-06"),
            ("2031-01-31", 1, Month, "2031-02-28"),
            ("2032-02-29", 1, Year, "2033-02-28"),
            ("2031-10-31", 6, Month, "2032-04-30"),
        ] {
            let term = term(InterestPayable::Maturity, Some(period), Some(unit));
            let opened = Some(day(opened));
            let ends = day(ends);
            assert_eq!(maturity(&term, opened), Some(ends));
            assert!(falls_due(&term, opened, ends) && !falls_due(&term, opened, ends.next()));
            assert_eq!(next_payment(&term, opened, ends), None);
            assert_eq!(next_payment(&term, opened, ends.previous()), Some(ends));
        }
        let never = term(InterestPayable::Maturity, None, None);
        assert_eq!(next_payment(&never, Some(day("2031-05-06")), day("2031-05-06")), None);
    }

    #[test]
    fn the_period_of_a_dividend_ends_with_its_due_date() {
        use InterestPayable::*;
        for (payable, due, start) in [
            (Monthly, "2031-05-31", "2031-05-01"),
            (Monthly, "2031-04-30", "2031-04-01"),
            (Monthly, "2031-05-15", "2031-04-16"),
            (Quarterly, "2031-06-30", "2031-04-01"),
            (Annually, "2031-12-31", "2031-01-01"),
            (Maturity, "2032-02-29", "2031-03-01"),
        ] {
            assert_eq!(period_start(payable, day(due)), day(start), "{payable} {due}");
        }
    }

    #[test]
    fn a_dividend_is_rounded_once_also_over_a_change_of_the_year() {
        let days = |from: &str, count: usize, balance: &str| {
            let balance = amount(balance);
            std::iter::successors(Some(day(from)), |day| Some(day.next()))
                .take(count)
                .map(move |day| (day, balance))
        };
        for (from, count, balance, rate, due) in [
            ("2031-01-01", 365, "1000", "5", "50.00"),
            ("2032-01-01", 366, "1000", "5", "50.00"),
            ("2031-05-01", 31, "100.00", "3.65", "0.31"),
            ("2031-12-31", 2, "36500", "1", "2.00"),
        ] {
            assert_eq!(dividend(days(from, count, balance), amount(rate), 2), Some(amount(due)), "{from}");
        }
    }
}
