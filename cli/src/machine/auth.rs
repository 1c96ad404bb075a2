//! What a user may do.

use super::login;
use crate::command::cx::Cx;
use crate::command::verb::{Node, Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::output::views;
use clap::Args;
use mfa_shared::api::roles::Operation;
use mfa_shared::api::users::{AccessQuery, GetUserAccess, RequestAccess};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, exit};
use mfa_shared::rule::Word;
use mfa_shared::wire::Query;

pub const VERBS: &[Node] = &[verb::<CanI>("can-i"), verb::<Token>("token")];

#[derive(Args)]
pub struct Token {}

impl Verb for Token {
    const ABOUT: &'static str =
        "Print the access token of this login; anyone with it can act as you until it expires";
    const EXAMPLES: &'static [&'static str] =
        &["mfa auth token", "curl -H \"authorization: Bearer $(mfa auth token)\" \"$MFA_URL/customers\""];
    const EXITS: &'static [i32] = &[exit::NOT_LOGGED_IN, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let token = cx.client.bearer().await?;
        // No tip where the output goes to a program.
        if token.is_some() && cx.out.screen.stdout_is_terminal {
            cx.out.tip("anyone with this line can act as you until it expires; mfa logout ends it at once");
        }
        match token {
            Some(token) if cx.out.format.is_structured() => cx.out.document("token", &token),
            Some(token) => cx.out.document("token", &(token + "\n")),
            None => Err(Failure::of(fault::UNAUTHENTICATED, "you are not logged in here")
                .hint(fault::UNAUTHENTICATED.hint)),
        }
    }
}

#[derive(Args)]
pub struct CanI {
    /// READ, CHANGE or DELETE
    #[arg(value_name = "OPERATION", value_parser = operation)]
    operation: Operation,
    /// Path of a request, such as /customers/c-001
    #[arg(value_name = "PATH")]
    path: String,
    /// Another user, whom the caller may see
    #[arg(long, value_name = "ID")]
    user: Option<String>,
}

fn operation(text: &str) -> Result<Operation, String> {
    Operation::find(&text.to_ascii_uppercase()).ok_or_else(|| "it is READ, CHANGE or DELETE".to_owned())
}

impl Verb for CanI {
    const ENDPOINT: Option<&'static Meta> = Some(&GetUserAccess::META);
    const ABOUT: &'static str = "Show whether a user may do something; exits with 0 if so and with 5 if not";
    const EXAMPLES: &'static [&'static str] =
        &["mfa auth can-i CHANGE /customers", "mfa auth can-i READ /customers/c-001 --user esi"];
    async fn run(self, cx: &Cx) -> Outcome {
        let user = login::user(cx, self.user, "--user").await?;
        let asked = Query(AccessQuery { operation: self.operation, path: self.path.clone() });
        let answer = cx.client.send(&GetUserAccess { user: user.clone() }, &asked).await?.value;
        let requests: Vec<RequestAccess> = serde_json::from_value(answer.clone())
            .map_err(|_| Failure::local("the daemon does not say what is allowed"))?;
        match requests.into_iter().find(|request| !request.allowed) {
            None => cx.out.show(&views::ACCESS, &answer),
            Some(refused) => Err(denied(&user, refused)),
        }
    }
}

/// The answer no, which ends as the refused request itself would.
fn denied(user: &str, refused: RequestAccess) -> Failure {
    let row = refused.code.as_deref().and_then(fault::find).unwrap_or(fault::FORBIDDEN);
    let detail = refused
        .detail
        .unwrap_or_else(|| format!("{user} may not {} {}", refused.method.as_str(), refused.path));
    // The answer is no, whatever the status of the request would be.
    Failure::of(row, detail).exit(exit::FORBIDDEN).hint(row.hint).lacking(refused.missing)
}
