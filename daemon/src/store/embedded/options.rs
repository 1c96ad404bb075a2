//! How the engine is opened, and why it refuses to open.

use super::pins::Bounds;
use crate::store::engine::Space;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

const MIB: u64 = 1024 * 1024;

/// How to open a data directory.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory; made if it is missing.
    pub dir: PathBuf,
    /// Memory that the index may use for pages.
    pub cache_bytes: u64,
    /// So many changed keys stay in memory until they are brought into the tree of the index.
    pub recent_keys: usize,
    /// A journal file that has reached this length is followed by the next one.
    pub segment_bytes: u64,
    /// A checkpoint is made when the journal has grown by this much, and by a multiple of the last one.
    pub checkpoint_bytes: u64,
    /// Up to this size, journal and index are verified as a whole before the engine opens; the rest is
    /// verified while it already serves.
    pub verify_bytes: u64,
    /// Whether journal files that are closed are packed in the background.
    pub packs: bool,
    /// Whether a data directory of an earlier form is brought up to this program on opening.
    pub raises: bool,
    /// Spaces whose changes are counted, for [`View::version`](crate::store::engine::View::version).
    pub watched: &'static [Space],
    /// What a read may cost others.
    pub bounds: Bounds,
}

impl Options {
    /// The usual sizes.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            cache_bytes: 64 * MIB,
            recent_keys: 64 * 1024,
            segment_bytes: 64 * MIB,
            checkpoint_bytes: 64 * MIB,
            verify_bytes: 256 * MIB,
            packs: true,
            raises: true,
            watched: &[],
            bounds: Bounds::default(),
        }
    }
}

/// Why a data directory cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Another process has it open.
    Locked {
        /// The lock file.
        file: PathBuf,
        /// The process, if its number could be read.
        pid: Option<u32>,
    },
    /// A later version of this program wrote it.
    TooNew {
        /// The file with the version.
        file: PathBuf,
        /// The version it names.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
        /// The program that is needed, if the file names it.
        program: Option<String>,
    },
    /// Something was lost or changed that cannot be healed from the rest.
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is the case.
        why: String,
        /// What a person can do.
        way_out: String,
    },
    /// The folder of a new store holds something else.
    Occupied {
        /// The folder.
        dir: PathBuf,
        /// What it holds.
        name: OsString,
    },
    /// It belongs to another user, whom root would shut out.
    Foreign {
        /// The folder.
        dir: PathBuf,
        /// The number of its user.
        owner: u32,
    },
    /// The system starts no thread.
    NoThread {
        /// What the system says.
        source: io::Error,
    },
    /// The disk refuses.
    Io {
        /// The file or folder.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked { file, pid } => {
                write!(f, "{} is locked by ", file.display())?;
                match pid {
                    Some(pid) => write!(f, "process {pid}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str(": stop it first, or choose another data directory")
            }
            Self::TooNew { file, found, known, program } => {
                let file = file.display();
                write!(
                    f,
                    "{file} says version {found}, and this program reads versions up to {known}: use "
                )?;
                match program {
                    Some(program) => write!(f, "mfa {program} or a later version"),
                    None => f.write_str("the version of mfa that wrote it, or a newer one"),
                }
            }
            Self::Damaged { file, why, way_out } => {
                write!(f, "{} is damaged: {why}; {way_out}", file.display())
            }
            Self::Occupied { dir, name } => write!(
                f,
                "{} holds no store but other files, such as {}: name a new or empty folder",
                dir.display(),
                name.display()
            ),
            Self::Foreign { dir, owner } => write!(
                f,
                "{} belongs to user {owner}, who could not open it any more after root: run this as that \
                 user, such as sudo -u '#{owner}' -H mfa check",
                dir.display()
            ),
            Self::NoThread { source } => write!(
                f,
                "the store is not opened, because the system starts no more threads: {source}; \
                 raise the limit of processes (ulimit -u; TasksMax of the service), then start again"
            ),
            Self::Io { file, source } => {
                write!(f, "{} cannot be read or written: {source}; ", file.display())?;
                f.write_str("check the disk, the space on it and the owner of the file")
            }
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::NoThread { source } => Some(source),
            _ => None,
        }
    }
}
