//! A codebase in a temporary folder, and the tools over it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tamis_codebase::{Policy, Roots};
use tamis_research::{
    CustomRoles, ResearchFinding, ResearchLimits, ResearchSettings, Researcher, RoleError, RoleTask,
};
use tamis_tools::{Access, Caller, Context, Registry, Reply, Research, Services, Toolset, Workbench};

const LIMITS: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(30),
    max_files_read: 50,
    max_bytes_read: 1 << 20,
    max_tokens: 2000,
};

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        fixture.write(
            "shop/src/prices.rs",
            "/// Reads a price.\npub fn parse_price(text: &str) -> u32 {\n    text.parse().unwrap_or(0)\n}\n",
        );
        fixture.write(
            "shop/src/main.rs",
            "mod prices;\n\nfn main() {\n    println!(\"{}\", prices::parse_price(\"7\"));\n}\n",
        );
        fixture.write("shop/README.md", "# Shop\n\nPrices are read by `parse_price`.\n");
        fixture.write("bakery/bread.py", "def bake_bread(flour):\n    return flour * 2\n");
        fixture
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn settings(&self) -> ResearchSettings {
        ResearchSettings {
            roots: Roots::open(&[self.path("shop")], Policy::standard()).unwrap(),
            thoughts: None,
            artifacts: self.path("artifacts"),
            limits: LIMITS,
            model: None,
            index: None,
            workers: 4,
            most_waiting: 64,
        }
    }

    pub(crate) fn research(&self) -> Research {
        Research::new(Arc::new(Researcher::new(self.settings())))
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        call(self.research(), tool, arguments)
    }

    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Value {
        let (answer, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{answer}");
        answer
    }

    pub(crate) fn fail(&self, tool: &str, arguments: Value) -> Value {
        let (answer, is_error) = self.call(tool, arguments);
        assert!(is_error, "{answer}");
        answer["error"].clone()
    }
}

pub(crate) fn registry() -> Registry {
    Registry::all().only(&[Toolset::Research])
}

pub(crate) fn context(research: Research) -> Context {
    let sieve = tamis_sieve::Sieve::new(tamis_sieve::SieveSettings::without_store(usize::MAX));
    let services = Services::new(sieve, Workbench::here().unwrap()).with_research(|| research);
    Context::new(Arc::new(services), Caller::default(), Access::Full)
}

pub(crate) fn reply(tool: &str, arguments: Value, context: Context) -> Reply {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(registry().call(tool, arguments, context))
}

pub(crate) fn call(research: Research, tool: &str, arguments: Value) -> (Value, bool) {
    match reply(tool, arguments, context(research)) {
        Reply::Text { text, is_error } => (serde_json::from_str(&text).unwrap(), is_error),
        other => panic!("{other:?}"),
    }
}

/// One role for all.
pub(crate) struct FnRoles<F>(pub(crate) F);

impl<F: Fn(&RoleTask<'_>) -> Result<ResearchFinding, RoleError> + Send + Sync> CustomRoles for FnRoles<F> {
    fn work(&self, task: &RoleTask<'_>) -> Result<ResearchFinding, RoleError> {
        (self.0)(task)
    }
}
