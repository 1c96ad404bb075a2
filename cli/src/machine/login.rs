//! Who is logged in where.

use crate::client::logins::{self, Login as Kept};
use crate::client::{Client, keys};
use crate::command::cx::{Cx, Done};
use crate::command::flags::{CodeFlag, PasswordFlags};
use crate::command::verb::{Node, Verb, shows};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::moment::now_seconds;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::system::GetVersion;
use mfa_shared::api::tokens::*;
use mfa_shared::api::users::SetUserPassword;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, exit};
use mfa_shared::wire::Nothing;
use serde_json::json;

/// How often a new password that breaks a rule is asked for again.
const PASSWORD_TRIES_MAX: u32 = 3;
/// How long an assertion that is made here can be used.
const ASSERTION_SECONDS: i64 = 120;

#[derive(Args)]
pub struct Login {
    /// The user; asked for where it is not given
    #[arg(value_name = "USER", conflicts_with = "key")]
    user: Option<String>,
    #[command(flatten)]
    password: PasswordFlags,
    #[command(flatten)]
    code: CodeFlag,
    /// Sign in as this application; by default as the one that the key file names
    #[arg(long, value_name = "ID", requires = "key")]
    application: Option<String>,
    /// File of the application's private key
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Timestamp under which the key is registered, where the file does not say it
    #[arg(long, value_name = "TIMESTAMP", requires = "key")]
    kid: Option<String>,
    /// User in whose name the application acts
    #[arg(long, value_name = "USER", requires = "key")]
    subject: Option<String>,
    /// Call endpoint set to which the token is narrowed
    #[arg(long, value_name = "SET", requires = "key")]
    scope: Option<String>,
}

impl Verb for Login {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateToken::META);
    const ABOUT: &'static str = "Log in as a user, or sign in as an application";
    const EXAMPLES: &'static [&'static str] = &[
        "echo 'blue kettle 7' | mfa login esi --password-stdin",
        "mfa applications keygen pay-v1 --out pay.pem && mfa login --key pay.pem",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        match &self.key {
            Some(file) => self.sign_in(cx, file).await?,
            None => {
                let user = self.user.as_deref();
                by_password(cx, &cx.client, (user, "admin"), &self.password, &self.code).await?;
            }
        }
        cx.out.tip(&format!("logged in; the token is in {}, for you only", logins::path()?.display()));
        cx.show(GetCurrentToken {}, &views::TOKEN).await
    }
}

