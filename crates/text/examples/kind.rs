//! Prints the kind guessed for each file named on the command line.
#![allow(clippy::print_stdout)]
fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        println!("{} {path}", tamis_text::TextKind::detect(&std::fs::read_to_string(&path)?).name());
    }
    Ok(())
}
