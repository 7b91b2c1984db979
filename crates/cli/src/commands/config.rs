use clap::{Args, Subcommand};
use serde_json::json;
use tamis_config::{
    Config, ConfigEnvironment, ConfigError, ConfigSource, Setting, set_user_setting, unset_user_setting,
};

use crate::error::{CliError, CliResult};
use crate::{escape, print, startup};

/// Show and change settings
///
/// A setting is taken from a flag, the environment, the project's .tamis.toml or your config.toml, in that order; otherwise, it
/// has its default. Without a subcommand, prints every setting with its value.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigCommand {
    /// Also show the source of each value and its environment variables
    #[arg(long)]
    explain: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Path(Path),
    Get(Get),
    Set(Set),
    Unset(Unset),
}

/// Print the path of your configuration file
///
/// The file need not exist. Set TAMIS_CONFIG to use another file.
#[derive(Args)]
struct Path {}

/// Print the value of a setting
///
/// Prints `(set)` instead of a secret. Exits with 1 if the setting is not set.
#[derive(Args)]
struct Get {
    /// Name of the setting, such as http.port
    name: String,
    /// Print JSON, with the source of the value
    #[arg(long)]
    json: bool,
}

/// Change a setting in your configuration file
///
/// Creates the file if needed, and keeps its comments and order.
#[derive(Args)]
struct Set {
    /// Name of the setting, such as http.port
    name: String,
    /// New value; lists use the format of the setting's environment variable
    #[arg(allow_hyphen_values = true)]
    value: String,
}

/// Remove a setting from your configuration file
///
/// The setting then has its default, unless a flag, the environment or the project sets it. Exits with 1 if the file does not set
/// it.
#[derive(Args)]
struct Unset {
    /// Name of the setting, such as http.port
    name: String,
}

pub(crate) fn run(arguments: ConfigCommand) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    match arguments.command {
        None => list(&environment, arguments.explain, arguments.json),
        Some(Command::Path(_)) => path(&environment),
        Some(Command::Get(get)) => self::get(&environment, &get),
        Some(Command::Set(set)) => self::set(&environment, &set),
        Some(Command::Unset(unset)) => self::unset(&environment, &unset.name),
    }
}

fn list(environment: &ConfigEnvironment, explain: bool, json: bool) -> CliResult {
    let (config, errors) = Config::explain(environment);
    if json {
        let settings: Vec<_> = config.settings().iter().map(as_json).collect();
        print::json(
            &json!({"settings": settings, "remarks": startup::config_warnings(&config).collect::<Vec<_>>()}),
        )?;
        return first_of(errors);
    }
    if explain {
        for setting in config.settings() {
            print::line(format_args!(
                "{} = {}\n    {}\n    from {}; set by {}",
                setting.name,
                value_of(setting),
                setting.about,
                setting.source,
                setting.variables.join(" or "),
            ))?;
        }
    } else {
        let row = |setting: &Setting| [setting.name.to_owned(), value_of(setting)];
        print::columns(&config.settings().iter().map(row).collect::<Vec<_>>())?;
    }
    for warning in startup::config_warnings(&config) {
        print::note(format_args!("warning: {warning}"));
    }
    first_of(errors)
}

fn path(environment: &ConfigEnvironment) -> CliResult {
    let path = environment.user_file().ok_or(ConfigError::NoHome)?;
    print::line(path.display())?;
    if !path.exists() {
        print::note("the file does not exist yet; `tamis config set` creates it");
    }
    Ok(())
}

fn get(environment: &ConfigEnvironment, arguments: &Get) -> CliResult {
    let config = Config::load(environment)?;
    let setting = find(&config, &arguments.name)?;
    if arguments.json {
        return print::json(&as_json(setting));
    }
    if setting.value.is_none() {
        return Err(CliError::failed(anyhow::anyhow!("`{}` is not set", setting.name))
            .hint(format!("`tamis config set {} VALUE` sets it", setting.name)));
    }
    print::line(value_of(setting))
}

fn set(environment: &ConfigEnvironment, arguments: &Set) -> CliResult {
    let path = set_user_setting(environment, &arguments.name, &arguments.value)?;
    print::note(format_args!("set {} in {}", arguments.name, path.display()));
    // A variable or a project may still decide otherwise.
    let (config, _) = Config::explain(environment);
    let setting = find(&config, &arguments.name)?;
    if !matches!(setting.source, ConfigSource::UserFile(_)) {
        print::note(format_args!("warning: {} overrides it here", setting.source));
    }
    Ok(())
}

fn unset(environment: &ConfigEnvironment, name: &str) -> CliResult {
    let Some(path) = unset_user_setting(environment, name)? else {
        let error = anyhow::anyhow!("`{name}` is not set in your configuration file");
        return Err(CliError::failed(error).hint("`tamis config --explain` shows the source of each value"));
    };
    print::note(format_args!("unset {name} in {}", path.display()));
    let (config, _) = Config::explain(environment);
    let setting = find(&config, name)?;
    if !matches!(setting.source, ConfigSource::Default) {
        print::note(format_args!("warning: {} still sets it here", setting.source));
    }
    Ok(())
}

fn find<'a>(config: &'a Config, name: &str) -> Result<&'a Setting, CliError> {
    let found = config.settings().iter().find(|setting| setting.name == name);
    Ok(found.ok_or_else(|| ConfigError::UnknownName { name: name.to_owned() })?)
}

fn as_json(setting: &Setting) -> serde_json::Value {
    json!({
        "name": setting.name,
        "value": setting.value.as_ref().map(|_| value_of(setting)),
        "source": setting.source.to_string(),
        "variables": setting.variables,
        "about": setting.about,
    })
}

fn value_of(setting: &Setting) -> String {
    // A URL may hold a password.
    setting.value.as_deref().map_or_else(|| "(unset)".to_owned(), escape::text)
}

/// Everything is shown first: the reader looks for a mistake, and needs to see the rest.
fn first_of(errors: Vec<ConfigError>) -> CliResult {
    errors.into_iter().next().map_or(Ok(()), |error| Err(CliError { hint: None, ..error.into() }))
}
