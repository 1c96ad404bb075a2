//! Portraits, scans, and the images that they name.

use super::{IMAGE_HOLDS, IMAGE_USES, PORTRAITS, SCANS, SCANS_BY_IDENTIFIER};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::scans::Scan;
use mfa_shared::time::Timestamp;
use mfa_shared::upload::ImageType;
use serde::{Deserialize, Serialize};

/// An image that a record names; its bytes lie among the objects of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredImage {
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Number of its bytes.
    pub length: u64,
    /// Its kind.
    pub content_type: ImageType,
    /// When it was uploaded.
    pub uploaded_on: Timestamp,
}

impl StoredImage {
    /// The entry that says that a record of this kind uses the image.
    fn used_by(&self, kind: &str) -> (Space, Vec<u8>) {
        (IMAGE_USES, key(&[&self.sha256, kind]))
    }
}

/// The portrait of a customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPortrait {
    /// The customer.
    pub customer: String,
    /// The image.
    pub image: StoredImage,
}

impl Record for StoredPortrait {
    const SPACE: Space = PORTRAITS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.customer])
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![self.image.used_by("portrait")]
    }
}

/// A scan of an identification card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredScan {
    /// The customer.
    pub customer: String,
    /// The number of the card.
    pub card: String,
    /// Its place among the scans of the card, from 1.
    pub place: u64,
    /// The scan as reads show it.
    pub scan: Scan,
    /// The image.
    pub image: StoredImage,
}

impl Record for StoredScan {
    const SPACE: Space = SCANS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.customer, &self.card], self.place)
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        let by_identifier = key(&[&self.customer, &self.card, &self.scan.identifier]);
        vec![(SCANS_BY_IDENTIFIER, by_identifier), self.image.used_by("scan")]
    }
}

/// A backup that a daemon makes of a store which others share: no image is removed meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageHold {
    /// Chosen at random for the backup.
    pub name: String,
    /// When it ends, if it is not renewed.
    pub until: Timestamp,
}

impl Record for ImageHold {
    const SPACE: Space = IMAGE_HOLDS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.name])
    }
}
