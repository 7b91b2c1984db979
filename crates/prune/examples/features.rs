//! Writes the features of every line of every case, for training a scorer elsewhere.
//!
//! usage: cargo run --release -p tamis-prune --example features -- CASES.jsonl OUT [EVERY]
//!
//! OUT.f32 holds little-endian rows, one per line of text: case number, gold (0 or 1), protected, width in characters,
//! kind (0 code, 1 logs, 2 docs), then the features. OUT.names holds a name per column. With EVERY, only each
//! EVERY-th case is written.

use std::io::Write;

use tamis_prune::{Analysis, Feature};
use tamis_text::Kind;

#[derive(serde::Deserialize)]
struct Case {
    query: String,
    text: String,
    gold: Vec<usize>,
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(cases), Some(out)) = (arguments.first(), arguments.get(1)) else {
        return Err(std::io::Error::other("usage: features CASES.jsonl OUT [EVERY]"));
    };
    let every: usize = arguments.get(2).and_then(|value| value.parse().ok()).unwrap_or(1);
    let names: Vec<&str> = ["case", "gold", "protected", "width", "kind"]
        .into_iter()
        .chain(Feature::ALL.iter().map(|feature| feature.name()))
        .collect();
    std::fs::write(format!("{out}.names"), names.join("\n"))?;
    let mut rows = std::io::BufWriter::new(std::fs::File::create(format!("{out}.f32"))?);
    for (number, line) in std::fs::read_to_string(cases)?.lines().enumerate().step_by(every) {
        let Ok(case) = serde_json::from_str::<Case>(line) else { continue };
        let kind = Kind::detect(&case.text);
        let Ok(analysis) = Analysis::read(&case.text, &case.query, kind, &|| false) else { continue };
        let protected = analysis.protected(0);
        let mut gold = vec![false; protected.len() + 1];
        for line in case.gold {
            if let Some(slot) = gold.get_mut(line) {
                *slot = true;
            }
        }
        for (line, text) in case.text.split('\n').enumerate() {
            let head = [
                number as f32,
                f32::from(u8::from(gold[line + 1])),
                f32::from(u8::from(protected[line])),
                (text.chars().count() + 1) as f32,
                kind as usize as f32,
            ];
            let values = Feature::ALL.iter().map(|&feature| analysis.features().column(feature)[line]);
            for value in head.into_iter().chain(values) {
                rows.write_all(&value.to_le_bytes())?;
            }
        }
    }
    rows.flush()
}
