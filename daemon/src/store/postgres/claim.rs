//! Who uses the store at the same time. Daemons of one version share it; what changes the whole of it, such
//! as a copy or a new key, works alone.
//!
//! Every connection of a daemon holds a shared lock of the database; exclusive work holds the same lock for
//! itself, on its first connection. Besides, every connection holds a shared lock whose number is the version
//! of its program, with a mark if it belongs to exclusive work. The server releases them when a connection
//! ends, however that happens.

use super::OpenError;
use super::trouble::Trouble;
use crate::store::records::StoreFacts;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error};

/// How long opening waits for connections that are just ending.
const WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
/// The mark of exclusive work.
const ALONE: i32 = 1 << 30;
const NUMBER_BITS: u32 = 10;
/// How long work waits for the turn of its daemon.
const IN_TURN_MS: u32 = 200;

/// What a connection claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// To use the store beside others.
    Shared,
    /// To use it without others.
    Alone,
    /// To help another connection of the same program, which uses it without others.
    Helping,
    /// Only to set it up, if no other version uses it.
    SetUp,
}

/// Claims, without waiting.
pub(super) async fn claim(client: &Client, schema: &str, claim: Claim) -> Result<(), Trouble> {
    say_version(client, schema, matches!(claim, Claim::Alone | Claim::Helping)).await?;
    let others = others(client, schema).await?;
    if let Some(why) = another_version(&others) {
        return Err(Trouble::Lost(why));
    }
    let lock = match claim {
        Claim::Shared if others.iter().any(|other| is_alone(*other)) => return Err(refused(claim)),
        Claim::Shared => "pg_try_advisory_lock_shared",
        Claim::Alone => "pg_try_advisory_lock",
        Claim::Helping | Claim::SetUp => return Ok(()),
    };
    let sql = format!("select {lock}({})", in_use(schema));
    let row = client.query_one(&sql, &[]).await?;
    if row.get(0) { Ok(()) } else { Err(refused(claim)) }
}

fn refused(claim: Claim) -> Trouble {
    let why = match claim {
        Claim::Alone => "a daemon uses the store: stop every daemon of it first",
        Claim::Shared | Claim::Helping | Claim::SetUp => "the store is being copied or gets a new key",
    };
    Trouble::Lost(why.to_owned())
}

/// Waits until no other version uses the store.
pub(super) async fn wait_version(client: &Client, schema: &str) -> Result<(), OpenError> {
    wait(async || claim(client, schema, Claim::SetUp).await).await
}

/// Waits until the store is not in use.
pub(super) async fn wait_alone(client: &Client, schema: &str) -> Result<(), OpenError> {
    wait(async || {
        // Other exclusive work may go on for a moment after its first connection has ended.
        if others(client, schema).await?.into_iter().any(is_alone) {
            let why = "another program changes the whole store: wait until it has ended";
            return Err(Trouble::Lost(why.to_owned()));
        }
        let sql = format!("select pg_try_advisory_lock({})", in_use(schema));
        let row = client.query_one(&sql, &[]).await?;
        if row.get(0) { Ok(()) } else { Err(refused(Claim::Alone)) }
    })
    .await
}

async fn wait(mut claim: impl AsyncFnMut() -> Result<(), Trouble>) -> Result<(), OpenError> {
    let until = Instant::now() + WAIT;
    loop {
        match claim().await {
            Ok(()) => return Ok(()),
            Err(Trouble::Lost(why)) if Instant::now() > until => return Err(OpenError::InUse(why)),
            Err(Trouble::Lost(_)) => tokio::time::sleep(PAUSE).await,
            Err(other) => return Err(OpenError::Refused(other.to_string())),
        }
    }
}

/// The lock of those who use the store.
fn in_use(schema: &str) -> String {
    format!("hashtextextended('mfa {schema} in use', 0)")
}

/// The first number of the locks that say versions.
fn versions(schema: &str) -> String {
    format!("hashtext('mfa {schema} version')")
}

/// The lock by which the daemons take turns where they read and write much at once, as a group or alone:
/// beside each other they would conflict.
#[derive(Debug)]
pub(super) struct InTurn {
    /// Waits for it, but not for long: without it the work runs beside others. A daemon that is frozen with
    /// it must not hold up the rest.
    pub(super) take: String,
    /// Gives it back, or says nothing where it was not had: a wait that ends just as the lock becomes free
    /// may fail and have it nevertheless.
    pub(super) give_back: String,
}

