//! The tables, their version, and the views for direct queries of the database.

use super::claim::{wait_alone, wait_version};
use super::session;
use super::shared::Shared;
use super::statements::{FORM, PLACES};
use super::trouble::Trouble;
use super::{OpenError, Options};
use crate::store::engine::Space;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

/// The oldest server that has what the statements use.
const SERVER_VERSION_MIN: i32 = 130_000;
const PAUSE: Duration = Duration::from_millis(250);
/// How long all of a set-up may take.
const LIMIT: Duration = Duration::from_secs(60);

/// `spread` is a hash of space and key. Single records are found by it, so that what a transaction looked
/// at is scattered over the pages of an index: PostgreSQL notices conflicts by whole pages, and keys that
/// are made one after the other would all meet on the last page. Ranges are read by `(space, key)`.
/// The values are bytes and not `jsonb`, which keeps neither the order of members nor their spelling.
/// The hash of an image compares by its bytes, whatever the language of the database; images are compressed
/// already.
const TABLES: &str = "
create table stored_form (
    one boolean primary key default true check (one),
    version integer not null,
    journal_start bigint not null default 0
);
create table stored_records (
    spread bigint not null,
    space smallint not null,
    key bytea not null,
    value bytea not null,
    constraint stored_records_by_key primary key (space, key)
) with (fillfactor = 85);
create index stored_records_by_spread on stored_records (spread);
create table stored_journal (
    sequence bigint primary key,
    time timestamptz not null,
    actor text not null,
    request text not null,
    spaces smallint[] not null,
    keys bytea[] not null,
    new_values bytea[] not null
);
create view stored_changes as
    select j.sequence, j.time, j.actor, j.request, c.space, c.key, c.value is null as removed,
        case when c.value = '' then null
            when get_byte(c.value, 0) in (91, 123) then convert_from(c.value, 'UTF8')::jsonb end as record
    from stored_journal j, unnest(j.spaces, j.keys, j.new_values) as c(space, key, value);
create table stored_objects (
    hash text collate \"C\" primary key,
    bytes bytea not null,
    kept_on timestamptz not null default now()
);
alter table stored_objects alter column bytes set storage external;
";

