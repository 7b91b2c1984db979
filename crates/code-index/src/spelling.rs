//! Spellings of one word: British and American, singular and plural.
//!
//! [`word_stem`] is the stem under which all of them are counted. The automaton of the counter looks for beginnings of words as they
//! are written, so [`beginnings`] lists those of a stem.

use std::borrow::Cow;

use tamis_text::words::stem;

/// Roots that American English spells with `or`.
#[rustfmt::skip]
const OUR: [&str; 24] = [
    "armour", "behaviour", "candour", "clamour", "colour", "discolour", "endeavour", "favour", "fervour", "flavour", "harbour",
    "honour", "humour", "labour", "misbehaviour", "neighbour", "odour", "parlour", "rigour", "rumour", "savour", "splendour",
    "tumour", "vapour",
];

/// Words without a rule, and what they are counted as.
#[rustfmt::skip]
const IRREGULAR: [(&str, &str); 59] = [
    ("acknowledgement", "acknowledgment"), ("acknowledgements", "acknowledgment"), ("analyses", "analyze"),
    ("analysis", "analyze"), ("appendices", "appendix"), ("artefact", "artifact"), ("artefacts", "artifact"), ("axes", "axis"),
    ("bonuses", "bonus"), ("calibre", "caliber"), ("catalogue", "catalog"), ("catalogued", "catalog"),
    ("catalogues", "catalog"), ("centre", "center"), ("centred", "centered"), ("centres", "center"), ("children", "child"),
    ("corpora", "corpus"), ("criteria", "criterion"), ("defence", "defense"), ("defences", "defense"),
    ("dependant", "dependent"), ("dialogue", "dialog"), ("dialogues", "dialog"), ("enrol", "enroll"), ("fibre", "fiber"),
    ("fibres", "fiber"), ("focuses", "focus"), ("fulfil", "fulfill"), ("grey", "gray"), ("greys", "gray"), ("halves", "half"),
    ("indices", "index"), ("judgement", "judgment"), ("judgements", "judgment"), ("leaves", "leaf"), ("licence", "license"),
    ("licenced", "license"), ("licences", "license"), ("litre", "liter"), ("matrices", "matrix"), ("metre", "meter"),
    ("metres", "meter"), ("mould", "mold"), ("offence", "offense"), ("people", "person"), ("practise", "practice"),
    ("pretence", "pretense"), ("programme", "program"), ("programmes", "program"), ("radii", "radius"),
    ("sceptical", "skeptical"), ("schemata", "schema"), ("statuses", "status"), ("storey", "story"), ("theatre", "theater"),
    ("vertices", "vertex"), ("viruses", "virus"), ("yoghurt", "yogurt"),
];

/// Endings of verbs in `-ise` and `-yse`, after the `s`.
const ENDINGS: [&str; 11] =
    ["e", "ed", "es", "er", "ers", "ing", "able", "ation", "ations", "ational", "ement"];

/// The stem under which a lower-case word is counted.
pub fn word_stem(word: &str) -> Cow<'_, str> {
    match american(word) {
        Cow::Borrowed(word) => Cow::Borrowed(single(stem(word))),
        Cow::Owned(word) => Cow::Owned(single(stem(&word)).to_owned()),
    }
}

/// `cancelled` has the stem of `canceled`, and `arrays` that of `array`.
fn single(stem: &str) -> &str {
    let is_doubled = stem.len() > 3 && stem.ends_with("ll");
    if is_doubled || (stem.len() > 3 && stem.ends_with('y')) { &stem[..stem.len() - 1] } else { stem }
}

/// The last letters of the irregular words with each first letter: most words are none of them.
static IRREGULAR_ENDS: [u32; 26] = {
    let mut ends = [0; 26];
    let mut at = 0;
    while at < IRREGULAR.len() {
        let word = IRREGULAR[at].0.as_bytes();
        ends[(word[0] - b'a') as usize] |= 1 << (word[word.len() - 1] - b'a');
        at += 1;
    }
    ends
};

/// The word in American spelling; irregular plurals as singulars. The first letter stays.
fn american(word: &str) -> Cow<'_, str> {
    let bytes = word.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Cow::Borrowed(word) };
    if bytes.len() < 4 || !first.is_ascii_lowercase() || !last.is_ascii_lowercase() || !word.is_ascii() {
        return Cow::Borrowed(word);
    }
    if IRREGULAR_ENDS[usize::from(first - b'a')] & (1 << (last - b'a')) != 0
        && let Ok(at) = IRREGULAR.binary_search_by(|(known, _)| (*known).cmp(word))
    {
        return Cow::Borrowed(IRREGULAR[at].1);
    }
    let mut at = bytes.len();
    while at > 2 {
        at -= 1;
        match bytes[at] {
            b'r' if bytes[at - 1] == b'u' && bytes[at - 2] == b'o' => {
                let Some(root) = OUR.iter().find(|root| word.starts_with(**root)) else { continue };
                return Cow::Owned(format!("{}r{}", &root[..root.len() - 2], &word[root.len()..]));
            }
            // `initialise`, `analyse`, `normalisation`.
            b's' if ((bytes[at - 1] == b'i' && at > 3)
                || (bytes[at - 1] == b'y' && bytes[at - 2] == b'l'))
                && ENDINGS.contains(&&word[at + 1..]) =>
            {
                return Cow::Owned(format!("{}z{}", &word[..at], &word[at + 1..]));
            }
            _ => {}
        }
    }
    Cow::Borrowed(word)
}

