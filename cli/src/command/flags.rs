//! Flags that several nouns share. (Plain comments on the structs: a doc comment would become the help of
//! every command that has them.)

use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Draft, Row, names};
use crate::random;
use crate::words::quoted;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use mfa_shared::api::customers::CustomerContact;
use mfa_shared::wire::Outgoing;
use serde_json::Value;

/// Flags that give properties of a record.
pub trait Drafts: Args {
    fn draft(self) -> Outcome<Draft>;
}

/// Such flags where their type is not known, and command lines of their verb that work.
#[derive(Clone, Copy)]
pub struct Flags {
    pub add: fn(Command) -> Command,
    pub draft: fn(&ArgMatches) -> Outcome<Draft>,
    pub examples: &'static [&'static str],
}

impl Flags {
    pub const fn of<F: Drafts>(examples: &'static [&'static str]) -> Self {
        Self { add: F::augment_args, draft: |matches| read::<F>(matches)?.draft(), examples }
    }
}

/// Flags that give the body of a request.
pub trait Bodies: Args {
    fn body(self, row: &Row) -> Outcome<Outgoing>;
}

impl<F: Drafts> Bodies for F {
    fn body(self, row: &Row) -> Outcome<Outgoing> {
        self.draft()?.body_of(row)
    }
}

/// The flags of a command, as they were typed.
pub fn read<F: FromArgMatches>(matches: &ArgMatches) -> Outcome<F> {
    F::from_arg_matches(matches).map_err(|error| Failure::usage(error.to_string()))
}

// The flags of an address that is set on its own.
#[derive(Debug, Args)]
pub struct AddressFlags {
    /// Street and house number
    #[arg(long, value_name = "TEXT")]
    street: Option<String>,
    /// City
    #[arg(long, value_name = "TEXT")]
    city: Option<String>,
    /// Region
    #[arg(long, value_name = "TEXT")]
    region: Option<String>,
    /// Postal code
    #[arg(long, value_name = "TEXT")]
    postal_code: Option<String>,
    /// Code of the country, two letters or digits
    #[arg(long, value_name = "CODE")]
    country_code: Option<String>,
    /// Name of the country
    #[arg(long, value_name = "TEXT")]
    country: Option<String>,
    /// Address of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Drafts for AddressFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("street", self.street)
            .set("city", self.city)
            .set("region", self.region)
            .set("postalCode", self.postal_code)
            .set("countryCode", self.country_code)
            .set("country", self.country))
    }
}

// The flags of contacts that are set on their own.
#[derive(Debug, Args)]
pub struct ContactFlags {
    /// Contact, such as type=mobile,group=private,value=+233201234567; can be repeated
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<CustomerContact>)]
    contact: Vec<Draft>,
    /// List of contacts, JSON or YAML, - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "contact")]
    from: Option<String>,
    /// Remove all contacts
    #[arg(long, conflicts_with_all = ["contact", "from"])]
    none: bool,
}

impl Bodies for ContactFlags {
    fn body(self, row: &Row) -> Outcome<Outgoing> {
        let contacts = match &self.from {
            Some(file) => {
                let contacts = input::structured(file)?;
                names::check(row.meta, file, &contacts)?;
                contacts
            }
            None if self.contact.is_empty() && !self.none => {
                let hint = "give --contact, --from or --none";
                return Err(Failure::usage("there are no contacts to set").hint(hint));
            }
            None => self.contact.into_iter().map(Value::from).collect(),
        };
        (row.body)(&contacts)
    }
}

// Where the password of a user or of a drawer comes from; it is never typed into a command line.
#[derive(Debug, Default, Args)]
pub struct PasswordFlags {
    /// Read the password from standard input
    #[arg(long, conflicts_with = "password_file")]
    password_stdin: bool,
    /// File of the password, - for standard input [env: MFA_PASSWORD_FILE]
    #[arg(long, value_name = "FILE")]
    password_file: Option<String>,
}

impl PasswordFlags {
    /// The password from a flag or a setting.
    pub fn given(&self, cx: &Cx) -> Outcome<Option<String>> {
        let file = self.password_file.as_deref().unwrap_or(cx.settings.get("password_file").0);
        input::secret_file(if self.password_stdin { "-" } else { file })
    }

    /// A new password, typed twice where it is asked for; `what` names it.
    pub fn fresh(&self, cx: &Cx, what: &str) -> Outcome<String> {
        match self.given(cx)? {
            Some(password) => Ok(password),
            None => cx.prompt.new_secret(what, "--password-stdin"),
        }
    }

    /// The present password; `what` names it.
    pub fn known(&self, cx: &Cx, what: &str) -> Outcome<String> {
        match self.given(cx)? {
            Some(password) => Ok(password),
            None => cx.prompt.secret(what, "--password-stdin"),
        }
    }
}

// Where a code of a second factor comes from.
#[derive(Debug, Default, Args)]
pub struct CodeFlag {
    /// File of the code of your authenticator, or of a recovery code; - for standard input
    #[arg(long, value_name = "FILE")]
    otp_file: Option<String>,
}

impl CodeFlag {
    /// The code from the flag.
    pub fn given(&self) -> Outcome<Option<String>> {
        input::secret_file(self.otp_file.as_deref().unwrap_or_default())
    }

    /// The code from the flag, or typed by the user.
    pub fn known(&self, cx: &Cx) -> Outcome<String> {
        match self.given()? {
            Some(code) => Ok(code),
            None => cx.prompt.text("code of your authenticator: ", "--otp-file"),
        }
    }
}

pub fn made_up_password() -> String {
    mfa_shared::api::users::made_up_password(random::bytes())
}

/// Shows a generated password, but not with `--quiet`: such output goes into logs, and no password may.
pub fn show_once(cx: &Cx, user: &str, password: &str, more: &str) -> Outcome {
    if cx.out.quiet {
        return Ok(());
    }
    let shown = cx.out.insisted(&format!("the password of {user} is {password}: it is shown only now{more}"));
    shown.map_err(|error| {
        Failure::local(format!("the password of {user} could not be shown: {error}"))
            .hint(format!("give another one: mfa users set-password {}", quoted(user)))
    })
}
