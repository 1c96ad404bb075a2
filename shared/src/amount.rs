//! Exact decimals for money and rates, and integers of any size. Binary floats appear nowhere.

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// Integer digits that an amount may have.
pub const INTEGER_DIGITS_MAX: usize = 15;
/// Fraction digits that an amount may have.
pub const FRACTION_DIGITS_MAX: usize = 5;

/// Above every amount in whole units: those have at most 15 digits before the point.
pub const AMOUNT_BOUND: i64 = 1_000_000_000_000_000;

/// An exact decimal: a JSON number on the wire that keeps the digits it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(pub Decimal);

/// Why a number is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    /// More integer digits than fit.
    TooLarge,
    /// More fraction digits than fit.
    TooManyDecimals,
    /// No number at all; JSON brings none of these.
    NotANumber,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount(Decimal::ZERO);

    /// Reads the text of a JSON number; trailing zeros do not count as digits.
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |d| (true, d));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
            return Err(AmountError::NotANumber);
        }
        if all.bytes().all(|b| b == b'0') && text == mantissa {
            return Self::plain(false, whole, fraction);
        }
        if all.bytes().all(|b| b == b'0') {
            return Ok(Self::ZERO);
        }
        // The point moves right by the exponent; an absurd one is out of range or too fine, never slow.
        let exponent: i64 = exponent.parse().unwrap_or(if exponent.starts_with('-') { -9999 } else { 9999 });
        if exponent == 0 {
            return Self::plain(negative, whole, fraction);
        }
        let ahead = all.len() - all.trim_start_matches('0').len();
        let significant = all.trim_matches('0');
        let point = whole.len() as i64 - ahead as i64 + exponent.clamp(-9999, 9999);
        if point > 64 {
            return Err(AmountError::TooLarge);
        }
        if point < -64 {
            return Err(AmountError::TooManyDecimals);
        }
        let (whole, fraction) = if point <= 0 {
            ("0".to_owned(), format!("{}{significant}", "0".repeat(point.unsigned_abs() as usize)))
        } else {
            let point = point as usize;
            let padded = format!("{significant:0<point$}");
            (padded[..point].to_owned(), padded[point..].to_owned())
        };
        Self::plain(negative, &whole, &fraction)
    }

    fn plain(negative: bool, whole: &str, fraction: &str) -> Result<Self, AmountError> {
        let whole = whole.trim_start_matches('0');
        if whole.len() > INTEGER_DIGITS_MAX {
            return Err(AmountError::TooLarge);
        }
        let significant = fraction.trim_end_matches('0');
        if significant.len() > FRACTION_DIGITS_MAX {
            return Err(AmountError::TooManyDecimals);
        }
        // Zeros behind the last digit are kept as far as the type carries them.
        let kept = &fraction[..fraction.len().min(FRACTION_DIGITS_MAX)];
        let sign = if negative { "-" } else { "" };
        let whole = if whole.is_empty() { "0" } else { whole };
        let text = if kept.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{kept}") };
        Decimal::from_str(&text).map(Self).map_err(|_| AmountError::TooLarge)
    }

    /// The sum, with as many fraction digits as the more precise of the two.
    // An amount has 15 integer digits and the type 23 beside 5 of the fraction, so a sum that does not
    // fit would take a hundred million amounts of the largest size.
    #[expect(clippy::expect_used, reason = "a sum of amounts fits")]
    pub fn plus(self, other: Amount) -> Amount {
        let sum = self.0.checked_add(other.0).expect("a sum of amounts fits");
        Self::scaled(sum, self.0.scale().max(other.0.scale()))
    }

    /// The difference, with as many fraction digits as the more precise of the two.
    pub fn minus(self, other: Amount) -> Amount {
        self.plus(Amount(-other.0))
    }

    /// The sum of all, with as many fraction digits as the most precise; 0 for none.
    pub fn sum(amounts: impl IntoIterator<Item = Amount>) -> Amount {
        amounts.into_iter().fold(Self::ZERO, Self::plus)
    }

    /// So many times the amount, if it is an amount still.
    pub fn times(self, number: u32) -> Option<Amount> {
        let product = self.0.checked_mul(Decimal::from(number))?;
        Self::parse(&Self::scaled(product, self.0.scale()).to_string()).ok()
    }

    /// The same amount on the other side of 0.
    pub fn negated(self) -> Amount {
        Self::scaled(-self.0, self.0.scale())
    }

    fn scaled(mut value: Decimal, scale: u32) -> Amount {
        // Adding to 0 may drop fraction digits, and there is only one 0.
        value.rescale(scale);
        if value.is_zero() {
            value.set_sign_positive(true);
        }
        Self(value)
    }

    /// Whether it is 0.
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// Whether it is below 0.
    pub fn is_negative(self) -> bool {
        self.0.is_sign_negative() && !self.0.is_zero()
    }

    /// The same amount as people read it: with as many fraction digits as the smallest amount of a currency
    /// has, and more where it is finer.
    pub fn in_scale(self, scale: u32) -> Amount {
        Self::scaled(self.0, self.fraction_digits().max(scale))
    }

    /// Fraction digits that matter: trailing zeros do not count.
    pub fn fraction_digits(self) -> u32 {
        self.0.normalize().scale()
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = serde_json::Number::from_str(&self.0.to_string());
        number.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Stored sums may be larger than what a request may send, so this reads any decimal.
        let number = serde_json::Number::deserialize(deserializer)?;
        let text = number.as_str();
        let parsed = Decimal::from_str(text).or_else(|_| Decimal::from_scientific(text));
        parsed.map(Self).map_err(|_| D::Error::custom("not a decimal"))
    }
}

