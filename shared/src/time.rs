//! Moments and days. Nothing here asks what time it is: "now" is an argument everywhere.

mod zone;

pub use zone::Zone;

use jiff::tz::Offset;
use jiff::{ToSpan, civil};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::fmt;

/// A moment in UTC, in whole milliseconds; on the wire `2024-03-05T09:14:27.041Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Milliseconds of the first moment of the year 0.
const FIRST_MILLIS: i64 = -62_167_219_200_000;
/// Milliseconds of the last moment of the year 9999. The moments of the library end 26 hours before.
const LAST_MILLIS: i64 = 253_402_300_799_999;
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// Days by which a moment that the library does not have is moved to one that it has, and back.
const BEYOND_DAYS: i64 = 2;

impl Timestamp {
    /// The moment this many milliseconds after the start of 1970; a moment that no calendar
    /// shows becomes the nearest one that it does.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(jiff::Timestamp::MIN.as_millisecond(), LAST_MILLIS))
    }

    /// Milliseconds since the start of 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Reads any RFC 3339 date-time with an offset; finer than a millisecond is cut.
    pub fn parse(text: &str) -> Option<Self> {
        // RFC 3339 only: the parser below knows more forms (a comma, no colon, a zone in brackets).
        let bytes = text.as_bytes();
        let shaped = bytes.len() >= 20
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && matches!(bytes[10], b'T' | b't' | b' ')
            && bytes[13] == b':'
            && bytes[16] == b':';
        if !shaped {
            return None;
        }
        let (fraction, ahead) = rest(text.get(19..)?)?;
        // A leap second cannot be read as plain digits; the parser handles it.
        let local = civil_of(bytes).or_else(|| text.get(..19)?.parse().ok())?;
        let millis = millis_of(local)? + fraction - ahead * 1000;
        // The offset may lead out of the years that have four digits, which are all that is written and read.
        (FIRST_MILLIS..=LAST_MILLIS).contains(&millis).then_some(Self(millis))
    }

    /// Date and time of day in UTC.
    fn civil(self) -> civil::DateTime {
        let shown =
            |millis| jiff::Timestamp::from_millisecond(millis).map(|moment| Offset::UTC.to_datetime(moment));
        let last = || {
            let before = shown(self.0 - BEYOND_DAYS * DAY_MILLIS)?;
            before.checked_add(BEYOND_DAYS.days())
        };
        shown(self.0).or_else(|_| last()).unwrap_or(civil::DateTime::MAX)
    }

    /// The day in UTC on which the moment falls.
    pub fn day(self) -> Date {
        Date(self.civil().date())
    }

    /// The moment this many seconds later (earlier, if negative).
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_millis(self.millis().saturating_add(seconds.saturating_mul(1000)))
    }
}

/// The date and time of day with which a date-time of the right shape begins. Every record that is read has
/// some.
fn civil_of(text: &[u8]) -> Option<civil::DateTime> {
    let number = |from: usize, to: usize| {
        text.get(from..to)?.iter().try_fold(0, |number: i16, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0'))
        })
    };
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let time = civil::Time::new(small(11)?, small(14)?, small(17)?, 0).ok()?;
    Some(civil::Date::new(number(0, 4)?, small(5)?, small(8)?).ok()?.to_datetime(time))
}

/// A date and time of day in UTC as it is written; nothing for a year without four digits.
fn written(utc: civil::DateTime) -> Option<[u8; 24]> {
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let mut put = |end: usize, digits: usize, number: i16| {
        let mut left = u16::try_from(number).ok()?;
        for digit in text.get_mut(end - digits..end)?.iter_mut().rev() {
            *digit += u8::try_from(left % 10).ok()?;
            left /= 10;
        }
        (left == 0).then_some(())
    };
    put(4, 4, utc.year())?;
    let parts = [utc.month(), utc.day(), utc.hour(), utc.minute(), utc.second()];
    for (number, end) in parts.into_iter().zip([7, 10, 13, 16, 19]) {
        put(end, 2, number.into())?;
    }
    put(23, 3, utc.millisecond())?;
    Some(text)
}

/// Reads what is written as text, without a copy of it.
struct Text<T>(&'static str, fn(&str) -> Option<T>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let Self(wanted, read) = self;
        read(text).ok_or_else(|| E::custom(format_args!("not a {wanted}")))
    }
}

/// Milliseconds of a date-time in UTC.
fn millis_of(utc: civil::DateTime) -> Option<i64> {
    let millis = |utc: civil::DateTime| Some(Offset::UTC.to_timestamp(utc).ok()?.as_millisecond());
    millis(utc).or_else(|| {
        let before = utc.checked_sub(BEYOND_DAYS.days()).ok()?;
        Some(millis(before)? + BEYOND_DAYS * DAY_MILLIS)
    })
}

