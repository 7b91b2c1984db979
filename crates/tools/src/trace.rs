//! The tools for past sessions: listing, reading, searching and diagnosing them.
//!
//! What they share: every call waits for an index that is up to date ([`call`]), texts lose their secrets before they are
//! cut ([`show`]), answers keep their promised size ([`page`]), and what does not fit follows by cursor ([`cursor`]).

pub(crate) mod analyze_session;
mod call;
pub(crate) mod compare_sessions;
mod compose;
mod cursor;
mod failure;
mod fields;
pub(crate) mod get_event_details;
pub(crate) mod get_project_info;
pub(crate) mod get_reasoning_chain;
pub(crate) mod get_session_details;
pub(crate) mod get_turns;
mod input;
pub(crate) mod list_sessions;
pub(crate) mod list_turns;
mod page;
mod preview;
mod rate;
pub(crate) mod search_event_previews;
pub(crate) mod search_events;
mod show;
mod summary;

pub use call::Sessions;
pub(crate) use call::tool;
