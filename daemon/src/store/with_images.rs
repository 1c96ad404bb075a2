//! Transactions with images: the object is durable before the record that names it, and goes with the
//! last one.

use super::engine::Engine;
use super::image_holds::are_held;
use super::images::{Uses, damaged, unnamed, uses_of};
use super::objects::{Draft, Opened, UsedBy, hash_and_length};
use super::records::IMAGE_USES;
use super::tx::Tx;
use super::{Store, apart, finished};
use mfa_shared::fault::{self, Fault};
use std::io::{self, Seek};

/// Images that are removed while no upload may begin.
const REMOVED_AT_ONCE: usize = 50;

impl Store {
    /// An empty draft of an image.
    pub fn draft(&self) -> Draft {
        Draft::new(self.images.objects.drafts())
    }

    /// Opens an image whose bytes are those that were stored under this hash. A disk may lose or change bytes
    /// without a word, and a wrong face or paper is worse than none.
    pub async fn open_image(&self, hash: &str) -> Result<Option<Opened>, Fault> {
        let opened = self.images.objects.open(hash).await.map_err(|fault| self.images.note(hash, fault))?;
        let Some(opened) = opened else { return Ok(None) };
        let expected = hash.to_owned();
        let compared = tokio::task::spawn_blocking(move || match opened {
            Opened::Bytes(bytes) => Ok((hash_and_length(&bytes[..])?.0 == expected, Opened::Bytes(bytes))),
            Opened::File(mut file) => {
                let same = hash_and_length(&file)?.0 == expected;
                file.rewind()?;
                Ok((same, Opened::File(file)))
            }
        });
        let stopping = |_| Fault::new(fault::UNAVAILABLE, "the daemon is stopping");
        let compared: io::Result<_> = compared.await.map_err(stopping)?;
        let what = match compared {
            Ok((true, opened)) => return Ok(Some(opened)),
            Ok((false, _)) => "its bytes are not those that were uploaded".to_owned(),
            Err(error) => format!("its bytes cannot be read ({error})"),
        };
        Err(self.images.note(hash, damaged(hash, &what)))
    }

    /// The fault of an image that a record names and that is not there.
    pub fn image_missing(&self, hash: &str) -> Fault {
        self.images.note(hash, damaged(hash, "it is missing"))
    }

    /// How many images were found damaged since the start, and not uploaded again since.
    pub fn damaged_images(&self) -> usize {
        self.images.damaged().len()
    }

    /// As [`Store::write`], with an image that the work may name: it is durable before the work is decided,
    /// and gone again if the work does not name it.
    pub async fn write_with<T, F>(&self, request: &str, draft: Draft, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let store = self.clone();
        let request = request.to_owned();
        let hash = draft.hash();
        let (work, slot) = apart(work);
        finished(Box::pin(async move {
            let gate = store.images.gate.read().await;
            store.images.keep(draft).await?;
            // Without an answer of the engine the record may be there, so the object stays.
            let (outcome, mut uses) = store.decide(request, work, Engine::write).await?;
            drop(gate);
            if !uses.begun.contains(&hash) {
                uses.ended.insert(hash);
            }
            store.remove_unused(&uses).await;
            outcome
        }))
        .await?;
        slot.take()
    }

    /// Removes images that a transaction has left without a record.
    pub(super) async fn remove_unused(&self, uses: &Uses) {
        self.remove_now(uses.ended.iter().cloned().collect()).await;
    }

    /// Removes what a backup has kept from being removed, in parts, between which others upload.
    pub async fn remove_put_off(&self) {
        for part in self.images.holds.take().chunks(REMOVED_AT_ONCE) {
            self.remove_now(part.to_vec()).await;
        }
    }

    /// What cannot be removed now is swept later, so that is no fault of a request.
    async fn remove_now(&self, hashes: Vec<String>) {
        if hashes.is_empty() {
            return;
        }
        let _gate = self.images.gate().await;
        if let Err(fault) = self.remove_orphans(hashes, true).await {
            tracing::warn!(%fault, "an image without a record could not be removed");
        }
    }

    /// Removes those of the objects that no record names, also `young` ones, once no backup needs them. The
    /// caller holds the gate.
    async fn remove_orphans(&self, mut hashes: Vec<String>, young: bool) -> Result<u64, Fault> {
        hashes.sort_unstable();
        let look = move |tx: &mut Tx<'_>| Ok((unnamed(tx, &hashes)?, are_held(tx)?));
        let (unused, held) = self.read(true, look).await?;
        if held || self.images.holds.are_held() {
            // A sweep looks again by itself, and spares what another daemon is about to name.
            if young {
                self.images.holds.put_off(unused);
            }
            return Ok(0);
        }
        for hash in &unused {
            let range = uses_of(hash);
            self.images.objects.remove(hash, UsedBy { space: IMAGE_USES, range, young }).await?;
            self.images.damaged().remove(hash);
        }
        Ok(unused.len() as u64)
    }

    async fn unnamed(&self, mut hashes: Vec<String>) -> Result<Vec<String>, Fault> {
        hashes.sort_unstable();
        self.read(true, move |tx: &mut Tx<'_>| unnamed(tx, &hashes)).await
    }

    /// Removes every object that no record names, which only a crash leaves behind. How many there were.
    pub async fn sweep_images(&self) -> Result<u64, Fault> {
        self.sweep(false).await
    }

    /// Also removes those that were kept a moment ago. No one else may use the store.
    pub async fn sweep_all_images(&self) -> Result<u64, Fault> {
        self.sweep(true).await
    }

    async fn sweep(&self, young: bool) -> Result<u64, Fault> {
        let mut removed = 0;
        let firsts = match self.images.objects.firsts().await {
            // Some of them may be readable all the same.
            Err(fault) if fault.kind.code == fault::IMAGE_DAMAGED.code => (0..=u8::MAX).collect(),
            firsts => firsts?,
        };
        for first in firsts {
            let hashes = match self.images.objects.list(first).await {
                Err(fault) if fault.kind.code == fault::IMAGE_DAMAGED.code => {
                    tracing::error!(detail = fault.detail, "images may be missing");
                    continue;
                }
                listed => listed?,
            };
            // Most often there is none, and then no upload waits. What was kept a moment ago may be named by
            // now, so what seems to be an orphan is looked at again while nothing is kept or named.
            let orphans = if hashes.is_empty() { hashes } else { self.unnamed(hashes).await? };
            if !orphans.is_empty() {
                let _gate = self.images.gate().await;
                removed += self.remove_orphans(orphans, young).await?;
            }
        }
        if removed > 0 {
            tracing::info!(removed, "images without a record were removed");
        }
        Ok(removed)
    }
}
