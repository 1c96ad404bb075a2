//! The statements of a connection: records and the journal.

use super::object_statements::ObjectStatements;
use super::trouble::Trouble;
use futures_util::future::{try_join, try_join_all};
use tokio_postgres::{Client, Statement};

macro_rules! places {
    () => {
        64
    };
}

/// So many commits of one transaction have a place in the journal.
pub(super) const PLACES: usize = places!();

/// Form of the tables. In form 1 a transaction had one place in the journal, its number; now it has several,
/// all behind those of before.
pub(super) const FORM: i32 = 2;

/// The place of the first commit of a transaction, by its number, without the base of the journal.
macro_rules! place {
    ($number:literal) => {
        concat!(places!(), " * ", $number, "::text::bigint")
    };
}

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
/// Whole commits up to so many, and no further one behind four megabytes as they are stored, where they are
/// compressed: those of an import may have megabytes each.
const JOURNAL: &str = concat!(
    "select sequence, time, actor, request, spaces, keys, new_values from (\
        select *, sum(size) over (order by sequence) - size as before from (\
            select *, pg_column_size(keys) + pg_column_size(new_values) as size from stored_journal \
            where sequence > $1 and sequence < $2 + ",
    place!("pg_snapshot_xmin(pg_current_snapshot())"),
    " order by sequence limit $3) as page) as sized where before < 4194304 order by sequence"
);
/// The keys of a space that commits have put, and up to where this goes if it is not to the end. What else
/// they changed, which for a batch is a great deal, stays in the database; and of commits that changed
/// nothing of the space it goes through so many that it ends in time.
const JOURNAL_PUT: &str = concat!(
    "select w.upto, r.sequence, r.spaces, r.keys \
    from (select (select sequence from stored_journal where sequence > $1 \
        order by sequence offset 20000 limit 1) as upto) w \
    left join lateral (select j.sequence, c.spaces, c.keys from stored_journal j \
        cross join lateral (select array_agg(u.space order by u.place), array_agg(u.key order by u.place) \
            from unnest(j.spaces, j.keys, j.new_values) with ordinality as u(space, key, value, place) \
            where u.space = any($4::smallint[]) and u.value is not null \
        ) as c(spaces, keys) \
        where j.sequence > $1 and j.sequence <= coalesce(w.upto, 9223372036854775807) \
            and j.sequence < $2 + ",
    place!("pg_snapshot_xmin(pg_current_snapshot())"),
    " and j.spaces && $4 order by j.sequence limit $3) r on true order by r.sequence"
);
/// The keys of some spaces that were changed by the commits of some transactions, and by those behind another
/// place: these up to where it ends in time, as above.
const JOURNAL_CHANGED: &str = concat!(
    "select w.upto, r.sequence, c.spaces, c.keys \
    from (select (select sequence from stored_journal where sequence > $1 \
        order by sequence offset 20000 limit 1) as upto) w \
    left join lateral (\
        (select j.sequence, j.spaces, j.keys from unnest($2::bigint[]) as t(first) \
            join stored_journal j on j.sequence between t.first and least(t.first - 1 + ",
    places!(),
    ", $1) and j.spaces && $4::smallint[]) \
        union all \
        (select j.sequence, j.spaces, j.keys from stored_journal j \
            where j.sequence > $1 and j.sequence <= coalesce(w.upto, 9223372036854775807) and j.spaces && $4 \
            order by j.sequence limit $3)) r on true \
    left join lateral (select array_agg(u.space), array_agg(u.key) \
        from unnest(r.spaces, r.keys) as u(space, key) where u.space = any($4)) as c(spaces, keys) on true \
    order by r.sequence"
);
/// The last visible commit, and the numbers of all transactions that are under way.
const JOURNAL_STANDING: &str = "select l.sequence, l.time, l.request, \
    array(select number::text::bigint from pg_snapshot_xip(pg_current_snapshot()) as number) \
    from (select) one left join lateral \
    (select sequence, time, request from stored_journal order by sequence desc limit 1) l on true";
