//! Tables on a paper: columns side by side, or on narrow paper their cells below each other.

use super::Table;
use super::lines::{Block, Line, Piece, Ruler, Style, left, total, wrapped};
use std::rc::Rc;

/// The place of each text of a table.
pub fn lay_out(table: &Table, ruler: &dyn Ruler) -> Vec<Block> {
    let Some(widths) = widths(table, ruler) else { return stacked(table, ruler) };
    let grid = Grid { table, widths, ruler };
    let names: Vec<_> = table.columns.iter().map(|column| column.name.clone()).collect();
    let mut head = grid.row(&names, Style::Strong);
    head.push(Line::Rule);
    let head = Rc::new(head);
    let mut rows: Vec<_> = table.rows.iter().map(|row| grid.row(row, Style::Plain)).collect();
    if rows.is_empty() {
        rows.push(left(table.empty, 0, ruler.line(), Style::Plain, ruler));
    }
    if let Some(total) = &table.total {
        rows.push([vec![Line::Rule], grid.row(total, Style::Strong)].concat());
    }
    let mut blocks: Vec<_> =
        rows.into_iter().map(|lines| Block { lines, head: Some(Rc::clone(&head)) }).collect();
    // The names of the columns are never the last line of a page.
    if let Some(first) = blocks.first_mut() {
        *first = Block::of([head.to_vec(), std::mem::take(&mut first.lines)].concat());
    }
    blocks
}

/// Whether the columns of a table fit side by side.
pub fn fits(table: &Table, ruler: &dyn Ruler) -> bool {
    widths(table, ruler).is_some()
}

/// Columns of which each has a width.
struct Grid<'a> {
    table: &'a Table,
    widths: Vec<u32>,
    ruler: &'a dyn Ruler,
}

impl Grid<'_> {
    fn row(&self, cells: &[String], style: Style) -> Vec<Line> {
        let mut lines: Vec<Vec<Piece>> = vec![Vec::new()];
        let mut x = 0;
        for ((cell, column), width) in cells.iter().zip(&self.table.columns).zip(&self.widths) {
            for (i, text) in wrapped(cell, *width, style, self.ruler).into_iter().enumerate() {
                let free = if column.right { width.saturating_sub(self.ruler.text(&text, style)) } else { 0 };
                if lines.len() == i {
                    lines.push(Vec::new());
                }
                if !text.is_empty() {
                    lines[i].push(Piece { x: x + free, text, style });
                }
            }
            x += width + self.ruler.gap();
        }
        lines.into_iter().map(Line::Texts).collect()
    }
}

/// The width of each column; none if the table is too wide for the paper. Amounts are never wrapped, and the
/// widest column of words shrinks first.
fn widths(table: &Table, ruler: &dyn Ruler) -> Option<Vec<u32>> {
    let natural = |place: usize| {
        let cell = |row: &Vec<String>| row.get(place).map_or(0, |cell| ruler.text(cell, Style::Plain));
        let total = table.total.as_ref().and_then(|row| row.get(place));
        let total = total.map_or(0, |cell| ruler.text(cell, Style::Strong));
        let name = ruler.text(&table.columns[place].name, Style::Strong);
        table.rows.iter().map(cell).max().unwrap_or_default().max(total).max(name)
    };
    let mut widths: Vec<u32> = (0..table.columns.len()).map(natural).collect();
    let gaps = ruler.gap() * u32::try_from(widths.len().saturating_sub(1)).ok()?;
    let words = |widths: &[u32]| {
        (0..widths.len()).filter(|i| !table.columns[*i].right).max_by_key(|i| (widths[*i], usize::MAX - i))
    };
    loop {
        let needed = widths.iter().sum::<u32>() + gaps;
        let widest = words(&widths)?;
        if needed <= ruler.line() {
            // What is left over goes between the words and the amounts.
            let last = (0..widths.len()).rfind(|i| !table.columns[*i].right)?;
            widths[last] += ruler.line() - needed;
            return Some(widths);
        }
        // The widest shrinks to the next one, and in one step by what is missing.
        let second = (0..widths.len()).filter(|i| *i != widest && !table.columns[*i].right);
        let floor = second.map(|i| widths[i]).max().unwrap_or_default().max(ruler.narrow());
        let least = if widths[widest] > floor { floor } else { ruler.narrow() };
        let cut = (needed - ruler.line()).min(widths[widest].saturating_sub(least));
        if cut == 0 {
            return None;
        }
        widths[widest] -= cut;
    }
}

/// The rows below each other: the words of each in one line, its amounts below with their names.
fn stacked(table: &Table, ruler: &dyn Ruler) -> Vec<Block> {
    let indent = ruler.gap();
    let row = |cells: &Vec<String>, style| {
        let columns = || cells.iter().zip(&table.columns).filter(|(cell, _)| !cell.is_empty());
        let words = columns().filter(|(_, column)| !column.right).map(|(cell, _)| cell.as_str());
        let words = words.collect::<Vec<_>>().join("  ");
        let mut lines = left(&words, 0, ruler.line(), style, ruler);
        for (cell, column) in columns().filter(|(_, column)| column.right) {
            lines.extend(total(&column.name, cell, indent, style, ruler));
        }
        lines
    };
    let mut blocks = vec![Block::of(vec![Line::Rule])];
    blocks.extend(table.rows.iter().map(|cells| Block::of(row(cells, Style::Plain))));
    if table.rows.is_empty() {
        blocks.push(Block::of(left(table.empty, 0, ruler.line(), Style::Plain, ruler)));
    }
    blocks.push(Block::of(vec![Line::Rule]));
    if let Some(total) = &table.total {
        blocks.push(Block::of(row(total, Style::Strong)));
    }
    blocks
}
