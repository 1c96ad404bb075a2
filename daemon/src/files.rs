//! Open files of the process: as many as the system allows, some of them kept for the store.

use crate::config::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that the store, its rebuilding, gateways and the listener need beside connections.
const RESERVE: usize = 40;
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
    let to_store = if config.store.is_some() { config.store_connections_max + 2 } else { 0 };
    let left = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(RESERVE + to_store);
    config.connections_max.min(left.max(CONNECTIONS_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_store() {
        let config = Config::new("/nonexistent");
        assert_eq!(connections(&config, None), 4096);
        assert_eq!(connections(&config, Some(1_048_576)), 4096);
        assert_eq!(connections(&config, Some(1024)), 984);
        assert_eq!(connections(&config, Some(64)), 24);
        assert_eq!(connections(&config, Some(16)), CONNECTIONS_MIN);
    }
}
