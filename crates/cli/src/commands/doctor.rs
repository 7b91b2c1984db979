use std::time::SystemTime;

use clap::Args;
use serde_json::json;
use tamis_clients::find_program;
use tamis_config::{Config, ConfigEnvironment};
use tamis_doctor::{Doctor, Finding, Verdict};
use tamis_gain::GainGrouping;
use tamis_store::DataDir;
use tamis_trace::Trace;

use super::gain;
use super::setup::user_command;
use super::trace::refresh;
use crate::error::{CliError, CliResult};
use crate::{escape, print, startup};

/// Check that tamis is installed, connected and used
///
/// Compares the tool calls in the clients' logs with those that reached `tamis hook`: a hook that a client does not run is silent.
/// Changes nothing but the index of sessions. Exits with 1 if it finds a problem.
#[derive(Args)]
pub(crate) struct DoctorCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: DoctorCommand) -> CliResult {
    let environment = ConfigEnvironment::of_process();
    let config = startup::load_failing_open(&environment)?;
    let trace = startup::trace(&config, &[])?;
    // In a folder that cannot be trusted, nothing is written.
    if DataDir::at(config.data_dir()).secure().is_ok() {
        refresh(&trace)?;
    }
    let findings = findings(&config, &environment, &trace)?;
    if arguments.json {
        print::json(&findings.iter().map(as_json).collect::<Vec<_>>())?;
    } else {
        for finding in &findings {
            let sign = match finding.verdict {
                Verdict::Fine => "ok",
                Verdict::Note => "note",
                Verdict::Problem => "problem",
            };
            let message = escape::line(&finding.message);
            print::line(format_args!("{sign:8} {}: {message}", finding.subject))?;
            if let Some(fix) = finding.fix.as_ref().filter(|_| finding.verdict != Verdict::Fine) {
                print::line(format_args!("{:8} fix: {}", "", escape::line(fix)))?;
            }
        }
    }
    match findings.iter().filter(|finding| finding.verdict == Verdict::Problem).count() {
        0 => Ok(()),
        problems => {
            Err(CliError::failed(anyhow::anyhow!("found {}", print::count(problems as u64, "problem"))))
        }
    }
}

/// What the doctor finds, with the sessions of this index.
pub(crate) fn findings(
    config: &Config,
    environment: &ConfigEnvironment,
    trace: &Trace,
) -> Result<Vec<Finding>, CliError> {
    let setup = startup::client_setup(config, environment)?;
    let path = environment.variables.get("PATH");
    let doctor = Doctor {
        command: &user_command(&setup)?,
        program: startup::this_program()?,
        on_path: find_program("tamis", path.map(|path| path.as_os_str())),
        setup: &setup,
        trace,
        now: SystemTime::now(),
    };
    let mut findings = doctor.findings();
    if setup.data.secure().is_ok() {
        findings.extend(losses(config, trace));
    }
    Ok(findings)
}

/// The clients and tools for which pruning costs more than it saves.
fn losses(config: &Config, trace: &Trace) -> Vec<Finding> {
    let finding =
        |message, fix| Finding { subject: "balance".to_owned(), verdict: Verdict::Note, message, fix };
    // Losses are those of a week, whatever else is measured.
    let now = jiff::Timestamp::now().as_millisecond();
    match gain::measure(config, trace, Some(now), GainGrouping::Agent) {
        Ok(report) => {
            let losses = report.losses.into_iter().filter(|loss| !loss.has_too_few_results());
            losses.map(|loss| finding(loss.message(), Some(loss.switch_off))).collect()
        }
        Err(_) => vec![finding("cannot be computed".to_owned(), Some("tamis gain".to_owned()))],
    }
}

fn as_json(finding: &Finding) -> serde_json::Value {
    json!({
        "subject": finding.subject,
        "verdict": finding.verdict.name(),
        "message": finding.message,
        "fix": finding.fix,
    })
}
