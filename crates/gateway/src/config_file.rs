//! Servers as clients write them in their configuration: `{"mcpServers": {"name": {"command": …}}}`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};
use tamis_http::HttpUrl;

use crate::settings::{GatewayServer, ServerConnection};

/// Why a configuration names no servers.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerListError {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("no servers: expected `{{\"mcpServers\": {{\"name\": {{\"command\": …}}}}}}`")]
    NoServers,
    #[error("server `{name}`: {why}")]
    Invalid { name: String, why: String },
    #[error("server `{name}`: the variable `{variable}` is not set")]
    Unset { name: String, variable: String },
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    disabled: bool,
}

impl GatewayServer {
    /// The servers of a configuration, by name; `servers` is what some clients call them. `${NAME}` and `${NAME:-default}`
    /// stand for variables of the environment.
    pub fn list(
        json: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<GatewayServer>, ServerListError> {
        let config: Value =
            serde_json::from_str(json).map_err(|error| ServerListError::NotJson(error.to_string()))?;
        let entries = config.get("mcpServers").or_else(|| config.get("servers")).and_then(Value::as_object);
        let mut servers = Vec::new();
        for (name, entry) in entries.ok_or(ServerListError::NoServers)? {
            let invalid = |why: String| ServerListError::Invalid { name: name.clone(), why };
            let entry: Entry =
                serde_json::from_value(entry.clone()).map_err(|error| invalid(error.to_string()))?;
            if entry.disabled {
                continue;
            }
            let expand = |text: &str| {
                expand_variables(text, &variable)
                    .map_err(|variable| ServerListError::Unset { name: name.clone(), variable })
            };
            let pairs = |members: &Map<String, Value>| -> Result<Vec<(String, String)>, ServerListError> {
                let pair = |(name, value): (&String, &Value)| {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    Ok((name.clone(), expand(&value)?))
                };
                members.iter().map(pair).collect()
            };
            let connection = match (&entry.command, &entry.url) {
                (Some(command), None) => ServerConnection::Program {
                    program: expand(command)?,
                    args: entry.args.iter().map(|arg| expand(arg)).collect::<Result<_, _>>()?,
                    env: pairs(&entry.env)?,
                    folder: entry.cwd,
                },
                (None, Some(url)) => ServerConnection::Url {
                    url: expand(url)?.parse::<HttpUrl>().map_err(|error| invalid(error.to_string()))?,
                    headers: pairs(&entry.headers)?,
                },
                _ => return Err(invalid("expected either `command` or `url`".to_owned())),
            };
            servers.push(GatewayServer { name: plain(name), connection });
        }
        if servers.is_empty() { Err(ServerListError::NoServers) } else { Ok(servers) }
    }
}

/// A name that can be a part of a tool's name, which clients restrict.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect()
}

/// The text with `${NAME}` and `${NAME:-default}` replaced, or the name of a variable that is not set.
pub fn expand_variables(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, after)) = after.split_once('}') else { break };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        // As some clients write it.
        let name = name.strip_prefix("env:").unwrap_or(name);
        let value = variable(name).or_else(|| default.map(str::to_owned)).ok_or_else(|| name.to_owned())?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(json: &str) -> Result<Vec<String>, ServerListError> {
        let variable = |name: &str| (name == "TOKEN").then(|| "secret".to_owned());
        let servers = GatewayServer::list(json, variable)?;
        Ok(servers
            .into_iter()
            .map(|server| match server.connection {
                ServerConnection::Program { program, args, env, folder } => {
                    format!("{}: {program} {args:?} {env:?} {folder:?}", server.name)
                }
                ServerConnection::Url { url, headers } => format!("{}: {url} {headers:?}", server.name),
                ServerConnection::Pipes { .. } => String::new(),
            })
            .collect())
    }

    #[test]
    fn servers_are_read_as_clients_write_them() {
        let json = r#"{"mcpServers": {
            "a b": {"command": "npx", "args": ["-y", "${X:-x}"], "env": {"T": "${TOKEN}", "N": 1}, "cwd": "/tmp"},
            "off": {"command": "no", "disabled": true},
            "web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}
        }}"#;
        assert_eq!(
            listed(json).unwrap(),
            [
                r#"a-b: npx ["-y", "x"] [("N", "1"), ("T", "secret")] Some("/tmp")"#,
                r#"web: http://127.0.0.1:1/mcp [("Authorization", "Bearer secret")]"#,
            ]
        );
        for (json, error) in [
            ("[", "not JSON: EOF while parsing a list at line 1 column 1"),
            ("{}", "no servers: expected `{\"mcpServers\": {\"name\": {\"command\": …}}}`"),
            (r#"{"mcpServers":{"a":{}}}"#, "server `a`: expected either `command` or `url`"),
            (r#"{"servers":{"a":{"command":"${Y}"}}}"#, "server `a`: the variable `Y` is not set"),
        ] {
            assert_eq!(listed(json).unwrap_err().to_string(), error, "{json}");
        }
    }
}
