//! Portraits of customers. Contract: `customers.md` section 5.

use crate::endpoints;
use crate::fault::Fault;
use crate::kind::Kind;
use crate::query::{ParamDoc, Parameters, Params};
use crate::upload::{Form, ImageBytes, Upload};
use crate::wire::{Accepted, Nothing};

/// A portrait has no other fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortraitForm;

impl Parameters for PortraitForm {
    fn read(_: &Params) -> Result<Self, Fault> {
        Ok(Self)
    }
    fn write(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn docs() -> Vec<ParamDoc> {
        Vec::new()
    }
}

impl Form for PortraitForm {
    const PART: &'static str = "portrait";
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("portrait", "/customers/{}/portrait", "", "GetPortrait")];

endpoints! {
    application "customer-v1";
    /// Store the portrait of a customer, in place of the one before.
    SetPortrait { customer } Post "/customers/{customer}/portrait" Upload<PortraitForm> => Accepted;
    /// Read the portrait of a customer.
    GetPortrait { customer } Get "/customers/{customer}/portrait" Nothing => ImageBytes, tag GetPortrait;
    /// Remove the portrait of a customer.
    DeletePortrait { customer } Delete "/customers/{customer}/portrait" Nothing => Accepted, tag GetPortrait;
}
