//! What a path tells of its file, before it is opened.

/// Whether tests, and what only tests need, lie there.
pub(super) fn is_test(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let file = names.next().unwrap_or(path).to_lowercase();
    let stem = file.split('.').next().unwrap_or(&file);
    let folder = names.any(|folder| {
        matches!(
            folder.to_lowercase().as_str(),
            "test"
                | "tests"
                | "testing"
                | "spec"
                | "specs"
                | "__tests__"
                | "testdata"
                | "fixtures"
                | "benches"
                | "e2e"
        )
    });
    folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || stem == "conftest"
        || stem == "tests"
        || file.contains(".test.")
        || file.contains(".spec.")
        || (path.len() > 9 && (path.ends_with("Test.java") || path.ends_with("Tests.java")))
}

/// Whether a module's name says that it has the tests of the file around it.
pub(super) fn is_test_module(name: &str) -> bool {
    matches!(name, "test" | "tests")
}

/// Whether the file is prose or data, in which a name is no use of it.
pub(super) fn is_prose_or_data(path: &str) -> bool {
    let Some((_, ending)) = path.rsplit('/').next().unwrap_or(path).rsplit_once('.') else { return false };
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

/// The folder that a file lies in, with its slash; nothing at the top.
pub(super) fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_paths() {
        for (path, test) in [
            ("src/config.rs", false),
            ("tests/config.rs", true),
            ("pkg/server_test.go", true),
            ("src/a.test.ts", true),
            ("src/latest.py", false),
            ("src/main/java/ConfigTest.java", true),
            ("django/test/client.py", true),
            ("src/contest.c", false),
        ] {
            assert_eq!(is_test(path), test, "{path}");
        }
        assert_eq!((nearness("a/b/c.rs", "a/b/d.rs"), nearness("a/b.rs", "c.rs")), (2, 0));
        assert_eq!((folder("a/b/c.rs"), folder("c.rs")), ("a/b/", ""));
    }
}
