//! Whatever an agent has in its worktree, notes that come and go take no uncommitted byte with them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::notes::deliver;
use super::support::{AT, World, branch};

const PATHS: [&str; 5] = ["a.txt", "b.txt", "new", "REVIEW_FEEDBACK.md", "REVIEW_FEEDBACK-2.md"];

#[derive(Clone, Debug)]
enum Step {
    Write(usize, String),
    Delete(usize),
    Folder(usize),
    Link(usize),
    Stage,
    StageOne(usize),
    Unstage,
    Commit,
    Ignore,
    Notes(String),
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    prop_oneof![
        4 => (path.clone(), "[a-c]{1,3}\n").prop_map(|(path, text)| Step::Write(path, text)),
        1 => path.clone().prop_map(Step::Delete),
        1 => path.clone().prop_map(Step::Folder),
        1 => path.clone().prop_map(Step::Link),
        2 => Just(Step::Stage),
        2 => path.prop_map(Step::StageOne),
        1 => Just(Step::Unstage),
        1 => Just(Step::Commit),
        1 => Just(Step::Ignore),
        2 => "[x-z]{1,3}\n".prop_map(Step::Notes),
    ]
}

/// Every content that is in the worktree's files or its index.
fn contents(world: &World) -> BTreeSet<Vec<u8>> {
    let everything = world.everything("tree");
    let mut contents: BTreeSet<Vec<u8>> = everything.files.into_values().collect();
    for entry in everything.index.into_values() {
        let blob = entry.split(' ').nth(1).unwrap().to_owned();
        contents.insert(world.plain("tree", &["cat-file", "blob", &blob]).into_bytes());
    }
    contents.into_iter().map(|bytes| bytes.trim_ascii_end().to_vec()).collect()
}

/// Every content of any commit of the branch.
fn committed(world: &World) -> BTreeSet<Vec<u8>> {
    let objects = world.plain("tree", &["rev-list", "--objects", "--no-object-names", "HEAD"]);
    let blobs = objects.lines().filter(|object| world.plain("tree", &["cat-file", "-t", object]) == "blob");
    blobs
        .map(|blob| world.plain("tree", &["cat-file", "blob", blob]).trim_end().as_bytes().to_vec())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_uncommitted_byte_is_lost(steps in prop::collection::vec(step(), 1..10)) {
        let world = World::new();
        let worktree = world.worktree();
        let mut notes = Vec::new();
        let steps = steps.into_iter().chain([Step::Notes("last\n".to_owned())]);
        for step in steps {
            let at = |path: usize| world.path(&format!("tree/{}", PATHS[path]));
            match step {
                Step::Write(path, text) => drop(fs::write(at(path), text)),
                Step::Delete(path) => drop(fs::remove_file(at(path))),
                Step::Folder(path) => drop(fs::create_dir(at(path)).and_then(|()| fs::write(at(path).join("in"), "in\n"))),
                Step::Link(path) => drop(symlink("../outside", at(path))),
                Step::Stage => drop(world.try_plain("tree", &["add", "--all"])),
                Step::StageOne(path) => drop(world.try_plain("tree", &["add", "--force", PATHS[path]])),
                Step::Unstage => drop(world.try_plain("tree", &["reset", "--quiet"])),
                Step::Commit => drop(world.try_plain("tree", &["commit", "--quiet", "-m", "work"])),
                Step::Ignore => fs::write(world.path("tree/.gitignore"), "REVIEW*\nnew\n").unwrap(),
                Step::Notes(content) => {
                    let before = world.everything("tree");
                    let held = contents(&world);
                    let tip = world.plain("tree", &["rev-parse", "HEAD"]).parse().unwrap();
                    let (_, _, note) = deliver(&worktree, &tip, &notes, &content);
                    let after = world.everything("tree");
                    prop_assert_eq!(after.clone().without(&note.path), before.without(&note.path));
                    prop_assert_eq!(after.files.get(&note.path).map(Vec::as_slice), Some(content.as_bytes()));
                    let left: BTreeSet<_> = contents(&world).union(&committed(&world)).cloned().collect();
                    prop_assert!(held.is_subset(&left));
                    notes.push(note);
                }
            }
        }
        let (before, held) = (world.everything("tree"), contents(&world));
        let paths: Vec<String> = notes.iter().map(|note| note.path.clone()).collect();
        if worktree.remove_notes(&branch(), &paths, AT).is_err() {
            prop_assert_eq!(world.everything("tree"), before);
        } else {
            let without = |mut everything: super::support::Everything| {
                paths.iter().for_each(|path| everything = everything.clone().without(path));
                everything
            };
            prop_assert_eq!(without(world.everything("tree")), without(before));
            let left: BTreeSet<_> = contents(&world).union(&committed(&world)).cloned().collect();
            prop_assert!(held.is_subset(&left));
        }
    }
}
