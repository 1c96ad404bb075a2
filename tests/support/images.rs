//! Customers with cards, and forms that bring their images: `customers.md` sections 4.2 and 5.

use crate::support::stored::objects;
use crate::support::world::{Seen, World};
use serde_json::json;
use sha2::{Digest, Sha256};

pub const PORTRAIT: &str = "/customers/c-1/portrait";
pub const SCANS: &str = "/customers/c-1/identifications/A-1/scans";
pub const LIMIT: usize = 524_288;

/// Bytes that repeat nothing and hold every value, line ends and dashes included.
pub fn picture(bytes: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

pub fn part(name: &str, kind: Option<&str>, bytes: &[u8]) -> Vec<u8> {
    let kind = kind.map_or(String::new(), |kind| format!("Content-Type: {kind}\r\n"));
    let head = format!("Content-Disposition: form-data; name=\"{name}\"; filename=\"x.gif\"\r\n{kind}\r\n");
    [head.as_bytes(), bytes].concat()
}

pub fn form(boundary: &str, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for part in parts {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        body.extend_from_slice(part);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

pub struct Images(pub World);

impl Images {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut mfa_daemon::Config)) -> Self {
        let world = World::with(change);
        let date = json!({ "year": 2031, "month": 8, "day": 14 });
        for (customer, number) in [("c-1", "A-1"), ("c-2", "A-2")] {
            world.post("/customers", json!({ "identifier": customer }).to_string()).is(202);
            let card = json!({ "type": "National", "number": number, "expirationDate": date });
            world.post(&format!("/customers/{customer}/identifications"), card.to_string()).is(202);
        }
        Self(world)
    }

    pub fn request(&self, path: &str, parts: &[Vec<u8>]) -> reqwest::RequestBuilder {
        let kind = "multipart/form-data; boundary=\"b o'x\"";
        self.0.request("POST", path).header("content-type", kind).body(form("b o'x", parts))
    }

    pub fn send(&self, path: &str, parts: &[Vec<u8>]) -> Seen {
        self.0.send(self.request(path, parts))
    }

    pub fn portrait(&self, bytes: &[u8]) -> Seen {
        self.send(PORTRAIT, &[part("portrait", Some("image/png"), bytes)])
    }

    pub fn scan(&self, identifier: &str, bytes: &[u8]) -> Seen {
        let path = format!("{SCANS}?scanIdentifier={identifier}&description=Front");
        self.send(&path, &[part("image", Some("image/jpeg"), bytes)])
    }

    /// The names of the images in the store, drafts included.
    pub fn files(&self) -> Vec<String> {
        self.0.block_on(objects(self.0.config()))
    }

    /// Compares the images in the store with these hashes.
    #[track_caller]
    pub fn holds(&self, hashes: &[String]) {
        assert_eq!(self.files(), hashes);
    }

    /// Waits for background work until there are so many images.
    pub fn settle(&self, count: usize) {
        for _ in 0..1000 {
            if self.files().len() == count {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    pub fn get(&self, path: &str, header: (&str, &str)) -> Seen {
        self.0.send(self.0.request("GET", path).header(header.0, header.1))
    }
}

pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
