//! Writes the features of every line of every case, for training.
//!
//! usage: cargo run --release -p tamis-prune --example features -- OUT < CASES.jsonl
//!
//! OUT.bin holds one block per case, little-endian: the case's number on the input (u32), its lines (u32), its kind (u32: 0
//! code, 1 logs, 2 docs), then for every line: 1 if it is needed, 2 if it does not matter (u8), protected (u8), width
//! in characters (u16), and its paragraph, inner and outer part (u32 each), each as an array of its own, then a column of
//! f32 for each feature. OUT.names holds a name per feature.

use std::io::{BufRead, Write};

use tamis_prune::{Feature, PlainText, TextAnalysis};
use tamis_text::TextKind;

#[derive(serde::Deserialize)]
struct Case {
    query: String,
    text: String,
    gold: Vec<usize>,
    /// Lines that count neither as needed nor as unneeded.
    #[serde(default)]
    also: Vec<usize>,
}

fn main() -> std::io::Result<()> {
    let Some(out) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("usage: features OUT < CASES.jsonl"));
    };
    let names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.name()).collect();
    std::fs::write(format!("{out}.names"), names.join("\n"))?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(format!("{out}.bin"))?);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let case: Case = serde_json::from_str(&line?)?;
        write(&mut file, number, &case)?;
    }
    file.flush()
}

fn write(file: &mut impl Write, number: usize, case: &Case) -> std::io::Result<()> {
    let kind = TextKind::detect(&case.text);
    let view = PlainText::of(&case.text);
    let analysis =
        TextAnalysis::measure(&view, &case.query, kind, &|| false).map_err(std::io::Error::other)?;
    let protected = analysis.protected(0);
    let lines = protected.len();
    let mut gold = vec![0u8; lines];
    let marks = case.also.iter().map(|line| (line, 2)).chain(case.gold.iter().map(|line| (line, 1)));
    for (line, mark) in marks {
        if let Some(slot) = line.checked_sub(1).and_then(|line| gold.get_mut(line)) {
            *slot = mark;
        }
    }
    for value in [number, lines, kind as usize] {
        file.write_all(&(value as u32).to_le_bytes())?;
    }
    file.write_all(&gold)?;
    file.write_all(&protected.iter().map(|&stays| u8::from(stays)).collect::<Vec<u8>>())?;
    for line in case.text.split('\n') {
        file.write_all(&((line.chars().count() + 1).min(usize::from(u16::MAX)) as u16).to_le_bytes())?;
    }
    for level in analysis.parts() {
        for unit in level {
            file.write_all(&unit.to_le_bytes())?;
        }
    }
    for &feature in Feature::ALL {
        for value in analysis.features().column(feature) {
            file.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}
