//! Dangling references of a body: every such field is reported, not only the first, in the refusal or answer.

use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::record::Record;
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier::shown;
use mfa_shared::rule::FieldError;

/// The dangling fields of one body, in the order in which they were checked, which is that of the body.
#[derive(Debug, Default)]
pub struct Unknown(Vec<(FieldError, Option<Space>)>);

impl Unknown {
    /// Looks for the record that a field names by its identifier.
    pub fn look<R: Record>(
        &mut self,
        tx: &mut Tx<'_>,
        field: &str,
        noun: &str,
        name: &str,
    ) -> Result<(), Fault> {
        if tx.hides(R::SPACE) {
            let detail = format!(
                "with Existing-Only the answer would say whether {noun} {} exists, which you may not read: \
                 send it without, or ask for the permission",
                shown(name)
            );
            return Err(Fault::new(fault::FORBIDDEN, detail));
        }
        let there = tx.has::<R>(&[name])?;
        self.add(there, field, noun, name, Some(R::SPACE));
        Ok(())
    }

    /// Notes a field whose record must exist, whether or not it does.
    pub fn note(&mut self, there: bool, field: &str, noun: &str, name: &str) {
        self.add(there, field, noun, name, None);
    }

    fn add(&mut self, there: bool, field: &str, noun: &str, name: &str, kind: Option<Space>) {
        if !there {
            self.0.push((FieldError::unknown_reference(field, noun, name), kind));
        }
    }

    /// Whether everything was there.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The refusal that lists all of them.
    pub fn fault(self) -> Fault {
        Fault::unknown_references(self.0.into_iter().map(|(error, _)| error).collect())
    }

    /// Finishes the check: where the store or the request accepts existing references only, the request is
    /// refused; otherwise it is carried out, and the answer reports the dangling fields.
    pub fn settle(self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if tx.refuses_unknown() {
            return self.refuse();
        }
        self.0.iter().for_each(|(error, kind)| tx.note_dangling(&error.field, *kind));
        Ok(())
    }

    /// Refuses a body with dangling references.
    pub fn refuse(self) -> Result<(), Fault> {
        if self.is_none() { Ok(()) } else { Err(self.fault()) }
    }
}
