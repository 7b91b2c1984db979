//! What the pages of agents, and of settings and health, read.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::routing::get;
use tamis_dashboard::{
    AgentDiffQuery, AgentEventQuery, AgentListQuery, AgentLogQuery, DoctorQuery, PageError, PageErrorKind,
};

use crate::page::{Answer, PageState, read};

pub(crate) fn routes() -> Router<PageState> {
    Router::new()
        .route("/agents", get(agents))
        .route("/agents/{id}", get(agent))
        .route("/agents/{id}/events", get(agent_events))
        .route("/agents/{id}/log", get(agent_log))
        .route("/agents/{id}/diff", get(agent_diff))
        .route("/agents/{id}/abandon", get(agent_abandon))
        .route("/settings", get(settings))
        .route("/doctor", get(doctor))
}

async fn agents(
    State(state): State<PageState>,
    query: Result<Query<AgentListQuery>, QueryRejection>,
) -> Answer {
    let query = valid(query)?;
    read(&state, move |dashboard| dashboard.agents(&query)).await
}

async fn agent(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.agent(&id)).await
}

async fn agent_events(
    State(state): State<PageState>,
    Path(id): Path<String>,
    query: Result<Query<AgentEventQuery>, QueryRejection>,
) -> Answer {
    let query = valid(query)?;
    read(&state, move |dashboard| dashboard.agent_events(&id, &query)).await
}

async fn agent_log(
    State(state): State<PageState>,
    Path(id): Path<String>,
    query: Result<Query<AgentLogQuery>, QueryRejection>,
) -> Answer {
    let query = valid(query)?;
    read(&state, move |dashboard| dashboard.agent_log(&id, &query)).await
}

async fn agent_diff(
    State(state): State<PageState>,
    Path(id): Path<String>,
    query: Result<Query<AgentDiffQuery>, QueryRejection>,
) -> Answer {
    let query = valid(query)?;
    read(&state, move |dashboard| dashboard.agent_diff(&id, &query)).await
}

async fn agent_abandon(State(state): State<PageState>, Path(id): Path<String>) -> Answer {
    read(&state, move |dashboard| dashboard.agent_abandon(&id)).await
}

async fn settings(State(state): State<PageState>) -> Answer {
    read(&state, |dashboard| Ok(dashboard.settings())).await
}

async fn doctor(State(state): State<PageState>, query: Result<Query<DoctorQuery>, QueryRejection>) -> Answer {
    let query = valid(query)?;
    read(&state, move |dashboard| dashboard.doctor(query)).await
}

/// The parameters of a request.
fn valid<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, PageError> {
    let invalid = |rejection: QueryRejection| PageError::new(PageErrorKind::Invalid, rejection.body_text());
    query.map(|Query(query)| query).map_err(invalid)
}
