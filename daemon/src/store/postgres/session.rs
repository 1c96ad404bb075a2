//! One connection with its prepared statements.

use super::address::Server;
use super::claim::{Claim, claim};
use super::object_statements::ObjectStatements;
use super::shared::{Counts, Shared};
use super::trouble::Trouble;
use futures_util::future::{FutureExt, poll_fn, try_join, try_join_all};
use sha2::{Digest, Sha256};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Error, Statement};

/// Time in which a server must have taken a connection with all that belongs to it. The driver itself has
/// no limit on the steps after the TCP connection, so a frozen server would hold up everything.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// The server's own limit on a statement comes first, so that it ends cleanly where it can.
const GRACE: Duration = Duration::from_secs(1);

const GET: &str = "select value from stored_records \
    where spread = $1 and space + 0::smallint = $2 and key || ''::bytea = $3";
const GET_ALL: &str = "select r.space, r.key, r.value \
    from unnest($1::bigint[], $2::smallint[], $3::bytea[]) as k(spread, space, key) \
    join stored_records r on r.spread = k.spread \
    and r.space + 0::smallint = k.space and r.key || ''::bytea = k.key";
/// The first pairs of several ranges, with the number of the range, from 1 on.
const SCAN_ALL: &str = "select r.number, s.key, s.value \
    from unnest($1::smallint[], $2::bytea[], $3::bytea[]) with ordinality as r(space, first, behind, number) \
    cross join lateral (select key, value from stored_records \
        where space = r.space and key >= r.first and key < r.behind order by space, key limit $4) s \
    order by r.number, s.key";
/// The last pair of each of several ranges, with the number of the range, from 1 on.
const LASTS: &str = "select r.number, s.key, s.value \
    from unnest($2::bytea[], $3::bytea[]) with ordinality as r(first, behind, number) \
    cross join lateral (select key, value from stored_records \
        where space = $1::smallint and key >= r.first and key < r.behind \
        order by space desc, key desc limit 1) s";
const JOURNAL: &str = "select sequence, time, actor, request, spaces, keys, new_values \
    from stored_journal \
    where sequence > $1 and sequence < $2 + pg_snapshot_xmin(pg_current_snapshot())::text::bigint \
    order by sequence limit $3";
/// The keys of a space that commits have put, and up to where this goes if it is not to the end. What else
/// they changed, which for a batch is a great deal, stays in the database; and of commits that changed
/// nothing of the space it goes through so many that it ends in time.
const JOURNAL_PUT: &str = "select w.upto, r.sequence, r.spaces, r.keys \
    from (select (select sequence from stored_journal where sequence > $1 \
        order by sequence offset 20000 limit 1) as upto) w \
    left join lateral (select j.sequence, c.spaces, c.keys from stored_journal j \
        cross join lateral (select array_agg(u.space order by u.place), array_agg(u.key order by u.place) \
            from unnest(j.spaces, j.keys, j.new_values) with ordinality as u(space, key, value, place) \
            where u.space = any($4::smallint[]) and u.value is not null \
        ) as c(spaces, keys) \
        where j.sequence > $1 and j.sequence <= coalesce(w.upto, 9223372036854775807) \
            and j.sequence < $2 + pg_snapshot_xmin(pg_current_snapshot())::text::bigint and j.spaces && $4 \
        order by j.sequence limit $3) r on true \
    order by r.sequence";
/// The keys of some spaces that were changed by the commits in some places, and by those behind another
/// place: these up to where it ends in time, as above.
const JOURNAL_CHANGED: &str = "select w.upto, r.sequence, c.spaces, c.keys \
    from (select (select sequence from stored_journal where sequence > $1 \
        order by sequence offset 20000 limit 1) as upto) w \
    left join lateral (\
        (select j.sequence, j.spaces, j.keys from stored_journal j \
            where j.sequence = any($2::bigint[]) and j.spaces && $4::smallint[]) \
        union all \
        (select j.sequence, j.spaces, j.keys from stored_journal j \
            where j.sequence > $1 and j.sequence <= coalesce(w.upto, 9223372036854775807) and j.spaces && $4 \
            order by j.sequence limit $3)) r on true \
    left join lateral (select array_agg(u.space), array_agg(u.key) \
        from unnest(r.spaces, r.keys) as u(space, key) where u.space = any($4)) as c(spaces, keys) on true \
    order by r.sequence";
