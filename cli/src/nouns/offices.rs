//! Offices, branches, addresses, external references.

use crate::command::cx::Cx;
use crate::command::flags::AddressFlags;
use crate::command::noun::{
    self, APPLY, Apply, Drafts, Flags, IMPORT, Import, Noun, Own, Samples, Section, held,
};
use crate::command::verb::{Verb, changes, group, removes, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::{text, views};
use crate::paper::named_for_people;
use clap::Args;
use mfa_shared::api::offices::*;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Nothing, Query};

pub const NOUN: Noun = Noun {
    section: Section::People,
    typed: "offices",
    alias: "office",
    about: "Offices, their branches, addresses and external references",
    singular: "office",
    history: "office",
    list: Some(&ListOffices::META),
    read: Some(&GetOffice::META),
    create: Some(Row::of::<CreateOffice>()),
    creates: Some(Flags::of::<NewOffice>(&[
        "mfa offices create kumasi --name Kumasi",
        "mfa offices create harbour --name Harbour --parent head-office \\\n    \
         --address street='1 Quay',city=Tema,country-code=GH,country=Ghana",
        "echo '{\"identifier\": \"tamale\", \"name\": \"Tamale\"}' | mfa offices create --from -",
    ])),
    change: Some(Row::of::<UpdateOffice>()),
    updates: Some(Flags::of::<OfficeFlags>(&[
        "mfa offices update head-office --name 'Head Office Accra'",
        "mfa offices update market --description 'Behind the bus station'",
    ])),
    delete: Some(&DeleteOffice::META),
    tried: true,
    edited: true,
    view: &views::OFFICE,
    arguments: &["parent", "assigned_office"],
    fields: &["office", "parent"],
    free: &["assignedOffice"],
    searched: Some(HitKind::Office),
    import: Some(Import {
        plural: "offices",
        ordered: true,
        example: &[
            ("identifier", "kumasi"),
            ("name", "Kumasi"),
            ("description", "Opposite the market"),
            ("address.street", "4 Prempeh II Street"),
            ("address.city", "Kumasi"),
            ("address.countryCode", "GH"),
            ("address.country", "Ghana"),
        ],
        examples: &[
            "mfa offices import --template > offices.csv && mfa offices import offices.csv",
            "printf 'identifier,name,parentIdentifier\\nosu,Osu,head-office\\n' | mfa offices import -",
        ],
        export_examples: &["mfa offices export", "mfa offices export -o json"],
        ..IMPORT
    }),
    apply: Some(Apply {
        kind: "office",
        place: 2,
        references: &[("/parentIdentifier", "office")],
        shown: held::<Office>,
        own: &[Own {
            property: "address",
            always: false,
            set: |address| address.is_null().then_some((&DeleteOfficeAddress::META, None)),
        }],
        ..APPLY
    }),
    samples: Samples { one: "head-office", deleted: "market", edit: "s/Head/Main/" },
    verbs: &[
        verb::<List>("list"),
        verb::<Branches>("branches"),
        verb::<AddBranch>("add-branch"),
        group(
            "address",
            "",
            "The address of an office",
            &[
                changes::<SetOfficeAddress, AddressFlags>("set", "office", "given an address")
                    .reading(&GetOfficeAddress::META, &views::ADDRESS)
                    .examples(&[
                        "mfa offices address set market --street '12 Market Road' --city Accra \\\n    \
                         --country-code GH --country Ghana",
                        "mfa offices address get head-office -o json | \
                         mfa offices address set market --from -",
                    ]),
                verb::<AddressGet>("get"),
                removes("delete", &DeleteOfficeAddress::META, "office", "left without an address")
                    .asking("remove the address of office {office}")
                    .examples(&[
                        "mfa offices address delete head-office --yes",
                        "mfa offices address delete market --yes -o json",
                    ]),
            ],
        ),
        group(
            "references",
            "reference",
            "References that other systems have to an office",
            &[
                changes::<SetOfficeReference, ReferenceFlags>("set", "office", "given a reference")
                    .reading(&ListOfficeReferences::META, &views::REFERENCE)
                    .examples(&[
                        "mfa offices references set market --type payroll --state active",
                        "mfa offices references set market --type payroll --state inactive",
                    ]),
                shows("list", &ListOfficeReferences::META, &views::REFERENCE, "office").examples(&[
                    "mfa offices references list head-office",
                    "mfa offices references list head-office -o json",
                ]),
            ],
        ),
    ],
    ..noun::NOUN
};

