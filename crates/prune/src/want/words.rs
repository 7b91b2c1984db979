//! Words of questions: how much they ask for, what they exclude or relate, and those that only ask.

/// Words for all of something.
#[rustfmt::skip]
pub(super) const QUANTIFIERS: &[&str] = &[
    "every", "all", "each", "everywhere", "everything", "any", "entire", "whole", "complete", "both",
    "tous", "toutes", "tout", "toute", "chaque", "partout", "alle", "allen", "aller", "alles", "jede", "jeden", "jedes", "jeder", "überall",
    "todos", "todas", "todo", "toda", "cada", "tutti", "tutte", "ogni",
];

/// Words for work that needs all of something.
#[rustfmt::skip]
pub(super) const WHOLE_TASKS: &[&str] = &[
    "list", "lists", "many", "count", "number", "rename", "renaming", "replace", "replacing", "remove", "removing", "delete", "deleting",
    "review", "reviewing", "summarise", "summarize", "summary", "overview", "usages", "occurrences", "instances", "places", "callers",
    "audit", "migrate", "convert", "check", "describe", "explain", "compare", "enumerate", "uses", "references",
    "liste", "lister", "combien", "renommer", "renomme", "remplacer", "remplace", "supprimer", "supprime", "résumer", "résume", "relire", "relis", "vérifier", "vérifie",
    "welche", "viele", "umbenennen", "ersetzen", "ersetze", "entfernen", "entferne", "prüfe", "prüfen", "zusammenfassen",
    "lista", "cuántos", "cuántas", "renombrar", "reemplazar", "eliminar", "revisar", "revisa", "resumir",
];

/// Words that ask for one thing.
#[rustfmt::skip]
pub(super) const ONE_WORDS: &[&str] = &[
    "where", "when", "who", "whose", "find", "locate", "whereabouts",
    "où", "quand", "qui", "trouver", "trouve", "wo", "wann", "wer", "finde", "dónde", "donde", "cuándo", "quién", "encuentra",
];

/// Things of which "which" asks for one.
pub(super) const SINGULARS: &[&str] = &[
    "folder",
    "file",
    "directory",
    "commit",
    "line",
    "function",
    "module",
    "package",
    "process",
    "container",
    "pod",
    "dossier",
    "fichier",
];

#[rustfmt::skip]
pub(super) const YES_NO: &[&str] = &["is", "are", "does", "do", "did", "has", "have", "was", "were", "can", "could", "should", "will", "ist", "sind", "hat", "está"];

#[rustfmt::skip]
pub(super) const LATEST: &[&str] = &[
    "latest", "newest", "recent", "recently", "last", "dernier", "derniers", "dernière", "dernières", "récent", "récents", "récemment",
    "letzte", "letzten", "letzter", "neueste", "neuesten", "zuletzt", "último", "últimos", "última", "últimas", "reciente", "recientes",
];

#[rustfmt::skip]
pub(super) const FIRST: &[&str] = &["oldest", "earliest", "first", "initial", "premier", "premiers", "première", "premières", "erste", "ersten", "primero", "primeros"];

/// Behind "last" or "first", these mean a time or a place in a text, not entries.
#[rustfmt::skip]
pub(super) const NOT_ENTRIES: &[&str] = &[
    "week", "month", "year", "night", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "release", "version",
    "tag", "time", "hour", "hours", "day", "days", "minutes", "weeks", "months", "years", "quarter", "sprint", "semaine", "mois", "woche", "semana",
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    "step", "argument", "parameter", "element", "character", "resort",
];

/// With these, "latest" is only one end of what is wanted.
pub(super) const RANGES: &[&str] =
    &["since", "between", "until", "before", "after", "depuis", "seit", "desde", "from"];

