//! `get_project_info`: the projects that sessions belong to.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::call::{Handler, TraceCall, TraceTool};
use super::cursor::Binding;
use super::failure::trace_failure;
use super::fields::Fields;
use super::input::Limit;
use super::page::{Answer, LIST, Page};
use super::show::time;
use crate::Failure;

pub(crate) struct GetProjectInfo;

const FIELDS: &[&str] = &["hash", "root_path", "session_count", "last_activity"];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetProjectInfoInput {
    /// Page size; default 50.
    limit: Option<Limit>,
    /// next_cursor of the last page.
    cursor: Option<String>,
    /// Fields to return.
    fields: Option<Vec<String>>,
}

impl TraceTool for GetProjectInfo {
    const NAME: &'static str = "get_project_info";
    const DESCRIPTION: &'static str = "List the projects that coding agents worked on, with their hashes. About 10 \
        KB.";
    const ANSWER: Handler<GetProjectInfoInput> = list;
    type Input = GetProjectInfoInput;
}

fn list(input: GetProjectInfoInput, call: &TraceCall<'_>) -> Result<Answer, Failure> {
    let fields = Fields::checked(input.fields, FIELDS)?;
    let (limit, note) = Limit::of(input.limit, 50);
    let binding = Binding::new(GetProjectInfo::NAME, &());
    let after: Option<(i64, String)> = binding.read(input.cursor.as_deref())?;
    let mut page = Page::new(LIST, 0);
    let mut next = None;
    let mut last = None;
    for project in call.trace.projects().map_err(trace_failure)? {
        // The last active first, then by hash.
        let place = (project.last_activity.unwrap_or(0), project.hash.clone());
        let earlier = |after: &(i64, String)| place.0 < after.0 || place.0 == after.0 && place.1 > after.1;
        if !after.as_ref().is_none_or(earlier) {
            continue;
        }
        let item = json!({
            "hash": project.hash,
            "root_path": project.root.as_ref().map(|root| root.shorten(1000)),
            "session_count": project.sessions,
            "last_activity": time(project.last_activity),
        });
        if page.items.len() == limit || !page.take(fields.of(item)) {
            next = last;
            break;
        }
        last = Some(place);
    }
    let found = page.items.len();
    let next = next.map(|place| binding.write(&place));
    let hint = match found {
        0 => call.nothing("There are no more projects.")?,
        _ => "Use list_sessions(project_hash) for a project's sessions".to_owned(),
    };
    Ok(Answer::list(json!({"projects": page.items}), found, next).hint(hint).hint_if(note))
}
