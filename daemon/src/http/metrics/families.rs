//! Every metric that the daemon shows. Names are for good: dashboards and rules are written on them.

use super::page::{Family, Kind};

macro_rules! families {
    ($($constant:ident $kind:ident $name:literal $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Family = Family { name: $name, kind: Kind::$kind, help: $help };
        )*
        /// All of them.
        pub const ALL: &[Family] = &[$($constant),*];
    };
}

families! {
    BUILD Gauge "mfa_build_info" "Version of the daemon and kind of its store.";

    REQUESTS Counter "mfa_http_requests_total"
        "Requests by operation and class of status; a client that went away before the answer counts as 4xx.";
    REQUEST_DURATION Histogram "mfa_http_request_duration_seconds"
        "Time from the head of a request to its answer, and of a stream to its end, by operation.";
    REQUESTS_RUNNING Gauge "mfa_http_requests_running" "Requests that are being answered.";
    REQUESTS_LIMITED Counter "mfa_http_requests_limited_total"
        "Requests that were refused with 429, because their token or address had sent too many, by bucket.";
    REQUESTS_OVERLOADED Counter "mfa_http_requests_overloaded_total"
        "Requests that were refused with 503 at once, because too many waited before them, by class.";
    CONNECTIONS Gauge "mfa_http_connections" "Open connections of clients.";
    CONNECTIONS_MAX Gauge "mfa_http_connections_max" "Connections that are served at once.";
    CONNECTIONS_ACCEPTED Counter "mfa_http_connections_accepted_total" "Connections that were accepted.";
    CONNECTIONS_REFUSED Counter "mfa_http_connections_refused_total"
        "Connections that were closed at once: of an address that had as many as it may have, or when all \
         were taken but those for programs of this machine and for looks at the daemon.";

    LOGINS Counter "mfa_logins_total"
        "Logins by what they showed and how they ended; second_factor: the code was asked for.";
    LOCKS Counter "mfa_locks_total" "Locks that began after too many wrong passwords or codes.";
    WEBHOOKS Counter "mfa_webhook_deliveries_total"
        "Deliveries of webhooks that this daemon tried, by outcome.";
    WEBHOOK_LAG Gauge "mfa_webhook_lag_records"
        "Records behind the stored position of the last active webhook; 5000 of them may be passed over.";
    LISTENERS Gauge "mfa_event_listeners" "Clients to whom this daemon streams events.";
    LISTENER_LAG Gauge "mfa_event_listener_lag_records"
        "Records of the audit trail that the listener furthest behind was not sent.";
    AUDIT_SEQUENCE Gauge "mfa_audit_sequence" "Number of the last sealed record of the audit trail.";
    SESSIONS Gauge "mfa_sessions"
        "Sessions of users in the store that have not ended, counted up to 10000 of them.";
    TELLERS Gauge "mfa_tellers" "Tellers in the store by state.";
    BACKUP_MADE Gauge "mfa_backup_last_success_timestamp_seconds"
        "Moment of the last backup that a daemon made by itself, since 1970; missing before the first.";
    BACKUP_BYTES Gauge "mfa_backup_last_size_bytes" "Size of that backup; missing before the first.";
    BACKUP_MISSED Gauge "mfa_backup_failed" "Whether a backup failed since then.";

    STORE_READABLE Gauge "mfa_store_readable" "Whether the store answered a read in time.";
    STORE_WRITABLE Gauge "mfa_store_writable" "Whether the store takes changes, as far as is known.";
    STORE_COMMITS Histogram "mfa_store_commit_duration_seconds"
        "Time to make a group of transactions durable; on PostgreSQL, to write and commit one.";
    STORE_WAITING Gauge "mfa_store_queue_length"
        "Changes that wait for their commit; on PostgreSQL, transactions that wait for a connection.";

    GROUPS Histogram "mfa_store_group_size" "Transactions that the embedded store made durable together.";
    JOURNAL_BYTES Gauge "mfa_store_journal_bytes" "Size of the journal of the embedded store.";
    INDEX_BYTES Gauge "mfa_store_index_bytes" "Size of the index of the embedded store on the disk.";
    JOURNAL_GROWN_BYTES Gauge "mfa_store_journal_grown_bytes"
        "Growth of the journal of the embedded store since it last made a checkpoint or could not.";
    JOURNAL_GROWTH_MAX_BYTES Gauge "mfa_store_journal_growth_max_bytes"
        "Growth of the journal at which the embedded store makes the next checkpoint.";
    CHECKPOINT_AGE Gauge "mfa_store_checkpoint_age_seconds"
        "Age of the last checkpoint of the embedded store; missing before the first.";

    ROUND_TRIPS Counter "mfa_store_round_trips_total" "Messages to PostgreSQL that were waited for.";
    RETRIES Counter "mfa_store_retries_total"
        "Transactions that were retried on PostgreSQL after a conflict with another one.";
    STORE_CONNECTIONS Gauge "mfa_store_connections" "Connections to PostgreSQL that can be used.";

    CPU Counter "process_cpu_seconds_total" "Time that the daemon has used processors.";
    STARTED Gauge "process_start_time_seconds" "When the daemon started, since 1970.";
    RESIDENT Gauge "process_resident_memory_bytes" "Memory that the daemon has.";
    VIRTUAL Gauge "process_virtual_memory_bytes" "Addresses that the daemon has.";
    THREADS Gauge "process_threads" "Threads of the daemon.";
    FILES Gauge "process_open_fds" "Open files and connections of the daemon.";
    FILES_MAX Gauge "process_max_fds" "Most files and connections that the daemon may have open.";
}

/// Metrics of the embedded store alone.
pub const OF_EMBEDDED: &[Family] =
    &[GROUPS, JOURNAL_BYTES, INDEX_BYTES, JOURNAL_GROWN_BYTES, JOURNAL_GROWTH_MAX_BYTES, CHECKPOINT_AGE];
/// Metrics of PostgreSQL alone.
pub const OF_POSTGRES: &[Family] = &[ROUND_TRIPS, RETRIES, STORE_CONNECTIONS];