/// What follows the seconds of a date-time, a fraction and an offset: milliseconds, and seconds ahead of UTC.
fn rest(text: &str) -> Option<(i64, i64)> {
    let (digits, offset) = match text.strip_prefix('.') {
        None => ("", text),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return None;
            }
            rest.split_at(digits)
        }
    };
    let mut digits = digits.bytes().map(|digit| i64::from(digit - b'0')).chain(std::iter::repeat(0));
    let millis = digits.by_ref().take(3).fold(0, |millis, digit| millis * 10 + digit);
    let ahead = match offset.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), hours @ .., b':', tens @ b'0'..=b'5', ones @ b'0'..=b'9'] => {
            let hours = match hours {
                [tens @ b'0'..=b'1', ones @ b'0'..=b'9'] | [tens @ b'2', ones @ b'0'..=b'3'] => {
                    two(*tens, *ones)
                }
                _ => return None,
            };
            let ahead = (hours * 60 + two(*tens, *ones)) * 60;
            if *sign == b'-' { -ahead } else { ahead }
        }
        _ => return None,
    };
    Some((millis, ahead))
}

fn two(tens: u8, ones: u8) -> i64 {
    i64::from(tens - b'0') * 10 + i64::from(ones - b'0')
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}Z", self.civil())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = written(self.civil());
        match written.as_ref().and_then(|text| std::str::from_utf8(text).ok()) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text("timestamp", |text| {
            // Earlier versions stored moments before the year 0.
            let stored = || text.parse().ok().map(|moment: jiff::Timestamp| Self(moment.as_millisecond()));
            Self::parse(text).or_else(stored)
        }))
    }
}

/// A day of the calendar; on the wire `2024-03-05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(civil::Date);

impl Date {
    /// The day, if the calendar has it.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let year = i16::try_from(year).ok()?;
        let month = i8::try_from(month).ok()?;
        let day = i8::try_from(day).ok()?;
        civil::Date::new(year, month, day).ok().map(Self)
    }

    /// Reads exactly `YYYY-MM-DD`; a trailing `Z` is dropped.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('Z').unwrap_or(text);
        let shaped = text.len() == 10
            && text.bytes().enumerate().all(
                |(i, b)| {
                    if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() }
                },
            );
        if !shaped {
            return None;
        }
        let part = |range: std::ops::Range<usize>| text[range].parse::<i64>().ok();
        Self::new(part(0..4)?, part(5..7)?, part(8..10)?)
    }

    /// The next day; the last day of the calendar is its own next day.
    pub fn next(self) -> Self {
        Self(self.0.tomorrow().unwrap_or(self.0))
    }

    /// The day before; the first day of the calendar is its own day before.
    pub fn previous(self) -> Self {
        Self(self.0.yesterday().unwrap_or(self.0))
    }

    /// The same day so many months later (earlier, if negative), or the last one of that month where it has
    /// no such day; the end of the calendar is as far as it goes.
    pub fn plus_months(self, months: i64) -> Self {
        let span = jiff::Span::new().try_months(months);
        Self(span.map_or(self.0, |span| self.0.saturating_add(span)))
    }

    /// The last day of the month.
    pub fn last_of_month(self) -> Self {
        Self(self.0.last_of_month())
    }

    /// Days of the year: 365 or 366.
    pub fn days_in_year(self) -> i16 {
        self.0.days_in_year()
    }

    /// Year, month and day as integers.
    pub fn parts(self) -> (i16, i8, i8) {
        (self.0.year(), self.0.month(), self.0.day())
    }

    /// The first moment of the day, in UTC; of a day before there are moments, the first of them.
    pub fn start(self) -> Timestamp {
        millis_of(self.0.at(0, 0, 0, 0)).map_or(Timestamp::from_millis(i64::MIN), Timestamp)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text("date", Self::parse))
    }
}

/// Days from the first to the last, both included, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// First day.
    pub first: Date,
    /// Last day.
    pub last: Date,
}

impl DateRange {
    /// How it is written, as JSON schema. That both are days of the calendar, and in their order, no pattern
    /// says.
    pub fn schema() -> Value {
        const DAY: &str = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])Z?";
        json!({ "type": "string", "pattern": format!(r"^{DAY}\.\.{DAY}$") })
    }

    /// Whether a moment is on one of the days.
    pub fn contains(&self, moment: Timestamp) -> bool {
        (self.first..=self.last).contains(&moment.day())
    }
}

