//! Whether images, the records that name them, and the index of uses belong together: what `mfa check
//! store` says about images. It looks part by part, so that a daemon serves beside it.

use super::Store;
use super::engine::Range;
use super::images::damaged;
use super::objects::{Opened, hash_and_length};
use super::record::Record;
use super::records::{CARDS_BY_NUMBER, IMAGE_USES, StoredCard, StoredImage, StoredPortrait, StoredScan};
use super::tx::{Tx, decode};
use crate::hex::hexadecimal;
use mfa_shared::api::customers::Customer;
use mfa_shared::fault::{self, Fault};
use std::collections::{BTreeMap, BTreeSet};

/// Records that are looked at in one transaction.
const STEP: usize = 500;

/// What the check of the images found. All is well where there are no defects; orphans are no defect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageReport {
    /// Records that name an image: portraits and scans.
    pub records: u64,
    /// Different images that they name.
    pub images: u64,
    /// Bytes of these images.
    pub bytes: u64,
    /// Images that no record names, by their hash. A crash leaves some, and the backup of another daemon for
    /// as long as it is made; [`Store::sweep_images`] removes them, which every start and every daemon does
    /// now and then.
    pub orphans: Vec<String>,
    /// What does not hold.
    pub defects: Vec<ImageDefect>,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageDefect {
    /// The record, such as `portrait of customer c-1`.
    pub subject: String,
    /// What is the case.
    pub detail: String,
}

fn defect(subject: &str, detail: impl Into<String>) -> ImageDefect {
    ImageDefect { subject: subject.to_owned(), detail: detail.into() }
}

/// A record that names an image.
trait NamesImage: Record {
    fn image(&self) -> &StoredImage;
    /// What a person calls it.
    fn subject(&self) -> String;
    /// What it is a part of and what is not there, if that is so.
    fn lacks(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Fault>;
}

impl NamesImage for StoredPortrait {
    fn image(&self) -> &StoredImage {
        &self.image
    }
    fn subject(&self) -> String {
        format!("portrait of customer {}", self.customer)
    }
    fn lacks(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Fault> {
        let there = tx.has::<Customer>(&[&self.customer])?;
        Ok((!there).then(|| format!("customer {}", self.customer)))
    }
}

impl NamesImage for StoredScan {
    fn image(&self) -> &StoredImage {
        &self.image
    }
    fn subject(&self) -> String {
        format!("scan {} of card {} of customer {}", self.scan.identifier, self.card, self.customer)
    }
    fn lacks(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Fault> {
        let cards = tx.indexed::<StoredCard>(CARDS_BY_NUMBER, &[&self.card])?;
        let there = cards.iter().any(|card| card.customer == self.customer);
        Ok((!there).then(|| format!("card {} of customer {}", self.card, self.customer)))
    }
}

/// The hash and the length of a stored file, or why they cannot be read.
type Measured = Result<(String, u64), String>;

/// The images of one part of the hashes, each with the records that name it and the lengths they say.
type Named = BTreeMap<String, Vec<(String, u64)>>;

impl Store {
    /// Compares records, index of uses and images in every direction, and the bytes of every image with its
    /// hash. A fault means that the check could not be finished, not that something is wrong.
    pub async fn check_images(&self) -> Result<ImageReport, Fault> {
        let mut report = ImageReport::default();
        self.check_records::<StoredPortrait>(&mut report).await?;
        self.check_records::<StoredScan>(&mut report).await?;
        for first in 0..=u8::MAX {
            self.check_part(first, &mut report).await?;
        }
        report.defects.sort();
        Ok(report)
    }

    /// Holds every record of a kind to what it is a part of and to its indexes.
    async fn check_records<R: NamesImage>(&self, report: &mut ImageReport) -> Result<(), Fault> {
        let mut from = Vec::new();
        loop {
            let range = Range { from, to: None };
            let (count, defects, next) = self.read(true, move |tx| step::<R>(tx, &range)).await?;
            report.records += count;
            report.defects.extend(defects);
            let Some(next) = next else { return Ok(()) };
            from = next;
        }
    }

    /// Compares the index of uses and the images of one part of the hashes.
    async fn check_part(&self, first: u8, report: &mut ImageReport) -> Result<(), Fault> {
        let (named, defects, there) = {
            // No image comes or goes between the two looks.
            let _gate = self.images.gate().await;
            let (named, defects) = self.read(true, move |tx| named(tx, first)).await?;
            let there = self.images.objects().list(first).await;
            (named, defects, there)
        };
        report.defects.extend(defects);
        let there = match there {
            Err(fault) if fault.kind.code == fault::IMAGE_DAMAGED.code => {
                report.defects.push(defect("images", &*fault.detail));
                Vec::new()
            }
            there => there?,
        };
        report.images += named.len() as u64;
        report.orphans.extend(there.into_iter().filter(|hash| !named.contains_key(hash)));
        for (hash, owners) in named {
            let found = self.measure(&hash).await?;
            if found.is_none() && !self.is_used(&hash).await? {
                // It was removed with its last record since the look at the records.
                continue;
            }
            report.bytes +=
                found.as_ref().and_then(|found| found.as_ref().ok()).map_or(0, |(_, length)| *length);
            for (subject, length) in owners {
                let detail = match &found {
                    None => format!("its image {hash} is missing"),
                    Some(Err(why)) => format!("its {why}"),
                    Some(Ok((now, _))) if *now != hash => {
                        format!("its image {hash} is damaged: the hash of its bytes is {now}")
                    }
                    Some(Ok((_, now))) if *now != length => {
                        format!("its image {hash} has {now} bytes, and the record says {length}")
                    }
                    Some(Ok(_)) => continue,
                };
                report.defects.push(defect(&subject, detail));
            }
        }
        Ok(())
    }

