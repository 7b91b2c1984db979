//! The journal: the intent of a tool is written before it acts, and the outcome beside it at the end.
//!
//! So a retry with the same idempotency key gets the answer that was lost, and what a crash interrupted is finished or undone
//! by the next holder of the family's lock, a tool or the reconciler. Every call that fails is in the events too.

use std::cell::Cell;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tamis_git::Head;
use tamis_store::rusqlite::Connection;

use crate::error::Result;
use crate::instances::records::{EventKind, Instance, NewEvent, Operation, OperationState, Phase};
use crate::instances::work::head_of;
use crate::journal::audit::{Failed, audited, milliseconds, record_failure};
use crate::journal::family_locks::Hold;
use crate::{AgentCall, AgentType, AgentsError, Code, Coordinator, InstanceId, Repair, db, tools};

/// The caller of a tool, with the lock of its family.
pub(crate) struct Caller<'a> {
    /// As it was when the call began. No other call changes it before this one is over.
    pub(crate) instance: Instance,
    pub(crate) tool: &'static str,
    key: Option<String>,
    /// What was checked out in its worktree when it began.
    head: Option<Head>,
    /// What it asked for, as the audit trail holds it.
    input: Value,
    begun: Instant,
    pub(crate) deadline: Instant,
    /// Whether the failure is in the events already.
    logged: Cell<bool>,
    _hold: Hold<'a>,
}

impl Caller<'_> {
    pub(crate) fn must_be(&self, types: &[AgentType]) -> Result<()> {
        if types.contains(&self.instance.agent_type) {
            return Ok(());
        }
        let wanted: Vec<&str> = types.iter().map(|one| one.as_str()).collect();
        let (id, own) = (&self.instance.id, self.instance.agent_type);
        let message =
            format!("{} is for {} agents, and {id} is a {own} agent", self.tool, wanted.join(" and "));
        Err(AgentsError::new(Code::PermissionDenied, message).about(id))
    }

    /// Whether the caller still waits. Between steps: what is done by then is undone.
    pub(crate) fn in_time(&self) -> Result<()> {
        in_time(self.deadline, self.tool)
    }

    /// Records the intent. Belongs into the transaction that reserves it.
    pub(crate) fn begin(&self, connection: &Connection, plan: &impl Serialize) -> Result<i64> {
        let (key, id) = (self.key.as_deref(), &self.instance.id);
        let mut plan = to_json(plan)?;
        plan["input"] = self.input.clone();
        Ok(db::begin_operation(connection, key, self.tool, id, &plan)?)
    }

    /// Records that the call was refused. Belongs into the transaction in which that counts: a retry gets the same answer,
    /// and counts no more.
    pub(crate) fn refuse(&self, connection: &Connection, error: &AgentsError) -> Result<()> {
        if self.key.is_some() {
            let operation = self.begin(connection, &json!({}))?;
            let refusal = to_json(error)?;
            db::end_operation(connection, operation, OperationState::Undone, Some(&refusal))?;
        }
        self.record_failure(connection, error)
    }

    fn record_failure(&self, connection: &Connection, error: &AgentsError) -> Result<()> {
        let by = Failed { instance: Some(&self.instance.id), head: self.head.as_ref() };
        record_failure(connection, self.tool, by, &self.input, error, Some(self.begun))?;
        self.logged.set(true);
        Ok(())
    }
}

pub(crate) fn in_time(deadline: Instant, tool: &str) -> Result<()> {
    if Instant::now() < deadline {
        return Ok(());
    }
    Err(AgentsError::new(Code::Timeout, format!("{tool} took too long and was undone"))
        .suggest("try again; MCP_TOOL_TIMEOUT (in milliseconds) allows more time"))
}

/// What the journal holds of a plan or an answer.
pub(crate) fn to_json(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| {
        AgentsError::new(Code::InternalError, format!("the journal cannot hold this: {error}"))
    })
}

