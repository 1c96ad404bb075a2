//! Portraits of customers.

use crate::command::cx::Cx;
use crate::command::images::{ImageFlags, check_place};
use crate::command::noun::{self, Noun, Samples};
use crate::command::verb::{Verb, removes, verb};
use crate::failure::Outcome;
use crate::nouns::customers;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::portraits::*;
use mfa_shared::endpoint::{Endpoint, Meta};

pub const NOUN: Noun = Noun {
    typed: "customers portrait",
    alias: "portraits",
    about: "The portrait of a customer",
    singular: "portrait",
    history: "portrait",
    read: Some(&GetPortrait::META),
    samples: Samples { one: "c-001", deleted: "", edit: "" },
    verbs: &[
        verb::<Set>("set"),
        verb::<Get>("get"),
        verb::<Show>("show"),
        removes("delete", &DeletePortrait::META, "customer", "left without a portrait")
            .asking("delete the portrait of customer {customer}")
            .examples(&[
                "mfa customers portrait delete c-001 --yes",
                "mfa customers portrait delete c-001 --yes -o json",
            ]),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Set {
    /// Identifier of the customer
    #[arg(value_name = "ID")]
    customer: String,
    #[command(flatten)]
    image: ImageFlags,
}

impl Verb for Set {
    const ENDPOINT: Option<&'static Meta> = Some(&SetPortrait::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa customers portrait set c-001 face.png",
        "cat face.png | mfa customers portrait set c-002 - -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::IMAGE)?;
        let Self { customer, image } = self;
        let file = image.file().to_owned();
        let body = image.upload(PortraitForm)?;
        cx.upload(&SetPortrait { customer: customer.clone() }, &body, &file).await?;
        let done = customers::NOUN.done(&[&customer], "given a portrait");
        if cx.change.no_read {
            return cx.done(done);
        }
        cx.report_image(&GetPortrait { customer: customer.clone() }, done).await
    }
}

#[derive(Args)]
pub struct Get {
    /// Identifier of the customer
    #[arg(value_name = "ID")]
    customer: String,
    /// File to save it in; - for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetPortrait::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa customers portrait get c-001 --out c-001.png",
        "mfa customers portrait get c-001 --out - | sha256sum",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { customer, out } = self;
        check_place(&out, &format!("mfa customers portrait show {}", quoted(&customer)))?;
        cx.save_image(&GetPortrait { customer: customer.clone() }, &customer, &out).await
    }
}

#[derive(Args)]
pub struct Show {
    /// Identifier of the customer
    #[arg(value_name = "ID")]
    customer: String,
}

impl Verb for Show {
    const ENDPOINT: Option<&'static Meta> = Some(&GetPortrait::META);
    const ABOUT: &'static str = "Draw the portrait of a customer in the terminal";
    const EXAMPLES: &'static [&'static str] =
        &["mfa customers portrait show c-001", "mfa customers portrait show c-001 --color always"];
    async fn run(self, cx: &Cx) -> Outcome {
        let save = format!("mfa customers portrait get {} --out FILE", quoted(&self.customer));
        cx.draw_image(&GetPortrait { customer: self.customer }, &save).await
    }
}
