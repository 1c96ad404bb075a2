//! Words that the user typed: the ones that were meant, and how a shell reads them again.

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/:=,@%+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The names that are near to a mistyped one, the nearest first.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let distance = |name: &str| strsim::damerau_levenshtein(&typed.to_lowercase(), &name.to_lowercase());
    let bound = (typed.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<_> = names.map(|name| (distance(name), name)).filter(|(d, _)| *d <= bound).collect();
    near.sort();
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(["a-1", "two words", "it's", ""].map(quoted), ["a-1", "'two words'", r"'it'\''s'", "''"]);
    }
}
