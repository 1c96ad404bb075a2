//! Password files as PostgreSQL's own programs read them: `host:port:database:user:password` a line, `*`
//! for any, a backslash before a colon or backslash that belongs to the text.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The password of the first line that fits. Like PostgreSQL's own programs it ignores a file that others
/// may read, with a word about it.
pub(super) fn find(file: &Path, asked: [&str; 4]) -> Option<String> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        tracing::warn!(file = %file.display(), "a password file is not used: others may read it");
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password(line, asked))
}

fn password(line: &str, asked: [&str; 4]) -> Option<String> {
    let fields = fields(line);
    let (given, password) = (fields.get(..4)?, fields.get(4)?);
    given.iter().zip(asked).all(|(given, asked)| given == "*" || given == asked).then(|| password.clone())
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '\\' => fields[last].extend(characters.next()),
            ':' => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pass");
        let lines = "# comment\none:5432:bank:bob:b\n*:*:bank:ann:a\\:\\\\x\n*:*:*:*:last\n";
        std::fs::write(&file, lines).unwrap();
        let find = |asked| find(&file, asked);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(find(["one", "5432", "bank", "bob"]), None);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(find(["one", "5432", "bank", "bob"]), Some("b".to_owned()));
        assert_eq!(find(["two", "1", "bank", "ann"]), Some("a:\\x".to_owned()));
        assert_eq!(find(["two", "1", "other", "ann"]), Some("last".to_owned()));
    }
}
