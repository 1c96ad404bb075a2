//! Scans of identification cards. Contract: `customers.md` section 7.

use crate::fault::{Fault, INVALID_PARAMETER};
use crate::kind::{Kind, ShownBy};
use crate::query::{ParamDoc, Parameters, Params};
use crate::rule::*;
use crate::upload::{Form, ImageBytes, Upload};
use crate::wire::{Accepted, Array, Json, Nothing};
use crate::{endpoints, object};

object! {
    /// A scan of an identification card.
    pub struct Scan {
        /// Unique within its card; never changes.
        identifier: String = required(id(32)),
        /// What it shows.
        description: String = required(text(4096)),
    }
}

/// The fields of a scan, apart from its image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanForm {
    /// Unique within its card.
    pub scan_identifier: String,
    /// What it shows; may be empty.
    pub description: String,
}

fn checked(params: &Params, name: &str, rule: Text) -> Result<String, Fault> {
    let refuse = |what: &str| Fault::new(INVALID_PARAMETER, format!("the parameter {name} {what}"));
    let value = params.one(name)?.ok_or_else(|| refuse("is required"))?;
    rule.judge(value).map_err(|(_, what)| refuse(&what))?;
    Ok(value.to_owned())
}

impl Parameters for ScanForm {
    fn read(params: &Params) -> Result<Self, Fault> {
        let scan_identifier = checked(params, "scanIdentifier", id(32))?;
        Ok(Self { scan_identifier, description: checked(params, "description", text(4096))? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let Self { scan_identifier, description } = self.clone();
        vec![("scanIdentifier", scan_identifier), ("description", description)]
    }

    fn docs() -> Vec<ParamDoc> {
        // Each may also be a field of the form, so neither is allowed in the query string.
        let doc = |name, doc, rule: Text| ParamDoc { name, doc, required: false, schema: rule.schema() };
        vec![
            doc("scanIdentifier", "Identifier of the new scan, here or in the form.", id(32)),
            doc("description", "What the scan shows, here or in the form.", text(4096)),
        ]
    }
}

impl Form for ScanForm {
    const PART: &'static str = "image";
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind {
    name: "scan",
    path: "/customers/{}/identifications/{}/scans/{}",
    named_by: "scanIdentifier",
    shown_by: ShownBy::WithImage("GetScan", "GetScanImage"),
}];

endpoints! {
    application "customer-v1";
    /// Add a scan to an identification card.
    CreateScan { customer, card } Post "/customers/{customer}/identifications/{card}/scans" Upload<ScanForm>
        => Accepted;
    /// List the scans of an identification card in the order in which they were added.
    ListScans { customer, card } Get "/customers/{customer}/identifications/{card}/scans" Nothing
        => Array<Scan>;
    /// Read what a scan shows.
    GetScan { customer, card, scan } Get "/customers/{customer}/identifications/{card}/scans/{scan}" Nothing
        => Json<Scan>, tag GetScan;
    /// Read the image of a scan.
    GetScanImage { customer, card, scan }
        Get "/customers/{customer}/identifications/{card}/scans/{scan}/image" Nothing
        => ImageBytes, tag GetScanImage;
    /// Remove a scan from an identification card.
    DeleteScan { customer, card, scan } Delete "/customers/{customer}/identifications/{card}/scans/{scan}"
        Nothing => Accepted, tag GetScan;
}
