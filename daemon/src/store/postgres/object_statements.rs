//! The prepared statements about images.

use futures_util::future::join5;
use tokio_postgres::{Client, Error, Statement};

const HELD: &str = "select 1 from stored_objects where hash = $1";
const KEEP: &str = "insert into stored_objects (hash, bytes) values ($1, $2) \
    on conflict (hash) do update set kept_on = now(), bytes = excluded.bytes";
const OPEN: &str = "select bytes from stored_objects where hash = $1";
const REMOVE: &str = "delete from stored_objects \
    where hash = $1 and ($2::boolean or kept_on < now() - interval '1 hour') \
    and not exists (select 1 from stored_records where space = $3 and key >= $4 and key < $5)";
const LIST: &str = "select hash from stored_objects where hash >= $1 and hash < $2 order by hash";

/// The statements about images.
#[derive(Debug)]
pub(super) struct ObjectStatements {
    /// Whether there is one, for a transaction that uses it.
    pub(super) held: Statement,
    pub(super) keep: Statement,
    pub(super) open: Statement,
    pub(super) remove: Statement,
    pub(super) list: Statement,
}

impl ObjectStatements {
    /// Prepares them all in one message.
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let prepared = join5(
            client.prepare(HELD),
            client.prepare(KEEP),
            client.prepare(OPEN),
            client.prepare(REMOVE),
            client.prepare(LIST),
        );
        let (held, keep, open, remove, list) = prepared.await;
        Ok(Self { held: held?, keep: keep?, open: open?, remove: remove?, list: list? })
    }
}
