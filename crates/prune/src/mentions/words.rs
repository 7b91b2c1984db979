//! Words of questions about logs: those that name nothing, and synonyms that programs use for the others.

/// Words that name nothing in a log: they ask how a run went as a whole.
#[rustfmt::skip]
pub(super) const GENERIC: &[&str] = &[
    "anything", "something", "everything", "happen", "happens", "happened", "happening", "go", "goes", "going", "went", "gone", "wrong", "unusual",
    "strange", "odd", "weird", "suspicious", "interesting", "important", "relevant", "notable", "noteworthy", "overview", "summary", "log", "logs", "logged",
    "output", "healthy", "health", "okay", "ok", "fine", "green", "red", "ci", "build", "builds", "test", "tests", "pass", "passes", "passed", "passing",
    "break", "breaks", "broke", "broken", "fail", "fails", "failed", "failing", "failure", "failures", "error", "errors", "problem", "problems", "cause",
    "causes", "caused", "reason", "run", "runs", "running", "ran", "status", "result", "results", "know", "understand", "look", "again", "really",
    "event", "events", "message", "messages", "said", "says", "say", "there", "still", "whether", "did", "does", "got", "gets", "get", "mention",
    "mentions", "mentioned", "mentioning", "see", "seen", "saw", "written", "wrote", "appear", "appears", "appeared", "often", "times", "time",
    "doing", "do", "tried", "try", "tries", "name", "names", "print", "printed", "prints", "came", "come", "comes", "gave", "give", "much", "many",
    "take", "takes", "took", "until", "during", "ever", "actually", "exactly", "please", "thanks", "it", "anyone", "someone", "somebody",
    "passiert", "passierte", "schief", "fehler", "passé", "arrivé", "erreur", "erreurs", "errores", "pasó", "geschah", "lief", "läuft",
    "protokoll", "journal", "registro", "zeile", "zeilen", "zeige", "zeig", "ligne", "lignes", "montre", "línea", "líneas", "muestra", "mostrar",
];

/// Function words of languages that the stop words do not cover.
#[rustfmt::skip]
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "was", "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "welches", "ist", "sind", "war", "waren", "wird", "wurde", "wurden", "werden",
    "hat", "haben", "hatte", "mit", "dem", "den", "der", "die", "das", "des", "ein", "eine", "einen", "einem", "einer", "im", "in", "auf", "für",
    "von", "zu", "zum", "zur", "und", "oder", "nicht", "es", "gibt", "gab", "oft", "viele", "viel", "bei", "beim", "nach", "aus", "alle", "er", "sie",
    "sich", "dann", "noch", "schon", "mal", "rein", "raus", "mir", "bitte", "dabei", "welchen", "wieviel", "wieviele", "über", "an", "am", "als", "auch",
    "qué", "quién", "cómo", "cuándo", "cuánto", "cuántos", "cuántas", "dónde", "cuál", "está", "están", "fue", "fueron", "ha", "han", "hubo", "hay",
    "el", "los", "las", "un", "una", "unos", "del", "al", "en", "con", "por", "para", "se", "lo", "y", "o", "no", "su", "sus", "más", "veces", "modo",
    "che", "chi", "come", "quando", "dove", "quale", "quali", "è", "sono", "stato", "stata", "il", "gli", "di", "da", "per", "si", "nel",
    "combien", "quels", "quelles", "quand", "où", "sont", "était", "été", "ont", "eu", "s'est", "qu'est-ce", "est-ce", "c'est", "a", "sous",
    "par", "plus", "fois", "leur", "son", "sa", "ses", "on", "aux", "d'un", "d'une", "ne", "lesquels", "lesquelles", "lequel", "laquelle", "toutes", "tous", "que", "sait-on",
];

