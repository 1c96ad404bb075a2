//! One connection with its prepared statements.

use super::address::Server;
use super::claim::{Claim, InTurn, claim};
use super::known::millis;
use super::shared::{Counts, Shared};
use super::statements::{FORM, PLACES, Statements};
use super::trouble::Trouble;
use super::unconfirmed::Unconfirmed;
use crate::clock::Clock;
use futures_util::future::{FutureExt, poll_fn};
use mfa_shared::time::Timestamp;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Error};

/// Time in which a server must have taken a connection with all that belongs to it. The driver itself has
/// no limit on the steps after the TCP connection, so a frozen server would hold up everything.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Most seconds between the clocks of this machine and the database, the same as `mfa doctor` allows.
const CLOCK_SECONDS_MAX: i64 = 60;
/// A clock that has gone so many milliseconds further or less far than the time that has passed was set, and
/// is compared anew.
const CLOCK_DRIFT_MILLIS_MAX: i64 = 10_000;
/// The server's own limit on a statement comes first, so that it ends cleanly where it can.
const GRACE: Duration = Duration::from_secs(1);

/// Why a daemon does not go on where the numbers of transactions are lower than those in the journal.
const COUNTS_ANEW: &str = "the database was moved to a server whose transactions have lower numbers than \
    those in the journal, as by pg_restore or logical replication. Start the daemon again, which then counts \
    from the end of the journal on";

/// A connection that is ready for transactions.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) statements: Statements,
    /// What is added to a transaction number to make a sequence of the journal.
    pub(super) journal_base: i64,
    pub(super) in_turn: InTurn,
    pub(super) counts: Arc<Counts>,
    unconfirmed: Arc<Unconfirmed>,
    driver: Driver,
    limit: Duration,
    /// When the clock of this machine was compared with that of the database, by this clock and by none.
    compared: Option<(Timestamp, Instant)>,
}

/// What moves bytes for a client, and counts the warnings of the server.
#[derive(Debug)]
pub(super) struct Driver {
    task: JoinHandle<()>,
    warnings: Arc<AtomicU64>,
}

/// A runtime for one thread.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// The hash by which a single record is found.
pub(super) fn spread(space: u8, key: &[u8]) -> i64 {
    let hash = Sha256::new_with_prefix([space]).chain_update(key).finalize();
    hash.first_chunk::<8>().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Tries the servers, beginning with the one that was right the last time.
pub(super) fn first<T>(
    shared: &Shared,
    mut open: impl FnMut(&Server) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let servers = &shared.servers;
    let start = shared.good_server.load(SeqCst);
    let mut last = Trouble::Lost("the address names no server".to_owned());
    let mut lacking = None;
    for at in (0..servers.len()).map(|i| (start + i) % servers.len()) {
        match open(&servers[at]) {
            Ok(opened) => {
                shared.good_server.store(at, SeqCst);
                return Ok(opened);
            }
            Err(Trouble::Lacks(why)) => lacking = Some(why),
            Err(Trouble::Lost(why)) => last = Trouble::Lost(format!("{}: {why}", servers[at].host)),
            Err(trouble) => last = trouble,
        }
    }
    if let Some(why) = lacking {
        // No other server that takes writes has them: what is in memory is wrong.
        shared.end_for_good(&why);
        return Err(Trouble::Lacks(why));
    }
    Err(last)
}

/// Whether the server takes no writes, and its time. It also learns to notice soon that this machine is gone,
/// since the locks of a connection keep other versions away, and by itself it looks after two hours. Where it
/// can, it compresses the journal by lz4, which takes less of its time than pglz.
const GREETING: &str = "select current_setting('transaction_read_only') = 'on', clock_timestamp(), \
    set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false), \
    set_config('tcp_keepalives_count', '3', false), \
    (select set_config(name, 'lz4', false) from pg_settings \
        where name = 'default_toast_compression' and 'lz4' = any(enumvals))";

/// Connects to a server that takes writes.
pub(super) async fn connect(shared: &Shared, server: &Server) -> Result<(Client, Driver), Trouble> {
    within(CONNECT_LIMIT, async {
        let mut config = shared.address.at(server);
        config.keepalives(true).keepalives_idle(Duration::from_secs(5));
        config.keepalives_interval(Duration::from_secs(2)).keepalives_retries(3);
        config.tcp_user_timeout(Duration::from_secs(5));
        let (client, mut connection) = config.connect(shared.tls.clone()).await?;
        let warnings = Arc::new(AtomicU64::new(0));
        let counter = warnings.clone();
        let task = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notice(notice) = message
                    && *notice.code() == SqlState::WARNING
                {
                    tracing::warn!(message = notice.message(), "the database warns");
                    counter.fetch_add(1, SeqCst);
                }
            }
        });
        let now = || shared.clock.as_ref().map(Clock::now);
        let before = now();
        let row = client.query_one(GREETING, &[]).await?;
        if row.get::<_, bool>(0) {
            return Err(Trouble::Lost("it does not take writes".to_owned()));
        }
        if let (Some(before), Some(after)) = (before, now()) {
            agree(before.millis(), millis(row.get(1)), after.millis()).map_err(Trouble::Lost)?;
        }
        Ok((client, Driver { task, warnings }))
    })
    .await
}