/// The name of an office, if it may be read; empty if it has none.
pub async fn named(cx: &Cx, identifier: &str) -> Outcome<String> {
    if identifier.is_empty() {
        return Ok(String::new());
    }
    let office = cx.if_readable(&GetOffice { office: identifier.to_owned() }).await?;
    Ok(named_for_people(&text(&office, "/name"), identifier))
}

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListOffices::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa offices list", "mfa offices list --term market --sort name -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.list(ListOffices {}, &views::OFFICE, Query).await
    }
}

/// What an office can be given when it is created and when it is changed.
#[derive(Args)]
struct OfficeFlags {
    /// Name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Description; an empty text empties it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Address, such as street='12 Market Road',city=Accra,country-code=GH,country=Ghana
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<Address>)]
    address: Option<Draft>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Drafts for OfficeFlags {
    fn draft(self) -> Outcome<Draft> {
        let draft = Draft::from_file(self.from.as_deref())?;
        Ok(draft.set("name", self.name).set("description", self.description).set("address", self.address))
    }
}

#[derive(Args)]
struct NewOffice {
    /// The office of which it is a branch
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    #[command(flatten)]
    flags: OfficeFlags,
}

impl Drafts for NewOffice {
    fn draft(self) -> Outcome<Draft> {
        Ok(self.flags.draft()?.set("parentIdentifier", self.parent))
    }
}

#[derive(Args)]
pub struct Branches {
    /// Identifier of the office
    #[arg(value_name = "ID")]
    office: String,
}

impl Verb for Branches {
    const ENDPOINT: Option<&'static Meta> = Some(&ListBranches::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa offices branches head-office", "mfa offices branches head-office -o id"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.list(ListBranches { office: self.office }, &views::OFFICE, Query).await
    }
}

#[derive(Args)]
pub struct AddBranch {
    /// Identifier of the parent
    #[arg(value_name = "PARENT")]
    parent: String,
    /// Identifier of the new branch
    #[arg(value_name = "ID", required_unless_present = "from")]
    identifier: Option<String>,
    #[command(flatten)]
    flags: OfficeFlags,
}

impl Verb for AddBranch {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateBranch::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa offices add-branch head-office airport --name Airport",
        "mfa offices add-branch market market-east --name 'Market East' -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?.set("identifier", self.identifier);
        let office = draft.text("identifier").unwrap_or_default().to_owned();
        let body = draft.body::<CreateBranch>()?;
        let read = GetOffice { office: office.clone() };
        let endpoint = CreateBranch { office: self.parent };
        cx.change(endpoint, body, NOUN.done(&[&office], "created"), read, &views::OFFICE).await
    }
}

#[derive(Args)]
pub struct AddressGet {
    /// Identifier of the office
    #[arg(value_name = "ID")]
    office: String,
}

impl Verb for AddressGet {
    const ENDPOINT: Option<&'static Meta> = Some(&GetOfficeAddress::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa offices address get head-office", "mfa offices address get head-office -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let address =
            cx.client.send(&GetOfficeAddress { office: self.office.clone() }, &Nothing).await?.value;
        if address.is_null() {
            cx.out.tip(&format!("office {} has no address", self.office));
        }
        cx.out.show(&views::ADDRESS, &address)
    }
}

#[derive(Args)]
struct ReferenceFlags {
    /// Label of the other system
    #[arg(long = "type", value_name = "TEXT")]
    kind: String,
    /// ACTIVE while the other system uses the office, else INACTIVE
    #[arg(long, value_name = "STATE")]
    state: String,
}

impl Drafts for ReferenceFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::default().set("type", Some(self.kind)).set("state", Some(self.state)))
    }
}
