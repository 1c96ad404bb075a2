//! Which backups stay when older ones are thinned out.

use mfa_shared::time::Timestamp;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

const DAY_MILLIS: i64 = 86_400_000;
/// Most periods of one kind.
const PERIODS_MAX: usize = 9_999;

/// How many backups stay: the latest one of each of the last days, weeks and months that have any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Days in UTC.
    pub days: usize,
    /// Weeks, from Monday on.
    pub weeks: usize,
    /// Months.
    pub months: usize,
}

/// The number of the day, the week or the month of a moment.
type Period = fn(Timestamp) -> i64;

/// What is no such number of days, weeks and months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadKeep;

impl FromStr for Keep {
    type Err = BadKeep;

    /// Reads `7d,4w,12m`, of which parts may be missing, but not all.
    fn from_str(text: &str) -> Result<Self, BadKeep> {
        let mut keep = Self { days: 0, weeks: 0, months: 0 };
        for part in text.split(',') {
            let part = part.trim();
            let (number, place) = match part.char_indices().last().map(|(end, unit)| (&part[..end], unit)) {
                Some((number, 'd')) => (number, &mut keep.days),
                Some((number, 'w')) => (number, &mut keep.weeks),
                Some((number, 'm')) => (number, &mut keep.months),
                _ => return Err(BadKeep),
            };
            let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|number| plain && (1..=PERIODS_MAX).contains(number));
            // If a unit is given twice, it is unclear which one counts.
            *place = number.filter(|_| *place == 0).ok_or(BadKeep)?;
        }
        Ok(keep)
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.days, 'd'), (self.weeks, 'w'), (self.months, 'm')];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<_> = parts.map(|(number, unit)| format!("{number}{unit}")).collect();
        f.write_str(&parts.join(","))
    }
}

impl Keep {
    /// The moments of the backups that go. Those later than now come from a clock that was wrong: they stay,
    /// and take the place of no other one.
    pub fn gone(&self, moments: &BTreeSet<Timestamp>, now: Timestamp) -> BTreeSet<Timestamp> {
        let past: BTreeSet<_> = moments.range(..=now).copied().collect();
        let kept = self.kept(&past);
        past.difference(&kept).copied().collect()
    }

    /// The moments of the backups that stay. The latest one always does.
    fn kept(&self, moments: &BTreeSet<Timestamp>) -> BTreeSet<Timestamp> {
        let periods: [(usize, Period); 3] = [(self.days, day), (self.weeks, week), (self.months, month)];
        let mut kept: BTreeSet<_> = moments.last().copied().into_iter().collect();
        for (number, period) in periods {
            let mut seen = BTreeSet::new();
            for moment in moments.iter().rev() {
                if seen.len() < number && seen.insert(period(*moment)) {
                    kept.insert(*moment);
                }
            }
        }
        kept
    }
}

fn day(moment: Timestamp) -> i64 {
    moment.millis().div_euclid(DAY_MILLIS)
}

/// The first day of 1970 was a Thursday.
fn week(moment: Timestamp) -> i64 {
    (day(moment) + 3).div_euclid(7)
}

fn month(moment: Timestamp) -> i64 {
    let (year, month, _) = moment.day().parts();
    i64::from(year) * 12 + i64::from(month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moments(texts: &[&str]) -> BTreeSet<Timestamp> {
        texts.iter().map(|text| Timestamp::parse(text).unwrap()).collect()
    }

    #[test]
    fn the_latest_of_each_day_week_and_month_stays() {
        let keep: Keep = "2d,2w,2m".parse().unwrap();
        let all = moments(&[
            "2031-02-10T02:00:00.000Z",
            "2031-03-28T02:00:00.000Z",
            "2031-04-27T02:00:00.000Z", // Sunday, the end of a week
            "2031-04-28T02:00:00.000Z",
            "2031-04-29T02:00:00.000Z",
            "2031-05-05T02:00:00.000Z",
            "2031-05-06T02:00:00.000Z",
            "2031-05-06T09:00:00.000Z",
        ]);
        let expected = moments(&[
            "2031-04-29T02:00:00.000Z", // the latest of the week before, and of April
            "2031-05-05T02:00:00.000Z",
            "2031-05-06T09:00:00.000Z",
        ]);
        assert_eq!(keep.kept(&all), expected);
    }

    #[test]
    fn backups_later_than_now_stay_and_take_no_place_of_others() {
        let keep: Keep = "2d".parse().unwrap();
        let past = moments(&[
            "2031-05-05T02:00:00.000Z",
            "2031-05-06T02:00:00.000Z",
            "2031-05-07T02:00:00.000Z",
            "2031-05-07T02:00:00.001Z",
        ]);
        let later = moments(&["2032-05-05T02:00:00.000Z", "2032-05-06T02:00:00.000Z"]);
        let all: BTreeSet<_> = past.union(&later).copied().collect();
        let now = *past.last().unwrap();
        let expected = moments(&["2031-05-05T02:00:00.000Z", "2031-05-07T02:00:00.000Z"]);
        assert_eq!(keep.gone(&all, now), expected);
        assert_eq!(keep.gone(&later, now), BTreeSet::new());
    }

    #[test]
    fn what_is_kept_is_written_by_letters() {
        assert_eq!("7d,4w,12m".parse(), Ok(Keep { days: 7, weeks: 4, months: 12 }));
        assert_eq!(" 3m , 1d".parse::<Keep>().unwrap().to_string(), "1d,3m");
        for bad in ["", "7", "d", "0d", "7d,", "7d,7d", "-1d", "+1d", "7x", "1.5w", "10000d", "7dd", "７d"] {
            assert_eq!(bad.parse::<Keep>(), Err(BadKeep), "{bad}");
        }
    }

    proptest! {
        /// Thinned every day or after a long while, the same is left.
        #[test]
        fn to_thin_often_leaves_what_to_thin_once_does(
            days in prop::collection::btree_set(0_i64..900, 1..60),
            keep in (1_usize..9, 0_usize..6, 0_usize..6),
        ) {
            let keep = Keep { days: keep.0, weeks: keep.1, months: keep.2 };
            let all: BTreeSet<_> = days.iter().map(|day| Timestamp::from_millis(day * DAY_MILLIS)).collect();
            let (mut often, mut so_far) = (BTreeSet::new(), BTreeSet::new());
            for moment in &all {
                so_far.insert(*moment);
                often.insert(*moment);
                often = keep.kept(&often);
                prop_assert_eq!(&often, &keep.kept(&so_far));
            }
            prop_assert!(often.len() <= keep.days + keep.weeks + keep.months);
            prop_assert!(often.contains(all.last().unwrap()));
        }
    }
}
