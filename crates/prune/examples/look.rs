//! Prints a text as it comes out of the sieve, with a marker for each cut: to judge by eye how it reads.
//!
//! usage: cargo run --release -p tamis-prune --example look -- GOAL [THRESHOLD] < TEXT
#![allow(clippy::print_stdout)]

use std::io::Read;

use tamis_prune::{Cut, Limits, Request, prune};
use tamis_text::{Kind, split_lines};

fn main() -> std::io::Result<()> {
    let goal = std::env::args().nth(1).unwrap_or_default();
    let threshold = std::env::args()
        .nth(2)
        .and_then(|value| value.parse().ok())
        .unwrap_or(tamis_prune::DEFAULT_THRESHOLD);
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let limits = Limits { threshold, max_prune_ratio: 1.0, min_keep_lines: 0, keep_first_lines: 0 };
    let marker = |cut: &Cut| {
        let count = cut.last_line + 1 - cut.first_line;
        format!(
            "⟦PRUNÉ: prune_id=prn_0123456789abcdef0123 lignes {}-{} ({count}) raison={}⟧",
            cut.first_line, cut.last_line, cut.reason
        )
    };
    let marker_bytes = |cut: &Cut| marker(cut).len() + 1;
    let request =
        Request { text: &text, goal: &goal, kind: Kind::detect(&text), limits, marker_bytes: &marker_bytes };
    let verdict = prune(&request, &|| false).map_err(std::io::Error::other)?;
    let mut cuts = verdict.cuts.iter().peekable();
    for (line, content) in split_lines(&text).into_iter().enumerate() {
        match cuts.peek() {
            Some(cut) if cut.first_line == line + 1 => println!("{}", marker(cut)),
            _ => {}
        }
        match cuts.peek() {
            Some(cut) if line + 1 >= cut.first_line && line + 1 < cut.last_line => {}
            Some(cut) if line + 1 == cut.last_line => {
                cuts.next();
            }
            _ => println!("{content}"),
        }
    }
    Ok(())
}
