//! Dangling references of a body: every such field is reported, not only the first, in the refusal or answer.

use crate::store::Tx;
use crate::store::record::Record;
use mfa_shared::fault::Fault;
use mfa_shared::rule::FieldError;

/// The dangling fields of one body, in the order in which they were checked, which is that of the body.
#[derive(Debug, Default)]
pub struct Unknown(Vec<FieldError>);

impl Unknown {
    /// Looks for the record that a field names by its identifier.
    pub fn look<R: Record>(
        &mut self,
        tx: &mut Tx<'_>,
        field: &str,
        noun: &str,
        name: &str,
    ) -> Result<(), Fault> {
        let there = tx.has::<R>(&[name])?;
        self.note(there, field, noun, name);
        Ok(())
    }

    /// Notes a field, whether or not the record that it names exists.
    pub fn note(&mut self, there: bool, field: &str, noun: &str, name: &str) {
        if !there {
            self.0.push(FieldError::unknown_reference(field, noun, name));
        }
    }

    /// Whether everything was there.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The refusal that lists all of them.
    pub fn fault(self) -> Fault {
        Fault::unknown_references(self.0)
    }

    /// Finishes the check: where the store or the request accepts existing references only, the request is
    /// refused; otherwise it is carried out, and the answer reports the dangling fields.
    pub fn settle(self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if tx.refuses_unknown() {
            return self.refuse();
        }
        self.0.iter().for_each(|error| tx.note_dangling(&error.field));
        Ok(())
    }

    /// Refuses a body with dangling references.
    pub fn refuse(self) -> Result<(), Fault> {
        if self.is_none() { Ok(()) } else { Err(self.fault()) }
    }
}
