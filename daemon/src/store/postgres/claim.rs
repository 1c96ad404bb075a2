//! Who uses the store at the same time. Daemons share it; what changes the whole of it, such as a copy or a
//! new key, works alone.
//!
//! Every connection of a daemon holds a shared lock of the database; exclusive work holds the same lock for
//! itself. The server releases it when the connection ends, however that happens.

use super::OpenError;
use super::trouble::Trouble;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

/// How long exclusive work waits for connections that are just ending.
const ALONE_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// What a connection claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// To use the store beside others.
    Shared,
    /// To use it without others.
    Alone,
    /// Nothing: another connection of the same program claims.
    Nothing,
}

/// Claims, without waiting.
pub(super) async fn claim(client: &Client, schema: &str, claim: Claim) -> Result<(), Trouble> {
    let lock = match claim {
        Claim::Shared => "pg_try_advisory_lock_shared",
        Claim::Alone => "pg_try_advisory_lock",
        Claim::Nothing => return Ok(()),
    };
    let sql = format!("select {lock}(hashtextextended('mfa {schema} in use', 0))");
    let row = client.query_one(&sql, &[]).await?;
    if row.get(0) { Ok(()) } else { Err(Trouble::Lost(refused(claim).to_owned())) }
}

fn refused(claim: Claim) -> &'static str {
    match claim {
        Claim::Alone => "a daemon uses the store",
        Claim::Shared | Claim::Nothing => "the store is being copied or gets a new key",
    }
}

/// Waits until the store is not in use.
pub(super) async fn wait_alone(client: &Client, schema: &str) -> Result<(), OpenError> {
    let until = Instant::now() + ALONE_WAIT;
    loop {
        match claim(client, schema, Claim::Alone).await {
            Ok(()) => return Ok(()),
            Err(Trouble::Lost(why)) if Instant::now() > until => return Err(OpenError::InUse(why)),
            Err(Trouble::Lost(_)) => tokio::time::sleep(PAUSE).await,
            Err(other) => return Err(OpenError::Refused(other.to_string())),
        }
    }
}
