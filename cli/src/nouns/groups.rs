//! Permittable groups: which endpoints a permission covers.

use crate::command::noun::{self, APPLY, Apply, Drafts, Flags, Noun, Samples, Section, held};
use crate::failure::Outcome;
use crate::input::{Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::groups::*;
use mfa_shared::endpoint::Endpoint;
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
    creates: Some(Flags::of::<GroupFlags>(&[
        "mfa groups create read-offices --permittable 'GET office-v1/offices/*'",
        "echo '{\"identifier\": \"empty\", \"permittables\": []}' | mfa groups create --from -",
    ])),
    change: Some(Row::of::<UpdateGroup>()),
    updates: Some(Flags::of::<GroupFlags>(&[
        "mfa groups update see-customers --permittable 'GET customer-v1/customers/{*}'",
        "mfa groups get see-customers -o json | mfa groups update see-customers --from -",
    ])),
    delete: Some(&DeleteGroup::META),
    edited: true,
    view: &views::GROUP,
    arguments: &["groups"],
    fields: &["group"],
    free: &["permittableEndpointGroupIdentifier", "permittableEndpointGroupIdentifiers"],
    apply: Some(Apply { kind: "group", place: 0, shown: held::<PermittableGroup>, ..APPLY }),
    samples: Samples { one: "identity__v1__users", deleted: "see-customers", edit: "" },
    ..noun::NOUN
};

// What a group can be given when it is created and when it is changed.
#[derive(Args)]
struct GroupFlags {
    /// Methods and a path, such as 'GET,PUT office-v1/offices/*'; can be repeated
    #[arg(long, value_name = "METHODS PATH", value_parser = permittables)]
    permittable: Vec<Permittables>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

/// The value of one flag: a permittable for each method.
#[derive(Clone)]
struct Permittables(Vec<Value>);

fn permittables(text: &str) -> Result<Permittables, String> {
    let (methods, path) =
        text.split_once(' ').ok_or("it must be METHODS PATH, such as 'GET,PUT a-v1/b/*'")?;
    if path.trim_start().starts_with('/') {
        let what = "the path begins with the application and its version, such as office-v1/offices/*";
        return Err(what.to_owned());
    }
    let one = |method: &str| json!({ "path": path.trim(), "method": method });
    Ok(Permittables(methods.split(',').map(one).collect()))
}

impl Drafts for GroupFlags {
    fn draft(self) -> Outcome<Draft> {
        let all: Vec<Value> = self.permittable.into_iter().flat_map(|of_flag| of_flag.0).collect();
        Ok(Draft::from_file(self.from.as_deref())?.set("permittables", (!all.is_empty()).then_some(all)))
    }
}
