//! Detects the language of a text from how its lines begin.

/// The languages with a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Bash,
    C,
    Go,
    Java,
    JavaScript,
    Python,
    Ruby,
    Rust,
    TypeScript,
}

/// How lines of a language begin (after white space), and how many votes each prefix has.
type Openings = &'static [(&'static str, u32)];

const SIGNS: [(Language, Openings); 9] = [
    (
        Language::Bash,
        &[
            ("fi", 2),
            ("done", 2),
            ("esac", 3),
            ("if [", 3),
            ("then", 2),
            ("echo ", 2),
            ("local ", 1),
            ("set -", 3),
        ],
    ),
    (
        Language::C,
        &[
            ("#include", 5),
            ("#define ", 3),
            ("#ifdef", 3),
            ("#ifndef", 3),
            ("#endif", 2),
            ("typedef ", 2),
            ("static ", 1),
            ("struct ", 1),
            ("void ", 2),
            ("int ", 1),
            ("char *", 2),
            ("unsigned ", 2),
            ("size_t ", 2),
        ],
    ),
    (
        Language::Go,
        &[
            ("package ", 3),
            ("func ", 4),
            ("func (", 4),
            ("import (", 5),
            ("type ", 1),
            ("if err != nil", 6),
            ("defer ", 3),
            ("go func", 4),
        ],
    ),
    (
        Language::Java,
        &[
            ("import java", 6),
            ("package ", 2),
            ("public class ", 6),
            ("public ", 2),
            ("private ", 2),
            ("protected ", 2),
            ("@Override", 6),
            ("final ", 1),
            ("import static ", 5),
            ("import com.", 4),
            ("import org.", 4),
        ],
    ),
    (
        Language::JavaScript,
        &[
            ("const ", 2),
            ("let ", 1),
            ("var ", 2),
            ("function ", 3),
            ("export ", 2),
            ("import ", 1),
            ("module.exports", 6),
            ("async function", 3),
            ("} else {", 0),
            ("return ", 0),
            ("'use strict'", 6),
            ("\"use strict\"", 6),
        ],
    ),
    (
        Language::Python,
        &[
            ("def ", 4),
            ("class ", 1),
            ("elif ", 4),
            ("from ", 3),
            ("import ", 1),
            ("self.", 3),
            ("@property", 4),
            ("except ", 3),
            ("async def ", 4),
            ("\"\"\"", 3),
            ("with ", 1),
            ("raise ", 2),
            ("if __name__", 6),
        ],
    ),
    (
        Language::Ruby,
        &[
            ("end", 2),
            ("def ", 1),
            ("module ", 2),
            ("require '", 5),
            ("require \"", 5),
            ("attr_", 5),
            ("unless ", 3),
            ("elsif ", 4),
            ("puts ", 2),
            ("# frozen_string_literal", 9),
            ("it '", 3),
            ("it \"", 3),
        ],
    ),
    (
        Language::Rust,
        &[
            ("fn ", 4),
            ("pub fn ", 6),
            ("let mut ", 5),
            ("let ", 1),
            ("use ", 2),
            ("impl ", 4),
            ("impl<", 5),
            ("#[", 4),
            ("pub ", 1),
            ("pub(crate)", 6),
            ("mod ", 2),
            ("match ", 1),
            ("///", 2),
            ("//!", 4),
            ("async fn ", 5),
            ("Ok(", 2),
            ("Some(", 2),
        ],
    ),
    (
        Language::TypeScript,
        &[
            ("interface ", 4),
            ("export interface ", 6),
            ("export type ", 5),
            ("type ", 1),
            ("import type ", 6),
            ("declare ", 4),
            ("readonly ", 3),
            ("private ", 1),
            ("export const ", 1),
        ],
    ),
];

/// Type annotations, which TypeScript has and JavaScript has not.
const TYPED: [&str; 8] =
    [": string", ": number", ": boolean", "): void", "): Promise<", " as const", "<T>", ": any"];

