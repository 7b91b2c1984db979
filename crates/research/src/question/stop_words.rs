//! Stop words: words of a question that say nothing about where to look.

/// Stop words: words of grammar. The engine has a list of its own (`crates/prune/src/goal.rs`), which its network was trained
/// with and which may not change without new weights.
#[rustfmt::skip]
pub(super) const STOP_WORDS: [&str; 145] = [
    "a", "about", "across", "after", "again", "against", "all", "also", "always", "am", "among", "an", "and",
    "another", "any", "are", "as", "at", "be", "because", "been", "before", "being", "between", "both", "but",
    "by", "can", "could", "did", "do", "does", "doing", "done", "down", "during", "each", "either", "else",
    "even", "ever", "every", "few", "first", "for", "from", "had", "has", "have", "having", "here", "how",
    "however", "if", "in", "instead", "into", "is", "it", "its", "itself", "just", "least", "less", "many",
    "may", "might", "more", "most", "much", "must", "neither", "never", "no", "nor", "not", "of", "off",
    "often", "on", "once", "one", "only", "onto", "or", "other", "out", "over", "own", "per", "rather",
    "same", "second", "several", "shall", "should", "since", "so", "some", "still", "such", "than", "that",
    "the", "their", "them", "then", "there", "therefore", "these", "they", "this", "those", "through", "thus",
    "to", "too", "two", "under", "unless", "until", "up", "upon", "versus", "very", "via", "vs", "was",
    "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "within", "without", "would", "yet",
];

