//! Words with which people speak of times, in the languages that questions are asked in.

/// Before the first of two times.
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &["between", "from", "entre", "zwischen", "von", "vom", "de", "desde", "dalle", "tra", "fra", "within"];
/// Between two times, of which the first may have nothing before it.
#[rustfmt::skip]
pub(super) const RANGE_JOINERS: &[&str] =
    &["to", "until", "till", "til", "through", "-", "–", "—", "à", "au", "jusqu'à", "bis", "a", "al", "hasta", "alle"];
/// Between two times, of which the first has an opener before it.
pub(super) const PAIR_JOINERS: &[&str] = &["and", "et", "und", "y", "e", "&"];
#[rustfmt::skip]
pub(super) const AFTER: &[&str] = &["after", "since", "nach", "seit", "ab", "après", "depuis", "desde", "from", "later", "past", "starting", "dopo", "dès", "después"];
#[rustfmt::skip]
pub(super) const BEFORE: &[&str] = &["before", "until", "till", "til", "by", "vor", "bis", "avant", "antes", "hasta", "prior", "prima", "jusqu'à"];
pub(super) const AROUND: &[&str] = &[
    "around",
    "about",
    "roughly",
    "near",
    "circa",
    "ca",
    "gegen",
    "vers",
    "sobre",
    "verso",
    "approximately",
];
/// "Just before", "shortly after".
pub(super) const CLOSE: &[&str] =
    &["just", "right", "shortly", "immediately", "kurz", "juste", "justo", "poco", "subito", "directly"];
/// Between a relation and the time.
#[rustfmt::skip]
pub(super) const SKIPPED: &[&str] = &[
    "at", "the", "on", "in", "um", "am", "den", "dem", "las", "la", "les", "le", "el", "los", "de", "del", "of", "to", "and", "time", "clock",
    "delle", "alle", "at:", "than",
];
/// These can only be part of a date or a time, if nothing else is between two of them.
#[rustfmt::skip]
pub(super) const BETWEEN_DAY_AND_TIME: &[&str] =
    &["at", "the", "on", "in", "um", "am", "den", "dem", "las", "la", "le", "el", "de", "del", "of", "a", "à", "around", "about", "gegen", "vers", "ca"];

pub(super) const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen"],
    &["february", "feb", "februar", "février", "févr", "febrero", "febbraio"],
    &["march", "mar", "märz", "mär", "mars", "marzo"],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile"],
    &["may", "mai", "mayo", "maggio", "mag"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "giu"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug"],
    &["august", "aug", "août", "aout", "agosto", "ago"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "set"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "dez", "décembre", "déc", "diciembre", "dic", "dicembre"],
];

pub(super) const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "mon", "montag", "montags", "lundi", "lunes", "lunedì"],
    &["tuesday", "tue", "tues", "dienstag", "dienstags", "mardi", "martes", "martedì"],
    &["wednesday", "wed", "mittwoch", "mittwochs", "mercredi", "miércoles", "mercoledì"],
    &["thursday", "thu", "thurs", "donnerstag", "donnerstags", "jeudi", "jueves", "giovedì"],
    &["friday", "fri", "freitag", "freitags", "vendredi", "viernes", "venerdì"],
    &["saturday", "sat", "samstag", "samstags", "samedi", "sábado", "sabato"],
    &["sunday", "sun", "sonntag", "sonntags", "dimanche", "domingo", "domenica"],
];

/// A part of the day: from which hour to which, and its names.
#[rustfmt::skip]
pub(super) const PARTS_OF_DAY: [(u32, u32, &[&str]); 5] = [
    (12, 15, &["mittags", "midday"]),
    (
        5,
        12,
        &[
            "morning",
            "mornings",
            "morgens",
            "vormittags",
            "vormittag",
            "matin",
            "matinée",
            "mañana",
            "mattina",
        ],
    ),
    (12, 18, &["afternoon", "nachmittags", "nachmittag", "après-midi", "tarde", "pomeriggio"]),
    (17, 24, &["evening", "abends", "abend", "soir", "soirée", "sera"]),
    (20, 6, &["night", "overnight", "nachts", "nacht", "nuit", "noche", "notte"]),
];
/// A part of the day by itself is a time only behind one of these: "in the morning", and not "a morning job".
#[rustfmt::skip]
pub(super) const BEFORE_PART_OF_DAY: &[&str] = &[
    "in", "this", "that", "at", "during", "by", "over", "through", "am", "im", "während", "dans", "durant", "pendant", "cette", "por", "durante",
];
pub(super) const ARTICLES: &[&str] = &["the", "der", "den", "le", "la", "l'"];

pub(super) const NOON: &[&str] = &["noon", "midday", "midi", "mittag", "mediodía", "mezzogiorno"];
pub(super) const MIDNIGHT: &[&str] = &["midnight", "minuit", "mitternacht", "medianoche", "mezzanotte"];
pub(super) const HOUR_UNITS: &[&str] =
    &["uhr", "o'clock", "oclock", "h", "hrs", "heures", "heure", "horas", "ore"];

