//! Sending of images: piece by piece, so that a slow client holds no more than two of them.

use super::response::{CHUNKS_WAITING, Chunks};
use crate::store::objects::Opened;
use mfa_shared::fault::{self, Fault};
use std::io::Read;

/// Bytes of an image that are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Reads an image piece by piece, as fast as the client takes them.
pub fn stream(image: Opened) -> Chunks {
    let (sender, receiver) = tokio::sync::mpsc::channel(CHUNKS_WAITING);
    tokio::spawn(async move {
        let mut file = match image {
            Opened::Bytes(bytes) => {
                let _ = sender.send(Ok(bytes)).await;
                return;
            }
            Opened::File(file) => file,
        };
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let mut chunk = Vec::new();
                let read = Read::by_ref(&mut file).take(PIECE_BYTES as u64).read_to_end(&mut chunk);
                read.map(|_| (file, chunk))
            });
            let (next, chunk) = match read.await {
                Ok(Ok(read)) => read,
                // The client sees a body that is too short.
                _ => {
                    let broken = Fault::new(fault::UNAVAILABLE, "the image cannot be read");
                    let _ = sender.send(Err(broken)).await;
                    return;
                }
            };
            file = next;
            if chunk.is_empty() || sender.send(Ok(chunk.into())).await.is_err() {
                return;
            }
        }
    });
    receiver
}