/// Words common in questions about any software.
#[rustfmt::skip]
pub(super) const JARGON: [&str; 493] = [
    "abstract", "abstraction", "actually", "affect", "affecting", "affects", "algorithm", "algorithmic",
    "algorithms", "allow", "allowing", "allows", "another", "approach", "approaches", "appropriate",
    "appropriately", "architectural", "architecturally", "architecture", "argument", "arguments", "attribute",
    "attributes", "automatically", "backward", "backwards", "basic", "become", "becomes", "behavior",
    "behaviors", "behaviour", "behaviours", "bottleneck", "break", "breaks", "broken", "call", "called",
    "calling", "calls", "cascading", "case", "cases", "cause", "causes", "causing", "certain", "chain",
    "chains", "change", "changed", "changes", "changing", "choice", "choices", "class", "classes", "code",
    "codebase", "common", "compare", "compared", "comparison", "compatibility", "complex", "complexity",
    "component", "components", "concern", "concerns", "condition", "conditional", "conditionally",
    "conditions", "consequence", "consequences", "consider", "considered", "considering", "consistency",
    "consistent", "consistently", "context", "contexts", "control", "coordinate", "coordinates",
    "coordination", "core", "correct", "correctly", "correctness", "cost", "costs", "couple", "coupled",
    "couples", "coupling", "currently", "data", "decide", "decided", "decides", "deciding", "decision", "decisions",
    "declare", "declared", "define",
    "defined", "defines", "defining", "definition", "definitions", "delegate", "delegates", "delegating",
    "delegation", "demonstrate", "depend", "dependencies", "dependency", "dependent", "depends", "describe",
    "design", "designed", "designing", "designs", "determine", "determines", "determining", "differ",
    "difference", "differences", "different", "differentiate", "differs", "directly", "distinction",
    "distinguish", "dual", "dynamically", "edge", "effect", "effects", "efficiency", "efficient", "elsewhere",
    "enable", "enables", "enabling", "enforce", "enforced", "enforces", "enforcing", "ensure", "ensures",
    "ensuring", "entry", "example", "examples", "execute", "executed", "executes", "executing", "execution",
    "exist", "existing", "exists", "explain", "explicit", "explicitly", "extensibility", "extensible",
    "external", "externally", "flexibility", "flexible", "flow", "flows", "framework", "frameworks",
    "function", "functionality", "functions", "general", "generic", "get", "gets", "give", "given", "gives",
    "guarantee", "guarantees", "handle", "handles", "handling", "happen", "happens", "hidden", "high",
    "impact", "impacts", "implement", "implementation", "implementations", "implemented", "implementing",
    "implements", "implication", "implications", "implicit", "implicitly", "improve", "improved",
    "improvement", "indirectly", "influence", "influences", "information", "instance", "instances",
    "integrate", "integrates", "integrating", "integration", "integrity", "interact", "interaction",
    "interactions", "interacts", "internal", "internally", "interplay", "invocation", "invoke", "invoked",
    "invokes", "invoking", "involve", "involved", "involves", "involving", "issue", "issues", "large",
    "layer", "layered", "layers", "lead", "leading", "leads", "level", "levels", "leverage", "leverages",
    "libraries", "library", "lifecycle", "like", "locate", "located", "location", "logic", "low", "main",
    "maintain", "maintainability", "maintained", "maintaining", "maintains", "make", "makes", "making",
    "manage", "management", "manages", "managing", "manually", "mechanism", "mechanisms", "memory", "method",
    "methods", "modification", "modify", "module", "modules", "multiple", "need", "needed", "needs", "number",
    "object", "objects", "occur", "occurs", "optimization", "optimizations", "optimize", "optimized",
    "orchestrate", "orchestration", "order", "outcome", "overall", "overhead", "package", "packages",
    "parameter", "parameters", "part", "particular", "particularly", "parts", "path", "paths", "pattern",
    "patterns", "perform", "performance", "performing", "performs", "pipeline", "pipelines", "point",
    "points", "possible", "potential", "potentially", "preserve", "preserves", "preserving", "prevent",
    "preventing", "prevents", "principle", "principles", "problem", "problems", "process", "processed",
    "processes", "processing", "project", "propagate", "propagates", "propagation", "proper", "properly",
    "properties", "property", "provide", "provides", "providing", "purpose", "rationale", "reason",
    "reasoning", "reasons", "refactor", "refactoring", "reflect", "reflecting", "reflects", "relate",
    "related", "relation", "relationship", "relationships", "reliable", "relies", "rely", "relying", "remove",
    "removed", "removing", "repository", "represent", "represents", "require", "required", "requires",
    "requiring", "respectively", "responsibilities", "responsibility", "result", "resulting", "results",
    "reveal", "revealed", "reveals", "robust", "robustness", "role", "roles", "safe", "safely", "scalability",
    "scale", "scaling", "scenario", "scenarios", "semantic", "semantically", "semantics", "separation", "set",
    "show", "showing", "shows", "significance", "significant", "similar", "simple", "simply", "single",
    "situation", "situations", "solely", "specific", "specifically", "stage", "stages", "state", "states",
    "step", "steps", "strategies", "strategy", "structure", "structures", "subsequent", "subsequently",
    "support", "supporting", "supports", "system", "systems", "take", "taken", "takes", "tell", "test",
    "tested", "testing", "tests", "throughput", "time", "times", "trade", "tradeoff", "tradeoffs", "trigger",
    "triggered", "triggering", "triggers", "type", "types", "underlying", "understand", "usage", "use",
    "used", "uses", "using", "utilize", "utilizes", "utilizing", "valid", "validate", "value", "values",
    "variable", "variables", "various", "verification", "verified", "verifies", "verify", "way", "ways",
    "whose", "work", "workflow", "workflows", "working", "works", "would",
];

/// Words of questions for examples.
#[rustfmt::skip]
pub(super) const EXAMPLE_WORDS: [&str; 11] = [
    "convention", "conventions", "elsewhere", "example", "examples", "idiom", "idioms", "pattern", "patterns",
    "similar", "usages",
];

