//! Which files have which of a question's words, kept from the locator's survey, so that a later search for a name reads only
//! files that may have it.

use std::path::Path;
use std::sync::OnceLock;

use tamis_codebase::{RootedPath, Roots};

use crate::question::Question;
use parking_lot::Mutex;
use tamis_code_index::{FileCounts, in_run, parts_of};

/// Every surveyed file. Empty when there was no survey.
#[derive(Debug, Default)]
pub(crate) struct FilesByWord {
    stems: Vec<String>,
    names: Vec<String>,
    /// Unsorted. Sorting takes as long as a small search, and many questions do not need it.
    unordered: Mutex<Vec<(RootedPath, Bits)>>,
    in_order: OnceLock<Vec<(RootedPath, Bits)>>,
}

/// A bit for each column of the question's counter: its terms, then its names, of which there are fewer.
type Bits = u128;

/// A folder of at most this many files is always searched.
const NEARBY: usize = 5_000;

impl FilesByWord {
    pub(crate) fn of(question: &Question, files: Vec<FileCounts>) -> FilesByWord {
        let bits = |counts: &[u16]| {
            let some = counts.iter().enumerate().take(Bits::BITS as usize).filter(|(_, count)| **count > 0);
            some.fold(0, |bits, (column, _)| bits | (1 << column))
        };
        FilesByWord {
            stems: question.terms.iter().map(|term| term.stem.clone()).collect(),
            names: question.names.iter().map(|name| name.text.clone()).collect(),
            unordered: Mutex::new(
                files.into_iter().map(|file| (file.place, file.counts.as_deref().map_or(0, bits))).collect(),
            ),
            in_order: OnceLock::new(),
        }
    }

