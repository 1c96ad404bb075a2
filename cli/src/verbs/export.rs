//! `mfa NOUN export`.

use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use crate::settings::Origin;
use crate::verbs::bulk::Bulk;
use crate::verbs::bulk::export::export;
use clap::{Arg, Command};
use mfa_shared::fault::exit;

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let bulk = Bulk::of(noun)?;
    let about = format!("Write all {} in the columns of the import", bulk.plural).leak();
    let flags = |command: Command| {
        let out = Arg::new("out").long("out").value_name("FILE");
        command.arg(out.help("File to write, which only you can read; stdout by default"))
    };
    let leaf = Leaf::made("export", Vec::new(), flags, move |_, matches, cx| {
        Box::pin(async move {
            let (_, origin) = cx.settings.get("output");
            let chosen = (*origin != Origin::Default).then_some(cx.out.format);
            let out = matches.get_one::<String>("out").map(String::as_str);
            export(cx, bulk, out, chosen).await
        })
    });
    let exits = &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::CONFLICT, exit::UNREACHABLE];
    Some(Node::Leaf(Leaf { about, examples: bulk.export_examples, exits, ..leaf }))
}
