//! An answer is the same with an index and without, whatever happened to the files meanwhile.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tamis_codebase::{Policy, Roots, StopSignal};
use tempfile::TempDir;

use super::*;
use crate::query;
use crate::survey::{FileCounts, survey_by_reading};

/// What the index answers, and whether it is out of date.
type LookedUp = Result<(Vec<FileCounts>, bool), IndexError>;

struct Fixture {
    folder: TempDir,
    roots: Roots,
    index: Index,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("code")).unwrap();
        let roots = Roots::open(&[folder.path().join("code")], Policy::standard()).unwrap();
        let index = Index::of(&folder.path().join("index"), &roots);
        Fixture { folder, roots, index }
    }

    fn write(&self, path: &str, text: &[u8]) {
        let path = self.folder.path().join("code").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        // Whether it is there is of no interest.
        let _ = fs::remove_file(self.folder.path().join("code").join(path));
    }

    fn both(&self, text: &str) -> (Vec<FileCounts>, LookedUp) {
        let counter = WordCounter::new(query(text));
        let read = survey_by_reading(&self.roots, &counter, &StopSignal::never()).unwrap();
        (read, self.index.survey(&self.roots, &counter, &StopSignal::never()))
    }

    fn check(&self, text: &str) -> bool {
        let (read, looked_up) = self.both(text);
        let (files, stale) = looked_up.unwrap();
        assert_eq!(sorted(files), sorted(read), "{text}");
        stale
    }
}

fn sorted(mut files: Vec<FileCounts>) -> Vec<FileCounts> {
    files.sort_unstable_by(|a, b| a.place.cmp(&b.place));
    files
}

const QUESTION: &str = "How does `parse_config` in `ConfigParser` read the settings file?";

#[test]
fn it_is_kept_from_300_files_on() {
    let pays = |files: usize| Index::is_worth(IndexUse::Large, files);
    assert_eq!([0, 1, 299, 300, 301].map(pays), [false, false, false, true, true]);
    assert!(Index::is_worth(IndexUse::Always, 1));
}

#[test]
fn it_has_the_counts_of_reading() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.both(QUESTION).1, Err(IndexError::Missing)));
    fixture.write(
        "src/config.py",
        b"class ConfigParser:\n    def parse_config(self, file):\n        return file.read()\n",
    );
    fixture
        .write("src/other.py", b"from config import ConfigParser\nConfigParser().parse_config(settings)\n");
    fixture.write("docs/settings.md", b"# Settings\n\nHow settings are parsed.\n");
    fixture.write("logo.png", b"\x89PNG\0\0settings");
    fixture.write("empty.txt", b"");
    fixture.write("latin.c", b"/* r\xe9glages */ int parse_config(void)\n{\n}\n");
    assert!(fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap());
    fixture.check(QUESTION);
    fixture.check("nothing of this zebra");
    fixture.check("");
    let (read, _) = fixture.both(QUESTION);
    let read = sorted(read);
    let defines: Vec<_> = read.iter().map(|file| (file.place.path.as_str(), file.defines)).collect();
    // `parse_config` is the first name, `ConfigParser` the second.
    assert_eq!(
        defines,
        [
            ("docs/settings.md", 0),
            ("empty.txt", 0),
            ("latin.c", 0),
            ("src/config.py", 3),
            ("src/other.py", 0)
        ]
    );
}

#[test]
fn it_notices_every_change() {
    let fixture = Fixture::new();
    for number in 0..30 {
        fixture.write(&format!("src/part{}/file{number}.py", number % 5), b"def parse_config(): pass\n");
    }
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    fixture.check(QUESTION);
    fixture.write("src/part1/file1.py", b"settings = 1\n");
    assert!(fixture.check(QUESTION));
    fixture.write("src/new/file.py", b"class ConfigParser:\n");
    assert!(fixture.check(QUESTION));
    fixture.remove("src/part2/file2.py");
    assert!(fixture.check(QUESTION));
    fixture.write(".gitignore", b"part3/\n");
    assert!(fixture.check(QUESTION));
    fs::rename(fixture.folder.path().join("code/src/part4"), fixture.folder.path().join("code/src/moved"))
        .unwrap();
    assert!(fixture.check(QUESTION));
    while fixture.check(QUESTION) {
        // Until the clock has moved on from what was just written.
        assert!(fixture.index.refresh(&fixture.roots, &StopSignal::never()).unwrap());
    }
    fixture.check("where are the settings");
}