    /// The files in the order of their places.
    fn files(&self) -> &[(RootedPath, Bits)] {
        self.in_order.get_or_init(|| {
            let mut files = std::mem::take(&mut *self.unordered.lock());
            files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            files
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files().is_empty()
    }

    /// Whether another root has a file of the same path.
    fn is_elsewhere(&self, place: &RootedPath) -> bool {
        let roots = self.files().last().map_or(0, |(last, _)| last.root + 1);
        let mut others = (0..roots).filter(|root| *root != place.root);
        others.any(|root| self.has(&RootedPath { root, path: place.path.clone() }))
    }

    /// The path of a place as references have it: with its root where several have the same path.
    pub(crate) fn shown(&self, roots: &Roots, place: &RootedPath) -> String {
        if roots.len() > 1 && self.is_elsewhere(place) { roots.labelled(place) } else { place.path.clone() }
    }

    /// Whether a file was surveyed.
    pub(crate) fn has(&self, place: &RootedPath) -> bool {
        self.files().binary_search_by(|(known, _)| known.cmp(place)).is_ok()
    }

    /// The bits of every file that has this name; none when the question's words do not narrow it down.
    fn required_bits(&self, name: &str) -> Option<Bits> {
        let bit = |column: usize| if column < Bits::BITS as usize { 1 << column } else { 0 };
        if let Some(number) = self.names.iter().position(|known| known == name) {
            return Some(bit(self.stems.len() + number)).filter(|bits| *bits != 0);
        }
        if !name.bytes().all(in_run) {
            return None;
        }
        let mut required_bits = 0;
        parts_of(name.as_bytes(), |part| {
            if let Some(column) = self.stems.iter().position(|stem| stem == part) {
                required_bits |= bit(column);
            }
        });
        Some(required_bits).filter(|bits| *bits != 0)
    }

    /// Whether the question's words narrow down which files may have a name.
    pub(crate) fn narrows(&self, name: &str) -> bool {
        self.required_bits(name).is_some()
    }

    /// The widest folder around a file that is small enough to be searched; empty when everything is.
    pub(crate) fn widest_folder_around(&self, place: &RootedPath) -> String {
        let mut widest = None;
        for folder in Path::new(&place.path).ancestors().skip(1) {
            let folder = folder.to_str().unwrap_or("");
            let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            if self.count(place.root, &folder) > NEARBY {
                break;
            }
            widest = Some(folder);
        }
        // In a very large folder, only the file itself.
        widest.unwrap_or_else(|| place.path.clone())
    }

    fn count(&self, root: usize, folder: &str) -> usize {
        let from =
            self.files().partition_point(|(place, _)| (place.root, place.path.as_str()) < (root, folder));
        let inside = |place: &RootedPath| place.root == root && place.path.starts_with(folder);
        self.files()[from..].partition_point(|(place, _)| inside(place))
    }

    /// Files that may have one of the names, and those in one of the folders (of a root), in order.
    pub(crate) fn files_with<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        folders: &[(usize, String)],
    ) -> Vec<&RootedPath> {
        let signs: Vec<Bits> = names.filter_map(|name| self.required_bits(name)).collect();
        let near = |place: &RootedPath| {
            folders
                .iter()
                .any(|(root, folder)| place.root == *root && place.path.starts_with(folder.as_str()))
        };
        let matching = self.files().iter().filter(|(place, bits)| {
            signs.iter().any(|required_bits| bits & required_bits == *required_bits) || near(place)
        });
        matching.map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use tamis_codebase::{Policy, StopSignal};

    use super::*;
    use tamis_code_index::{WordCounter, survey};

    #[test]
    fn files_without_a_name_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/load.py", "def load_users(): pass"),
            ("a/other.py", "def unload(): pass"),
            ("b/call.py", "load_users()"),
            ("b/words.py", "users are loaded, and so on"),
            ("c/none.py", "x = 1"),
        ] {
            std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let roots = Roots::open(&[folder.path().to_owned()], Policy::standard()).unwrap();
        let narrowed = |question: &str, name: &str, near: &[(usize, String)]| {
            let question = Question::new(question);
            let files =
                survey(None, &roots, &WordCounter::new(question.word_query()), &StopSignal::never()).unwrap();
            let files_by_word = FilesByWord::of(&question, files);
            let files = files_by_word.files_with([name].into_iter(), near);
            (
                files_by_word.narrows(name),
                files.iter().map(|place| place.path.clone()).collect::<Vec<_>>().join(" "),
            )
        };
        assert_eq!(narrowed("`load_users`", "load_users", &[]), (true, "a/load.py b/call.py".into()));
        let by_words = "a/load.py b/call.py b/words.py";
        assert_eq!(narrowed("how are users loaded", "load_users", &[]), (true, by_words.into()));
        assert_eq!(narrowed("how are sessions kept", "load_users", &[]), (false, String::new()));
        let near = [(0, "a/".to_owned())];
        assert_eq!(narrowed("what does x do", "load_users", &near), (false, "a/load.py a/other.py".into()));
        assert_eq!(narrowed("what does `x` do", "$x", &[]), (false, String::new()));
    }

    #[test]
    fn the_widest_folder_is_that_with_few_files() {
        let place = |path: String| RootedPath { root: 0, path };
        let mut files: Vec<(RootedPath, Bits)> =
            (0..NEARBY).map(|n| (place(format!("big/{n}.py")), 0)).collect();
        files.push((place("big/sub/a.py".into()), 0));
        files.push((place("small/b.py".into()), 0));
        let of = |files: Vec<(RootedPath, Bits)>| FilesByWord {
            unordered: Mutex::new(files),
            ..FilesByWord::default()
        };
        let few = files[..10].to_vec();
        let files_by_word = of(files);
        assert_eq!(files_by_word.widest_folder_around(&place("big/sub/a.py".into())), "big/sub/");
        assert_eq!(files_by_word.widest_folder_around(&place("big/1.py".into())), "big/1.py");
        assert_eq!(files_by_word.widest_folder_around(&place("small/b.py".into())), "small/");
        assert_eq!(of(few).widest_folder_around(&place("big/1.py".into())), "");
    }
}
