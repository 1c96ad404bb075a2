//! The scale of a chart: from a round number to a round number, in round steps, with 0 on it.

use super::{digits_of, shown};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Its lower end, at most 0.
    pub low: i128,
    /// Its upper end, at least 0.
    pub high: i128,
    /// From one tick to the next.
    pub step: i128,
}

impl Scale {
    /// The scale of values in the smallest steps of 1, 2 or 5 with zeros that are so few; no step is smaller
    /// than `least`.
    pub fn of(values: impl Iterator<Item = i128>, least: i128, intervals_max: i128) -> Self {
        let (low, high) = values.fold((0, 0), |(low, high), value| (value.min(low), value.max(high)));
        if low == high {
            return Self { low: 0, high: super::ONE, step: super::ONE };
        }
        let above = |value: i128, step: i128| (value + step - 1) / step;
        let mut steps = [1, 2, 5].map(|step| step * least);
        loop {
            for step in steps {
                let (below, above) = (above(-low, step), above(high, step));
                if below + above <= intervals_max.max(2) {
                    return Self { low: -below * step, high: above * step, step };
                }
            }
            steps = steps.map(|step| step * 10);
        }
    }

    /// The ticks from the lower end to the upper one, each with its text.
    pub fn ticks(&self) -> Vec<(i128, String)> {
        let digits = digits_of(self.step);
        let count = (self.high - self.low) / self.step;
        (0..=count).map(|i| self.low + i * self.step).map(|tick| (tick, shown(tick, digits))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ONE, number};
    use super::*;

    fn ticks(values: &[&str], least: i128) -> Vec<String> {
        let values = values.iter().map(|text| number(text).unwrap());
        Scale::of(values, least, 5).ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_scale_has_few_round_ticks_and_holds_every_value() {
        assert_eq!(ticks(&["1234.56"], 1), ["0", "500", "1,000", "1,500"]);
        assert_eq!(ticks(&["5"], 1), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(ticks(&["-3", "4.5"], 1), ["-4", "-2", "0", "2", "4", "6"]);
        assert_eq!(ticks(&["-7"], 1), ["-8", "-6", "-4", "-2", "0"]);
        assert_eq!(ticks(&["0.03"], 1), ["0.00", "0.01", "0.02", "0.03"]);
        assert_eq!(ticks(&["0", "0.00"], 1), ["0", "1"]);
        assert_eq!(ticks(&[], 1), ["0", "1"]);
        assert_eq!(ticks(&["1"], ONE), ["0", "1"]);
        assert_eq!(ticks(&["3"], ONE), ["0", "1", "2", "3"]);
        let large = ticks(&["999999999999999.99999"], 1);
        assert_eq!(large.last().unwrap(), "1,000,000,000,000,000");
        assert!(large.len() <= 6, "{large:?}");
    }
}