/// Words of questions for a cause, which errors and their neighbours answer.
#[rustfmt::skip]
const CAUSES: &[&str] = &[
    "why", "cause", "causes", "caused", "reason", "culprit", "warum", "wieso", "weshalb", "ursache", "grund", "pourquoi", "raison", "perché", "motivo", "causa",
    "porque", "waarom", "absturz", "abgestürzt", "plante", "planté", "falla", "fallan", "fallo", "falló", "roto", "guasto", "dlaczego", "почему", "зачем", "причина", "为什么", "為什麼", "なぜ", "왜",
];
/// Beginnings of words for failures in other languages than English, whose words are an intent of the goal.
#[rustfmt::skip]
const FAILURES: &[&str] = &[
    "fehl", "kaputt", "schief", "erreur", "échec", "échou", "errore", "fallit", "ошиб", "паден", "пада", "сбо",
    "错误", "失败", "エラー", "失敗", "오류",
];

/// Whether a question, in lower case, asks for a cause or a failure.
pub(crate) fn asks_for_failure(question: &str) -> bool {
    let words = || question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_cause = |word: &str| CAUSES.contains(&word);
    let is_written_together =
        |start: &&&str| !start.is_ascii() && start.chars().any(|letter| letter >= '\u{2e80}');
    words().any(|word| is_cause(word) || FAILURES.iter().any(|start| word.starts_with(start)))
        || question.contains("por qué")
        || CAUSES.iter().chain(FAILURES).filter(is_written_together).any(|word| question.contains(*word))
}

