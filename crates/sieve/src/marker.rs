//! Markers: the lines that stand where lines were cut.
//!
//! There are two forms. The contract's is French and names the prune id in every marker. The short form is English and names
//! it once: the first marker of a text says how to restore, and the others have only their lines, and the reason where it is
//! not that of the marker above. A kept signature or heading says where a cut is, so short markers do not.

use tamis_prune::{Cut, CutCause, CutPlace, CutReason};

use crate::ids::PruneId;

/// A reason has at most this many characters.
const REASON_CHARS: usize = 40;
/// Of a call whose result showed the lines before, a short marker has at most this many characters.
const LABEL_CHARS: usize = 30;

/// How every marker of the contract begins; the id follows.
const CONTRACT_OPENING: &str = "⟦PRUNÉ: prune_id=";

/// How every short marker begins; lines follow, in the first one after [`CUT`].
const SHORT_OPENING: &str = "[tamis ";
const CUT: &str = "cut ";

/// Shorter blocks are not cut where short markers are written. A marker takes about 20 bytes, but one for every small block
/// would make up a tenth of the text.
const SHORT_FORM_BLOCK_BYTES: usize = 115;

/// Which form of markers a text gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkerForm {
    /// `⟦PRUNÉ: prune_id=<id> lignes <start>-<end> (<count>) raison=<reason>⟧`, as `prune_text` promises.
    #[default]
    Contract,
    /// `[tamis cut 6-44: repeats; restore: recover_text or tamis recover <id> 6-44]`, then `[tamis 48-78: tests]`.
    Short,
}

/// Writes the markers of one text, in order.
pub(crate) struct MarkerWriter<'a> {
    id: &'a PruneId,
    form: MarkerForm,
    /// The text has short markers of an earlier prune, which have no id of their own. So each new one names its id.
    has_earlier: bool,
    /// The reason of the marker above.
    above: Option<String>,
}

impl<'a> MarkerWriter<'a> {
    pub(crate) fn new(id: &'a PruneId, form: MarkerForm, has_earlier: bool) -> MarkerWriter<'a> {
        MarkerWriter { id, form, has_earlier, above: None }
    }

    /// The marker of the next cut: always one line.
    pub(crate) fn marker(&mut self, cut: &Cut) -> String {
        let Cut { first_line, last_line, .. } = cut;
        let id = self.id;
        if self.form == MarkerForm::Contract {
            let (count, reason) = (line_count(cut), french_reason(&cut.reason));
            return format!(
                "{CONTRACT_OPENING}{id} lignes {first_line}-{last_line} ({count}) raison={reason}⟧"
            );
        }
        let lines = match first_line == last_line {
            true => first_line.to_string(),
            false => format!("{first_line}-{last_line}"),
        };
        let reason = english_reason(&cut.reason);
        if self.has_earlier {
            return format!("{SHORT_OPENING}{CUT}{lines} of {id}: {reason}]");
        }
        match self.above.replace(reason.clone()) {
            None => format!(
                "{SHORT_OPENING}{CUT}{lines}: {reason}; restore: recover_text or tamis recover {id} {lines}]"
            ),
            Some(above) if above == reason => format!("{SHORT_OPENING}{lines}]"),
            Some(_) => format!("{SHORT_OPENING}{lines}: {reason}]"),
        }
    }
}

/// The bytes that a block must exceed to be cut.
pub(crate) fn least_block_bytes(id: &PruneId, form: MarkerForm, cut: &Cut) -> usize {
    match form {
        MarkerForm::Contract => MarkerWriter::new(id, form, false).marker(cut).len() + 1,
        MarkerForm::Short => least_short_block(cut),
    }
}

/// The bytes that a block must exceed to be cut where short markers are written.
pub(crate) fn least_short_block(_: &Cut) -> usize {
    SHORT_FORM_BLOCK_BYTES
}

/// Whether a line is a marker of either form.
pub fn is_marker(line: &str) -> bool {
    (line.starts_with(CONTRACT_OPENING) && line.ends_with('⟧'))
        || (line.ends_with(']') && short_marker_lines(line).is_some())
}

/// Whether a text has a short marker.
pub(crate) fn has_short_marker(text: &str) -> bool {
    text.match_indices(SHORT_OPENING).any(|(at, _)| short_marker_lines(&text[at..]).is_some())
}

/// What follows the opening of a short marker, from its lines on.
fn short_marker_lines(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(SHORT_OPENING)?;
    let lines = rest.strip_prefix(CUT).unwrap_or(rest);
    lines.starts_with(|letter: char| letter.is_ascii_digit()).then_some(lines)
}

/// The prune id of each marker in a text that names one, in order.
pub fn prune_ids_in(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let contract = rest.find(CONTRACT_OPENING).map(|at| (at, CONTRACT_OPENING));
            let short = rest.find(SHORT_OPENING).map(|at| (at, SHORT_OPENING));
            let (at, opening) = match (contract, short) {
                (Some(contract), Some(short)) => contract.min(short),
                (contract, short) => contract.or(short)?,
            };
            let marker = &rest[at..];
            rest = &rest[at + opening.len()..];
            let id = match opening == CONTRACT_OPENING {
                true => rest.split_once(' ').map(|(id, _)| id),
                false => short_marker_lines(marker).and_then(|lines| {
                    let marker = lines.split(']').next()?;
                    marker.split([' ', ':']).find(|word| PruneId::parse(word).is_some())
                }),
            };
            if let Some(id) = id.filter(|id| PruneId::parse(id).is_some()) {
                return Some(id);
            }
        }
    })
}

