//! Research: questions to a codebase, their reports, and memos and handoffs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tamis_codebase::{AccessError, StopSignal};
use tamis_logs::event::Millis;
use tamis_redact::Redacted;
use tamis_research::{
    Confidence, HandoffSummary, Reference, ReferenceError, ReferenceState, ResearchError, ResearchFinding,
    ResearchProgress, ResearchReport, ResearchRequest, ResearchStep, Researcher, ResumeError, Role,
};
use tamis_tools::Failure;
use tokio_util::sync::CancellationToken;

use crate::{Dashboard, PageError, PageErrorKind};

/// Memos and handoffs of one answer.
const MAX_HANDOFFS: usize = 200;
/// Folders of one request.
const MAX_ROOTS: usize = 50;

/// What research can search, and what it has written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageResearch {
    /// Paths, which requests pass back.
    pub roots: Vec<String>,
    /// The folder of memos and handoffs.
    #[cfg_attr(test, ts(as = "String"))]
    pub folder: Redacted,
    /// The latest first.
    pub handoffs: Vec<PageHandoffRow>,
}

/// A memo or handoff in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageHandoffRow {
    pub name: String,
    #[cfg_attr(test, ts(as = "String"))]
    pub question: Redacted,
    pub written: Option<Millis>,
    pub references: usize,
}

/// A memo or handoff.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageHandoff {
    pub name: String,
    #[cfg_attr(test, ts(as = "String"))]
    pub path: Redacted,
    pub written: Option<Millis>,
    #[cfg_attr(test, ts(as = "String"))]
    pub question: Redacted,
    #[cfg_attr(test, ts(as = "String"))]
    pub summary: Redacted,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub key_findings: Vec<Redacted>,
    pub references: Vec<PageHandoffReference>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub constraints: Vec<Redacted>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub notes: Option<Redacted>,
}

/// A reference, and whether it still holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageHandoffReference {
    pub reference: String,
    pub state: PageReferenceState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PageReferenceState {
    Unchanged,
    Changed,
    LineGone,
    Missing,
}

/// A question of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageResearchRequest {
    pub question: String,
    /// All roots if there are none.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Only this role; all that the question needs otherwise.
    pub role: Option<String>,
    /// Also writes a memo.
    #[serde(default)]
    pub memo: bool,
}

/// What the page receives while a question is answered; the last is a report or a failure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PageResearchEvent {
    Progress {
        done: u64,
        total: u64,
        step: PageResearchStep,
        role: Option<&'static str>,
        #[cfg_attr(test, ts(as = "String"))]
        message: Redacted,
    },
    Report {
        report: Box<PageReport>,
    },
    Failed {
        #[cfg_attr(test, ts(as = "String"))]
        message: Redacted,
        #[cfg_attr(test, ts(as = "Option<String>"))]
        hint: Option<Redacted>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PageResearchStep {
    RoleBegan,
    RoleEnded,
    Composing,
    Writing,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReport {
    #[cfg_attr(test, ts(as = "String"))]
    pub question: Redacted,
    pub roots: Vec<String>,
    /// What all roles found out together; none if one role was asked.
    pub synthesis: Option<PageFinding>,
    pub roles: Vec<PageRoleOutcome>,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub keywords: Vec<Redacted>,
    pub models: Vec<String>,
    pub files_scanned: u64,
    pub files_read: u64,
    pub elapsed_ms: u64,
    /// What is missing, and why.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub partial: Vec<Redacted>,
    /// The name of the memo.
    pub memo: Option<String>,
}

/// What one role did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageRoleOutcome {
    pub role: &'static str,
    pub finding: Option<PageFinding>,
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub error: Option<Redacted>,
    pub elapsed_ms: u64,
}

/// What was found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageFinding {
    #[cfg_attr(test, ts(as = "String"))]
    pub summary: Redacted,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub key_findings: Vec<Redacted>,
    /// `path`, `path:line`, `path:first-last`. They are names of files, and passed back as they are.
    pub references: Vec<String>,
    pub confidence: PageConfidence,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub notes: Vec<Redacted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PageConfidence {
    Low,
    Medium,
    High,
}

/// Which lines of which file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageReferenceQuery {
    pub reference: String,
    /// The roots of the report, one a line; all roots if it is missing.
    pub roots: Option<String>,
    /// Lines around those of the reference.
    pub around: Option<usize>,
}