/// Whether the clock of the database agrees with that of this machine, which was read before and after it. By
/// the clock of whichever daemon comes first days are closed, and answers forgotten.
fn agree(before: i64, database: i64, after: i64) -> Result<(), String> {
    let (ahead, behind) = ((before - database) / 1000, (database - after) / 1000);
    let (seconds, how) = if ahead > 0 { (ahead, "ahead of") } else { (behind, "behind") };
    if seconds <= CLOCK_SECONDS_MAX {
        return Ok(());
    }
    Err(format!(
        "the clock of this machine is {seconds} s {how} that of the database: set it right, with timedatectl \
         set-ntp true"
    ))
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    let late = |_| Trouble::Lost(format!("no answer within {} s", limit.as_secs()));
    tokio::time::timeout(limit, work).await.unwrap_or_else(|e| Err(late(e)))
}

impl Session {
    /// Connects and prepares. Plans are made once and always use an index: on a small table PostgreSQL
    /// would rather read all of it, and then every transaction conflicts with every other one.
    pub(super) async fn open(
        shared: &Shared,
        server: &Server,
        limit: Duration,
        claimed: Claim,
    ) -> Result<Self, Trouble> {
        // Read before they are compared, so that a clock that is set meanwhile is compared again.
        let compared = shared.clock.as_ref().map(|clock| (clock.now(), Instant::now()));
        let (client, driver) = connect(shared, server).await?;
        let limit_ms = limit.as_millis();
        let set_up = format!(
            "set search_path = \"{}\"; set statement_timeout = {limit_ms}; set lock_timeout = {limit_ms}; \
             set idle_in_transaction_session_timeout = {}; set plan_cache_mode = force_generic_plan; \
             set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; \
             set enable_mergejoin = off; set jit = off; set client_min_messages = warning; \
             select set_config('synchronous_commit', 'on', false) \
             where current_setting('synchronous_commit') in ('off', 'local')",
            shared.address.schema,
            limit_ms * 2,
        );
        within(CONNECT_LIMIT, async {
            client.batch_execute(&set_up).await?;
            claim(&client, &shared.address.schema, claimed).await?;
            // By the index of the journal. Where `schema.rs` has set the base it holds for this server.
            let base = format!(
                "select journal_start, exists (select 1 from stored_journal where sequence >= \
                 journal_start + {PLACES} * pg_snapshot_xmax(pg_current_snapshot())::text::bigint) \
                 from stored_form where version = {FORM}"
            );
            let other_form = || Trouble::Lost("its tables have another form".to_owned());
            let base = client.query_opt(&base, &[]).await?.ok_or_else(other_form)?;
            if let Some(lacking) = shared.known.lacking(&client).await? {
                return Err(Trouble::Lacks(lacking));
            }
            if base.get(1) {
                return Err(Trouble::Lacks(COUNTS_ANEW.to_owned()));
            }
            let statements = Statements::prepare(&client).await?;
            let in_turn = InTurn::of(&shared.address.schema);
            let (counts, unconfirmed) = (shared.counts.clone(), shared.unconfirmed.clone());
            let limit = limit + GRACE;
            let journal_base = base.get(0);
            Ok(Self {
                client,
                statements,
                journal_base,
                in_turn,
                counts,
                unconfirmed,
                driver,
                limit,
                compared,
            })
        })
        .await
    }

    /// Waits for an answer, but not for ever: a frozen server keeps its connections open.
    pub(super) fn wait<T>(
        &self,
        runtime: &Runtime,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Trouble> {
        let answer = runtime.block_on(within(self.limit, async { work.await.map_err(Trouble::from) }));
        self.counts.round_trips.one();
        answer
    }

    /// The same for a message with a commit, to which the server sets no limit: it may wait for its standby.
    pub(super) fn wait_commit<T>(
        &self,
        runtime: &Runtime,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Trouble> {
        let begun = Instant::now();
        let answer = self.wait(runtime, work);
        if answer.is_err() && begun.elapsed() >= self.limit {
            self.unconfirmed.mark();
        }
        answer
    }

    /// Compares the clocks again if that of this machine was set since, or the machine slept.
    pub(super) fn compare_clocks(&mut self, runtime: &Runtime, clock: &Clock) -> Result<(), Trouble> {
        let Some((at, then)) = self.compared else { return Ok(()) };
        let before = clock.now();
        let passed = i64::try_from(then.elapsed().as_millis()).unwrap_or(i64::MAX);
        if (before.millis() - at.millis() - passed).abs() <= CLOCK_DRIFT_MILLIS_MAX {
            return Ok(());
        }
        let row = self.wait(runtime, self.client.query_one("select clock_timestamp()", &[]))?;
        agree(before.millis(), millis(row.get(0)), clock.now().millis()).map_err(Trouble::Lost)?;
        self.compared = Some((before, Instant::now()));
        Ok(())
    }

    /// Sends a statement whose answer is not needed; later statements wait for their turn.
    pub(super) fn send(&self, sql: &str) {
        // The first poll sends, and it never waits for that.
        let _ = self.client.batch_execute(sql).now_or_never();
    }

    /// Ends when the connection has ended.
    pub(super) async fn ended(&mut self) {
        let _ = (&mut self.driver.task).await;
    }

    /// How many warnings the server has sent.
    pub(super) fn warnings(&self) -> u64 {
        self.driver.warnings.load(SeqCst)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_agree_within_a_minute_whatever_a_round_trip_takes() {
        for (before, after) in [(0, 0), (0, 30_000), (60_999, 60_999), (-60_999, -60_999), (-90_000, -60_000)]
        {
            assert_eq!(agree(before, 0, after), Ok(()));
        }
        let why = agree(25 * 3_600_000, 0, 25 * 3_600_000 + 10).unwrap_err();
        assert!(
            why.starts_with("the clock of this machine is 90000 s ahead of that of the database: "),
            "{why}"
        );
        let why = agree(-70_000, 0, -61_000).unwrap_err();
        assert!(why.starts_with("the clock of this machine is 61 s behind that of the database: "), "{why}");
    }
}
