//! `mfa check`: whether everything in a store holds, while no daemon runs. Nothing is changed but what every
//! start would put right.

use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open_to_look};
use crate::ops::audit::check_trail;
use crate::ops::check::check_ledger;
use crate::ops::references;
use crate::store::Store;
use crate::store::check::Finding;
use futures_util::future::LocalBoxFuture;
use mfa_shared::fault::Fault;

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Journal, records, images and the audit trail.
    Store,
    /// Every invariant of the ledger.
    Ledger,
    /// Names of records that do not exist.
    References,
}

impl Check {
    /// Every check, in the order in which they make sense.
    pub const ALL: [Check; 3] = [Check::Store, Check::Ledger, Check::References];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Check::Store => "store",
            Check::Ledger => "ledger",
            Check::References => "references",
        }
    }
}

/// Something that a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The check.
    pub check: Check,
    /// The record, file or account.
    pub record: String,
    /// The field, where it is about one.
    pub field: Option<String>,
    /// What the field names, where it names something.
    pub names: Option<String>,
    /// What is the case.
    pub detail: String,
}

/// Runs checks one after the other; empty if all is well. `progress` is called after each one with the number
/// of findings.
pub fn check<'a>(
    config: &'a Config,
    checks: &'a [Check],
    progress: &'a dyn Fn(Check, usize),
) -> LocalBoxFuture<'a, Result<Vec<Found>, StartError>> {
    Box::pin(async move {
        // Records that change meanwhile would look as if they were not in the journal.
        let whole = checks.contains(&Check::Store);
        let store =
            open_to_look(config, Clock::system(), How { alone: whole, whole, ..How::to_look() }).await?;
        let found = run(&store, checks, progress).await;
        store.close().await;
        found
    })
}

pub(crate) async fn run(
    store: &Store,
    checks: &[Check],
    progress: &dyn Fn(Check, usize),
) -> Result<Vec<Found>, StartError> {
    let mut all = Vec::new();
    for check in checks {
        let found = match check {
            Check::Store => of_store(store).await,
            Check::Ledger => {
                let found = store.read(true, check_ledger).await;
                found.map(|found| found.into_iter().map(|finding| plain(Check::Ledger, finding)).collect())
            }
            Check::References => of_references(store).await,
        };
        let found: Vec<Found> = found.map_err(StartError::Refused)?;
        progress(*check, found.len());
        all.extend(found);
    }
    Ok(all)
}

fn plain(check: Check, finding: Finding) -> Found {
    Found { check, record: finding.subject, field: None, names: None, detail: finding.detail }
}

async fn of_store(store: &Store) -> Result<Vec<Found>, Fault> {
    let finding = |subject: String, detail: String| Finding { subject, detail };
    let troubles = store.troubles().await?.into_iter().map(|trouble| finding(trouble.file, trouble.why));
    let mut findings: Vec<_> = troubles.collect();
    findings.extend(store.check_journal().await?);
    findings.extend(store.read(true, check_trail).await?);
    let images = store.check_images().await?;
    findings.extend(images.defects.into_iter().map(|defect| finding(defect.subject, defect.detail)));
    // A crash leaves some; any others are worth a report.
    let orphan = "no record names it; a daemon removes it within some hours";
    findings.extend(images.orphans.iter().map(|hash| finding(format!("image {hash}"), orphan.to_owned())));
    Ok(findings.into_iter().map(|finding| plain(Check::Store, finding)).collect())
}

async fn of_references(store: &Store) -> Result<Vec<Found>, Fault> {
    let found = store.read(true, references::dangling).await?;
    let found = found.into_iter().map(|reference| Found {
        check: Check::References,
        record: reference.record,
        field: Some(reference.field),
        names: Some(reference.names),
        detail: reference.detail,
    });
    Ok(found.collect())
}