const LINES: usize = 400;
const LINE_BYTES: usize = 160;

impl Language {
    /// The language of `text`, if its lines leave little doubt.
    pub fn detect(text: &str) -> Option<Language> {
        let text = text.trim_start_matches('\u{feff}');
        if let Some(language) = interpreter(text) {
            return Some(language);
        }
        let mut votes = [0u32; SIGNS.len()];
        let mut typed = 0;
        for line in text.lines().take(LINES) {
            let line = clip(line).trim_start();
            // Elixir, which the grammar of Ruby reads without errors, but `defp` as a call.
            if line.starts_with("defmodule ") {
                return None;
            }
            for (vote, (_, openings)) in votes.iter_mut().zip(&SIGNS) {
                *vote += openings
                    .iter()
                    .filter(|(opening, _)| line.starts_with(opening))
                    .map(|(_, worth)| worth)
                    .max()
                    .unwrap_or(&0);
            }
            typed += TYPED.iter().filter(|sign| line.contains(*sign)).count() as u32;
        }
        // TypeScript is JavaScript with types: it gets the votes of JavaScript too, if there are types.
        let script = votes[Language::JavaScript as usize];
        let typescript = &mut votes[Language::TypeScript as usize];
        *typescript = if *typescript + 2 * typed > 3 { script + *typescript + 2 * typed } else { 0 };
        if *typescript > 0 {
            votes[Language::JavaScript as usize] = 0;
        }
        let best = (0..SIGNS.len()).max_by_key(|&at| (votes[at], std::cmp::Reverse(at)))?;
        let second = (0..SIGNS.len()).filter(|&at| at != best).map(|at| votes[at]).max().unwrap_or(0);
        (votes[best] >= 6 && votes[best] * 2 > second * 3).then_some(SIGNS[best].0)
    }
}

fn interpreter(text: &str) -> Option<Language> {
    let first = clip(text.lines().next()?).strip_prefix("#!")?;
    [
        ("python", Language::Python),
        ("bash", Language::Bash),
        ("/sh", Language::Bash),
        ("zsh", Language::Bash),
        ("ruby", Language::Ruby),
        ("node", Language::JavaScript),
    ]
    .into_iter()
    .find(|(name, _)| first.contains(name))
    .map(|(_, language)| language)
}

fn clip(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_detected() {
        for (text, language) in [
            ("#!/usr/bin/env bash\nls\n", Some(Language::Bash)),
            ("if [ -f x ]; then\n  echo yes\nfi\nfor f in *; do\n  echo $f\ndone\n", Some(Language::Bash)),
            ("#include <stdio.h>\n\nint main(void) {\n    return 0;\n}\n", Some(Language::C)),
            (
                "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() {\n\tif err != nil {\n\t}\n}\n",
                Some(Language::Go),
            ),
            (
                "package a.b;\n\nimport java.util.List;\n\npublic class A {\n  @Override\n  public int hashCode() { return 1; }\n}\n",
                Some(Language::Java),
            ),
            (
                "const a = require('a')\n\nfunction run() {\n  var b = 1\n}\nmodule.exports = run\n",
                Some(Language::JavaScript),
            ),
            (
                "import type { A } from './a'\n\nexport interface B {\n  name: string\n}\nexport function run(a: A): void {}\n",
                Some(Language::TypeScript),
            ),
            ("import os\n\nclass A:\n    def run(self):\n        self.x = 1\n", Some(Language::Python)),
            ("require 'set'\n\nmodule A\n  def run\n    puts 1\n  end\nend\n", Some(Language::Ruby)),
            (
                "use std::fmt;\n\nimpl A {\n    pub fn run(&self) {\n        let mut b = 1;\n    }\n}\n",
                Some(Language::Rust),
            ),
            ("Some words that are no code at all.\n", None),
            ("", None),
        ] {
            assert_eq!(Language::detect(text), language, "{text}");
        }
    }
}