/// Waits for a server, then sets up what is missing.
pub(super) fn set_up(shared: &Shared, options: &Options, until: Instant) -> Result<(), OpenError> {
    let refused = |why: String| OpenError::Refused(why);
    let runtime = session::runtime().map_err(|e| refused(e.to_string()))?;
    loop {
        match connect(&runtime, shared) {
            Ok(client) => {
                let worked = async {
                    let schema = &shared.address.schema;
                    client.batch_execute(LIMITS).await.map_err(not_set_up)?;
                    wait_version(&client, schema).await?;
                    prepare(&client, schema, options).await?;
                    if options.alone { wait_alone(&client, schema).await } else { Ok(()) }
                };
                let late =
                    |_| Err(refused(format!("the server did not answer within {} s", LIMIT.as_secs())));
                let worked = async { tokio::time::timeout(LIMIT, worked).await.unwrap_or_else(late) };
                return runtime.block_on(worked);
            }
            Err(trouble) => {
                shared.note(&trouble);
                if trouble.is_hopeless() || Instant::now() > until {
                    return Err(shared.unreachable());
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn connect(runtime: &Runtime, shared: &Shared) -> Result<Client, Trouble> {
    session::first(shared, |server| {
        runtime.block_on(session::connect(shared, server)).map(|(client, _)| client)
    })
}

/// A machine that freezes in the middle of a set-up gives way, and those that wait for it say so.
const LIMITS: &str = "set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '10s'";

fn not_set_up(error: Error) -> OpenError {
    if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
        let why = "another daemon is setting it up, or a query holds its tables, and did not end within \
                   10 s: try again";
        return OpenError::Refused(why.to_owned());
    }
    let text = error.as_db_error().map(|e| e.message().to_owned());
    OpenError::Refused(text.unwrap_or_else(|| error.to_string()))
}

/// The number that a query returns.
async fn number(client: &Client, sql: &str) -> Result<Option<i32>, OpenError> {
    let row = client.query_opt(sql, &[]).await.map_err(not_set_up)?;
    Ok(row.map(|row| row.get(0)))
}

async fn prepare(client: &Client, schema: &str, options: &Options) -> Result<(), OpenError> {
    let run = async |sql: &str| client.batch_execute(sql).await.map_err(not_set_up);
    let server = number(client, "select current_setting('server_version_num')::integer").await?;
    if server.is_some_and(|server| server < SERVER_VERSION_MIN) {
        return Err(OpenError::Refused("it needs PostgreSQL 13 or newer".to_owned()));
    }
    run(&format!("begin; select pg_advisory_xact_lock(hashtextextended('mfa {schema}', 0))")).await?;
    // By its name, as the views: the server's own list of tables grows with all that the database holds.
    let has_tables = format!("select 1 where to_regclass('\"{schema}\".stored_form') is not null");
    if !options.makes && number(client, &has_tables).await?.is_none() {
        run("rollback").await?;
        return Err(OpenError::Missing);
    }
    let there = format!("select 1 from pg_namespace where nspname = '{schema}'");
    if number(client, &there).await?.is_none() {
        run(&format!("create schema \"{schema}\"")).await?;
    }
    run(&format!("set local search_path = \"{schema}\"")).await?;
    if number(client, &has_tables).await?.is_none() {
        run(TABLES).await?;
        run(&format!("insert into stored_form (version) values ({FORM})")).await?;
    }
    let found = number(client, "select version from stored_form").await?.unwrap_or(0);
    if found > FORM {
        return Err(OpenError::TooNew { found, known: FORM });
    }
    if found < FORM {
        // A daemon of the same version that knows only the earlier form would go on as before.
        wait_alone(client, schema).await?;
        // By the other name, no daemon that has lost its connection meanwhile comes in again.
        run("alter table stored_form rename column journal_base to journal_start").await?;
        run(&format!("update stored_form set version = {FORM}")).await?;
    }
    run(&rebase()).await?;
    run(&views(client, schema, options.spaces).await.map_err(not_set_up)?).await?;
    run("commit").await?;
    if let Err(error) = client.batch_execute(&vacuum_sooner(schema)).await {
        // The store works without it, and another start tries again.
        tracing::debug!(%error, "the database cleans up as it does for any table");
    }
    Ok(())
}

/// What is removed leaves its row behind until the database cleans up, and every change leaves one: a record
/// of the trail waits in the table until it is sealed. By default the database waits until a fifth of the
/// table is such rows, which is gigabytes among millions of records, and leaves them in the indexes where few
/// pages have them. Whoever has chosen otherwise, for the table or the server, is left alone.
fn vacuum_sooner(schema: &str) -> String {
    format!(
        "do $$ begin
            if not exists (select 1 from pg_class, unnest(reloptions) as chosen
                where oid = '\"{schema}\".stored_records'::regclass and chosen like '%vacuum%')
                and current_setting('autovacuum_vacuum_scale_factor')::float8 > 0.02
            then
                set local lock_timeout = '1s';
                alter table \"{schema}\".stored_records set (
                    autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
            end if;
        end $$"
    )
}

/// Sequences of the journal follow from transaction numbers of the server. After the tables were carried to
/// another server, its numbers may be lower: then they count from the last sequence on. What running daemons
/// commit meanwhile has lower numbers than the end of the snapshot that sees it, whatever the number of this
/// transaction; so their base is never moved.
fn rebase() -> String {
    format!(
        "update stored_form set journal_start = (select max(sequence) from stored_journal)
        where (select max(sequence) from stored_journal)
            >= journal_start + {PLACES} * pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    )
}

/// The statements for the views that are missing.
async fn views(client: &Client, schema: &str, spaces: &[Space]) -> Result<String, Error> {
    // The server has an index of names, so what the database holds beside the store costs nothing.
    let names: Vec<&str> = spaces.iter().map(|space| space.name).collect();
    let there = format!(
        "select relname::text from pg_class where relkind = 'v'
        and relname = any($1::text[]::name[]) and relnamespace = '\"{schema}\"'::regnamespace"
    );
    let there: Vec<String> = client.query(&there, &[&names]).await?.iter().map(|row| row.get(0)).collect();
    // An index, which is named after what it is an index by, has no records to show.
    let shown = spaces.iter().filter(|space| !space.name.contains("_by_"));
    let missing = shown.filter(|space| !there.iter().any(|name| name == space.name));
    let view = |space: &Space| {
        format!(
            "create view \"{}\" as select key, case when value = '' then null \
             when get_byte(value, 0) in (91, 123) then convert_from(value, 'UTF8')::jsonb end as record \
             from stored_records where space = {};",
            space.name, space.id
        )
    };
    Ok(missing.map(view).collect())
}
