//! Roles and what they allow.

use crate::command::cx::Cx;
use crate::command::noun::{self, APPLY, Apply, Drafts, Flags, Noun, Samples, Section, held};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views::{self, View, column};
use clap::Args;
use mfa_shared::api::roles::*;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "roles",
    alias: "role",
    about: "Roles and what they allow",
    singular: "role",
    history: "role",
    list: Some(&ListRoles::META),
    read: Some(&GetRole::META),
    create: Some(Row::of::<CreateRole>()),
    creates: Some(Flags::of::<RoleFlags>(&[
        "mfa roles create front --permission customer__v1__customer=RC --permission office__v1__offices=R",
        "echo '{\"identifier\": \"nobody\", \"permissions\": []}' | mfa roles create --from -",
    ])),
    change: Some(Row::of::<UpdateRole>()),
    updates: Some(Flags::of::<RoleFlags>(&[
        "mfa roles update counter --permission customer__v1__customer=R",
        "mfa roles get counter -o json | mfa roles update counter --from -",
    ])),
    delete: Some(&DeleteRole::META),
    tried: true,
    edited: true,
    view: &views::ROLE,
    fields: &["role"],
    free: &["role"],
    apply: Some(Apply {
        kind: "role",
        place: 1,
        references: &[("/permissions/*/permittableEndpointGroupIdentifier", "group")],
        shown: held::<Role>,
        ..APPLY
    }),
    samples: Samples { one: "counter", deleted: "counter", edit: "" },
    verbs: &[verb::<Matrix>("matrix")],
    ..noun::NOUN
};

// What a role can be given when it is created and when it is changed.
#[derive(Args)]
struct RoleFlags {
    /// Group and operations, such as office__v1__offices=RC; can be repeated
    #[arg(long, value_name = "GROUP=RCD", value_parser = input::permission)]
    permission: Vec<Draft>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Drafts for RoleFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?.set_list("permissions", &self.permission))
    }
}

#[derive(Args)]
pub struct Matrix {}

impl Verb for Matrix {
    const ABOUT: &'static str = "Show what each role may do on each group: R read, C change, D delete";
    const EXAMPLES: &'static [&'static str] = &["mfa roles matrix", "mfa roles matrix -o csv"];
    const EXITS: &'static [i32] = &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let roles = cx.client.send(&ListRoles {}, &Nothing).await?.value;
        let roles: Vec<Role> = serde_json::from_value(roles).unwrap_or_default();
        let mut groups: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for role in &roles {
            for permission in &role.permissions {
                let letters: String =
                    permission.allowed_operations.iter().map(|o| &o.as_str()[..1]).collect();
                let row = groups.entry(&permission.permittable_endpoint_group_identifier).or_default();
                row.insert(role.identifier.clone(), Value::from(letters));
            }
        }
        let row = |(group, mut cells): (&str, Map<String, Value>)| {
            cells.insert("group".to_owned(), json!(group));
            Value::Object(cells)
        };
        let rows: Vec<_> = groups.into_iter().map(row).collect();
        cx.out.show_folded(&view(&roles), &rows)
    }
}

/// A column for each role. The names live as long as the process, which ends when the table is printed.
fn view(roles: &[Role]) -> View {
    let mut columns = vec![column("group", "/group", 0)];
    for role in roles {
        let name: &'static str = role.identifier.clone().leak();
        columns.push(column(name, format!("/{name}").leak(), 1));
    }
    View::of("groups").columns(columns.leak())
}
