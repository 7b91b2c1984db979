//! The two servers that this program can be: how each presents itself, and how strictly it follows its contract.

use tamis_tools::{Access, Registry, RpcError};

/// JSON-RPC's code for what is wrong with parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// A sentence for the model, with the tools that it is about.
pub(crate) type Instruction = (&'static [&'static str], &'static str);

const INSTRUCTIONS: &[Instruction] = &[
    (
        &["recover_text"],
        "tamis cuts text down to what the task needs. A line [tamis cut A-B: … prn_…], then [tamis A-B], replaces \
         cut lines; recover_text restores them by that prune_id and their lines.",
    ),
    (&["read", "bash", "grep"], "Pass context_focus_question whenever a part of the output is enough."),
];

/// How a server presents itself.
#[derive(Debug)]
pub struct ServerProfile {
    pub name: &'static str,
    pub version: &'static str,
    /// Each is given if one of its tools is served.
    pub(crate) instructions: &'static [Instruction],
    /// The methods that exist, with `tools` as the only capability. None: all of MCP's, with empty lists for what tamis has
    /// not.
    pub methods: Option<&'static [&'static str]>,
    /// Follows the pruned tools' contract to the letter: the message of an error is only "Invalid params", a handshake may lack
    /// client and capabilities or be missing, and tools have no annotations.
    pub is_strict: bool,
}

impl ServerProfile {
    pub const TAMIS: ServerProfile = ServerProfile {
        name: "tamis",
        version: env!("CARGO_PKG_VERSION"),
        instructions: INSTRUCTIONS,
        methods: None,
        is_strict: false,
    };

    /// The server of the pruned tools' contract, with the contract's version.
    pub const MCP_PRUNER: ServerProfile = ServerProfile {
        name: "mcp-pruner",
        version: "1.0.0",
        instructions: &[],
        methods: Some(&["initialize", "ping", "server/discover", "tools/call", "tools/list"]),
        is_strict: true,
    };

    /// The instructions for the tools that are served.
    pub(crate) fn instructions_for(&self, registry: &Registry) -> Option<String> {
        let is_served = |name: &str| registry.list(Access::Full).any(|tool| tool.has_name(name));
        let sentences =
            self.instructions.iter().filter(|(tools, _)| tools.iter().any(|tool| is_served(tool)));
        let text = sentences.map(|(_, sentence)| *sentence).collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn serves(&self, method: &str) -> bool {
        self.methods.is_none_or(|methods| methods.contains(&method))
    }

    /// The error in the form that this server's contract requires.
    pub(crate) fn adapt_error(&self, mut error: RpcError) -> RpcError {
        if self.is_strict && error.code == INVALID_PARAMS {
            let detail = std::mem::replace(&mut error.message, "Invalid params".to_owned());
            if error.message != detail && error.data.is_none() {
                error.data = Some(serde_json::json!({"detail": detail}));
            }
        }
        error
    }
}
