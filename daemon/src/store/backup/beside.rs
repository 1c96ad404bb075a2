//! A backup of a store that several daemons serve: the others learn of it, and remove no image meanwhile.

use super::BackupError;
use super::write::Sink;
use crate::random;
use crate::store::records::ImageHold;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use std::convert::Infallible;
use std::time::Duration;

/// How often a record of a hold is renewed, and how long one is good, so that clocks may differ.
const RENEWED_EVERY: Duration = Duration::from_secs(60);
const GOOD_FOR_S: i64 = 10 * 60;

impl Store {
    /// As [`Store::back_up`] where other daemons may serve the store, too: none of them removes an image
    /// meanwhile.
    pub async fn back_up_beside_daemons(&self, to: Sink) -> Result<(), BackupError> {
        if !self.is_shared() {
            return self.back_up(to).await;
        }
        let name = random::hex::<16>();
        self.hold_images(&name).await;
        let written = tokio::select! {
            written = self.back_up(to) => written,
            never = self.go_on_holding(&name) => match never {},
        };
        self.let_images_go(name).await;
        self.remove_put_off().await;
        written
    }

    /// Says that a backup is made. Without that it ends as well, unless somebody replaces images all the
    /// time.
    async fn hold_images(&self, name: &str) {
        let name = name.to_owned();
        let hold = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            let now = tx.now();
            for past in tx.all::<ImageHold>(&[])?.iter().filter(|hold| hold.until < now) {
                tx.remove(past);
            }
            tx.put(&ImageHold { name: name.clone(), until: now.plus_seconds(GOOD_FOR_S) })
        };
        if let Err(fault) = self.write("backup", hold).await {
            tracing::warn!(%fault, "other daemons do not learn that a backup is made");
        }
    }

    /// Renews the record while it is there: a renewal that is under way when the backup ends brings none
    /// back.
    async fn go_on_holding(&self, name: &str) -> Infallible {
        loop {
            tokio::time::sleep(RENEWED_EVERY).await;
            let name = name.to_owned();
            let renew = move |tx: &mut Tx<'_>| {
                tx.set_actor(SYSTEM_ACTOR);
                let until = tx.now().plus_seconds(GOOD_FOR_S);
                tx.get::<ImageHold>(&[&name])?.map_or(Ok(()), |hold| tx.put(&ImageHold { until, ..hold }))
            };
            // It is good for a while yet, and renewed again.
            let _ = self.write("backup", renew).await;
        }
    }

    async fn let_images_go(&self, name: String) {
        let let_go = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            if let Some(hold) = tx.get::<ImageHold>(&[&name])? {
                tx.remove(&hold);
            }
            Ok(())
        };
        // It ends by itself.
        let _ = self.write("backup", let_go).await;
    }
}
