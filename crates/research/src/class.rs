//! What a file is for, told from its path alone.

use crate::map::Category;

/// How a file is judged. The order is that of worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    /// Source that does the work.
    Source,
    Test,
    /// Examples, demonstrations, scripts: source beside the work.
    Aside,
    /// Somebody else's source.
    Foreign,
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
/// What a Python package may call the part that helps others to test is source.
const TEST_FOLDERS_PYTHON: [&str; 3] = ["tests", "testdata", "test_data"];
const ASIDE_FOLDERS: [&str; 24] = [
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
const FOREIGN_FOLDERS: [&str; 9] = [
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
/// Stems of the files that a program starts with.
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

/// What the folders on the way to a file say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    foreign: bool,
    aside: bool,
    tests: bool,
    tests_in_python: bool,
}

impl Way {
    /// The folders of a path, without its last name.
    pub(crate) fn through(folders: &str) -> Way {
        let is_in = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        let top = folders.split('/').next().unwrap_or_default();
        Way {
            foreign: is_in(&FOREIGN_FOLDERS),
            aside: is_in(&ASIDE_FOLDERS),
            tests: is_in(&TEST_FOLDERS),
            tests_in_python: is_in(&TEST_FOLDERS_PYTHON) || matches!(top, "test" | "testing"),
        }
    }
}

impl Class {
    pub(crate) fn of(path: &str) -> Class {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        Class::at(Way::through(folders), name)
    }

    /// The class of a file by its name and the folders that lead to it.
    pub(crate) fn at(way: Way, name: &str) -> Class {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let lowered;
        let extension = if extension.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lowered = extension.to_ascii_lowercase();
            &lowered
        } else {
            extension
        };
        if SOURCE.binary_search(&extension).is_err() {
            return if PROSE.contains(&extension) { Class::Prose } else { Class::Data };
        }
        if way.foreign || name.contains(".min.") {
            return Class::Foreign;
        }
        if way.aside {
            return Class::Aside;
        }
        let tests = if extension.starts_with("py") {
            matches!(stem, "test" | "tests" | "conftest")
                || stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem.ends_with("_tests")
                || way.tests_in_python
        } else {
            const ENDS: [&str; 7] = ["_test", "_tests", ".test", ".spec", "_spec", "Test", "Tests"];
            stem.starts_with("test_") || ENDS.iter().any(|end| stem.ends_with(end)) || way.tests
        };
        if tests { Class::Test } else { Class::Source }
    }

    /// What a score is worth in such a file.
    pub(crate) fn worth(self) -> f64 {
        match self {
            Class::Source => 1.0,
            Class::Test => 0.7,
            Class::Aside | Class::Foreign => 0.4,
            Class::Prose => 0.15,
            Class::Data => 0.1,
        }
    }

    /// Whether it is written in a programming language.
    pub(crate) fn is_code(self) -> bool {
        self < Class::Prose
    }
}

impl Category {
    pub(crate) fn of(path: &str) -> Category {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        match Class::of(path) {
            Class::Test => Category::Tests,
            Class::Prose => Category::Docs,
            Class::Data if CONFIGURATION.contains(&extension) || extension.is_empty() => {
                Category::Configuration
            }
            Class::Data => Category::Docs,
            Class::Source if ENTRIES.contains(&stem) => Category::EntryPoint,
            Class::Source if matches!(stem, "settings" | "config" | "conf") => Category::Configuration,
            Class::Source | Class::Aside | Class::Foreign => Category::Implementation,
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
    fn files_are_told_by_their_paths() {
        for (path, class, category) in [
            ("src/flask/app.py", Class::Source, Category::EntryPoint),
            ("django/test/client.py", Class::Source, Category::Implementation),
            ("django/conf/settings.py", Class::Source, Category::Configuration),
            ("tests/test_app.py", Class::Test, Category::Tests),
            ("testing/test_mark.py", Class::Test, Category::Tests),
            ("pkg/server_test.go", Class::Test, Category::Tests),
            ("src/test/java/ATest.java", Class::Test, Category::Tests),
            ("a/b.spec.ts", Class::Test, Category::Tests),
            ("docs/conf.py", Class::Aside, Category::Implementation),
            ("vendor/x/y.go", Class::Foreign, Category::Implementation),
            ("README.md", Class::Prose, Category::Docs),
            ("Cargo.toml", Class::Data, Category::Configuration),
            ("Makefile", Class::Data, Category::Configuration),
            ("a.po", Class::Data, Category::Docs),
        ] {
            assert_eq!((Class::of(path), Category::of(path)), (class, category), "{path}");
        }
    }
}
