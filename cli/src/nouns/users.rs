//! Users, their roles and passwords.

use crate::client::logins;
use crate::command::cx::Cx;
use crate::command::flags::{PasswordFlags, made_up_password, show_once};
use crate::command::noun::{self, APPLY, Apply, Drafts, IMPORT, Import, Noun, Samples, Section, held};
use crate::command::verb::{Verb, changes, shows, verb};
use crate::failure::{Failure, Outcome};
use crate::input::{self, Draft, Row};
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::users::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use serde_json::json;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "users",
    alias: "user",
    about: "Users, their roles and passwords",
    singular: "user",
    history: "user",
    list: Some(&ListUsers::META),
    read: Some(&GetUser::META),
    create: Some(Row::of::<CreateUser>()),
    change: Some(Row::of::<SetUserRole>()),
    // The password of an existing user is the user's own.
    change_body: |user| json!({ "identifier": user["role"] }),
    delete: Some(&DeleteUser::META),
    view: &views::USER,
    arguments: &["subject"],
    import: Some(Import {
        plural: "users",
        // Each password takes a while to hash.
        rows_max: 20,
        only_change: |user| user["password"].is_null(),
        example: &[("identifier", "abena.f"), ("role", "clerk"), ("password", "change me at once")],
        examples: &[
            "mfa users import --template > users.csv && mfa users import users.csv; rm -f users.csv*",
            "mfa users import --template | mfa users import - --validate-only",
        ],
        export_examples: &["mfa users export", "mfa users export -o jsonl"],
        ..IMPORT
    }),
    apply: Some(Apply {
        kind: "user",
        place: 4,
        unseen: &["password"],
        references: &[("/role", "role")],
        shown: held::<User>,
        ..APPLY
    }),
    samples: Samples { one: "esi", deleted: "esi", edit: "" },
    verbs: &[
        verb::<Create>("create"),
        shows("permissions", &ListUserPermissions::META, &views::PERMISSION, "user")
            .examples(&["mfa users permissions esi", "mfa users permissions esi -o json"]),
        changes::<SetUserRole, RoleFlags>("set-role", "user", "changed")
            .reading(&GetUser::META, &views::USER)
            .examples(&["mfa users set-role esi teller", "mfa users set-role esi deactivated"]),
        verb::<SetPassword>("set-password"),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Create {
    /// Identifier of the new user, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID")]
    identifier: String,
    /// The role, which need not exist yet
    #[arg(long, value_name = "ID")]
    role: String,
    #[command(flatten)]
    password: PasswordFlags,
    /// Generate a first password and show it once
    #[arg(long, conflicts_with_all = ["password_stdin", "password_file"])]
    generate_password: bool,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateUser::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo 'blue kettle 7' | mfa users create kojo --role teller --password-stdin",
        "mfa users create afua.o --role clerk --generate-password -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let user = self.identifier;
        if self.generate_password && cx.out.quiet {
            let what = "a password would be generated, and with --quiet it would not be shown";
            return Err(Failure::usage(what).hint("give --password-file, or leave --quiet out"));
        }
        let password = if self.generate_password {
            made_up_password()
        } else {
            self.password.fresh(cx, &format!("password of {user}"))?
        };
        let draft = Draft::default().set("identifier", Some(user.clone())).set("role", Some(self.role));
        let body = draft.set("password", Some(password.clone())).body::<CreateUser>()?;
        cx.check_columns(&views::USER)?;
        // A repeated command would make up another password, so no key repeats it.
        let client = if self.generate_password { cx.client.aside() } else { cx.client.clone() };
        let made = client.send(&CreateUser {}, &body).await;
        made.map_err(|failure| {
            if !(failure.in_doubt && self.generate_password) {
                return failure;
            }
            failure.hint(format!("give a password anew: mfa users set-password {}", quoted(&user)))
        })?;
        if self.generate_password {
            show_once(cx, &user, &password, ", to be changed at login")?;
        }
        cx.changed_row(&NOUN, &[&user], "created").await
    }
}

#[derive(Args)]
struct RoleFlags {
    /// The role; deactivated for a user who may not log in any more
    #[arg(value_name = "ROLE")]
    role: String,
}

impl Drafts for RoleFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::default().set("identifier", Some(self.role)))
    }
}

#[derive(Args)]
pub struct SetPassword {
    /// Identifier of the user
    #[arg(value_name = "ID")]
    user: String,
    #[command(flatten)]
    password: PasswordFlags,
    /// File of your present password, to change your own
    #[arg(long, value_name = "FILE")]
    current_password_file: Option<String>,
}

impl Verb for SetPassword {
    const ENDPOINT: Option<&'static Meta> = Some(&SetUserPassword::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo 'green kettle 8' | mfa users set-password esi --password-stdin",
        "echo 'green kettle 8' | mfa users set-password esi --password-stdin -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let user = self.user;
        // Changing one's own password ends the login, so the record may not be readable any more.
        let own = logins::find(&cx.client.profile, &cx.client.url)?.is_some_and(|login| login.caller == user);
        let given = self.password.given(cx)?;
        let present = match input::secret_file(self.current_password_file.as_deref().unwrap_or_default())? {
            None if own && given.is_none() => {
                Some(cx.prompt.secret(&format!("present password of {user}"), "--current-password-file")?)
            }
            present => present,
        };
        let password = match given {
            Some(password) => password,
            None => cx.prompt.new_secret(&format!("new password of {user}"), "--password-stdin")?,
        };
        let draft = Draft::default().set("password", Some(password)).set("currentPassword", present);
        let body = draft.body::<SetUserPassword>()?;
        cx.client.send(&SetUserPassword { user: user.clone() }, &body).await?;
        if own && cx.client.token.is_none() {
            logins::forget(&cx.client, &cx.client.url).await?;
            cx.out.tip(&format!("your logins have ended; log in again: mfa login {}", quoted(&user)));
        }
        cx.done(NOUN.done(&[&user], "given a new password"))
    }
}
