//! Tables that fit the width of a terminal.

use super::Screen;
use crate::output::views::{Column, WIDE};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// Space between two columns.
const GAP: u16 = 2;
/// Width beyond which a cell is wrapped rather than another column dropped; in a narrow terminal it is a part
/// of the width, so that one long name does not hide another column.
const WRAP_WIDTH: u16 = 32;
const WRAP_PART: u16 = 3;

/// Rows under their column names; with `fit`, the columns of least importance make room for the others.
pub fn rows(columns: &[Column], rows: &[Vec<String>], screen: &Screen, fit: bool, header: bool) -> String {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    if fit {
        drop_columns(columns, rows, screen.width, &mut kept);
    }
    // The gap after the last column takes no room: it is not printed.
    let mut table = plain(if fit { screen.width.saturating_add(GAP) } else { u16::MAX });
    if header {
        table.set_header(kept.iter().map(|i| columns[*i].name.to_uppercase()));
    }
    for row in rows {
        table.add_row(kept.iter().map(|i| row[*i].as_str()));
    }
    if let Some(first) = table.column_mut(0).filter(|_| fit) {
        // What names a record is copied from the screen, so it is wrapped last.
        let whole = kept.first().map_or(0, |i| widths(columns, rows)[*i]) + GAP;
        first.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(whole.min(screen.width / 2))));
    }
    for (place, column) in kept.iter().map(|i| &columns[*i]).enumerate() {
        if let Some(shown) = table.column_mut(place).filter(|_| column.right) {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    print(table, if header { 1 } else { 0 }, screen)
}

/// Rows whose columns are all shown: those that do not fit beside the first one make another table below it.
pub fn folded(columns: &[Column], cells: &[Vec<String>], screen: &Screen, header: bool) -> String {
    let widths = widths(columns, cells);
    let mut parts = vec![vec![0]];
    let mut width = widths.first().copied().unwrap_or_default();
    for (i, needed) in widths.iter().map(|width| width + GAP).enumerate().skip(1) {
        let part = parts.last_mut().filter(|part| part.len() == 1 || width + needed <= screen.width);
        match part {
            Some(part) => {
                part.push(i);
                width += needed;
            }
            None => {
                parts.push(vec![0, i]);
                width = widths[0] + needed;
            }
        }
    }
    let table = |part: &Vec<usize>| {
        let columns: Vec<_> = part.iter().map(|i| columns[*i]).collect();
        let cells: Vec<_> = cells.iter().map(|row| part.iter().map(|i| row[*i].clone()).collect()).collect();
        rows(&columns, &cells, screen, false, header)
    };
    parts.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// How wide each column is when nothing is wrapped.
fn widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<u16> {
    let mut natural = plain(u16::MAX);
    natural.set_header(columns.iter().map(|column| column.name));
    natural.add_rows(rows);
    natural.column_max_content_widths()
}

fn drop_columns(columns: &[Column], rows: &[Vec<String>], width: u16, kept: &mut Vec<usize>) {
    let widths = widths(columns, rows);
    // A name of a column is never wrapped for it.
    let wrap =
        |i: usize| WRAP_WIDTH.min(width / WRAP_PART).max(u16::try_from(columns[i].name.len()).unwrap_or(0));
    kept.retain(|i| columns[*i].priority < WIDE);
    let total = |kept: &[usize]| -> u32 {
        kept.iter().map(|i| u32::from(widths[*i].min(wrap(*i)) + GAP)).sum::<u32>().saturating_sub(GAP.into())
    };
    while total(kept) > u32::from(width) {
        // Of two of the same priority, the one on the right goes first.
        let Some(least) = (0..kept.len()).max_by_key(|place| columns[kept[*place]].priority) else { return };
        if columns[kept[least]].priority == 0 {
            return;
        }
        kept.remove(least);
    }
}

/// One record as lines of name and value.
pub fn record(lines: Vec<(&str, String)>, screen: &Screen) -> String {
    let mut table = plain(screen.width);
    for (name, value) in lines {
        table.add_row([name.to_owned(), value]);
    }
    print(table, 0, screen)
}

fn plain(width: u16) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    if width < u16::MAX {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

fn print(mut table: Table, header_lines: usize, screen: &Screen) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    let mut text = String::new();
    for (i, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let bold = i < header_lines && screen.stdout_colour;
        text.push_str(&if bold { format!("\x1b[1m{line}\x1b[0m\n") } else { format!("{line}\n") });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::views::column;

    fn screen(width: u16) -> Screen {
        Screen {
            stdout_is_terminal: true,
            stderr_is_terminal: true,
            width,
            message_width: width,
            lines: 50,
            stdout_colour: false,
            stderr_colour: false,
        }
    }

    #[test]
    fn columns_that_just_fit_are_neither_wrapped_nor_dropped() {
        let columns = [column("account", "/a", 0), column("last-transaction", "/b", 4)];
        let cells = [vec!["c-010".to_owned(), "2031-05-06".to_owned()]];
        let whole = "ACCOUNT  LAST-TRANSACTION\nc-010    2031-05-06\n";
        assert_eq!(rows(&columns, &cells, &screen(25), true, true), whole);
        assert_eq!(rows(&columns, &cells, &screen(24), true, true), "ACCOUNT\nc-010\n");
    }

    #[test]
    fn one_long_value_is_wrapped_and_hides_no_other_column() {
        let columns = [column("id", "/a", 0), column("given", "/b", 1), column("last", "/c", 1)];
        let cells = [vec!["c-1".to_owned(), "a".repeat(20), "b".repeat(20)]];
        let wrapped = "ID   GIVEN          LAST\n\
                       c-1  aaaaaaaaaaaaa  bbbbbbbbbbbb\n     aaaaaaa        bbbbbbbb\n";
        assert_eq!(rows(&columns, &cells, &screen(32), true, true), wrapped);
    }

    #[test]
    fn what_does_not_fit_beside_the_first_column_goes_on_below() {
        let columns = [column("group", "/g", 0), column("clerk", "/c", 1), column("teller", "/t", 1)];
        let cells = [vec!["office".to_owned(), "RC".to_owned(), "R".to_owned()]];
        let beside = "GROUP   CLERK  TELLER\noffice  RC     R\n";
        assert_eq!(folded(&columns, &cells, &screen(21), true), beside);
        let below = "GROUP   CLERK\noffice  RC\n\nGROUP   TELLER\noffice  R\n";
        assert_eq!(folded(&columns, &cells, &screen(20), true), below);
    }
}
