//! Words that differ in one letter: changed, added, left out, or two neighbours swapped.

/// What is left of a word that differs in one letter: its first half, its second, or, where the letters on
/// either side of the middle are swapped, the whole of it so.
#[derive(Debug)]
pub struct Halves {
    /// The first half.
    pub first: String,
    /// The second half.
    pub second: String,
    /// The word with the letters on either side of its middle swapped.
    pub swapped: String,
}

impl Halves {
    /// Halves of a word of at least two letters.
    pub fn new(word: &str) -> Self {
        let mut letters: Vec<char> = word.chars().collect();
        let middle = letters.len() / 2;
        let first = letters[..middle].iter().collect();
        let second = letters[middle..].iter().collect();
        if middle > 0 {
            letters.swap(middle - 1, middle);
        }
        Self { first, second, swapped: letters.into_iter().collect() }
    }
}

/// Whether two words differ in exactly one letter.
pub fn one_apart(a: &str, b: &str) -> bool {
    // A letter has at most four bytes, and swapped ones have as many as before.
    if a.len().abs_diff(b.len()) > 4 || a == b {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let a = &a[same..];
    let b = &b[same..];
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => {
            a[1..] == b[1..] || a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..]
        }
        std::cmp::Ordering::Less => *a == b[1..],
        std::cmp::Ordering::Greater => a[1..] == *b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_letter_is_one_letter() {
        for (a, b, expected) in [
            ("mensah", "mensah", false),
            ("mensah", "mansah", true),
            ("mensah", "mensa", true),
            ("mensah", "mensahs", true),
            ("mensah", "menash", true),
            ("mensah", "mnesah", true),
            ("mensah", "mensha", true),
            ("mensah", "mansha", false),
            ("mensah", "mens", false),
            ("addo", "ado", true),
            ("", "a", true),
            ("", "", false),
        ] {
            assert_eq!(one_apart(a, b), expected, "{a} {b}");
            assert_eq!(one_apart(b, a), expected, "{b} {a}");
        }
    }

    proptest! {
        #[test]
        fn a_word_that_differs_in_one_letter_keeps_a_half(word in "[a-cöσ]{5,9}", other in "[a-cöσ]{4,10}") {
            let halves = Halves::new(&word);
            if one_apart(&word, &other) {
                let kept = [&halves.first, &halves.second, &halves.swapped];
                prop_assert!(kept.iter().any(|half| other.contains(half.as_str())));
            }
        }
    }
}