    async fn is_used(&self, hash: &str) -> Result<bool, Fault> {
        let hash = hash.to_owned();
        self.read(false, move |tx| tx.any(IMAGE_USES, &[&hash])).await
    }

    /// The hash and the number of the bytes that an image has now, or why they cannot be read.
    async fn measure(&self, hash: &str) -> Result<Option<Measured>, Fault> {
        let opened = match self.images.objects().open(hash).await {
            Err(fault) if fault.kind.code == fault::IMAGE_DAMAGED.code => {
                return Ok(Some(Err(fault.detail.clone())));
            }
            opened => opened?,
        };
        let measured = tokio::task::spawn_blocking(move || match opened {
            None => None,
            Some(Opened::Bytes(bytes)) => Some(hash_and_length(&bytes[..])),
            Some(Opened::File(file)) => Some(hash_and_length(file)),
        });
        let stopping = |_| Fault::new(fault::UNAVAILABLE, "the check was interrupted");
        let unreadable = |error| damaged(hash, &format!("its bytes cannot be read ({error})")).detail.clone();
        Ok(measured.await.map_err(stopping)?.map(|read| read.map_err(unreadable)))
    }
}

/// What a step over the records found: how many, what is wrong with them, and where the next one begins.
type Step = (u64, Vec<ImageDefect>, Option<Vec<u8>>);

fn step<R: NamesImage>(tx: &mut Tx<'_>, range: &Range) -> Result<Step, Fault> {
    let pairs = tx.scan(R::SPACE, range, false, STEP)?;
    let mut defects = Vec::new();
    for (key, value) in &pairs {
        let record: R = decode(R::SPACE, value)?;
        let subject = record.subject();
        if record.key() != *key {
            defects.push(defect(&subject, "it is stored under the key of another record"));
        }
        if let Some(owner) = record.lacks(tx)? {
            defects.push(defect(&subject, format!("{owner} is not there")));
        }
        for space in tx.missing_entries(&record)? {
            defects.push(defect(&subject, format!("it is not in the index {}", space.name)));
        }
    }
    let last = pairs.last().filter(|_| pairs.len() == STEP);
    let next = last.map(|(key, _)| [key.as_slice(), &[0]].concat());
    Ok((pairs.len() as u64, defects, next))
}

/// The images that records name, by the index of uses, and the entries of that index without a record.
fn named(tx: &mut Tx<'_>, first: u8) -> Result<(Named, Vec<ImageDefect>), Fault> {
    let mut entries = BTreeSet::new();
    let range = Range::prefix(hexadecimal(&[first]).as_bytes());
    tx.walk(IMAGE_USES, range, &mut |entry, _| {
        entries.insert(entry.to_vec());
        Ok(true)
    })?;
    let mut named = Named::new();
    let mut defects = Vec::new();
    for entry in entries {
        let mut parts = entry.splitn(3, |byte| *byte == 0);
        let mut part = || parts.next().unwrap_or_default();
        let hash = String::from_utf8_lossy(part()).into_owned();
        let kind = part();
        let key = part();
        let found = match kind {
            b"portrait" => owner::<StoredPortrait>(tx, key, &hash)?,
            _ => owner::<StoredScan>(tx, key, &hash)?,
        };
        match found {
            Some(owner) => named.entry(hash).or_default().push(owner),
            None => {
                let (kind, key) = (String::from_utf8_lossy(kind), String::from_utf8_lossy(key));
                let record = format!("{kind} {}", key.replace('\0', " ").trim());
                let detail =
                    format!("the index {} says it is the {record}, which it is not", IMAGE_USES.name);
                defects.push(defect(&format!("image {hash}"), detail));
            }
        }
    }
    Ok((named, defects))
}

/// What the record at a key is called and how long it says its image is, if it names the image.
fn owner<R: NamesImage>(tx: &mut Tx<'_>, key: &[u8], hash: &str) -> Result<Option<(String, u64)>, Fault> {
    let Some(value) = tx.value(R::SPACE, key)? else { return Ok(None) };
    let record: R = decode(R::SPACE, &value)?;
    Ok((record.image().sha256 == hash).then(|| (record.subject(), record.image().length)))
}
