//! The marker: the line that stands where lines were cut, in the contract's form and language.

use tamis_prune::{Cut, CutCause, CutPlace, CutReason};

use crate::ids::PruneId;

/// A reason has at most this many characters.
const REASON_CHARS: usize = 40;

/// How every marker begins; the id follows.
const OPENING: &str = "⟦PRUNÉ: prune_id=";

/// `⟦PRUNÉ: prune_id=<id> lignes <start>-<end> (<count>) raison=<reason>⟧`, always one line.
pub(crate) fn marker(id: &PruneId, cut: &Cut) -> String {
    let Cut { first_line, last_line, .. } = cut;
    let (count, reason) = (line_count(cut), reason(&cut.reason));
    format!("{OPENING}{id} lignes {first_line}-{last_line} ({count}) raison={reason}⟧")
}

/// Whether a line is a marker.
pub fn is_marker(line: &str) -> bool {
    line.starts_with(OPENING) && line.ends_with('⟧')
}

/// The prune id of each marker in a text, in order.
pub fn prune_ids_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPENING).skip(1).filter_map(|rest| {
        let (id, _) = rest.split_once(' ')?;
        PruneId::parse(id).map(|_| id)
    })
}

/// The number of lines that a cut removes.
pub(crate) fn line_count(cut: &Cut) -> usize {
    cut.last_line - cut.first_line + 1
}

/// The reason in French, as the contract asks.
pub(crate) fn reason(reason: &CutReason) -> String {
    let cause = match reason.cause {
        CutCause::Repetitions => "répétitions",
        CutCause::Tests => "tests",
        CutCause::Header => return "en-tête du fichier".to_owned(),
        CutCause::Comments => "commentaires",
        CutCause::Unrelated => "sans lien",
        CutCause::LessRelevant => "hors focus",
    };
    let place = match &reason.place {
        CutPlace::Omitted => return cause.to_owned(),
        CutPlace::Definition(name) | CutPlace::Section(name) => {
            quoted(name, REASON_CHARS - cause.chars().count() - 3)
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

    use super::*;

    #[test]
    fn ids_are_found_in_markers_alone() {
        let id = "prn_aaaaaaaaaaaaaaaabbbbbb";
        let marker = format!("⟦PRUNÉ: prune_id={id} lignes 1-2 (2) raison=x⟧");
        let text =
            format!("{id}\n{marker}\n7│ {marker}\n⟦PRUNÉ: prune_id=prn_no lignes ⟦PRUNÉ: prune_id={id}");
        assert_eq!(prune_ids_in(&text).collect::<Vec<_>>(), [id, id]);
        assert!(is_marker(&marker) && !is_marker(&format!("7│ {marker}")) && !is_marker(OPENING));
    }

    #[test]
    fn a_marker_is_one_line_in_the_contracts_form() {
        let id = PruneId::parse("prn_aaaaaaaaaaaaaaaabbbbbb").unwrap();
        let place = CutPlace::Definition(" par\r\nse:\u{1b}[0m ⟧ x\u{2028}y ".into());
        let reason = CutReason { cause: CutCause::LessRelevant, place };
        assert_eq!(
            marker(&id, &Cut { first_line: 120, last_line: 154, reason }),
            "⟦PRUNÉ: prune_id=prn_aaaaaaaaaaaaaaaabbbbbb lignes 120-154 (35) raison=hors focus: parse:[0m xy⟧"
        );
    }

    #[test]
    fn reasons_are_in_french() {
        for (cause, place, expected) in [
            (CutCause::Unrelated, CutPlace::Definition("parse".into()), "sans lien: parse"),
            (CutCause::LessRelevant, CutPlace::Section("Install".into()), "hors focus: Install"),
            (CutCause::Repetitions, CutPlace::Lines(16), "répétitions: 16 lignes"),
            (CutCause::Repetitions, CutPlace::Lines(1), "répétitions: 1 ligne"),
            (CutCause::Tests, CutPlace::Omitted, "tests"),
            (CutCause::Header, CutPlace::TopLevel, "en-tête du fichier"),
            (CutCause::Comments, CutPlace::TopLevel, "loin de l'objectif"),
            (CutCause::Unrelated, CutPlace::TopLevel, "rien de l'objectif"),
            (CutCause::Unrelated, CutPlace::Definition("\u{200b}".into()), "rien de l'objectif"),
        ] {
            assert_eq!(reason(&CutReason { cause, place }), expected);
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
                let reason = reason(&CutReason { cause, place: place.clone() });
                prop_assert!(!reason.is_empty() && reason.chars().count() <= REASON_CHARS, "{}", reason);
                prop_assert!(!reason.contains('⟧') && !reason.chars().any(char::is_control), "{}", reason);
                prop_assert!(!reason.ends_with(" 1 lignes"), "{}", reason);
            }
        }
    }
}
