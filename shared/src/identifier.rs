//! The characters of identifiers and texts (`decisions.md` section 6, `organisation.md` section 1.3).

/// Longest ordinary identifier, in characters.
pub const IDENTIFIER_LENGTH_MAX: usize = 32;

/// Whether an `ID(n)` may contain a character.
pub fn is_identifier_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*' | '_')
}

/// Whether a character is a control character of the contract: U+0000 to U+001F, U+007F to U+009F.
pub fn is_control(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Whether a text is only white space, or empty.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// A value from outside as it may be repeated in an error: at most 64 characters, control characters
/// escaped.
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == 64 {
            out.push('…');
            break;
        }
        if is_control(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// Turns the Rust name of a field into its name on the wire: `given_name` is `givenName`.
pub fn wire_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        match c {
            '_' => upper = true,
            _ if upper => {
                out.push(c.to_ascii_uppercase());
                upper = false;
            }
            _ => out.push(c),
        }
    }
    out
}

/// Whether `wire` is the wire name of the Rust field `name`; as [`wire_name`], without the text.
pub fn is_wire_name(name: &str, wire: &str) -> bool {
    let mut wire = wire.bytes();
    let mut upper = false;
    for c in name.bytes() {
        if c == b'_' {
            upper = true;
            continue;
        }
        let expected = if upper { c.to_ascii_uppercase() } else { c };
        upper = false;
        if wire.next() != Some(expected) {
            return false;
        }
    }
    wire.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_and_its_wire_name_belong_together() {
        assert_eq!(wire_name("date_of_birth"), "dateOfBirth");
        assert!(is_wire_name("date_of_birth", "dateOfBirth"));
        assert!(!is_wire_name("date_of_birth", "date_of_birth"));
        assert!(!is_wire_name("date_of_birth", "dateOfBirthday"));
        assert!(!is_wire_name("date_of_birth", "dateOf"));
    }

    #[test]
    fn a_rejected_value_is_cut_and_its_control_characters_are_escaped() {
        assert_eq!(shown("a\nb"), "a\\u{a}b");
        assert_eq!(shown(&"x".repeat(70)), format!("{}…", "x".repeat(64)));
    }
}