/// An integer of any size, kept digit for digit (`publicKeyMod` has up to 5,000 digits).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BigInteger(String);

impl BigInteger {
    /// Reads an integer without fraction or exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        integer.then(|| Self(text.to_owned()))
    }

    /// The digits, with a sign if negative.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the integer is above 0.
    pub fn is_positive(&self) -> bool {
        !self.0.starts_with('-') && self.0.bytes().any(|b| b != b'0')
    }
}

impl Serialize for BigInteger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = serde_json::Number::from_str(&self.0);
        number.map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BigInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        Self::parse(number.as_str()).ok_or_else(|| D::Error::custom("not an integer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_no_amount() {
        for text in ["", "-", ".", "e5", "one", "1,5", "0x5", "--1"] {
            assert_eq!(Amount::parse(text), Err(AmountError::NotANumber), "{text}");
        }
    }

    #[test]
    fn an_amount_keeps_the_digits_it_was_given() {
        for text in ["1234.56", "0", "0.00", "1.250", "-5", "999999999999999.99999", "100"] {
            let amount = Amount::parse(text).unwrap();
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
            assert_eq!(serde_json::from_str::<Amount>(text).unwrap(), amount);
        }
        assert_eq!(Amount::parse("1e3").unwrap().to_string(), "1000");
        assert_eq!(Amount::parse("12.5e-2").unwrap().to_string(), "0.125");
        assert_eq!(Amount::parse("2.00000000000").unwrap().to_string(), "2.00000");
    }

    #[test]
    fn a_sum_has_the_digits_of_its_most_precise_term() {
        let amount = |text: &str| Amount::parse(text).unwrap();
        for (a, b, sum, difference) in [
            ("105", "401.50", "506.50", "-296.50"),
            ("0", "1.50", "1.50", "-1.50"),
            ("0.00", "5", "5.00", "-5.00"),
            ("536.73", "536.73", "1073.46", "0.00"),
            ("0", "0", "0", "0"),
            ("-0.5", "0.500", "0.000", "-1.000"),
        ] {
            assert_eq!(amount(a).plus(amount(b)).to_string(), sum, "{a} + {b}");
            assert_eq!(amount(a).minus(amount(b)).to_string(), difference, "{a} - {b}");
        }
        let largest = amount("999999999999999.99999");
        assert_eq!(largest.plus(largest).to_string(), "1999999999999999.99998");
        assert_eq!(amount("0.0").negated().to_string(), "0.0");
        assert_eq!(Amount::sum([amount("1"), amount("0.25"), amount("0.5")]).to_string(), "1.75");
    }

    #[test]
    fn too_many_digits_are_named_on_their_side_of_the_point() {
        assert_eq!(Amount::parse("1000000000000000"), Err(AmountError::TooLarge));
        assert_eq!(Amount::parse("1e99999999999"), Err(AmountError::TooLarge));
        assert_eq!(Amount::parse("0.000001"), Err(AmountError::TooManyDecimals));
        assert_eq!(Amount::parse("1e-99999999999"), Err(AmountError::TooManyDecimals));
        assert_eq!(Amount::parse("0e99999999999").unwrap(), Amount::ZERO);
        let one = format!("0.{}1e71", "0".repeat(70));
        assert_eq!(Amount::parse(&one).unwrap(), Amount::parse("1").unwrap());
    }

    #[test]
    fn a_big_integer_comes_back_digit_for_digit() {
        let digits = "7".repeat(1233);
        let big: BigInteger = serde_json::from_str(&digits).unwrap();
        assert_eq!(serde_json::to_string(&big).unwrap(), digits);
        assert!(BigInteger::parse("1.0").is_none() && BigInteger::parse("1e5").is_none());
        assert!(!BigInteger::parse("0").unwrap().is_positive());
        assert!(!BigInteger::parse("-3").unwrap().is_positive());
    }

    #[test]
    fn people_read_an_amount_in_the_scale_of_its_currency() {
        for (digits, scale, read) in [
            ("1250", 2, "1250.00"),
            ("1250", 0, "1250"),
            ("1250.00", 0, "1250"),
            ("1250.5", 0, "1250.5"),
            ("1250.505", 2, "1250.505"),
            ("1250.50000", 2, "1250.50"),
            ("0", 3, "0.000"),
            ("0.000", 0, "0"),
            ("-7.5", 2, "-7.50"),
            ("1e3", 2, "1000.00"),
            ("999999999999999.99999", 2, "999999999999999.99999"),
            ("999999999999999", 5, "999999999999999.00000"),
        ] {
            assert_eq!(
                Amount::parse(digits).unwrap().in_scale(scale).to_string(),
                read,
                "{digits} in {scale}"
            );
        }
    }
}
