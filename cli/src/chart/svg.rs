//! Charts as one SVG: no scripts, no styles from elsewhere, readable when it is printed in black and white.

use super::{Chart, Point, shown};
use crate::words::in_markup;
use std::fmt::Write as _;

/// Sizes in dots.
const WIDTH: i128 = 800;
const PLOT_HEIGHT: i128 = 240;
const MARGIN: i128 = 20;
/// Space for the title of the drawing, for that of a chart, and for the labels below it.
const HEAD: i128 = 48;
const CHART_HEAD: i128 = 34;
const CHART_FOOT: i128 = 40;
/// Width of a character of a label, a little more than it is.
const CHARACTER: i128 = 7;
/// Space on the right, into which the last label reaches.
const RIGHT: i128 = 44;
const LABEL_GAP: i128 = 8;
const INTERVALS_MAX: i128 = 6;
/// Most of a bar's place that the bar takes, in hundredths, and its greatest width in dots.
const BAR_PART: i128 = 78;
const BAR_MAX: i128 = 48;

/// A text as XML takes it, which has no control characters, however they are written.
fn escaped(text: &str) -> String {
    let is_none = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    in_markup(&text.replace(is_none, "\u{fffd}"))
}

/// Hundredths of a dot as SVG writes them.
fn dots(hundredths: i128) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let value = hundredths.abs();
    match value % 100 {
        0 => format!("{sign}{}", value / 100),
        rest => format!("{sign}{}.{rest:02}", value / 100),
    }
}

fn length(text: &str) -> i128 {
    i128::try_from(text.chars().count()).unwrap_or(i128::MAX / CHARACTER) * CHARACTER
}

/// The drawing of charts, one below the other.
pub fn draw(title: &str, charts: &[Chart]) -> String {
    let each = CHART_HEAD + PLOT_HEIGHT + CHART_FOOT;
    let count = i128::try_from(charts.len()).unwrap_or_default();
    let height = HEAD + count * each + MARGIN;
    let title = escaped(title);
    let mut svg = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{MARGIN}\" y=\"32\" font-size=\"18\" font-weight=\"bold\">{title}</text>"
    );
    for (place, chart) in (0..).zip(charts) {
        add_chart(&mut svg, chart, HEAD + place * each);
    }
    svg.push_str("</svg>\n");
    svg
}

fn add_chart(svg: &mut String, chart: &Chart, top: i128) {
    let scale = chart.scale(INTERVALS_MAX);
    let ticks = scale.ticks();
    let left = MARGIN + ticks.iter().map(|(_, text)| length(text)).max().unwrap_or_default() + 8;
    let (right, plot_top) = (WIDTH - RIGHT, top + CHART_HEAD);
    // Hundredths of a dot from the top of the drawing.
    let y =
        |value: i128| plot_top * 100 + (scale.high - value) * PLOT_HEIGHT * 100 / (scale.high - scale.low);
    let _ = writeln!(
        svg,
        "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"14\">{}</text>",
        top + 18,
        escaped(&chart.title)
    );
    for (value, text) in &ticks {
        let (at, baseline) = (dots(y(*value)), dots(y(*value) + 400));
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{at}\" x2=\"{right}\" y2=\"{at}\" stroke=\"#ccc\"/>\n\
             <text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{text}</text>",
            left - 8
        );
    }
    let count = i128::try_from(chart.points.len()).unwrap_or(i128::MAX).max(1);
    let cell = (right - left) * 100 / count;
    let bar = (cell * BAR_PART / 100).clamp(1, BAR_MAX * 100);
    for (i, point) in (0..).zip(&chart.points) {
        add_bar(svg, (point, chart.digits), left * 100 + i * cell + (cell - bar) / 2, bar, &y);
    }
    let zero = dots(y(0));
    let _ = writeln!(svg, "<line x1=\"{left}\" y1=\"{zero}\" x2=\"{right}\" y2=\"{zero}\" stroke=\"#000\"/>");
    let _ = writeln!(
        svg,
        "<line x1=\"{left}\" y1=\"{plot_top}\" x2=\"{left}\" y2=\"{}\" stroke=\"#000\"/>",
        plot_top + PLOT_HEIGHT
    );
    add_labels(svg, chart, left, cell, plot_top + PLOT_HEIGHT);
}

/// A bar, with its exact value as a tooltip.
fn add_bar(
    svg: &mut String,
    (point, digits): (&Point, usize),
    x: i128,
    width: i128,
    y: &impl Fn(i128) -> i128,
) {
    let Some(value) = point.value else { return };
    let (top, bottom) = (y(value.max(0)), y(value.min(0)));
    // A value that is not 0 is seen.
    let height = if value == 0 { 0 } else { (bottom - top).max(50) };
    let top = if value > 0 { bottom - height } else { top };
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#4a4a4a\"><title>{}: {}</title></rect>",
        dots(x),
        dots(top),
        dots(width),
        dots(height),
        escaped(&point.label),
        shown(value, digits)
    );
}

/// Labels below the middle of their bars, as many as fit; the last bar always has one.
fn add_labels(svg: &mut String, chart: &Chart, left: i128, cell: i128, bottom: i128) {
    let longest = chart.points.iter().map(|point| length(&point.label)).max().unwrap_or_default();
    let stride = ((longest + LABEL_GAP) * 100 / cell.max(1) + 1).max(1);
    let count = i128::try_from(chart.points.len()).unwrap_or(i128::MAX);
    for (i, point) in (0..).zip(&chart.points).filter(|(i, _)| (count - 1 - i) % stride == 0) {
        let at = dots(left * 100 + i * cell + cell / 2);
        let tick = bottom + 5;
        let _ = writeln!(
            svg,
            "<line x1=\"{at}\" y1=\"{bottom}\" x2=\"{at}\" y2=\"{tick}\" stroke=\"#000\"/>\n\
             <text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 20,
            escaped(&point.label)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let hostile = "<script>alert(1)</script> & \"'\u{1}\u{ffff}";
        let points = vec![Point { label: hostile.to_owned(), value: number("1.50") }];
        let chart = Chart { title: hostile.to_owned(), point: "day", counts: false, digits: 2, points };
        let svg = draw(hostile, &[chart]);
        let safe = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;&#39;\u{fffd}\u{fffd}";
        assert!(!svg.contains("<script") && !svg.contains('\u{1}'), "{svg}");
        assert_eq!(svg.matches(safe).count(), 5, "{svg}");
        assert!(svg.contains("<title>") && svg.contains(": 1.50</title>"), "{svg}");
    }

    #[test]
    fn a_bar_ends_where_its_value_is() {
        let points = ["10", "-5", "", "0"].map(|text| Point { label: "x".to_owned(), value: number(text) });
        let chart =
            Chart { title: "t".to_owned(), point: "day", counts: false, digits: 0, points: points.to_vec() };
        let svg = draw("t", &[chart]);
        // From -6 to 10 in steps of 2 would be 8 intervals, so the steps are 5: from -5 to 10.
        let bars: Vec<_> = svg.lines().filter(|line| line.contains("#4a4a4a")).collect();
        assert_eq!(bars.len(), 3, "{svg}");
        assert!(bars[0].contains("y=\"82\"") && bars[0].contains("height=\"160\""), "{}", bars[0]);
        assert!(bars[1].contains("y=\"242\"") && bars[1].contains("height=\"80\""), "{}", bars[1]);
        assert!(bars[2].contains("height=\"0\""), "{}", bars[2]);
    }
}
