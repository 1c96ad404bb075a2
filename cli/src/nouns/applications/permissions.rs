//! What applications may do: permissions, call endpoint sets, consents.

use crate::command::cx::{Cx, Done};
use crate::command::noun::{self, Noun, Samples};
use crate::command::verb::{Verb, removes, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::applications::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{JsonFlag, Nothing};
use serde_json::json;

pub const PERMISSIONS: Noun = Noun {
    typed: "applications permissions",
    alias: "permission",
    about: "What an application may do",
    singular: "permission",
    history: "permission",
    list: Some(&ListApplicationPermissions::META),
    read: Some(&GetApplicationPermission::META),
    change: Some(Row::of::<UpdateApplicationPermission>()),
    key: "group",
    view: &views::PERMISSION,
    samples: Samples { one: "crm-v1 identity__v1__users", deleted: "", edit: "" },
    verbs: &[
        verb::<Add>("add"),
        verb::<Update>("update"),
        removes("delete", &DeleteApplicationPermission::META, "application", "left without the permission")
            .asking("take permission {group} from application {application}")
            .arguments(&[("ID", "Identifier of the application"), ("GROUP", "The permittable group")])
            .examples(&[
                "mfa applications permissions delete crm-v1 identity__v1__users --yes",
                "mfa applications permissions delete crm-v1 identity__v1__users --yes -o json",
            ]),
    ],
    ..noun::NOUN
};

pub const SETS: Noun = Noun {
    typed: "applications sets",
    alias: "set",
    about: "Call endpoint sets, to which a token can be narrowed",
    singular: "call endpoint set",
    history: "set",
    list: Some(&ListCallEndpointSets::META),
    read: Some(&GetCallEndpointSet::META),
    create: Some(Row::of::<CreateCallEndpointSet>()),
    change: Some(Row::of::<UpdateCallEndpointSet>()),
    view: &views::SET,
    samples: Samples { one: "crm-v1 doorway", deleted: "", edit: "" },
    verbs: &[
        verb::<SetsCreate>("create"),
        verb::<SetsUpdate>("update"),
        removes("delete", &DeleteCallEndpointSet::META, "call endpoint set", "deleted")
            .asking("delete set {set} of application {application}")
            .arguments(&[("ID", "Identifier of the application"), ("SET", "Identifier of the set")])
            .examples(&[
                "mfa applications sets delete crm-v1 doorway --yes",
                "mfa applications sets delete crm-v1 doorway --yes -o json",
            ]),
    ],
    ..noun::NOUN
};

pub const CONSENTS: Noun = Noun {
    typed: "applications consents",
    alias: "consent",
    about: "What users let an application do in their name",
    singular: "consent",
    history: "consent",
    read: Some(&GetConsent::META),
    samples: Samples { one: "crm-v1 identity__v1__users esi", deleted: "", edit: "" },
    verbs: &[verb::<ConsentsGet>("get"), verb::<ConsentsSet>("set")],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Add {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
    /// Group and operations, such as office__v1__offices=RC
    #[arg(value_name = "GROUP=RCD", value_parser = input::permission)]
    permission: Draft,
}

impl Verb for Add {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateApplicationPermission::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications permissions add crm-v1 identity__v1__roles=R",
        "mfa applications permissions add crm-v1 identity__v1__self=RC -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let application = self.application;
        let group = self.permission.text("permittableEndpointGroupIdentifier").unwrap_or_default().to_owned();
        let body = self.permission.body::<CreateApplicationPermission>()?;
        let read = GetApplicationPermission { application: application.clone(), group };
        let done = Done { noun: "application", id: &application, what: "given a permission" };
        let endpoint = CreateApplicationPermission { application: application.clone() };
        cx.change(endpoint, body, done, read, &views::PERMISSION).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
    /// Group and operations, such as office__v1__offices=RC; added ones clear the consents
    #[arg(value_name = "GROUP=RCD", value_parser = input::permission)]
    permission: Draft,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateApplicationPermission::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications permissions update crm-v1 identity__v1__users=RC",
        "mfa applications permissions update crm-v1 identity__v1__users=R -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let application = self.application;
        let group = self.permission.text("permittableEndpointGroupIdentifier").unwrap_or_default().to_owned();
        let done = Done { noun: "application", id: &application, what: "given other operations" };
        cx.update_as(&PERMISSIONS, &[&application, &group], self.permission, done).await
    }
}

// The groups of a set.
#[derive(Args)]
struct SetFlags {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
    /// Identifier of the set
    #[arg(value_name = "SET")]
    set: String,
    /// A permittable group; can be repeated
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
}

impl SetFlags {
    fn draft(&self) -> Draft {
        let draft = Draft::default().set("identifier", Some(self.set.clone()));
        draft.set("permittableEndpointGroupIdentifiers", Some(self.groups.clone()))
    }
}

#[derive(Args)]
pub struct SetsCreate {
    #[command(flatten)]
    flags: SetFlags,
}

impl Verb for SetsCreate {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateCallEndpointSet::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications sets create crm-v1 lobby --group identity__v1__users",
        "mfa applications sets create crm-v1 nothing -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.create(&SETS, &[&self.flags.application], self.flags.draft()).await
    }
}

#[derive(Args)]
pub struct SetsUpdate {
    #[command(flatten)]
    flags: SetFlags,
}

impl Verb for SetsUpdate {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateCallEndpointSet::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications sets update crm-v1 doorway --group identity__v1__roles",
        "mfa applications sets update crm-v1 doorway -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let SetFlags { application, set, .. } = &self.flags;
        cx.update(&SETS, &[application, set], self.flags.draft()).await
    }
}

// Whose consent to what.
#[derive(Args)]
struct ConsentFlags {
    /// Identifier of the application
    #[arg(value_name = "ID")]
    application: String,
    /// The permittable group
    #[arg(value_name = "GROUP")]
    group: String,
    /// The user
    #[arg(value_name = "USER")]
    user: String,
}

async fn show(cx: &Cx, flags: ConsentFlags) -> Outcome {
    let ConsentFlags { application, group, user } = flags;
    let read = GetConsent { application: application.clone(), group: group.clone(), user: user.clone() };
    let enabled = cx.client.send(&read, &Nothing).await?.value;
    let record = json!({ "application": application, "group": group, "user": user, "enabled": enabled });
    cx.out.show(&views::CONSENT, &record)
}

#[derive(Args)]
pub struct ConsentsGet {
    #[command(flatten)]
    flags: ConsentFlags,
}

impl Verb for ConsentsGet {
    const ENDPOINT: Option<&'static Meta> = Some(&GetConsent::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications consents get crm-v1 identity__v1__users esi",
        "mfa applications consents get crm-v1 identity__v1__users esi -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        show(cx, self.flags).await
    }
}

#[derive(Args)]
pub struct ConsentsSet {
    #[command(flatten)]
    flags: ConsentFlags,
    /// true, or false to take the consent back
    #[arg(value_name = "true|false", action = clap::ArgAction::Set)]
    enabled: bool,
}

impl Verb for ConsentsSet {
    const ENDPOINT: Option<&'static Meta> = Some(&SetConsent::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa applications consents set crm-v1 identity__v1__users esi true",
        "mfa applications consents set crm-v1 identity__v1__users esi false -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        if !cx.client.dry_run {
            cx.out.check_columns(&views::CONSENT)?;
        }
        let ConsentFlags { application, group, user } = &self.flags;
        let (application, group, user) = (application.clone(), group.clone(), user.clone());
        cx.client.send(&SetConsent { application, group, user }, &JsonFlag(self.enabled)).await?;
        show(cx, self.flags).await
    }
}
