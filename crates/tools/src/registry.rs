//! The list of tools, and the one way to call them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Access, Context, Failure, Reply, Toolset, health, prune_text, recover_text, schema};

/// One operation. Implementing this is all that a new tool takes; every door follows.
pub trait Operation: 'static {
    const NAME: &'static str;
    /// Other names that callers may use; they are not listed.
    const ALIASES: &'static [&'static str] = &[];
    const TOOLSET: Toolset;
    /// For the model that decides whether to call it.
    const DESCRIPTION: &'static str;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + Send;

    fn run(
        input: Self::Input,
        context: Context,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

type Handler = Box<
    dyn Fn(Value, Context) -> Pin<Box<dyn Future<Output = Result<String, Failure>> + Send>> + Send + Sync,
>;

/// An operation with its types taken off.
pub struct Tool {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub toolset: Toolset,
    pub description: &'static str,
    pub input_schema: Arc<Map<String, Value>>,
    handler: Handler,
}

impl Tool {
    pub fn of<O: Operation>() -> Tool {
        Tool {
            name: O::NAME,
            aliases: O::ALIASES,
            toolset: O::TOOLSET,
            description: O::DESCRIPTION,
            input_schema: Arc::new(schema::of::<O::Input>()),
            handler: Box::new(|arguments, context| {
                Box::pin(async move {
                    let input =
                        serde_path_to_error::deserialize(arguments).map_err(Failure::invalid_input)?;
                    let output = O::run(input, context).await?;
                    serde_json::to_string(&output).map_err(Failure::internal)
                })
            }),
        }
    }

    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// The tools that a process serves.
pub struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// Every tool there is.
    pub fn all() -> Registry {
        Registry::of(vec![
            Tool::of::<prune_text::PruneText>(),
            Tool::of::<recover_text::RecoverText>(),
            Tool::of::<health::Health>(),
        ])
    }

    /// These tools.
    pub fn of(tools: Vec<Tool>) -> Registry {
        Registry { tools }
    }

    /// Only the tools of these toolsets.
    pub fn only(mut self, toolsets: &[Toolset]) -> Registry {
        self.tools.retain(|tool| toolsets.contains(&tool.toolset));
        self
    }

    /// The tools that a caller may use, in a stable order.
    pub fn list(&self, access: Access) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(move |tool| tool.toolset.needs() <= access)
    }

    /// Calls a tool and puts what comes of it into its toolset's form.
    pub async fn call(&self, name: &str, arguments: Value, mut context: Context) -> Reply {
        let Some(tool) = self.list(context.access).find(|tool| tool.answers_to(name)) else {
            return Reply::Error(Failure::UnknownTool { name: name.to_owned() }.into());
        };
        context.caller.tool = tool.name.to_owned();
        let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
        if !arguments.is_object() {
            return tool.toolset.failure(Failure::invalid_input("arguments must be an object"));
        }
        match (tool.handler)(arguments, context).await {
            Ok(output) => tool.toolset.success(output),
            Err(failure) => {
                tracing::debug!(tool = tool.name, ?failure, "the call failed");
                tool.toolset.failure(failure)
            }
        }
    }
}
