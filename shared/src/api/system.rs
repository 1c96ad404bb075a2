//! The daemon itself: is it alive, is it ready, which version; none of these needs a token. What it counts is
//! for those who may see it.

use crate::endpoints;
use crate::object;
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Json, Nothing, PlainText};

object! {
    /// Whether the daemon serves.
    pub struct Health {
        /// `up`, or why it does not serve.
        status: String = required(line(256)),
    }

    /// Which daemon answers.
    pub struct Version {
        /// Version of the program.
        version: String = required(line(64)),
        /// Name of this store, `urn:mfa:instance:<id>`; an application's assertion names it as audience.
        instance: String = required(line(64)),
        /// Version of the interface; a client of another version warns about it.
        interface: i64 = required(integer(1, i64::MAX)),
        /// Whether callers are asked for a token: `on` or `off`.
        auth: String = required(line(3)),
        /// Whether there are users; before `mfa init` there are none, and no one can log in.
        initialised: bool = required(flag()),
        /// When the last backup that a daemon should make by itself failed; left out where it did not.
        backup_failed_on: Option<Timestamp> = optional(timestamp()),
        /// Images that the daemon found damaged since its start; left out where there are none.
        damaged_images: Option<i64> = optional(integer(1, i64::MAX)),
    }
}

/// Version of the interface that this build speaks.
pub const INTERFACE_VERSION: i64 = 1;

endpoints! {
    application "admin-v1";
    /// Show that the process is alive.
    GetLive {} Get "/live" Nothing => Json<Health>, public true;
    /// Show whether requests are served; 503 while starting or stopping.
    GetReady {} Get "/ready" Nothing => Json<Health>, public true;
    /// Show which daemon answers.
    GetVersion {} Get "/version" Nothing => Json<Version>, public true;
    /// Show what the daemon counts and measures, in the text format of Prometheus.
    GetMetrics {} Get "/metrics" Nothing => PlainText;
}