/// With these, what is named may be what is not wanted, or only an example.
#[rustfmt::skip]
pub(super) const OPENINGS: &[&str] = &[
    "not", "but", "except", "without", "other", "others", "exclude", "excluding", "ignore", "ignoring", "skip", "apart", "besides", "never", "missing",
    "unlike", "rather", "instead", "especially", "particularly", "including", "mainly", "also", "rest", "else", "otherwise", "unrelated", "no",
    "most", "least", "more", "less", "largest", "biggest", "smallest", "longest", "compare", "compared", "versus", "vs", "similar", "related", "differs",
    "different", "don't", "doesn't", "isn't", "aren't", "didn't", "wasn't", "sauf", "mais", "sans", "pas", "hors", "autres", "außer", "aber", "ohne", "nicht", "andere",
    "excepto", "pero", "sin", "otros",
];

/// Words that ask and name nothing. Together with the goal's stop words, everything else may be a name.
#[rustfmt::skip]
pub(super) const ASKING: &[&str] = &[
    "use", "uses", "used", "using", "usage", "usages", "call", "calls", "called", "caller", "callers", "site", "sites", "place", "places", "file", "files",
    "folder", "folders", "directory", "directories", "line", "lines", "show", "give", "tell", "print", "output", "occurrence", "occurrences", "instance",
    "instances", "match", "matches", "result", "results", "reference", "references", "code", "function", "functions", "method", "methods", "symbol", "name",
    "named", "thing", "things", "changed", "done", "commit", "commits", "history", "log", "diff", "patch", "live", "lives", "located", "location", "finding",
    "findings", "warning", "warnings", "issue", "issues", "problem", "problems", "rule", "rules", "entry", "entries", "record", "records", "row", "rows",
    "repository", "repo", "project", "mistakes", "mistake", "message", "write", "read", "happened", "made", "modified", "work", "stored", "kept", "called",
    "everywhere", "whether", "exist", "exists", "present", "contain", "contains", "five", "three", "four", "ten", "six", "seven", "eight", "nine", "twenty",
    "introduced", "running", "run", "pull", "request", "branch", "search", "defined", "definition", "declared", "was", "be", "fix", "needs", "much",
];

/// Words that only ask about a listing, but that may name what a log is asked for.
#[rustfmt::skip]
pub(super) const EVENTS: &[&str] = &[
    "exist", "exists", "present", "introduced", "changed", "modified", "made", "stored", "kept", "read", "write", "written", "called", "call", "calls",
    "pull", "search", "remove", "removing", "delete", "deleting", "replace", "replacing", "rename", "renaming", "convert", "migrate", "missing", "skip",
];

#[rustfmt::skip]
pub(super) const EXCLUDING: &[&str] = &[
    "not", "no", "never", "except", "excluding", "but", "outside", "without", "besides", "apart", "unless", "other", "others", "rest", "else", "cannot",
    "außer", "nicht", "ohne", "kein", "keine", "andere", "sauf", "pas", "hors", "sans", "autres", "excepto", "salvo", "sin", "menos", "otros", "tranne",
    "non", "senza", "altri",
];

#[rustfmt::skip]
pub(super) const RELATING: &[&str] = &[
    "after", "before", "since", "until", "till", "while", "around", "meanwhile", "next", "following", "preceding", "leading", "led", "during", "afterwards",
    "compare", "compared", "versus", "vs", "change", "changes", "changed", "differ", "evolve", "trend", "close", "near", "nearby", "then",
    "slower", "faster", "better", "worse", "longer", "shorter", "higher", "lower", "busy", "nach", "vor", "seit", "bis", "während", "danach", "davor",
    "gegenüber", "verändert", "langsamer", "schneller", "avant", "après", "depuis", "pendant", "autour", "ensuite", "évolué", "changé", "antes", "después",
    "desde", "mientras", "tras", "luego", "cambió", "dopo", "prima", "mentre", "poi",
];

/// Words for a cause, a place or a way, which need not be where what is named is.
pub(super) const OPEN_ENDED: &[&str] =
    &["when", "why", "how", "who", "where", "warum", "pourquoi", "comment", "wie", "cómo"];

/// How questions begin that count or list.
pub(super) const COUNTING: [(&str, &str); 4] =
    [("how", "many"), ("how", "often"), ("wie", "viele"), ("wie", "oft")];

pub(super) const COUNTING_FIRST: &[&str] = &[
    "list", "count", "wieviele", "combien", "cuántos", "cuántas", "quanti", "quante", "liste", "lista",
    "zähle",
];
