//! How much of the output the markers are: `markers CASES.jsonl…`, with cases `{"query", "text"}`.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]
use std::time::Duration;

use tamis_sieve::{MarkerForm, PruneOptions, PruneRequest, Sieve, SieveSettings};
use tamis_text::TextKind;

#[derive(Default, Clone, Copy)]
struct Sizes {
    before: usize,
    after: usize,
    markers: usize,
    cuts: usize,
}

impl Sizes {
    fn print(self, name: &str, form: MarkerForm) {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "{name:24} {form:?}: {} cuts, {:.1} % left, markers {:.2} % of it",
            self.cuts,
            share(self.after, self.before),
            share(self.markers, self.after)
        );
    }
}

fn main() -> std::io::Result<()> {
    let sieve = Sieve::new(SieveSettings::without_store(usize::MAX));
    for form in [MarkerForm::Contract, MarkerForm::Short] {
        let mut all = Sizes::default();
        for path in std::env::args().skip(1) {
            let mut sizes = Sizes::default();
            for case in std::fs::read_to_string(&path)?.lines() {
                let case: serde_json::Value = serde_json::from_str(case)?;
                let [text, goal] = ["text", "query"].map(|name| case[name].as_str().unwrap_or_default());
                let options = PruneOptions {
                    timeout: Duration::from_secs(600),
                    markers: form,
                    ..PruneOptions::default()
                };
                let request = PruneRequest { text, goal, kind: TextKind::detect(text), options, shown: &[] };
                let pruned = sieve.dry_run(&request, &|| false);
                sizes.before += text.len();
                sizes.after += pruned.pruned_text.len();
                sizes.markers += pruned.annotations.iter().map(|cut| cut.marker.len() + 1).sum::<usize>();
                sizes.cuts += pruned.annotations.len();
            }
            sizes.print(path.rsplit('/').next().unwrap_or(&path), form);
            all.before += sizes.before;
            all.after += sizes.after;
            all.markers += sizes.markers;
            all.cuts += sizes.cuts;
        }
        all.print("all", form);
    }
    Ok(())
}
