//! The line that stands where lines were cut.

use tamis_prune::Cut;

use crate::ids::PruneId;

/// A reason is a few words; more than this is a mistake upstream.
const REASON_CHARS: usize = 200;

/// How every marker begins; the id follows.
const OPENING: &str = "⟦PRUNÉ: prune_id=";

/// `⟦PRUNÉ: prune_id=<id> lignes <start>-<end> (<count>) raison=<reason>⟧`, on one line whatever the reason holds.
pub(crate) fn marker(id: &PruneId, cut: &Cut) -> String {
    let Cut { first_line, last_line, .. } = cut;
    let (count, reason) = (line_count(cut), reason(cut));
    format!("{OPENING}{id} lignes {first_line}-{last_line} ({count}) raison={reason}⟧")
}

/// The ids in the markers of a text, as often as they stand there.
pub fn prune_ids_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(OPENING).skip(1).filter_map(|rest| {
        let (id, _) = rest.split_once(' ')?;
        PruneId::parse(id).map(|_| id)
    })
}

/// How many lines go.
pub(crate) fn line_count(cut: &Cut) -> usize {
    cut.last_line - cut.first_line + 1
}

/// The engine's reason, fit for a marker. It may quote the text, so nothing in it may end the line or the marker.
pub(crate) fn reason(cut: &Cut) -> String {
    let spaced = cut.reason.chars().map(|c| if breaks_a_marker(c) { ' ' } else { c }).take(REASON_CHARS);
    spaced.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn breaks_a_marker(c: char) -> bool {
    c.is_control() || matches!(c, '⟦' | '⟧' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_markers_alone() {
        let id = "prn_aaaaaaaaaaaaaaaabbbbbb";
        let marker = format!("⟦PRUNÉ: prune_id={id} lignes 1-2 (2) raison=x⟧");
        let text =
            format!("{id}\n{marker}\n7│ {marker}\n⟦PRUNÉ: prune_id=prn_no lignes ⟦PRUNÉ: prune_id={id}");
        assert_eq!(prune_ids_in(&text).collect::<Vec<_>>(), [id, id]);
    }

    #[test]
    fn a_marker_is_one_line_in_the_contracts_form() {
        let id = PruneId::parse("prn_aaaaaaaaaaaaaaaabbbbbb").unwrap();
        let cut =
            Cut {
                first_line: 120, last_line: 154, reason: " hors\r\nfocus:\u{1b}[0m ⟧ x\u{2028}y ".into()
            };
        assert_eq!(
            marker(&id, &cut),
            "⟦PRUNÉ: prune_id=prn_aaaaaaaaaaaaaaaabbbbbb lignes 120-154 (35) raison=hors focus: [0m x y⟧"
        );
    }
}