/// The number of lines that a cut removes.
pub(crate) fn line_count(cut: &Cut) -> usize {
    cut.last_line - cut.first_line + 1
}

/// The reason of a cut in the language of the form.
pub(crate) fn reason(form: MarkerForm, reason: &CutReason) -> String {
    match form {
        MarkerForm::Contract => french_reason(reason),
        MarkerForm::Short => english_reason(reason),
    }
}

/// The reason in the words of a short marker, without its place unless that is where to look.
fn english_reason(reason: &CutReason) -> String {
    let cause = match reason.cause {
        CutCause::Repetitions => "repeats",
        CutCause::Tests => "tests",
        CutCause::Header => "file header",
        CutCause::Comments => "comments",
        CutCause::Unrelated | CutCause::LessRelevant => "off goal",
        CutCause::AlreadyShown => return english_place(&reason.place),
    };
    cause.to_owned()
}

/// Where lines were shown before.
fn english_place(place: &CutPlace) -> String {
    let CutPlace::Shown(place) = place else { return "shown before".to_owned() };
    let result = match (place.ago, place.is_written) {
        (1, false) => "shown in the last result".to_owned(),
        (1, true) => "you wrote this in the last call".to_owned(),
        (ago, false) => format!("shown {ago} results ago"),
        (ago, true) => format!("you wrote this {ago} calls ago"),
    };
    // Of a path, the folders are the same for most files.
    let is_path = !place.label.contains(char::is_whitespace);
    let label = place.label.rsplit('/').next().filter(|_| is_path).unwrap_or(&place.label);
    // A short marker ends at its first bracket.
    let label: String = label.chars().filter(|letter| !matches!(letter, '[' | ']')).collect();
    let label = with_single_spaces(&quoted(&label, LABEL_CHARS));
    // Lines or an id in the label would be taken for the marker's.
    let is_named = !label.is_empty() && !label.contains("prn_") && !label.contains("tamis");
    let call = if is_named { format!(" ({label})") } else { String::new() };
    format!("{result}, line {} on{call}", place.first_line)
}

/// The reason in French, as the contract asks.
fn french_reason(reason: &CutReason) -> String {
    let cause = match reason.cause {
        CutCause::Repetitions => "répétitions",
        CutCause::Tests => "tests",
        CutCause::Header => return "en-tête du fichier".to_owned(),
        CutCause::Comments => "commentaires",
        CutCause::Unrelated => "sans lien",
        CutCause::LessRelevant => "hors focus",
        CutCause::AlreadyShown => "déjà montré",
    };
    let place = match &reason.place {
        CutPlace::Omitted => return cause.to_owned(),
        CutPlace::Definition(name) | CutPlace::Section(name) => {
            quoted(name, REASON_CHARS - cause.chars().count() - 3)
        }
        CutPlace::Shown(place) => {
            let text = if place.is_written { "appel" } else { "résultat" };
            format!("{text} -{} ligne {}", place.ago, place.first_line)
        }
        CutPlace::Lines(1) => "1 ligne".to_owned(),
        CutPlace::Lines(count) => format!("{count} lignes"),
        CutPlace::TopLevel => String::new(),
    };
    match (place.is_empty(), reason.cause) {
        (false, _) => with_single_spaces(&format!("{cause}: {place}")),
        (true, CutCause::Unrelated) => "rien de l'objectif".to_owned(),
        (true, _) => "loin de l'objectif".to_owned(),
    }
}

