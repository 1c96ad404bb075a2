//! `mfa NOUN export`.

use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
use crate::settings::Origin;
use crate::verbs::bulk::Bulk;
use crate::verbs::bulk::export::export;
use clap::Arg;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let bulk = Bulk::of(noun)?;
    let common = Common {
        name: "export",
        about: format!("Write all {} in the columns of the import", bulk.plural),
        examples: bulk.export_examples.iter().map(|line| (*line).to_owned()).collect(),
        flags: |_, command| {
            let out = Arg::new("out").long("out").value_name("FILE");
            command.arg(out.help("File to write, which only you can read; stdout by default"))
        },
        run: |noun, _, matches, cx| {
            Box::pin(async move {
                let (_, origin) = cx.settings.get("output");
                let chosen = (*origin != Origin::Default).then_some(cx.out.format);
                let out = matches.get_one::<String>("out").map(String::as_str);
                match Bulk::of(noun) {
                    Some(bulk) => export(cx, bulk, out, chosen).await,
                    None => Ok(()),
                }
            })
        },
        ..COMMON
    };
    Some(common.of(noun))
}
