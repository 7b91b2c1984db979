//! Clients and tools for which pruning cost more than it saved, and how to switch it off.

use std::collections::BTreeMap;

use serde::Serialize;
use tamis_clients::Client;
use tamis_text::grouped;

use crate::facts::Effect;
use crate::report::GainSums;

/// A client, or a tool of it, whose balance was negative in the last seven days.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GainLoss {
    /// As users name it.
    pub client: &'static str,
    /// None: the client as a whole.
    pub tool: Option<String>,
    /// Results that were cut.
    pub results_cut: u64,
    pub net_tokens: i64,
    /// None where some of it has no price.
    pub net_usd: Option<f64>,
    /// The command that switches it off.
    pub switch_off: String,
}

/// Fewer results tell little: one recovery outweighs what several cuts saved.
const ENOUGH_RESULTS: u64 = 10;

impl GainLoss {
    /// Whether there are too few results to act on.
    pub fn has_too_few_results(&self) -> bool {
        self.results_cut < ENOUGH_RESULTS
    }

    /// In a sentence.
    pub fn message(&self) -> String {
        let what = match &self.tool {
            Some(tool) => format!("the results of {tool} in {}", display_name(self.client)),
            None => format!("the tools of {}", display_name(self.client)),
        };
        let usd = self.net_usd.map(|usd| format!(", {:.4} USD", -usd)).unwrap_or_default();
        let tokens = self.net_tokens;
        let shown = grouped(tokens.unsigned_abs());
        let how = match tokens < 0 {
            true => format!("cost {shown} tokens{usd} more than it saved"),
            false => format!("saved {shown} tokens, but cost{} more than that", usd.trim_start_matches(',')),
        };
        let results = if self.results_cut == 1 { "result" } else { "results" };
        let few = if self.has_too_few_results() { ", too few to judge" } else { "" };
        let count = grouped(self.results_cut);
        format!("in the last seven days, pruning {what} {how} ({count} {results}{few})")
    }
}

fn display_name(client: &'static str) -> &'static str {
    Client::named(client).map_or(client, Client::display_name)
}

/// Sums of the last days by client, and by tool and door.
#[derive(Default)]
pub(crate) struct LossGroups {
    clients: BTreeMap<Client, GainSums>,
    tools: BTreeMap<(Client, String, String), GainSums>,
}

impl LossGroups {
    /// Adds an effect, unless its tool was switched off since: there is nothing left to do about it.
    pub(crate) fn add(
        &mut self,
        client: Client,
        effect: &Effect,
        skipped_tools: &[String],
        add: impl Fn(&mut GainSums),
    ) {
        if is_skipped(client, effect, skipped_tools) {
            return;
        }
        add(self.clients.entry(client).or_default());
        add(self.tools.entry((client, effect.tool.clone(), effect.door.clone())).or_default());
    }
}

/// Whether hooks do not prune this tool any more.
fn is_skipped(client: Client, effect: &Effect, skipped_tools: &[String]) -> bool {
    let is_named = |name: &String| match name.split_once(':') {
        Some((of, tool)) => of == client.name() && tool == effect.tool,
        None => *name == effect.tool,
    };
    effect.door == "hook" && skipped_tools.iter().any(is_named)
}

pub(crate) fn losses(groups: &LossGroups, skipped_tools: &[String]) -> Vec<GainLoss> {
    let mut losses = Vec::new();
    for (client, sums) in &groups.clients {
        if sums.is_loss() {
            let switch_off = format!("tamis setup --remove {}", client.name());
            losses.push(loss(*client, None, sums, switch_off));
        }
        let has_cost = |sums: &GainSums| {
            let GainSums { cut, markers, recovered, reread, .. } = sums;
            [cut, markers, recovered, reread].iter().any(|part| part.tokens > 0)
        };
        let of_client = || groups.tools.iter().filter(|((of, ..), sums)| of == client && has_cost(sums));
        // A client's only tool is the client.
        if of_client().count() < 2 {
            continue;
        }
        for ((_, tool, door), sums) in of_client().filter(|(_, sums)| sums.is_loss()) {
            losses.push(loss(
                *client,
                Some(tool.clone()),
                sums,
                switch_off(*client, tool, door, skipped_tools),
            ));
        }
    }
    losses
}

fn loss(client: Client, tool: Option<String>, sums: &GainSums, switch_off: String) -> GainLoss {
    let net_usd = sums.net_usd.filter(|_| !sums.is_partly_priced());
    let GainSums { results_cut, net_tokens, .. } = *sums;
    GainLoss { client: client.name(), tool, results_cut, net_tokens, net_usd, switch_off }
}

/// The command that switches pruning off for one tool.
fn switch_off(client: Client, tool: &str, door: &str, skipped_tools: &[String]) -> String {
    match door {
        "hook" => {
            let tool = format!("{}:{tool}", client.name());
            let tools: Vec<&str> = skipped_tools.iter().map(String::as_str).chain([tool.as_str()]).collect();
            format!("tamis config set hook.skip_tools {}", tools.join(","))
        }
        "gateway" => format!("tamis gateway --except {tool} …"),
        _ => format!("tamis setup --remove {} --only mcp", client.name()),
    }
}
