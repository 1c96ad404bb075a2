//! Actions: what ties the charges of a product to a type of transaction.

use crate::command::cx::{Cx, Done};
use crate::command::noun::{self, Noun, Samples, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::input::Draft;
use crate::output::views;
use clap::Args;
use mfa_shared::api::actions::*;
use mfa_shared::endpoint::{Endpoint, Meta};

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "actions",
    alias: "action",
    about: "What ties charges to types of transaction",
    singular: "action",
    history: "action",
    list: Some(&ListActions::META),
    view: &views::ACTION,
    samples: Samples { one: "Open", deleted: "", edit: "" },
    verbs: &[verb::<Create>("create")],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Create {
    /// Identifier of the new action, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID", required_unless_present = "from")]
    identifier: Option<String>,
    /// Name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Type of transaction, such as CDPT
    #[arg(long, value_name = "TYPE")]
    transaction_type: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateAction::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa actions create late-deposit --name 'Late deposit' --transaction-type CDPT",
        "mfa actions create stamp --name 'Stamp duty' --transaction-type CWDL --description 'from 2027 on'",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = Draft::from_file(self.from.as_deref())?
            .set("identifier", self.identifier)
            .set("name", self.name)
            .set("transactionType", self.transaction_type)
            .set("description", self.description);
        let action = draft.text("identifier").unwrap_or_default().to_owned();
        let done = Done { noun: "action", id: &action, what: "created" };
        cx.change(CreateAction {}, draft.body::<CreateAction>()?, done, ListActions {}, &views::ACTION).await
    }
}
