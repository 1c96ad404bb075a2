//! Sets of files that describe an institution: `mfa apply`, `mfa diff` and `mfa export`.
//!
//! | module | holds |
//! |---|---|
//! | `kinds` | what each kind of record needs for it: its endpoints, what names a record, what it refers to |
//! | `files` | documents of YAML and JSON, each with its place |
//! | `secrets` | `${env:X}` and `${file:X}`, and what must not be shown |
//! | `findings` | what is wrong with the files, all of it at once |
//! | `order` | which record comes before which |
//! | `plan` | what the daemon has beside what the files say, and what makes it so |
//! | `show` | the plan for people and for programs, the differences line by line |
//! | `export` | the way back: the institution as files |
//! | `send` | the plan carried out, layer by layer |

pub mod commands;
pub mod export;
pub mod files;
mod findings;
pub mod kinds;
mod order;
pub mod plan;
mod secrets;
pub mod send;
pub mod show;
pub mod whole;
