//! The tools that answer questions about a codebase, and the two that say whether and where they can.
//!
//! They read what lies in the configured roots, and write nothing but memos that are asked for. None of them searches the
//! web: there is no `web_research`.

pub(crate) mod analyze_component;
mod call;
pub(crate) mod create_handoff;
mod failure;
pub(crate) mod find_patterns;
mod handoff;
mod input;
pub(crate) mod list_roots;
pub(crate) mod locate_in_codebase;
pub(crate) mod ping;
pub(crate) mod research_codebase;
pub(crate) mod resume_handoff;

pub use call::Research;