/// The lines of a reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PageReferenceLines {
    pub path: String,
    /// The number of the first line.
    pub from: usize,
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub lines: Vec<Redacted>,
    /// The lines that the reference names.
    pub named: Option<(usize, usize)>,
    /// The lines of the file.
    pub total: usize,
}

impl Dashboard {
    fn researcher(&self) -> Result<&Researcher, PageError> {
        let missing = || PageError::new(PageErrorKind::Unavailable, "research is not served here");
        let research = self.services.research().ok_or_else(missing)?;
        let researcher = research.researcher().map_err(|failure| match failure {
            Failure::Stated { message, .. } => PageError::new(PageErrorKind::Unavailable, message)
                .hint("`tamis config set research.roots FOLDER` names the folders to search"),
            _ => PageError::new(PageErrorKind::Failed, "research failed to start"),
        })?;
        Ok(researcher)
    }

    /// The roots, memos and handoffs.
    pub fn research_overview(&self) -> Result<PageResearch, PageError> {
        let researcher = self.researcher()?;
        let handoffs = researcher.latest_handoffs(MAX_HANDOFFS).map_err(handoff_error)?;
        let row = |handoff: HandoffSummary| PageHandoffRow {
            name: handoff.name,
            question: handoff.question,
            written: handoff.written.map(|time| time.as_millisecond()),
            references: handoff.references,
        };
        Ok(PageResearch {
            roots: researcher.roots(),
            folder: researcher.artifacts().to_string_lossy().into_owned().into(),
            handoffs: handoffs.into_iter().map(row).collect(),
        })
    }

    /// A memo or handoff, by its name.
    pub fn handoff(&self, name: &str) -> Result<PageHandoff, PageError> {
        let resumed = self.researcher()?.resume_handoff(Some(name)).map_err(handoff_error)?;
        let state = |state| match state {
            ReferenceState::Unchanged => PageReferenceState::Unchanged,
            ReferenceState::Changed => PageReferenceState::Changed,
            ReferenceState::LineGone => PageReferenceState::LineGone,
            ReferenceState::Missing => PageReferenceState::Missing,
        };
        let references = resumed.references.iter().map(|(reference, found)| PageHandoffReference {
            reference: reference.to_string(),
            state: state(*found),
        });
        let handoff = &resumed.handoff;
        Ok(PageHandoff {
            name: resumed.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: resumed.path.to_string_lossy().into_owned().into(),
            written: handoff.written.map(|time| time.as_millisecond()),
            question: handoff.question.as_str().into(),
            summary: handoff.summary.as_str().into(),
            key_findings: texts(&handoff.key_findings),
            references: references.collect(),
            constraints: texts(&handoff.constraints),
            notes: handoff.notes.as_deref().map(Redacted::from),
        })
    }

    /// Answers a question. Events are sent as roles work; the last is the report or a failure.
    pub fn research(
        &self,
        request: PageResearchRequest,
        cancellation: CancellationToken,
        send: &(dyn Fn(PageResearchEvent) + Sync),
    ) {
        let progress = |progress: ResearchProgress| send(progress.into());
        let answer = self.answer(request, cancellation, &progress);
        send(match answer {
            Ok(report) => PageResearchEvent::Report { report: Box::new(report) },
            Err(PageError { message, hint, .. }) => PageResearchEvent::Failed { message, hint },
        });
    }

    fn answer(
        &self,
        request: PageResearchRequest,
        cancellation: CancellationToken,
        progress: &(dyn Fn(ResearchProgress) + Sync),
    ) -> Result<PageReport, PageError> {
        let role = match request.role.as_deref().filter(|role| !role.is_empty()) {
            None => None,
            Some(name) => Some(
                Role::ALL
                    .into_iter()
                    .find(|role| role.key() == name)
                    .ok_or_else(|| PageError::new(PageErrorKind::Invalid, format!("no role `{name}`")))?,
            ),
        };
        let roots = request.roots.into_iter().take(MAX_ROOTS).map(PathBuf::from).collect();
        let request = ResearchRequest {
            question: request.question,
            roots,
            role,
            artifact: request.memo,
            ..ResearchRequest::default()
        };
        let stop = StopSignal::on(cancellation);
        let report = self.researcher()?.research(&request, &stop, progress).map_err(research_error)?;
        Ok(PageReport::of(&report))
    }