/// Beginnings of words of this stem as they may be written: every word of the stem begins with one of them.
pub(crate) fn beginnings(stem: &str) -> Vec<String> {
    let mut list = vec![stem.to_owned()];
    for (written, counted) in IRREGULAR {
        if word_stem(counted) == stem && !written.starts_with(stem) {
            list.push(written.to_owned());
        }
    }
    for root in OUR {
        // `colored` keeps what `color` loses.
        if stem.len() >= root.len() - 1 && stem.starts_with(&root[..root.len() - 2]) {
            list.push(root.to_owned());
        }
    }
    if let Some(at) = stem.rfind("iz").or_else(|| stem.rfind("yz")) {
        list.push(format!("{}s{}", &stem[..=at], &stem[at + 2..]));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        assert!(IRREGULAR.is_sorted() && OUR.is_sorted());
    }

    #[test]
    fn every_word_of_the_tables_is_in_a_row() {
        let words: Vec<&str> = ROWS.iter().flat_map(|row| row.split(' ')).collect();
        for word in IRREGULAR.iter().flat_map(|(written, counted)| [written, counted]) {
            assert!(words.iter().any(|known| known == word), "{word}");
        }
        for root in OUR {
            assert!(words.iter().any(|known| known.starts_with(root)), "{root}");
        }
        for ending in ENDINGS {
            let is_it =
                |word: &&str| ["is", "ys"].iter().any(|sign| word.ends_with(&format!("{sign}{ending}")));
            assert!(words.iter().any(is_it), "{ending}");
        }
    }

    /// Each row is one word in several spellings.
    #[test]
    fn spellings_of_a_word_have_one_stem() {
        for row in ROWS {
            let stems: Vec<_> = row.split(' ').map(word_stem).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{row}: {stems:?}");
        }
    }

    #[test]
    fn words_begin_with_a_beginning_of_their_stem() {
        for word in ROWS.iter().flat_map(|row| row.split(' ')) {
            let stem = word_stem(word);
            let beginnings = beginnings(&stem);
            assert!(
                beginnings.iter().any(|beginning| word.starts_with(beginning.as_str())),
                "{word}: {beginnings:?}"
            );
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (one, other) in [("four", "for"), ("hour", "hor"), ("this", "thiz"), ("course", "corse")] {
            assert_ne!(word_stem(one), word_stem(other), "{one} {other}");
        }
    }

    #[rustfmt::skip]
    const ROWS: [&str; 115] = [
        "colour color colours colors", "coloured colored colouring coloring", "behaviour behavior behaviours behaviors",
        "favourite favorite favourites favorites", "neighbour neighbor neighbours neighbors", "honour honor", "labour labor",
        "flavour flavor", "initialise initialize initialised initialized initialising initializing initialiser initializer",
        "initialisation initialization", "serialise serialize serialiser serializer serialisation serialization",
        "optimise optimize optimisation optimization", "normalise normalize normalisation normalization",
        "authorise authorize authorisation authorization", "synchronise synchronize synchronising synchronizing",
        "recognise recognize recognised recognized", "organisation organization", "analyse analyze analysed analyzed analyser analyzer",
        "analysis analyses", "catalogue catalog catalogues catalogs", "dialogue dialog", "centre center centres centers",
        "metre meter", "licence license licences licenses", "defence defense", "grey gray greys grays", "artefact artifact artefacts artifacts",
        "programme program", "judgement judgment", "acknowledgement acknowledgment", "cancelled canceled cancelling canceling cancel",
        "cancellation cancelation", "labelled labeled label labels", "modelling modeling model", "signalled signaled signal",
        "travelled traveled traveller traveler", "fulfil fulfill fulfilled", "enrol enroll enrolled", "install installed installing",
        "call calls called calling", "fill filled filling", "index indexes indices", "vertex vertices", "matrix matrices",
        "child children", "status statuses", "virus viruses", "leaf leaves", "half halves", "query queries", "policy policies",
        "class classes", "address addresses", "process processes", "entry entries", "key keys", "array arrays", "gateway gateways", "delay delays delayed delaying", "cache caches", "box boxes",
        "user users", "criterion criteria", "armour armor", "candour candor", "clamour clamor",
        "discoloured discolored", "endeavour endeavor endeavours endeavors", "favour favor favours favors", "fervour fervor",
        "harbour harbor harbours harbors", "humour humor", "misbehaviour misbehavior", "odour odor", "parlour parlor", "rigour rigor",
        "rumour rumor rumours rumors", "savour savor", "splendour splendor", "tumour tumor tumours tumors", "vapour vapor",
        "acknowledgements acknowledgments", "appendix appendices", "axis axes", "bonus bonuses", "calibre caliber",
        "catalogued cataloged", "centred centered", "corpus corpora", "defences defenses", "dependant dependent", "dialogues dialogs",
        "fibre fiber fibres fibers", "focus focuses", "judgements judgments", "licenced licensed", "litre liter",
        "metres meters", "mould mold", "offence offense", "person people", "practise practice", "pretence pretense", "programmes programs",
        "radius radii", "sceptical skeptical", "schema schemata", "storey story", "theatre theater", "yoghurt yogurt",
        "recognisable recognizable", "organisational organizational", "advertisement advertizement", "visualisations visualizations",
        "analysers analyzers",
    ];
}
