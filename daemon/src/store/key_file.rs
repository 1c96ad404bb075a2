//! The file of the keys with which secrets are encrypted. It is kept outside the store, so that a copy of the
//! store alone reveals none of them.

use super::seal::{KEY_BYTES, Key, Keys};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const HEAD: &str =
    "# The keys with which mfa encrypts the secrets in its store. Without them these secrets are lost:
# keep a copy of this file, apart from the backups of the store. The first key is in use; older
# ones are needed only to restore backups that were made before them.
";
/// The word before each key.
const WORD: &str = "mfa-key-1";
/// A key file is small; anything larger is not a key file.
const BYTES_MAX: u64 = 65_536;

/// Why the keys cannot be had.
#[derive(Debug)]
pub enum KeyFileError {
    /// There is no such file.
    Missing(PathBuf),
    /// Others than its owner may read or change it.
    Open(PathBuf, u32),
    /// It is no key file.
    Malformed(PathBuf, usize),
    /// It would lie in the store.
    InStore(PathBuf),
    /// The system refuses.
    Io(PathBuf, io::Error),
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(file) => write!(
                f,
                "the store has secrets and their key file {} is missing; bring it back from its copy, or \
                 name it in secret_key_file",
                file.display()
            ),
            Self::Open(file, mode) => write!(
                f,
                "the key file {0} is open to others than its owner (mode {mode:04o}); close it: \
                 chmod 600 {0}",
                file.display()
            ),
            Self::Malformed(file, 0) => write!(f, "{} is not a key file: it holds no key", file.display()),
            Self::Malformed(file, line) => write!(f, "{} is not a key file: see line {line}", file.display()),
            Self::InStore(file) => write!(
                f,
                "the key file {} would be inside the store, whose copies would then reveal its secrets; name \
                 another place in secret_key_file",
                file.display()
            ),
            Self::Io(file, error) => write!(f, "cannot use the key file {}: {error}", file.display()),
        }
    }
}

impl std::error::Error for KeyFileError {}

/// Refuses a key file in the store's own folder.
pub fn check_place(file: &Path, data_dir: &Path) -> Result<(), KeyFileError> {
    let absolute = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        match (path.canonicalize(), folder, path.file_name()) {
            (Ok(real), _, _) => real,
            (Err(_), Some(folder), Some(name)) => folder.join(name),
            _ => path,
        }
    };
    if absolute(file).starts_with(absolute(data_dir)) {
        Err(KeyFileError::InStore(file.to_owned()))
    } else {
        Ok(())
    }
}

/// Reads the keys.
pub fn read(file: &Path) -> Result<Keys, KeyFileError> {
    let io = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => KeyFileError::Missing(file.to_owned()),
        _ => KeyFileError::Io(file.to_owned(), error),
    };
    let open = File::open(file).map_err(io)?;
    let facts = open.metadata().map_err(io)?;
    let mode = facts.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::Open(file.to_owned(), mode));
    }
    if !facts.is_file() || facts.len() > BYTES_MAX {
        return Err(KeyFileError::Malformed(file.to_owned(), 0));
    }
    let text = zeroize::Zeroizing::new(io::read_to_string(open).map_err(io)?);
    of_bytes(text.as_bytes(), file)
}

/// The keys in the bytes of a key file.
pub fn of_bytes(bytes: &[u8], file: &Path) -> Result<Keys, KeyFileError> {
    let malformed = |line| KeyFileError::Malformed(file.to_owned(), line);
    parse(std::str::from_utf8(bytes).map_err(|_| malformed(0))?).map_err(malformed)
}

fn parse(text: &str) -> Result<Keys, usize> {
    let mut keys = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<_> = line.split_whitespace().collect();
        let [WORD, name, digits] = words.as_slice() else { return Err(i + 1) };
        let good_name = name.len() == 16 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let bytes = bytes(digits).filter(|_| good_name).ok_or(i + 1)?;
        keys.push(Key::new(name, bytes));
    }
    let mut keys = keys.into_iter();
    let first = keys.next().ok_or(0usize)?;
    Ok(Keys::new(first, keys))
}