/// Records the outcome of an operation, and the call. Belongs into the transaction that records the work. After a crash
/// there is no caller.
pub(crate) fn finish(
    connection: &Connection,
    operation: i64,
    result: &impl Serialize,
    git_commit: Option<&str>,
    caller: Option<&Caller<'_>>,
) -> Result<()> {
    db::end_operation(connection, operation, OperationState::Done, Some(&to_json(result)?))?;
    let Operation { tool, instance, plan, .. } = db::operation(connection, operation)?;
    let mut detail = json!({"input": plan["input"], "result": audited(result)});
    if let Some(caller) = caller {
        detail["duration_ms"] = milliseconds(caller.begun).into();
    }
    let event = NewEvent {
        tool: Some(&tool),
        success: Some(true),
        git_commit,
        detail,
        ..NewEvent::of(EventKind::ToolCalled, &instance)
    };
    db::insert_event(connection, &event)?;
    Ok(())
}

/// Records that an operation is undone, and why, where a caller waits for it.
pub(crate) fn undo(
    connection: &Connection,
    operation: i64,
    failure: Option<(&Caller<'_>, &AgentsError)>,
) -> Result<()> {
    db::end_operation(connection, operation, OperationState::Undone, None)?;
    failure.map_or(Ok(()), |(caller, error)| caller.record_failure(connection, error))
}

impl Coordinator {
    /// Runs a tool for the instance that has this token: waits for its family's lock, answers a retry from the journal, and
    /// records a failure.
    pub(crate) fn answer<T: Serialize + DeserializeOwned>(
        &self,
        tool: &'static str,
        call: &AgentCall<'_>,
        input: &impl Serialize,
        work: impl FnOnce(&Caller<'_>) -> Result<T>,
    ) -> Result<T> {
        let (begun, input) = (Instant::now(), audited(input));
        let log_failure =
            |by: Failed<'_>, error: &AgentsError| self.log_failure(tool, by, &input, error, begun);
        let instance =
            self.identify(call.token).inspect_err(|error| log_failure(Failed::default(), error))?;
        let head = head_of(&self.git.until(call.deadline), &instance);
        let by = Failed { instance: Some(&instance.id), head: head.as_ref() };
        let caller = self.caller(tool, &instance.id, call, (input.clone(), head.clone()), begun);
        let caller = caller.inspect_err(|error| log_failure(by, error))?;
        let answer = match self.recorded(&caller) {
            Ok(Some(result)) => return Ok(result),
            Ok(None) => work(&caller),
            Err(error) => Err(error),
        };
        answer.map_err(|error| {
            if !caller.logged.get() {
                log_failure(by, &error);
            }
            if error.instance.is_some() { error } else { error.about(&caller.instance.id) }
        })
    }

    /// The caller, once its family's lock is free and everything interrupted there is repaired.
    fn caller(
        &self,
        tool: &'static str,
        id: &InstanceId,
        call: &AgentCall<'_>,
        (input, head): (Value, Option<Head>),
        begun: Instant,
    ) -> Result<Caller<'_>> {
        let hold = self.hold(id, call.deadline, tool)?;
        let key =
            call.idempotency_key.map(|key| format!("{id} {tool} {}", blake3::hash(key.as_bytes()).to_hex()));
        Ok(Caller {
            instance: self.archive.instance(id)?,
            tool,
            key,
            head,
            input,
            begun,
            deadline: call.deadline,
            logged: Cell::new(false),
            _hold: hold,
        })
    }

    /// Takes the lock of an instance's family, and repairs what was interrupted there.
    pub(crate) fn hold(&self, id: &InstanceId, deadline: Instant, tool: &str) -> Result<Hold<'_>> {
        let family = self.read(|connection| db::family(connection, id))?;
        let Some(hold) = self.holds.take(&family, deadline) else {
            let message = format!("{family} was busy for too long; nothing was done");
            return Err(AgentsError::new(Code::Timeout, message).about(id).suggest("try again"));
        };
        self.repair_family(&family)?;
        in_time(deadline, tool)?;
        Ok(hold)
    }

    /// Finishes or undoes what was interrupted in a family that is held.
    pub(crate) fn repair_family(&self, family: &InstanceId) -> Result<Vec<Repair>> {
        let interrupted = self.read(|connection| db::operations_of_family(connection, family))?;
        interrupted.iter().map(|operation| self.repair(operation)).collect()
    }

    fn repair(&self, operation: &Operation) -> Result<Repair> {
        let done = match operation.tool.as_str() {
            tools::START => self.repair_start(operation)?,
            tools::REQUEST_REVIEW => self.repair_review(operation)?,
            tools::SEND_FEEDBACK => self.repair_feedback(operation)?,
            tools::CREATE_PULL_REQUEST => self.repair_pull(operation)?,
            tools::CREATE_ISSUES => self.repair_issues(operation)?,
            other => {
                let message =
                    format!("a newer version of tamis began {other}, which this version cannot undo");
                return Err(AgentsError::new(Code::InternalError, message).about(&operation.instance));
            }
        };
        let found = format!("{} of {} was interrupted", operation.tool, operation.instance);
        self.record_repair(Some(&operation.instance), found, done)
    }

    /// What this very call came to before, if it did.
    fn recorded<T: DeserializeOwned>(&self, caller: &Caller<'_>) -> Result<Option<T>> {
        let Some(key) = &caller.key else { return Ok(None) };
        let operation = self.read(|connection| db::operation_by_key(connection, key))?;
        let unreadable = |error: serde_json::Error| {
            AgentsError::new(Code::InternalError, format!("the recorded answer cannot be read: {error}"))
        };
        match operation.map(|operation| (operation.state, operation.result)) {
            Some((OperationState::Done, Some(result))) => {
                serde_json::from_value(result).map(Some).map_err(unreadable)
            }
            Some((OperationState::Undone, Some(refusal))) => {
                caller.logged.set(true);
                Err(serde_json::from_value(refusal).map_err(unreadable)?)
            }
            // What was undone without an answer is tried afresh.
            _ => Ok(None),
        }
    }

    /// Records a failed call. When even that fails, the caller still gets the failure itself.
    pub(crate) fn log_failure(
        &self,
        tool: &str,
        by: Failed<'_>,
        input: &Value,
        error: &AgentsError,
        begun: Instant,
    ) {
        // A person starts agents.
        if by.instance.is_none() && tool != tools::START && !self.archive.strangers.admit(tool) {
            return;
        }
        let begun = Some(begun);
        let logged = self.write(|connection| Ok(record_failure(connection, tool, by, input, error, begun)?));
        if let Err(reason) = logged {
            tracing::warn!("{tool} failed ({}), and this cannot be recorded: {reason}", error.code);
        }
    }

    /// Replaces the plan of an operation, when a step has found out what the next ones need.
    pub(crate) fn replan(&self, operation: i64, plan: &impl Serialize) -> Result<()> {
        let plan = to_json(plan)?;
        self.write(|connection| Ok(db::replan(connection, operation, &plan)?))
    }

    /// Records that a call failed and nothing of it has to be taken back. If even that fails, the next one to hold the family
    /// does it.
    pub(crate) fn give_up(&self, operation: i64, caller: &Caller<'_>, error: &AgentsError) {
        let undone = self.write(|connection| undo(connection, operation, Some((caller, error))));
        if let Err(error) = undone {
            tracing::warn!(
                "a failed {} of {} will be recorded later: {error}",
                caller.tool,
                caller.instance.id
            );
        }
    }

    /// Records a repair in the events.
    pub(crate) fn record_repair(
        &self,
        instance: Option<&InstanceId>,
        found: String,
        done: String,
    ) -> Result<Repair> {
        let finding = Repair { instance: instance.cloned(), found, done };
        self.write(|connection| {
            // It may have been undone altogether.
            let there = match instance {
                Some(id) => db::instance(connection, id)?.is_some_and(|it| it.phase != Phase::Preparing),
                None => false,
            };
            let detail = json!({"instance": finding.instance, "found": finding.found, "done": finding.done});
            let instance = instance.filter(|_| there);
            let event = NewEvent { detail, ..NewEvent::of(EventKind::Repaired, instance) };
            db::insert_event(connection, &event)?;
            Ok::<_, AgentsError>(())
        })?;
        Ok(finding)
    }
}