/// A quotation from the text, made safe for a marker: no marker brackets, no control or invisible characters, not long.
fn quoted(text: &str, longest: usize) -> String {
    let mut quoted = String::new();
    let mut taken = 0;
    for c in text.trim().chars() {
        if taken == longest {
            quoted.push('…');
            break;
        }
        if !is_unsafe(c) {
            quoted.push(c);
            taken += 1;
        }
    }
    quoted
}

/// Whether a character could end a marker or its line, or make it look like another.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '⟦' | '⟧' | '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tamis_prune::ShownPlace;

    use super::*;

    #[test]
    fn ids_are_found_in_markers_alone() {
        let id = "prn_aaaaaaaaaaaaaaaabbbbbb";
        let marker = format!("⟦PRUNÉ: prune_id={id} lignes 1-2 (2) raison=x⟧");
        let text =
            format!("{id}\n{marker}\n7│ {marker}\n⟦PRUNÉ: prune_id=prn_no lignes ⟦PRUNÉ: prune_id={id}");
        assert_eq!(prune_ids_in(&text).collect::<Vec<_>>(), [id, id]);
        assert!(is_marker(&marker) && !is_marker(&format!("7│ {marker}")) && !is_marker(CONTRACT_OPENING));
        let short = format!(
            "[tamis cut 1-2: tests; restore: recover_text or tamis recover {id} 1-2]\n[tamis 5]\n{marker}\n\
             [tamis cut 7-8 of {id}: tests]\n[tamis log {id}]\n[tamis 3-4]{id}"
        );
        assert_eq!(prune_ids_in(&short).collect::<Vec<_>>(), [id, id, id]);
        let markers: Vec<bool> = short.lines().map(is_marker).collect();
        assert_eq!(markers, [true, true, true, true, false, false]);
    }

    #[test]
    fn short_markers_name_the_id_once_and_a_reason_where_it_changes() {
        let id = PruneId::parse("prn_aaaaaaaaaaaaaaaabbbbbb").unwrap();
        let cut = |first_line, last_line, cause| Cut {
            first_line,
            last_line,
            reason: CutReason { cause, place: CutPlace::Definition("parse".into()) },
        };
        let cuts = [
            cut(6, 44, CutCause::Repetitions),
            cut(48, 48, CutCause::Repetitions),
            cut(50, 78, CutCause::LessRelevant),
        ];
        let written = |has_earlier| {
            let mut writer = MarkerWriter::new(&id, MarkerForm::Short, has_earlier);
            cuts.iter().map(|cut| writer.marker(cut)).collect::<Vec<_>>()
        };
        assert_eq!(
            written(false),
            [
                "[tamis cut 6-44: repeats; restore: recover_text or tamis recover prn_aaaaaaaaaaaaaaaabbbbbb 6-44]",
                "[tamis 48]",
                "[tamis 50-78: off goal]",
            ]
        );
        // After those of an earlier prune, which have no id, each has its own.
        assert!(written(false).iter().all(|marker| is_marker(marker) && has_short_marker(marker)));
        assert_eq!(written(true)[1], "[tamis cut 48 of prn_aaaaaaaaaaaaaaaabbbbbb: repeats]");
        assert!(!has_short_marker("[tamis] 48 [tamis cut] [tamis cut x]"));
    }

    #[test]
    fn a_marker_is_one_line_in_the_contracts_form() {
        let id = PruneId::parse("prn_aaaaaaaaaaaaaaaabbbbbb").unwrap();
        let place = CutPlace::Definition(" par\r\nse:\u{1b}[0m ⟧ x\u{2028}y ".into());
        let reason = CutReason { cause: CutCause::LessRelevant, place };
        assert_eq!(
            MarkerWriter::new(&id, MarkerForm::Contract, true).marker(&Cut {
                first_line: 120,
                last_line: 154,
                reason
            }),
            "⟦PRUNÉ: prune_id=prn_aaaaaaaaaaaaaaaabbbbbb lignes 120-154 (35) raison=hors focus: parse:[0m xy⟧"
        );
    }

    fn shown() -> ShownPlace {
        ShownPlace { label: "sed -n 1,200p a.rs".to_owned(), ago: 3, first_line: 120, is_written: false }
    }

    fn written() -> ShownPlace {
        ShownPlace { label: "/w/src/a.rs".to_owned(), is_written: true, ..shown() }
    }

    #[test]
    fn short_reasons_are_in_english() {
        for (cause, expected) in [
            (CutCause::Repetitions, "repeats"),
            (CutCause::Tests, "tests"),
            (CutCause::Header, "file header"),
            (CutCause::Comments, "comments"),
            (CutCause::Unrelated, "off goal"),
            (CutCause::LessRelevant, "off goal"),
        ] {
            let cut = CutReason { cause, place: CutPlace::TopLevel };
            assert_eq!(reason(MarkerForm::Short, &cut), expected, "{cut:?}");
        }
    }

    #[test]
    fn a_short_marker_says_where_lines_were_shown() {
        let short = |place: ShownPlace| {
            let place = CutPlace::Shown(place);
            reason(MarkerForm::Short, &CutReason { cause: CutCause::AlreadyShown, place })
        };
        assert_eq!(short(shown()), "shown 3 results ago, line 120 on (sed -n 1,200p a.rs)");
        assert_eq!(short(written()), "you wrote this 3 calls ago, line 120 on (a.rs)");
        let last = ShownPlace { ago: 1, ..written() };
        assert_eq!(short(last), "you wrote this in the last call, line 120 on (a.rs)");
        for (label, expected) in [
            ("sed -n [x]\n⟧ 'y", "shown in the last result, line 1 on (sed -n x 'y)"),
            ("tamis recover prn_aaaaaaaaaaaaaaaabbbbbb", "shown in the last result, line 1 on"),
            ("", "shown in the last result, line 1 on"),
            ("/home/someone/project/src/main.rs", "shown in the last result, line 1 on (main.rs)"),
            ("src/", "shown in the last result, line 1 on"),
        ] {
            let place = ShownPlace { label: label.to_owned(), ago: 1, first_line: 1, ..shown() };
            assert_eq!(short(place), expected);
        }
    }

    #[test]
    fn reasons_are_in_french() {
        for (cause, place, expected) in [
            (CutCause::Unrelated, CutPlace::Definition("parse".into()), "sans lien: parse"),
            (CutCause::LessRelevant, CutPlace::Section("Install".into()), "hors focus: Install"),
            (CutCause::Repetitions, CutPlace::Lines(16), "répétitions: 16 lignes"),
            (CutCause::Repetitions, CutPlace::Lines(1), "répétitions: 1 ligne"),
            (CutCause::Tests, CutPlace::Omitted, "tests"),
            (CutCause::AlreadyShown, CutPlace::Shown(shown()), "déjà montré: résultat -3 ligne 120"),
            (CutCause::AlreadyShown, CutPlace::Shown(written()), "déjà montré: appel -3 ligne 120"),
            (CutCause::Header, CutPlace::TopLevel, "en-tête du fichier"),
            (CutCause::Comments, CutPlace::TopLevel, "loin de l'objectif"),
            (CutCause::Unrelated, CutPlace::TopLevel, "rien de l'objectif"),
            (CutCause::Unrelated, CutPlace::Definition("\u{200b}".into()), "rien de l'objectif"),
        ] {
            assert_eq!(reason(MarkerForm::Contract, &CutReason { cause, place }), expected);
        }
    }

    #[test]
    fn quotations_are_made_safe() {
        assert_eq!(quoted("name", 10), "name");
        assert_eq!(quoted("a⟧\r\nb\u{202e}c", 10), "abc");
        assert_eq!(quoted(&"é".repeat(50), 10), format!("{}…", "é".repeat(10)));
    }

    proptest! {
        #[test]
        fn any_reason_fits_a_marker(name in any::<String>(), lines in 1usize..5, which in 0usize..5) {
            let place = match which {
                0 => CutPlace::Definition(name),
                1 => CutPlace::Section(name),
                2 => CutPlace::Lines(lines),
                3 => CutPlace::TopLevel,
                _ => CutPlace::Omitted,
            };
            for cause in [
                CutCause::Repetitions,
                CutCause::Tests,
                CutCause::Header,
                CutCause::Comments,
                CutCause::Unrelated,
                CutCause::LessRelevant,
            ] {
                let reason = reason(MarkerForm::Contract, &CutReason { cause, place: place.clone() });
                prop_assert!(!reason.is_empty() && reason.chars().count() <= REASON_CHARS, "{}", reason);
                prop_assert!(!reason.contains('⟧') && !reason.chars().any(char::is_control), "{}", reason);
                prop_assert!(!reason.ends_with(" 1 lignes"), "{}", reason);
            }
        }
    }
}
