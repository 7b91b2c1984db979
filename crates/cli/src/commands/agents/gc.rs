use std::path::Path;

use clap::Args;
use tamis_agents::Disposal;
use tamis_redact::Redacted;

use super::data_folder::AgentsFolder;
use crate::error::CliResult;
use crate::{escape, print};

/// Remove worktrees and branches of ended agents if no work would be lost
///
/// Keeps everything that has uncommitted changes, stashes, or commits that exist nowhere else, including in submodules, and
/// prints why. Creates an undo reference for everything that it removes.
#[derive(Args)]
pub(crate) struct Gc {
    /// Only print what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Gc) -> CliResult {
    let dry_run = arguments.dry_run;
    let folder = AgentsFolder::of_process()?;
    let disposals = Redacted::new(folder.with_service(async |agents| agents.gc(dry_run).await)?);
    if arguments.json {
        return print::json(&disposals);
    }
    if disposals.is_empty() {
        print::note("there is nothing to clean up");
    }
    for disposal in disposals.iter() {
        let repository = folder.existing(&disposal.instance)?.repository;
        print::text(&render(disposal, &repository, dry_run))?;
    }
    Ok(())
}

/// What is removed, and what stays and why, a line each.
fn render(disposal: &Disposal, repository: &Path, dry_run: bool) -> String {
    let removes = if dry_run { "would remove" } else { "removed" };
    let mut text = format!("{}\n", disposal.instance);
    let mut line = |words: &str| text.push_str(&format!("  {}\n", escape::line(words)));
    disposal.removed.iter().for_each(|what| line(&format!("{removes} {what}")));
    disposal.kept.iter().for_each(|why| line(why));
    if let Some(undo) = disposal.undo.as_ref().filter(|_| !dry_run && !disposal.removed.is_empty()) {
        let repository = shell_word(&repository.to_string_lossy());
        line(&format!("to restore it: git -C {repository} branch NAME {undo}"));
    }
    text
}

/// A word quoted for a shell.
fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_kept_things_and_the_undo_command_are_printed() {
        let disposal = Disposal {
            instance: "work-1-a1".parse().unwrap(),
            removed: vec!["worktree /data/x".into()],
            kept: vec!["branch tamis/work-1-a1 stays:\nit has 2 commits".into()],
            undo: Some("refs/tamis/undo/work-1-a1".into()),
        };
        assert_eq!(
            render(&disposal, Path::new("/shop"), false),
            "work-1-a1\n  removed worktree /data/x\n  branch tamis/work-1-a1 stays: it has 2 commits\n  \
             to restore it: git -C /shop branch NAME refs/tamis/undo/work-1-a1\n"
        );
        let odd = render(&disposal, Path::new("/it's $HOME"), false);
        assert!(odd.contains(r"git -C '/it'\''s $HOME' branch NAME refs"), "{odd}");
        let planned = render(&disposal, Path::new("/shop"), true);
        assert!(planned.contains("  would remove worktree") && !planned.contains("restore it"), "{planned}");
    }
}
