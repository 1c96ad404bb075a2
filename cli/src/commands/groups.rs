//! Permittable groups: which endpoints a permission is about.

use crate::client::Client;
use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::input::Draft;
use crate::tree::{Node, Verb, verb};
use crate::views;
use clap::Args;
use mfa_shared::api::groups::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::{Value, json};

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<super::history::OfGroup>("history"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Edit>("edit"),
    verb::<Delete>("delete"),
];

/// Identifiers that contain a text.
pub async fn identifiers(client: &Client, term: &str) -> Vec<String> {
    super::named(client, ListGroups {}, term).await
}

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "group", id, what }
}

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListGroups::META);
    const EXAMPLES: &'static [&'static str] = &["mfa groups list", "mfa groups list -o id"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListGroups {}, &views::GROUP).await
    }
}

#[derive(Args)]
pub struct Get {
    /// Identifier of the group
    #[arg(value_name = "ID")]
    group: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetGroup::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa groups get identity__v1__users", "mfa group get identity__v1__users -o yaml"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(GetGroup { group: self.group }, &views::GROUP).await
    }
}

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

/// What one flag stands for: a permittable for each method.
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
        let group = draft.text("identifier").unwrap_or_default().to_owned();
        let body = draft.body::<CreateGroup>()?;
        let read = GetGroup { group: group.clone() };
        cx.change(CreateGroup {}, body, done(&group, "created"), read, &views::GROUP).await
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
        let group = self.group;
        let (read, write) = (GetGroup { group: group.clone() }, UpdateGroup { group: group.clone() });
        cx.update(read, write, self.flags.draft()?, done(&group, "updated"), &views::GROUP).await
    }
}

#[derive(Args)]
pub struct Edit {
    /// Identifier of the group
    #[arg(value_name = "ID")]
    group: String,
}

impl Verb for Edit {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateGroup::META);
    const ABOUT: &'static str = "Change a group in the editor that VISUAL or EDITOR names";
    const EXAMPLES: &'static [&'static str] = &[
        "EDITOR=true mfa groups edit see-customers --yes",
        "EDITOR=true mfa groups edit see-customers --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let group = self.group;
        let read = GetGroup { group: group.clone() };
        let write = UpdateGroup { group: group.clone() };
        cx.edit(read, write, done(&group, "updated"), &views::GROUP).await
    }
}

#[derive(Args)]
pub struct Delete {
    /// Identifier of the group
    #[arg(value_name = "ID")]
    group: String,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteGroup::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa groups delete see-customers --yes", "mfa groups delete see-customers --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.prompt.before_destroying(&format!("delete group {}", self.group), &self.group)?;
        cx.client.send(&DeleteGroup { group: self.group.clone() }, &Nothing).await?;
        cx.done(done(&self.group, "deleted"))
    }
}