impl fmt::Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_shown_in_utc_with_three_fractional_digits() {
        for (sent, shown) in [
            ("2024-03-05T09:14:27.041Z", "2024-03-05T09:14:27.041Z"),
            ("2024-03-05T09:14:27Z", "2024-03-05T09:14:27.000Z"),
            ("2024-03-05T09:14:27.0419999+01:00", "2024-03-05T08:14:27.041Z"),
            ("2024-03-05t09:14:27-23:59", "2024-03-06T09:13:27.000Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
            ("2024-03-05T09:14:27.041999999999999-01:00", "2024-03-05T10:14:27.041Z"),
            ("2024-03-05T09:14:27.5+05:30", "2024-03-05T03:44:27.500Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-30T22:00:01Z", "9999-12-30T22:00:01.000Z"),
            ("9999-12-31T00:30:00+01:00", "9999-12-30T23:30:00.000Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::parse(sent).unwrap().to_string(), shown);
        }
        for bad in [
            "yesterday",
            "2024-03-05",
            "2024-02-30T00:00:00Z",
            "2024-03-05T09:14:27",
            "20240305T091427Z",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:00:00-01:00",
            "2024-03-05T24:00:00Z",
            "+024-03-05T09:14:27Z",
            "2024-03-05T09:14:27.Z1",
            "2024-03-05T09:14:é7Z",
            "2024-03-05T09:14:27,5Z",
            "2024-03-05T09:14:27.Z",
            "2024-03-05T09:14:27+01",
            "2024-03-05T09:14:27+0100",
            "2024-03-05T09:14:27+01:00:30",
            "2024-03-05T09:14:27+24:00",
            "2024-03-05T09:14:27+01:60",
            "2024-03-05T09:14:27+1:00",
            "2024-03-05T09:14:27Z[UTC]",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_moment_is_stored_as_it_is_shown_and_read_as_the_calendar_has_it() {
        assert_eq!(Date::new(0, 1, 1).unwrap().start().millis(), FIRST_MILLIS);
        let step = 86_400_000 * 37 + 3_723_457;
        let some = (FIRST_MILLIS..=LAST_MILLIS).step_by(step).chain([FIRST_MILLIS - 1, LAST_MILLIS]);
        for millis in some {
            let moment = Timestamp::from_millis(millis);
            let text = serde_json::to_string(&moment).unwrap();
            assert_eq!(text, format!("\"{moment}\""));
            let plain = text.trim_matches('"').trim_end_matches('Z');
            if millis >= FIRST_MILLIS {
                assert_eq!(Timestamp::parse(&format!("{plain}Z")), Some(moment), "{text}");
                assert_eq!(civil_of(plain.as_bytes()), plain.split('.').next().unwrap().parse().ok());
            }
        }
        assert_eq!(
            Timestamp::parse("2016-12-31T23:59:60Z").map(|leap| leap.to_string()),
            Some("2016-12-31T23:59:59.000Z".to_owned())
        );
    }

    #[test]
    fn whatever_was_stored_is_read() {
        let before = "0000-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond() - 3_600_000;
        for millis in [0, -1, before, i64::MIN, i64::MAX] {
            let moment = Timestamp::from_millis(millis);
            let text = serde_json::to_string(&moment).unwrap();
            assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap().millis(), moment.millis(), "{text}");
        }
    }

    #[test]
    fn a_date_must_exist() {
        assert_eq!(Date::parse("2024-02-29Z").unwrap().to_string(), "2024-02-29");
        for bad in ["2023-02-29", "2024-2-9", "2024-13-01", "2024-03-05T00:00:00Z", "", "Z", "+024-03-05"] {
            assert_eq!(Date::parse(bad), None, "{bad}");
        }
        assert_eq!(Date::parse("2024-12-31").unwrap().next().to_string(), "2025-01-01");
        assert_eq!(Date::parse("2024-12-31").unwrap().start().to_string(), "2024-12-31T00:00:00.000Z");
    }

    #[test]
    fn a_range_to_the_end_of_the_calendar_begins_before_it_ends() {
        let day = |text| Date::parse(text).unwrap();
        for (earlier, later) in [
            ("0000-01-01", "0000-01-02"),
            ("2024-03-05", "9999-12-29"),
            ("2024-03-05", "9999-12-30"),
            ("2024-03-05", "9999-12-31"),
        ] {
            assert!(day(earlier).start() < day(later).start(), "{earlier} {later}");
            assert!(day(earlier).start() < day(later).next().start(), "{earlier} {later}");
        }
    }
}