/// The first of some commits that the journal lacks.
pub(super) const LACKING: &str = "select k.time, k.request \
    from unnest($1::bigint[], $2::timestamptz[], $3::text[]) as k(sequence, time, request) \
    where not exists (select 1 from stored_journal j \
        where j.sequence = k.sequence and j.time = k.time and j.request = k.request) \
    order by k.time limit 1";
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
const JOURNAL_END: &str = concat!(
    "select coalesce(max(sequence), 0) from stored_journal where sequence < $1 + ",
    place!("pg_snapshot_xmin(pg_current_snapshot())")
);
/// Everything that a single commit writes which removes nothing. To look for what was removed cost 5 % of the
/// creates.
const PUT: &str = concat!(
    "
with put as (
    insert into stored_records (spread, space, key, value)
    select * from unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bytea[])
    on conflict (space, key) do update set value = excluded.value
)
insert into stored_journal (sequence, time, actor, request, spaces, keys, new_values)
values ($5::bigint + ",
    place!("pg_current_xact_id()"),
    ", $6, $7, $8, $2, $3, $4) returning sequence"
);
/// Everything that any commits write. `part` says whose change it is, from 1 on, and `fate` what becomes of
/// it (`send.rs`). A removal of what is not there conflicts with no one who puts it meanwhile, but could
/// come after that in the journal: it is left out. Two transactions that write the same records lock them in
/// the same order.
const WRITE: &str = concat!(
    "
with c as (
    select * from unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bytea[],
        $5::smallint[], $6::smallint[]) with ordinality as c(spread, space, key, value, part, fate, place)
), gone as (
    delete from stored_records r using c where c.value is null and c.fate < 2
    and r.spread = c.spread and r.space + 0::smallint = c.space and r.key || ''::bytea = c.key
    returning c.place
), there as (
    select c.place from c join stored_records r on c.fate = 3
    and r.spread = c.spread and r.space + 0::smallint = c.space and r.key || ''::bytea = c.key
), put as (
    insert into stored_records (spread, space, key, value)
    select c.spread, c.space, c.key, c.value from c where c.value is not null and c.fate = 0
    order by c.space, c.key
    on conflict (space, key) do update set value = excluded.value
), done as (
    select part, array_agg(space order by place) as spaces, array_agg(key order by place) as keys,
        array_agg(value order by place) as new_values
    from c where value is not null or fate in (1, 2)
    or place in (select place from gone union all select place from there) group by part
)
insert into stored_journal (sequence, time, actor, request, spaces, keys, new_values)
select $7::bigint + ",
    place!("pg_current_xact_id()"),
    " + p.part - 1, p.time, p.actor, p.request,
    coalesce(spaces, '{}'), coalesce(keys, '{}'), coalesce(new_values, '{}')
from unnest($8::timestamptz[], $9::text[], $10::text[]) with ordinality as p(time, actor, request, part)
left join done using (part) returning sequence"
);

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

impl Statements {
    /// Prepares all of them.
    pub(super) async fn prepare(client: &Client) -> Result<Self, Trouble> {
        let scans = [("", "asc"), ("and key < $3", "asc"), ("", "desc"), ("and key < $3", "desc")];
        let scans = scans.map(|(to, order)| scan(to, order));
        let of_journal =
            [JOURNAL, JOURNAL_PUT, JOURNAL_CHANGED, JOURNAL_STANDING, JOURNAL_END, LAST_PUT, PUT_AFTER];
        let texts = [GET, GET_ALL, SCAN_ALL, LASTS, PUT, WRITE]
            .into_iter()
            .chain(of_journal)
            .chain(scans.iter().map(String::as_str));
        let prepared = try_join_all(texts.map(|text| client.prepare(text)));
        let (prepared, objects) = try_join(prepared, ObjectStatements::prepare(client)).await?;
        let missing = |_| Trouble::Defect("a statement is missing".to_owned());
        let all = <[Statement; 17]>::try_from(prepared).map_err(missing)?;
        let [get, get_all, scan_all, lasts, put, write, rest @ ..] = all;
        let [journal, journal_put, journal_changed, journal_standing, rest @ ..] = rest;
        let [journal_end, last_put, put_after, scans @ ..] = rest;
        Ok(Self {
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
        })
    }
}
