//! Receipts: the request names the transaction, and the record is about the receipt.

use super::subject::{Subject, named_by_path};
use crate::ops::tellers::find_copies;
use crate::store::Tx;
use crate::store::records::StoredTeller;
use mfa_shared::fault::Fault;

/// The receipt of the transaction in a path, if one was given out.
pub fn issued(tx: &mut Tx<'_>, params: &[String]) -> Result<Option<Subject>, Fault> {
    let [_, transaction] = params else { return Ok(None) };
    let Some(copies) = find_copies(tx, transaction)? else { return Ok(None) };
    let Some(teller) = tx.get::<StoredTeller>(&[&copies.teller])? else { return Ok(None) };
    let number = copies.number.to_string();
    let path = ["offices", &teller.office, "teller", &copies.teller, "receipts", &number];
    Ok(named_by_path(&path.map(str::to_owned)))
}
