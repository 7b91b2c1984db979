use clap::Args;
use serde_json::json;
use tamis_agents::{ConfigValue, user_setting};

use super::data_folder::AgentsFolder;
use crate::error::CliResult;
use crate::{escape, print};

/// Show or set the limits of the review loop and the defaults of new agents
///
/// These settings are stored in the database and take effect with the next call.
#[derive(Args)]
pub(crate) struct ConfigCommand {
    /// Setting to show or set [default: all]
    key: Option<String>,
    /// New value
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ConfigCommand) -> CliResult {
    if let Some(key) = &arguments.key {
        user_setting(key)?;
    }
    let archive = AgentsFolder::of_process()?.archive()?;
    if let (Some(key), Some(value)) = (&arguments.key, &arguments.value) {
        archive.set_config(key, value)?;
    }
    let mut settings = archive.config()?;
    let Some(key) = &arguments.key else {
        if arguments.json {
            return print::json(&json!(settings));
        }
        let row =
            |setting: ConfigValue| [setting.key.to_owned(), value_of(&setting), setting.about.to_owned()];
        return print::columns(&settings.into_iter().map(row).collect::<Vec<_>>());
    };
    settings.retain(|setting| setting.key == key);
    for setting in &settings {
        if arguments.json {
            print::json(&json!(setting))?;
        } else {
            print::line(escape::controls(&setting.value))?;
        }
    }
    Ok(())
}

fn value_of(setting: &ConfigValue) -> String {
    if setting.value.is_empty() { "-".to_owned() } else { escape::line(&setting.value) }
}