impl InTurn {
    /// That of a store.
    pub(super) fn of(schema: &str) -> Self {
        let lock = format!("hashtextextended('mfa {schema} in turn', 0)");
        let take = format!("set local lock_timeout = '{IN_TURN_MS}ms'; select pg_advisory_lock({lock})");
        let quiet = "set local client_min_messages = error";
        Self { take, give_back: format!("{quiet}; select pg_advisory_unlock({lock})") }
    }
}

/// Takes the lock that says the version of this program. It is only ever shared, so nothing waits.
async fn say_version(client: &Client, schema: &str, alone: bool) -> Result<(), Error> {
    let own = number(StoreFacts::PROGRAM) | if alone { ALONE } else { 0 };
    let sql = format!("select pg_advisory_lock_shared({}, {own})", versions(schema));
    client.batch_execute(&sql).await
}

/// The numbers that other connections say; nothing for those that use the store and say none, since their
/// version does not know how to. What other logins of the database hold does not count, unless they may write
/// the journal: else any of them could keep daemons out.
async fn others(client: &Client, schema: &str) -> Result<Vec<Option<i32>>, Error> {
    let (versions, in_use) = (versions(schema), in_use(schema));
    let journal = format!("to_regclass('\"{schema}\".stored_journal')");
    let sql = format!(
        "with held as (
            select pid, objid::bigint as number,
                objsubid = 2 and classid::bigint = {versions}::bigint & 4294967295 as version,
                objsubid = 1 and (classid::bigint << 32) | objid::bigint = {in_use} as in_use
            from pg_locks join pg_stat_activity using (pid)
            where locktype = 'advisory' and granted and pid <> pg_backend_pid()
                and database = (select oid from pg_database where datname = current_database())
                and (usename = session_user or has_table_privilege(usesysid, {journal}, 'insert'))
        )
        select distinct number::integer from held where version
        union all
        select null where exists (select 1 from held u where u.in_use
            and not exists (select 1 from held v where v.version and v.pid = u.pid))"
    );
    Ok(client.query(&sql, &[]).await?.iter().map(|row| row.get(0)).collect())
}

fn is_alone(other: Option<i32>) -> bool {
    other.is_some_and(|number| number & ALONE != 0)
}

/// Why this version may not use a store that is used by these.
fn another_version(others: &[Option<i32>]) -> Option<String> {
    let own = number(StoreFacts::PROGRAM);
    let other = others.iter().find(|other| other.is_none_or(|number| number & !ALONE != own))?;
    let other = other.map_or_else(|| "an earlier version of mfa".to_owned(), |other| named(other & !ALONE));
    Some(format!(
        "{other} uses the store, and this is mfa {}: stop every daemon of the other version first",
        StoreFacts::PROGRAM
    ))
}

/// A version as a number: ten bits for each of its three parts.
fn number(version: &str) -> i32 {
    let parts = version.split(['.', '-', '+']).chain(["0"; 3]).take(3);
    let part = |part: &str| part.parse::<i32>().unwrap_or(0).clamp(0, (1 << NUMBER_BITS) - 1);
    parts.fold(0, |number, text| number << NUMBER_BITS | part(text)) & !ALONE
}

/// The version of a number.
fn named(number: i32) -> String {
    let part = |place: u32| number >> (place * NUMBER_BITS) & ((1 << NUMBER_BITS) - 1);
    format!("mfa {}.{}.{}", part(2), part(1), part(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number_from_which_it_can_be_read() {
        for version in ["0.2.0", "1.12.103", "0.0.0", "12.0.1"] {
            assert_eq!(named(number(version)), format!("mfa {version}"));
        }
        assert_eq!(named(number("1.2.3-rc.1+x")), "mfa 1.2.3");
        assert_ne!(number("1.2.3"), number("1.3.2"));
    }

    #[test]
    fn only_another_version_is_a_reason_to_stay_away() {
        let own = number(StoreFacts::PROGRAM);
        assert_eq!(another_version(&[]), None);
        assert_eq!(another_version(&[Some(own), Some(own | ALONE)]), None);
        for (other, named) in [(Some(number("9.8.7")), "mfa 9.8.7"), (None, "an earlier version of mfa")] {
            let why = another_version(&[Some(own), other]).unwrap();
            assert!(why.starts_with(&format!("{named} uses the store, and this is mfa ")), "{why}");
        }
    }
}
