//! Unlocking a drawer. Contract: `tellers.md` sections 4 and 4.1.

use super::{check_caller, find, save, step};
use crate::domain::teller::TellerStep;
use crate::ops::Caller;
use crate::ops::secret::Judged;
use crate::store::Tx;
use crate::store::records::{StoredDrawer, StoredTeller};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::Json;

const RETRY_AFTER_S: u32 = 1;

/// The hash with which the PIN is compared before the transaction begins; none where the request will be
/// refused without a look at the PIN, so that no one can make the daemon hash for nothing.
pub fn present(tx: &mut Tx<'_>, teller: &str, employee: &str) -> Result<Option<String>, Fault> {
    let Some(stored) = tx.get::<StoredTeller>(&[teller])? else { return Ok(None) };
    let is_asked = stored.teller.state != TellerState::Closed
        && stored.teller.assigned_employee.as_deref() == Some(employee);
    let drawer = if is_asked { tx.get::<StoredDrawer>(&[teller])? } else { None };
    let open = drawer.filter(|drawer| drawer.attempts.locked_seconds(tx.now()).is_none());
    Ok(open.map(|drawer| drawer.hash))
}

/// `POST /teller/{teller}/drawer`
pub fn unlock(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UnlockDrawer,
    Json(request): &Json<DrawerUnlock>,
    judged: &Judged,
) -> Result<Json<Teller>, Fault> {
    let mut stored = find(tx, &at.teller)?;
    stored.teller.state = step(&stored.teller, TellerStep::Unlock, "unlocking the drawer")?;
    check_caller(caller, &stored.teller)?;
    if stored.teller.assigned_employee.as_ref() != Some(&request.employee_identifier) {
        let detail =
            format!("the employee of the request is not the one who is assigned to teller {}", at.teller);
        return Err(Fault::new(fault::NOT_ASSIGNED_EMPLOYEE, detail));
    }
    check_password(tx, &at.teller, judged)?;
    save(tx, caller, stored.clone())?;
    // The service document shows the state OPEN here, and nowhere else: the teller is ACTIVE.
    let mut shown = find(tx, &at.teller)?.teller;
    shown.state = TellerState::Open;
    Ok(Json(shown))
}

/// Compares what was found out about the PIN with the drawer as it is now. A wrong one is counted although
/// the request is refused.
fn check_password(tx: &mut Tx<'_>, teller: &str, judged: &Judged) -> Result<(), Fault> {
    let missing = || Fault::new(fault::INTERNAL, format!("teller {teller} has no drawer"));
    let mut drawer = tx.get::<StoredDrawer>(&[teller])?.ok_or_else(missing)?;
    if let Some(seconds) = drawer.attempts.locked_seconds(tx.now()) {
        let detail = format!("the drawer of teller {teller} is locked for {seconds} seconds");
        return Err(Fault::new(fault::TOO_MANY_ATTEMPTS, detail).retry_after(seconds));
    }
    if judged.compared.as_ref() != Some(&drawer.hash) {
        // The drawer was closed, locked or had another PIN when this one was compared, so nothing is known
        // of it, and nothing is counted.
        let detail = format!("the drawer of teller {teller} was changed at this moment; try again");
        return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S));
    }
    if judged.fits.is_some() {
        drawer.attempts = Default::default();
        return tx.put(&drawer);
    }
    drawer.attempts = drawer.attempts.failed(tx.now());
    let locked = drawer.attempts.locked_seconds(tx.now());
    tx.put(&drawer)?;
    tx.keep_when_refused();
    let detail = format!("the password of the drawer of teller {teller} is wrong");
    Err(Fault::new(fault::WRONG_DRAWER_PASSWORD, detail).locking(locked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lockout::Attempts;
    use crate::ops::ledger::tests::memory::Memory;

    #[test]
    fn only_a_password_that_was_compared_with_the_drawer_can_be_wrong() {
        let compared = Judged::new("4711", None, Some(&[7; 16]));
        let hash = compared.hash().unwrap();
        let mut store = Memory::new();
        let drawer =
            StoredDrawer { teller: "T1".to_owned(), hash: hash.clone(), attempts: Attempts::default() };
        store.write(|tx| tx.put(&drawer)).unwrap();
        let other = Judged::new("4712", None, Some(&[8; 16])).hash().unwrap();
        let mut tried = |judged: &Judged| {
            let code =
                store.write(|tx| Ok(check_password(tx, "T1", judged).map_err(|fault| fault.kind.code)));
            let failed = store.read(|tx| tx.get::<StoredDrawer>(&["T1"])).unwrap().attempts;
            (code.unwrap(), failed == Attempts::default())
        };
        // The drawer was closed when the request came, or had another PIN, which even was the same text.
        assert_eq!(tried(&Judged::default()), (Err("unavailable"), true));
        assert_eq!(tried(&Judged::new("4712", Some(&other), None)), (Err("unavailable"), true));
        assert_eq!(tried(&Judged::new("4712", Some(&hash), None)), (Err("wrong_drawer_password"), false));
        assert_eq!(tried(&Judged::new("4711", Some(&hash), None)), (Ok(()), true));
    }
}
