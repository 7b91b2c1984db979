//! What is left to people: where there is no GitHub, or where a pull request was open before.

use super::destination::Destination;

/// Each a sentence with the command that does it.
pub(super) fn to_do(branch: &str, destination: &Destination) -> Vec<String> {
    let base = &destination.base;
    let merge = format!("git switch {base} && git merge --no-ff {branch}");
    match &destination.remote {
        Some(remote) => vec![
            format!("request a merge of {branch} into {base} where {} is hosted", remote.name),
            format!("or merge it yourself: {merge} && git push {} {base}", remote.name),
        ],
        None => vec![
            format!("merge it: {merge}"),
            "or add a remote on GitHub and try again: git remote add origin URL".to_owned(),
        ],
    }
}

/// For a pull request that keeps the title and the description that it had.
pub(super) fn of_existing(number: u64) -> Vec<String> {
    vec![format!("if its title or description should change: gh pr edit {number} --title TITLE --body TEXT")]
}
