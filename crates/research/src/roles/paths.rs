//! Judges files by their paths.

use tamis_syntax::Notation;

/// Whether a module of this name holds the tests of its file.
pub(super) fn is_test_module(name: &str) -> bool {
    matches!(name, "test" | "tests")
}

/// Whether the file is prose or data, in which a name does not count as a use.
pub(super) fn is_prose_or_data(path: &str) -> bool {
    let Some((_, ending)) = path.rsplit('/').next().unwrap_or(path).rsplit_once('.') else {
        return Notation::of_path(path) == Notation::Prose;
    };
    #[rustfmt::skip]
    const ENDINGS: [&str; 34] = [
        "md", "mdx", "rst", "txt", "adoc", "org", "tex", "json", "jsonl", "lock", "csv", "tsv", "svg", "po", "pot", "xml",
        "html", "htm", "css", "scss", "less", "map", "yml", "yaml", "toml", "ini", "cfg", "ipynb", "snap", "log", "diff",
        "patch", "sum", "stderr",
    ];
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// How many folders two paths have in common; more when they are the same file.
pub(super) fn nearness(one: &str, other: &str) -> usize {
    if one == other {
        return usize::MAX;
    }
    let folders = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (folders(one), folders(other));
    let most = one.len().min(other.len()) - 1;
    (0..most).take_while(|&at| one[at] == other[at]).count()
}

/// The folder of a file, with its slash; empty at the top.
pub(super) fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_counts_common_folders() {
        assert_eq!((nearness("a/b/c.rs", "a/b/d.rs"), nearness("a/b.rs", "c.rs")), (2, 0));
        assert_eq!((folder("a/b/c.rs"), folder("c.rs")), ("a/b/", ""));
    }
}
