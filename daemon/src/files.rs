//! Open files of the process: as many as the system allows, some of them kept for the store.

use crate::config::{CONNECTIONS_SPARE, Config};
use crate::store::postgres::Options;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;

/// Files that the store, its rebuilding, gateways and the listener need beside connections, and those of
/// spare connections.
const RESERVE: usize = 40 + CONNECTIONS_SPARE;
/// Files of a connection to PostgreSQL: its socket, and what its thread waits with.
const OF_STORE_CONNECTION: usize = 4;
/// Connections that are served however few files there may be.
const CONNECTIONS_MIN: usize = 4;

/// Raises the limit of open files as far as the system lets it, and gives it; none where there is no limit.
pub fn raise() -> Option<u64> {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_some() && now.current != now.maximum {
        // Where it is refused the lower limit holds.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
    }
    getrlimit(Resource::Nofile).current
}

/// The connections that can be served under a limit of open files.
pub fn connections(config: &Config, limit: Option<u64>) -> usize {
    let Some(limit) = limit else { return config.connections_max };
    let left = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(own(config));
    config.connections_max.min(left.max(CONNECTIONS_MIN))
}

/// Files that are needed beside the connections of clients.
fn own(config: &Config) -> usize {
    if config.folder().is_some() {
        return RESERVE;
    }
    let connections = config.store_connections_max;
    RESERVE + (connections + Options::long_connections(connections)) * OF_STORE_CONNECTION
}

/// Why a limit is too low for the connections to PostgreSQL, if it is.
pub fn too_few(config: &Config, limit: Option<u64>) -> Option<String> {
    let limit = limit?;
    let needed = own(config) + CONNECTIONS_MIN;
    let store = config.store_connections_max;
    let is_low = config.folder().is_none() && limit < needed as u64;
    is_low.then(|| {
        format!(
            "the system allows {limit} open files, and {store} connections to PostgreSQL need {needed}: \
             raise its limit (ulimit -n, LimitNOFILE), or set store_connections_max lower"
        )
    })
}

/// What a daemon may open, and how many connections that leaves it.
#[derive(Debug, Clone, Copy)]
pub struct FilesSeen {
    /// Most files that may be open; none where there is no limit.
    pub limit: Option<u64>,
    /// Connections that are served at once.
    pub connections: usize,
    /// Connections that the setting allows.
    pub wanted: usize,
    /// Whether it is the limit of a daemon that runs, and not of what would start one.
    pub of_daemon: bool,
}

/// Looks at the limit of a daemon that runs, or else at the one that a daemon started here would have.
pub fn look_at_files(config: &Config, process: Option<u32>) -> FilesSeen {
    let of_process = process.and_then(|process| fs::read_to_string(format!("/proc/{process}/limits")).ok());
    let of_daemon = of_process.is_some();
    let limit = match of_process {
        Some(limits) => soft_limit(&limits),
        // It raises the limit as far as it may.
        None => getrlimit(Resource::Nofile).maximum,
    };
    FilesSeen { limit, connections: connections(config, limit), wanted: config.connections_max, of_daemon }
}

/// The limit in force, in the table that Linux shows of a process.
fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::postgres::Address;

    #[test]
    fn connections_leave_files_for_the_store() {
        let config = Config::new("/nonexistent");
        assert_eq!(connections(&config, None), 4096);
        assert_eq!(connections(&config, Some(1_048_576)), 4096);
        assert_eq!(connections(&config, Some(1024)), 976);
        assert_eq!(connections(&config, Some(64)), 16);
        assert_eq!(connections(&config, Some(16)), CONNECTIONS_MIN);
        assert_eq!(too_few(&config, Some(16)), None);
        let config = Config { store: Address::parse("postgres://mfa@db1/mfa").unwrap().into(), ..config };
        assert_eq!(connections(&config, Some(1024)), 1024 - 48 - 20 * 4);
        assert!(too_few(&config, Some(131)).unwrap().contains("16 connections to PostgreSQL need 132"));
        assert_eq!((too_few(&config, Some(132)), too_few(&config, None)), (None, None));
    }

    #[test]
    fn the_limit_of_a_process_is_read_from_the_table_of_the_system() {
        let table = "Limit                     Soft Limit           Hard Limit           Units     \n\
                     Max processes             63204                63204                processes \n\
                     Max open files            1024                 1048576              files     \n";
        assert_eq!(soft_limit(table), Some(1024));
        assert_eq!(soft_limit(&table.replace("1024 ", "unlimited ")), None);
        let here = look_at_files(&Config::new("/nonexistent"), Some(std::process::id()));
        assert_eq!((here.limit, here.of_daemon), (getrlimit(Resource::Nofile).current, true));
        assert!(!look_at_files(&Config::new("/nonexistent"), None).of_daemon);
    }
}