/// The last visible commit, and the numbers of all transactions that are under way.
const JOURNAL_STANDING: &str = "select (select coalesce(max(sequence), 0) from stored_journal), \
    array(select number::text::bigint from pg_snapshot_xip(pg_current_snapshot()) as number)";
/// The last visible commit that has put something into some spaces.
const LAST_PUT: &str = "select j.sequence from stored_journal j \
    where j.sequence > $1 and j.spaces && $2::smallint[] \
    and exists (select 1 from unnest(j.spaces, j.new_values) as u(space, value) \
        where u.space = any($2) and u.value is not null) \
    order by j.sequence desc limit 1";
/// What visible commits have put into a space, in their order.
const PUT_AFTER: &str = "select u.key, u.value from stored_journal j \
    cross join lateral unnest(j.spaces, j.keys, j.new_values) \
        with ordinality as u(space, key, value, place) \
    where j.sequence > $1 and j.spaces && array[$2::smallint] and u.space = $2 and u.value is not null \
    order by j.sequence, u.place limit $3";
const JOURNAL_END: &str = "select coalesce(max(sequence), 0) from stored_journal \
    where sequence < $1 + pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
/// Everything that a transaction writes which removes nothing, in one statement. To look for what was removed
/// cost 5 % of the creates.
const PUT: &str = "
with put as (
    insert into stored_records (spread, space, key, value)
    select * from unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bytea[])
    on conflict (space, key) do update set value = excluded.value
)
insert into stored_journal (sequence, time, actor, request, spaces, keys, new_values)
values ($5::bigint + pg_current_xact_id()::text::bigint, $6, $7, $8, $2, $3, $4)";
/// Everything that any other transaction writes. A removal of what is not there conflicts with no
/// one who puts it meanwhile, but could come after that in the journal: it is left out.
const WRITE: &str = "
with c as (
    select * from unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bytea[]) with ordinality
    as c(spread, space, key, value, place)
), gone as (
    delete from stored_records r using c where c.value is null
    and r.spread = c.spread and r.space + 0::smallint = c.space and r.key || ''::bytea = c.key
    returning c.place
), put as (
    insert into stored_records (spread, space, key, value)
    select c.spread, c.space, c.key, c.value from c where c.value is not null
    on conflict (space, key) do update set value = excluded.value
), done as (
    select coalesce(array_agg(space order by place), '{}') as spaces,
        coalesce(array_agg(key order by place), '{}') as keys,
        coalesce(array_agg(value order by place), '{}') as new_values
    from c where value is not null or place in (select place from gone)
)
insert into stored_journal (sequence, time, actor, request, spaces, keys, new_values)
select $5::bigint + pg_current_xact_id()::text::bigint, $6, $7, $8, spaces, keys, new_values from done";

/// The statements of a connection.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) get: Statement,
    pub(super) get_all: Statement,
    pub(super) scan_all: Statement,
    pub(super) lasts: Statement,
    pub(super) put: Statement,
    pub(super) write: Statement,
    pub(super) journal: Statement,
    pub(super) journal_put: Statement,
    pub(super) journal_changed: Statement,
    pub(super) journal_standing: Statement,
    pub(super) journal_end: Statement,
    pub(super) last_put: Statement,
    pub(super) put_after: Statement,
    pub(super) objects: ObjectStatements,
    /// Ascending and descending, each without and with an end.
    pub(super) scans: [Statement; 4],
}

