//! How texts are compared: without case, accents, apostrophes and hyphens.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// A text as it is compared: lower case, without accents, apostrophes and hyphens, one space between words.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let letters = text.chars().filter(|c| !is_joint(*c));
    if text.is_ascii() {
        // Nothing to take apart: most names, among a million of which this is called.
        letters.for_each(|letter| push(&mut folded, letter.to_ascii_lowercase()));
    } else {
        let letters = letters.nfkd().flat_map(char::to_lowercase);
        letters.filter(|c| !is_accent(*c) && !is_joint(*c)).for_each(|letter| push(&mut folded, letter));
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// Adds a letter in lower case that has no accent.
fn push(folded: &mut String, letter: char) {
    match letter {
        'ß' => folded.push_str("ss"),
        'ø' => folded.push('o'),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'ł' => folded.push('l'),
        'đ' | 'ð' => folded.push('d'),
        'þ' => folded.push_str("th"),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        'ς' => folded.push('σ'),
        c if c.is_whitespace() || c.is_control() => {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        }
        c => folded.push(c),
    }
}

/// Marks that people leave out. In the scripts of India and its neighbours the vowels are marks as well, and
/// without them other names would remain.
fn is_accent(c: char) -> bool {
    is_combining_mark(c)
        && match canonical_combining_class(c) {
            0 => !c.is_alphabetic(),
            // The voiced sounds of kana, what joins consonants, and vowels and tones from Telugu to Tibetan.
            8 | 9 | 84..=199 => false,
            _ => true,
        }
}

/// The digits of a telephone number.
pub fn digits(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(char::is_ascii_digit).collect();
    }
    text.nfkd().filter(char::is_ascii_digit).collect()
}

/// Apostrophes and hyphens, which people leave out or mix up.
fn is_joint(c: char) -> bool {
    matches!(
        c,
        '\'' | '`'
            | '´'
            | '‘'
            | '’'
            | '‛'
            | '′'
            | 'ʹ'
            | 'ʻ'
            | 'ʼ'
            | 'ʽ'
            | '＇'
            | '-'
            | '\u{ad}'
            | '‐'
            | '‑'
            | '‒'
            | '–'
            | '—'
            | '―'
            | '−'
            | '﹘'
            | '﹣'
            | '－'
            | '\u{2d7}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_accents_apostrophes_and_hyphens_make_no_difference() {
        for (text, expected) in [
            ("Söhne", "sohne"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Bjørn", "bjorn"),
            ("O’Brien", "obrien"),
            ("O'Brien", "obrien"),
            ("O´Brien", "obrien"),
            ("Anne\u{2011}Marie", "annemarie"),
            ("N'Golo  Kanté", "ngolo kante"),
            (" Ama\u{a0}Mensah ", "ama mensah"),
            ("İstanbul", "istanbul"),
            ("Kwabenɛ", "kwabenɛ"),
            ("Ὀδυσσεύς", "οδυσσευσ"),
            ("Алёна", "алена"),
            ("ｆｕｌｌ", "full"),
            ("राम", "राम"),
            ("रमा", "रमा"),
            ("กุหลาบ", "กุหลาบ"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("-", ""),
        ] {
            assert_eq!(fold(text), expected, "{text}");
        }
        assert_eq!(digits("+233 (0)24-123.4567"), "2330241234567");
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing_more(text in "\\PC{0,40}") {
            let folded = fold(&text);
            prop_assert_eq!(fold(&folded), folded);
        }

        #[test]
        fn plain_letters_are_folded_alone_as_they_are_beside_others(text in "[\\x00-\\x7f]{0,40}") {
            let beside = format!("{} e", fold(&text));
            prop_assert_eq!(fold(&format!("{text} é")), beside.trim_start());
            prop_assert_eq!(digits(&format!("{text}é")), digits(&text));
        }
    }
}
