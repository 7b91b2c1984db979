//! Prints the lines of each file named on the command line that redaction changes, before and after.
#![allow(clippy::print_stdout)]

use tamis_redact::Redactor;
use tamis_text::split_lines;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let redacted = Redactor::standard().redact(&text);
        for (number, (before, after)) in split_lines(&text).iter().zip(split_lines(&redacted)).enumerate() {
            if *before != after {
                println!("{path}:{}\n- {before}\n+ {after}", number + 1);
            }
        }
    }
    Ok(())
}
