//! A chart as lines of text: bars of block characters, or of plain ones.

use super::{Chart, Point};
use std::fmt::Write as _;

/// Columns of a terminal of unknown width.
const COLUMNS_DEFAULT: usize = 80;
/// Fewest columns of the bars, however narrow the terminal is.
const PLOT_MIN: usize = 8;
/// Widest bar with the space after it.
const BAR_MAX: usize = 8;
const INTERVALS_MAX: i128 = 5;
/// Lines that the bars take, more or less.
const LINES: i128 = 10;
const LABEL_GAP: usize = 2;

/// Of which characters a chart is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Blocks in eighths of a line.
    Blocks,
    /// ASCII.
    Plain,
}

impl Style {
    /// What the terminal of this process shows: blocks where it is not dumb and its locale is of UTF-8.
    pub fn of_terminal() -> Self {
        let given = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let dumb = given("TERM").is_none_or(|term| term == "dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(given).unwrap_or_default();
        let charset = locale.to_ascii_lowercase().replace('-', "");
        if !dumb && charset.contains("utf8") { Self::Blocks } else { Self::Plain }
    }

    /// Bars that rise, from empty to full, in eighths.
    fn rising(self) -> [char; 9] {
        match self {
            Self::Blocks => [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Plain => [' ', '.', '.', '.', ':', ':', ':', ':', '#'],
        }
    }

    /// Bars that hang: there are blocks for one eighth, a half and all of a line only.
    fn hanging(self) -> [char; 9] {
        match self {
            Self::Blocks => [' ', '▔', '▔', '▀', '▀', '▀', '█', '█', '█'],
            Self::Plain => [' ', '\'', '\'', '\'', ':', ':', ':', ':', '#'],
        }
    }

    /// The axis at a tick, between ticks, where it crosses the line of 0, and that line.
    fn axis(self) -> [char; 4] {
        match self {
            Self::Blocks => ['┤', '│', '┼', '─'],
            Self::Plain => ['+', '|', '+', '-'],
        }
    }
}

/// The bars of a plot.
struct Bars {
    points: Vec<Point>,
    /// Points that share one bar.
    group: usize,
    /// Columns of a bar with the space behind it.
    cell: usize,
}

impl Bars {
    /// Every point has a bar; where there are too many, several share one that shows the last of them.
    fn fit(points: &[Point], width: usize) -> Self {
        let group = points.len().div_ceil(width).max(1);
        let mut shared: Vec<Point> = points.rchunks(group).map(shared).collect();
        shared.reverse();
        let cell = (width / shared.len().max(1)).clamp(1, BAR_MAX);
        Self { points: shared, group, cell }
    }

    fn bar(&self) -> usize {
        if self.cell > 1 { self.cell - 1 } else { 1 }
    }
}

fn shared(points: &[Point]) -> Point {
    let last = points.iter().rev().find(|point| point.value.is_some());
    let value = last.and_then(|point| point.value);
    // A part of a list is never empty.
    Point { label: points.last().map_or_else(String::new, |point| point.label.clone()), value }
}

/// The lines that show a chart.
pub fn draw(chart: &Chart, width: u16, style: Style) -> String {
    let width = if width == u16::MAX { COLUMNS_DEFAULT } else { width.into() };
    let scale = chart.scale(INTERVALS_MAX);
    let ticks = scale.ticks();
    let label_width = ticks.iter().map(|(_, text)| text.len()).max().unwrap_or_default();
    let bars = Bars::fit(&chart.points, width.saturating_sub(label_width + 2).max(PLOT_MIN));
    let lines_each = (LINES / ((scale.high - scale.low) / scale.step)).clamp(2, 4);
    let (up, down) = (scale.high / scale.step * lines_each, -scale.low / scale.step * lines_each);
    let [at_tick, between, cross, zero] = style.axis();
    let mut text = format!("{}\n", chart.title);
    let tick = |line: i128| {
        let value = line / lines_each * scale.step;
        let label = ticks.iter().find(|(tick, _)| line % lines_each == 0 && *tick == value);
        label.map(|(_, label)| label.as_str())
    };
    for line in (-down..=up).rev() {
        let label = tick(line);
        let axis = if line == 0 {
            cross
        } else if label.is_some() {
            at_tick
        } else {
            between
        };
        let mut row = format!("{:>label_width$} {axis}", label.unwrap_or_default());
        for point in &bars.points {
            let mark = if line == 0 { zero } else { mark(point.value, line, lines_each, scale.step, style) };
            row.extend(std::iter::repeat_n(mark, bars.bar()));
            row.extend(std::iter::repeat_n(if line == 0 { zero } else { ' ' }, bars.cell - bars.bar()));
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    let indent = " ".repeat(label_width + 2);
    let labels = labels(&bars.points, bars.cell, width.saturating_sub(label_width + 2));
    let _ = writeln!(text, "{}", format!("{indent}{labels}").trim_end());
    if bars.group > 1 {
        let _ = writeln!(text, "each bar shows the last of {} {}s", bars.group, chart.point);
    }
    text
}

/// What a bar shows on a line; lines above 0 count from 1, those below from -1.
fn mark(value: Option<i128>, line: i128, lines_each: i128, step: i128, style: Style) -> char {
    let value = value.unwrap_or_default();
    if value == 0 || (value > 0) != (line > 0) {
        return ' ';
    }
    // A value that is not 0 is seen.
    let eighths = ((value.abs() * lines_each * 16 / step + 1) / 2).max(1);
    let here = (eighths - 8 * (line.abs() - 1)).clamp(0, 8);
    let marks = if value > 0 { style.rising() } else { style.hanging() };
    // It is from 0 to 8.
    marks[usize::try_from(here).unwrap_or_default()]
}

/// Labels below their bars, as many as fit; the last bar always has one, within the line.
fn labels(points: &[Point], cell: usize, width: usize) -> String {
    let longest = points.iter().map(|point| point.label.chars().count()).max().unwrap_or_default();
    let Some(last) = points.len().checked_sub(1) else { return String::new() };
    let beyond = (last * cell + longest).saturating_sub(width);
    let stride = (longest + LABEL_GAP + beyond).div_ceil(cell).max(1);
    let mut line = String::new();
    for (i, point) in points.iter().enumerate().skip(last % stride).step_by(stride) {
        let at = (i * cell).min(width.saturating_sub(longest));
        let behind = line.chars().count();
        line.extend(std::iter::repeat_n(' ', at.saturating_sub(behind)));
        line.push_str(&point.label);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::{ONE, number};
    use super::*;

    fn chart(values: &[&str]) -> Chart {
        let point = |(i, text): (usize, &&str)| Point { label: format!("{:02}", i + 1), value: number(text) };
        let points = values.iter().enumerate().map(point).collect();
        Chart { title: "cash, USD".to_owned(), point: "day", counts: false, digits: 2, points }
    }

    #[test]
    fn bars_rise_in_eighths_and_hang_below_zero() {
        let drawn = draw(&chart(&["4", "0.1", "", "2.5", "-1.5", "0"]), 40, Style::Blocks);
        let expected = "\
cash, USD
 4 ┤█████
   │█████
   │█████             ▆▆▆▆▆
 2 ┤█████             █████
   │█████             █████
   │█████ ▁▁▁▁▁       █████
 0 ┼────────────────────────────────────
   │                        █████
   │                        █████
-2 ┤                        ▔▔▔▔▔
    01    02    03    04    05    06
";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn plain_characters_are_ascii() {
        let drawn = draw(&chart(&["4", "0.1", "", "2.5", "-1.5", "0"]), 40, Style::Plain);
        assert!(drawn.is_ascii() && drawn.contains('#') && drawn.contains('\''), "{drawn}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let many: Vec<String> = (0..366).map(|i| format!("{}.25", i * 7)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let charts = [
            chart(&["1"]),
            chart(&[]),
            chart(&["0", "0", "0"]),
            chart(&["999999999999999.99999", "-999999999999999.99999"]),
            chart(&many),
            chart(&many[..30]),
        ];
        for chart in &charts {
            for width in [40, 41, 80, 200, 1000] {
                for style in [Style::Blocks, Style::Plain] {
                    let drawn = draw(chart, width, style);
                    let widest = drawn.lines().map(|line| line.chars().count()).max().unwrap();
                    assert!(widest <= width.into(), "{widest} in {width}:\n{drawn}");
                }
            }
        }
        let drawn = draw(&charts[4], 80, Style::Blocks);
        assert!(drawn.ends_with("each bar shows the last of 6 days\n"), "{drawn}");
    }

    #[test]
    fn the_last_point_ends_the_last_bar_that_several_share() {
        let points: Vec<Point> =
            (1..=10).map(|i| Point { label: i.to_string(), value: Some(i * ONE) }).collect();
        let bars = Bars::fit(&points, 4);
        let labels: Vec<_> = bars.points.iter().map(|point| point.label.as_str()).collect();
        assert_eq!((labels, bars.group), (vec!["1", "4", "7", "10"], 3));
    }

    #[test]
    fn labels_stand_apart() {
        let points: Vec<Point> =
            (1..=12).map(|i| Point { label: format!("2026-{i:02}"), value: Some(1) }).collect();
        let six = "     2026-02   2026-04   2026-06   2026-08   2026-10";
        assert_eq!(labels(&points, 5, 80), format!("{six}   2026-12"));
        assert_eq!(labels(&points, 5, 61), format!("{six}  2026-12"));
        assert_eq!(labels(&points, 1, 12), "     2026-12");
        assert_eq!(labels(&points, 8, 96).split_whitespace().count(), 6);
        assert_eq!(labels(&points, 9, 108).split_whitespace().count(), 12);
        assert_eq!(labels(&points[..1], 1, 3), "2026-01");
    }
}
