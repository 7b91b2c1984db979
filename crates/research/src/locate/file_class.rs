//! What a file is for, by its path alone.

use super::Category;

/// The kind of a file, most valuable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileClass {
    /// Source that does the work.
    Source,
    Test,
    /// Examples, demonstrations, scripts.
    Auxiliary,
    /// Third-party source.
    ThirdParty,
    Prose,
    /// Configuration, fixtures, translations.
    Data,
}

/// Endings of source, in order.
#[rustfmt::skip]
const SOURCE: [&str; 58] = [
    "bash", "c", "cc", "cjs", "clj", "cpp", "cs", "cts", "cxx", "dart", "erl", "ex", "exs", "fs", "go",
    "groovy", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "mjs", "ml", "mm",
    "mts", "nim", "php", "pl", "pm", "proto", "pxd", "py", "pyi", "pyx", "r", "rb", "rs", "s", "scala", "sh",
    "sql", "svelte", "swift", "tp", "ts", "tsx", "v", "vb", "vue", "zig", "zsh",
];
const PROSE: [&str; 9] = ["adoc", "htm", "html", "ipynb", "markdown", "md", "mdx", "rst", "txt"];
/// Of what is data, what sets something up.
const CONFIGURATION: [&str; 11] =
    ["cfg", "conf", "config", "gradle", "ini", "json", "properties", "toml", "xml", "yaml", "yml"];

const TEST_FOLDERS: [&str; 11] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "test_data",
    "__tests__",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "e2e",
];
/// In Python, `pkg/test` and `pkg/testing` are often source: helpers that a package ships for tests.
const TEST_FOLDERS_PYTHON: [&str; 3] = ["tests", "testdata", "test_data"];
const AUXILIARY_FOLDERS: [&str; 24] = [
    "doc",
    "docs",
    "doc_src",
    "example",
    "examples",
    "demo",
    "demos",
    "benchmark",
    "benchmarks",
    "asv_benchmarks",
    "bench",
    "benches",
    "sample",
    "samples",
    "changelog",
    "tutorial",
    "tutorials",
    "playground",
    "script",
    "scripts",
    "tools",
    "build_tools",
    "extra",
    "extras",
];
const THIRD_PARTY_FOLDERS: [&str; 9] = [
    "vendor",
    "vendored",
    "third_party",
    "thirdparty",
    "node_modules",
    "external",
    "externals",
    "dist",
    "_vendor",
];
/// Stems of entry point files.
const ENTRIES: [&str; 12] = [
    "main",
    "__main__",
    "index",
    "app",
    "server",
    "cli",
    "cmd",
    "manage",
    "wsgi",
    "asgi",
    "bootstrap",
    "entrypoint",
];

/// What the folders of a path say about its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderClass {
    third_party: bool,
    auxiliary: bool,
    tests: bool,
    tests_in_python: bool,
}

impl FolderClass {
    /// The folders of a path, without its last name.
    pub(crate) fn of(folders: &str) -> FolderClass {
        let is_in = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        let is_in_tests = |names: &[&str]| {
            folders.split('/').any(|folder| names.iter().any(|name| folder.eq_ignore_ascii_case(name)))
        };
        let top = folders.split('/').next().unwrap_or_default();
        FolderClass {
            third_party: is_in(&THIRD_PARTY_FOLDERS),
            auxiliary: is_in(&AUXILIARY_FOLDERS),
            tests: is_in_tests(&TEST_FOLDERS),
            tests_in_python: is_in_tests(&TEST_FOLDERS_PYTHON) || matches!(top, "test" | "testing"),
        }
    }
}

impl FileClass {
    pub(crate) fn of(path: &str) -> FileClass {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        FileClass::in_folder(FolderClass::of(folders), name)
    }

