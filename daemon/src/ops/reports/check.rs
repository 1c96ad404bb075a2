//! Whether the days that are kept are those that the journal sums up to.

use crate::store::Tx;
use crate::store::check::Finding;
use crate::store::engine::Range;
use crate::store::record::Record;
use crate::store::records::LedgerDay;
use crate::store::tx::decode;
use mfa_shared::fault::Fault;
use std::collections::BTreeMap;

/// Compares the days that are kept with those that the entries up to their end sum up to.
pub fn compare(tx: &mut Tx<'_>, mut summed: BTreeMap<Vec<u8>, LedgerDay>) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    let mut find = |day: &LedgerDay, detail: &str| {
        let subject = format!("{} on {}", day.series.join(" "), day.day);
        findings.push(Finding { subject, detail: detail.to_owned() });
    };
    tx.walk(LedgerDay::SPACE, Range::prefix(&[]), &mut |key, value| {
        let kept: LedgerDay = decode(LedgerDay::SPACE, value)?;
        match summed.remove(key) {
            Some(day) if day == kept => {}
            Some(_) => find(&kept, "is kept for reports with other sums than its entries have"),
            None => find(&kept, "is kept for reports, and the journal has no entry for it"),
        }
        Ok(true)
    })?;
    summed.values().for_each(|day| find(day, "has entries, and is not kept for reports"));
    Ok(findings)
}
