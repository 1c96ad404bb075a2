//! A paper as a PDF. It has no date and no number of its own, so that the same paper gives the same bytes.
//!
//! All places are whole hundredths of a point; the pages are scaled by that.

mod breaks;
mod file;
mod font;
mod pen;
mod sheet;

use super::layout::{Block, Line, footer, lay_out};
use super::{Paper, Size};
use crate::failure::Outcome;
use breaks::broken;
use font::{Fonts, Used};
use pen::Pen;
use sheet::{Letters, Sheet};
use std::collections::BTreeSet;

/// A paper that was printed.
pub struct Printed {
    /// The PDF.
    pub bytes: Vec<u8>,
    /// Characters for which there were no letters.
    pub missing: Vec<char>,
}

/// A paper as a PDF.
pub fn printed(paper: &Paper, size: Size) -> Outcome<Printed> {
    let fonts = Fonts::read()?;
    let sheet = Sheet::of(size);
    let ruler = Letters { fonts: &fonts, sheet };
    let foot = footer(&paper.letterhead, &ruler);
    let blocks = lay_out(paper, &ruler);
    let (height, pages) = match sheet.height {
        Some(height) => (height, on_sheets(&blocks, sheet, height, &foot)),
        None => {
            let lines = on_roll(blocks, &foot);
            (sheet.as_long_as(&lines), vec![lines])
        }
    };
    let (regular, bold) = (Used::none(&fonts.regular), Used::none(&fonts.bold));
    let mut pen = Pen::new(&ruler, height, regular, bold);
    let mut contents = Vec::new();
    for (i, lines) in pages.iter().enumerate() {
        pen.begin();
        if sheet.height.is_some() {
            if i > 0 {
                pen.running(&paper.letterhead.institution, &paper.headline());
            }
            pen.foot(&foot, &format!("Page {} of {}", i + 1, pages.len()));
        }
        lines.iter().for_each(|line| pen.line(line));
        contents.push(pen.end());
    }
    let fonts = [&pen.regular, &pen.bold];
    let missing: BTreeSet<char> = fonts.iter().flat_map(|used| used.missing.iter().copied()).collect();
    let bytes = file::written(&paper.headline(), (sheet.width, height), contents, fonts)?;
    Ok(Printed { bytes, missing: missing.into_iter().collect() })
}

/// The lines of each sheet, between its head and its foot.
fn on_sheets(blocks: &[Block], sheet: Sheet, height: u32, foot: &[Line]) -> Vec<Vec<Line>> {
    let room = sheet.room(height, foot);
    let room = |page: usize| if page == 0 { room } else { room.saturating_sub(sheet.running()) };
    broken(blocks, &|line| sheet.tall(line), &room)
}

/// The lines of a roll, with its foot at the end.
fn on_roll(blocks: Vec<Block>, foot: &[Line]) -> Vec<Line> {
    let mut lines: Vec<_> = blocks.into_iter().flat_map(|block| block.lines).collect();
    if !foot.is_empty() {
        lines.extend([Line::Space, Line::Rule]);
        lines.extend(foot.iter().cloned());
    }
    lines
}