/// A length of time: its seconds, and its names.
pub(super) const UNITS: [(u32, &[&str]); 4] = [
    (
        1,
        &[
            "second", "seconds", "sec", "secs", "s", "sekunde", "sekunden", "seconde", "secondes", "segundo",
            "segundos", "secondi",
        ],
    ),
    (60, &["minute", "minutes", "min", "mins", "minuten", "minuto", "minutos", "minuti"]),
    (
        3600,
        &[
            "hour", "hours", "hr", "hrs", "h", "stunde", "stunden", "heure", "heures", "hora", "horas",
            "ora", "ore",
        ],
    ),
    (
        86_400,
        &[
            "day", "days", "tag", "tage", "tagen", "jour", "jours", "journée", "día", "días", "giorno",
            "giorni",
        ],
    ),
];
#[rustfmt::skip]
pub(super) const LAST: &[&str] = &["last", "final", "past", "letzte", "letzten", "letzter", "dernier", "dernière", "derniers", "dernières", "último", "última", "últimos", "últimas", "ultimi", "ultime", "ultima"];
#[rustfmt::skip]
pub(super) const FIRST: &[&str] = &["first", "initial", "opening", "erste", "ersten", "erster", "premier", "première", "premiers", "premières", "primero", "primera", "primeros", "primeras", "primi", "prime", "prima"];

/// Words for a number of units, which are no hours: "half an hour" is 30 of the next smaller unit.
pub(super) const QUANTITIES: [(u32, &[&str]); 5] = [
    (1, &["a", "an", "une", "un", "ein", "eine", "einer", "una"]),
    (2, &["couple"]),
    (3, &["few"]),
    (5, &["several"]),
    (30, &["half"]),
];
/// Hours of which the word is also an article.
pub(super) const ARTICLE_HOURS: &[&str] = &["une", "ein", "eins", "una"];

/// Parts of an hour before "past" or "to".
pub(super) const PARTS_OF_HOUR: [(u32, &[&str]); 2] = [(30, &["half"]), (15, &["quarter", "viertel"])];
pub(super) const PAST: &[&str] = &["past", "after", "nach"];
pub(super) const TO: &[&str] = &["to", "til", "till", "of", "vor"];
/// Parts of an hour behind it: "onze heures et demie".
pub(super) const ADDED_TO_HOUR: [(u32, &[&str]); 2] = [
    (30, &["demie", "demi", "media", "mezza", "mezzo", "thirty"]),
    (15, &["quart", "cuarto", "quarto", "fifteen"]),
];

/// If one of these is not part of a time that was read, the question may mean another time than was read.
#[rustfmt::skip]
pub(super) const UNREAD: &[&str] = &[
    "between", "past", "half", "quarter", "o'clock", "noon", "midnight", "up", "onward", "onwards", "later", "following", "preceding", "leading", "within",
    "next", "either", "hour", "hours", "minute", "minutes", "second", "seconds", "week", "weeks", "day", "days", "month", "months", "ago", "outside",
    "after", "before", "since", "until", "till", "while", "whole", "rest", "compare", "compared", "different", "line", "lines",
    "yesterday", "today", "tonight", "tomorrow", "gestern", "heute", "hier", "aujourd'hui", "ayer", "hoy", "anoche", "ieri", "oggi", "morning", "afternoon", "evening", "night",
    "zwischen", "halb", "viertel", "uhr", "mitternacht", "nach", "vor", "seit", "bis", "während", "stunde", "stunden", "minuten", "sekunden", "woche", "tag",
    "tage", "entre", "heure", "heures", "jour", "jours", "semaine", "avant", "après", "depuis", "jusqu'à", "partir", "suit", "suivant", "suivantes", "moins",
    "pendant", "hora", "horas", "minuto", "minutos", "día", "días", "semana", "antes", "después", "hasta", "tras", "hace", "menos", "dopo", "prima",
];
/// Directly before a time, these are part of it: "the minute 18:05".
pub(super) const BEFORE_TIME: &[&str] = &[
    "during", "minute", "second", "seconds", "time", "minuten", "sekunde", "seconde", "secondes", "segundo",
    "segundos", "minuto",
];
/// Behind one of these, "2 h" is a length of time.
#[rustfmt::skip]
pub(super) const BEFORE_LENGTH: &[&str] = &[
    "took", "take", "takes", "taking", "lasted", "lasts", "for", "than", "over", "last", "past", "next", "every", "dauerte", "dauert", "alle", "letzten",
    "pendant", "duré", "dure", "dernières", "durante", "duró", "hace", "últimas",
];
/// Months that are words of other meanings too, so a capital or a word before them must show it.
pub(super) const AMBIGUOUS_MONTHS: &[&str] =
    &["may", "mai", "mar", "march", "set", "sept", "gen", "ago", "mag", "ene", "dic"];