/// Logs a user in with a password from a file or the prompt, and makes sure that a first password is changed.
pub async fn by_password(
    cx: &Cx,
    client: &Client,
    (user, default): (Option<&str>, &str),
    password: &PasswordFlags,
    code: &CodeFlag,
) -> Outcome {
    client.check_wire()?;
    let user = match user {
        Some(user) => user.to_owned(),
        None => {
            cx.prompt.check("USER")?;
            cx.prompt.ask_or("user", default)?
        }
    };
    let password = password.known(cx, &format!("password of {user}"))?;
    let token = match log_in(client, &user, password.clone(), code.given()?).await {
        Err(failure) if failure.code == fault::SECOND_FACTOR_REQUIRED.code && cx.prompt.can_ask() => {
            log_in(client, &user, password.clone(), Some(code.known(cx)?)).await?
        }
        logged_in => logged_in?,
    };
    if !token.password_change_required {
        return Ok(());
    }
    if !cx.prompt.can_ask() {
        let user = quoted(&user);
        cx.out.warn(&format!("set a new password before anything else: mfa users set-password {user}"));
        return Ok(());
    }
    cx.out.say(&format!("{user} has to set a new password before anything else"));
    let mut tries = 0;
    loop {
        match change_password(cx, client, &user, &password).await {
            // The change has ended the login with which it was made.
            Ok(password) => return log_in(client, &user, password, None).await.map(drop),
            Err(failure) if failure.exit == exit::INVALID && tries < PASSWORD_TRIES_MAX => {
                cx.out.insist(&failure.message);
                tries += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Asks for a new password and sets it; the present one has just been given.
async fn change_password(cx: &Cx, client: &Client, user: &str, present: &str) -> Outcome<String> {
    let password = cx.prompt.new_secret("new password", "--password-stdin")?;
    let body = input::body::<SetUserPassword>(&json!({ "password": password, "currentPassword": present }))?;
    client.send(&SetUserPassword { user: user.to_owned() }, &body).await?;
    Ok(password)
}

/// Logs a user in and keeps the token.
pub async fn log_in(client: &Client, user: &str, password: String, otp: Option<String>) -> Outcome<Token> {
    let token = ask(client, TokenRequest::Password { username: user.to_owned(), password, otp }).await?;
    logins::save(client, Kept::new(client, user.to_owned(), &token)).await?;
    Ok(token)
}

/// The user that was given, or the one who is logged in; `flag` is what names another.
pub async fn user(cx: &Cx, given: Option<String>, flag: &str) -> Outcome<String> {
    if let Some(user) = given {
        return Ok(user);
    }
    let token = cx.client.send(&GetCurrentToken {}, &Nothing).await?.value;
    let refused = match (token["application"].as_str(), token["user"].as_str()) {
        (None, Some(user)) => return Ok(user.to_owned()),
        (Some(application), _) => format!("{flag} is needed: this is a token of application {application}"),
        (None, None) => format!("{flag} is needed: you are not logged in"),
    };
    Err(Failure::usage(refused).hint(format!("give {flag}")))
}

/// Who calls, as the audit trail says it.
pub async fn caller(client: &Client) -> Outcome<String> {
    let token = client.send(&GetCurrentToken {}, &Nothing).await?.value;
    Ok(match (token["user"].as_str(), token["application"].as_str()) {
        (Some(user), Some(application)) => format!("{user} by application:{application}"),
        (Some(user), None) => user.to_owned(),
        (None, Some(application)) => format!("application:{application}"),
        (None, None) => "guest".to_owned(),
    })
}

impl Login {
    async fn sign_in(&self, cx: &Cx, file: &str) -> Outcome {
        let key = keys::read(file)?;
        let application = self.application.clone().or(key.application.clone());
        let application = application
            .ok_or_else(|| Failure::usage(format!("{file} names no application; give --application")))?;
        let kid = self.kid.clone().or(key.timestamp.clone());
        let kid =
            kid.ok_or_else(|| Failure::usage(format!("{file} does not say its timestamp; give --kid")))?;
        let version = cx.client.send(&GetVersion {}, &Nothing).await?.value;
        let mut claims = json!({
            "iss": application,
            "aud": version["instance"],
            "exp": now_seconds() + ASSERTION_SECONDS,
            "jti": crate::client::idempotency::new_key(),
        });
        if let Some(subject) = &self.subject {
            claims["sub"] = json!(subject);
        }
        let assertion = key.assertion(&kid, &claims)?;
        let request = TokenRequest::Assertion { assertion, scope: self.scope.clone() };
        let token = ask(&cx.client, request).await?;
        logins::save(&cx.client, Kept::new(&cx.client, format!("application:{application}"), &token)).await
    }
}

async fn ask(client: &Client, request: TokenRequest) -> Outcome<Token> {
    let answer = client.send(&CreateToken {}, &request).await?.value;
    serde_json::from_value(answer).map_err(|_| Failure::local("the daemon returned no token"))
}

#[derive(Args)]
pub struct Logout {}

impl Verb for Logout {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteCurrentToken::META);
    const EXAMPLES: &'static [&'static str] = &["mfa logout", "mfa logout -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        end(cx, DeleteCurrentToken {}, "logged out").await
    }
}

/// Ends sessions at the daemon, and forgets the login here, too, when it had ended there already.
pub async fn end<E: Endpoint<Body = Nothing>>(cx: &Cx, endpoint: E, what: &str) -> Outcome {
    match cx.client.send(&endpoint, &Nothing).await {
        Err(failure) if failure.status != Some(401) => return Err(failure),
        _ => logins::forget(&cx.client, &cx.client.url).await?,
    }
    cx.done(Done { noun: "daemon", id: &cx.client.url, what })
}

pub const WHOAMI: Node = shows("whoami", &GetCurrentToken::META, &views::TOKEN, "")
    .examples(&["mfa whoami", "mfa whoami -o json"]);