/// Words by which a question requests something. That a file does not have them says nothing about what is requested.
#[rustfmt::skip]
pub(super) const REQUESTS: [&str; 79] = [
    "calculate", "calculated", "calculates", "calculating", "calculation", "compute", "computed", "computes", "computing",
    "declaration", "declare", "declared", "declares", "define", "defined", "defines", "defining", "definition", "definitions",
    "describe", "display", "exactly", "exist", "exists", "explain", "find", "found", "give", "happen", "happening", "happens",
    "implement", "implementation", "implemented", "implementing", "implements", "know", "let", "list", "live", "lives", "locate",
    "located", "location", "look", "looking", "mean", "means", "need", "performed", "place", "point", "purpose", "responsible", "search",
    "searching", "see", "shown", "show", "shows", "source", "spot", "tell", "thing", "things", "try", "understand", "us", "used", "uses",
    "using", "want", "wanted", "whereabouts", "work", "working", "works", "written", "yourself",
];

/// Words for a codebase as a whole.
pub(super) const WHOLES: [&str; 12] = [
    "app",
    "application",
    "codebase",
    "crate",
    "library",
    "package",
    "program",
    "project",
    "repo",
    "repository",
    "software",
    "tool",
];

/// Words of questions about the whole, beside those that ask.
pub(super) const OVERVIEW_WORDS: [&str; 12] = [
    "architecture",
    "entire",
    "intended",
    "main",
    "overall",
    "overview",
    "readme",
    "structure",
    "summarise",
    "summarize",
    "summary",
    "whole",
];

/// Words that say what kind of thing a name is.
#[rustfmt::skip]
pub(super) const SYMBOL_KINDS: [&str; 47] = [
    "attribute", "class", "classes", "column", "constant", "constants", "constructor", "decorator", "endpoint", "enum", "env",
    "environment", "exception", "field", "file", "files", "fixture", "flag", "function", "functions", "identifier", "interface",
    "key", "macro", "member", "method", "methods", "module", "option", "package", "parameter", "property", "route", "routine",
    "setting", "sql", "struct", "structure", "symbol", "table", "trait", "type", "types", "union", "variable", "variables",
    "variant",
];

/// The same beside a name that is written as code.
pub(super) const BESIDE_CODE: [&str; 11] = [
    "command",
    "component",
    "config",
    "configuration",
    "error",
    "helper",
    "hook",
    "model",
    "name",
    "settings",
    "template",
];

/// Stop words of the analyzer, the pattern finder and the search in notes.
#[rustfmt::skip]
pub(super) const ASKING: [&str; 107] = [
    "how", "does", "do", "did", "what", "where", "why", "when", "which", "who", "is", "are", "was", "be", "been", "the",
    "a", "an", "and", "or", "not", "of", "in", "on", "to", "for", "from", "by", "with", "without", "that", "this",
    "these", "those", "it", "its", "as", "at", "into", "between", "through", "than", "rather", "while", "would", "could",
    "should", "can", "may", "must", "will", "if", "then", "there", "their", "they", "we", "our", "you", "i", "me", "my",
    "have", "has", "had", "show", "find", "tell", "explain", "describe", "give", "list", "example", "examples",
    "pattern", "patterns", "similar", "existing", "elsewhere", "codebase", "code", "implemented", "implementation",
    "work", "works", "used", "use", "using", "usage", "usages", "way", "ways", "done", "some", "all", "please", "about",
    "decide", "decided", "decides", "deciding", "need", "needs", "thought", "thoughts", "notes", "were",
];

/// Phrases of questions for tests.
#[rustfmt::skip]
pub(super) const TEST_PHRASES: [&str; 9] = [
    "which test", "what test", "tests cover", "tests for ", "tests of ", "tested", "test coverage", "unit tests",
    "covered by test",
];

/// Words of questions for tests as such.
#[rustfmt::skip]
pub(crate) const TEST_WORDS: [&str; 14] = [
    "acceptance", "case", "cases", "e2e", "functional", "integration", "regression", "suite", "suites", "test", "testing", "tests",
    "unit", "written",
];
