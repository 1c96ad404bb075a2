//! A daemon for trying things out, which leaves nothing behind.

use super::daemon::{DaemonFlags, serve};
use super::quickstart;
use crate::client::logins;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use clap::Args;

#[derive(Args)]
pub struct Dev {
    /// Address to listen on; a free port by default
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]
    #[arg(long, value_name = "on|off")]
    auth: Option<String>,
    /// Without the sample institution
    #[arg(long)]
    empty: bool,
}

impl Verb for Dev {
    const ABOUT: &'static str = "Run a daemon for trying things out, whose data is deleted when it ends";
    const EXAMPLES: &'static [&'static str] = &["mfa dev", "mfa dev --listen 127.0.0.1:6399 --empty"];
    const SERVES: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let folder = tempfile::Builder::new().prefix("mfa-dev-").tempdir();
        let folder = folder.map_err(|error| Failure::local(format!("cannot make a folder: {error}")))?;
        let flags = DaemonFlags {
            data_dir: Some(folder.path().join("store").display().to_string()),
            store: Some(String::new()),
            listen: Some(self.listen),
            auth: self.auth,
            ..DaemonFlags::default()
        };
        let password = quickstart::prepare(cx, &flags, self.empty).await?;
        let mut served_at = String::new();
        let ended = serve(cx, &flags, async |url| {
            url.clone_into(&mut served_at);
            let client = cx.client.at(url);
            let caller = quickstart::settle(cx, &client, password).await?;
            if !self.empty {
                quickstart::sample(cx, &client, caller.as_deref()).await?;
            }
            cx.out.say("its data is deleted when it ends (Ctrl-C)");
            cx.out.tip(&format!("try in another terminal:\n  export MFA_URL={url}\n  mfa customers list"));
            Ok(())
        });
        let ended = ended.await;
        logins::forget(&cx.client, &served_at).await?;
        ended
    }
}
