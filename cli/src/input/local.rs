//! Amounts and dates that are written as people at some place write them are not taken: something else may be
//! meant. What they are refused with says how to write them.

use crate::failure::{Failure, Outcome};
use mfa_shared::amount::Amount;
use mfa_shared::time::{Date, DateRange};
use serde_json::Value;

/// Marks between thousands, and before the cents, of one place or another.
const MARKS: [char; 7] = [',', '\'', '\u{2019}', ' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// Reads an amount of money, or a rate, digit for digit.
pub fn money(text: &str) -> Result<Value, String> {
    let amount = Amount::parse(text).map_err(|_| {
        let what = "it must be an amount, such as 1250.00";
        if text.contains(MARKS) || text.matches('.').count() > 1 {
            format!("{what}: a point before the cents, and no mark between thousands")
        } else {
            what.to_owned()
        }
    })?;
    serde_json::to_value(amount).map_err(|error| error.to_string())
}

pub fn date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| {
        let meant = meant(text).map_or_else(String::new, |date| format!(", such as {date}"));
        format!("it must be a date, YYYY-MM-DD{meant}")
    })
}

/// The days from one to another; a missing end is that of the calendar.
pub fn days(first: Option<Date>, last: Option<Date>) -> Outcome<Option<DateRange>> {
    if first.is_none() && last.is_none() {
        return Ok(None);
    }
    let first = first.or_else(|| Date::new(0, 1, 1));
    match first.zip(last.or_else(|| Date::new(9999, 12, 31))) {
        Some((first, last)) if first > last => Err(Failure::usage("the first day is after the last")),
        ends => Ok(ends.map(|(first, last)| DateRange { first, last })),
    }
}

/// Reads a moment, or a date for its beginning in UTC. What is neither is left to the rule of the field.
#[expect(clippy::unnecessary_wraps, reason = "a parser of clap may fail")]
pub fn moment(text: &str) -> Result<String, String> {
    Ok(Date::parse(text).map_or_else(|| text.to_owned(), |date| format!("{date}T00:00:00Z")))
}

/// The date that is meant by a text with its year at the end, where it can be no other one. With points the
/// day comes first everywhere; with slashes it may be the month.
fn meant(text: &str) -> Option<Date> {
    let parts: Vec<i64> = text.split(['.', '/']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [first, second, year @ 1000..=9999] = parts[..] else { return None };
    let day_first = Date::new(year, second, first);
    if text.contains('.') {
        return day_first;
    }
    match (day_first, Date::new(year, first, second)) {
        (Some(_), Some(_)) if first != second => None,
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_other_places_are_refused_with_the_way_to_write_them() {
        for text in ["1,250.00", "1.250,00", "1 250", "1'250.00", "1\u{202f}250", "5,00", "1.250.000"] {
            let said = money(text).unwrap_err();
            assert!(
                said.ends_with("a point before the cents, and no mark between thousands"),
                "{text}: {said}"
            );
        }
        for text in ["", "x", "-", "12e", "0x1f"] {
            assert_eq!(money(text).unwrap_err(), "it must be an amount, such as 1250.00", "{text}");
        }
        assert_eq!(money("1250.50").unwrap().to_string(), "1250.50");
    }

    #[test]
    fn a_date_of_another_place_is_refused_with_the_one_that_is_meant() {
        for (text, meant) in [
            ("24.12.2026", ", such as 2026-12-24"),
            ("1.2.2026", ", such as 2026-02-01"),
            ("24/12/2026", ", such as 2026-12-24"),
            ("12/24/2026", ", such as 2026-12-24"),
            ("03/03/2026", ", such as 2026-03-03"),
            // It may be the second of January.
            ("01/02/2026", ""),
            ("31.02.2026", ""),
            ("yesterday", ""),
            ("2026/12/24", ""),
            ("", ""),
        ] {
            assert_eq!(date(text).unwrap_err(), format!("it must be a date, YYYY-MM-DD{meant}"), "{text}");
        }
        assert_eq!(date("2026-12-24").unwrap().to_string(), "2026-12-24");
    }

    #[test]
    fn a_date_means_the_moment_at_which_it_begins() {
        assert_eq!(moment("2026-12-24").unwrap(), "2026-12-24T00:00:00Z");
        for other in ["2026-12-24T10:00:00Z", "yesterday"] {
            assert_eq!(moment(other).unwrap(), other);
        }
    }
}
