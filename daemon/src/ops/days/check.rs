//! What must hold of the reports of days: numbers without gaps, each following the one before, and sessions
//! that are those of the day reports.

use crate::store::Tx;
use crate::store::check::Finding;
use crate::store::records::{DayMark, report_key};
use mfa_shared::api::days::{DayException, DayExceptionKind, DaySession, OfficeDay};
use mfa_shared::api::tellers::DayReport;
use mfa_shared::fault::Fault;
use std::collections::BTreeMap;

/// Everything about ends of days that does not hold; empty if all is well.
pub fn check_days(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut found = Vec::new();
    let mut last: BTreeMap<String, OfficeDay> = BTreeMap::new();
    for report in tx.all::<OfficeDay>(&[])? {
        let subject = format!("day {} of office {}", report.date, report.office_identifier);
        let mut find = |detail: String| found.push(Finding { subject: subject.clone(), detail });
        let before = last.get(&report.office_identifier);
        let due = before.map_or(0, |before| before.number) + 1;
        if report.number != due {
            find(format!("has number {}, and {due} is due", report.number));
        }
        let follows = |before: &OfficeDay| {
            before.covers_until == report.covers_from && before.last_entry <= report.last_entry
        };
        if before.is_some_and(|before| !follows(before)) {
            find("does not begin where the report before it has ended".to_owned());
        }
        let is_reported = |e: &DayException| e.kind == DayExceptionKind::Unbalanced;
        if report.total_debit != report.total_credit && !report.exceptions.iter().any(is_reported) {
            find(format!("has debits of {}, and credits of {}", report.total_debit, report.total_credit));
        }
        for session in &report.sessions {
            let key = report_key(&session.teller_code, session.report.unsigned_abs());
            if !tx.at::<DayReport>(&key)?.is_some_and(|kept| is_same(session, &kept)) {
                let number = session.report;
                let teller = &session.teller_code;
                find(format!("differs from day report {number} of teller {teller}"));
            }
        }
        last.insert(report.office_identifier.clone(), report);
    }
    for mark in tx.all::<DayMark>(&[])? {
        let end = last.remove(&mark.office).map_or((0, None), |day| (day.number, Some(day.covers_until)));
        if end != (mark.number, Some(mark.covers_until)) {
            let detail = format!("has ended {} days, and {} are kept", mark.number, end.0);
            found.push(Finding { subject: format!("office {}", mark.office), detail });
        }
    }
    found.extend(last.into_keys().map(|office| {
        let detail = "has reports of days, and no record of how far they reach".to_owned();
        Finding { subject: format!("office {office}"), detail }
    }));
    Ok(found)
}

fn is_same(session: &DaySession, kept: &DayReport) -> bool {
    session.opened_on == kept.opened_on
        && session.closed_on == kept.closed_on
        && session.cash_received_total == kept.cash_received_total
        && session.cash_disbursed_total == kept.cash_disbursed_total
        && session.difference == kept.difference
        && session.cash_on_hand == kept.cash_on_hand
}
