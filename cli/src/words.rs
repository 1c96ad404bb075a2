//! Words that the user typed: the ones that were meant, and how a shell reads them again. How markup and
//! people read a text.

use std::path::Path;

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/:=,@%+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    in_quotes(word)
}

/// A path as a shell reads it.
pub fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word in quotes of a shell, which it does not look into.
pub fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A text as HTML and XML take it, in an element or an attribute.
pub fn in_markup(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// Digits as people read a number: `1,203`.
pub fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes as two small digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The names that are near to a mistyped one, the nearest first.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(&typed.to_lowercase(), &name.to_lowercase());
    let bound = (typed.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<_> = names.map(|name| (distance(name), name)).filter(|(d, _)| *d <= bound).collect();
    near.sort();
    near.into_iter().map(|(_, name)| name).collect()
}

/// Asks whether the nearest of some names was meant, where one is near.
pub fn did_you_mean<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(typed, names).first().map(|near| format!("did you mean {near}?"))
}

/// A hint, behind the question whether the nearest of some names was meant.
pub fn hint_beside<'a>(typed: &str, names: impl Iterator<Item = &'a str>, hint: &str) -> String {
    did_you_mean(typed, names).map_or_else(|| hint.to_owned(), |meant| format!("{meant} {hint}"))
}

#[cfg(test)]
mod tests {
    use super::{grouped, nearest, quoted};

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(["a-1", "two words", "it's", ""].map(quoted), ["a-1", "'two words'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(["5", "1203", "1000000"].map(grouped), ["5", "1,203", "1,000,000"]);
    }

    #[test]
    fn near_names_come_nearest_first() {
        let names = ["cust-001", "cust-010", "accra"];
        assert_eq!(nearest("cust-01", names.into_iter()), ["cust-001", "cust-010"]);
        assert!(nearest("x", names.into_iter()).is_empty());
    }
}
