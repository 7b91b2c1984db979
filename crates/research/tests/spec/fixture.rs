//! A small codebase in a temporary folder, and roles that say what a test has them say.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tamis_codebase::{Policy, Roots, StopSignal};
use tamis_research::{
    Category, Confidence, CustomRoles, FindingKind, KeyFinding, Reference, ResearchFinding, ResearchLimits,
    ResearchReport, ResearchRequest, ResearchSettings, Researcher, Role, RoleError, RoleTask,
};
use tamis_testkit::assert_report;

const LIMITS: ResearchLimits = ResearchLimits {
    deadline: Duration::from_secs(30),
    max_files_read: 50,
    max_bytes_read: 1 << 20,
    max_tokens: 2000,
};

pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
}

/// What the codebase has.
const FILES: &[(&str, &str)] = &[
    (
        "src/config.rs",
        "//! Reads the configuration.\n\nuse std::path::Path;\n\npub struct ShopConfig {\n    pub port: u16,\n}\n\n\
         /// Reads the configuration of the shop from a file.\npub fn parse_shop_config(path: &Path) -> ShopConfig {\n    \
         let text = std::fs::read_to_string(path).unwrap_or_default();\n    ShopConfig { port: port_of(&text) }\n}\n\n\
         fn port_of(text: &str) -> u16 {\n    text.trim().parse().unwrap_or(8080)\n}\n",
    ),
    (
        "src/main.rs",
        "mod config;\nmod orders;\n\nfn main() {\n    let config = config::parse_shop_config(\"shop.toml\".as_ref());\n    \
         orders::serve_orders(config.port);\n}\n",
    ),
    (
        "src/orders.rs",
        "/// Serves orders over HTTP.\npub fn serve_orders(port: u16) {\n    println!(\"listening on {port}\");\n}\n\n\
         pub(crate) fn retry_order(attempt: u32) -> bool {\n    attempt < 3\n}\n",
    ),
    ("src/payments.rs", "pub fn retry_payment(attempt: u32) -> bool {\n    attempt < 5\n}\n"),
    ("tests/config.rs", "#[test]\nfn the_port_is_read() {\n    let config = parse_shop_config(path);\n}\n"),
    ("shop.toml", "port = 9090\n"),
    ("README.md", "# Shop\n\nThe configuration of the shop lies in `shop.toml`.\n"),
];

impl Fixture {
    pub(crate) fn new() -> Fixture {
        let fixture = Fixture { folder: tempfile::tempdir().unwrap() };
        FILES.iter().for_each(|(path, text)| fixture.write(path, text));
        fixture
    }

    pub(crate) fn code(&self) -> PathBuf {
        self.folder.path().join("code")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.code().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn settings(&self) -> ResearchSettings {
        ResearchSettings {
            roots: Roots::open(&[self.code()], Policy::standard()).unwrap(),
            thoughts: None,
            artifacts: self.folder.path().join("artifacts"),
            limits: LIMITS,
            model: None,
            index: None,
            workers: 4,
            most_waiting: 64,
        }
    }

    pub(crate) fn researcher(&self) -> Researcher {
        Researcher::new(self.settings())
    }

    pub(crate) fn with(&self, roles: Roles) -> Researcher {
        Researcher::with_custom_roles(self.settings(), Arc::new(roles))
    }

    /// Whether a reference points at something that is there.
    pub(crate) fn has(&self, reference: &str) -> bool {
        let reference = Reference::from(reference.to_owned());
        let (path, line) = reference.split();
        let Ok(text) = std::fs::read_to_string(self.code().join(path)) else { return false };
        line.is_none_or(|line| line <= text.lines().count())
    }
}

/// Scripted roles.
#[derive(Default)]
pub(crate) struct Roles(BTreeMap<Role, Work>);

type Work = Box<dyn Fn(&RoleTask<'_>) -> Result<ResearchFinding, RoleError> + Send + Sync>;

impl Roles {
    pub(crate) fn with(
        mut self,
        role: Role,
        work: impl Fn(&RoleTask<'_>) -> Result<ResearchFinding, RoleError> + Send + Sync + 'static,
    ) -> Roles {
        self.0.insert(role, Box::new(work));
        self
    }

    pub(crate) fn finding(self, role: Role, finding: ResearchFinding) -> Roles {
        self.with(role, move |_| Ok(finding.clone()))
    }
}

impl CustomRoles for Roles {
    fn work(&self, task: &RoleTask<'_>) -> Result<ResearchFinding, RoleError> {
        match self.0.get(&task.role) {
            Some(work) => work(task),
            None => Ok(finding("Nothing to say", &[], &[])),
        }
    }
}

pub(crate) fn finding(summary: &str, references: &[&str], key_findings: &[&str]) -> ResearchFinding {
    ResearchFinding {
        summary: summary.to_owned(),
        references: references.iter().map(|text| Reference::from((*text).to_owned())).collect(),
        key_findings: key_findings.iter().map(|text| stated(text)).collect(),
        confidence: Confidence::High,
        notes: Vec::new(),
        not_found: None,
    }
}

/// A finding as the role states it whose form the text has.
fn stated(text: &str) -> KeyFinding {
    let category = Category::ALL.into_iter().find(|category| text.starts_with(category.name()));
    let defined = text.split_once(" defines ").and_then(|(before, _)| before.rsplit(' ').next());
    let kind = match (category, defined) {
        (Some(_), Some(place)) => FindingKind::Passage { category, place: Reference::from(place.to_owned()) },
        (Some(_), None) => FindingKind::Places { category },
        (None, _) if text.contains('\n') => return KeyFinding::example(None, text.to_owned()),
        (None, _) => FindingKind::Explanation { places: Vec::new() },
    };
    KeyFinding::new(kind, text.to_owned())
}

pub(crate) fn asking(question: &str) -> ResearchRequest {
    ResearchRequest { question: question.to_owned(), ..ResearchRequest::default() }
}

/// Asks to the end, and holds that the report has its form.
pub(crate) fn research(researcher: &Researcher, request: &ResearchRequest) -> (ResearchReport, Value) {
    research_until(researcher, request, &StopSignal::never())
}

pub(crate) fn research_until(
    researcher: &Researcher,
    request: &ResearchRequest,
    stop: &StopSignal,
) -> (ResearchReport, Value) {
    let report = researcher.research(request, stop, &|_| ()).unwrap().into_inner();
    let answer = serde_json::to_value(&report).unwrap();
    assert_report(&answer);
    (report, answer)
}

pub(crate) fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Put together so that secret scanners do not report it.
pub(crate) fn secret() -> String {
    ["ghp", "_", "Zq7Lk2Xv9Rb4Tn8Wc1Yd6Hs3Jf5Pm0Ga2Ke4"].concat()
}
