//! Generates the page's types from the Rust ones.

use std::collections::BTreeMap;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

/// What the page receives; types inside of these are found by themselves.
fn collect(types: &mut Types) {
    types.visit::<crate::PageStatus>();
    types.visit::<crate::PageSessionList>();
    types.visit::<crate::PageSessionFilters>();
    types.visit::<crate::PageSession>();
    types.visit::<crate::PageSessionOutline>();
    types.visit::<crate::PageSessionAnalysis>();
    types.visit::<crate::PageEventList>();
    types.visit::<crate::PageEvent>();
    types.visit::<crate::PageSearchResults>();
    types.visit::<crate::PageComparison>();
    types.visit::<crate::PagePruneList>();
    types.visit::<crate::PagePruneOutcome>();
    types.visit::<crate::PagePruneSummary>();
    types.visit::<crate::PagePruneDetails>();
    types.visit::<crate::PageOriginalLines>();
    types.visit::<crate::PageTrial>();
    types.visit::<crate::PageResearch>();
    types.visit::<crate::PageHandoff>();
    types.visit::<crate::PageResearchEvent>();
    types.visit::<crate::PageReferenceLines>();
    types.visit::<crate::PageNow>();
    types.visit::<crate::NowStart>();
    types.visit::<crate::LiveMessage>();
    types.visit::<crate::PageAgents>();
    types.visit::<crate::PageAgent>();
    types.visit::<crate::PageAgentEvents>();
    types.visit::<crate::PageAgentLog>();
    types.visit::<crate::PageDiff>();
    types.visit::<crate::PageAbandon>();
    types.visit::<crate::PageSettings>();
    types.visit::<crate::PageDoctor>();
}

struct Types {
    config: Config,
    declarations: BTreeMap<String, String>,
}

impl TypeVisitor for Types {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types without a path are not declared: numbers, lists, maps.
        if T::output_path().is_some() {
            let name = T::ident(&self.config);
            if self.declarations.contains_key(&name) {
                return;
            }
            let declaration = format!("export {}\n", T::decl(&self.config));
            self.declarations.insert(name, declaration);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

#[test]
fn the_types_of_the_page_are_those_of_the_server() {
    let mut types = Types { config: Config::new().with_large_int("number"), declarations: BTreeMap::new() };
    collect(&mut types);
    let declarations: Vec<String> = types.declarations.into_values().collect();
    let text = format!(
        "// Generated from the Rust types by a test of the crate `dashboard`: UPDATE_SNAPSHOTS=1 writes it.\n\n{}",
        declarations.join("\n")
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboard/src/lib/types.ts");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(&written, &text).unified_diff().to_string();
    assert!(difference.is_empty(), "{difference}\nrun the test with UPDATE_SNAPSHOTS=1");
}
