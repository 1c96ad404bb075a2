//! Secrets of records, encrypted before they reach a transaction, so that neither the store nor its journal
//! nor a backup ever holds one in clear.
//!
//! ChaCha20-Poly1305 with a random nonce. What is authenticated beside the text is the place: space and key
//! of the record and the name of the field, so a ciphertext that was moved to another record or field is
//! refused like one that was changed.

use super::engine::Space;
use super::record::Record;
use crate::hex::hexadecimal;
use crate::random;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// An encrypted secret: the name of its key, then nonce and ciphertext.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Sealed {
    /// The name of the key with which it is encrypted.
    pub fn key_name(&self) -> &str {
        self.0.split_once(':').map_or("", |(name, _)| name)
    }
}

/// A field of a record that holds a secret.
#[derive(Debug)]
pub struct Place {
    space: Space,
    key: Vec<u8>,
    field: &'static str,
}

impl Place {
    /// A field of a record.
    pub fn of<R: Record>(record: &R, field: &'static str) -> Self {
        Self::new(R::SPACE, record.key(), field)
    }

    /// A field of the record with this key.
    pub fn new(space: Space, key: Vec<u8>, field: &'static str) -> Self {
        Self { space, key, field }
    }

    /// Each part is preceded by its length, so that no two places have the same bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"mfa secret 1".to_vec();
        bytes.extend_from_slice(&u32::from(self.space.id).to_be_bytes());
        for part in [self.key.as_slice(), self.field.as_bytes()] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

/// One key.
#[derive(Clone)]
pub struct Key {
    name: String,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}", self.name)
    }
}

impl Key {
    /// A new key.
    pub fn random() -> Self {
        Self { name: random::hex::<8>(), bytes: Zeroizing::new(random::bytes()) }
    }

    /// A key that was made before.
    pub fn new(name: &str, bytes: [u8; KEY_BYTES]) -> Self {
        Self { name: name.to_owned(), bytes: Zeroizing::new(bytes) }
    }

    /// Its name, which is no secret.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key itself.
    pub fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.bytes
    }

    #[expect(clippy::expect_used, reason = "a key of this length is never refused")]
    fn cipher(&self) -> LessSafeKey {
        LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, self.bytes.as_slice()).expect("a whole key"))
    }
}

/// The keys of a store: the one in use first, then older ones.
#[derive(Debug, Clone)]
pub struct Keys {
    all: Vec<Key>,
    /// What makes the tag of a representation, with the key in it already: every read of a record needs one.
    tags: Hmac<Sha256>,
}

/// Bytes of a tag.
const TAG_BYTES: usize = 16;

impl Keys {
    /// The keys; the first is in use.
    pub fn new(first: Key, older: impl IntoIterator<Item = Key>) -> Self {
        Self { tags: begin_mac(&own_key(&first, "tags")), all: std::iter::once(first).chain(older).collect() }
    }

    /// The key in use.
    #[expect(clippy::expect_used, reason = "both ways to make keys begin with one")]
    pub fn in_use(&self) -> &Key {
        self.all.first().expect("the first key")
    }

    /// Every key, the one in use first.
    pub fn all(&self) -> &[Key] {
        &self.all
    }

    /// The entity tag of a representation. It is keyed, so that who may send a tag but not read the record
    /// cannot find out by `If-Match` whether a guess is right.
    pub fn tag(&self, representation: &[u8]) -> String {
        let mac = self.tags.clone().chain_update(representation).finalize().into_bytes();
        format!("\"{}\"", hexadecimal(&mac[..TAG_BYTES]))
    }

    /// Keyed hashes of a text, one under each key, that of the key in use first. Who has the store but not
    /// the key file can compare none of them with a guess. Each purpose has hashes of its own.
    pub fn hashes(&self, purpose: &str, text: &[u8]) -> Vec<String> {
        let hash = |key: &Key| format!("{}:{}", key.name, hexadecimal(&mac(&own_key(key, purpose), text)));
        self.all.iter().map(hash).collect()
    }

    /// Encrypts a secret for its place. The nonce is random: a key would have to encrypt billions of
    /// secrets before two of them could be expected to meet.
    #[expect(clippy::expect_used, reason = "it refuses only texts of 256 GiB")]
    pub fn seal(&self, place: &Place, secret: &Secret) -> Sealed {
        let key = self.in_use();
        let nonce = random::bytes::<NONCE_LEN>();
        let mut text = secret.expose().as_bytes().to_vec();
        let aad = Aad::from(place.bytes());
        let sealed =
            key.cipher().seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text);
        sealed.expect("a short text");
        Sealed(format!("{}:{}", key.name, BASE64.encode([nonce.as_slice(), &text].concat())))
    }

    /// Decrypts a secret of a place; `None` where it was changed, moved, or its key is not here.
    pub fn open(&self, place: &Place, sealed: &Sealed) -> Option<Secret> {
        let (name, text) = sealed.0.split_once(':')?;
        let key = self.all.iter().find(|key| key.name == name)?;
        let bytes = BASE64.decode(text).ok()?;
        let (nonce, text) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = Zeroizing::new(text.to_vec());
        let clear = key.cipher().open_in_place(nonce, Aad::from(place.bytes()), &mut text).ok()?;
        std::str::from_utf8(clear).ok().map(Secret::new)
    }
}

