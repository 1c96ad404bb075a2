//! Default places of files.

use crate::failure::{Failure, Outcome};
use directories::ProjectDirs;
use std::io::ErrorKind;
use std::path::PathBuf;

fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "mfa")
}

/// The config files, the system's first.
pub fn config_files() -> Vec<PathBuf> {
    let path = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let system = path("MFA_SYSTEM_CONFIG").unwrap_or_else(|| PathBuf::from("/etc/mfa/config.toml"));
    std::iter::once(system).chain(user_config_file()).collect()
}

pub fn user_config_file() -> Option<PathBuf> {
    let given = std::env::var_os("MFA_CONFIG").map(PathBuf::from);
    given.or_else(|| Some(project()?.config_dir().join("config.toml")))
}

/// The config file that a variable names and that is not there. An empty variable names none.
pub fn missing_config() -> Option<PathBuf> {
    let path = std::env::var_os("MFA_CONFIG").map(PathBuf::from)?;
    let is_missing = path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Some(path).filter(|path| is_missing && !path.as_os_str().is_empty())
}

/// Default folder of the daemon's store.
pub fn data_dir() -> Outcome<PathBuf> {
    let dirs = project().ok_or_else(no_home)?;
    Ok(dirs.data_dir().join("store"))
}

/// Default folder of the day reports of tellers.
pub fn report_dir() -> Outcome<PathBuf> {
    let dirs = project().ok_or_else(no_home)?;
    Ok(dirs.data_dir().join("reports"))
}

/// Where logs and marks of running daemons are kept.
pub fn state_dir() -> Outcome<PathBuf> {
    let dirs = project().ok_or_else(no_home)?;
    Ok(dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_owned())
}

fn no_home() -> Failure {
    Failure::usage("there is no home folder to keep files in").hint("set HOME, or name the folder")
}
