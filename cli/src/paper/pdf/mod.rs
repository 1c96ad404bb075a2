//! A paper as a PDF. It has no date and no number of its own, so that the same paper gives the same bytes.
//!
//! All places are whole hundredths of a point; the pages are scaled by that.

mod breaks;
mod file;
mod font;
mod pen;
mod sheet;

use super::layout::{footer, lay_out};
use super::lines::{Block, Line};
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

pub fn printed(paper: &Paper, size: Size) -> Outcome<Printed> {
    let fonts = Fonts::read()?;
    let sheet = Sheet::of(size);
    let ruler = Letters { fonts: &fonts, sheet };
    let foot = footer(&paper.letterhead, &ruler);
    let blocks = lay_out(paper, &ruler);
    let pages = match sheet.height {
        Some(height) => on_sheets(&blocks, sheet, height, &foot),
        None => on_roll(blocks, sheet, &foot),
    };
    let mut pen = Pen::new(&ruler, Used::none(&fonts.regular), Used::none(&fonts.bold));
    let mut contents = Vec::new();
    for (i, (height, lines)) in pages.iter().enumerate() {
        pen.begin(*height);
        if sheet.height.is_some() {
            if i > 0 {
                pen.running(&paper.letterhead.institution, &paper.headline());
            }
            pen.foot(&foot, &format!("Page {} of {}", i + 1, pages.len()));
        }
        lines.iter().for_each(|line| pen.line(line));
        contents.push((*height, pen.end()));
    }
    let fonts = [&pen.regular, &pen.bold];
    let missing: BTreeSet<char> = fonts.iter().flat_map(|used| used.missing.iter().copied()).collect();
    let bytes = file::written(&paper.headline(), sheet.width, contents, fonts)?;
    Ok(Printed { bytes, missing: missing.into_iter().collect() })
}

/// A page: how tall it is, and its lines.
type Page = (u32, Vec<Line>);

/// Sheets, whose lines are between a head and a foot.
fn on_sheets(blocks: &[Block], sheet: Sheet, height: u32, foot: &[Line]) -> Vec<Page> {
    let room = sheet.room(height, foot);
    let room = |page: usize| if page == 0 { room } else { room.saturating_sub(sheet.running()) };
    let pages = broken(blocks, &|line| sheet.tall(line), &room);
    pages.into_iter().map(|lines| (height, lines)).collect()
}

/// A roll with the foot at its end: one page, and more only where readers of PDF take no longer one.
fn on_roll(mut blocks: Vec<Block>, sheet: Sheet, foot: &[Line]) -> Vec<Page> {
    if !foot.is_empty() {
        blocks.push(Block::of([&[Line::Space, Line::Rule], foot].concat()));
    }
    let pages = broken(&blocks, &|line| sheet.tall(line), &|_| sheet::LONGEST - 2 * sheet.margin);
    pages.into_iter().map(|lines| (sheet.as_long_as(&lines), lines)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::lines::{Piece, Style};

    #[test]
    fn a_roll_is_one_page_up_to_the_longest_that_every_reader_takes() {
        let sheet = Sheet::of(Size::Roll);
        let line = || Line::Texts(vec![Piece { x: 0, text: "line".to_owned(), style: Style::Plain }]);
        let pages = |count| {
            let blocks = (0..count).map(|_| Block::of(vec![line()])).collect();
            on_roll(blocks, sheet, &[line()])
        };
        assert_eq!(pages(500).len(), 1);
        let long = pages(5_000);
        assert!(long.len() > 1 && long.iter().all(|(height, _)| *height <= sheet::LONGEST));
        let lines = long.iter().flat_map(|(_, lines)| lines).filter(|other| **other == line()).count();
        assert_eq!(lines, 5_000 + 1);
    }

    #[test]
    fn every_character_of_the_three_scripts_has_a_letter_in_both_weights() {
        let fonts = Fonts::read().unwrap();
        for font in [&fonts.regular, &fonts.bold] {
            let mut used = Used::none(font);
            used.encoded(
                "Ama Ɛsi Ɔpoku Ŋ Núñez Søn Łódź Nguyễn Ελένη Ὀδυσσεύς Олена Ґудзь Әсет 0123456789 €₵₦£",
            );
            assert!(used.missing.is_empty(), "{}: {:?}", font.name, used.missing);
            used.encoded("貿");
            assert!(
                used.missing.contains(&'貿') && used.characters.values().any(|c| *c == font::REPLACEMENT)
            );
        }
    }
}