#[test]
fn a_damaged_index_is_not_used() {
    let fixture = Fixture::new();
    fixture.write("a.py", b"def parse_config(): pass\n");
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    let database = Database::open(&fixture.index.path, db::COMPONENTS).unwrap();
    let rules = &fixture.index.rules;
    let tree = database.read(|connection| db::tree(connection, rules)).unwrap().unwrap();
    for length in 0..tree.len() {
        let cut = tree[..length].to_vec();
        database.write(|transaction| db::put_tree(transaction, &cut, rules)).unwrap();
        assert!(matches!(fixture.both(QUESTION).1, Err(IndexError::Damaged)), "{length}");
    }
    database.write(|transaction| db::put_tree(transaction, &tree, "another")).unwrap();
    assert!(matches!(fixture.both(QUESTION).1, Err(IndexError::Missing)));
    drop(database);
    fs::write(&fixture.index.path, b"no database").unwrap();
    assert!(fixture.both(QUESTION).1.is_err());
    assert!(fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap(), "it is made again");
    fixture.check(QUESTION);
}

#[test]
fn a_reader_sees_one_state_while_another_process_builds() {
    let fixture = Fixture::new();
    for number in 0..40 {
        let text = "def parse_config(settings): pass\n".repeat(number);
        fixture.write(&format!("d{}/f{number}.py", number % 4), text.as_bytes());
    }
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Threads fixture files in other segments each time; segment numbers are reused.
            for _ in 0..25 {
                fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
        while !over.load(Ordering::Relaxed) {
            let (read, looked_up) = fixture.both(QUESTION);
            match looked_up {
                Ok((files, _)) => assert_eq!(sorted(files), sorted(read)),
                Err(why) => assert!(matches!(why, IndexError::Missing), "{why}"),
            }
        }
    });
    fixture.check(QUESTION);
}

#[test]
fn rules_from_above_the_root_are_noticed() {
    let fixture = Fixture::new();
    fixture.write("a.py", b"def parse_config(): pass\n");
    fixture.write("b.txt", b"settings\n");
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    let above = |name: &str, text: &str| fs::write(fixture.folder.path().join(name), text).unwrap();
    for (name, text) in [(".gitignore", "*.txt\n"), (".git", "gitdir: elsewhere\n"), (".gitignore", "*.py\n")]
    {
        above(name, text);
        fixture.check(QUESTION);
        fixture.index.refresh(&fixture.roots, &StopSignal::never()).unwrap();
        fixture.check(QUESTION);
    }
    let (read, _) = fixture.both(QUESTION);
    assert_eq!(read.iter().map(|file| file.place.path.as_str()).collect::<Vec<_>>(), ["b.txt"]);
}

#[test]
fn a_part_of_a_root_and_a_root_of_the_same_path_are_two() {
    let fixture = Fixture::new();
    fixture.write("part/a.py", b"");
    let part = fixture.folder.path().join("code/part");
    let narrowed = fixture.roots.narrowed(std::slice::from_ref(&part)).unwrap();
    let opened = Roots::open(&[part], Policy::standard()).unwrap();
    // The rules of the folder above count for one of them only.
    assert_ne!(
        Index::of(Path::new("/indexes"), &narrowed).path,
        Index::of(Path::new("/indexes"), &opened).path
    );
}

