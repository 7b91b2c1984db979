//! What a server says of itself, and how closely it keeps to a contract.

use tamis_tools::RpcError;

/// JSON-RPC's code for what is wrong with parameters.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// Read by the model that has these tools.
const INSTRUCTIONS: &str = "tamis sieves long texts for the task at hand. Lines ⟦PRUNÉ: prune_id=… lignes A-B …⟧ \
    stand where lines were cut; recover_text gives any of them back. Tools that take a \
    context_focus_question cut their output to what it needs: ask one whenever a part is enough.";

/// One of the servers that this program can be.
#[derive(Debug)]
pub struct Presence {
    pub name: &'static str,
    pub version: &'static str,
    pub instructions: Option<&'static str>,
    /// The methods that exist, and of the capabilities `tools` alone. None: all of MCP's, with empty lists where there
    /// is nothing.
    pub methods: Option<&'static [&'static str]>,
    /// Says "Invalid params" and no more, takes a handshake that names neither client nor capabilities, or none at
    /// all, and lists tools without annotations.
    pub to_the_letter: bool,
}

impl Presence {
    pub const TAMIS: Presence = Presence {
        name: "tamis",
        version: env!("CARGO_PKG_VERSION"),
        instructions: Some(INSTRUCTIONS),
        methods: None,
        to_the_letter: false,
    };

    /// The server of the pruned tools' contract; its version is the contract's.
    pub const MCP_PRUNER: Presence = Presence {
        name: "mcp-pruner",
        version: "1.0.0",
        instructions: None,
        methods: Some(&["initialize", "ping", "server/discover", "tools/call", "tools/list"]),
        to_the_letter: true,
    };

    pub(crate) fn serves(&self, method: &str) -> bool {
        self.methods.is_none_or(|methods| methods.contains(&method))
    }

    /// An error in this server's words.
    pub(crate) fn worded(&self, mut error: RpcError) -> RpcError {
        if self.to_the_letter && error.code == INVALID_PARAMS {
            let detail = std::mem::replace(&mut error.message, "Invalid params".to_owned());
            if error.message != detail && error.data.is_none() {
                error.data = Some(serde_json::json!({"detail": detail}));
            }
        }
        error
    }
}
