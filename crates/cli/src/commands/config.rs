use clap::Args;
use serde_json::json;
use tamis_config::{Config, ConfigError, Form, SETTINGS, Setting, Surroundings};

use crate::error::{CliError, CliResult};
use crate::{escape, print};

/// Show every setting
#[derive(Args)]
pub(crate) struct ConfigCommand {
    /// Say where each value came from, and how to change it
    #[arg(long)]
    explain: bool,
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: ConfigCommand) -> CliResult {
    let (config, errors) = Config::explain(&Surroundings::of_process());
    let value_of = |setting: &Setting| match (&config.resolved(setting.key).value, setting.form) {
        (Some(_), Form::Secret) => "(set)".to_owned(),
        // An address may have a password in it.
        (Some(value), _) => escape::text(value),
        (None, _) => "(unset)".to_owned(),
    };
    if arguments.json {
        let settings: Vec<_> = SETTINGS
            .iter()
            .map(|setting| {
                let resolved = config.resolved(setting.key);
                json!({
                    "name": setting.name,
                    "value": resolved.value.as_ref().map(|_| value_of(setting)),
                    "source": resolved.source.to_string(),
                    "variables": setting.variables,
                    "about": setting.about,
                })
            })
            .collect();
        print::json(&json!({"settings": settings, "remarks": config.remarks}))?;
        return first_of(errors);
    }
    if !arguments.explain {
        let rows: Vec<_> =
            SETTINGS.iter().map(|setting| [setting.name.to_owned(), value_of(setting)]).collect();
        print::columns(&rows)?;
    } else {
        for setting in SETTINGS {
            print::line(format_args!(
                "{} = {}\n    {}\n    from {}; set by {}",
                setting.name,
                value_of(setting),
                setting.about,
                config.resolved(setting.key).source,
                setting.variables.join(" or "),
            ))?;
        }
    }
    for remark in &config.remarks {
        print::note(format_args!("warning: {remark}"));
    }
    first_of(errors)
}

/// Everything is shown first: whoever looks for a mistake needs to see the rest.
fn first_of(errors: Vec<ConfigError>) -> CliResult {
    errors.into_iter().next().map_or(Ok(()), |error| Err(CliError { hint: None, ..error.into() }))
}