#[test]
fn roots_may_have_files_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let both = ["one", "two"].map(|name| folder.path().join(name));
    for (root, text) in both.iter().zip(["parse_config\n", "settings settings\n"]) {
        fs::create_dir(root).unwrap();
        fs::write(root.join("same.py"), text).unwrap();
    }
    let roots = Roots::open(&both, Policy::standard()).unwrap();
    let index = Index::of(&folder.path().join("index"), &roots);
    index.build(&roots, &StopSignal::never()).unwrap();
    let fixture = Fixture { folder, roots, index };
    // Until the clock has moved on, and all of it is known.
    while fixture.check(QUESTION) {
        fixture.index.refresh(&fixture.roots, &StopSignal::never()).unwrap();
    }
    let known = Database::open(&fixture.index.path, db::COMPONENTS)
        .unwrap()
        .read(|connection| Ok(fixture.index.load(connection)))
        .unwrap()
        .unwrap();
    let again = known.clone().with_folders(known.folders.clone(), String::new());
    assert_eq!(again.without_entry(), []);
    assert_eq!(again.entries, known.entries);
}

#[test]
fn only_one_process_builds_at_a_time() {
    let fixture = Fixture::new();
    fixture.write("a.py", b"");
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    let lock = fixture.index.lock().unwrap().unwrap();
    assert!(!fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap());
    assert!(!fixture.index.refresh(&fixture.roots, &StopSignal::never()).unwrap());
    drop(lock);
    assert!(fixture.index.refresh(&fixture.roots, &StopSignal::never()).unwrap());
}

#[test]
fn stale_indexes_are_removed() {
    let fixture = Fixture::new();
    fixture.write("a.py", b"");
    fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
    let beside = |name: &str| fixture.index.path.with_file_name(name);
    for name in ["old.db", "old.db-wal", "new.db"] {
        fs::write(beside(name), b"").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - KEPT - Duration::from_secs(60);
    for path in [beside("old.db"), fixture.index.path.clone()] {
        fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    fixture.index.sweep();
    let there = [beside("old.db"), beside("old.db-wal"), beside("new.db"), fixture.index.path.clone()];
    assert_eq!(there.map(|path| path.exists()), [false, false, true, true]);
}

#[test]
fn another_policy_has_another_index() {
    let fixture = Fixture::new();
    let folder = Path::new("/indexes");
    let code = fixture.folder.path().join("code");
    let denying = Roots::open(&[code], Policy::denying(&["*.sql".to_owned()]).unwrap()).unwrap();
    assert_ne!(Index::of(folder, &denying).path, Index::of(folder, &fixture.roots).path);
}

/// What happens to a codebase.
#[derive(Clone, Debug)]
enum Deed {
    Write(u8, String),
    Remove(u8),
    Refresh,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let text = "((def |class |fn |)[a-cé_]{1,4}[A-C]?[ (:\n]{1,2}){0,12}";
    let deed = prop_oneof![
        4 => (0u8..12, text).prop_map(|(file, text)| Deed::Write(file, text)),
        1 => (0u8..12).prop_map(Deed::Remove),
        1 => Just(Deed::Refresh),
    ];
    proptest::collection::vec(deed, 0..24)
}

fn config() -> Config {
    // The same cases every time, unless PROPTEST_CASES is set.
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default(),
        None => Config { cases: 48, rng_seed: RngSeed::Fixed(7), ..Config::default() },
    }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn no_change_of_files_makes_counts_differ_from_reading(
        before in deeds(),
        after in deeds(),
        question in "(`[a-c_]{1,3}[A-C]?`|[a-cé]{2,4}| ){0,8}",
    ) {
        let fixture = Fixture::new();
        let path = |file: u8| format!("d{}/f{file}.py", file % 3);
        let act = |deed: &Deed| match deed {
            Deed::Write(file, text) => fixture.write(&path(*file), text.as_bytes()),
            Deed::Remove(file) => fixture.remove(&path(*file)),
            Deed::Refresh => drop(fixture.index.refresh(&fixture.roots, &StopSignal::never())),
        };
        before.iter().for_each(act);
        fixture.index.build(&fixture.roots, &StopSignal::never()).unwrap();
        fixture.check(&question);
        for deed in &after {
            act(deed);
            fixture.check(&question);
        }
    }
}