fn bytes(digits: &str) -> Option<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    if digits.len() != 2 * KEY_BYTES || !digits.is_ascii() {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Creates a file with a new key if it is missing; keys that another process wrote first are used.
pub fn make(file: &Path) -> Result<Keys, KeyFileError> {
    let keys = Keys::new(Key::random(), []);
    match write(file, &keys, false) {
        Ok(()) => Ok(keys),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(file),
        Err(error) => Err(KeyFileError::Io(file.to_owned(), error)),
    }
}

/// Creates a file with these keys if it is missing.
pub fn put(file: &Path, keys: &Keys) -> Result<(), KeyFileError> {
    write(file, keys, false).map_err(|error| KeyFileError::Io(file.to_owned(), error))
}

/// Puts a new key in front of those that the file holds.
pub fn add(file: &Path) -> Result<Keys, KeyFileError> {
    let before = read(file)?;
    let keys = Keys::new(Key::random(), before.all().iter().cloned());
    write(file, &keys, true).map_err(|error| KeyFileError::Io(file.to_owned(), error))?;
    Ok(keys)
}

/// Writes the file whole beside its place and then moves it there, each step synced.
fn write(file: &Path, keys: &Keys, replace: bool) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.new", keys.in_use().name()));
    let beside = PathBuf::from(beside);
    let written = write_new(&beside, keys).and_then(|()| {
        if replace {
            fs::rename(&beside, file)
        } else {
            // Unlike a rename, a link never takes the place of a file that is there.
            fs::hard_link(&beside, file)
        }
    });
    if !replace || written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written?;
    File::open(folder)?.sync_all()
}

fn write_new(file: &Path, keys: &Keys) -> io::Result<()> {
    let mut text = zeroize::Zeroizing::new(HEAD.to_owned());
    for key in keys.all() {
        text.push_str(&format!("{WORD} {} ", key.name()));
        key.bytes().iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
        text.push('\n');
    }
    let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_file_is_private_and_read_as_it_was_made() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("folder/keys");
        assert!(matches!(read(&file), Err(KeyFileError::Missing(_))));
        let made = make(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
        let again = make(&file).unwrap();
        assert_eq!(again.in_use().bytes(), made.in_use().bytes());
        let added = add(&file).unwrap();
        assert_eq!(added.all()[1].bytes(), made.in_use().bytes());
        assert_eq!(read(&file).unwrap().in_use().name(), added.in_use().name());
        assert_eq!(fs::read_dir(dir.path().join("folder")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_key_file_that_others_can_read_or_without_keys_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("keys");
        make(&file).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let refused = read(&file).unwrap_err();
            assert!(matches!(refused, KeyFileError::Open(_, found) if found == mode), "{refused}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let good = fs::read_to_string(&file).unwrap();
        for (text, line) in [
            (String::new(), 0),
            ("# nothing\n".to_owned(), 0),
            (good.replace(WORD, "mfa-key-2"), 4),
            (good.trim_end()[..good.len() - 3].to_owned(), 4),
            (format!("{good}more\n"), 5),
            (good.replace("mfa-key-1 ", "mfa-key-1 é"), 4),
        ] {
            fs::write(&file, text).unwrap();
            let refused = read(&file).unwrap_err();
            assert!(matches!(refused, KeyFileError::Malformed(_, found) if found == line), "{refused}");
        }
    }

    #[test]
    fn a_key_file_inside_the_store_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir(&data).unwrap();
        for inside in [data.join("keys"), data.join("../data/keys"), data.join("a/b/keys")] {
            assert!(matches!(check_place(&inside, &data), Err(KeyFileError::InStore(_))), "{inside:?}");
        }
        check_place(&dir.path().join("data.key"), &data).unwrap();
        check_place(&dir.path().join("database/keys"), &data).unwrap();
    }
}
