//! The letters of a PDF: Noto Sans, cut to the Latin, Greek and Cyrillic scripts (`cli/fonts`). Of these a
//! PDF gets those that it uses.

use crate::failure::{Failure, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId};
use unicode_normalization::UnicodeNormalization;

/// Replaces a character that has no letter.
pub const REPLACEMENT: char = '\u{fffd}';

/// Units of an em in a PDF.
const EM: u32 = 1000;

/// Letters of one weight.
pub struct Font {
    /// Its name in a PDF.
    pub name: &'static str,
    data: &'static [u8],
    /// The font as it is in its file.
    pub face: Face<'static>,
}

/// The letters of this program.
pub struct Fonts {
    /// Of most texts.
    pub regular: Font,
    /// Of titles and sums.
    pub bold: Font,
}

impl Fonts {
    /// Reads the fonts out of this program.
    pub fn read() -> Outcome<Self> {
        let regular = include_bytes!("../../../fonts/NotoSans-Regular.ttf");
        let bold = include_bytes!("../../../fonts/NotoSans-Bold.ttf");
        Ok(Self {
            regular: Font::read("NotoSans-Regular", regular)?,
            bold: Font::read("NotoSans-Bold", bold)?,
        })
    }
}

impl Font {
    fn read(name: &'static str, data: &'static [u8]) -> Outcome<Self> {
        let face = Face::parse(data, 0).map_err(|error| unusable(name, &error))?;
        Ok(Self { name, data, face })
    }

    /// The letter of a character.
    fn letter(&self, character: char) -> Option<GlyphId> {
        self.face.glyph_index(character).filter(|glyph| glyph.0 != 0)
    }

    fn letter_or_replacement(&self, character: char) -> GlyphId {
        self.letter(character).or_else(|| self.letter(REPLACEMENT)).unwrap_or_default()
    }

    /// The width of a letter in thousandths of an em.
    fn advance(&self, glyph: GlyphId) -> u32 {
        let width = u32::from(self.face.glyph_hor_advance(glyph).unwrap_or_default());
        width * EM / u32::from(self.face.units_per_em()).max(1)
    }

    /// The width of a text in letters of a size.
    pub fn width(&self, text: &str, size: u32) -> u32 {
        let letters = text.nfc().map(|character| self.letter_or_replacement(character));
        letters.map(|glyph| self.advance(glyph)).sum::<u32>().saturating_mul(size) / EM
    }
}

/// The letters that a PDF uses.
pub struct Used<'a> {
    /// The font that they are of.
    pub font: &'a Font,
    remapper: GlyphRemapper,
    /// Number of a letter in the PDF, and the character that it represents.
    pub characters: BTreeMap<u16, char>,
    widths: BTreeMap<u16, u32>,
    /// Characters that had no letter.
    pub missing: BTreeSet<char>,
}

impl<'a> Used<'a> {
    /// None yet.
    pub fn none(font: &'a Font) -> Self {
        Self {
            font,
            remapper: GlyphRemapper::new(),
            characters: BTreeMap::new(),
            widths: BTreeMap::new(),
            missing: BTreeSet::new(),
        }
    }

    /// A text as the numbers of its letters.
    pub fn encoded(&mut self, text: &str) -> Vec<u8> {
        let mut numbers = Vec::new();
        for character in text.nfc() {
            let found = self.font.letter(character);
            if found.is_none() {
                self.missing.insert(character);
            }
            let glyph = self.font.letter_or_replacement(character);
            let number = self.remapper.remap(glyph.0);
            self.characters.entry(number).or_insert(if found.is_some() { character } else { REPLACEMENT });
            self.widths.insert(number, self.font.advance(glyph));
            numbers.extend(number.to_be_bytes());
        }
        numbers
    }

    /// The widths of all letters in the order of their numbers.
    pub fn widths(&self) -> Vec<u32> {
        let width = |number| self.widths.get(&number).copied().unwrap_or_default();
        (0..self.remapper.num_gids()).map(width).collect()
    }

    /// A font of these letters alone.
    pub fn subset(&self) -> Outcome<Vec<u8>> {
        subsetter::subset(self.font.data, 0, &self.remapper).map_err(|error| unusable(self.font.name, &error))
    }
}

fn unusable(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::local(format!("the font {name} of this program cannot be used: {error}"))
}
