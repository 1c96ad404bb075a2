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

/// Refuses a variable that names a config file which is not there: a daemon of other settings would be
/// started, or another one asked. An empty one names none.
pub fn missing_config() -> Option<Failure> {
    let path =
        std::env::var_os("MFA_CONFIG").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty())?;
    let missing = path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let what = format!("there is no file {}, which MFA_CONFIG names", path.display());
    missing.then(|| Failure::usage(what).hint("correct the variable, or make the file: mfa config example"))
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
