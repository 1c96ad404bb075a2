//! Who else is connected to the store. PostgreSQL lets every role see the connections of that role, and each
//! connection bears a name: that of the program, the store, and the process.

use super::address::Address;
use super::lane::Shared;
use super::session;
use super::trouble::Trouble;
use mfa_shared::fault::Fault;
use sha2::{Digest, Sha256};

/// PostgreSQL cuts names of connections after 63 characters; this leaves room for store and process.
const PROGRAM_CHARACTERS_MAX: usize = 40;

/// The name of the connections of this process.
#[derive(Debug, Clone)]
pub(super) struct Name {
    program: String,
    store: String,
    process: String,
}

impl Name {
    /// A name for one process, that opens the store at an address.
    pub(super) fn new(address: &Address) -> Self {
        let program = address.config.get_application_name().unwrap_or("mfa");
        let hash = Sha256::digest(address.schema.as_bytes());
        Self {
            program: program.chars().take(PROGRAM_CHARACTERS_MAX).collect(),
            store: hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect(),
            process: crate::random::hex::<4>(),
        }
    }

    /// As the server shows it.
    pub(super) fn shown(&self) -> String {
        format!("{} {}/{}", self.program, self.store, self.process)
    }
}

const COUNT: &str = "select count(*) from pg_stat_activity where datname = current_database() \
    and application_name like '% ' || $1 || '/%' and application_name not like '%/' || $2";

/// How many connections other processes have to the store. It blocks.
pub(super) fn count(shared: &Shared) -> Result<u64, Fault> {
    let counted = session::runtime().map_err(|error| Trouble::Lost(error.to_string())).and_then(|runtime| {
        session::first(shared, |server| {
            runtime.block_on(async {
                let (client, _driver) = session::connect(shared, server).await?;
                let row = client.query_one(COUNT, &[&shared.name.store, &shared.name.process]).await?;
                Ok(row.get::<_, i64>(0).unsigned_abs())
            })
        })
    });
    counted.map_err(|trouble| trouble.fault())
}
