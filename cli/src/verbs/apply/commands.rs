//! `mfa apply` and `mfa diff`: the institution as files describe it.

use crate::client::References;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::{Format, Output, views};
use crate::verbs::apply::plan::{Plan, plan};
use crate::verbs::apply::send::{Became, carry_out, try_out};
use crate::verbs::apply::{files, show};
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::json;

#[derive(Args)]
pub struct Apply {
    /// File or folder of documents, - for standard input; can be repeated
    #[arg(short, long = "file", value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Only try it: the daemon makes every change and takes it back; exits with 20 if something would change
    #[arg(long)]
    dry_run: bool,
    /// Refuse documents that name records which neither exist nor are created before them
    #[arg(long)]
    existing_only: bool,
}

impl Verb for Apply {
    const ABOUT: &'static str =
        "Make the institution match files: offices, roles, users, products, tellers and more";
    const EXAMPLES: &'static [&'static str] = &[
        "printf 'kind: office\\nidentifier: osu\\nname: Osu\\n' | mfa apply -f - --yes",
        "printf 'kind: user\\nidentifier: ama\\nrole: clerk\\npassword: ${env:AMA}\\n' > ama.yaml\n  \
         AMA='change me at once' mfa apply -f ama.yaml --yes",
    ];
    const EXITS: &'static [i32] = &[
        exit::NOT_LOGGED_IN,
        exit::FORBIDDEN,
        exit::INVALID,
        exit::BULK_FAILURES,
        exit::UNREACHABLE,
        exit::CHANGES_FOUND,
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::PLAN)?;
        let plan = plan(&cx.client, files::read(&self.files)?).await?;
        show_plan(cx, &plan, self.dry_run);
        if plan.steps.is_empty() {
            return quiet_after_none(cx, "changes", &plan).show(&views::PLAN, &json!([]));
        }
        let mut client = cx.client.clone();
        client.dry_run = self.dry_run;
        if self.existing_only {
            client.references = References::Refused;
        }
        let (became, ended) = if self.dry_run {
            (try_out(&client, &plan).await?, Ok(()))
        } else {
            cx.prompt.confirm(&format!("do this {}?", cx.prompt.place))?;
            carry_out(&client, &plan).await
        };
        cx.out.show(&views::PLAN, &show::rows(&plan, &became))?;
        ended.map_err(|failure| failure.adding("; what was done before stays").hint(AGAIN))?;
        finish(&became, self.dry_run)
    }
}

/// What to do after a part was not done.
const AGAIN: &str = "apply the files again: records that match them are not changed";

/// Shows what would be done, before it is.
fn show_plan(cx: &Cx, plan: &Plan, dry_run: bool) {
    let lines = show::lines(plan);
    let asks = !cx.prompt.yes && !dry_run && cx.prompt.can_ask();
    if asks || !(cx.out.quiet || cx.out.format.is_structured()) {
        let lines: Vec<_> = lines.iter().map(|(mark, text)| (*mark, text.as_str())).collect();
        cx.out.show_changes(&lines);
    }
}

/// Says that everything is as the files say; the list that follows need not repeat that it is empty.
fn quiet_after_none(cx: &Cx, what: &str, plan: &Plan) -> Output {
    let records = match plan.unchanged {
        1 => "the one record is".to_owned(),
        several => format!("all {several} records are"),
    };
    cx.out.tip(&format!("no {what}: {records} as the files say"));
    Output { quiet: true, ..cx.out.clone() }
}

fn finish(became: &[Became], dry_run: bool) -> Outcome {
    let failed = became.iter().filter(|became| !became.is_well()).count();
    match failed {
        0 if dry_run => Err(Failure::found(exit::CHANGES_FOUND)),
        0 => Ok(()),
        _ => {
            let word = if dry_run { "would not be done" } else { "were not done" };
            let what = format!("{failed} of {} changes {word}", became.len());
            Err(Failure::new(codes::BULK_FAILURES, what).hint(AGAIN))
        }
    }
}

#[derive(Args)]
pub struct Diff {
    /// File or folder of documents, - for standard input; can be repeated
    #[arg(short, long = "file", value_name = "FILE", required = true)]
    files: Vec<String>,
}

impl Verb for Diff {
    const ABOUT: &'static str = "Show how the institution differs from what files say; exit 20 if it does";
    const EXAMPLES: &'static [&'static str] = &[
        "printf 'kind: office\\nidentifier: market\\nname: Market\\n' | mfa diff -f -",
        "printf 'kind: office\\nidentifier: market\\n' > market.yaml; mfa diff -f market.yaml -o json",
    ];
    const EXITS: &'static [i32] =
        &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::INVALID, exit::UNREACHABLE, exit::CHANGES_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let plan = plan(&cx.client, files::read(&self.files)?).await?;
        let none = plan.steps.is_empty();
        let out = if none { quiet_after_none(cx, "differences", &plan) } else { cx.out.clone() };
        let text = match cx.out.format {
            Format::Table | Format::Wide => true,
            Format::Tsv => !cx.out.format_asked,
            _ => false,
        };
        if text && cx.out.jq.is_none() && cx.out.columns.is_empty() {
            out.differences(&show::differences(&plan, &cx.client.url))?;
        } else {
            let became = vec![Became::Unsent; plan.steps.len()];
            out.show(&views::PLAN, &show::rows(&plan, &became))?;
        }
        if none { Ok(()) } else { Err(Failure::found(exit::CHANGES_FOUND)) }
    }
}
