//! Settings and where they come from.

use super::daemon::shown_store;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::output::called::spoken;
use crate::output::views;
use crate::settings::{TABLE, config_files, example};
use clap::Args;
use serde_json::{Value, json};

#[derive(Args)]
pub struct ViewSettings {
    /// Show where each value came from
    #[arg(long)]
    origin: bool,
}

impl Verb for ViewSettings {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Show every setting";
    const EXAMPLES: &'static [&'static str] = &["mfa config view", "mfa config view --origin -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let record = |setting: &crate::settings::Setting| {
            let (value, origin) = cx.settings.get(setting.name);
            let value = match setting.name {
                "store" => shown_store(value),
                "token" if !value.is_empty() => "***".to_owned(),
                _ => value.to_owned(),
            };
            let mut record = json!({ "name": setting.name, "value": value });
            if self.origin {
                record["origin"] = json!(origin.to_string());
            }
            record["variable"] = json!(setting.variable());
            record["doc"] = json!(spoken(setting.doc));
            record
        };
        let view = if self.origin { &views::SETTING } else { &views::SETTING_VALUE };
        cx.out.show(view, &Value::Array(TABLE.iter().map(record).collect()))
    }
}

#[derive(Args)]
pub struct Example {}

impl Verb for Example {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Print a config file with every setting, each commented out at its default";
    const EXAMPLES: &'static [&'static str] = &["mfa config example", "mfa config example > config.toml"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.document("config", &example())
    }
}

#[derive(Args)]
pub struct Path {}

impl Verb for Path {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Show where config files are looked for, the system's first";
    const EXAMPLES: &'static [&'static str] = &["mfa config path", "mfa config path -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let record = |path: &std::path::PathBuf| json!({ "path": path, "exists": path.exists() });
        cx.out.show(&views::CONFIG_FILE, &Value::Array(config_files().iter().map(record).collect()))
    }
}
