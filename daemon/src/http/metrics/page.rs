//! The text in which Prometheus takes metrics, version 0.0.4.

use crate::count::Counted;
use std::fmt;

/// Content type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows while the daemon runs.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// How values are spread.
    Histogram,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// A metric by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub help: &'static str,
}

/// Microseconds as seconds: exact, since no floating point comes near.
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Labels with their values. Both are words of this program, so that nothing in them has to be escaped.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

/// The text so far.
#[derive(Debug, Default)]
pub struct Page(String);

impl Page {
    /// Begins a metric; its values follow.
    pub fn begin(&mut self, family: Family) {
        let Family { name, kind, help } = family;
        self.0 += &format!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.as_str());
    }

    /// A metric of one value.
    pub fn one(&mut self, family: Family, value: impl fmt::Display) {
        self.begin(family);
        self.value(family, &[], value);
    }

    /// A metric of one value, left out if the value is not known.
    pub fn known(&mut self, family: Family, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.one(family, value);
        }
    }

    /// A value of a metric.
    pub fn value(&mut self, family: Family, labels: Labels<'_>, value: impl fmt::Display) {
        self.line(family.name, "", labels, value);
    }

    /// How values are spread; `shown` writes a value as the unit of the metric.
    pub fn spread<D: fmt::Display>(
        &mut self,
        family: Family,
        labels: Labels<'_>,
        counted: &Counted,
        shown: fn(u64) -> D,
    ) {
        for (bound, upto) in counted.bounds.iter().zip(&counted.upto) {
            let bound = shown(*bound).to_string();
            self.line(family.name, "_bucket", &[labels, &[("le", bound.as_str())]].concat(), upto);
        }
        self.line(family.name, "_bucket", &[labels, &[("le", "+Inf")]].concat(), counted.count);
        self.line(family.name, "_sum", labels, shown(counted.sum));
        self.line(family.name, "_count", labels, counted.count);
    }

    fn line(&mut self, name: &str, end: &str, labels: Labels<'_>, value: impl fmt::Display) {
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.0 += &format!("{name}{end}{labels} {value}\n");
    }

    /// The whole text.
    pub fn text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Spread;

    #[test]
    fn seconds_are_exact_and_short() {
        for (micros, seconds) in [(0, "0"), (1, "0.000001"), (250_000, "0.25"), (10_000_000, "10")] {
            assert_eq!(Seconds(micros).to_string(), seconds);
        }
        assert_eq!(Seconds(u64::MAX).to_string(), "18446744073709.551615");
    }

    #[test]
    fn a_spread_is_a_histogram() {
        let mut page = Page::default();
        let spread = Spread::over(&[500, 1_000_000]);
        [400, 600, 2_000_000].into_iter().for_each(|value| spread.note(value));
        let family = Family { name: "took_seconds", kind: Kind::Histogram, help: "How long." };
        page.begin(family);
        page.spread(family, &[("of", "work")], &spread.counted(), Seconds);
        let expected = "# HELP took_seconds How long.\n# TYPE took_seconds histogram\n\
            took_seconds_bucket{of=\"work\",le=\"0.0005\"} 1\ntook_seconds_bucket{of=\"work\",le=\"1\"} 2\n\
            took_seconds_bucket{of=\"work\",le=\"+Inf\"} 3\ntook_seconds_sum{of=\"work\"} 2.001\n\
            took_seconds_count{of=\"work\"} 3\n";
        assert_eq!(page.text(), expected);
    }
}
