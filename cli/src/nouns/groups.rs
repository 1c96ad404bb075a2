//! Permittable groups: which endpoints a permission covers.

use crate::command::cx::Cx;
use crate::command::noun::{self, APPLY, Apply, Noun, Samples, Section, held};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::input::{Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::groups::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use serde_json::{Value, json};

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "groups",
    alias: "group",
    about: "Permittable groups: which endpoints a permission covers",
    singular: "group",
    history: "group",
    list: Some(&ListGroups::META),
    read: Some(&GetGroup::META),
    create: Some(Row::of::<CreateGroup>()),
    change: Some(Row::of::<UpdateGroup>()),
    delete: Some(&DeleteGroup::META),
    edited: true,
    view: &views::GROUP,
    arguments: &["groups"],
    fields: &["group"],
    free: &["permittableEndpointGroupIdentifier", "permittableEndpointGroupIdentifiers"],
    apply: Some(Apply { kind: "group", place: 0, shown: held::<PermittableGroup>, ..APPLY }),
    samples: Samples { one: "identity__v1__users", deleted: "see-customers", edit: "" },
    verbs: &[verb::<Create>("create"), verb::<Update>("update")],
    ..noun::NOUN
};

// What a group can be given when it is created and when it is changed.
#[derive(Args)]
struct GroupFlags {
    /// Methods and a path, such as 'GET,PUT office-v1/offices/*'; can be repeated
    #[arg(long, value_name = "METHODS PATH", value_parser = permittables)]
    permittable: Vec<Drafts>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

/// The value of one flag: a permittable for each method.
#[derive(Clone)]
struct Drafts(Vec<Value>);

fn permittables(text: &str) -> Result<Drafts, String> {
    let (methods, path) =
        text.split_once(' ').ok_or("it must be METHODS PATH, such as 'GET,PUT a-v1/b/*'")?;
    let one = |method: &str| json!({ "path": path.trim(), "method": method });
    Ok(Drafts(methods.split(',').map(one).collect()))
}

impl GroupFlags {
    fn draft(self) -> Outcome<Draft> {
        let all: Vec<Value> = self.permittable.into_iter().flat_map(|drafts| drafts.0).collect();
        Ok(Draft::from_file(self.from.as_deref())?.set("permittables", (!all.is_empty()).then_some(all)))
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the new group, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID", required_unless_present = "from")]
    identifier: Option<String>,
    #[command(flatten)]
    flags: GroupFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateGroup::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa groups create read-offices --permittable 'GET office-v1/offices/*'",
        "echo '{\"identifier\": \"empty\", \"permittables\": []}' | mfa groups create --from -",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?.set("identifier", self.identifier);
        cx.create(&NOUN, &[], draft).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the group
    #[arg(value_name = "ID")]
    group: String,
    #[command(flatten)]
    flags: GroupFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateGroup::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa groups update see-customers --permittable 'GET customer-v1/customers/{*}'",
        "mfa groups get see-customers -o json | mfa groups update see-customers --from -",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.update(&NOUN, &[&self.group], self.flags.draft()?).await
    }
}
