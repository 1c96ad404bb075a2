//! The codes of failures that the command line finds itself; those of the daemon are in `mfa_shared::fault`.

use mfa_shared::fault::exit;

/// A kind of failure.
#[derive(Debug)]
pub struct Kind {
    /// Stable slug.
    pub code: &'static str,
    /// How the process ends, unless the failure says otherwise.
    pub exit: i32,
    /// What is the case, in a few words.
    pub title: &'static str,
    /// The next step, where the message does not name a better one.
    pub hint: &'static str,
}

macro_rules! kinds {
    ($($name:ident: $code:literal $exit:ident $title:literal $hint:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: &Kind = &Kind { code: $code, exit: exit::$exit, title: $title, hint: $hint };
        )*
        /// The whole table.
        pub const TABLE: &[&Kind] = &[$($name),*];
    };
}

kinds! {
    FAILED: "failed" FAILURE "Something failed on this machine"
        "the message says what: a file, a program, the output";
    UNEXPECTED: "unexpected_answer" FAILURE "An answer that no daemon gives"
        "check the address, and what is between here and the daemon: mfa doctor";
    REFUSED: "refused" FAILURE "Refused, in an answer without a body"
        "ask with GET, whose answer says why; the exit code is that of the status";
    DAEMON_FAILED: "daemon_failed" FAILURE "The daemon cannot go on"
        "its log says why: mfa daemon logs";
    DAEMON_ENDED: "daemon_ended" FAILURE "The daemon ended while it was started"
        "its log says why: mfa daemon logs; the exit code is its own";
    DAEMON_NOT_READY: "daemon_not_ready" FAILURE "The daemon is not ready yet"
        "follow its log: mfa daemon logs --follow";
    CANNOT_LISTEN: "cannot_listen" FAILURE "The address cannot be listened on"
        "choose another address: mfa daemon start --listen ADDRESS";
    STORE: "store" FAILURE "The store cannot be opened"
        "the message says why; what is damaged: mfa check store";
    CHECK_FAILED: "check_failed" FAILURE "A check has findings" "each finding says what to do";
    UNHEALTHY: "unhealthy" FAILURE "A check of mfa doctor failed"
        "its hint says what to do: mfa doctor";
    BACKUP: "backup" FAILURE "The backup cannot be read" "the message says why";
    BACKUP_LOCKED: "backup_locked" FAILURE "The backup is encrypted, and not for this key"
        "give the key or passphrase that it was made for: mfa help backup";
    BACKUP_DAMAGED: "backup_damaged" FAILURE "The backup is damaged"
        "take another one: mfa backup list DIR";
    CERTIFICATE: "certificate" FAILURE "The certificate cannot be read"
        "give a file of certificates in PEM form";
    LOGINS_LOCKED: "logins_locked" FAILURE "Another command keeps the logins locked"
        "try again when it has ended";
    LIST_BROKEN: "list_broken" FAILURE "A list broke off" "repeat the command";
    DOWNLOAD_BROKEN: "download_broken" FAILURE "A file broke off"
        "repeat the command; the log of the daemon says why";
    IMAGE_BROKEN: "image_broken" FAILURE "An image broke off" "repeat the command";
    AUDIT_EMPTY: "audit_empty" FAILURE "There is no audit record to verify"
        "widen what is asked for";
    AUDIT_BROKEN: "audit_broken" FAILURE "The chain of audit records is broken"
        "keep the store as it is, and compare it with a backup";
    DECLINED: "declined" FAILURE "Not confirmed" "nothing was done; answer y, or give --yes";
    USAGE: "usage" USAGE "The command was called wrongly" "read its help: add --help";
    INPUT_NEEDED: "input_needed" USAGE "An answer is needed, and nobody can be asked"
        "give the flag that the message names";
    NO_SUCH_NAME: "not_found" NOT_FOUND "No error code, object or field of that name"
        "list them: mfa explain error, mfa explain objects";
    NO_FILE: "no_file" NOT_FOUND "No such file" "check its name";
    NO_LOG: "no_log" NOT_FOUND "No log here"
        "a daemon that runs as a service has its log there: journalctl -u mfa";
    PROFILE_NOT_FOUND: "profile_not_found" NOT_FOUND "No such profile"
        "list them: mfa profiles list";
    PROFILE_EXISTS: "profile_exists" CONFLICT "A profile of that name exists"
        "list them: mfa profiles list";
    FILE_EXISTS: "file_exists" CONFLICT "The file exists, and is not replaced" "name another file";
    FOLDER_EXISTS: "folder_exists" CONFLICT "The folder exists, and is not empty"
        "name another folder";
    CERTIFICATE_EXISTS: "exists" CONFLICT "There is a certificate already"
        "replace it: mfa tls generate --renew";
    ANOTHER_CERTIFICATE: "another_certificate" CONFLICT "The daemon has another certificate than was named"
        "do not send passwords there; ask the people who run the daemon";
    ANOTHER_STORE: "serves_another_store" CONFLICT "The daemon there serves another store"
        "name its store, or give another address";
    IMPORT_UNDER_WAY: "import_under_way" CONFLICT "Another import writes the same report"
        "wait until it has ended";
    TELLER_OPEN: "teller_open" CONFLICT "A teller is still open" "close it: mfa teller close CODE";
    ENTRIES_DIFFER: "entries_differ" INVALID "The two entries of a password differ"
        "enter it again";
    INVALID_FILES: "invalid_files" INVALID "Files have errors"
        "mend what is listed; try it first: mfa apply --dry-run";
    CIRCULAR_REFERENCES: "circular_references" INVALID "Records refer to each other in a circle"
        "take one of the references away, apply, then set it";
    WAIT_TIMEOUT: "wait_timeout" WAIT_TIMEOUT "What was waited for did not come"
        "wait longer: --timeout SECONDS";
    BULK_FAILURES: "bulk_failures" BULK_FAILURES "Some parts of many were refused"
        "mend them, then repeat the command: what was done is not done again";
    DAY_NOT_ENDED: "day_not_ended" BULK_FAILURES "Some tellers or days could not be closed"
        "the list says why";
    INVALID_ROW: "invalid_row" BULK_FAILURES "A row of an import cannot be read"
        "mend the row, then import again";
    TAKEN_BACK: "taken_back" BULK_FAILURES "A row that was not made because another one was refused"
        "mend the refused row, then import again";
    UNREACHABLE: "daemon_unreachable" UNREACHABLE "No answer from the daemon"
        "start it, or correct the address: mfa daemon status";
    STORE_LOCKED: "data_dir_locked" LOCKED "Another process has the store"
        "stop the daemon that uses it: mfa daemon stop";
    INCOMPATIBLE: "incompatible" INCOMPATIBLE "Client and daemon do not go together"
        "use a client of the version of the daemon: mfa version";
    DRY_RUN_IGNORED: "dry_run_ignored" INCOMPATIBLE "The daemon knows no dry run, and has made the change"
        "look at what it did; use a client of its version";
    EXISTING_ONLY_IGNORED: "existing_only_ignored" INCOMPATIBLE "The daemon does not look for missing records"
        "look for them; use a client of its version";
    STALE: "stale" CHANGES_FOUND "Generated files are not those of this program"
        "write them: mfa docs --out .";
    INTERRUPTED: "interrupted" INTERRUPTED "Ended by Ctrl-C or a signal"
        "129 or 143 where it was another signal: mfa help exit-codes";
}
