//! The engine: whatever the text, the goal and the limits are, its cuts are in order, apart, and within the limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tamis_prune::{EngineRequest, PruneLimits, prune};
use tamis_text::{TextKind, line_count};

fuzz_target!(|data: &[u8]| {
    // At the end, so that any text is a seed.
    let [rest @ .., kind, threshold, ratio, keep] = data else { return };
    let text = String::from_utf8_lossy(rest);
    let (goal, text) = text.split_once('\n').unwrap_or(("", &text));
    let limits = PruneLimits {
        threshold: f32::from(*threshold) / 255.0,
        max_prune_ratio: f64::from(*ratio) / 255.0,
        min_keep_lines: usize::from(*keep),
        keep_first_lines: usize::from(*keep % 4),
    };
    let kind = TextKind::ALL[usize::from(*kind) % TextKind::ALL.len()];
    let request = EngineRequest { text, goal, kind, limits, shown: &[], marker_bytes: &|_| 40 };
    let Ok(verdict) = prune(&request, &|| false) else { return };
    let lines = line_count(text);
    assert_eq!(verdict.scores.len(), lines);
    assert!(verdict.scores.iter().all(|score| (0.0..=1.0).contains(score)));
    let mut next = 1 + limits.keep_first_lines.min(lines);
    let mut cut_lines = 0;
    for cut in &verdict.cuts {
        assert!(
            next <= cut.first_line && cut.first_line <= cut.last_line && cut.last_line <= lines,
            "{cut:?}"
        );
        cut_lines += cut.last_line - cut.first_line + 1;
        // At least one kept line is between two cuts.
        next = cut.last_line + 2;
    }
    assert!(lines - cut_lines >= limits.min_keep_lines.min(lines));
    assert!(cut_lines as f64 <= lines as f64 * limits.max_prune_ratio + 1e-9);
});
