//! The kinds of records, notices and attachments, and how each is handled.

/// Records that add nothing to the conversation that other records do not have.
pub(super) const SILENT: &[&str] = &[
    // Settings as they changed: none of them words.
    "mode",
    "permission-mode",
    "isolation-latch",
    "atis-latch",
    "agent-color",
    "tag",
    // Copies of files, by which an edit can be undone; the edit is a tool's call.
    "file-history-snapshot",
    "file-history-delta",
    "attribution-snapshot",
    // What a later record repeats: the prompt that was last, output that is still running, parts of a message.
    "last-prompt",
    "progress",
    "tool_progress",
    "stream_event",
    "prompt_suggestion",
    // The title again, by which other agents call the session.
    "agent-name",
    // Sums over the session, of what its messages report one by one.
    "cost-state",
    "tools-used",
    // What was sent to the model: the conversation again, and the client's own instructions and tools.
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "content-replacement",
    "fork-context-ref",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "marble-origami-reset",
    // Where the session is worked on and from where it is watched.
    "worktree-state",
    "relocated",
    "bridge-session",
    // The client's own doings.
    "speculation-accept",
    "ended-by-model",
    "started",
    "session_start",
    "auth_status",
    "rate_limit_event",
    "control_request",
    "control_response",
    "keep_alive",
];

/// Notices of type `system` that are skipped where they have no content.
pub(super) const SILENT_NOTICES: &[&str] = &[
    // How long it took, which the times of the events show.
    "turn_duration",
    "api_metrics",
    "stop_hook_summary",
    // The session's beginning, which gives facts.
    "init",
    "session_start",
    // Transcripts of stream-json: what goes on beside the conversation.
    "status",
    "thinking_tokens",
    "hook_started",
    "hook_progress",
    "hook_response",
    "task_started",
    "task_progress",
    "task_updated",
    "background_tasks_changed",
    "files_persisted",
    "file_snapshot",
    "thinking",
];

/// How an attachment is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attached {
    /// A message that waited until the agent could take it.
    Queued,
    /// Content that the model was shown in this session.
    Shown,
    /// Standing instructions and reminders of the client's own, and switches: the same in every session.
    Silent,
}

pub(super) const ATTACHMENTS: &[(&str, Attached)] = &[
    ("queued_command", Attached::Queued),
    // Hooks.
    ("hook_success", Attached::Shown),
    ("hook_blocking_error", Attached::Shown),
    ("hook_non_blocking_error", Attached::Shown),
    ("hook_error_during_execution", Attached::Shown),
    ("hook_additional_context", Attached::Shown),
    ("hook_stopped_continuation", Attached::Shown),
    ("hook_system_message", Attached::Shown),
    ("hook_cancelled", Attached::Shown),
    ("hook_permission_decision", Attached::Shown),
    ("async_hook_response", Attached::Shown),
    // Files, selections, findings and memories.
    ("file", Attached::Shown),
    ("new_file", Attached::Shown),
    ("directory", Attached::Shown),
    ("edited_text_file", Attached::Shown),
    ("edited_image_file", Attached::Shown),
    ("selected_lines_in_ide", Attached::Shown),
    ("opened_file_in_ide", Attached::Shown),
    ("diagnostics", Attached::Shown),
    ("mcp_resource", Attached::Shown),
    ("pdf_reference", Attached::Shown),
    ("nested_memory", Attached::Shown),
    ("relevant_memories", Attached::Shown),
    ("instructions", Attached::Shown),
    ("session_context", Attached::Shown),
    ("plan_file_reference", Attached::Shown),
    ("compact_file_reference", Attached::Shown),
    ("read_truncation_notice", Attached::Shown),
    ("already_read_file", Attached::Shown),
    // Of other agents and of what runs in the background.
    ("agent_mention", Attached::Shown),
    ("teammate_mailbox", Attached::Shown),
    ("task_status", Attached::Shown),
    ("background_task_status", Attached::Shown),
    // What ends or bounds the work.
    ("max_turns_reached", Attached::Shown),
    ("structured_output", Attached::Shown),
    ("plan_mode_exit", Attached::Shown),
    ("invoked_skills", Attached::Shown),
    // The rest.
    ("plan_mode", Attached::Silent),
    ("plan_mode_reentry", Attached::Silent),
    ("auto_mode", Attached::Silent),
    ("auto_mode_exit", Attached::Silent),
    ("ultra_effort_enter", Attached::Silent),
    ("ultra_effort_exit", Attached::Silent),
    ("environment", Attached::Silent),
    ("model", Attached::Silent),
    ("date", Attached::Silent),
    ("date_change", Attached::Silent),
    ("output_style", Attached::Silent),
    ("prompt_snapshot", Attached::Silent),
    ("agent_listing_delta", Attached::Silent),
    ("skill_listing", Attached::Silent),
    ("dynamic_skill", Attached::Silent),
    ("deferred_tools_delta", Attached::Silent),
    ("mcp_instructions_delta", Attached::Silent),
    ("command_permissions", Attached::Silent),
    ("remote_session_change", Attached::Silent),
    ("autocheckpointing", Attached::Silent),
    ("task_reminder", Attached::Silent),
    ("todo_reminder", Attached::Silent),
    ("todo", Attached::Silent),
    ("verify_plan_reminder", Attached::Silent),
    ("critical_system_reminder", Attached::Silent),
    ("batching_reminder_sent", Attached::Silent),
    ("silent_turn_reminder", Attached::Silent),
    ("total_tokens_reminder", Attached::Silent),
    ("token_usage", Attached::Silent),
    ("budget_usd", Attached::Silent),
    ("context_efficiency", Attached::Silent),
];

/// How a user's message begins that the client wrote itself.
pub(super) const OF_THE_CLIENT: &[&str] = &[
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<task-status>",
    "<agent-notification>",
    "<teammate-message",
    "<cross-session-message",
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "<post-tool-use-hook>",
    "<new-diagnostics>",
    "<mcp-resource-update",
    "<mcp-polling-update",
    "<tick>",
    "[Request interrupted by user",
    "Caveat: The messages below were generated by the user while running local commands.",
];

/// What the client puts before a person's words, in one text with them or in one of its own.
pub(super) const PUT_BEFORE: &[&str] =
    &["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics"];

/// How the summary begins with which a compacted conversation goes on, in logs that do not mark it.
pub(super) const COMPACT_SUMMARY: &str = "This session is being continued from a previous conversation";

/// Who may be named as the origin of a message that is a person's.
pub(super) const PEOPLE: &[&str] = &["human", "user", "cli", "sdk", "channel"];
