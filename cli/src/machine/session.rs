//! The daemon in use, and who is logged in.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use clap::Args;
use mfa_shared::api::system::{GetReady, GetVersion, INTERFACE_VERSION};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Status {}

impl Verb for Status {
    const ENDPOINT: Option<&'static Meta> = Some(&GetReady::META);
    const ABOUT: &'static str = "Show which daemon answers, and whether it serves";
    const EXAMPLES: &'static [&'static str] = &["mfa status", "mfa status -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let ready = cx.client.looking().send(&GetReady {}, &Nothing).await?.value;
        let mut record = json!({ "url": cx.client.url, "status": ready["status"] });
        let version = version(cx).await?;
        if let (Value::Object(record), Value::Object(version)) = (&mut record, &version) {
            record.extend(version.clone());
        }
        warn_of_access(cx, &version);
        if let Some(what) = damaged_images(&version) {
            cx.out.warn(&format!("{what}; mfa check store names their records"));
        }
        if let Some(on) = version["backupFailedOn"].as_str() {
            cx.out
                .warn(&format!("the backup of the schedule failed on {on}; the log of the daemon says why"));
        }
        cx.out.show(&views::DAEMON, &record)?;
        compatible(&version)
    }
}

#[derive(Args)]
pub struct Version {}

impl Verb for Version {
    const ENDPOINT: Option<&'static Meta> = Some(&GetVersion::META);
    const ABOUT: &'static str = "Show the versions of client and daemon";
    const EXAMPLES: &'static [&'static str] = &["mfa version", "mfa version -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let version = version(cx).await?;
        cx.out.show(&views::VERSION, &version)?;
        compatible(&version)
    }
}

/// What the daemon says about itself, and the version of this client.
async fn version(cx: &Cx) -> Outcome<Value> {
    let mut version = cx.client.looking().send(&GetVersion {}, &Nothing).await?.value;
    version["client"] = json!(env!("CARGO_PKG_VERSION"));
    Ok(version)
}

/// Warns if the daemon requires no login, or if no one can log in.
pub fn warn_of_access(cx: &Cx, version: &Value) {
    if version["auth"] == "off" {
        cx.out.warn("this daemon does not ask for tokens; it is for trying things out only");
    } else if version["initialised"] == false {
        let how =
            "mfa daemon stop, then mfa init, then mfa daemon start; of a service: mfa help installation";
        cx.out.warn(&format!("its store has no users, so no one can log in; on its machine: {how}"));
    }
}

/// What a daemon says about damaged images, if it found any.
pub fn damaged_images(version: &Value) -> Option<String> {
    match version["damagedImages"].as_i64()? {
        1 => Some("the daemon found a damaged image since its start".to_owned()),
        count => Some(format!("the daemon found {count} damaged images since its start")),
    }
}

fn compatible(version: &Value) -> Outcome {
    match version["interface"].as_i64() {
        Some(interface) if interface != INTERFACE_VERSION => {
            let what = format!("this client speaks interface {INTERFACE_VERSION}, the daemon {interface}");
            Err(Failure::new(codes::INCOMPATIBLE, what).hint("use a client of the same version"))
        }
        _ => Ok(()),
    }
}