fn scan(to: &str, order: &str) -> String {
    let limit = if to.is_empty() { "$3" } else { "$4" };
    format!(
        "select key, value from stored_records where space = $1 and key >= $2 {to} \
         order by space {order}, key {order} limit {limit}"
    )
}

/// A connection that is ready for transactions.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) statements: Statements,
    /// What is added to a transaction number to make a sequence of the journal.
    pub(super) journal_base: i64,
    pub(super) counts: Arc<Counts>,
    driver: Driver,
    limit: Duration,
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
    for at in (0..servers.len()).map(|i| (start + i) % servers.len()) {
        match open(&servers[at]) {
            Ok(opened) => {
                shared.good_server.store(at, SeqCst);
                return Ok(opened);
            }
            Err(Trouble::Lost(why)) => last = Trouble::Lost(format!("{}: {why}", servers[at].host)),
            Err(trouble) => last = trouble,
        }
    }
    Err(last)
}

/// Whether the server takes no writes. It also learns to notice soon that this machine is gone, since the
/// locks of a connection keep other versions away, and by itself it looks after two hours.
const GREETING: &str = "select current_setting('transaction_read_only') = 'on', \
    set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false), \
    set_config('tcp_keepalives_count', '3', false)";

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
        let row = client.query_one(GREETING, &[]).await?;
        if row.get::<_, bool>(0) {
            return Err(Trouble::Lost("it does not take writes".to_owned()));
        }
        Ok((client, Driver { task, warnings }))
    })
    .await
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
        let (client, driver) = connect(shared, server).await?;
        let limit_ms = limit.as_millis();
        let set_up = format!(
            "set search_path = \"{}\"; set statement_timeout = {limit_ms}; set lock_timeout = {limit_ms}; \
             set idle_in_transaction_session_timeout = {}; set plan_cache_mode = force_generic_plan; \
             set enable_seqscan = off; set enable_bitmapscan = off; set enable_hashjoin = off; \
             set enable_mergejoin = off; set jit = off; \
             select set_config('synchronous_commit', 'on', false) \
             where current_setting('synchronous_commit') in ('off', 'local')",
            shared.address.schema,
            limit_ms * 2,
        );
        within(CONNECT_LIMIT, async {
            client.batch_execute(&set_up).await?;
            claim(&client, &shared.address.schema, claimed).await?;
            let base = client.query_one("select journal_base from stored_form", &[]).await?;
            let scans = [("", "asc"), ("and key < $3", "asc"), ("", "desc"), ("and key < $3", "desc")];
            let scans = scans.map(|(to, order)| scan(to, order));
            let of_journal =
                [JOURNAL, JOURNAL_PUT, JOURNAL_CHANGED, JOURNAL_STANDING, JOURNAL_END, LAST_PUT, PUT_AFTER];
            let texts = [GET, GET_ALL, SCAN_ALL, LASTS, PUT, WRITE]
                .into_iter()
                .chain(of_journal)
                .chain(scans.iter().map(String::as_str));
            let prepared = try_join_all(texts.map(|text| client.prepare(text)));
            let (prepared, objects) = try_join(prepared, ObjectStatements::prepare(&client)).await?;
            let missing = |_| Trouble::Defect("a statement is missing".to_owned());
            let all = <[Statement; 17]>::try_from(prepared).map_err(missing)?;
            let [get, get_all, scan_all, lasts, put, write, rest @ ..] = all;
            let [journal, journal_put, journal_changed, journal_standing, rest @ ..] = rest;
            let [journal_end, last_put, put_after, scans @ ..] = rest;
            let statements = Statements {
                get,
                get_all,
                scan_all,
                lasts,
                put,
                write,
                journal,
                journal_put,
                journal_changed,
                journal_standing,
                journal_end,
                last_put,
                put_after,
                objects,
                scans,
            };
            let counts = shared.counts.clone();
            let limit = limit + GRACE;
            Ok(Self { client, statements, journal_base: base.get(0), counts, driver, limit })
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
