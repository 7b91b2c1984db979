//! Prints the outline of a file, read from standard input.
#![allow(clippy::print_stdout)]
use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let lines = tamis_text::split_lines(&text);
    let budget = tamis_syntax::ParseBudget::for_bytes(1 << 20);
    let by_lines = std::env::args().any(|argument| argument == "--lines");
    let outline = if by_lines {
        tamis_syntax::heuristic_outline(&lines, &|| false)
    } else {
        tamis_syntax::outline(&text, &lines, budget, &|| false)
    };
    println!("{:?}", tamis_syntax::Language::detect(&text));
    for import in &outline.imports {
        println!("import {}-{}", import.first + 1, import.last + 1);
    }
    for definition in &outline.definitions {
        let name = &lines[definition.signature.first][definition.name.clone()];
        let indent = "  ".repeat(definition.depth);
        println!(
            "{indent}{name} {}..{}-{}..{}",
            definition.lead + 1,
            definition.signature.first + 1,
            definition.signature.last + 1,
            definition.last + 1
        );
    }
    Ok(())
}
