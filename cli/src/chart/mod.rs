//! Small charts of exact numbers, drawn in the terminal or as SVG. Nothing here is a float: places are worked
//! out in eighths of a line and in hundredths of a dot.

mod scale;
mod svg;
mod terminal;

pub use svg::draw as svg;
pub use terminal::{Style, draw as in_terminal};

use crate::words::grouped;
use scale::Scale;

/// Fraction digits of a number in a chart: as many as an amount may have.
const FRACTION_DIGITS: usize = 5;
/// One whole in the units in which charts count.
const ONE: i128 = 100_000;

/// One place of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub label: String,
    /// Its value in hundred-thousandths; nothing for a gap.
    pub value: Option<i128>,
}

/// A chart of one series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// What is shown, in which unit.
    pub title: String,
    /// What a point is: `day`, `month`.
    pub point: &'static str,
    /// Whether only whole numbers make sense.
    pub counts: bool,
    /// Digits after the point, where a value is shown.
    pub digits: usize,
    /// The points from left to right.
    pub points: Vec<Point>,
}

impl Chart {
    fn scale(&self, intervals_max: i128) -> Scale {
        let least = if self.counts { ONE } else { 1 };
        Scale::of(self.points.iter().filter_map(|point| point.value), least, intervals_max)
    }
}

/// A decimal number in hundred-thousandths; nothing for other text, or a finer number.
pub fn number(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fraction = if fraction.len() > FRACTION_DIGITS { fraction.trim_end_matches('0') } else { fraction };
    if !plain(whole) || !(fraction.is_empty() || plain(fraction)) || fraction.len() > FRACTION_DIGITS {
        return None;
    }
    let value = format!("{whole}{fraction:0<FRACTION_DIGITS$}").parse::<i128>().ok()?;
    Some(if negative { -value } else { value })
}

/// A number as people read it: with thousands separated and so many digits after the point.
fn shown(value: i128, digits: usize) -> String {
    let (whole, fraction) = (value.abs() / ONE, value.abs() % ONE);
    let mut text = grouped(&whole.to_string());
    if digits > 0 {
        let fraction = format!("{fraction:0>FRACTION_DIGITS$}");
        text = format!("{text}.{}", &fraction[..digits.min(FRACTION_DIGITS)]);
    }
    if value < 0 { format!("-{text}") } else { text }
}

/// The fraction digits of a number without zeros at its end.
fn digits_of(value: i128) -> usize {
    let fraction = format!("{:0>FRACTION_DIGITS$}", value.abs() % ONE);
    fraction.trim_end_matches('0').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_shown_digit_by_digit() {
        for (text, digits, read) in [
            ("1250.50", 2, "1,250.50"),
            ("-0.71", 2, "-0.71"),
            ("0", 0, "0"),
            ("999999999999999.99999", 5, "999,999,999,999,999.99999"),
            ("123456", 0, "123,456"),
            ("7.5000000", 1, "7.5"),
            ("7.", 0, "7"),
        ] {
            assert_eq!(shown(number(text).unwrap(), digits), read, "{text}");
        }
        for text in ["", "-", "x", "1.2.3", "1e5", "0.000001", "+1", ".5"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!([0, 50_000, 125_000, 1].map(digits_of), [0, 1, 2, 5]);
    }
}