    /// The lines that a reference points at.
    pub fn reference_lines(&self, query: &PageReferenceQuery) -> Result<PageReferenceLines, PageError> {
        let roots: Vec<PathBuf> =
            query.roots.iter().flat_map(|roots| roots.lines()).take(MAX_ROOTS).map(PathBuf::from).collect();
        let reference = Reference::from(query.reference.clone());
        let read = self.researcher()?.reference_lines(&reference, &roots, query.around.unwrap_or(3));
        let lines = read.map_err(reference_error)?;
        Ok(PageReferenceLines {
            path: lines.path,
            from: lines.first_line,
            lines: lines.lines,
            named: lines.named,
            total: lines.total,
        })
    }
}

impl PageReport {
    fn of(report: &ResearchReport) -> PageReport {
        let outcome = |(role, outcome): (&Role, &tamis_research::RoleOutcome)| PageRoleOutcome {
            role: role.key(),
            finding: outcome.result.as_ref().ok().map(PageFinding::of),
            error: outcome.result.as_ref().err().map(|error| error.message.as_str().into()),
            elapsed_ms: outcome.timing.elapsed_ms,
        };
        let run = &report.run;
        let name =
            |path: &String| PathBuf::from(path).file_name().map(|name| name.to_string_lossy().into_owned());
        PageReport {
            question: report.question.as_str().into(),
            roots: report.roots_searched.clone(),
            synthesis: report.synthesis.as_ref().map(PageFinding::of),
            roles: report.roles.iter().map(outcome).collect(),
            keywords: texts(&run.keywords),
            models: run.models.clone(),
            files_scanned: run.files_scanned,
            files_read: run.used.files_read,
            elapsed_ms: run.elapsed_ms,
            partial: run.partial.iter().map(|note| note.text.as_str().into()).collect(),
            memo: report.artifact_path.as_ref().and_then(name),
        }
    }
}

impl PageFinding {
    fn of(finding: &ResearchFinding) -> PageFinding {
        PageFinding {
            summary: finding.summary.as_str().into(),
            key_findings: finding.key_findings.iter().map(|finding| finding.text.as_str().into()).collect(),
            references: finding.references.iter().map(Reference::to_string).collect(),
            confidence: match finding.confidence {
                Confidence::Low => PageConfidence::Low,
                Confidence::Med => PageConfidence::Medium,
                Confidence::High => PageConfidence::High,
            },
            notes: finding.notes.iter().map(|note| note.text.as_str().into()).collect(),
        }
    }
}

impl From<ResearchProgress> for PageResearchEvent {
    fn from(progress: ResearchProgress) -> PageResearchEvent {
        let (step, role) = match progress.step {
            ResearchStep::Began(role) => (PageResearchStep::RoleBegan, Some(role.key())),
            ResearchStep::Ended(role) => (PageResearchStep::RoleEnded, Some(role.key())),
            ResearchStep::Composing => (PageResearchStep::Composing, None),
            ResearchStep::Writing => (PageResearchStep::Writing, None),
        };
        let ResearchProgress { done, total, message, .. } = progress;
        PageResearchEvent::Progress { done, total, step, role, message: message.into() }
    }
}

fn texts(texts: &[String]) -> Vec<Redacted> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

fn research_error(error: ResearchError) -> PageError {
    let kind = match &error {
        ResearchError::NoQuestion | ResearchError::LongQuestion { .. } => PageErrorKind::Invalid,
        ResearchError::Root(_) => PageErrorKind::NotFound,
    };
    PageError::new(kind, error.to_string())
}

fn handoff_error(error: ResumeError) -> PageError {
    let kind = match &error {
        ResumeError::NoneThere { .. } | ResumeError::NotFound { .. } => PageErrorKind::NotFound,
        ResumeError::Ambiguous { .. } | ResumeError::Outside { .. } | ResumeError::NotAHandoff { .. } => {
            PageErrorKind::Invalid
        }
        _ => PageErrorKind::Failed,
    };
    PageError::new(kind, error.to_string())
}