/// Words that people use, in several languages, and their synonyms in logs. Each is the beginning of a word, or with `$` a whole word.
#[rustfmt::skip]
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["start", "launch", "boot", "begin", "began", "spawn", "gestartet", "startet", "beginnt", "démarr", "arranc", "inici", "avvi"],
     &["start", "launch", "boot", "begin", "began", "spawn", "listening", "ready", "initializ", "initialis"]),
    (&["stop", "shut", "exit", "terminat", "kill", "halt", "quit", "beendet", "gestoppt", "arrêt", "detuv", "detien", "ferma"],
     &["stop", "shut", "exit", "terminat", "kill", "halt", "quit", "sigterm", "sigkill", "signal"]),
    (&["connect", "verbund", "verbind", "connexion", "conect", "conexi", "connes"],
     &["connect", "accept", "establish", "attach", "join", "handshake", "session opened"]),
    (&["disconnect", "getrennt", "trenn", "déconn", "descone", "disconn"],
     &["disconnect", "clos", "reset by peer", "connection reset", "drop", "lost", "detach", "hung up", "hangup"]),
    (&["login", "log-in", "signin", "authenticat", "angemeldet", "anmeld", "connecté", "inicio"],
     &["login", "log in", "logged in", "sign in", "signed in", "authenticat", "accepted password", "accepted publickey", "session opened"]),
    (&["logout", "signout", "abgemeldet", "abmeld"], &["logout", "logged out", "log out", "signed out", "session closed"]),
    (&["creat", "made", "erstellt", "angelegt", "erzeugt", "créé", "créa", "cread", "crear", "creó"],
     &["creat", "mkdir", "added", "adding", "generat", "new$", "wrote"]),
    (&["delet", "remov", "throw", "threw", "clean", "purg", "evict", "gelöscht", "lösch", "entfernt", "supprim", "efface", "elimin", "borr", "rimoss"],
     &["delet", "remov", "unlink", "purg", "evict", "expir", "discard", "clean", "uninstall", "prun"]),
    (&["download", "fetch", "pull", "herunter", "geladen", "télécharg", "descarg", "scaric"],
     &["download", "fetch", "pull", "retriev", "get:", "crawl", "http fetch", "collecting", "cloning"]),
    (&["upload", "push", "hochgeladen", "sent", "send", "deliver", "publish", "gesendet", "geschickt", "envoy", "enviad", "zugestellt", "livr"],
     &["upload", "push", "sent", "send", "deliver", "publish", "emit", "dispatch"]),
    (&["apply", "applied", "appliqu", "angewendet", "angewandt", "aplic", "applic"], &["apply", "applied"]),
    (&["install", "einge", "instal"], &["install", "setting up", "unpack", "added"]),
    (&["skip", "ignor", "übersprung", "saut", "omit", "salt"], &["skip", "ignor", "omit", "disabled", "xfail"]),
    (&["retr", "again", "wiederhol", "erneut", "réessa", "reintent"], &["retr", "again", "attempt", "backoff"]),
    (&["timeout", "timed", "zeitüber", "expir", "tiempo"], &["timeout", "timed out", "time out", "deadline", "expir"]),
    (&["long$", "slow", "langsam", "lange", "lent", "longtemps", "latenc", "duration", "dauer", "durée", "duró", "tard", "duration", "elapsed"], &["slow", "took", "duration", "latency", "elapsed", "seconds"]),
    (&["refus", "reject", "deni", "deny", "declin", "turned", "abgelehnt", "verweigert", "rechaz", "rifiut"],
     &["refus", "reject", "deni", "deny", "declin", "forbid", "not allowed", "not permitted", "block", "unauthorized", "403", "401"]),
    (&["throttl", "rate-limit", "ratelimit", "gedrosselt", "limit"], &["throttl", "rate limit", "rate-limit", "ratelimit", "too many", "429", "limit"]),
    (&["finish", "complet", "done", "end$", "ended", "ends$", "fertig", "abgeschlossen", "termin", "fini"],
     &["finish", "complet", "done", "end$", "ended", "succe", "exited"]),
    (&["missing", "exist", "absent", "fehl", "manqu", "falta", "found"],
     &["missing", "not found", "no such", "enoent", "not exist", "n't exist", "absent", "404", "cannot find", "unknown"]),
    (&["restart", "reboot", "neugestartet", "redémarr", "reinici"], &["restart", "reboot", "respawn", "reload", "start"]),
    (&["updat", "upgrad", "chang", "aktualisiert", "geändert", "actualiz", "aggiorn", "modif"], &["updat", "upgrad", "chang", "modif", "replac", "rewrit"]),
    (&["compil", "built", "kompilier", "übersetzt"], &["compil", "build", "built", "gcc", "g++", "clang", "rustc", "javac", "linking"]),
    (&["sav", "persist", "stor", "wrote", "gespeichert", "speicher", "sauvegard", "enregistr", "guard", "salvat"],
     &["sav", "persist", "stor", "written", "wrote", "dump", "snapshot", "checkpoint", "commit", "flush"]),
    (&["warn", "warnung", "avertiss", "advert", "avvert"], &["warn", "deprecat", "caution"]),
    (&["crash", "segfault", "abgestürzt", "planté", "core$"], &["crash", "segfault", "sigsegv", "abort", "core$", "panic", "fatal", "died"]),
    (&["large", "size", "big$", "groß", "größe", "taille", "tamaño"], &["size", "bytes", "length", "kib", "mib", "gib"]),
    (&["version", "versión", "versione"], &["version"]),
    (&["memory", "ram$", "heap", "speicher", "mémoire", "memoria"], &["memory", "mem$", "ram$", "heap", "rss$"]),
    (&["listen", "bind", "port$", "ports$", "lausch", "écout", "escuch"], &["listen", "bind", "bound", "port$", "serving", "address"]),
];

/// The synonyms of a word in logs, and whether each is a whole word or the beginning of one.
pub(super) fn synonyms(word: &str) -> impl Iterator<Item = (&'static str, bool)> {
    let word = word.to_lowercase();
    let is_asked = move |start: &&str| match start.strip_suffix('$') {
        Some(whole) => word == whole,
        None => word.starts_with(start),
    };
    SYNONYMS
        .iter()
        .filter(move |(asked, _)| asked.iter().any(&is_asked))
        .flat_map(|(_, written)| written.iter())
        .map(|word| match word.strip_suffix('$') {
            Some(whole) => (whole, true),
            None => (*word, false),
        })
}
