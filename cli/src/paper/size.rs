//! Sizes of paper.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A sheet of 210 by 297 mm, or 80 columns of text.
    A4,
    /// A sheet of 148 by 210 mm, or 60 columns of text.
    A5,
    /// A roll of 80 mm, or 40 columns of text.
    Roll,
}

/// The words for the sizes; those of the widths of text mean the paper on which such lines fit.
pub const SIZES: &[(&str, Size)] =
    &[("a4", Size::A4), ("a5", Size::A5), ("80mm", Size::Roll), ("80", Size::A4), ("40", Size::Roll)];

impl Size {
    pub fn word(self) -> &'static str {
        SIZES.iter().find(|(_, size)| *size == self).map_or("", |(word, _)| word)
    }

    /// Columns of a text.
    pub fn columns(self) -> u32 {
        match self {
            Self::A4 => 80,
            Self::A5 => 60,
            Self::Roll => 40,
        }
    }
}
