//! The files that say what a codebase is for: what a question about the whole of it is answered with.

use super::corpus::Corpus;

/// Names of such files, in any case, without their endings; best first.
const NAMES: [&str; 12] = [
    "readme",
    "architecture",
    "lib",
    "main",
    "__init__",
    "mod",
    "index",
    "cargo",
    "package",
    "pyproject",
    "go",
    "pom",
];
/// Endings that go with them.
const ENDINGS: [&str; 18] = [
    "", "md", "rst", "txt", "adoc", "rs", "py", "go", "ts", "js", "c", "cc", "cpp", "java", "toml", "json",
    "mod", "xml",
];
const MAX_FILES: usize = 6;
/// Deeper files are about a part.
const MAX_DEPTH: usize = 2;

/// The numbers of the files, best first.
pub(super) fn find(corpus: &Corpus) -> Vec<usize> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (number, (file, class)) in corpus.iter().enumerate() {
        let path = file.place.path.as_str();
        let depth = path.matches('/').count();
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
        let rank = NAMES.iter().position(|known| *known == stem).filter(|_| ENDINGS.contains(&ending));
        // A folder of examples or tests has a page of its own.
        let is_part = matches!(
            class,
            super::FileClass::Test | super::FileClass::Auxiliary | super::FileClass::ThirdParty
        ) || path.contains("test")
            || path.contains("example");
        if let Some(rank) = rank.filter(|rank| depth <= MAX_DEPTH && !is_part && (*rank > 0 || depth == 0)) {
            found.push((rank, depth, number));
        }
    }
    found.sort_by(|a, b| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| corpus.files[a.2].place.cmp(&corpus.files[b.2].place))
    });
    found.into_iter().map(|(_, _, number)| number).take(MAX_FILES).collect()
}