/// The key of one purpose.
fn own_key(key: &Key, purpose: &str) -> [u8; KEY_BYTES] {
    mac(key.bytes(), format!("mfa keyed hash 1 {purpose}").as_bytes())
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn begin_mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    begin_mac(key).chain_update(text).finalize().into_bytes().into()
}

/// A record in the list of those with secrets, in `records/mod.rs`; nothing else says so.
pub trait WithSecrets {}

/// A record with fields that are encrypted. It is [`WithSecrets`], so that no key change and no restore
/// without the key can forget it.
pub trait HoldsSecrets: Record + WithSecrets {
    /// The encrypted fields by name; those that are empty are left out.
    fn secrets(&mut self) -> Vec<(&'static str, &mut Sealed)>;
    /// What people call the record, such as `sms gateway main`.
    fn called(&self) -> String;
}

/// What is done to every kind of record with secrets.
pub trait ForEachKind {
    /// Why it cannot be done.
    type Error;
    /// Does it to one kind.
    fn kind<R: HoldsSecrets>(&mut self) -> Result<(), Self::Error>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::records::{EMAIL_CONFIGURATIONS, SMS_CONFIGURATIONS};
    use sha2::Digest;

    fn place(space: Space, key: &str, field: &'static str) -> Place {
        Place::new(space, key.as_bytes().to_vec(), field)
    }

    #[test]
    fn a_secret_opens_in_its_place_only() {
        let keys = Keys::new(Key::random(), []);
        let home = place(EMAIL_CONFIGURATIONS, "a", "app_password");
        let sealed = keys.seal(&home, &Secret::new("geheim"));
        assert_eq!(keys.open(&home, &sealed).unwrap().expose(), "geheim");
        for other in [
            place(EMAIL_CONFIGURATIONS, "b", "app_password"),
            place(SMS_CONFIGURATIONS, "a", "app_password"),
            place(EMAIL_CONFIGURATIONS, "a", "other"),
            place(EMAIL_CONFIGURATIONS, "aapp", "_password"),
        ] {
            assert!(keys.open(&other, &sealed).is_none(), "{other:?}");
        }
        assert_ne!(keys.seal(&home, &Secret::new("geheim")), sealed, "a nonce is used once");
    }

    #[test]
    fn a_changed_ciphertext_and_another_key_are_refused() {
        let key = Key::random();
        let keys = Keys::new(key.clone(), []);
        let home = place(EMAIL_CONFIGURATIONS, "a", "app_password");
        let sealed = keys.seal(&home, &Secret::new("geheim"));
        let (name, text) = sealed.0.split_once(':').unwrap();
        let bytes = BASE64.decode(text).unwrap();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            let changed = Sealed(format!("{name}:{}", BASE64.encode(&changed)));
            assert!(keys.open(&home, &changed).is_none(), "byte {place}");
        }
        for cut in ["", ":", name, &format!("{name}:"), &format!("{name}:AAAA")] {
            assert!(keys.open(&home, &Sealed(cut.to_owned())).is_none(), "{cut:?}");
        }
        assert!(Keys::new(Key::random(), []).open(&home, &sealed).is_none());
        assert!(Keys::new(Key::new(name, [7; KEY_BYTES]), []).open(&home, &sealed).is_none());
        assert!(Keys::new(Key::random(), [key]).open(&home, &sealed).is_some(), "an older key still opens");
    }

    #[test]
    fn keyed_hashes_differ_by_key_purpose_and_text() {
        let (old, new) = (Key::random(), Key::random());
        let keys = Keys::new(new, [old.clone()]);
        let hashes = keys.hashes("a", b"text");
        assert_eq!(hashes.len(), 2);
        assert_eq!(Keys::new(old, []).hashes("a", b"text"), hashes[1..], "an older key still finds its own");
        assert_ne!(keys.hashes("b", b"text"), hashes);
        assert_ne!(keys.hashes("a", b"other"), hashes);
        assert_ne!(hashes[0].split_once(':').unwrap().1, hashes[1].split_once(':').unwrap().1);
    }

    #[test]
    fn tags_differ_by_text_and_key_and_stay_the_same_with_it() {
        let key = Key::random();
        let tag = |key: &Key, text: &[u8]| Keys::new(key.clone(), [Key::random()]).tag(text);
        assert_eq!(tag(&key, b"{}"), tag(&key, b"{}"));
        assert_ne!(tag(&key, b"{}"), tag(&key, b"{ }"));
        assert_ne!(tag(&key, b"{}"), tag(&Key::random(), b"{}"));
        let plain = format!("\"{}\"", hexadecimal(&Sha256::digest(b"{}")[..TAG_BYTES]));
        assert_ne!(tag(&key, b"{}"), plain, "nobody without the key finds it");
    }

    #[test]
    fn nothing_shows_a_secret_by_accident() {
        let key = Key::random();
        let keys = Keys::new(key.clone(), []);
        let sealed = keys.seal(&place(EMAIL_CONFIGURATIONS, "a", "x"), &Secret::new("geheim"));
        let shown = format!("{:?} {:?} {:?} {:?}", Secret::new("geheim"), sealed, key, keys);
        let keys = format!("Keys {{ all: [key {}], tags: Hmac {{ ... }} }}", key.name);
        assert_eq!(shown, format!("*** *** key {} {keys}", key.name));
    }
}