    /// The class of a file by its name and the folders that lead to it.
    pub(crate) fn in_folder(folder: FolderClass, name: &str) -> FileClass {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let lowered;
        let extension = if extension.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lowered = extension.to_ascii_lowercase();
            &lowered
        } else {
            extension
        };
        if SOURCE.binary_search(&extension).is_err() {
            return if PROSE.contains(&extension) { FileClass::Prose } else { FileClass::Data };
        }
        if folder.third_party || name.contains(".min.") {
            return FileClass::ThirdParty;
        }
        if folder.auxiliary {
            return FileClass::Auxiliary;
        }
        let tests = if extension.starts_with("py") {
            matches!(stem, "test" | "tests" | "conftest")
                || stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem.ends_with("_tests")
                || folder.tests_in_python
        } else {
            const ENDS: [&str; 7] = ["_test", "_tests", ".test", ".spec", "_spec", "Test", "Tests"];
            matches!(stem, "test" | "tests")
                || stem.starts_with("test_")
                || ENDS.iter().any(|end| stem.ends_with(end))
                || folder.tests
        };
        if tests { FileClass::Test } else { FileClass::Source }
    }

    /// The factor on a file's score.
    pub(crate) fn worth(self) -> f64 {
        match self {
            FileClass::Source => 1.0,
            FileClass::Test => 0.7,
            FileClass::Auxiliary | FileClass::ThirdParty => 0.4,
            FileClass::Prose => 0.15,
            FileClass::Data => 0.1,
        }
    }

    /// Whether it is written in a programming language.
    pub(crate) fn is_code(self) -> bool {
        self < FileClass::Prose
    }
}

/// Whether a file holds tests.
pub(crate) fn is_test(path: &str) -> bool {
    FileClass::of(path) == FileClass::Test
}

impl Category {
    pub(crate) fn of(path: &str) -> Category {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        match FileClass::of(path) {
            FileClass::Test => Category::Tests,
            FileClass::Prose => Category::Docs,
            FileClass::Data if CONFIGURATION.contains(&extension) || extension.is_empty() => {
                Category::Configuration
            }
            FileClass::Data => Category::Docs,
            FileClass::Source if ENTRIES.contains(&stem) => Category::EntryPoint,
            FileClass::Source if matches!(stem, "settings" | "config" | "conf") => Category::Configuration,
            FileClass::Source | FileClass::Auxiliary | FileClass::ThirdParty => Category::Implementation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_in_order() {
        assert!(SOURCE.is_sorted());
    }

    #[test]
    fn files_are_classified_by_their_paths() {
        for (path, class, category) in [
            ("src/flask/app.py", FileClass::Source, Category::EntryPoint),
            ("django/test/client.py", FileClass::Source, Category::Implementation),
            ("django/conf/settings.py", FileClass::Source, Category::Configuration),
            ("tests/test_app.py", FileClass::Test, Category::Tests),
            ("testing/test_mark.py", FileClass::Test, Category::Tests),
            ("pkg/server_test.go", FileClass::Test, Category::Tests),
            ("src/test/java/ATest.java", FileClass::Test, Category::Tests),
            ("a/b.spec.ts", FileClass::Test, Category::Tests),
            ("src/roles/tests.rs", FileClass::Test, Category::Tests),
            ("Tests/Parser.swift", FileClass::Test, Category::Tests),
            ("src/config.rs", FileClass::Source, Category::Configuration),
            ("tests/config.rs", FileClass::Test, Category::Tests),
            ("src/latest.py", FileClass::Source, Category::Implementation),
            ("src/contest.c", FileClass::Source, Category::Implementation),
            ("src/main/java/ConfigTest.java", FileClass::Test, Category::Tests),
            ("docs/conf.py", FileClass::Auxiliary, Category::Implementation),
            ("vendor/x/y.go", FileClass::ThirdParty, Category::Implementation),
            ("README.md", FileClass::Prose, Category::Docs),
            ("Cargo.toml", FileClass::Data, Category::Configuration),
            ("Makefile", FileClass::Data, Category::Configuration),
            ("a.po", FileClass::Data, Category::Docs),
        ] {
            assert_eq!((FileClass::of(path), Category::of(path)), (class, category), "{path}");
        }
    }
}
