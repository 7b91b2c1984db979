//! The research tools.
//!
//! They read files of the configured roots, and write only memos that a call requests. None of them uses the web: there is no
//! `web_research`.

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
