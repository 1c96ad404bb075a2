//! What holds the end of the journal back. A commit is final only when no older transaction of the server is
//! under way, in whichever database of it: until then it is not sealed, and no event or backup has it.

use super::address::Address;
use super::session::connect;
use super::shared::Shared;
use super::statements::PLACES;
use super::trouble::Trouble;
use super::{OpenError, Options};
use tokio_postgres::Client;

/// What holds the end of the journal back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// Since so many seconds something waits.
    pub seconds: i64,
    /// The transaction, in words.
    pub by: String,
    /// What ends it, as SQL.
    pub end: String,
}

/// Looks; nothing where all commits are final, or where there is no store.
pub async fn look_at_database(address: &Address) -> Result<Option<HeldBack>, OpenError> {
    let shared = Shared::new(&Options::new(address.clone(), &[]))?;
    for server in &shared.servers {
        match connect(&shared, server).await {
            Ok((client, _driver)) => {
                return held_back(&client, &address.schema)
                    .await
                    .map_err(|trouble| unreachable(&shared, &trouble));
            }
            Err(trouble) => shared.note_silently(&trouble),
        }
    }
    Err(shared.unreachable())
}

fn unreachable(shared: &Shared, trouble: &Trouble) -> OpenError {
    shared.note_silently(trouble);
    shared.unreachable()
}

async fn held_back(client: &Client, schema: &str) -> Result<Option<HeldBack>, Trouble> {
    client.batch_execute("set statement_timeout = '5s'; set lock_timeout = '5s'").await?;
    let there = "select 1 from pg_tables where schemaname = $1 and tablename = 'stored_form'";
    if client.query_opt(there, &[&schema]).await?.is_none() {
        return Ok(None);
    }
    // The oldest number that is under way, what has waited for it, and who has it. Numbers of processes are
    // shown without the upper half of theirs.
    let sql = format!(
        "with oldest as (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as number),
        waits as (
            select time as since from \"{schema}\".stored_journal
            where sequence >= {PLACES} * (select number from oldest)
                + (select journal_start from \"{schema}\".stored_form)
            order by sequence limit 1
        )
        select greatest(extract(epoch from clock_timestamp() - waits.since), 0)::bigint,
            a.pid, a.usename::text, a.datname::text, a.application_name, p.gid, p.database::text
        from oldest cross join waits
        left join pg_stat_activity a on a.backend_xid::text::bigint = oldest.number & 4294967295
        left join pg_prepared_xacts p on p.transaction::text::bigint = oldest.number & 4294967295
        where waits.since is not null"
    );
    let Some(row) = client.query_opt(&sql, &[]).await? else { return Ok(None) };
    let text = |at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
    let (by, end) = match (row.get::<_, Option<i32>>(1), row.get::<_, Option<String>>(5)) {
        (Some(pid), _) => {
            let program = Some(text(4)).filter(|name| !name.is_empty());
            let program = program.map_or_else(String::new, |name| format!(", {name}"));
            let by = format!("a transaction of {} in database {} (process {pid}{program})", text(2), text(3));
            (by, format!("select pg_terminate_backend({pid})"))
        }
        (None, Some(name)) => {
            let by = format!("the prepared transaction {name} in database {}", text(6));
            (by, format!("rollback prepared '{}'", name.replace('\'', "''")))
        }
        // It has just ended.
        (None, None) => return Ok(None),
    };
    Ok(Some(HeldBack { seconds: row.get(0), by, end }))
}
