//! Numbers that people write out.

#[rustfmt::skip]
const NUMBERS: [(u32, &[&str]); 20] = [
    (0, &["zero", "zéro", "cero"]),
    (1, &["one"]),
    (2, &["two", "zwei", "deux", "dos", "due"]),
    (3, &["three", "drei", "trois", "tres", "tre"]),
    (4, &["four", "vier", "quatre", "cuatro", "quattro"]),
    (5, &["five", "fünf", "cinq", "cinco", "cinque"]),
    (6, &["six", "sechs", "seis", "sei"]),
    (7, &["seven", "sieben", "sept", "siete", "sette"]),
    (8, &["eight", "acht", "huit", "ocho", "otto"]),
    (9, &["nine", "neun", "neuf", "nueve", "nove"]),
    (10, &["ten", "zehn", "dix", "diez", "dieci"]),
    (11, &["eleven", "elf", "onze", "once", "undici"]),
    (12, &["twelve", "dozen", "zwölf", "douze", "doce", "dodici"]),
    (15, &["fifteen", "fünfzehn", "quinze", "quince", "quindici"]),
    (20, &["twenty", "zwanzig", "vingt", "veinte", "venti"]),
    (25, &["twenty-five", "fünfundzwanzig", "vingt-cinq", "veinticinco", "venticinque"]),
    (30, &["thirty", "dreißig", "trente", "treinta", "trenta"]),
    (40, &["forty", "vierzig", "quarante", "cuarenta", "quaranta"]),
    (50, &["fifty", "fünfzig", "cinquante", "cincuenta", "cinquanta"]),
    (60, &["sixty", "sechzig", "soixante", "sesenta", "sessanta"]),
];

/// The number that a word in lower case is.
pub(crate) fn number(word: &str) -> Option<u32> {
    let spelled = NUMBERS.iter().find(|(_, names)| names.contains(&word)).map(|(number, _)| *number);
    spelled.or_else(|| word.parse().ok())
}