fn reference_error(error: ReferenceError) -> PageError {
    let kind = match &error {
        ReferenceError::Access(AccessError::System { .. }) => PageErrorKind::Failed,
        ReferenceError::Access(AccessError::TooLarge { .. } | AccessError::Binary { .. }) => {
            PageErrorKind::Invalid
        }
        _ => PageErrorKind::NotFound,
    };
    PageError::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::Duration;

    use parking_lot::Mutex;
    use tamis_codebase::{Policy, Roots};
    use tamis_research::{ResearchLimits, ResearchSettings};
    use tamis_tools::Research;

    use super::*;
    use crate::testing::{dashboard, services};

    #[test]
    fn a_question_is_answered_written_down_and_its_references_have_lines() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("src")).unwrap();
        let code =
            "/// Reads the settings.\npub fn read_settings(path: &str) -> Settings {\n    parse(path)\n}\n";
        fs::write(root.join("src/settings.rs"), code).unwrap();
        fs::write(root.join(".env"), "PASSWORD=hunter22\n").unwrap();
        let artifacts = folder.path().join("artifacts");
        let settings = ResearchSettings {
            roots: Roots::open(&[root], Policy::standard()).unwrap(),
            thoughts: None,
            artifacts,
            limits: ResearchLimits {
                deadline: Duration::from_secs(60),
                max_files_read: 50,
                max_bytes_read: 1 << 20,
                max_tokens: 2000,
            },
            model: None,
            index: None,
            workers: 2,
            most_waiting: 8,
        };
        let services =
            services(folder.path()).with_research(|| Research::new(Arc::new(Researcher::new(settings))));
        let dashboard = dashboard(services);
        assert_eq!(dashboard.research_overview().unwrap().handoffs, []);

        let events = Mutex::new(Vec::new());
        let request = PageResearchRequest {
            question: "Where is read_settings defined?".into(),
            memo: true,
            ..PageResearchRequest::default()
        };
        dashboard.research(request.clone(), CancellationToken::new(), &|event| events.lock().push(event));
        let events = events.into_inner();
        let began = |event: &PageResearchEvent| {
            matches!(
                event,
                PageResearchEvent::Progress { step: PageResearchStep::RoleBegan, role: Some("locator"), .. }
            )
        };
        assert!(began(&events[0]), "{events:?}");
        let Some(PageResearchEvent::Report { report }) = events.last() else { panic!("{events:?}") };
        let references = &report.synthesis.as_ref().unwrap().references;
        let reference =
            references.iter().find(|reference| reference.starts_with("src/settings.rs:")).unwrap();
        let query = PageReferenceQuery {
            reference: reference.clone(),
            roots: Some(report.roots.join("\n")),
            around: Some(0),
        };
        let lines = dashboard.reference_lines(&query).unwrap();
        assert!(lines.lines.iter().any(|line| line.contains("pub fn read_settings")), "{lines:?}");

        let overview = dashboard.research_overview().unwrap();
        assert_eq!(overview.handoffs.len(), 1);
        assert_eq!(Some(&overview.handoffs[0].name), report.memo.as_ref());
        let handoff = dashboard.handoff(&overview.handoffs[0].name).unwrap();
        assert_eq!(handoff.question, "Where is read_settings defined?");
        assert!(handoff.references.iter().all(|found| found.state == PageReferenceState::Unchanged));

        for refused in [".env:1", "../secret", "/etc/passwd:1", "src/none.rs:3"] {
            let query = PageReferenceQuery { reference: refused.into(), ..PageReferenceQuery::default() };
            assert_eq!(
                dashboard.reference_lines(&query).unwrap_err().kind,
                PageErrorKind::NotFound,
                "{refused}"
            );
        }
        let outside =
            PageReferenceQuery { reference: "passwd".into(), roots: Some("/etc".into()), around: None };
        assert_eq!(dashboard.reference_lines(&outside).unwrap_err().kind, PageErrorKind::NotFound);
        for refused in ["../../etc/passwd", "/etc/passwd", "nothing"] {
            assert!(dashboard.handoff(refused).is_err(), "{refused}");
        }
        for (refused, message) in [
            (
                PageResearchRequest { question: " ".into(), ..PageResearchRequest::default() },
                "the question is empty",
            ),
            (PageResearchRequest { role: Some("oracle".into()), ..request.clone() }, "no role `oracle`"),
        ] {
            let events = Mutex::new(Vec::new());
            dashboard.research(refused, CancellationToken::new(), &|event| events.lock().push(event));
            let failed = PageResearchEvent::Failed { message: message.into(), hint: None };
            assert_eq!(events.into_inner(), [failed]);
        }
    }
}
