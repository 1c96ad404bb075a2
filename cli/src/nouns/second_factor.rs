//! The second factor of a user: an authenticator whose codes a login needs.

use crate::command::cx::{Cx, Done};
use crate::command::flags::CodeFlag;
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::machine::login;
use crate::output::views;
use clap::Args;
use mfa_shared::api::second_factor::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Json, JsonOfSome};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "second-factor",
    alias: "",
    about: "The authenticator whose codes a login needs beside the password",
    verbs: &[
        verb::<Status>("status"),
        verb::<Enable>("enable"),
        verb::<Confirm>("confirm"),
        verb::<Disable>("disable"),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Status {
    /// The user; by default the one who is logged in
    #[arg(value_name = "USER")]
    user: Option<String>,
}

impl Verb for Status {
    const ENDPOINT: Option<&'static Meta> = Some(&GetSecondFactor::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa second-factor status", "mfa second-factor status esi -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let user = login::user(cx, self.user, "USER").await?;
        cx.show(GetSecondFactor { user }, &views::SECOND_FACTOR).await
    }
}

#[derive(Args)]
pub struct Enable {}

impl Verb for Enable {
    const ENDPOINT: Option<&'static Meta> = Some(&BeginSecondFactor::META);
    const ABOUT: &'static str = "Set up your second factor: scan a picture, then confirm it with a code";
    const EXAMPLES: &'static [&'static str] =
        &["mfa second-factor enable", "mfa second-factor enable --no-input -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        if !cx.prompt.can_ask() || cx.out.quiet {
            cx.out.check_columns(&views::FACTOR_SECRET)?;
        } else {
            cx.out.check_columns(&views::RECOVERY_CODE)?;
        }
        let user = login::user(cx, None, "a login").await?;
        let made = cx
            .client
            .send(&BeginSecondFactor { user: user.clone() }, &Json(SecondFactorWish {}))
            .await?
            .value;
        // The picture is shown before the code is asked for.
        if !cx.prompt.can_ask() || cx.out.quiet {
            cx.out.show(&views::FACTOR_SECRET, &made)?;
            cx.out.say("it takes effect once it is confirmed: mfa second-factor confirm --otp-file FILE");
            return Ok(());
        }
        let uri = made["uri"].as_str().unwrap_or_default();
        cx.out.say(&format!("scan this with your authenticator:\n{}", picture(uri)?));
        cx.out.say(&format!("or type the secret: {}", made["secret"].as_str().unwrap_or_default()));
        let code = cx.prompt.text("the code that it shows now: ", "--otp-file")?;
        confirm(cx, user, &code).await
    }
}

/// The picture of an address, as a terminal draws it.
fn picture(uri: &str) -> Outcome<String> {
    let failed = |error| Failure::local(format!("cannot draw the picture: {error}"));
    let code = QrCode::new(uri).map_err(failed)?;
    let (dark, light) = (Dense1x2::Light, Dense1x2::Dark);
    Ok(code.render::<Dense1x2>().dark_color(dark).light_color(light).build())
}

/// Shows a code, and prints the recovery codes.
async fn confirm(cx: &Cx, user: String, code: &str) -> Outcome {
    let body = input::body::<EnableSecondFactor>(&json!({ "code": code }))?;
    let codes = cx.client.send(&EnableSecondFactor { user }, &body).await?.value;
    cx.out.tip("keep these codes apart from the authenticator: each logs you in once if it is lost");
    let listed = codes["recoveryCodes"].as_array().cloned().unwrap_or_default();
    let records = listed.into_iter().map(|code| json!({ "code": code })).collect();
    cx.out.show(&views::RECOVERY_CODE, &records)
}

#[derive(Args)]
pub struct Confirm {
    #[command(flatten)]
    code: CodeFlag,
}

impl Verb for Confirm {
    const ENDPOINT: Option<&'static Meta> = Some(&EnableSecondFactor::META);
    const ABOUT: &'static str = "Confirm a new secret with one of its codes; from then on a login needs one";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa second-factor confirm --otp-file code.txt",
        "mfa second-factor confirm --otp-file code.txt -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns_shown(&views::RECOVERY_CODE)?;
        let user = login::user(cx, None, "a login").await?;
        let code = self.code.known(cx)?;
        confirm(cx, user, &code).await
    }
}

#[derive(Args)]
pub struct Disable {
    /// Another user, who needs no code
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    #[command(flatten)]
    code: CodeFlag,
}

impl Verb for Disable {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteSecondFactor::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa second-factor disable --user esi --yes",
        "mfa second-factor disable --otp-file code.txt --yes",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let is_own = self.user.is_none();
        let user = login::user(cx, self.user, "--user").await?;
        cx.prompt.before_ending(&format!("remove the second factor of user {user}"), &user)?;
        let body = if is_own {
            input::body::<EnableSecondFactor>(&json!({ "code": self.code.known(cx)? }))?.0.into()
        } else {
            None
        };
        cx.client.send(&DeleteSecondFactor { user: user.clone() }, &JsonOfSome(Ok(body))).await?;
        cx.done(Done { noun: "user", id: &user, what: "has no second factor any more" })
    }
}
