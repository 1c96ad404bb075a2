//! What a search looks for one after the other: the best finds first, so that the rest need not be looked at.

use super::{Phrase, Rank, Word};

/// A part of a search: the lines that contain certain texts.
#[derive(Debug)]
pub struct Round<'p> {
    /// The worst rank of its finds.
    pub rank: Rank,
    /// The best rank of its finds, but for those of rounds before.
    pub best: Rank,
    /// What its lines contain.
    pub anchor: &'p str,
    /// What they contain beside it, with a space where a word begins or ends.
    pub texts: Vec<String>,
}

impl Rank {
    /// A word with a space where it begins or ends in a find of this rank.
    fn bounded(self, word: &str) -> String {
        match self {
            Self::Identifier | Self::Words => format!(" {word} "),
            Self::Beginnings => format!(" {word}"),
            Self::Parts => word.to_owned(),
        }
    }
}

impl Phrase {
    /// The rounds of a search.
    pub fn rounds(&self, near: bool) -> Vec<Round<'_>> {
        let anchors = self.anchors(near).unwrap_or_default();
        // Where a word differs in a letter, nothing tells beforehand what rank a line has.
        let ranks: &[(Rank, Rank)] = if near {
            &[(Rank::Parts, Rank::Words)]
        } else {
            &[Rank::Words, Rank::Beginnings, Rank::Parts].map(|rank| (rank, rank))
        };
        // What is a number may be found in another form.
        let is_plain = |word: &&Word| word.digits.is_none() && !(near && word.near.is_some());
        let mut rounds = Vec::new();
        for (rank, best) in ranks.iter().copied() {
            for anchor in anchors.iter().copied() {
                let words = self.words.iter().filter(is_plain).map(|word| word.wanted.text.as_str());
                let texts = words.chain([anchor]).map(|text| rank.bounded(text)).collect();
                rounds.push(Round { rank, best, anchor, texts });
            }
        }
        rounds
    }

    /// Texts of which one must be in every record that fits: the longest word, or, where words may differ in
    /// a letter, what is left of the longest one then. `None`: no word may differ.
    pub fn anchors(&self, near: bool) -> Option<Vec<&str>> {
        let longest = |words: &mut dyn Iterator<Item = &Word>| -> Option<usize> {
            words.map(|word| word.wanted.text.len()).max()
        };
        if !near {
            let length = longest(&mut self.words.iter())?;
            let word = self.words.iter().find(|word| word.wanted.text.len() == length)?;
            let text = word.wanted.text.as_str();
            let digits = word.digits.as_ref().map(|digits| digits.text.as_str()).filter(|d| *d != text);
            return Some([text].into_iter().chain(digits).collect());
        }
        let nears = || self.words.iter().filter(|word| word.near.is_some());
        let length = longest(&mut nears())?;
        let word = nears().find(|word| word.wanted.text.len() == length)?;
        let halves = word.near.as_ref()?;
        Some(vec![&halves.first, &halves.second, &halves.swapped])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{AKOSUA, graded};
    use super::*;

    #[test]
    fn an_anchor_is_in_every_record_that_fits() {
        for (text, near) in [
            ("akosua frimpong", false),
            ("+233-24", false),
            ("frimpang", true),
            ("rimpong", true),
            ("frimpongs", true),
            ("frimpogn", true),
            ("fripmong", true),
        ] {
            let phrase = Phrase::parse(text);
            assert!(graded(text, AKOSUA, near).is_some(), "{text}");
            let anchors = phrase.anchors(near).unwrap();
            let held = |anchor: &&str| AKOSUA.iter().any(|(f, t)| f.fold(t).contains(*anchor));
            assert!(anchors.iter().any(held), "{text}: {anchors:?}");
        }
    }
}
