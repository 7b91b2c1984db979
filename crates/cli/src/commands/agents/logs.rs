use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use tamis_agents::{InstanceId, log_file};

use super::data_folder::AgentsFolder;
use super::log_file::{Lines, LogFile};
use crate::detached_runtime::DetachedRuntime;
use crate::error::{CliError, CliResult};
use crate::{escape, pager, print, signals};

/// How often a log that is followed is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How many looks at the log there are between two queries whether the agent still runs.
const LOOKS_PER_TMUX_CALL: u32 = 10;

/// Show the output of an agent
///
/// While its session exists, shows its screen and scrollback. Afterwards, and with --follow, shows its log (the last 4 to
/// 8 MiB) without terminal control sequences. For an agent with a full-screen interface, use --raw.
#[derive(Args)]
pub(crate) struct Logs {
    /// Id of the instance, as in `tamis agents list`
    id: InstanceId,
    /// Follow the log until the agent ends or Ctrl-C is pressed
    #[arg(long, short)]
    follow: bool,
    /// Maximum number of lines, from the end
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    lines: usize,
    /// Print the log unchanged
    #[arg(long, conflicts_with = "lines")]
    raw: bool,
}

pub(crate) fn run(arguments: &Logs) -> CliResult {
    if arguments.follow {
        pager::turn_off();
    }
    let id = &arguments.id;
    let folder = AgentsFolder::of_process()?;
    let instance = folder.existing(id)?;
    let from_screen = !arguments.raw && !arguments.follow;
    if from_screen && folder.tmux()?.session(id)?.is_some() {
        let screen = folder.tmux()?.capture(id, arguments.lines)?;
        return if screen.is_empty() { nothing(id) } else { print::line(escape::controls(&screen)) };
    }
    let path = log_file(&folder.data_dir, id);
    let Some(mut log) = LogFile::open(&path).map_err(|error| unreadable(&path, error))? else {
        let error = anyhow::anyhow!("{id} ({}) has no log", instance.status);
        return Err(CliError::failed(error).hint(format!("`tamis agents show {id}` shows the instance")));
    };
    let whole = log.whole().map_err(|error| unreadable(&path, error))?;
    let mut lines = (!arguments.raw).then(Lines::default);
    let mut shown = print_log(lines.as_mut(), &whole, arguments.lines)?;
    if arguments.follow {
        shown |= follow(&folder, arguments, &path, log, lines.as_mut())?;
    }
    if let Some(mut lines) = lines {
        let rest = lines.rest();
        shown |= !rest.is_empty();
        rest.iter().try_for_each(|line| print::line(escape::controls(line)))?;
    }
    if shown { Ok(()) } else { nothing(id) }
}

/// Prints bytes as they are, or the last lines in them. Answers whether there were any.
fn print_log(lines: Option<&mut Lines>, bytes: &[u8], most: usize) -> Result<bool, CliError> {
    let Some(lines) = lines else {
        print::bytes(bytes)?;
        return Ok(!bytes.is_empty());
    };
    let printed = lines.of(bytes);
    printed[printed.len().saturating_sub(most)..]
        .iter()
        .try_for_each(|line| print::line(escape::controls(line)))?;
    Ok(!printed.is_empty())
}

fn nothing(id: &InstanceId) -> CliResult {
    print::note(format_args!("{id} has no output yet"));
    Ok(())
}

fn unreadable(path: &Path, error: std::io::Error) -> CliError {
    CliError::failed(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
}

/// Prints what is added until the session ends. Answers whether anything was.
fn follow(
    folder: &AgentsFolder,
    arguments: &Logs,
    path: &Path,
    mut log: LogFile,
    mut lines: Option<&mut Lines>,
) -> Result<bool, CliError> {
    let runtime = DetachedRuntime::with_worker()?;
    let interrupted = signals::flag(&runtime)?;
    let tmux = folder.tmux()?;
    let (mut shown, mut lives) = (false, true);
    for look in 0.. {
        if look % LOOKS_PER_TMUX_CALL == 0 {
            lives = tmux.session(&arguments.id)?.is_some_and(|session| session.alive);
        }
        let more = log.more().map_err(|error| unreadable(path, error))?;
        if interrupted.load(Ordering::Relaxed) || (more.is_empty() && !lives) {
            break;
        }
        shown |= print_log(lines.as_deref_mut(), &more, usize::MAX)?;
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(shown)
}
