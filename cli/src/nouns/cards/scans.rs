//! Scans of identification cards.

use crate::command::cx::Cx;
use crate::command::images::{ImageFlags, check_place};
use crate::command::noun::{self, Noun, Samples};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::scans::*;
use mfa_shared::endpoint::{Endpoint, Meta};

pub const NOUN: Noun = Noun {
    typed: "cards scans",
    alias: "scan",
    about: "Scans of a card",
    singular: "scan",
    history: "scan",
    list: Some(&ListScans::META),
    read: Some(&GetScan::META),
    delete: Some(&DeleteScan::META),
    view: &views::SCAN,
    samples: Samples { one: "c-001 GHA-001122334-5 front", deleted: "c-001 GHA-001122334-5 front", edit: "" },
    verbs: &[verb::<Add>("add"), verb::<Get>("get"), verb::<Show>("show")],
    ..noun::NOUN
};

// The scan that a command is about.
#[derive(Args, Clone)]
struct Subject {
    /// Identifier of the customer
    #[arg(value_name = "CUSTOMER")]
    customer: String,
    /// Number of the card
    #[arg(value_name = "NUMBER")]
    card: String,
    /// Identifier of the scan
    #[arg(value_name = "SCAN")]
    scan: String,
}

impl Subject {
    fn read(self) -> GetScan {
        GetScan { customer: self.customer, card: self.card, scan: self.scan }
    }

    fn image(self) -> GetScanImage {
        GetScanImage { customer: self.customer, card: self.card, scan: self.scan }
    }

    /// The command of another verb on the same scan.
    fn command(&self, verb: &str) -> String {
        let [customer, card, scan] = [&self.customer, &self.card, &self.scan].map(|word| quoted(word));
        format!("mfa cards scans {verb} {customer} {card} {scan}")
    }
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    image: ImageFlags,
    /// What it shows
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
}

impl Verb for Add {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateScan::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards scans add c-001 GHA-001122334-5 back card.jpg --description 'Back side'",
        "cat card.jpg | mfa card scans add c-001 GHA-001122334-5 inside - -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { subject, image, description } = self;
        let scan = subject.scan.clone();
        let file = image.file().to_owned();
        let body = image.upload(ScanForm { scan_identifier: scan.clone(), description })?;
        let endpoint = CreateScan { customer: subject.customer.clone(), card: subject.card.clone() };
        cx.check_columns(&views::SCAN)?;
        cx.upload(&endpoint, &body, &file).await?;
        cx.changed_row(&NOUN, &[&subject.customer, &subject.card, &scan], "added").await
    }
}

#[derive(Args)]
pub struct Get {
    #[command(flatten)]
    subject: Subject,
    /// File to save the image in; - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetScan::META);
    const ABOUT: &'static str = "Read what a scan shows, or save its image";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards scans get c-001 GHA-001122334-5 front",
        "mfa cards scans get c-001 GHA-001122334-5 front --out front.jpg",
        "mfa card scans get c-001 GHA-001122334-5 front --out - | sha256sum",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Some(out) = self.out else { return cx.show(self.subject.read(), &views::SCAN).await };
        check_place(&out, &self.subject.command("show"))?;
        let scan = self.subject.scan.clone();
        cx.save_image(&self.subject.image(), &scan, &out).await
    }
}

#[derive(Args)]
pub struct Show {
    #[command(flatten)]
    subject: Subject,
}

impl Verb for Show {
    const ENDPOINT: Option<&'static Meta> = Some(&GetScanImage::META);
    const ABOUT: &'static str = "Draw the image of a scan in the terminal";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards scans show c-001 GHA-001122334-5 front",
        "mfa card scans show c-001 GHA-001122334-5 front --color never",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let save = format!("{} --out FILE", self.subject.command("get"));
        cx.draw_image(&self.subject.image(), &save).await
    }
}
