//! `mfa export`: the institution as files that `mfa apply` takes.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::output::views;
use crate::verbs::apply::export::export;
use crate::words::quoted;
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::json;

/// Records named in a warning.
const NAMED_MAX: usize = 5;

#[derive(Args)]
pub struct Export {
    /// Folder for the files: a new one or an empty one
    folder: String,
    /// Replace the files of an earlier export in a folder that is not empty; other files stay
    #[arg(long)]
    force: bool,
}

impl Verb for Export {
    const ABOUT: &'static str =
        "Write the institution into a folder that mfa apply takes: offices, roles, users, products and more";
    const EXAMPLES: &'static [&'static str] =
        &["mfa export institution && mfa diff -f institution", "mfa export institution --force -o json"];
    const EXITS: &'static [i32] = &[exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::CONFLICT, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let exported = export(&cx.client, &self.folder, self.force).await?;
        cx.out.show(&views::EXPORTED, &json!(exported.rows))?;
        for line in exported.dangling.iter().take(NAMED_MAX) {
            cx.out.warn(line);
        }
        if !exported.dangling.is_empty() {
            let more = exported.dangling.len().saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!("{more} more; ") } else { String::new() };
            cx.out.warn(&format!("{more}an empty daemon takes these records only once the names are right"));
        }
        if exported.secrets > 0 {
            cx.out.tip(&format!(
                "passwords, PINs and secrets of gateways are left out; an empty daemon takes them from files \
                 in {0}/secrets: mfa help apply; compare: mfa diff -f {0}",
                quoted(&self.folder)
            ));
        }
        Ok(())
    }
}
