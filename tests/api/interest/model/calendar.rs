//! Days of the calendar, counted without the code of the daemon.

use std::fmt;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: i64,
    month: i64,
    day: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

impl Day {
    /// The day at the beginning of a text.
    pub fn of(text: &str) -> Self {
        let number = |range: std::ops::Range<usize>| text[range].parse().unwrap();
        Self { year: number(0..4), month: number(5..7), day: number(8..10) }
    }

    pub fn next(self) -> Self {
        if self.day < days_of(self.year, self.month) {
            return Self { day: self.day + 1, ..self };
        }
        self.first_of_month_after(1)
    }

    pub fn previous(self) -> Self {
        if self.day > 1 {
            return Self { day: self.day - 1, ..self };
        }
        self.first_of_month_after(-1).last_of_month()
    }

    /// So many days before.
    pub fn before(self, days: i64) -> Self {
        (0..days).fold(self, |day, _| day.previous())
    }

    fn first_of_month_after(self, months: i64) -> Self {
        let months = self.year * 12 + self.month - 1 + months;
        Self { year: months / 12, month: months % 12 + 1, day: 1 }
    }

    fn last_of_month(self) -> Self {
        Self { day: days_of(self.year, self.month), ..self }
    }

    /// Whether it is the last day of a month whose number is a multiple of this one.
    pub fn ends(self, months: i64) -> bool {
        self.month % months == 0 && self == self.last_of_month()
    }

    /// The same day so many months later, or the last day of that month.
    pub fn months_later(self, months: i64) -> Self {
        let first = self.first_of_month_after(months);
        Self { day: self.day.min(days_of(first.year, first.month)), ..first }
    }

    pub fn days_of_year(self) -> i128 {
        if is_leap(self.year) { 366 } else { 365 }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
