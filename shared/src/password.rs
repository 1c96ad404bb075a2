//! Which passwords are guessed first, and are therefore not taken. Contract: `identity.md` section 13.

/// Of the 10,000 most common passwords those that are long enough to be taken at all, in lower case; beside
/// it is where they come from.
const COMMON: &str = include_str!("common_passwords.txt");

/// The code with which such a password is refused.
pub const TOO_COMMON: &str = "too_common";

/// Why a password is one of the first to be guessed; `None` where it is not.
pub fn too_common(password: &str) -> Option<&'static str> {
    let mut characters = password.chars();
    let first = characters.next();
    if first.is_some() && characters.all(|c| Some(c) == first) {
        return Some("must not be one character repeated");
    }
    let lower = password.to_lowercase();
    let is_common = COMMON.lines().any(|common| common == lower);
    is_common.then_some("must not be one of the 10,000 most common passwords")
}

/// Why a password is too easy to guess by who knows the name of its user.
pub fn like_the_name(password: &str, user: &str) -> Option<&'static str> {
    // In any letter case, as common ones are.
    let [password, user] = [password, user].map(str::to_lowercase);
    if password == user {
        return Some("must not be the user name");
    }
    let is_reverse = password.chars().rev().eq(user.chars());
    is_reverse.then_some("must not be the user name backwards")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_passwords_are_found_in_any_letter_case() {
        for password in
            ["12345678", "PassWord1", "QWERTYUIOP", "iloveyou", "jennifer", "11111111", "ääääääää"]
        {
            assert!(too_common(password).is_some(), "{password}");
        }
        for password in ["blue kettle 7", "12345678 ", "first password", "aaaaaaab", ""] {
            assert_eq!(too_common(password), None, "{password}");
        }
    }

    #[test]
    fn the_list_has_only_lines_that_can_be_met() {
        let lines: Vec<_> = COMMON.lines().collect();
        assert_eq!(lines.len(), 3903);
        for line in &lines {
            assert!(line.chars().count() >= 8 && *line == line.to_lowercase(), "{line}");
        }
        assert!(lines.is_sorted());
    }

    #[test]
    fn a_password_is_not_the_name_in_either_direction() {
        assert!(like_the_name("anna-mensah", "anna-mensah").is_some());
        assert!(like_the_name("hasnem-anna", "anna-mensah").is_some());
        assert!(like_the_name("ANNA-Mensah", "anna-mensah").is_some());
        assert!(like_the_name("hasnem-anna", "Anna-Mensah").is_some());
        assert_eq!(like_the_name("anna-mensah1", "anna-mensah"), None);
    }
}
