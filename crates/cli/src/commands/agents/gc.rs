use std::path::Path;

use clap::Args;
use serde_json::json;
use tamis_agents::Disposal;
use tamis_redact::Redacted;

use super::house::House;
use crate::error::CliResult;
use crate::{escape, print};

/// Remove worktrees and branches of agents that are over, where nothing is lost by it
///
/// What has uncommitted changes, commits that are nowhere else, stashes or anything of that kind in a submodule stays, and it is
/// said why. Of what is removed a ref stays by which it can be had back.
#[derive(Args)]
pub(crate) struct Gc {
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print a JSON array, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Gc) -> CliResult {
    let dry_run = arguments.dry_run;
    let house = House::of_process()?;
    let disposals = house.ask(async |agents| agents.gc(dry_run).await)?;
    if arguments.json {
        return print::json(&Redacted::new(json!(disposals)));
    }
    if disposals.is_empty() {
        print::note("there is nothing to clean up");
    }
    for disposal in &disposals {
        let repository = house.existing(&disposal.instance)?.repository;
        print::bytes(told(disposal, &repository, dry_run).as_bytes())?;
    }
    Ok(())
}

/// What went, or would, and what stays and why, a line each.
fn told(disposal: &Disposal, repository: &Path, dry_run: bool) -> String {
    let removes = if dry_run { "would remove" } else { "removed" };
    let mut text = format!("{}\n", disposal.instance);
    let mut line = |words: &str| text.push_str(&format!("  {}\n", escape::line(words)));
    disposal.removed.iter().for_each(|what| line(&format!("{removes} {what}")));
    disposal.kept.iter().for_each(|why| line(why));
    if let Some(undo) = disposal.undo.as_ref().filter(|_| !dry_run && !disposal.removed.is_empty()) {
        let repository = shell_word(&repository.to_string_lossy());
        line(&format!("to have it back: git -C {repository} branch NAME {undo}"));
    }
    text
}

/// A word as a shell takes it, so that what it stands in can be run.
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
    fn it_says_what_goes_what_stays_and_how_to_have_it_back() {
        let disposal = Disposal {
            instance: "work-1-a1".parse().unwrap(),
            removed: vec!["worktree /data/x".into()],
            kept: vec!["branch tamis/work-1-a1 stays:\nit has 2 commits".into()],
            undo: Some("refs/tamis/undo/work-1-a1".into()),
        };
        assert_eq!(
            told(&disposal, Path::new("/shop"), false),
            "work-1-a1\n  removed worktree /data/x\n  branch tamis/work-1-a1 stays: it has 2 commits\n  \
             to have it back: git -C /shop branch NAME refs/tamis/undo/work-1-a1\n"
        );
        let odd = told(&disposal, Path::new("/it's $HOME"), false);
        assert!(odd.contains(r"git -C '/it'\''s $HOME' branch NAME refs"), "{odd}");
        let planned = told(&disposal, Path::new("/shop"), true);
        assert!(
            planned.contains("  would remove worktree") && !planned.contains("have it back"),
            "{planned}"
        );
    }
}
